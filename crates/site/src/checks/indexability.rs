//! Directives of pages for robots.

use serde_json::{Value, json};

use super::{
    Category::Indexability,
    Check, Page, Scope, Site, Test,
    evidence::{list, with},
    prerequisite::Prerequisite,
};
use crate::{
    dates,
    page::{
        HtmlFacts, NotIndexable, Outcome, RobotsRules, base_url, cut, not_indexable, refresh, resolve_http,
    },
};

const ROBOTS_META: &str = "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag";
const ROBOTS_TXT: &str = "https://developers.google.com/search/docs/crawling-indexing/robots/intro";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "homepage-not-indexable",
        rests_on: &[Prerequisite::Home],
        title: "Home page cannot be indexed",
        scope: Scope::Site,
        description: "The page that the start URL ends at cannot be in the index.",
        why_it_matters: "The most important page of the site is missing from search results.",
        recommendation: "Remove what blocks it: the status, the robots directive or the foreign canonical.",
        source: "https://developers.google.com/search/docs/crawling-indexing/block-indexing",
        changed_in: [2, 1, 1],
        ..Check::error(Indexability, Test::Site(homepage_not_indexable))
    },
    Check {
        id: "noindex",
        title: "Kept out of the index",
        description: "The page says noindex or none, in its head or its headers.",
        why_it_matters: "It will not be found in search. That may be what you want.",
        recommendation: "Remove the directive if the page should rank.",
        source: "https://developers.google.com/search/docs/crawling-indexing/block-indexing",
        changed_in: [2, 2, 0],
        ..Check::notice(Indexability, Test::Html(noindex))
    },
    Check {
        id: "robots-directive-conflict",
        title: "Contradicting robots directives",
        description: "Head and headers disagree on index or follow.",
        why_it_matters: "Search engines take the stricter one, which may not be the one you meant.",
        recommendation: "Keep one of them.",
        source: ROBOTS_META,
        changed_in: [2, 2, 0],
        ..Check::warning(Indexability, Test::Html(directive_conflict))
    },
    Check {
        id: "robots-directive-unknown",
        title: "Unknown robots directive",
        description: "A robots directive is not one that search engines know.",
        why_it_matters: "It has no effect; a misspelled noindex leaves the page in the index.",
        recommendation: "Correct the spelling or remove it.",
        source: ROBOTS_META,
        changed_in: [2, 2, 0],
        ..Check::notice(Indexability, Test::Html(directive_unknown))
    },
    Check {
        id: "robots-nofollow-page",
        title: "No link of the page is followed",
        description: "The page says nofollow or none and has links to pages of the site.",
        why_it_matters: "Its links help no other page, and pages linked only from here are not found.",
        recommendation: "Remove nofollow; mark single links if need be.",
        source: ROBOTS_META,
        ..Check::warning(Indexability, Test::Html(nofollow_page))
    },
    Check {
        id: "unavailable-after-past",
        title: "Expired by its own date",
        description: "The date of unavailable_after has passed.",
        why_it_matters: "Search engines treat the page as if it said noindex.",
        recommendation: "Remove the directive if the page is still valid.",
        source: ROBOTS_META,
        ..Check::warning(Indexability, Test::Html(unavailable_after))
    },
    Check {
        id: "noimageindex",
        title: "Images kept out of the index",
        description: "The page says noimageindex.",
        why_it_matters: "Its images will not be found in image search.",
        recommendation: "Remove the directive if they should be.",
        source: ROBOTS_META,
        ..Check::notice(Indexability, Test::Html(noimageindex))
    },
    Check {
        id: "head-element-in-body",
        title: "Head element in the body",
        description: "Title, robots or description meta, canonical or hreflang stand in the body, often because something before them ended the head.",
        why_it_matters: "Search engines ignore them there.",
        recommendation: "Move the element that ended the head into the body.",
        source: "https://developers.google.com/search/docs/crawling-indexing/valid-page-metadata",
        ..Check::warning(Indexability, Test::Html(head_in_body))
    },
    Check {
        id: "meta-refresh",
        title: "Redirect by meta refresh",
        description: "The page sends visitors on with <meta http-equiv=\"refresh\">.",
        why_it_matters: "It is slower than a redirect, confuses the back button, and search engines understand it less surely.",
        recommendation: "Redirect with HTTP 301.",
        source: "https://developers.google.com/search/docs/crawling-indexing/301-redirects",
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(meta_refresh))
    },
    Check {
        id: "robots-blocked-page",
        rests_on: &[Prerequisite::Robots],
        title: "Linked page blocked by robots.txt",
        scope: Scope::Graph,
        description: "robots.txt forbids Googlebot a URL that pages link to.",
        why_it_matters: "Its content is not read, yet the bare address may appear in search.",
        recommendation: "Allow it, or let it be read and say noindex.",
        source: ROBOTS_TXT,
        changed_in: [2, 0, 0],
        ..Check::notice(Indexability, Test::Url(blocked_page))
    },
    Check {
        id: "robots-blocked-resource",
        rests_on: &[Prerequisite::Robots],
        title: "Scripts or styles blocked by robots.txt",
        scope: Scope::Targets,
        description: "robots.txt forbids Googlebot a script or stylesheet of the page.",
        why_it_matters: "Search engines may see the page broken, or without its content.",
        recommendation: "Allow the files that pages are built with.",
        source: ROBOTS_TXT,
        reads: cut::RESOURCES,
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(blocked_resource))
    },
];

fn homepage_not_indexable(site: &Site<'_>) -> Option<Value> {
    let home = site.home.as_ref()?;
    let is_unknown = match home.facts.outcome {
        // no answer is no proof
        Outcome::Failed(_) => true,
        // robots.txt may forbid it to this crawler alone
        Outcome::Blocked(_) => home.forbids_googlebot().is_none(),
        Outcome::Status(_) | Outcome::Redirect { .. } => false,
    };
    if is_unknown {
        return None;
    }
    let reason = not_indexable(home.facts).or((!home.indexable).then_some(NotIndexable::Blocked))?;
    Some(json!({"reason": reason.code(), "status": home.facts.status(), "homeUrl": home.facts.url}))
}

fn sources(page: &Page<'_>, set: impl Fn(&RobotsRules) -> bool) -> Option<Value> {
    let rules = [
        ("meta", &page.directives.meta),
        ("header", &page.directives.header),
    ];
    let set = rules.into_iter().filter(|(_, rules)| set(rules));
    let mut values = set
        .map(|(source, rules)| json!({"source": source, "value": rules.values.join(", ")}))
        .peekable();
    values.peek()?;
    list("directives", values)
}

fn noindex(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    sources(page, |rules| rules.noindex)
}

fn directive_conflict(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let (meta, header) = (&page.directives.meta, &page.directives.header);
    let disagree = meta.index && header.noindex
        || meta.noindex && header.index
        || meta.follow && header.nofollow
        || meta.nofollow && header.follow;
    disagree.then(|| json!({"meta": meta.values.join(", "), "header": header.values.join(", ")}))
}

fn directive_unknown(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    list(
        "tokens",
        page.directives
            .meta
            .unknown
            .iter()
            .chain(&page.directives.header.unknown)
            .map(|token| &**token),
    )
}

fn nofollow_page(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if !page.directives.nofollow() {
        return None;
    }
    let internal = page.link_targets(html).count();
    let evidence = sources(page, |rules| rules.nofollow)?;
    (internal > 0).then(|| with(evidence, "internalLinks", internal))
}

fn unavailable_after(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let rules = [&page.directives.meta, &page.directives.header];
    let past = |date: &&str| dates::any_ms(date).is_some_and(|ms| ms < page.now_ms);
    let date = rules
        .into_iter()
        .filter_map(|rules| rules.unavailable_after.as_deref())
        .find(past)?;
    Some(json!({"date": date}))
}

fn noimageindex(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    sources(page, |rules| rules.noimageindex)
}

fn head_in_body(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let evidence = list("elements", html.head_in_body.iter().map(|element| &**element))?;
    Some(with(evidence, "endedBy", html.head_ended_by.as_deref()))
}

fn meta_refresh(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let meta = html.metas.iter().find(|meta| &*meta.name == "=refresh")?;
    let (delay, target) = refresh(&meta.content)?;
    Some(json!({"delay": delay, "target": target}))
}

fn blocked_page(page: &Page<'_>) -> Option<Value> {
    let total = page.index().inlinks(page.id()).len();
    if total == 0 {
        return None;
    }
    let rule = page.forbids_googlebot()?;
    Some(
        json!({"rule": rule.to_string(), "ruleLine": rule.line, "inlinks": page.context.inlinks(page.id()), "total": total}),
    )
}

fn blocked_resource(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    // most are spelled so that nothing has to be resolved
    let at_root = html.base.is_none() && page.context.is_at_root(&page.facts.url);
    let mut base = None;
    let blocked = html
        .resources
        .iter()
        .filter(|r| matches!(&*r.tag, "script" | "link"))
        .filter_map(|resource| {
            let written = &*resource.url;
            let rule = if at_root && written.starts_with('/') && !written.starts_with("//") {
                page.context.googlebot.forbids(written.split('#').next()?)
            } else if written.starts_with("https://") || written.starts_with("http://") {
                page.context.forbids_googlebot(written)
            } else {
                let base = base.get_or_insert_with(|| base_url(page.facts, html));
                let url = resolve_http(base.as_ref()?, written)?;
                page.context.forbids_googlebot(url.as_str())
            }?;
            Some(json!({"resource": written, "rule": rule.to_string()}))
        });
    list("resources", blocked)
}
