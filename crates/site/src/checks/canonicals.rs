//! Canonical URLs.

use serde_json::{Value, json};

use super::{
    Category::Indexability,
    Check, Page, Scope, Test,
    evidence::pages,
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
        title: "No canonical",
        description: "An indexable page names no canonical URL.",
        why_it_matters: "Copies under other addresses, with parameters for example, compete with it.",
        recommendation: "Let the page name itself as canonical.",
        source: CANONICAL,
        ..Check::notice(Indexability, Test::Html(missing))
    },
    Check {
        id: "canonical-multiple",
        title: "Several canonicals",
        description: "Head and headers name more than one canonical URL.",
        why_it_matters: "Search engines ignore them all.",
        recommendation: "Keep one.",
        source: MISTAKES,
        ..Check::error(Indexability, Test::Html(multiple))
    },
    Check {
        id: "canonical-relative",
        title: "Relative canonical",
        description: "The canonical is not an absolute URL.",
        why_it_matters: "A small mistake in the path, or another host serving the page, sends it astray.",
        recommendation: "Write it with scheme and host.",
        source: MISTAKES,
        ..Check::warning(Indexability, Test::Html(relative))
    },
    Check {
        id: "canonical-invalid",
        title: "Invalid canonical",
        description: "The canonical is empty, no URL, not http(s), or only a fragment.",
        why_it_matters: "Search engines ignore it.",
        recommendation: "Name the absolute URL of the page that is meant.",
        source: CANONICAL,
        ..Check::error(Indexability, Test::Html(invalid))
    },
    Check {
        id: "canonical-header-mismatch",
        title: "Canonical in header and head differ",
        description: "The Link header names another canonical than the link element.",
        why_it_matters: "Search engines may ignore both.",
        recommendation: "Let both name the same URL, or keep one.",
        source: CANONICAL,
        ..Check::error(Indexability, Test::Html(header_mismatch))
    },
    Check {
        id: "canonical-non-200",
        title: "Canonical is an error page",
        scope: Scope::Targets,
        description: "The canonical URL answers 4xx or 5xx.",
        why_it_matters: "The page asks to be replaced by one that does not exist.",
        recommendation: "Name a page that answers 200.",
        source: CANONICAL,
        changed_in: [2, 0, 0],
        ..Check::error(Indexability, Test::Html(non_200))
    },
    Check {
        id: "canonical-redirect",
        title: "Canonical redirects",
        scope: Scope::Targets,
        description: "The canonical URL redirects.",
        why_it_matters: "Canonical and redirect contradict each other, and search engines may choose neither.",
        recommendation: "Name the URL at the end of the redirect.",
        source: CANONICAL,
        ..Check::warning(Indexability, Test::Html(redirect))
    },
    Check {
        id: "canonical-noindex",
        title: "Canonical says noindex",
        scope: Scope::Targets,
        description: "The canonical URL is kept out of the index.",
        why_it_matters: "Both pages may vanish from the index.",
        recommendation: "Remove noindex there, or the canonical here.",
        source: CANONICAL,
        changed_in: [2, 0, 0],
        ..Check::error(Indexability, Test::Html(noindex))
    },
    Check {
        id: "canonical-blocked",
        rests_on: &[Prerequisite::Robots],
        title: "Canonical blocked by robots.txt",
        scope: Scope::Targets,
        description: "robots.txt forbids Googlebot the canonical URL.",
        why_it_matters: "Search engines cannot read the page that is meant.",
        recommendation: "Allow it in robots.txt.",
        source: CANONICAL,
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(blocked))
    },
    Check {
        id: "canonical-chain",
        title: "Chain of canonicals",
        scope: Scope::Graph,
        description: "The canonical page names a third one as canonical, or this one.",
        why_it_matters: "Search engines may stop half way.",
        recommendation: "Name the last one on each page of the chain. Of two pages that name each other choose one, and let both name it.",
        source: CANONICAL,
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(chain))
    },
    Check {
        id: "canonical-to-home",
        title: "Canonical is the home page",
        description: "A page with content of its own names the home page as canonical.",
        why_it_matters: "It asks not to be indexed itself.",
        recommendation: "Let it name itself.",
        source: MISTAKES,
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(to_home))
    },
    Check {
        id: "canonical-cross-domain",
        title: "Canonical on another domain",
        description: "The canonical URL belongs to another domain.",
        why_it_matters: "The other site gets the page's place in the index; right for syndicated texts only.",
        recommendation: "Confirm that the text belongs there, else let the page name itself.",
        source: CANONICAL,
        ..Check::notice(Indexability, Test::Html(cross_domain))
    },
    Check {
        id: "canonical-http",
        title: "Canonical without https",
        description: "A page on https names a canonical on http.",
        why_it_matters: "It sends search engines back to the insecure copy.",
        recommendation: "Write https.",
        source: CANONICAL,
        ..Check::warning(Indexability, Test::Html(http))
    },
    Check {
        id: "canonical-isolated",
        rests_on: &[Prerequisite::Crawl],
        title: "Nothing links to the canonical",
        scope: Scope::Graph,
        description: "No page links to the canonical URL.",
        why_it_matters: "Internal links say one thing, the canonical another; search engines may believe the links.",
        recommendation: "Link to the canonical URL.",
        source: CANONICAL,
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(isolated))
    },
    Check {
        id: "link-to-noncanonical",
        title: "Links to a page that is not canonical",
        scope: Scope::Graph,
        description: "Pages link to this URL although it names another as canonical.",
        why_it_matters: "The links should count for the canonical page directly.",
        recommendation: "Link to the canonical URL instead.",
        source: CANONICAL,
        ..Check::notice(Indexability, Test::Html(linked))
    },
];

/// Canonicals that count: in the head and in the headers.
fn all<'a>(page: &'a Page<'_>, html: &'a HtmlFacts) -> impl Iterator<Item = &'a LinkRel> {
    html.canonicals
        .iter()
        .filter(|link| link.in_head)
        .chain(&page.facts.headers.canonicals)
}

/// The canonical when it is another page.
fn other(page: &Page<'_>) -> Option<UrlId> {
    page.facts.canonical().filter(|target| *target != page.id())
}

/// The same when it answered 200: what the template of an error page says is not its own.
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
    // what resolved is fine, unless it only did because nothing is the page itself
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

fn non_200(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let target = other(page)?;
    let status = page.context.error(target)?;
    Some(json!({"target": page.key(target), "status": status}))
}

fn redirect(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let target = other(page).filter(|target| page.index().state(*target) == State::Redirect)?;
    let last = page.index().hops(target).urls.last().map(|last| page.key(*last));
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
    // two texts that share less than this are not the same content
    let same_content = f64::from(page.thresholds().home_likeness_percent) / 100.0;
    let own_content = match (&html.sketch, &index.home.sketch) {
        (Some(here), Some(there)) => here.similarity(there) < same_content,
        // a text that is much shorter than another has little in common with it; of two short ones that are about
        // as long, the titles have to say that they differ
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
    // a link to what redirects there leads there too
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
    Some(super::evidence::with(from, "canonical", page.key(target)))
}
