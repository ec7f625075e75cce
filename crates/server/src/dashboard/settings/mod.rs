//! `/projects/{id}/settings`: what can be set for a project, and its facts.

mod accounts;
mod autonomy;
mod checks;
mod keys;
mod notices;
mod project;
mod providers;
mod schedules;

use std::sync::Arc;

use axum::{Router, routing::get};

use crate::app::App;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(
            "/projects/{project}/settings",
            get(project::start).post(project::change),
        )
        .merge(keys::routes())
        .merge(autonomy::routes())
        .merge(schedules::routes())
        .merge(notices::routes())
        .merge(providers::routes())
        .merge(checks::routes())
}

/// A page of settings: its address below the settings, its name, and what is set there.
struct SettingsEntry {
    path: &'static str,
    name: &'static str,
    text: &'static str,
}

const ENTRIES: [SettingsEntry; 10] = [
    SettingsEntry {
        path: "members",
        name: "Members",
        text: "Who may see and change this project, with which role, and invitations.",
    },
    SettingsEntry {
        path: "connect",
        name: "Connect an agent",
        text: "One line for each known agent, and where the last attempts to connect stopped.",
    },
    SettingsEntry {
        path: "autonomy",
        name: "Agent Autonomy",
        text: "What connected agents may do without asking a person, how often a day and until when.",
    },
    SettingsEntry {
        path: "keys",
        name: "API keys",
        text: "Keys for scripts and programs: what each may do, when it was last used, when it ends.",
    },
    SettingsEntry {
        path: "shares",
        name: "Share links",
        text: "Links that show one report to people without an account: when each ends, and how often it was opened.",
    },
    SettingsEntry {
        path: "autopilot",
        name: "Autopilot",
        text: "Whether posts are written and published on a schedule, how many, and who has to approve them.",
    },
    SettingsEntry {
        path: "schedules",
        name: "Schedules",
        text: "At which times audits, runs of prompts and refreshes of metrics start by themselves.",
    },
    SettingsEntry {
        path: "notices",
        name: "Notices",
        text: "What you are told by mail, what a chat is told, and the digest of the week.",
    },
    SettingsEntry {
        path: "providers",
        name: "Providers and budgets",
        text: "Accounts with language models and sources of data, and what was spent of each budget.",
    },
    SettingsEntry {
        path: "checks",
        name: "Checks",
        text: "Thresholds and severities of the audit's checks.",
    },
];
