//! Schedules, their plans, and the slots that were used.

use jiff::civil::{Date, Time};
use searchwright_contract::{
    Instant,
    autopilot::Weekday,
    schedules::{ScheduleKind, SlotOutcome},
};

use crate::{Cells, Json, Result, Tx, access::ProjectScope, sql, transfer::imports::UNDER_WAY_ID};

/// Dates of used slots that are read: more than a year of daily ones.
const MAX_DATES: u32 = 400;

/// Times of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleTimes {
    /// Minimum number of calendar days from one slot to the next.
    pub interval_days: u8,
    /// Weekdays, sorted; `None` for every day.
    pub weekdays: Option<Vec<Weekday>>,
    /// Local time of day.
    pub time: Time,
    /// Time zone; `None` for that of the project.
    pub timezone: Option<String>,
}

/// The next slot of a schedule that is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedSlot {
    /// Local date.
    pub date: Date,
    /// Time of the slot.
    pub at: Instant,
    /// Time at which work for it begins.
    pub due_at: Instant,
    /// Time at which it was planned. A plan from the future was made by a wrong clock.
    pub planned_from: Instant,
}

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRecord {
    /// Work that it starts.
    pub kind: ScheduleKind,
    /// Whether it is on.
    pub enabled: bool,
    /// Its times.
    pub times: ScheduleTimes,
    /// Answers per prompt and engine of a run.
    pub samples: u8,
    /// Most that the work of a slot may cost, in millionths of a US dollar.
    pub max_cost_micros: Option<i64>,
    /// The next slot.
    pub plan: Option<PlannedSlot>,
    /// Time of the last slot that was used or skipped.
    pub last_at: Option<Instant>,
    /// Outcome of that slot.
    pub last_outcome: Option<String>,
    /// Number of changes by callers; 0 before the first.
    pub version: i64,
    /// Time of the last change by a caller; `None` before the first.
    pub updated_at: Option<Instant>,
}

impl ScheduleRecord {
    /// Creates the record of a schedule that was never changed.
    pub const fn new(kind: ScheduleKind) -> Self {
        Self {
            kind,
            enabled: false,
            times: ScheduleTimes {
                interval_days: 7,
                weekdays: None,
                time: Time::constant(9, 0, 0, 0),
                timezone: None,
            },
            samples: 1,
            max_cost_micros: None,
            plan: None,
            last_at: None,
            last_outcome: None,
            version: 0,
            updated_at: None,
        }
    }
}

macro_rules! columns {
    () => {
        "kind, enabled, interval_days, weekdays, time, timezone, samples, max_cost_micros, planned_date, planned_at, due_at, planned_from,
         last_at, last_outcome, version, updated_at"
    };
}

fn read_schedule(c: &mut Cells<'_>) -> Result<ScheduleRecord> {
    Ok(ScheduleRecord {
        kind: c.parse()?,
        enabled: c.take()?,
        times: ScheduleTimes {
            interval_days: c.take::<i64>()? as u8,
            weekdays: c.take_json_optional()?,
            time: c.parse()?,
            timezone: c.take()?,
        },
        samples: c.take::<i64>()? as u8,
        max_cost_micros: c.take()?,
        plan: {
            let date: Option<Date> = c.parse_optional()?;
            let (at, due_at, planned_from): (Option<_>, Option<_>, Option<_>) =
                (c.take()?, c.take()?, c.take()?);
            date.zip(at)
                .zip(due_at.zip(planned_from))
                .map(|((date, at), (due_at, planned_from))| PlannedSlot {
                    date,
                    at,
                    due_at,
                    planned_from,
                })
        },
        last_at: c.take()?,
        last_outcome: c.take()?,
        version: c.take()?,
        updated_at: c.take()?,
    })
}

/// Returns a schedule, or that of a project that has set none.
pub async fn get(tx: &mut Tx, scope: ProjectScope, kind: ScheduleKind) -> Result<ScheduleRecord> {
    let found = sql(concat!(
        "SELECT ",
        columns!(),
        " FROM schedules WHERE project_id = $1 AND kind = $2"
    ))
    .bind(scope.project())
    .bind(kind.as_str())
    .fetch_optional(tx, read_schedule)
    .await?;
    Ok(found.unwrap_or_else(|| ScheduleRecord::new(kind)))
}

/// Writes a schedule as a caller changed it, and increments its version; [`Error::Missing`](crate::Error::Missing) if it is not
/// that of the record.
pub async fn change(
    tx: &mut Tx,
    scope: ProjectScope,
    record: &ScheduleRecord,
    now: Instant,
) -> Result<ScheduleRecord> {
    let plan = record.plan;
    sql(concat!(
        "INSERT INTO schedules (project_id, kind, enabled, interval_days, weekdays, time, timezone, planned_date, planned_at, due_at,
           planned_from, version, updated_at, samples, max_cost_micros, planned_zone)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 + 1, $13, $14, $15,
           COALESCE($7, (SELECT p.timezone FROM projects p WHERE p.id = $1)))
         ON CONFLICT (project_id, kind) DO UPDATE SET enabled = $3, interval_days = $4, weekdays = $5, time = $6, timezone = $7,
           planned_date = $8, planned_at = $9, due_at = $10, planned_from = $11, version = $12 + 1, updated_at = $13, samples = $14,
           max_cost_micros = $15, planned_zone = excluded.planned_zone
         WHERE schedules.version = $12 RETURNING ",
        columns!()
    ))
    .bind(scope.project())
    .bind(record.kind.as_str())
    .bind(record.enabled)
    .bind(record.times.interval_days)
    .bind(record.times.weekdays.as_ref().map(Json::encode).transpose()?)
    .bind(record.times.time.strftime("%H:%M").to_string())
    .bind(record.times.timezone.clone())
    .bind(plan.map(|plan| plan.date.to_string()))
    .bind(plan.map(|plan| plan.at))
    .bind(plan.map(|plan| plan.due_at))
    .bind(plan.map(|plan| plan.planned_from))
    .bind(record.version)
    .bind(now)
    .bind(record.samples)
    .bind(record.max_cost_micros)
    .fetch_one(tx, read_schedule)
    .await
}

/// Stores the next slot of a schedule that is on.
pub async fn set_plan(
    tx: &mut Tx,
    scope: ProjectScope,
    kind: ScheduleKind,
    plan: Option<PlannedSlot>,
) -> Result<()> {
    sql(
        "UPDATE schedules SET planned_date = $3, planned_at = $4, due_at = $5, planned_from = $6,
           planned_zone = COALESCE(timezone, (SELECT p.timezone FROM projects p WHERE p.id = $1))
         WHERE project_id = $1 AND kind = $2 AND enabled",
    )
    .bind(scope.project())
    .bind(kind.as_str())
    .bind(plan.map(|plan| plan.date.to_string()))
    .bind(plan.map(|plan| plan.at))
    .bind(plan.map(|plan| plan.due_at))
    .bind(plan.map(|plan| plan.planned_from))
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the time zone for which the next slot of a schedule was planned.
pub async fn find_planned_zone(
    tx: &mut Tx,
    scope: ProjectScope,
    kind: ScheduleKind,
) -> Result<Option<String>> {
    let found = sql("SELECT planned_zone FROM schedules WHERE project_id = $1 AND kind = $2")
        .bind(scope.project())
        .bind(kind.as_str())
        .fetch_optional(tx, |c| c.take::<Option<String>>())
        .await?;
    Ok(found.flatten())
}

/// Stores the last slot of a schedule and its outcome.
pub async fn set_last(
    tx: &mut Tx,
    scope: ProjectScope,
    kind: ScheduleKind,
    slot_at: Instant,
    outcome: &str,
) -> Result<()> {
    sql("UPDATE schedules SET last_at = $3, last_outcome = $4 WHERE project_id = $1 AND kind = $2")
        .bind(scope.project())
        .bind(kind.as_str())
        .bind(slot_at)
        .bind(outcome)
        .execute(tx)
        .await?;
    Ok(())
}

/// A schedule that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueSchedule {
    /// The project.
    pub scope: ProjectScope,
    /// Work that it starts.
    pub kind: ScheduleKind,
}

/// Returns at most `limit` schedules that are due, the longest first, and those whose plan is from the future or for another
/// time zone.
pub async fn list_due(tx: &mut Tx, now: Instant, limit: u32) -> Result<Vec<DueSchedule>> {
    sql(
        "SELECT s.project_id, s.kind FROM schedules s JOIN projects p ON p.id = s.project_id
         WHERE s.due_at IS NOT NULL
           AND (s.due_at <= $1 OR s.planned_from > $1 OR s.planned_zone <> COALESCE(s.timezone, p.timezone))
         ORDER BY s.due_at LIMIT $2",
    )
    .bind(now)
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(DueSchedule {
            scope: ProjectScope::from_row(c.take()?),
            kind: c.parse()?,
        })
    })
    .await
}

/// Returns the reason of the outcome of the last slot of a schedule.
pub async fn find_last_detail(
    tx: &mut Tx,
    scope: ProjectScope,
    kind: ScheduleKind,
) -> Result<Option<String>> {
    let found = sql(
        "SELECT detail FROM schedule_slots WHERE project_id = $1 AND kind = $2 ORDER BY decided_at DESC, local_date DESC LIMIT 1",
    )
    .bind(scope.project())
    .bind(kind.as_str())
    .fetch_optional(tx, |c| c.take())
    .await?;
    Ok(found.flatten())
}

/// A slot whose time has come.
#[derive(Clone, Debug)]
pub struct UsedSlot {
    /// Work that was started.
    pub kind: ScheduleKind,
    /// Local date.
    pub date: Date,
    /// Time of the slot.
    pub at: Instant,
    /// Outcome.
    pub outcome: SlotOutcome,
    /// Reason of the outcome.
    pub detail: Option<String>,
}

/// Stores a slot, unless its date had one; returns whether it was stored.
pub async fn insert_slot(tx: &mut Tx, scope: ProjectScope, slot: &UsedSlot, now: Instant) -> Result<bool> {
    let stored = sql(
        "INSERT INTO schedule_slots (project_id, kind, local_date, slot_at, outcome, detail, decided_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
    )
    .bind(scope.project())
    .bind(slot.kind.as_str())
    .bind(slot.date.to_string())
    .bind(slot.at)
    .bind(slot.outcome.as_str())
    .bind(slot.detail.clone())
    .bind(now)
    .execute(tx)
    .await?;
    Ok(stored == 1)
}

/// Date of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotDate {
    /// Local date.
    pub date: Date,
    /// Time of the slot.
    pub at: Instant,
    /// Whether its work was started, so that the interval counts from it.
    pub counts: bool,
}

/// Returns the dates of the newest slots of a schedule, newest first.
pub async fn list_dates(tx: &mut Tx, scope: ProjectScope, kind: ScheduleKind) -> Result<Vec<SlotDate>> {
    sql("SELECT local_date, slot_at, outcome FROM schedule_slots WHERE project_id = $1 AND kind = $2 ORDER BY local_date DESC LIMIT $3")
        .bind(scope.project())
        .bind(kind.as_str())
        .bind(MAX_DATES)
        .fetch_all(tx, |c| {
            Ok(SlotDate {
                date: c.parse()?,
                at: c.take()?,
                counts: c.parse::<SlotOutcome>()? == SlotOutcome::Started,
            })
        })
        .await
}

/// Deletes slots that are older than a time; returns their number.
pub async fn delete_old_slots(tx: &mut Tx, before: Instant) -> Result<u64> {
    sql("DELETE FROM schedule_slots WHERE decided_at < $1
           AND project_id NOT IN (SELECT id FROM projects WHERE workspace_id = $2)")
    .bind(before)
    .bind(UNDER_WAY_ID)
    .execute(tx)
    .await
}
