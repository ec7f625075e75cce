//! Whether a page names who wrote it.

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// Words by which a page names who wrote it.
static AUTHORS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| ["author", "byline"].map(Finder::new));

/// Parts that the names of all types of articles hold.
static ARTICLES: LazyLock<[Finder<'static>; 4]> =
    LazyLock::new(|| ["Article", "Posting", "Report", "\\u"].map(Finder::new));

/// Whether JSON-LD may be of an article, of which alone it matters who wrote it; an escape may stand for anything.
pub(crate) fn names_article(source: &str) -> bool {
    ARTICLES.iter().any(|word| word.find(source.as_bytes()).is_some())
}

/// Mentions of an author: rel, itemprop, class or meta name alike. Scripts speak of authority and authorization too.
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
