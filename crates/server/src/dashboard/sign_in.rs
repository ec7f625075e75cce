//! Signing in with a password, the code of a second factor or a passkey, and signing out.

use std::sync::Arc;

use askama::Template;
use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode, header};
use searchwright_people::{passkeys::PasskeySite, sessions::SignIn};
use serde_json::json;

use super::{
    page::{self, Form, Layout},
    session,
};
use crate::{app::App, oauth::endpoint::peer};

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInForm<'a> {
    layout: Layout,
    next: &'a str,
    email: &'a str,
    is_again: bool,
    is_connecting: bool,
    wrong: Option<&'a str>,
    passkey_script: Option<&'static str>,
}

#[derive(Template)]
#[template(path = "code.html")]
struct CodeForm<'a> {
    layout: Layout,
    sign_in: &'a str,
    next: &'a str,
    wrong: Option<&'a str>,
}

/// Site for which this server makes passkeys.
pub(super) fn passkey_site(app: &App) -> Option<PasskeySite> {
    PasskeySite::new(&app.settings.public_url)
}

/// The state of the form.
#[derive(Clone, Copy, Default)]
struct SignInEntry<'a> {
    next: &'a str,
    email: &'a str,
    is_again: bool,
    wrong: Option<&'a str>,
}

fn form(app: &App, status: StatusCode, entered: SignInEntry<'_>) -> Response<Body> {
    let next = session::next_page(entered.next);
    let passkey_script = passkey_site(app).map(|_| page::passkey_script());
    let view = SignInForm {
        layout: Layout::new("Sign in"),
        next,
        email: entered.email,
        is_again: entered.is_again,
        is_connecting: next.starts_with("/oauth/authorize"),
        wrong: entered.wrong,
        passkey_script,
    };
    page::respond(status, &view, Form::own(passkey_script.is_some()))
}

/// Shows the form. To somebody who is signed in only if they are to sign in again.
pub(super) async fn show(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let next = session::query_parameter(&request, "next");
    let is_again = session::query_parameter(&request, "again") == "1";
    match session::visitor(&app, request.headers()).await {
        Ok(Some(visitor)) if is_again => {
            let entered = SignInEntry {
                next: &next,
                email: &visitor.session.email,
                is_again,
                wrong: None,
            };
            form(&app, StatusCode::OK, entered)
        }
        Ok(Some(_)) => page::see_other(session::next_page(&next)),
        Ok(None) => {
            let entered = SignInEntry {
                next: &next,
                ..SignInEntry::default()
            };
            form(&app, StatusCode::OK, entered)
        }
        Err(response) => *response,
    }
}

/// Signs a person in, or asks for the code of the second factor.
pub(super) async fn submit(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let caller = session::caller(&request);
    let former = session::cookie(&app, request.headers()).map(str::to_owned);
    let entered = match session::receive_from_anyone(&app, request).await {
        Ok(entered) => entered,
        Err(response) => return *response,
    };
    let (email, next) = (entered.get("email"), entered.get("next"));
    let is_again = entered.get("again") == "1";
    let password = entered.get("password").to_owned();
    let outcome = app
        .people
        .sign_in(email, password, caller, former.as_deref())
        .await;
    let refuse = |status, wrong: &str| {
        let entered = SignInEntry {
            next,
            email,
            is_again,
            wrong: Some(wrong),
        };
        form(&app, status, entered)
    };
    match outcome {
        Ok(SignIn::Done(token)) => signed_in(&app, &token, next),
        Ok(SignIn::NeedsCode(sign_in)) => code_form(StatusCode::OK, &sign_in, next, None),
        Ok(SignIn::Wrong | SignIn::Late) => {
            refuse(StatusCode::UNAUTHORIZED, "Email address or password is wrong.")
        }
        Ok(SignIn::Blocked { seconds }) => {
            let wrong = format!(
                "{} Or let the operator make a link with searchwright admin user sign-in-link.",
                wait(seconds)
            );
            with_retry_after(refuse(StatusCode::TOO_MANY_REQUESTS, &wrong), seconds)
        }
        Err(failure) => page::failed(&failure),
    }
}

fn wait(seconds: u32) -> String {
    let minutes = seconds.div_ceil(60);
    format!(
        "There were too many attempts. Try again in {minutes} minute{}.",
        if minutes == 1 { "" } else { "s" }
    )
}

/// Says that there were too many attempts.
pub(super) fn blocked(seconds: u32) -> Response<Body> {
    let page = page::notice(StatusCode::TOO_MANY_REQUESTS, "Too many attempts", &wait(seconds));
    with_retry_after(page, seconds)
}

fn with_retry_after(mut response: Response<Body>, seconds: u32) -> Response<Body> {
    response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    response
}

fn code_form(status: StatusCode, sign_in: &str, next: &str, wrong: Option<&str>) -> Response<Body> {
    let view = CodeForm {
        layout: Layout::new("Enter the code"),
        sign_in,
        next: session::next_page(next),
        wrong,
    };
    page::respond(status, &view, Form::Own)
}

/// Completes a sign-in with the code of the second factor.
pub(super) async fn submit_code(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let caller = session::caller(&request);
    let former = session::cookie(&app, request.headers()).map(str::to_owned);
    let entered = match session::receive_from_anyone(&app, request).await {
        Ok(entered) => entered,
        Err(response) => return *response,
    };
    let (sign_in, next) = (entered.get("sign_in"), entered.get("next"));
    let outcome = app
        .people
        .enter_code(sign_in, entered.get("code"), caller, former.as_deref())
        .await;
    match outcome {
        Ok(SignIn::Done(token)) => signed_in(&app, &token, next),
        Ok(SignIn::Wrong | SignIn::NeedsCode(_)) => code_form(
            StatusCode::UNAUTHORIZED,
            sign_in,
            next,
            Some(
                "The code is wrong, or it was used before. Wait for the next one, and check the clock of the device.",
            ),
        ),
        Ok(SignIn::Late) => {
            let entered = SignInEntry {
                next,
                wrong: Some("That took longer than 10 minutes. Sign in again."),
                ..SignInEntry::default()
            };
            form(&app, StatusCode::UNAUTHORIZED, entered)
        }
        Ok(SignIn::Blocked { seconds }) => {
            let wrong = wait(seconds);
            let refused = code_form(StatusCode::TOO_MANY_REQUESTS, sign_in, next, Some(&wrong));
            with_retry_after(refused, seconds)
        }
        Err(failure) => page::failed(&failure),
    }
}

/// An answer for the script.
pub(super) fn json_answer(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, http::HeaderValue::from_static(value));
    }
    response
}

/// A refusal for the script, which shows it to the person.
pub(super) fn json_refusal(status: StatusCode, text: &str) -> Response<Body> {
    json_answer(status, &json!({ "error": text }))
}

/// Begins a sign-in with a passkey.
pub(super) async fn passkey_challenge(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let from = peer(&request);
    if let Err(response) = session::receive_from_anyone(&app, request).await {
        return *response;
    }
    let Some(site) = passkey_site(&app) else {
        return json_refusal(
            StatusCode::NOT_FOUND,
            "Passkeys do not work at the address of this server.",
        );
    };
    let limits = &app.settings.limits;
    let standing = app
        .strangers
        .take(from, limits.strangers(), app.engine.clock.steady());
    if !standing.allowed {
        let refused = json_refusal(StatusCode::TOO_MANY_REQUESTS, &wait(standing.reset));
        return with_retry_after(refused, standing.reset);
    }
    match app.people.ask_for_passkey(&site).await {
        Ok(options) => json_answer(StatusCode::OK, &options),
        Err(failure) => {
            tracing::warn!(%failure, "a challenge for a passkey could not be made");
            json_refusal(
                StatusCode::SERVICE_UNAVAILABLE,
                "The server cannot do this right now. Try again in a minute.",
            )
        }
    }
}

/// Signs in the person of a passkey.
pub(super) async fn submit_passkey(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let from = peer(&request);
    let caller = session::caller(&request);
    let former = session::cookie(&app, request.headers()).map(str::to_owned);
    let entered = match session::receive_from_anyone(&app, request).await {
        Ok(entered) => entered,
        Err(response) => return *response,
    };
    let next = entered.get("next");
    let Some(site) = passkey_site(&app) else {
        return page::see_other("/login");
    };
    // A refused answer is written to the log of its account.
    let limits = &app.settings.limits;
    let standing = app
        .strangers
        .take(from, limits.strangers(), app.engine.clock.steady());
    if !standing.allowed {
        let wrong = wait(standing.reset);
        let entered = SignInEntry {
            next,
            wrong: Some(&wrong),
            ..SignInEntry::default()
        };
        let refused = form(&app, StatusCode::TOO_MANY_REQUESTS, entered);
        return with_retry_after(refused, standing.reset);
    }
    let credential = entered.get("credential");
    let outcome = app
        .people
        .sign_in_by_passkey(&site, credential, &caller, former.as_deref())
        .await;
    let refuse = |wrong: &str| {
        let entered = SignInEntry {
            next,
            wrong: Some(wrong),
            ..SignInEntry::default()
        };
        form(&app, StatusCode::UNAUTHORIZED, entered)
    };
    match outcome {
        Ok(SignIn::Done(token)) => signed_in(&app, &token, next),
        Ok(_) => refuse("This passkey is not known here. It may have been removed on the account page."),
        Err(failure) if failure.0.status == 409 => refuse(&page::sentence(&failure)),
        Err(failure) => page::failed(&failure),
    }
}

/// Sets the cookie and leads to a page that sees whether the browser kept it.
pub(super) fn signed_in(app: &App, token: &str, next: &str) -> Response<Body> {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("next", session::next_page(next))
        .finish();
    let mut response = page::see_other(&format!("/login/done?{query}"));
    session::set_cookie(app, &mut response, token);
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
        .people
        .sign_out(&visitor.token, &visitor.session, &caller)
        .await
    {
        return page::failed(&failure);
    }
    let mut response = page::see_other("/login");
    session::remove_cookie(&app, &mut response);
    response
}
