//! Cache of autocomplete answers: requests to search engines are rate-limited, and the answers change slowly.

use searchwright_contract::Instant;

use crate::{Json, Result, Tx, access::ProjectScope, sql};

/// An autocomplete request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestionQuery {
    /// Language, BCP 47.
    pub language: String,
    /// Country, ISO 3166-1 alpha-2; empty for all.
    pub country: String,
    /// Typed text.
    pub text: String,
}

/// Returns the cached answer, unless it is older than `since`.
pub async fn find(
    tx: &mut Tx,
    scope: ProjectScope,
    query: &SuggestionQuery,
    since: Instant,
) -> Result<Option<Vec<String>>> {
    let found: Option<Json> = sql("SELECT texts FROM suggestions
         WHERE project_id = $1 AND language = $2 AND country = $3 AND typed = $4 AND asked_at >= $5")
    .bind(scope.project())
    .bind(&query.language)
    .bind(&query.country)
    .bind(&query.text)
    .bind(since)
    .fetch_optional(tx, |c| c.take())
    .await?;
    found.map(Json::decode).transpose()
}

/// Saves an answer, and deletes those older than `since`.
pub async fn save(
    tx: &mut Tx,
    scope: ProjectScope,
    query: SuggestionQuery,
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
    .bind(query.language)
    .bind(query.country)
    .bind(query.text)
    .bind(Json(texts.into()))
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}
