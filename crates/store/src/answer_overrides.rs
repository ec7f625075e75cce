//! Corrections of answers by people, and what the counts of a cell depend on.

use searchwright_contract::{
    answers::{AnswerStatus, Engine, MentionOverride, Surface},
    ids::{AnswerId, PromptId, RunId},
};

use crate::{
    Cells, Json, Result, Tx,
    access::ProjectScope,
    answers::{AnswerAnalysis, StoredAnswer},
    sql,
};

/// An answer, as far as counts depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedAnswer {
    /// Engine.
    pub engine: Engine,
    /// Outcome.
    pub status: AnswerStatus,
    /// Result of the analysis.
    pub analysis: AnswerAnalysis,
    /// Corrections by people.
    pub overrides: Vec<MentionOverride>,
}

impl CountedAnswer {
    /// Returns whether it counts as a mention of the own brand: what a person said comes before the analysis.
    pub fn mentions_own(&self) -> bool {
        let mut overrides = self.overrides.iter();
        match overrides.find(|decided| decided.competitor_id.is_none()) {
            Some(decided) => decided.mentioned,
            None => {
                let mut mentions = self.analysis.mentions.iter();
                mentions.any(|mention| mention.is_own && !mention.candidate)
            }
        }
    }
}

/// Place of answers that are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerPlace {
    /// Prompt.
    pub prompt: PromptId,
    /// Engine.
    pub engine: Engine,
    /// Way by which they were obtained.
    pub surface: Surface,
}

fn read_counted(c: &mut Cells<'_>) -> Result<CountedAnswer> {
    Ok(CountedAnswer {
        engine: c.parse()?,
        status: c.parse()?,
        analysis: c.take_json()?,
        overrides: c.take_json()?,
    })
}

/// Returns the answers of the cell of another one.
pub async fn list_of_cell(
    tx: &mut Tx,
    scope: ProjectScope,
    answer: &StoredAnswer,
) -> Result<Vec<CountedAnswer>> {
    sql("SELECT engine, status, analysis, overrides FROM answers
         WHERE project_id = $1 AND prompt_id = $2 AND day = $3 AND series_id = $4 ORDER BY id")
    .bind(scope.project())
    .bind(answer.prompt)
    .bind(i64::from(answer.day))
    .bind(answer.series)
    .fetch_all(tx, read_counted)
    .await
}

/// Returns the newest whole answers at a place, newest first, without those of one run.
pub async fn list_newest(
    tx: &mut Tx,
    scope: ProjectScope,
    place: &AnswerPlace,
    without: Option<RunId>,
    limit: u32,
) -> Result<Vec<CountedAnswer>> {
    sql("SELECT engine, status, analysis, overrides FROM answers
         WHERE project_id = $1 AND prompt_id = $2 AND engine = $3 AND surface = $4 AND status = 'ok'
           AND (run_id IS NULL OR run_id <> $5) ORDER BY asked_at DESC, id DESC LIMIT $6")
    .bind(scope.project())
    .bind(place.prompt)
    .bind(place.engine.as_str())
    .bind(place.surface.as_str())
    .bind(without.unwrap_or(RunId::MIN))
    .bind(limit)
    .fetch_all(tx, read_counted)
    .await
}

/// Returns the answers of a run at a place.
pub async fn list_of_run(
    tx: &mut Tx,
    scope: ProjectScope,
    place: &AnswerPlace,
    run: RunId,
) -> Result<Vec<CountedAnswer>> {
    sql("SELECT engine, status, analysis, overrides FROM answers
         WHERE project_id = $1 AND run_id = $2 AND prompt_id = $3 AND engine = $4 AND surface = $5")
    .bind(scope.project())
    .bind(run)
    .bind(place.prompt)
    .bind(place.engine.as_str())
    .bind(place.surface.as_str())
    .fetch_all(tx, read_counted)
    .await
}

/// Writes the corrections of an answer.
pub async fn set_overrides(
    tx: &mut Tx,
    scope: ProjectScope,
    id: AnswerId,
    overrides: &[MentionOverride],
) -> Result<()> {
    sql(
        "UPDATE answers SET overrides = $3, override_changes = override_changes + 1
         WHERE project_id = $1 AND id = $2",
    )
    .bind(scope.project())
    .bind(id)
    .bind(Json::encode(&overrides)?)
    .execute(tx)
    .await
    .map(drop)
}
