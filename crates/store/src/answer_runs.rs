//! Runs of prompts.

use searchwright_contract::{
    Instant,
    answers::Engine,
    ids::{JobId, PromptId, RunId},
    runs::{CostEstimate, Run, RunOutcome, RunStatus, RunTrigger},
};

use crate::{Cells, Json, Result, Tx, access::ProjectScope, sql};

macro_rules! columns {
    ($before:literal $after:literal) => {
        concat!(
            $before,
            " id, trigger_kind, status, prompt_ids, engines, samples, precision_target, estimate, cost_micros, outcomes, requested_by, created_at, finished_at,
              job_id, max_cost_micros ",
            $after
        )
    };
}

/// A run to be created.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Identifier, UUIDv7 of now.
    pub id: RunId,
    /// Job that carries it out.
    pub job: JobId,
    /// Words that say what was asked for, equal for equal requests.
    pub request: String,
    /// Start.
    pub trigger: RunTrigger,
    /// Prompts.
    pub prompts: Vec<PromptId>,
    /// Engines.
    pub engines: Vec<Engine>,
    /// Answers per prompt and engine.
    pub samples: u8,
    /// Half-width in points that is aimed at.
    pub precision_target: Option<f64>,
    /// Estimate of the cost.
    pub estimate: CostEstimate,
    /// Most that it may cost, in millionths of a US dollar.
    pub max_cost_micros: Option<i64>,
    /// Name of the caller.
    pub requested_by: Option<String>,
}

/// A run as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// The run, as callers see it.
    pub run: Run,
    /// Job that carries it out.
    pub job: JobId,
    /// Most that it may cost, in millionths of a US dollar.
    pub max_cost_micros: Option<i64>,
}

fn read_run(c: &mut Cells<'_>) -> Result<StoredRun> {
    let run = Run {
        id: c.take()?,
        trigger: c.parse()?,
        status: c.parse()?,
        prompt_ids: c.take_json()?,
        engines: c.take_json()?,
        samples: c.take::<i64>()? as u8,
        precision_target: c.take()?,
        estimated_cost: c.take_json()?,
        actual_cost: c.take::<Option<i64>>()?.map(|micros| micros as f64 / 1e6),
        currency: "USD".to_owned(),
        outcomes: c.take_json()?,
        requested_by: c.take()?,
        created_at: c.take()?,
        finished_at: c.take()?,
    };
    Ok(StoredRun {
        run,
        job: c.take()?,
        max_cost_micros: c.take()?,
    })
}

/// Creates a run.
pub async fn create(tx: &mut Tx, scope: ProjectScope, new: NewRun, now: Instant) -> Result<StoredRun> {
    let outcomes: [RunOutcome; 0] = [];
    sql(columns!("INSERT INTO answer_runs (project_id, id, job_id, request, trigger_kind, status, prompt_ids, engines, samples, precision_target,
           estimate, max_cost_micros, outcomes, requested_by, created_at)
         VALUES ($1, $2, $3, $4, $5, 'queued', $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING" ""))
    .bind(scope.project())
    .bind(new.id)
    .bind(new.job)
    .bind(new.request)
    .bind(new.trigger.as_str())
    .bind(Json::encode(&new.prompts)?)
    .bind(Json::encode(&new.engines)?)
    .bind(new.samples)
    .bind(new.precision_target)
    .bind(Json::encode(&new.estimate)?)
    .bind(new.max_cost_micros)
    .bind(Json::encode(&outcomes)?)
    .bind(new.requested_by)
    .bind(now)
    .fetch_one(tx, read_run)
    .await
}

/// Returns the newest run of an equal request since a time that has not failed.
pub async fn find_equal(
    tx: &mut Tx,
    scope: ProjectScope,
    request: &str,
    since: Instant,
) -> Result<Option<StoredRun>> {
    sql(
        columns!("SELECT" "FROM answer_runs WHERE project_id = $1 AND request = $2 AND created_at >= $3
           AND status NOT IN ('failed', 'cancelled') ORDER BY id DESC LIMIT 1"),
    )
    .bind(scope.project())
    .bind(request)
    .bind(since)
    .fetch_optional(tx, read_run)
    .await
}

/// Returns a run; [`Error::Missing`](crate::Error::Missing) if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: RunId) -> Result<StoredRun> {
    sql(columns!("SELECT" "FROM answer_runs WHERE project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, read_run)
        .await
}

/// Returns one page of runs, newest first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    status: Option<RunStatus>,
    before: Option<RunId>,
    limit: u32,
) -> Result<Vec<Run>> {
    sql(columns!("SELECT" "FROM answer_runs WHERE project_id = $1 AND id < $2 AND (CAST($3 AS TEXT) IS NULL OR status = $3)
           ORDER BY id DESC LIMIT $4"))
    .bind(scope.project())
    .bind(before.unwrap_or(RunId::MAX))
    .bind(status.map(RunStatus::as_str))
    .bind(limit)
    .fetch_all(tx, |c| Ok(read_run(c)?.run))
    .await
}

/// Returns whether a run of the schedule has not ended.
pub async fn is_scheduled_under_way(tx: &mut Tx, scope: ProjectScope) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM answer_runs WHERE project_id = $1 AND trigger_kind = 'scheduled' AND finished_at IS NULL)")
        .bind(scope.project())
        .fetch_one(tx, |c| c.take())
        .await
}

/// Marks a run as under way.
pub async fn begin(tx: &mut Tx, scope: ProjectScope, id: RunId) -> Result<()> {
    sql("UPDATE answer_runs SET status = 'running' WHERE project_id = $1 AND id = $2 AND status = 'queued'")
        .bind(scope.project())
        .bind(id)
        .execute(tx)
        .await
        .map(drop)
}

/// Adds the cost of an answer.
pub async fn add_cost(tx: &mut Tx, scope: ProjectScope, id: RunId, micros: i64) -> Result<()> {
    sql("UPDATE answer_runs SET cost_micros = COALESCE(cost_micros, 0) + $3 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(micros)
        .execute(tx)
        .await
        .map(drop)
}

/// Ends a run. Returns `false`, and changes nothing, if it has ended.
pub async fn finish(
    tx: &mut Tx,
    scope: ProjectScope,
    id: RunId,
    status: RunStatus,
    outcomes: &[RunOutcome],
    now: Instant,
) -> Result<bool> {
    let ended = sql(
        "UPDATE answer_runs SET status = $3, outcomes = $4, finished_at = $5
         WHERE project_id = $1 AND id = $2 AND finished_at IS NULL",
    )
    .bind(scope.project())
    .bind(id)
    .bind(status.as_str())
    .bind(Json::encode(&outcomes)?)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(ended == 1)
}

/// Returns the run of a job; `None` if the job is of another kind.
pub async fn find_of_job(tx: &mut Tx, scope: ProjectScope, job: JobId) -> Result<Option<StoredRun>> {
    sql(columns!("SELECT" "FROM answer_runs WHERE project_id = $1 AND job_id = $2"))
        .bind(scope.project())
        .bind(job)
        .fetch_optional(tx, read_run)
        .await
}
