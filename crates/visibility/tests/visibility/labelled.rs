//! Precision and recall of mentions on labelled answers, per language.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::{self, Write as _},
    io::Write as _,
};

use searchwright_visibility::{
    answer_text::AnswerText,
    brands::{Brand, BrandMatcher},
    prompts::PromptClass,
    statistics::wilson,
};

/// The set by which the rules were made.
const KNOWN: Floors = Floors {
    language: Floor {
        precision: 0.95,
        recall: 0.93,
    },
    all: Floor {
        precision: 0.98,
        recall: 0.975,
    },
};
/// The set that was kept out of making the rules, with brands as a project has them that says nothing about its names.
const HELD_OUT: Floors = Floors {
    language: Floor {
        precision: 0.78,
        recall: 0.62,
    },
    all: Floor {
        precision: 0.89,
        recall: 0.905,
    },
};
/// The same, where brands whose names are ordinary words are said to be ambiguous.
const FLAGGED: Floors = Floors {
    language: Floor {
        precision: 0.92,
        recall: 0.54,
    },
    all: Floor {
        precision: 0.945,
        recall: 0.82,
    },
};
/// Brands of the held-out set whose names are ordinary words or first names in the language of their market.
const WORDS: [&str; 28] = [
    "notion",
    "monday",
    "apple",
    "linear",
    "slack",
    "basecamp",
    "sage",
    "shell",
    "target",
    "dm",
    "boulanger",
    "alan",
    "dia",
    "tim",
    "fattureincloud",
    "vivo",
    "contaazul",
    "exact",
    "ah",
    "biedronka",
    "play",
    "megafon",
    "ozon",
    "kontur",
    "yayoi",
    "line",
    "lenovo",
    "danggeun",
];

/// Figures below which a language must not fall.
#[derive(Clone, Copy)]
struct Floor {
    precision: f64,
    recall: f64,
}

/// Figures below which the languages and all of them together must not fall; a little below what was measured.
#[derive(Clone, Copy)]
struct Floors {
    language: Floor,
    all: Floor,
}

impl Floor {
    fn holds(self, score: &Score) -> bool {
        score.precision() >= self.precision && score.recall() >= self.recall
    }
}

/// An answer with the brands that it names.
struct Labelled {
    language: &'static str,
    expected: BTreeSet<&'static str>,
    prompt: &'static str,
    text: String,
}

impl Labelled {
    /// Reads a line of three fields, or of four with the prompt before the text.
    fn parse(line: &'static str, fields: usize) -> Self {
        let found: Vec<&str> = line.splitn(fields, '|').collect();
        assert_eq!(found.len(), fields, "{line}");
        Self {
            language: found[0],
            expected: found[1].split(',').filter(|id| *id != "-").collect(),
            prompt: if fields == 4 { found[2] } else { "" },
            text: found[fields - 1].replace("\\n", "\n"),
        }
    }

    /// Returns the brands that the rules find, by the steps of a stored answer.
    fn found(&self, matcher: &BrandMatcher) -> BTreeSet<String> {
        let answer = AnswerText::parse(&self.text, self.language);
        let class = matcher.classify_prompt(self.prompt, self.language);
        let echoed = (class != PromptClass::NonBranded).then_some(self.prompt);
        let mentions = matcher.match_answer(&answer, echoed).mentions();
        mentions.mentioned().map(|found| found.brand.clone()).collect()
    }
}

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

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = |rate: f64, of: usize| {
            let bounds = wilson(rate, of as f64);
            format!("{rate:.3} ({:.3} to {:.3})", bounds.low, bounds.high)
        };
        write!(
            f,
            "{} answers, {} names; precision {}; recall {}",
            self.sentences,
            self.right + self.missed,
            interval(self.precision(), self.right + self.wrong),
            interval(self.recall(), self.right + self.missed),
        )
    }
}

/// Scores by language, with the answers in which the rules were wrong.
#[derive(Default)]
struct Scores {
    by_language: BTreeMap<&'static str, Score>,
    faults: String,
}

impl Scores {
    fn add(&mut self, labelled: &Labelled, found: &BTreeSet<String>) {
        let Labelled {
            language,
            expected,
            text,
            ..
        } = labelled;
        let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
        let score = self.by_language.entry(language).or_default();
        score.sentences += 1;
        score.right += found.intersection(expected).count();
        score.wrong += found.difference(expected).count();
        score.missed += expected.difference(&found).count();
        if found != *expected {
            writeln!(self.faults, "{language}|{expected:?}|{text}: found {found:?}").unwrap();
        }
    }

    fn total(&self) -> Score {
        let mut total = Score::default();
        for score in self.by_language.values() {
            total.sentences += score.sentences;
            total.right += score.right;
            total.wrong += score.wrong;
            total.missed += score.missed;
        }
        total
    }

    fn check(&self, floors: Floors, minimum: usize) {
        let mut report = self.faults.clone();
        for (language, score) in &self.by_language {
            writeln!(report, "{language}: {score}").unwrap();
        }
        let total = self.total();
        writeln!(report, "all: {total}").unwrap();
        assert!(total.sentences >= minimum);
        let mut languages = self.by_language.values();
        assert!(languages.all(|score| floors.language.holds(score)), "{report}");
        assert!(floors.all.holds(&total), "{report}");
        std::io::stdout().write_all(report.as_bytes()).unwrap();
    }
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

#[test]
fn mentions_in_labelled_sentences() {
    let brands: Vec<Brand> = serde_json::from_str(include_str!("../data/labelled_brands.json")).unwrap();
    let matcher = BrandMatcher::new(&brands);
    let mut scores = Scores::default();
    for line in lines(include_str!("../data/labelled_sentences.txt")) {
        let labelled = Labelled::parse(line, 3);
        assert_known(&labelled, &brands);
        scores.add(&labelled, &labelled.found(&matcher));
    }
    scores.check(KNOWN, 500);
}

#[test]
fn mentions_in_held_out_answers() {
    held_out(&[]).check(HELD_OUT, 380);
}

#[test]
fn mentions_in_held_out_answers_with_flags() {
    held_out(&WORDS).check(FLAGGED, 380);
}

/// Returns the scores of the held-out set, with some brands said to be ambiguous.
fn held_out(ambiguous: &[&str]) -> Scores {
    let markets: HashMap<&str, Vec<Brand>> =
        serde_json::from_str(include_str!("../data/held_out_brands.json")).unwrap();
    let mut scores = Scores::default();
    for line in lines(include_str!("../data/held_out_sentences.txt")) {
        let labelled = Labelled::parse(line, 4);
        let mut brands = [&markets["all"][..], &markets[labelled.language]].concat();
        for brand in &mut brands {
            brand.ambiguous = ambiguous.contains(&brand.id.as_str());
        }
        assert_known(&labelled, &brands);
        scores.add(&labelled, &labelled.found(&BrandMatcher::new(&brands)));
    }
    scores
}

fn assert_known(labelled: &Labelled, brands: &[Brand]) {
    let mut expected = labelled.expected.iter();
    assert!(
        expected.all(|id| brands.iter().any(|brand| brand.id == *id)),
        "{}",
        labelled.text
    );
}
