//! Of which objects it may be said what they lack.
//!
//! Markup of templates is told to be incomplete only where nothing else on the page could make up for it. Search engines do not
//! put together what two syntaxes say of one thing; but who has a complete object in JSON-LD and the remains of a template
//! around the text lacks nothing that search results would show, and cannot see which of the two is meant.

use std::collections::HashSet;

use super::{ARTICLES, Item, Markup, is_organization};
use crate::page::HtmlFacts;

/// Knowledge of what an object lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::checks) enum Extent {
    /// That it lacks what is not there.
    Whole,
    /// Nothing by itself: another object of the page tells of the same, or it is one of several in a list.
    Told,
    /// Nothing: more may belong to it than is known.
    Unsure,
}

/// Kind of an object, so far as two of a kind on one page are about the same.
fn kind(name: &str) -> &str {
    match name {
        name if ARTICLES.contains(&name) => "Article",
        name if is_organization(name) => "Organization",
        name if name.ends_with("Event") => "Event",
        name => name,
    }
}

/// Finds of which objects of microdata something else on the page tells as well: JSON-LD, RDFa, or what was not read. Several
/// articles are the teasers of a list, each of which says a part of what its own page does.
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
