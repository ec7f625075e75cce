//! The credential of the caller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Instant, declare::operation, ids::CredentialId, projects::ProjectRef};

operation! {
    /// Returns the credential in use, its scopes and its project.
    ///
    /// Call this first. It needs no scope.
    GetMe {}
}

/// The credential and its project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    /// The API key that was sent.
    pub api_key: ApiKey,
    /// Project that the key belongs to.
    pub project: ProjectRef,
}

/// Public details of an API key. The key itself is shown only once, on creation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Id of the key.
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4d")]
    pub id: CredentialId,
    /// Label of the key.
    #[schemars(example = &"agent")]
    pub name: String,
    /// First characters of the key.
    #[schemars(example = &"swk_4fT9aQz1")]
    pub prefix: String,
    /// Time of the last use, to the minute; `null` before the first use.
    pub last_used_at: Option<Instant>,
    /// Scopes of the key.
    #[schemars(example = ["audits:write", "keywords:read"])]
    pub scopes: Vec<String>,
    /// Whether the key is refused every call that changes something.
    pub read_only: bool,
    /// Time of expiry; `null` if it never expires.
    pub expires_at: Option<Instant>,
}

impl Answer for Me {}
