//! Canonical URLs and alternates in other languages.

use super::{Case, TEXT, World, canonical, to};
use crate::{fetch::Cut, sitemap::named};

pub(super) fn canonicals() -> Vec<Case> {
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
            // allowed for this crawler, forbidden for Googlebot
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

/// An alternate on another site.
const ABROAD: &str = "<html lang=en><link rel=alternate hreflang=de href=https://example.de/>";

/// A page with its alternates in the headers.
fn in_headers(world: World, link: &'static str) -> World {
    world.answer(
        "/x",
        200,
        &[("content-type", "text/html"), ("link", link)],
        "<p>x",
    )
}

pub(super) fn alternates() -> Vec<Case> {
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
            "hreflang-no-return",
            |w| in_headers(w, "</p>; rel=next; hreflang=en"),
            |w| {
                in_headers(
                    w,
                    "</x>; rel=alternate; hreflang=de, </p>; rel=alternate; hreflang=en",
                )
            },
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
        to(
            "hreflang-no-return",
            ABROAD,
            |w| {
                let own = "<link rel=alternate hreflang=de href=/>";
                w.page(
                    "https://example.de/",
                    &(own.to_owned() + "<a href=https://www.example.com/p>x</a>"),
                )
            },
            // its sitemap may name the page
            |w| w.page("https://example.de/", "x"),
        ),
        to(
            "hreflang-no-return",
            ABROAD,
            |w| w.page("https://example.de/", "<link rel=alternate hreflang=de href=/>"),
            |w| {
                let back = "<link rel=alternate hreflang=en href=https://www.example.com/p>";
                w.page("https://example.de/", back)
            },
        ),
        to(
            "hreflang-no-return",
            ABROAD,
            |w| w.page("https://example.de/", "<link rel=alternate hreflang=de href=/>"),
            |w| {
                let page = w.page("https://example.de/", "<link rel=alternate hreflang=de href=/>");
                page.with(|answer| answer.cut = Some(Cut::Time))
            },
        ),
        to(
            "hreflang-not-indexable",
            ABROAD,
            |w| w.page("https://example.de/", "<meta name=robots content=noindex>"),
            |w| w.page("https://example.de/", "x"),
        ),
        to(
            "hreflang-not-indexable",
            ABROAD,
            |w| w.page("https://example.de/", "<link rel=canonical href=/y>"),
            |w| {
                w.page(
                    "https://example.de/",
                    "<link rel=canonical href=https://example.de/>",
                )
            },
        ),
        to(
            "hreflang-lang-mismatch",
            ABROAD,
            |w| w.page("https://example.de/", "<html lang=nl>"),
            |w| w.page("https://example.de/", "<html lang=de-AT>"),
        ),
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
        // head, headers and sitemaps say the same
        Case {
            id: "hreflang-no-return",
            bad: in_sitemap("/x", "/p"),
            good: in_sitemap("/p", "/x"),
        },
        Case {
            id: "hreflang-no-self",
            bad: in_sitemap("/x", "/p"),
            good: in_sitemap("/p", "/p"),
        },
        // withdrawn codes mean the same languages
        to(
            "hreflang-lang-mismatch",
            "<link rel=alternate hreflang=he href=/x><link rel=alternate hreflang=in href=/y>",
            |w| w.page("/x", "<html lang=iw>").page("/y", "<html lang=jw>"),
            |w| w.page("/x", "<html lang=iw>").page("/y", "<html lang=id-ID>"),
        ),
        Case {
            id: "hreflang-conflict",
            bad: World::new().page(
                "/p",
                "<link rel=alternate hreflang=iw href=/x><link rel=alternate hreflang=yi href=/x>",
            ),
            good: World::new().page(
                "/p",
                "<link rel=alternate hreflang=iw href=/x><link rel=alternate hreflang=he href=/x>",
            ),
        },
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

/// A page that names an alternate, which names it in the sitemap.
fn in_sitemap(alternate: &str, page: &str) -> World {
    let url = |path: &str| format!("https://www.example.com{path}");
    let listed = named(&url(page), &url(alternate));
    World::new()
        .page("/p", "<link rel=alternate hreflang=de href=/x>")
        .page("/x", "<p>x")
        .origin(|origin| origin.add_alternates(vec![listed]))
}
