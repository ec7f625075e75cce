//! Looking at what will be asked of pages before it is asked. Of a large crawl that is in none of the processor's caches; column by
//! column, with nothing else in between, many pages wait for memory together, and else each waits alone, in one check after the
//! other.

use std::hint::black_box;

use super::{SiteGraph, paths};
use crate::page::UrlId;

impl SiteGraph {
    /// Looks at what checks ask of pages.
    pub(crate) fn warm(&self, pages: impl Iterator<Item = UrlId> + Clone) {
        let places = || pages.clone().map(|page| page.0 as usize);
        touch(&self.states, places());
        touch(&self.provenance, places());
        touch(&self.statuses, places());
        touch(&self.flags, places());
        touch(&self.depths, places());
        touch(&self.redirects, places());
        touch(&self.canonicals, places());
        touch(&self.languages, places());
        touch(&self.ranks, places());
        touch(&self.scores, places());
        touch(&self.key_ends, places());
        touch(self.inlinks.starts(), places());
        for page in pages.clone() {
            black_box(self.key(page));
            black_box(self.inlinks(page).next());
        }
        for page in pages {
            let linking = self.inlinks(page).take(paths::FEW);
            touch(&self.depths, linking.map(|(from, _)| from.0 as usize));
        }
    }
}

fn touch<T: Copy>(column: &[T], places: impl Iterator<Item = usize>) {
    for place in places {
        black_box(column.get(place).copied());
    }
}
