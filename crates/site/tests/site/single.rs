//! A page that somebody named, read by itself.

use std::sync::Arc;

use searchwright_site::{
    crawl::{Reading, Unread, read_page},
    fetch::FetchError,
};
use url::Url;

use super::fake::{Answer, Site, html, redirect, status};

const STUDY: &str = "https://study.example/";

fn text(body: &str) -> Answer {
    Answer::Is(200, vec![("content-type", "text/plain".into())], body.into())
}

async fn read(site: Site, url: &str) -> (Result<Reading, Unread>, Vec<String>) {
    let site = Arc::new(site);
    let read = read_page(site.clone(), Url::parse(url).unwrap(), 20, Arc::new(|| 0)).await;
    let log = site.log.lock().unwrap().clone();
    (read, log)
}

#[tokio::test(start_paused = true)]
async fn its_main_text_is_read_after_its_robots() {
    let page =
        html("<title>A study</title><nav>Menu</nav><main><p>37 % of all.<p>Then much more text.</main>");
    let site = Site::default()
        .with(
            "https://short.example/s",
            redirect(301, "https://study.example/a"),
        )
        .with("https://study.example/a", page);
    let (read, log) = read(site, "https://short.example/s").await;
    let read = read.unwrap();
    assert_eq!(
        (read.title.as_deref(), &*read.text),
        (Some("A study"), "37 % of all.\nThen")
    );
    assert_eq!(
        log,
        [
            "GET https://short.example/robots.txt",
            "GET https://short.example/s",
            "GET https://study.example/robots.txt",
            "GET https://study.example/a",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn unread_page_gives_a_reason() {
    let page = || html("<main>Text.</main>");
    let robots = |answer| {
        Site::default()
            .with("https://study.example/robots.txt", answer)
            .with(STUDY, page())
    };
    let alone = |answer| Site::default().with(STUDY, answer);
    for (site, why) in [
        (robots(text("User-agent: *\nDisallow: /")), Unread::Forbidden),
        (robots(status(503)), Unread::RobotsUnreachable),
        (
            robots(Answer::Fails(FetchError::Denied)),
            Unread::Failed(FetchError::Denied),
        ),
        (
            alone(Answer::Fails(FetchError::Timeout)),
            Unread::Failed(FetchError::Timeout),
        ),
        (alone(status(404)), Unread::Status(404)),
        (alone(text("Text.")), Unread::NoText),
        (alone(html("<nav>Menu</nav>")), Unread::NoText),
        (alone(redirect(302, STUDY)), Unread::Status(302)),
    ] {
        let (read, log) = read(site, STUDY).await;
        assert_eq!(read, Err(why.clone()), "{log:?}");
        let asked = log.iter().any(|line| line == "GET https://study.example/");
        let is_about_page = matches!(
            why,
            Unread::Failed(FetchError::Timeout) | Unread::Status(_) | Unread::NoText
        );
        assert_eq!(asked, is_about_page, "{why}");
    }
}
