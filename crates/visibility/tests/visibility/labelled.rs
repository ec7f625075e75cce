//! Precision and recall of mentions on labelled sentences, per language.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::Write as _,
};

use searchwright_visibility::{
    answer_text::AnswerText,
    brands::{Brand, BrandMatcher},
};

/// Minimum precision and recall of every language.
const MIN_PRECISION: f64 = 0.95;
const MIN_RECALL: f64 = 0.93;

#[derive(Default)]
struct Score {
    sentences: usize,
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Score {
    fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong).max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / (self.right + self.missed).max(1) as f64
    }
}

#[test]
fn mentions_in_labelled_sentences() {
    let brands: Vec<Brand> = serde_json::from_str(include_str!("../data/labelled_brands.json")).unwrap();
    let matcher = BrandMatcher::new(&brands);
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    let mut report = String::new();
    let lines = include_str!("../data/labelled_sentences.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.splitn(3, '|').collect();
        let [language, expected, text] = fields[..] else {
            panic!("{line}")
        };
        let expected: BTreeSet<&str> = expected.split(',').filter(|id| *id != "-").collect();
        assert!(
            expected
                .iter()
                .all(|id| brands.iter().any(|brand| brand.id == *id)),
            "{line}"
        );
        let answer = AnswerText::parse(text, language);
        let mentions = matcher.match_answer(&answer, None).mentions();
        let found: BTreeSet<&str> = mentions
            .mentioned()
            .map(|mention| mention.brand.as_str())
            .collect();
        let score = scores.entry(language).or_default();
        score.sentences += 1;
        score.right += found.intersection(&expected).count();
        score.wrong += found.difference(&expected).count();
        score.missed += expected.difference(&found).count();
        if found != expected {
            writeln!(report, "{line}: found {found:?}").unwrap();
        }
    }
    for (language, score) in &scores {
        writeln!(
            report,
            "{language}: {} sentences, precision {:.3}, recall {:.3}",
            score.sentences,
            score.precision(),
            score.recall()
        )
        .unwrap();
    }
    assert!(scores.values().map(|score| score.sentences).sum::<usize>() >= 500);
    let is_good = |score: &Score| score.precision() >= MIN_PRECISION && score.recall() >= MIN_RECALL;
    assert!(scores.values().all(is_good), "{report}");
    write!(std::io::stdout(), "{report}").unwrap();
}
