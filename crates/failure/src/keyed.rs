//! Failures of requests with an `Idempotency-Key`.

use searchwright_contract::{Code, Problem};
use searchwright_store::{Error, idempotency};

use crate::Failure;

/// Reason why the transaction of a request was rolled back.
#[derive(Debug)]
pub enum Undone {
    /// It failed.
    Failed(Failure),
    /// There is an answer under its key.
    KeyTaken,
}

impl From<Failure> for Undone {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Error> for Undone {
    fn from(error: Error) -> Self {
        if idempotency::is_taken(&error) {
            Self::KeyTaken
        } else {
            Self::Failed(error.into())
        }
    }
}

/// Returns whether an error is stored for its key: errors of the operation itself are, and the same request gets them again.
/// Errors about the caller (401, 403), a missing record (404) or the moment (429, 5xx) are not stored.
pub const fn is_remembered(code: Code) -> bool {
    matches!(
        code,
        Code::AlreadyExists
            | Code::InvalidState
            | Code::ProviderNotConfigured
            | Code::PreconditionFailed
            | Code::ValidationFailed
    )
}

/// Returns the refusal of a request whose key others take again and again.
pub fn in_progress() -> Failure {
    Problem::new(
        Code::IdempotencyInProgress,
        "a request with this Idempotency-Key is being carried out",
    )
    .after(1)
    .into()
}
