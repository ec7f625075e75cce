//! Gemini's `generateContent`, without the web unless the account says `grounding=true`.
//!
//! Google's terms for grounded answers are said to forbid that they are stored and analysed, and want its search suggestions to
//! be shown beside them. Only the operator can decide about that, so grounding is off. The links of a grounded answer lead
//! through Google; their titles name the site.

use searchwright_outbound::Guarded;
use serde_json::{Value, json};

use super::{
    Aside, AsideKind, EngineKey, EngineName, Question, Retrieval, Surface,
    api::{AnswerDialect, ApiEngine, Setup},
    chat,
    draft::{Draft, Ending, Source, list_of, text_of},
    links::TextSpan,
    tariff::{SearchCount, Tariff},
};
use crate::{Credentials, account::Account, error::ProviderError, gemini::DIALECT, language::stream::Oddity};

/// Most queries to be expected for a grounded answer.
const EXPECTED_SEARCHES: u32 = 6;

const GENERATE: AnswerDialect = AnswerDialect {
    provider: DIALECT.provider,
    headers: DIALECT.headers,
    body,
    read,
    resume: chat::resume,
};

/// Makes the engine of an account.
pub(super) fn engine(client: &Guarded, account: &Credentials) -> Result<ApiEngine, ProviderError> {
    let settings = Account(&account.settings);
    let base = settings.base_url(DIALECT.address);
    let model = settings.need("model")?;
    let model = model.strip_prefix(DIALECT.model_prefix).unwrap_or(model);
    let is_grounded = settings.get("grounding") == Some("true");
    let setup = Setup {
        key: EngineKey {
            engine: EngineName::Gemini,
            surface: Surface::Api,
            retrieval: if is_grounded {
                Retrieval::Auto
            } else {
                Retrieval::None
            },
            model: Some(model.to_owned()),
            tool_version: is_grounded.then(|| "google_search".to_owned()),
            effort: None,
            context_size: None,
        },
        takes_location: false,
        max_tokens: settings.number("maxTokens"),
        max_searches: None,
        searches: SearchCount {
            min: 0,
            max: if is_grounded { EXPECTED_SEARCHES } else { 0 },
        },
        tariff: Tariff::find(DIALECT.provider, model, &settings, base == DIALECT.address),
    };
    let url = format!("{base}/models/{model}:generateContent");
    ApiEngine::new(client, &GENERATE, url, setup, account.secret.as_ref())
}

fn body(setup: &Setup, question: &Question) -> Value {
    let mut body = json!({ "contents": [{ "role": "user", "parts": [{ "text": question.text }] }] });
    if setup.key.retrieval == Retrieval::Auto {
        body["tools"] = json!([{ "googleSearch": {} }]);
    }
    if let Some(max) = setup.max_tokens {
        body["generationConfig"] = json!({ "maxOutputTokens": max });
    }
    body
}

/// A part of an answer and its place in the text.
struct PlacedPart<'a> {
    text: &'a str,
    span: TextSpan,
}

fn read(answer: &Value, draft: &mut Draft) -> Result<Ending, Oddity> {
    read_usage(answer, draft);
    draft.serve(answer.get("modelVersion"));
    draft.add_searches(0);
    draft.search_performed = Some(false);
    let Some(candidate) = answer.pointer("/candidates/0") else {
        let blocked = answer.pointer("/promptFeedback/blockReason");
        return blocked.map(|_| Ending::Refused).ok_or(Oddity::Unreadable);
    };
    let parts = candidate
        .get("content")
        .map_or(&[][..], |content| list_of(content, "parts"));
    let placed: Vec<PlacedPart<'_>> = parts.iter().map(|part| read_part(part, draft)).collect();
    match candidate.get("groundingMetadata") {
        Some(grounding) => read_grounding(grounding, &placed, draft),
        None => draft.cite_links(),
    }
    Ok(match candidate.get("finishReason").and_then(Value::as_str) {
        None => return Err(Oddity::Unreadable),
        Some("STOP") => Ending::Done,
        Some(
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY",
        ) => Ending::Refused,
        Some(_) => Ending::Cut,
    })
}

/// Thoughts are charged as output.
fn read_usage(answer: &Value, draft: &mut Draft) {
    let usage = answer.get("usageMetadata").unwrap_or(&Value::Null);
    let count = |name| usage.get(name).and_then(Value::as_u64);
    let more = |count: Option<u64>, extra: Option<u64>| Some(count?.saturating_add(extra.unwrap_or(0)));
    let input = more(count("promptTokenCount"), count("toolUsePromptTokenCount"));
    let output = more(count("candidatesTokenCount"), count("thoughtsTokenCount"));
    draft.add_tokens(input, output);
}

/// Thoughts have no place in the text.
fn read_part<'a>(part: &'a Value, draft: &mut Draft) -> PlacedPart<'a> {
    let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
    let text = if is_thought { "" } else { text_of(part, "text") };
    PlacedPart {
        text,
        span: draft.push_text(text),
    }
}

fn read_grounding(grounding: &Value, parts: &[PlacedPart<'_>], draft: &mut Draft) {
    let queries: Vec<&str> = list_of(grounding, "webSearchQueries")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    queries.iter().for_each(|query| draft.push_query(query));
    draft.add_searches(queries.len() as u64);
    let chunks: Vec<Source<'_>> = list_of(grounding, "groundingChunks")
        .iter()
        .map(read_chunk)
        .collect();
    draft.search_performed = Some(!queries.is_empty() || !chunks.is_empty());
    for support in list_of(grounding, "groundingSupports") {
        let span = support.get("segment").and_then(|segment| place(segment, parts));
        let indices = list_of(support, "groundingChunkIndices")
            .iter()
            .filter_map(Value::as_u64);
        for chunk in indices.filter_map(|at| chunks.get(usize::try_from(at).ok()?)) {
            draft.cite(*chunk, true, span);
        }
    }
    let says_where = draft.has_citations();
    for chunk in chunks {
        if says_where {
            draft.retrieve(chunk);
        } else {
            draft.cite(chunk, false, None);
        }
    }
    let suggestions = grounding
        .pointer("/searchEntryPoint/renderedContent")
        .and_then(Value::as_str);
    if let Some(html) = suggestions {
        draft.push_aside(Aside {
            kind: AsideKind::SearchSuggestions,
            text: html.to_owned(),
            url: None,
        });
    }
}

fn read_chunk(chunk: &Value) -> Source<'_> {
    let web = chunk.get("web").unwrap_or(&Value::Null);
    Source {
        url: text_of(web, "uri"),
        title: web.get("title").and_then(Value::as_str),
    }
}

/// The place of a segment, which Google counts in bytes of a part.
fn place(segment: &Value, parts: &[PlacedPart<'_>]) -> Option<TextSpan> {
    let number = |name| segment.get(name).and_then(Value::as_u64).unwrap_or(0);
    let part = parts.get(usize::try_from(number("partIndex")).ok()?)?;
    let place = |name| {
        let before = part.text.get(..usize::try_from(number(name)).ok()?)?;
        Some(part.span.start + before.chars().count())
    };
    Some(TextSpan {
        start: place("startIndex")?,
        end: place("endIndex")?,
    })
}
