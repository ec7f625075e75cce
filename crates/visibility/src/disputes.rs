//! Decisions of people about mentions. They take precedence over the automatic result.

use serde::{Deserialize, Serialize};

use crate::cells::{BrandFact, Facts};

/// Decision of a person about a brand in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrandOverride {
    /// Id of the brand.
    pub brand: String,
    /// Whether it is the brand of the project.
    pub is_own: bool,
    /// Whether the answer mentions it.
    pub mentioned: bool,
}

impl Facts {
    /// Applies decisions of people. A brand that is taken away moves the ones behind it up; a brand that is added has neither
    /// position nor sentiment, because nobody measured them.
    pub fn apply(&mut self, overrides: &[BrandOverride]) {
        let Some(brands) = &mut self.brands else { return };
        for decided in overrides {
            let found = brands.iter().position(|fact| fact.brand == decided.brand);
            match (found, decided.mentioned) {
                (Some(at), false) => remove(brands, at),
                (None, true) => brands.push(BrandFact {
                    brand: decided.brand.clone(),
                    is_own: decided.is_own,
                    position: None,
                    sentiment_milli: None,
                }),
                (Some(_), true) | (None, false) => {}
            }
        }
    }
}

fn remove(brands: &mut Vec<BrandFact>, at: usize) {
    let Some(gone) = brands.remove(at).position else {
        return;
    };
    for fact in brands {
        fact.position = fact
            .position
            .map(|position| position - u32::from(position > gone));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{AnswerStatus, Cell};

    fn facts(brands: &[&str]) -> Facts {
        let brand = |(at, id): (usize, &&str)| BrandFact {
            brand: (*id).to_owned(),
            is_own: *id == "own",
            position: Some(at as u32 + 1),
            sentiment_milli: Some(70_000),
        };
        Facts {
            status: AnswerStatus::Ok,
            probe: false,
            may_lack_overview: false,
            brands: Some(brands.iter().enumerate().map(brand).collect()),
            sources: None,
        }
    }

    fn decided(brand: &str, mentioned: bool) -> BrandOverride {
        BrandOverride {
            brand: brand.to_owned(),
            is_own: brand == "own",
            mentioned,
        }
    }

    #[test]
    fn a_wrong_mention_moves_the_others_up() {
        let mut found = facts(&["a", "own", "b"]);
        found.apply(&[decided("a", false), decided("b", true), decided("c", false)]);
        let mut expected = facts(&["own", "b"]);
        assert_eq!(found, expected);
        found.apply(&[decided("own", false)]);
        expected = facts(&["b"]);
        assert_eq!(found, expected);
    }

    #[test]
    fn a_missed_mention_counts_without_a_position() {
        let mut found = facts(&["a"]);
        found.apply(&[decided("own", true)]);
        let mut cell = Cell::default();
        cell.add(&found);
        let tally = cell.tally;
        assert_eq!((tally.mentioned, tally.positions, tally.position_sum), (1, 0, 0));
        assert_eq!((tally.top, tally.sentiments, tally.tracked_mentions), (0, 0, 2));
        assert_eq!(cell.brands["a"].position_sum, 1);
    }

    #[test]
    fn an_answer_that_was_not_evaluated_stays_so() {
        let mut found = facts(&[]);
        found.brands = None;
        found.apply(&[decided("own", true)]);
        assert_eq!(found.brands, None);
    }
}
