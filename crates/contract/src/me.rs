//! The credential of the caller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Instant,
    declare::operation,
    ids::{CredentialId, ProjectId},
    people::{AgentAutonomy, Role, UserRef},
    projects::ProjectRef,
};

operation! {
    /// Returns the credential in use, its scopes and its projects.
    ///
    /// Call this first. It needs no scope. An API key has one project. With an OAuth token no project is implied: the
    /// projects that the user can access now are listed, and each call names one.
    GetMe {}
}

/// The credential of the caller with what it can access.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Me {
    /// An API key.
    Key(KeyIdentity),
    /// An OAuth access token.
    Token(TokenIdentity),
}

/// An API key and its project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyIdentity {
    /// The API key that was sent.
    pub api_key: ApiKey,
    /// Project that the key belongs to.
    pub project: ProjectRef,
}

/// An OAuth access token and the projects that its user can access.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TokenIdentity {
    /// The authorization behind the token.
    pub authorization: Authorization,
    /// Projects that the user can access now, ordered by name; at most 100, see `GET /projects` for all.
    pub projects: Vec<AccessibleProject>,
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

/// Grant of a person to a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Authorization {
    /// Always `oauth`.
    #[serde(rename = "type")]
    #[schemars(example = &"oauth")]
    pub kind: String,
    /// Person who granted it.
    pub user: UserRef,
    /// Client that it was granted to.
    pub client: ClientRef,
    /// Scopes of the token. What it may do in a project is also bounded by the user's role there.
    #[schemars(example = ["audits:write", "keywords:read"])]
    pub scopes: Vec<String>,
    /// Time of expiry of the token.
    pub expires_at: Instant,
}

/// An OAuth client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientRef {
    /// `client_id`.
    #[schemars(example = &"https://agent.example/oauth/client.json")]
    pub id: String,
    /// Name that the client gives itself; it is not verified.
    #[schemars(example = &"Agent")]
    pub name: String,
}

/// A project with what the user may do there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessibleProject {
    /// Identifier (UUID).
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub id: ProjectId,
    /// Name.
    #[schemars(example = &"Example")]
    pub name: String,
    /// Website: a host, or scheme, host and port.
    #[schemars(example = &"example.com")]
    pub domain: String,
    /// Role of the user in the project's workspace.
    pub role: Role,
    /// Actions that agents may perform without confirmation.
    pub agent_autonomy: AgentAutonomy,
}

impl Answer for Me {}
