//! `/projects/{id}/settings`: what can be set for a project, and its facts.

mod autonomy;
mod checks;
mod keys;
mod providers;
mod schedules;

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;

use super::{
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{PageResult, Visit},
};
use crate::app::App;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/settings", get(start))
        .merge(keys::routes())
        .merge(autonomy::routes())
        .merge(schedules::routes())
        .merge(providers::routes())
        .merge(checks::routes())
}

/// A page of settings: its address below the settings, its name, and what is set there.
struct SettingsEntry {
    path: &'static str,
    name: &'static str,
    text: &'static str,
}

const ENTRIES: [SettingsEntry; 9] = [
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

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsView {
    frame: ProjectFrame,
    facts: Vec<(&'static str, String)>,
    base: String,
}

impl SettingsView {
    fn entries(&self) -> &'static [SettingsEntry] {
        &ENTRIES
    }
}

async fn start(visit: Visit) -> PageResult {
    let project = &visit.project;
    let country = project.country.clone();
    let facts = vec![
        ("Name", show::plain(&project.name)),
        ("Website", show::plain(&project.domain)),
        ("Language", show::plain(&project.language)),
        ("Market", country.unwrap_or_else(|| "not set".to_owned())),
        ("Time zone", project.timezone.clone()),
        ("Made", visit.time(&project.created_at)),
        ("Your role", visit.role.to_string()),
        ("Id", project.id.to_string()),
    ];
    let view = SettingsView {
        frame: visit.frame("Settings", Section::Settings),
        facts,
        base: visit.address("/settings"),
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}
