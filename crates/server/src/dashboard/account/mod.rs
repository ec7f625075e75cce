//! The page of a person: name, password, second factor, passkeys, sessions, workspaces, applications and recent events.

mod passkeys;
mod second_factor;

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    routing::{get, post},
};
use http::{Request, Response, StatusCode};
use searchwright_contract::{
    ids::{CredentialId, SessionId},
    me::AccessibleProject,
};
use searchwright_engine::Failure;
use searchwright_people::account::Account;

use super::{
    page::{self, Form, Layout, minute},
    session::{self, Visitor},
    sign_in::passkey_site,
};
use crate::app::App;

/// The pages below `/account`.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/account", get(show))
        .route("/account/name", post(rename))
        .route("/account/password", post(set_password))
        .route("/account/second-factor", get(second_factor::show))
        .route("/account/second-factor/begin", post(second_factor::begin))
        .route("/account/second-factor/confirm", post(second_factor::confirm))
        .route("/account/second-factor/remove", post(second_factor::remove))
        .route("/account/recovery-codes", post(second_factor::renew_codes))
        .route("/account/passkeys", post(passkeys::add))
        .route("/account/passkeys/challenge", post(passkeys::challenge))
        .route("/account/passkeys/{passkey}/remove", post(passkeys::remove))
        .route("/account/sessions/end-others", post(end_other_sessions))
        .route("/account/sessions/{session}/end", post(end_session))
        .route("/account/applications/{grant}/revoke", post(revoke))
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountView<'a> {
    layout: Layout,
    name: &'a str,
    email: &'a str,
    session: SessionId,
    account: Account,
    projects: Vec<AccessibleProject>,
    mcp_url: &'a str,
    csrf: String,
    /// Whether the last sign-in permits privileged actions.
    is_recent: bool,
    /// Script for passkeys, where browsers can make them.
    passkey_script: Option<&'static str>,
    remark: Remark<'a>,
}

/// Outcome of the form that led to the page.
#[derive(Clone, Copy)]
enum Remark<'a> {
    None,
    Saved,
    Wrong(&'a str),
}

/// An event as it is shown.
fn event(action: &str) -> &str {
    match action {
        "session.created" => "Signed in",
        "session.ended" => "Signed out",
        "sign_in.failed" => "Failed sign-in",
        "password.set" => "Password changed",
        "second_factor.added" => "Second factor added",
        "second_factor.removed" => "Second factor removed",
        "recovery_codes.created" => "New recovery codes",
        "passkey.added" => "Passkey added",
        "passkey.removed" => "Passkey removed",
        "password_reset.mailed" => "Link for a new password mailed",
        "password_reset.mail_failed" => "Link for a new password could not be mailed",
        "invitation.created" => "Invited somebody",
        "invitation.withdrawn" => "Invitation withdrawn",
        "invitation.accepted" => "Invitation accepted",
        "user.created" => "Account created",
        "user.disabled" => "Account disabled",
        "user.enabled" => "Account enabled",
        "member.set" => "Membership changed",
        "member.removed" => "Membership ended",
        "access.denied" => "Refused a call",
        "grant.created" => "Application connected",
        "grant.denied" => "Application declined",
        "grant.revoked" => "Access ended",
        "tokens.issued" => "Access used",
        "token.revoked" => "Token given back",
        "oauth.code_reuse_detected" | "oauth.refresh_reuse_detected" => "Copied token: access ended",
        other => other,
    }
}

/// The name of a browser, from its `User-Agent`.
fn browser(user_agent: &str) -> &str {
    const NAMES: [(&str, &str); 6] = [
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("curl/", "curl"),
    ];
    let known = NAMES.iter().find(|(part, _)| user_agent.contains(part));
    known.map_or("Another program", |(_, name)| name)
}

/// Shows the page. `wrong` says why a form was refused.
async fn view(app: &App, visitor: &Visitor, status: StatusCode, remark: Remark<'_>) -> Response<Body> {
    let user = visitor.session.user;
    let loaded = async {
        let account = app.people.account(user).await?;
        Ok::<_, Failure>((account, app.people.projects_of_user(user).await?))
    };
    let (account, projects) = match loaded.await {
        Ok(loaded) => loaded,
        Err(failure) => return page::failed(&failure),
    };
    let view = AccountView {
        layout: Layout::new("Your account"),
        name: &visitor.session.user_name,
        email: &visitor.session.email,
        session: visitor.session.id,
        account,
        projects,
        mcp_url: &app.settings.mcp_url,
        csrf: visitor.csrf(),
        is_recent: app.people.recent(&visitor.session).is_some(),
        passkey_script: passkey_site(app).map(|_| page::passkey_script()),
        remark,
    };
    let has_script = view.passkey_script.is_some() && view.is_recent;
    page::respond(status, &view, Form::own(has_script))
}

async fn show(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let remark = if request.uri().query() == Some("saved") {
        Remark::Saved
    } else {
        Remark::None
    };
    match session::need_visitor(&app, request.headers(), "/account").await {
        Ok(visitor) => view(&app, &visitor, StatusCode::OK, remark).await,
        Err(response) => *response,
    }
}

/// Leads back to the page after a change; shows the reason on it if the form was refused.
async fn changed(app: &App, visitor: &Visitor, outcome: Result<(), Failure>) -> Response<Body> {
    match outcome {
        Ok(()) => page::see_other("/account?saved"),
        Err(failure) if matches!(failure.0.status, 409 | 422) => {
            let status = StatusCode::from_u16(failure.0.status).unwrap_or(StatusCode::CONFLICT);
            view(app, visitor, status, Remark::Wrong(&page::sentence(&failure))).await
        }
        Err(failure) => page::failed(&failure),
    }
}

async fn rename(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let (visitor, form, _) = match session::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let outcome = app.people.rename_user(&visitor.session, form.get("name")).await;
    changed(&app, &visitor, outcome).await
}

async fn set_password(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let received = match session::receive_privileged(&app, request, "/account").await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let password = received.form.get("password").to_owned();
    let session = &received.visitor.session;
    let outcome = app
        .people
        .set_password(&received.by, session, password, &received.caller)
        .await;
    changed(&app, &received.visitor, outcome).await
}

async fn end_session(
    State(app): State<Arc<App>>,
    Path(ended): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let (visitor, _, caller) = match session::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let Ok(ended) = SessionId::parse(&ended) else {
        return page::see_other("/account");
    };
    let outcome = app.people.end_session(visitor.session.user, ended, &caller).await;
    changed(&app, &visitor, outcome.map(drop)).await
}

async fn end_other_sessions(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let (visitor, _, caller) = match session::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let outcome = app.people.end_other_sessions(&visitor.session, &caller).await;
    changed(&app, &visitor, outcome).await
}

/// Ends the access of an application.
async fn revoke(
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
    let outcome = app
        .people
        .revoke_grant(visitor.session.user, grant, &caller.address)
        .await;
    changed(&app, &visitor, outcome.map(drop)).await
}

#[cfg(test)]
mod tests {
    use super::browser;

    #[test]
    fn browsers_are_named() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
        assert_eq!(browser(chrome), "Chrome");
        assert_eq!(browser(&format!("{chrome} Edg/156.0.0.0")), "Edge");
        assert_eq!(browser(""), "Another program");
    }
}
