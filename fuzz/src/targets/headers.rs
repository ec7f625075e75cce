//! Headers of an answer.

use crate::{answer, judge_page, page};

/// Reads one input.
pub fn run(data: &[u8]) {
    let mut head = data.to_vec();
    head.extend_from_slice(b"\n\n<!doctype html><title>T</title><p>text");
    let (facts, table) = page(&answer(&head));
    let headers = &facts.headers;
    assert!(headers.canonicals.len() <= 20 && headers.robots_tags.len() <= 20);
    for value in [
        &headers.content_type,
        &headers.csp,
        &headers.last_modified,
        &headers.server,
    ] {
        // what is no UTF-8 is replaced, three bytes for one
        assert!(value.as_ref().is_none_or(|value| value.len() <= 3 * 4096));
    }
    judge_page(&facts, table);
}
