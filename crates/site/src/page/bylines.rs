//! Mentions of an author in the source of a page.

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// Words that mark an author.
static AUTHORS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| ["author", "byline"].map(Finder::new));

/// Parts of the names of all article types; an escape may stand for any of them.
static ARTICLES: LazyLock<[Finder<'static>; 4]> =
    LazyLock::new(|| ["Article", "Posting", "Report", "\\u"].map(Finder::new));

/// Whether JSON-LD may describe an article, the only case in which the author matters.
pub(crate) fn names_article(source: &str) -> bool {
    ARTICLES.iter().any(|word| word.find(source.as_bytes()).is_some())
}

/// Returns the end of each mention of an author, in rel, itemprop, class or meta name. Leaves out words that scripts
/// use, such as authority and authorization.
pub(super) fn authors(source: &str) -> impl Iterator<Item = usize> {
    const OTHERS: [&[u8]; 4] = [b"ity", b"iz", b"is", b"ing"];
    let source = source.as_bytes();
    let is_other = |end: &usize| OTHERS.iter().any(|other| source[*end..].starts_with(other));
    let words = AUTHORS.iter().flat_map(move |word| {
        let found = word.find_iter(source);
        found.map(move |at| at + word.needle().len())
    });
    words.filter(move |end| !is_other(end))
}
