//! Documents that are the same for everybody until the server ends: made once, kept, and not sent again to who has them.

use std::collections::HashMap;

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use super::{answer::put, arguments::entity_tags, conditional::tag_of, outgoing::KeptByServer};

/// A document with its entity tag.
#[derive(Debug)]
pub struct KeptDocument {
    body: Bytes,
    tag: String,
}

/// Pages of a website, by their paths.
#[derive(Debug)]
pub struct KeptPages(HashMap<String, KeptDocument>);

impl KeptPages {
    /// Keeps these.
    pub fn new(pages: impl Iterator<Item = (String, String)>) -> Self {
        Self(
            pages
                .map(|(path, html)| (path, KeptDocument::new(html)))
                .collect(),
        )
    }

    /// The page of a path.
    pub fn get(&self, path: &str) -> Option<&KeptDocument> {
        self.0.get(path)
    }
}

impl KeptDocument {
    /// Keeps this.
    pub fn new(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self {
            tag: tag_of(&body),
            body,
        }
    }

    /// The answer to a request with these headers, of this media type.
    pub fn answer(&self, request: &HeaderMap, media_type: &'static str) -> Response<Body> {
        // What is no list of tags names none.
        let tags = entity_tags(request, header::IF_NONE_MATCH).ok().flatten();
        let is_known = tags.is_some_and(|tags| tags.iter().any(|tag| *tag == self.tag || tag == "*"));
        let mut response = Response::new(Body::empty());
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            *response.body_mut() = Body::from(self.body.clone());
            response
                .headers_mut()
                .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        }
        response.extensions_mut().insert(KeptByServer);
        let headers = response.headers_mut();
        put(headers, header::ETAG, &format!("\"{}\"", self.tag));
        headers.insert(
            header::CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=300"),
        );
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        response
    }
}
