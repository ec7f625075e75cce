//! `/projects/{id}/settings/autonomy`: Agent Autonomy, which only a person sets.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::{
    Problem,
    people::{AutonomyAction, Role},
};
use searchwright_engine::Failure;
use searchwright_people::autonomy::{self, AutonomyChange};
use searchwright_store::agent_autonomy::AutonomyRecord;

use crate::{
    app::App,
    dashboard::{
        fields::{self, Choice},
        frame::{ProjectFrame, Section},
        page::{self, Form},
        show,
        visit::{self, ConfirmedForm, PageResult, Visit},
    },
};

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(
        "/projects/{project}/settings/autonomy",
        get(show_page).post(change),
    )
}

/// An action with what is set for it.
struct ActionCard {
    action: AutonomyAction,
    name: &'static str,
    text: &'static str,
    is_on: bool,
    /// Setting in words; empty while there is none.
    facts: Vec<(&'static str, String)>,
    version: String,
    cap: String,
    days: Vec<Choice>,
    wrong: Option<String>,
}

/// Fields of the form of an action, as they were sent.
struct AutonomyFields {
    action: AutonomyAction,
    cap: String,
    days: String,
}

const fn name(action: AutonomyAction) -> (&'static str, &'static str) {
    match action {
        AutonomyAction::Publish => (
            "Publish posts",
            "Agents publish, update and unpublish posts without a person who confirms it.",
        ),
        AutonomyAction::Track => (
            "Run prompts",
            "Agents run tracked prompts, which costs money at the providers, within the budgets.",
        ),
        AutonomyAction::Autopilot => (
            "Change the autopilot",
            "Agents turn the autopilot on and off and change its settings.",
        ),
    }
}

impl ActionCard {
    fn new(visit: &Visit, action: AutonomyAction, record: Option<&AutonomyRecord>) -> Self {
        let now = visit.app().engine.clock.now();
        let (name, text) = name(action);
        let mut facts = Vec::new();
        let is_over = record.is_some_and(|record| record.set.expires_at.is_some_and(|at| at <= now));
        if let Some(record) = record {
            let cap = record.set.daily_cap;
            facts.push((
                "Used today",
                cap.map_or_else(
                    || format!("{}, without a limit", show::number(record.used)),
                    |cap| {
                        format!(
                            "{} of {} (days are in UTC)",
                            show::number(record.used),
                            show::number(cap)
                        )
                    },
                ),
            ));
            let end = record.set.expires_at.map(|at| visit.time(&at));
            facts.push((
                if is_over { "Ended" } else { "Until" },
                end.unwrap_or_else(|| "no end".to_owned()),
            ));
            let by = record.set.enabled_by.as_deref().map(show::plain);
            let by = by.unwrap_or_else(|| "the operator".to_owned());
            facts.push((
                "Turned on by",
                format!("{by}, {}", visit.time(&record.updated_at)),
            ));
        }
        let cap = record.and_then(|record| record.set.daily_cap);
        Self {
            action,
            name,
            text,
            is_on: record.is_some() && !is_over,
            facts,
            version: autonomy::version(record),
            cap: cap.map_or_else(String::new, |cap| cap.to_string()),
            days: Choice::list(fields::DAYS, |days| days == "30"),
            wrong: None,
        }
    }
}

#[derive(Template)]
#[template(path = "autonomy.html")]
struct AutonomyView {
    frame: ProjectFrame,
    cards: Vec<ActionCard>,
    may_manage: bool,
    confirm: Option<String>,
}

async fn show_cards(
    visit: &Visit,
    sent: Option<AutonomyFields>,
    wrong: Option<(StatusCode, String)>,
) -> PageResult {
    let known = visit
        .app()
        .people
        .autonomy(visit.user(), visit.project.id)
        .await?;
    let (status, wrong) = wrong.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
    let mut cards: Vec<ActionCard> = AutonomyAction::ALL
        .iter()
        .map(|action| {
            let record = known.iter().find(|record| record.set.action == *action);
            ActionCard::new(visit, *action, record)
        })
        .collect();
    if let Some(sent) = sent
        && let Some(card) = cards.iter_mut().find(|card| card.action == sent.action)
    {
        card.cap = sent.cap;
        card.days = Choice::list(fields::DAYS, |days| days == sent.days);
        card.wrong = wrong;
    }
    let view = AutonomyView {
        frame: visit.frame("Agent Autonomy", Section::Settings),
        cards,
        may_manage: visit.role >= Role::Admin,
        confirm: visit.confirm(),
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn show_page(visit: Visit) -> PageResult {
    show_cards(&visit, None, None).await
}

async fn change(confirmed: ConfirmedForm) -> PageResult {
    let ConfirmedForm { sent, by, .. } = &confirmed;
    let (visit, form) = (&sent.visit, &sent.form);
    let Ok(action) = form.get("action").parse::<AutonomyAction>() else {
        return Ok(visit::not_found());
    };
    let fields = AutonomyFields {
        action,
        cap: form.get("cap").trim().to_owned(),
        days: form.get("days").to_owned(),
    };
    let is_on = form.get("set") != "off";
    let fault = |why: String| Failure::from(Problem::fault("", "not_a_choice", why));
    let read = || -> Result<AutonomyChange, Failure> {
        visit.check_manages()?;
        Ok(AutonomyChange {
            action,
            is_on,
            daily_cap: fields::whole("Times a day", &fields.cap)
                .map_err(fault)?
                .filter(|_| is_on),
            days: if is_on {
                fields::days(&fields.days).map_err(fault)?
            } else {
                None
            },
            seen: form.get("version").to_owned(),
        })
    };
    let changed = match read() {
        Ok(change) => {
            visit
                .app()
                .people
                .change_autonomy(by, visit.project.id, change)
                .await
        }
        Err(failure) => Err(failure),
    };
    match changed {
        Ok(()) => {
            let code = if is_on { "autonomy-on" } else { "autonomy-off" };
            Ok(sent.done(&visit.address("/settings/autonomy"), code, 1))
        }
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => show_cards(visit, Some(fields), Some(wrong)).await,
            None => Err(failure.into()),
        },
    }
}
