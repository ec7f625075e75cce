//! `POST /oauth/token` (RFC 6749 section 3.2).

use std::sync::Arc;

use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode};
use searchwright_engine::{identity::connections::NewStep, identity::connections::Step};
use searchwright_people::{oauth::OauthCode, oauth::OauthError};

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
        user_agent,
    } = endpoint::receive(&app, request).await?;
    let (people, id) = (&app.people, client.id.clone());
    let grant_type = parameters.get("grant_type").unwrap_or_default().to_owned();
    let outcome = match parameters.get("grant_type") {
        Some("authorization_code") => {
            people
                .redeem_code(client, &parameters, &app.resources, &address)
                .await
        }
        Some("refresh_token") => {
            people
                .refresh(client, &parameters, &app.resources, &address)
                .await
        }
        Some("urn:ietf:params:oauth:grant-type:device_code") => {
            people.poll_device(&client, &parameters, &address).await
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
    let step = match &outcome {
        Ok(Ok(_)) if grant_type == "refresh_token" => None,
        Ok(Ok(_)) => Some((Step::TokenIssued, None)),
        // A device that waits asks again and again.
        Ok(Err(e)) if matches!(e.code, OauthCode::AuthorizationPending | OauthCode::SlowDown) => None,
        Ok(Err(e)) => Some((Step::TokenRefused, Some(e.description.as_str()))),
        Err(_) => Some((Step::TokenRefused, Some("this server failed; see its log"))),
    };
    if let Some((step, detail)) = step {
        let step = NewStep {
            step,
            address: &address,
            user_agent: &user_agent,
            client: Some(&id),
            user: None,
            detail,
        };
        people.connections.record(&people.clock, step);
    }
    Ok(endpoint::answer(StatusCode::OK, outcome))
}
