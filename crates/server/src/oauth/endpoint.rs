//! Frame of the endpoints for clients: form bodies, client authentication, limits, and the error form of RFC 6749.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::State,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use searchwright_engine::{Failure, identity::connections::NewStep, identity::connections::Step};
use searchwright_people::{oauth::OauthCode, oauth::OauthError, oauth::parameters::Parameters};
use searchwright_store::oauth_clients::OauthClient;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::{
    app::App,
    http::answer as frame,
    listen::{Peer, network},
};

/// Bytes of a body, at most.
pub(super) const MAX_BODY_BYTES: usize = 64 << 10;
/// Time in which a body has to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A request of a client that has authenticated.
pub(super) struct Received {
    pub client: OauthClient,
    pub parameters: Parameters,
    /// Network address of the client.
    pub address: String,
    /// Program of the client.
    pub user_agent: String,
}

/// Network address of a request.
pub(crate) fn peer(request: &Request<Body>) -> IpAddr {
    request
        .extensions()
        .get::<Peer>()
        .map_or(IpAddr::from([0; 4]), |peer| network(peer.0))
}

/// Program that sent a request, as it says itself.
pub(crate) fn user_agent(headers: &HeaderMap) -> String {
    let value = headers.get(header::USER_AGENT);
    value.map_or_else(String::new, |value| {
        String::from_utf8_lossy(value.as_bytes()).into_owned()
    })
}

/// Reads the body of a request. An error is the answer.
pub(super) async fn body(request: Request<Body>) -> Result<axum::body::Bytes, Response<Body>> {
    match tokio::time::timeout(BODY_TIMEOUT, to_bytes(request.into_body(), MAX_BODY_BYTES)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(_)) => Err(refuse(
            StatusCode::PAYLOAD_TOO_LARGE,
            OauthCode::InvalidRequest,
            "the body is larger than 64 KiB, or it ended early",
        )),
        Err(_) => Err(refuse(
            StatusCode::REQUEST_TIMEOUT,
            OauthCode::InvalidRequest,
            "the body did not arrive within 10 seconds",
        )),
    }
}

/// Receives a form and authenticates its client. An error is the answer.
pub(super) async fn receive(app: &App, request: Request<Body>) -> Result<Received, Response<Body>> {
    let from = peer(&request);
    let user_agent = user_agent(request.headers());
    let media = request.headers().get(header::CONTENT_TYPE);
    let media = media.and_then(|v| v.to_str().ok()).unwrap_or_default();
    let is_form = media.split(';').next().is_some_and(|kind| {
        kind.trim()
            .eq_ignore_ascii_case("application/x-www-form-urlencoded")
    });
    if !is_form {
        return Err(refuse(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            OauthCode::InvalidRequest,
            "the body has to be application/x-www-form-urlencoded",
        ));
    }
    let basic = basic_credentials(request.headers()).map_err(|e| error(&e))?;
    let body = body(request).await?;
    let parameters = Parameters::parse(&body).map_err(|e| error(&e))?;
    let is_basic = basic.is_some();
    let (id, secret) = credentials(&parameters, basic).map_err(|e| error(&e))?;
    let (limits, now) = (&app.settings.limits, app.engine.clock.steady());
    let bucket = (Sha256::digest(&id).into(), from);
    let standing = app.oauth_clients.take(bucket, limits.oauth_clients(), now);
    if !standing.allowed {
        return Err(too_many(standing.reset));
    }
    match app.people.authenticate_client(&id, secret.as_deref()).await {
        Ok(Ok(client)) => Ok(Received {
            client,
            parameters,
            address: from.to_string(),
            user_agent,
        }),
        Ok(Err(refusal)) => {
            let step = NewStep {
                step: Step::TokenRefused,
                address: &from.to_string(),
                user_agent: &user_agent,
                client: Some(&id),
                user: None,
                detail: Some(&refusal.description),
            };
            app.people.connections.record(&app.engine.clock, step);
            // Clients that do not exist share the quota of their address.
            let standing = app.strangers.take(from, limits.strangers(), now);
            if !standing.allowed {
                return Err(too_many(standing.reset));
            }
            let mut response = error(&refusal);
            if is_basic {
                let challenge = HeaderValue::from_static("Basic realm=\"oauth\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            Err(response)
        }
        Err(failure) => Err(failed(&failure)),
    }
}

/// Returns id and secret of HTTP Basic (RFC 6749 section 2.3.1).
fn basic_credentials(headers: &HeaderMap) -> Result<Option<(String, String)>, OauthError> {
    let malformed = || OauthError::new(OauthCode::InvalidClient, "the Authorization header is malformed");
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Ok(None);
    };
    let text = value.to_str().map_err(|_| malformed())?;
    let encoded = match text.split_once(' ') {
        Some((scheme, encoded)) if scheme.eq_ignore_ascii_case("basic") => encoded,
        _ => return Err(malformed()),
    };
    let decoded = STANDARD.decode(encoded.trim()).map_err(|_| malformed())?;
    let decoded = String::from_utf8(decoded).map_err(|_| malformed())?;
    let (id, secret) = decoded.split_once(':').ok_or_else(malformed)?;
    let decode = |text: &str| {
        // Form encoding of one value.
        let encoded = format!("v={text}");
        let mut pairs = url::form_urlencoded::parse(encoded.as_bytes());
        pairs.next().map(|(_, value)| value.into_owned())
    };
    Ok(decode(id).zip(decode(secret)))
}

/// Returns id and secret of the client, sent in one way.
fn credentials(
    parameters: &Parameters,
    basic: Option<(String, String)>,
) -> Result<(String, Option<String>), OauthError> {
    let secret = parameters.get("client_secret");
    match basic {
        None => Ok((
            parameters.need("client_id")?.to_owned(),
            secret.map(str::to_owned),
        )),
        Some(_) if secret.is_some() => Err(OauthError::new(
            OauthCode::InvalidRequest,
            "the client authenticates in two ways",
        )),
        Some((id, _)) if parameters.get("client_id").is_some_and(|other| other != id) => Err(
            OauthError::new(OauthCode::InvalidRequest, "client_id is sent twice and differs"),
        ),
        Some((id, secret)) => Ok((id, Some(secret).filter(|secret| !secret.is_empty()))),
    }
}

/// An answer for a client: JSON that no cache keeps and scripts of any origin may read.
pub(super) fn json(status: StatusCode, value: &impl serde::Serialize) -> Response<Body> {
    let mut response = Response::new(Body::from(serde_json::to_vec(value).unwrap_or_default()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    frame::open_to_scripts(headers);
    response
}

/// The answer to an outcome: what was asked for, the error of the client, or a failure of this server.
pub(super) fn answer<T: serde::Serialize>(
    status: StatusCode,
    outcome: Result<Result<T, OauthError>, Failure>,
) -> Response<Body> {
    match outcome {
        Ok(Ok(value)) => json(status, &value),
        Ok(Err(refusal)) => error(&refusal),
        Err(failure) => failed(&failure),
    }
}

/// The answer to an error of the client.
pub(super) fn error(error: &OauthError) -> Response<Body> {
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::BAD_REQUEST);
    refuse(status, error.code, &error.description)
}

fn refuse(status: StatusCode, code: OauthCode, description: &str) -> Response<Body> {
    json(
        status,
        &json!({ "error": code.as_str(), "error_description": description }),
    )
}

/// The answer when a limit is reached.
pub(super) fn too_many(seconds: u32) -> Response<Body> {
    let mut response = refuse(
        StatusCode::TOO_MANY_REQUESTS,
        OauthCode::TemporarilyUnavailable,
        "too many requests; wait for Retry-After seconds",
    );
    response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    response
}

/// The answer when this server failed.
pub(super) fn failed(failure: &Failure) -> Response<Body> {
    tracing::warn!(%failure, "an OAuth request failed");
    let status = StatusCode::from_u16(failure.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let status = if status.is_server_error() {
        status
    } else {
        StatusCode::INTERNAL_SERVER_ERROR
    };
    let mut response = refuse(
        status,
        OauthCode::TemporarilyUnavailable,
        "the server could not carry this out; try again",
    );
    if let Some(seconds) = failure.0.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// Answer to `OPTIONS`.
pub(super) async fn preflight(State(app): State<Arc<App>>) -> Response<Body> {
    frame::options(&app.request_id(), "GET, POST, OPTIONS")
}
