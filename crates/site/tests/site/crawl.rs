use std::{sync::Arc, time::Duration};

use searchwright_site::{
    crawl::{Config, Termination, crawl},
    fetch::FetchError,
    graph::{State, flag},
    origin::File,
    page::Outcome,
    urls::provenance,
};
use tokio_util::sync::CancellationToken;

use super::fake::{Answer, Memory, SLOWNESS, config, html, links, redirect, run, site, status};

fn text(body: &str) -> Answer {
    Answer::Is(200, vec![("content-type", "text/plain".into())], body.into())
}

fn sitemap(paths: &[&str]) -> Answer {
    let urls: String = paths
        .iter()
        .map(|p| format!("<url><loc>https://example.com{p}</loc></url>"))
        .collect();
    Answer::Is(
        200,
        Vec::new(),
        format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>"),
    )
}

/// One connection, so that the order of saving is the order of fetching.
fn in_order() -> Config {
    Config {
        connections: 1,
        ..config()
    }
}

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
async fn sitemaps_find_orphans_and_nofollow_gives_no_depth() {
    let site = site()
        .with("/robots.txt", text("Sitemap: https://example.com/map.xml"))
        .with("/map.xml", sitemap(&["/", "/orphan", "/linked"]))
        .with(
            "/",
            html("<a href=/linked>a</a><a href=/nofollow rel=nofollow>b</a>"),
        )
        .with(
            "/linked",
            html("<link rel=canonical href=https://example.com/canonical>"),
        )
        .with("/nofollow", links(&["/below"]))
        .with("/orphan", links(&[]))
        .with("/canonical", links(&[]))
        .with("/below", links(&[]));
    let (_, memory, ending) = run(site, in_order()).await;
    let mut depths: Vec<_> = memory
        .pages
        .iter()
        .map(|p| (super::fake::path(&p.facts.url), p.depth))
        .collect();
    depths.sort();
    let expected = [
        ("/", Some(0)),
        ("/below", None),
        ("/canonical", None),
        ("/linked", Some(1)),
        ("/nofollow", None),
        ("/orphan", None),
    ];
    assert_eq!(depths, expected.map(|(path, depth)| (path.to_owned(), depth)));
    let index = &ending.index;
    let orphan = memory.id("/orphan");
    assert!(index.has(orphan, flag::IN_SITEMAP) && index.inlinks(orphan).len() == 0 && index.complete());
    assert!(
        index
            .inlinks(memory.id("/nofollow"))
            .all(|(_, nofollow)| nofollow)
    );
    let known = |path| ending.index.provenance(memory.id(path));
    assert_eq!(
        (known("/orphan"), known("/nofollow"), known("/canonical")),
        (provenance::SITEMAP, provenance::LINK, provenance::CANONICAL)
    );
    assert_eq!(known("/linked"), provenance::SITEMAP | provenance::LINK);
    assert_eq!(ending.origin.sitemaps.len(), 1);
}

/// So that they are the same in every audit, whatever was known before.
#[tokio::test]
async fn what_sitemaps_list_has_the_first_ids() {
    let listed = ["/c", "/known", "/a"];
    let site = listed.into_iter().chain(["/", "/post"]).fold(
        site()
            .with("/robots.txt", text("Sitemap: https://example.com/map.xml"))
            .with("/map.xml", sitemap(&listed)),
        |site, path| site.with(path, links(&[])),
    );
    let config = Config {
        seeds: [("known", provenance::PREVIOUS), ("post", provenance::POST)]
            .map(|(path, bits)| (format!("https://example.com/{path}"), bits))
            .to_vec(),
        ..in_order()
    };
    let (_, memory, ending) = run(site, config).await;
    let ids = ["/", "/c", "/known", "/a", "/post"].map(|path| memory.id(path));
    assert!(ids.is_sorted(), "{ids:?}");
    let known = ids.map(|id| ending.index.provenance(id) & provenance::GIVEN);
    let both = provenance::SITEMAP | provenance::PREVIOUS;
    assert_eq!(
        known[1..],
        [provenance::SITEMAP, both, provenance::SITEMAP, provenance::POST]
    );
}

#[tokio::test]
async fn an_index_of_sitemaps_is_followed_once() {
    let map = |inner: &str| {
        Answer::Is(
            200,
            Vec::new(),
            format!(
                "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{inner}</sitemapindex>"
            ),
        )
    };
    let site = site()
        .with("/sitemap.xml", html("<!doctype html>nothing here"))
        .with("/sitemap_index.xml", map("<sitemap><loc>https://example.com/1.xml</loc></sitemap><sitemap><loc>https://example.com/2.xml</loc></sitemap>"))
        .with("/1.xml", sitemap(&["/one"]))
        .with("/2.xml", map("<sitemap><loc>https://example.com/3.xml</loc></sitemap>"))
        .with("/", links(&[]))
        .with("/one", links(&[]));
    let (site, memory, ending) = run(site, in_order()).await;
    assert_eq!(memory.paths(), ["/", "/one"]);
    assert_eq!((site.asked("/3.xml"), site.asked("/wp-sitemap.xml")), (0, 0));
    let found: Vec<_> = ending
        .origin
        .sitemaps
        .iter()
        .map(|s| (s.index, s.declared, s.error.is_some()))
        .collect();
    assert_eq!(
        found,
        [(true, false, false), (false, false, false), (true, false, true)]
    );
}

#[tokio::test]
async fn robots_txt_is_obeyed_and_its_rule_recorded() {
    let site = site()
        .with(
            "/robots.txt",
            text("User-agent: *\nDisallow: /private\nAllow: /private/open\n"),
        )
        .with("/", links(&["/private/a", "/private/open", "/x"]))
        .with("/private/open", links(&[]))
        .with("/x", links(&[]));
    let (site, memory, ending) = run(site, config()).await;
    assert_eq!(site.asked("/private/a"), 0);
    assert_eq!(
        memory.page("/private/a").facts.outcome,
        Outcome::Blocked("Disallow: /private".into())
    );
    assert_eq!((ending.progress.blocked, ending.progress.fetched), (1, 3));
    assert_eq!(ending.index.state(memory.id("/private/a")), State::Blocked);

    let site = super::fake::site()
        .with("/robots.txt", text("User-agent: *\nDisallow: /"))
        .with("/", links(&[]));
    let (site, memory, ending) = run(site, config()).await;
    assert_eq!(
        (site.asked("/"), memory.pages.len(), ending.termination),
        (0, 1, Termination::Complete)
    );
    let open = site.log.lock().unwrap().clone();
    assert!(!open.is_empty());
}

#[tokio::test]
async fn without_an_answer_for_robots_txt_nothing_is_fetched() {
    for answer in [status(500), status(503), Answer::Fails(FetchError::Timeout)] {
        let site = site().with("/robots.txt", answer).with("/", links(&[]));
        let (site, memory, ending) = run(site, config()).await;
        assert_eq!(
            (
                ending.termination,
                memory.pages.len(),
                site.asked("/"),
                site.asked("/robots.txt")
            ),
            (Termination::RobotsUnreachable, 0, 0, 3)
        );
        assert_eq!(memory.origin.as_ref(), Some(&ending.origin));
    }
    // A copy of yesterday helps.
    let copy = File {
        status: Some(200),
        text: "User-agent: *\nDisallow: /a".into(),
        ..File::default()
    };
    let site = site().with("/robots.txt", status(500)).with("/", links(&["/a"]));
    let (_, memory, ending) = run(
        site,
        Config {
            robots_copy: Some(copy),
            ..config()
        },
    )
    .await;
    assert_eq!(
        (ending.termination, memory.pages.len(), ending.progress.blocked),
        (Termination::Complete, 2, 1)
    );
    let robots = &memory.origin.as_ref().unwrap().robots;
    assert_eq!(
        (robots.status, robots.text.len()),
        (Some(500), 26),
        "and it is told"
    );
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
    let endless = super::fake::site()
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
        (memory.pages.len(), ending.termination),
        (51, Termination::Complete)
    );
    assert_eq!(
        ending.index.traps().collect::<Vec<_>>(),
        [(memory.id("/list?page=50"), 30)]
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
async fn what_may_pass_is_tried_three_times_and_the_rest_once() {
    let site = site()
        .with("/", links(&["/flaky", "/down", "/gone", "/tls", "/busy"]))
        .with("/flaky", Answer::Fails(FetchError::Broken))
        .with("/flaky", status(502))
        .with("/flaky", links(&[]))
        .with("/down", status(500))
        .with("/gone", status(410))
        .with("/tls", Answer::Fails(FetchError::Tls))
        .with(
            "/busy",
            Answer::Is(429, vec![("retry-after", "0".into())], String::new()),
        )
        .with("/busy", links(&[]));
    let (site, memory, ending) = run(site, config()).await;
    assert_eq!(
        ["/flaky", "/down", "/gone", "/tls", "/busy"].map(|p| site.asked(p)),
        [3, 3, 1, 1, 2]
    );
    let (flaky, down) = (&memory.page("/flaky").facts, &memory.page("/down").facts);
    assert_eq!(
        (flaky.status(), flaky.attempts, down.status(), down.attempts),
        (Some(200), 3, Some(500), 3)
    );
    assert_eq!(
        memory.page("/tls").facts.outcome,
        Outcome::Failed(FetchError::Tls)
    );
    assert_eq!((ending.progress.failed, ending.progress.fetched), (1, 5));
}

#[tokio::test]
async fn of_a_slow_answer_and_another_the_median_counts() {
    let page = |ms: &str| {
        let headers = vec![("content-type", "text/html".into()), (SLOWNESS, ms.into())];
        Answer::Is(200, headers, "<p>x".into())
    };
    let (once, twice, error) = ("/busy-once", "/slow", "/error");
    let site = site()
        .with("/", links(&[once, twice, error]))
        .with(once, page("1500"))
        .with(once, page("20"))
        .with(twice, page("900"))
        .with(twice, page("1200"))
        .with(
            error,
            Answer::Is(404, vec![(SLOWNESS, "2000".into())], String::new()),
        );
    let (site, memory, _) = run(site, config()).await;
    assert_eq!([once, twice, error].map(|p| site.asked(p)), [2, 2, 1]);
    let seen = [once, twice].map(|p| {
        let facts = &memory.page(p).facts;
        (facts.ttfb_ms, facts.attempts, facts.body_bytes)
    });
    assert_eq!(seen, [(760, 1, 4), (1050, 1, 4)]);

    let many: Vec<String> = (0..120).map(|i| format!("/{i}")).collect();
    let all: Vec<&str> = many.iter().map(String::as_str).collect();
    let start = self::site().with("/", links(&all));
    let slow = all.iter().fold(start, |site, path| site.with(path, page("900")));
    let (site, ..) = run(slow, config()).await;
    let asked: usize = all.iter().map(|path| site.asked(path)).sum();
    assert_eq!(asked, 120 + 100);
}

#[tokio::test]
async fn ten_failures_in_a_row_end_the_crawl() {
    let paths: Vec<String> = (0..40).map(|i| format!("/p{i:02}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let dead = paths.iter().fold(site().with("/", links(&paths)), |site, path| {
        site.with(path, Answer::Fails(FetchError::Connect))
    });
    let (_, memory, ending) = run(dead, in_order()).await;
    assert_eq!(
        (ending.termination, memory.pages.len()),
        (Termination::HostUnavailable, 11)
    );
    // Broken pages of a server that answers are pages of their own.
    let broken = paths.iter().fold(site().with("/", links(&paths)), |site, path| {
        site.with(path, status(500))
    });
    let (_, memory, ending) = run(broken, in_order()).await;
    assert_eq!(
        (ending.termination, memory.pages.len()),
        (Termination::Complete, 41)
    );
}

#[tokio::test]
async fn links_to_other_sites_are_checked_by_head() {
    let site = site()
        .with(
            "/",
            links(&[
                "https://other.example/ok",
                "https://other.example/no-head",
                "https://third.example/",
                "http://blog.example.com/",
                "mailto:a@b.c",
            ]),
        )
        .with(
            "https://other.example/ok",
            redirect(301, "https://other.example/new"),
        )
        .with("https://other.example/no-head", status(405))
        .with("https://other.example/no-head", status(200))
        .with("https://third.example/", Answer::Fails(FetchError::Dns));
    let (site, memory, ending) = run(site, config()).await;
    let mut log: Vec<String> = site
        .log
        .lock()
        .unwrap()
        .iter()
        .filter(|l| !l.contains("//example.com") && !l.contains("www."))
        .cloned()
        .collect();
    log.sort();
    assert_eq!(
        log,
        [
            "GET http://blog.example.com/",
            "GET https://other.example/no-head",
            "HEAD http://blog.example.com/",
            "HEAD https://other.example/no-head",
            "HEAD https://other.example/ok",
            "HEAD https://third.example/"
        ]
    );
    let index = &ending.index;
    let id = |url: &str| memory.urls.iter().find(|u| *u.key == *url).unwrap().id;
    assert_eq!(index.status(id("https://other.example/no-head")), Some(200));
    assert_eq!(
        index.redirect(id("https://other.example/ok")),
        Some(id("https://other.example/new"))
    );
    assert_eq!(index.state(id("https://third.example/")), State::Failed);
    assert!(!index.has(id("https://third.example/"), flag::INTERNAL));
    assert_eq!(
        (
            ending.progress.fetched,
            ending.progress.failed,
            ending.progress.discovered
        ),
        (1, 0, 1),
        "counters are the site's own"
    );
}

#[tokio::test]
async fn files_are_asked_for_by_head() {
    let site = site()
        .with("/", links(&["/a.pdf", "/b.jpg"]))
        .with("/a.pdf", status(200))
        .with("/b.jpg", status(404));
    let (site, memory, ending) = run(site, config()).await;
    let log = site.log.lock().unwrap().clone();
    assert!(
        log.contains(&"HEAD https://example.com/a.pdf".into())
            && !log.contains(&"GET https://example.com/a.pdf".into())
    );
    assert!(
        log.contains(&"GET https://example.com/b.jpg".into()),
        "404 by HEAD is asked again"
    );
    assert_eq!(
        (
            ending.index.status(memory.id("/a.pdf")),
            ending.index.status(memory.id("/b.jpg"))
        ),
        (Some(200), Some(404))
    );
}

#[tokio::test]
async fn the_origin_is_surveyed() {
    let site = site()
        .with("/", redirect(301, "https://www.example.com/start"))
        .with("https://www.example.com/start", html("<title>Home</title>"))
        .with(
            "https://www.example.com/robots.txt",
            text("User-agent: *\nDisallow: /x"),
        )
        .with("https://www.example.com/llms.txt", text("# Example"))
        .with("https://www.example.com/favicon.ico", status(200))
        .with(
            "http://www.example.com/",
            redirect(301, "https://www.example.com/"),
        );
    let (_, memory, ending) = run(site, config()).await;
    let origin = &ending.origin;
    assert_eq!(
        (&*origin.root, &*origin.robots.url, origin.robots.status),
        (
            "https://www.example.com",
            "https://www.example.com/robots.txt",
            Some(200)
        )
    );
    assert_eq!(
        (&*origin.llms_txt.text, origin.favicon_status, origin.probe_status),
        ("# Example", Some(200), Some(404))
    );
    let twin = origin.twin.as_ref().unwrap();
    assert_eq!(
        (&*twin.url, twin.status, twin.location.as_deref()),
        ("https://example.com/", 301, Some("https://www.example.com/start"))
    );
    assert_eq!(origin.plain_http.as_ref().map(|v| v.status), Some(301));
    assert_eq!(memory.paths(), ["/", "https://www.example.com/start"]);
    assert_eq!(ending.index.key(origin.home), "https://www.example.com/start");
}

#[tokio::test]
async fn subdomains_belong_to_the_site_when_asked_for() {
    let at_blog = |path: &str| format!("https://blog.example.com{path}");
    let build = || {
        let home = html("<a href=https://blog.example.com/>x</a><a href=https://other.example/>y</a>");
        site()
            .with("/", home)
            .with("/robots.txt", text("User-agent: *\nDisallow: /a"))
            .with(&at_blog("/robots.txt"), text("User-agent: *\nDisallow: /b"))
            .with(&at_blog("/"), links(&["/a", "/b"]))
            .with(&at_blog("/a"), links(&[]))
            .with(&at_blog("/b"), links(&[]))
    };
    let (_, alone, _) = run(build(), config()).await;
    assert!(
        alone
            .urls
            .iter()
            .all(|url| !url.internal || !url.key.contains("blog"))
    );
    let wide = Config {
        include_subdomains: true,
        ..config()
    };
    let (_, memory, ending) = run(build(), wide).await;
    let found = |path: &str| &memory.page(&at_blog(path)).facts.outcome;
    assert_eq!(
        (found("/"), found("/a")),
        (&Outcome::Status(200), &Outcome::Status(200))
    );
    assert!(
        matches!(found("/b"), Outcome::Blocked(_)),
        "by the rules of its own host"
    );
    assert_eq!(ending.index.depth(memory.id(&at_blog("/a"))), Some(2));
    assert!(
        !ending
            .index
            .has(memory.id("https://other.example/"), flag::INTERNAL)
    );
}

/// Of subdomains that have a page, and so on; one whose sitemap is not there says nothing.
#[tokio::test]
async fn sitemaps_of_subdomains_are_read() {
    let listing = |urls: &[&str]| {
        let urls: String = urls
            .iter()
            .map(|url| format!("<url><loc>{url}</loc></url>"))
            .collect();
        let open = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
        Answer::Is(200, Vec::new(), format!("{open}{urls}</urlset>"))
    };
    let at_blog = |path: &str| format!("https://blog.example.com{path}");
    let at_shop = |path: &str| format!("https://shop.example.com{path}");
    let build = || {
        site()
            .with(
                "/",
                links(&["https://blog.example.com/", "https://docs.example.com/"]),
            )
            .with("/robots.txt", text("Sitemap: /map.xml"))
            .with("/map.xml", sitemap(&["/"]))
            .with(
                &at_blog("/robots.txt"),
                text("User-agent: *\nDisallow: /no\nSitemap: /blog.xml"),
            )
            .with(
                &at_blog("/blog.xml"),
                listing(&[&at_blog("/alone"), &at_blog("/no"), "https://other.example/"]),
            )
            .with(&at_blog("/"), links(&["/"]))
            .with(&at_blog("/alone"), links(&[&at_shop("/")]))
            .with("https://docs.example.com/", links(&[]))
            .with(&at_shop("/"), links(&["/"]))
            .with(&at_shop("/sitemap.xml"), listing(&[&at_shop("/hidden")]))
            .with(&at_shop("/hidden"), links(&[]))
    };
    let wide = Config {
        include_subdomains: true,
        ..config()
    };
    let (site, memory, ending) = run(build(), wide).await;
    assert_eq!(ending.termination, Termination::Complete);
    for page in [at_blog("/alone"), at_shop("/hidden")] {
        assert_eq!(memory.page(&page).facts.outcome, Outcome::Status(200), "{page}");
        let id = memory.id(&page);
        assert_eq!(ending.index.depth(id), None);
        assert!(ending.index.has(id, flag::IN_SITEMAP), "{page}");
    }
    assert!(matches!(
        memory.page(&at_blog("/no")).facts.outcome,
        Outcome::Blocked(_)
    ));
    let sitemaps = ending.origin.sitemaps.iter();
    let sitemaps: Vec<(&str, bool)> = sitemaps
        .map(|sitemap| (&*sitemap.url, sitemap.declared))
        .collect();
    let (blog, shop) = (at_blog("/blog.xml"), at_shop("/sitemap.xml"));
    assert_eq!(
        sitemaps,
        [
            ("https://example.com/map.xml", true),
            (&blog, true),
            (&shop, false)
        ]
    );
    assert_eq!(site.asked(&at_blog("/robots.txt")), 1);
    // and not of those that are another site
    let (site, _, _) = run(build(), config()).await;
    assert_eq!(site.asked(&blog), 0);
}

#[tokio::test]
async fn each_origin_has_its_own_robots_txt() {
    let site = site()
        .with("/", links(&["http://example.com/a", "http://example.com/b"]))
        .with(
            "http://example.com/robots.txt",
            text("User-agent: *\nDisallow: /a"),
        )
        .with("http://example.com/b", links(&[]));
    let (site, memory, _) = run(site, config()).await;
    assert!(matches!(
        memory.page("http://example.com/a").facts.outcome,
        Outcome::Blocked(_)
    ));
    assert_eq!(memory.page("http://example.com/b").facts.status(), Some(200));
    let asked = site
        .log
        .lock()
        .unwrap()
        .iter()
        .filter(|l| *l == "GET http://example.com/robots.txt")
        .count();
    assert_eq!(asked, 1);
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

#[tokio::test]
async fn soft_404s_are_found_by_asking_for_nothing() {
    let anything = html(
        "<title>Shop</title><main><p>We could not find what you wanted, have a look around instead.</p></main>",
    );
    struct CatchAll(super::fake::Site, Answer);
    impl searchwright_site::fetch::Fetch for CatchAll {
        fn fetch(
            &self,
            mut request: searchwright_site::fetch::Request,
        ) -> std::pin::Pin<Box<dyn Future<Output = searchwright_site::fetch::Fetched> + Send + '_>> {
            let path = request.url.path().to_owned();
            if path.len() == 17 && path[1..].bytes().all(|b| b.is_ascii_hexdigit()) {
                request.url.set_path("/gone");
            }
            let _ = &self.1;
            self.0.fetch(request)
        }
    }
    let site = site()
        .with(
            "/",
            html("<title>Home</title><main><p>Welcome here</p></main><a href=/gone>x</a><a href=/real>y</a>"),
        )
        .with("/gone", anything.clone())
        .with("/real", html("<main>Real words</main>"));
    let mut memory = Memory::default();
    let ending = crawl(
        config(),
        Arc::new(CatchAll(site, anything)),
        &mut memory,
        None,
        CancellationToken::new(),
        Arc::new(|| 0),
    )
    .await
    .unwrap();
    let soft = |path| ending.index.has(memory.id(path), flag::SOFT_404);
    assert_eq!(
        (
            ending.origin.probe_status,
            soft("/"),
            soft("/gone"),
            soft("/real")
        ),
        (Some(200), false, true, false)
    );
}
