//! Gemini's `streamGenerateContent`.
//!
//! Requests, with a form asked for, were validated against a published copy of the OpenAPI document of the
//! Gemini API and answered by an independent server that streams, see `cargo xtask peers providers`.

use std::sync::Arc;

use http::HeaderName;
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

pub(super) const ADDRESS: &str = "https://generativelanguage.googleapis.com/v1beta";

/// A model of Google.
#[derive(Debug)]
pub struct Gemini {
    url: String,
    model: String,
    wire: Arc<Wire>,
}

impl Gemini {
    /// The model of an account.
    pub fn new(client: Guarded, account: &Credentials) -> Result<Self, ProviderError> {
        let settings = Account(&account.settings);
        let base = settings.base_url(ADDRESS);
        let model = settings.need("model")?;
        let model = model.strip_prefix("models/").unwrap_or(model).to_owned();
        Ok(Self {
            url: format!("{base}/models/{model}:streamGenerateContent?alt=sse"),
            wire: Arc::new(Wire {
                client,
                secret: account.secret.clone(),
                price: Price::find("gemini", &model, &account.settings, base == ADDRESS),
                read,
            }),
            model,
        })
    }

    fn body(prompt: &Prompt) -> Value {
        let mut config = json!({ "maxOutputTokens": prompt.max_tokens });
        if let Some(temperature) = prompt.temperature {
            config["temperature"] = temperature.into();
        }
        if let Some(form) = &prompt.form {
            config["responseMimeType"] = "application/json".into();
            config["responseJsonSchema"] = json!(form.schema);
        }
        json!({
            "systemInstruction": { "parts": [{ "text": prompt.system_text() }] },
            "contents": [{ "role": "user", "parts": [{ "text": prompt.user_text() }] }],
            "generationConfig": config,
        })
    }
}

impl LanguageModel for Gemini {
    fn provider(&self) -> &'static str {
        "gemini"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn most(&self, prompt: &Prompt) -> Option<u64> {
        self.wire.most(prompt)
    }

    fn generate(&self, prompt: &Prompt) -> Generation {
        // In a header, not in the address, which ends up in logs on the way.
        let key = match &self.wire.secret {
            Some(secret) => secret_header(secret.expose_secret()),
            None => Err(ProviderError::NotConfigured("gemini")),
        };
        let request = key.and_then(|key| {
            let headers = [(HeaderName::from_static("x-goog-api-key"), key)];
            post_json(&self.url, headers, &Self::body(prompt))
        });
        stream::generate(&self.wire, request)
    }
}

pub(super) fn read(event: &Event, seen: &mut Seen) -> Result<(), Oddity> {
    let chunk: Value = serde_json::from_str(&event.data).map_err(|_| Oddity::Unreadable)?;
    if let Some(status) = chunk.get("error").and_then(error_status) {
        return Err(Oddity::Error(status));
    }
    let candidate = chunk.pointer("/candidates/0");
    let usage = chunk.get("usageMetadata");
    let blocked = chunk.pointer("/promptFeedback/blockReason");
    if candidate.is_none() && usage.is_none() && blocked.is_none() {
        return Err(Oddity::Unreadable);
    }
    if blocked.is_some() {
        seen.finish = Some(Finish::Filtered);
    }
    let parts = candidate
        .and_then(|c| c.pointer("/content/parts"))
        .and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
        if let Some(text) = part.get("text").and_then(Value::as_str).filter(|_| !thought) {
            seen.text += text;
        }
    }
    if let Some(reason) = candidate
        .and_then(|c| c.get("finishReason"))
        .and_then(Value::as_str)
    {
        seen.finish = Some(match reason {
            "STOP" => Finish::Stop,
            "MAX_TOKENS" => Finish::Length,
            _ => Finish::Filtered,
        });
    }
    // Each chunk counts everything so far; thoughts are charged as output.
    if let Some(usage) = usage {
        let count = |name| usage.get(name).and_then(Value::as_u64);
        seen.input_tokens = count("promptTokenCount").or(seen.input_tokens);
        if let Some(written) = count("candidatesTokenCount") {
            seen.output_tokens = Some(written.saturating_add(count("thoughtsTokenCount").unwrap_or(0)));
        }
    }
    Ok(())
}
