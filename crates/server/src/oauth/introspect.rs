//! `POST /oauth/introspect` (RFC 7662), for confidential clients.

use std::sync::Arc;

use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode};

use super::endpoint;
use crate::app::App;

/// Tells a confidential client about an access token.
pub(super) async fn introspect(
    State(app): State<Arc<App>>,
    request: Request<Body>,
) -> Result<Response<Body>, Response<Body>> {
    let received = endpoint::receive(&app, request).await?;
    let token = received
        .parameters
        .need("token")
        .map_err(|e| endpoint::error(&e))?;
    let state = app.people.introspect(&received.client, token).await;
    Ok(endpoint::answer(StatusCode::OK, state))
}
