//! The Responses interface, as OpenAI has it and xAI and Perplexity copy it.

use serde_json::{Value, json};

use super::{
    Question,
    api::Setup,
    draft::{Draft, Ending, Source, list_of, text_of},
    links::TextSpan,
};
use crate::language::stream::{Oddity, error_status};

/// Returns the members that a question has at every vendor.
pub(super) fn body(setup: &Setup, question: &Question) -> Value {
    let mut body = json!({ "model": setup.model(), "input": question.text });
    if let Some(max) = setup.max_tokens {
        body["max_output_tokens"] = max.into();
    }
    if let Some(effort) = &setup.key.effort {
        body["reasoning"] = json!({ "effort": effort });
    }
    body
}

/// Returns the search tool, with the place of the question as far as the vendor takes it.
pub(super) fn tool(setup: &Setup, question: &Question) -> Value {
    let mut tool = json!({ "type": setup.key.tool_version.as_deref().unwrap_or("web_search") });
    if let Some(size) = &setup.key.context_size {
        tool["search_context_size"] = size.as_str().into();
    }
    if let Some(country) = question.country.as_deref().filter(|_| setup.takes_location) {
        let mut place = json!({ "country": country.to_ascii_uppercase() });
        if let Some(city) = &question.city {
            place["city"] = city.as_str().into();
        }
        tool["user_location"] = place;
    }
    tool
}

/// Reads an answer.
pub(super) fn read(answer: &Value, draft: &mut Draft) -> Result<Ending, Oddity> {
    let output = answer.get("output").and_then(Value::as_array);
    let usage = answer.get("usage").unwrap_or(&Value::Null);
    let count = |name| usage.get(name).and_then(Value::as_u64);
    draft.add_tokens(count("input_tokens"), count("output_tokens"));
    draft.serve(answer.get("model"));
    let mut refused = false;
    let mut searches = 0;
    for item in output.ok_or(Oddity::Unreadable)? {
        match text_of(item, "type") {
            "message" => refused |= read_message(item, draft),
            "web_search_call" => searches += read_search(item, draft),
            "search_results" => {
                searches += 1;
                let queries = list_of(item, "queries").iter().filter_map(Value::as_str);
                queries.for_each(|query| draft.push_query(query));
            }
            "fetch_url_results" => {
                let pages = list_of(item, "contents").iter().map(Source::read);
                pages.for_each(|page| draft.retrieve(page));
            }
            _ => {}
        }
    }
    draft.add_searches(searches);
    draft.search_performed = Some(searches > 0);
    if refused {
        return Ok(Ending::Refused);
    }
    ending(answer)
}

/// Reads the state of an answer.
fn ending(answer: &Value) -> Result<Ending, Oddity> {
    match answer.get("status").and_then(Value::as_str) {
        None | Some("completed") => Ok(Ending::Done),
        Some("incomplete") => Ok(match answer.pointer("/incomplete_details/reason") {
            Some(Value::String(reason)) if reason == "content_filter" => Ending::Refused,
            _ => Ending::Cut,
        }),
        Some("cancelled" | "requires_action") => Ok(Ending::Cut),
        Some("failed") => {
            let error = answer.get("error").and_then(error_status);
            Err(Oddity::Error(error.unwrap_or(500)))
        }
        Some(_) => Err(Oddity::Unreadable),
    }
}

/// Reads a message; returns whether it is a refusal.
fn read_message(item: &Value, draft: &mut Draft) -> bool {
    let mut refused = false;
    for part in list_of(item, "content") {
        match text_of(part, "type") {
            "refusal" => {
                refused = true;
                draft.push_text(text_of(part, "refusal"));
            }
            "output_text" => read_text(part, draft),
            _ => {}
        }
    }
    refused
}

fn read_text(part: &Value, draft: &mut Draft) {
    let placed = draft.push_text(text_of(part, "text"));
    for annotation in list_of(part, "annotations") {
        if text_of(annotation, "type") != "url_citation" {
            continue;
        }
        let index = |name| {
            let index = annotation.get(name).and_then(Value::as_u64)?;
            placed.start.checked_add(usize::try_from(index).ok()?)
        };
        let span = index("start_index").zip(index("end_index"));
        let span = span.map(|(start, end)| TextSpan { start, end });
        let span = span.filter(|span| span.start < span.end && span.end <= placed.end);
        draft.cite(Source::read(annotation), span.is_some(), span);
    }
}

/// Reads a call of the search tool; returns how many searches it is. A page that is opened is none.
fn read_search(item: &Value, draft: &mut Draft) -> u64 {
    let action = item.get("action").unwrap_or(&Value::Null);
    let is_search = matches!(text_of(action, "type"), "" | "search");
    if !is_search {
        draft.retrieve(Source::read(action));
        return 0;
    }
    let queries = list_of(action, "queries");
    if queries.is_empty() {
        draft.push_query(text_of(action, "query"));
    }
    queries
        .iter()
        .filter_map(Value::as_str)
        .for_each(|query| draft.push_query(query));
    let sources = list_of(action, "sources").iter().map(Source::read);
    sources.for_each(|source| draft.retrieve(source));
    u64::from(text_of(item, "status") != "failed")
}

/// Leaves a request as it is: this interface does not pause.
pub(super) fn resume(_: &mut Value, _: &Value) {}
