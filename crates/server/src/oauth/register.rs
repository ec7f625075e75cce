//! `POST /oauth/register`: dynamic client registration (RFC 7591).

use std::sync::Arc;

use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode};
use searchwright_engine::identity::{
    connections::{NewStep, Step},
    redirects,
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::endpoint;
use crate::{app::App, http::rate_limit::Quota};

/// Registrations an hour by host of the redirect URI. Not by network address: the clouds of vendors share theirs.
const PER_HOST: Quota = Quota {
    units: 60,
    window_millis: 3_600_000,
};

/// Registers a public client.
pub(super) async fn register(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let address = endpoint::peer(&request).to_string();
    let user_agent = endpoint::user_agent(request.headers());
    let body = match endpoint::body(request).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    // Only to find the host; what is wrong with the body is said by the engine.
    let parsed: Value = serde_json::from_slice(&body).unwrap_or_default();
    let first = parsed["redirect_uris"][0].as_str().unwrap_or_default();
    let host = Sha256::digest(redirects::host(first)).into();
    let standing = app.registrations.take(host, PER_HOST, app.engine.clock.steady());
    if !standing.allowed {
        return endpoint::too_many(standing.reset);
    }
    let registered = app.people.register_client(&body, &address).await;
    let (step, client, detail) = match &registered {
        Ok(Ok(client)) => (Step::Registered, client["client_id"].as_str(), None),
        Ok(Err(e)) => (Step::RegistrationRefused, None, Some(e.description.as_str())),
        Err(_) => (
            Step::RegistrationRefused,
            None,
            Some("this server failed; see its log"),
        ),
    };
    let step = NewStep {
        step,
        address: &address,
        user_agent: &user_agent,
        client,
        user: None,
        detail,
    };
    app.people.connections.record(&app.engine.clock, step);
    endpoint::answer(StatusCode::CREATED, registered)
}
