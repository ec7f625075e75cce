//! Lines of `X-Robots-Tag` or, after a `<`, of meta robots.

use http::{HeaderMap, HeaderValue};
use searchwright_site::page::{directives, not_indexable};

use crate::{page, response};

/// Reads one input.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (mut headers, mut body) = (HeaderMap::new(), String::from("<html><head>"));
    for line in text.lines() {
        match line.strip_prefix('<') {
            Some(content) => {
                let content = content.replace('"', "&quot;");
                body.push_str(&format!("<meta name=robots content=\"{content}\">"));
            }
            None => headers.extend(
                HeaderValue::from_str(line)
                    .ok()
                    .map(|v| (http::HeaderName::from_static("x-robots-tag"), v)),
            ),
        }
    }
    body.push_str("</head><p>text");
    headers.insert(
        "content-type",
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    let (facts, _) = page(&response(200, headers, body.as_bytes()));
    let found = directives(&facts);
    let bare = |content: &str| {
        content
            .split(',')
            .any(|part| part.trim().eq_ignore_ascii_case("noindex"))
    };
    let metas = &facts.html.as_ref().expect("HTML").metas;
    if metas.iter().any(|meta| bare(&meta.content)) && !found.meta.unavailable_after.is_some() {
        assert!(found.meta.noindex);
    }
    if found.noindex() {
        assert!(not_indexable(&facts).is_some());
    }
}
