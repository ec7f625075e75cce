//! Answers of engines in the form in which they are recorded.

use searchwright_contract::{
    Instant,
    answers::{AnswerStatus, Engine, Surface},
    ids::{AnswerId, RunId},
};
use searchwright_providers::{self as providers, EngineAnswer, EngineKey, EngineName, Retrieval};
use searchwright_store::answers::{AnswerSource, GivenCitation};

use crate::recording::{NewAnswer, SeriesKey};

/// Returns the engine of a key.
pub const fn contract_engine(key: &EngineKey) -> Engine {
    match key.engine {
        EngineName::ChatGpt => Engine::Chatgpt,
        EngineName::Claude => Engine::Claude,
        EngineName::Gemini => Engine::Gemini,
        EngineName::Perplexity => Engine::Perplexity,
        EngineName::GoogleAiOverview => Engine::GoogleAiOverview,
        EngineName::GoogleAiMode => Engine::GoogleAiMode,
        EngineName::Grok => Engine::Grok,
        EngineName::Custom => Engine::Custom,
    }
}

/// Returns the surface of a key.
pub const fn contract_surface(key: &EngineKey) -> Surface {
    match key.surface {
        providers::Surface::Api => Surface::Api,
        providers::Surface::Serp => Surface::Serp,
        providers::Surface::ConsumerUi => Surface::ConsumerUi,
    }
}

/// Returns an answer of a run, to be recorded.
pub fn new_answer(
    key: &EngineKey,
    answer: EngineAnswer,
    id: AnswerId,
    run: RunId,
    now: Instant,
) -> NewAnswer {
    let variant = [&key.tool_version, &key.effort, &key.context_size]
        .map(|member| member.as_deref().unwrap_or_default())
        .join("/");
    // An engine that cannot search gives no sources: that it cites nobody says nothing.
    let gives_sources = key.retrieval != Retrieval::None || !answer.citations.is_empty();
    let citations = answer.citations.into_iter().map(|citation| GivenCitation {
        url: citation.url,
        title: citation.title,
        cited: citation.cited,
    });
    NewAnswer {
        id,
        run: Some(run),
        key: SeriesKey {
            engine: contract_engine(key),
            surface: contract_surface(key),
            retrieval: key.retrieval.word().to_owned(),
            variant,
        },
        status: match answer.status {
            // Nobody knows what the part says that was left out.
            providers::AnswerStatus::Ok if answer.is_cut => Some(AnswerStatus::Incomplete),
            // Some refuse in words only.
            providers::AnswerStatus::Ok => None,
            providers::AnswerStatus::Refused => Some(AnswerStatus::Refused),
            providers::AnswerStatus::Empty => Some(AnswerStatus::Empty),
            providers::AnswerStatus::NoOverview => Some(AnswerStatus::NoOverview),
            providers::AnswerStatus::Incomplete => Some(AnswerStatus::Incomplete),
        },
        asked_at: now,
        text: answer.text,
        source: AnswerSource {
            requested_model: key.model.clone(),
            served_model: answer.served_model,
            search_performed: answer.search_performed,
            fanout_queries: answer.fanout_queries,
            citations: gives_sources.then(|| citations.collect()),
            latency_ms: u64::try_from(answer.latency.as_millis()).ok(),
            cost_micros_usd: answer
                .usage
                .cost_micros_usd
                .and_then(|cost| i64::try_from(cost).ok()),
            error: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use searchwright_providers::{RawCitation, Usage};

    use super::*;

    fn make_key(engine: EngineName, retrieval: Retrieval) -> EngineKey {
        EngineKey {
            engine,
            surface: providers::Surface::Api,
            retrieval,
            model: None,
            tool_version: None,
            effort: None,
            context_size: None,
        }
    }

    fn make_answer(citations: Vec<RawCitation>) -> EngineAnswer {
        EngineAnswer {
            status: providers::AnswerStatus::Ok,
            text: "Acme makes saws.".to_owned(),
            is_cut: false,
            citations,
            fanout_queries: Vec::new(),
            search_performed: None,
            searches: None,
            served_model: None,
            asides: Vec::new(),
            usage: Usage::default(),
            latency: Duration::ZERO,
            raw: serde_json::Value::Null,
        }
    }

    /// Returns the number of sources that are recorded; `None` if the engine gives none.
    fn count_sources(key: &EngineKey, citations: Vec<RawCitation>) -> Option<usize> {
        let new = new_answer(
            key,
            make_answer(citations),
            AnswerId::MAX,
            RunId::MAX,
            Instant::default(),
        );
        new.source.citations.map(|citations| citations.len())
    }

    #[test]
    fn engines_that_cannot_search_give_no_sources() {
        for (engine, retrieval, sources) in [
            (EngineName::Gemini, Retrieval::None, None),
            (EngineName::ChatGpt, Retrieval::None, None),
            (EngineName::Gemini, Retrieval::Auto, Some(0)),
            (EngineName::ChatGpt, Retrieval::Forced, Some(0)),
            // The links in its text are its sources.
            (EngineName::Custom, Retrieval::Auto, Some(0)),
        ] {
            let found = count_sources(&make_key(engine, retrieval), Vec::new());
            assert_eq!(found, sources, "{engine:?} {retrieval:?}");
        }
    }

    #[test]
    fn sources_that_were_given_are_recorded() {
        let given = RawCitation {
            url: "https://acme.example/saws".to_owned(),
            title: None,
            inline: false,
            cited: true,
            start: None,
            end: None,
        };
        let key = make_key(EngineName::ChatGpt, Retrieval::None);
        assert_eq!(count_sources(&key, vec![given]), Some(1));
    }
}
