//! Whether URLs can be fetched, and whether their responses are what they claim to be.

mod soft_404;

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{
    Category::Crawlability,
    Check, Page, Scope, Site, Test,
    evidence::{MAX_ITEMS, list, none, with},
    prerequisite::Prerequisite,
};
use crate::{
    fetch::{Cut, FetchError},
    graph::PageFlags,
    page::{HtmlFacts, Outcome, UrlId, is_reserved},
};

/// Maximum number of sample URLs of a trap.
const MAX_SAMPLES: usize = 5;
const STATUS: &str = "https://developers.google.com/search/docs/crawling-indexing/http-network-errors";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "http-4xx",
        rests_on: &[Prerequisite::Inlinks],
        title: "4xx client error",
        description: "A URL that other pages of the site link to returns 404, 410 or another 4xx status (other than 401, 403 and 429). It is a notice, because the fault is reported where it is to be mended: as a broken internal link at each page that links to the URL, and as an error page in the sitemap if one lists it.",
        why_it_matters: "Visitors who follow the link reach an error page, and search engines drop the URL from the index.",
        recommendation: "Restore the page, redirect it with a 301 to the closest match, or remove the links to it.",
        source: STATUS,
        finds_missing_pages: true,
        changed_in: [2, 7, 0],
        ..Check::notice(Crawlability, Test::Url(http_4xx))
    },
    Check {
        id: "http-forbidden",
        rests_on: &[Prerequisite::Inlinks],
        title: "Access denied (401 or 403)",
        description: "A URL that other pages link to returns 401 or 403.",
        why_it_matters: "Search engines treat the URL as if it did not exist. A firewall may be blocking search engines as well.",
        recommendation: "Make the page public or remove the links to it, and check that the firewall lets search engines through.",
        source: STATUS,
        changed_in: [2, 2, 0],
        ..Check::warning(Crawlability, Test::Url(http_forbidden))
    },
    Check {
        id: "http-5xx",
        title: "5xx server error",
        description: "A URL returns a 5xx status, even after retries.",
        why_it_matters: "Search engines slow down the crawl of the whole site, and drop the URL if the error persists.",
        recommendation: "Find the error in the server log and fix it.",
        source: STATUS,
        ..Check::error(Crawlability, Test::Url(http_5xx))
    },
    Check {
        id: "http-no-response",
        title: "No response",
        description: "A URL did not respond in any attempt: DNS lookup failed, the connection failed or timed out, or the response did not finish in time. It counts towards the health score if the URL did not respond in the previous audit either.",
        why_it_matters: "If search engines get no response either, the page drops out of the index. A single failure proves little.",
        recommendation: "Check the hosting, its capacity and its rate limits, then run a recheck.",
        source: STATUS,
        counts_if_repeated: true,
        ..Check::warning(Crawlability, Test::Url(http_no_response))
    },
    Check {
        id: "soft-404",
        title: "Soft 404",
        description: "A page returns 200 but its title tag and H1 say, in a page of fewer than 200 words, that it was not found, and nothing else; or at least 90 % of the word sequences of its main text match the site's response to nonexistent URLs; or a URL redirects to the home page without being another URL of it, such as /index.html.",
        why_it_matters: "Search engines spend crawl budget on pages that do not exist.",
        recommendation: "Return 404 or 410, add content to the page, or redirect to the page that replaces it.",
        source: "https://developers.google.com/search/docs/crawling-indexing/http-network-errors#soft-404-errors",
        changed_in: [2, 5, 0],
        ..Check::warning(Crawlability, Test::Url(soft_404::found))
    },
    Check {
        id: "depth-high",
        title: "Click depth too high",
        scope: Scope::Graph,
        description: "An indexable page is more than three clicks away from the start page.",
        why_it_matters: "Pages far from the start page are discovered late, crawled rarely and considered less important.",
        recommendation: "Link to the page from one closer to the start page, such as a category or hub page.",
        source: "https://developers.google.com/search/docs/crawling-indexing/links-crawlable",
        ..Check::notice(Crawlability, Test::Html(depth_high))
    },
    Check {
        id: "content-type-mismatch",
        title: "Content-Type mismatch",
        description: "The response is HTML but the Content-Type header says otherwise, or the file extension in the URL contradicts the Content-Type. An extension such as .pdf or .png counts only if the response is sent as HTML or another text type.",
        why_it_matters: "Browsers may download the page instead of showing it, and search engines may not index it.",
        recommendation: "Send the Content-Type that matches the response; for pages that is text/html.",
        source: "https://mimesniff.spec.whatwg.org/",
        changed_in: [2, 2, 0],
        ..Check::warning(Crawlability, Test::Url(content_type_mismatch))
    },
    Check {
        id: "charset-missing",
        title: "Missing character encoding",
        description: "Neither the Content-Type header nor the first 1,024 bytes of the HTML declare the character encoding.",
        why_it_matters: "Browsers guess the encoding, and characters outside ASCII may be displayed wrong.",
        recommendation: "Put <meta charset=\"utf-8\"> first in the <head>.",
        source: "https://html.spec.whatwg.org/multipage/semantics.html#charset",
        changed_in: [2, 2, 0],
        ..Check::notice(Crawlability, Test::Html(charset_missing))
    },
    Check {
        id: "doctype-missing",
        title: "Missing doctype",
        description: "The HTML does not begin with <!doctype html>.",
        why_it_matters: "Browsers render the page in quirks mode, so the layout may differ from what was designed.",
        recommendation: "Make <!doctype html> the first line of the HTML.",
        source: "https://html.spec.whatwg.org/multipage/syntax.html#the-doctype",
        ..Check::notice(Crawlability, Test::Html(doctype_missing))
    },
    Check {
        id: "crawl-trap-suspected",
        rests_on: &[Prerequisite::Crawl],
        title: "Possible crawl trap",
        scope: Scope::Graph,
        // its page is the start page, and only a crawl tells how many variants it meets
        needs_audit: true,
        description: "A path has more query string variants than the crawl limit allows.",
        why_it_matters: "Endless filter and calendar URLs use up the crawl budget that other pages need.",
        recommendation: "Block the filter URLs in robots.txt, or point the canonical of all variants to one URL.",
        source: "https://developers.google.com/search/docs/crawling-indexing/crawling-managing-faceted-navigation",
        changed_in: [2, 2, 0],
        ..Check::warning(Crawlability, Test::Site(crawl_trap))
    },
    Check {
        id: "host-variants-duplicate",
        rests_on: &[Prerequisite::Variants],
        title: "www and non-www both accessible",
        scope: Scope::Site,
        description: "The host with www. and the host without www. both return 200, and neither redirects to the other.",
        why_it_matters: "Every page exists twice, and link signals are split between the two.",
        recommendation: "Redirect one host to the other with a 301.",
        source: "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls",
        ..Check::warning(Crawlability, Test::Site(host_variants))
    },
];

/// Whether the page says, in whatever way, that it does not exist.
pub(super) fn is_soft_404(page: &Page<'_>) -> bool {
    soft_404::found(page).is_some()
}

/// Whether another page of the site links to the page.
fn is_linked(page: &Page<'_>) -> bool {
    page.index().inlinks(page.id()).any(|(from, _)| from != page.id())
}

fn answered(page: &Page<'_>) -> Option<u16> {
    match page.facts.outcome {
        Outcome::Status(status) => Some(status),
        _ => None,
    }
}

/// Whether a 4xx status means a missing page; 401, 403 and 429 (login, firewall, rate limit) say nothing about the
/// page.
pub(crate) fn is_missing(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 401 | 403 | 429)
}

fn http_4xx(page: &Page<'_>) -> Option<Value> {
    // paths of a proxy before the site are none of its pages
    let status = answered(page)
        .filter(|status| is_missing(*status) && !is_reserved(page.path()) && is_linked(page))?;
    let listed = page.index().has(page.id(), PageFlags::IN_SITEMAP);
    let total = page.index().inlinks(page.id()).len();
    Some(
        json!({"status": status, "inlinks": page.context.inlinks(page.id()), "total": total, "inSitemap": listed}),
    )
}

fn http_forbidden(page: &Page<'_>) -> Option<Value> {
    let status = answered(page).filter(|status| matches!(status, 401 | 403) && is_linked(page))?;
    let total = page.index().inlinks(page.id()).len();
    let inlinks = page.context.inlinks(page.id());
    Some(json!({"status": status, "server": page.facts.headers.server, "inlinks": inlinks, "total": total}))
}

fn http_5xx(page: &Page<'_>) -> Option<Value> {
    let status = answered(page).filter(|status| *status >= 500)?;
    Some(json!({"status": status, "attempts": page.facts.attempts}))
}

fn http_no_response(page: &Page<'_>) -> Option<Value> {
    let evidence = |error: &FetchError| {
        let kind = match error {
            FetchError::Certificate(fault) => json!(format!("certificate_{}", fault.code())),
            other => json!(other),
        };
        // a single failure may be caused by our side of the network
        let inconclusive = !page.index().was_silent(page.id());
        json!({"errorKind": kind, "attempts": page.facts.attempts, "inconclusive": inconclusive})
    };
    match &page.facts.outcome {
        Outcome::Failed(error) => Some(evidence(error)),
        // facts of the received part are kept all the same
        _ if page.facts.cut == Some(Cut::Time) => {
            let received = page.facts.body_bytes;
            Some(with(evidence(&FetchError::Timeout), "bytesReceived", received))
        }
        _ => None,
    }
}

fn depth_high(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let depth = page.index().depth(page.id())?;
    if !page.indexable || depth <= page.thresholds().depth_max {
        return None;
    }
    let evidence = json!({"depth": depth});
    Some(match page.index().shortest_path(page.id()) {
        Some(path) => {
            // all keys are looked up before any is copied, so that their cache misses overlap
            let keys: Vec<&str> = path.into_iter().map(|id| page.key(id)).collect();
            let keys = keys.into_iter().map(Value::from).collect();
            with(evidence, "shortestPath", Value::Array(keys))
        }
        None => evidence,
    })
}

fn content_type_mismatch(page: &Page<'_>) -> Option<Value> {
    if answered(page) != Some(200) {
        return None;
    }
    let declared = page.facts.headers.content_type.as_deref()?;
    let essence = declared
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let is_html = matches!(essence.as_str(), "text/html" | "application/xhtml+xml");
    let extension = page
        .path()
        .rsplit('/')
        .next()
        .and_then(|name| name.rsplit_once('.'))
        .map(|(_, e)| e.to_ascii_lowercase());
    // excludes names such as .js or .net, which pages about them have
    let not_html = ["css", "pdf", "png", "jpg", "jpeg", "gif", "webp", "svg", "zip"];
    let contradicts = match extension.as_deref() {
        Some("html" | "htm" | "xhtml") => !is_html,
        // HTML under such a name is a mistake in a link, or the response to a missing file; a text type is shown as
        // source
        Some(extension) if is_html || essence.starts_with("text/") => {
            let is_text =
                extension == "css" && essence == "text/css" || extension == "svg" && essence == "text/xml";
            not_html.contains(&extension) && !is_text
        }
        _ => false,
    };
    // WML pages for mobile phones, and text that may begin with a tag
    let may_look_so = matches!(
        essence.as_str(),
        "application/vnd.wap.xhtml+xml" | "text/markdown" | "multipart/related" | ""
    );
    (contradicts || page.facts.looks_html && !is_html && !may_look_so)
        .then(|| json!({"contentType": declared, "sniffed": if page.facts.looks_html { "text/html" } else { "other" }, "extension": extension}))
}

fn charset_missing(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let charset = &html.charset;
    (charset.header.is_none() && charset.meta.is_none() && !charset.bom)
        .then(|| json!({"header": Value::Null, "bytesScanned": 1_024, "used": charset.used}))
}

fn doctype_missing(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if html.doctype {
        return None;
    }
    none().map(|evidence| with(evidence, "first80", html.opening.as_deref()))
}

fn crawl_trap(site: &Site<'_>) -> Option<Value> {
    let index = site.context.index;
    if index.traps().len() == 0 {
        return None;
    }
    let mut samples: HashMap<&str, Vec<&str>> = index
        .traps()
        .take(MAX_ITEMS)
        .filter_map(|(id, _)| Some((index.key(id).split('?').next()?, Vec::new())))
        .collect();
    let ids = (0..u32::try_from(index.len()).unwrap_or(u32::MAX)).map(UrlId);
    for key in ids.map(|id| index.key(id)) {
        if let Some((path, _)) = key.split_once('?')
            && let Some(samples) = samples.get_mut(path)
        {
            // the first URLs by name, whatever the order of discovery
            let place = samples.partition_point(|sample| *sample < key);
            if place < MAX_SAMPLES {
                samples.insert(place, key);
                samples.truncate(MAX_SAMPLES);
            }
        }
    }
    let traps = index.traps().filter_map(|(id, left_out)| {
        let sample = index.key(id);
        let path = sample.split('?').next()?;
        let samples = samples.get(path);
        Some(json!({"path": path, "variantsLeftOut": left_out, "sample": sample, "samples": samples}))
    });
    list("traps", traps)
}

fn host_variants(site: &Site<'_>) -> Option<Value> {
    let twin = site.origin().twin.as_ref().filter(|twin| twin.status == 200)?;
    list("urls", [&*site.origin().root, &*twin.url]).map(|urls| with(urls, "status", twin.status))
}
