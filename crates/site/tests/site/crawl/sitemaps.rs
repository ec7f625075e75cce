//! Sitemaps, of the site and of its subdomains.

use searchwright_site::crawl::{Config, Termination};
use searchwright_site::fetch::FetchError;
use searchwright_site::graph::PageFlags;
use searchwright_site::page::Outcome;
use searchwright_site::urls::provenance;

use super::{in_order, sitemap, text};
use crate::fake::{Answer, config, html, links, run, site};

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
        .map(|p| (crate::fake::path(&p.facts.url), p.depth))
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
    assert!(index.has(orphan, PageFlags::IN_SITEMAP) && index.inlinks(orphan).len() == 0 && index.complete());
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
async fn sitemap_urls_get_the_first_ids() {
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

/// Each takes three attempts until they time out, and there may be 200.
#[tokio::test]
async fn after_three_sitemaps_that_do_not_answer_no_more_are_asked_for() {
    let maps = |answers: &[Answer]| {
        let names = (0..answers.len()).map(|i| format!("Sitemap: /{i}.xml\n"));
        let start = site()
            .with("/robots.txt", text(&names.collect::<String>()))
            .with("/", links(&[]));
        let numbered = answers.iter().enumerate();
        numbered.fold(start, |site, (i, answer)| {
            site.with(&format!("/{i}.xml"), answer.clone())
        })
    };
    let (hangs, denied) = (
        Answer::Fails(FetchError::Timeout),
        Answer::Fails(FetchError::Denied),
    );
    let (site, memory, ending) = run(maps(&vec![hangs.clone(); 150]), config()).await;
    let asked: Vec<usize> = (0..5).map(|i| site.asked(&format!("/{i}.xml"))).collect();
    assert_eq!(asked, [3, 3, 3, 0, 0]);
    assert_eq!(
        (ending.termination, memory.pages.len()),
        (Termination::Complete, 1)
    );
    let sitemaps = &ending.origin.sitemaps;
    assert_eq!(sitemaps.len(), 150);
    for sitemap in sitemaps {
        assert!(
            sitemap.declared && sitemap.status.is_none() && sitemap.error.is_some(),
            "{sitemap:?}"
        );
    }
    assert_eq!(&*sitemaps[149].url, "https://example.com/149.xml");

    // in a row, and of those that may be asked
    let mut answers = vec![hangs; 5];
    answers[2] = sitemap(&["/one"]);
    answers.extend([denied.clone(), denied.clone(), denied, sitemap(&["/two"])]);
    let (_, memory, _) = run(maps(&answers), in_order()).await;
    assert_eq!(memory.paths(), ["/", "/one", "/two"]);
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
            .has(memory.id("https://other.example/"), PageFlags::INTERNAL)
    );
}

/// What robots.txt names is not there, but something is where sitemaps usually lie; and what was tried is told.
#[tokio::test]
async fn the_usual_places_are_asked_where_none_is_found() {
    let found = |site| async {
        let (site, memory, ending) = run(site, in_order()).await;
        let sitemaps = ending.origin.sitemaps.iter();
        let told: Vec<_> = sitemaps
            .map(|s| (s.url.to_string(), s.status, s.declared))
            .collect();
        (site, memory.paths().len(), told)
    };
    let at = |path: &str| format!("https://example.com{path}");
    let robots = || text("Sitemap: /old.xml\nSitemap: https://example.com/old.xml");
    let (asked, pages, told) = found(
        site()
            .with("/robots.txt", robots())
            .with("/", links(&[]))
            .with("/sitemap.xml", sitemap(&["/alone"]))
            .with("/alone", links(&[])),
    )
    .await;
    assert_eq!(
        (pages, told),
        (
            2,
            vec![
                (at("/old.xml"), Some(404), true),
                (at("/sitemap.xml"), Some(200), false)
            ]
        )
    );
    assert_eq!(asked.asked("/wp-sitemap.xml"), 0);
    let broken = || html("<title>We do not know that</title>");
    let (_, _, told) = found(
        site()
            .with("/", links(&[]))
            .with("/sitemap.xml", broken())
            .with("/wp-sitemap.xml", broken()),
    )
    .await;
    let statuses: Vec<_> = told.iter().map(|(_, status, _)| *status).collect();
    assert_eq!(statuses, [Some(200), Some(404), Some(200)]);
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
        assert!(ending.index.has(id, PageFlags::IN_SITEMAP), "{page}");
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
