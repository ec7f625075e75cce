//! Chat Completions, as OpenAI has them and as Ollama, vLLM, llama.cpp and most others copy them.
//!
//! Requests, with a form asked for, were validated against OpenAI's own OpenAPI document
//! (`createChatCompletion`) and answered by an independent server that streams, usage included, see
//! `cargo xtask peers providers`.

use http::header;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::{
    error::ProviderError,
    http::bearer,
    language::{
        Finish, Prompt,
        chat::{ChatDialect, ChatModel, Headers},
        stream::{Oddity, Seen, error_status},
    },
    sse::Event,
};

pub(super) const DIALECT: ChatDialect = ChatDialect {
    provider: "openai",
    address: "https://api.openai.com/v1",
    model_prefix: "",
    url: |base, _| format!("{base}/chat/completions"),
    headers,
    body,
    read,
};

/// Sends a key if there is one; servers at home often want none.
fn headers(secret: Option<&SecretString>) -> Result<Headers, ProviderError> {
    let key = secret.map(bearer).transpose()?;
    Ok(key.map(|key| (header::AUTHORIZATION, key)).into_iter().collect())
}

fn body(model: &ChatModel, prompt: &Prompt) -> Value {
    // OpenAI's own models of today take no `max_tokens`, the copies know nothing else.
    let limit_name = if model.is_own {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    let mut body = json!({
        "model": model.model,
        "messages": [
            { "role": "system", "content": prompt.system_text() },
            { "role": "user", "content": prompt.user_text() },
        ],
        "stream": true,
        "stream_options": { "include_usage": true },
        limit_name: prompt.max_tokens,
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

fn read(event: &Event, seen: &mut Seen) -> Result<(), Oddity> {
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
