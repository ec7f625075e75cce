//! Some pages of a crawl fetched again: nothing else is asked for, and the rest is as it was.

use std::{collections::HashSet, sync::Arc};

use searchwright_site::crawl::{Again, Config, Termination};

use super::fake::{Memory, config, html, links, run, run_with, site, status};

fn key(path: &str) -> String {
    format!("https://example.com{path}")
}

#[tokio::test]
async fn only_what_is_asked_for_is_fetched() {
    let before = site()
        .with("/", links(&["/a", "/b", "/c"]))
        .with("/a", links(&["/gone", "https://other.example/x"]))
        .with("/b", html("<title>B</title>"))
        .with("/c", links(&["/left"]))
        .with("/left", html("<title>Left</title>"));
    let (_, mut memory, ending) = run(before, config()).await;
    assert_eq!(ending.termination, Termination::Complete);
    let known = ending.index.len();

    let after = Arc::new(
        site()
            .with("/", links(&["/", "/b"]))
            .with("/a", links(&["/new", "/b"]))
            .with("/new", links(&["/deeper"]))
            .with("/c", html("<title>No links</title>"))
            .with("/gone", status(200)),
    );
    let keys = |paths: &[&str]| -> HashSet<String> { paths.iter().map(|path| key(path)).collect() };
    let config = Config {
        again: Some(Again {
            pages: keys(&["/a", "/c", "/gone", "/never-heard-of"]),
            with_targets: keys(&["/a"]),
            complete: true,
        }),
        ..config()
    };
    let resume = memory.resume(&config);
    let mut again = Memory {
        urls: std::mem::take(&mut memory.urls),
        ..Memory::default()
    };
    let ending = run_with(&after, config, &mut again, Some(resume)).await.unwrap();
    let mut asked = after.log.lock().unwrap().clone();
    asked.sort();
    assert_eq!(asked.len(), 4, "{asked:?}");
    for path in ["/a", "/c", "/gone", "/new"] {
        assert_eq!(after.asked(path), 1, "{path}");
    }
    let index = &ending.index;
    assert_eq!(index.len(), known + 2, "/new and what it links to");
    let of = |path: &str| {
        let mut pages = again.pages.iter();
        pages.find(|page| index.key(page.facts.id) == key(path)).unwrap()
    };
    assert_eq!(of("/gone").facts.status(), Some(200));
    // /b has the links of the pages that were not fetched again, and of those that were.
    let b = again.urls.iter().find(|url| *url.key == *key("/b")).unwrap().id;
    let from: HashSet<&str> = index.inlinks(b).map(|(from, _)| index.key(from)).collect();
    assert_eq!(from, HashSet::from([&*key("/"), &*key("/a")]));
    let left = again
        .urls
        .iter()
        .find(|url| *url.key == *key("/left"))
        .unwrap()
        .id;
    assert_eq!(index.inlinks(left).count(), 0, "/c links to it no more");
}
