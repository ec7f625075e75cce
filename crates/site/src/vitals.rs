//! Core Web Vitals. The crawler cannot measure them: whoever has pages loaded in a browser says so.

use crate::{graph::Index, page::UrlId};

/// Whose visits were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Those of people, over 28 days; the 75th percentile.
    Field,
    /// One by a program.
    Lab,
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Milliseconds, or thousandths of a score.
    pub value: u32,
    /// Whose visits.
    pub source: Source,
}

/// What is known of a page; `None` was not measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vitals {
    /// Largest Contentful Paint, milliseconds.
    pub lcp: Option<Figure>,
    /// Interaction to Next Paint, milliseconds.
    pub inp: Option<Figure>,
    /// Cumulative Layout Shift, thousandths.
    pub cls: Option<Figure>,
    /// When, RFC 3339.
    pub measured_at: String,
}

/// One of the vitals, and the check that judges it.
type Of = (&'static str, fn(&Vitals) -> Option<Figure>);

/// The checks about them.
pub const CHECKS: [Of; 3] = [
    ("cwv-lcp-poor", |vitals| vitals.lcp),
    ("cwv-inp-poor", |vitals| vitals.inp),
    ("cwv-cls-poor", |vitals| vitals.cls),
];

impl Index {
    /// Takes in what was measured.
    pub fn measured(&mut self, mut pages: Vec<(UrlId, Vitals)>) {
        pages.sort_unstable_by_key(|(id, _)| id.0);
        self.vitals = pages;
    }

    /// What was measured of a page.
    pub(crate) fn vitals(&self, id: UrlId) -> Option<&Vitals> {
        let place = self.vitals.binary_search_by_key(&id.0, |(id, _)| id.0).ok()?;
        Some(&self.vitals[place].1)
    }

    /// Every page that was measured.
    pub fn all_vitals(&self) -> impl Iterator<Item = (UrlId, &Vitals)> {
        self.vitals.iter().map(|(id, vitals)| (*id, vitals))
    }
}
