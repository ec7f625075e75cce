//! Arguments of a request, without its credential: path, query, body and the headers that are arguments.

use http::{HeaderMap, header};
use percent_encoding::percent_decode_str;
use searchwright_contract::{Code, Fault, Problem};
use searchwright_engine::Endpoint;
use serde_json::{Map, Value};

/// Path, query and body as one object. A name that comes twice is refused.
pub fn gather(
    endpoint: &Endpoint,
    path: &str,
    query: Option<&str>,
    body: Map<String, Value>,
) -> Result<Map<String, Value>, Problem> {
    let mut all = Map::new();
    for (template, segment) in endpoint
        .meta
        .path
        .split('/')
        .zip(path.trim_start_matches("/v1").split('/'))
    {
        if let Some(name) = template.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
            // What does not decode names nothing that exists; it is not told apart from other unknown ids.
            let value = percent_decode_str(segment).decode_utf8_lossy().into_owned();
            all.insert(name.to_owned(), value.into());
        }
    }
    let path_names = all.len();
    for pair in query.unwrap_or_default().split('&').filter(|p| !p.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decode(name)?, decode(value)?);
        let malformed = |why: &str| {
            let fault = Fault {
                pointer: format!("/{name}"),
                code: "query".to_owned(),
                detail: why.to_owned(),
            };
            Problem::new(Code::MalformedRequest, format!("query parameter {name:?} {why}"))
                .with_faults(vec![fault])
        };
        let is_query = endpoint.meta.method.as_str() == "GET" || endpoint.meta.method.as_str() == "DELETE";
        if !is_query || !endpoint.shape.knows(&name) || endpoint.meta.path_parameters().any(|p| p == name) {
            return Err(malformed("is unknown"));
        }
        if all.contains_key(&name) {
            return Err(malformed("comes twice"));
        }
        let value = endpoint.shape.read_text(&name, &value);
        all.insert(name, value);
    }
    for (name, value) in body {
        if all.iter().take(path_names).any(|(n, _)| *n == name) {
            return Err(Problem::fault(
                &format!("/{name}"),
                "unknown_field",
                "is named by the path and cannot be given in the body",
            ));
        }
        all.insert(name, value);
    }
    Ok(all)
}

fn decode(text: &str) -> Result<String, Problem> {
    let plus = text.replace('+', " ");
    let bad_escape = plus.match_indices('%').any(|(at, _)| {
        let digits = plus.as_bytes().get(at + 1..at + 3);
        !digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit))
    });
    let decoded = percent_decode_str(&plus).decode_utf8();
    match decoded {
        Ok(text) if !bad_escape && !text.contains('\0') => Ok(text.into_owned()),
        _ => Err(Problem::new(
            Code::MalformedRequest,
            "the query is not valid percent-encoded UTF-8",
        )),
    }
}

/// Longest value of `If-Match` or `If-None-Match`.
pub const MAX_TAGS: usize = 1024;

/// Endings that servers before this one write into a tag when they compress what it is the tag of.
const CODINGS: [&str; 4] = ["gzip", "br", "zstd", "deflate"];

/// The entity tags of `If-Match` or `If-None-Match`, without quotes; `*` stays.
///
/// A weak tag counts as the strong one in it, in `If-Match` too: a tag names a version of a record, never its bytes, and a
/// server before this one that compresses answers makes every tag weak, or adds the coding to it. RFC 9110, 13.1.1, would
/// have clients behind such a server change nothing.
pub fn entity_tags(headers: &HeaderMap, name: header::HeaderName) -> Result<Option<Vec<String>>, Problem> {
    let mut tags = Vec::new();
    for value in headers.get_all(&name) {
        let malformed = || {
            Problem::new(
                Code::MalformedRequest,
                format!("{name} is not `*` or entity tags in quotes"),
            )
        };
        let text = value
            .to_str()
            .ok()
            .filter(|t| t.len() <= MAX_TAGS)
            .ok_or_else(malformed)?;
        let found = tags.len();
        let mut rest = text.trim_matches([' ', '\t', ',']);
        while !rest.is_empty() {
            let (tag, after) = split_tag(rest).ok_or_else(malformed)?;
            tags.push(without_coding(tag.strip_prefix("W/").unwrap_or(tag)).replace('"', ""));
            let more = after.trim_start_matches([' ', '\t']);
            if !more.is_empty() && !more.starts_with(',') {
                return Err(malformed());
            }
            rest = more.trim_start_matches([' ', '\t', ',']);
        }
        if tags.len() == found {
            return Err(malformed());
        }
    }
    Ok((!tags.is_empty()).then_some(tags))
}

/// A tag without the ending that says how the answer was compressed.
fn without_coding(tag: &str) -> &str {
    let Some(inner) = tag.strip_suffix('"') else {
        return tag;
    };
    let coded = CODINGS
        .iter()
        .find_map(|coding| inner.strip_suffix(coding)?.strip_suffix(['-', ';']));
    coded.map_or(tag, |plain| plain.trim_end_matches('-'))
}

/// The first entity tag, or `*`, and what follows it. A comma inside quotes belongs to the tag.
fn split_tag(text: &str) -> Option<(&str, &str)> {
    let quoted = text.strip_prefix("W/").unwrap_or(text);
    let length = match quoted.strip_prefix('"') {
        Some(inner) => {
            text.len() - inner.len()
                + inner
                    .find(['"', ' ', '\t'])
                    .filter(|at| inner[*at..].starts_with('"'))?
                + 1
        }
        None => usize::from(text.starts_with('*')),
    };
    text.split_at_checked(length).filter(|_| length > 0)
}

/// The value of `Idempotency-Key`.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let invalid = || {
        Problem::new(
            Code::InvalidIdempotencyKey,
            "has to be one value of 1 to 255 visible ASCII characters",
        )
    };
    let text = value.to_str().map_err(|_| invalid())?.trim();
    let text = text
        .strip_prefix('"')
        .and_then(|t| t.strip_suffix('"'))
        .unwrap_or(text);
    let good = !text.is_empty() && text.len() <= 255 && text.bytes().all(|b| b.is_ascii_graphic());
    if !good || values.next().is_some() {
        return Err(invalid());
    }
    Ok(Some(text.to_owned()))
}
