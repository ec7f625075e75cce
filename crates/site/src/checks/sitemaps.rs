//! Sitemaps and the URLs in them.

use serde_json::{Value, json};

use super::{
    Category::Sitemaps,
    Check, Page, Scope, Site, Test, canonicals,
    crawlability::is_missing,
    evidence::{at_least, list, with},
    prerequisite::Prerequisite,
    redirects,
};
use crate::{
    graph::PageFlags,
    origin::Origin,
    page::{HtmlFacts, Outcome},
    sitemap::{FOREIGN_LIMIT, Sitemap, URL_LIMIT},
};

const BUILD: &str = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap";
const PROTOCOL: &str = "https://www.sitemaps.org/protocol.html";

/// Limits of the protocol.
const MAX_URLS: u32 = URL_LIMIT;
const MAX_BYTES: u64 = 50 << 20;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "sitemap-missing",
        rests_on: &[Prerequisite::AnySitemap],
        title: "Missing sitemap",
        scope: Scope::Site,
        description: "No sitemap was found, neither in robots.txt nor at /sitemap.xml, /sitemap_index.xml or /wp-sitemap.xml.",
        why_it_matters: "Search engines discover new and updated pages only by following links.",
        recommendation: "Publish an XML sitemap, and reference it in robots.txt.",
        source: BUILD,
        changed_in: [2, 3, 0],
        ..Check::warning(Sitemaps, Test::Site(missing))
    },
    Check {
        id: "sitemap-not-in-robots",
        rests_on: &[Prerequisite::Robots, Prerequisite::AnySitemap],
        title: "Sitemap not in robots.txt",
        scope: Scope::Site,
        description: "A sitemap exists, but robots.txt does not reference it.",
        why_it_matters: "Only search engines to which the sitemap was submitted know about it.",
        recommendation: "Add a line \"Sitemap: https://…/sitemap.xml\" to robots.txt.",
        source: BUILD,
        changed_in: [2, 2, 0],
        ..Check::notice(Sitemaps, Test::Site(undeclared))
    },
    Check {
        id: "sitemap-invalid",
        rests_on: &[Prerequisite::Sitemaps],
        title: "Invalid sitemap",
        scope: Scope::Site,
        description: "A sitemap is not valid XML, is neither a sitemap nor an RSS 2.0 or Atom feed, has the wrong namespace, is not encoded in UTF-8, is truncated, is an HTML page, or is referenced in robots.txt and does not return 200.",
        why_it_matters: "Search engines ignore the sitemap.",
        recommendation: "Correct the error named in the evidence, or the sitemap URL in robots.txt.",
        source: PROTOCOL,
        changed_in: [2, 3, 0],
        ..Check::error(Sitemaps, Test::Site(invalid))
    },
    Check {
        id: "sitemap-too-large",
        rests_on: &[Prerequisite::Sitemaps],
        title: "Sitemap too large",
        scope: Scope::Site,
        description: "A sitemap has more than 50,000 URLs or is larger than 50 MB. If it was not read to its end, the evidence counts what was read, marked \"atLeast\".",
        why_it_matters: "Search engines ignore everything beyond the limit, or the whole file.",
        recommendation: "Split the sitemap, and list the parts in a sitemap index.",
        source: PROTOCOL,
        ..Check::error(Sitemaps, Test::Site(too_large))
    },
    Check {
        id: "sitemap-url-error",
        rests_on: &[Prerequisite::Listed],
        title: "Error page in sitemap",
        scope: Scope::Graph,
        description: "A URL in a sitemap returns a 4xx status. 401, 403 and 429 do not count, because they stand for a login or a rate limit; a 5xx status is a fault of the server and is reported as such.",
        why_it_matters: "Search engines trust the sitemap less.",
        recommendation: "Remove the URL from the sitemap, or restore the page.",
        source: BUILD,
        changed_in: [2, 7, 0],
        ..Check::error(Sitemaps, Test::Url(url_error))
    },
    Check {
        id: "sitemap-url-redirect",
        rests_on: &[Prerequisite::Listed],
        title: "Redirect in sitemap",
        scope: Scope::Graph,
        description: "A URL in a sitemap redirects to a page. A redirect that leads nowhere is reported as such.",
        why_it_matters: "Search engines expect a sitemap to list final, indexable URLs.",
        recommendation: "List the final URL of the redirect.",
        source: BUILD,
        changed_in: [2, 7, 0],
        ..Check::warning(Sitemaps, Test::Url(url_redirect))
    },
    Check {
        id: "sitemap-url-noindex",
        rests_on: &[Prerequisite::Listed],
        title: "Noindex page in sitemap",
        scope: Scope::Graph,
        description: "A URL in a sitemap is noindex.",
        why_it_matters: "The sitemap asks search engines to index the page, and the page asks them not to.",
        recommendation: "Remove the URL from the sitemap, or noindex from the page.",
        source: BUILD,
        ..Check::error(Sitemaps, Test::Html(url_noindex))
    },
    Check {
        id: "sitemap-url-noncanonical",
        rests_on: &[Prerequisite::Listed],
        title: "Non-canonical page in sitemap",
        scope: Scope::Graph,
        description: "The canonical of a URL in a sitemap is another URL, and nothing is wrong with that canonical.",
        why_it_matters: "The sitemap and the canonical contradict each other.",
        recommendation: "List the canonical URL.",
        source: BUILD,
        changed_in: [2, 7, 0],
        ..Check::warning(Sitemaps, Test::Html(url_noncanonical))
    },
    Check {
        id: "sitemap-url-blocked",
        rests_on: &[Prerequisite::Listed, Prerequisite::Robots],
        title: "Blocked URL in sitemap",
        scope: Scope::Graph,
        description: "robots.txt blocks Googlebot from a URL in a sitemap, but not from the whole site.",
        why_it_matters: "Search engines are asked to crawl a URL that they may not crawl.",
        recommendation: "Allow the URL in robots.txt, or remove it from the sitemap.",
        source: BUILD,
        changed_in: [2, 7, 0],
        ..Check::warning(Sitemaps, Test::Url(url_blocked))
    },
    Check {
        id: "sitemap-url-foreign",
        rests_on: &[Prerequisite::Sitemaps],
        title: "URL of another host in sitemap",
        scope: Scope::Site,
        description: "A sitemap lists URLs with another host or scheme than the site.",
        why_it_matters: "Search engines ignore these URLs.",
        recommendation: "List them in the sitemap of their own host, with the scheme that the site uses.",
        source: PROTOCOL,
        ..Check::warning(Sitemaps, Test::Site(foreign))
    },
    Check {
        id: "not-in-sitemap",
        rests_on: &[Prerequisite::Sitemaps, Prerequisite::Crawl],
        title: "Page not in sitemap",
        scope: Scope::Graph,
        needs_audit: true,
        description: "An indexable page is in none of the site's sitemaps, all of which could be read. Sites that have only a feed are not checked, because a feed lists only the newest pages.",
        why_it_matters: "Search engines discover the page and its changes later.",
        recommendation: "Add the page to the sitemap.",
        source: BUILD,
        changed_in: [2, 3, 0],
        ..Check::notice(Sitemaps, Test::Html(not_listed))
    },
    Check {
        id: "sitemap-lastmod-bad",
        rests_on: &[Prerequisite::Sitemaps],
        title: "Invalid lastmod in sitemap",
        scope: Scope::Site,
        description: "lastmod values, or updated values in a feed, are not valid dates, are in the future, or are all identical in a sitemap with at least 20 of them.",
        why_it_matters: "Search engines stop trusting the dates of the whole site.",
        recommendation: "Set lastmod to the date of each page's last significant change.",
        source: BUILD,
        changed_in: [2, 3, 0],
        ..Check::notice(Sitemaps, Test::Site(lastmod))
    },
];

fn readable(sitemap: &Sitemap) -> bool {
    sitemap.status == Some(200) && sitemap.fault().is_none()
}

fn missing(site: &Site<'_>) -> Option<Value> {
    // an existing but unreadable file has its own check
    let sitemaps = &site.origin().sitemaps;
    let found = sitemaps.iter().any(|sitemap| site.origin().has(sitemap));
    // a sitemap without a response may exist
    if found
        || Prerequisite::AnySitemap
            .unmet(None, site.origin(), site.context.index)
            .is_some()
    {
        return None;
    }
    let tried = list("tried", sitemaps.iter().map(|sitemap| &*sitemap.url));
    Some(tried.unwrap_or_else(|| json!({"tried": [], "total": 0})))
}

fn undeclared(site: &Site<'_>) -> Option<Value> {
    let sitemaps = &site.origin().sitemaps;
    if sitemaps.iter().any(|sitemap| sitemap.declared) {
        return None;
    }
    let found = sitemaps.iter().find(|sitemap| site.origin().has(sitemap))?;
    Some(json!({"url": found.url}))
}

fn invalid(site: &Site<'_>) -> Option<Value> {
    let broken = site.origin().sitemaps.iter().filter_map(|sitemap| {
        // a guessed sitemap may be missing
        let wanted = sitemap.declared && sitemap.status.is_some_and(|status| status != 200);
        let error = match &sitemap.error {
            Some(_) if site.origin().has(sitemap) => sitemap.fault()?,
            _ if wanted => format!("status {}", sitemap.status.unwrap_or_default()),
            _ => return None,
        };
        Some(json!({"url": sitemap.url, "error": error}))
    });
    list("sitemaps", broken)
}

fn too_large(site: &Site<'_>) -> Option<Value> {
    let large = site
        .origin()
        .sitemaps
        .iter()
        .filter(|sitemap| sitemap.urls > MAX_URLS || sitemap.bytes > MAX_BYTES);
    list(
        "sitemaps",
        large.map(|sitemap| {
            let evidence = json!({"url": sitemap.url, "urls": sitemap.urls, "bytes": sitemap.bytes});
            at_least(evidence, sitemap.is_cut())
        }),
    )
}

/// Whether a sitemap lists the page.
pub(super) fn listed(page: &Page<'_>) -> bool {
    page.index().has(page.id(), PageFlags::IN_SITEMAP)
}

/// Adds the URL of the sitemap to evidence, if only one can list the page.
fn of_sitemap(page: &Page<'_>, evidence: Value) -> Value {
    let mut files = page
        .context
        .origin
        .sitemaps
        .iter()
        .filter(|sitemap| readable(sitemap) && !sitemap.index);
    match (files.next(), files.next()) {
        (Some(only), None) => with(evidence, "sitemap", &*only.url),
        _ => evidence,
    }
}

fn url_error(page: &Page<'_>) -> Option<Value> {
    let Outcome::Status(status) = page.facts.outcome else {
        return None;
    };
    // the page behind a failing server is rightly listed
    (listed(page) && is_missing(status))
        .then(|| of_sitemap(page, json!({"url": page.key(page.id()), "status": status})))
}

fn url_redirect(page: &Page<'_>) -> Option<Value> {
    let Outcome::Redirect { status, .. } = page.facts.outcome else {
        return None;
    };
    if !redirects::leads_to_a_page(page) {
        return None;
    }
    let last = page
        .index()
        .hops(page.id())
        .urls
        .last()
        .map(|last| page.key(*last));
    listed(page).then(|| {
        of_sitemap(
            page,
            json!({"url": page.key(page.id()), "status": status, "final": last}),
        )
    })
}

fn url_noindex(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    (listed(page) && page.directives.noindex()).then(|| of_sitemap(page, json!({"url": page.key(page.id())})))
}

fn url_noncanonical(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let canonical = page
        .facts
        .canonical()
        .filter(|canonical| *canonical != page.id() && listed(page))?;
    // where the canonical is wrong, the sitemap may well be right
    if canonicals::is_at_fault(page, html) {
        return None;
    }
    let evidence = json!({"url": page.key(page.id()), "canonical": page.key(canonical)});
    Some(of_sitemap(page, evidence))
}

fn url_blocked(page: &Page<'_>) -> Option<Value> {
    // a rule about the whole site is reported once
    if !listed(page) || page.context.is_all_forbidden() {
        return None;
    }
    let rule = page.forbids_googlebot()?;
    let evidence = json!({"url": page.key(page.id()), "rule": rule.to_string(), "ruleLine": rule.line});
    Some(of_sitemap(page, evidence))
}

fn foreign(site: &Site<'_>) -> Option<Value> {
    let sitemaps = &site.origin().sitemaps;
    let is_cut = sitemaps
        .iter()
        .any(|sitemap| sitemap.foreign.len() >= FOREIGN_LIMIT);
    let urls = sitemaps
        .iter()
        .flat_map(|sitemap| sitemap.foreign.iter().map(|url| (&sitemap.url, url)));
    list(
        "urls",
        urls.map(|(sitemap, url)| json!({"url": url, "sitemap": sitemap})),
    )
    .map(|evidence| at_least(evidence, is_cut))
}

fn not_listed(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    // other hosts have sitemaps of their own
    let at_root = page.context.is_at_root(&page.facts.url);
    (page.indexable && at_root && !listed(page) && page.context.complete() && all_read(page.context.origin))
        .then(|| json!({"url": page.key(page.id())}))
}

/// Whether there are sitemaps that should list every page, and all their URLs are known.
fn all_read(origin: &Origin) -> bool {
    let mut sitemaps = origin.sitemaps.iter();
    sitemaps.any(|sitemap| !sitemap.index && !sitemap.is_feed() && origin.has(sitemap))
        && !origin.may_list_more()
}

fn lastmod(site: &Site<'_>) -> Option<Value> {
    let many = site.context.thresholds.same_dates;
    let is_same = |s: &Sitemap| s.lastmod_identical && s.lastmod[0] >= many;
    let bad = site
        .origin()
        .sitemaps
        .iter()
        .filter(|s| s.lastmod[1] > 0 || s.lastmod[2] > 0 || is_same(s));
    let evidence = list(
        "sitemaps",
        bad.map(|s| json!({"url": s.url, "present": s.lastmod[0], "invalid": s.lastmod[1], "future": s.lastmod[2], "identical": is_same(s)})),
    )?;
    Some(with(evidence, "sitemapsInAll", site.origin().sitemaps.len()))
}
