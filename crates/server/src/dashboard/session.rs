//! The session of a browser: its cookie, and the checks of forms against requests from other sites (OWASP CSRF cheat sheet).

use std::time::Duration;

use askama::Template;
use axum::body::{Body, to_bytes};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use searchwright_contract::ids::CredentialId;
use searchwright_people::{Caller, sessions::RecentSession};
use searchwright_store::sessions::Session;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::{
    page::{self, Form, Layout},
    show,
};
use crate::{
    app::App,
    http::memory::Sender,
    listen::{Peer, network},
};

/// The session cookie, as it is named and set.
struct Cookie {
    name: &'static str,
    attributes: &'static str,
}

/// The cookie over TLS or on the loopback interface: browsers accept the prefix only there, and only for this host.
const SECURE_COOKIE: Cookie = Cookie {
    name: "__Host-session",
    attributes: "Path=/; Secure; HttpOnly; SameSite=Lax",
};
/// The cookie over plain HTTP, where the operator allows it.
const PLAIN_COOKIE: Cookie = Cookie {
    name: "session",
    attributes: "Path=/; HttpOnly; SameSite=Lax",
};

impl Cookie {
    fn of_server(app: &App) -> Self {
        if app.settings.is_insecure() {
            PLAIN_COOKIE
        } else {
            SECURE_COOKIE
        }
    }

    fn find<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .find_map(|pair| pair.trim().strip_prefix(self.name)?.strip_prefix('='))
    }

    fn set(&self, response: &mut Response<Body>, token: &str, max_age_s: u32) {
        let text = format!("{}={token}; {}; Max-Age={max_age_s}", self.name, self.attributes);
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().append(header::SET_COOKIE, value);
        }
    }
}
/// Bytes of a form, at most.
const MAX_FORM_BYTES: usize = 64 << 10;
/// Bytes of a form with a whole text, at most: the 300,000 characters of a post, of which each takes up to 12 bytes in a form.
/// Only who is signed in can send one, and its bytes count as those of bodies of the API.
const MAX_TEXT_FORM_BYTES: usize = 4 << 20;
/// Time in which it has to arrive.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);
/// Pages to which a person may be sent after signing in.
const PAGES: [&str; 5] = [
    "/oauth/authorize",
    "/device",
    "/account",
    "/projects",
    "/invitations",
];

/// A person who is signed in.
#[derive(Clone)]
pub(crate) struct Visitor {
    pub session: Session,
    /// Token of the cookie.
    pub token: String,
}

impl Visitor {
    /// Token that every form of the session carries; derived from the cookie, which other sites cannot read.
    pub fn csrf(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(format!("form:{}", self.token)))
    }
}

/// Returns a parameter of the address; empty if there is none.
pub(crate) fn query_parameter(request: &Request<Body>, name: &str) -> String {
    let query = request.uri().query().unwrap_or_default();
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// The token of the session cookie.
pub(crate) fn cookie<'a>(app: &App, headers: &'a HeaderMap) -> Option<&'a str> {
    Cookie::of_server(app).find(headers)
}

/// Returns the person who is signed in. An error is the answer.
pub(crate) async fn visitor(app: &App, headers: &HeaderMap) -> Result<Option<Visitor>, Box<Response<Body>>> {
    let Some(token) = cookie(app, headers) else {
        return Ok(None);
    };
    match app.people.session(token).await {
        Ok(session) => Ok(session.map(|session| Visitor {
            session,
            token: token.to_owned(),
        })),
        Err(failure) => Err(Box::new(page::failed(&failure))),
    }
}

/// Returns the person who is signed in; an answer that leads to the sign-in page and back to `page` if nobody is.
pub(crate) async fn need_visitor(
    app: &App,
    headers: &HeaderMap,
    page: &str,
) -> Result<Visitor, Box<Response<Body>>> {
    visitor(app, headers)
        .await?
        .ok_or_else(|| Box::new(to_sign_in(page)))
}

/// Leads to the sign-in page, and back to `page` afterwards.
pub(crate) fn to_sign_in(page: &str) -> Response<Body> {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("next", page)
        .finish();
    page::see_other(&format!("/login?{query}"))
}

/// Address of the sign-in page of somebody who is signed in, for a privileged action, which leads back to `page` afterwards.
pub(crate) fn sign_in_again(page: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("again", "1")
        .append_pair("next", page)
        .finish();
    format!("/login?{query}")
}

/// Leads to the sign-in page of somebody who is signed in, for a privileged action, and back to `page` afterwards.
pub(crate) fn to_sign_in_again(page: &str) -> Response<Body> {
    page::see_other(&sign_in_again(page))
}

/// Returns the page to go to after signing in, if it is one of ours.
pub(crate) fn next_page(asked: &str) -> &str {
    let path = asked.split(['?', '#']).next().unwrap_or_default();
    let is_plain = !asked.contains(['\\', '\r', '\n']) && !path.contains("//") && !path.contains("/.");
    let is_known = PAGES.iter().any(|page| {
        path.strip_prefix(page)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if is_plain && is_known { asked } else { "/projects" }
}

/// Sets the session cookie on an answer.
pub(crate) fn set_cookie(app: &App, response: &mut Response<Body>, token: &str) {
    Cookie::of_server(app).set(response, token, 30 * 24 * 3_600);
}

/// Removes the session cookie.
pub(crate) fn remove_cookie(app: &App, response: &mut Response<Body>) {
    Cookie::of_server(app).set(response, "", 0);
}

/// Network address and program of a browser.
pub(crate) fn caller(request: &Request<Body>) -> Caller {
    let peer = request.extensions().get::<Peer>();
    let user_agent = request.headers().get(header::USER_AGENT);
    Caller {
        address: peer.map(|peer| network(peer.0).to_string()).unwrap_or_default(),
        user_agent: user_agent
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .unwrap_or_default(),
    }
}

/// A form that a person sent.
pub(crate) struct FormData(Vec<(String, String)>);

impl FormData {
    /// Returns the first value of a field; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        let mut fields = self.0.iter();
        fields
            .find(|(field, _)| field == name)
            .map_or("", |(_, value)| value.as_str())
    }

    /// Returns every value of a field.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(field, _)| field == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Returns whether a form was sent by a page of this server. A browser says so in one of two headers; a request with neither
/// is refused.
fn is_from_own_page(headers: &HeaderMap, public_url: &str) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    let own = url::Url::parse(public_url).map(|url| url.origin().ascii_serialization());
    headers
        .get(header::ORIGIN)
        .is_some_and(|origin| own.is_ok_and(|own| origin == own.as_str()))
}

fn refuse_other_pages(app: &App, headers: &HeaderMap) -> Result<(), Box<Response<Body>>> {
    if is_from_own_page(headers, &app.settings.public_url) {
        return Ok(());
    }
    Err(Box::new(page::notice(
        StatusCode::FORBIDDEN,
        "This form was not accepted",
        &format!(
            "It was not sent by a page of {}. Open that address and try again; if a proxy is in front of this server, PUBLIC_URL has to be the address in your browser.",
            app.settings.public_url
        ),
    )))
}

/// Reads a form of a page for which nobody has to be signed in. An error is the answer.
pub(crate) async fn receive_from_anyone(
    app: &App,
    request: Request<Body>,
) -> Result<FormData, Box<Response<Body>>> {
    refuse_other_pages(app, request.headers())?;
    let body = tokio::time::timeout(FORM_TIMEOUT, to_bytes(request.into_body(), MAX_FORM_BYTES)).await;
    match body {
        Ok(Ok(body)) => Ok(FormData(
            url::form_urlencoded::parse(&body).into_owned().collect(),
        )),
        _ => Err(Box::new(page::notice(
            StatusCode::BAD_REQUEST,
            "The form did not arrive",
            "It was incomplete or too large. Go back and send it again.",
        ))),
    }
}

/// Characters of a field that the page which sends a form again shows.
const MAX_SHOWN: usize = 500;

/// Reason a form was not carried out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NotCarriedOut {
    /// Nobody is signed in.
    SignedOut,
    /// It has the token of another session.
    OtherSession,
    /// The last sign-in was too long ago for it.
    NotRecent,
}

/// A form that was not carried out, to be sent again by the person who filled it in.
#[derive(Template)]
#[template(path = "resend.html")]
struct Resend<'a> {
    layout: Layout,
    target: &'a str,
    fields: Vec<&'a (String, String)>,
    shown: Vec<(&'a str, String)>,
    /// Names of fields that held a secret, which is not kept: it has to be typed again.
    secrets: Vec<&'a str>,
    csrf: Option<String>,
    /// Address of the sign-in page.
    sign_in: String,
    why: NotCarriedOut,
}

/// Whether a field of a form holds a secret.
fn is_secret(name: &str) -> bool {
    ["password", "secret", "code", "token"].contains(&name) || name.starts_with("secret-")
}

/// Whether a value is an address with a password in it.
fn has_password(value: &str) -> bool {
    url::Url::parse(value.trim()).is_ok_and(|address| address.password().is_some())
}

/// Answers a form of a page of a project that was not carried out with what was typed, so that it is not lost. `None` for a
/// form of another page.
fn ask_again(
    target: &str,
    form: &FormData,
    visitor: Option<&Visitor>,
    why: NotCarriedOut,
    sign_in: String,
) -> Option<Response<Body>> {
    if !target.starts_with("/projects/") {
        return None;
    }
    let fields = form
        .0
        .iter()
        .filter(|(name, value)| name != "csrf" && !is_secret(name) && !has_password(value));
    let fields: Vec<&(String, String)> = fields.collect();
    let is_shown = |name: &str| !["once", "version", "seen", "row"].contains(&name);
    let shown = fields
        .iter()
        .filter(|(name, value)| is_shown(name) && !value.trim().is_empty())
        .map(|(name, value)| (name.as_str(), show::cut(value, MAX_SHOWN)));
    let secrets = form
        .0
        .iter()
        .filter(|(name, value)| (is_secret(name) && !value.is_empty()) || has_password(value));
    let view = Resend {
        layout: Layout::new("Send it again"),
        target,
        shown: shown.collect(),
        secrets: secrets.map(|(name, _)| name.as_str()).collect(),
        csrf: visitor.map(Visitor::csrf),
        sign_in,
        fields,
        why,
    };
    let status = match why {
        NotCarriedOut::SignedOut => StatusCode::UNAUTHORIZED,
        _ => StatusCode::FORBIDDEN,
    };
    Some(page::respond(status, &view, Form::Own))
}

/// Reads a form of the person who is signed in. An error is the answer.
pub(crate) async fn receive(
    app: &App,
    request: Request<Body>,
) -> Result<(Visitor, FormData, Caller), Box<Response<Body>>> {
    let visitor = visitor(app, request.headers()).await?;
    let target = target(request.uri());
    let caller = caller(&request);
    let form = receive_from_anyone(app, request).await?;
    let visitor = own_form(&target, &form, visitor)?;
    Ok((visitor, form, caller))
}

/// Path and query of a request.
fn target(uri: &http::Uri) -> String {
    uri.path_and_query().map_or_else(String::new, ToString::to_string)
}

/// Returns the person of a form's session; an answer that keeps what was typed if it is not theirs.
fn own_form(target: &str, form: &FormData, visitor: Option<Visitor>) -> Result<Visitor, Box<Response<Body>>> {
    let Some(visitor) = visitor else {
        return Err(Box::new(
            ask_again(target, form, None, NotCarriedOut::SignedOut, "/login".to_owned())
                .unwrap_or_else(|| to_sign_in("/account")),
        ));
    };
    let (sent, own) = (form.get("csrf"), visitor.csrf());
    if bool::from(sent.as_bytes().ct_eq(own.as_bytes())) {
        return Ok(visitor);
    }
    let asked = ask_again(
        target,
        form,
        Some(&visitor),
        NotCarriedOut::OtherSession,
        String::new(),
    );
    Err(Box::new(asked.unwrap_or_else(|| {
        page::notice(
            StatusCode::FORBIDDEN,
            "This form was not accepted",
            "It belongs to another session. Open the page again and send it from there.",
        )
    })))
}

/// Reads a form with a whole text of the person who is signed in. An error is the answer.
pub(crate) async fn receive_text(
    app: &App,
    visitor: Visitor,
    sender: CredentialId,
    request: Request<Body>,
) -> Result<FormData, Box<Response<Body>>> {
    refuse_other_pages(app, request.headers())?;
    let (parts, body) = request.into_parts();
    let body = app
        .intake
        .collect(
            &parts.headers,
            Sender::Credential(sender),
            body,
            MAX_TEXT_FORM_BYTES,
        )
        .await
        .map_err(|problem| Box::new(page::failed(&problem.into())))?;
    let form = FormData(url::form_urlencoded::parse(&body).into_owned().collect());
    own_form(&target(&parts.uri), &form, Some(visitor))?;
    Ok(form)
}

/// A form for a privileged action.
pub(crate) struct PrivilegedForm {
    pub visitor: Visitor,
    pub by: RecentSession,
    pub form: FormData,
    pub caller: Caller,
}

/// Reads a form for a privileged action. If the last sign-in was too long ago, a form of a project is kept until the person
/// has signed in again; others lead to the sign-in page, and back to `page`.
pub(crate) async fn receive_privileged(
    app: &App,
    request: Request<Body>,
    page: &str,
) -> Result<PrivilegedForm, Box<Response<Body>>> {
    let target = target(request.uri());
    let (visitor, form, caller) = receive(app, request).await?;
    match app.people.recent(&visitor.session) {
        Some(by) => Ok(PrivilegedForm {
            visitor,
            by,
            form,
            caller,
        }),
        None => Err(Box::new(
            ask_again(
                &target,
                &form,
                Some(&visitor),
                NotCarriedOut::NotRecent,
                sign_in_again(page),
            )
            .unwrap_or_else(|| to_sign_in_again(page)),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_pages_follow_a_sign_in() {
        for good in [
            "/account",
            "/oauth/authorize?client_id=https%3A%2F%2Fa.example%2Fc&x=//y",
            "/device?user_code=BCDF-GHJK",
        ] {
            assert_eq!(next_page(good), good);
        }
        for bad in [
            "",
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "/account/../logout",
            "/accounting",
            "/v1/me",
            "/account//evil.example",
            "account",
            "/account\r\nSet-Cookie: x=y",
        ] {
            assert_eq!(next_page(bad), "/projects", "{bad:?}");
        }
    }

    #[test]
    fn forms_come_from_own_pages() {
        let headers = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs.iter().map(|(name, value)| {
                (
                    header::HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            });
            pairs.collect::<HeaderMap>()
        };
        let own = |pairs: &[_]| is_from_own_page(&headers(pairs), "https://sw.example");
        assert!(own(&[("sec-fetch-site", "same-origin")]));
        assert!(own(&[("origin", "https://sw.example")]));
        assert!(!own(&[]), "neither header");
        assert!(!own(&[
            ("sec-fetch-site", "same-site"),
            ("origin", "https://sw.example")
        ]));
        assert!(!own(&[("sec-fetch-site", "cross-site")]));
        assert!(!own(&[("sec-fetch-site", "none")]));
        assert!(!own(&[("origin", "https://sw.example.evil.example")]));
        assert!(!own(&[("origin", "null")]));
    }

    #[test]
    fn cookies_are_read_by_their_whole_name() {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::COOKIE,
            HeaderValue::from_static("a=1; __Host-sessions=no; __Host-session=yes; b=2"),
        );
        assert_eq!(SECURE_COOKIE.find(&headers), Some("yes"));
        assert_eq!(PLAIN_COOKIE.find(&headers), None);
        headers.insert(header::COOKIE, HeaderValue::from_static("session=no"));
        assert_eq!(SECURE_COOKIE.find(&headers), None);
        assert_eq!(PLAIN_COOKIE.find(&headers), Some("no"));
    }
}
