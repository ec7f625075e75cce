//! What pages need beside themselves is asked for once, after the pages, and never more than so much of it.

use std::sync::Arc;

use searchwright_site::{
    crawl::{Config, PartialRecrawl},
    fetch::FetchError,
    resources::{Resource, purpose},
};

use super::fake::{Answer, Memory, Site, config, html, redirect, run, run_with, site, status};

fn file(kind: &str, bytes: usize, body: &str) -> Answer {
    let headers = vec![
        ("content-type", kind.into()),
        ("content-length", bytes.to_string()),
        ("cache-control", "max-age=60".into()),
    ];
    Answer::Is(200, headers, body.into())
}

const PAGE: &str = "<meta property=og:image content=/card.gif><link rel=stylesheet href=/s.css><script src='/private/x.js'></script>
    <img src=a.png><img src='https://cdn.example/b.jpg#x'><img src=/gone.png><img src=data:image/png;base64,xx>
    <img src=/moved.png><img src=https://nowhere.example/c.png><img src=/hidden.png>";

fn shop() -> Site {
    site()
        .with("/", html(format!("<a href=/x/p>x</a>{PAGE}")))
        .with("/x/p", html(PAGE))
        .with(
            "/robots.txt",
            Answer::Is(200, Vec::new(), "User-agent: *\nDisallow: /private".into()),
        )
        .with(
            "/llms.txt",
            Answer::Is(200, Vec::new(), "# Shop\n- [P](/x/p)\n- [Lost](/lost.md)".into()),
        )
        .with(
            "/card.gif",
            file("image/gif", 900_000, "GIF89a\x10\x00\x20\x00\x00"),
        )
        .with("/s.css", file("text/css", 12, "x"))
        .with("/a.png", file("image/png", 600_000, "x"))
        .with("/moved.png", redirect(301, "/a.png"))
        .with("/hidden.png", redirect(301, "/private/a.png"))
        .with("https://cdn.example/b.jpg", status(500))
        .with("https://cdn.example/b.jpg", file("image/jpeg; q=1", 7, "x"))
        .with("https://nowhere.example/c.png", Answer::Fails(FetchError::Dns))
}

fn of<'m>(memory: &'m Memory, url: &str) -> &'m Resource {
    let mut all = memory.resources().unwrap().iter();
    all.find(|resource| resource.url.ends_with(url)).unwrap()
}

#[tokio::test]
async fn resources_are_asked_for_by_head() {
    let (site, memory, ending) = run(shop(), config()).await;
    let mut log = site.log.lock().unwrap().clone();
    let kinds = [".png", ".jpg", ".gif", ".css", ".js", ".md"];
    log.retain(|line| kinds.iter().any(|kind| line.ends_with(kind)));
    log.sort();
    assert_eq!(
        log,
        [
            "GET https://cdn.example/b.jpg",
            "GET https://example.com/card.gif",
            "GET https://example.com/gone.png",
            "GET https://example.com/lost.md",
            "GET https://example.com/x/a.png",
            "HEAD https://cdn.example/b.jpg",
            "HEAD https://example.com/a.png",
            "HEAD https://example.com/a.png",
            "HEAD https://example.com/gone.png",
            "HEAD https://example.com/hidden.png",
            "HEAD https://example.com/lost.md",
            "HEAD https://example.com/moved.png",
            "HEAD https://example.com/s.css",
            "HEAD https://example.com/x/a.png",
            "HEAD https://nowhere.example/c.png",
        ]
    );
    let card = of(&memory, "/card.gif");
    assert_eq!((card.purposes, card.size), (purpose::CARD, Some((16, 32))));
    let image = of(&memory, "com/a.png");
    assert_eq!(
        (image.status, image.bytes, image.max_age),
        (Some(200), Some(600_000), Some(60))
    );
    assert_eq!(of(&memory, "b.jpg").content_type.as_deref(), Some("image/jpeg"));
    assert_eq!(
        (of(&memory, "moved.png").status, of(&memory, "lost.md").status),
        (Some(200), Some(404))
    );
    assert_eq!(of(&memory, "c.png").error, Some(FetchError::Dns));
    assert_eq!(of(&memory, "hidden.png").error, Some(FetchError::Denied));
    assert_eq!(memory.resources().unwrap().len(), 10);
    assert!(
        ending.progress.discovered == 2 && memory.pages.len() == 2,
        "they are no pages"
    );
}

#[tokio::test]
async fn no_more_than_the_limit() {
    let limited = |max_resources| Config {
        max_resources,
        ..config()
    };
    let (_, memory, _) = run(shop(), limited(2)).await;
    // the first two of the first page, and the link of llms.txt
    assert_eq!(memory.resources().unwrap().len(), 3);
    let (site, memory, _) = run(shop(), limited(0)).await;
    assert_eq!(memory.resources(), None);
    assert_eq!((site.asked("/s.css"), site.asked("/lost.md")), (0, 0));
}

#[tokio::test]
async fn resources_are_fetched_once() {
    let (_, memory, _) = run(shop(), config()).await;
    let again = Arc::new(shop());
    let mut rest = memory.clone();
    let ending = run_with(&again, config(), &mut rest, Some(memory.resume(&config()))).await;
    assert!(ending.is_ok());
    assert_eq!((again.asked("/s.css"), again.asked("/gone.png")), (0, 0));
}

#[tokio::test]
async fn a_page_that_is_fetched_again_has_its_resources_asked_for_again() {
    let (_, mut memory, _) = run(shop(), config()).await;
    let config = Config {
        again: Some(PartialRecrawl {
            pages: ["https://example.com/x/p".into()].into(),
            with_targets: ["https://example.com/x/p".into()].into(),
            complete: true,
        }),
        ..config()
    };
    let resume = memory.resume(&config);
    let mut again = Memory {
        urls: std::mem::take(&mut memory.urls),
        ..Memory::default()
    };
    let site = Arc::new(shop().with("/gone.png", file("image/png", 1, "x")));
    run_with(&site, config, &mut again, Some(resume)).await.unwrap();
    assert_eq!(of(&again, "/gone.png").status, Some(200));
    assert_eq!((site.asked("/gone.png"), site.asked("/lost.md")), (1, 0));
}
