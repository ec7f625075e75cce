//! Leases of jobs.
//!
//! A worker holds a lease on the job that it runs, and renews it. Each lease has a number, the fence. A worker that lost its
//! lease cannot write, because every write of a running job checks the fence.

use searchwright_contract::{Instant, Problem, ids::JobId};
use uuid::Uuid;

use super::Lane;
use crate::{Cells, Json, Result, Tx, access::ProjectScope, sql};

/// Duration of a lease in milliseconds.
pub const LEASE_MILLIS: i64 = 60_000;

/// Number of crashes after which a job fails.
pub const MAX_CRASHES: i64 = 5;

/// Maximum number of running jobs per project and lane, so that one project does not take all places.
pub const MAX_RUNNING: i64 = 4;

/// Time by which leases are written and judged: of the database where processes on several machines share it, and else one that
/// goes on evenly. A clock that is set forward must not make a lease look expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTime(pub Instant);

impl LeaseTime {
    fn until(self) -> Instant {
        self.0.plus_millis(LEASE_MILLIS)
    }
}

/// A job that a worker holds a lease on.
#[derive(Clone, Debug)]
pub struct LeasedJob {
    /// Identifier.
    pub id: JobId,
    /// Scope of its project.
    pub scope: ProjectScope,
    /// Input of the job.
    pub payload: serde_json::Value,
    /// Number of the attempt, from 1.
    pub attempt: i64,
    /// Number of leases that expired.
    pub crashes: i64,
    /// Number of the lease, which every write must match.
    pub fence: i64,
    /// Milliseconds for which the job has run. [`renew_lease`] and [`finish`] store them.
    pub ran_millis: i64,
}

/// Leases a due job of a lane, if there is one: of the project with the fewest running jobs the one that is due longest. Projects with
/// [`MAX_RUNNING`] jobs are left out, but workers that lease at the same moment may each take one more.
pub async fn lease(
    tx: &mut Tx,
    owner: Uuid,
    lane: Lane,
    now: Instant,
    at: LeaseTime,
) -> Result<Option<LeasedJob>> {
    macro_rules! text {
        ($lock:literal) => {
            concat!(
                "UPDATE jobs SET status = 'running', attempt = attempt + 1, fence = fence + 1, lease_owner = $1, lease_until = $2, started_at = coalesce(started_at, $3)
                 WHERE (project_id, id) = (
                   SELECT j.project_id, j.id FROM jobs j WHERE j.status = 'queued' AND (j.project_id, j.id) IN (
                     SELECT project_id, id FROM jobs WHERE status = 'queued' AND lane = $5 AND run_after <= $3
                       AND project_id NOT IN (SELECT project_id FROM jobs WHERE status = 'running' AND lane = $5 GROUP BY project_id HAVING count(*) >= $4)
                     ORDER BY run_after, id LIMIT 1000)
                   ORDER BY (SELECT count(*) FROM jobs r WHERE r.status = 'running' AND r.project_id = j.project_id AND r.lane = $5), j.run_after, j.id LIMIT 1",
                $lock,
                ") RETURNING id, project_id, payload, attempt, crashes, fence, ran_millis"
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
        .bind(at.until())
        .bind(now)
        .bind(MAX_RUNNING)
        .bind(lane.as_str())
        .fetch_optional(tx, read_leased)
        .await
}

fn read_leased(c: &mut Cells<'_>) -> Result<LeasedJob> {
    Ok(LeasedJob {
        id: c.take()?,
        scope: ProjectScope::from_row(c.take()?),
        payload: c.take::<Json>()?.0,
        attempt: c.take()?,
        crashes: c.take()?,
        fence: c.take()?,
        ran_millis: c.take()?,
    })
}

/// Whether a job of a lane is due. A cheap query before a write transaction.
pub async fn has_due(tx: &mut Tx, lane: Lane, now: Instant) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'queued' AND lane = $1 AND run_after <= $2)")
        .bind(lane.as_str())
        .bind(now)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Whether a lease has expired.
pub async fn has_expired(tx: &mut Tx, at: LeaseTime) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'running' AND lease_until < $1)")
        .bind(at.0)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Writes a checkpoint of a job unless it has one, and returns the one that it had: an earlier attempt has done this step.
/// [`Error::Missing`](crate::Error::Missing) if the lease is lost.
pub async fn checkpoint(
    tx: &mut Tx,
    job: &LeasedJob,
    done: serde_json::Value,
) -> Result<Option<serde_json::Value>> {
    let earlier: Option<Json> = sql(
        "SELECT progress FROM jobs WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running'",
    )
    .bind(job.scope.project())
    .bind(job.id)
    .bind(job.fence)
    .fetch_one(tx, |c| c.take())
    .await?;
    if let Some(Json(earlier)) = earlier {
        return Ok(Some(earlier));
    }
    sql("UPDATE jobs SET progress = $3 WHERE project_id = $1 AND id = $2")
        .bind(job.scope.project())
        .bind(job.id)
        .bind(Json(done))
        .execute(tx)
        .await?;
    Ok(None)
}

/// State of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseStatus {
    /// The lease is held.
    Alive,
    /// The lease is held, and the job is requested to stop.
    Cancel,
    /// Another worker has the job: nothing more may be written.
    Lost,
}

impl LeaseStatus {
    /// Creates the status from the column `cancel_requested`; `None` if no row matches the lease.
    const fn from_row(cancel_requested: Option<bool>) -> Self {
        match cancel_requested {
            None => Self::Lost,
            Some(true) => Self::Cancel,
            Some(false) => Self::Alive,
        }
    }
}

/// Renews a lease.
pub async fn renew_lease(tx: &mut Tx, job: &LeasedJob, at: LeaseTime) -> Result<LeaseStatus> {
    let cancel_requested: Option<bool> = sql("UPDATE jobs SET lease_until = $4, ran_millis = $5
         WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running' RETURNING cancel_requested")
    .bind(job.scope.project())
    .bind(job.id)
    .bind(job.fence)
    .bind(at.until())
    .bind(job.ran_millis)
    .fetch_optional(tx, |c| c.take())
    .await?;
    Ok(LeaseStatus::from_row(cancel_requested))
}

/// Updates the progress of a job, if its lease is held.
pub async fn save_progress(tx: &mut Tx, job: &LeasedJob, progress: serde_json::Value) -> Result<LeaseStatus> {
    let cancel_requested: Option<bool> = sql("UPDATE jobs SET progress = $4
         WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running' RETURNING cancel_requested")
    .bind(job.scope.project())
    .bind(job.id)
    .bind(job.fence)
    .bind(Json(progress))
    .fetch_optional(tx, |c| c.take())
    .await?;
    Ok(LeaseStatus::from_row(cancel_requested))
}

/// Returns the status of a lease without renewing it.
pub async fn check_lease(tx: &mut Tx, job: &LeasedJob) -> Result<LeaseStatus> {
    let cancel_requested: Option<bool> = sql("SELECT cancel_requested FROM jobs
         WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running'")
    .bind(job.scope.project())
    .bind(job.id)
    .bind(job.fence)
    .fetch_optional(tx, |c| c.take())
    .await?;
    Ok(LeaseStatus::from_row(cancel_requested))
}

/// Returns the status of a lease and locks the job, in the transaction that finishes its work. A request to stop that comes
/// meanwhile waits for that transaction, so that either it or the transaction sees the other.
pub async fn check_before_commit(tx: &mut Tx, job: &LeasedJob) -> Result<LeaseStatus> {
    let cancel_requested: Option<bool> = sql("UPDATE jobs SET fence = fence
         WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running' RETURNING cancel_requested")
    .bind(job.scope.project())
    .bind(job.id)
    .bind(job.fence)
    .fetch_optional(tx, |c| c.take())
    .await?;
    Ok(LeaseStatus::from_row(cancel_requested))
}

/// End of a run of a job.
#[derive(Clone, Debug)]
pub enum JobEnd {
    /// Success, with the result.
    Succeeded(serde_json::Value),
    /// Failure.
    Failed(Box<Problem>),
    /// Unknown outcome, which nothing more is done to find out.
    Uncertain(Box<Problem>),
    /// Stop on request.
    Canceled,
    /// Failure to be tried again at this time.
    Retry(Instant),
    /// Postponed to this time, without counting the attempt.
    Waits(Instant),
    /// Returned to the queue, without counting the attempt, because the worker is shutting down.
    Released,
}

impl JobEnd {
    /// Name in the log.
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

    /// Problem that the job ended with.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Failed(problem) | Self::Uncertain(problem) => Some(problem),
            _ => None,
        }
    }
}

/// Ends a run. Returns `false`, and writes nothing, if the lease is lost.
pub async fn finish(tx: &mut Tx, job: &LeasedJob, end: JobEnd, now: Instant) -> Result<bool> {
    let attempts = i64::from(!matches!(end, JobEnd::Waits(_) | JobEnd::Released));
    let (status, run_after, result, problem) = match end {
        JobEnd::Succeeded(result) => ("succeeded", None, Some(Json(result)), None),
        JobEnd::Failed(ref problem) | JobEnd::Uncertain(ref problem) => {
            let problem = Json::encode(&**problem)?;
            let is_known = matches!(end, JobEnd::Failed(_));
            let status = if is_known { "failed" } else { "uncertain" };
            (status, None, None, Some(problem))
        }
        JobEnd::Canceled => ("canceled", None, None, None),
        JobEnd::Retry(at) | JobEnd::Waits(at) => ("queued", Some(at), None, None),
        JobEnd::Released => ("queued", Some(now), None, None),
    };
    let finished = run_after.is_none().then_some(now);
    let touched = sql("UPDATE jobs SET status = $4, run_after = CASE WHEN rerun_requested THEN $10 ELSE coalesce($5, run_after) END,
            rerun_requested = $11, result = $6, problem = $7, finished_at = $8,
            attempt = attempt - 1 + $9, lease_owner = NULL, lease_until = NULL, ran_millis = $12
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
    .bind(now)
    .bind(false)
    .bind(job.ran_millis)
    .execute(tx)
    .await?;
    Ok(touched == 1)
}

/// Whether the lease is held, at the beginning of a write of a run. [`keeps_lease`] is for its end.
pub async fn holds_lease(tx: &mut Tx, job: &LeasedJob) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM jobs WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running')")
        .bind(job.scope.project())
        .bind(job.id)
        .bind(job.fence)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Whether the lease is still held, at the end of a write of a run: another worker may have taken it meanwhile, and what it
/// read or wrote must not be overwritten. The job stays locked until the transaction ends. At its end, because other writers
/// lock the project before a job too.
pub async fn keeps_lease(tx: &mut Tx, job: &LeasedJob) -> Result<bool> {
    if !tx.is_postgres() {
        // one writer at a time
        return Ok(true);
    }
    let held: Option<bool> = sql(
        "SELECT TRUE FROM jobs WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running' FOR NO KEY UPDATE",
    )
    .bind(job.scope.project())
    .bind(job.id)
    .bind(job.fence)
    .fetch_optional(tx, |c| c.take())
    .await?;
    Ok(held.is_some())
}

/// Requeues the jobs whose leases are expired, but for those that `owner` runs at this moment. Whoever else held the lease has
/// crashed; jobs that crashed [`MAX_CRASHES`] times are leased to `owner` and returned, for the caller to fail them.
pub async fn requeue_expired(
    tx: &mut Tx,
    owner: Uuid,
    running: &[JobId],
    now: Instant,
    at: LeaseTime,
) -> Result<Vec<LeasedJob>> {
    let expired: Vec<(LeasedJob, Option<Uuid>)> = sql(
        "SELECT id, project_id, payload, attempt, crashes, fence, ran_millis, lease_owner FROM jobs
         WHERE status = 'running' AND lease_until < $1 ORDER BY lease_until LIMIT 100",
    )
    .bind(at.0)
    .fetch_all(tx, |c| Ok((read_leased(c)?, c.take()?)))
    .await?;
    let mut given_up = Vec::new();
    for (mut job, holder) in expired {
        let is_own = holder == Some(owner);
        if is_own && running.contains(&job.id) {
            continue;
        }
        job.crashes += i64::from(!is_own);
        let is_given_up = job.crashes >= MAX_CRASHES;
        let statement = if is_given_up {
            "UPDATE jobs SET crashes = $4, fence = fence + 1, lease_owner = $5, lease_until = $6
             WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running' RETURNING fence"
        } else {
            "UPDATE jobs SET crashes = $4, status = 'queued', run_after = $6, lease_owner = $5, lease_until = NULL
             WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'running' RETURNING fence"
        };
        let fence: Option<i64> = sql(statement)
            .bind(job.scope.project())
            .bind(job.id)
            .bind(job.fence)
            .bind(job.crashes)
            .bind(is_given_up.then_some(owner))
            .bind(if is_given_up { at.until() } else { now })
            .fetch_optional(tx, |c| c.take())
            .await?;
        if let Some(fence) = fence
            && is_given_up
        {
            job.fence = fence;
            given_up.push(job);
        }
    }
    Ok(given_up)
}

/// Whether any job is running.
pub async fn has_running(tx: &mut Tx) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'running')")
        .fetch_one(tx, |c| c.take())
        .await
}

/// Expires all leases. For the start on an embedded database, when the process holds the lock of the data folder and no other
/// can be working. Returns the number of jobs.
pub async fn expire_leases(tx: &mut Tx, at: LeaseTime) -> Result<u64> {
    sql("UPDATE jobs SET lease_until = $1 WHERE status = 'running' AND lease_until > $1")
        .bind(at.0.plus_millis(-1))
        .execute(tx)
        .await
}
