//! Size and speed, as far as the response shows them.

use serde_json::{Value, json};

use super::{
    Category::Performance, Check, Page, Scope, Site, Test, evidence::at_least, prerequisite::Prerequisite,
};
use crate::page::HtmlFacts;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "ttfb-slow",
        title: "Time to First Byte too slow",
        description: "The Time to First Byte (TTFB) is more than 800 milliseconds (median of two requests). A site on a private network is left out, because its server is not the one that visitors reach.",
        why_it_matters: "The browser cannot show anything before the first byte arrives.",
        recommendation: "Cache the page, speed up the server, or use a CDN closer to the visitors.",
        source: "https://web.dev/articles/ttfb",
        changed_in: [2, 6, 0],
        ..Check::warning(Performance, Test::Html(ttfb))
    },
    Check {
        id: "html-over-2mb",
        title: "HTML exceeds Googlebot's limit",
        description: "The HTML of the page is larger than 2 MiB. If the HTML was not read to the end, the evidence gives the size of the part that was read, marked \"atLeast\".",
        why_it_matters: "Googlebot indexes the first 2 MB and ignores the rest.",
        recommendation: "Move data and styles into files, and split the page.",
        source: "https://developers.google.com/search/docs/crawling-indexing/googlebot",
        ..Check::error(Performance, Test::Html(over_2mb))
    },
    Check {
        id: "html-large",
        title: "HTML too large",
        description: "The HTML of the page is larger than 1 MiB, up to Googlebot's limit. If the HTML was not read to the end, the evidence gives the size of the part that was read, marked \"atLeast\".",
        why_it_matters: "The page takes long to load and render, above all on phones.",
        recommendation: "Move data and styles into files, and split the page.",
        source: "https://web.dev/articles/dom-size-and-interactivity",
        changed_in: [2, 6, 0],
        ..Check::warning(Performance, Test::Html(large))
    },
    Check {
        id: "dom-large",
        title: "DOM too large",
        description: "The page has more than 1,500 DOM elements.",
        why_it_matters: "Browsers need more memory and time to render and update the page.",
        recommendation: "Simplify the markup, and load long lists in parts.",
        source: "https://developer.chrome.com/docs/lighthouse/performance/dom-size",
        ..Check::notice(Performance, Test::Html(dom))
    },
    Check {
        id: "no-compression",
        title: "Missing text compression",
        description: "A page of more than 1 kB was sent without Content-Encoding, although the request accepted gzip and br. A site on a private network is left out.",
        why_it_matters: "The download is several times larger than necessary.",
        recommendation: "Enable Brotli or gzip compression on the server.",
        source: "https://developer.chrome.com/docs/lighthouse/performance/uses-text-compression",
        changed_in: [2, 7, 0],
        ..Check::warning(Performance, Test::Html(compression))
    },
    Check {
        id: "many-resources",
        title: "Too many scripts and stylesheets",
        description: "The page loads more than 100 scripts and stylesheets.",
        why_it_matters: "Each file is a request, and many of them delay rendering.",
        recommendation: "Bundle the files, and remove those that are not used.",
        source: "https://web.dev/articles/critical-rendering-path",
        ..Check::notice(Performance, Test::Html(resources))
    },
    Check {
        id: "http1-only",
        rests_on: &[Prerequisite::Home, Prerequisite::Connection],
        title: "Missing HTTP/2 support",
        scope: Scope::Site,
        description: "The server uses only HTTP/1.1 over HTTPS, although the request offered HTTP/2. A site on a private network is left out.",
        why_it_matters: "Browsers load fewer files in parallel than with HTTP/2, so pages load more slowly.",
        recommendation: "Enable HTTP/2 or HTTP/3 on the server or the CDN.",
        source: "https://developer.chrome.com/docs/lighthouse/best-practices/uses-http2",
        changed_in: [2, 7, 0],
        ..Check::notice(Performance, Test::Site(http1_only))
    },
];

fn ttfb(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    (page.facts.ttfb_ms > page.thresholds().ttfb_ms && !page.context.is_private_site)
        .then(|| json!({"ms": page.facts.ttfb_ms}))
}

fn http1_only(site: &Site<'_>) -> Option<Value> {
    (site.origin().http1_only && !site.context.is_private_site).then(|| json!({"alpn": "http/1.1"}))
}

/// Returns the number of bytes read of the page.
fn bytes(page: &Page<'_>) -> Value {
    at_least(json!({"bytes": page.facts.body_bytes}), page.facts.cut.is_some())
}

fn over_2mb(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    (page.facts.body_bytes > page.thresholds().html_max_bytes).then(|| bytes(page))
}

fn large(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let (size, limits) = (page.facts.body_bytes, page.thresholds());
    // beyond the limit of Googlebot the size is told as an error
    (size > limits.html_large_bytes && size <= limits.html_max_bytes).then(|| bytes(page))
}

fn dom(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    (html.elements > page.thresholds().dom_max).then(|| json!({"nodes": html.elements}))
}

fn compression(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let facts = page.facts;
    let encoded = facts
        .headers
        .content_encoding
        .as_deref()
        .is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity"));
    // servers on a private network are seldom those that the public meets
    let plain = !page.context.is_private_site && !encoded && facts.wire_bytes >= facts.body_bytes;
    (plain && facts.body_bytes > page.thresholds().compress_min_bytes).then(|| bytes(page))
}

fn resources(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    (html.resources_total > page.thresholds().resources_max).then(|| json!({"count": html.resources_total}))
}
