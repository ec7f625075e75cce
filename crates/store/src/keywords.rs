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

mod clusters;
mod competing;
mod list;
mod posts;

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    keywords::{Intent, IntentSource, Keyword, KeywordDetails, KeywordSource, KeywordStatus},
    missing::MissingReason,
};
use serde_json::Value;
use uuid::Uuid;

pub use clusters::{InCluster, Place, in_language, set_clusters};
pub use competing::{languages, set_competing, with_pages};
pub use list::{Part, Query, list, list_text};
pub use posts::{follow, published_twice, stage};

use crate::{Cells, Error, Json, Param, Result, Tx, access::ProjectScope, sql};

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
    /// Where it stands.
    pub status: KeywordStatus,
    /// Where it came from.
    pub source: KeywordSource,
    /// What is known of it.
    pub known: Known,
}

impl New {
    /// The record that comes of it, which need not be read back.
    fn made(&self, now: Instant) -> Keyword {
        let known = self.known.clone();
        Keyword {
            id: self.id.to_string(),
            keyword: self.keyword.clone(),
            search_volume: known.search_volume,
            search_volume_status: missing(known.search_volume),
            keyword_difficulty: known.keyword_difficulty,
            keyword_difficulty_status: missing(known.keyword_difficulty),
            intent: known.intent,
            language: self.language.clone(),
            country: Some(self.country.clone()).filter(|t| !t.is_empty()),
            status: self.status,
            source: self.source,
            version: 1,
            created_at: now,
            updated_at: now,
            intent_source: known.intent_source,
            intent_confidence: known.intent_confidence,
            intent_reason: known.intent_reason,
            score: known.score.map(thousandths),
            cluster_id: None,
            is_cluster_head: false,
            post_ids: Vec::new(),
            details: known.details,
            allowed_actions: AllowedActions::default(),
        }
    }
}

fn missing(value: Option<i64>) -> Option<MissingReason> {
    value.is_none().then_some(MissingReason::NotMeasured)
}

fn thousandths(score: i64) -> f64 {
    score as f64 / 1000.0
}

/// What is known of a keyword, and changes as more is learnt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Searches per month.
    pub search_volume: Option<i64>,
    /// Difficulty.
    pub keyword_difficulty: Option<i64>,
    /// What a searcher wants.
    pub intent: Option<Intent>,
    /// Who says so.
    pub intent_source: Option<IntentSource>,
    /// How sure the rules are.
    pub intent_confidence: Option<f64>,
    /// Which rule decided.
    pub intent_reason: Option<String>,
    /// Worth, in thousandths.
    pub score: Option<i64>,
    /// The rest.
    pub details: KeywordDetails,
}

impl Known {
    /// What is known of a keyword as it was read.
    pub fn of(keyword: &Keyword) -> Self {
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

    fn params(self) -> Result<[Param; 8]> {
        Ok([
            self.search_volume.into(),
            self.keyword_difficulty.into(),
            self.intent.map(Intent::as_str).into(),
            self.intent_source.map(IntentSource::as_str).into(),
            self.intent_confidence.into(),
            self.intent_reason.into(),
            self.score.into(),
            details(&self.details)?.into(),
        ])
    }
}

/// Only what is said; nothing at all for most keywords. What follows from pages and posts is not written here.
fn details(details: &KeywordDetails) -> Result<Option<Json>> {
    let Value::Object(mut said) = serde_json::to_value(details).map_err(|e| Error::Defect(e.to_string()))?
    else {
        return Ok(None);
    };
    if !competing::is_said(details) {
        said.remove("cannibalisation");
    }
    said.retain(|_, value| !(value.is_null() || value.as_array().is_some_and(Vec::is_empty)));
    Ok((!said.is_empty()).then_some(Json(Value::Object(said))))
}

/// The posts that aim at a keyword; most have none.
fn post_ids(c: &mut Cells<'_>) -> Result<Vec<String>> {
    match c.take::<Option<Json>>()? {
        Some(Json(ids)) => serde_json::from_value(ids).map_err(|e| Error::Defect(e.to_string())),
        None => Ok(Vec::new()),
    }
}

fn keyword(c: &mut Cells<'_>) -> Result<Keyword> {
    let id = c.take::<Uuid>()?.to_string();
    let keyword = c.take()?;
    let (search_volume, keyword_difficulty): (Option<i64>, Option<i64>) = (c.take()?, c.take()?);
    let mut keyword = Keyword {
        id,
        keyword,
        search_volume,
        search_volume_status: missing(search_volume),
        keyword_difficulty,
        keyword_difficulty_status: missing(keyword_difficulty),
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
        score: c.take::<Option<i64>>()?.map(thousandths),
        cluster_id: c.take::<Option<Uuid>>()?.map(|id| id.to_string()),
        is_cluster_head: c.take()?,
        post_ids: post_ids(c)?,
        details: match c.take::<Option<Json>>()? {
            Some(Json(said)) => serde_json::from_value(said).map_err(|e| Error::Defect(e.to_string()))?,
            None => KeywordDetails::default(),
        },
        allowed_actions: AllowedActions::default(),
    };
    let pages = c.take::<Option<Json>>()?;
    let shown = keyword.details.cannibalisation.take();
    keyword.details.cannibalisation = competing::known(shown, pages, &keyword.post_ids)?;
    Ok(keyword)
}

macro_rules! insert {
    () => {
        "INSERT INTO keywords (project_id, version, created_at, updated_at, id, keyword, normalized, language, country, status, source,
           search_volume, keyword_difficulty, intent, intent_source, intent_confidence, intent_reason, score, details)
         VALUES ($1, 1, $2, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
         ON CONFLICT (project_id, language, country, normalized) DO NOTHING"
    };
}

/// Adds a keyword; `Err` with the id of the one that has this text already.
pub async fn create(
    tx: &mut Tx,
    scope: ProjectScope,
    new: New,
    now: Instant,
) -> Result<Result<Keyword, Uuid>> {
    let (text, keyword) = (text(&new), new.made(now));
    let added = sql(insert!())
        .bind(scope.project())
        .bind(now)
        .execute_each(tx, vec![row(new)?])
        .await?;
    if added > 0 {
        return Ok(Ok(keyword));
    }
    let found = by_texts(tx, scope, vec![text]).await?;
    match found.into_iter().next().flatten() {
        Some(keyword) => Ok(Err(Uuid::try_parse(&keyword.id).unwrap_or_default())),
        None => Err(Error::Missing),
    }
}

/// Adds keywords whose texts are new to the project; those that another has added meanwhile stay as they are.
pub async fn add(tx: &mut Tx, scope: ProjectScope, new: Vec<New>, now: Instant) -> Result<u64> {
    let rows = new.into_iter().map(row).collect::<Result<_>>()?;
    sql(insert!())
        .bind(scope.project())
        .bind(now)
        .execute_each(tx, rows)
        .await
}

fn row(new: New) -> Result<Vec<Param>> {
    let mut row: Vec<Param> = vec![
        new.id.into(),
        new.keyword.into(),
        new.normalized.into(),
        new.language.into(),
        new.country.into(),
        new.status.as_str().into(),
        new.source.as_str().into(),
    ];
    row.extend(new.known.params()?);
    Ok(row)
}

/// What makes a keyword unique in its project: language, country, normalised text.
pub type Text = (String, String, String);

fn text(new: &New) -> Text {
    (new.language.clone(), new.country.clone(), new.normalized.clone())
}

/// The keywords that have these texts, each in its place.
pub async fn by_texts(tx: &mut Tx, scope: ProjectScope, texts: Vec<Text>) -> Result<Vec<Option<Keyword>>> {
    let rows = texts
        .into_iter()
        .map(|(language, country, normalized)| vec![language.into(), country.into(), normalized.into()])
        .collect();
    sql(columns!("SELECT" "FROM keywords WHERE project_id = $1 AND language = $2 AND country = $3 AND normalized = $4"))
        .bind(scope.project())
        .fetch_optional_each(tx, rows, keyword)
        .await
}

/// Writes what has been learnt of keywords, and counts their versions up.
pub async fn learn(
    tx: &mut Tx,
    scope: ProjectScope,
    learnt: Vec<(Uuid, Known)>,
    now: Instant,
) -> Result<u64> {
    let mut rows = Vec::with_capacity(learnt.len());
    for (id, known) in learnt {
        let mut row: Vec<Param> = vec![id.into()];
        row.extend(known.params()?);
        rows.push(row);
    }
    sql("UPDATE keywords SET version = version + 1, updated_at = $2, search_volume = $4, keyword_difficulty = $5, intent = $6,
           intent_source = $7, intent_confidence = $8, intent_reason = $9, score = $10, details = $11
         WHERE project_id = $1 AND id = $3")
    .bind(scope.project())
    .bind(now)
    .execute_each(tx, rows)
    .await
}

/// The normalised texts of a language and country.
pub async fn texts(tx: &mut Tx, scope: ProjectScope, language: &str, country: &str) -> Result<Vec<String>> {
    sql("SELECT normalized FROM keywords WHERE project_id = $1 AND language = $2 AND country = $3 ORDER BY normalized")
        .bind(scope.project())
        .bind(language)
        .bind(country)
        .fetch_all(tx, |c| c.take())
        .await
}

/// One keyword; [`Error::Missing`] if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<Keyword> {
    sql(columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, keyword)
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
    let [
        volume,
        difficulty,
        intent,
        intent_source,
        confidence,
        reason,
        score,
        details,
    ] = Known::of(changed).params()?;
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
    .fetch_one(tx, keyword)
    .await
}

/// Deletes a keyword; [`Error::Missing`] if the project has none of this id.
pub async fn delete(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<()> {
    let gone = sql("DELETE FROM keywords WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .execute(tx)
        .await?;
    if gone == 0 { Err(Error::Missing) } else { Ok(()) }
}
