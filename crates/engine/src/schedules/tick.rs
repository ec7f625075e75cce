//! The tick of the schedules: every worker makes it, without a leader. What it does about a schedule is decided by
//! [`searchwright_autopilot::ticks`] and is one transaction under the lock of the project, so that a slot is used once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use searchwright_autopilot::ticks::{AwaitedSlot, Decision, decide};
use searchwright_contract::{
    Code, Instant, Problem,
    schedules::{ScheduleKind, SlotOutcome},
};
use searchwright_store::{
    Tx, projects,
    schedules::{self, DueSchedule, UsedSlot},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{
    next_slot, plan, slot_rule,
    start::{Start, start},
};
use crate::{
    Engine, autopilot,
    failure::{Failure, Result, defect},
};

/// Interval from one tick to the next.
pub(crate) const TICK: Duration = Duration::from_secs(15);
/// Jitter of a tick, so that replicas that began together do not tick together.
const JITTER_MILLIS: u64 = 3_000;
/// Schedules that one tick handles, those that are due the longest first.
const MAX_DUE: u32 = 1_000;
/// Step of the clock that is worth a line in the log.
const STEP_MILLIS: i64 = 3_600_000;

/// Time of the last tick of this process.
#[derive(Debug)]
pub(crate) struct TickLog(AtomicI64);

impl Default for TickLog {
    fn default() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }
}

impl TickLog {
    /// Returns the time of the last tick; `None` before the first.
    pub(crate) fn last(&self) -> Option<Instant> {
        match self.0.load(Ordering::Relaxed) {
            i64::MIN => None,
            millis => Some(Instant::from_millis(millis)),
        }
    }

    fn set(&self, now: Instant) {
        self.0.store(now.millis(), Ordering::Relaxed);
    }
}

/// Ticks until `stop`. The id of the worker decides its jitter.
pub(crate) async fn run(engine: Arc<Engine>, worker: Uuid, stop: CancellationToken) {
    let mut chance = worker.as_u128() as u64;
    let mut before = (engine.clock.now(), tokio::time::Instant::now());
    loop {
        chance = chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let jitter = Duration::from_millis((chance >> 33) % JITTER_MILLIS);
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(TICK + jitter) => {}
        }
        let now = (engine.clock.now(), tokio::time::Instant::now());
        let passed = i64::try_from((now.1 - before.1).as_millis()).unwrap_or(i64::MAX);
        let step = now.0.millis() - before.0.millis() - passed;
        if step.abs() > STEP_MILLIS {
            tracing::warn!(
                seconds = step / 1000,
                "the clock was set; schedules go on by its new time"
            );
        }
        before = now;
        if let Err(error) = tick(&engine).await {
            tracing::warn!(%error, "looking for due schedules failed; trying again");
        }
    }
}

/// Starts the work of all schedules that are due, each in a transaction of its own. The failure of one is logged and does not stop
/// the others.
pub async fn tick(engine: &Arc<Engine>) -> Result<()> {
    let now = engine.clock.now();
    let due = schedules::list_due(&mut engine.db.read().await?, now, MAX_DUE).await?;
    let is_any = !due.is_empty();
    for one in due {
        let done = match one.kind {
            ScheduleKind::Posts => autopilot::begin(engine, one.scope, now).await,
            ScheduleKind::Audits | ScheduleKind::Visibility | ScheduleKind::Metrics => {
                handle(engine, one, now).await
            }
        };
        if let Err(error) = done {
            let project = one.scope.project();
            tracing::error!(%error, %project, kind = %one.kind, "a schedule that is due failed; trying again");
        }
    }
    autopilot::pause::resume_all(engine).await?;
    let is_any = autopilot::advance_all(engine).await? || is_any;
    if is_any {
        engine.wake.notify_one();
        engine.happened.notify_one();
    }
    engine.ticks.set(now);
    Ok(())
}

/// Handles a schedule. A start that is refused is undone, and its reason is stored as the outcome of the slot.
async fn handle(engine: &Arc<Engine>, due: DueSchedule, now: Instant) -> Result<()> {
    let Err(failure) = write(engine, due, now, None).await else {
        return Ok(());
    };
    match failure.0.code {
        // the database, not the schedule: the slot keeps until it can be written
        Code::Overloaded | Code::StorageFull | Code::StorageUnavailable => Err(failure),
        _ => write(engine, due, now, Some(failure.0.detail)).await,
    }
}

async fn write(engine: &Arc<Engine>, due: DueSchedule, now: Instant, refused: Option<String>) -> Result<()> {
    let shared = engine.clone();
    engine
        .db
        .write(move |tx| Box::pin(async move { step(&shared, tx, due, now, refused).await }))
        .await
}

/// Makes the step of a schedule: uses its slot if its time has come, and plans the next one. `refused` is the reason for which
/// its work cannot be started, if that is known.
async fn step(
    engine: &Engine,
    tx: &mut Tx,
    due: DueSchedule,
    now: Instant,
    refused: Option<String>,
) -> Result<()> {
    let (scope, kind) = (due.scope, due.kind);
    projects::lock(tx, scope).await?;
    // another process may have made this step, or a caller turned the schedule off
    let record = schedules::get(tx, scope, kind).await?;
    let Some(planned) = record.plan else {
        return Ok(());
    };
    let project = projects::get(tx, scope).await?;
    let rule = slot_rule(&record.times, &project.timezone)?;
    let awaited = AwaitedSlot {
        date: planned.date,
        at: planned.at,
        planned_from: planned.planned_from,
    };
    let decision = decide(&rule, &awaited, now);
    let mut used = schedules::list_dates(tx, scope, kind).await?;
    if let Decision::Start(slot) | Decision::Skip(slot) = decision
        && used.iter().all(|used| used.date != slot.date)
    {
        let Start { outcome, detail } = match (decision, refused) {
            (Decision::Skip(_), _) => Start::missed(&slot, now),
            (_, Some(why)) => Start::new(SlotOutcome::Failed, why),
            (_, None) => start(engine, tx, scope, &record, &project, now)
                .await
                .map_err(queue_is_full)?,
        };
        let stored = UsedSlot {
            kind,
            date: slot.date,
            at: slot.at,
            outcome,
            detail,
        };
        if !schedules::insert_slot(tx, scope, &stored, now).await? {
            return Err(defect("slot", "it was used under the lock of the project"));
        }
        schedules::set_last(tx, scope, kind, slot.at, outcome.as_str()).await?;
        tracing::info!(project = %scope.project(), %kind, date = %slot.date, %outcome, "slot of a schedule");
        used = schedules::list_dates(tx, scope, kind).await?;
    }
    let next = match decision.after(now) {
        // written again for the time zone that it holds in
        None => Some(planned),
        Some(after) => next_slot(&rule, &used, after, now).map(|slot| plan(&rule, &slot, 0, now)),
    };
    schedules::set_plan(tx, scope, kind, next).await?;
    Ok(())
}

/// Makes a full queue of the project a reason for which its work is not started; a queue of writes that is full is none.
fn queue_is_full(failure: Failure) -> Failure {
    match failure.0.code {
        Code::Overloaded => {
            Problem::new(Code::InvalidState, "too many jobs of the project are waiting").into()
        }
        _ => failure,
    }
}
