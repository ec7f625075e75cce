//! `POST /oauth/token` (RFC 6749 section 3.2).

use std::sync::Arc;

use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode};
use searchwright_engine::oauth::{OauthCode, OauthError};

use super::endpoint::{self, Received};
use crate::app::App;

/// Exchanges a code, a refresh token or a device code for tokens.
pub(super) async fn exchange(
    State(app): State<Arc<App>>,
    request: Request<Body>,
) -> Result<Response<Body>, Response<Body>> {
    let Received {
        client,
        parameters,
        address,
    } = endpoint::receive(&app, request).await?;
    let engine = &app.engine;
    let outcome = match parameters.get("grant_type") {
        Some("authorization_code") => {
            engine
                .redeem_code(client, &parameters, &app.resources, &address)
                .await
        }
        Some("refresh_token") => {
            engine
                .refresh(client, &parameters, &app.resources, &address)
                .await
        }
        Some("urn:ietf:params:oauth:grant-type:device_code") => {
            engine.poll_device(&client, &parameters, &address).await
        }
        Some(_) => Ok(Err(OauthError::new(
            OauthCode::UnsupportedGrantType,
            "grant_type has to be authorization_code, refresh_token or urn:ietf:params:oauth:grant-type:device_code",
        ))),
        None => Ok(Err(OauthError::new(
            OauthCode::InvalidRequest,
            "grant_type is missing",
        ))),
    };
    Ok(endpoint::answer(StatusCode::OK, outcome))
}
