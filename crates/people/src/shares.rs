//! Links that show one report to people without an account: made and revoked by who manages the project, opened by anyone.

use std::collections::BTreeMap;

use searchwright_contract::{
    Code, Instant, Problem,
    ids::{ActivityId, AuditId, CredentialId, IssueId, PageId, ProjectId, UserId},
    issues::Severity,
};
use searchwright_engine::secrets::{self, SecretKind};
use searchwright_failure::{Failure, Result, fault};
use searchwright_store::{
    Error, Tx, access,
    activity::{self, NewActivity},
    audits, occurrences, projects,
    shares::{self, ListedShare, NewShare, OpenShare, SharedReport},
    snapshots::{self, FoundIssue},
};

use crate::{
    People,
    keys::{Managed, managed},
    sessions::RecentSession,
};

/// Links of a project that may be live at once.
pub const MAX_SHARES: u64 = 50;
/// Links that are listed, ended ones included.
const MAX_LISTED: u32 = 200;
/// Longest time that a link may live: a year.
const MAX_MILLIS: i64 = 366 * 86_400_000;
/// Time for which a link that ended is still listed, at most: that of the activity log.
const KEPT_MILLIS: i64 = activity::RETENTION_DAYS * 86_400_000;

/// A link that a person wants to have made.
#[derive(Clone, Debug)]
pub struct ShareWish {
    /// Id of the link, which the form has from the page: a form that is sent twice makes one link.
    pub id: Option<CredentialId>,
    /// The report.
    pub report: SharedReport,
    /// Time at which it ends.
    pub expires_at: Instant,
}

/// A link that was made, with its token, which is not stored.
#[derive(Clone, Debug)]
pub struct CreatedShare {
    /// Token of the address.
    pub token: String,
    /// Time of expiry.
    pub expires_at: Instant,
}

/// Part of the issues that an audit found, for its report.
#[derive(Clone, Debug, Default)]
pub struct FoundPart {
    /// Number of issues in all.
    pub issues: usize,
    /// Occurrences of each issue that the audit reopened.
    pub reopened: BTreeMap<IssueId, u64>,
    /// The issues of this part, highest impact first.
    pub shown: Vec<FoundWithPages>,
}

/// An issue that an audit found, with the first of its pages.
#[derive(Clone, Debug)]
pub struct FoundWithPages {
    /// The issue.
    pub id: IssueId,
    /// Severity.
    pub severity: Severity,
    /// Number of pages that have it and on which it is not ignored.
    pub pages: u64,
    /// The first of them.
    pub first: Vec<FoundPage>,
}

/// A page on which an audit found an issue.
#[derive(Clone, Debug)]
pub struct FoundPage {
    /// The page.
    pub id: PageId,
    /// Its URL.
    pub url: String,
}

/// Bounds of a part of a report.
#[derive(Clone, Copy, Debug)]
pub struct PartBounds {
    /// Issues of the parts before.
    pub skipped: usize,
    /// Issues, at most.
    pub issues: usize,
    /// Pages of each issue, at most.
    pub pages: usize,
}

async fn check_report(tx: &mut Tx, scope: access::ProjectScope, report: &SharedReport) -> Result<()> {
    let SharedReport::Audit(audit) = report else {
        return Ok(());
    };
    match audits::get(tx, scope, *audit).await {
        Ok(audit) if audit.status.has_results() => Ok(()),
        Ok(_) => Err(Problem::new(Code::InvalidState, "this audit has no results to be shared").into()),
        Err(Error::Missing) => Err(Problem::not_found("audit").into()),
        Err(other) => Err(other.into()),
    }
}

/// Returns an issue without the pages on which it is ignored, with the first of the others.
async fn with_pages(
    tx: &mut Tx,
    share: &OpenShare,
    audit: AuditId,
    issue: FoundIssue,
    most: usize,
) -> Result<FoundWithPages> {
    let scope = share.scope();
    let mut pages = snapshots::list_issue_pages(tx, scope, audit, issue.id).await?;
    if issue.ignored > 0 {
        let ignored = occurrences::list_ignored_pages(tx, scope, issue.id).await?;
        let mut ignored: Vec<u64> = ignored.into_iter().map(snapshots::id_prefix).collect();
        ignored.sort_unstable();
        pages.retain(|page| ignored.binary_search(page).is_err());
    }
    let count = pages.len() as u64;
    pages.truncate(most);
    let first = snapshots::find_page_urls(tx, scope, &pages).await?;
    Ok(FoundWithPages {
        id: issue.id,
        severity: issue.severity,
        pages: count,
        first: first
            .into_iter()
            .flatten()
            .map(|(id, url)| FoundPage { id, url })
            .collect(),
    })
}

impl People {
    /// Returns the share links of a project to a member, ended ones included, newest first.
    pub async fn shares(&self, user: UserId, project: ProjectId) -> Result<Vec<ListedShare>> {
        let mut tx = self.db.read().await?;
        let access = access::find_project_of_user(&mut tx, user, project).await?;
        let access = access.ok_or_else(|| Failure::from(Problem::not_found("project")))?;
        Ok(shares::list(&mut tx, access.scope(), MAX_LISTED).await?)
    }

    /// Makes a share link, as a person who manages the project.
    pub async fn make_share(
        &self,
        by: &RecentSession,
        project: ProjectId,
        wish: ShareWish,
    ) -> Result<CreatedShare> {
        let (now, user) = (self.clock.now(), by.user);
        let expires_at = wish.expires_at;
        if expires_at <= now || expires_at > now.plus_millis(MAX_MILLIS) {
            let why = "has to be after now, and within a year";
            return Err(fault("/end", "out_of_range", why));
        }
        let token = secrets::generate(SecretKind::Share)?;
        let new = NewShare {
            id: wish.id.unwrap_or_else(|| self.clock.id()),
            digest: secrets::digest(&token),
            prefix: secrets::prefix(&token).to_owned(),
            report: wish.report,
            created_by: user,
            expires_at,
        };
        let entry = self.clock.id::<ActivityId>();
        let work = async move |tx: &mut Tx| {
            let Managed { access, user } = managed(tx, user, project).await?;
            let (scope, subject) = (access.scope(), new.id.to_string());
            projects::lock(tx, scope).await?;
            check_report(tx, scope, &new.report).await?;
            // A form that was sent before is told so, even if it made the last link that there was room for.
            let is_known = shares::exists(tx, scope, new.id).await?;
            if !is_known && shares::count_live(tx, scope, now).await? >= MAX_SHARES {
                return Err(Problem::new(
                    Code::InvalidState,
                    format!("a project has at most {MAX_SHARES} live share links"),
                )
                .hint("revoke one that is no longer needed")
                .into());
            }
            shares::create(tx, scope, new, now).await.map_err(|e| match e {
                Error::Duplicate(_) => Failure::from(
                    Problem::new(
                        Code::AlreadyExists,
                        "this form was sent before, and its link was shown then",
                    )
                    .hint("if you did not keep the link, revoke it and make another"),
                ),
                other => other.into(),
            })?;
            let entry = NewActivity::of_person(entry, "shares.create", subject, user);
            Ok::<_, Failure>(activity::insert(tx, scope, entry, now).await?)
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(CreatedShare { token, expires_at })
    }

    /// Ends a share link at once, as a person who manages its project; `false` if it was revoked before.
    pub async fn end_share(&self, by: &RecentSession, project: ProjectId, id: CredentialId) -> Result<bool> {
        let (now, user, entry) = (self.clock.now(), by.user, self.clock.id::<ActivityId>());
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    let Managed { access, user } = managed(tx, user, project).await?;
                    let is_ended = match shares::revoke(tx, access.scope(), id, now).await {
                        Err(Error::Missing) => return Err(Problem::not_found("share link").into()),
                        done => done?,
                    };
                    if is_ended {
                        let entry = NewActivity::of_person(entry, "shares.revoke", id.to_string(), user);
                        activity::insert(tx, access.scope(), entry, now).await?;
                    }
                    Ok::<_, Failure>(is_ended)
                })
            })
            .await
    }

    /// Returns the live link of a token. Whatever the token is, one look into the database is made: how long it takes tells
    /// nothing.
    pub async fn open_share(&self, token: &str) -> Result<Option<OpenShare>> {
        let digest = secrets::digest(token);
        let mut tx = self.db.read().await?;
        Ok(shares::find(&mut tx, &digest, self.clock.now()).await?)
    }

    /// Counts a view of a link.
    pub async fn count_share_view(&self, share: &OpenShare) -> Result<()> {
        let (scope, id, now) = (share.scope(), share.access.key.id, self.clock.now());
        self.db
            .write(move |tx| {
                Box::pin(async move { Ok::<_, Failure>(shares::record_view(tx, scope, id, now).await?) })
            })
            .await
    }

    /// Returns a part of what the audit of a link found; `None` if its findings are not kept any more.
    pub async fn shared_findings(
        &self,
        share: &OpenShare,
        audit: AuditId,
        bounds: PartBounds,
    ) -> Result<Option<FoundPart>> {
        let mut tx = self.db.read().await?;
        let scope = share.scope();
        if !snapshots::is_kept(&mut tx, scope, audit).await? {
            return Ok(None);
        }
        let found = snapshots::list_found(&mut tx, scope, audit).await?;
        let mut part = FoundPart {
            reopened: occurrences::count_reopened(&mut tx, scope, audit).await?,
            ..FoundPart::default()
        };
        let mut at = 0;
        for issue in found {
            let is_shown = (bounds.skipped..bounds.skipped + bounds.issues).contains(&at);
            // One that is ignored on so many pages may have none left.
            if !is_shown && issue.ignored < issue.pages {
                at += 1;
                continue;
            }
            let issue = with_pages(&mut tx, share, audit, issue, bounds.pages).await?;
            if issue.pages > 0 {
                at += 1;
                part.shown.extend(is_shown.then_some(issue));
            }
        }
        part.issues = at;
        Ok(Some(part))
    }

    /// Forgets links that ended long ago.
    pub async fn delete_ended_shares(&self) -> Result<()> {
        let before = self.clock.now().plus_millis(-KEPT_MILLIS);
        self.db
            .write(move |tx| {
                Box::pin(async move { Ok::<_, Failure>(shares::delete_ended(tx, before).await?) })
            })
            .await?;
        Ok(())
    }
}
