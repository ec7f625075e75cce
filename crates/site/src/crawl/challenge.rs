//! Challenges of firewalls that stand in the place of a page.

use http::HeaderMap;

/// Whether Cloudflare says by a header that its challenge stands in the place of the page, whatever the status.
pub(super) fn is_challenge(headers: &HeaderMap) -> bool {
    let mitigated = headers.get("cf-mitigated");
    mitigated.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"challenge"))
}
