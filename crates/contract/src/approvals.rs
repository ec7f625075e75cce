//! Approvals: posts that wait for a person. People decide on the dashboard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Instant,
    declare::operation,
    ids::{ApprovalId, AutopilotRunId, ConnectionId, PostId},
    integrations::Provider,
    people::UserRef,
    words::words,
};

words! {
    /// Status of an approval.
    ApprovalStatus {
        /// A person is asked.
        Pending = "pending",
        /// A person approved it.
        Approved = "approved",
        /// A person rejected it.
        Rejected = "rejected",
        /// A person holds it: it is not published until somebody approves it.
        Held = "held",
        /// Nobody decided while it was held, and it was published as the mode says.
        Lapsed = "lapsed",
        /// Void: the post or its destination has changed since, or the post was published or archived in another way.
        Void = "void",
    }
}

operation! {
    /// Lists approvals, newest first: what waits for a person, what it would publish and where, until when. People decide on the
    /// dashboard.
    ListApprovals {
        project;
        /// Only approvals with this status.
        status: Option<ApprovalStatus>,
        paging;
    }
}

operation! {
    /// Returns an approval.
    GetApproval {
        project;
        /// Id of the approval.
        #[schemars(example = &"01936f36-4c1d-7d10-9a3e-7b2f5a1c2b4c")]
        approval_id: String,
    }
}

/// A post that waits for a person, or waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Identifier (UUIDv7).
    pub id: ApprovalId,
    /// Id of the post.
    pub post_id: PostId,
    /// Title of the post.
    pub title: Option<String>,
    /// Id of the published post whose text it would replace; `null` for a new post.
    pub replaces_post_id: Option<PostId>,
    /// Id of the run of the autopilot that made it.
    pub run_id: Option<AutopilotRunId>,
    /// Status.
    pub status: ApprovalStatus,
    /// Reasons why a person is asked.
    pub reasons: Vec<String>,
    /// SHA-256, in hexadecimal, of what would be sent and where. A change of any of it makes the approval void.
    pub content_hash: String,
    /// Connection through which it would be published; `null` if none is ready.
    pub connection_id: Option<ConnectionId>,
    /// Its provider.
    pub provider: Option<Provider>,
    /// Time at which it is to be published; `null` until it is approved.
    pub publish_at: Option<Instant>,
    /// Name of who asked.
    pub requested_by: String,
    /// Time of the request.
    pub requested_at: Instant,
    /// Time at which it is published unless a person stops it; `null` if it waits for a decision.
    pub expires_at: Option<Instant>,
    /// Person who decided.
    pub decided_by: Option<UserRef>,
    /// Time of the decision.
    pub decided_at: Option<Instant>,
    /// Reason that the person gave.
    pub reason: Option<String>,
    /// Page on which people decide.
    pub url: String,
}

impl Answer for Approval {}
