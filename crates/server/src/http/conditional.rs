//! Entity tags of answers (RFC 9110 sections 8.8.3 and 13.1.2): unchanged answers are not sent again.

use http::{Method, StatusCode, header, request::Parts};
use searchwright_contract::Problem;
use searchwright_engine::{Endpoint, Reply};
use sha2::{Digest as _, Sha256};

use super::arguments::entity_tags;

/// Gives a record without a version, which no caller changes, a tag of what it says.
pub(super) fn tag(endpoint: &Endpoint, reply: &mut Reply) {
    let reads = endpoint.meta.method == searchwright_contract::Method::GET;
    if reads && !endpoint.list && reply.status == StatusCode::OK {
        let body = &reply.body;
        reply.head.etag.get_or_insert_with(|| tag_of(body));
    }
}

/// The tag of what a text says.
pub(super) fn tag_of(body: &[u8]) -> String {
    let digest = Sha256::digest(body);
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The tag of an answer that the sender of the request has already.
pub(super) fn unchanged(parts: &Parts, reply: &Reply) -> Result<Option<String>, Problem> {
    let tags = entity_tags(&parts.headers, header::IF_NONE_MATCH)?;
    Ok(match (tags, &reply.head.etag) {
        (Some(tags), Some(etag))
            if parts.method != Method::POST
                && parts.method != Method::PATCH
                && reply.status == StatusCode::OK =>
        {
            tags.iter().any(|t| t == etag || t == "*").then(|| etag.clone())
        }
        _ => None,
    })
}
