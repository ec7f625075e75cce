//! Anthropic Messages.
//!
//! Requests, with a form asked for, were validated against a published copy of the OpenAPI document of the
//! Messages API and answered by an independent server that streams, see `cargo xtask peers providers`.

use http::{HeaderName, HeaderValue};
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
    provider: "anthropic",
    address: "https://api.anthropic.com",
    model_prefix: "",
    url: |base, _| format!("{base}/v1/messages"),
    headers,
    body,
    read,
};

/// The version of the interface this file speaks.
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

fn headers(secret: Option<&SecretString>) -> Result<Headers, ProviderError> {
    let secret = secret.ok_or(ProviderError::NotConfigured("anthropic"))?;
    Ok(vec![
        (
            HeaderName::from_static("x-api-key"),
            secret_header(secret.expose_secret())?,
        ),
        (HeaderName::from_static("anthropic-version"), VERSION),
    ])
}

fn body(model: &ChatModel, prompt: &Prompt) -> Value {
    let mut body = json!({
        "model": model.model,
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

fn read(event: &Event, seen: &mut Seen) -> Result<(), Oddity> {
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
