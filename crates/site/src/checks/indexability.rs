//! Robots directives of pages.

use serde_json::{Value, json};

use super::{
    Category::Indexability,
    Check, Page, Scope, Site, Test,
    evidence::{list, with},
    prerequisite::Prerequisite,
    sitemaps::listed,
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
        title: "Home page not indexable",
        scope: Scope::Site,
        description: "The page that the start URL leads to is not indexable.",
        why_it_matters: "The most important page of the site is missing from search results.",
        recommendation: "Remove the cause: the HTTP status, the robots directive, the robots.txt rule or the canonical to another URL.",
        source: "https://developers.google.com/search/docs/crawling-indexing/block-indexing",
        changed_in: [2, 1, 1],
        ..Check::error(Indexability, Test::Site(homepage_not_indexable))
    },
    Check {
        id: "noindex",
        title: "Noindex page",
        description: "The page has a \"noindex\" or \"none\" directive in its robots meta tag or X-Robots-Tag header. The home page, a page in a sitemap and a page whose directives disagree have checks of their own.",
        why_it_matters: "The page does not appear in search results. That may be intended.",
        recommendation: "Remove the directive if the page should rank.",
        source: "https://developers.google.com/search/docs/crawling-indexing/block-indexing",
        changed_in: [2, 7, 0],
        ..Check::notice(Indexability, Test::Html(noindex))
    },
    Check {
        id: "robots-directive-conflict",
        title: "Conflicting robots directives",
        description: "The robots meta tag and the X-Robots-Tag header disagree on index or follow.",
        why_it_matters: "Search engines apply the stricter directive, which may not be the intended one.",
        recommendation: "Keep only the directive that is intended.",
        source: ROBOTS_META,
        changed_in: [2, 2, 0],
        ..Check::warning(Indexability, Test::Html(directive_conflict))
    },
    Check {
        id: "robots-directive-unknown",
        title: "Unknown robots directive",
        description: "The robots meta tag or X-Robots-Tag header has a directive that search engines do not support.",
        why_it_matters: "The directive has no effect: a misspelled noindex leaves the page in the index.",
        recommendation: "Correct the spelling, or remove the directive.",
        source: ROBOTS_META,
        changed_in: [2, 2, 0],
        ..Check::notice(Indexability, Test::Html(directive_unknown))
    },
    Check {
        id: "robots-nofollow-page",
        title: "Nofollow page",
        description: "The page has a \"nofollow\" or \"none\" robots directive and links to pages of the site.",
        why_it_matters: "Its links pass no signals to other pages, and pages linked only from here are not discovered.",
        recommendation: "Remove the page-level nofollow; add rel=\"nofollow\" to single links where needed.",
        source: ROBOTS_META,
        ..Check::warning(Indexability, Test::Html(nofollow_page))
    },
    Check {
        id: "unavailable-after-past",
        title: "Expired unavailable_after date",
        description: "The date in the unavailable_after robots directive has passed.",
        why_it_matters: "Search engines treat the page as noindex.",
        recommendation: "Remove the directive if the page is still valid.",
        source: ROBOTS_META,
        ..Check::warning(Indexability, Test::Html(unavailable_after))
    },
    Check {
        id: "noimageindex",
        title: "Noimageindex page",
        description: "The page has a noimageindex robots directive.",
        why_it_matters: "The images on the page do not appear in image search.",
        recommendation: "Remove the directive if the images should be found.",
        source: ROBOTS_META,
        ..Check::notice(Indexability, Test::Html(noimageindex))
    },
    Check {
        id: "head-element-in-body",
        title: "Head element in the body",
        description: "A title, robots meta tag, meta description, canonical or hreflang is in the <body>, often because an element before it closed the <head> early.",
        why_it_matters: "Search engines ignore these elements in the <body>.",
        recommendation: "Move the element that closed the <head> into the <body>.",
        source: "https://developers.google.com/search/docs/crawling-indexing/valid-page-metadata",
        ..Check::warning(Indexability, Test::Html(head_in_body))
    },
    Check {
        id: "meta-refresh",
        title: "Meta refresh redirect",
        description: "The page redirects with <meta http-equiv=\"refresh\">.",
        why_it_matters: "It is slower than an HTTP redirect, breaks the back button, and search engines handle it less reliably.",
        recommendation: "Use an HTTP 301 redirect instead.",
        source: "https://developers.google.com/search/docs/crawling-indexing/301-redirects",
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(meta_refresh))
    },
    Check {
        id: "robots-blocked-page",
        rests_on: &[Prerequisite::Robots],
        title: "Linked page blocked by robots.txt",
        scope: Scope::Graph,
        description: "robots.txt blocks Googlebot from a URL that other pages link to and no sitemap lists. A rule against the whole site has its own check.",
        why_it_matters: "Google cannot read the content, yet the bare URL may appear in search results.",
        recommendation: "Allow the URL in robots.txt. If the page should stay out of the index, add a noindex directive to it as well.",
        source: ROBOTS_TXT,
        changed_in: [2, 7, 0],
        ..Check::notice(Indexability, Test::Url(blocked_page))
    },
    Check {
        id: "robots-blocked-resource",
        rests_on: &[Prerequisite::Robots],
        title: "Scripts or stylesheets blocked by robots.txt",
        scope: Scope::Targets,
        description: "robots.txt blocks Googlebot from a script or stylesheet of the page.",
        why_it_matters: "Google may render the page broken or without its content.",
        recommendation: "Allow the files needed to render the page.",
        source: ROBOTS_TXT,
        reads: cut::RESOURCES,
        changed_in: [2, 0, 0],
        ..Check::warning(Indexability, Test::Html(blocked_resource))
    },
];

fn homepage_not_indexable(site: &Site<'_>) -> Option<Value> {
    let home = site.home.as_ref()?;
    let is_unknown = match home.facts.outcome {
        // a missing response is no proof
        Outcome::Failed(_) => true,
        // robots.txt may forbid the page to this crawler only
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
    let told = page.id() == page.context.origin.home || listed(page) || disagree_on_index(page);
    sources(page, |rules| rules.noindex).filter(|_| !told)
}

fn disagree_on_index(page: &Page<'_>) -> bool {
    let (meta, header) = (&page.directives.meta, &page.directives.header);
    meta.index && header.noindex || meta.noindex && header.index
}

fn directive_conflict(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let (meta, header) = (&page.directives.meta, &page.directives.header);
    let disagree =
        disagree_on_index(page) || meta.follow && header.nofollow || meta.nofollow && header.follow;
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
    if total == 0 || listed(page) || page.context.is_all_forbidden() {
        return None;
    }
    let rule = page.forbids_googlebot()?;
    Some(
        json!({"rule": rule.to_string(), "ruleLine": rule.line, "inlinks": page.context.inlinks(page.id()), "total": total}),
    )
}

fn blocked_resource(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    // most URLs need no resolving
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
