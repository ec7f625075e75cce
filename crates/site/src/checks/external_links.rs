//! Links to other sites, as far as the crawl fetched their targets.

use serde_json::Value;

use super::{
    Category::Links,
    Check, Page, Scope, Site, Test,
    evidence::{list, with},
    links::link,
    url_parts::{host, path_and_query},
};
use crate::{
    graph::{PageFlags, State},
    http_status::is_bot_refusal,
    page::{HtmlFacts, UrlId},
};

const CRAWLABLE: &str = "https://developers.google.com/search/docs/crawling-indexing/links-crawlable";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "broken-external-link",
        title: "Broken external link",
        scope: Scope::Targets,
        description: "A link points to a page of another site that returns 404 or 410, or a 5xx status (other than 503) twice, or whose host does not exist. Redirects are followed. If no other site responds, that is reported once, as a fault of the network of the audit.",
        why_it_matters: "Visitors who follow the link reach an error page, and the source that it cites is gone.",
        recommendation: "Link to the new URL of the page or to another source, or remove the link.",
        source: CRAWLABLE,
        changed_in: [2, 6, 0],
        ..Check::warning(Links, Test::Html(broken))
    },
    Check {
        id: "external-link-redirect",
        title: "External link to a redirect",
        scope: Scope::Targets,
        description: "A link to another site redirects to another host or path.",
        why_it_matters: "Visitors make an extra request, and the redirect may one day be removed or changed.",
        recommendation: "Link to the final URL of the redirect, if that is the intended page.",
        source: "https://www.rfc-editor.org/rfc/rfc9110.html#name-redirection-3xx",
        changed_in: [2, 2, 0],
        ..Check::notice(Links, Test::Html(redirected))
    },
    Check {
        id: "external-link-unverified",
        title: "External link could not be verified",
        scope: Scope::Targets,
        description: "A link points to a page of another site that returns 401, 403, 405, 406, 429, 451, 503 or 999 to our request. Redirects are followed.",
        why_it_matters: "Sites often return these statuses to crawlers only, so it is unknown whether visitors can see the page.",
        recommendation: "Open the link in a browser, and replace it if it does not work there.",
        source: "https://www.rfc-editor.org/rfc/rfc9110.html#name-client-error-4xx",
        never_scored: true,
        changed_in: [2, 2, 0],
        ..Check::notice(Links, Test::Html(unverified))
    },
    Check {
        id: "external-links-unreachable",
        title: "Other sites not reachable from here",
        scope: Scope::Site,
        // a recheck requests no other sites
        needs_audit: true,
        description: "The pages link to several other sites, and none of them responded to the audit.",
        why_it_matters: "That all fail alike is a property of the network of the audit, so broken links to other sites could not be found.",
        recommendation: "Let the machine that runs the audit resolve public names and reach the internet, then run another audit.",
        source: CRAWLABLE,
        never_scored: true,
        changed_in: [2, 6, 0],
        ..Check::notice(Links, Test::Site(unreachable))
    },
];

/// Returns the end of a link's redirects, or its target itself if they loop.
fn end(page: &Page<'_>, id: UrlId) -> UrlId {
    let index = page.index();
    if index.state(id) != State::Redirect {
        return id;
    }
    let hops = index.hops(id);
    hops.urls.last().filter(|_| !hops.looped).copied().unwrap_or(id)
}

/// Returns the links whose final response is `wanted`, each with its status.
fn answered(
    page: &Page<'_>,
    html: &HtmlFacts,
    wanted: impl Fn(UrlId, u16) -> bool,
) -> impl Iterator<Item = Value> {
    page.external_targets(html).filter_map(move |target| {
        let end = end(page, target.id);
        let status = page.index().status(end).unwrap_or(0);
        if !wanted(end, status) {
            return None;
        }
        let found = link(page, target.link()?);
        let evidence = match status {
            0 => with(found, "errorKind", "dns"),
            status => with(found, "status", status),
        };
        Some(if end == target.id {
            evidence
        } else {
            // a recheck fetches the URLs in evidence, except advice such as `finalUrl`
            with(evidence, "endUrl", page.key(end))
        })
    })
}

fn broken(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    // every 4xx and 5xx was confirmed by HEAD and by GET
    let gone = |id: UrlId, status: u16| {
        matches!(status, 404 | 410)
            || status >= 500 && !is_bot_refusal(status)
            || status == 0 && page.index().has(id, PageFlags::NO_HOST) && !page.index().is_cut_off()
    };
    list("links", answered(page, html, gone))
}

fn unverified(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    list("links", answered(page, html, |_, status| is_bot_refusal(status)))
}

fn unreachable(site: &Site<'_>) -> Option<Value> {
    list("hosts", site.context.index.silent_hosts().iter().copied())
}

fn redirected(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let index = page.index();
    let evidence = page.external_targets(html).filter_map(|target| {
        index.redirect(target.id)?;
        let (status, hops) = (index.status(target.id)?, index.hops(target.id));
        // for a redirect loop, the first step
        let last = if hops.looped {
            hops.urls.get(1)
        } else {
            hops.urls.last()
        };
        let last = last.filter(|last| !is_same_place(page.key(target.id), page.key(**last)))?;
        let found = with(link(page, target.link()?), "status", status);
        Some(with(found, "finalUrl", page.key(*last)))
    });
    list("links", evidence)
}

/// Whether two URLs differ only in scheme, `www.`, query and trailing slash.
fn is_same_place(from: &str, to: &str) -> bool {
    fn place(url: &str) -> (&str, &str) {
        let (host, path) = (host(url), path_and_query(url));
        let path = path.split('?').next().unwrap_or_default();
        (
            host.strip_prefix("www.").unwrap_or(host),
            path.trim_end_matches('/'),
        )
    }
    place(from) == place(to)
}

#[cfg(test)]
mod tests {
    use super::is_same_place;

    #[test]
    fn another_spelling_is_the_same_place() {
        for (from, to, same) in [
            ("http://a.example/x", "https://www.a.example/x/", true),
            ("https://a.example/x?b=1", "https://a.example/x", true),
            ("https://a.example/", "https://a.example/en/", false),
            ("https://a.example/", "https://b.example/", false),
        ] {
            assert_eq!(is_same_place(from, to), same, "{from} {to}");
        }
    }
}
