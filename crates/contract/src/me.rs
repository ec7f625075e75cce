//! Who is asking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Instant, declare::operation, projects::ProjectRef};

operation! {
    /// Tells which credential this is and what it reaches.
    ///
    /// Call it first. It needs no scope.
    GetMe {}
}

/// The credential and its project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    /// The API key that was sent.
    pub api_key: ApiKey,
    /// The one project it belongs to.
    pub project: ProjectRef,
}

/// What may be known of an API key. The key itself is shown once, when it is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Identifier of the key.
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4d")]
    pub id: String,
    /// Its label.
    #[schemars(example = &"agent")]
    pub name: String,
    /// Its first characters.
    #[schemars(example = &"swk_4fT9aQz1")]
    pub prefix: String,
    /// When it was last used, to the minute; `null` before the first use.
    pub last_used_at: Option<Instant>,
    /// What it may do.
    #[schemars(example = ["audits:write", "keywords:read"])]
    pub scopes: Vec<String>,
    /// Refuses everything that changes something.
    pub read_only: bool,
    /// When it stops working; `null` means never.
    pub expires_at: Option<Instant>,
}

impl Answer for Me {}
