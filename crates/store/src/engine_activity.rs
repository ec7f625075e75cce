//! Activity of answer engines over some days: outcomes, searches, costs and latency of stored answers, and failures of runs.
//!
//! All is read from one index, so that no text of an answer is touched.

use std::ops::RangeInclusive;

use searchwright_contract::{
    Instant,
    answers::{AnswerStatus, Engine, Surface},
    runs::RunOutcome,
};

use crate::{Result, Tx, access::ProjectScope, sql, statement::Statement};

/// Most models that are listed.
const MAX_MODELS: u32 = 20;
/// Most runs that are read.
const MAX_RUNS: u32 = 5_000;

/// An engine at a surface, over some days.
#[derive(Clone, Debug)]
pub struct EngineDays {
    /// Engine.
    pub engine: Engine,
    /// Surface.
    pub surface: Surface,
    /// Days since 1970-01-01.
    pub days: RangeInclusive<i32>,
}

impl EngineDays {
    fn bind(&self, text: &'static str, scope: ProjectScope) -> Statement {
        sql(text)
            .bind(scope.project())
            .bind(self.engine.as_str())
            .bind(self.surface.as_str())
            .bind(i64::from(*self.days.start()))
            .bind(i64::from(*self.days.end()))
    }
}

/// Answers with a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusCount {
    /// Status.
    pub status: AnswerStatus,
    /// Answers.
    pub answers: u64,
}

/// Answers to one prompt of which it is known whether the engine searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchCount {
    /// Answers for which it searched.
    pub searched: u64,
    /// Answers.
    pub answers: u64,
}

/// A value over some answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Average {
    /// Mean or median.
    pub value: f64,
    /// Answers with a value.
    pub answers: u64,
}

/// An answer that is no good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAnswer {
    /// Its status.
    pub status: AnswerStatus,
    /// Time of the answer.
    pub at: Instant,
}

/// Activity of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineActivity {
    /// Answers by status.
    pub statuses: Vec<StatusCount>,
    /// Searches by prompt.
    pub searches: Vec<SearchCount>,
    /// Models that answered, at most 20.
    pub served_models: Vec<String>,
    /// Mean cost in millionths of a US dollar.
    pub cost_micros: Option<Average>,
    /// Median latency in milliseconds of good answers.
    pub latency_ms: Option<Average>,
    /// Time of the last good answer, however long ago.
    pub last_good_at: Option<Instant>,
    /// Series of the newest answer, however long ago.
    pub newest_series: Option<i64>,
    /// The newest answer of these days that is refused, empty, cut off or an error.
    pub last_bad: Option<BadAnswer>,
}

/// Returns the activity of an engine.
pub async fn get(tx: &mut Tx, scope: ProjectScope, which: &EngineDays) -> Result<EngineActivity> {
    Ok(EngineActivity {
        statuses: statuses(tx, scope, which).await?,
        searches: searches(tx, scope, which).await?,
        served_models: served_models(tx, scope, which).await?,
        cost_micros: cost(tx, scope, which).await?,
        latency_ms: latency(tx, scope, which).await?,
        last_good_at: last_good_at(tx, scope, which).await?,
        newest_series: newest_series(tx, scope, which).await?,
        last_bad: last_bad(tx, scope, which).await?,
    })
}

async fn statuses(tx: &mut Tx, scope: ProjectScope, which: &EngineDays) -> Result<Vec<StatusCount>> {
    which
        .bind(
            "SELECT status, count(*) FROM answers
             WHERE project_id = $1 AND engine = $2 AND surface = $3 AND day BETWEEN $4 AND $5 GROUP BY status ORDER BY status",
            scope,
        )
        .fetch_all(tx, |c| {
            Ok(StatusCount {
                status: c.parse()?,
                answers: c.take()?,
            })
        })
        .await
}

async fn searches(tx: &mut Tx, scope: ProjectScope, which: &EngineDays) -> Result<Vec<SearchCount>> {
    which
        .bind(
            "SELECT CAST(sum(searched) AS BIGINT), count(*) FROM answers
             WHERE project_id = $1 AND engine = $2 AND surface = $3 AND day BETWEEN $4 AND $5 AND searched IS NOT NULL
             GROUP BY prompt_id ORDER BY prompt_id",
            scope,
        )
        .fetch_all(tx, |c| {
            Ok(SearchCount {
                searched: c.take()?,
                answers: c.take()?,
            })
        })
        .await
}

async fn served_models(tx: &mut Tx, scope: ProjectScope, which: &EngineDays) -> Result<Vec<String>> {
    which
        .bind(
            "SELECT DISTINCT served_model FROM answers
             WHERE project_id = $1 AND engine = $2 AND surface = $3 AND day BETWEEN $4 AND $5 AND served_model IS NOT NULL
             ORDER BY served_model LIMIT $6",
            scope,
        )
        .bind(MAX_MODELS)
        .fetch_all(tx, |c| c.take())
        .await
}

async fn cost(tx: &mut Tx, scope: ProjectScope, which: &EngineDays) -> Result<Option<Average>> {
    let read = which
        .bind(
            "SELECT CAST(sum(cost_micros) AS BIGINT), count(cost_micros) FROM answers
             WHERE project_id = $1 AND engine = $2 AND surface = $3 AND day BETWEEN $4 AND $5",
            scope,
        )
        .fetch_one(tx, |c| Ok((c.take::<Option<i64>>()?, c.take::<u64>()?)))
        .await?;
    let (Some(sum), answers) = read else {
        return Ok(None);
    };
    Ok(Some(Average {
        value: sum as f64 / answers as f64,
        answers,
    }))
}

async fn latency(tx: &mut Tx, scope: ProjectScope, which: &EngineDays) -> Result<Option<Average>> {
    let answers: u64 = which
        .bind(
            "SELECT count(latency_ms) FROM answers
             WHERE project_id = $1 AND engine = $2 AND surface = $3 AND day BETWEEN $4 AND $5 AND status = 'ok'",
            scope,
        )
        .fetch_one(tx, |c| c.take())
        .await?;
    let Some(below) = answers.checked_sub(1).map(|others| others / 2) else {
        return Ok(None);
    };
    // The one in the middle, or the two of an even number.
    let middle: Vec<i64> = which
        .bind(
            "SELECT latency_ms FROM answers
             WHERE project_id = $1 AND engine = $2 AND surface = $3 AND day BETWEEN $4 AND $5 AND status = 'ok' AND latency_ms IS NOT NULL
             ORDER BY latency_ms LIMIT $6 OFFSET $7",
            scope,
        )
        .bind(2 - answers % 2)
        .bind(below)
        .fetch_all(tx, |c| c.take())
        .await?;
    let value = middle.iter().sum::<i64>() as f64 / middle.len().max(1) as f64;
    Ok(Some(Average { value, answers }))
}

async fn last_good_at(tx: &mut Tx, scope: ProjectScope, which: &EngineDays) -> Result<Option<Instant>> {
    sql("SELECT max(asked_at) FROM answers WHERE project_id = $1 AND engine = $2 AND surface = $3 AND status = 'ok'
           AND day = (SELECT day FROM answers WHERE project_id = $1 AND engine = $2 AND surface = $3 AND status = 'ok'
                      ORDER BY day DESC LIMIT 1)")
    .bind(scope.project())
    .bind(which.engine.as_str())
    .bind(which.surface.as_str())
    .fetch_one(tx, |c| c.take())
    .await
}

async fn newest_series(tx: &mut Tx, scope: ProjectScope, which: &EngineDays) -> Result<Option<i64>> {
    sql("SELECT series_id FROM answers WHERE project_id = $1 AND engine = $2 AND surface = $3
           AND day = (SELECT day FROM answers WHERE project_id = $1 AND engine = $2 AND surface = $3 ORDER BY day DESC LIMIT 1)
         ORDER BY asked_at DESC, series_id LIMIT 1")
    .bind(scope.project())
    .bind(which.engine.as_str())
    .bind(which.surface.as_str())
    .fetch_optional(tx, |c| c.take())
    .await
}

async fn last_bad(tx: &mut Tx, scope: ProjectScope, which: &EngineDays) -> Result<Option<BadAnswer>> {
    which
        .bind(
            "SELECT status, asked_at FROM answers
             WHERE project_id = $1 AND engine = $2 AND surface = $3 AND day BETWEEN $4 AND $5
               AND status IN ('refused', 'empty', 'incomplete', 'error')
             ORDER BY asked_at DESC, status LIMIT 1",
            scope,
        )
        .fetch_optional(tx, |c| {
            Ok(BadAnswer {
                status: c.parse()?,
                at: c.take()?,
            })
        })
        .await
}

/// Outcomes of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcomes {
    /// Time at which it ended.
    pub ended_at: Instant,
    /// Outcome per engine.
    pub outcomes: Vec<RunOutcome>,
}

/// Returns the outcomes of the runs that ended since a time, newest first, at most 5,000.
pub async fn list_outcomes(tx: &mut Tx, scope: ProjectScope, since: Instant) -> Result<Vec<RunOutcomes>> {
    sql(
        "SELECT finished_at, outcomes FROM answer_runs WHERE project_id = $1 AND finished_at >= $2
         ORDER BY finished_at DESC, id DESC LIMIT $3",
    )
    .bind(scope.project())
    .bind(since)
    .bind(MAX_RUNS)
    .fetch_all(tx, |c| {
        Ok(RunOutcomes {
            ended_at: c.take()?,
            outcomes: c.take_json()?,
        })
    })
    .await
}
