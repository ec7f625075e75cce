//! What a request says, apart from who says it: path, query, body and the headers that are arguments.

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
            let mut problem = Problem::new(Code::MalformedRequest, format!("query parameter {name:?} {why}"));
            problem.errors.push(Fault {
                pointer: format!("/{name}"),
                code: "query".to_owned(),
                detail: why.to_owned(),
            });
            problem
        };
        let is_query = endpoint.meta.method.as_str() == "GET" || endpoint.meta.method.as_str() == "DELETE";
        if !is_query || !endpoint.shape.knows(&name) || endpoint.meta.path_parameters().any(|p| p == name) {
            return Err(malformed("is not known here"));
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

/// The entity tags of `If-Match` or `If-None-Match`, without quotes; `*` stays.
pub fn entity_tags(headers: &HeaderMap, name: header::HeaderName) -> Result<Option<Vec<String>>, Problem> {
    let mut tags = Vec::new();
    for value in headers.get_all(&name) {
        let text = value
            .to_str()
            .map_err(|_| Problem::new(Code::MalformedRequest, format!("{name} is not an entity tag")))?;
        for tag in text.split(',').map(str::trim).filter(|t| !t.is_empty()) {
            let tag = if name == header::IF_NONE_MATCH {
                tag.strip_prefix("W/").unwrap_or(tag)
            } else {
                tag
            };
            let weak = tag.strip_prefix("W/");
            match weak
                .unwrap_or(tag)
                .strip_prefix('"')
                .and_then(|t| t.strip_suffix('"'))
            {
                // A weak tag matches nothing where bytes count (RFC 9110, 13.1.1), and is no mistake.
                Some(_) if weak.is_some() => tags.push(tag.to_owned()),
                Some(inner) => tags.push(inner.to_owned()),
                None if tag == "*" => tags.push(tag.to_owned()),
                None => {
                    return Err(Problem::new(
                        Code::MalformedRequest,
                        format!("{name} is not an entity tag in quotes"),
                    ));
                }
            }
        }
    }
    Ok((!tags.is_empty()).then_some(tags))
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
