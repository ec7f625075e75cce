//! Checks that compare pages, or follow links and redirects.

use super::{Case, World};
use crate::{fetch::FetchError, origin::Sitemap};

const TEXT: &str = "<p>One text that stands on two pages.";

fn canonical(target: &str) -> String {
    format!("<link rel=canonical href={target}>")
}

fn to(id: &'static str, body: &str, bad: fn(World) -> World, good: fn(World) -> World) -> Case {
    let world = || World::new().page("/p", body);
    Case {
        id,
        bad: bad(world()),
        good: good(world()),
    }
}

pub(super) fn cases() -> Vec<Case> {
    [
        duplicates(),
        links(),
        external_links(),
        canonicals(),
        alternates(),
        redirects(),
        sitemaps(),
        robots(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn duplicates() -> Vec<Case> {
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
        text: crate::text::hash_long(b"nothing here."),
        sketch: None,
    };
    // it names the URL that was asked for, so that it never says the same
    let missing = |name: &str| {
        let words: String = (0..120).map(|i| format!("word{i} ")).collect();
        format!("We looked for {name} and found nothing. {words}")
    };
    let like_it = |text: &str| {
        let probe = crate::origin::Probe {
            url: "https://www.example.com/0123456789abcdef".into(),
            status: 200,
            sketch: crate::text::sketch::Sketch::of(&missing("0123456789abcdef")),
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
        pair("h1-duplicate", "<h1>a</h1>", "<h1>A </h1>", "<h1>b</h1>"),
        pair("duplicate-exact", TEXT, &TEXT.to_uppercase(), "<p>Another text."),
        Case {
            id: "trailing-slash-duplicate",
            // told on the one found later
            bad: World::new()
                .page("/", "<a href=/p/>a</a><a href=/p>b</a>")
                .page("/p", TEXT)
                .page("/p/", TEXT),
            good: slash(TEXT),
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

fn links() -> Vec<Case> {
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
                .previous("/p"),
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

fn external_links() -> Vec<Case> {
    const OTHER: &str = "https://other.example/x";
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

fn canonicals() -> Vec<Case> {
    let words = |word: &str| (0..80).map(|i| format!("{word}{i} ")).collect::<String>();
    let body = canonical("/x");
    let case = |id, bad: fn(World) -> World, good: fn(World) -> World| to(id, &body, bad, good);
    vec![
        case(
            "canonical-non-200",
            |w| w.answer("/x", 404, &[], ""),
            |w| w.page("/x", "x"),
        ),
        to(
            "canonical-non-200",
            "<link rel=canonical href=https://other.example/x>",
            |w| w.answer("https://other.example/x", 410, &[], ""),
            |w| w.answer("https://other.example/x", 403, &[], ""),
        ),
        case(
            "canonical-redirect",
            |w| w.redirect("/x", 301, "/y"),
            |w| w.page("/x", "x"),
        ),
        case(
            "canonical-noindex",
            |w| w.page("/x", "<meta name=robots content=noindex>"),
            |w| w.page("/x", "x"),
        ),
        case(
            "canonical-noindex",
            |w| w.page("/x", "<meta name=robots content=none>"),
            |w| {
                let html = [("content-type", "text/html")];
                w.answer("/x", 404, &html, "<meta name=robots content=noindex>")
            },
        ),
        case(
            "canonical-blocked",
            |w| w.blocked("/x").robots("User-agent: *\nDisallow: /x"),
            |w| {
                w.blocked("/x")
                    .robots("User-agent: SearchwrightBot\nDisallow: /x")
            },
        ),
        case(
            "canonical-blocked",
            // our own robot may, Google's may not
            |w| w.page("/x", "x").robots("User-agent: Googlebot\nDisallow: /x"),
            |w| w.page("/x", "x").robots("User-agent: Googlebot\nDisallow: /y"),
        ),
        to(
            "canonical-blocked",
            "<link rel=canonical href=https://www.example.com/x>",
            |w| w.robots("User-agent: *\nDisallow: /"),
            |w| {
                w.robots("User-agent: *\nDisallow: /")
                    .origin(|o| o.root = "https://shop.example.com".into())
            },
        ),
        case(
            "canonical-chain",
            |w| w.page("/x", "<link rel=canonical href=/y>"),
            |w| w.page("/x", "<link rel=canonical href=/x>"),
        ),
        case(
            "canonical-chain",
            |w| w.page("/x", "<link rel=canonical href=/y>"),
            |w| {
                let html = [("content-type", "text/html")];
                w.answer("/x", 404, &html, "<link rel=canonical href=/y>")
            },
        ),
        Case {
            id: "canonical-to-home",
            bad: World::new()
                .page("/", "<title>Home</title><p>Welcome")
                .page("/p", &format!("<title>Mowers</title>{}{TEXT}", canonical("/"))),
            good: World::new()
                .page("/", &format!("<title>Home</title>{TEXT}"))
                .page("/p", &format!("<title>Home</title>{}{TEXT}", canonical("/"))),
        },
        Case {
            id: "canonical-to-home",
            // a template with one title and one canonical for all pages
            bad: World::new()
                .page("/", &format!("<title>Home</title><p>{}", words("home")))
                .page(
                    "/p",
                    &format!("<title>Home</title>{}<p>{}", canonical("/"), words("own")),
                ),
            good: World::new()
                .page("/", &format!("<title>Home</title><p>{}", words("home")))
                .page(
                    "/p",
                    &format!(
                        "<title>Filtered</title>{}<p>{} sorted by price",
                        canonical("/"),
                        words("home")
                    ),
                ),
        },
        Case {
            id: "canonical-to-home",
            bad: World::new()
                .page("/", &format!("<title>Home</title><p>{}", words("home")))
                .page("/p", &format!("<title>Home</title>{}{TEXT}", canonical("/"))),
            good: World::new()
                .page("/", &format!("<title>Home</title>{TEXT}"))
                .page(
                    "/p",
                    &format!("<title>Home</title>{}{TEXT} Or three.", canonical("/")),
                ),
        },
        Case {
            id: "canonical-isolated",
            bad: World::new()
                .page("/", "<a href=/p>x</a>")
                .page("/p", &body)
                .page("/x", "x"),
            good: World::new()
                .page("/", "<a href=/p>x</a><a href=/x>y</a>")
                .page("/p", &body)
                .page("/x", "x"),
        },
        Case {
            id: "canonical-isolated",
            bad: World::new()
                .page("/", "<a href=/p>x</a><a href=/old>y</a>")
                .page("/p", &body)
                .page("/x", "x")
                .redirect("/old", 301, "/y"),
            good: World::new()
                .page("/", "<a href=/p>x</a><a href=/old>y</a>")
                .page("/p", &body)
                .page("/x", "x")
                .redirect("/old", 301, "/x"),
        },
        Case {
            id: "link-to-noncanonical",
            bad: World::new().page("/p", &body),
            good: World::new()
                .page("/", "<a href=/p rel=nofollow>x</a>")
                .page("/p", &body),
        },
    ]
}

fn alternates() -> Vec<Case> {
    let body =
        "<html lang=en><link rel=alternate hreflang=de href=/x><link rel=alternate hreflang=en href=/p>";
    let case = |id, bad: fn(World) -> World, good: fn(World) -> World| to(id, body, bad, good);
    vec![
        case(
            "hreflang-no-return",
            |w| w.page("/x", "<p>x"),
            |w| w.page("/x", "<link rel=alternate hreflang=en href=/p>"),
        ),
        case(
            "hreflang-non-200",
            |w| w.answer("/x", 404, &[], ""),
            |w| w.page("/x", "x"),
        ),
        to(
            "hreflang-non-200",
            "<link rel=alternate hreflang=de href=https://example.de/>",
            |w| w.answer("https://example.de/", 404, &[], ""),
            |w| w.answer("https://example.de/", 429, &[], ""),
        ),
        case(
            "hreflang-redirect",
            |w| w.redirect("/x", 302, "/y"),
            |w| w.page("/x", "x"),
        ),
        to(
            "hreflang-redirect",
            "<link rel=alternate hreflang=de href=https://example.de/>",
            |w| w.redirect("https://example.de/", 301, "https://www.example.de/"),
            |w| w.page("https://example.de/", "x"),
        ),
        Case {
            id: "hreflang-no-return",
            bad: World::new().page("/p", body).page("/x", "<p>x"),
            // of other sites only the headers are read
            good: World::new()
                .page("/p", "<link rel=alternate hreflang=de href=https://example.de/>")
                .page("https://example.de/", "x"),
        },
        Case {
            id: "hreflang-no-return",
            bad: World::new().page("/p", body).page("/x", "<p>x"),
            good: World::new()
                .page("/p", &(canonical("/q") + body))
                .page("/x", "<p>x"),
        },
        Case {
            id: "hreflang-no-self",
            bad: World::new().page("/p", "<link rel=alternate hreflang=de href=/x>"),
            good: World::new().page(
                "/p",
                "<meta name=robots content=noindex><link rel=alternate hreflang=de href=/x>",
            ),
        },
        case(
            "hreflang-not-indexable",
            |w| w.page("/x", "<meta name=robots content=noindex>"),
            |w| {
                let html = [("content-type", "text/html")];
                w.answer("/x", 404, &html, "<meta name=robots content=noindex>")
            },
        ),
        to(
            "hreflang-lang-mismatch",
            "<link rel=alternate hreflang=x-default href=/x><link rel=alternate hreflang=en href=/x>",
            |w| w.page("/x", "<html lang=fr>"),
            |w| w.page("/x", "<html lang=en>"),
        ),
        to(
            "hreflang-lang-mismatch",
            "<link rel=alternate hreflang=no href=/x><link rel=alternate hreflang=nn href=/y>",
            |w| w.page("/x", "<html lang=nb>").page("/y", "<html lang=nb>"),
            |w| w.page("/x", "<html lang=nb>").page("/y", "<html lang=no>"),
        ),
        case(
            "hreflang-not-indexable",
            |w| w.page("/x", "<link rel=canonical href=/y>"),
            |w| w.page("/x", "<link rel=canonical href=/x>"),
        ),
        case(
            "hreflang-lang-mismatch",
            |w| w.page("/x", "<html lang=fr>"),
            |w| w.page("/x", "<html lang=DE-at>"),
        ),
    ]
}

fn redirects() -> Vec<Case> {
    let one = || World::new().redirect("/p", 301, "/a").page("/a", "x");
    let many = |count: usize| {
        (0..count).fold(World::new(), |world, i| {
            world.redirect(&format!("/old{i}"), 301, "/")
        })
    };
    vec![
        Case {
            id: "redirect-chain",
            bad: World::new()
                .redirect("/p", 301, "/a")
                .redirect("/a", 302, "/b")
                .page("/b", "x"),
            good: one(),
        },
        Case {
            id: "redirect-loop",
            bad: World::new()
                .redirect("/p", 301, "/a")
                .redirect("/a", 301, "/b")
                .redirect("/b", 301, "/p"),
            good: one(),
        },
        Case {
            id: "redirect-loop",
            bad: World::new().redirect("/p", 301, "/p"),
            good: one(),
        },
        Case {
            id: "redirect-to-error",
            bad: World::new().redirect("/p", 301, "/a").answer("/a", 404, &[], ""),
            good: one(),
        },
        Case {
            id: "redirect-to-error",
            bad: World::new().redirect("/p", 302, "http://169.254.169.254/latest/"),
            good: World::new().redirect("/p", 302, "http://8.8.8.8/latest/"),
        },
        Case {
            id: "redirect-to-error",
            bad: World::new()
                .redirect("/p", 301, "https://other.example/x")
                .answer("https://other.example/x", 404, &[], ""),
            good: World::new()
                .redirect("/p", 301, "https://other.example/x")
                .answer("https://other.example/x", 999, &[], ""),
        },
        Case {
            id: "redirect-downgrade",
            bad: World::new().redirect("/p", 301, "http://www.example.com/a"),
            good: one(),
        },
        Case {
            id: "redirect-temporary",
            bad: World::new().redirect("/p", 307, "/a").again(),
            good: World::new().redirect("/p", 308, "/a").again(),
        },
        Case {
            id: "redirect-temporary",
            bad: World::new().redirect("/p", 302, "/a").again(),
            good: World::new().redirect("/p", 302, "/a"),
        },
        Case {
            id: "redirect-mass-home",
            bad: many(5),
            good: many(4),
        },
    ]
}

fn sitemaps() -> Vec<Case> {
    fn more(world: World, change: fn(&mut Sitemap)) -> World {
        let mut sitemap = Sitemap {
            url: "https://www.example.com/more.xml".into(),
            status: Some(200),
            ..Sitemap::default()
        };
        change(&mut sitemap);
        world.origin(|origin| origin.sitemaps.push(sitemap))
    }
    let listed = |world: World| world.sitemap(&["/", "/p"]);
    let article = |day| {
        let article = r#"<script type=application/ld+json>{"@type": "Article", "datePublished": "2023-01-01"}</script>"#;
        World::new()
            .page("/p", article)
            .sitemap(&["/", "/p"])
            .changed("/p", day)
    };
    vec![
        Case {
            id: "content-stale",
            // in May 2023, and in October 2024
            bad: article(19_500),
            good: article(20_000),
        },
        Case {
            id: "sitemap-url-error",
            bad: listed(World::new().answer("/p", 404, &[], "")),
            good: World::new().answer("/p", 404, &[], ""),
        },
        Case {
            id: "sitemap-url-redirect",
            bad: listed(World::new().redirect("/p", 301, "/a")),
            good: World::new().redirect("/p", 301, "/a"),
        },
        Case {
            id: "sitemap-url-noindex",
            bad: listed(World::new().page("/p", "<meta name=robots content=noindex>")),
            good: listed(World::new().page("/p", "<p>x")),
        },
        Case {
            id: "sitemap-url-noncanonical",
            bad: listed(World::new().page("/p", &canonical("/q"))),
            good: listed(World::new().page("/p", &canonical("/p"))),
        },
        Case {
            id: "sitemap-url-blocked",
            bad: listed(World::new().blocked("/p")).robots("User-agent: *\nDisallow: /p"),
            good: World::new().blocked("/p").robots("User-agent: *\nDisallow: /p"),
        },
        Case {
            id: "sitemap-url-blocked",
            bad: listed(World::new().page("/p", "x")).robots("User-agent: Googlebot\nDisallow: /p"),
            good: listed(World::new().blocked("/p")).robots("User-agent: SearchwrightBot\nDisallow: /p"),
        },
        Case {
            id: "not-in-sitemap",
            bad: World::new().page("/p", "x").sitemap(&["/"]),
            good: listed(World::new().page("/p", "x")),
        },
        Case {
            id: "not-in-sitemap",
            bad: World::new().page("/p", "x").sitemap(&["/"]),
            good: World::new().page("/p", "x"),
        },
        Case {
            id: "not-in-sitemap",
            bad: more(World::new().page("/p", "x").sitemap(&["/"]), |_| ()),
            // what cannot be read may list it
            good: more(World::new().page("/p", "x").sitemap(&["/"]), |sitemap| {
                (sitemap.status, sitemap.error) = (Some(503), Some("status 503".into()));
            }),
        },
        Case {
            id: "not-in-sitemap",
            bad: more(World::new().page("/p", "x").sitemap(&["/"]), |s| s.urls = 50_000),
            good: more(World::new().page("/p", "x").sitemap(&["/"]), |s| s.urls = 50_001),
        },
    ]
}

fn robots() -> Vec<Case> {
    let rules = "User-agent: *\nDisallow: /p\nDisallow: /assets/";
    let page = |body: &str| World::new().page("/p", body);
    vec![
        Case {
            id: "robots-blocked-page",
            bad: World::new().blocked("/p").robots(rules),
            good: World::new().page("/", "x").blocked("/p").robots(rules),
        },
        Case {
            id: "robots-blocked-page",
            bad: World::new().blocked("/p").robots(rules),
            good: World::new()
                .blocked("/p")
                .robots("User-agent: SearchwrightBot\nDisallow: /p"),
        },
        Case {
            id: "robots-blocked-page",
            bad: page("x").robots("User-agent: Googlebot\nDisallow: /p"),
            good: page("x")
                .robots("User-agent: Googlebot\nDisallow: /p")
                .origin(|o| o.root = "https://shop.example.com".into()),
        },
        Case {
            id: "robots-blocked-resource",
            bad: page("<base href=/assets/><script src=a.js></script>").robots(rules),
            good: page("<base href=/other/><script src=a.js></script><script src=//cdn.example/assets/a.js></script>")
                .robots(rules),
        },
        Case {
            id: "robots-blocked-resource",
            bad: page("<link rel=stylesheet href=//www.example.com/assets/a.css>").robots(rules),
            good: page("<base href=https://cdn.example/><script src=/assets/a.js></script>").robots(rules),
        },
        Case {
            id: "robots-blocked-resource",
            bad: page("<script src=assets/a.js?u=https://x.example/></script>").robots(rules),
            good: page("<script src=/js/a.js?u=https://x.example/assets/></script>").robots(rules),
        },
        Case {
            id: "robots-blocked-resource",
            bad: page("<script src=/assets/a.js></script>").robots(rules),
            good: page("<script src=/a.js></script><script src=https://cdn.example/assets/a.js></script>")
                .robots(rules),
        },
        Case {
            id: "ai-search-bot-blocked",
            bad: page("x").robots("User-agent: PerplexityBot\nDisallow: /"),
            good: page("x").robots("User-agent: GPTBot\nDisallow: /"),
        },
        Case {
            id: "ai-user-bot-blocked",
            bad: page("x").robots("User-agent: chatgpt-user\nDisallow: /p"),
            good: page("x").robots("User-agent: ChatGPT-Users\nDisallow: /"),
        },
    ]
}
