//! Checks that look at one answer only, and at nothing else, are asked while a crawl goes on. The evaluation of the whole crawl
//! learns which of them found something, and asks the others.

use std::panic::{AssertUnwindSafe, catch_unwind};

use searchwright_text as text;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, Check, RULESET_VERSION, Rules, TOGETHER, Test, registry};
use crate::page::{PageFacts, UrlId, not_indexable};

/// Findings on a page while the crawl went on, for the evaluation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Early {
    /// Places in the registry of checks that look at the answer only and found something.
    found: Vec<u16>,
    /// Notes of other checks, which are no findings yet: their places, and JSON.
    noted: Vec<(u16, Box<str>)>,
    /// Places of others that the answer lets find something.
    suspects: Vec<u16>,
    /// As in [`Noticed`].
    pub(super) indexable: bool,
}

/// A finding on a page while the crawl went on.
#[derive(Clone, Debug)]
pub struct Noticed {
    /// The check.
    pub check: &'static Check,
    /// Where.
    pub page: UrlId,
    /// The page was taken for one that may be in the index. If robots.txt keeps it out, this is of another page, and nothing.
    pub indexable: bool,
    /// Evidence, JSON text.
    pub evidence: String,
}

impl Early {
    /// Checks that found something, in the order of the registry.
    pub fn checks(&self) -> impl Iterator<Item = &'static Check> {
        let found = self.found.iter();
        found.filter_map(|place| registry().get(usize::from(*place)))
    }

    /// Note of a check, JSON text.
    pub(super) fn noted(&self, check: &Check) -> Option<&str> {
        let noted = self.noted.iter().find(|(place, _)| *place == check.place);
        Some(&noted?.1)
    }

    /// Whether a check is still to be asked.
    pub(super) fn leaves(&self, check: &Check) -> bool {
        match check.test {
            Test::Answer(_) => false,
            Test::Screened(..) => self.suspects.contains(&check.place),
            Test::Noted(..) => self.noted.iter().any(|(place, _)| *place == check.place),
            Test::Html(_) | Test::Url(_) | Test::Site(_) => true,
        }
    }

    fn ask(&mut self, check: &'static Check, answer: &Answer<'_>, noticed: &mut Vec<Noticed>) {
        let Some(html) = answer.facts.html_200() else {
            return;
        };
        let text = |evidence: Option<Value>| serde_json::to_string(&evidence?).ok();
        match check.test {
            Test::Answer(_) | Test::Noted(..) if check.needs_whole && answer.facts.cut.is_some() => {}
            Test::Answer(test) => {
                let Some(evidence) = text(test(answer, html)) else {
                    return;
                };
                self.found.push(check.place);
                noticed.push(Noticed {
                    check,
                    page: answer.id(),
                    indexable: self.indexable,
                    evidence,
                });
            }
            Test::Noted(note, _) => {
                let noted = text(note(answer, html));
                self.noted.extend(noted.map(|noted| (check.place, noted.into())));
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

    /// Finds problems on each page; nothing is known of one where a check stumbled.
    pub fn evaluate<'p>(
        &self,
        pages: impl Iterator<Item = &'p PageFacts>,
    ) -> (Vec<Option<Early>>, Vec<Noticed>) {
        let answer = |facts: &'p PageFacts| {
            let indexable = not_indexable(facts).is_none();
            Answer::new(facts, &self.rules.thresholds, self.now_ms, indexable)
        };
        let pages: Vec<&PageFacts> = pages.collect();
        let (mut all, mut noticed) = (Vec::with_capacity(pages.len()), Vec::new());
        // what is made of the markup of pages takes more room than they do, and goes with them
        for pages in pages.chunks(TOGETHER) {
            let answers: Vec<Answer<'_>> = pages.iter().copied().map(answer).collect();
            match catch_unwind(AssertUnwindSafe(|| self.ask(&answers))) {
                Ok((early, found)) => {
                    all.extend(early.into_iter().map(Some));
                    noticed.extend(found);
                }
                Err(_) => all.extend(answers.iter().map(|_| None)),
            }
        }
        (all, noticed)
    }

    fn ask(&self, answers: &[Answer<'_>]) -> (Vec<Early>, Vec<Noticed>) {
        let early = |answer: &Answer<'_>| Early {
            indexable: answer.indexable,
            ..Early::default()
        };
        let mut all: Vec<Early> = answers.iter().map(early).collect();
        let mut noticed = Vec::new();
        for check in &self.checks {
            for (answer, early) in answers.iter().zip(&mut all) {
                early.ask(check, answer, &mut noticed);
            }
        }
        (all, noticed)
    }
}

/// Rises when [`Early`] says something in another way.
const FORM: &str = "4";

fn fingerprint(rules: &Rules) -> u64 {
    let all: Vec<&str> = registry().iter().map(|check| check.id).collect();
    let asked: Vec<&str> = rules.checks.iter().map(|check| check.id).collect();
    let versions = [env!("CARGO_PKG_VERSION"), RULESET_VERSION, FORM];
    let what = format!("{versions:?} {all:?} {asked:?} {:?}", rules.thresholds);
    text::hash(what.as_bytes())
}
