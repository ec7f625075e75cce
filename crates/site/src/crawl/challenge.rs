//! Challenges of firewalls, which take the place of a page.

use http::HeaderMap;

/// Whether the response is a Cloudflare challenge according to its `cf-mitigated` header, whatever its status.
pub(super) fn is_challenge(headers: &HeaderMap) -> bool {
    let mitigated = headers.get("cf-mitigated");
    mitigated.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"challenge"))
}
