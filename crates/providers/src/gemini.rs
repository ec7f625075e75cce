//! Gemini's `streamGenerateContent`.
//!
//! Requests, with a form asked for, were validated against a published copy of the OpenAPI document of the
//! Gemini API and answered by an independent server that streams, see `cargo xtask peers providers`.

use http::HeaderName;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::{
    error::ProviderError,
    http::secret_header,
    language::{
        Finish, Prompt,
        chat::{ChatDialect, ChatModel, Headers},
        stream::{Oddity, Seen, error_status},
    },
    sse::Event,
};

pub(super) const DIALECT: ChatDialect = ChatDialect {
    provider: "gemini",
    address: "https://generativelanguage.googleapis.com/v1beta",
    model_prefix: "models/",
    url: |base, model| format!("{base}/models/{model}:streamGenerateContent?alt=sse"),
    headers,
    body,
    read,
};

/// Sends the key in a header, not in the address, which ends up in logs on the way.
fn headers(secret: Option<&SecretString>) -> Result<Headers, ProviderError> {
    let secret = secret.ok_or(ProviderError::NotConfigured("gemini"))?;
    Ok(vec![(
        HeaderName::from_static("x-goog-api-key"),
        secret_header(secret.expose_secret())?,
    )])
}

fn body(_: &ChatModel, prompt: &Prompt) -> Value {
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

fn read(event: &Event, seen: &mut Seen) -> Result<(), Oddity> {
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
