//! Facts that cells count, from the stored analysis of an answer and the corrections by people. Cells are made of nothing else, so
//! that the counts of a stored answer can be computed again at any time.

use searchwright_contract::answers::{AnswerStatus, Citation, Engine, Mention, MentionOverride, SourceClass};
use searchwright_store::answers::{AnswerAnalysis, StoredAnswer};
use searchwright_visibility::{
    cells::{self, BrandFact, Facts, SourceFact},
    citations::page_key,
    disputes::BrandOverride,
    sources,
};
use serde_json::Value;

use crate::{TrackedBrands, tracked_brands::OWN};

/// Scale of sentiments in facts: thousandths of a point of 100.
const MILLI: f64 = 1000.0;

/// An answer, as far as facts depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnalysisParts<'a> {
    pub(crate) engine: Engine,
    pub(crate) status: AnswerStatus,
    pub(crate) analysis: &'a AnswerAnalysis,
    pub(crate) overrides: &'a [MentionOverride],
}

impl<'a> From<&'a StoredAnswer> for AnalysisParts<'a> {
    fn from(answer: &'a StoredAnswer) -> Self {
        Self {
            engine: answer.engine,
            status: answer.status,
            analysis: &answer.analysis,
            overrides: &answer.overrides,
        }
    }
}

/// Returns the facts of an answer. Corrections about brands that are no longer tracked do not count.
pub(crate) fn facts<'a>(brands: &TrackedBrands, answer: impl Into<AnalysisParts<'a>>) -> Facts {
    let answer = answer.into();
    let is_counted = answer.status == AnswerStatus::Ok;
    let analysis = answer.analysis;
    let mentioned = || analysis.mentions.iter().filter(|mention| !mention.candidate);
    let cited = || analysis.citations.iter().filter(|citation| citation.cited);
    let mut facts = Facts {
        status: cell_status(answer.status),
        probe: false,
        may_lack_overview: answer.engine == Engine::GoogleAiOverview,
        brands: is_counted.then(|| mentioned().map(brand_fact).collect()),
        sources: (is_counted && analysis.citations_observable)
            .then(|| cited().filter_map(source_fact).collect()),
    };
    let overrides = answer.overrides.iter();
    let overrides: Vec<BrandOverride> = overrides
        .filter_map(|decided| brand_override(brands, decided))
        .collect();
    facts.apply(&overrides);
    facts
}

/// Returns the id of the brand of a record: that of the competitor, or that of the own brand.
fn brand_id(competitor: Option<impl ToString>) -> String {
    competitor.map_or_else(|| OWN.to_owned(), |id| id.to_string())
}

fn brand_fact(mention: &Mention) -> BrandFact {
    BrandFact {
        brand: brand_id(mention.competitor_id),
        is_own: mention.is_own,
        position: mention.position,
        sentiment_milli: mention
            .sentiment_score
            .map(|score| (50.0 * (score + 1.0) * MILLI).round() as i64),
    }
}

fn source_fact(citation: &Citation) -> Option<SourceFact> {
    let kind = citation.kind.clone().map(Value::String);
    Some(SourceFact {
        domain: citation.domain.clone(),
        url_key: page_key(&citation.url)?,
        class: match citation.class {
            SourceClass::Owned => sources::SourceClass::Owned,
            SourceClass::Competitor => sources::SourceClass::Competitor,
            SourceClass::ThirdParty => sources::SourceClass::ThirdParty,
        },
        source_type: kind.and_then(|kind| serde_json::from_value(kind).ok()),
        brand: (citation.class != SourceClass::ThirdParty).then(|| brand_id(citation.competitor_id)),
    })
}

fn brand_override(brands: &TrackedBrands, decided: &MentionOverride) -> Option<BrandOverride> {
    let brand = brand_id(decided.competitor_id);
    let is_own = brand == OWN;
    (is_own || brands.competitor(&brand).is_some()).then_some(BrandOverride {
        brand,
        is_own,
        mentioned: decided.mentioned,
    })
}

fn cell_status(status: AnswerStatus) -> cells::AnswerStatus {
    match status {
        AnswerStatus::Ok => cells::AnswerStatus::Ok,
        AnswerStatus::Refused => cells::AnswerStatus::Refused,
        AnswerStatus::Empty => cells::AnswerStatus::Empty,
        AnswerStatus::NoOverview => cells::AnswerStatus::NoOverview,
        AnswerStatus::Incomplete => cells::AnswerStatus::Incomplete,
        AnswerStatus::Error => cells::AnswerStatus::Error,
    }
}

/// Returns the decision of a person about the own brand in an answer.
pub(crate) fn own_override(answer: &StoredAnswer) -> Option<bool> {
    let mut overrides = answer.overrides.iter();
    overrides
        .find(|decided| decided.competitor_id.is_none())
        .map(|decided| decided.mentioned)
}
