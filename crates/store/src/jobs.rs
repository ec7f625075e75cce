//! Jobs: queued here, and carried out under a lease (`jobs/lease.rs`).

mod lease;

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    jobs::{Job, JobStatus},
};
use uuid::Uuid;

pub use lease::{
    Beat, End, LEASE_MILLIS, Leased, MOST_CRASHES, MOST_RUNNING, any_due, any_running, beat, decide, finish,
    holds, lease, listen, note, reclaim, rescue,
};

use crate::{Cells, Error, Json, Result, Tx, access::ProjectScope, sql};

/// Jobs of one project that may wait; one more is refused as overload.
pub const MOST_QUEUED: i64 = 100;

/// A job to be queued.
#[derive(Clone, Debug)]
pub struct New {
    /// Identifier.
    pub id: Uuid,
    /// Kind, the serde tag of the payload.
    pub kind: &'static str,
    /// What to do.
    pub payload: serde_json::Value,
    /// When, at the earliest.
    pub run_after: Instant,
    /// Paths of the records concerned.
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

fn job(c: &mut Cells<'_>) -> Result<Job> {
    let mut job = Job {
        id: c.take::<Uuid>()?.to_string(),
        kind: c.take()?,
        status: c.parse()?,
        attempt: c.take()?,
        created_at: c.take()?,
        started_at: c.take()?,
        finished_at: c.take()?,
        run_after: c.take()?,
        progress: c.take::<Option<Json>>()?.map(|j| j.0),
        result: c.take::<Option<Json>>()?.map(|j| j.0),
        problem: read(c.take()?)?,
        links: read(c.take()?)?.unwrap_or_default(),
        allowed_actions: AllowedActions::default(),
    };
    job.run_after = job.run_after.filter(|_| job.status == JobStatus::Queued);
    Ok(job)
}

fn read<T: serde::de::DeserializeOwned>(value: Option<Json>) -> Result<Option<T>> {
    value
        .map(|Json(v)| serde_json::from_value(v).map_err(|e| Error::Defect(e.to_string())))
        .transpose()
}

/// Queues a job in the transaction of the change that needs it.
pub async fn enqueue(tx: &mut Tx, scope: ProjectScope, new: New, now: Instant) -> Result<Job> {
    let queued: i64 = sql("SELECT count(*) FROM jobs WHERE project_id = $1 AND status = 'queued'")
        .bind(scope.project())
        .fetch_one(tx, |c| c.take())
        .await?;
    if queued >= MOST_QUEUED {
        return Err(Error::Overloaded);
    }
    let links = serde_json::to_value(&new.links).map_err(|e| Error::Defect(e.to_string()))?;
    sql(columns!("INSERT INTO jobs (project_id, id, kind, payload, status, run_after, attempt, crashes, cancel_requested, fence, links, created_at)
         VALUES ($1, $2, $3, $4, 'queued', $5, 0, 0, $8, 0, $6, $7) RETURNING" ""))
    .bind(scope.project())
    .bind(new.id)
    .bind(new.kind)
    .bind(Json(new.payload))
    .bind(new.run_after)
    .bind(Json(links))
    .bind(now)
    .bind(false)
    .fetch_one(tx, job)
    .await
}

/// One page, newest first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    status: Option<JobStatus>,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<Job>> {
    sql(columns!("SELECT" "FROM jobs WHERE project_id = $1 AND id < $2 AND (CAST($4 AS TEXT) IS NULL OR status = $4) ORDER BY id DESC LIMIT $3"))
        .bind(scope.project())
        .bind(before.unwrap_or(Uuid::max()))
        .bind(limit)
        .bind(status.map(JobStatus::as_str))
        .fetch_all(tx, job)
        .await
}

/// One job.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<Job> {
    sql(columns!("SELECT" "FROM jobs WHERE project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, job)
        .await
}

/// Asks for a job to be stopped: at once if it waits, within a second if it runs. What it was before.
pub async fn cancel(tx: &mut Tx, scope: ProjectScope, id: Uuid, now: Instant) -> Result<JobStatus> {
    // One statement: a worker that takes the job meanwhile waits, and then finds it canceled, or is found here.
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

/// Lets a job that waits be taken at once.
pub async fn hasten(tx: &mut Tx, scope: ProjectScope, id: Uuid, now: Instant) -> Result<()> {
    sql("UPDATE jobs SET run_after = $3 WHERE project_id = $1 AND id = $2 AND status = 'queued' AND run_after > $3")
        .bind(scope.project())
        .bind(id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// The job that is queued to do the same, if one is.
pub async fn queued(tx: &mut Tx, scope: ProjectScope, payload: &serde_json::Value) -> Result<Option<Job>> {
    sql(columns!("SELECT" "FROM jobs WHERE project_id = $1 AND status = 'queued' AND payload = $2 ORDER BY id LIMIT 1"))
        .bind(scope.project())
        .bind(payload)
        .fetch_optional(tx, job)
        .await
}

/// What a job is to do.
pub async fn payload(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<serde_json::Value> {
    sql("SELECT payload FROM jobs WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, |c| Ok(c.take::<Json>()?.0))
        .await
}
