//! The manual, served to anyone: pages that load nothing from other hosts and run nothing.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State},
};
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use super::kept::{KeptDocument, KeptPages};
use crate::{
    app::App,
    dashboard::page,
    manual::{self, Location, Website},
};

const HTML: &str = "text/html; charset=utf-8";

/// Serves the first page.
pub async fn serve(State(app): State<Arc<App>>, request: HeaderMap) -> Response<Body> {
    answer(&app, "", &request)
}

/// Serves a page or an image.
pub async fn serve_below(
    State(app): State<Arc<App>>,
    Path(path): Path<String>,
    request: HeaderMap,
) -> Response<Body> {
    answer(&app, &path, &request)
}

fn answer(app: &App, path: &str, request: &HeaderMap) -> Response<Body> {
    if let Some(image) = manual::image(path) {
        return closed(KeptDocument::new(image).answer(request, "image/png"));
    }
    let manual = app.docs.get_or_init(|| {
        let origin = app.settings.public_url.clone();
        let website = Website::new(&app.engine.endpoints, &Location::Server { origin });
        KeptPages::new(website.pages.into_iter().map(|page| (page.path, page.html)))
    });
    match manual.get(path) {
        Some(page) => closed(page.answer(request, HTML)),
        None => page::notice(
            StatusCode::NOT_FOUND,
            "Not found",
            "The manual has no page at this address. It begins at /docs.",
        ),
    }
}

/// A page that loads nothing and runs nothing.
pub(super) fn html(page: String) -> Response<Body> {
    let mut response = Response::new(Body::from(page));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(HTML));
    closed(response)
}

fn closed(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    for (name, value) in [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
