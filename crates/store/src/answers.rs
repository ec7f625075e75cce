//! Answers of engines, with what was found in them.

use searchwright_contract::{
    Instant,
    answers::{
        AnswerStatus, Citation, Engine, EngineAnswer, Mention, MentionOverride, Surface, TextMissing,
        WrongFact,
    },
    ids::{AnswerId, PromptId, RunId},
};
use serde::{Deserialize, Serialize};

use crate::{Cells, Json, Result, Tx, access::ProjectScope, sql};

/// Days for which texts are kept. What was found in them is kept for longer.
pub const TEXT_RETENTION_DAYS: i64 = 90;

/// Series of answers that may be counted together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Identifier, made from the other members.
    pub id: i64,
    /// Engine.
    pub engine: Engine,
    /// Way by which the answers are obtained.
    pub surface: Surface,
    /// Whether the engine searches: `auto`, `forced` or `none`.
    pub retrieval: String,
    /// Family of the model that answers; empty if it is not known.
    pub model: String,
    /// Version of the tool and effort.
    pub variant: String,
}

/// Facts that an engine gave beside the text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AnswerSource {
    /// Model that was asked for.
    pub requested_model: Option<String>,
    /// Model that answered.
    pub served_model: Option<String>,
    /// Whether it searched.
    pub search_performed: Option<bool>,
    /// Searches.
    pub fanout_queries: Vec<String>,
    /// Sources as the engine gave them; `None` if it gives none.
    pub citations: Option<Vec<GivenCitation>>,
    /// Milliseconds until it was complete.
    pub latency_ms: Option<u64>,
    /// Cost in millionths of a US dollar.
    pub cost_micros_usd: Option<i64>,
    /// Error of the engine.
    pub error: Option<String>,
}

/// A source as an engine gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GivenCitation {
    /// URL.
    pub url: String,
    /// Title.
    pub title: Option<String>,
    /// Whether the answer cites it; otherwise it was only retrieved.
    pub cited: bool,
}

/// Result of the analysis of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AnswerAnalysis {
    /// Version of the method.
    pub method: String,
    /// Brands.
    pub mentions: Vec<Mention>,
    /// Sources.
    pub citations: Vec<Citation>,
    /// Whether its sources can be seen.
    pub citations_observable: bool,
    /// Sentences that contradict the brand data.
    pub wrong_facts: Vec<WrongFact>,
}

/// An answer as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAnswer {
    /// Identifier, UUIDv7 of the time at which it was stored.
    pub id: AnswerId,
    /// Prompt.
    pub prompt: PromptId,
    /// Run; `None` if it was copied by hand.
    pub run: Option<RunId>,
    /// Series.
    pub series: i64,
    /// Engine.
    pub engine: Engine,
    /// Way by which it was obtained.
    pub surface: Surface,
    /// Outcome.
    pub status: AnswerStatus,
    /// Day in the time zone of the project, since 1970-01-01.
    pub day: i32,
    /// Time of the answer.
    pub asked_at: Instant,
    /// Text; `None` after [`TEXT_RETENTION_DAYS`].
    pub text: Option<String>,
    /// Facts that the engine gave.
    pub source: AnswerSource,
    /// Result of the analysis.
    pub analysis: AnswerAnalysis,
    /// Corrections by people.
    pub overrides: Vec<MentionOverride>,
    /// Number of changes of these.
    pub override_changes: u64,
}

impl From<StoredAnswer> for EngineAnswer {
    fn from(stored: StoredAnswer) -> Self {
        Self {
            id: stored.id,
            prompt_id: stored.prompt,
            run_id: stored.run,
            engine: stored.engine,
            surface: stored.surface,
            requested_model: stored.source.requested_model,
            served_model: stored.source.served_model,
            status: stored.status,
            search_performed: stored.source.search_performed,
            fanout_queries: stored.source.fanout_queries,
            asked_at: stored.asked_at,
            text_missing: stored.text.is_none().then_some(TextMissing::Expired),
            text: stored.text,
            mentions: stored.analysis.mentions,
            disputed: !stored.overrides.is_empty(),
            overrides: stored.overrides,
            citations: stored.analysis.citations,
            citations_observable: stored.analysis.citations_observable,
            wrong_facts: stored.analysis.wrong_facts,
            latency_ms: stored.source.latency_ms,
            cost_micros_usd: stored.source.cost_micros_usd,
            method: stored.analysis.method,
        }
    }
}

fn read_answer(c: &mut Cells<'_>) -> Result<StoredAnswer> {
    Ok(StoredAnswer {
        id: c.take()?,
        prompt: c.take()?,
        run: c.take()?,
        series: c.take()?,
        engine: c.parse()?,
        surface: c.parse()?,
        status: c.parse()?,
        day: c.take::<i64>()? as i32,
        asked_at: c.take()?,
        text: c.take()?,
        source: c.take_json()?,
        analysis: c.take_json()?,
        overrides: c.take_json()?,
        override_changes: c.take()?,
    })
}

macro_rules! select {
    ($after:literal) => {
        concat!(
            "SELECT id, prompt_id, run_id, series_id, engine, surface, status, day, asked_at, text, source, analysis, overrides,
               override_changes FROM answers WHERE project_id = $1 AND ",
            $after
        )
    };
}

/// Stores a series, unless it is known.
pub async fn save_series(tx: &mut Tx, scope: ProjectScope, series: &Series, now: Instant) -> Result<()> {
    sql(
        "INSERT INTO answer_series (project_id, id, engine, surface, retrieval, model, variant, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (project_id, id) DO NOTHING",
    )
    .bind(scope.project())
    .bind(series.id)
    .bind(series.engine.as_str())
    .bind(series.surface.as_str())
    .bind(&series.retrieval)
    .bind(&series.model)
    .bind(&series.variant)
    .bind(now)
    .execute(tx)
    .await
    .map(drop)
}

/// Returns the series of a project.
pub async fn list_series(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<Series>> {
    sql("SELECT id, engine, surface, retrieval, model, variant FROM answer_series WHERE project_id = $1 ORDER BY id")
        .bind(scope.project())
        .fetch_all(tx, |c| {
            Ok(Series {
                id: c.take()?,
                engine: c.parse()?,
                surface: c.parse()?,
                retrieval: c.take()?,
                model: c.take()?,
                variant: c.take()?,
            })
        })
        .await
}

/// Stores answers.
pub async fn insert(tx: &mut Tx, scope: ProjectScope, answers: &[StoredAnswer], now: Instant) -> Result<()> {
    let mut rows = Vec::with_capacity(answers.len());
    for answer in answers {
        rows.push(vec![
            answer.id.into(),
            answer.prompt.into(),
            answer.run.into(),
            answer.series.into(),
            answer.engine.as_str().into(),
            answer.surface.as_str().into(),
            answer.status.as_str().into(),
            i64::from(answer.day).into(),
            answer.asked_at.into(),
            answer.text.as_deref().into(),
            Json::encode(&answer.source)?.into(),
            Json::encode(&answer.analysis)?.into(),
            Json::encode(&answer.overrides)?.into(),
            answer.source.served_model.as_deref().into(),
            answer.source.search_performed.map(i64::from).into(),
            answer
                .source
                .latency_ms
                .and_then(|ms| i64::try_from(ms).ok())
                .into(),
            answer.source.cost_micros_usd.into(),
            (answer.analysis.wrong_facts.len() as i64).into(),
        ]);
    }
    sql("INSERT INTO answers (project_id, created_at, id, prompt_id, run_id, series_id, engine, surface, status, day, asked_at, text,
           source, analysis, overrides, override_changes, served_model, searched, latency_ms, cost_micros, wrong_facts)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0, $16, $17, $18, $19, $20)")
    .bind(scope.project())
    .bind(now)
    .execute_each(tx, rows)
    .await
    .map(drop)
}

/// Returns answers to a prompt, newest first, from before a time and id.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    prompt: PromptId,
    engine: Option<Engine>,
    before: Option<(Instant, AnswerId)>,
    limit: u32,
) -> Result<Vec<StoredAnswer>> {
    let (at, id) = before.unwrap_or((Instant::from_millis(i64::MAX), AnswerId::MAX));
    sql(select!(
        "prompt_id = $2 AND (CAST($3 AS TEXT) IS NULL OR engine = $3) AND (asked_at, id) < ($4, $5)
         ORDER BY asked_at DESC, id DESC LIMIT $6"
    ))
    .bind(scope.project())
    .bind(prompt)
    .bind(engine.map(Engine::as_str))
    .bind(at)
    .bind(id)
    .bind(limit)
    .fetch_all(tx, read_answer)
    .await
}

/// Returns the answers to a prompt of its newest day.
pub async fn list_newest_day(
    tx: &mut Tx,
    scope: ProjectScope,
    prompt: PromptId,
) -> Result<Vec<StoredAnswer>> {
    sql(select!(
        "prompt_id = $2 AND status = 'ok' AND day = (SELECT max(day) FROM answers WHERE project_id = $1 AND prompt_id = $2
           AND status = 'ok') ORDER BY asked_at DESC, id DESC LIMIT 200"
    ))
    .bind(scope.project())
    .bind(prompt)
    .fetch_all(tx, read_answer)
    .await
}

/// Returns all answers to a prompt.
pub async fn list_of_prompt(tx: &mut Tx, scope: ProjectScope, prompt: PromptId) -> Result<Vec<StoredAnswer>> {
    sql(select!("prompt_id = $2 ORDER BY id"))
        .bind(scope.project())
        .bind(prompt)
        .fetch_all(tx, read_answer)
        .await
}

/// Counts the answers of a run by engine.
pub async fn count_of_run_by_engine(
    tx: &mut Tx,
    scope: ProjectScope,
    run: RunId,
) -> Result<Vec<(Engine, Surface, u32)>> {
    sql("SELECT engine, surface, count(*) FROM answers WHERE project_id = $1 AND run_id = $2 GROUP BY engine, surface ORDER BY engine, surface")
        .bind(scope.project())
        .bind(run)
        .fetch_all(tx, |c| Ok((c.parse()?, c.parse()?, c.take::<i64>()? as u32)))
        .await
}

/// Returns the newest answers of some days in which a sentence contradicts the brand data.
pub async fn list_with_wrong_facts(
    tx: &mut Tx,
    scope: ProjectScope,
    days: std::ops::RangeInclusive<i32>,
    limit: u32,
) -> Result<Vec<StoredAnswer>> {
    sql(select!(
        "wrong_facts > 0 AND day BETWEEN $2 AND $3 ORDER BY day DESC, id DESC LIMIT $4"
    ))
    .bind(scope.project())
    .bind(i64::from(*days.start()))
    .bind(i64::from(*days.end()))
    .bind(limit)
    .fetch_all(tx, read_answer)
    .await
}

/// Counts the answers of a run.
pub async fn count_of_run(tx: &mut Tx, scope: ProjectScope, run: RunId) -> Result<i64> {
    sql("SELECT count(*) FROM answers WHERE project_id = $1 AND run_id = $2")
        .bind(scope.project())
        .bind(run)
        .fetch_one(tx, |c| c.take())
        .await
}

/// State of the answers to a prompt: it differs after a new answer and after a correction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswersState {
    /// Answers.
    pub answers: u64,
    /// Changes of their corrections.
    pub override_changes: u64,
}

/// Returns the state of the answers to a prompt.
pub async fn state_of_prompt(tx: &mut Tx, scope: ProjectScope, prompt: PromptId) -> Result<AnswersState> {
    sql(
        "SELECT count(*), CAST(COALESCE(sum(override_changes), 0) AS BIGINT) FROM answers
         WHERE project_id = $1 AND prompt_id = $2",
    )
    .bind(scope.project())
    .bind(prompt)
    .fetch_one(tx, |c| {
        Ok(AnswersState {
            answers: c.take()?,
            override_changes: c.take()?,
        })
    })
    .await
}

/// Returns an answer; [`Error::Missing`](crate::Error::Missing) if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: AnswerId) -> Result<StoredAnswer> {
    sql(select!("id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, read_answer)
        .await
}

/// Writes the analyses of answers that were analysed again.
pub async fn update_analyses(
    tx: &mut Tx,
    scope: ProjectScope,
    analyses: Vec<(AnswerId, AnswerAnalysis)>,
) -> Result<()> {
    let mut rows = Vec::with_capacity(analyses.len());
    for (id, analysis) in analyses {
        let wrong_facts = analysis.wrong_facts.len() as i64;
        rows.push(vec![
            id.into(),
            Json::encode(&analysis)?.into(),
            wrong_facts.into(),
        ]);
    }
    sql("UPDATE answers SET analysis = $3, wrong_facts = $4 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .execute_each(tx, rows)
        .await
        .map(drop)
}

/// Deletes the texts, at most `limit`, that were stored more than [`TEXT_RETENTION_DAYS`] ago, and returns their number.
pub async fn delete_expired_texts(tx: &mut Tx, now: Instant, limit: u32) -> Result<u64> {
    sql("UPDATE answers SET text = NULL WHERE (project_id, id) IN
           (SELECT project_id, id FROM answers WHERE text IS NOT NULL AND created_at < $1 ORDER BY created_at LIMIT $2)")
    .bind(now.plus_millis(-TEXT_RETENTION_DAYS * 86_400_000))
    .bind(limit)
    .execute(tx)
    .await
}

/// Returns whether a project has any answer.
pub async fn exist(tx: &mut Tx, scope: ProjectScope) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM answers WHERE project_id = $1)")
        .bind(scope.project())
        .fetch_one(tx, |c| c.take())
        .await
}
