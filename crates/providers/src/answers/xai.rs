//! xAI's Responses interface with its search tool, as the engine behind Grok. It takes no place to search from.

use http::header;
use searchwright_outbound::Guarded;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::{
    EngineKey, EngineName, Question, Retrieval, Surface,
    api::{AnswerDialect, ApiEngine, Setup},
    draft::{Draft, Ending, Source, list_of},
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

const PROVIDER: &str = "xai";
pub(crate) const ADDRESS: &str = "https://api.x.ai/v1";
/// Most searches to be expected.
const EXPECTED_SEARCHES: u32 = 8;
/// Parts of a US dollar in which the price of an answer is given, in a millionth of one.
const TICKS_PER_MICRO: u64 = 10_000;

const RESPONSES: AnswerDialect = AnswerDialect {
    provider: PROVIDER,
    headers,
    body,
    read,
    resume: responses::resume,
};

/// Makes the engine of an account.
pub(super) fn engine(client: &Guarded, account: &Credentials) -> Result<ApiEngine, ProviderError> {
    let settings = Account(&account.settings);
    let base = settings.base_url(ADDRESS);
    let model = settings.need("model")?;
    let is_forced = settings.get("retrieval") == Some("forced");
    let setup = Setup {
        key: EngineKey {
            engine: EngineName::Grok,
            surface: Surface::Api,
            retrieval: if is_forced {
                Retrieval::Forced
            } else {
                Retrieval::Auto
            },
            model: Some(model.to_owned()),
            tool_version: Some(settings.get("toolVersion").unwrap_or("web_search").to_owned()),
            effort: settings.text("effort"),
            context_size: None,
        },
        takes_location: false,
        max_tokens: settings.number("maxTokens"),
        max_searches: None,
        searches: SearchCount {
            min: u32::from(is_forced),
            max: EXPECTED_SEARCHES,
        },
        tariff: Tariff::find(PROVIDER, model, &settings, base == ADDRESS),
    };
    let url = format!("{base}/responses");
    ApiEngine::new(client, &RESPONSES, url, setup, account.secret.as_ref())
}

fn headers(secret: Option<&SecretString>) -> Result<Headers, ProviderError> {
    let secret = secret.ok_or(ProviderError::NotConfigured(PROVIDER))?;
    Ok(vec![(header::AUTHORIZATION, bearer(secret)?)])
}

fn body(setup: &Setup, question: &Question) -> Value {
    let mut body = responses::body(setup, question);
    body["tools"] = json!([responses::tool(setup, question)]);
    body["store"] = false.into();
    if setup.key.retrieval == Retrieval::Forced {
        body["tool_choice"] = "required".into();
    }
    body
}

fn read(answer: &Value, draft: &mut Draft) -> Result<Ending, Oddity> {
    let ending = responses::read(answer, draft);
    // All pages that were found, whether the text cites them or not.
    for url in list_of(answer, "citations").iter().filter_map(Value::as_str) {
        draft.retrieve(Source { url, title: None });
    }
    let count = |at| answer.pointer(at).and_then(Value::as_u64);
    if let Some(searches) = count("/usage/server_side_tool_usage_details/web_search_calls") {
        draft.searches = Some(u32::try_from(searches).unwrap_or(u32::MAX));
        draft.search_performed = Some(searches > 0);
    }
    let ticks = count("/usage/cost_in_usd_ticks");
    draft.usage.cost_micros_usd = ticks.map(|ticks| ticks.div_ceil(TICKS_PER_MICRO));
    ending
}
