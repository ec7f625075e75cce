//! Chat Completions without a search tool: OpenAI's copies, and Perplexity's older interface.

use serde_json::{Value, json};

use super::{
    Question,
    api::Setup,
    draft::{Draft, Ending, Source, list_of, text_of},
    links::TextSpan,
};
use crate::language::stream::Oddity;

/// Returns the body of a question.
pub(super) fn body(setup: &Setup, question: &Question) -> Value {
    let mut body = json!({
        "model": setup.model(),
        "messages": [{ "role": "user", "content": question.text }],
        "stream": false,
    });
    if let Some(max) = setup.max_tokens {
        body["max_tokens"] = max.into();
    }
    if let Some(effort) = &setup.key.effort {
        body["reasoning_effort"] = effort.as_str().into();
    }
    body
}

/// Reads an answer whose annotations, or else the links in its text, are its citations.
pub(super) fn read_linked(answer: &Value, draft: &mut Draft) -> Result<Ending, Oddity> {
    let ending = read(answer, draft)?;
    let message = answer.pointer("/choices/0/message").unwrap_or(&Value::Null);
    for citation in list_of(message, "annotations")
        .iter()
        .filter_map(|a| a.get("url_citation"))
    {
        let index = |name| usize::try_from(citation.get(name)?.as_u64()?).ok();
        let span = index("start_index").zip(index("end_index"));
        let span = span.map(|(start, end)| TextSpan { start, end });
        draft.cite(Source::read(citation), span.is_some(), span);
    }
    if !draft.has_citations() {
        draft.cite_links();
    }
    Ok(ending)
}

/// Reads text, model, tokens and ending of an answer.
pub(super) fn read(answer: &Value, draft: &mut Draft) -> Result<Ending, Oddity> {
    let usage = answer.get("usage").unwrap_or(&Value::Null);
    let count = |name| usage.get(name).and_then(Value::as_u64);
    draft.add_tokens(count("prompt_tokens"), count("completion_tokens"));
    draft.serve(answer.get("model"));
    let choice = answer.pointer("/choices/0").ok_or(Oddity::Unreadable)?;
    let message = choice.get("message").ok_or(Oddity::Unreadable)?;
    match message.get("content") {
        Some(Value::String(text)) => {
            draft.push_text(without_thoughts(text));
        }
        Some(Value::Array(parts)) => {
            for part in parts.iter().filter(|part| text_of(part, "type") == "text") {
                draft.push_text(text_of(part, "text"));
            }
        }
        _ => {}
    }
    let refusal = text_of(message, "refusal");
    if !refusal.is_empty() {
        draft.push_text(refusal);
        return Ok(Ending::Refused);
    }
    Ok(match choice.get("finish_reason").and_then(Value::as_str) {
        None | Some("stop") => Ending::Done,
        Some("content_filter") => Ending::Refused,
        // A call of a tool, which was never offered, is no whole answer either.
        Some(_) => Ending::Cut,
    })
}

/// The text after the thoughts that some servers put before it.
fn without_thoughts(text: &str) -> &str {
    let thoughts = text.trim_start().strip_prefix("<think>");
    match thoughts.and_then(|rest| rest.split_once("</think>")) {
        Some((_, answer)) => answer.trim_start(),
        None => text,
    }
}

/// Leaves a request as it is: this interface does not pause.
pub(super) fn resume(_: &mut Value, _: &Value) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_no_answer() {
        for (text, expected) in [
            ("<think>Acme?</think>\n\nBolt.", "Bolt."),
            ("\n<think>\n</think>Bolt.", "Bolt."),
            ("<think>Acme?", "<think>Acme?"),
            ("Bolt <think>Acme</think>", "Bolt <think>Acme</think>"),
        ] {
            assert_eq!(without_thoughts(text), expected);
        }
    }
}
