//! What is answered about where a post is published.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Instant,
    integrations::{IntegrationError, Provider},
    words::words,
};

words! {
    /// What becomes of a post at its provider.
    PublishMode {
        /// Readers see it.
        Live = "live",
        /// It is left there as a draft.
        Draft = "draft",
    }
}
words! {
    /// Where a post stands at one provider.
    PublicationState {
        /// The worker looks for it there; nothing has been sent.
        Pending = "pending",
        /// It is being sent.
        Sending = "sending",
        /// Readers see it.
        Published = "published",
        /// It lies there as a draft.
        Draft = "draft",
        /// It was taken back.
        Unpublished = "unpublished",
        /// It was sent and the answer was lost: whether it is there is not known. It is looked for, and never sent again blindly.
        Uncertain = "uncertain",
        /// It was not published; see `lastError`.
        Failed = "failed",
    }
}
words! {
    /// What looking at a published page found.
    VerificationState {
        /// It is looked at again soon.
        Pending = "pending",
        /// The page is there and says what it should.
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
    /// The connection.
    pub connection_id: String,
    /// Where it stands.
    pub state: PublicationState,
    /// Whether readers see it, as far as is known.
    pub is_live: bool,
    /// The provider's id of it.
    pub external_id: Option<String>,
    /// Where readers find it.
    pub url: Option<String>,
    /// `version` of the post that is there.
    pub post_version: Option<i64>,
    /// When it first was live there.
    pub published_at: Option<Instant>,
    /// Why the last attempt failed; `null` if it did not.
    pub last_error: Option<IntegrationError>,
    /// What looking at the live page found; `null` where nobody looked.
    pub verification: Option<Verification>,
    /// The last attempt.
    pub attempt: Option<PublishAttempt>,
    /// When this last changed.
    pub updated_at: Instant,
}

/// One attempt to bring a post to a provider, with what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublishAttempt {
    /// Identifier (UUIDv7).
    pub id: String,
    /// The job that does it.
    pub job_id: String,
    /// `live`, `draft`, or `gone` when it is taken back.
    #[schemars(example = &"live")]
    pub aim: String,
    /// When it is looked for next; `null` where it is not.
    pub next_check_at: Option<Instant>,
    /// What was done and seen, oldest first, at most 50.
    pub evidence: Vec<Evidence>,
    /// When it began.
    pub created_at: Instant,
    /// When its outcome was known; `null` until then.
    pub finished_at: Option<Instant>,
}

/// Something that was done or seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// When.
    pub at: Instant,
    /// Stable word: `looked`, `found`, `absent`, `sending`, `made`, `changed`, `taken_back`, `unclear`, `not_now`, `refused`, `interrupted`.
    #[schemars(example = &"looked")]
    pub what: String,
    /// For people.
    pub detail: Option<String>,
}

/// What looking at a published page found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// Whether it is as it should be.
    pub state: VerificationState,
    /// The page that was looked at.
    pub url: String,
    /// Status of its answer; `null` without one.
    pub status_code: Option<u16>,
    /// Stable words for what is wrong: `not_reachable`, `status`, `title_missing`, `canonical_elsewhere`, `noindex`.
    #[schemars(example = ["noindex"])]
    pub findings: Vec<String>,
    /// Times it was looked at.
    pub checks: u32,
    /// When it was looked at.
    pub checked_at: Instant,
}
