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
        HtmlFacts, LINK_CODE, LINK_CONCEALED, LINK_FRAGMENT, LINK_MALFORMED, LINK_OTHER_SCHEME, Link,
        REL_NOFOLLOW, UrlId, cut,
    },
};

const CRAWLABLE: &str = "https://developers.google.com/search/docs/crawling-indexing/links-crawlable";
const QUALIFY: &str = "https://developers.google.com/search/docs/crawling-indexing/qualify-outbound-links";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "broken-internal-link",
        title: "Broken internal link",
        scope: Scope::Targets,
        description: "A link points to a page of the site that returns a 4xx (other than 401, 403 and 429) or 5xx status.",
        why_it_matters: "Visitors who follow the link reach an error page and leave, and crawl budget is wasted.",
        recommendation: "Correct or remove the link, or restore the page it points to.",
        source: "https://developers.google.com/search/docs/crawling-indexing/http-network-errors",
        changed_in: [2, 5, 0],
        ..Check::error(Links, Test::Html(broken))
    },
    Check {
        id: "link-to-redirect",
        title: "Internal link to a redirect",
        scope: Scope::Targets,
        description: "A link points to a page of the site that redirects permanently (301 or 308), other than from HTTP to HTTPS.",
        why_it_matters: "Every visitor and crawler makes an extra request.",
        recommendation: "Link to the final URL of the redirect.",
        source: "https://developers.google.com/search/docs/crawling-indexing/301-redirects",
        changed_in: [2, 7, 0],
        ..Check::warning(Links, Test::Html(to_redirect))
    },
    Check {
        id: "orphan-page",
        rests_on: &[Prerequisite::Crawl, Prerequisite::NoInlink],
        title: "Orphan page",
        scope: Scope::Graph,
        needs_audit: true,
        description: "An indexable page is known from a sitemap, a published post or the last audit, but no page of the site links to it. If some page did not respond, so that its links are unknown, the previous audit must have found no links either.",
        why_it_matters: "Visitors do not find the page, and search engines consider it unimportant.",
        recommendation: "Link to it from pages on the same topic.",
        source: CRAWLABLE,
        changed_in: [1, 2, 0],
        ..Check::warning(Links, Test::Html(inlinks::orphan))
    },
    Check {
        id: "single-inlink",
        rests_on: &[Prerequisite::Crawl, Prerequisite::InlinkCount],
        title: "Only one incoming internal link",
        scope: Scope::Graph,
        description: "Exactly one page of the site links to this indexable page.",
        why_it_matters: "The page can be discovered through that one link only.",
        recommendation: "Link to it from more pages on the same topic.",
        source: CRAWLABLE,
        changed_in: [2, 1, 0],
        ..Check::notice(Links, Test::Html(inlinks::single_inlink))
    },
    Check {
        id: "dead-end-page",
        needs_whole: true,
        title: "Dead-end page",
        description: "The page has no links to other pages of the site.",
        why_it_matters: "Visitors and crawlers that reach the page cannot go on from there.",
        recommendation: "Add navigation and links to related pages.",
        source: CRAWLABLE,
        ..Check::notice(Links, Test::Html(dead_end))
    },
    Check {
        id: "nofollow-internal-link",
        rests_on: &[Prerequisite::Targets],
        title: "Internal link with nofollow",
        description: "A link with rel=\"nofollow\", \"ugc\" or \"sponsored\" points to an indexable page of the site.",
        why_it_matters: "The link passes no signals to the page.",
        recommendation: "Remove these rel values from internal links.",
        source: QUALIFY,
        ..Check::warning(Links, Test::Html(nofollow))
    },
    Check {
        id: "mixed-follow-inlinks",
        title: "Mixed follow and nofollow internal links",
        scope: Scope::Graph,
        description: "Some pages of the site link to this page with rel=\"nofollow\", others without. Pages with a page-level nofollow do not count.",
        why_it_matters: "The mix is rarely intended, and the nofollow links pass no signals.",
        recommendation: "Remove nofollow from internal links.",
        source: QUALIFY,
        changed_in: [2, 0, 0],
        ..Check::notice(Links, Test::Html(inlinks::mixed_follow))
    },
    Check {
        id: "many-links",
        title: "Too many links",
        description: "The page has more than 1,000 links. If it has more links than an audit reads, the evidence says how many were left out.",
        why_it_matters: "Visitors cannot find anything among so many links, and each link passes little value.",
        recommendation: "Split the page, or link to categories instead.",
        source: CRAWLABLE,
        ..Check::notice(Links, Test::Html(many_links))
    },
    Check {
        id: "anchor-empty",
        needs_whole: true,
        title: "Missing anchor text",
        description: "A link has no text and no image with alt text, and neither the link nor an element in it has an aria-label, an aria-labelledby or a title. Hidden links do not count.",
        why_it_matters: "Search engines and screen reader users cannot tell where the link leads.",
        recommendation: "Add anchor text, or alt text if the link is an image.",
        source: "https://dequeuniversity.com/rules/axe/latest/link-name",
        changed_in: [2, 5, 0],
        ..Check::notice(Links, Test::Html(anchor_empty))
    },
    Check {
        id: "anchor-generic",
        title: "Generic anchor text",
        description: "The anchor text of a link would fit any link, such as \"click here\" or \"read more\". Hidden links, and words in capitals that lead to a place on a page, do not count.",
        why_it_matters: "Anchor text tells visitors and search engines what the linked page is about.",
        recommendation: "Describe the linked page in the anchor text.",
        source: CRAWLABLE,
        changed_in: [2, 7, 0],
        ..Check::notice(Links, Test::Html(anchor_generic))
    },
    Check {
        id: "anchor-uncrawlable",
        title: "Uncrawlable link",
        description: "An <a> element has no href, a javascript: URL, or # with a click handler.",
        why_it_matters: "Search engines follow only links with a URL in href.",
        recommendation: "Put the URL in href. Use a <button> for anything that is not a link.",
        source: CRAWLABLE,
        ..Check::warning(Links, Test::Html(uncrawlable))
    },
    Check {
        id: "link-malformed",
        title: "Malformed link URL",
        description: "The href of a link is not a valid URL, or its scheme is misspelled.",
        why_it_matters: "The link leads nowhere.",
        recommendation: "Correct the URL.",
        source: "https://url.spec.whatwg.org/",
        ..Check::warning(Links, Test::Html(malformed))
    },
    Check {
        id: "broken-fragment",
        needs_whole: true,
        title: "Broken fragment link",
        scope: Scope::Targets,
        description: "A link to a #fragment of the same page, or of another page of the site, names an id that the page does not have.",
        why_it_matters: "The link does not jump to the intended section.",
        recommendation: "Correct the fragment, or add that id to the target page.",
        source: "https://html.spec.whatwg.org/multipage/browsing-the-web.html#scrolling-to-a-fragment",
        changed_in: [2, 0, 0],
        ..Check::notice(Links, Test::Html(fragment))
    },
    Check {
        id: "http-internal-link",
        title: "Internal link to HTTP",
        description: "An HTTPS page links to a page of the site with an http:// URL.",
        why_it_matters: "Visitors and crawlers take an extra redirect over an insecure connection.",
        recommendation: "Use an https:// URL, or a relative one.",
        source: "https://developers.google.com/search/docs/crawling-indexing/site-move-with-url-changes",
        reads: cut::LINKS,
        ..Check::warning(Links, Test::Html(insecure))
    },
    Check {
        id: "pagination-not-linked",
        needs_whole: true,
        title: "Pagination URL not linked",
        scope: Scope::Targets,
        description: "A URL in rel=\"next\" or rel=\"prev\" is not linked from the page.",
        why_it_matters: "Google no longer uses rel=\"next\" and rel=\"prev\"; without links the other pages of the series are not discovered.",
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
        // only responses that this crawl has seen
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
            // only the scheme of the link is wrong, which has its own check
            let is_upgrade = page.is_https()
                && last.is_some_and(|last| {
                    last.strip_prefix("https:") == page.key(target.id).strip_prefix("http:")
                });
            if is_upgrade {
                return None;
            }
            let evidence = with(link(page, target.link()?), "status", status);
            Some(with(evidence, "finalUrl", last))
        })
    };
    let permanent = list("links", redirects(|status| matches!(status, 301 | 308)))?;
    // temporary redirects are fine to link to, and only listed beside the permanent ones
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
    // beyond the limit of known URLs, a link has no target
    let untold = |link: &Link<'_>| {
        link.target.is_none()
            && link.flags & (LINK_CODE | LINK_FRAGMENT | LINK_MALFORMED | LINK_OTHER_SCHEME) == 0
    };
    let leads_on = |link: Link<'_>| link.target.is_some_and(internal) || untold(&link);
    // the flag spares most pages a look at their links
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
    // nobody meets a link that is hidden
    html.links
        .iter()
        .filter(|link| link.anchor.is_empty() && link.flags & LINK_CONCEALED == 0)
}

fn anchor_empty(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    list("links", empty(html).map(|found| link(page, found)))
}

fn generic(html: &HtmlFacts) -> impl Iterator<Item = Link<'_>> {
    let language = html.lang.as_deref();
    // a word in program text is a name: <code>continue</code> describes its target
    let crawled = html
        .links
        .iter()
        .filter(|link| link.flags & (LINK_OTHER_SCHEME | LINK_CODE | LINK_CONCEALED) == 0);
    crawled.filter(move |link| is_generic_anchor(link.anchor, language) && !is_name(link))
}

/// Whether a link leads from a word in capitals to a place on a page, as in the index of a manual: `CONTINUE`, `NEXT`.
fn is_name(link: &Link<'_>) -> bool {
    let is_word = |text: &str| text.chars().all(char::is_uppercase);
    link.flags & LINK_FRAGMENT != 0 && is_word(link.anchor)
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

/// Returns the links with a fragment.
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
