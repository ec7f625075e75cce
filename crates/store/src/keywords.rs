//! Keywords.

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    keywords::{Intent, Keyword, KeywordSort, KeywordStatus, MissingReason},
};
use uuid::Uuid;

use crate::{Cells, Error, Result, Tx, access::ProjectScope, sql};

/// Filters and place of a list.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Only this status.
    pub status: Option<KeywordStatus>,
    /// Only this intent.
    pub intent: Option<Intent>,
    /// Only texts that contain this, normalised.
    pub contains: Option<String>,
    /// Order.
    pub sort: Option<KeywordSort>,
    /// Last row of the page before: sort value (-1 for unknown) and id.
    pub after: Option<(i64, Uuid)>,
    /// Rows, at most.
    pub limit: u32,
}

/// A keyword to be added.
#[derive(Clone, Debug)]
pub struct New {
    /// Identifier, UUIDv7 of now.
    pub id: Uuid,
    /// As the caller wrote it.
    pub keyword: String,
    /// What makes it unique.
    pub normalized: String,
    /// Language.
    pub language: String,
    /// Country, empty for all.
    pub country: String,
    /// Searches per month.
    pub search_volume: Option<i64>,
    /// Difficulty.
    pub keyword_difficulty: Option<i64>,
    /// What a searcher wants.
    pub intent: Option<Intent>,
}

macro_rules! columns {
    ($before:literal $after:literal) => {
        concat!(
            $before,
            " id, keyword, search_volume, keyword_difficulty, intent, language, country, status, source, version, created_at, updated_at ",
            $after
        )
    };
}

fn keyword(c: &mut Cells<'_>) -> Result<Keyword> {
    let id = c.take::<Uuid>()?.to_string();
    let keyword = c.take()?;
    let (search_volume, keyword_difficulty): (Option<i64>, Option<i64>) = (c.take()?, c.take()?);
    let missing = |value: Option<i64>| value.is_none().then_some(MissingReason::NotMeasured);
    Ok(Keyword {
        id,
        keyword,
        search_volume,
        search_volume_status: missing(search_volume),
        keyword_difficulty,
        keyword_difficulty_status: missing(keyword_difficulty),
        intent: c.word_or_null()?,
        language: c.take()?,
        country: Some(c.take::<String>()?).filter(|t| !t.is_empty()),
        status: c.word()?,
        source: c.word()?,
        version: c.take()?,
        created_at: c.take()?,
        updated_at: c.take()?,
        allowed_actions: AllowedActions::default(),
    })
}

/// One page in the order of the query, newest first unless it says otherwise.
pub async fn list(tx: &mut Tx, scope: ProjectScope, query: Query) -> Result<Vec<Keyword>> {
    // An id is a UUIDv7: its order is the order of creation, and the largest possible one begins the list.
    let (value, id) = query.after.unwrap_or((i64::MAX, Uuid::max()));
    let unfiltered = query.status.is_none() && query.intent.is_none() && query.contains.is_none();
    let text = match (query.sort.unwrap_or(KeywordSort::Created), unfiltered) {
        (KeywordSort::Created, true) => {
            return sql(columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3"))
                .bind(scope.project())
                .bind(id)
                .bind(query.limit)
                .all(tx, keyword)
                .await;
        }
        (KeywordSort::Created, false) => {
            columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id < $3 AND CAST($2 AS BIGINT) IS NOT NULL
            AND (CAST($5 AS TEXT) IS NULL OR status = $5) AND (CAST($6 AS TEXT) IS NULL OR intent = $6)
            AND (CAST($7 AS TEXT) IS NULL OR normalized LIKE $7 ESCAPE '\\') ORDER BY id DESC LIMIT $4")
        }
        (KeywordSort::SearchVolume, _) => columns!("SELECT" "FROM keywords WHERE project_id = $1
            AND (coalesce(search_volume, -1), id) < ($2, $3)
            AND (CAST($5 AS TEXT) IS NULL OR status = $5) AND (CAST($6 AS TEXT) IS NULL OR intent = $6)
            AND (CAST($7 AS TEXT) IS NULL OR normalized LIKE $7 ESCAPE '\\') ORDER BY coalesce(search_volume, -1) DESC, id DESC LIMIT $4"),
        (KeywordSort::KeywordDifficulty, _) => columns!("SELECT" "FROM keywords WHERE project_id = $1
            AND (coalesce(keyword_difficulty, -1), id) < ($2, $3)
            AND (CAST($5 AS TEXT) IS NULL OR status = $5) AND (CAST($6 AS TEXT) IS NULL OR intent = $6)
            AND (CAST($7 AS TEXT) IS NULL OR normalized LIKE $7 ESCAPE '\\') ORDER BY coalesce(keyword_difficulty, -1) DESC, id DESC LIMIT $4"),
    };
    sql(text)
        .bind(scope.project())
        .bind(value)
        .bind(id)
        .bind(query.limit)
        .bind(query.status.map(KeywordStatus::as_str))
        .bind(query.intent.map(Intent::as_str))
        .bind(query.contains.map(|t| contains(&t)))
        .all(tx, keyword)
        .await
}

/// A LIKE pattern for texts that contain this one.
fn contains(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

/// Adds a keyword; `Err` with the id of the one that has this text already.
pub async fn create(
    tx: &mut Tx,
    scope: ProjectScope,
    new: New,
    now: Instant,
) -> Result<Result<Keyword, Uuid>> {
    let (language, country, normalized) = (new.language.clone(), new.country.clone(), new.normalized.clone());
    let added = sql(columns!("INSERT INTO keywords (project_id, id, keyword, normalized, language, country, search_volume, keyword_difficulty,
            intent, status, source, version, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'approved', 'manual', 1, $10, $10)
         ON CONFLICT (project_id, language, country, normalized) DO NOTHING RETURNING" ""))
    .bind(scope.project())
    .bind(new.id)
    .bind(new.keyword)
    .bind(new.normalized)
    .bind(new.language)
    .bind(new.country)
    .bind(new.search_volume)
    .bind(new.keyword_difficulty)
    .bind(new.intent.map(Intent::as_str))
    .bind(now)
    .optional(tx, keyword)
    .await?;
    match added {
        Some(keyword) => Ok(Ok(keyword)),
        None => sql("SELECT id FROM keywords WHERE project_id = $1 AND language = $2 AND country = $3 AND normalized = $4")
            .bind(scope.project())
            .bind(language)
            .bind(country)
            .bind(normalized)
            .one(tx, |c| c.take())
            .await
            .map(Err),
    }
}

/// One keyword; [`Error::Missing`] if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<Keyword> {
    sql(columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .one(tx, keyword)
        .await
}

/// Writes the members that can change, and counts the version up.
pub async fn update(
    tx: &mut Tx,
    scope: ProjectScope,
    id: Uuid,
    changed: &Keyword,
    now: Instant,
) -> Result<Keyword> {
    sql(columns!("UPDATE keywords SET search_volume = $3, keyword_difficulty = $4, intent = $5, status = $6, version = version + 1, updated_at = $7
         WHERE project_id = $1 AND id = $2 AND version = $8 RETURNING" ""))
    .bind(scope.project())
    .bind(id)
    .bind(changed.search_volume)
    .bind(changed.keyword_difficulty)
    .bind(changed.intent.map(Intent::as_str))
    .bind(changed.status.as_str())
    .bind(now)
    .bind(changed.version)
    .one(tx, keyword)
    .await
}

/// Deletes a keyword; [`Error::Missing`] if the project has none of this id.
pub async fn delete(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<()> {
    let gone = sql("DELETE FROM keywords WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .run(tx)
        .await?;
    if gone == 0 { Err(Error::Missing) } else { Ok(()) }
}
