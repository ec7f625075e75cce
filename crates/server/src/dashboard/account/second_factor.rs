//! Setting up and removing the second factor, and recovery codes.

use std::{fmt::Write as _, sync::Arc};

use askama::Template;
use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode};
use qrcodegen::{QrCode, QrCodeEcc};
use searchwright_engine::Failure;
use searchwright_people::second_factor::NewTotp;

use super::changed;
use crate::{
    app::App,
    dashboard::{
        page::{self, Form, Layout},
        session::{self, Visitor},
    },
};

const PAGE: &str = "/account/second-factor";

#[derive(Template)]
#[template(path = "second_factor.html")]
struct SecondFactor<'a> {
    layout: Layout,
    csrf: String,
    secret: Vec<String>,
    url: &'a str,
    code_size: i32,
    code_path: String,
    wrong: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "recovery_codes.html")]
struct RecoveryCodes {
    layout: Layout,
    codes: Vec<String>,
    is_new: bool,
}

/// Returns the modules of a QR code as the data of an SVG path, and the width of the code with its quiet zone.
fn draw(text: &str) -> (i32, String) {
    const QUIET: i32 = 4;
    let Ok(code) = QrCode::encode_text(text, QrCodeEcc::Medium) else {
        return (1, String::new());
    };
    let mut path = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            let _ = write!(path, "M{} {}h1v1h-1z", x + QUIET, y + QUIET);
        }
    }
    (code.size() + 2 * QUIET, path)
}

fn form(status: StatusCode, visitor: &Visitor, begun: &NewTotp, wrong: Option<&str>) -> Response<Body> {
    let (code_size, code_path) = draw(&begun.url);
    let letters: Vec<char> = begun.secret.chars().collect();
    let view = SecondFactor {
        layout: Layout::new("Set up a second factor"),
        csrf: visitor.csrf(),
        secret: letters.chunks(4).map(|group| group.iter().collect()).collect(),
        url: &begun.url,
        code_size,
        code_path,
        wrong,
    };
    page::respond(status, &view, Form::Own)
}

/// Shows the secret that was begun, and the form for the first code.
pub(super) async fn show(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let visitor = match session::need_visitor(&app, request.headers(), PAGE).await {
        Ok(visitor) => visitor,
        Err(response) => return *response,
    };
    let Some(by) = app.people.recent(&visitor.session) else {
        return session::to_sign_in_again(PAGE);
    };
    match app.people.begun_totp(&by, &visitor.session).await {
        Ok(Some(begun)) => form(StatusCode::OK, &visitor, &begun, None),
        Ok(None) => page::see_other("/account"),
        Err(failure) => page::failed(&failure),
    }
}

/// Begins a second factor.
pub(super) async fn begin(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let received = match session::receive_privileged(&app, request, "/account").await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    match app
        .people
        .begin_totp(&received.by, &received.visitor.session)
        .await
    {
        Ok(_) => page::see_other(PAGE),
        Err(failure) => changed(&app, &received.visitor, Err(failure)).await,
    }
}

fn codes(outcome: Result<Vec<String>, Failure>, is_new: bool) -> Response<Body> {
    match outcome {
        Ok(codes) => {
            let view = RecoveryCodes {
                layout: Layout::new("Recovery codes"),
                codes,
                is_new,
            };
            page::respond(StatusCode::OK, &view, Form::Own)
        }
        Err(failure) => page::failed(&failure),
    }
}

/// Confirms the second factor with its first code, and shows the recovery codes.
pub(super) async fn confirm(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let received = match session::receive_privileged(&app, request, PAGE).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let (by, visitor) = (&received.by, &received.visitor);
    let outcome = app
        .people
        .confirm_totp(by, received.form.get("code"), &received.caller)
        .await;
    let Err(failure) = &outcome else {
        return codes(outcome, true);
    };
    if failure.0.status != 422 {
        return page::failed(failure);
    }
    match app.people.begun_totp(by, &visitor.session).await {
        Ok(Some(begun)) => {
            let wrong = page::sentence(failure);
            form(StatusCode::UNPROCESSABLE_ENTITY, visitor, &begun, Some(&wrong))
        }
        Ok(None) => page::see_other("/account"),
        Err(failure) => page::failed(&failure),
    }
}

/// Replaces the recovery codes, and shows the new ones.
pub(super) async fn renew_codes(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let received = match session::receive_privileged(&app, request, "/account").await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    codes(
        app.people
            .renew_recovery_codes(&received.by, &received.caller)
            .await,
        false,
    )
}

/// Removes the second factor.
pub(super) async fn remove(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let received = match session::receive_privileged(&app, request, "/account").await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let outcome = app.people.remove_totp(&received.by, &received.caller).await;
    changed(&app, &received.visitor, outcome).await
}

#[cfg(test)]
mod tests {
    use super::draw;

    #[test]
    fn codes_have_a_quiet_zone() {
        let (size, path) =
            draw("otpauth://totp/Searchwright:ann%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert!(size >= 21 + 8, "{size}");
        assert!(path.starts_with("M4 4h1v1h-1z"), "{path}");
        assert!(path.chars().all(|c| c.is_ascii_digit() || "Mhvz -".contains(c)));
    }
}
