//! Core Web Vitals of the pages of a crawl.

use super::SiteGraph;
use crate::{page::UrlId, vitals::Vitals};

impl SiteGraph {
    /// Sets the measurements.
    pub fn set_vitals(&mut self, mut pages: Vec<(UrlId, Vitals)>) {
        pages.sort_unstable_by_key(|(id, _)| id.0);
        self.vitals = pages;
    }

    /// Returns the measurements of a page.
    pub(crate) fn vitals(&self, id: UrlId) -> Option<&Vitals> {
        let place = self.vitals.binary_search_by_key(&id.0, |(id, _)| id.0).ok()?;
        Some(&self.vitals[place].1)
    }

    /// Returns all measured pages.
    pub fn all_vitals(&self) -> impl Iterator<Item = (UrlId, &Vitals)> {
        self.vitals.iter().map(|(id, vitals)| (*id, vitals))
    }
}
