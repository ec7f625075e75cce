//! This server as OAuth authorization server, a file per endpoint.

mod authorize;
mod device;
pub(crate) mod endpoint;
mod introspect;
pub mod metadata;
mod register;
mod revoke;
mod token;

use std::sync::Arc;

use axum::{Router, routing};

use crate::{app::App, http};

/// The endpoints.
pub fn routes() -> Router<Arc<App>> {
    let cors = || routing::options(endpoint::preflight);
    Router::new()
        .route(
            "/.well-known/oauth-authorization-server",
            cors().get(metadata::authorization_server),
        )
        .route(
            "/.well-known/oauth-protected-resource/v1",
            cors().get(metadata::api),
        )
        .route(
            "/oauth/authorize",
            routing::get(authorize::ask).post(authorize::decide),
        )
        .route("/oauth/token", cors().post(token::exchange))
        .route("/oauth/register", cors().post(register::register))
        .route("/oauth/revoke", cors().post(revoke::revoke))
        .route("/oauth/introspect", cors().post(introspect::introspect))
        .route("/oauth/device", cors().post(device::begin))
}

/// The addresses of the endpoints while OAuth is off.
pub fn closed_routes() -> Router<Arc<App>> {
    let off = || routing::any(http::off);
    Router::new()
        .route("/oauth/{*rest}", off())
        .route("/.well-known/oauth-authorization-server", off())
        .route("/.well-known/oauth-protected-resource/{*rest}", off())
}
