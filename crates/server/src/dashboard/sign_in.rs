//! Signing in with a password, and signing out.

use std::sync::Arc;

use askama::Template;
use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode, header};
use searchwright_engine::people::sessions::SignIn;

use super::{
    page::{self, Form, Layout},
    session,
};
use crate::app::App;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInForm<'a> {
    layout: Layout,
    next: &'a str,
    email: &'a str,
    is_connecting: bool,
    wrong: Option<String>,
}

fn form(status: StatusCode, next: &str, email: &str, wrong: Option<String>) -> Response<Body> {
    let next = session::next_page(next);
    let view = SignInForm {
        layout: Layout::new("Sign in"),
        next,
        email,
        is_connecting: next.starts_with("/oauth/authorize"),
        wrong,
    };
    page::respond(status, &view, Form::Own)
}

/// Shows the form.
pub(super) async fn show(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let next = session::query_parameter(&request, "next");
    match session::visitor(&app, request.headers()).await {
        Ok(Some(_)) => page::see_other(session::next_page(&next)),
        Ok(None) => form(StatusCode::OK, &next, "", None),
        Err(response) => *response,
    }
}

/// Signs a person in.
pub(super) async fn submit(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let caller = session::caller(&request);
    let former = session::cookie(request.headers()).map(str::to_owned);
    let entered = match session::receive_from_anyone(&app, request).await {
        Ok(entered) => entered,
        Err(response) => return *response,
    };
    let (email, next) = (entered.get("email"), entered.get("next"));
    let password = entered.get("password").to_owned();
    let outcome = app
        .engine
        .sign_in(email, password, caller, former.as_deref())
        .await;
    match outcome {
        Ok(SignIn::Done(token)) => signed_in(&token, next),
        Ok(SignIn::Wrong) => {
            let wrong = "Email address or password is wrong.".to_owned();
            form(StatusCode::UNAUTHORIZED, next, email, Some(wrong))
        }
        Ok(SignIn::Blocked { seconds }) => {
            let minutes = seconds.div_ceil(60);
            let wrong = format!(
                "There were too many failed attempts. Try again in {minutes} minute{}, or let the operator make a link with searchwright admin user sign-in-link.",
                if minutes == 1 { "" } else { "s" }
            );
            let mut response = form(StatusCode::TOO_MANY_REQUESTS, next, email, Some(wrong));
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            response
        }
        Err(failure) => page::failed(&failure),
    }
}

/// Sets the cookie and leads to a page that sees whether the browser kept it.
pub(super) fn signed_in(token: &str, next: &str) -> Response<Body> {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("next", session::next_page(next))
        .finish();
    let mut response = page::see_other(&format!("/login/done?{query}"));
    session::set_cookie(&mut response, token);
    response
}

/// Leads on to the page that a person wanted to see, or says that the browser did not keep the cookie.
pub(super) async fn done(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let next = session::query_parameter(&request, "next");
    match session::visitor(&app, request.headers()).await {
        Ok(Some(_)) => page::see_other(session::next_page(&next)),
        Ok(None) => page::notice(
            StatusCode::BAD_REQUEST,
            "Your browser did not keep the sign-in cookie",
            "You were signed in, but the browser did not send the cookie back. It may block cookies for this address, or refuse them over plain http, as Safari does also for this machine: allow them, use another browser, or serve this address over https.",
        ),
        Err(response) => *response,
    }
}

/// Ends the session.
pub(super) async fn sign_out(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let (visitor, _, caller) = match session::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    if let Err(failure) = app
        .engine
        .sign_out(&visitor.token, &visitor.session, &caller)
        .await
    {
        return page::failed(&failure);
    }
    let mut response = page::see_other("/login");
    session::remove_cookie(&mut response);
    response
}
