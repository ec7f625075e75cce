//! Projects: one website each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Head, Instant, declare::operation, ids::ProjectId, people::AgentAutonomy};

operation! {
    /// Returns the project that the API key belongs to.
    ///
    /// An OAuth token belongs to no project: list the projects and choose one.
    GetProject {}
}

operation! {
    /// Lists the projects that the credential can access.
    ///
    /// An API key has access to one project, an OAuth token to those of the workspaces that its user is a member of now.
    /// Ordered by name.
    ListProjects {
        /// Projects per page, 1 to 100; default 25.
        #[schemars(range(min = 1, max = 100))]
        limit: Option<u8>,
        /// `nextCursor` of the previous page.
        #[schemars(length(max = 512))]
        cursor: Option<String>,
    }
}

operation! {
    /// Returns one project.
    GetProjectById {
        project;
    }
}

/// A project in short form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectRef {
    /// Identifier (UUID).
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub id: ProjectId,
    /// Name.
    #[schemars(example = &"Example")]
    pub name: String,
    /// Website: a host, or scheme, host and port.
    #[schemars(example = &"example.com")]
    pub domain: String,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// Identifier (UUID).
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub id: ProjectId,
    /// Name.
    #[schemars(example = &"Example")]
    pub name: String,
    /// Website: a host, or scheme, host and port.
    #[schemars(example = &"example.com")]
    pub domain: String,
    /// Main language of the content (BCP 47).
    #[schemars(example = &"en")]
    pub language: String,
    /// Main market (ISO 3166-1 alpha-2 country code); `null` if not set.
    #[schemars(example = &"US")]
    pub country: Option<String>,
    /// Time zone (IANA name).
    #[schemars(example = &"UTC")]
    pub timezone: String,
    /// Actions that agents may perform without confirmation, set by a person in the dashboard.
    pub agent_autonomy: AgentAutonomy,
    /// Progress of the setup.
    pub setup: Setup,
    /// Version number, incremented by every change; part of the `ETag`.
    #[schemars(example = 1)]
    pub version: i64,
    /// Time of creation.
    pub created_at: Instant,
    /// Time of the last change.
    pub updated_at: Instant,
}

/// Progress of the setup of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Setup {
    /// Whether an audit has finished.
    pub audited: bool,
    /// Whether there is at least one keyword.
    pub has_keywords: bool,
}

impl Answer for Project {
    fn head(&self) -> Head {
        Head {
            etag: Some(format!("{}-{}", self.id, self.version)),
            ..Head::default()
        }
    }
}
