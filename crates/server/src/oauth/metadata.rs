//! Metadata of the authorization server (RFC 8414) and of the protected resources (RFC 9728).

use std::sync::Arc;

use axum::{Router, body::Body, extract::State, routing};
use http::{HeaderValue, Request, Response, StatusCode, header};
use searchwright_contract::Scope;
use searchwright_engine::{
    identity::connections::NewStep, identity::connections::Step,
    identity::oauth::client_metadata::DocumentPolicy,
};
use searchwright_people::{oauth::OFFLINE_ACCESS, oauth::read_scopes};
use serde_json::{Value, json};

use super::endpoint;
use crate::app::App;

fn public(value: &Value) -> Response<Body> {
    let mut response = endpoint::json(StatusCode::OK, value);
    let headers = response.headers_mut();
    headers.remove(header::PRAGMA);
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    response
}

fn record(app: &App, request: &Request<Body>, step: Step) {
    let step = NewStep {
        step,
        address: &endpoint::peer(request).to_string(),
        user_agent: &endpoint::user_agent(request.headers()),
        client: None,
        user: None,
        detail: None,
    };
    app.people.connections.record(&app.engine.clock, step);
}

/// `/.well-known/oauth-authorization-server`.
pub(super) async fn authorization_server(
    State(app): State<Arc<App>>,
    request: Request<Body>,
) -> Response<Body> {
    record(&app, &request, Step::ReadServer);
    let issuer = &app.resources.issuer;
    let mut scopes: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
    scopes.push(OFFLINE_ACCESS);
    let auth_methods = ["none", "client_secret_basic", "client_secret_post"];
    let clients = &app.people.accounts().clients;
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/oauth/authorize"),
        "token_endpoint": format!("{issuer}/oauth/token"),
        "registration_endpoint": format!("{issuer}/oauth/register"),
        "revocation_endpoint": format!("{issuer}/oauth/revoke"),
        "introspection_endpoint": format!("{issuer}/oauth/introspect"),
        "device_authorization_endpoint": format!("{issuer}/oauth/device"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": auth_methods,
        "revocation_endpoint_auth_methods_supported": auth_methods,
        "introspection_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "scopes_supported": scopes,
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": clients.documents != DocumentPolicy::Off,
        "protected_resources": [app.settings.base_url(), app.settings.mcp_url],
        "service_documentation": format!("{issuer}/docs"),
    });
    if !clients.may_register
        && let Some(members) = metadata.as_object_mut()
    {
        members.shift_remove("registration_endpoint");
    }
    public(&metadata)
}

fn resource(app: &App, resource: &str, name: &str) -> Response<Body> {
    public(&json!({
        "resource": resource,
        "authorization_servers": [app.resources.issuer],
        "scopes_supported": read_scopes(),
        "bearer_methods_supported": ["header"],
        "resource_name": name,
        "resource_documentation": format!("{}/docs", app.resources.issuer),
    }))
}

/// `/.well-known/oauth-protected-resource/v1`.
pub(super) async fn api(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    record(&app, &request, Step::ReadResource);
    resource(&app, &app.settings.base_url(), "Searchwright HTTP API")
}

/// Metadata of MCP, on its own listener.
async fn mcp(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    record(&app, &request, Step::ReadResource);
    resource(&app, &app.settings.mcp_url, "Searchwright MCP")
}

/// Metadata on the listener of MCP: below the path of the resource, and at the root, where older clients look.
pub fn mcp_routes(path: &str) -> Router<Arc<App>> {
    const ROOT: &str = "/.well-known/oauth-protected-resource";
    let get = || routing::get(mcp).options(endpoint::preflight);
    // Clients of the revision of March 2025 ask the resource itself for the authorization server.
    let server = routing::get(authorization_server).options(endpoint::preflight);
    Router::new()
        .route(ROOT, get())
        .route(&format!("{ROOT}{path}"), get())
        .route("/.well-known/oauth-authorization-server", server)
}
