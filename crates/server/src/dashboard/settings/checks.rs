//! `/projects/{id}/settings/checks`: thresholds and severities of a project's checks.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::people::Role;
use searchwright_engine::admin::checks::{ChecksChange, ChecksSet, ThresholdSet};
use searchwright_site::checks;

use crate::{
    app::App,
    dashboard::{
        fields::Choice,
        frame::{ProjectFrame, Section},
        page::{self, Form},
        show,
        visit::{self, PageResult, SentForm, Visit},
    },
};

/// Value of the forms for the setting of the catalogue.
const CATALOGUE: &str = "catalogue";
const LEVELS: [(&str, &str); 5] = [
    (CATALOGUE, "As in the catalogue"),
    ("error", "Error"),
    ("warning", "Warning"),
    ("notice", "Notice"),
    ("off", "Off: it is not checked"),
];

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/projects/{project}/settings/checks", get(show_page).post(change))
}

/// Fields as they were sent.
#[derive(Default)]
struct ChecksFields {
    check: String,
    level: String,
    threshold: String,
    value: String,
}

#[derive(Template)]
#[template(path = "checks.html")]
struct ChecksView {
    frame: ProjectFrame,
    checks: ChecksSet,
    may_manage: bool,
    /// Checks by title.
    choices: Vec<Choice>,
    levels: Vec<Choice>,
    thresholds: Vec<Choice>,
    fields: ChecksFields,
    wrong: Option<String>,
}

impl ChecksView {
    fn title(&self, id: &str) -> &'static str {
        checks::find(id).map_or("", |check| check.title)
    }

    fn range(&self, set: &ThresholdSet) -> String {
        checks::Threshold::find(&set.name).map_or_else(String::new, |known| {
            format!("{} to {}", show::number(known.least), show::number(known.most))
        })
    }
}

async fn show_form(visit: &Visit, fields: ChecksFields, wrong: Option<(StatusCode, String)>) -> PageResult {
    let set = visit.app().engine.checks(visit.project.id.into()).await?;
    let mut known: Vec<(&str, &str)> = checks::registry()
        .iter()
        .map(|check| (check.id, check.title))
        .collect();
    known.sort_by_key(|(_, title)| *title);
    let thresholds = set
        .thresholds
        .iter()
        .map(|set| (set.name.as_str(), set.name.as_str()));
    let (status, wrong) = wrong.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
    let view = ChecksView {
        frame: visit.frame("Checks", Section::Settings),
        may_manage: visit.role >= Role::Admin,
        choices: Choice::list(known, |id| id == fields.check),
        levels: Choice::list(LEVELS, |level| level == fields.level),
        thresholds: Choice::list(thresholds, |name| name == fields.threshold),
        checks: set,
        fields,
        wrong,
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn show_page(visit: Visit) -> PageResult {
    let check = visit
        .parameter("check")
        .unwrap_or_default()
        .chars()
        .take(60)
        .collect();
    let fields = ChecksFields {
        check,
        ..ChecksFields::default()
    };
    show_form(&visit, fields, None).await
}

async fn change(sent: SentForm) -> PageResult {
    let visit = &sent.visit;
    let field = |name: &str| sent.form.get(name).trim().chars().take(60).collect::<String>();
    let fields = ChecksFields {
        check: field("check"),
        level: field("level"),
        threshold: field("threshold"),
        value: field("value"),
    };
    let (name, value) = if field("action") == "severity" {
        (format!("severity.{}", fields.check), fields.level.as_str())
    } else {
        (fields.threshold.clone(), fields.value.as_str())
    };
    let change = if value.is_empty() || value == CATALOGUE {
        ChecksChange::Reset(vec![name])
    } else {
        ChecksChange::Set(vec![format!("{name}={value}")])
    };
    let people = &visit.app().people;
    match people.change_checks(visit.user(), visit.project.id, change).await {
        Ok(()) => Ok(sent.done(&visit.address("/settings/checks"), "checks-saved", 1)),
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => show_form(visit, fields, Some(wrong)).await,
            None => Err(failure.into()),
        },
    }
}
