//! Limit of the cost of a run.

use std::sync::{Mutex, PoisonError};

/// Money that a run may still spend. Questions under way count with the most that they may cost, so that no order of events
/// exceeds the limit.
#[derive(Debug)]
pub struct RunBudget {
    limit: Option<i64>,
    spent: Mutex<i64>,
}

impl RunBudget {
    /// Creates the budget of a run that has spent something already. Amounts are millionths of a US dollar.
    pub fn new(limit: Option<i64>, spent: i64) -> Self {
        Self {
            limit,
            spent: Mutex::new(spent),
        }
    }

    /// Takes the most that a question may cost. Returns `false`, and takes nothing, if that could exceed the limit.
    pub fn take(&self, most: i64) -> bool {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let after = spent.saturating_add(most);
        let fits = self.limit.is_none_or(|limit| after <= limit);
        if fits {
            *spent = after;
        }
        fits
    }

    /// Returns what a question did not cost.
    pub fn give_back(&self, micros: i64) {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) -= micros;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_under_way_count_with_the_most_they_may_cost() {
        let budget = RunBudget::new(Some(100), 30);
        assert!(budget.take(40));
        assert!(!budget.take(31), "30 spent and 40 under way leave 30");
        budget.give_back(40 - 5);
        assert!(budget.take(65));
        assert!(!budget.take(1));
        assert!(RunBudget::new(None, 0).take(i64::MAX));
        assert!(!RunBudget::new(Some(0), 0).take(1));
    }
}
