//! What a search box completed, kept for a while: it is asked slowly, and its answers change slowly.

use searchwright_contract::Instant;

use crate::{Error, Json, Result, Tx, access::ProjectScope, sql};

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// BCP 47.
    pub language: String,
    /// ISO 3166-1 alpha-2; empty for all.
    pub country: String,
    /// What was typed.
    pub text: String,
}

/// What was completed, if it was asked since.
pub async fn get(
    tx: &mut Tx,
    scope: ProjectScope,
    place: &Place,
    since: Instant,
) -> Result<Option<Vec<String>>> {
    let found: Option<Json> = sql("SELECT texts FROM suggestions
         WHERE project_id = $1 AND language = $2 AND country = $3 AND typed = $4 AND asked_at >= $5")
    .bind(scope.project())
    .bind(&place.language)
    .bind(&place.country)
    .bind(&place.text)
    .bind(since)
    .fetch_optional(tx, |c| c.take())
    .await?;
    found
        .map(|Json(texts)| serde_json::from_value(texts).map_err(|e| Error::Defect(e.to_string())))
        .transpose()
}

/// Keeps an answer, and drops those of before `since`.
pub async fn keep(
    tx: &mut Tx,
    scope: ProjectScope,
    place: Place,
    texts: &[String],
    since: Instant,
    now: Instant,
) -> Result<()> {
    sql("DELETE FROM suggestions WHERE project_id = $1 AND asked_at < $2")
        .bind(scope.project())
        .bind(since)
        .execute(tx)
        .await?;
    sql(
        "INSERT INTO suggestions (project_id, language, country, typed, texts, asked_at) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (project_id, language, country, typed) DO UPDATE SET texts = $5, asked_at = $6",
    )
    .bind(scope.project())
    .bind(place.language)
    .bind(place.country)
    .bind(place.text)
    .bind(Json(texts.into()))
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}
