//! Projects: one website each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Head, Instant, declare::operation};

operation! {
    /// Returns the project that the API key belongs to.
    GetProject {}
}

operation! {
    /// Lists the projects that the credential reaches.
    ///
    /// An API key reaches one. Ordered by name.
    ListProjects {
        /// Projects per page.
        #[schemars(range(min = 1, max = 100))]
        limit: Option<u8>,
        /// `nextCursor` of the page before.
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

/// A project in a few words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectRef {
    /// Identifier (UUID).
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub id: String,
    /// Name.
    #[schemars(example = &"Example")]
    pub name: String,
    /// The website: a host, or scheme, host and port.
    #[schemars(example = &"example.com")]
    pub domain: String,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// Identifier (UUID).
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub id: String,
    /// Name.
    #[schemars(example = &"Example")]
    pub name: String,
    /// The website: a host, or scheme, host and port.
    #[schemars(example = &"example.com")]
    pub domain: String,
    /// Main language of the content, BCP 47.
    #[schemars(example = &"en")]
    pub language: String,
    /// Main market, ISO 3166-1 alpha-2; `null` when not set.
    #[schemars(example = &"US")]
    pub country: Option<String>,
    /// Time zone, IANA name.
    #[schemars(example = &"UTC")]
    pub timezone: String,
    /// What agents may do without asking, set by a person in the dashboard.
    pub agent_autonomy: AgentAutonomy,
    /// What has been set up so far.
    pub setup: Setup,
    /// Counts changes; the `ETag`.
    #[schemars(example = 1)]
    pub version: i64,
    /// When it was made.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

/// Per action, whether an agent acts without a person's confirmation. Off unless a person turned it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentAutonomy {
    /// Publishing posts.
    pub publish: bool,
    /// Running tracked prompts.
    pub track: bool,
    /// Changing the autopilot.
    pub autopilot: bool,
}

/// Progress of setting a project up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Setup {
    /// An audit has finished.
    pub audited: bool,
    /// There is at least one keyword.
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
