//! Consents that persons gave, and questions that were declined.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use searchwright_contract::Instant;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Declined questions that this process remembers.
const MAX_ANSWERED: usize = 4_096;

/// Content of a sealed state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pledge {
    /// Used once.
    pub(super) nonce: Uuid,
    pub(super) expires_at: Instant,
    /// Digest of the question.
    pub(super) question: String,
}

/// Questions that were declined, so that nobody accepts them after all.
#[derive(Debug, Default)]
pub(super) struct Declined(Mutex<VecDeque<Uuid>>);

impl Declined {
    /// Keeps one.
    pub(super) fn add(&self, nonce: Uuid) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == MAX_ANSWERED {
            all.pop_front();
        }
        all.push_back(nonce);
    }

    /// Returns whether it was declined.
    pub(super) fn has(&self, nonce: Uuid) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&nonce)
    }
}
