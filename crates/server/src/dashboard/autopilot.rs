//! `/projects/{id}/settings/autopilot`: when the autopilot publishes and who approves, and what only a person may set, the volume of
//! a month.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::{
    Patch, Problem,
    actions::Permission,
    autopilot::{
        Autopilot, AutopilotMode, GetAutopilot, PreviewAutopilot, UpdateAutopilot, WeekdayInput,
        WeekdayInputs,
    },
    people::UserRef,
};
use searchwright_engine::{Failure, autopilot::cap::MonthlyCap};

use super::{
    fields::{self, Choice},
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{self, PageResult, SentForm, Visit},
};
use crate::app::App;

/// Slots that the page lists.
const SLOTS: u8 = 6;

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(
        "/projects/{project}/settings/autopilot",
        get(show_page).post(save),
    )
}

const MODES: [(&str, &str); 3] = [
    ("propose", "Propose: posts wait as drafts"),
    (
        "review",
        "Review: posts are scheduled once a person approves them",
    ),
    (
        "auto",
        "Auto: posts are published after a time in which a person may stop them",
    ),
];

/// Fields of the form of the settings.
struct AutopilotFields {
    enabled: bool,
    mode: String,
    interval: String,
    weekdays: Vec<String>,
    time: String,
    zone: String,
    hold: String,
    lead: String,
    score: String,
    refresh: String,
    other: bool,
    drafts: bool,
}

impl AutopilotFields {
    fn from_settings(autopilot: &Autopilot) -> Self {
        Self {
            enabled: autopilot.enabled,
            mode: autopilot.mode.to_string(),
            interval: autopilot.publish_interval_days.to_string(),
            weekdays: autopilot
                .publish_weekdays
                .iter()
                .flatten()
                .map(u8::to_string)
                .collect(),
            time: autopilot.publish_time.clone(),
            zone: autopilot.timezone.clone(),
            hold: autopilot.hold_hours.to_string(),
            lead: autopilot.lead_days.to_string(),
            score: autopilot.min_score.to_string(),
            refresh: autopilot.refresh_share.to_string(),
            other: autopilot.reviewer_other_than_author,
            drafts: autopilot.draft_only,
        }
    }

    fn sent(sent: &SentForm) -> Self {
        let field = |name: &str| sent.form.get(name).trim().to_owned();
        Self {
            enabled: !field("enabled").is_empty(),
            mode: field("mode"),
            interval: field("interval"),
            weekdays: sent.form.all("weekday").map(str::to_owned).collect(),
            time: field("time"),
            zone: field("zone"),
            hold: field("hold"),
            lead: field("lead"),
            score: field("score"),
            refresh: field("refresh"),
            other: !field("other").is_empty(),
            drafts: !field("drafts").is_empty(),
        }
    }

    fn update(&self, visit: &Visit) -> Result<UpdateAutopilot, String> {
        let days = self.weekdays.iter().filter_map(|day| day.parse().ok());
        let days: Vec<WeekdayInput> = days.map(WeekdayInput::Number).collect();
        let mode = self.mode.parse::<AutopilotMode>();
        Ok(UpdateAutopilot {
            project_id: visit.project_id(),
            enabled: Some(self.enabled),
            publish_interval_days: fields::whole("the number of days", &self.interval)?,
            publish_weekdays: match days.len() {
                0 | 7 => Patch::Null,
                _ => Patch::Value(WeekdayInputs(days)),
            },
            publish_time: Some(self.time.clone()).filter(|time| !time.is_empty()),
            timezone: match self.zone.as_str() {
                // Left as it is shown, it goes on following the project.
                "" => Patch::Null,
                zone if zone == visit.project.timezone => Patch::Null,
                zone => Patch::Value(zone.to_owned()),
            },
            mode: Some(mode.map_err(|_| "choose what becomes of posts from the list".to_owned())?),
            auto_publish: None,
            hold_hours: fields::whole("the number of hours", &self.hold)?,
            lead_days: fields::whole("the number of days before a slot", &self.lead)?,
            min_score: fields::whole("the score", &self.score)?,
            monthly_cap: None,
            reviewer_other_than_author: Some(self.other),
            draft_only: Some(self.drafts),
            refresh_share: fields::whole("the percentage", &self.refresh)?,
            paused_until: Patch::Absent,
        })
    }
}

#[derive(Template)]
#[template(path = "autopilot.html")]
struct AutopilotView {
    frame: ProjectFrame,
    cap: MonthlyCap,
    cap_typed: String,
    cap_wrong: Option<String>,
    wrong: Option<String>,
    status: (&'static str, &'static str),
    paused: Option<String>,
    missing: Option<String>,
    facts: Vec<(&'static str, String)>,
    slots: Vec<String>,
    may_change: bool,
    version: String,
    fields: AutopilotFields,
    modes: Vec<Choice>,
    weekdays: Vec<Choice>,
}

/// Fields of a form that was refused.
#[derive(Default)]
struct AutopilotRemarks {
    wrong: Option<(StatusCode, String)>,
    fields: Option<AutopilotFields>,
    cap: Option<String>,
}

fn person(visit: &Visit) -> UserRef {
    UserRef {
        id: visit.user(),
        name: visit.session().user_name.clone(),
    }
}

async fn slots(visit: &Visit) -> Result<Vec<String>, Failure> {
    let previewed = visit
        .read(&PreviewAutopilot {
            project_id: visit.project_id(),
            enabled: None,
            publish_interval_days: None,
            publish_weekdays: Patch::Absent,
            publish_time: None,
            timezone: Patch::Absent,
            mode: None,
            auto_publish: None,
            hold_hours: None,
            lead_days: None,
            min_score: None,
            monthly_cap: None,
            reviewer_other_than_author: None,
            draft_only: None,
            refresh_share: None,
            last_publish_date: None,
            after: None,
            count: Some(SLOTS),
            paused_until: Patch::Absent,
        })
        .await?;
    let slots = previewed.slots.iter();
    Ok(slots
        .map(|slot| format!("{} {}", slot.local_date, slot.local_time))
        .collect())
}

async fn show_settings(visit: &Visit, remarks: AutopilotRemarks) -> PageResult {
    let cap = visit
        .app()
        .engine
        .monthly_cap_for(&person(visit), visit.project.id)
        .await?;
    let autopilot = visit
        .read(&GetAutopilot {
            project_id: visit.project_id(),
        })
        .await?;
    let (code, wrong) = match remarks.wrong {
        Some((status, text)) => (status, Some(text)),
        None => (StatusCode::OK, None),
    };
    let is_paused = autopilot.paused_reason.is_some() || autopilot.paused_until.is_some();
    let mut facts = Vec::new();
    if let Some(at) = autopilot.next_publish_at {
        facts.push(("Next", visit.time(&at)));
    }
    let last = autopilot.last_publish_at.map(|at| visit.time(&at));
    facts.push(("Last publication", last.unwrap_or_else(|| "none".to_owned())));
    if !autopilot.overdue.is_empty() {
        let overdue = show::count(autopilot.overdue.len(), "post waits", "posts wait");
        facts.push(("Missed slots", format!("{overdue} for a person")));
    }
    let paused = autopilot.paused_detail.as_deref().map(show::plain);
    let until = autopilot
        .paused_until
        .map(|at| format!("It pauses until {}.", visit.time(&at)));
    let missing = match autopilot.allowed_actions.0.get("enable") {
        Some(Permission::No { reason, .. }) if !autopilot.enabled => Some(show::plain(reason)),
        _ => None,
    };
    let is_cap = remarks.cap.is_some();
    let fields = remarks
        .fields
        .unwrap_or_else(|| AutopilotFields::from_settings(&autopilot));
    let view = AutopilotView {
        frame: visit.frame("Autopilot", Section::Settings),
        cap_typed: remarks.cap.unwrap_or_else(|| cap.cap.to_string()),
        cap,
        cap_wrong: wrong.clone().filter(|_| is_cap),
        wrong: wrong.filter(|_| !is_cap),
        status: match (autopilot.enabled, is_paused) {
            (true, true) => ("warning", "Paused"),
            (true, false) => ("good", "On"),
            (false, _) => ("off", "Off"),
        },
        paused: paused.or(until).filter(|_| autopilot.enabled),
        missing,
        facts,
        slots: slots(visit).await?,
        may_change: autopilot.allowed_actions.0.get("update") == Some(&Permission::Yes(true)),
        version: format!("{}-{}", autopilot.project_id, autopilot.version),
        modes: Choice::list(MODES, |mode| mode == fields.mode),
        weekdays: Choice::list(fields::WEEKDAYS, |day| {
            fields.weekdays.iter().any(|known| known == day)
        }),
        fields,
    };
    Ok(page::respond(code, &view, Form::OwnWithScript))
}

async fn show_page(visit: Visit) -> PageResult {
    show_settings(&visit, AutopilotRemarks::default()).await
}

async fn save(sent: SentForm) -> PageResult {
    let visit = &sent.visit;
    let (mut remarks, saved) = if sent.form.get("action") == "settings" {
        let fields = AutopilotFields::sent(&sent);
        let saved = match fields.update(visit) {
            Ok(update) => sent.change(&update).await.map(drop),
            Err(why) => Err(Problem::fault("", "not_a_choice", &why).into()),
        };
        let remarks = AutopilotRemarks {
            fields: Some(fields),
            ..AutopilotRemarks::default()
        };
        (remarks, saved)
    } else {
        let typed = sent.form.get("cap").trim().to_owned();
        let cap = typed.parse().unwrap_or_default();
        let saved = visit
            .app()
            .engine
            .set_monthly_cap(&person(visit), visit.project.id, cap)
            .await;
        let remarks = AutopilotRemarks {
            cap: Some(typed),
            ..AutopilotRemarks::default()
        };
        (remarks, saved)
    };
    match saved {
        Ok(()) => Ok(sent.done(&visit.address("/settings/autopilot"), "saved", 1)),
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => {
                remarks.wrong = Some(wrong);
                show_settings(visit, remarks).await
            }
            None => Err(failure.into()),
        },
    }
}
