//! The same document in other encodings is the same page.

use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};

use crate::{page, response};

/// Reads one input.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if text.contains('\u{feff}') {
        return;
    }
    let wide = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        std::iter::once(0xfeff)
            .chain(text.encode_utf16())
            .flat_map(bytes)
            .collect()
    };
    let narrow = [b"\xef\xbb\xbf", text.as_bytes()].concat();
    let read = |body: &[u8]| {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
        let html = page(&response(200, headers, body)).0.html;
        html.map(|mut html| {
            html.charset = Default::default();
            html
        })
    };
    let html = read(&narrow);
    assert_eq!(html, read(&wide(u16::to_le_bytes)));
    assert_eq!(html, read(&wide(u16::to_be_bytes)));
}
