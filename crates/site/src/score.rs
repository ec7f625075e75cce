//! The health score: one number for a site, open, monotone, and about pages only.
//!
//! A page begins with 100; every error halves what is left, every warning takes a twentieth of it. The
//! score is the mean of the pages, times 0.8 for every error and 0.97 for every warning of the site as a
//! whole. Notices never count. An occurrence counts until it is verified as resolved, or ignored: that
//! somebody says it is done changes nothing, so states do not enter here.

#[cfg(test)]
mod tests;

use crate::{
    checks::{Category, Check, Rules, Severity},
    page::{Outcome, PageFacts},
};

/// Errors and warnings of a page beyond these change nothing.
const MAX_COUNTED: [u32; 2] = [6, 20];
/// Scores are summed as integers of this fraction, so that the order of pages does not matter.
const UNIT: f64 = 1e9;

/// Adds pages up, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Score {
    sum: u128,
    pages: u32,
    error_free: u32,
}

/// Sums over pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Health {
    /// 0 (worst) to 100; `None` when no page could be scored.
    pub score: Option<u8>,
    /// Share of pages without an error, percent, one decimal.
    pub error_free_pages_pct: Option<f64>,
    /// Pages the score is computed from.
    pub pages_scored: u32,
}

impl Health {
    /// See [`band`].
    pub fn band(&self) -> Option<&'static str> {
        self.score.map(band)
    }
}

impl Score {
    /// One page with its distinct scored checks that found something.
    fn add(&mut self, errors: u32, warnings: u32) {
        let power = |base: f64, n: u32, most: u32| base.powi(i32::try_from(n.min(most)).unwrap_or(0));
        let score = 100.0 * power(0.5, errors, MAX_COUNTED[0]) * power(0.95, warnings, MAX_COUNTED[1]);
        self.sum += (score * UNIT).round() as u128;
        self.pages += 1;
        self.error_free += u32::from(errors == 0);
    }

    /// Pages on which nothing was found.
    fn add_clean(&mut self, pages: u32) {
        self.sum += u128::from(pages) * (100.0 * UNIT) as u128;
        self.pages += pages;
        self.error_free += pages;
    }

    /// Pages that were added up elsewhere.
    fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.pages += other.pages;
        self.error_free += other.error_free;
    }

    /// The score, with the scored errors and warnings of the site as a whole.
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
        // a half is rounded up, whatever the product's last bit says
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

/// `excellent` from 91, `good` from 71, `fair` from 31, else `weak` (the bands of Ahrefs' health score).
pub const fn band(score: u8) -> &'static str {
    match score {
        91.. => "excellent",
        71..=90 => "good",
        31..=70 => "fair",
        _ => "weak",
    }
}

const CATEGORIES: usize = Category::ALL.len();

/// Errors and warnings that count, by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([[u8; 2]; CATEGORIES]);

impl Counts {
    /// A check that found something, and how bad it is; each is counted once.
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

/// The formula over everything, and over one category at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scores {
    all: Score,
    /// Of pages where something of the category counts; it has 100 on the others.
    categories: [Score; CATEGORIES],
    site: Counts,
}

impl Scores {
    /// One page with what was found on it.
    pub fn add(&mut self, found: &Counts) {
        let [errors, warnings] = found.sum();
        self.all.add(errors, warnings);
        for (score, [errors, warnings]) in self.categories.iter_mut().zip(found.0) {
            if errors + warnings > 0 {
                score.add(errors.into(), warnings.into());
            }
        }
    }

    /// Pages on which nothing was found.
    pub fn add_clean(&mut self, pages: u32) {
        self.all.add_clean(pages);
    }

    /// Findings on the site as a whole.
    pub const fn set_site(&mut self, found: Counts) {
        self.site = found;
    }

    /// Pages that were added up elsewhere.
    pub fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        for (score, other) in self.categories.iter_mut().zip(&other.categories) {
            score.merge(other);
        }
    }

    /// The score.
    pub fn health(&self) -> Health {
        self.all.finish(self.site.sum())
    }

    /// The score of each category, in the order of the catalogue; nothing without pages.
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

/// Files that are no pages, by the end of their names: what answers 404 under such a name was none.
const FILES: [&str; 27] = [
    "jpg", "jpeg", "png", "gif", "webp", "avif", "svg", "ico", "bmp", "css", "js", "mjs", "json", "xml",
    "txt", "pdf", "zip", "gz", "mp3", "mp4", "webm", "ogg", "woff", "woff2", "ttf", "otf", "csv",
];

/// Whether what a check found on a page counts; `was_silent` says that the page gave no answer in the audit before either.
pub fn is_counted(check: &Check, was_silent: bool) -> bool {
    !check.counts_if_repeated || was_silent
}

/// Whether a URL of the site is one of the pages that are scored: HTML that answered, or an error where a page
/// should have been, be it no answer in this audit and the one before (`was_silent`). Redirects, what robots.txt forbids
/// and what gave no answer once say nothing about quality.
pub fn is_scored(page: &PageFacts, was_silent: bool) -> bool {
    match page.outcome {
        // to be asked later says nothing either
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
