//! Publications of posts at providers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Instant,
    ids::{AttemptId, ConnectionId, JobId},
    integrations::{IntegrationError, Provider},
    words::words,
};

words! {
    /// Visibility of a published post at its provider.
    PublishMode {
        /// Public.
        Live = "live",
        /// Delivered as a draft.
        Draft = "draft",
    }
}
words! {
    /// State of a post at one provider.
    PublicationState {
        /// Being searched for at the provider; nothing has been sent.
        Pending = "pending",
        /// Being sent.
        Sending = "sending",
        /// Public.
        Published = "published",
        /// Present, and not shown to readers: as a draft, or held back by the provider, for which see `lastError`.
        Draft = "draft",
        /// Unpublished.
        Unpublished = "unpublished",
        /// It was sent, but the response was lost, so it is unknown whether it exists. It is searched for, and not
        /// sent again before the search has ended.
        Uncertain = "uncertain",
        /// Publishing failed; see `lastError`.
        Failed = "failed",
    }
}
words! {
    /// State of the verification of a published page.
    VerificationState {
        /// Another check follows soon.
        Pending = "pending",
        /// The page exists and is as expected.
        Passed = "passed",
        /// Something is wrong; see `findings`.
        Failed = "failed",
    }
}

/// A post at one provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Publication {
    /// The provider.
    pub provider: Provider,
    /// Id of the connection.
    pub connection_id: ConnectionId,
    /// State.
    pub state: PublicationState,
    /// Whether it is public, as far as known.
    pub is_live: bool,
    /// Id of the post at the provider.
    pub external_id: Option<String>,
    /// Public URL.
    pub url: Option<String>,
    /// `version` of the post that the provider has.
    pub post_version: Option<i64>,
    /// Time at which it first became public there.
    pub published_at: Option<Instant>,
    /// Failure of the last attempt; `null` if it succeeded.
    pub last_error: Option<IntegrationError>,
    /// Verification of the public page; `null` if it was not checked.
    pub verification: Option<Verification>,
    /// Last attempt.
    pub attempt: Option<PublishAttempt>,
    /// Time of the last change of this record.
    pub updated_at: Instant,
}

/// One attempt to publish, update or unpublish a post at a provider, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublishAttempt {
    /// Identifier (UUIDv7).
    pub id: AttemptId,
    /// Id of the job that runs it.
    pub job_id: JobId,
    /// Target state: `live`, `draft`, or `gone` for unpublishing.
    #[schemars(example = &"live")]
    pub aim: String,
    /// Time of the next search at the provider; `null` if none is planned.
    pub next_check_at: Option<Instant>,
    /// Steps and observations, oldest first, at most 50.
    pub evidence: Vec<Evidence>,
    /// Start time.
    pub created_at: Instant,
    /// Time at which its outcome became known; `null` until then.
    pub finished_at: Option<Instant>,
}

/// A step or an observation of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Time.
    pub at: Instant,
    /// Machine-readable kind: `looked`, `found`, `absent`, `sending`, `made`, `changed`, `taken_back`, `unclear`,
    /// `not_now`, `refused`, `interrupted`.
    #[schemars(example = &"looked")]
    pub what: String,
    /// Human-readable explanation.
    pub detail: Option<String>,
}

/// Verification of a published page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// State of the verification.
    pub state: VerificationState,
    /// URL that was checked.
    pub url: String,
    /// HTTP status; `null` if there was no answer.
    pub status_code: Option<u16>,
    /// Problems, as machine-readable codes: `not_reachable`, `status`, `title_missing`, `canonical_elsewhere`,
    /// `noindex`.
    #[schemars(example = ["noindex"])]
    pub findings: Vec<String>,
    /// Number of checks so far.
    pub checks: u32,
    /// Time of the last check.
    pub checked_at: Instant,
}
