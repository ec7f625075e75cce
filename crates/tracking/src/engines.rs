//! Answers of engines in the form in which they are recorded.

use searchwright_contract::{
    Instant,
    answers::{AnswerStatus, Engine, Surface},
    ids::{AnswerId, RunId},
};
use searchwright_providers::{self as providers, EngineAnswer, EngineKey, EngineName};
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
            citations: Some(citations.collect()),
            latency_ms: u64::try_from(answer.latency.as_millis()).ok(),
            cost_micros_usd: answer
                .usage
                .cost_micros_usd
                .and_then(|cost| i64::try_from(cost).ok()),
            error: None,
        },
    }
}
