//! What checks that look at one answer only, and at nothing else, find while a crawl goes on: not what, but whether. The
//! evaluation of the whole crawl then asks only those that will find something.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

use super::{Answer, Check, RULESET_VERSION, Rules, TOGETHER, Test, registry};
use crate::{
    page::{PageFacts, not_indexable},
    text,
};

/// Checks there can be.
const MOST: usize = 256;

/// Checks that may find something on a page, among those that can be asked early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspects([u64; MOST / 64]);

impl Suspects {
    /// Whether a check is worth asking.
    pub(super) fn may_find(&self, check: &Check) -> bool {
        !check.is_screened() || self.0[check.place / 64] >> (check.place % 64) & 1 == 1
    }

    fn add(&mut self, check: &Check) {
        self.0[check.place / 64] |= 1 << (check.place % 64);
    }
}

impl Check {
    /// It can be asked while the crawl goes on, be it only whether the answer lets it find something.
    const fn is_screened(&self) -> bool {
        matches!(self.test, Test::Answer(_) | Test::Screened(..))
    }

    fn may_find(&self, answer: &Answer<'_>) -> bool {
        let Some(html) = answer.facts.html_200() else {
            return false;
        };
        match self.test {
            Test::Answer(test) => test(answer, html).is_some(),
            Test::Screened(screen, _) => screen(answer, html),
            Test::Html(_) | Test::Url(_) | Test::Site(_) => true,
        }
    }
}

/// Asks pages while the crawl goes on.
#[derive(Debug)]
pub struct Screening {
    rules: Rules,
    now_ms: i64,
    fingerprint: u64,
}

impl Screening {
    /// By the rules of an audit, at its time in milliseconds since the Unix epoch.
    pub fn new(rules: Rules, now_ms: i64) -> Self {
        let fingerprint = fingerprint(&rules);
        Self {
            rules,
            now_ms,
            fingerprint,
        }
    }

    /// The same only where suspects mean the same: the same checks, with the same numbers.
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The checks worth asking again about each page, when all pages are known.
    pub fn of<'p>(&self, pages: impl Iterator<Item = &'p PageFacts>) -> Vec<Suspects> {
        let answer = |facts: &'p PageFacts| {
            let indexable = not_indexable(facts).is_none();
            Answer::new(facts, &self.rules.thresholds, self.now_ms, indexable)
        };
        let answers: Vec<Answer<'_>> = pages.map(answer).collect();
        let mut all = Vec::with_capacity(answers.len());
        for answers in answers.chunks(TOGETHER) {
            let asked = catch_unwind(AssertUnwindSafe(|| self.ask(answers)));
            // which of them stumbles is seen when they are asked again
            all.extend(
                asked
                    .unwrap_or([Suspects([u64::MAX; MOST / 64]); TOGETHER])
                    .into_iter()
                    .take(answers.len()),
            );
        }
        all
    }

    fn ask(&self, answers: &[Answer<'_>]) -> [Suspects; TOGETHER] {
        let mut all = [Suspects::default(); TOGETHER];
        for check in self.rules.checks.iter().filter(|check| check.is_screened()) {
            for (answer, suspects) in answers.iter().zip(&mut all) {
                if check.may_find(answer) {
                    suspects.add(check);
                }
            }
        }
        all
    }
}

fn fingerprint(rules: &Rules) -> u64 {
    let all: Vec<&str> = registry().iter().map(|check| check.id).collect();
    let asked: Vec<&str> = rules.checks.iter().map(|check| check.id).collect();
    let versions = [env!("CARGO_PKG_VERSION"), RULESET_VERSION];
    let what = format!("{versions:?} {all:?} {asked:?} {:?}", rules.thresholds);
    text::hash(what.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{MOST, registry};

    #[test]
    fn there_is_room() {
        assert!(registry().len() <= MOST);
    }
}
