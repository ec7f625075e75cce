//! Keywords.

macro_rules! columns {
    ($before:literal $after:literal) => {
        concat!(
            $before,
            " id, keyword, search_volume, keyword_difficulty, intent, language, country, status, source, version, created_at, updated_at,
              intent_source, intent_confidence, intent_reason, score, cluster_id, is_cluster_head, post_ids, details, cannibalisation ",
            $after
        )
    };
}

mod cannibalisation;
mod clusters;
mod list;
mod posts;
mod trigrams;

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    ids::{KeywordId, PostId},
    keywords::{Intent, IntentSource, Keyword, KeywordDetails, KeywordSource, KeywordStatus},
    missing::MissingReason,
};
use serde_json::Value;

pub use cannibalisation::{list_competing_pages, list_languages, update_competing_pages};
pub use clusters::{ClusterCandidate, ClusterPlace, list_in_language, update_clusters};
pub use list::{KeywordQuery, ListPart, list, list_text};
pub use posts::{has_approved_without_live_post, list_published_twice, status_from_post, update_from_posts};
pub use trigrams::search_text;

use crate::{Cells, Error, Json, Param, Result, Tx, access::ProjectScope, projects, sql};

/// A keyword to be created.
#[derive(Clone, Debug)]
pub struct NewKeyword {
    /// Identifier, UUIDv7 of now.
    pub id: KeywordId,
    /// Text as the caller wrote it.
    pub keyword: String,
    /// Normalised text, which is unique with language and country.
    pub normalized: String,
    /// Language.
    pub language: String,
    /// Country; empty for all.
    pub country: String,
    /// Status.
    pub status: KeywordStatus,
    /// Source.
    pub source: KeywordSource,
    /// Metrics and derived values.
    pub facts: KeywordFacts,
}

impl NewKeyword {
    /// Returns its unique key.
    pub fn key(&self) -> TextKey {
        (
            self.language.clone(),
            self.country.clone(),
            self.normalized.clone(),
        )
    }

    /// Returns the record that an insert creates, so that it need not be read back.
    fn to_record(&self, now: Instant) -> Keyword {
        let facts = self.facts.clone();
        Keyword {
            id: self.id,
            keyword: self.keyword.clone(),
            search_volume: facts.search_volume,
            search_volume_status: missing_reason(facts.search_volume),
            keyword_difficulty: facts.keyword_difficulty,
            keyword_difficulty_status: missing_reason(facts.keyword_difficulty),
            intent: facts.intent,
            language: self.language.clone(),
            country: Some(self.country.clone()).filter(|t| !t.is_empty()),
            status: self.status,
            source: self.source,
            version: 1,
            created_at: now,
            updated_at: now,
            intent_source: facts.intent_source,
            intent_confidence: facts.intent_confidence,
            intent_reason: facts.intent_reason,
            score: facts.score.map(score_from_thousandths),
            cluster_id: None,
            is_cluster_head: false,
            post_ids: Vec::new(),
            details: facts.details,
            allowed_actions: AllowedActions::default(),
        }
    }
}

fn missing_reason(value: Option<i64>) -> Option<MissingReason> {
    value.is_none().then_some(MissingReason::NotMeasured)
}

fn score_from_thousandths(score: i64) -> f64 {
    score as f64 / 1000.0
}

/// Metrics and derived values of a keyword, which change over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeywordFacts {
    /// Searches per month.
    pub search_volume: Option<i64>,
    /// Difficulty, 0 to 100.
    pub keyword_difficulty: Option<i64>,
    /// Search intent.
    pub intent: Option<Intent>,
    /// Source of the intent.
    pub intent_source: Option<IntentSource>,
    /// Confidence of the intent, 0 to 1.
    pub intent_confidence: Option<f64>,
    /// Rule that decided the intent.
    pub intent_reason: Option<String>,
    /// Score in thousandths.
    pub score: Option<i64>,
    /// Other details.
    pub details: KeywordDetails,
}

impl KeywordFacts {
    /// Returns whether two states are equal except for the times of their values.
    pub fn equals_but_for_times(&self, other: &Self) -> bool {
        let without_times = |known: &Self| {
            let mut known = known.clone();
            known.details.metrics_updated_at = None;
            for origin in &mut known.details.sources {
                origin.at = Instant::default();
            }
            known
        };
        without_times(self) == without_times(other)
    }

    /// Creates the facts of a keyword as it was read.
    pub fn from_keyword(keyword: &Keyword) -> Self {
        Self {
            search_volume: keyword.search_volume,
            keyword_difficulty: keyword.keyword_difficulty,
            intent: keyword.intent,
            intent_source: keyword.intent_source,
            intent_confidence: keyword.intent_confidence,
            intent_reason: keyword.intent_reason.clone(),
            score: keyword.score.map(|score| (score * 1000.0).round() as i64),
            details: keyword.details.clone(),
        }
    }

    fn into_params(self) -> Result<[Param; 8]> {
        Ok([
            self.search_volume.into(),
            self.keyword_difficulty.into(),
            self.intent.map(Intent::as_str).into(),
            self.intent_source.map(IntentSource::as_str).into(),
            self.intent_confidence.into(),
            self.intent_reason.into(),
            self.score.into(),
            encode_details(&self.details)?.into(),
        ])
    }
}

/// Encodes the members that have a value; `None`, as for most keywords, if there are none. Cannibalisation that follows from
/// pages and posts is left out.
fn encode_details(details: &KeywordDetails) -> Result<Option<Json>> {
    let Json(Value::Object(mut members)) = Json::encode(details)? else {
        return Ok(None);
    };
    if !cannibalisation::is_reported(details) {
        members.remove("cannibalisation");
    }
    members.retain(|_, value| !(value.is_null() || value.as_array().is_some_and(Vec::is_empty)));
    Ok((!members.is_empty()).then_some(Json(Value::Object(members))))
}

/// Reads the ids of the posts that target a keyword.
fn read_post_ids(c: &mut Cells<'_>) -> Result<Vec<PostId>> {
    Ok(c.take_json_optional()?.unwrap_or_default())
}

fn read_keyword(c: &mut Cells<'_>) -> Result<Keyword> {
    let id = c.take()?;
    let keyword = c.take()?;
    let (search_volume, keyword_difficulty): (Option<i64>, Option<i64>) = (c.take()?, c.take()?);
    let mut keyword = Keyword {
        id,
        keyword,
        search_volume,
        search_volume_status: missing_reason(search_volume),
        keyword_difficulty,
        keyword_difficulty_status: missing_reason(keyword_difficulty),
        intent: c.parse_optional()?,
        language: c.take()?,
        country: Some(c.take::<String>()?).filter(|t| !t.is_empty()),
        status: c.parse()?,
        source: c.parse()?,
        version: c.take()?,
        created_at: c.take()?,
        updated_at: c.take()?,
        intent_source: c.parse_optional()?,
        intent_confidence: c.take()?,
        intent_reason: c.take()?,
        score: c.take::<Option<i64>>()?.map(score_from_thousandths),
        cluster_id: c.take()?,
        is_cluster_head: c.take()?,
        post_ids: read_post_ids(c)?,
        details: c.take_json_optional()?.unwrap_or_default(),
        allowed_actions: AllowedActions::default(),
    };
    let pages = c.take::<Option<Json>>()?;
    let reported = keyword.details.cannibalisation.take();
    keyword.details.cannibalisation = cannibalisation::combine(reported, pages, &keyword.post_ids)?;
    Ok(keyword)
}

macro_rules! insert {
    () => {
        "INSERT INTO keywords (project_id, version, created_at, updated_at, id, keyword, normalized, language, country, status, source,
           search_volume, keyword_difficulty, intent, intent_source, intent_confidence, intent_reason, score, details)
         VALUES ($1, 1, $2, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
         ON CONFLICT (project_id, language, country, normalized) DO NOTHING RETURNING id"
    };
}

/// Creates a keyword; `Err` with the id of the existing one if its text is taken.
pub async fn create(
    tx: &mut Tx,
    scope: ProjectScope,
    new: NewKeyword,
    now: Instant,
) -> Result<Result<Keyword, KeywordId>> {
    let (text, keyword) = (new.key(), new.to_record(now));
    if !insert_new(tx, scope, vec![new], now).await?.is_empty() {
        return Ok(Ok(keyword));
    }
    let found = find_by_texts(tx, scope, vec![text]).await?;
    match found.into_iter().next().flatten() {
        Some(keyword) => Ok(Err(keyword.id)),
        None => Err(Error::Missing),
    }
}

/// Inserts keywords and returns the ids of those that are new. Those whose text exists are left as they are.
pub async fn insert_new(
    tx: &mut Tx,
    scope: ProjectScope,
    new: Vec<NewKeyword>,
    now: Instant,
) -> Result<Vec<KeywordId>> {
    let rows = new.into_iter().map(insert_row).collect::<Result<_>>()?;
    let inserted = sql(insert!())
        .bind(scope.project())
        .bind(now)
        .fetch_optional_each(tx, rows, |c| c.take::<KeywordId>())
        .await?;
    let created: Vec<KeywordId> = inserted.into_iter().flatten().collect();
    trigrams::insert(tx, scope, &created).await?;
    Ok(created)
}

fn insert_row(new: NewKeyword) -> Result<Vec<Param>> {
    let mut row: Vec<Param> = vec![
        new.id.into(),
        new.keyword.into(),
        new.normalized.into(),
        new.language.into(),
        new.country.into(),
        new.status.as_str().into(),
        new.source.as_str().into(),
    ];
    row.extend(new.facts.into_params()?);
    Ok(row)
}

/// Unique key of a keyword in its project: language, country, normalised text.
pub type TextKey = (String, String, String);

/// Returns the keywords with these texts, in the order of `texts`.
pub async fn find_by_texts(
    tx: &mut Tx,
    scope: ProjectScope,
    texts: Vec<TextKey>,
) -> Result<Vec<Option<Keyword>>> {
    sql(columns!("SELECT" "FROM keywords WHERE project_id = $1 AND language = $2 AND country = $3 AND normalized = $4"))
        .bind(scope.project())
        .fetch_optional_each(tx, texts.into_iter().map(text_row).collect(), read_keyword)
        .await
}

/// Returns the keywords with these texts, as [`find_by_texts`]. Other changes of them wait until the transaction ends, so that what
/// is written back takes none of theirs away. Locks the project too: two that lock many keywords would wait for each other.
pub async fn find_by_texts_for_update(
    tx: &mut Tx,
    scope: ProjectScope,
    texts: Vec<TextKey>,
) -> Result<Vec<Option<Keyword>>> {
    projects::lock(tx, scope).await?;
    if !tx.is_postgres() {
        return find_by_texts(tx, scope, texts).await;
    }
    sql(columns!("SELECT" "FROM keywords WHERE project_id = $1 AND language = $2 AND country = $3 AND normalized = $4 FOR NO KEY UPDATE"))
        .bind(scope.project())
        .fetch_optional_each(tx, texts.into_iter().map(text_row).collect(), read_keyword)
        .await
}

fn text_row(text: TextKey) -> Vec<Param> {
    let (language, country, normalized) = text;
    vec![language.into(), country.into(), normalized.into()]
}

/// Updates the facts of keywords, increments their versions, and returns the number of updated keywords.
pub async fn update_facts(
    tx: &mut Tx,
    scope: ProjectScope,
    changed: Vec<(KeywordId, KeywordFacts)>,
    now: Instant,
) -> Result<u64> {
    let mut rows = Vec::with_capacity(changed.len());
    for (id, facts) in changed {
        let mut row: Vec<Param> = vec![id.into()];
        row.extend(facts.into_params()?);
        rows.push(row);
    }
    sql("UPDATE keywords SET version = version + 1, updated_at = $2, measured_at = $2, search_volume = $4, keyword_difficulty = $5, intent = $6,
           intent_source = $7, intent_confidence = $8, intent_reason = $9, score = $10, details = $11
         WHERE project_id = $1 AND id = $3")
    .bind(scope.project())
    .bind(now)
    .execute_each(tx, rows)
    .await
}

/// A keyword whose figures are old.
#[derive(Clone, Debug)]
pub struct LeastMeasured {
    /// Identifier.
    pub id: KeywordId,
    /// Key.
    pub key: TextKey,
}

/// Returns the keywords in use whose figures are the oldest, those that never had any first.
pub async fn list_least_measured(tx: &mut Tx, scope: ProjectScope, limit: u32) -> Result<Vec<LeastMeasured>> {
    sql("SELECT id, language, country, normalized FROM keywords
         WHERE project_id = $1 AND status NOT IN ('rejected', 'archived')
         ORDER BY measured_at IS NOT NULL, measured_at, id LIMIT $2")
    .bind(scope.project())
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(LeastMeasured {
            id: c.take()?,
            key: (c.take()?, c.take()?, c.take()?),
        })
    })
    .await
}

/// Notes that a provider is asked for the figures of keywords, so that others are the least measured.
pub async fn set_measured(tx: &mut Tx, scope: ProjectScope, ids: Vec<KeywordId>, now: Instant) -> Result<()> {
    sql("UPDATE keywords SET measured_at = $2 WHERE project_id = $1 AND id = $3")
        .bind(scope.project())
        .bind(now)
        .execute_each(tx, ids.into_iter().map(|id| vec![id.into()]).collect())
        .await
        .map(drop)
}

/// Returns the normalised texts of a language and country, sorted.
pub async fn list_texts(
    tx: &mut Tx,
    scope: ProjectScope,
    language: &str,
    country: &str,
) -> Result<Vec<String>> {
    sql("SELECT normalized FROM keywords WHERE project_id = $1 AND language = $2 AND country = $3 ORDER BY normalized")
        .bind(scope.project())
        .bind(language)
        .bind(country)
        .fetch_all(tx, |c| c.take())
        .await
}

/// Returns a keyword; [`Error::Missing`] if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: KeywordId) -> Result<Keyword> {
    sql(columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, read_keyword)
        .await
}

/// Updates a keyword and increments its version; [`Error::Missing`] if the stored version is not that of `changed`.
pub async fn update(
    tx: &mut Tx,
    scope: ProjectScope,
    id: KeywordId,
    changed: &Keyword,
    now: Instant,
) -> Result<Keyword> {
    let [
        volume,
        difficulty,
        intent,
        intent_source,
        confidence,
        reason,
        score,
        details,
    ] = KeywordFacts::from_keyword(changed).into_params()?;
    sql(columns!("UPDATE keywords SET status = $3, version = version + 1, updated_at = $4, search_volume = $6, keyword_difficulty = $7, intent = $8,
           intent_source = $9, intent_confidence = $10, intent_reason = $11, score = $12, details = $13
         WHERE project_id = $1 AND id = $2 AND version = $5 RETURNING" ""))
    .bind(scope.project())
    .bind(id)
    .bind(changed.status.as_str())
    .bind(now)
    .bind(changed.version)
    .bind(volume)
    .bind(difficulty)
    .bind(intent)
    .bind(intent_source)
    .bind(confidence)
    .bind(reason)
    .bind(score)
    .bind(details)
    .fetch_one(tx, read_keyword)
    .await
}

/// Deletes a keyword; [`Error::Missing`] if the project has none of this id and version.
pub async fn delete(tx: &mut Tx, scope: ProjectScope, id: KeywordId, version: i64) -> Result<()> {
    trigrams::delete(tx, scope, id).await?;
    let gone = sql("DELETE FROM keywords WHERE project_id = $1 AND id = $2 AND version = $3")
        .bind(scope.project())
        .bind(id)
        .bind(version)
        .execute(tx)
        .await?;
    if gone == 0 { Err(Error::Missing) } else { Ok(()) }
}
