//! Anthropic's Messages interface with its search tool, as the engine behind Claude.
//!
//! A long answer comes in several: where one says `pause_turn`, it is sent back and the engine goes on. Tokens and searches of
//! all of them are charged. Many questions are answered without a search.

use searchwright_outbound::Guarded;
use serde_json::{Value, json};

use super::{
    EngineKey, EngineName, Question, Retrieval, Surface,
    api::{AnswerDialect, ApiEngine, Setup},
    draft::{Draft, Ending, Source, list_of, text_of},
    tariff::{SearchCount, Tariff},
};
use crate::{
    Credentials, account::Account, anthropic::DIALECT, error::ProviderError, language::stream::Oddity,
};

/// Version of the search tool, unless the account sets another one.
const TOOL_VERSION: &str = "web_search_20260209";
/// Most searches for an answer, unless the account sets a limit.
const MAX_SEARCHES: u32 = 5;
/// Most tokens of an answer, which this interface wants to be told.
const MAX_TOKENS: u32 = 8_192;

const MESSAGES: AnswerDialect = AnswerDialect {
    provider: DIALECT.provider,
    headers: DIALECT.headers,
    body,
    read,
    resume,
};

/// Makes the engine of an account.
pub(super) fn engine(client: &Guarded, account: &Credentials) -> Result<ApiEngine, ProviderError> {
    let settings = Account(&account.settings);
    let base = settings.base_url(DIALECT.address);
    let model = settings.need("model")?;
    let max_searches = settings.number("maxSearches").unwrap_or(MAX_SEARCHES);
    let setup = Setup {
        key: EngineKey {
            engine: EngineName::Claude,
            surface: Surface::Api,
            retrieval: Retrieval::Auto,
            model: Some(model.to_owned()),
            tool_version: Some(settings.get("toolVersion").unwrap_or(TOOL_VERSION).to_owned()),
            effort: None,
            context_size: None,
        },
        takes_location: true,
        max_tokens: Some(settings.number("maxTokens").unwrap_or(MAX_TOKENS)),
        max_searches: Some(max_searches),
        searches: SearchCount {
            min: 0,
            max: max_searches,
        },
        tariff: Tariff::find(DIALECT.provider, model, &settings, base == DIALECT.address),
    };
    let url = (DIALECT.url)(&base, model);
    ApiEngine::new(client, &MESSAGES, url, setup, account.secret.as_ref())
}

fn body(setup: &Setup, question: &Question) -> Value {
    let mut tool = json!({
        "type": setup.key.tool_version,
        "name": "web_search",
        "max_uses": setup.max_searches,
    });
    if let Some(country) = &question.country {
        let mut place = json!({ "type": "approximate", "country": country.to_ascii_uppercase() });
        if let Some(city) = &question.city {
            place["city"] = city.as_str().into();
        }
        tool["user_location"] = place;
    }
    json!({
        "model": setup.model(),
        "max_tokens": setup.max_tokens,
        "messages": [{ "role": "user", "content": question.text }],
        "tools": [tool],
    })
}

fn read(answer: &Value, draft: &mut Draft) -> Result<Ending, Oddity> {
    let content = answer.get("content").and_then(Value::as_array);
    read_usage(answer, draft);
    draft.serve(answer.get("model"));
    for block in content.ok_or(Oddity::Unreadable)? {
        read_block(block, draft);
    }
    match answer.get("stop_reason").and_then(Value::as_str) {
        None => Err(Oddity::Unreadable),
        Some("end_turn" | "stop_sequence") => Ok(Ending::Done),
        Some("refusal") => Ok(Ending::Refused),
        Some("pause_turn") => Ok(Ending::Paused),
        Some(_) => Ok(Ending::Cut),
    }
}

fn read_usage(answer: &Value, draft: &mut Draft) {
    let usage = answer.get("usage").unwrap_or(&Value::Null);
    let count = |name| usage.get(name).and_then(Value::as_u64);
    let input = count("input_tokens").map(|fresh| {
        fresh
            .saturating_add(count("cache_creation_input_tokens").unwrap_or(0))
            .saturating_add(count("cache_read_input_tokens").unwrap_or(0))
    });
    draft.add_tokens(input, count("output_tokens"));
    let searches = usage.pointer("/server_tool_use/web_search_requests");
    draft.add_searches(searches.and_then(Value::as_u64).unwrap_or(0));
    draft.search_performed.get_or_insert(false);
}

fn read_block(block: &Value, draft: &mut Draft) {
    match text_of(block, "type") {
        "text" => {
            let span = draft.push_text(text_of(block, "text"));
            let citations = list_of(block, "citations").iter();
            for citation in citations.filter(|c| text_of(c, "type") == "web_search_result_location") {
                draft.cite(Source::read(citation), true, Some(span));
            }
        }
        "server_tool_use" if text_of(block, "name") == "web_search" => {
            if let Some(input) = block.get("input") {
                draft.push_query(text_of(input, "query"));
            }
        }
        // A search that failed has an object in place of the list.
        "web_search_tool_result" if block.get("content").is_some_and(Value::is_array) => {
            draft.search_performed = Some(true);
            let results = list_of(block, "content").iter().map(Source::read);
            results.for_each(|result| draft.retrieve(result));
        }
        _ => {}
    }
}

/// Sends back what came, so that the engine goes on from there.
fn resume(body: &mut Value, answer: &Value) {
    if let Some(container) = answer.pointer("/container/id") {
        body["container"] = container.clone();
    }
    let content = list_of(answer, "content");
    let Some(messages) = body.get_mut("messages").and_then(Value::as_array_mut) else {
        return;
    };
    match messages
        .last_mut()
        .filter(|last| text_of(last, "role") == "assistant")
    {
        Some(last) => {
            if let Some(before) = last.get_mut("content").and_then(Value::as_array_mut) {
                before.extend_from_slice(content);
            }
        }
        None => messages.push(json!({ "role": "assistant", "content": content })),
    }
}
