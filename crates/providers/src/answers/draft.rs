//! An answer while it is read: everything a vendor sends goes through here, where it is checked and bounded.

use std::{collections::HashSet, time::Duration};

use serde_json::{Map, Value, json};

use super::{
    AnswerStatus, Aside, EngineAnswer, MAX_CITATIONS, MAX_RAW_BYTES, MAX_TEXT_CHARS, RawCitation,
    links::{TextSpan, find_links, page, page_form},
    tariff::Tariff,
};
use crate::error::{Partial, Usage};

/// Longest title, query and name, in characters.
const MAX_LABEL_CHARS: usize = 500;
/// Longest text of a part that is no answer, in characters.
const MAX_ASIDE_CHARS: usize = 20_000;
/// Most parts of an answer that are no answer.
const MAX_ASIDES: usize = 200;
/// Longest text within the vendor's answer as it is kept, in characters.
const MAX_RAW_TEXT_CHARS: usize = 20_000;
/// Most members of a list or object of the vendor's answer as it is kept.
const MAX_RAW_MEMBERS: usize = 1_000;
/// Members that are of no use to anybody but the vendor.
const OPAQUE: [&str; 4] = [
    "encrypted_content",
    "encrypted_index",
    "thoughtSignature",
    "sdkBlob",
];

/// Way in which a vendor's answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The engine was done.
    Done,
    /// A filter or the engine itself refused.
    Refused,
    /// A limit cut it.
    Cut,
    /// The engine waits to be told to go on.
    Paused,
}

/// Page that an engine names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Source<'a> {
    pub url: &'a str,
    pub title: Option<&'a str>,
}

impl<'a> Source<'a> {
    /// Reads an object with an address and, perhaps, a title.
    pub fn read(of: &'a Value) -> Self {
        Self {
            url: text_of(of, "url"),
            title: of.get("title").and_then(Value::as_str),
        }
    }
}

/// Parts of an answer that were read so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub text: String,
    chars: usize,
    is_cut: bool,
    cited: Vec<RawCitation>,
    retrieved: Vec<RawCitation>,
    queries: Vec<String>,
    asides: Vec<Aside>,
    pub search_performed: Option<bool>,
    pub searches: Option<u32>,
    served_model: Option<String>,
    has_tokens: bool,
    pub usage: Usage,
}

impl Draft {
    /// Appends text and returns its place. What is beyond the limit is dropped.
    pub fn push_text(&mut self, text: &str) -> TextSpan {
        let start = self.chars;
        let room = MAX_TEXT_CHARS - self.chars;
        let mut taken = 0;
        for c in text.chars().take(room) {
            self.text.push(storable(c));
            taken += 1;
        }
        self.is_cut |= text.chars().nth(taken).is_some();
        self.chars += taken;
        TextSpan {
            start,
            end: self.chars,
        }
    }

    /// Adds a page that the answer cites. A place outside the text is no place.
    pub fn cite(&mut self, source: Source<'_>, inline: bool, span: Option<TextSpan>) {
        if self.cited.len() == MAX_CITATIONS || page(source.url).is_none() {
            return;
        }
        let span = span.filter(|span| span.start < span.end && span.end <= self.chars);
        let start = span.map(|span| span.start);
        let is_known =
            |known: &RawCitation| known.url == source.url && (start.is_none() || known.start == start);
        if !self.cited.iter().any(is_known) {
            self.cited.push(RawCitation {
                inline,
                cited: true,
                start,
                end: span.map(|span| span.end),
                ..retrieved(source)
            });
        }
    }

    /// Adds a page that the engine read; it is dropped at the end if the answer cites it.
    pub fn retrieve(&mut self, source: Source<'_>) {
        if self.retrieved.len() < 2 * MAX_CITATIONS && page(source.url).is_some() {
            self.retrieved.push(retrieved(source));
        }
    }

    /// Cites every page whose address is in the text.
    pub fn cite_links(&mut self) {
        for link in find_links(&self.text.clone()).into_iter().take(MAX_CITATIONS) {
            let source = Source {
                url: &link.url,
                title: link.title.as_deref(),
            };
            self.cite(source, true, Some(link.span));
        }
    }

    /// Whether the answer cites anything yet.
    pub fn has_citations(&self) -> bool {
        !self.cited.is_empty()
    }

    /// Adds a query that the engine searched for.
    pub fn push_query(&mut self, query: &str) {
        let query = bounded_text(query, MAX_LABEL_CHARS);
        if !query.trim().is_empty() && self.queries.len() < MAX_CITATIONS && !self.queries.contains(&query) {
            self.queries.push(query);
        }
    }

    /// Adds a part that is no answer.
    pub fn push_aside(&mut self, aside: Aside) {
        if self.asides.len() < MAX_ASIDES {
            self.asides.push(Aside {
                text: bounded_text(&aside.text, MAX_ASIDE_CHARS),
                url: aside.url.filter(|url| page(url).is_some()),
                ..aside
            });
        }
    }

    /// Sets the model that answered.
    pub fn serve(&mut self, model: Option<&Value>) {
        let name = model.and_then(Value::as_str).filter(|name| !name.is_empty());
        self.served_model = name.map(|name| bounded_text(name, MAX_LABEL_CHARS));
    }

    /// Adds the searches of a request.
    pub fn add_searches(&mut self, count: u64) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.searches = Some(self.searches.unwrap_or(0).saturating_add(count));
    }

    /// Adds the tokens of a request. A sum with an unknown part is unknown.
    pub fn add_tokens(&mut self, input: Option<u64>, output: Option<u64>) {
        let is_first = !std::mem::replace(&mut self.has_tokens, true);
        let add = |sum: Option<u64>, more: Option<u64>| match sum {
            _ if is_first => more,
            sum => Some(sum?.saturating_add(more?)),
        };
        self.usage.input_tokens = add(self.usage.input_tokens, input);
        self.usage.output_tokens = add(self.usage.output_tokens, output);
    }

    /// Returns what came before an error, with its price as far as it is known.
    pub fn partial(&self, tariff: Tariff) -> Partial {
        Partial {
            text: self.text.clone(),
            usage: self.priced(tariff),
        }
    }

    /// Ends the answer.
    pub fn finish(mut self, ending: Ending, tariff: Tariff, raw: Value, latency: Duration) -> EngineAnswer {
        let usage = self.priced(tariff);
        let status = match ending {
            Ending::Refused => AnswerStatus::Refused,
            Ending::Cut | Ending::Paused => AnswerStatus::Incomplete,
            Ending::Done if self.text.trim().is_empty() => AnswerStatus::Empty,
            Ending::Done => AnswerStatus::Ok,
        };
        self.cited
            .sort_by_key(|citation| citation.start.unwrap_or(usize::MAX));
        EngineAnswer {
            status,
            citations: self.take_citations(),
            text: self.text,
            is_cut: self.is_cut,
            fanout_queries: self.queries,
            search_performed: self.search_performed,
            searches: self.searches,
            served_model: self.served_model,
            asides: self.asides,
            usage,
            latency,
            raw: bounded_raw(raw),
        }
    }

    /// The price the vendor named, else the one of the tariff.
    fn priced(&self, tariff: Tariff) -> Usage {
        let cost = || tariff.cost(self.usage, self.searches);
        Usage {
            cost_micros_usd: self.usage.cost_micros_usd.or_else(cost),
            ..self.usage
        }
    }

    fn take_citations(&mut self) -> Vec<RawCitation> {
        let mut citations = std::mem::take(&mut self.cited);
        let mut known: HashSet<_> = citations.iter().filter_map(|c| page_form(&c.url)).collect();
        for citation in std::mem::take(&mut self.retrieved) {
            let is_new = page_form(&citation.url).is_some_and(|form| known.insert(form));
            if is_new && citations.len() < MAX_CITATIONS {
                citations.push(citation);
            }
        }
        citations
    }
}

/// A page that is retrieved and not cited.
fn retrieved(source: Source<'_>) -> RawCitation {
    let title = source
        .title
        .map(|title| bounded_text(title.trim(), MAX_LABEL_CHARS));
    RawCitation {
        url: source.url.to_owned(),
        title: title.filter(|title| !title.is_empty()),
        inline: false,
        cited: false,
        start: None,
        end: None,
    }
}

/// US dollars of a vendor in millionths, rounded up; `None` for what is no price.
pub(super) fn micros(dollars: Option<&Value>) -> Option<u64> {
    let dollars = dollars?.as_f64().filter(|d| (0.0..1e6).contains(d))?;
    Some((dollars * 1e6).ceil() as u64)
}

/// A list of an object; empty if there is none.
pub(super) fn list_of<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A text of an object; empty if there is none.
pub(super) fn text_of<'a>(of: &'a Value, name: &str) -> &'a str {
    of.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Databases store no NUL.
fn storable(c: char) -> char {
    if c == '\0' { char::REPLACEMENT_CHARACTER } else { c }
}

fn bounded_text(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).map(storable).collect()
}

/// The vendor's answer as it is kept.
fn bounded_raw(raw: Value) -> Value {
    let raw = shorten(raw);
    let bytes = raw.to_string().len();
    if bytes <= MAX_RAW_BYTES {
        return raw;
    }
    let is_short = |value: &Value| !value.is_array() && value.to_string().len() <= 1_000;
    let mut kept = json!({ "truncated": true, "bytes": bytes });
    if let (Value::Object(kept), Value::Object(all)) = (&mut kept, raw) {
        kept.extend(all.into_iter().filter(|(_, value)| is_short(value)).take(50));
    }
    kept
}

fn shorten(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(bounded_text(&text, MAX_RAW_TEXT_CHARS)),
        Value::Array(all) => all.into_iter().take(MAX_RAW_MEMBERS).map(shorten).collect(),
        Value::Object(all) => {
            let known = all
                .into_iter()
                .filter(|(name, _)| !OPAQUE.contains(&name.as_str()));
            let members = known
                .take(MAX_RAW_MEMBERS)
                .map(|(name, value)| (bounded_text(&name, MAX_LABEL_CHARS), shorten(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(draft: Draft) -> EngineAnswer {
        draft.finish(Ending::Done, Tariff::default(), Value::Null, Duration::ZERO)
    }

    fn source(url: &str) -> Source<'_> {
        Source { url, title: None }
    }

    #[test]
    fn text_is_cut_at_its_limit_and_says_so() {
        let mut draft = Draft::default();
        let whole = "é".repeat(MAX_TEXT_CHARS - 1);
        assert_eq!(draft.push_text(&whole).end, MAX_TEXT_CHARS - 1);
        let last = draft.push_text("a\0b");
        assert_eq!((last.start, last.end), (MAX_TEXT_CHARS - 1, MAX_TEXT_CHARS));
        let answer = finish(draft);
        assert!(answer.is_cut && answer.text.ends_with('a'));
        let mut exact = Draft::default();
        exact.push_text("a\0");
        let answer = finish(exact);
        assert!(!answer.is_cut);
        assert_eq!(answer.text, "a\u{fffd}");
    }

    #[test]
    fn retrieved_pages_are_those_that_are_not_cited() {
        let mut draft = Draft::default();
        draft.push_text("Acme Desk is good.");
        draft.retrieve(source("https://acme.example/desks"));
        draft.retrieve(source("https://bolt.example"));
        draft.retrieve(source("https://bolt.example/"));
        draft.retrieve(source("not an address"));
        let span = TextSpan { start: 0, end: 9 };
        draft.cite(
            source("https://acme.example/desks?utm_source=openai"),
            true,
            Some(span),
        );
        draft.cite(
            source("https://acme.example/desks?utm_source=openai"),
            true,
            Some(span),
        );
        let beyond = TextSpan { start: 5, end: 99 };
        draft.cite(source("https://far.example"), true, Some(beyond));
        draft.cite(source("javascript:alert(1)"), true, None);
        let answer = finish(draft);
        let pages: Vec<_> = answer
            .citations
            .iter()
            .map(|c| (c.url.as_str(), c.cited, c.start))
            .collect();
        assert_eq!(
            pages,
            [
                ("https://acme.example/desks?utm_source=openai", true, Some(0)),
                ("https://far.example", true, None),
                ("https://bolt.example", false, None),
            ]
        );
    }

    #[test]
    fn raw_answer_is_bounded_and_storable() {
        let small = bounded_raw(json!({ "a\0": "b\0", "encrypted_content": "x" }));
        assert_eq!(small, json!({ "a\u{fffd}": "b\u{fffd}" }));
        let many: Vec<Value> = (0..1_000).map(|_| json!("x".repeat(1_000))).collect();
        let large = bounded_raw(json!({ "id": "r1", "output": many, "usage": { "input_tokens": 9 } }));
        assert_eq!(large["id"], "r1");
        assert_eq!(large["usage"]["input_tokens"], 9);
        assert_eq!((&large["truncated"], large.get("output")), (&json!(true), None));
    }

    #[test]
    fn sum_of_tokens_with_an_unknown_part_is_unknown() {
        let mut draft = Draft::default();
        draft.add_tokens(Some(3), None);
        draft.add_tokens(Some(u64::MAX), Some(1));
        assert_eq!(
            (draft.usage.input_tokens, draft.usage.output_tokens),
            (Some(u64::MAX), None)
        );
    }
}
