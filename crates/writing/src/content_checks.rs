//! The content score: what can be said of a post before anybody ranks it.
//!
//! Each check has a weight and earns a share of it. Checks that do not apply, such as those about a keyword
//! where none is set, drop out, and the rest is scaled to 100. The score advises; it blocks nothing.

mod measure;
mod table;

use serde::Serialize;

use super::{document::Document, readability::Readability, sanitise::LinkPolicy, similarity::Shingles};

pub use table::{CHECKS, Check};

/// Input of the checks: a post and its surroundings.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// Title of the post.
    pub title: &'a str,
    /// Title for search results; the title where it is `None`.
    pub meta_title: Option<&'a str>,
    /// Description for search results.
    pub meta_description: Option<&'a str>,
    /// Slug.
    pub slug: &'a str,
    /// The text, of its sanitised HTML.
    pub document: &'a Document,
    /// Keyword of the post.
    pub keyword: Option<&'a str>,
    /// BCP 47.
    pub language: &'a str,
    /// Words of what ranks for the keyword (median); `None` where unknown.
    pub target_words: Option<u32>,
    /// Alternative text of the featured image, empty when it has none; `None` without such an image.
    pub featured_image_alt: Option<&'a str>,
    /// Policy that says which links are internal and which sources were checked.
    pub links: &'a LinkPolicy,
    /// Texts of the other pages of the site; `None` where none are known.
    pub others: Option<&'a [Shingles]>,
    /// Likeness to the page of the site that is most like it, as far as pages are not among `others`.
    pub closest_page: f64,
    /// Other posts and pages with the same keyword; `None` where nobody looked.
    pub keyword_uses: Option<u32>,
}

/// Outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All of the weight.
    Pass,
    /// Some of it.
    Partial,
    /// None of it.
    Fail,
    /// The check says nothing about this post.
    NotApplicable,
}

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// Stable word.
    pub id: &'static str,
    /// Points it can earn before scaling.
    pub weight: f64,
    /// Outcome.
    pub outcome: Outcome,
    /// Points it earned before scaling.
    pub points: f64,
    /// Measured value, in the unit that the check's text names; `None` if there was nothing to measure.
    pub value: Option<f64>,
    /// Advice; `None` if nothing is to be done.
    pub advice: Option<&'static str>,
}

/// Band of a score (the bands of Rank Math).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// Up to 50.
    Poor,
    /// 51 to 80.
    Ok,
    /// 81 and more.
    Good,
}

/// All checks and what they add up to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// 0 to 100.
    pub score: u8,
    /// Band of the score.
    pub band: Band,
    /// Results in the order of the table.
    pub checks: Vec<Checked>,
    /// Readability that the readability check measured.
    pub readability: Option<Readability>,
}

/// Runs every check of the table.
pub fn check(input: &Input<'_>) -> Report {
    let measured = measure::Measured::new(input);
    let checks: Vec<Checked> = CHECKS
        .iter()
        .map(|check| {
            let found = (check.run)(&measured);
            let share = found.share.unwrap_or(0.0);
            let outcome = match found.share {
                None => Outcome::NotApplicable,
                Some(share) if share >= 1.0 => Outcome::Pass,
                Some(share) if share > 0.0 => Outcome::Partial,
                Some(_) => Outcome::Fail,
            };
            let todo = matches!(outcome, Outcome::Partial | Outcome::Fail);
            Checked {
                id: check.id,
                weight: check.weight,
                outcome,
                points: check.weight * share,
                value: found.value.map(|value| (value * 100.0).round() / 100.0),
                advice: todo.then_some(check.advice),
            }
        })
        .collect();
    let score = score(&checks);
    Report {
        score,
        band: band(score),
        checks,
        readability: measured.readability,
    }
}

/// Points earned in percent of the points that could be.
fn score(checks: &[Checked]) -> u8 {
    let applicable = checks
        .iter()
        .filter(|check| check.outcome != Outcome::NotApplicable);
    let (points, weight) = applicable.fold((0.0, 0.0), |(points, weight), check| {
        (points + check.points, weight + check.weight)
    });
    if weight == 0.0 {
        return 0;
    }
    (100.0 * points / weight).round().clamp(0.0, 100.0) as u8
}

/// The band of a score.
pub fn band(score: u8) -> Band {
    match score {
        0..=50 => Band::Poor,
        51..=80 => Band::Ok,
        _ => Band::Good,
    }
}

#[cfg(test)]
#[path = "content_checks/tests.rs"]
mod tests;
