//! Adding and removing passkeys.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State},
};
use http::{Request, Response, StatusCode};
use searchwright_contract::ids::PasskeyId;

use super::changed;
use crate::{
    app::App,
    dashboard::{
        page, session,
        sign_in::{json_answer, json_refusal, passkey_site},
    },
};

/// Options with which the browser makes a passkey, for the script.
pub(super) async fn challenge(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let (visitor, ..) = match session::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let Some(by) = app.people.recent(&visitor.session) else {
        return json_refusal(
            StatusCode::FORBIDDEN,
            "Your last sign-in was more than 15 minutes ago. Reload the page and confirm that it is you.",
        );
    };
    let Some(site) = passkey_site(&app) else {
        return json_refusal(
            StatusCode::NOT_FOUND,
            "Passkeys do not work at the address of this server.",
        );
    };
    match app.people.begin_passkey(&site, &by, &visitor.session).await {
        Ok(options) => json_answer(StatusCode::OK, &options),
        Err(failure) => {
            let status = StatusCode::from_u16(failure.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            if status.is_server_error() {
                tracing::warn!(%failure, "a passkey could not be begun");
                return json_refusal(
                    status,
                    "The server cannot do this right now. Try again in a minute.",
                );
            }
            json_refusal(status, &page::sentence(&failure))
        }
    }
}

/// Adds the passkey that the browser made.
pub(super) async fn add(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let received = match session::receive_privileged(&app, request, "/account").await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let Some(site) = passkey_site(&app) else {
        return page::see_other("/account");
    };
    let (name, credential) = (received.form.get("name"), received.form.get("credential"));
    let outcome = app
        .people
        .add_passkey(&site, &received.by, name, credential, &received.caller)
        .await;
    changed(&app, &received.visitor, outcome).await
}

/// Removes a passkey.
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Path(passkey): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let received = match session::receive_privileged(&app, request, "/account").await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let Ok(passkey) = PasskeyId::parse(&passkey) else {
        return page::see_other("/account");
    };
    let outcome = app
        .people
        .remove_passkey(&received.by, passkey, &received.caller)
        .await;
    changed(&app, &received.visitor, outcome).await
}
