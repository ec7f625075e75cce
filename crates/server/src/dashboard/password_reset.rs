//! A forgotten password: `/login/reset` asks for a link by mail, `/login/reset/{token}` sets a new one.

use std::sync::Arc;

use askama::Template;
use axum::{
    body::Body,
    extract::{Path, State},
};
use http::{Request, Response, StatusCode};
use searchwright_people::{password_reset::PasswordReset, sessions::SignIn};

use super::{
    page::{self, Form, Layout},
    session, sign_in,
};
use crate::app::App;

#[derive(Template)]
#[template(path = "password_reset.html")]
struct AskPage {
    layout: Layout,
    sends_mail: bool,
}

#[derive(Template)]
#[template(path = "new_password.html")]
struct NewPasswordPage<'a> {
    layout: Layout,
    token: &'a str,
    reset: &'a PasswordReset,
    wrong: Option<&'a str>,
}

fn no_link() -> Response<Body> {
    page::notice(
        StatusCode::NOT_FOUND,
        "This link is no longer valid",
        "It was used, a newer one was sent, or its hour is over. Ask for a new one at /login/reset.",
    )
}

/// Shows the form that asks for a link, or says who makes one.
pub(super) async fn show(State(app): State<Arc<App>>) -> Response<Body> {
    let view = AskPage {
        layout: Layout::new("Forgotten password"),
        sends_mail: app.people.accounts().mailer.is_some(),
    };
    page::respond(StatusCode::OK, &view, Form::Own)
}

/// Mails a link. The answer is the same whether there is such an account or not.
pub(super) async fn submit(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let caller = session::caller(&request);
    let entered = match session::receive_from_anyone(&app, request).await {
        Ok(entered) => entered,
        Err(response) => return *response,
    };
    let email = entered.get("email").to_owned();
    match app.people.begin_password_reset(&email, &caller).await {
        Ok(None) => {}
        Ok(Some(seconds)) => return sign_in::blocked(seconds),
        Err(failure) => return page::failed(&failure),
    }
    tokio::spawn(async move {
        if let Err(failure) = app.people.mail_password_reset(&email, &caller).await {
            tracing::warn!(%failure, "a link for a new password was not mailed");
        }
    });
    page::notice(
        StatusCode::OK,
        "Look into your mail",
        "If there is an account with this address, a link for a new password is on its way. It works for an hour. If nothing comes, look among the spam, or ask the operator of this server.",
    )
}

/// Shows the form for the new password.
pub(super) async fn show_link(State(app): State<Arc<App>>, Path(token): Path<String>) -> Response<Body> {
    match app.people.find_password_reset(&token).await {
        Ok(Some(reset)) => form(StatusCode::OK, &token, &reset, None),
        Ok(None) => no_link(),
        Err(failure) => page::failed(&failure),
    }
}

fn form(status: StatusCode, token: &str, reset: &PasswordReset, wrong: Option<&str>) -> Response<Body> {
    let view = NewPasswordPage {
        layout: Layout::new("Choose a new password"),
        token,
        reset,
        wrong,
    };
    page::respond(status, &view, Form::Own)
}

/// Sets the new password and signs the person in.
pub(super) async fn submit_link(
    State(app): State<Arc<App>>,
    Path(token): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let caller = session::caller(&request);
    let entered = match session::receive_from_anyone(&app, request).await {
        Ok(entered) => entered,
        Err(response) => return *response,
    };
    let reset = match app.people.find_password_reset(&token).await {
        Ok(Some(reset)) => reset,
        Ok(None) => return no_link(),
        Err(failure) => return page::failed(&failure),
    };
    let password = entered.get("password").to_owned();
    let outcome = app
        .people
        .reset_password(&token, password, entered.get("code"), caller)
        .await;
    match outcome {
        Ok(SignIn::Done(session)) => sign_in::signed_in(&app, &session, "/account"),
        Ok(SignIn::Blocked { seconds }) => sign_in::blocked(seconds),
        Ok(SignIn::Wrong | SignIn::Late | SignIn::NeedsCode(_)) => form(
            StatusCode::UNAUTHORIZED,
            &token,
            &reset,
            Some("The code is wrong, or it was used before. Your password is not changed yet."),
        ),
        Err(failure) if failure.0.status == 422 => form(
            StatusCode::UNPROCESSABLE_ENTITY,
            &token,
            &reset,
            Some(&page::sentence(&failure)),
        ),
        Err(failure) if failure.0.status == 409 => no_link(),
        Err(failure) => page::failed(&failure),
    }
}
