//! Pages with similar texts or topics.

use searchwright_text as text;
use serde_json::{Value, json};

use super::{
    Category::{Content, International},
    Check, Page, Scope, Test,
    evidence::{pages, with},
    url_parts::path_and_query,
};
use crate::{graph::Group, page::HtmlFacts, page::UrlId};

/// Maximum number of pages of a group that are examined for one page.
const LOOKED_AT: usize = 200;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "duplicate-near",
        needs_whole: true,
        title: "Near-duplicate content",
        scope: Scope::Graph,
        description: "The main texts of two or more indexable pages, of at least 50 words each, share at least 90 % of their five-word sequences (Jaccard similarity). The similarity is an estimate; the evidence gives its standard error.",
        why_it_matters: "Search engines show only one of the pages, and choose it themselves.",
        recommendation: "Make the content of the pages different, or merge them and redirect.",
        source: "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls",
        changed_in: [2, 4, 0],
        ..Check::warning(Content, Test::Html(near))
    },
    Check {
        id: "readability-very-hard",
        title: "Readability very difficult",
        description: "The Flesch reading ease of a text of 300 words or more is below 30, by the formula for its language.",
        why_it_matters: "Only readers with an academic background can follow the text without effort.",
        recommendation: "Write shorter sentences and use shorter words.",
        source: "https://doi.org/10.1037/h0057532",
        changed_in: [2, 0, 0],
        ..Check::notice(Content, Test::Html(hard))
    },
    Check {
        id: "cannibalisation",
        title: "Keyword cannibalization",
        scope: Scope::Graph,
        description: "Indexable pages were published for the same keyword, or pages in the same language and of the same kind (article, product or other) share at least 80 % of the words in their title tag and H1, and all numbers. The name of the site and other words that most of its pages have do not count, unless there are no others. Pages with the same title tag are reported as duplicate title tags only.",
        why_it_matters: "The pages compete for the same searches, and links and clicks are split between them.",
        recommendation: "Merge the pages, or give each its own topic and reflect it in the title tag.",
        source: "https://developers.google.com/search/docs/appearance/title-link",
        changed_in: [2, 6, 0],
        ..Check::warning(Content, Test::Html(cannibalisation))
    },
    Check {
        id: "language-detected-mismatch",
        title: "Content language differs from lang",
        description: "The language detected in the main text (of at least 50 words, with at least 90 % confidence) is not the one in the page's lang attribute.",
        why_it_matters: "Browsers offer the wrong translation, and screen readers use the wrong pronunciation.",
        recommendation: "Set lang on the <html> element to the language of the text.",
        source: "https://www.w3.org/International/questions/qa-html-language-declarations",
        changed_in: [2, 5, 0],
        ..Check::notice(International, Test::Html(language))
    },
];

/// Returns the other pages of a group to compare with a page.
fn others(page: &Page<'_>, group: &Group<'_>, fits: impl Fn(UrlId) -> bool) -> impl Iterator<Item = UrlId> {
    let (index, id) = (page.index(), page.id());
    group
        .members()
        .take(LOOKED_AT)
        .filter(move |other| *other != id && !index.is_copy(id, *other) && fits(*other))
}

fn near(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let group = page.index().near(page.id()).filter(|_| page.indexable)?;
    let like = others(page, &group, |_| true).map(|id| page.key(id));
    let evidence = with(
        pages("urls", like)?,
        "similarity",
        f64::from(group.percent) / 100.0,
    );
    let evidence = with(evidence, "similarityIs", "estimated");
    let evidence = with(
        evidence,
        "standardError",
        standard_error(html.main_words, group.percent),
    );
    let name = text::hash(page.key(group.first).as_bytes());
    Some(with(evidence, "groupId", format!("{name:016x}")))
}

/// Returns the standard error of a similarity estimated from 128 bins, of which a short text fills only some.
fn standard_error(words: u32, percent: u8) -> f64 {
    let (bins, share) = (128.0, (f64::from(percent) / 100.0).min(0.99));
    let filled = bins * (1.0 - (-f64::from(words) / bins).exp());
    ((share * (1.0 - share) / filled.max(1.0)).sqrt() * 1000.0).round() / 1000.0
}

fn cannibalisation(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    if let Some((keyword, rivals)) = page.index().rivals(page.id()).filter(|_| page.indexable) {
        let evidence = pages("urls", rivals.into_iter().map(|id| page.key(id)))?;
        return Some(with(evidence, "keyword", keyword));
    }
    let group = page.index().topic(page.id()).filter(|_| page.indexable)?;
    let path = |id: UrlId| path_and_query(page.key(id)).split('?').next().unwrap_or_default();
    let own = path(page.id());
    // the pages of one paginated list have one title; other pages of one title are told of as such
    let is_rival = |other| path(other) != own && !page.index().is_namesake(page.id(), other);
    let rivals = others(page, &group, is_rival).map(|id| page.key(id));
    Some(with(
        pages("urls", rivals)?,
        "similarity",
        f64::from(group.percent) / 100.0,
    ))
}

fn hard(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let limits = page.thresholds();
    let found = html.hard.filter(|found| {
        html.main_words >= limits.readability_words && found.score < f64::from(limits.readability_min)
    })?;
    Some(json!({"score": found.score, "formula": found.formula, "threshold": limits.readability_min}))
}

fn language(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let limits = page.thresholds();
    let is_enough = html.main_words >= limits.language_words;
    let found = html.language.as_ref().filter(|_| is_enough)?;
    if u32::from(found.confidence) < limits.language_percent {
        return None;
    }
    Some(json!({
        "declared": html.lang,
        "detected": found.language,
        "confidence": f64::from(found.confidence) / 100.0,
    }))
}

#[cfg(test)]
mod tests {
    use super::standard_error;

    #[test]
    fn a_long_text_is_estimated_more_exactly() {
        assert_eq!(
            (standard_error(2_000, 90), standard_error(50, 90)),
            (0.027, 0.047)
        );
        assert!(standard_error(0, 100) > 0.0);
    }
}
