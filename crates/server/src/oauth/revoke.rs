//! `POST /oauth/revoke` (RFC 7009).

use std::sync::Arc;

use axum::{body::Body, extract::State};
use http::{Request, Response};

use super::endpoint;
use crate::app::App;

/// Revokes a token. A token that is unknown is revoked already.
pub(super) async fn revoke(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let received = match endpoint::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return response,
    };
    let token = match received.parameters.need("token") {
        Ok(token) => token,
        Err(error) => return endpoint::error(&error),
    };
    let done = app
        .engine
        .revoke_token(&received.client, token, &received.address)
        .await;
    match done {
        Ok(()) => endpoint::done(),
        Err(failure) => endpoint::failed(&failure),
    }
}
