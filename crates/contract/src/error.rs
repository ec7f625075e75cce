//! Errors of calls: RFC 9457 problem documents whose `code` is the stable contract.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::faults::{Faults, cut};

/// Most bytes of an explanation or a hint: what a caller sent is repeated in part at most.
const MAX_TEXT: usize = 2000;

macro_rules! codes {
    ($($variant:ident $status:literal $text:literal $title:literal,)*) => {
        /// Error code of a failed call. Each has one HTTP status.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $title] $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// HTTP status.
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// Text form, as in JSON.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Human-readable title, one line.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// Parses the text form.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}
codes! {
    MalformedRequest 400 "malformed_request" "The request is malformed",
    MalformedJson 400 "malformed_json" "The body is not acceptable JSON",
    InvalidCursor 400 "invalid_cursor" "The cursor does not belong to this list",
    InvalidIdempotencyKey 400 "invalid_idempotency_key" "The Idempotency-Key is malformed",
    Unauthenticated 401 "unauthenticated" "No credential was sent",
    InvalidToken 401 "invalid_token" "The credential is not valid",
    TokenExpired 401 "token_expired" "The credential has expired",
    ProjectForbidden 403 "project_forbidden" "This project is not accessible with this credential",
    ProjectNotSelected 403 "project_not_selected" "The credential does not select a project",
    InsufficientScope 403 "insufficient_scope" "The credential lacks a scope",
    InsufficientRole 403 "insufficient_role" "The role of the user does not allow this",
    AgentAutonomyRequired 403 "agent_autonomy_required" "Agent Autonomy is not enabled",
    ConfirmationRequired 403 "confirmation_required" "A person has to confirm this",
    QuotaExceeded 403 "quota_exceeded" "A monthly quota is used up",
    NotFound 404 "not_found" "Not found",
    MethodNotAllowed 405 "method_not_allowed" "The method is not allowed here",
    RequestTimeout 408 "request_timeout" "The request took too long to arrive",
    IdempotencyInProgress 409 "idempotency_in_progress" "The first request with this key is still running",
    AlreadyExists 409 "already_exists" "The record already exists",
    InvalidState 409 "invalid_state" "The current state does not allow this",
    UnpublishUnsupported 409 "unpublish_unsupported" "The provider does not support unpublishing",
    ProviderNotConfigured 409 "provider_not_configured" "No provider is configured for this",
    PreconditionFailed 412 "precondition_failed" "The record has changed since it was read",
    PayloadTooLarge 413 "payload_too_large" "The body is too large",
    UriTooLong 414 "uri_too_long" "The URI is too long",
    UnsupportedMediaType 415 "unsupported_media_type" "The body has the wrong media type",
    ValidationFailed 422 "validation_failed" "Some fields are not valid",
    UnknownField 422 "unknown_field" "Unknown field",
    ConnectNotSupported 422 "connect_not_supported" "This provider cannot be connected",
    TooManyItems 422 "too_many_items" "There are too many items",
    IdempotencyKeyReused 422 "idempotency_key_reused" "The Idempotency-Key was used for another request",
    PreconditionRequired 428 "precondition_required" "If-Match is required",
    RateLimitExceeded 429 "rate_limit_exceeded" "The rate limit is exceeded",
    HeadersTooLarge 431 "headers_too_large" "The headers are too large",
    InternalError 500 "internal_error" "Something went wrong on the server",
    ProviderError 502 "provider_error" "A provider refused or failed",
    Overloaded 503 "overloaded" "The server is busy",
    StorageFull 503 "storage_full" "The storage is full",
    StorageUnavailable 503 "storage_unavailable" "The storage is not available",
    ShuttingDown 503 "maintenance" "The server is shutting down",
    HandlerTimeout 504 "request_timed_out" "The server took too long",
}

impl Code {
    /// Whether the same request may succeed later without a change.
    pub const fn retryable(self) -> bool {
        matches!(
            self,
            Self::RequestTimeout
                | Self::IdempotencyInProgress
                | Self::RateLimitExceeded
                | Self::Overloaded
                | Self::StorageFull
                | Self::StorageUnavailable
                | Self::ShuttingDown
                | Self::HandlerTimeout
        )
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A newer server may know more codes: its status still says what kind of failure it is.
        let text = String::deserialize(deserializer)?;
        Ok(Self::parse(&text).unwrap_or(Self::InternalError))
    }
}

impl JsonSchema for Code {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let all: Vec<&str> = Self::ALL.iter().map(|c| c.as_str()).collect();
        json_schema!({ "type": "string", "enum": all })
    }
}

/// One fault of one field of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// JSON Pointer (RFC 6901) into the body, or `/name` of a query parameter.
    pub pointer: String,
    /// Machine-readable kind of fault, such as `too_long`, `required`, `unknown_field`.
    pub code: String,
    /// Human-readable explanation.
    pub detail: String,
}

/// RFC 9457 problem document, the format of every error under `/v1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// URI of this kind of problem.
    #[serde(rename = "type")]
    pub kind: String,
    /// Human-readable title, the same for every problem with this code.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// Human-readable explanation of this failure; not meant for programs.
    pub detail: String,
    /// Machine-readable error code, the stable contract.
    pub code: Code,
    /// Value of the `X-Request-Id` header; quote it when reporting a problem.
    #[serde(default)]
    pub request_id: String,
    /// Whether the same request may succeed later without a change.
    pub retryable: bool,
    /// Faults of the request, one entry each, of the first 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Fault>,
    /// Number of faults in all, with `errors`, which names at most 100 of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_count: Option<u32>,
    /// Suggested next step for the caller, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Additional members that depend on the code: `existingId`, `existingUrl`, `from`, `to`, `allowed`, `missing`, `resource`,
    /// `scope`, `metric`, `limit`, `used`, `resetsAt`.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// Seconds to wait before a retry; sent as `Retry-After`.
    #[serde(skip)]
    #[schemars(skip)]
    pub retry_after: Option<u32>,
    /// Whether the credential was sent in a way that is not accepted; answered with a challenge (RFC 6750 section 3).
    #[serde(skip)]
    #[schemars(skip)]
    pub misplaced_credential: bool,
}

impl Problem {
    /// Creates a problem with a code and an explanation.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("https://searchwright.dev/errors/{}", code.as_str()),
            title: code.title().to_owned(),
            status: code.status(),
            detail: cut(&detail.into(), MAX_TEXT).into_owned(),
            code,
            request_id: String::new(),
            retryable: code.retryable(),
            errors: Vec::new(),
            error_count: None,
            hint: None,
            extra: serde_json::Map::new(),
            retry_after: None,
            misplaced_credential: false,
        }
    }

    /// Adds a suggested next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(cut(&hint.into(), MAX_TEXT).into_owned());
        self
    }

    /// Adds a member.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.extra.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the seconds to wait before a retry.
    #[must_use]
    pub fn after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Names the faults that are why.
    #[must_use]
    pub fn with_faults(mut self, faults: impl Into<Faults>) -> Self {
        let faults = faults.into();
        self.error_count = (!faults.is_empty()).then(|| u32::try_from(faults.count()).unwrap_or(u32::MAX));
        self.errors = faults.into_named();
        self
    }

    /// Creates a problem from faults of the arguments: `unknown_field` or `too_many_items` if all faults are of that
    /// kind, else `validation_failed`.
    pub fn faults(faults: impl Into<Faults>) -> Self {
        let faults = faults.into();
        let all = |code: &str| faults.named().iter().all(|f| f.code == code);
        let code = match () {
            () if all("unknown_field") => Code::UnknownField,
            () if all("too_many_items") => Code::TooManyItems,
            () => Code::ValidationFailed,
        };
        let detail = match faults.named() {
            [one] => format!("{}: {}", one.pointer, one.detail),
            _ => format!("{} fields are not valid", faults.count()),
        };
        Self::new(code, detail).with_faults(faults)
    }

    /// Creates a problem from one fault of one field.
    pub fn fault(pointer: &str, code: &str, detail: impl Into<String>) -> Self {
        Self::faults(vec![Fault {
            pointer: pointer.to_owned(),
            code: code.to_owned(),
            detail: detail.into(),
        }])
    }

    /// Creates a `404 not_found` for a kind of record.
    pub fn not_found(resource: &str) -> Self {
        // Not everything is a record of a project.
        let place = match resource {
            "project" | "workspace" | "person" | "application" | "live key" => "",
            _ => " in this project",
        };
        Self::new(Code::NotFound, format!("there is no such {resource}{place}")).with("resource", resource)
    }

    /// Creates a `409 invalid_state` with the states that are allowed.
    pub fn invalid_state(from: &str, to: &str, allowed: &[&str]) -> Self {
        let allowed: Vec<serde_json::Value> = allowed.iter().map(|s| (*s).into()).collect();
        Self::new(Code::InvalidState, format!("cannot go from {from} to {to}"))
            .with("from", from)
            .with("to", to)
            .with("allowed", allowed)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.detail, self.code.as_str())
    }
}

impl std::error::Error for Problem {}
