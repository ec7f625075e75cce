//! Path and query of a request on the first line, then `If-Match` or `Idempotency-Key` line by line.

use std::sync::LazyLock;

use http::{HeaderMap, HeaderValue, header};
use searchwright_engine::{Endpoint, endpoint};
use searchwright_server::http::arguments::{entity_tags, gather, idempotency_key};

static ENDPOINTS: LazyLock<Vec<Endpoint>> = LazyLock::new(|| endpoint::all().expect("the table compiles"));

/// Reads one input.
pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let endpoint = &ENDPOINTS[usize::from(*first) % ENDPOINTS.len()];
    let (line, rest) = match rest.iter().position(|b| *b == b'\n') {
        Some(end) => (&rest[..end], &rest[end + 1..]),
        None => (rest, &rest[..0]),
    };
    let line = String::from_utf8_lossy(line);
    let (path, query) = line.split_once('?').map_or((&*line, None), |(p, q)| (p, Some(q)));
    if let Ok(all) = gather(endpoint, path, query, serde_json::Map::new()) {
        endpoint.shape.faults(&all.into());
    }
    let mut headers = HeaderMap::new();
    for value in rest
        .split(|b| *b == b'\n')
        .filter_map(|line| HeaderValue::from_bytes(line).ok())
    {
        for name in [header::IF_MATCH, header::IF_NONE_MATCH] {
            headers.append(name, value.clone());
        }
        let mut one = HeaderMap::new();
        one.insert("idempotency-key", value);
        if let Ok(Some(key)) = idempotency_key(&one) {
            assert!((1..=255).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic()));
        }
    }
    for name in [header::IF_MATCH, header::IF_NONE_MATCH] {
        if let Ok(Some(tags)) = entity_tags(&headers, name) {
            assert!(tags.iter().all(|tag| !tag.contains('"')));
        }
    }
}
