//! Carrying jobs out: leased, fenced, resumable. A worker that lost its lease cannot write, because every write of a
//! running job carries the fence it was leased with.

use searchwright_contract::{Instant, Problem};
use uuid::Uuid;

use crate::{Cells, Error, Json, Result, Tx, access::ProjectScope, sql};

/// Milliseconds a lease lasts unless it is renewed.
pub const LEASE_MILLIS: i64 = 60_000;

/// Crashes after which a job is given up as poison.
pub const MOST_CRASHES: i64 = 5;

/// Jobs of one project that run at once; the rest of the room is for others.
pub const MOST_RUNNING: i64 = 4;

/// A job in a worker's hands.
#[derive(Clone, Debug)]
pub struct Leased {
    /// Identifier.
    pub id: Uuid,
    /// Proof for the project.
    pub scope: ProjectScope,
    /// What to do.
    pub payload: serde_json::Value,
    /// 1 the first time.
    pub attempt: i64,
    /// Leases that ended without a word.
    pub crashes: i64,
    /// Must match in every write.
    pub fence: i64,
}

/// Takes a due job, if there is one: of the project that has the fewest running, the one that has waited the
/// longest. Of a project with [`MOST_RUNNING`] none; workers that look at the same moment may each take one more.
pub async fn lease(tx: &mut Tx, owner: Uuid, now: Instant) -> Result<Option<Leased>> {
    macro_rules! text {
        ($lock:literal) => {
            concat!(
                "UPDATE jobs SET status = 'running', attempt = attempt + 1, fence = fence + 1, lease_owner = $1, lease_until = $2, started_at = coalesce(started_at, $3)
                 WHERE (project_id, id) = (
                   SELECT j.project_id, j.id FROM jobs j WHERE j.status = 'queued' AND (j.project_id, j.id) IN (
                     SELECT project_id, id FROM jobs WHERE status = 'queued' AND run_after <= $3
                       AND project_id NOT IN (SELECT project_id FROM jobs WHERE status = 'running' GROUP BY project_id HAVING count(*) >= $4)
                     ORDER BY run_after, id LIMIT 1000)
                   ORDER BY (SELECT count(*) FROM jobs r WHERE r.status = 'running' AND r.project_id = j.project_id), j.run_after, j.id LIMIT 1",
                $lock,
                ") RETURNING id, project_id, payload, attempt, crashes, fence"
            )
        };
    }
    let text = if tx.is_postgres() {
        text!(" FOR UPDATE OF j SKIP LOCKED")
    } else {
        text!("")
    };
    sql(text)
        .bind(owner)
        .bind(now.plus_millis(LEASE_MILLIS))
        .bind(now)
        .bind(MOST_RUNNING)
        .fetch_optional(tx, leased)
        .await
}

fn leased(c: &mut Cells<'_>) -> Result<Leased> {
    Ok(Leased {
        id: c.take()?,
        scope: ProjectScope::proven(c.take()?),
        payload: c.take::<Json>()?.0,
        attempt: c.take()?,
        crashes: c.take()?,
        fence: c.take()?,
    })
}

/// Whether any job is due, without taking it: a cheap look before a write transaction.
pub async fn any_due(tx: &mut Tx, now: Instant) -> Result<bool> {
    sql(
        "SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'queued' AND run_after <= $1)
             OR EXISTS (SELECT 1 FROM jobs WHERE status = 'running' AND lease_until < $1)",
    )
    .bind(now)
    .fetch_one(tx, |c| c.take())
    .await
}

/// Notes what a job has done, once: of a job that is run again, what it noted the first time. Under the lease only.
pub async fn note(tx: &mut Tx, job: &Leased, done: serde_json::Value) -> Result<Option<serde_json::Value>> {
    let noted: Option<Json> = sql(
        "SELECT progress FROM jobs WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running'",
    )
    .bind(job.scope.project())
    .bind(job.id)
    .bind(job.fence)
    .fetch_one(tx, |c| c.take())
    .await?;
    if let Some(Json(noted)) = noted {
        return Ok(Some(noted));
    }
    sql("UPDATE jobs SET progress = $3 WHERE project_id = $1 AND id = $2")
        .bind(job.scope.project())
        .bind(job.id)
        .bind(Json(done))
        .execute(tx)
        .await?;
    Ok(None)
}

/// What a heartbeat hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// Go on.
    Alive,
    /// Somebody wants it stopped.
    Cancel,
    /// The lease is somebody else's: write nothing more.
    Lost,
}

impl Beat {
    /// Of whether its stop is asked for; `None` if there is no such lease.
    const fn of(cancel_requested: Option<bool>) -> Self {
        match cancel_requested {
            None => Self::Lost,
            Some(true) => Self::Cancel,
            Some(false) => Self::Alive,
        }
    }
}

/// Renews a lease and notes progress.
pub async fn beat(
    tx: &mut Tx,
    job: &Leased,
    progress: Option<serde_json::Value>,
    now: Instant,
) -> Result<Beat> {
    let heard: Option<bool> = sql(
        "UPDATE jobs SET lease_until = $4, progress = coalesce($5, progress)
         WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running' RETURNING cancel_requested",
    )
    .bind(job.scope.project())
    .bind(job.id)
    .bind(job.fence)
    .bind(now.plus_millis(LEASE_MILLIS))
    .bind(progress.map(Json))
    .fetch_optional(tx, |c| c.take())
    .await?;
    Ok(Beat::of(heard))
}

/// What a heartbeat would hear, without renewing the lease.
pub async fn listen(tx: &mut Tx, job: &Leased) -> Result<Beat> {
    let heard: Option<bool> = sql("SELECT cancel_requested FROM jobs
         WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running'")
    .bind(job.scope.project())
    .bind(job.id)
    .bind(job.fence)
    .fetch_optional(tx, |c| c.take())
    .await?;
    Ok(Beat::of(heard))
}

/// What a run hears that is about to end what it works on, in the transaction that does. Who asks for a stop meanwhile waits for
/// that transaction, so that one of the two knows of the other.
pub async fn decide(tx: &mut Tx, job: &Leased) -> Result<Beat> {
    let heard: Option<bool> = sql("UPDATE jobs SET fence = fence
         WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running' RETURNING cancel_requested")
    .bind(job.scope.project())
    .bind(job.id)
    .bind(job.fence)
    .fetch_optional(tx, |c| c.take())
    .await?;
    Ok(Beat::of(heard))
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum End {
    /// Done, with what came of it.
    Succeeded(serde_json::Value),
    /// Given up.
    Failed(Box<Problem>),
    /// Whether it took effect is not known, and no more is done to find out.
    Uncertain(Box<Problem>),
    /// Stopped on request.
    Canceled,
    /// To be tried again.
    Retry(Instant),
    /// To be taken again then, as if it had not been taken.
    Waits(Instant),
    /// Given back as if it had not been taken: the worker is shutting down.
    Released,
}

impl End {
    /// What it is called in the log.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Succeeded(_) => "succeeded",
            Self::Failed(_) => "failed",
            Self::Uncertain(_) => "uncertain",
            Self::Canceled => "canceled",
            Self::Retry(_) => "tried again later",
            Self::Waits(_) => "waits",
            Self::Released => "given back",
        }
    }

    /// Why it did not succeed, where that is known.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Failed(problem) | Self::Uncertain(problem) => Some(problem),
            _ => None,
        }
    }
}

/// Ends a run; `false` if the lease was lost, and then nothing is written.
pub async fn finish(tx: &mut Tx, job: &Leased, end: End, now: Instant) -> Result<bool> {
    let attempts = i64::from(!matches!(end, End::Waits(_) | End::Released));
    let (status, run_after, result, problem) = match end {
        End::Succeeded(result) => ("succeeded", None, Some(Json(result)), None),
        End::Failed(ref problem) | End::Uncertain(ref problem) => {
            let problem = serde_json::to_value(&**problem).map_err(|e| Error::Defect(e.to_string()))?;
            let is_known = matches!(end, End::Failed(_));
            let status = if is_known { "failed" } else { "uncertain" };
            (status, None, None, Some(Json(problem)))
        }
        End::Canceled => ("canceled", None, None, None),
        End::Retry(at) | End::Waits(at) => ("queued", Some(at), None, None),
        End::Released => ("queued", Some(now), None, None),
    };
    let finished = run_after.is_none().then_some(now);
    let touched = sql("UPDATE jobs SET status = $4, run_after = coalesce($5, run_after), result = $6, problem = $7, finished_at = $8,
            attempt = attempt - 1 + $9, lease_owner = NULL, lease_until = NULL
         WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running'")
    .bind(job.scope.project())
    .bind(job.id)
    .bind(job.fence)
    .bind(status)
    .bind(run_after)
    .bind(result)
    .bind(problem)
    .bind(finished)
    .bind(attempts)
    .execute(tx)
    .await?;
    Ok(touched == 1)
}

/// Whether the job is still this worker's: guards every other write of a run.
pub async fn holds(tx: &mut Tx, job: &Leased) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM jobs WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running')")
        .bind(job.scope.project())
        .bind(job.id)
        .bind(job.fence)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Gives back the jobs whose worker fell silent. Those that crashed too often are returned, still to be failed.
pub async fn rescue(tx: &mut Tx, owner: Uuid, now: Instant) -> Result<Vec<Leased>> {
    sql("UPDATE jobs SET status = 'queued', crashes = crashes + 1, run_after = $1, lease_owner = NULL, lease_until = NULL
         WHERE status = 'running' AND lease_until < $1 AND crashes + 1 < $2")
    .bind(now)
    .bind(MOST_CRASHES)
    .execute(tx)
    .await?;
    sql(
        "UPDATE jobs SET crashes = crashes + 1, fence = fence + 1, lease_owner = $3, lease_until = $4
         WHERE status = 'running' AND lease_until < $1 AND crashes + 1 >= $2
         RETURNING id, project_id, payload, attempt, crashes, fence",
    )
    .bind(now)
    .bind(MOST_CRASHES)
    .bind(owner)
    .bind(now.plus_millis(LEASE_MILLIS))
    .fetch_all(tx, leased)
    .await
}

/// Whether any job is in a worker's hands.
pub async fn any_running(tx: &mut Tx) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'running')")
        .fetch_one(tx, |c| c.take())
        .await
}

/// Gives back at once what another process on this machine held: its lock on the data folder has ended,
/// so nobody else can be working (embedded database only).
pub async fn reclaim(tx: &mut Tx, now: Instant) -> Result<u64> {
    sql("UPDATE jobs SET lease_until = $1 WHERE status = 'running' AND lease_until > $1")
        .bind(now.plus_millis(-1))
        .execute(tx)
        .await
}
