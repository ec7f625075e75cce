//! The page on which a person enters the code of a device and decides (RFC 8628 section 3.3).

use std::sync::Arc;

use askama::Template;
use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode, header};
use searchwright_contract::Scope;
use searchwright_people::oauth::devices::{read_user_code, show_user_code};
use searchwright_store::oauth_devices::Device;

use super::{
    page::{self, Form, Layout},
    session::{self, Visitor},
};
use crate::{app::App, http::rate_limit::Quota};

/// Wrong codes of a session.
const PER_SESSION: Quota = Quota {
    units: 5,
    window_millis: 10 * 60_000,
};
/// Wrong codes of a network address.
const PER_ADDRESS: Quota = Quota {
    units: 10,
    window_millis: 10 * 60_000,
};

#[derive(Template)]
#[template(path = "device.html")]
struct DeviceForm<'a> {
    layout: Layout,
    code: &'a str,
    wrong: Option<&'static str>,
    csrf: String,
}

#[derive(Template)]
#[template(path = "device_confirm.html")]
struct Confirm<'a> {
    layout: Layout,
    code: String,
    address: &'a str,
    begun: String,
    scopes: Vec<Scope>,
    email: &'a str,
    csrf: String,
}

fn form(status: StatusCode, visitor: &Visitor, code: &str, wrong: Option<&'static str>) -> Response<Body> {
    let view = DeviceForm {
        layout: Layout::new("Connect a device"),
        code,
        wrong,
        csrf: visitor.csrf(),
    };
    page::respond(status, &view, Form::Own)
}

/// Shows the form for the code, filled in if the address names one.
pub(super) async fn show(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let code =
        read_user_code(&session::query_parameter(&request, "user_code")).map(|code| show_user_code(&code));
    let code = code.unwrap_or_default();
    match session::need_visitor(&app, request.headers(), &format!("/device?user_code={code}")).await {
        Ok(visitor) => form(StatusCode::OK, &visitor, &code, None),
        Err(response) => *response,
    }
}

/// Returns seconds to wait if too many wrong codes were entered.
fn blocked(app: &App, visitor: &Visitor, address: &str) -> Option<u32> {
    let now = app.engine.clock.steady();
    let by_session = app
        .user_codes
        .take(visitor.session.id.to_string(), PER_SESSION, now);
    let by_address = app.user_codes.take(address.to_owned(), PER_ADDRESS, now);
    [by_session, by_address]
        .into_iter()
        .find(|standing| !standing.allowed)
        .map(|standing| standing.reset)
}

/// Takes the code, and then the decision.
pub(super) async fn submit(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let (visitor, entered, caller) = match session::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let found = match read_user_code(entered.get("user_code")) {
        Some(code) => app.people.find_waiting_device(&code).await,
        None => Ok(None),
    };
    let device = match found {
        Ok(Some(device)) => device,
        Ok(None) => {
            if let Some(seconds) = blocked(&app, &visitor, &caller.address) {
                let wrong = Some("Too many wrong codes were entered. Wait a few minutes.");
                let mut response = form(StatusCode::TOO_MANY_REQUESTS, &visitor, "", wrong);
                response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
                return response;
            }
            let wrong =
                Some("No device waits with this code. Look at the code again; it works for 10 minutes.");
            return form(
                StatusCode::UNPROCESSABLE_ENTITY,
                &visitor,
                entered.get("user_code"),
                wrong,
            );
        }
        Err(failure) => return page::failed(&failure),
    };
    let is_allowed = match entered.get("decision") {
        "allow" => true,
        "deny" => false,
        _ => return confirm(&visitor, &device),
    };
    match app
        .people
        .decide_device(device, &visitor.session, is_allowed, &caller)
        .await
    {
        Ok(true) if is_allowed => page::notice(
            StatusCode::OK,
            "The device is connected",
            "Go back to the command line; it goes on by itself. You can end its access on your account page.",
        ),
        Ok(true) => page::notice(
            StatusCode::OK,
            "The device was declined",
            "Nothing was granted. If you did not begin this yourself, somebody may have tried to use your account.",
        ),
        Ok(false) => page::notice(
            StatusCode::CONFLICT,
            "This was decided before",
            "The device no longer waits.",
        ),
        Err(failure) => page::failed(&failure),
    }
}

fn confirm(visitor: &Visitor, device: &Device) -> Response<Body> {
    let begun = device.created_at.to_string();
    let view = Confirm {
        layout: Layout::new("Connect a device"),
        code: show_user_code(&device.user_code),
        address: &device.address,
        begun: format!("{} UTC", begun.get(11..16).unwrap_or_default()),
        scopes: device.scopes.split(' ').filter_map(Scope::parse).collect(),
        email: &visitor.session.email,
        csrf: visitor.csrf(),
    };
    page::respond(StatusCode::OK, &view, Form::Own)
}
