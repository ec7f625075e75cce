//! `POST /oauth/device`: device authorization (RFC 8628 section 3.1). The page for the person is in the dashboard.

use std::sync::Arc;

use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode};

use super::endpoint;
use crate::app::App;

/// Begins a device authorization.
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    request: Request<Body>,
) -> Result<Response<Body>, Response<Body>> {
    let received = endpoint::receive(&app, request).await?;
    let begun = app
        .people
        .begin_device(
            &received.client,
            &received.parameters,
            &app.resources,
            &received.address,
        )
        .await;
    Ok(endpoint::answer(StatusCode::OK, begun))
}
