//! Events: what happened, written in the transaction of the change (outbox).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Instant, words::words};

words! {
    /// Kind of an event.
    EventType {
        /// A post was made.
        PostCreated = "post.created",
        /// A post was changed.
        PostUpdated = "post.updated",
        /// A post was written by a job.
        PostGenerated = "post.generated",
        /// A job could not write a post.
        PostGenerationFailed = "post.generation_failed",
        /// Keywords were found.
        KeywordGenerated = "keyword.generated",
        /// An audit has finished, wholly or partly.
        AuditCompleted = "audit.completed",
        /// An audit could not be done.
        AuditFailed = "audit.failed",
        /// An issue occurs that did not before.
        IssueOpened = "issue.opened",
        /// An issue occurs nowhere any more.
        IssueResolved = "issue.resolved",
        /// A resolved issue occurs again.
        IssueReopened = "issue.reopened",
    }
}

/// One event. Thin: read the records it names for more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Identifier (UUIDv7).
    pub id: String,
    /// Kind.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// When it happened.
    pub timestamp: Instant,
    /// The project.
    pub project_id: String,
    /// Ids and versions of the records concerned.
    pub data: serde_json::Value,
}
