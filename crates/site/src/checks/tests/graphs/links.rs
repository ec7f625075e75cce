//! Similar pages, and links.

use super::{Case, TEXT, World, to};
use crate::fetch::FetchError;

pub(super) fn duplicates() -> Vec<Case> {
    let pair = |id, body: &str, other: &str, different: &str| Case {
        id,
        bad: World::new().page("/p", body).page("/q", other),
        good: World::new().page("/p", body).page("/q", different),
    };
    let slash = |second: &str| {
        World::new()
            .page("/a", "<p>x")
            .page("/q", TEXT)
            .page("/p", second)
    };
    let probe = crate::origin::Probe {
        url: "https://www.example.com/0123456789abcdef".into(),
        status: 200,
        title: 0,
        text: searchwright_text::hash_long(b"nothing here."),
        sketch: None,
    };
    // the text contains the requested URL, so it is never identical
    let missing = |name: &str| {
        let words: String = (0..120).map(|i| format!("word{i} ")).collect();
        format!("We looked for {name} and found nothing. {words}")
    };
    let like_it = |text: &str| {
        let probe = crate::origin::Probe {
            url: "https://www.example.com/0123456789abcdef".into(),
            status: 200,
            sketch: searchwright_text::minhash::Sketch::from_text(&missing("0123456789abcdef")),
            ..crate::origin::Probe::default()
        };
        let world = World::new().page("/p", &format!("<p>{text}"));
        world.origin(|origin| origin.probes.push(probe))
    };
    vec![
        pair(
            "title-duplicate",
            "<title>Same</title>",
            "<title> SAME</title>",
            "<title>Other</title>",
        ),
        pair(
            "title-duplicate",
            "<title>Same</title>",
            "<title>Same</title>",
            "<title>Same</title><meta name=robots content=noindex>",
        ),
        pair(
            "description-duplicate",
            "<meta name=description content=a>",
            "<meta name=description content=A>",
            "<meta name=description content=b>",
        ),
        pair(
            "h1-duplicate",
            "<h1>a</h1><p>One.",
            "<h1>A </h1><p>Two.",
            "<h1>b</h1><p>Two.",
        ),
        // a copy of the whole page is one cause
        pair(
            "title-duplicate",
            "<title>Same</title><p>One.",
            "<title>Same</title><p>Two.",
            "<title>Same</title><p>One.",
        ),
        pair(
            "description-duplicate",
            "<meta name=description content=a><p>One.",
            "<meta name=description content=a><p>Two.",
            "<meta name=description content=a><p>One.",
        ),
        pair("h1-duplicate", "<h1>a</h1><p>One.", "<h1>a</h1><p>Two.", "<h1>a</h1><p>One."),
        // and so is a name of two pages
        pair(
            "h1-duplicate",
            "<title>x</title><h1>a</h1><p>One.",
            "<title>y</title><h1>a</h1><p>Two.",
            "<title>x</title><h1>a</h1><p>Two.",
        ),
        Case {
            id: "duplicate-exact",
            bad: World::new().page("/p", TEXT).page("/p/index.html", TEXT),
            // told as trailing-slash-duplicate
            good: World::new().page("/p", TEXT).page("/p/", TEXT),
        },
        pair("duplicate-exact", TEXT, &TEXT.to_uppercase(), "<p>Another text."),
        Case {
            id: "trailing-slash-duplicate",
            // reported on the page found later
            bad: World::new()
                .page("/", "<a href=/p/>a</a><a href=/p>b</a>")
                .page("/p", TEXT)
                .page("/p/", TEXT),
            good: slash(TEXT),
        },
        // Cloudflare writes mail addresses as such links
        Case {
            id: "broken-internal-link",
            bad: World::new()
                .page("/p", "<a href=/cdn/l/email-protection>x</a>")
                .answer("/cdn/l/email-protection", 404, &[], ""),
            good: World::new()
                .page("/p", "<a href=/cdn-cgi/l/email-protection#a1b2>x</a>")
                .answer("/cdn-cgi/l/email-protection", 404, &[], ""),
        },
        Case {
            id: "soft-404",
            bad: World::new()
                .page("/p", "<title>Page not found</title>")
                .page("/q", "x"),
            good: World::new().page("/p", "<title>Page found</title>"),
        },
        Case {
            id: "soft-404",
            bad: World::new().page("/p", "<title>Shop</title><h1>Page not found</h1><p>Sorry, nothing is here."),
            good: World::new().page(
                "/p",
                "<title>Poster: Page not found, a print</title><h1>Poster “Page not found”</h1><p>Signed by the artist.",
            ),
        },
        Case {
            id: "soft-404",
            bad: World::new()
                .page("/p", "<p>Nothing here.")
                .origin(|origin| origin.probes.push(probe.clone())),
            good: World::new()
                .page("/p", "<p>Something here.")
                .origin(|origin| origin.probes.push(probe)),
        },
        Case {
            id: "soft-404",
            bad: World::new().redirect("/p", 301, "/"),
            good: World::new().redirect("/p", 301, "/q").page("/q", "x"),
        },
        Case {
            id: "soft-404",
            bad: like_it(&missing("gone")),
            good: like_it(&missing("gone").replace("word1", "other")),
        },
    ]
}

pub(super) fn links() -> Vec<Case> {
    let link = "<a href=/x>the mower</a>";
    vec![
        to(
            "broken-internal-link",
            link,
            |w| w.answer("/x", 404, &[], ""),
            |w| w.answer("/x", 403, &[], ""),
        ),
        to(
            "broken-internal-link",
            link,
            |w| w.answer("/x", 500, &[], ""),
            |w| w.page("/x", "x"),
        ),
        to(
            "link-to-redirect",
            link,
            |w| w.redirect("/x", 301, "/y").page("/y", "y"),
            |w| w.redirect("/x", 302, "/y"),
        ),
        to(
            "nofollow-internal-link",
            "<a href=/x rel=nofollow>x</a>",
            |w| w.page("/x", "x"),
            |w| w.page("/x", "<meta name=robots content=noindex>"),
        ),
        to(
            "broken-fragment",
            "<a href=/x#part>x</a>",
            |w| w.page("/x", "<p id=other>x"),
            |w| w.page("/x", "<p id=part>x"),
        ),
        to(
            "broken-fragment",
            "<a href=/x#%C3%A4>x</a><a href=/z#a>z</a>",
            |w| w.page("/x", "<p>x"),
            |w| w.page("/x", "<a name=ä>x").redirect("/z", 301, "/x"),
        ),
        Case {
            id: "orphan-page",
            bad: World::new()
                .page("/", "<p>x")
                .page("/p", "<a href=/p>self</a>")
                .sitemap(&["/p"]),
            good: World::new()
                .page("/", "<a href=/p>x</a>")
                .page("/p", "x")
                .sitemap(&["/p"]),
        },
        Case {
            id: "orphan-page",
            bad: World::new()
                .page("/", "<a href=/p rel=nofollow>x</a>")
                .page("/p", "x")
                .sitemap(&["/p"]),
            // known before because of the same nofollow link
            good: World::new()
                .page("/", "<a href=/p rel=nofollow>x</a>")
                .page("/p", "x")
                .previous("/p"),
        },
        Case {
            id: "orphan-page",
            bad: World::new().page("/", "<p>x").page("/p", "x").previous("/p"),
            good: World::new().page("/", "<p>x").page("/p", "x"),
        },
        Case {
            id: "orphan-page",
            bad: World::new()
                .page("/", "<a href=/old>x</a>")
                .redirect("/old", 301, "/other")
                .page("/p", "x")
                .sitemap(&["/p"]),
            good: World::new()
                .page("/", "<a href=/old>x</a>")
                .redirect("/old", 301, "/older")
                .redirect("/older", 301, "/p")
                .page("/p", "x")
                .sitemap(&["/p"]),
        },
        Case {
            id: "single-inlink",
            bad: World::new()
                .page("/", "<a href=/old>x</a>")
                .redirect("/old", 301, "/p")
                .page("/p", "x"),
            good: World::new()
                .page("/", "<a href=/old>x</a>")
                .redirect("/old", 301, "/p")
                .page("/p", "x")
                .page("/q", "<a href=/p>x</a>"),
        },
        Case {
            id: "single-inlink",
            bad: World::new().page("/p", "<a href=/>x</a><a href=/p>self</a>"),
            good: World::new().page("/p", "x").page("/q", "<a href=/p>x</a>"),
        },
        Case {
            id: "mixed-follow-inlinks",
            bad: World::new()
                .page("/p", "x")
                .page("/q", "<a href=/p rel=nofollow>x</a>"),
            good: World::new()
                .page("/p", "x")
                .page("/q", "<a href=/p rel=nofollow>x</a><a href=/p>y</a>"),
        },
        Case {
            id: "mixed-follow-inlinks",
            bad: World::new()
                .page("/p", "x")
                .page("/q", "<a href=/p rel=ugc>x</a>"),
            good: World::new()
                .page("/p", "x")
                .page("/q", "<meta name=robots content=nofollow><a href=/p>x</a>"),
        },
        Case {
            id: "depth-high",
            bad: World::new().page("/p", "x").depth("/p", 4),
            good: World::new().page("/p", "x").depth("/p", 3),
        },
        Case {
            id: "crawl-trap-suspected",
            bad: World::new().page("/p", "x").trap("/p?a=51", 12),
            good: World::new().page("/p", "x"),
        },
    ]
}

pub(super) fn external_links() -> Vec<Case> {
    const OTHER: &str = "https://other.example/x";
    const ELSEWHERE: &str = "https://elsewhere.example/";
    let case = |id, bad: fn(World) -> World, good: fn(World) -> World| {
        let body = format!("<a href={OTHER}>x</a><a href={OTHER}>again</a><a href=/y>y</a>");
        to(id, &body, bad, good)
    };
    vec![
        case(
            "broken-external-link",
            |w| w.answer(OTHER, 410, &[], ""),
            |w| w.answer(OTHER, 403, &[], "").answer("/y", 404, &[], ""),
        ),
        case(
            "broken-external-link",
            |w| w.answer(OTHER, 500, &[], ""),
            |w| w.answer(OTHER, 503, &[], ""),
        ),
        case(
            "broken-external-link",
            |w| w.fails(OTHER, FetchError::Dns),
            |w| w.fails(OTHER, FetchError::Timeout),
        ),
        // where no other site responds, the network of the audit is at fault
        case(
            "broken-external-link",
            |w| w.fails(OTHER, FetchError::Dns).answer(ELSEWHERE, 200, &[], ""),
            |w| w.fails(OTHER, FetchError::Dns).fails(ELSEWHERE, FetchError::Dns),
        ),
        case(
            "external-links-unreachable",
            |w| {
                w.fails(OTHER, FetchError::Dns)
                    .fails(ELSEWHERE, FetchError::Timeout)
            },
            |w| w.fails(OTHER, FetchError::Dns).answer(ELSEWHERE, 404, &[], ""),
        ),
        // one unknown host may be gone, and private addresses are none of other sites
        case(
            "external-links-unreachable",
            |w| w.fails(OTHER, FetchError::Dns).fails(ELSEWHERE, FetchError::Dns),
            |w| {
                w.fails(OTHER, FetchError::Dns)
                    .fails("http://10.0.0.1/", FetchError::Denied)
            },
        ),
        case(
            "broken-external-link",
            |w| {
                w.redirect(OTHER, 301, "https://other.example/y")
                    .redirect("https://other.example/y", 302, "https://other.example/z")
                    .answer("https://other.example/z", 404, &[], "")
            },
            |w| {
                w.redirect(OTHER, 301, "https://other.example/y").answer(
                    "https://other.example/y",
                    403,
                    &[],
                    "",
                )
            },
        ),
        case(
            "external-link-unverified",
            |w| w.answer(OTHER, 999, &[], ""),
            |w| w.answer(OTHER, 404, &[], "").answer("/y", 403, &[], ""),
        ),
        case(
            "external-link-redirect",
            |w| w.redirect(OTHER, 302, "https://elsewhere.example/x"),
            |w| w.redirect(OTHER, 301, "https://www.other.example/x/"),
        ),
    ]
}
