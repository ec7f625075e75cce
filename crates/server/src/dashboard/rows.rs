//! Changes of several ticked rows, one after the other.

use searchwright_engine::{Failure, failure::fault};

/// Outcome of the rows so far. What was changed before a refusal stays.
#[derive(Debug, Default)]
pub(crate) struct RowChanges {
    rows: u64,
    changed: u64,
    refusal: Option<Failure>,
}

impl RowChanges {
    /// Counts the outcome of a row. An error is a refusal of all of them, such as that of a role that may change nothing.
    pub fn add<T>(&mut self, outcome: Result<T, Failure>) -> Result<(), Failure> {
        self.rows += 1;
        match outcome {
            Ok(_) => self.changed += 1,
            Err(failure) if matches!(failure.0.status, 404 | 409 | 412 | 422) => {
                self.refusal.get_or_insert(failure);
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// Returns the number of changed rows; an error with the first reason if one was refused.
    pub fn finish(self) -> Result<u64, Failure> {
        let Some(refusal) = self.refusal else {
            return Ok(self.changed);
        };
        let why = match refusal.0.status {
            404 => "they are no longer there",
            412 => {
                "somebody changed them since the page was loaded. Look at them as they are now, and tick them again"
            }
            _ => refusal.0.detail.as_str(),
        };
        let text = format!(
            "{} of {} were changed; the others were not: {why}",
            self.changed, self.rows
        );
        Err(fault("", "refused", &text))
    }
}
