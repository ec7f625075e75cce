//! `/invitations/{token}`: somebody who was invited joins, with the account they have or a new one.

use std::sync::Arc;

use askama::Template;
use axum::{
    body::Body,
    extract::{Path, State},
};
use http::{Request, Response, StatusCode};
use searchwright_store::invitations::Invitation;

use super::{
    page::{self, Form, Layout},
    session::{self, Visitor},
    sign_in,
};
use crate::app::App;

#[derive(Template)]
#[template(path = "invitation.html")]
struct InvitationView<'a> {
    layout: Layout,
    token: &'a str,
    invitation: &'a Invitation,
    /// Email address and form token of somebody who is signed in.
    visitor: Option<(&'a str, String)>,
    name: &'a str,
    email: &'a str,
    wrong: Option<&'a str>,
}

fn gone() -> Response<Body> {
    page::notice(
        StatusCode::NOT_FOUND,
        "This invitation is no longer valid",
        "It was used or withdrawn, or its week is over. Ask the person who sent it for a new one.",
    )
}

/// The state of the form for a new account.
#[derive(Default)]
struct JoinEntry<'a> {
    name: &'a str,
    email: &'a str,
    wrong: Option<&'a str>,
}

fn view(
    token: &str,
    invitation: &Invitation,
    visitor: Option<&Visitor>,
    status: StatusCode,
    entered: JoinEntry<'_>,
) -> Response<Body> {
    let invited = invitation.email.as_deref().unwrap_or_default();
    let view = InvitationView {
        layout: Layout::new("You are invited"),
        token,
        invitation,
        visitor: visitor.map(|visitor| (visitor.session.email.as_str(), visitor.csrf())),
        name: entered.name,
        email: if entered.email.is_empty() {
            invited
        } else {
            entered.email
        },
        wrong: entered.wrong,
    };
    page::respond(status, &view, Form::Own)
}

/// Shows the invitation.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Path(token): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let visitor = match session::visitor(&app, request.headers()).await {
        Ok(visitor) => visitor,
        Err(response) => return *response,
    };
    match app.people.invitation(&token).await {
        Ok(Some(invitation)) => view(
            &token,
            &invitation,
            visitor.as_ref(),
            StatusCode::OK,
            JoinEntry::default(),
        ),
        Ok(None) => gone(),
        Err(failure) => page::failed(&failure),
    }
}

/// Accepts the invitation with the account that is signed in.
pub(super) async fn accept(
    State(app): State<Arc<App>>,
    Path(token): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let (visitor, _, caller) = match session::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let invitation = match app.people.invitation(&token).await {
        Ok(Some(invitation)) => invitation,
        Ok(None) => return gone(),
        Err(failure) => return page::failed(&failure),
    };
    match app
        .people
        .accept_invitation(&token, &visitor.session, &caller)
        .await
    {
        Ok(()) => page::see_other("/account"),
        Err(failure) if failure.0.status == 409 => gone(),
        Err(failure) if failure.0.status == 422 => {
            let wrong = page::sentence(&failure);
            let entered = JoinEntry {
                wrong: Some(&wrong),
                ..JoinEntry::default()
            };
            view(
                &token,
                &invitation,
                Some(&visitor),
                StatusCode::UNPROCESSABLE_ENTITY,
                entered,
            )
        }
        Err(failure) => page::failed(&failure),
    }
}

/// Accepts the invitation with a new account, and signs it in.
pub(super) async fn join(
    State(app): State<Arc<App>>,
    Path(token): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let caller = session::caller(&request);
    let form = match session::receive_from_anyone(&app, request).await {
        Ok(form) => form,
        Err(response) => return *response,
    };
    let invitation = match app.people.invitation(&token).await {
        Ok(Some(invitation)) => invitation,
        Ok(None) => return gone(),
        Err(failure) => return page::failed(&failure),
    };
    let (name, email) = (form.get("name"), form.get("email"));
    let password = form.get("password").to_owned();
    let joined = app
        .people
        .accept_invitation_as_new(&token, name, email, password, &caller)
        .await;
    match joined {
        Ok(session) => sign_in::signed_in(&app, &session, "/account"),
        Err(failure) if failure.0.status == 409 => gone(),
        Err(failure) if failure.0.status == 422 => {
            let wrong = page::sentence(&failure);
            let entered = JoinEntry {
                name,
                email,
                wrong: Some(&wrong),
            };
            view(
                &token,
                &invitation,
                None,
                StatusCode::UNPROCESSABLE_ENTITY,
                entered,
            )
        }
        Err(failure) => page::failed(&failure),
    }
}
