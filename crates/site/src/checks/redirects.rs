//! Redirects and their targets.

use serde_json::{Value, json};
use url::Url;

use super::{
    Category::Redirects,
    Check, Page, Scope, Severity, Site, Test, Thresholds,
    evidence::{list, with},
    prerequisite::Prerequisite,
    url_hygiene,
    url_parts::{host, path_and_query},
};
use crate::{
    dates,
    graph::{Hops, SiteGraph, State},
    page::{Outcome, UrlId},
};

const REDIRECTS: &str = "https://developers.google.com/search/docs/crawling-indexing/301-redirects";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "redirect-chain",
        title: "Redirect chain",
        scope: Scope::Targets,
        description: "The URL redirects two times or more before the final URL, which is a page. Five hops or more are an error.",
        why_it_matters: "Every hop adds load time, and crawlers give up after ten.",
        recommendation: "Redirect straight to the final URL.",
        source: REDIRECTS,
        degree: Some(by_hops),
        changed_in: [2, 7, 0],
        ..Check::warning(Redirects, Test::Url(chain))
    },
    Check {
        id: "redirect-loop",
        title: "Redirect loop",
        scope: Scope::Targets,
        description: "The redirects lead back to a URL that was already visited.",
        why_it_matters: "Visitors and crawlers never reach a page.",
        recommendation: "Fix the redirect rules that point to each other.",
        source: REDIRECTS,
        ..Check::error(Redirects, Test::Url(in_loop))
    },
    Check {
        id: "redirect-to-error",
        title: "Broken redirect",
        scope: Scope::Targets,
        description: "The redirect ends at a URL that returns a 4xx or 5xx status, or at a private address.",
        why_it_matters: "Visitors and crawlers reach an error instead of a page.",
        recommendation: "Redirect to a page that exists, or return 410.",
        source: REDIRECTS,
        changed_in: [2, 0, 0],
        ..Check::error(Redirects, Test::Url(to_error))
    },
    Check {
        id: "redirect-downgrade",
        title: "HTTPS to HTTP redirect",
        scope: Scope::Targets,
        description: "A hop of the redirect goes from HTTPS to HTTP.",
        why_it_matters: "The traffic can be read and changed on its way.",
        recommendation: "Redirect to an HTTPS URL.",
        source: "https://web.dev/articles/redirects-http-https",
        ..Check::error(Redirects, Test::Url(downgrade))
    },
    Check {
        id: "redirect-no-location",
        title: "Missing or invalid redirect target",
        description: "The status is 3xx, but the Location header is missing or not an http(s) URL.",
        why_it_matters: "Browsers show an empty page, and crawlers stop.",
        recommendation: "Send a Location header with the absolute target URL.",
        source: "https://www.rfc-editor.org/rfc/rfc9110.html#name-redirection-3xx",
        ..Check::error(Redirects, Test::Url(no_location))
    },
    Check {
        id: "redirect-temporary",
        title: "Long-standing temporary redirect",
        description: "The URL redirects with 302, 303 or 307, and did so in the previous audit.",
        why_it_matters: "A temporary redirect tells search engines that the old URL will return, so they keep it in their results.",
        recommendation: "Use a 301 or 308 if the page has moved permanently.",
        source: REDIRECTS,
        ..Check::notice(Redirects, Test::Url(temporary))
    },
    Check {
        id: "redirect-mass-home",
        rests_on: &[Prerequisite::Crawl],
        title: "Mass redirects to the home page",
        scope: Scope::Graph,
        // its page is the start page, and fetching that again says nothing about the redirects
        needs_audit: true,
        description: "At least five different URLs redirect to the home page.",
        why_it_matters: "Search engines treat such redirects as soft 404s, so the value of links to the old pages is lost.",
        recommendation: "Redirect each URL to the page that replaces it, or return 410.",
        source: "https://developers.google.com/search/docs/crawling-indexing/site-move-with-url-changes",
        ..Check::warning(Redirects, Test::Site(mass_home))
    },
];

/// Returns the redirect chain of a page; `None` if it is no redirect.
fn way(page: &Page<'_>) -> Option<Hops> {
    matches!(page.facts.outcome, Outcome::Redirect { .. }).then(|| page.index().hops(page.id()))
}

fn hops(index: &SiteGraph, hops: &Hops) -> Value {
    let hop = |id: &UrlId| json!({"url": index.key(*id), "status": index.status(*id)});
    json!({"hops": hops.urls.iter().take(20).map(hop).collect::<Vec<_>>(), "total": hops.urls.len() - 1})
}

/// Whether a redirect ends at a page: it is no loop, has a target, and the target is not missing.
pub(super) fn leads_to_a_page(page: &Page<'_>) -> bool {
    [in_loop, to_error, no_location]
        .iter()
        .all(|fault| fault(page).is_none())
}

fn chain(page: &Page<'_>) -> Option<Value> {
    let way =
        way(page).filter(|way| !way.looped && way.urls.len() > page.thresholds().chain_hops as usize)?;
    // straight to an error is no better
    if to_error(page).is_some() {
        return None;
    }
    Some(hops(page.index(), &way))
}

/// Returns the severity by number of hops, since some clients and crawlers give up on longer chains.
fn by_hops(evidence: &Value, thresholds: &Thresholds) -> Severity {
    let hops = evidence.get("total").and_then(Value::as_u64);
    if hops.is_some_and(|hops| hops >= thresholds.chain_error_hops.into()) {
        Severity::Error
    } else {
        Severity::Warning
    }
}

fn in_loop(page: &Page<'_>) -> Option<Value> {
    let way = way(page).filter(|way| way.looped)?;
    Some(hops(page.index(), &way))
}

fn to_error(page: &Page<'_>) -> Option<Value> {
    let way = way(page).filter(|way| !way.looped)?;
    let (index, last) = (page.index(), *way.urls.last()?);
    // such a target is never fetched, and visitors cannot reach it either
    let private = url_hygiene::is_private(index.key(last), host(&page.facts.url));
    let error = page.context.error(last).is_some();
    (error || private).then(|| with(hops(index, &way), "privateAddress", private))
}

fn downgrade(page: &Page<'_>) -> Option<Value> {
    let way = way(page)?;
    let index = page.index();
    let down =
        |pair: &[UrlId]| index.key(pair[0]).starts_with("https:") && index.key(pair[1]).starts_with("http:");
    way.urls.windows(2).any(down).then(|| hops(index, &way))
}

fn temporary(page: &Page<'_>) -> Option<Value> {
    let since = page.index().temporary_since(page.id())?;
    let Outcome::Redirect { status, location, .. } = &page.facts.outcome else {
        return None;
    };
    Some(json!({"status": status, "location": location, "since": dates::day(since)}))
}

fn no_location(page: &Page<'_>) -> Option<Value> {
    let Outcome::Redirect {
        status,
        location,
        target: None,
    } = &page.facts.outcome
    else {
        return None;
    };
    let usable = location.as_deref().is_some_and(|location| {
        let target = Url::parse(&page.facts.url).and_then(|url| url.join(location.trim()));
        target.is_ok_and(|target| matches!(target.scheme(), "http" | "https"))
    });
    // 300 offers a choice, and need not name a preferred one
    (!usable && *status != 300).then(|| json!({"status": status, "location": location}))
}

fn mass_home(site: &Site<'_>) -> Option<Value> {
    let index = site.context.index;
    let home = site.origin().home;
    let ends_at_home = |id: &UrlId| {
        index.state(*id) == State::Redirect
            && *id != UrlId(0)
            && path_and_query(index.key(*id)) != "/"
            && index.hops(*id).urls.last() == Some(&home)
    };
    let ids = u32::try_from(index.len()).unwrap_or(u32::MAX);
    let urls: Vec<&str> = (0..ids)
        .map(UrlId)
        .filter(|id| site.context.is_internal(*id))
        .filter(ends_at_home)
        .map(|id| index.key(id))
        .collect();
    if urls.len() < site.context.thresholds.mass_home as usize {
        return None;
    }
    list("urls", urls)
}
