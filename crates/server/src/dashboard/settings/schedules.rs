//! `/projects/{id}/settings/schedules`: what starts by itself, and when.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::{
    Patch, Problem,
    actions::Permission,
    autopilot::{WeekdayInput, WeekdayInputs},
    schedules::{ListSchedules, Schedule, ScheduleKind, UpdateSchedule},
};

use crate::{
    app::App,
    dashboard::{
        fields::{self, Choice},
        frame::{ProjectFrame, Section},
        page::{self, Form},
        show,
        visit::{self, PageResult, SentForm, Visit},
    },
};

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(
        "/projects/{project}/settings/schedules",
        get(show_page).post(change),
    )
}

/// Name of a kind, and what it starts.
const fn name(kind: ScheduleKind) -> (&'static str, &'static str) {
    match kind {
        ScheduleKind::Posts => ("Posts", "The autopilot writes and publishes posts."),
        ScheduleKind::Audits => ("Audits", "The website is crawled and checked."),
        ScheduleKind::Visibility => (
            "Visibility",
            "All active prompts are asked, which costs money at the providers.",
        ),
        ScheduleKind::Metrics => (
            "Keyword metrics",
            "Figures of keywords are asked again, which may cost money.",
        ),
    }
}

/// Fields of the form of a schedule.
struct ScheduleFields {
    kind: ScheduleKind,
    enabled: bool,
    interval: String,
    weekdays: Vec<String>,
    time: String,
    zone: String,
    samples: String,
    cost: String,
}

impl ScheduleFields {
    fn from_schedule(schedule: &Schedule) -> Self {
        Self {
            kind: schedule.kind,
            enabled: schedule.enabled,
            interval: schedule.interval_days.to_string(),
            weekdays: schedule.weekdays.iter().flatten().map(u8::to_string).collect(),
            time: schedule.time.clone(),
            zone: schedule.timezone.clone().unwrap_or_default(),
            samples: schedule
                .samples
                .map_or_else(String::new, |samples| samples.to_string()),
            cost: schedule
                .max_cost
                .map_or_else(String::new, |cost| cost.to_string()),
        }
    }

    fn sent(kind: ScheduleKind, sent: &SentForm) -> Self {
        let field = |name: &str| sent.form.get(name).trim().to_owned();
        Self {
            kind,
            enabled: !field("enabled").is_empty(),
            interval: field("interval"),
            weekdays: sent.form.all("weekday").map(str::to_owned).collect(),
            time: field("time"),
            zone: field("zone"),
            samples: field("samples"),
            cost: field("cost"),
        }
    }

    fn update(&self, project_id: String) -> Result<UpdateSchedule, String> {
        let days = self.weekdays.iter().filter_map(|day| day.parse().ok());
        let days: Vec<WeekdayInput> = days.map(WeekdayInput::Number).collect();
        let cost = match self.cost.as_str() {
            "" => Patch::Null,
            text => Patch::Value(
                text.parse()
                    .map_err(|_| "the most it may cost has to be an amount such as 0.50".to_owned())?,
            ),
        };
        let has_cost = matches!(self.kind, ScheduleKind::Visibility | ScheduleKind::Metrics);
        Ok(UpdateSchedule {
            project_id,
            kind: self.kind.to_string(),
            enabled: Some(self.enabled),
            interval_days: fields::whole("the number of days", &self.interval)?,
            weekdays: match days.len() {
                // No day and every day are the same: it is not held back by the day of the week.
                0 | 7 => Patch::Null,
                _ => Patch::Value(WeekdayInputs(days)),
            },
            time: Some(self.time.clone()).filter(|time| !time.is_empty()),
            timezone: match self.zone.as_str() {
                "" => Patch::Null,
                zone => Patch::Value(zone.to_owned()),
            },
            samples: match self.kind {
                ScheduleKind::Visibility => fields::whole("answers per prompt", &self.samples)?,
                _ => None,
            },
            max_cost: if has_cost { cost } else { Patch::Absent },
        })
    }
}

/// A schedule on the page.
struct ScheduleCard {
    kind: ScheduleKind,
    name: &'static str,
    text: &'static str,
    is_on: bool,
    next: Option<String>,
    last: Option<String>,
    /// Reason it cannot be turned on; `None` if it can.
    missing: Option<String>,
    may_change: bool,
    version: String,
    fields: ScheduleFields,
    weekdays: Vec<Choice>,
    has_cost: bool,
    wrong: Option<String>,
}

impl ScheduleCard {
    fn new(visit: &Visit, schedule: &Schedule, sent: Option<ScheduleFields>, wrong: Option<String>) -> Self {
        let (name, text) = name(schedule.kind);
        let last = schedule.last_at.map(|at| {
            let outcome = schedule
                .last_outcome
                .as_deref()
                .map(show::words)
                .unwrap_or_default();
            let detail = schedule
                .last_detail
                .as_deref()
                .map(|text| format!(": {}", show::cut(text, 300)));
            format!("{}, {outcome}{}", visit.time(&at), detail.unwrap_or_default())
        });
        let missing = match schedule.allowed_actions.0.get("enable") {
            Some(Permission::No { reason, .. })
                if !schedule.enabled && schedule.kind != ScheduleKind::Posts =>
            {
                Some(show::plain(reason))
            }
            _ => None,
        };
        let may_change = schedule.allowed_actions.0.get("update") == Some(&Permission::Yes(true));
        let fields = sent.unwrap_or_else(|| ScheduleFields::from_schedule(schedule));
        Self {
            kind: schedule.kind,
            name,
            text,
            is_on: schedule.enabled,
            next: schedule.next_at.map(|at| visit.time(&at)),
            last,
            missing,
            may_change: may_change && schedule.kind != ScheduleKind::Posts,
            version: format!("{}-{}-{}", schedule.project_id, schedule.kind, schedule.version),
            weekdays: Choice::list(fields::WEEKDAYS, |day| {
                fields.weekdays.iter().any(|known| known == day)
            }),
            has_cost: matches!(schedule.kind, ScheduleKind::Visibility | ScheduleKind::Metrics),
            fields,
            wrong,
        }
    }

    /// Times at which it starts, in words.
    fn when(&self) -> String {
        let days: Vec<&str> = self
            .weekdays
            .iter()
            .filter(|day| day.is_chosen)
            .map(|day| day.text.as_str())
            .collect();
        let days = if days.is_empty() {
            "any day".to_owned()
        } else {
            days.join(", ")
        };
        let zone = if self.fields.zone.is_empty() {
            ""
        } else {
            self.fields.zone.as_str()
        };
        let every = show::count(self.fields.interval.parse().unwrap_or(1_u32), "day", "days");
        format!(
            "{days} at {} {zone}, at least {every} after the last",
            self.fields.time
        )
    }
}

#[derive(Template)]
#[template(path = "schedules.html")]
struct SchedulesView {
    frame: ProjectFrame,
    cards: Vec<ScheduleCard>,
    /// Time of the last tick; `None` if the process that answers runs no jobs.
    ticked: Option<String>,
}

async fn show_cards(
    visit: &Visit,
    sent: Option<ScheduleFields>,
    wrong: Option<(StatusCode, String)>,
) -> PageResult {
    let listed = visit
        .read(&ListSchedules {
            project_id: visit.project_id(),
        })
        .await?;
    let (status, mut wrong) = wrong.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
    let mut sent = sent;
    let mut cards = Vec::new();
    for schedule in &listed.data {
        let is_sent = sent.as_ref().is_some_and(|sent| sent.kind == schedule.kind);
        let (fields, why) = if is_sent {
            (sent.take(), wrong.take())
        } else {
            (None, None)
        };
        cards.push(ScheduleCard::new(visit, schedule, fields, why));
    }
    let view = SchedulesView {
        frame: visit.frame("Schedules", Section::Settings),
        cards,
        ticked: listed.scheduler.last_tick_at.map(|at| visit.time(&at)),
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn show_page(visit: Visit) -> PageResult {
    show_cards(&visit, None, None).await
}

async fn change(sent: SentForm) -> PageResult {
    let Ok(kind) = sent.form.get("kind").parse::<ScheduleKind>() else {
        return Ok(visit::not_found());
    };
    let fields = ScheduleFields::sent(kind, &sent);
    let changed = match fields.update(sent.visit.project_id()) {
        Ok(update) => sent.change(&update).await.map(drop),
        Err(why) => Err(Problem::fault("", "not_a_number", &why).into()),
    };
    match changed {
        Ok(()) => Ok(sent.done(&sent.visit.address("/settings/schedules"), "saved", 1)),
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => show_cards(&sent.visit, Some(fields), Some(wrong)).await,
            None => Err(failure.into()),
        },
    }
}
