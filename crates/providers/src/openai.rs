//! Chat Completions, as OpenAI has them and as Ollama, vLLM, llama.cpp and most others copy them.
//!
//! Requests, with a form asked for, were validated against OpenAI's own OpenAPI document
//! (`createChatCompletion`) and answered by an independent server that streams, usage included, see
//! `cargo xtask peers providers`.

use std::sync::Arc;

use http::header;
use searchwright_outbound::Guarded;
use serde_json::{Value, json};

use super::{
    account::Account,
    error::ProviderError,
    exchange::{bearer, post_json},
    language::{
        Finish, Generation, LanguageModel, Prompt,
        prices::Price,
        stream,
        stream::{Oddity, Seen, Wire, error_status},
    },
    sse::Event,
};
use crate::Credentials;

/// OpenAI's own address.
pub(super) const ADDRESS: &str = "https://api.openai.com/v1";

/// A model behind Chat Completions.
#[derive(Debug)]
pub struct OpenAi {
    url: String,
    model: String,
    /// OpenAI's own models of today take no `max_tokens`, the copies know nothing else.
    limit_name: &'static str,
    wire: Arc<Wire>,
}

impl OpenAi {
    /// The model of an account. A key is sent if there is one; servers at home often want none.
    pub fn new(client: Guarded, account: &Credentials) -> Result<Self, ProviderError> {
        let settings = Account(&account.settings);
        let base = settings.base_url(ADDRESS);
        let own = base == ADDRESS;
        let model = settings.need("model")?.to_owned();
        Ok(Self {
            url: format!("{base}/chat/completions"),
            limit_name: if own {
                "max_completion_tokens"
            } else {
                "max_tokens"
            },
            wire: Arc::new(Wire {
                client,
                secret: account.secret.clone(),
                price: Price::find("openai", &model, &account.settings, own),
                read,
            }),
            model,
        })
    }

    fn body(&self, prompt: &Prompt) -> Value {
        let mut body = json!({
            "model": self.model,
            "messages": [
                { "role": "system", "content": prompt.system_text() },
                { "role": "user", "content": prompt.user_text() },
            ],
            "stream": true,
            "stream_options": { "include_usage": true },
            self.limit_name: prompt.max_tokens,
        });
        if let Some(temperature) = prompt.temperature {
            body["temperature"] = temperature.into();
        }
        if let Some(form) = &prompt.form {
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": { "name": form.name, "schema": form.schema },
            });
        }
        body
    }
}

impl LanguageModel for OpenAi {
    fn provider(&self) -> &'static str {
        "openai"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn most(&self, prompt: &Prompt) -> Option<u64> {
        self.wire.most(prompt)
    }

    fn generate(&self, prompt: &Prompt) -> Generation {
        let key = self.wire.secret.as_ref().map(bearer).transpose();
        let request = key.and_then(|key| {
            let headers = key.map(|key| (header::AUTHORIZATION, key));
            post_json(&self.url, headers, &self.body(prompt))
        });
        stream::generate(&self.wire, request)
    }
}

pub(super) fn read(event: &Event, seen: &mut Seen) -> Result<(), Oddity> {
    if event.data == "[DONE]" {
        seen.done = true;
        return Ok(());
    }
    let chunk: Value = serde_json::from_str(&event.data).map_err(|_| Oddity::Unreadable)?;
    if let Some(status) = chunk.get("error").and_then(error_status) {
        return Err(Oddity::Error(status));
    }
    // The last chunk has the usage and an empty list of choices.
    let choices = chunk.get("choices").and_then(Value::as_array);
    for choice in choices.ok_or(Oddity::Unreadable)?.iter().take(1) {
        let delta = choice.get("delta");
        let text = |name| delta.and_then(|d| d.get(name)).and_then(Value::as_str);
        seen.text += text("content").unwrap_or_default();
        if text("refusal").is_some_and(|t| !t.is_empty()) {
            seen.finish = Some(Finish::Filtered);
        }
        let finish = match choice.get("finish_reason").and_then(Value::as_str) {
            None => continue,
            Some("stop") => Finish::Stop,
            Some("length") => Finish::Length,
            // A call of a tool, which was never offered, is no answer either.
            Some(_) => Finish::Filtered,
        };
        seen.finish.get_or_insert(finish);
    }
    if let Some(usage) = chunk.get("usage").filter(|u| u.is_object()) {
        seen.input_tokens = usage.get("prompt_tokens").and_then(Value::as_u64);
        seen.output_tokens = usage.get("completion_tokens").and_then(Value::as_u64);
    }
    Ok(())
}
