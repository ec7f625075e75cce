//! JSON-LD in a page that shows some of what it says.

use crate::{answer, judge_bounded, page};

/// Reads one input.
pub fn run(data: &[u8]) {
    let mut document = b"content-type: text/html; charset=utf-8\n\n<!doctype html><title>Lamp</title><script type=application/ld+json>".to_vec();
    document.extend_from_slice(data);
    document.extend_from_slice(b"</script><h1>Lamp</h1><p>Costs 10.00 EUR, by Ann, 2026-05-01");
    let (facts, table) = page(&answer(&document));
    judge_bounded(&facts, table);
}
