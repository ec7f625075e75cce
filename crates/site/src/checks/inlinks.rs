//! Inlinks of a page, by number and kind.

use serde_json::{Value, json};

use super::{Page, evidence::pages};
use crate::{
    graph::PageFlags,
    page::{HtmlFacts, UrlId},
    urls::provenance,
};

pub(super) fn orphan(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let index = page.index();
    let given = index.provenance(page.id());
    let known = [
        (provenance::SITEMAP, "sitemap"),
        (provenance::PREVIOUS, "previous_audit"),
        (provenance::POST, "post"),
        (provenance::GSC, "gsc"),
    ];
    let known = known.into_iter().filter(|(bit, _)| given & bit != 0);
    let mut known = known.map(|(_, name)| name).peekable();
    // a URL that only the previous audit knew may owe that to the same nofollow link
    let only_before = given & provenance::GIVEN == provenance::PREVIOUS;
    let others = || index.inlinks(page.id()).any(|(from, _)| from != page.id());
    let orphan = page.indexable
        && page.context.complete()
        && !page.is_home()
        && page.id() != UrlId(0)
        && known.peek().is_some()
        && !(only_before && others())
        && !index.may_be_linked(page.id())
        && page.context.ways_in(page.id()).next().is_none();
    orphan.then(|| json!({"provenance": known.collect::<Vec<_>>()}))
}

pub(super) fn single_inlink(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let in_doubt = page.index().may_be_linked(page.id());
    if !page.indexable || !page.context.complete() || page.is_home() || in_doubt {
        return None;
    }
    let mut from = page.context.ways_in(page.id());
    let only = from.next()?;
    from.all(|other| other == only)
        .then(|| json!({"from": page.key(only)}))
}

pub(super) fn mixed_follow(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let inlinks = page
        .index()
        .inlinks(page.id())
        // a page whose links are all nofollow makes no statement about this one
        .filter(|(from, _)| *from != page.id() && !page.index().has(*from, PageFlags::NOFOLLOW));
    // most pages have none
    if !page.index().inlinks(page.id()).any(|(_, nofollow)| nofollow) {
        return None;
    }
    let (nofollow, follow): (Vec<_>, Vec<_>) = inlinks.partition(|(_, nofollow)| *nofollow);
    if nofollow.is_empty() || follow.is_empty() {
        return None;
    }
    let sample = |from: &[(UrlId, bool)]| pages("pages", from.iter().map(|(from, _)| page.key(*from)));
    Some(json!({"follow": sample(&follow), "nofollow": sample(&nofollow)}))
}
