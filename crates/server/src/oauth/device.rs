//! `POST /oauth/device`: device authorization (RFC 8628 section 3.1). The page for the person is in the dashboard.

use std::sync::Arc;

use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode};

use super::endpoint;
use crate::app::App;

/// Begins a device authorization.
pub(super) async fn begin(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let received = match endpoint::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return response,
    };
    let begun = app
        .engine
        .begin_device(
            &received.client,
            &received.parameters,
            &app.resources,
            &received.address,
        )
        .await;
    match begun {
        Ok(Ok(answer)) => endpoint::json(StatusCode::OK, &answer),
        Ok(Err(error)) => endpoint::error(&error),
        Err(failure) => endpoint::failed(&failure),
    }
}
