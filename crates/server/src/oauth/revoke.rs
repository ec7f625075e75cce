//! `POST /oauth/revoke` (RFC 7009).

use std::sync::Arc;

use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode};
use serde_json::json;

use super::endpoint;
use crate::app::App;

/// Revokes a token. A token that is unknown is revoked already.
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    request: Request<Body>,
) -> Result<Response<Body>, Response<Body>> {
    let received = endpoint::receive(&app, request).await?;
    let token = received
        .parameters
        .need("token")
        .map_err(|e| endpoint::error(&e))?;
    let done = app
        .people
        .revoke_token(&received.client, token, &received.address)
        .await;
    Ok(endpoint::answer(StatusCode::OK, done.map(|()| Ok(json!({})))))
}
