//! `/projects/{id}/settings/shares`: the share links of a project. A link is shown once, in the answer to the form that makes it.

use askama::Template;
use http::StatusCode;
use searchwright_contract::{
    Instant, Problem,
    ids::{AuditId, CredentialId},
    people::Role,
    visibility::GetOverview,
};
use searchwright_engine::Failure;
use searchwright_people::shares::{CreatedShare, MAX_SHARES, ShareWish};
use searchwright_store::shares::{FixedPeriod, ListedShare, SharedReport};

use super::form::{self, ShareForm};
use crate::dashboard::{
    fields,
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{self, ConfirmedForm, PageResult, SentForm, Visit},
};

/// A link of the list.
struct ShareRow {
    id: String,
    name: String,
    /// Page of what it shows.
    href: Option<String>,
    prefix: String,
    created: String,
    created_by: String,
    views: u64,
    last_viewed: Option<String>,
    expires: String,
    /// End with its reason; `None` while it is live.
    ended: Option<String>,
}

impl ShareRow {
    fn new(visit: &Visit, share: &ListedShare, now: Instant) -> Self {
        let (name, href) = match (&share.report, &share.audit_at) {
            (SharedReport::Audit(audit), Some(at)) => (
                format!("Audit of {}", visit.time(at)),
                Some(visit.address(&format!("/audits/{audit}"))),
            ),
            (SharedReport::Audit(_), None) => ("An audit that is gone".to_owned(), None),
            (SharedReport::Visibility(None), _) => (
                "Visibility, the last 28 days".to_owned(),
                Some(visit.address("/visibility")),
            ),
            (SharedReport::Visibility(Some(days)), _) => (
                format!("Visibility, {} to {}", days.first, days.last),
                Some(visit.address("/visibility")),
            ),
        };
        let ended = match share.revoked_at {
            Some(at) => Some(format!("revoked {}", visit.time(&at))),
            None if share.expires_at <= now => Some(format!("expired {}", visit.time(&share.expires_at))),
            None => None,
        };
        Self {
            id: share.id.to_string(),
            name,
            href,
            prefix: share.prefix.clone(),
            created: visit.time(&share.created_at),
            created_by: share
                .created_by
                .as_deref()
                .map_or_else(String::new, |name| show::cut(name, 80)),
            views: share.views,
            last_viewed: share.last_viewed_at.map(|at| visit.time(&at)),
            expires: visit.time(&share.expires_at),
            ended,
        }
    }
}

/// A link that was made, as it is shown once.
struct MadeShare {
    address: String,
    expires: String,
}

#[derive(Template)]
#[template(path = "shares.html")]
struct SharesView {
    frame: ProjectFrame,
    live: Vec<ShareRow>,
    ended: Vec<ShareRow>,
    may_manage: bool,
    confirm: Option<String>,
    made: Option<MadeShare>,
    wrong: Option<String>,
    share: Option<ShareForm>,
    audits: String,
    visibility: String,
}

impl SharesView {
    fn most(&self) -> u64 {
        MAX_SHARES
    }
}

/// Things beside the list.
#[derive(Default)]
struct ShareRemarks {
    made: Option<CreatedShare>,
    wrong: Option<(StatusCode, String)>,
    share: Option<ShareForm>,
}

async fn show_list(visit: &Visit, remarks: ShareRemarks) -> PageResult {
    let app = visit.app();
    let now = app.engine.clock.now();
    let shares = app.people.shares(visit.user(), visit.project.id).await?;
    let rows = shares.iter().map(|share| ShareRow::new(visit, share, now));
    let (live, ended) = rows.partition(|row| row.ended.is_none());
    let (status, wrong) = match remarks.wrong {
        Some((status, text)) => (status, Some(text)),
        None => (StatusCode::OK, None),
    };
    let view = SharesView {
        frame: visit.frame("Share links", Section::Settings),
        live,
        ended,
        may_manage: visit.role >= Role::Admin,
        confirm: visit.confirm(),
        made: remarks.made.map(|made| MadeShare {
            address: format!("{}/share/{}", app.settings.public_url, made.token),
            expires: visit.time(&made.expires_at),
        }),
        wrong,
        share: remarks.share,
        audits: visit.address("/audits"),
        visibility: visit.address("/visibility"),
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

/// Shows the list.
pub(super) async fn show(visit: Visit) -> PageResult {
    show_list(&visit, ShareRemarks::default()).await
}

/// Returns the report that a form asks for.
async fn report(sent: &SentForm) -> Result<SharedReport, Failure> {
    let (visit, field) = (&sent.visit, |name| sent.form.get(name));
    if !field("audit").is_empty() {
        let audit = AuditId::parse(field("audit")).map_err(|_| Problem::not_found("audit"))?;
        return Ok(SharedReport::Audit(audit));
    }
    if field("period") != "fixed" {
        return Ok(SharedReport::Visibility(None));
    }
    let days = FixedPeriod {
        first: field("first").to_owned(),
        last: field("last").to_owned(),
    };
    // The operation knows which periods there are.
    visit
        .read(&GetOverview {
            project_id: visit.project_id(),
            period: None,
            from: Some(days.first.clone()),
            to: Some(days.last.clone()),
            engine: None,
            surface: None,
            class: None,
            tag: None,
            country: None,
        })
        .await?;
    Ok(SharedReport::Visibility(Some(days)))
}

/// Makes or revokes a link.
pub(super) async fn change(confirmed: ConfirmedForm) -> PageResult {
    let ConfirmedForm { sent, by, .. } = &confirmed;
    let (app, visit) = (sent.visit.app(), &sent.visit);
    if sent.form.get("action") == "revoke" {
        let Ok(id) = CredentialId::parse(sent.form.get("link")) else {
            return Ok(visit::not_found());
        };
        return match app.people.end_share(by, visit.project.id, id).await {
            Ok(_) => Ok(sent.done(&visit.address("/settings/shares"), "share-revoked", 1)),
            Err(failure) => refused(visit, None, failure).await,
        };
    }
    match make(&confirmed).await {
        Ok(made) => {
            let remarks = ShareRemarks {
                made: Some(made),
                ..ShareRemarks::default()
            };
            show_list(visit, remarks).await
        }
        Err(failure) => refused(visit, ShareForm::sent(visit, &sent.form), failure).await,
    }
}

async fn make(confirmed: &ConfirmedForm) -> Result<CreatedShare, Failure> {
    let ConfirmedForm { sent, by, .. } = confirmed;
    let (app, visit) = (sent.visit.app(), &sent.visit);
    visit.check_manages()?;
    let now = app.engine.clock.now();
    let wish = ShareWish {
        id: fields::id_of_form(sent.form.get("once"), now),
        report: report(sent).await?,
        expires_at: form::end(visit, &sent.form, now)
            .map_err(|why| Problem::fault("", "not_a_choice", why))?,
    };
    app.people.make_share(by, visit.project.id, wish).await
}

async fn refused(visit: &Visit, share: Option<ShareForm>, failure: Failure) -> PageResult {
    let Some(wrong) = visit::refusal(&failure) else {
        return Err(failure.into());
    };
    let remarks = ShareRemarks {
        wrong: Some(wrong),
        share,
        ..ShareRemarks::default()
    };
    show_list(visit, remarks).await
}
