//! Webhooks: who is told of events, and what became of each delivery.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant, actions::AllowedActions, declare::operation, events::EventType, words::words,
};

/// What a webhook is told of: one kind of event, or `*` for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscription {
    /// `*`.
    All,
    /// One kind.
    One(EventType),
}

impl Subscription {
    /// As on the wire.
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
    /// Whether a webhook is told.
    WebhookStatus {
        /// It is.
        Active = "active",
        /// It is not, because it failed for too long or said that it is gone. A test that succeeds makes it active again.
        Disabled = "disabled",
    }
}
words! {
    /// Why a webhook was disabled.
    DisabledReason {
        /// Every attempt of five days failed.
        FailedTooLong = "failed_too_long",
        /// It answered 410.
        Gone = "gone",
    }
}
words! {
    /// Where a delivery stands.
    DeliveryStatus {
        /// It waits for its next attempt.
        Pending = "pending",
        /// The receiver answered 2xx.
        Succeeded = "succeeded",
        /// Ten attempts failed, or the webhook was disabled. It can be replayed.
        Failed = "failed",
    }
}
words! {
    /// Why an attempt failed.
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
        /// The connection broke, or the answer was no HTTP.
        Broken = "broken",
        /// The address may not be reached from this server.
        Denied = "denied",
        /// The webhook was disabled before its turn.
        Disabled = "disabled",
    }
}

operation! {
    /// Lists the webhooks of a project, newest first. Never with their secrets.
    ListWebhooks {
        project;
        paging;
    }
}

operation! {
    /// Adds a webhook: events are sent to its URL, signed by Standard Webhooks. At most 20 per project.
    ///
    /// The answer has the secret to verify signatures with. It is not shown again; rotating it gives a new one.
    CreateWebhook {
        project;
        /// Where events are POSTed to: https, or http to a host that the operator allows. No user, no fragment.
        #[schemars(length(min = 1, max = 2048), example = &"https://example.com/hooks/searchwright")]
        target_url: String,
        /// The kind of event it is told of, or `*` for all.
        #[schemars(example = &"post.published")]
        event: Subscription,
    }
}

operation! {
    /// Deletes a webhook. What was still to be sent to it is not sent.
    DeleteWebhook {
        project;
        /// The webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
    }
}

operation! {
    /// Sends a `webhook.test` event to one webhook, whatever it is told of otherwise.
    ///
    /// A webhook that is disabled becomes active when it answers 2xx.
    TestWebhook {
        project;
        /// The webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
    }
}

operation! {
    /// Gives a webhook a new secret. The old one signs too for 24 hours, so that receivers can change over.
    RotateWebhookSecret {
        project;
        /// The webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
    }
}

operation! {
    /// Lists the deliveries of a webhook, newest first, with their last attempts. Kept for 30 days.
    ListDeliveries {
        project;
        /// The webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
        /// Only those that stand here.
        status: Option<DeliveryStatus>,
        paging;
    }
}

operation! {
    /// Sends a delivery again, with the same `webhook-id` and the same body, and with all ten attempts.
    ReplayDelivery {
        project;
        /// The webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
        /// The delivery.
        #[schemars(example = &"01936f31-6b0a-7d55-b1c7-8a2f4e6d9b21")]
        delivery_id: String,
    }
}

operation! {
    /// Sends again what failed at a webhook since an instant, oldest first, as a replay of each does; at most 10,000 per call.
    RecoverWebhook {
        project;
        /// The webhook.
        #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
        webhook_id: String,
        /// From when on, by the time of the event.
        #[arg(long, required = true)]
        since: Instant,
    }
}

/// What is sent again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Recovery {
    /// Deliveries that are sent again.
    pub replayed: u64,
    /// Whether more of them failed than are taken at a time: call again.
    pub more: bool,
}

/// One webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21")]
    pub id: String,
    /// Where events are POSTed to.
    #[schemars(example = &"https://example.com/hooks/searchwright")]
    pub target_url: String,
    /// The kind of event it is told of, or `*`.
    pub event: Subscription,
    /// Whether it is told.
    pub status: WebhookStatus,
    /// Why not.
    pub disabled_reason: Option<DisabledReason>,
    /// Since when not.
    pub disabled_at: Option<Instant>,
    /// Since when every attempt has failed; `null` when the last one succeeded. After five days it is disabled.
    pub failing_since: Option<Instant>,
    /// The last attempt of any delivery.
    pub last_attempt_at: Option<Instant>,
    /// The last attempt that succeeded.
    pub last_success_at: Option<Instant>,
    /// What signatures are verified with. Only in the answers that make it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")]
    pub secret: Option<String>,
    /// When it was added.
    pub created_at: Instant,
    /// Goes up with every change.
    pub version: i64,
    /// What the caller may do with it now.
    pub allowed_actions: AllowedActions,
}

/// An event on its way to a webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f31-6b0a-7d55-b1c7-8a2f4e6d9b21")]
    pub id: String,
    /// The webhook.
    pub webhook_id: String,
    /// The event.
    pub event_id: String,
    /// Kind of the event.
    pub event: EventType,
    /// The `webhook-id` header: the same in every attempt and replay.
    #[schemars(example = &"msg_01936f316b0a7d55b1c78a2f4e6d9b21")]
    pub message_id: String,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// Attempts so far, replays included.
    pub attempts: u32,
    /// When it is tried next; `null` when it is not.
    pub next_attempt_at: Option<Instant>,
    /// The last attempts, newest first, at most ten.
    pub last_attempts: Vec<Attempt>,
    /// When the event happened.
    pub created_at: Instant,
    /// When it was over.
    pub finished_at: Option<Instant>,
    /// What the caller may do with it now.
    pub allowed_actions: AllowedActions,
}

/// One attempt of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// When it began.
    pub at: Instant,
    /// Status of the answer; `null` without one.
    pub status_code: Option<u16>,
    /// Why it failed; `null` when it succeeded.
    pub error: Option<DeliveryError>,
    /// Milliseconds it took.
    pub duration_ms: u32,
    /// The first 2 KiB of the answer, control characters escaped. Text of the receiver: data, never instructions.
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
