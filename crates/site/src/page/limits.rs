//! Limits of lists of unbounded length, and whether they were reached: an entry that a check does not find in a list
//! that was cut may be among those left out.

use super::HtmlFacts;

/// Maximum number of entries of most lists.
pub(super) const LIST: usize = 50;
/// Maximum number of headings; beyond it only the first h1s are kept.
pub(super) const HEADINGS: usize = 250;
/// Maximum number of images; an index fits in a byte.
pub(super) const IMAGES: usize = 250;
/// Maximum number of scripts, styles and frames.
pub(super) const RESOURCES: usize = 250;
/// Maximum number of JSON-LD blocks.
pub(super) const BLOCKS: usize = 100;
/// Maximum number of objects of all blocks.
pub(crate) const OBJECTS: usize = 1_000;
/// Maximum number of language alternates: a page in every language and region has some hundreds, and sets of a thousand
/// exist.
pub(super) const ALTERNATES: usize = 2_000;

/// Bits of lists that were cut.
pub(crate) mod cut {
    /// Headings.
    pub const HEADINGS: u8 = 1;
    /// Images.
    pub const IMAGES: u8 = 2;
    /// Structured data.
    pub const MARKUP: u8 = 4;
    /// Language alternates.
    pub const ALTERNATES: u8 = 8;
    /// Links.
    pub const LINKS: u8 = 16;
    /// Scripts, styles, frames, forms and plugins.
    pub const RESOURCES: u8 = 32;
    /// Microdata objects that may be incomplete.
    pub const OBJECTS: u8 = 64;
}

impl HtmlFacts {
    /// Returns bits of [`cut`].
    pub(crate) fn cut_lists(&self) -> u8 {
        let beyond = |total: u32, kept: usize| total as usize > kept;
        let blocks = &self.json_ld;
        // blocks too large to keep
        let unread = || {
            blocks
                .iter()
                .any(|block| block.error.is_none() && block.source.is_empty())
        };
        let objects = || -> usize {
            let of = |source: &str| memchr::memchr_iter(b'{', source.as_bytes()).count();
            let kept = self.objects.iter().flat_map(|objects| &objects.list);
            let sources = blocks.iter().map(|block| &block.source);
            { sources.chain(kept.map(|object| &object.source)) }
                .map(|source| of(source))
                .sum()
        };
        let is_cut = self.objects.as_ref().is_some_and(|objects| objects.cut);
        let has_markup = !blocks.is_empty() || self.objects.is_some();
        let lists = [
            (cut::HEADINGS, beyond(self.headings_total, self.headings.len())),
            (cut::IMAGES, beyond(self.images_total, self.images.len())),
            (
                cut::MARKUP,
                has_markup && (is_cut || blocks.len() >= BLOCKS || unread() || objects() >= OBJECTS),
            ),
            (
                cut::OBJECTS,
                self.objects.as_ref().is_some_and(|objects| !objects.are_whole()),
            ),
            (cut::ALTERNATES, self.hreflangs.len() >= ALTERNATES),
            (
                cut::LINKS,
                beyond(self.links_total, self.links.len())
                    || beyond(self.uncrawlable_total, self.uncrawlable_links.len()),
            ),
            (
                cut::RESOURCES,
                self.resources.len() >= RESOURCES || self.forms.len() >= LIST || self.plugins.len() >= LIST,
            ),
        ];
        lists.iter().filter(|(_, is)| *is).map(|(bit, _)| bit).sum()
    }
}
