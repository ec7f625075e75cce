//! OpenAI's Responses interface with its search tool, as the engine behind ChatGPT; any other server with OpenAI's interface is
//! a custom engine, by default through Chat Completions, where the links in the text are the citations.
//!
//! Without a country OpenAI searches as from the United States. Only searches are charged as such; pages that the model opens
//! are not.

use searchwright_outbound::Guarded;
use serde_json::{Value, json};
use url::Url;

use super::{
    EngineKey, EngineName, Question, Retrieval, Surface,
    api::{AnswerDialect, ApiEngine, Setup},
    chat, responses,
    tariff::{SearchCount, Tariff},
};
use crate::{Credentials, account::Account, error::ProviderError, openai::DIALECT};

/// Most searches to be expected, unless the account sets a limit.
const EXPECTED_SEARCHES: u32 = 8;

const RESPONSES: AnswerDialect = AnswerDialect {
    provider: DIALECT.provider,
    headers: DIALECT.headers,
    body,
    read: responses::read,
    resume: responses::resume,
};

const CHAT: AnswerDialect = AnswerDialect {
    provider: DIALECT.provider,
    headers: DIALECT.headers,
    body: chat_body,
    read: chat::read_linked,
    resume: chat::resume,
};

/// Makes the engine of an account.
pub(super) fn engine(client: &Guarded, account: &Credentials) -> Result<ApiEngine, ProviderError> {
    let settings = Account(&account.settings);
    let base = settings.base_url(DIALECT.address);
    let model = settings.need("model")?;
    let is_own = is_openai(&base);
    let searches = settings.get("api").map_or(is_own, |api| api == "responses");
    let max_searches = settings.number("maxSearches");
    let setup = Setup {
        key: EngineKey {
            engine: if is_own {
                EngineName::ChatGpt
            } else {
                EngineName::Custom
            },
            surface: Surface::Api,
            retrieval: match settings.get("retrieval") {
                _ if !searches && is_own => Retrieval::None,
                Some("forced") if searches => Retrieval::Forced,
                _ => Retrieval::Auto,
            },
            model: Some(model.to_owned()),
            tool_version: searches.then(|| settings.get("toolVersion").unwrap_or("web_search").to_owned()),
            effort: settings.text("effort"),
            context_size: settings.text("contextSize").filter(|_| searches),
        },
        takes_location: searches,
        max_tokens: settings.number("maxTokens"),
        max_searches,
        searches: if searches {
            let min = u32::from(settings.get("retrieval") == Some("forced"));
            let max = max_searches.unwrap_or(EXPECTED_SEARCHES);
            SearchCount { min, max }
        } else {
            SearchCount::default()
        },
        tariff: Tariff::find(DIALECT.provider, model, &settings, is_own),
    };
    let secret = account.secret.as_ref();
    if searches {
        ApiEngine::new(client, &RESPONSES, format!("{base}/responses"), setup, secret)
    } else {
        ApiEngine::new(client, &CHAT, format!("{base}/chat/completions"), setup, secret)
    }
}

/// Whether an address is OpenAI's: its own, or that of a region.
fn is_openai(base: &str) -> bool {
    let host = Url::parse(base)
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned));
    host.is_some_and(|host| host == "api.openai.com" || host.ends_with(".api.openai.com"))
}

fn body(setup: &Setup, question: &Question) -> Value {
    let mut body = responses::body(setup, question);
    let mut tool = responses::tool(setup, question);
    if let Some(place) = tool.get_mut("user_location") {
        place["type"] = "approximate".into();
    }
    body["tools"] = json!([tool]);
    body["include"] = json!(["web_search_call.action.sources"]);
    body["store"] = false.into();
    if setup.key.retrieval == Retrieval::Forced {
        body["tool_choice"] = "required".into();
    }
    if let Some(max) = setup.max_searches {
        body["max_tool_calls"] = max.into();
    }
    body
}

fn chat_body(setup: &Setup, question: &Question) -> Value {
    let mut body = chat::body(setup, question);
    // OpenAI's own models of today take no `max_tokens`, the copies know nothing else.
    if setup.key.engine == EngineName::ChatGpt
        && let Some(max) = setup.max_tokens
        && let Some(members) = body.as_object_mut()
    {
        members.remove("max_tokens");
        members.insert("max_completion_tokens".to_owned(), max.into());
    }
    body
}
