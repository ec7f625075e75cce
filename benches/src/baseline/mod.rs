//! Baselines: the least code that does the same work as the product, written equally well, without checks, keys,
//! limits or events.

pub mod crawl;
mod keyword;
pub mod postgres;
pub mod receiver;
pub mod sqlite;

use std::{future::Future, net::SocketAddr};

use anyhow::Result;
use axum::{
    Router,
    body::Body,
    http::{Response, StatusCode, header},
};
use serde::Serialize;

pub use keyword::{ROWS, prepared};

/// Runs an axum server until the process is asked to end, on as many threads as there are cores.
fn serve(listen: SocketAddr, router: impl Future<Output = Result<Router>>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let router = router.await?;
        let listener = tokio::net::TcpListener::bind(listen).await?;
        // as the product does it; without, small answers wait for the client's acknowledgement
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, router)
            .with_graceful_shutdown(async {
                let _ = tokio::signal::ctrl_c().await;
            })
            .await?;
        Ok(())
    })
}

/// A JSON answer, or 500 with the reason.
fn answer(status: StatusCode, outcome: Result<impl Serialize>) -> Response<Body> {
    let body = outcome.and_then(|value| Ok(serde_json::to_vec(&value)?));
    let (status, body) = match body {
        Ok(body) => (status, body),
        Err(error) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("{error:#}").into_bytes(),
        ),
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json"),
    );
    response
}
