//! Counts of answers that can be added up in any order.
//!
//! A cell holds the answers of one day, prompt and series. All counts are integers, so that sums of cells equal the
//! counts of all their answers exactly, however they were added.

mod block;
mod packing;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::packing::Packed;
pub(crate) use self::{
    block::{BLOCK_DAYS, MapCells, PageText},
    packing::Unpacker,
};
pub use self::{
    block::{BlockBytes, CellBlock, CellKey, TallyCell, TallyCells, block_of, blocks_of},
    packing::DamagedCells,
};
use crate::{
    citations::{Citation, CitationUse},
    mentions::AnswerMentions,
    sources::{ClassifiedSource, SourceClass, SourceType},
};

/// Scale of stored sums of sentiment: thousandths of a point.
const MILLI: f64 = 1000.0;

/// Status of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStatus {
    /// The engine answered.
    Ok,
    /// The engine refused to answer.
    Refused,
    /// The engine answered nothing.
    Empty,
    /// The search engine showed no overview.
    NoOverview,
    /// The answer was cut off.
    Incomplete,
    /// The engine failed.
    Error,
}

/// An answer with the results of its analysis.
#[derive(Clone, Copy, Debug)]
pub struct AnalysedAnswer<'a> {
    /// Status.
    pub status: AnswerStatus,
    /// Whether it is a test call, which no rate counts.
    pub probe: bool,
    /// Mentions; `None` if they were not evaluated.
    pub mentions: Option<&'a AnswerMentions>,
    /// Sentiment by brand, of those that have a score.
    pub sentiments: &'a [BrandSentiment],
    /// Sources; `None` if they cannot be seen.
    pub sources: Option<&'a [AnswerSource]>,
    /// Whether the engine may show no overview.
    pub may_lack_overview: bool,
}

/// Sentiment towards a brand.
#[derive(Clone, Debug, PartialEq)]
pub struct BrandSentiment {
    /// Id of the brand.
    pub brand: String,
    /// Score, −1 to 1.
    pub score: f64,
}

/// A source with its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerSource {
    /// The source.
    pub citation: Citation,
    /// Its class.
    pub source: ClassifiedSource,
}

/// Facts about an answer that its cell counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Status.
    pub status: AnswerStatus,
    /// Whether it is a test call.
    pub probe: bool,
    /// Whether the engine may show no overview.
    pub may_lack_overview: bool,
    /// Brands that are mentioned; `None` if not evaluated.
    pub brands: Option<Vec<BrandFact>>,
    /// Cited pages; `None` if they cannot be seen.
    pub sources: Option<Vec<SourceFact>>,
}

/// A brand that an answer mentions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrandFact {
    /// Id of the brand.
    pub brand: String,
    /// Whether it is the brand of the project.
    pub is_own: bool,
    /// Rank, from 1; `None` of a mention that only a person saw.
    pub position: Option<u32>,
    /// Sentiment, 0 to 100, in thousandths.
    pub sentiment_milli: Option<i64>,
}

/// A page that an answer cites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceFact {
    /// Registrable domain.
    pub domain: String,
    /// Identity of the page.
    pub url_key: String,
    /// Relation to the brands.
    pub class: SourceClass,
    /// Type, of a third party.
    pub source_type: Option<SourceType>,
    /// Id of the brand that owns it.
    pub brand: Option<String>,
}

impl Facts {
    /// Returns the facts about an answer.
    pub fn from_answer(answer: &AnalysedAnswer<'_>) -> Self {
        Self {
            status: answer.status,
            probe: answer.probe,
            may_lack_overview: answer.may_lack_overview,
            brands: answer
                .mentions
                .map(|mentions| brand_facts(mentions, answer.sentiments)),
            sources: answer.sources.map(source_facts),
        }
    }
}

fn brand_facts(mentions: &AnswerMentions, sentiments: &[BrandSentiment]) -> Vec<BrandFact> {
    let sentiment = |brand: &str| {
        let found = sentiments.iter().find(|sentiment| sentiment.brand == brand)?;
        Some((50.0 * (found.score + 1.0) * MILLI).round() as i64)
    };
    let mentioned = mentions.mentioned();
    mentioned
        .map(|mention| BrandFact {
            brand: mention.brand.clone(),
            is_own: mention.is_own,
            position: mention.position,
            sentiment_milli: sentiment(&mention.brand),
        })
        .collect()
}

fn source_facts(sources: &[AnswerSource]) -> Vec<SourceFact> {
    let cited = sources
        .iter()
        .filter(|source| source.citation.used == CitationUse::Cited);
    cited
        .map(|source| SourceFact {
            domain: source.citation.registrable_domain.clone(),
            url_key: source.citation.url_key.clone(),
            class: source.source.class,
            source_type: source.source.source_type,
            brand: source.source.brand.clone(),
        })
        .collect()
}

/// Declares a struct of sums, with the addition of another one.
macro_rules! sums {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$field_doc])* pub $field: $kind,)* }

        impl $name {
            /// Adds the sums of another one.
            pub fn merge(&mut self, other: &Self) { $(self.$field += other.$field;)* }

            fn pack(&self, out: &mut Vec<u8>) {
                let small = [$(self.$field.small(),)*];
                if let Some(small) = packing::all_small(small) {
                    out.extend_from_slice(&small);
                    $(self.$field.pack_rest(out);)*
                } else {
                    out.push(packing::IS_LARGE);
                    $(self.$field.pack(out);)*
                }
            }

            #[inline]
            fn unpack(from: &mut Unpacker<'_>) -> Result<Self, DamagedCells> {
                if from.is_large() {
                    from.bytes(1)?;
                    return Ok(Self { $($field: <$kind>::unpack(from)?,)* });
                }
                let [$($field,)*] = from.array()?;
                Ok(Self { $($field: <$kind>::unpack_rest($field, from)?,)* })
            }
        }
    };
}

sums! {
    /// Sums over answers.
    Tally {
        /// Answers with status `ok`.
        answers: u64,
        /// Answers whose mentions were evaluated.
        evaluated: u64,
        /// Answers that mention the own brand.
        mentioned: u64,
        /// Answers that mention a competitor.
        competitor_mentioned: u64,
        /// Mentions of all brands.
        tracked_mentions: u64,
        /// Answers whose citations can be seen.
        citation_observable: u64,
        /// Answers that cite an own page.
        cited: u64,
        /// Cited pages.
        citations: u64,
        /// Cited own pages.
        owned_citations: u64,
        /// Cited pages of competitors.
        competitor_citations: u64,
        /// Mentions of the own brand whose position is known.
        positions: u64,
        /// Sum of the positions of the own brand.
        position_sum: u64,
        /// Answers that mention the own brand first.
        top: u64,
        /// Sum of the sentiment towards the own brand, 0 to 100, in thousandths.
        sentiment_milli: i64,
        /// Answers with a sentiment towards the own brand.
        sentiments: u64,
        /// Answers with a positive sentiment.
        positive: u64,
        /// Answers with a negative sentiment.
        negative: u64,
        /// Searches that may show an overview.
        overview_searches: u64,
        /// Searches that showed one.
        overviews: u64,
        /// Answers with another status; no rate counts them.
        excluded: u64,
    }
}

sums! {
    /// Sums of a brand.
    BrandTally {
        /// Answers that mention it.
        mentioned: u64,
        /// Mentions whose position is known.
        positions: u64,
        /// Sum of its positions.
        position_sum: u64,
        /// Sum of the sentiment, 0 to 100, in thousandths.
        sentiment_milli: i64,
        /// Answers with a sentiment.
        sentiments: u64,
        /// Cited pages that it owns.
        citations: u64,
    }
}

sums! {
    /// Sums of a domain.
    SourceTally {
        /// Answers that cite it.
        answers: u64,
        /// Cited pages.
        citations: u64,
        /// Answers that cite it and mention the own brand.
        mentions_own: u64,
        /// Answers that cite it and mention a competitor.
        mentions_competitors: u64,
    }
}

/// A cited domain in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainCell {
    /// Relation to the brands.
    pub class: SourceClass,
    /// Type, of a third party.
    pub source_type: Option<SourceType>,
    /// Sums.
    pub tally: SourceTally,
    /// Number of citations by page.
    pub urls: BTreeMap<String, u64>,
    /// Of them, by page, those by answers that mention a competitor and not the own brand; only of third parties.
    pub gaps: BTreeMap<String, u64>,
}

/// Counts of the answers of a day, a prompt and a series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Sums over answers.
    pub tally: Tally,
    /// Sums by id of the brand.
    pub brands: BTreeMap<String, BrandTally>,
    /// Cited domains.
    pub domains: BTreeMap<String, DomainCell>,
}

impl Cell {
    /// Adds an answer.
    pub fn add(&mut self, facts: &Facts) {
        if facts.probe {
            return;
        }
        let is_ok = facts.status == AnswerStatus::Ok;
        if facts.may_lack_overview && (is_ok || facts.status == AnswerStatus::NoOverview) {
            self.tally.overview_searches += 1;
            self.tally.overviews += u64::from(is_ok);
        }
        if !is_ok {
            self.tally.excluded += 1;
            return;
        }
        self.tally.answers += 1;
        if let Some(brands) = &facts.brands {
            self.tally.evaluated += 1;
            self.add_brands(brands);
        }
        if let Some(sources) = &facts.sources {
            self.tally.citation_observable += 1;
            self.add_sources(sources, facts.brands.as_deref().unwrap_or_default());
        }
    }

    fn add_brands(&mut self, brands: &[BrandFact]) {
        let tally = &mut self.tally;
        tally.tracked_mentions += brands.len() as u64;
        tally.competitor_mentioned += u64::from(brands.iter().any(|brand| !brand.is_own));
        for fact in brands {
            let brand = self.brands.entry(fact.brand.clone()).or_default();
            brand.mentioned += 1;
            brand.positions += u64::from(fact.position.is_some());
            brand.position_sum += u64::from(fact.position.unwrap_or(0));
            brand.sentiment_milli += fact.sentiment_milli.unwrap_or(0);
            brand.sentiments += u64::from(fact.sentiment_milli.is_some());
        }
        if let Some(own) = brands.iter().find(|brand| brand.is_own) {
            tally.mentioned += 1;
            tally.positions += u64::from(own.position.is_some());
            tally.position_sum += u64::from(own.position.unwrap_or(0));
            tally.top += u64::from(own.position == Some(1));
            if let Some(milli) = own.sentiment_milli {
                tally.sentiments += 1;
                tally.sentiment_milli += milli;
                // labels begin at a score of 0.2 on either side of 0
                tally.positive += u64::from(milli >= 60_000);
                tally.negative += u64::from(milli <= 40_000);
            }
        }
    }

    fn add_sources(&mut self, sources: &[SourceFact], brands: &[BrandFact]) {
        let is_owned = |source: &SourceFact| source.class == SourceClass::Owned;
        self.tally.cited += u64::from(sources.iter().any(is_owned));
        let own = u64::from(brands.iter().any(|brand| brand.is_own));
        let competitors = u64::from(brands.iter().any(|brand| !brand.is_own));
        let mut seen: Vec<&str> = Vec::new();
        for source in sources {
            self.tally.citations += 1;
            self.tally.owned_citations += u64::from(is_owned(source));
            self.tally.competitor_citations += u64::from(source.class == SourceClass::Competitor);
            if let Some(brand) = &source.brand {
                self.brands.entry(brand.clone()).or_default().citations += 1;
            }
            let domain = self
                .domains
                .entry(source.domain.clone())
                .or_insert_with(|| DomainCell::new(source));
            domain.class = domain.class.min(source.class);
            domain.source_type = domain.source_type.min(source.source_type);
            domain.tally.citations += 1;
            *domain.urls.entry(source.url_key.clone()).or_default() += 1;
            if source.class == SourceClass::ThirdParty && competitors > own {
                *domain.gaps.entry(source.url_key.clone()).or_default() += 1;
            }
            if !seen.contains(&&*source.domain) {
                seen.push(&source.domain);
                domain.tally.answers += 1;
                domain.tally.mentions_own += own;
                domain.tally.mentions_competitors += competitors;
            }
        }
    }

    /// Adds the counts of another cell.
    pub fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        for (id, brand) in &other.brands {
            self.brands.entry(id.clone()).or_default().merge(brand);
        }
        for (name, domain) in &other.domains {
            match self.domains.get_mut(name) {
                Some(own) => own.merge(domain),
                None => {
                    self.domains.insert(name.clone(), domain.clone());
                }
            }
        }
    }
}

impl DomainCell {
    fn new(source: &SourceFact) -> Self {
        Self {
            class: source.class,
            source_type: source.source_type,
            tally: SourceTally::default(),
            urls: BTreeMap::new(),
            gaps: BTreeMap::new(),
        }
    }

    fn merge(&mut self, other: &Self) {
        // a domain that became a brand's own counts as its own
        self.class = self.class.min(other.class);
        self.source_type = self.source_type.min(other.source_type);
        self.tally.merge(&other.tally);
        for (url, citations) in &other.urls {
            *self.urls.entry(url.clone()).or_default() += citations;
        }
        for (url, citations) in &other.gaps {
            *self.gaps.entry(url.clone()).or_default() += citations;
        }
    }
}

#[cfg(test)]
mod tests;
