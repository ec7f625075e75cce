//! A generated website of any size, made while it is fetched.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    net::SocketAddr,
    sync::Arc,
    thread,
};

use anyhow::Result;
use axum::{
    Router,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
};
use xtask::website::{Answer, Made, Order};

/// Body of nginx's answer 404, shortened.
const MISSING: &str = "<!doctype html>\n<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1></body></html>\n";

/// Of every page: none ever changes, though some are refused (see [`refuses`]).
const ETAG: &str = "\"made\"";

/// Serves the website for as long as this process lives; its origin and port.
pub fn serve(pages: u32) -> Result<(String, u16)> {
    let listener = std::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    let site = Arc::new(Made::new(&Order { pages, seed: 1, port }));
    let origin = site.origin();
    // one thread, as nginx has one worker: it shares the machine with what is measured
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let routes = Router::new().fallback(move |uri: Uri, headers: HeaderMap| {
        let known = headers.get(header::IF_NONE_MATCH);
        let is_known = known.is_some_and(|known| known == ETAG);
        let answered = if is_known && refuses(uri.path()) {
            StatusCode::FORBIDDEN.into_response()
        } else if is_known {
            (StatusCode::NOT_MODIFIED, [(header::ETAG, ETAG)]).into_response()
        } else {
            answer(&site, uri.path())
        };
        async { answered }
    });
    thread::spawn(move || {
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, routes).await
        })
    });
    Ok((origin, port))
}

/// One page of a thousand is refused to who knows it already, as in every large site some say nothing on some day: an audit of it
/// looks up what was known of them.
fn refuses(path: &str) -> bool {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish().is_multiple_of(1_000)
}

fn answer(site: &Made, path: &str) -> Response {
    match site.answer(path) {
        Answer::Found { media_type, body } => {
            let media_type = format!("{media_type}; charset=utf-8");
            let headers = [(header::CONTENT_TYPE, media_type.as_str()), (header::ETAG, ETAG)];
            (headers, body).into_response()
        }
        Answer::Redirect { status, target } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, [(header::LOCATION, target)]).into_response()
        }
        Answer::Missing => (StatusCode::NOT_FOUND, axum::response::Html(MISSING)).into_response(),
    }
}
