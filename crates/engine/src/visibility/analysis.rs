//! Analysis of one answer: brands, sources and sentiment, in the form in which they are stored and counted.

use searchwright_contract::answers::{AnswerStatus, Citation, Engine, Mention, Sentiment, SourceClass, Span};
use searchwright_store::answers::{AnswerAnalysis, AnswerSource, GivenCitation};
use searchwright_visibility::{
    answer_text::AnswerText,
    cells::{self, AnalysedAnswer, BrandSentiment, Facts},
    citations::{CitationUse, Citations, SourceLink},
    mentions::{self, MENTION_VERSION, MatchedAnswer},
    prompts::PromptClass,
    sentiment::SentimentLabel,
    sources,
};

use super::TrackedBrands;
use crate::wire_name;

/// Prompt of an answer, as far as its analysis depends on it.
#[derive(Clone, Debug)]
pub(super) struct AskedPrompt {
    /// Text.
    pub(super) text: String,
    /// Language.
    pub(super) language: String,
}

/// An answer to be analysed.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawAnswer<'a> {
    /// Engine.
    pub(super) engine: Engine,
    /// Outcome.
    pub(super) status: AnswerStatus,
    /// Text.
    pub(super) text: &'a str,
    /// Facts that the engine gave.
    pub(super) source: &'a AnswerSource,
}

/// Result: to be stored, and to be counted.
#[derive(Debug)]
pub(super) struct Analysed {
    pub(super) analysis: AnswerAnalysis,
    pub(super) facts: Facts,
}

/// Analyses an answer.
pub(super) fn analyse(brands: &TrackedBrands, prompt: &AskedPrompt, raw: RawAnswer<'_>) -> Analysed {
    let text = AnswerText::parse(raw.text, &prompt.language);
    let class = brands.matcher.classify_prompt(&prompt.text, &prompt.language);
    let echoed = (class != PromptClass::NonBranded).then_some(prompt.text.as_str());
    let matched = brands.matcher.match_answer(&text, echoed);
    let found = matched.mentions();
    let sentiments: Vec<BrandSentiment> = found
        .mentioned()
        .filter_map(|mention| {
            Some(BrandSentiment {
                score: matched.sentiment(&mention.brand).score?,
                brand: mention.brand.clone(),
            })
        })
        .collect();
    let sources = collect_sources(brands, &text, raw.source.citations.as_deref());
    let observable = raw.source.citations.is_some() || !sources.is_empty();
    let is_counted = raw.status == AnswerStatus::Ok;
    let facts = Facts::from_answer(&AnalysedAnswer {
        status: status(raw.status),
        probe: false,
        mentions: is_counted.then_some(&found),
        sentiments: &sentiments,
        sources: (is_counted && observable).then_some(&sources),
        may_lack_overview: raw.engine == Engine::GoogleAiOverview,
    });
    let analysis = AnswerAnalysis {
        method: MENTION_VERSION.to_owned(),
        mentions: found
            .mentions
            .iter()
            .map(|m| mention(brands, &matched, m))
            .collect(),
        citations: sources.iter().map(citation).collect(),
        citations_observable: observable,
    };
    Analysed { analysis, facts }
}

fn status(status: AnswerStatus) -> cells::AnswerStatus {
    match status {
        AnswerStatus::Ok => cells::AnswerStatus::Ok,
        AnswerStatus::Refused => cells::AnswerStatus::Refused,
        AnswerStatus::Empty => cells::AnswerStatus::Empty,
        AnswerStatus::NoOverview => cells::AnswerStatus::NoOverview,
        AnswerStatus::Incomplete => cells::AnswerStatus::Incomplete,
        AnswerStatus::Error => cells::AnswerStatus::Error,
    }
}

/// Returns the sources that the engine gave and those that stand in the text.
fn collect_sources(
    brands: &TrackedBrands,
    text: &AnswerText,
    given: Option<&[GivenCitation]>,
) -> Vec<cells::AnswerSource> {
    let links: Vec<SourceLink> = given.unwrap_or_default().iter().map(link).collect();
    let found = if links.is_empty() {
        Citations::from_text(text)
    } else {
        Citations::from_links(&links)
    };
    found
        .items
        .into_iter()
        .map(|citation| cells::AnswerSource {
            source: brands.matcher.classify_source(&citation),
            citation,
        })
        .collect()
}

fn link(given: &GivenCitation) -> SourceLink {
    SourceLink {
        url: given.url.clone(),
        title: given.title.clone(),
        used: if given.cited {
            CitationUse::Cited
        } else {
            CitationUse::Retrieved
        },
    }
}

fn mention(brands: &TrackedBrands, matched: &MatchedAnswer<'_>, found: &mentions::Mention) -> Mention {
    let sentiment = matched.sentiment(&found.brand);
    Mention {
        brand: brands.name(&found.brand),
        competitor_id: brands.competitor(&found.brand),
        is_own: found.is_own,
        position: found.position,
        list_rank: found.list_rank,
        occurrences: found.occurrences,
        context: found.context.and_then(|context| wire_name(&context).parse().ok()),
        candidate: !found.mentioned,
        spans: found
            .spans
            .iter()
            .map(|occurrence| Span {
                start: occurrence.span.start,
                end: occurrence.span.end,
            })
            .collect(),
        sentiment: sentiment.label.map(label),
        sentiment_score: sentiment.score,
    }
}

fn label(label: SentimentLabel) -> Sentiment {
    match label {
        SentimentLabel::Negative => Sentiment::Negative,
        SentimentLabel::Neutral => Sentiment::Neutral,
        SentimentLabel::Positive => Sentiment::Positive,
        SentimentLabel::Mixed => Sentiment::Mixed,
    }
}

fn citation(source: &cells::AnswerSource) -> Citation {
    Citation {
        url: source.citation.url.clone(),
        domain: source.citation.registrable_domain.clone(),
        title: source.citation.title.clone(),
        class: source_class(source.source.class),
        kind: source.source.source_type.map(|kind| wire_name(&kind)),
        page_type: wire_name(&source.source.page_type),
        inline: source.citation.inline,
        cited: source.citation.used == CitationUse::Cited,
    }
}

pub(super) fn source_class(class: sources::SourceClass) -> SourceClass {
    match class {
        sources::SourceClass::Owned => SourceClass::Owned,
        sources::SourceClass::Competitor => SourceClass::Competitor,
        sources::SourceClass::ThirdParty => SourceClass::ThirdParty,
    }
}
