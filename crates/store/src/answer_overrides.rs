//! Corrections of answers by people, and what the counts of a cell depend on.

use searchwright_contract::{
    answers::{AnswerStatus, Engine, MentionOverride},
    ids::AnswerId,
};

use crate::{
    Json, Result, Tx,
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
    .fetch_all(tx, |c| {
        Ok(CountedAnswer {
            engine: c.parse()?,
            status: c.parse()?,
            analysis: c.take_json()?,
            overrides: c.take_json()?,
        })
    })
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
