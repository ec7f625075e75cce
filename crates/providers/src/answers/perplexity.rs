//! Perplexity: its Agent interface, and with `api=chat` the older Chat Completions.
//!
//! The model is always named: a preset may resolve to another vendor's. Numbers in brackets in the text refer to the list of
//! sources. Related questions are not asked for. The price comes with the answer.

use http::header;
use searchwright_outbound::Guarded;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::{
    EngineKey, EngineName, Question, Retrieval, Surface,
    api::{AnswerDialect, ApiEngine, Setup},
    chat,
    draft::{Draft, Ending, Source, list_of, micros, text_of},
    links::find_markers,
    responses,
    tariff::{SearchCount, Tariff},
};
use crate::{
    Credentials,
    account::Account,
    error::ProviderError,
    http::bearer,
    language::{chat::Headers, stream::Oddity},
};

const PROVIDER: &str = "perplexity";
const ADDRESS: &str = "https://api.perplexity.ai";
/// Models that are asked, unless the account names another one.
const AGENT_MODEL: &str = "perplexity/sonar";
const CHAT_MODEL: &str = "sonar";
/// Most searches to be expected.
const EXPECTED_SEARCHES: u32 = 5;

const AGENT: AnswerDialect = AnswerDialect {
    provider: PROVIDER,
    headers,
    body,
    read,
    resume: responses::resume,
};

const CHAT: AnswerDialect = AnswerDialect {
    provider: PROVIDER,
    headers,
    body: chat_body,
    read: read_chat,
    resume: chat::resume,
};

/// Makes the engine of an account.
pub(super) fn engine(client: &Guarded, account: &Credentials) -> Result<ApiEngine, ProviderError> {
    let settings = Account(&account.settings);
    let base = settings.base_url(ADDRESS);
    let is_chat = settings.get("api") == Some("chat");
    let default = if is_chat { CHAT_MODEL } else { AGENT_MODEL };
    let model = settings.get("model").unwrap_or(default);
    let setup = Setup {
        key: EngineKey {
            engine: EngineName::Perplexity,
            surface: Surface::Api,
            retrieval: Retrieval::Auto,
            model: Some(model.to_owned()),
            tool_version: Some(if is_chat { "chat" } else { "web_search" }.to_owned()),
            effort: settings.text("effort"),
            context_size: settings.text("contextSize"),
        },
        takes_location: true,
        max_tokens: settings.number("maxTokens"),
        max_searches: None,
        searches: SearchCount {
            min: 1,
            max: if is_chat { 1 } else { EXPECTED_SEARCHES },
        },
        tariff: Tariff::find(PROVIDER, model, &settings, base == ADDRESS),
    };
    let secret = account.secret.as_ref();
    if is_chat {
        ApiEngine::new(client, &CHAT, format!("{base}/chat/completions"), setup, secret)
    } else {
        ApiEngine::new(client, &AGENT, format!("{base}/v1/responses"), setup, secret)
    }
}

fn headers(secret: Option<&SecretString>) -> Result<Headers, ProviderError> {
    let secret = secret.ok_or(ProviderError::NotConfigured(PROVIDER))?;
    Ok(vec![(header::AUTHORIZATION, bearer(secret)?)])
}

fn body(setup: &Setup, question: &Question) -> Value {
    let mut body = responses::body(setup, question);
    body["tools"] = json!([responses::tool(setup, question)]);
    body
}

fn chat_body(setup: &Setup, question: &Question) -> Value {
    let mut body = chat::body(setup, question);
    let mut options = responses::tool(setup, question);
    if let Some(members) = options.as_object_mut() {
        members.remove("type");
        if !members.is_empty() {
            body["web_search_options"] = options;
        }
    }
    body
}

fn read(answer: &Value, draft: &mut Draft) -> Result<Ending, Oddity> {
    let ending = responses::read(answer, draft);
    let results = list_of(answer, "output")
        .iter()
        .filter(|item| text_of(item, "type") == "search_results");
    let sources = results.flat_map(|item| list_of(item, "results")).zip(1..);
    let sources = sources.map(|(result, place)| NumberedSource {
        number: result.get("id").and_then(Value::as_u64).unwrap_or(place),
        source: Source::read(result),
    });
    cite_sources(&sources.collect::<Vec<_>>(), draft);
    draft.usage.cost_micros_usd = micros(answer.pointer("/usage/cost/total_cost"));
    ending
}

fn read_chat(answer: &Value, draft: &mut Draft) -> Result<Ending, Oddity> {
    let ending = chat::read(answer, draft);
    let results = list_of(answer, "search_results").iter().map(Source::read);
    let older = list_of(answer, "citations").iter().filter_map(Value::as_str);
    let mut sources: Vec<Source<'_>> = results.collect();
    if sources.is_empty() {
        sources = older.map(|url| Source { url, title: None }).collect();
    }
    draft.search_performed = Some(!sources.is_empty());
    let queries = answer
        .pointer("/usage/num_search_queries")
        .and_then(Value::as_u64);
    if let Some(queries) = queries {
        draft.add_searches(queries);
    }
    let sources = sources.into_iter().zip(1..);
    let sources = sources.map(|(source, number)| NumberedSource { number, source });
    cite_sources(&sources.collect::<Vec<_>>(), draft);
    draft.usage.cost_micros_usd = micros(answer.pointer("/usage/cost/total_cost"));
    ending
}

/// A source, and the number by which the text refers to it.
struct NumberedSource<'a> {
    number: u64,
    source: Source<'a>,
}

/// Cites the sources that the text refers to; all of them if it refers to none.
fn cite_sources(sources: &[NumberedSource<'_>], draft: &mut Draft) {
    for marker in find_markers(&draft.text.clone()) {
        if let Some(known) = sources.iter().find(|known| known.number == marker.number) {
            draft.cite(known.source, true, Some(marker.span));
        }
    }
    let says_which = draft.has_citations();
    for known in sources {
        if says_which {
            draft.retrieve(known.source);
        } else {
            draft.cite(known.source, false, None);
        }
    }
}
