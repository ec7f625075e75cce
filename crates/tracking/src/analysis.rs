//! Analysis of one answer: brands, sources and sentiment, in the form in which they are stored and counted.

use searchwright_contract::{
    answers::{AnswerStatus, Citation, FactKind, Mention, Sentiment, SourceClass, Span, Surface, WrongFact},
    wire_name,
};
use searchwright_store::answers::{AnswerAnalysis, AnswerSource, GivenCitation, StoredAnswer};
use searchwright_visibility::{
    answer_text::AnswerText,
    cells,
    citations::{CitationUse, Citations, SourceLink},
    facts,
    mentions::{self, AnswerMentions, MENTION_VERSION, MatchedAnswer},
    names::UnknownName,
    prompts::PromptClass,
    refusal::is_refused,
    sentiment::SentimentLabel,
    sources,
};

use crate::{TrackedBrands, tracked_brands::OWN};

/// Prompt of answers, as far as their analysis depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedPrompt<'a> {
    language: &'a str,
    /// Class by the brands of today.
    pub(crate) class: PromptClass,
    /// Text of a prompt that names a brand: an answer that begins by repeating it mentions nobody by that.
    echoed: Option<&'a str>,
}

impl<'a> AskedPrompt<'a> {
    /// Classifies a prompt.
    pub(crate) fn new(brands: &TrackedBrands, text: &'a str, language: &'a str) -> Self {
        let class = brands.matcher.classify_prompt(text, language);
        Self {
            language,
            class,
            echoed: (class != PromptClass::NonBranded).then_some(text),
        }
    }
}

/// An answer to be analysed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawAnswer<'a> {
    /// Outcome; `None` if only the text tells whether the engine refused.
    pub(crate) status: Option<AnswerStatus>,
    /// Way by which it was obtained.
    pub(crate) surface: Surface,
    /// Text.
    pub(crate) text: &'a str,
    /// Facts that the engine gave.
    pub(crate) source: &'a AnswerSource,
}

impl<'a> RawAnswer<'a> {
    /// A stored answer, whose outcome is known; `None` if its text was dropped.
    pub(crate) fn from_stored(answer: &'a StoredAnswer) -> Option<Self> {
        Some(Self {
            status: Some(answer.status),
            surface: answer.surface,
            text: answer.text.as_deref()?,
            source: &answer.source,
        })
    }
}

/// Result, to be stored.
#[derive(Debug)]
pub(crate) struct Analysed {
    pub(crate) status: AnswerStatus,
    pub(crate) analysis: AnswerAnalysis,
    /// Names that no brand covers, of an answer that counts.
    pub(crate) names: Vec<UnknownName>,
}

/// Analyses an answer.
pub(crate) fn analyse(brands: &TrackedBrands, prompt: AskedPrompt<'_>, raw: RawAnswer<'_>) -> Analysed {
    let text = AnswerText::parse(raw.text, prompt.language);
    let matched = brands.matcher.match_answer(&text, prompt.echoed);
    let found = matched.mentions();
    let status = raw.status.unwrap_or_else(|| status_from_text(&found));
    let mentions: Vec<Mention> = found
        .mentions
        .iter()
        .map(|found| mention(brands, &matched, found))
        .collect();
    let sources = collect_sources(brands, &text, raw.source.citations.as_deref());
    // Links that an engine without sources writes are words of its own. Of an answer copied by hand nobody knows more.
    let is_copied = raw.surface == Surface::Manual;
    let observable = raw.source.citations.is_some() || (is_copied && !sources.is_empty());
    let analysis = AnswerAnalysis {
        method: MENTION_VERSION.to_owned(),
        mentions,
        citations: sources.iter().map(|source| citation(brands, source)).collect(),
        citations_observable: observable,
        wrong_facts: if status == AnswerStatus::Ok {
            wrong_facts(brands, &matched, raw.text)
        } else {
            Vec::new()
        },
    };
    let names = match status {
        AnswerStatus::Ok => matched.unknown_names(),
        _ => Vec::new(),
    };
    Analysed {
        status,
        analysis,
        names,
    }
}

/// Returns the sentences that contradict the brand data, as they stand in the answer.
fn wrong_facts(brands: &TrackedBrands, matched: &MatchedAnswer<'_>, text: &str) -> Vec<WrongFact> {
    let findings = brands.facts.check(matched).into_iter();
    findings
        .map(|found| {
            let product_id = found.product.as_deref().and_then(|id| id.parse().ok());
            let product = product_id.and_then(|id| brands.products.get(&id).cloned());
            let quote = facts::quote(text, found.span);
            WrongFact {
                kind: match found.kind {
                    facts::FactKind::Price => FactKind::Price,
                    facts::FactKind::Website => FactKind::Website,
                    facts::FactKind::Availability => FactKind::Availability,
                    facts::FactKind::Feature => FactKind::Feature,
                },
                product_id,
                subject: product.unwrap_or_else(|| brands.name(OWN)),
                claimed: found.claimed,
                expected: found.expected,
                quote: quote.text,
                span: Span {
                    start: quote.span.start,
                    end: quote.span.end,
                },
            }
        })
        .collect()
}

/// Returns the outcome of an answer of which only the text is known.
fn status_from_text(found: &AnswerMentions) -> AnswerStatus {
    if is_refused(found) {
        AnswerStatus::Refused
    } else {
        AnswerStatus::Ok
    }
}

/// Returns the sources that the engine gave or, without any, the links in the text.
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

fn citation(brands: &TrackedBrands, source: &cells::AnswerSource) -> Citation {
    Citation {
        url: source.citation.url.clone(),
        domain: source.citation.registrable_domain.clone(),
        title: source.citation.title.clone(),
        class: source_class(source.source.class),
        competitor_id: source
            .source
            .brand
            .as_deref()
            .and_then(|brand| brands.competitor(brand)),
        kind: source.source.source_type.map(|kind| wire_name(&kind)),
        page_type: wire_name(&source.source.page_type),
        inline: source.citation.inline,
        cited: source.citation.used == CitationUse::Cited,
    }
}

pub(crate) fn source_class(class: sources::SourceClass) -> SourceClass {
    match class {
        sources::SourceClass::Owned => SourceClass::Owned,
        sources::SourceClass::Competitor => SourceClass::Competitor,
        sources::SourceClass::ThirdParty => SourceClass::ThirdParty,
    }
}
