//! Links that work once: `/setup/{token}` for the first account, `/login/{token}` to sign in without a password. Opening one
//! uses nothing up, because mail scanners and previews open links too; its button does.

use std::sync::Arc;

use askama::Template;
use axum::{
    body::Body,
    extract::{Path, State},
};
use http::{Request, Response, StatusCode};

use super::{
    page::{self, Form, Layout},
    session, sign_in,
};
use crate::app::App;

#[derive(Template)]
#[template(path = "setup.html")]
struct Setup<'a> {
    layout: Layout,
    token: &'a str,
    name: &'a str,
    email: &'a str,
    wrong: Option<String>,
}

#[derive(Template)]
#[template(path = "sign_in_link.html")]
struct Link<'a> {
    layout: Layout,
    token: &'a str,
    name: &'a str,
    email: &'a str,
}

fn no_link() -> Response<Body> {
    page::notice(
        StatusCode::NOT_FOUND,
        "This link is no longer valid",
        "It was used, or its day is over. The operator of this server makes a new one: searchwright admin user sign-in-link, or a restart of the server while there is no account yet.",
    )
}

/// Shows the form for the first account.
pub(super) async fn show(State(app): State<Arc<App>>, Path(token): Path<String>) -> Response<Body> {
    match app.people.is_setup_link(&token).await {
        Ok(true) => form(StatusCode::OK, &token, "", "", None),
        Ok(false) => no_link(),
        Err(failure) => page::failed(&failure),
    }
}

fn form(status: StatusCode, token: &str, name: &str, email: &str, wrong: Option<String>) -> Response<Body> {
    let view = Setup {
        layout: Layout::new("Set up the first account"),
        token,
        name,
        email,
        wrong,
    };
    page::respond(status, &view, Form::Own)
}

/// Creates the first account and signs it in.
pub(super) async fn submit(
    State(app): State<Arc<App>>,
    Path(token): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let caller = session::caller(&request);
    let entered = match session::receive_from_anyone(&app, request).await {
        Ok(entered) => entered,
        Err(response) => return *response,
    };
    match app.people.is_setup_link(&token).await {
        Ok(true) => {}
        Ok(false) => return no_link(),
        Err(failure) => return page::failed(&failure),
    }
    let (name, email) = (entered.get("name"), entered.get("email"));
    let password = entered.get("password").to_owned();
    match app.people.set_up(&token, name, email, password, caller).await {
        Ok(session) => sign_in::signed_in(&app, &session, "/account"),
        Err(failure) if failure.0.status == 422 => form(
            StatusCode::UNPROCESSABLE_ENTITY,
            &token,
            name,
            email,
            Some(page::sentence(&failure)),
        ),
        Err(failure) => page::failed(&failure),
    }
}

/// Shows whom a link lets in.
pub(super) async fn show_link(State(app): State<Arc<App>>, Path(token): Path<String>) -> Response<Body> {
    match app.people.user_of_link(&token).await {
        Ok(Some(user)) => {
            let view = Link {
                layout: Layout::new("Sign in"),
                token: &token,
                name: &user.name,
                email: &user.email,
            };
            page::respond(StatusCode::OK, &view, Form::Own)
        }
        Ok(None) => no_link(),
        Err(failure) => page::failed(&failure),
    }
}

/// Signs in the person of a link.
pub(super) async fn submit_link(
    State(app): State<Arc<App>>,
    Path(token): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let caller = session::caller(&request);
    let former = session::cookie(&app, request.headers()).map(str::to_owned);
    if let Err(response) = session::receive_from_anyone(&app, request).await {
        return *response;
    }
    match app
        .people
        .sign_in_by_link(&token, caller, former.as_deref())
        .await
    {
        Ok(session) => sign_in::signed_in(&app, &session, "/account"),
        Err(failure) if failure.0.status == 409 => no_link(),
        Err(failure) => page::failed(&failure),
    }
}
