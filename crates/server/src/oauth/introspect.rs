//! `POST /oauth/introspect` (RFC 7662), for confidential clients.

use std::sync::Arc;

use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode};

use super::endpoint;
use crate::app::App;

/// Tells a confidential client about an access token.
pub(super) async fn introspect(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let received = match endpoint::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return response,
    };
    let token = match received.parameters.need("token") {
        Ok(token) => token,
        Err(error) => return endpoint::error(&error),
    };
    match app.engine.introspect(&received.client, token).await {
        Ok(Ok(state)) => endpoint::json(StatusCode::OK, &state),
        Ok(Err(error)) => endpoint::error(&error),
        Err(failure) => endpoint::failed(&failure),
    }
}
