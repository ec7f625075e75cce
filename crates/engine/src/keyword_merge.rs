//! Merging figures of a source into a keyword: what an import, a provider or a generation job learned.

use searchwright_contract::{
    Instant,
    keywords::{
        Cannibalisation, CannibalisationReason, CompetitionLevel, IntentSource, KeywordOrigin, KeywordSource,
        KeywordStatus, TrendMonth, VolumeRange,
    },
};
use searchwright_keywords::{
    import::{Level, Month, Row, Trend},
    intent,
    intent::Brands,
    score,
    score::Parts,
};
use searchwright_store::keywords::KeywordFacts;

/// The origin that rows of a file or a provider share.
pub(crate) struct RowOrigin {
    /// Tool or provider.
    pub(crate) source: KeywordSource,
    /// Status of keywords that are new.
    pub(crate) status: KeywordStatus,
    /// Brand names, which decide the navigational intent.
    pub(crate) brands: Brands,
    /// Time of the import.
    pub(crate) now: Instant,
}

/// Returns the keyword with the figures of a row merged in. A figure that the row lacks stays; a volume range does not
/// replace an exact volume.
pub(crate) fn merge_row(
    mut known: KeywordFacts,
    row: &Row,
    normalized: &str,
    language: &str,
    origin: &RowOrigin,
) -> KeywordFacts {
    let details = &mut known.details;
    if let Some(volume) = row.search_volume {
        known.search_volume = Some(volume);
        details.volume_range = None;
    } else if let Some(range) = row.volume_range.filter(|_| known.search_volume.is_none()) {
        details.volume_range = Some(VolumeRange {
            min: range.min,
            max: range.max,
        });
    }
    if row.difficulty.is_some() {
        known.keyword_difficulty = row.difficulty;
        details.difficulty_source = Some(origin.source);
    }
    set(&mut details.cpc, row.cpc.or(row.bid_high));
    set(&mut details.currency, row.currency.clone());
    set(&mut details.competition, row.competition);
    set(&mut details.competition_level, row.competition_level.map(level));
    set(&mut details.parent_topic, row.parent_topic.clone());
    set(&mut details.position, row.position);
    set(&mut details.ranking_url, row.ranking_url.clone());
    // An export by query alone does not know.
    if origin.source == KeywordSource::Gsc && row.ranking_url.is_some() {
        details.cannibalisation = (!row.competing.is_empty()).then(|| Cannibalisation {
            reason: CannibalisationReason::SearchConsole,
            urls: row.competing.clone(),
            post_ids: Vec::new(),
        });
    }
    set(&mut details.clicks, row.clicks);
    set(&mut details.impressions, row.impressions);
    if !row.serp_features.is_empty() {
        details.serp_features.clone_from(&row.serp_features);
    }
    match &row.trend {
        Some(Trend::Relative(values)) => details.trend_relative = values.to_vec(),
        Some(Trend::Months(months)) => {
            let month = |m: &Month| TrendMonth {
                month: m.month.clone(),
                value: m.value,
            };
            details.trend = months.iter().rev().take(24).rev().map(month).collect();
        }
        None => {}
    }
    details.metrics_updated_at = Some(origin.now);
    details.sources.retain(|known| known.source != origin.source);
    details.sources.push(KeywordOrigin {
        source: origin.source,
        place: None,
        detail: None,
        search_volume: row.search_volume,
        keyword_difficulty: row.difficulty,
        at: origin.now,
    });
    let by_hand = known.intent_source == Some(IntentSource::Manual);
    if let (Some(intent), false) = (row.intents.first(), by_hand) {
        known.intent = Some(*intent);
        known.details.secondary_intents = row.intents[1..].to_vec();
        known.intent_source = Some(IntentSource::Provider);
        (known.intent_confidence, known.intent_reason) = (None, None);
    } else if known.intent.is_none() {
        classify_intent(&mut known, normalized, language, &origin.brands);
    }
    known.score = score_of(&known);
    known
}

fn set<T>(place: &mut Option<T>, said: Option<T>) {
    if said.is_some() {
        *place = said;
    }
}

const fn level(level: Level) -> CompetitionLevel {
    match level {
        Level::Low => CompetitionLevel::Low,
        Level::Medium => CompetitionLevel::Medium,
        Level::High => CompetitionLevel::High,
    }
}

/// Classifies the search intent by rules.
pub(crate) fn classify_intent(known: &mut KeywordFacts, normalized: &str, language: &str, brands: &Brands) {
    let verdict = intent::classify(normalized, language, brands);
    known.intent = Some(verdict.intent);
    known.details.secondary_intents = verdict.secondary;
    known.intent_source = Some(IntentSource::Rules);
    known.intent_confidence = Some(verdict.confidence);
    known.intent_reason = Some(verdict.reason);
}

/// Returns the keyword score in thousandths; `None` while figures are missing.
pub(crate) fn score_of(known: &KeywordFacts) -> Option<i64> {
    let parts = Parts {
        relevance: known.details.relevance,
        volume: known.search_volume,
        difficulty: known.keyword_difficulty,
        intent: known.intent,
    };
    score::score(&parts).map(|score| (score * 1000.0).round() as i64)
}
