//! Anthropic Messages.
//!
//! Requests, with a form asked for, were validated against a published copy of the OpenAPI document of the
//! Messages API and answered by an independent server that streams, see `cargo xtask peers providers`.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use searchwright_outbound::Guarded;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::{
    account::Account,
    error::ProviderError,
    exchange::{post_json, secret_header},
    language::{
        Finish, Generation, LanguageModel, Prompt,
        prices::Price,
        stream,
        stream::{Oddity, Seen, Wire, error_status},
    },
    sse::Event,
};
use crate::Credentials;

pub(super) const ADDRESS: &str = "https://api.anthropic.com";
/// The version of the interface this file speaks.
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// A model of Anthropic.
#[derive(Debug)]
pub struct Anthropic {
    url: String,
    model: String,
    wire: Arc<Wire>,
}

impl Anthropic {
    /// The model of an account.
    pub fn new(client: Guarded, account: &Credentials) -> Result<Self, ProviderError> {
        let settings = Account(&account.settings);
        let base = settings.base_url(ADDRESS);
        let model = settings.need("model")?.to_owned();
        Ok(Self {
            url: format!("{base}/v1/messages"),
            wire: Arc::new(Wire {
                client,
                secret: account.secret.clone(),
                price: Price::find("anthropic", &model, &account.settings, base == ADDRESS),
                read,
            }),
            model,
        })
    }

    fn body(&self, prompt: &Prompt) -> Value {
        let mut body = json!({
            "model": self.model,
            "max_tokens": prompt.max_tokens,
            "system": prompt.system_text(),
            "messages": [{ "role": "user", "content": prompt.user_text() }],
            "stream": true,
        });
        if let Some(temperature) = prompt.temperature {
            body["temperature"] = temperature.into();
        }
        if let Some(form) = &prompt.form {
            body["output_config"] = json!({ "format": { "type": "json_schema", "schema": form.schema } });
        }
        body
    }
}

impl LanguageModel for Anthropic {
    fn provider(&self) -> &'static str {
        "anthropic"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn most(&self, prompt: &Prompt) -> Option<u64> {
        self.wire.most(prompt)
    }

    fn generate(&self, prompt: &Prompt) -> Generation {
        let key = match &self.wire.secret {
            Some(secret) => secret_header(secret.expose_secret()),
            None => Err(ProviderError::NotConfigured("anthropic")),
        };
        let request = key.and_then(|key| {
            let headers = [
                (HeaderName::from_static("x-api-key"), key),
                (HeaderName::from_static("anthropic-version"), VERSION),
            ];
            post_json(&self.url, headers, &self.body(prompt))
        });
        stream::generate(&self.wire, request)
    }
}

pub(super) fn read(event: &Event, seen: &mut Seen) -> Result<(), Oddity> {
    let data: Value = serde_json::from_str(&event.data).map_err(|_| Oddity::Unreadable)?;
    let kind = data
        .get("type")
        .and_then(Value::as_str)
        .ok_or(Oddity::Unreadable)?;
    match kind {
        "error" => {
            return Err(Oddity::Error(
                data.get("error").and_then(error_status).unwrap_or(400),
            ));
        }
        "message_start" => {
            let usage = data.pointer("/message/usage").unwrap_or(&Value::Null);
            let count = |name| usage.get(name).and_then(Value::as_u64);
            seen.input_tokens = count("input_tokens").map(|fresh| {
                fresh
                    .saturating_add(count("cache_creation_input_tokens").unwrap_or(0))
                    .saturating_add(count("cache_read_input_tokens").unwrap_or(0))
            });
        }
        "content_block_delta" => {
            let text = data.pointer("/delta/text").and_then(Value::as_str);
            seen.text += text.unwrap_or_default();
        }
        "message_delta" => {
            let reason = data.pointer("/delta/stop_reason").and_then(Value::as_str);
            seen.finish = reason.map(|reason| match reason {
                "end_turn" | "stop_sequence" => Finish::Stop,
                "max_tokens" | "model_context_window_exceeded" => Finish::Length,
                _ => Finish::Filtered,
            });
            let written = data.pointer("/usage/output_tokens").and_then(Value::as_u64);
            seen.output_tokens = written.or(seen.output_tokens);
        }
        "message_stop" => seen.done = true,
        // Blocks begin and end, pings, and whatever is added later.
        _ => {}
    }
    Ok(())
}
