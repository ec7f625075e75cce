//! Events: what happened, written in the transaction of the change (outbox).

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

use crate::{
    Instant, audits::AuditStatus, declare::operation, integrations::Provider, posts::PostStatus, words::words,
};

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
        /// A post is live at its provider.
        PostPublished = "post.published",
        /// A post could not be published.
        PostPublishFailed = "post.publish_failed",
        /// A post is no longer live.
        PostUnpublished = "post.unpublished",
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
        /// An issue occurs again where it was resolved, on so many pages as `occurrences` says.
        IssueReopened = "issue.reopened",
        /// Tracked prompts were asked.
        VisibilityRunCompleted = "visibility.run_completed",
        /// An assistant mentions the brand where it did not.
        VisibilityMentionGained = "visibility.mention_gained",
        /// An assistant no longer mentions the brand.
        VisibilityMentionLost = "visibility.mention_lost",
        /// A publishing provider can be used.
        IntegrationConnected = "integration.connected",
        /// A publishing provider can no longer be used.
        IntegrationDisconnected = "integration.disconnected",
        /// The autopilot stopped by itself.
        AutopilotPaused = "autopilot.paused",
        /// The autopilot published a post.
        AutopilotPublished = "autopilot.published",
        /// Somebody asked for a test of a webhook.
        WebhookTest = "webhook.test",
    }
}

operation! {
    /// Lists what happened in a project, oldest first: the events that webhooks are told of, for callers that cannot receive a POST.
    ///
    /// A page with events has a `nextCursor`, also when they are the newest: keep it, and ask again with it later. Nothing is left out and nothing
    /// comes twice. An empty page has none: nothing is new. Kept for 30 days.
    /// With `Accept: text/event-stream` the same events come as server-sent events as they happen; `Last-Event-ID` goes on after an event.
    ListEvents {
        project;
        /// Only this kind.
        event: Option<EventType>,
        paging;
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

/// `data` of an event about a post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostData {
    /// The post.
    pub post_id: String,
    /// Its version; an event with a lower one is older.
    pub version: i64,
    /// Where it stands.
    pub status: PostStatus,
    /// Its title.
    pub title: Option<String>,
    /// Where it is live.
    pub url: Option<String>,
}

/// `data` of `keyword.generated`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeywordData {
    /// The job that found them.
    pub job_id: String,
    /// How many are new.
    pub added: u64,
    /// Which.
    pub keyword_ids: Vec<String>,
}

/// `data` of `audit.completed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditData {
    /// The audit.
    pub audit_id: String,
    /// `completed` or `partial`.
    pub status: AuditStatus,
    /// 0 to 100; `null` without a page that counts.
    pub health_score: Option<u8>,
}

/// `data` of `audit.failed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditFailure {
    /// The audit.
    pub audit_id: String,
    /// Its version.
    pub version: i64,
    /// Why it failed, as in the audit's `error.code`.
    pub error: Option<String>,
}

/// `data` of an event about an issue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueData {
    /// The issue.
    pub issue_id: String,
    /// Its check.
    pub check_id: Option<String>,
    /// The audit that found it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_id: Option<String>,
    /// The recheck that found it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recheck_id: Option<String>,
    /// Pages where it was resolved and occurs again; of `issue.reopened` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrences: Option<u64>,
}

/// `data` of an event about a place to publish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IntegrationData {
    /// The provider.
    pub provider: Provider,
    /// The connection.
    pub connection_id: String,
}

/// `data` of `webhook.test`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestData {
    /// The webhook that is tested.
    pub webhook_id: String,
}

impl EventType {
    /// JSON Schema of its `data`; `None` for a kind that this version does not send yet.
    pub fn data_schema(self) -> Option<Schema> {
        let generator = || {
            SchemaSettings::draft2020_12()
                .with(|s| {
                    s.meta_schema = None;
                    s.inline_subschemas = true;
                })
                .for_serialize()
                .into_generator()
        };
        Some(match self {
            Self::PostCreated
            | Self::PostUpdated
            | Self::PostGenerated
            | Self::PostGenerationFailed
            | Self::PostPublished
            | Self::PostPublishFailed
            | Self::PostUnpublished => generator().into_root_schema_for::<PostData>(),
            Self::IntegrationConnected | Self::IntegrationDisconnected => {
                generator().into_root_schema_for::<IntegrationData>()
            }
            Self::KeywordGenerated => generator().into_root_schema_for::<KeywordData>(),
            Self::AuditCompleted => generator().into_root_schema_for::<AuditData>(),
            Self::AuditFailed => generator().into_root_schema_for::<AuditFailure>(),
            Self::IssueOpened | Self::IssueResolved | Self::IssueReopened => {
                generator().into_root_schema_for::<IssueData>()
            }
            Self::WebhookTest => generator().into_root_schema_for::<TestData>(),
            _ => return None,
        })
    }
}
