//! Sites that do not let themselves be seen: no crawl of theirs is a complete one.

use searchwright_site::crawl::{Config, Termination};
use searchwright_site::fetch::FetchError;

use super::text;
use crate::fake::{Answer, Memory, Site, config, html, links, redirect, run, run_with, site, status};

/// A start page and six others, so many of which answer so.
fn six(answer: &Answer, refused: usize) -> Site {
    let paths = ["/a", "/b", "/c", "/d", "/e", "/f"];
    let start = site().with("/", links(&paths));
    paths.iter().enumerate().fold(start, |site, (i, path)| {
        site.with(path, if i < refused { answer.clone() } else { links(&[]) })
    })
}

async fn ends(site: Site) -> (Termination, u32, bool) {
    let (_, _, ending) = run(site, config()).await;
    (ending.termination, ending.answered, ending.index.complete())
}

fn challenge(status: u16) -> Answer {
    Answer::Is(status, vec![("cf-mitigated", "challenge".into())], String::new())
}

#[tokio::test(start_paused = true)]
async fn a_site_that_refuses_most_of_its_pages_has_blocked_the_crawl() {
    for answer in [401, 403, 429, 451]
        .map(status)
        .into_iter()
        .chain([challenge(403)])
    {
        assert_eq!(
            ends(six(&answer, 6)).await,
            (Termination::Blocked, 1, false),
            "{answer:?}"
        );
        assert_eq!(ends(six(&answer, 4)).await.0, Termination::Blocked, "{answer:?}");
        // not more than half
        assert_eq!(
            ends(six(&answer, 3)).await,
            (Termination::Complete, 4, true),
            "{answer:?}"
        );
    }
    // pages that are not there were not refused
    for gone in [404, 410].map(status) {
        assert_eq!(ends(six(&gone, 6)).await, (Termination::Complete, 7, true));
    }
    for alone in [status(403), challenge(503)] {
        let site = site().with("/", alone);
        assert_eq!(ends(site).await, (Termination::Blocked, 0, false));
    }
    // where redirects lead counts, and not that they do
    let site = site()
        .with("/", redirect(301, "/en/"))
        .with("/en/", redirect(301, "/en/home"))
        .with("/en/home", status(403));
    assert_eq!(ends(site).await, (Termination::Blocked, 0, false));
}

#[tokio::test(start_paused = true)]
async fn a_site_that_hardly_answers_is_unavailable() {
    for answer in [
        status(500),
        status(503),
        Answer::Fails(FetchError::Timeout),
        Answer::Fails(FetchError::Connect),
    ] {
        assert_eq!(
            ends(six(&answer, 6)).await,
            (Termination::HostUnavailable, 1, false),
            "{answer:?}"
        );
        assert_eq!(ends(six(&answer, 3)).await.0, Termination::Complete, "{answer:?}");
        let site = site().with("/", answer);
        assert_eq!(ends(site).await, (Termination::HostUnavailable, 0, false));
    }
    // one and the other together are more than half too
    let paths = ["/a", "/b", "/c", "/d"];
    let both = |second: Answer| {
        let site = site().with("/", links(&paths)).with("/a", status(403));
        site.with("/b", status(500)).with("/c", second)
    };
    assert_eq!(ends(both(status(500))).await.0, Termination::HostUnavailable);
    assert_eq!(ends(both(status(403))).await.0, Termination::Blocked);
    assert_eq!(ends(both(links(&[]))).await.0, Termination::Complete);
}

#[tokio::test(start_paused = true)]
async fn ten_refusals_in_a_row_are_refusals() {
    let paths: Vec<String> = (0..30).map(|i| format!("/p{i}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let site = paths.iter().fold(site().with("/", links(&paths)), |site, path| {
        site.with(path, status(429))
    });
    let (_, memory, ending) = run(site, config()).await;
    assert_eq!(ending.termination, Termination::Blocked);
    assert!(memory.pages.len() < 20, "{}", memory.pages.len());
}

#[tokio::test]
async fn urls_off_the_site_are_not_counted() {
    let other = ["https://a.example/", "https://b.example/", "https://c.example/"];
    let files = ["/a.pdf", "/b.jpg", "/c.zip"];
    let secret = ["/secret/a", "/secret/b", "/secret/c"];
    let paths = [&other[..], &files, &secret].concat();
    let site = other.iter().chain(&files).fold(
        site()
            .with("/robots.txt", text("User-agent: *\nDisallow: /secret"))
            .with("/", links(&paths)),
        |site, path| site.with(path, status(403)),
    );
    assert_eq!(ends(site).await, (Termination::Complete, 1, true));
}

/// What a restart cannot know any more it tells by the stored pages.
#[tokio::test]
async fn a_crawl_that_goes_on_says_the_same() {
    let (site, memory, ending) = run(six(&status(403), 5), config()).await;
    let resume = memory.resume(&config());
    let mut rest = Memory::default();
    let again = run_with(&site, config(), &mut rest, Some(resume)).await.unwrap();
    assert_eq!(
        (again.termination, again.answered),
        (ending.termination, ending.answered)
    );
    assert_eq!(again.termination, Termination::Blocked);
}

/// A limit that was reached says less than that hardly anything was seen.
#[tokio::test]
async fn a_limit_does_not_hide_that_the_site_refuses() {
    let few = Config {
        max_pages: 5,
        ..config()
    };
    let (_, _, ending) = run(six(&status(403), 6), few.clone()).await;
    assert_eq!(ending.termination, Termination::Blocked);
    let (_, _, ending) = run(six(&html("x"), 6), few).await;
    assert_eq!(ending.termination, Termination::MaxPages);
}
