//! Decides which objects may be reported as incomplete.
//!
//! Microdata of templates is reported only if nothing else on the page makes up for it. Search engines do not merge two
//! syntaxes; but a site with a complete object in JSON-LD and the remains of a template around the text lacks nothing
//! that search results would show, and its owner cannot see which of the two is meant.

use std::collections::HashSet;

use super::{ARTICLES, Item, Markup, is_organization};
use crate::page::HtmlFacts;

/// Reliability of the absence of properties in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::checks) enum Extent {
    /// Absent properties are missing.
    Whole,
    /// Absent properties do not count: another object describes the same thing, or this is one of several in a list.
    Told,
    /// Absent properties are unknown: more may belong to the object than was read.
    Unsure,
}

/// Returns the kind of a type; two objects of one kind on a page describe the same thing.
fn kind(name: &str) -> &str {
    match name {
        name if ARTICLES.contains(&name) => "Article",
        name if is_organization(name) => "Organization",
        name if name.ends_with("Event") => "Event",
        name => name,
    }
}

/// Finds the microdata objects that are also described elsewhere on the page: in JSON-LD, in RDFa, or in a part that
/// was not read. Several articles are teasers of a list, each with only a part of the properties on its own page.
pub(super) fn settle(html: &HtmlFacts, markup: &mut Markup<'_>) {
    let all = || markup.items.iter().chain(&markup.nested);
    let types = |item: &'_ Item<'_>| {
        item.types
            .iter()
            .map(|name| kind(name).to_owned())
            .collect::<Vec<_>>()
    };
    let elsewhere = html.objects.iter().flat_map(|objects| &objects.elsewhere);
    let told: HashSet<String> = all()
        .filter(|item| !item.is_microdata)
        .flat_map(types)
        .chain(elsewhere.map(|name| kind(name).to_owned()))
        .collect();
    let is_teaser = |item: &Item<'_>| item.is_microdata && item.is_article();
    let teasers = all().filter(|item| is_teaser(item)).count() > 1;
    let unread = markup.unread;
    for item in markup.items.iter_mut().chain(&mut markup.nested) {
        let is_told =
            unread || teasers && is_teaser(item) || item.types.iter().any(|name| told.contains(kind(name)));
        if item.is_microdata && item.extent == Extent::Whole && is_told {
            item.extent = Extent::Told;
        }
    }
}
