//! Frame of the pages: headers, style sheet and script, and pages that only say something.

use std::sync::LazyLock;

use askama::Template;
use axum::{body::Body, extract::Path, middleware::Next};
use http::{HeaderValue, Request, Response, StatusCode, header};
use searchwright_contract::Instant;
use searchwright_engine::Failure;
use sha2::{Digest as _, Sha256};

/// A file that pages load. Its name has a digest of its content, so that browsers may keep it for good.
struct Asset {
    content: &'static str,
    media_type: &'static str,
    name: LazyLock<String>,
}

fn name(stem: &str, content: &str, extension: &str) -> String {
    let digest = Sha256::digest(content);
    let hex: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("{stem}-{hex}.{extension}")
}

pub(crate) const STYLE_TEXT: &str = include_str!("../../assets/pages.css");
pub(crate) const MANUAL_STYLE_TEXT: &str = include_str!("../../assets/manual.css");
const ICON_TEXT: &str = include_str!("../../assets/icon.svg");
const SCRIPT_TEXT: &str = include_str!("../../assets/pages.js");
const PASSKEYS_TEXT: &str = include_str!("../../assets/passkeys.js");

static STYLE: Asset = Asset {
    content: STYLE_TEXT,
    media_type: "text/css; charset=utf-8",
    name: LazyLock::new(|| name("pages", STYLE_TEXT, "css")),
};

static MANUAL_STYLE: Asset = Asset {
    content: MANUAL_STYLE_TEXT,
    media_type: "text/css; charset=utf-8",
    name: LazyLock::new(|| name("manual", MANUAL_STYLE_TEXT, "css")),
};

static SCRIPT: Asset = Asset {
    content: SCRIPT_TEXT,
    media_type: "text/javascript; charset=utf-8",
    name: LazyLock::new(|| name("pages", SCRIPT_TEXT, "js")),
};

static PASSKEYS: Asset = Asset {
    content: PASSKEYS_TEXT,
    media_type: "text/javascript; charset=utf-8",
    name: LazyLock::new(|| name("passkeys", PASSKEYS_TEXT, "js")),
};

impl Form {
    /// The policy of an own page, which has the script or not.
    pub fn own(has_script: bool) -> Self {
        if has_script {
            Self::OwnWithScript
        } else {
            Self::Own
        }
    }
}

/// Address of the style sheet of all pages.
fn style_address() -> String {
    format!("/assets/{}", *STYLE.name)
}

/// Addresses of the style sheets of the manual.
pub(crate) fn manual_styles() -> [String; 2] {
    [style_address(), format!("/assets/{}", *MANUAL_STYLE.name)]
}

/// Head of a page that has no template: everything before its main part but the navigation.
pub(crate) fn head(title: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title><link rel=\"stylesheet\" href=\"{}\"></head>",
        style_address()
    )
}

/// The bar above every page.
pub(crate) const TOP: &str = concat!(
    "<header class=\"top\"><a class=\"brand\" href=\"/\">",
    include_str!("../../templates/brand_mark.html"),
    "Searchwright</a></header>"
);

/// Name of the script of the pages of a project.
pub(crate) fn pages_script() -> &'static str {
    &SCRIPT.name
}

/// Name of the script that signs in with passkeys and makes them.
pub(crate) fn passkey_script() -> &'static str {
    &PASSKEYS.name
}

tokio::task_local! {
    /// Set while a request to a server over plain HTTP is answered.
    static IS_PLAIN_HTTP: bool;
}

/// Lets the pages warn that they are served over plain HTTP.
pub(super) async fn warn_of_plain_http(request: Request<Body>, next: Next) -> Response<Body> {
    IS_PLAIN_HTTP.scope(true, next.run(request)).await
}

/// Returns whether the page that is being answered has to warn.
pub(super) fn is_plain_http() -> bool {
    IS_PLAIN_HTTP.try_with(|is_plain| *is_plain).unwrap_or_default()
}

/// Members of the template that all pages extend.
pub(crate) struct Layout {
    pub title: &'static str,
    pub style: &'static str,
    pub is_plain_http: bool,
}

impl Layout {
    pub fn new(title: &'static str) -> Self {
        Self {
            title,
            style: &STYLE.name,
            is_plain_http: is_plain_http(),
        }
    }
}

/// Place to which the forms of a page lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// This server.
    Own,
    /// This server; the page has the script for passkeys.
    OwnWithScript,
    /// This server, which redirects to another program: no `form-action`, which browsers would apply to the redirect as well.
    OfOthers,
}

#[derive(Template)]
#[template(path = "notice.html")]
struct Notice<'a> {
    layout: Layout,
    heading: &'a str,
    text: &'a str,
}

/// Answers with a page.
pub(crate) fn respond(status: StatusCode, view: &impl Template, form: Form) -> Response<Body> {
    let mut response = Response::new(Body::from(view.render().unwrap_or_default()));
    *response.status_mut() = status;
    let policy = match form {
        Form::Own => {
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
        }
        Form::OwnWithScript => {
            "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
        }
        Form::OfOthers => {
            "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'"
        }
    };
    // Without the referrer, browsers without Fetch Metadata send no origin with a form either.
    let referrer = match form {
        Form::Own | Form::OwnWithScript => "same-origin",
        Form::OfOthers => "no-referrer",
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, referrer),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    response
}

/// Answers with a page that only says something.
pub(crate) fn notice(status: StatusCode, heading: &str, text: &str) -> Response<Body> {
    let view = Notice {
        layout: Layout::new("Searchwright"),
        heading,
        text,
    };
    respond(status, &view, Form::Own)
}

/// Answers a failure: the reason to the person if it is about the request, else only to the log.
pub(crate) fn failed(failure: &Failure) -> Response<Body> {
    let status = StatusCode::from_u16(failure.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if status.is_server_error() {
        tracing::warn!(%failure, "a page could not be answered");
        return notice(
            status,
            "Not at the moment",
            "The server cannot do this right now. Try again in a minute; nothing was changed.",
        );
    }
    notice(status, "This did not work", &sentence(failure))
}

/// Returns the reason of a failure as a sentence.
pub(crate) fn sentence(failure: &Failure) -> String {
    let problem = &failure.0;
    let detail = match problem.errors.as_slice() {
        [] => problem.detail.clone(),
        faults => {
            let all: Vec<String> = faults
                .iter()
                .map(|fault| {
                    let text = format!("{} {}", fault.pointer.trim_start_matches('/'), fault.detail);
                    text.trim_start().to_owned()
                })
                .collect();
            all.join("; ")
        }
    };
    let mut letters = detail.chars();
    let mut text: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    text.extend(letters);
    text.truncate(text.trim_end_matches('.').len());
    text.push('.');
    if let Some(hint) = &problem.hint {
        text += &format!(" Next: {hint}.");
    }
    text
}

/// Redirects with `303 See Other`: the form that was sent is not sent on.
pub(crate) fn see_other(location: &str) -> Response<Body> {
    let Ok(value) = HeaderValue::from_str(location) else {
        return notice(
            StatusCode::BAD_REQUEST,
            "This did not work",
            "The address to go back to cannot be used.",
        );
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, value);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Style sheet and script.
pub(super) async fn asset(Path(name): Path<String>) -> Response<Body> {
    let assets = [&STYLE, &MANUAL_STYLE, &SCRIPT, &PASSKEYS];
    let Some(asset) = assets.into_iter().find(|asset| *asset.name == name) else {
        return notice(
            StatusCode::NOT_FOUND,
            "Not found",
            "There is nothing at this address.",
        );
    };
    file(
        asset.content,
        asset.media_type,
        "public, max-age=31536000, immutable",
    )
}

/// Icon of all pages, at the address that browsers ask for by themselves.
pub(super) async fn icon() -> Response<Body> {
    file(ICON_TEXT, "image/svg+xml", "public, max-age=86400")
}

fn file(content: &'static str, media_type: &'static str, caching: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(content));
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, caching),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A time as it is shown, to the minute.
pub(crate) fn minute(at: &Instant) -> String {
    let text = at.to_string();
    let day = text.get(..10).unwrap_or_default();
    format!("{day} {} UTC", text.get(11..16).unwrap_or_default())
}
