//! Canonical URLs.

use serde_json::{Value, json};

use super::{
    Category::Indexability,
    Check, Page, Scope, Test,
    evidence::{pages, with},
    prerequisite::Prerequisite,
    url_parts::{host, registrable},
};
use crate::{
    graph::{PageFlags, State},
    page::{HtmlFacts, LinkRel, UrlId},
};

const CANONICAL: &str =
    "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls";
const MISTAKES: &str =
    "https://developers.google.com/search/blog/2013/04/5-common-mistakes-with-relcanonical";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "canonical-missing",
        needs_whole: true,
        title: "Missing canonical",
        description: "An indexable page has no canonical URL.",
        why_it_matters: "Duplicates under other URLs, with query parameters for example, compete with the page.",
        recommendation: "Add a self-referencing canonical.",
        source: CANONICAL,
        ..Check::notice(Indexability, Test::Html(missing))
    },
    Check {
        id: "canonical-multiple",
        title: "Multiple canonicals",
        description: "The <head> and the HTTP headers together declare more than one canonical URL.",
        why_it_matters: "Search engines ignore all of them.",
        recommendation: "Keep one canonical.",
        source: MISTAKES,
        ..Check::error(Indexability, Test::Html(multiple))
    },
    Check {
        id: "canonical-relative",
        title: "Relative canonical URL",
        description: "The canonical is not an absolute URL.",
        why_it_matters: "A small mistake in the path, or another host that serves the page, changes where the canonical points.",
        recommendation: "Use an absolute URL with scheme and host.",
        source: MISTAKES,
        ..Check::warning(Indexability, Test::Html(relative))
    },
    Check {
        id: "canonical-invalid",
        title: "Invalid canonical",
        description: "The canonical is empty, not a valid URL, not an http(s) URL, or only a fragment.",
        why_it_matters: "Search engines ignore it.",
        recommendation: "Set the canonical to the absolute URL of the preferred page.",
        source: CANONICAL,
        ..Check::error(Indexability, Test::Html(invalid))
    },
    Check {
        id: "canonical-header-mismatch",
        title: "Canonical mismatch between header and HTML",
        description: "The canonical in the HTTP Link header differs from the one in the HTML.",
        why_it_matters: "Search engines may ignore both.",
        recommendation: "Use the same URL in both, or keep only one of them.",
        source: CANONICAL,
        ..Check::error(Indexability, Test::Html(header_mismatch))
    },
    Check {
        id: "canonical-non-200",
        title: "Canonical points to an error page",
        scope: Scope::Targets,
        description: "The canonical URL returns a 4xx or 5xx status.",
        why_it_matters: "Search engines are told to index a page that does not exist.",
        recommendation: "Set the canonical to a URL that returns 200.",
        source: CANONICAL,
        changed_in: [2, 0, 0],
        ..Check::error(Indexability, Test::Html(non_200))
    },
    Check {
        id: "canonical-redirect",
        title: "Canonical points to a redirect",
        scope: Scope::Targets,
        description: "The canonical URL redirects, other than from HTTP to HTTPS for an HTTPS page.",
        why_it_matters: "The canonical and the redirect contradict each other, and search engines may follow neither.",
        recommendation: "Set the canonical to the final URL of the redirect.",
        source: CANONICAL,
        changed_in: [2, 7, 0],
        ..Check::warning(Indexability, Test::Html(redirect))
    },
    Check {
        id: "canonical-noindex",
        title: "Canonical points to a noindex page",
        scope: Scope::Targets,
        description: "The canonical URL is noindex.",
        why_it_matters: "Both pages may drop out of the index.",
        recommendation: "Remove the noindex from the canonical page, or the canonical from this page.",
        source: CANONICAL,
        changed_in: [2, 0, 0],
        ..Check::error(Indexability, Test::Html(noindex))
    },
    Check {
        id: "canonical-blocked",
        rests_on: &[Prerequisite::Robots],
        title: "Canonical points to a blocked URL",
        scope: Scope::Targets,
        description: "robots.txt blocks Googlebot from the canonical URL.",
        why_it_matters: "Search engines cannot read the preferred page.",
        recommendation: "Allow the canonical URL in robots.txt.",
        source: CANONICAL,
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(blocked))
    },
    Check {
        id: "canonical-chain",
        title: "Canonical chain",
        scope: Scope::Graph,
        description: "The canonical page itself declares another canonical: a third page, or this one.",
        why_it_matters: "Search engines may not follow the chain to its end.",
        recommendation: "Set the canonical of every page in the chain to the last one. If two pages declare each other, choose one and set it on both.",
        source: CANONICAL,
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(chain))
    },
    Check {
        id: "canonical-to-home",
        title: "Canonical points to the home page",
        description: "A page with its own content declares the home page as its canonical.",
        why_it_matters: "The page asks search engines not to index it.",
        recommendation: "Use a self-referencing canonical.",
        source: MISTAKES,
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(to_home))
    },
    Check {
        id: "canonical-cross-domain",
        title: "Canonical points to another domain",
        description: "The canonical URL is on another domain.",
        why_it_matters: "The other domain is indexed instead of the page. That is right for syndicated content only.",
        recommendation: "Confirm that the content belongs to the other domain; otherwise use a self-referencing canonical.",
        source: CANONICAL,
        ..Check::notice(Indexability, Test::Html(cross_domain))
    },
    Check {
        id: "canonical-http",
        title: "Canonical points to HTTP",
        description: "An HTTPS page declares a canonical URL on HTTP.",
        why_it_matters: "Search engines are sent to the insecure version of the page.",
        recommendation: "Use HTTPS in the canonical.",
        source: CANONICAL,
        ..Check::warning(Indexability, Test::Html(http))
    },
    Check {
        id: "canonical-isolated",
        rests_on: &[Prerequisite::Crawl],
        title: "Canonical without internal links",
        scope: Scope::Graph,
        description: "No page of the site links to the canonical URL.",
        why_it_matters: "Internal links contradict the canonical, and search engines may follow the links instead.",
        recommendation: "Link to the canonical URL.",
        source: CANONICAL,
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(isolated))
    },
    Check {
        id: "link-to-noncanonical",
        title: "Internal links to a non-canonical page",
        scope: Scope::Graph,
        description: "Pages of the site link to this URL although its canonical is another URL.",
        why_it_matters: "Link signals should go to the canonical page directly.",
        recommendation: "Change the links to the canonical URL.",
        source: CANONICAL,
        ..Check::notice(Indexability, Test::Html(linked))
    },
];

/// Returns the effective canonicals: those in the head and in the headers.
fn all<'a>(page: &'a Page<'_>, html: &'a HtmlFacts) -> impl Iterator<Item = &'a LinkRel> {
    html.canonicals
        .iter()
        .filter(|link| link.in_head)
        .chain(&page.facts.headers.canonicals)
}

/// Returns the canonical if it is another page.
fn other(page: &Page<'_>) -> Option<UrlId> {
    page.facts.canonical().filter(|target| *target != page.id())
}

/// Returns the canonical if it is another page with status 200: the canonical of an error page comes from a template.
fn found(page: &Page<'_>) -> Option<UrlId> {
    other(page).filter(|target| page.index().status(*target) == Some(200))
}

fn is_absolute(href: &str) -> bool {
    href.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.bytes().all(|b| b.is_ascii_alphabetic()) && rest.starts_with("//")
    })
}

fn missing(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    (page.indexable && all(page, html).next().is_none()).then(|| json!({}))
}

fn multiple(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let mut seen: Vec<(Option<UrlId>, &str)> = Vec::new();
    for link in all(page, html) {
        let same = |(target, href): &(Option<UrlId>, &str)| {
            *href == &*link.href || target.is_some() && *target == link.target
        };
        if !seen.iter().any(same) {
            seen.push((link.target, &link.href));
        }
    }
    (seen.len() > 1).then(|| json!({"values": seen.iter().take(20).map(|(_, href)| href).collect::<Vec<_>>(), "total": seen.len()}))
}

fn relative(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let relative = |link: &&LinkRel| {
        !link.href.is_empty()
            && !link.href.starts_with('#')
            && link.target.is_some()
            && !is_absolute(&link.href)
    };
    html.canonicals
        .iter()
        .find(relative)
        .map(|link| json!({"value": link.href}))
}

fn invalid(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let broken = |href: &str| {
        let base = url::Url::parse(&page.facts.url).ok();
        let joined = base.and_then(|base| base.join(href).ok());
        href.is_empty()
            || href.starts_with('#')
            || !joined.is_some_and(|url| matches!(url.scheme(), "http" | "https"))
    };
    // a canonical that resolves is fine, unless it is empty or a fragment, which resolve to the page itself
    let suspect =
        |link: &&LinkRel| link.target.is_none() || link.href.is_empty() || link.href.starts_with('#');
    all(page, html)
        .filter(suspect)
        .find(|link| broken(&link.href))
        .map(|link| json!({"value": link.href}))
}

fn header_mismatch(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let header = page.facts.headers.canonicals.first()?;
    let element = html.canonicals.iter().find(|link| link.in_head)?;
    let differ = header.target? != element.target?;
    differ.then(|| json!({"header": header.href, "element": element.href}))
}

/// Whether the canonical is a URL that search engines cannot index, or the home page for a page with content of its own.
pub(super) fn is_at_fault(page: &Page<'_>, html: &HtmlFacts) -> bool {
    [
        non_200, redirect, http, noindex, blocked, chain, to_home, multiple,
    ]
    .iter()
    .any(|fault| fault(page, html).is_some())
}

fn non_200(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let target = other(page)?;
    let status = page.context.error(target)?;
    Some(json!({"target": page.key(target), "status": status}))
}

fn redirect(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let target = other(page).filter(|target| page.index().state(*target) == State::Redirect)?;
    let last = page.index().hops(target).urls.last().map(|last| page.key(*last));
    // only the scheme is wrong, which has its own check
    let is_upgrade =
        last.is_some_and(|last| last.strip_prefix("https:") == page.key(target).strip_prefix("http:"));
    if is_upgrade && http(page, html).is_some() {
        return None;
    }
    Some(json!({"target": page.key(target), "final": last}))
}

fn noindex(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let target = found(page).filter(|target| page.index().has(*target, PageFlags::NOINDEX))?;
    Some(json!({"target": page.key(target)}))
}

fn blocked(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let target = page.key(other(page)?);
    let rule = page.context.forbids_googlebot(target)?;
    Some(json!({"target": target, "rule": rule.to_string(), "ruleLine": rule.line}))
}

fn chain(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let target = found(page)?;
    let next = page.index().canonical(target).filter(|next| *next != target)?;
    Some(json!({"chain": [page.key(page.id()), page.key(target), page.key(next)]}))
}

fn to_home(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let home = page.context.origin.home;
    let target = other(page).filter(|target| *target == home && !page.is_home())?;
    let index = page.index();
    let there = |column: &[u64]| column.get(home.0 as usize).copied().unwrap_or(0);
    if html.text_hash == there(&index.texts) {
        return None;
    }
    // two texts that share less than this are different content
    let same_content = f64::from(page.thresholds().home_likeness_percent) / 100.0;
    let own_content = match (&html.sketch, &index.home.sketch) {
        (Some(here), Some(there)) => here.similarity(there) < same_content,
        // a much shorter text has little in common with a longer one; two short texts of similar length also need
        // different titles
        _ => {
            let words = [html.main_words, u32::from(index.home.words)].map(f64::from);
            let [less, more] = [words[0].min(words[1]), words[0].max(words[1])];
            let title = html.titles.iter().find(|title| !title.is_empty());
            let title = title.map_or(0, |title| searchwright_text::folded_hash(title));
            less < more * same_content && html.main_words > 0 || title == 0 || title != there(&index.titles)
        }
    };
    own_content.then(|| json!({"target": page.key(target)}))
}

fn cross_domain(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let target = page.key(other(page)?);
    let (there, here) = (host(target), host(&page.facts.url));
    (!registrable(there).eq_ignore_ascii_case(registrable(here))).then(|| json!({"target": target}))
}

fn http(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let insecure = |link: &&LinkRel| {
        link.href
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("http:"))
    };
    let link = all(page, html).find(insecure).filter(|_| page.is_https())?;
    Some(json!({"target": link.href}))
}

fn isolated(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let target = other(page).filter(|target| page.context.complete() && page.context.is_internal(*target))?;
    let start = [page.context.origin.home, UrlId(0)];
    // a link to a redirect that ends there counts too
    let mut links = page
        .context
        .addresses(target)
        .flat_map(|address| page.index().inlinks(address));
    let alone = !start.contains(&target) && links.all(|(from, _)| from == target);
    alone.then(|| json!({"target": page.key(target)}))
}

fn linked(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let target = other(page)?;
    let from = pages(
        "from",
        page.context
            .followed_inlinks(page.id())
            .map(|from| page.key(from)),
    )?;
    Some(with(from, "canonical", page.key(target)))
}
