//! Checks that look at one page: its HTML with the problem, and without.

use super::{Case, World};

const LOREM: &str = "Some words about mowers and how they are repaired by people who know them well.";

fn page(id: &'static str, bad: &str, good: &str) -> Case {
    Case {
        id,
        bad: World::new().page("/p", bad),
        good: World::new().page("/p", good),
    }
}

/// The same page under two addresses.
fn address(id: &'static str, bad: &str, good: &str) -> Case {
    let html = "<html lang=en><p>x";
    Case {
        id,
        bad: World::new().page(bad, html),
        good: World::new().page(good, html),
    }
}

fn headers(
    id: &'static str,
    bad: &[(&'static str, &str)],
    good: &[(&'static str, &str)],
    body: &str,
) -> Case {
    let world = |headers: &[(&'static str, &str)]| {
        let headers = [&[("content-type", "text/html; charset=utf-8")], headers].concat();
        World::new().answer("/p", 200, &headers, body)
    };
    Case {
        id,
        bad: world(bad),
        good: world(good),
    }
}

fn words(count: usize) -> String {
    ["mower "].repeat(count).concat()
}

fn json_ld(json: &str) -> String {
    format!("<script type=application/ld+json>{json}</script>")
}

pub(super) fn cases() -> Vec<Case> {
    [
        texts(),
        heads(),
        bodies(),
        markup(),
        addresses(),
        answers(),
        mended(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn texts() -> Vec<Case> {
    let title = |title: &str| format!("<title>{title}</title>");
    let description = |text: &str| format!("<meta name=description content='{text}'>");
    let article =
        json_ld(r#"{"@type": "Article", "headline": "x", "datePublished": "2026-01-01", "author": "Me"}"#);
    vec![
        page("title-missing", "<title> </title>", "<title>x</title>"),
        page(
            "title-multiple",
            "<title>a</title><title>b</title>",
            "<title>a</title><svg><title>b</title></svg>",
        ),
        page(
            "title-short",
            &title("Mowers"),
            &title("How to repair a lawn mower yourself"),
        ),
        page(
            "title-long",
            &title(&"Repairing Mowers ".repeat(6)),
            &title(&"i".repeat(70)),
        ),
        page(
            "title-long",
            &title(&"割草机".repeat(11)),
            &title(&"割草机".repeat(10)),
        ),
        page(
            "title-long",
            &title(&"잔디 깎는 기계 고치기 ".repeat(3)),
            &title(&"잔디 깎는 기계 고치기 ".repeat(2)),
        ),
        page(
            "title-short",
            &title("잔디 깎는 기계"),
            &title("집에서 잔디 깎는 기계 고치는 방법"),
        ),
        page("title-generic", &title("HOME"), &title("Home of the mower")),
        page("title-generic", &title("example.com"), &title("Example")),
        page(
            "title-same-as-h1",
            "<title>Lawn  mowers</title><h1>LAWN mowers</h1>",
            "<title>a</title><h1>b</h1>",
        ),
        page(
            "description-missing",
            "<meta name=description content=' '>",
            &description("x"),
        ),
        page(
            "description-short",
            &description("Too short"),
            &description(&"x".repeat(70)),
        ),
        page(
            "description-long",
            &description(&"x".repeat(156)),
            &description(&"x".repeat(155)),
        ),
        page(
            "description-multiple",
            &(description("a") + &description("b")),
            &description("a"),
        ),
        page("h1-missing", "<h1> </h1>", "<h1><img alt=Mowers></h1>"),
        page("h1-multiple", "<h1>a</h1><h1>b</h1>", "<h1>a</h1><h2>b</h2>"),
        page(
            "h1-long",
            &format!("<h1>{}</h1>", "x".repeat(71)),
            &format!("<h1>{}</h1>", "é".repeat(70)),
        ),
        page(
            "heading-skip",
            "<h1>a</h1><h3>b</h3>",
            "<h1>a</h1><h2>b</h2><h3>c</h3><h1>d</h1>",
        ),
        page("heading-empty", "<h2><b></b></h2>", "<h2>x</h2>"),
        page(
            "subheadings-missing",
            &format!("<p>{}", words(301)),
            &format!("<h2>x</h2><p>{}", words(301)),
        ),
        page("thin-content", LOREM, &words(200)),
        page("text-ratio-low", &format!("<!-- {} -->x", "c".repeat(200)), LOREM),
        page("lorem-ipsum", "<p>Lorem   Ipsum dolor", LOREM),
        page(
            "template-unrendered",
            "<h1>Hi {{ name }}</h1>",
            "<p>use {{ name }} <code>{{ x }} {{ y }}</code>",
        ),
        page(
            "template-unrendered",
            "<p>{{ a }} and [object Object]",
            "<title>What is undefined behaviour</title>",
        ),
        page(
            "content-stale",
            &json_ld(r#"{"@type": "Article", "datePublished": "2023-01-01"}"#),
            &article,
        ),
        page(
            "content-stale",
            &format!(
                "{}<header><time datetime=2026-01-01></time></header><time datetime=2027-01-01></time>",
                json_ld(r#"{"@type": "Article", "datePublished": "2023-01-01"}"#)
            ),
            &format!(
                "{}<p>As of <time datetime=2026-01-01>today</time>",
                json_ld(r#"{"@type": "Article", "datePublished": "2023-01-01"}"#)
            ),
        ),
        page("date-missing", &json_ld(r#"{"@type": "BlogPosting"}"#), &article),
        page(
            "question-heading-missing",
            &format!("{article}<h2>Oil</h2>{}", words(600)),
            &format!("{article}<h2>How to change oil</h2>{}", words(600)),
        ),
        page(
            "direct-answer-missing",
            &format!("<h2>Why oil?</h2><p>{}", words(19)),
            &format!("<h2>Why oil?</h2><p>{}", words(20)),
        ),
        page(
            "paragraphs-long",
            &format!("<p>{}<p>b<p>c", words(151)),
            &format!("<p>{}<p>b<p>c<p>d", words(151)),
        ),
        page(
            "evidence-missing",
            &format!("{article}{}", words(600)),
            &format!("{article}{} in 1999", words(600)),
        ),
        page("author-missing", &json_ld(r#"{"@type": "Article"}"#), &article),
        page(
            "author-missing",
            &json_ld(r#"{"@type": "Article"}"#),
            &format!("{}<p class=byline>Me", json_ld(r#"{"@type": "Article"}"#)),
        ),
        page(
            "js-dependent-content",
            "<div id=root></div><script src=/a.js></script>",
            &format!("<div id=root>{}</div><script src=/a.js></script>", words(50)),
        ),
    ]
}

fn heads() -> Vec<Case> {
    let hreflang = |code: &str, href: &str| format!("<link rel=alternate hreflang='{code}' href='{href}'>");
    let own = "https://www.example.com/p";
    let set = hreflang("en", own) + &hreflang("x-default", own);
    vec![
        page("doctype-missing", "<html>", "<!DOCTYPE html><html>"),
        page(
            "noindex",
            "<meta name=robots content='NOINDEX'>",
            "<meta name=robots content=index>",
        ),
        page(
            "robots-directive-unknown",
            "<meta name=robots content='noindx'>",
            "<meta name=robots content='max-snippet:-1, noarchive'>",
        ),
        page(
            "robots-nofollow-page",
            "<meta name=robots content=nofollow><a href=/>x</a>",
            "<meta name=robots content=nofollow>",
        ),
        page(
            "unavailable-after-past",
            "<meta name=robots content='unavailable_after: 2025-01-01'>",
            "<meta name=robots content='unavailable_after: 2030-01-01'>",
        ),
        page(
            "noimageindex",
            "<meta name=googlebot content=noimageindex>",
            "<p>x",
        ),
        page(
            "head-element-in-body",
            "<div></div><link rel=canonical href=/p>",
            "<head></head><link rel=canonical href=/p>",
        ),
        page(
            "meta-refresh",
            "<meta http-equiv=refresh content='5; URL=/x'>",
            "<meta http-equiv=refresh content=300>",
        ),
        page(
            "snippet-restricted",
            "<meta name=robots content='max-snippet:0'>",
            "<meta name=robots content='max-snippet:50'>",
        ),
        page("snippet-restricted", "<main data-nosnippet>x", "<main>x"),
        page("canonical-missing", "<p>x", "<link rel=canonical href=/p>"),
        page(
            "canonical-multiple",
            "<link rel=canonical href=/p><link rel=canonical href=/q>",
            "<link rel=canonical href=/p><link rel=canonical href=https://www.example.com/p>",
        ),
        page(
            "canonical-relative",
            "<link rel=canonical href=/p>",
            "<link rel=canonical href=https://www.example.com/p>",
        ),
        page(
            "canonical-invalid",
            "<link rel=canonical href='#x'>",
            "<link rel=canonical href=/p>",
        ),
        page(
            "canonical-invalid",
            "<link rel=canonical href='ftp://x/'>",
            "<link rel=canonical href=/p#x>",
        ),
        page("canonical-invalid", "<link rel=canonical href=''>", "<p>x"),
        page(
            "canonical-cross-domain",
            "<link rel=canonical href=https://other.example/p>",
            "<link rel=canonical href=https://blog.example.com/p>",
        ),
        page(
            "canonical-http",
            "<link rel=canonical href=http://www.example.com/p>",
            "<link rel=canonical href=https://www.example.com/p>",
        ),
        page("lang-missing", "<html lang=''>", "<html lang=en>"),
        page("lang-invalid", "<html lang=en_US>", "<html lang=en-US>"),
        page(
            "hreflang-invalid-code",
            &hreflang("en-UK", own),
            &hreflang("en-GB", own),
        ),
        page("hreflang-relative", &hreflang("en", "/p"), &set),
        page(
            "hreflang-no-self",
            &hreflang("de", "https://www.example.com/de"),
            &set,
        ),
        page("hreflang-no-x-default", &hreflang("en", own), &set),
        page(
            "hreflang-conflict",
            &(hreflang("en", own) + &hreflang("EN", "https://www.example.com/q")),
            &(hreflang("en", own) + &hreflang("en-GB", own)),
        ),
        page(
            "hreflang-conflict",
            &(hreflang("en", own) + &hreflang("de", own)),
            &set,
        ),
        page(
            "viewport-missing",
            "<meta name=viewport content=''>",
            "<meta name=viewport content='width=device-width'>",
        ),
        page(
            "viewport-fixed",
            "<meta name=viewport content='width=1024'>",
            "<meta name=viewport content='width=device-width, initial-scale=1'>",
        ),
        page(
            "viewport-zoom-off",
            "<meta name=viewport content='width=device-width, user-scalable=no'>",
            "<meta name=viewport content='width=device-width, maximum-scale=5'>",
        ),
        page(
            "og-incomplete",
            "<meta property=og:title content=x>",
            "<meta property=og:title content=x><meta property=og:type content=x><meta property=og:image content=x><meta property=og:url content=x>",
        ),
        page(
            "og-url-mismatch",
            "<meta property=og:url content=https://www.example.com/q>",
            "<meta property=og:url content=https://www.example.com/p>",
        ),
        page(
            "twitter-card-missing",
            "<p>x",
            "<meta name=twitter:card content=summary>",
        ),
    ]
}

fn bodies() -> Vec<Case> {
    let many = |n: usize| "<a href=/>Home page</a>".repeat(n);
    vec![
        page(
            "image-alt-missing",
            "<img src=a>",
            "<img src=a alt=''><img src=b role=presentation><img src=c aria-hidden=true>",
        ),
        page(
            "image-alt-long",
            &format!("<img src=a alt='{}'>", "x".repeat(101)),
            &format!("<img src=a alt='{}'>", "ü".repeat(100)),
        ),
        page(
            "image-dimensions-missing",
            "<img src=a width=5>",
            "<img src=a width=5 height=5><img src=b style='aspect-ratio: 3/2'>",
        ),
        page(
            "image-lazy-first",
            "<img src=a loading=lazy>",
            "<img src=a><img src=b loading=lazy>",
        ),
        page(
            "picture-no-img",
            "<picture><source srcset=a></picture>",
            "<picture><img src=a></picture>",
        ),
        page(
            "dead-end-page",
            "<a href=/p>self</a><a href=https://other.example/>x</a>",
            "<a href=/>x</a>",
        ),
        page("many-links", &many(1_001), &many(1_000)),
        page(
            "anchor-empty",
            "<a href=/x><img src=y></a>",
            "<a href=/x aria-label=X></a>",
        ),
        page(
            "anchor-generic",
            "<a href=/x>Click here!</a>",
            "<a href=/x>Click here for mowers</a>",
        ),
        page(
            "anchor-uncrawlable",
            "<a onclick=go()>x</a>",
            "<a href=/x onclick=go()>x</a>",
        ),
        page(
            "link-malformed",
            "<a href='http//other.example'>x</a>",
            "<a href=/x>x</a>",
        ),
        page(
            "broken-fragment",
            "<a href=#a>x</a><p id=b>",
            "<a href=#%C3%A4>x</a><a href=#top>y</a><a href=/p#c>z</a><p id=ä><a name=c>",
        ),
        page(
            "broken-fragment",
            "<a href=#a>x</a><p id=b>",
            "<a href=#a>x</a><div id=root></div><script src=/a.js></script>",
        ),
        page(
            "http-internal-link",
            "<a href=http://www.example.com/x>x</a>",
            "<a href=http://other.example/>x</a>",
        ),
        page(
            "pagination-not-linked",
            "<link rel=next href='?page=2'>",
            "<link rel=next href='?page=2'><a href='?page=2'>2</a>",
        ),
        page(
            "url-tracking-params",
            "<a href='/x?utm_source=nav'>x</a>",
            "<a href='https://other.example/?utm_source=x'>x</a>",
        ),
        page(
            "localhost-link",
            "<a href=http://localhost:3000/x>x</a>",
            "<a href=/localhost>x</a>",
        ),
        page(
            "localhost-link",
            "<script src=http://192.168.1.5/a.js></script>",
            "<script src=http://8.8.8.8/a.js></script>",
        ),
        page(
            "localhost-link",
            "<script src=//127.0.0.1/a.js></script>",
            "<script src=//localhost.example/a.js></script>",
        ),
        page(
            "localhost-link",
            "<img src=http://10.0.0.1/a.png>",
            "<img src=http://11.0.0.1/a.png>",
        ),
        page(
            "localhost-link",
            "<form action=http://shop.Local/></form>",
            "<form action=http://shop.local.example/></form>",
        ),
        page(
            "staging-host-leak",
            "<link rel=alternate hreflang=de href=//stage.example.com/p>",
            "<link rel=alternate hreflang=de href=//backstage.example.com/p>",
        ),
        page(
            "staging-host-leak",
            "<img src=https://test2.example.com/a.png>",
            "<img src=https://cdn.test.example/a.png><img src=https://test.github.io/a.png>",
        ),
        page(
            "staging-host-leak",
            "<a href=https://staging.example.com/x>x</a>",
            "<a href=https://staging.other.example/x>x</a>",
        ),
        page(
            "staging-host-leak",
            "<link rel=canonical href=https://dev-2.example.com/p>",
            "<a href=https://developers.example.com/x>x</a>",
        ),
        page(
            "mixed-content-active",
            "<script src=http://cdn.example/a.js></script>",
            "<img src=http://cdn.example/a.png>",
        ),
        page(
            "mixed-content-passive",
            "<img src=http://cdn.example/a.png>",
            "<script src=http://cdn.example/a.js></script>",
        ),
        page(
            "form-insecure",
            "<form action=http://x.example/></form>",
            "<form><input type=password></form>",
        ),
        page(
            "plugin-content",
            "<embed src=movie.swf>",
            "<object type=application/pdf data=x.pdf></object>",
        ),
        page("dom-large", &"<br>".repeat(1_501), &"<br>".repeat(1_500)),
        page(
            "many-resources",
            &"<script src=/a.js></script>".repeat(101),
            &"<script src=/a.js></script>".repeat(100),
        ),
        page("html-large", &"x".repeat((1 << 20) + 1), &"x".repeat(1 << 20)),
        page("html-over-2mb", &"x".repeat((2 << 20) + 1), &"x".repeat(2 << 20)),
        page("no-compression", &"x".repeat(1_025), &"x".repeat(1_024)),
    ]
}

fn markup() -> Vec<Case> {
    let crumbs = |entries: &str| {
        json_ld(&format!(
            r#"{{"@type": "BreadcrumbList", "itemListElement": [{entries}]}}"#
        ))
    };
    vec![
        page("jsonld-invalid", &json_ld("{"), &json_ld("{}")),
        page("jsonld-invalid", &json_ld(" "), &json_ld("[]")),
        page("schema-missing", "<p>x", "<div itemscope></div>"),
        page(
            "schema-required-missing",
            &json_ld(r#"{"@type": "Product", "name": "x"}"#),
            &json_ld(r#"{"@type": "Product", "name": "x", "offers": {"price": 1}}"#),
        ),
        page(
            "schema-required-missing",
            &json_ld(r#"{"@graph": [{"@type": ["Event"], "name": ""}]}"#),
            &json_ld(r#"{"@type": "Thing"}"#),
        ),
        page(
            "schema-required-missing",
            &crumbs(r#"{"position": 1, "name": "x"}, {"position": 2}"#),
            &crumbs(r#"{"position": 1, "item": {"@id": "/", "name": "x"}}, {"position": 2, "name": "y"}"#),
        ),
        page(
            "schema-recommended-missing",
            &json_ld(
                r#"{"@type": "Article", "headline": "x", "image": "x", "datePublished": "2026-01-01", "dateModified": "2026-01-01", "author": {"name": "Me"}}"#,
            ),
            &json_ld(
                r##"{"@graph": [{"@type": "Article", "headline": "x", "image": "x", "datePublished": "2026-01-01", "dateModified": "2026-01-01", "author": {"@id": "#me"}}, {"@type": "Person", "@id": "#me", "name": "Me", "url": "/me"}]}"##,
            ),
        ),
        page(
            "schema-date-invalid",
            &json_ld(r#"{"@type": "Article", "datePublished": "1. Mai 2024"}"#),
            &json_ld(r#"{"@type": "Article", "datePublished": "2024-05-01"}"#),
        ),
        page(
            "schema-date-invalid",
            &json_ld(r#"{"@type": "Article", "datePublished": "2030-05-01"}"#),
            &json_ld(r#"{"@type": "Event", "startDate": "2030-05-01"}"#),
        ),
        page(
            "schema-date-invalid",
            &json_ld(r#"{"@type": "Article", "datePublished": "2024-05-03", "dateModified": "2024-05-01"}"#),
            &json_ld(
                r#"{"@type": "Article", "datePublished": "2024-05-01T10:00:00Z", "dateModified": "2024-05-01"}"#,
            ),
        ),
        page(
            "schema-retired-feature",
            &json_ld(r#"{"@type": "https://schema.org/FAQPage"}"#),
            &json_ld(r#"{"@type": "QAPage"}"#),
        ),
        page(
            "schema-singleton-duplicate",
            &json_ld(r#"[{"@type": "Organization", "@id": "a"}, {"@type": "Organization", "@id": "b"}]"#),
            &json_ld(r#"[{"@type": "Organization", "@id": "a"}, {"@type": "Organization", "@id": "a"}]"#),
        ),
        Case {
            id: "breadcrumb-missing",
            bad: World::new().page("/p/q/r", "<p>x"),
            good: World::new().page("/p/q/r", &crumbs(r#"{"name": "x"}"#)),
        },
    ]
}

fn addresses() -> Vec<Case> {
    vec![
        address(
            "url-long",
            &format!("/p{}", "x".repeat(114)),
            &format!("/p{}", "x".repeat(113)),
        ),
        address("url-underscore", "/p_q", "/p-q?a_b"),
        address("url-uppercase", "/P", "/p%C3%A9"),
        address("url-space", "/p%20q", "/p-q"),
        address("url-double-slash", "/p//q", "/p/q"),
        address("url-non-ascii", "/p/é", "/p/e"),
        address("url-many-params", "/p?a=1&b=2&c=3&d=4", "/p?a=1&b=2&c=3"),
        address("url-repetitive-path", "/p/x/p/x/p", "/p/x/p/x"),
        Case {
            id: "url-non-ascii",
            bad: World::new().page("/p/%D0%B0", "<html lang=en>"),
            good: World::new().page("/p/%D0%B0", "<html lang=ru-RU>"),
        },
        Case {
            id: "https-missing",
            bad: World::new().insecure().page("/p", "<p>x"),
            good: World::new().page("/p", "<p>x"),
        },
        Case {
            id: "form-insecure",
            bad: World::new()
                .insecure()
                .page("/p", "<form><input type=password></form>"),
            good: World::new()
                .insecure()
                .page("/p", "<form><input type=text></form>"),
        },
    ]
}

fn answers() -> Vec<Case> {
    let noindex = "<meta name=robots content=noindex>";
    let plain = |content_type: &str| {
        World::new().answer(
            "/p",
            200,
            &[("content-type", content_type)],
            "<!doctype html><p>x",
        )
    };
    let slow = |ms| {
        World::new()
            .page("/p", "<p>x")
            .with(|response| response.ttfb = std::time::Duration::from_millis(ms))
    };
    let status = |status| World::new().answer("/p", status, &[], "");
    vec![
        headers(
            "robots-directive-conflict",
            &[("x-robots-tag", "index")],
            &[("x-robots-tag", "noindex")],
            noindex,
        ),
        headers(
            "canonical-header-mismatch",
            &[("link", "</q>; rel=canonical")],
            &[("link", "</p>; rel=canonical")],
            "<link rel=canonical href=/p>",
        ),
        headers(
            "noindex",
            &[("x-robots-tag", "none")],
            &[("x-robots-tag", "otherbot: none")],
            "<p>x",
        ),
        headers(
            "no-compression",
            &[("content-encoding", "identity")],
            &[("content-encoding", "br")],
            &"x".repeat(2_000),
        ),
        Case {
            id: "charset-missing",
            bad: plain("text/html"),
            good: World::new().answer(
                "/p",
                200,
                &[("content-type", "text/html")],
                "<meta charset=utf-8>",
            ),
        },
        Case {
            id: "content-type-mismatch",
            bad: plain("text/plain"),
            good: plain("text/html"),
        },
        Case {
            id: "ttfb-slow",
            bad: slow(801),
            good: slow(800),
        },
        Case {
            id: "http-4xx",
            bad: status(404),
            good: status(429),
        },
        Case {
            id: "http-4xx",
            bad: status(410),
            good: status(401),
        },
        Case {
            id: "http-4xx",
            bad: status(404),
            good: World::new().page("/", "<p>no links").answer("/p", 404, &[], ""),
        },
        Case {
            id: "http-forbidden",
            bad: status(403),
            good: status(404),
        },
        Case {
            id: "http-5xx",
            bad: status(503),
            good: status(404),
        },
        Case {
            id: "http-no-response",
            bad: World::new().failed("/p"),
            good: status(500),
        },
        Case {
            id: "redirect-no-location",
            bad: status(302),
            good: World::new().redirect("/p", 302, "/q"),
        },
        Case {
            id: "redirect-no-location",
            bad: World::new().redirect("/p", 301, "mailto:x"),
            good: status(304),
        },
    ]
}

/// What was once seen wrongly.
fn mended() -> Vec<Case> {
    let menu = "<h3>Menu</h3>".repeat(60);
    let base = |base: &str, body: &str| format!("<base href={base}>{body}");
    let card = |attribute: &str| {
        ["title", "type", "image", "url"]
            .map(|name| format!("<meta name={name} {attribute}='og:{name}' content=x>"))
            .concat()
    };
    let citations = "<meta name=citation_author content=x>".repeat(60);
    let long = |kind: &str| {
        json_ld(&format!(
            r#"{{"@type": "{kind}", "text": "{}"}}"#,
            "x".repeat(30_000)
        ))
    };
    let too_long = json_ld(&format!(
        r#"{{"@type": "Article", "text": "{}"}}"#,
        "x".repeat(70_000)
    ));
    let deep = |bad: &str, good: &str| Case {
        id: "breadcrumb-missing",
        bad: World::new().page("/p/q/r", bad),
        good: World::new().page("/p/q/r", good),
    };
    let in_page = |json: &str| json_ld(&format!(r#"{{"@type": "WebPage", "mainEntity": {json}}}"#));
    let own_words = words(600);
    let article = json_ld(r#"{"@type": "Article", "author": "Me"}"#);
    vec![
        page(
            "mixed-content-active",
            &("<img src=http://cdn.example/a.png>".repeat(20)
                + "<script src=http://cdn.example/a.js></script>"),
            &"<img src=http://cdn.example/a.png>".repeat(20),
        ),
        page(
            "mixed-content-active",
            &base("http://cdn.example/", "<script src=a.js></script>"),
            &base("//cdn.example/", "<script src=a.js></script>"),
        ),
        page(
            "mixed-content-active",
            "<object data=http://cdn.example/a.pdf></object>",
            "<object data=https://cdn.example/a.pdf></object>",
        ),
        page(
            "mixed-content-passive",
            "<video poster=http://cdn.example/a.png></video>",
            "<video poster=/a.png></video>",
        ),
        page(
            "form-insecure",
            &base("http://www.example.com/", "<form action=/send></form>"),
            &base(
                "http://www.example.com/",
                "<form></form><form action=https://www.example.com/></form>",
            ),
        ),
        page(
            "heading-empty",
            "<h2></h2>",
            "<h2>x</h2><template><h3></h3></template>",
        ),
        page(
            "heading-skip",
            "<h1>x</h1><h3>y</h3>",
            "<h1>x</h1><template><h4>y</h4></template><h2>z</h2>",
        ),
        page(
            "picture-no-img",
            "<picture></picture>",
            "<template><picture></picture></template><picture><template></template><img src=a></picture>",
        ),
        page("h1-missing", &menu, &format!("{menu}<h1>Mowers</h1>")),
        page(
            "h1-multiple",
            &format!("{menu}<h1>a</h1><h1>b</h1>"),
            &format!("{menu}<h1>a</h1>"),
        ),
        page(
            "og-incomplete",
            &card("rel"),
            &(citations.clone() + &card("property")),
        ),
        page(
            "twitter-card-missing",
            &citations,
            &(citations.clone() + "<meta name=card property=twitter:card content=summary>"),
        ),
        deep(&long("Article"), &long("BreadcrumbList")),
        // what was not read may hold it
        deep("<p>x", &too_long),
        page(
            "schema-required-missing",
            &in_page(r#"{"@type": "Product", "name": "x", "image": "y"}"#),
            &in_page(r#"{"@type": "Product", "name": "x", "url": "/x"}"#),
        ),
        page(
            "schema-required-missing",
            &json_ld(r#"{"@type": "Product", "@id": "x", "name": "x"}"#),
            &(json_ld(r#"{"@type": "Product", "@id": "x", "name": "x"}"#)
                + &json_ld(r#"{"@type": "Product", "@id": "x", "offers": {"price": 1}}"#)),
        ),
        page(
            "schema-required-missing",
            &json_ld(r#"{"@type": "Dentist", "name": "x"}"#),
            &json_ld(r#"{"@type": "Article", "publisher": {"@type": "Dentist", "name": "x"}}"#),
        ),
        page(
            "schema-required-missing",
            &json_ld(r#"{"@type": "MusicEvent", "name": "x"}"#),
            &json_ld(r#"{"@type": ["OnlineStore", "BroadcastEvent", "VacationRental"], "name": "x"}"#),
        ),
        page(
            "schema-recommended-missing",
            &in_page(r#"{"@type": "Article", "headline": "x"}"#),
            &json_ld(r#"{"@type": "WebPage", "hasPart": {"@type": "Article", "headline": "x"}}"#),
        ),
        page(
            "schema-singleton-duplicate",
            &json_ld(r#"[{"@type": "Organization"}, {"@type": "Organization"}]"#),
            &json_ld(
                r#"[{"@type": "Organization"}, {"@type": "Article", "publisher": {"@type": "Organization"}}, {"@type": "ProfilePage", "mainEntity": {"@type": "Organization", "logo": "x"}}]"#,
            ),
        ),
        page(
            "viewport-fixed",
            "<meta name=viewport content='width=1024 initial-scale=1'>",
            "<meta name=viewport content='width=device-width initial-scale=1'>",
        ),
        page(
            "viewport-zoom-off",
            "<meta name=viewport content='width=device-width user-scalable = no'>",
            "<meta name=viewport content='width=device-width user-scalable=yes'>",
        ),
        page("lang-invalid", "<html lang=english>", "<html lang=eng>"),
        page("lang-invalid", "<html lang=en-UK>", "<html lang=en-GB>"),
        page(
            "lang-missing",
            "<html><html class=x>",
            "<html lang=en><html class=x>",
        ),
        page(
            "anchor-uncrawlable",
            "<a id=more onclick=more()>More</a>",
            "<a id=more></a>",
        ),
        page(
            "link-malformed",
            "<a href=hhtps://other.example/>x</a>",
            "<a href=https/other>x</a>",
        ),
        page(
            "author-missing",
            &(json_ld(r#"{"@type": "Article"}"#) + "<script>authorization(authority)</script>"),
            &(json_ld(r#"{"@type": "Article"}"#) + "<a rel=author href=/me>Me</a>"),
        ),
        page(
            "evidence-missing",
            &format!("{article}{own_words} \"no\""),
            &format!("{article}{own_words} as he said: “no”"),
        ),
        page(
            "direct-answer-missing",
            "<h2>How to change oil</h2><p>Well.",
            &format!("<h2>How to change oil</h2><p>{}<h2>Oil</h2><p>Well.", words(30)),
        ),
        page(
            "snippet-restricted",
            "<div data-nosnippet><main>x</main></div>",
            "<main>x</main><article data-nosnippet>y</article>",
        ),
        // 11 of 43 are 25.6 %
        page(
            "paragraphs-long",
            &(format!("<p>{}", words(151)).repeat(11) + &"<p>a".repeat(32)),
            &(format!("<p>{}", words(151)).repeat(11) + &"<p>a".repeat(33)),
        ),
        page(
            "template-unrendered",
            "<title>Hello, undefined!</title>",
            "<title>Hello</title>",
        ),
        page(
            "template-unrendered",
            "<meta name=description content='Desks from NaN EUR'>",
            "<meta name=description content='NaN and undefined in JavaScript'>",
        ),
    ]
}
