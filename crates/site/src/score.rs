//! The health score: one number for a site, with an open formula, monotone, and based on pages only.
//!
//! A page starts with 100; every error halves the rest, and every warning takes a twentieth of it. The score is the
//! mean of the pages, times 0.8 for every error and 0.97 for every warning of the site as a whole. Notices never count.
//! An occurrence counts until it is verified as resolved, or ignored: marking it as done changes nothing, so states are
//! not an input here.

mod impact;
#[cfg(test)]
mod tests;

use crate::{
    checks::{Category, Check, Rules, Severity},
    graph::SiteGraph,
    page::{Outcome, PageFacts, UrlId},
};
pub use impact::{Affected, impact};

/// Maximum numbers of errors and warnings that count per page.
const MAX_COUNTED: [u32; 2] = [6, 20];
/// Fraction in which scores are summed as integers, so that the order of pages does not matter.
const UNIT: f64 = 1e9;

/// Sum over pages, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Score {
    sum: u128,
    pages: u32,
    error_free: u32,
}

/// Health score and its basis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Health {
    /// Score from 0 (worst) to 100; `None` if no page could be scored.
    pub score: Option<u8>,
    /// Share of pages without an error in percent, with one decimal.
    pub error_free_pages_pct: Option<f64>,
    /// Number of pages that the score is computed from.
    pub pages_scored: u32,
}

impl Health {
    /// Returns the [`band`] of the score.
    pub fn band(&self) -> Option<&'static str> {
        self.score.map(band)
    }
}

impl Score {
    /// Adds a page with the number of different scored checks that found an error or a warning on it.
    fn add(&mut self, errors: u32, warnings: u32) {
        let power = |base: f64, n: u32, most: u32| base.powi(i32::try_from(n.min(most)).unwrap_or(0));
        let score = 100.0 * power(0.5, errors, MAX_COUNTED[0]) * power(0.95, warnings, MAX_COUNTED[1]);
        self.sum += (score * UNIT).round() as u128;
        self.pages += 1;
        self.error_free += u32::from(errors == 0);
    }

    /// Adds pages without findings.
    fn add_clean(&mut self, pages: u32) {
        self.sum += u128::from(pages) * (100.0 * UNIT) as u128;
        self.pages += pages;
        self.error_free += pages;
    }

    /// Adds the sum of other pages.
    fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.pages += other.pages;
        self.error_free += other.error_free;
    }

    /// Computes the score, with the scored errors and warnings of the site as a whole.
    fn finish(&self, [site_errors, site_warnings]: [u32; 2]) -> Health {
        if self.pages == 0 {
            return Health {
                score: None,
                error_free_pages_pct: None,
                pages_scored: 0,
            };
        }
        let pages = f64::from(self.pages);
        let site = 0.8f64.powf(site_errors.into()) * 0.97f64.powf(site_warnings.into());
        // a half is rounded up, whatever the last bit of the product is
        let score = (self.sum as f64 / UNIT / pages * site + 1e-9)
            .round()
            .clamp(0.0, 100.0);
        Health {
            score: Some(score as u8),
            error_free_pages_pct: Some((f64::from(self.error_free) / pages * 1000.0).round() / 10.0),
            pages_scored: self.pages,
        }
    }
}

/// Returns `excellent` from 91, `good` from 71, `fair` from 31, else `weak` (the bands of Ahrefs' health score).
pub const fn band(score: u8) -> &'static str {
    match score {
        91.. => "excellent",
        71..=90 => "good",
        31..=70 => "fair",
        _ => "weak",
    }
}

const CATEGORIES: usize = Category::ALL.len();

/// Numbers of scored errors and warnings, by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([[u8; 2]; CATEGORIES]);

impl Counts {
    /// Counts a check that found something, with its severity; each check is counted once.
    pub fn count(&mut self, check: &Check, severity: Severity, rules: &Rules) {
        let place = match severity {
            _ if !rules.is_scored(check, severity) => return,
            Severity::Error => 0,
            Severity::Warning => 1,
            Severity::Notice => return,
        };
        let count = &mut self.0[check.category as usize][place];
        *count = count.saturating_add(1);
    }

    fn sum(&self) -> [u32; 2] {
        self.0.iter().fold([0; 2], |[errors, warnings], [e, w]| {
            [errors + u32::from(*e), warnings + u32::from(*w)]
        })
    }
}

/// Scores over all checks, and for each category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scores {
    all: Score,
    /// Sums over the pages with findings of the category; on other pages it has 100.
    categories: [Score; CATEGORIES],
    site: Counts,
}

impl Scores {
    /// Adds a page with its findings.
    pub fn add(&mut self, found: &Counts) {
        let [errors, warnings] = found.sum();
        self.all.add(errors, warnings);
        for (score, [errors, warnings]) in self.categories.iter_mut().zip(found.0) {
            if errors + warnings > 0 {
                score.add(errors.into(), warnings.into());
            }
        }
    }

    /// Adds pages without findings.
    pub fn add_clean(&mut self, pages: u32) {
        self.all.add_clean(pages);
    }

    /// Sets the findings on the site as a whole.
    pub const fn set_site(&mut self, found: Counts) {
        self.site = found;
    }

    /// Adds the scores of other pages.
    pub fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        for (score, other) in self.categories.iter_mut().zip(&other.categories) {
            score.merge(other);
        }
    }

    /// Computes the score.
    pub fn health(&self) -> Health {
        self.all.finish(self.site.sum())
    }

    /// Computes the score of each category, in the order of the catalogue; empty if there are no pages.
    pub fn categories(&self) -> impl Iterator<Item = (Category, u8)> + '_ {
        let scores = self.categories.iter().zip(self.site.0);
        let scores = scores.map(|(score, site)| {
            let mut score = *score;
            score.add_clean(self.all.pages - score.pages);
            score.finish(site.map(u32::from)).score
        });
        let scores = Category::ALL.into_iter().zip(scores);
        scores.filter_map(|(category, score)| Some((category, score?)))
    }
}

/// Extensions of files that are no pages: a 404 under such a name is no missing page.
const FILES: [&str; 27] = [
    "jpg", "jpeg", "png", "gif", "webp", "avif", "svg", "ico", "bmp", "css", "js", "mjs", "json", "xml",
    "txt", "pdf", "zip", "gz", "mp3", "mp4", "webm", "ogg", "woff", "woff2", "ttf", "otf", "csv",
];

/// Whether a finding on a page counts; `was_silent` means that the page had no response in the previous audit either.
pub fn is_counted(check: &Check, was_silent: bool) -> bool {
    !check.counts_if_repeated || was_silent
}

/// Whether a URL of the site counts as a page of its own. One that is missing does not: its fault is that of the pages that link to
/// it and counts there, and one without links was taken away and is no page any more. The start page is one in any case.
pub fn counts_apart(index: &SiteGraph, id: UrlId) -> bool {
    let is_missing = index.status(id).is_some_and(crate::checks::is_missing);
    let is_linked = index.inlinks(id).any(|(from, _)| from != id);
    !is_missing || (index.depth(id) == Some(0) && !is_linked)
}

/// Whether a URL of the site is a scored page: HTML, or an error in place of a page, including no response in this
/// audit and the previous one (`was_silent`). Redirects, URLs that robots.txt forbids, and a single missing response
/// say nothing about quality.
pub fn is_scored(page: &PageFacts, was_silent: bool) -> bool {
    match page.outcome {
        // statuses that ask to retry later say nothing either
        Outcome::Status(408 | 425 | 429) => false,
        Outcome::Status(_) if page.html.is_some() => true,
        Outcome::Status(400..) => !is_file(&page.url),
        Outcome::Failed(_) => was_silent && !is_file(&page.url),
        Outcome::Status(_) | Outcome::Redirect { .. } | Outcome::Blocked(_) => false,
    }
}

fn is_file(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    end.is_some_and(|end| FILES.contains(&end.as_str()))
}
