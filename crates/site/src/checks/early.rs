//! Checks that look at one answer only, and at nothing else, are asked while a crawl goes on. The evaluation of the whole crawl
//! takes what they found from there, and asks the others.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, Check, RULESET_VERSION, Rules, TOGETHER, Test, registry};
use crate::{
    page::{PageFacts, not_indexable},
    text,
};

/// What was found on a page while the crawl went on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Early {
    /// By checks that look at the answer only: their places in the registry, and what was seen, as JSON. What others noted,
    /// which is no finding yet.
    found: Vec<(u16, Box<str>)>,
    /// Places of others that the answer lets find something.
    suspects: Vec<u16>,
    /// The page was taken for one that may be in the index. If robots.txt keeps it out, all of this is of another page.
    pub(super) indexable: bool,
}

impl Early {
    /// What was found, in the order of the registry, with evidence as JSON.
    pub fn into_findings(self) -> impl Iterator<Item = (&'static Check, String)> {
        let all = self.found.into_iter();
        let all =
            all.filter_map(|(place, seen)| Some((registry().get(usize::from(place))?, seen.into_string())));
        all.filter(|(check, _)| matches!(check.test, Test::Answer(_)))
    }

    /// What a check noted of the answer.
    pub(super) fn noted(&self, check: &Check) -> Option<Value> {
        let noted = self.found.iter().find(|(place, _)| *place == check.place);
        serde_json::from_str(&noted?.1).ok()
    }

    /// Whether a check is still to be asked.
    pub(super) fn leaves(&self, check: &Check) -> bool {
        match check.test {
            Test::Answer(_) => false,
            Test::Screened(..) => self.suspects.contains(&check.place),
            Test::Noted(..) => self.found.iter().any(|(place, _)| *place == check.place),
            Test::Html(_) | Test::Url(_) | Test::Site(_) => true,
        }
    }

    fn ask(&mut self, check: &Check, answer: &Answer<'_>) {
        let Some(html) = answer.facts.html_200() else {
            return;
        };
        match check.test {
            Test::Answer(_) | Test::Noted(..) if check.needs_whole && answer.facts.cut.is_some() => {}
            Test::Answer(test) | Test::Noted(test, _) => {
                let evidence = test(answer, html).and_then(|evidence| serde_json::to_string(&evidence).ok());
                self.found
                    .extend(evidence.map(|evidence| (check.place, evidence.into())));
            }
            Test::Screened(screen, _) if screen(answer, html) => self.suspects.push(check.place),
            _ => {}
        }
    }
}

/// Asks pages while the crawl goes on.
#[derive(Debug)]
pub struct Asking {
    rules: Rules,
    checks: Vec<&'static Check>,
    now_ms: i64,
    fingerprint: u64,
}

impl Asking {
    /// By the rules of an audit, at its time in milliseconds since the Unix epoch.
    pub fn new(rules: Rules, now_ms: i64) -> Self {
        let early = |check: &&&'static Check| {
            matches!(check.test, Test::Answer(_) | Test::Screened(..) | Test::Noted(..))
        };
        Self {
            fingerprint: fingerprint(&rules),
            checks: rules.checks.iter().filter(early).copied().collect(),
            rules,
            now_ms,
        }
    }

    /// The same only where findings mean the same: the same checks, with the same numbers.
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// What is found on each page; nothing is known of one where a check stumbled.
    pub fn of<'p>(&self, pages: impl Iterator<Item = &'p PageFacts>) -> Vec<Option<Early>> {
        let answer = |facts: &'p PageFacts| {
            let indexable = not_indexable(facts).is_none();
            Answer::new(facts, &self.rules.thresholds, self.now_ms, indexable)
        };
        let pages: Vec<&PageFacts> = pages.collect();
        let mut all = Vec::with_capacity(pages.len());
        // what is made of the markup of pages takes more room than they do, and goes with them
        for pages in pages.chunks(TOGETHER) {
            let answers: Vec<Answer<'_>> = pages.iter().copied().map(answer).collect();
            match catch_unwind(AssertUnwindSafe(|| self.ask(&answers))) {
                Ok(early) => all.extend(early.into_iter().map(Some)),
                Err(_) => all.extend(answers.iter().map(|_| None)),
            }
        }
        all
    }

    fn ask(&self, answers: &[Answer<'_>]) -> Vec<Early> {
        let early = |answer: &Answer<'_>| Early {
            indexable: answer.indexable,
            ..Early::default()
        };
        let mut all: Vec<Early> = answers.iter().map(early).collect();
        for check in &self.checks {
            for (answer, early) in answers.iter().zip(&mut all) {
                early.ask(check, answer);
            }
        }
        all
    }
}

/// Rises when [`Early`] says something in another way.
const FORM: &str = "2";

fn fingerprint(rules: &Rules) -> u64 {
    let all: Vec<&str> = registry().iter().map(|check| check.id).collect();
    let asked: Vec<&str> = rules.checks.iter().map(|check| check.id).collect();
    let versions = [env!("CARGO_PKG_VERSION"), RULESET_VERSION, FORM];
    let what = format!("{versions:?} {all:?} {asked:?} {:?}", rules.thresholds);
    text::hash(what.as_bytes())
}
