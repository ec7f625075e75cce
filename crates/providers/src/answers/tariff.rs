//! Prices of answers: tokens and searches.

use crate::{
    account::Account,
    error::Usage,
    language::prices::{Price, search_price},
};

/// Tokens of search results that a search adds to the input, from few short ones to many long ones.
const TOKENS_PER_SEARCH: Range = Range {
    low: 500,
    high: 10_000,
};
/// Tokens of an answer: a sentence, and more than engines write unless they are told to.
const ANSWER_TOKENS: Range = Range { low: 50, high: 6_000 };
/// Tokens that a vendor's own instructions and tools add to the input.
const MAX_OVERHEAD_TOKENS: u64 = 5_000;

/// Range of a cost in millionths of a US dollar. `None` is unknown, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Least that is to be expected: a short answer and few searches, and nothing for searches whose price is unknown.
    pub low_micros: Option<u64>,
    /// Most that is to be expected; a model that thinks for long can exceed it.
    pub high_micros: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    low: u64,
    high: u64,
}

/// Number of searches for an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SearchCount {
    /// Fewest.
    pub min: u32,
    /// Most.
    pub max: u32,
}

/// Prices that hold for an account.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tariff {
    tokens: Option<Price>,
    /// Millionths of a US dollar for a thousand searches.
    searches: Option<u64>,
}

impl Tariff {
    /// The prices an operator set, else those in the tables, which hold at the vendor's own address only.
    pub fn find(provider: &str, model: &str, account: &Account<'_>, is_own: bool) -> Self {
        Self {
            tokens: Price::find(provider, model, account.0, is_own),
            searches: search_price(provider, model, account.0, is_own),
        }
    }

    /// Range of the cost of `samples` answers to a prompt.
    pub fn estimate(
        self,
        prompt: &str,
        searches: SearchCount,
        max_tokens: Option<u32>,
        samples: u32,
    ) -> Estimate {
        let all = |cost: u64| cost.saturating_mul(samples.into());
        let [min, max] = [searches.min, searches.max].map(u64::from);
        let Some(tokens) = self.tokens else {
            return Estimate::default();
        };
        let read = prompt.chars().count().div_ceil(8) as u64 + min * TOKENS_PER_SEARCH.low;
        let low = tokens.micros(read, ANSWER_TOKENS.low) + self.of_searches(searches.min).unwrap_or(0);
        // No token is shorter than a byte.
        let read = prompt.len() as u64 + MAX_OVERHEAD_TOKENS + max * TOKENS_PER_SEARCH.high;
        let written = max_tokens.map_or(ANSWER_TOKENS.high, u64::from);
        let high = self
            .of_searches(searches.max)
            .map(|price| tokens.micros(read, written).saturating_add(price));
        Estimate {
            low_micros: Some(all(low)),
            high_micros: high.map(all),
        }
    }

    /// Cost of `samples` requests that are charged as searches, whatever their answer.
    pub fn estimate_requests(self, samples: u32) -> Estimate {
        let cost = self.searches.and_then(|_| self.of_searches(samples));
        Estimate {
            low_micros: cost,
            high_micros: cost,
        }
    }

    /// Cost of an answer; `None` if a price or a count is unknown.
    pub fn cost(self, usage: Usage, searches: Option<u32>) -> Option<u64> {
        let tokens = self.tokens?.micros(usage.input_tokens?, usage.output_tokens?);
        let searches = self.of_searches(searches.unwrap_or(0))?;
        Some(tokens.saturating_add(searches))
    }

    /// Cost of searches; none cost nothing, whatever the price.
    fn of_searches(self, count: u32) -> Option<u64> {
        if count == 0 {
            return Some(0);
        }
        let all = u128::from(self.searches?) * u128::from(count);
        Some(u64::try_from(all.div_ceil(1_000)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Tariff = Tariff {
        tokens: Some(Price {
            input: 1_000_000,
            output: 4_000_000,
        }),
        searches: Some(10_000_000),
    };

    #[test]
    fn estimate_is_a_range_and_unknown_is_no_zero() {
        let searches = SearchCount { min: 1, max: 8 };
        let range = BOTH.estimate("standing desks", searches, None, 2);
        assert_eq!(range.low_micros, Some(2 * (502 + 200 + 10_000)));
        assert_eq!(range.high_micros, Some(2 * (85_014 + 24_000 + 80_000)));
        let without = Tariff {
            searches: None,
            ..BOTH
        };
        let range = without.estimate("standing desks", searches, None, 1);
        assert_eq!(
            range,
            Estimate {
                low_micros: Some(702),
                high_micros: None
            }
        );
        let none = SearchCount::default();
        assert!(without.estimate("x", none, Some(100), 1).high_micros.is_some());
        assert_eq!(
            Tariff::default().estimate("x", none, None, 1),
            Estimate::default()
        );
        assert_eq!(Tariff::default().estimate_requests(3), Estimate::default());
        assert_eq!(BOTH.estimate_requests(3).high_micros, Some(30_000));
    }

    #[test]
    fn cost_needs_every_count_and_price() {
        let usage = Usage {
            input_tokens: Some(1_000),
            output_tokens: Some(100),
            cost_micros_usd: None,
        };
        assert_eq!(BOTH.cost(usage, Some(3)), Some(1_400 + 30_000));
        assert_eq!(BOTH.cost(usage, None), Some(1_400));
        assert_eq!(BOTH.cost(Usage::default(), Some(3)), None);
        let without = Tariff {
            searches: None,
            ..BOTH
        };
        assert_eq!(without.cost(usage, Some(1)), None);
        assert_eq!(without.cost(usage, Some(0)), Some(1_400));
    }
}
