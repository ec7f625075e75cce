//! A share link that was opened: what it lets its reader see, and the frame of the pages that show it.
//!
//! A reader sees the report of the link and nothing else. The address names nothing but the link and a place in its lists, and the
//! operations are called with a read-only key that is stored nowhere.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use http::{HeaderValue, Response, StatusCode, Uri, header};
use searchwright_contract::{Code, Instant, Operation, ids::CredentialId};
use searchwright_engine::{Credential, Failure, autopilot::local_minute};
use searchwright_store::shares::OpenShare;

use crate::{
    app::App,
    dashboard::{
        page::{self, Form, Layout},
        show,
        visit::{self, CallTerms},
    },
    http::{concurrency::Turn, operations},
};

/// Last page of a list that is looked for.
const MAX_PAGE: usize = 1_000;

/// Somebody at the page of a share link.
pub(in crate::dashboard) struct SharedVisit {
    pub app: Arc<App>,
    /// The link with its access.
    pub share: OpenShare,
    /// Page of the list of the report, from 1 on.
    pub page: usize,
    credential: Credential,
    /// Place among the requests of the link, given back at the end of the page.
    _turn: Turn<CredentialId>,
}

impl SharedVisit {
    /// Opens the link of a token; `None` if it has ended or never existed.
    pub async fn open(app: &Arc<App>, token: &str, address: &Uri) -> Result<Option<Self>, Failure> {
        let Some(share) = app.people.open_share(token).await? else {
            return Ok(None);
        };
        let credential = Credential::Key(share.access.clone());
        let query = url::form_urlencoded::parse(address.query().unwrap_or_default().as_bytes());
        let page = query
            .filter(|(name, _)| name == "page")
            .find_map(|(_, value)| value.parse().ok());
        Ok(Some(Self {
            app: app.clone(),
            page: page.unwrap_or(1).clamp(1, MAX_PAGE),
            _turn: operations::enter_as(app, &credential).await?,
            share,
            credential,
        }))
    }

    /// Calls an operation that reads the project of the link. The report decides which.
    pub async fn read<O: Operation>(&self, operation: &O) -> Result<O::Answer, Failure> {
        visit::call_as(&self.app, &self.credential, operation, CallTerms::default()).await
    }

    /// Calls an operation that reads; `None` if there is no such record.
    pub async fn find<O: Operation>(&self, operation: &O) -> Result<Option<O::Answer>, Failure> {
        match self.read(operation).await {
            Ok(answer) => Ok(Some(answer)),
            Err(failure) if matches!(failure.0.code, Code::NotFound | Code::InvalidState) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Id of the project, as the operations take it.
    pub fn project_id(&self) -> String {
        self.share.access.project.project.id.to_string()
    }

    /// A time in the time zone of the project, to the minute.
    pub fn time(&self, at: &Instant) -> String {
        local_minute(*at, &self.share.timezone)
    }

    /// The frame of a page.
    pub fn frame(&self, title: &'static str) -> SharedFrame {
        let project = &self.share.access.project.project;
        SharedFrame {
            layout: Layout::new(title),
            name: show::cut(&project.name, 200),
            domain: show::cut(&project.domain, 200),
            ends: self.time(&self.share.expires_at),
            timezone: self.share.timezone.clone(),
        }
    }

    /// Counts that the link was opened.
    pub async fn count(&self) {
        let link = self.share.access.key.prefix.as_str();
        tracing::info!(link, "a shared report was opened");
        if let Err(failure) = self.app.people.count_share_view(&self.share).await {
            tracing::warn!(link, %failure, "a view of a shared report was not counted");
        }
    }
}

/// Members of the template that the pages of share links extend.
pub(in crate::dashboard) struct SharedFrame {
    pub layout: Layout,
    /// Name of the project.
    pub name: String,
    /// Website of the project.
    pub domain: String,
    /// Time at which the link ends.
    pub ends: String,
    /// Time zone of the project.
    pub timezone: String,
}

/// Answers with a page that tells no other website where it was, and that search engines leave out.
pub(in crate::dashboard) fn respond(status: StatusCode, view: &impl Template) -> Response<Body> {
    let mut response = page::respond(status, view, Form::Own);
    let headers = response.headers_mut();
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("x-robots-tag", HeaderValue::from_static("noindex"));
    response
}

#[derive(Template)]
#[template(path = "share_notice.html")]
struct ShareNotice<'a> {
    layout: Layout,
    heading: &'a str,
    text: &'a str,
}

fn notice(status: StatusCode, heading: &str, text: &str) -> Response<Body> {
    let view = ShareNotice {
        layout: Layout::new("Shared report"),
        heading,
        text,
    };
    respond(status, &view)
}

/// Answers a link that expired, was revoked, never existed, or whose report is gone: these are not told apart.
pub(super) fn ended() -> Response<Body> {
    notice(
        StatusCode::NOT_FOUND,
        "There is nothing here",
        "This link has ended or never existed. Ask who sent it for a new one.",
    )
}

/// Answers a form that was sent to a link.
pub(super) async fn only_read() -> Response<Body> {
    let text = "A shared report can be read, and nothing can be sent to it.";
    let mut response = notice(StatusCode::METHOD_NOT_ALLOWED, "Only for reading", text);
    let allowed = HeaderValue::from_static("GET, HEAD");
    response.headers_mut().insert(header::ALLOW, allowed);
    response
}

/// Answers an address that opened too many links.
pub(super) fn too_many(seconds: u32) -> Response<Body> {
    let text = format!("Too many pages were opened from your network. Try again in {seconds} seconds.");
    let mut response = notice(StatusCode::TOO_MANY_REQUESTS, "One moment", &text);
    response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    response
}

/// Answers a report that cannot be shown.
pub(super) fn failed(visit: Option<&SharedVisit>, failure: &Failure) -> Response<Body> {
    if matches!(failure.0.code, Code::NotFound | Code::ProjectForbidden) {
        return ended();
    }
    let link = visit.map_or("", |visit| visit.share.access.key.prefix.as_str());
    tracing::warn!(link, %failure, "a shared report could not be shown");
    let text = "The server cannot show this right now. Try again in a minute.";
    notice(StatusCode::SERVICE_UNAVAILABLE, "Not at the moment", text)
}
