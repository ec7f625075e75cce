//! The keyword as it is stored and answered, with the same fields as the product's.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// Rows that are there before anything is measured.
pub const ROWS: usize = 10_000;

/// The one project of the baseline.
pub const PROJECT: Uuid = Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0001);

/// A stored keyword.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Keyword {
    pub id: Uuid,
    pub project_id: Uuid,
    pub keyword: String,
    pub search_volume: Option<i64>,
    pub keyword_difficulty: Option<i64>,
    pub intent: Option<String>,
    pub language: String,
    pub country: String,
    pub status: String,
    pub source: String,
    pub version: i64,
    pub created_at: String,
    pub updated_at: String,
    #[serde(flatten)]
    pub rest: Rest,
}

/// Figures of a keyword that are learnt later.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rest {
    pub intent_source: Option<String>,
    pub intent_confidence: Option<f64>,
    pub intent_reason: Option<String>,
    pub score: Option<f64>,
    pub cluster_id: Option<Uuid>,
    pub is_cluster_head: bool,
    #[serde(flatten)]
    pub details: Details,
}

/// Fields that are stored as one JSON column.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Details {
    secondary_intents: Vec<String>,
    volume_range: Option<Value>,
    difficulty_source: Option<String>,
    cpc: Option<f64>,
    currency: Option<String>,
    competition: Option<f64>,
    competition_level: Option<String>,
    trend: Vec<Value>,
    trend_relative: Vec<f64>,
    parent_topic: Option<String>,
    serp_features: Vec<String>,
    position: Option<f64>,
    ranking_url: Option<String>,
    clicks: Option<i64>,
    impressions: Option<i64>,
    variant_of: Option<String>,
    sources: Vec<Value>,
    metrics_updated_at: Option<String>,
}

impl Details {
    /// Reads the column.
    pub fn parse(column: Option<&str>) -> Result<Self> {
        Ok(column.map(serde_json::from_str).transpose()?.unwrap_or_default())
    }
}

/// A page of a list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    pub data: Vec<Keyword>,
    pub next_cursor: Option<String>,
}

/// Body of a create.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewKeyword {
    pub keyword: String,
    pub search_volume: Option<i64>,
    pub keyword_difficulty: Option<i64>,
    pub intent: Option<String>,
}

impl NewKeyword {
    /// Reads and checks a body.
    pub fn parse(body: &[u8]) -> Result<Self> {
        let new: Self = serde_json::from_slice(body)?;
        let fits = (1..=200).contains(&new.keyword.trim().len());
        fits.then_some(new).context("keyword must have 1 to 200 bytes")
    }

    /// The record it becomes.
    #[expect(
        clippy::disallowed_methods,
        reason = "a baseline has no clock to pass in, and nothing tests its times"
    )]
    pub fn into_keyword(self) -> Keyword {
        let now = instant(Timestamp::now());
        Keyword {
            id: Uuid::now_v7(),
            project_id: PROJECT,
            keyword: self.keyword.trim().to_owned(),
            search_volume: self.search_volume,
            keyword_difficulty: self.keyword_difficulty,
            intent: self.intent,
            language: "en".to_owned(),
            country: "US".to_owned(),
            status: "new".to_owned(),
            source: "manual".to_owned(),
            version: 1,
            created_at: now.clone(),
            updated_at: now,
            rest: Rest::default(),
        }
    }
}

/// RFC 3339 in UTC with milliseconds, the form of the product's API.
pub fn instant(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// Keyword number `index` of those that are there from the start, also posted to the product.
pub fn prepared(index: usize) -> NewKeyword {
    let intents = ["informational", "commercial", "transactional", "navigational"];
    NewKeyword {
        keyword: format!("prepared keyword number {index}"),
        search_volume: Some((index * 37 % 90_000) as i64),
        keyword_difficulty: Some((index % 101) as i64),
        intent: Some(intents[index % intents.len()].to_owned()),
    }
}
