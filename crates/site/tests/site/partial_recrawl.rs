//! Some pages of a crawl fetched again: nothing else is asked for, and the rest is as it was.

use std::{collections::HashSet, sync::Arc};

use searchwright_site::crawl::{Config, PartialRecrawl, Termination};

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
        again: Some(PartialRecrawl {
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

/// A sitemap that no longer lists a page lists it no more, when what is beside the pages is read again.
#[tokio::test]
async fn sitemaps_are_read_again_with_robots() {
    let map = |listed: &str| {
        let text = format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{listed}</urlset>");
        super::fake::Answer::Is(200, Vec::new(), text)
    };
    let entry = "<url><loc>https://example.com/a</loc></url>";
    let before = site()
        .with("/", links(&["/a"]))
        .with("/a", status(404))
        .with("/sitemap.xml", map(entry));
    let (_, memory, ending) = run(before, config()).await;
    let a = memory.urls.iter().find(|url| *url.key == *key("/a")).unwrap().id;
    assert!(
        ending
            .index
            .has(a, searchwright_site::graph::PageFlags::IN_SITEMAP)
    );
    for (origin, listed) in [(memory.origin.clone(), true), (None, false)] {
        let config = Config {
            again: Some(PartialRecrawl {
                pages: HashSet::from([key("/a")]),
                complete: true,
                ..PartialRecrawl::default()
            }),
            ..config()
        };
        let resume = memory.pages_of(&config, origin);
        let after = Arc::new(
            site()
                .with("/", links(&["/a"]))
                .with("/a", status(404))
                .with("/sitemap.xml", map("")),
        );
        let mut again = Memory {
            urls: memory.urls.clone(),
            ..Memory::default()
        };
        let ending = run_with(&after, config, &mut again, Some(resume)).await.unwrap();
        assert_eq!(
            ending
                .index
                .has(a, searchwright_site::graph::PageFlags::IN_SITEMAP),
            listed
        );
        assert_eq!(after.asked("/sitemap.xml"), usize::from(!listed));
    }
}

/// Those of subdomains too, and where a limit keeps from it that is said.
#[tokio::test]
async fn sitemaps_of_subdomains_are_read_again() {
    let at_blog = |path: &str| format!("https://blog.example.com{path}");
    let build = || {
        let entry = format!("<url><loc>{}</loc></url>", at_blog("/p"));
        let open = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
        let map = super::fake::Answer::Is(200, Vec::new(), format!("{open}{entry}</urlset>"));
        site()
            .with("/", links(&[&at_blog("/")]))
            .with(&at_blog("/"), links(&[]))
            .with(&at_blog("/sitemap.xml"), map)
            .with(&at_blog("/p"), status(404))
    };
    let wide = || Config {
        include_subdomains: true,
        ..config()
    };
    let (_, memory, ending) = run(build(), wide()).await;
    let page = memory.id(&at_blog("/p"));
    assert!(
        ending
            .index
            .has(page, searchwright_site::graph::PageFlags::IN_SITEMAP)
    );
    let config = Config {
        again: Some(PartialRecrawl {
            pages: HashSet::from([at_blog("/p")]),
            complete: true,
            ..PartialRecrawl::default()
        }),
        ..wide()
    };
    let resume = memory.pages_of(&config, None);
    let after = Arc::new(build());
    let mut again = Memory {
        urls: memory.urls.clone(),
        ..Memory::default()
    };
    let ending = run_with(&after, config, &mut again, Some(resume)).await.unwrap();
    assert!(
        ending
            .index
            .has(page, searchwright_site::graph::PageFlags::IN_SITEMAP)
    );
    assert_eq!(after.asked(&at_blog("/")), 0);

    // the first page of the subdomain is one too many
    let few = Config {
        max_bytes: 2_000,
        ..wide()
    };
    let page = html("x".repeat(4_000));
    let site = site()
        .with("/", links(&[&at_blog("/")]))
        .with(&at_blog("/"), page);
    let (_, _, ending) = run(site, few).await;
    let last = ending.origin.sitemaps.last().unwrap();
    assert_eq!(&*last.url, at_blog("/sitemap.xml"));
    assert!(
        last.error.as_deref().unwrap().starts_with("not asked for"),
        "{last:?}"
    );
}
