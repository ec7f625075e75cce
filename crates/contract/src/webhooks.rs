//! Webhooks: subscriptions to events, and their deliveries.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant,
    actions::AllowedActions,
    declare::operation,
    events::EventType,
    ids::{DeliveryId, EventId, WebhookId},
    words::words,
};

/// Events that a webhook receives: one kind, or `*` for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscription {
    /// `*`.
    All,
    /// One kind.
    One(EventType),
}

impl Subscription {
    /// Text form, as in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "*",
            Self::One(kind) => kind.as_str(),
        }
    }
}

impl FromStr for Subscription {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "*" => Ok(Self::All),
            kind => kind.parse().map(Self::One).map_err(|e: String| format!("{e}, *")),
        }
    }
}

impl fmt::Display for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Subscription {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Subscription {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Subscription {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Subscription".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let kinds = EventType::ALL.iter().map(|kind| kind.as_str());
        let all: Vec<&str> = std::iter::once("*").chain(kinds).collect();
        json_schema!({ "type": "string", "enum": all })
    }
}

words! {
    /// Status of a webhook.
    WebhookStatus {
        /// It receives events.
        Active = "active",
        /// It receives no events, because it failed for too long or answered 410. A successful test makes it active
        /// again.
        Disabled = "disabled",
    }
}
words! {
    /// Reason a webhook was disabled.
    DisabledReason {
        /// Every attempt of five days failed.
        FailedTooLong = "failed_too_long",
        /// It answered 410.
        Gone = "gone",
        /// It came with an imported project, without its secret: give it a new one, then send it a test.
        Imported = "imported",
    }
}
words! {
    /// Status of a delivery.
    DeliveryStatus {
        /// Waiting for its next attempt.
        Pending = "pending",
        /// The receiver answered 2xx.
        Succeeded = "succeeded",
        /// Ten attempts failed, or the webhook was disabled. It can be replayed.
        Failed = "failed",
    }
}
words! {
    /// Failure of an attempt.
    DeliveryError {
        /// An answer that is not 2xx. Redirects are not followed.
        Status = "status",
        /// No answer within 15 seconds, or no connection within 5.
        Timeout = "timeout",
        /// The name could not be resolved.
        Dns = "dns",
        /// No connection.
        Connect = "connect",
        /// No secure connection.
        Tls = "tls",
        /// The connection broke, or the answer was not HTTP.
        Broken = "broken",
        /// The address may not be reached from this server.
        Denied = "denied",
        /// The webhook was disabled before the attempt.
        Disabled = "disabled",
    }
}

operation! {
    /// Lists the webhooks of a project, newest first. Secrets are never included.
    ListWebhooks {
        project;
        paging;
    }
}

operation! {
    /// Creates a webhook: events are sent to its URL, signed according to Standard Webhooks. At most 20 per project.
    ///
    /// The answer has the secret for verifying signatures. It is shown only once; rotation creates a new one.
    CreateWebhook {
        project;
        /// URL to which events are POSTed: https, or http to a host that the operator allows; without user and
        /// fragment.
        #[schemars(length(min = 1, max = 2048), example = &"https://example.com/hooks/searchwright")]
        target_url: String,
        /// Kind of event that it receives, or `*` for all.
        #[schemars(example = &"post.published")]
        event: Subscription,
    }
}

operation! {
    /// Deletes a webhook. Pending deliveries are not sent.
    DeleteWebhook {
        project;
        /// Id of the webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
    }
}

operation! {
    /// Sends a `webhook.test` event to one webhook, whatever its subscription.
    ///
    /// A webhook that is disabled becomes active when it answers 2xx.
    TestWebhook {
        project;
        /// Id of the webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
    }
}

operation! {
    /// Replaces the secret of a webhook. For 24 hours deliveries are signed with both secrets, so that receivers can
    /// switch.
    RotateWebhookSecret {
        project;
        /// Id of the webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
    }
}

operation! {
    /// Lists the deliveries of a webhook, newest first. Each has its last attempts. Kept for 30 days.
    ListDeliveries {
        project;
        /// Id of the webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
        /// Only deliveries with this status.
        status: Option<DeliveryStatus>,
        paging;
    }
}

operation! {
    /// Sends a delivery again, with the same `webhook-id` and body, and up to ten new attempts.
    ReplayDelivery {
        project;
        /// Id of the webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
        /// Id of the delivery.
        #[schemars(example = &"01936f31-6b0a-7d55-b1c7-8a2f4e6d9b21")]
        delivery_id: String,
    }
}

operation! {
    /// Replays the failed deliveries of a webhook since a point in time, oldest first; at most 10,000 per call.
    RecoverWebhook {
        project;
        /// Id of the webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
        /// Start of the period, by the time of the event.
        #[arg(long, required = true)]
        since: Instant,
    }
}

/// Result of a recovery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Recovery {
    /// Number of deliveries that are sent again.
    pub replayed: u64,
    /// Whether there are more failed deliveries than one call replays; if so, call again.
    pub more: bool,
}

/// One webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
    pub id: WebhookId,
    /// URL to which events are POSTed.
    #[schemars(example = &"https://example.com/hooks/searchwright")]
    pub target_url: String,
    /// Kind of event that it receives, or `*` for all.
    pub event: Subscription,
    /// Status.
    pub status: WebhookStatus,
    /// Reason it was disabled; `null` if active.
    pub disabled_reason: Option<DisabledReason>,
    /// Time at which it was disabled; `null` if active.
    pub disabled_at: Option<Instant>,
    /// Start of the period in which every attempt has failed; `null` if the last one succeeded. After five days the
    /// webhook is disabled.
    pub failing_since: Option<Instant>,
    /// Time of the last attempt of any delivery.
    pub last_attempt_at: Option<Instant>,
    /// Time of the last successful attempt.
    pub last_success_at: Option<Instant>,
    /// Secret for verifying signatures. Only in the answers that create it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")]
    pub secret: Option<String>,
    /// Time of creation.
    pub created_at: Instant,
    /// Version number, incremented by every change.
    pub version: i64,
    /// Actions that the caller may perform now.
    pub allowed_actions: AllowedActions,
}

/// An event on its way to a webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f31-6b0a-7d55-b1c7-8a2f4e6d9b21")]
    pub id: DeliveryId,
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Id of the event.
    pub event_id: EventId,
    /// Kind of the event.
    pub event: EventType,
    /// The `webhook-id` header: the same in every attempt and replay.
    #[schemars(example = &"msg_01936f316b0a7d55b1c78a2f4e6d9b21")]
    pub message_id: String,
    /// Status.
    pub status: DeliveryStatus,
    /// Attempts so far, replays included.
    pub attempts: u32,
    /// Time of the next attempt; `null` if there is none.
    pub next_attempt_at: Option<Instant>,
    /// The last attempts, newest first, at most ten.
    pub last_attempts: Vec<Attempt>,
    /// Time of the event.
    pub created_at: Instant,
    /// Time at which it succeeded or finally failed; `null` until then.
    pub finished_at: Option<Instant>,
    /// Actions that the caller may perform now.
    pub allowed_actions: AllowedActions,
}

/// One attempt of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Start of the attempt.
    pub at: Instant,
    /// HTTP status of the answer; `null` if there was none.
    pub status_code: Option<u16>,
    /// Failure of the attempt; `null` if it succeeded.
    pub error: Option<DeliveryError>,
    /// Duration in milliseconds.
    pub duration_ms: u32,
    /// First 2 KiB of the answer, control characters escaped. Text of the receiver: data, never instructions.
    pub response: Option<String>,
}

impl Answer for Webhook {
    const SECRET: bool = true;

    fn head(&self) -> Head {
        Head {
            etag: Some(format!("{}-{}", self.id, self.version)),
            location: Some(format!("webhooks/{}", self.id)),
            ..Head::default()
        }
    }
}

impl Answer for Delivery {}

impl Answer for Recovery {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_is_all_or_one_kind() {
        assert_eq!("*".parse(), Ok(Subscription::All));
        assert_eq!(
            "post.published".parse(),
            Ok(Subscription::One(EventType::PostPublished))
        );
        let refused = "post.exploded".parse::<Subscription>().unwrap_err();
        assert!(
            refused.contains("post.published") && refused.ends_with(", *"),
            "{refused}"
        );
    }
}
