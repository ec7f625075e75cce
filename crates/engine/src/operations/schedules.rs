//! Schedules: their settings and what becomes of their slots. What starts them is `schedules/tick.rs`.

use searchwright_contract::{
    Code, Fault, Operation as _, Patch, Problem, Scope,
    actions::{AllowedActions, Permission},
    autopilot::Weekday,
    schedules::{ListSchedules, Schedule, ScheduleKind, SchedulerStatus, Schedules, UpdateSchedule},
};
use searchwright_store::{
    Tx, projects, prompts,
    schedules::{self, ScheduleRecord},
};

use super::items::{changed_since_read, refuse};
use crate::{
    Engine, autonomy,
    call::{Call, Prepared},
    endpoint::Handle,
    failure::Result,
    schedules::{TICK, TimesEdit, next_slot, plan, slot_rule},
};

/// Milliseconds after which a slot that is due counts as late: two ticks.
const LATE_MILLIS: i64 = 30_000;

/// A condition for turning a schedule on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StartCondition {
    /// An account that asks an engine.
    Engine,
    /// An active prompt.
    Prompts,
    /// A limit of the cost.
    MaxCost,
    /// Prices, without which the limit cannot be held.
    Price,
    /// An account that has metrics of keywords.
    Provider,
}

impl StartCondition {
    /// Word in `missing`.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Prompts => "prompts",
            Self::MaxCost => "max_cost",
            Self::Price => "price",
            Self::Provider => "provider",
        }
    }

    /// Explanation of a refusal.
    const fn detail(self) -> &'static str {
        match self {
            Self::Engine => "no account asks an engine",
            Self::Prompts => "no prompt is active",
            Self::MaxCost => "max_cost is not set, and nothing runs unattended without a limit",
            Self::Price => "the price of an engine is unknown, so that max_cost cannot be held",
            Self::Provider => "no account has metrics of keywords",
        }
    }

    /// Next step of the caller.
    const fn hint(self) -> &'static str {
        match self {
            Self::Engine | Self::Provider => {
                "let the operator set an account: searchwright admin provider set"
            }
            Self::Prompts => "add a prompt, or make one active",
            Self::MaxCost => "set max_cost, in US dollars per run",
            Self::Price => "let the operator set inputPrice, outputPrice and searchPrice of its account",
        }
    }
}

/// Texts of conditions as one sentence.
fn join(conditions: &[StartCondition], text: fn(StartCondition) -> &'static str) -> String {
    let mut texts: Vec<&str> = conditions.iter().map(|condition| text(*condition)).collect();
    texts.dedup();
    texts.join("; ")
}

/// Returns the scope that reads the results of a kind.
const fn read_scope(kind: ScheduleKind) -> Scope {
    match kind {
        ScheduleKind::Posts => Scope::AutopilotRead,
        ScheduleKind::Audits => Scope::AuditsRead,
        ScheduleKind::Visibility => Scope::VisibilityRead,
        ScheduleKind::Metrics => Scope::KeywordsRead,
    }
}

/// Returns the scope that starts the work of a kind.
const fn write_scope(kind: ScheduleKind) -> Scope {
    match kind {
        ScheduleKind::Posts => Scope::AutopilotWrite,
        ScheduleKind::Audits => Scope::AuditsWrite,
        ScheduleKind::Visibility => Scope::VisibilityTrack,
        ScheduleKind::Metrics => Scope::ContentGenerate,
    }
}

/// Returns the conditions for turning a schedule on that are not met.
async fn list_missing(call: &Call, tx: &mut Tx, record: &ScheduleRecord) -> Result<Vec<StartCondition>> {
    let scope = call.scope()?;
    let mut missing = Vec::new();
    match record.kind {
        ScheduleKind::Posts | ScheduleKind::Audits => {}
        ScheduleKind::Visibility => {
            let engines = call
                .engine
                .accounts_at_vendors()?
                .answer_engines(tx, scope)
                .await?;
            let engines = engines.unwrap_or_default();
            if engines.is_empty() {
                missing.push(StartCondition::Engine);
            }
            if prompts::count_active(tx, scope).await? == 0 {
                missing.push(StartCondition::Prompts);
            }
            if record.max_cost_micros.is_none() {
                missing.push(StartCondition::MaxCost);
            }
            let mut estimates = engines.iter().map(|engine| engine.estimate("", 1));
            if estimates.any(|estimate| estimate.high_micros.is_none()) {
                missing.push(StartCondition::Price);
            }
        }
        ScheduleKind::Metrics => {
            let sources = call.engine.accounts_at_vendors()?.keyword_data(tx, scope).await?;
            let mut sources = sources.unwrap_or_default().into_iter();
            if !sources.any(|source| source.most_keywords() > 0) {
                missing.push(StartCondition::Provider);
            }
        }
    }
    Ok(missing)
}

fn cannot_enable(kind: ScheduleKind, missing: &[StartCondition]) -> Problem {
    let words: Vec<&str> = missing.iter().map(|condition| condition.as_str()).collect();
    let detail = join(missing, StartCondition::detail);
    Problem::new(
        Code::InvalidState,
        format!("the schedule of {kind} cannot be on: {detail}"),
    )
    .hint(join(missing, StartCondition::hint))
    .with("missing", words)
}

fn belongs_to_autopilot() -> Problem {
    Problem::new(
        Code::InvalidState,
        "the schedule of posts is part of the autopilot",
    )
    .hint("change it with autopilot.update")
}

async fn to_answer(
    call: &Call,
    tx: &mut Tx,
    record: ScheduleRecord,
    missing: &[StartCondition],
) -> Result<Schedule> {
    let scope = call.scope()?;
    let update = match record.kind {
        ScheduleKind::Posts => Permission::no(Code::InvalidState.as_str(), belongs_to_autopilot().detail),
        kind => call.permission(write_scope(kind)),
    };
    let enable = match update {
        Permission::Yes(true) if !missing.is_empty() => {
            Permission::no(Code::InvalidState.as_str(), join(missing, StartCondition::detail))
        }
        _ => update.clone(),
    };
    let last_detail = match record.last_at {
        Some(_) => schedules::find_last_detail(tx, scope, record.kind).await?,
        None => None,
    };
    let late = record.plan.map(|plan| call.now.millis() - plan.due_at.millis());
    let weekdays = record.times.weekdays.as_deref();
    Ok(Schedule {
        project_id: scope.project().into(),
        kind: record.kind,
        enabled: record.enabled,
        interval_days: record.times.interval_days,
        weekdays: weekdays.map(|days| days.iter().map(|day| day.number()).collect()),
        weekday_names: weekdays.unwrap_or(Weekday::ALL).to_vec(),
        time: record.times.time.strftime("%H:%M").to_string(),
        timezone: record.times.timezone,
        samples: (record.kind == ScheduleKind::Visibility).then_some(record.samples),
        max_cost: record.max_cost_micros.map(|micros| micros as f64 / 1e6),
        next_at: record.plan.map(|plan| plan.at),
        last_at: record.last_at,
        last_outcome: record.last_outcome,
        last_detail,
        late_by: late
            .filter(|late| *late > LATE_MILLIS)
            .map(|late| late.unsigned_abs() / 1000),
        version: record.version,
        updated_at: record.updated_at,
        allowed_actions: AllowedActions::default()
            .with("update", update)
            .with("enable", enable),
    })
}

impl Handle<ListSchedules> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: ListSchedules) -> Result<Schedules> {
        let mut data = Vec::new();
        for kind in ScheduleKind::ALL {
            if call.refusal(read_scope(*kind)).is_some() {
                continue;
            }
            let record = schedules::get(tx, call.scope()?, *kind).await?;
            let missing = list_missing(call, tx, &record).await?;
            data.push(to_answer(call, tx, record, &missing).await?);
        }
        Ok(Schedules {
            data,
            next_cursor: None,
            scheduler: SchedulerStatus {
                last_tick_at: call.engine.ticks.last(),
                interval_seconds: TICK.as_secs() as u32,
            },
        })
    }
}

/// Returns the kind of an operation that the caller may change.
fn changeable(call: &Call, kind: &str) -> Result<ScheduleKind> {
    let kind: ScheduleKind = kind.parse().map_err(|_| Problem::not_found("schedule"))?;
    if let Some(problem) = call.refusal(write_scope(kind)) {
        return Err(problem.into());
    }
    if kind == ScheduleKind::Posts {
        return Err(belongs_to_autopilot().into());
    }
    Ok(kind)
}

/// Checks that the caller may change a schedule of this kind now.
async fn admit(call: &Call, kind: &str) -> Result<()> {
    let kind = changeable(call, kind)?;
    autonomy::check(&call.engine, &call.credential, call.project()?, write_scope(kind)).await
}

/// Writes the given settings into a record; the fault of every one that is not valid.
fn apply(operation: UpdateSchedule, record: &mut ScheduleRecord) -> Vec<Fault> {
    let times = TimesEdit {
        interval_days: operation.interval_days,
        weekdays: operation.weekdays,
        time: operation.time,
        timezone: operation.timezone,
        prefix: "",
    };
    let mut faults = times.apply(&mut record.times);
    let mut fault = |pointer: &str, code: &str, detail: &str| {
        faults.push(Fault {
            pointer: pointer.to_owned(),
            code: code.to_owned(),
            detail: detail.to_owned(),
        });
    };
    if let Some(samples) = operation.samples {
        match record.kind {
            ScheduleKind::Visibility => record.samples = samples,
            _ => fault(
                "/samples",
                "not_applicable",
                "is only of the schedule of visibility",
            ),
        }
    }
    if !operation.max_cost.is_absent() && record.kind == ScheduleKind::Audits {
        fault(
            "/max_cost",
            "not_applicable",
            "is not of the schedule of audits, which cost nothing",
        );
    } else {
        let stored = record.max_cost_micros.map(|micros| micros as f64 / 1e6);
        let max_cost = operation.max_cost.apply(stored);
        record.max_cost_micros = max_cost.map(|usd| (usd * 1e6).round() as i64);
    }
    faults
}

impl Handle<UpdateSchedule> for Engine {
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &UpdateSchedule) -> Result<Prepared> {
        let admitted = admit(call, &operation.kind).await;
        admitted.inspect_err(|failure| {
            let meta = &UpdateSchedule::META;
            call.engine.record_denial(meta, &call.credential, &failure.0);
        })?;
        Ok(Prepared::Nothing)
    }

    async fn handle(call: &Call, tx: &mut Tx, operation: UpdateSchedule) -> Result<Schedule> {
        let scope = call.scope()?;
        let kind = changeable(call, &operation.kind)?;
        autonomy::consume(call, tx, call.project()?, write_scope(kind)).await?;
        projects::lock(tx, scope).await?;
        let before = schedules::get(tx, scope, kind).await?;
        call.check_match(format!("{}-{kind}", scope.project()), before.version)?;
        let mut record = before.clone();
        let enable = operation.enabled;
        let clears_limit = operation.max_cost == Patch::Null;
        record.enabled = enable.unwrap_or(record.enabled);
        refuse(apply(operation, &mut record))?;
        let missing = list_missing(call, tx, &record).await?;
        let is_unlimited = record.enabled && clears_limit && missing.contains(&StartCondition::MaxCost);
        if enable == Some(true) && !missing.is_empty() || is_unlimited {
            return Err(cannot_enable(kind, &missing).into());
        }
        if !record.enabled {
            record.plan = None;
        } else if !before.enabled || before.times != record.times {
            let zone = projects::get(tx, scope).await?.timezone;
            let rule = slot_rule(&record.times, &zone)?;
            let used = schedules::list_dates(tx, scope, kind).await?;
            let next = next_slot(&rule, &used, call.now, call.now);
            record.plan = next.map(|slot| plan(&rule, &slot, 0, call.now));
        }
        let written = if record == before {
            record
        } else {
            schedules::change(tx, scope, &record, call.now)
                .await
                .map_err(changed_since_read)?
        };
        to_answer(call, tx, written, &missing).await
    }
}
