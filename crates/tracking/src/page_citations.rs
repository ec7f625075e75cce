//! Own pages that answers cite less than before.

use std::collections::HashMap;

use searchwright_contract::Instant;
use searchwright_failure::Result;
use searchwright_store::{Tx, access::ProjectScope, answer_cells, projects};
use searchwright_visibility::{
    cells::{CellKey, blocks_of},
    citations::page_key,
    sources::SourceClass,
    statistics::{Proportion, newcombe},
};

use crate::{days::ProjectDays, stored_cells};

/// Days of each of the two periods that are compared.
const DAYS: i32 = 28;

/// Citations of a page in the last 28 days and in the 28 days before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCitations {
    /// In the last 28 days.
    pub now: u64,
    /// In the 28 days before.
    pub before: u64,
}

/// Citations of own pages by their identity, and the answers whose citations can be seen.
#[derive(Clone, Debug, Default)]
pub struct OwnCitations {
    pages: HashMap<String, PageCitations>,
    answers: PageCitations,
}

impl OwnCitations {
    /// Counts the citations of own pages.
    pub async fn load(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<Self> {
        let project = projects::get(tx, scope).await?;
        let today = ProjectDays::new(&project.timezone)?.day(now);
        let days = today - 2 * DAYS + 1..=today;
        let mut counted = Self::default();
        for stored in answer_cells::list(tx, scope, blocks_of(&days)).await? {
            let cells = stored_cells::bytes(&stored)
                .cells()
                .map_err(stored_cells::damaged)?;
            for (CellKey { day, .. }, cell) in cells.iter().filter(|(key, _)| days.contains(&key.day)) {
                let add = |to: &mut PageCitations, count: u64| {
                    if *day > today - DAYS {
                        to.now += count;
                    } else {
                        to.before += count;
                    }
                };
                add(&mut counted.answers, cell.tally.citation_observable);
                let own = cell
                    .domains
                    .values()
                    .filter(|cell| cell.class == SourceClass::Owned);
                for (page, count) in own.flat_map(|cell| &cell.urls) {
                    add(counted.pages.entry(page.clone()).or_default(), *count);
                }
            }
        }
        Ok(counted)
    }

    /// Returns the citations of a page if the share of answers that cite it fell by more than chance explains (Newcombe, 95 %).
    pub fn fall(&self, url: &str) -> Option<PageCitations> {
        let cited = *self.pages.get(&page_key(url)?)?;
        let share = |cited: u64, answers: u64| Proportion {
            value: (cited as f64 / answers as f64).min(1.0),
            n_eff: answers as f64,
        };
        if self.answers.now == 0 || self.answers.before == 0 {
            return None;
        }
        let difference = newcombe(
            share(cited.before, self.answers.before),
            share(cited.now, self.answers.now),
        );
        (difference.high < 0.0).then_some(cited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fall(now: u64, before: u64, answers: PageCitations) -> bool {
        let url = "https://example.com/guide";
        let pages = HashMap::from([(page_key(url).unwrap(), PageCitations { now, before })]);
        OwnCitations { pages, answers }.fall(url).is_some()
    }

    #[test]
    fn only_what_chance_does_not_explain_is_a_fall() {
        let answers = PageCitations {
            now: 100,
            before: 100,
        };
        assert!(fall(5, 30, answers));
        assert!(!fall(27, 30, answers), "within noise");
        assert!(!fall(30, 5, answers), "a rise");
        // fewer answers were asked for, the share is the same
        assert!(!fall(3, 30, PageCitations { now: 10, before: 100 }));
        assert!(
            !fall(0, 30, PageCitations { now: 0, before: 100 }),
            "no answer in the period"
        );
    }
}
