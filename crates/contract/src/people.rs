//! People: roles in a workspace, and the actions for which a person has to let agents act on their own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Instant, Scope, ids::UserId, words::words};

words! {
    /// Role of a person in a workspace.
    Role {
        /// May read.
        Viewer = "viewer",
        /// May change, generate and publish content, and run audits and prompts.
        Editor = "editor",
        /// May also change integrations, webhooks and the autopilot.
        Admin = "admin",
        /// May do everything.
        Owner = "owner",
    }
}

impl Role {
    /// Returns the lowest role that may use this scope.
    pub const fn for_scope(scope: Scope) -> Self {
        match scope {
            Scope::Any
            | Scope::ProjectsRead
            | Scope::KeywordsRead
            | Scope::PostsRead
            | Scope::IntegrationsRead
            | Scope::WebhooksRead
            | Scope::AuditsRead
            | Scope::VisibilityRead
            | Scope::BrandRead
            | Scope::AutopilotRead => Self::Viewer,
            Scope::OfRecord
            | Scope::KeywordsWrite
            | Scope::PostsWrite
            | Scope::AuditsWrite
            | Scope::VisibilityWrite
            | Scope::BrandWrite
            | Scope::ContentGenerate
            | Scope::ContentPublish
            | Scope::VisibilityTrack => Self::Editor,
            Scope::IntegrationsWrite | Scope::WebhooksWrite | Scope::AutopilotWrite => Self::Admin,
        }
    }

    /// Returns whether the role may use this scope.
    pub fn permits(self, scope: Scope) -> bool {
        self >= Self::for_scope(scope)
    }
}

words! {
    /// Action that agents perform only where Agent Autonomy is on.
    AutonomyAction {
        /// Publishing and unpublishing posts.
        Publish = "publish",
        /// Running tracked prompts.
        Track = "track",
        /// Changing the autopilot.
        Autopilot = "autopilot",
    }
}

impl AutonomyAction {
    /// Returns the action that an operation with this scope performs, if it is one.
    pub const fn of_scope(scope: Scope) -> Option<Self> {
        match scope {
            Scope::ContentPublish => Some(Self::Publish),
            Scope::VisibilityTrack => Some(Self::Track),
            Scope::AutopilotWrite => Some(Self::Autopilot),
            _ => None,
        }
    }
}

/// Agent Autonomy of a project: per action, whether agents may act without a person's confirmation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentAutonomy {
    /// Publishing and unpublishing posts.
    pub publish: Autonomy,
    /// Running tracked prompts.
    pub track: Autonomy,
    /// Changing the autopilot.
    pub autopilot: Autonomy,
}

/// Agent Autonomy for one action. Off unless a person turned it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Autonomy {
    /// Whether agents may perform the action now.
    pub enabled: bool,
    /// Times a day (UTC) that agents may perform it; `null` for no limit.
    #[schemars(example = 3)]
    pub daily_cap: Option<u32>,
    /// Time from which it is off again; `null` for no end.
    pub expires_at: Option<Instant>,
}

/// A person, as other members see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserRef {
    /// Id of the person.
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b50")]
    pub id: UserId,
    /// Name of the person.
    #[schemars(example = &"Ann")]
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewers_read_and_only_read() {
        for scope in Scope::ALL {
            assert_eq!(Role::Viewer.permits(*scope), !scope.writes(), "{scope:?}");
            assert!(Role::Owner.permits(*scope));
        }
        assert!(Role::Editor.permits(Scope::ContentPublish));
        assert!(!Role::Editor.permits(Scope::IntegrationsWrite));
    }
}
