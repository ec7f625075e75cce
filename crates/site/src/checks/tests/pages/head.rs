//! Titles, descriptions and other elements of the head.

use super::{Case, LOREM, json_ld, page, words};

pub(super) fn texts() -> Vec<Case> {
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
        page(
            "thin-content",
            &format!("<p>{}", "机".repeat(345)),
            &format!("<p>{}", "机".repeat(355)),
        ),
        page("text-ratio-low", &format!("<!-- {} -->x", "c".repeat(200)), LOREM),
        page("lorem-ipsum", "<p>Lorem   Ipsum dolor", LOREM),
        page(
            "lorem-ipsum",
            "<main><p>Text</main><footer>Lorem <b>ipsum</b></footer>",
            "<main><p>Text</main><footer>Theorem ipsum</footer>",
        ),
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
            &format!("<h2>How does it work</h2><p>{}", words(19)),
            &format!(
                "<h2>How it works</h2><p>{0}<h2>Why choose us</h2><p>{0}",
                words(19)
            ),
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

pub(super) fn heads() -> Vec<Case> {
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
            "hreflang-conflict",
            &(hreflang("nb", own) + &hreflang("sv", own)),
            &(hreflang("nb", own) + &hreflang("nn", own) + &hreflang("no", own)),
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
