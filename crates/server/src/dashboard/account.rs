//! The page of a person: workspaces, connected applications, recent events, and the end of the session.

use std::sync::Arc;

use askama::Template;
use axum::{
    body::Body,
    extract::{Path, State},
};
use http::{Request, Response, StatusCode};
use searchwright_contract::{Instant, ids::CredentialId};
use searchwright_engine::people::account::Account;

use super::{
    page::{self, Form, Layout},
    session,
};
use crate::app::App;

#[derive(Template)]
#[template(path = "account.html")]
struct AccountView {
    layout: Layout,
    name: String,
    email: String,
    account: Account,
    mcp_url: String,
    csrf: String,
}

/// A time as it is shown, to the minute.
fn minute(at: &Instant) -> String {
    let text = at.to_string();
    let day = text.get(..10).unwrap_or_default();
    format!("{day} {} UTC", text.get(11..16).unwrap_or_default())
}

/// An event as it is shown.
fn event(action: &str) -> &str {
    match action {
        "session.created" => "Signed in",
        "session.ended" => "Signed out",
        "sign_in.failed" => "Failed sign-in",
        "user.created" => "Account created",
        "member.set" => "Membership changed",
        "member.removed" => "Membership ended",
        "grant.created" => "Application connected",
        "grant.denied" => "Application declined",
        "grant.revoked" => "Access ended",
        "tokens.issued" => "Access used",
        "token.revoked" => "Token given back",
        "oauth.code_reuse_detected" | "oauth.refresh_reuse_detected" => "Copied token: access ended",
        other => other,
    }
}

/// Shows the page.
pub(super) async fn show(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let visitor = match session::need_visitor(&app, request.headers(), "/account").await {
        Ok(visitor) => visitor,
        Err(response) => return *response,
    };
    match app.engine.account(visitor.session.user).await {
        Ok(account) => {
            let view = AccountView {
                layout: Layout::new("Your account"),
                csrf: visitor.csrf(),
                name: visitor.session.user_name,
                email: visitor.session.email,
                account,
                mcp_url: app.settings.mcp_url.clone(),
            };
            page::respond(StatusCode::OK, &view, Form::Own)
        }
        Err(failure) => page::failed(&failure),
    }
}

/// Ends the access of an application.
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Path(grant): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let (visitor, _, caller) = match session::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let Ok(grant) = CredentialId::parse(&grant) else {
        return page::see_other("/account");
    };
    match app
        .engine
        .revoke_grant(visitor.session.user, grant, &caller.address)
        .await
    {
        Ok(_) => page::see_other("/account"),
        Err(failure) => page::failed(&failure),
    }
}
