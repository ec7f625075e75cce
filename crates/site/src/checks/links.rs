//! Links between pages.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    Category::Links,
    Check, Page, Scope, Test,
    crawlability::is_missing,
    evidence::{MAX_ITEMS, list, with},
    inlinks,
    prerequisite::Prerequisite,
    word_lists::is_generic_anchor,
};
use crate::{
    graph::{PageFlags, State, has_all_ids, named},
    page::{
        HtmlFacts, LINK_CODE, LINK_FRAGMENT, LINK_MALFORMED, LINK_OTHER_SCHEME, Link, REL_NOFOLLOW, UrlId,
        cut,
    },
};

const CRAWLABLE: &str = "https://developers.google.com/search/docs/crawling-indexing/links-crawlable";
const QUALIFY: &str = "https://developers.google.com/search/docs/crawling-indexing/qualify-outbound-links";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "broken-internal-link",
        title: "Broken internal link",
        scope: Scope::Targets,
        description: "A link leads to a page of the site that answers 4xx (not 401, 403 or 429) or 5xx.",
        why_it_matters: "Visitors who follow it leave, and the page it stands on looks neglected.",
        recommendation: "Correct the link, remove it, or restore its target.",
        source: "https://developers.google.com/search/docs/crawling-indexing/http-network-errors",
        ..Check::error(Links, Test::Html(broken))
    },
    Check {
        id: "link-to-redirect",
        title: "Link to a redirect",
        scope: Scope::Targets,
        description: "A link leads to a page of the site that redirects permanently.",
        why_it_matters: "Every visitor and crawler takes a detour.",
        recommendation: "Link to the URL at the end of the redirect.",
        source: "https://developers.google.com/search/docs/crawling-indexing/301-redirects",
        ..Check::warning(Links, Test::Html(to_redirect))
    },
    Check {
        id: "orphan-page",
        rests_on: &[Prerequisite::Crawl, Prerequisite::NoInlink],
        title: "Orphan page",
        scope: Scope::Graph,
        needs_audit: true,
        description: "An indexable page is known from a sitemap, a published post or the last audit, but no page links to it. Where some page gave no answer, and so showed no links, the audit before must have seen none either.",
        why_it_matters: "Visitors do not find it, and search engines take it for unimportant.",
        recommendation: "Link to it from pages on the same subject.",
        source: CRAWLABLE,
        changed_in: [1, 2, 0],
        ..Check::warning(Links, Test::Html(inlinks::orphan))
    },
    Check {
        id: "single-inlink",
        rests_on: &[Prerequisite::Crawl, Prerequisite::InlinkCount],
        title: "Only one page links here",
        scope: Scope::Graph,
        description: "Exactly one page links to this indexable page.",
        why_it_matters: "It depends on that one link to be found.",
        recommendation: "Link to it from more pages on the same subject.",
        source: CRAWLABLE,
        changed_in: [2, 1, 0],
        ..Check::notice(Links, Test::Html(inlinks::single_inlink))
    },
    Check {
        id: "dead-end-page",
        needs_whole: true,
        title: "No links to other pages",
        description: "The page has no link to another page of the site.",
        why_it_matters: "Visitors and crawlers that come here have nowhere to go.",
        recommendation: "Add navigation and links to related pages.",
        source: CRAWLABLE,
        ..Check::notice(Links, Test::Html(dead_end))
    },
    Check {
        id: "nofollow-internal-link",
        rests_on: &[Prerequisite::Targets],
        title: "Nofollow on an internal link",
        description: "A link with rel nofollow, ugc or sponsored leads to an indexable page of the site.",
        why_it_matters: "The link does not help the page it leads to.",
        recommendation: "Remove the rel value from links within the site.",
        source: QUALIFY,
        ..Check::warning(Links, Test::Html(nofollow))
    },
    Check {
        id: "mixed-follow-inlinks",
        title: "Linked with and without nofollow",
        scope: Scope::Graph,
        description: "Some pages link here with rel nofollow, others without; pages that say nofollow of all their links do not count.",
        why_it_matters: "The mixture is seldom meant, and has no effect beyond losing some of the links.",
        recommendation: "Remove nofollow from links within the site.",
        source: QUALIFY,
        changed_in: [2, 0, 0],
        ..Check::notice(Links, Test::Html(inlinks::mixed_follow))
    },
    Check {
        id: "many-links",
        title: "Very many links",
        description: "The page has more than 1,000 links. Where it has more than an audit reads, the evidence says how many were left out.",
        why_it_matters: "Nobody finds anything among them, and each counts for little.",
        recommendation: "Split the page, or link to categories instead.",
        source: CRAWLABLE,
        ..Check::notice(Links, Test::Html(many_links))
    },
    Check {
        id: "anchor-empty",
        needs_whole: true,
        title: "Link without text",
        description: "A link has no text and no image with alt, and neither it nor an element in it has an aria-label or a title.",
        why_it_matters: "Neither search engines nor people who cannot see it know where it leads.",
        recommendation: "Give it a text, or its image an alt text.",
        source: "https://dequeuniversity.com/rules/axe/latest/link-name",
        changed_in: [2, 2, 0],
        ..Check::notice(Links, Test::Html(anchor_empty))
    },
    Check {
        id: "anchor-generic",
        title: "Link text says nothing",
        description: "The text of a link is one of those that fit every link, such as \"click here\" or \"read more\".",
        why_it_matters: "The text of a link tells visitors and search engines what its target is about.",
        recommendation: "Name what the link leads to.",
        source: CRAWLABLE,
        ..Check::notice(Links, Test::Html(anchor_generic))
    },
    Check {
        id: "anchor-uncrawlable",
        title: "Link that cannot be crawled",
        description: "An <a> has no href, a javascript: address, or # with a click handler.",
        why_it_matters: "Search engines follow only links with an address.",
        recommendation: "Put the target's URL in href; use a button for what is no link.",
        source: CRAWLABLE,
        ..Check::warning(Links, Test::Html(uncrawlable))
    },
    Check {
        id: "link-malformed",
        title: "Malformed link",
        description: "The address of a link is no URL, or its scheme is mistyped.",
        why_it_matters: "It leads nowhere.",
        recommendation: "Correct the address.",
        source: "https://url.spec.whatwg.org/",
        ..Check::warning(Links, Test::Html(malformed))
    },
    Check {
        id: "broken-fragment",
        needs_whole: true,
        title: "Link to a missing part of a page",
        scope: Scope::Targets,
        description: "A link to a #part of its own page, or of another page of the site, names an id that the page does not have.",
        why_it_matters: "Nothing happens when it is followed.",
        recommendation: "Correct the fragment, or give the target that id.",
        source: "https://html.spec.whatwg.org/multipage/browsing-the-web.html#scrolling-to-a-fragment",
        changed_in: [2, 0, 0],
        ..Check::notice(Links, Test::Html(fragment))
    },
    Check {
        id: "http-internal-link",
        title: "Internal link without https",
        description: "A page on https links to a page of the site with http.",
        why_it_matters: "Visitors take a detour over an insecure connection.",
        recommendation: "Write https, or leave out scheme and host.",
        source: "https://developers.google.com/search/docs/crawling-indexing/site-move-with-url-changes",
        reads: cut::LINKS,
        ..Check::warning(Links, Test::Html(insecure))
    },
    Check {
        id: "pagination-not-linked",
        needs_whole: true,
        title: "Pagination without links",
        scope: Scope::Targets,
        description: "A URL named by rel next or prev is not linked from the page.",
        why_it_matters: "Search engines no longer use these hints; without links the following pages are not found.",
        recommendation: "Link to the next and the previous page with <a href>.",
        source: "https://developers.google.com/search/docs/specialty/ecommerce/pagination-and-incremental-page-loading",
        ..Check::notice(Links, Test::Html(pagination))
    },
];

pub(super) fn link(page: &Page<'_>, link: Link<'_>) -> Value {
    let url = link.target.map_or(link.href, |id| page.key(id));
    json!({"linkUrl": url, "href": link.href, "anchor": link.anchor, "line": link.line})
}

fn broken(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if page.is_linked_well() {
        return None;
    }
    let index = page.index();
    let broken = page.link_targets(html).filter_map(|target| {
        // only what this crawl has seen answer so
        let fetched = matches!(index.state(target.id), State::Html | State::Other);
        let status = index
            .status(target.id)
            .filter(|status| fetched && (is_missing(*status) || *status >= 500))?;
        Some(with(link(page, target.link()?), "status", status))
    });
    list("links", broken)
}

fn to_redirect(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if page.is_linked_well() {
        return None;
    }
    let index = page.index();
    let redirects = |wanted: fn(u16) -> bool| {
        page.link_targets(html).filter_map(move |target| {
            let status = index.status(target.id).filter(|status| wanted(*status))?;
            let last = index.hops(target.id).urls.last().map(|last| page.key(*last));
            let evidence = with(link(page, target.link()?), "status", status);
            Some(with(evidence, "finalUrl", last))
        })
    };
    let permanent = list("links", redirects(|status| matches!(status, 301 | 308)))?;
    // those that are meant to last no longer than they must are right to be linked; they are named beside the others only
    let passing: Vec<Value> = redirects(|status| matches!(status, 302 | 303 | 307))
        .take(MAX_ITEMS)
        .collect();
    Some(if passing.is_empty() {
        permanent
    } else {
        with(permanent, "temporary", passing)
    })
}

fn dead_end(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let internal = |id: UrlId| id != page.id() && page.context.is_internal(id);
    // a very large site has more URLs than are kept: where a link leads is not known then
    let untold = |link: &Link<'_>| {
        link.target.is_none()
            && link.flags & (LINK_CODE | LINK_FRAGMENT | LINK_MALFORMED | LINK_OTHER_SCHEME) == 0
    };
    let leads_on = |link: Link<'_>| link.target.is_some_and(internal) || untold(&link);
    // of most pages no link is looked at
    let dead = page.index().has(page.id(), PageFlags::DEAD_END)
        && !html.links.hide_some()
        && !html.links.iter().any(leads_on);
    dead.then(|| json!({"links": html.links_total}))
}

fn marked_nofollow(html: &HtmlFacts) -> impl Iterator<Item = Link<'_>> {
    html.links.iter().filter(|link| link.flags & REL_NOFOLLOW != 0)
}

fn nofollow(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let wasted = marked_nofollow(html).filter(|link| {
        link.target.is_some_and(|id| {
            id != page.id() && page.index().has(id, PageFlags::INDEXABLE) && page.context.is_internal(id)
        })
    });
    list("links", wasted.map(|found| link(page, found)))
}

fn many_links(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if html.links_total <= page.thresholds().links_max {
        return None;
    }
    let evidence = json!({"count": html.links_total});
    let read = html.links.len();
    Some(match (html.links_total as usize).saturating_sub(read) {
        0 => evidence,
        left_out => with(with(evidence, "linksRead", read), "linksLeftOut", left_out),
    })
}

fn empty(html: &HtmlFacts) -> impl Iterator<Item = Link<'_>> {
    html.links.iter().filter(|link| link.anchor.is_empty())
}

fn anchor_empty(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    list("links", empty(html).map(|found| link(page, found)))
}

fn generic(html: &HtmlFacts) -> impl Iterator<Item = Link<'_>> {
    let language = html.lang.as_deref();
    // a word in program text is a name: <code>continue</code> tells what its target is about
    let crawled = html
        .links
        .iter()
        .filter(|link| link.flags & (LINK_OTHER_SCHEME | LINK_CODE) == 0);
    crawled.filter(move |link| is_generic_anchor(link.anchor, language))
}

fn anchor_generic(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    list("links", generic(html).map(|found| link(page, found)))
}

fn uncrawlable(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let evidence = list("html", html.uncrawlable_links.iter().map(|html| &**html))?;
    Some(with(evidence, "total", html.uncrawlable_total))
}

fn unreadable(html: &HtmlFacts) -> impl Iterator<Item = Link<'_>> {
    html.links.iter().filter(|link| link.flags & LINK_MALFORMED != 0)
}

fn malformed(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    list("links", unreadable(html).map(|found| link(page, found)))
}

/// Those that name a part of a page.
fn with_fragment(html: &HtmlFacts) -> impl Iterator<Item = Link<'_>> {
    html.links.iter().filter(|link| link.flags & LINK_FRAGMENT != 0)
}

fn fragment(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let mut own: Option<HashSet<u64>> = None;
    let mut missing = |link: &Link<'_>| {
        let target = link.target?;
        let hashes = named(link.href)?;
        if target != page.id() {
            return Some(
                hashes
                    .iter()
                    .all(|hash| page.index().lacks_fragment(target, *hash)),
            );
        }
        if !has_all_ids(page.facts) {
            return None;
        }
        let ids = own.get_or_insert_with(|| html.id_hashes.iter().copied().collect());
        Some(hashes.iter().all(|hash| !ids.contains(hash)))
    };
    list(
        "links",
        with_fragment(html)
            .filter(|link| missing(link).unwrap_or_default())
            .map(|found| link(page, found)),
    )
}

fn unencrypted(html: &HtmlFacts) -> impl Iterator<Item = Link<'_>> {
    html.links.iter().filter(|link| {
        let scheme = link.href.get(..5);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("http:"))
    })
}

fn insecure(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if !page.is_https() {
        return None;
    }
    let internal = |link: &Link<'_>| link.target.is_some_and(|id| page.context.is_internal(id));
    list(
        "links",
        unencrypted(html).filter(internal).map(|found| link(page, found)),
    )
}

fn pagination(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if html.pagination.is_empty() || html.links.hide_some() {
        return None;
    }
    let targets: HashSet<UrlId> = html.links.iter().filter_map(|link| link.target).collect();
    let missing = html
        .pagination
        .iter()
        .filter(|link| link.target.is_some_and(|id| !targets.contains(&id)));
    list(
        "urls",
        missing.map(|link| link.target.map_or(&*link.href, |id| page.key(id))),
    )
}
