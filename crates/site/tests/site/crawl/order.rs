//! What is fetched, in which order, and where a crawl ends.

use std::sync::Arc;
use std::time::Duration;

use searchwright_site::crawl::{Config, Termination, crawl};
use searchwright_site::graph::SiteGraph;
use searchwright_site::page::PageFacts;
use searchwright_site::urls::provenance;
use tokio_util::sync::CancellationToken;

use super::{in_order, text};
use crate::fake::{Memory, config, html, links, redirect, run, run_with, site};

#[tokio::test]
async fn pages_come_breadth_first_and_urls_with_a_query_last() {
    let site = site()
        .with("/", links(&["/b", "/a?x=1", "/a", "/b#part"]))
        .with("/a", links(&["/", "/deep"]))
        .with("/b", links(&["/deep"]))
        .with("/a?x=1", links(&[]))
        .with("/deep", links(&["/deeper"]))
        .with("/deeper", links(&[]));
    let (site, memory, ending) = run(site, in_order()).await;
    assert_eq!(site.pages(), ["/", "/a", "/b", "/a?x=1", "/deep", "/deeper"]);
    assert_eq!(ending.termination, Termination::Complete);
    let depths = ["/", "/a", "/b", "/a?x=1", "/deep", "/deeper"].map(|path| memory.page(path).depth);
    assert_eq!(depths, [0, 1, 1, 1, 2, 3].map(Some));
    assert_eq!((site.asked("/deep"), site.asked("/robots.txt")), (1, 1));
    assert_eq!(
        (
            ending.progress.fetched,
            ending.progress.queued,
            ending.progress.discovered
        ),
        (6, 0, 6)
    );
}

#[tokio::test]
async fn texts_that_nobody_wants_are_looked_at_and_not_kept() {
    let text = "The cat sat on the mat, and it was warm there. ".repeat(20);
    let pages = || site().with("/", html(format!("<html lang=fr><main><p>{text}</p></main>")));
    let unwanted = Config {
        wants_texts: Arc::new(false.into()),
        ..config()
    };
    let (_, with, _) = run(pages(), config()).await;
    let (_, without, _) = run(pages(), unwanted).await;
    let [with, mut without] = [with, without].map(|memory| memory.page("/").facts.clone());
    let html = |facts: &PageFacts| facts.html.clone().unwrap();
    assert_eq!(html(&with).main_text.len(), text.trim_end().len());
    assert_eq!(&*html(&without).main_text, "");
    assert!(html(&without).language.is_some());
    let bare = without.html.as_mut().unwrap();
    bare.main_text = html(&with).main_text;
    without.fetched_at_ms = with.fetched_at_ms;
    without.ttfb_ms = with.ttfb_ms;
    assert_eq!(without, with);
}

#[tokio::test]
async fn every_hop_is_a_page_and_chains_end() {
    let mut site = site()
        .with("/", links(&["/old", "/loop", "/r0"]))
        .with("/old", redirect(301, "/new"))
        .with("/new", links(&[]));
    site = site
        .with("/loop", redirect(302, "/loop2"))
        .with("/loop2", redirect(302, "/loop"));
    for i in 0..30 {
        site = site.with(&format!("/r{i}"), redirect(302, &format!("/r{}", i + 1)));
    }
    let (site, memory, ending) = run(site, config()).await;
    let index = &ending.index;
    assert_eq!(
        (memory.page("/old").depth, memory.page("/new").depth),
        (Some(1), Some(1))
    );
    assert_eq!(index.redirect(memory.id("/old")), Some(memory.id("/new")));
    assert!(index.hops(memory.id("/loop")).looped);
    assert_eq!((site.asked("/r10"), site.asked("/r11")), (1, 0));
    assert_eq!(ending.termination, Termination::Complete);
}

#[tokio::test]
async fn a_redirect_to_another_spelling_is_the_same_page() {
    let site = site()
        .with("/", links(&["/%7Ea?b=1&a=2"]))
        .with("/%7Ea?b=1&a=2", redirect(301, "/~a?a=2&b=1"))
        .with("/~a?a=2&b=1", links(&[]));
    let (_, memory, ending) = run(site, config()).await;
    assert_eq!(memory.paths(), ["/", "/~a?a=2&b=1"]);
    assert_eq!(ending.index.status(memory.id("/~a?a=2&b=1")), Some(200));
    // One that never settles is a redirect to itself.
    let endless = crate::fake::site()
        .with("/", links(&["/x?b&a"]))
        .with("/x?b&a", redirect(301, "/x?a&b"))
        .with("/x?a&b", redirect(301, "/x?b&a"));
    let (site, memory, ending) = run(endless, config()).await;
    let id = memory.id("/x?a&b");
    assert_eq!(
        (
            ending.index.redirect(id),
            site.asked("/x?a&b") + site.asked("/x?b&a")
        ),
        (Some(id), 4)
    );
}

#[tokio::test]
async fn limits_cut_the_crawl_and_say_so() {
    let wide: Vec<String> = (0..50).map(|i| format!("/p{i:02}")).collect();
    let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
    let broad = || {
        wide.iter().fold(site().with("/", links(&wide)), |site, path| {
            site.with(path, links(&["/"]))
        })
    };
    let (_, memory, ending) = run(
        broad(),
        Config {
            max_pages: 10,
            ..config()
        },
    )
    .await;
    let mut paths = memory.paths();
    paths.sort();
    assert_eq!(
        paths,
        [
            "/", "/p00", "/p01", "/p02", "/p03", "/p04", "/p05", "/p06", "/p07", "/p08"
        ]
    );
    assert_eq!(
        (ending.termination, ending.index.complete()),
        (Termination::MaxPages, false)
    );

    let (_, memory, ending) = run(
        broad(),
        Config {
            max_bytes: 1_000,
            ..config()
        },
    )
    .await;
    assert_eq!(
        (ending.termination, memory.pages.len() < 40),
        (Termination::MaxBytes, true)
    );

    let deep = || {
        (0..10).fold(site(), |site, i| {
            site.with(
                &if i == 0 { "/".into() } else { format!("/d{i}") },
                links(&[&format!("/d{}", i + 1)]),
            )
        })
    };
    let (_, memory, ending) = run(
        deep(),
        Config {
            max_depth: 3,
            ..config()
        },
    )
    .await;
    assert_eq!(
        (memory.paths(), ending.termination),
        (
            ["/", "/d1", "/d2", "/d3"].map(String::from).into(),
            Termination::MaxDepth
        )
    );
    // what is known from elsewhere is asked for wherever links place it, and what it leads to
    let seeded = Config {
        max_depth: 3,
        seeds: vec![("https://example.com/d8".to_owned(), provenance::PREVIOUS)],
        ..config()
    };
    let (_, memory, ending) = run(deep(), seeded.clone()).await;
    let mut expected = ["/", "/d1", "/d2", "/d3", "/d8", "/d9", "/d10"]
        .map(String::from)
        .to_vec();
    assert_eq!(
        (memory.paths(), ending.termination),
        (expected.clone(), Termination::MaxDepth)
    );
    let near = Config {
        seeds: vec![("https://example.com/d4".to_owned(), provenance::PREVIOUS)],
        ..seeded
    };
    let (_, memory, ending) = run(deep(), near).await;
    expected = (0..=8)
        .map(|i| if i == 0 { "/".to_owned() } else { format!("/d{i}") })
        .collect();
    assert_eq!(memory.paths()[..5], expected[..5]);
    assert_eq!(
        ending.index.depth(memory.id("/d4")),
        None,
        "no link within the limit leads there"
    );

    let queries: Vec<String> = (0..80).map(|i| format!("/list?page={i:02}")).collect();
    let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
    let (_, memory, ending) = run(site().with("/", links(&queries)), config()).await;
    assert_eq!(
        (memory.pages.len(), ending.termination, ending.index.complete()),
        (51, Termination::MaxQueryVariants, false)
    );
    assert_eq!(
        ending.index.traps().collect::<Vec<_>>(),
        [(memory.id("/list?page=50"), 30)]
    );
    // those that robots.txt forbids are asked for by nobody, and no trap
    let closed = site()
        .with("/robots.txt", text("User-agent: *\nDisallow: /list"))
        .with("/", links(&queries));
    let (_, memory, ending) = run(closed, config()).await;
    assert_eq!(
        (memory.pages.len(), ending.termination, ending.index.complete()),
        (51, Termination::Complete, true)
    );

    let (_, memory, ending) = run(
        broad(),
        Config {
            max_duration: Duration::ZERO,
            ..config()
        },
    )
    .await;
    assert_eq!(
        (ending.termination, memory.pages.len()),
        (Termination::MaxDuration, 0)
    );
}

#[tokio::test]
async fn a_meta_refresh_is_followed_as_a_link_is() {
    let refresh = |to: &str| html(format!("<meta http-equiv=refresh content=\"{to}\">"));
    let build = || {
        site()
            .with("/", refresh("0; url=en/"))
            .with("/en/", links(&["/en/a", "/en/b", "/en/c"]))
            .with("/en/a", refresh("5;URL='../en/moved#top'"))
            .with(
                "/en/b",
                html("<base href=/there/><meta name=robots content=nofollow><meta http-equiv=refresh content='0;url=x'>"),
            )
            .with("/en/c", refresh("0; url=https://other.example/"))
            .with("/en/moved", refresh("30"))
            .with("/there/x", links(&[]))
    };
    let (site, memory, ending) = run(build(), in_order()).await;
    let depths = ["/", "/en/", "/en/a", "/en/moved", "/there/x"].map(|path| memory.page(path).depth);
    assert_eq!(depths, [Some(0), Some(1), Some(2), Some(3), None]);
    assert_eq!(
        (ending.termination, memory.pages.len()),
        (Termination::Complete, 7)
    );
    let inlinks = |index: &SiteGraph, path| index.inlinks(memory.id(path)).collect::<Vec<_>>();
    let expected = [
        ("/en/", "/", false),
        ("/en/moved", "/en/a", false),
        ("/there/x", "/en/b", true),
    ];
    for (path, from, nofollow) in expected {
        assert_eq!(
            inlinks(&ending.index, path),
            [(memory.id(from), nofollow)],
            "{path}"
        );
    }
    assert_eq!(ending.index.provenance(memory.id("/en/")), provenance::LINK);
    let other = site
        .log
        .lock()
        .unwrap()
        .iter()
        .any(|line| line.contains("other.example"));
    assert!(!other, "another site");

    // and after a restart
    let mut rest = Memory::default();
    let resume = memory.resume(&in_order());
    let again = run_with(&site, in_order(), &mut rest, Some(resume))
        .await
        .unwrap();
    assert!(rest.pages.is_empty());
    for (path, ..) in expected {
        assert_eq!(
            inlinks(&again.index, path),
            inlinks(&ending.index, path),
            "{path}"
        );
        assert_eq!(
            again.index.depth(memory.id(path)),
            ending.index.depth(memory.id(path))
        );
    }
}

#[tokio::test]
async fn include_and_exclude_choose_pages() {
    let site = site()
        .with("/", links(&["/blog/a", "/blog/b?x", "/shop"]))
        .with("/blog/a", links(&["/"]))
        .with("/blog/b?x", links(&[]));
    let (site, memory, _) = run(
        site,
        Config {
            include: vec!["/".into(), "/blog/*".into()],
            exclude: vec!["*?*".into()],
            ..config()
        },
    )
    .await;
    assert_eq!(
        (memory.paths(), site.asked("/shop")),
        (["/", "/blog/a"].map(String::from).into(), 0)
    );
}

#[tokio::test]
async fn cancelling_saves_what_was_read() {
    let pages: Vec<String> = (0..200).map(|i| format!("/p{i}")).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let site = pages.iter().fold(site().with("/", links(&pages)), |site, path| {
        site.with(path, links(&[]))
    });
    let cancel = CancellationToken::new();
    struct Canceller(Memory, CancellationToken);
    impl searchwright_site::crawl::Sink for Canceller {
        async fn save(
            &mut self,
            batch: searchwright_site::crawl::Batch,
        ) -> Result<(), searchwright_site::crawl::SinkError> {
            self.1.cancel();
            self.0.save(batch).await
        }
    }
    let mut sink = Canceller(Memory::default(), cancel.clone());
    let slow = Config {
        batch_pages: 5,
        delay: Duration::from_millis(1),
        ..config()
    };
    let ending = crawl(slow, Arc::new(site), &mut sink, None, cancel, Arc::new(|| 0))
        .await
        .unwrap();
    assert_eq!(ending.termination, Termination::Cancelled);
    assert_eq!(sink.0.pages.len() as u32, ending.progress.fetched);
    assert!(sink.0.pages.len() < 200);
}

#[tokio::test(start_paused = true)]
async fn saves_that_are_slow_are_of_more_pages_but_not_of_any_number() {
    let pages: Vec<String> = (0..200).map(|i| format!("/p{i}")).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let site = pages.iter().fold(site().with("/", links(&pages)), |site, path| {
        site.with(path, links(&[]))
    });
    struct Slow(Memory);
    impl searchwright_site::crawl::Sink for Slow {
        async fn save(
            &mut self,
            batch: searchwright_site::crawl::Batch,
        ) -> Result<(), searchwright_site::crawl::SinkError> {
            // time goes on when nothing else does any more
            tokio::time::sleep(Duration::from_secs(30)).await;
            self.0.save(batch).await
        }
    }
    let mut sink = Slow(Memory::default());
    let config = Config {
        batch_pages: 4,
        ..config()
    };
    let most = 8 * config.batch_pages + config.connections;
    let cancel = CancellationToken::new();
    let ending = crawl(config, Arc::new(site), &mut sink, None, cancel, Arc::new(|| 0))
        .await
        .unwrap();
    assert_eq!(ending.termination, Termination::Complete);
    assert_eq!(sink.0.pages.len(), 201);
    let sizes: Vec<usize> = sink.0.batches.iter().map(|batch| batch.pages.len()).collect();
    let largest = sizes.iter().max().copied().unwrap_or_default();
    assert!((most / 2..=most).contains(&largest), "{sizes:?}");
}
