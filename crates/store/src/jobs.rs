//! The job queue. Jobs run under a lease, see `jobs/lease.rs`.

mod lease;

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    ids::JobId,
    jobs::{Job, JobStatus},
};

pub use lease::{
    JobEnd, LEASE_MILLIS, LeaseStatus, LeaseTime, LeasedJob, MAX_CRASHES, MAX_RUNNING, check_before_commit,
    check_lease, checkpoint, expire_leases, finish, has_due, has_expired, has_running, holds_lease,
    keeps_lease, lease, renew_lease, requeue_expired, save_progress,
};

use crate::{Cells, Error, Json, Result, Tx, access::ProjectScope, sql, statement::indexed};

/// Maximum number of queued jobs per project that are due; one more is refused as overload.
pub const MAX_QUEUED: i64 = 100;
/// Maximum number of queued jobs per project, with those whose time has not come.
pub const MAX_WAITING: i64 = 2_000;

/// Kinds of jobs that share places in a worker, so that none waits for jobs of another lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Audits, which last for hours.
    Audits,
    /// Rechecks, which people wait for.
    Rechecks,
    /// Publication and its verification.
    Publishing,
    /// Generation of posts and keywords, and figures of keywords.
    Writing,
    /// Questions to AI engines.
    Tracking,
    /// Computation on stored data.
    Computing,
}

impl Lane {
    /// All lanes.
    pub const ALL: [Self; 6] = [
        Self::Publishing,
        Self::Rechecks,
        Self::Writing,
        Self::Tracking,
        Self::Computing,
        Self::Audits,
    ];

    /// Name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Audits => "audits",
            Self::Rechecks => "rechecks",
            Self::Publishing => "publishing",
            Self::Writing => "writing",
            Self::Tracking => "tracking",
            Self::Computing => "computing",
        }
    }
}

/// A job to be queued.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// Identifier.
    pub id: JobId,
    /// Kind; the serde tag of the payload.
    pub kind: &'static str,
    /// Lane.
    pub lane: Lane,
    /// Input of the job.
    pub payload: serde_json::Value,
    /// Earliest start.
    pub run_after: Instant,
    /// Paths of related records by name.
    pub links: BTreeMap<String, String>,
}

macro_rules! columns {
    ($before:literal $after:literal) => {
        concat!(
            $before,
            " id, kind, status, attempt, created_at, started_at, finished_at, run_after, progress, result, problem, links ",
            $after
        )
    };
}

fn read_job(c: &mut Cells<'_>) -> Result<Job> {
    let mut job = Job {
        id: c.take()?,
        kind: c.take()?,
        status: c.parse()?,
        attempt: c.take()?,
        created_at: c.take()?,
        started_at: c.take()?,
        finished_at: c.take()?,
        run_after: c.take()?,
        progress: c.take::<Option<Json>>()?.map(|j| j.0),
        result: c.take::<Option<Json>>()?.map(|j| j.0),
        problem: c.take_json_optional()?,
        links: c.take_json()?,
        allowed_actions: AllowedActions::default(),
    };
    job.run_after = job.run_after.filter(|_| job.status == JobStatus::Queued);
    Ok(job)
}

/// Queues a job in the transaction of the change that needs it. [`Error::Overloaded`] beyond [`MAX_QUEUED`] and [`MAX_WAITING`].
///
/// Those that wait for their time hold up nobody: after many posts were published, each is looked for at its address later on, and
/// meanwhile audits start.
pub async fn enqueue(tx: &mut Tx, scope: ProjectScope, new: NewJob, now: Instant) -> Result<Job> {
    let queued = indexed!(
        tx,
        "SELECT count(*), count(CASE WHEN run_after <= $2 THEN 1 END) FROM jobs",
        "jobs_queued",
        "WHERE project_id = $1 AND status = 'queued'"
    );
    let (queued, due): (i64, i64) = sql(queued)
        .bind(scope.project())
        .bind(now)
        .fetch_one(tx, |c| Ok((c.take()?, c.take()?)))
        .await?;
    if queued >= MAX_WAITING || (due >= MAX_QUEUED && new.run_after <= now) {
        return Err(Error::Overloaded);
    }
    let links = Json::encode(&new.links)?;
    sql(columns!("INSERT INTO jobs (project_id, id, kind, payload, status, run_after, attempt, crashes, cancel_requested, fence, links, created_at, lane)
         VALUES ($1, $2, $3, $4, 'queued', $5, 0, 0, $8, 0, $6, $7, $9) RETURNING" ""))
    .bind(scope.project())
    .bind(new.id)
    .bind(new.kind)
    .bind(Json(new.payload))
    .bind(new.run_after)
    .bind(links)
    .bind(now)
    .bind(false)
    .bind(new.lane.as_str())
    .fetch_one(tx, read_job)
    .await
}

/// Returns whether a job of a kind is queued or running.
pub async fn is_active(tx: &mut Tx, scope: ProjectScope, kind: &str) -> Result<bool> {
    macro_rules! text {
        ($queued:literal, $running:literal) => {
            concat!(
                "SELECT EXISTS (SELECT 1 FROM jobs",
                $queued,
                " WHERE project_id = $1 AND status = 'queued' AND kind = $2)
                   OR EXISTS (SELECT 1 FROM jobs",
                $running,
                " WHERE project_id = $1 AND status = 'running' AND kind = $2)"
            )
        };
    }
    sql(if tx.is_postgres() {
        text!("", "")
    } else {
        text!(" INDEXED BY jobs_queued", " INDEXED BY jobs_running")
    })
    .bind(scope.project())
    .bind(kind)
    .fetch_one(tx, |c| c.take())
    .await
}

/// Returns at most `limit` jobs older than `before`, newest first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    status: Option<JobStatus>,
    before: Option<JobId>,
    limit: u32,
) -> Result<Vec<Job>> {
    sql(columns!("SELECT" "FROM jobs WHERE project_id = $1 AND id < $2 AND (CAST($4 AS TEXT) IS NULL OR status = $4) ORDER BY id DESC LIMIT $3"))
        .bind(scope.project())
        .bind(before.unwrap_or(JobId::MAX))
        .bind(limit)
        .bind(status.map(JobStatus::as_str))
        .fetch_all(tx, read_job)
        .await
}

/// Returns a job; [`Error::Missing`] if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: JobId) -> Result<Job> {
    sql(columns!("SELECT" "FROM jobs WHERE project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, read_job)
        .await
}

/// Cancels a queued job, or requests a running one to stop. Returns the status before.
pub async fn cancel(tx: &mut Tx, scope: ProjectScope, id: JobId, now: Instant) -> Result<JobStatus> {
    // One statement: a worker that leases the job at the same time waits and then finds it canceled, or the job is
    // found running here.
    let after: Option<JobStatus> = sql("UPDATE jobs SET finished_at = CASE WHEN status = 'queued' THEN $3 ELSE finished_at END,
            cancel_requested = (status = 'running'), status = CASE WHEN status = 'queued' THEN 'canceled' ELSE status END
         WHERE project_id = $1 AND id = $2 AND status IN ('queued', 'running') RETURNING status")
    .bind(scope.project())
    .bind(id)
    .bind(now)
    .fetch_optional(tx, |c| c.parse())
    .await?;
    match after {
        Some(JobStatus::Canceled) => Ok(JobStatus::Queued),
        Some(running) => Ok(running),
        None => Ok(get(tx, scope, id).await?.status),
    }
}

/// Makes a queued job due now, and lets one that runs begin its next run without waiting.
pub async fn run_now(tx: &mut Tx, scope: ProjectScope, id: JobId, now: Instant) -> Result<()> {
    // In one statement: a worker may end the run meanwhile, and of two each would find the job in the state for the other.
    sql("UPDATE jobs SET run_after = CASE WHEN status = 'queued' AND run_after > $3 THEN $3 ELSE run_after END,
           rerun_requested = CASE WHEN status = 'running' THEN $4 ELSE rerun_requested END
         WHERE project_id = $1 AND id = $2 AND status IN ('queued', 'running')")
    .bind(scope.project())
    .bind(id)
    .bind(now)
    .bind(true)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns a queued job of the same payload, if there is one.
pub async fn find_queued(
    tx: &mut Tx,
    scope: ProjectScope,
    payload: &serde_json::Value,
) -> Result<Option<Job>> {
    sql(indexed!(
        tx,
        columns!("SELECT" "FROM jobs"),
        "jobs_queued",
        "WHERE project_id = $1 AND status = 'queued' AND payload = $2 ORDER BY id LIMIT 1"
    ))
    .bind(scope.project())
    .bind(payload)
    .fetch_optional(tx, read_job)
    .await
}

/// Counts the queued jobs of a kind.
pub async fn count_queued(tx: &mut Tx, scope: ProjectScope, kind: &str) -> Result<i64> {
    sql(indexed!(
        tx,
        "SELECT count(*) FROM jobs",
        "jobs_queued",
        "WHERE project_id = $1 AND status = 'queued' AND kind = $2"
    ))
    .bind(scope.project())
    .bind(kind)
    .fetch_one(tx, |c| c.take())
    .await
}

/// Returns whether a job of a kind was queued since a time.
pub async fn has_since(tx: &mut Tx, scope: ProjectScope, kind: &str, since: Instant) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM jobs WHERE project_id = $1 AND kind = $2 AND created_at >= $3)")
        .bind(scope.project())
        .bind(kind)
        .bind(since)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Returns the payload of a job.
pub async fn get_payload(tx: &mut Tx, scope: ProjectScope, id: JobId) -> Result<serde_json::Value> {
    sql("SELECT payload FROM jobs WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, |c| Ok(c.take::<Json>()?.0))
        .await
}
