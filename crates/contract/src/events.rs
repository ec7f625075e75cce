//! Events, written in the transaction of the change they report (outbox).

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

use crate::{
    Instant,
    answers::{Engine, Surface},
    approvals::ApprovalStatus,
    audits::AuditStatus,
    autopilot::PauseReason,
    declare::operation,
    ids::{
        ApprovalId, AuditId, AutopilotRunId, ConnectionId, EventId, IssueId, JobId, KeywordId, PostId,
        ProjectId, PromptId, RecheckId, RunId, WebhookId,
    },
    integrations::Provider,
    posts::PostStatus,
    runs::{RunStatus, RunTrigger},
    words::words,
};

words! {
    /// Kind of an event.
    EventType {
        /// A post was created.
        PostCreated = "post.created",
        /// A post was changed, or was brought up to date where it is public.
        PostUpdated = "post.updated",
        /// A post was written by a job.
        PostGenerated = "post.generated",
        /// Writing a post failed.
        PostGenerationFailed = "post.generation_failed",
        /// A post became public: a provider shows it to readers, and none did before.
        PostPublished = "post.published",
        /// Publishing a post failed, or the provider keeps it from readers.
        PostPublishFailed = "post.publish_failed",
        /// A post is no longer public at any provider.
        PostUnpublished = "post.unpublished",
        /// Keywords were found.
        KeywordGenerated = "keyword.generated",
        /// An audit finished with results, complete or partial.
        AuditCompleted = "audit.completed",
        /// An audit failed.
        AuditFailed = "audit.failed",
        /// An issue occurs for the first time.
        IssueOpened = "issue.opened",
        /// An issue no longer occurs on any page.
        IssueResolved = "issue.resolved",
        /// An issue occurs again on pages where it had been resolved; `occurrences` has their number.
        IssueReopened = "issue.reopened",
        /// A run of tracked prompts ended, with or without answers.
        VisibilityRunCompleted = "visibility.run_completed",
        /// One of the newest five answers of an engine to a prompt mentions the brand; none of the five before did.
        VisibilityMentionGained = "visibility.mention_gained",
        /// None of the newest five answers of an engine to a prompt mentions the brand; one of the five before did.
        VisibilityMentionLost = "visibility.mention_lost",
        /// A publishing provider was connected.
        IntegrationConnected = "integration.connected",
        /// A publishing provider was disconnected.
        IntegrationDisconnected = "integration.disconnected",
        /// The autopilot paused itself.
        AutopilotPaused = "autopilot.paused",
        /// The autopilot published a post.
        AutopilotPublished = "autopilot.published",
        /// A post waits for a person.
        ApprovalRequested = "approval.requested",
        /// A person decided about a post.
        ApprovalDecided = "approval.decided",
        /// A test of a webhook was requested.
        WebhookTest = "webhook.test",
    }
}

operation! {
    /// Lists the events of a project, oldest first: the same events that are sent to webhooks, for callers that
    /// cannot receive a POST.
    ///
    /// A page with events always has a `nextCursor`, even at the newest event: store it and pass it with the next
    /// poll. No event is skipped or repeated. An empty page means that there is nothing new, and has no cursor.
    /// Events are kept for 30 days. With `Accept: text/event-stream` the events arrive as server-sent events as they
    /// happen; `Last-Event-ID` resumes after an event.
    ListEvents {
        project;
        /// Only events of this kind.
        event: Option<EventType>,
        paging;
    }
}

/// One event. It holds ids and little more: read the records it names for the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Identifier (UUIDv7).
    pub id: EventId,
    /// Kind of the event.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// Time of the event.
    pub timestamp: Instant,
    /// Id of the project.
    pub project_id: ProjectId,
    /// Ids and versions of the records concerned.
    pub data: serde_json::Value,
}

/// `data` of an event about a post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostData {
    /// Id of the post.
    pub post_id: PostId,
    /// Version of the post; a lower number means an older event.
    pub version: i64,
    /// Status of the post.
    pub status: PostStatus,
    /// Title of the post.
    pub title: Option<String>,
    /// Public URL of the post; `null` if it is not live.
    pub url: Option<String>,
}

/// `data` of `keyword.generated`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeywordData {
    /// Id of the job that found the keywords.
    pub job_id: JobId,
    /// Number of new keywords.
    pub added: u64,
    /// Ids of the new keywords.
    pub keyword_ids: Vec<KeywordId>,
}

/// `data` of `audit.completed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditData {
    /// Id of the audit.
    pub audit_id: AuditId,
    /// `completed` or `partial`.
    pub status: AuditStatus,
    /// Health score, 0 to 100; `null` if no page counts towards it.
    pub health_score: Option<u8>,
}

/// `data` of `audit.failed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditFailure {
    /// Id of the audit.
    pub audit_id: AuditId,
    /// Version of the audit.
    pub version: i64,
    /// Cause of the failure, the audit's `error.code`.
    pub error: Option<String>,
}

/// `data` of an event about an issue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueData {
    /// Id of the issue.
    pub issue_id: IssueId,
    /// Id of the check.
    pub check_id: Option<String>,
    /// Id of the audit that detected the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_id: Option<AuditId>,
    /// Id of the recheck that detected the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recheck_id: Option<RecheckId>,
    /// Number of pages on which it occurs again after it was resolved; only in `issue.reopened`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrences: Option<u64>,
    /// Counts of the audit, so that one notice can say what is new; only in `issue.opened` of a scheduled audit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<AuditCounts>,
}

/// Counts of a scheduled audit in its events. Occurrences that could not be checked again are not among them; the finished
/// audit has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditCounts {
    /// Occurrences with severity `error`.
    pub errors: u64,
    /// Occurrences with severity `warning`.
    pub warnings: u64,
    /// Occurrences with severity `notice`.
    pub notices: u64,
    /// Distinct issues.
    pub issues: u64,
    /// Occurrences that the audit before did not find; `null` if there is none to compare with.
    pub new_occurrences: Option<u64>,
}

/// `data` of `visibility.run_completed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunData {
    /// Id of the run.
    pub run_id: RunId,
    /// Start of the run.
    pub trigger: RunTrigger,
    /// `completed`, `partial` or `failed`.
    pub status: RunStatus,
    /// Answers that were stored.
    pub answers: u32,
    /// Answers that are missing.
    pub missing: u32,
}

/// `data` of `visibility.mention_gained` and `visibility.mention_lost`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MentionData {
    /// Id of the prompt.
    pub prompt_id: PromptId,
    /// Id of the run.
    pub run_id: RunId,
    /// Engine.
    pub engine: Engine,
    /// Way by which it was asked.
    pub surface: Surface,
    /// Newest answers before the run, at most five.
    pub before: MentionCount,
    /// Newest answers after it, at most five.
    pub now: MentionCount,
}

/// Answers of an engine to a prompt, and those that mention the brand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MentionCount {
    /// Answers.
    pub answers: u32,
    /// Answers that mention the brand.
    pub mentions: u32,
}

/// `data` of an event about an integration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IntegrationData {
    /// The provider.
    pub provider: Provider,
    /// Id of the connection.
    pub connection_id: ConnectionId,
}

/// `data` of `autopilot.paused`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PauseData {
    /// Reason.
    pub reason: PauseReason,
    /// The reason in a sentence, with what to do.
    pub detail: String,
}

/// `data` of `autopilot.published`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AutopilotPublishedData {
    /// Id of the run.
    pub run_id: AutopilotRunId,
    /// Id of the post.
    pub post_id: PostId,
    /// Public URL of the post; `null` if the provider has none.
    pub url: Option<String>,
    /// Whether the page was found at its URL; `null` if it could not be looked at.
    pub verified: Option<bool>,
}

/// `data` of `approval.requested` and `approval.decided`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalData {
    /// Id of the approval.
    pub approval_id: ApprovalId,
    /// Id of the post.
    pub post_id: PostId,
    /// Title of the post.
    pub title: Option<String>,
    /// Status of the approval.
    pub status: ApprovalStatus,
    /// Time at which the post is published unless a person stops it; `null` if it waits for a decision.
    pub expires_at: Option<Instant>,
    /// Page on which people decide.
    pub url: String,
}

/// `data` of `webhook.test`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestData {
    /// Id of the tested webhook.
    pub webhook_id: WebhookId,
}

impl EventType {
    /// Returns the JSON Schema of its `data`.
    pub fn data_schema(self) -> Schema {
        let generator = || {
            SchemaSettings::draft2020_12()
                .with(|s| {
                    s.meta_schema = None;
                    s.inline_subschemas = true;
                })
                .for_serialize()
                .into_generator()
        };
        match self {
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
            Self::VisibilityRunCompleted => generator().into_root_schema_for::<RunData>(),
            Self::VisibilityMentionGained | Self::VisibilityMentionLost => {
                generator().into_root_schema_for::<MentionData>()
            }
            Self::AutopilotPaused => generator().into_root_schema_for::<PauseData>(),
            Self::AutopilotPublished => generator().into_root_schema_for::<AutopilotPublishedData>(),
            Self::ApprovalRequested | Self::ApprovalDecided => {
                generator().into_root_schema_for::<ApprovalData>()
            }
            Self::WebhookTest => generator().into_root_schema_for::<TestData>(),
        }
    }
}
