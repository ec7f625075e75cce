//! Size and speed, as far as the page's own bytes tell.

use serde_json::{Value, json};

use super::{
    Category::Performance, Check, Page, Scope, Site, Test, evidence::at_least, prerequisite::Prerequisite,
};
use crate::page::HtmlFacts;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "ttfb-slow",
        title: "Slow first byte",
        description: "The first byte of the page took more than 800 milliseconds, the median of two requests.",
        why_it_matters: "Nothing can be shown before it.",
        recommendation: "Cache the page, or bring the server closer to its visitors.",
        source: "https://web.dev/articles/ttfb",
        changed_in: [2, 0, 0],
        ..Check::warning(Performance, Test::Html(ttfb))
    },
    Check {
        id: "html-over-2mb",
        title: "Page larger than Google reads",
        description: "The page's HTML has more than 2 MiB. Of one that was not read to its end the evidence counts what was read, and says atLeast.",
        why_it_matters: "Googlebot indexes the first 2 MB and drops the rest.",
        recommendation: "Move data and styles into files, and split the page.",
        source: "https://developers.google.com/search/docs/crawling-indexing/googlebot",
        ..Check::error(Performance, Test::Html(over_2mb))
    },
    Check {
        id: "html-large",
        title: "Large page",
        description: "The page's HTML has more than 1 MiB. Of one that was not read to its end the evidence counts what was read, and says atLeast.",
        why_it_matters: "It takes long to load and to lay out, above all on phones.",
        recommendation: "Move data and styles into files, and split the page.",
        source: "https://web.dev/articles/dom-size-and-interactivity",
        ..Check::warning(Performance, Test::Html(large))
    },
    Check {
        id: "dom-large",
        title: "Many elements",
        description: "The page has more than 1,500 elements.",
        why_it_matters: "Browsers need more memory and time for every change.",
        recommendation: "Simplify the markup, and load long lists in parts.",
        source: "https://developer.chrome.com/docs/lighthouse/performance/dom-size",
        ..Check::notice(Performance, Test::Html(dom))
    },
    Check {
        id: "no-compression",
        title: "Sent without compression",
        description: "A page of more than 1 kB was sent without Content-Encoding, though gzip and br were offered.",
        why_it_matters: "It is several times larger on the wire than need be.",
        recommendation: "Switch on br or gzip in the server.",
        source: "https://developer.chrome.com/docs/lighthouse/performance/uses-text-compression",
        ..Check::warning(Performance, Test::Html(compression))
    },
    Check {
        id: "many-resources",
        title: "Many scripts and stylesheets",
        description: "The page loads more than 100 scripts and stylesheets.",
        why_it_matters: "Each is a request, and many hold up the page.",
        recommendation: "Bundle them, and remove what is not used.",
        source: "https://web.dev/articles/critical-rendering-path",
        ..Check::notice(Performance, Test::Html(resources))
    },
    Check {
        id: "http1-only",
        rests_on: &[Prerequisite::Home, Prerequisite::Connection],
        title: "No HTTP/2",
        scope: Scope::Site,
        description: "The server speaks HTTP/1.1 only over https, although HTTP/2 was offered.",
        why_it_matters: "Browsers wait for one file after the other where HTTP/2 loads all at once.",
        recommendation: "Switch on HTTP/2, or HTTP/3, in the server or the CDN before it.",
        source: "https://developer.chrome.com/docs/lighthouse/best-practices/uses-http2",
        ..Check::notice(Performance, Test::Site(http1_only))
    },
];

fn ttfb(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    (page.facts.ttfb_ms > page.thresholds().ttfb_ms).then(|| json!({"ms": page.facts.ttfb_ms}))
}

fn http1_only(site: &Site<'_>) -> Option<Value> {
    site.origin().http1_only.then(|| json!({"alpn": "http/1.1"}))
}

/// Bytes read of the page.
fn bytes(page: &Page<'_>) -> Value {
    at_least(json!({"bytes": page.facts.body_bytes}), page.facts.cut.is_some())
}

fn over_2mb(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    (page.facts.body_bytes > page.thresholds().html_max_bytes).then(|| bytes(page))
}

fn large(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    (page.facts.body_bytes > page.thresholds().html_large_bytes).then(|| bytes(page))
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
    let plain = !encoded && facts.wire_bytes >= facts.body_bytes;
    (plain && facts.body_bytes > page.thresholds().compress_min_bytes).then(|| bytes(page))
}

fn resources(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    (html.resources_total > page.thresholds().resources_max).then(|| json!({"count": html.resources_total}))
}
