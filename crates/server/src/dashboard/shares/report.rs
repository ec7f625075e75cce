//! The report of one audit, as a share link shows it: the score, what was new, fixed and reopened, and the issues with their pages.

use std::collections::BTreeMap;

use askama::Template;
use axum::body::Body;
use http::{Response, StatusCode};
use searchwright_contract::{
    audits::{Audit, GetAudit},
    diffs::{AuditDiff, Change, DiffAudits, IssueDiff},
    evidence::in_words,
    ids::{AuditId, IssueId, PageId},
    issues::{GetIssue, Issue, ListOccurrences, Severity},
};
use searchwright_engine::Failure;
use searchwright_people::shares::{FoundPart, FoundWithPages, PartBounds};

use super::link::{self, SharedFrame, SharedVisit};
use crate::dashboard::{audits, chart, show};

/// Issues of one page of the report.
const ISSUES: usize = 8;
/// Pages of the website that are listed of each issue. With the longest addresses and evidence a page stays below 150 kB.
const PAGES: u8 = 10;
/// Issues in the table of changes.
const CHANGED: usize = 40;
/// Fixed occurrences that are listed.
const FIXED: u8 = 20;

/// A page that has an issue.
struct SharedPageRow {
    url: String,
    /// The address, if a browser goes to a page by it.
    href: Option<String>,
    evidence: Option<String>,
}

impl SharedPageRow {
    fn new(url: &str, evidence: Option<String>) -> Self {
        let is_page = url.starts_with("https://") || url.starts_with("http://");
        Self {
            url: show::cut_on_page(url, 150),
            href: (is_page && url.chars().map(show::bytes_on_page).sum::<usize>() <= 300)
                .then(|| url.to_owned()),
            evidence,
        }
    }
}

/// An issue of the report.
struct SharedIssueRow {
    issue: Issue,
    severity: Severity,
    pages: u64,
    more: u64,
    reopened: u64,
    first: Vec<SharedPageRow>,
    source: Option<String>,
}

/// An issue in the table of changes.
struct ChangedRow {
    diff: IssueDiff,
    reopened: u64,
}

/// Changes since the audit before.
struct ProofView {
    diff: AuditDiff,
    reopened: u64,
    rows: Vec<ChangedRow>,
    more: usize,
    fixed: Vec<(String, String)>,
    more_fixed: u64,
}

/// A number of findings of a severity, with its change.
struct SeverityCount {
    severity: Severity,
    name: &'static str,
    count: u64,
    change: String,
}

#[derive(Template)]
#[template(path = "share_audit.html")]
struct SharedAuditView {
    frame: SharedFrame,
    audit: Audit,
    at: String,
    status: (&'static str, &'static str),
    ended: Option<&'static str>,
    counts: Vec<SeverityCount>,
    categories: Vec<(String, u8, String)>,
    proof: Option<ProofView>,
    is_kept: bool,
    issues: Vec<SharedIssueRow>,
    first: usize,
    all: usize,
    is_first_page: bool,
    previous: Option<String>,
    next: Option<String>,
}

impl SharedAuditView {
    fn health_change(&self) -> String {
        let since = self.audit.since_previous.and_then(|since| since.health_score);
        audits::delta(since.map(i64::from))
    }
}

/// Shows the report.
pub(super) async fn show(visit: &SharedVisit, id: AuditId) -> Result<Response<Body>, Failure> {
    let audit = visit
        .read(&GetAudit {
            project_id: visit.project_id(),
            audit_id: id.to_string(),
        })
        .await?;
    let bounds = PartBounds {
        skipped: (visit.page - 1) * ISSUES,
        issues: ISSUES,
        pages: PAGES.into(),
    };
    let found = visit.app.people.shared_findings(&visit.share, id, bounds).await?;
    let is_kept = found.is_some();
    let FoundPart {
        issues: all,
        reopened,
        shown,
    } = found.unwrap_or_default();
    let is_first_page = visit.page == 1;
    let proof = if is_first_page {
        proof(visit, &audit, &reopened).await?
    } else {
        None
    };
    let mut issues = Vec::with_capacity(shown.len());
    for found in shown {
        issues.extend(issue_row(visit, &audit, found, &reopened).await?);
    }
    let since = audit.since_previous;
    let totals = audit.totals.unwrap_or_default();
    let counts = [
        (
            Severity::Error,
            "Errors",
            totals.errors,
            since.map(|since| since.errors),
        ),
        (
            Severity::Warning,
            "Warnings",
            totals.warnings,
            since.map(|since| since.warnings),
        ),
        (
            Severity::Notice,
            "Notices",
            totals.notices,
            since.map(|since| since.notices),
        ),
    ];
    let counts = counts.into_iter().filter(|_| audit.totals.is_some());
    let categories = audit.category_scores.iter().flatten();
    let page_link = |page: usize| format!("?page={page}");
    let view = SharedAuditView {
        frame: visit.frame("Audit report"),
        at: visit.time(&audit.requested_at),
        status: show::audit_status(audit.status),
        ended: audit.termination.as_deref().and_then(show::termination),
        counts: counts
            .map(|(severity, name, count, change)| SeverityCount {
                severity,
                name,
                count,
                change: audits::delta(change),
            })
            .collect(),
        categories: categories
            .map(|(code, score)| (show::category(code), *score, chart::bar(f64::from(*score))))
            .collect(),
        proof,
        is_kept,
        issues,
        first: bounds.skipped + 1,
        all,
        is_first_page,
        previous: (!is_first_page).then(|| page_link(visit.page - 1)),
        next: (bounds.skipped + ISSUES < all).then(|| page_link(visit.page + 1)),
        audit,
    };
    Ok(link::respond(StatusCode::OK, &view))
}

/// Returns what changed since the audit before; `None` if there is nothing to compare with.
async fn proof(
    visit: &SharedVisit,
    audit: &Audit,
    reopened: &BTreeMap<IssueId, u64>,
) -> Result<Option<ProofView>, Failure> {
    if audit.previous_audit_id.is_none() {
        return Ok(None);
    }
    let compared = visit
        .find(&DiffAudits {
            project_id: visit.project_id(),
            audit_id: audit.id.to_string(),
            against: None,
            change: Some(Change::Removed),
            issue_id: None,
            limit: Some(FIXED),
            cursor: None,
        })
        .await?;
    // The findings of old audits are not kept.
    let Some(mut diff) = compared else {
        return Ok(None);
    };
    let changed = std::mem::take(&mut diff.issues);
    let titles: BTreeMap<IssueId, String> = changed
        .iter()
        .map(|issue| (issue.issue_id, issue.title.clone()))
        .collect();
    let fixed: Vec<(String, String)> = std::mem::take(&mut diff.changes)
        .into_iter()
        .map(|change| {
            let title = titles.get(&change.issue_id).cloned().unwrap_or_default();
            (show::cut_on_page(&show::path_of(&change.url), 150), title)
        })
        .collect();
    let of_issue = |issue: &IssueId| reopened.get(issue).copied().unwrap_or_default();
    Ok(Some(ProofView {
        reopened: reopened.values().sum(),
        more: changed.len().saturating_sub(CHANGED),
        more_fixed: diff.counts.removed.saturating_sub(fixed.len() as u64),
        rows: changed
            .into_iter()
            .take(CHANGED)
            .map(|diff| ChangedRow {
                reopened: of_issue(&diff.issue_id),
                diff,
            })
            .collect(),
        fixed,
        diff,
    }))
}

/// Returns an issue with its texts; `None` if the project has it no more.
async fn issue_row(
    visit: &SharedVisit,
    audit: &Audit,
    found: FoundWithPages,
    reopened: &BTreeMap<IssueId, u64>,
) -> Result<Option<SharedIssueRow>, Failure> {
    let issue = visit
        .find(&GetIssue {
            project_id: visit.project_id(),
            issue_id: found.id.to_string(),
        })
        .await?;
    let Some(issue) = issue else {
        return Ok(None);
    };
    let mut evidence = evidence(visit, audit, found.id).await?;
    let first: Vec<SharedPageRow> = found
        .first
        .iter()
        .map(|page| SharedPageRow::new(&page.url, evidence.remove(&page.id)))
        .collect();
    let source = &issue.recommendation_source;
    Ok(Some(SharedIssueRow {
        severity: found.severity,
        pages: found.pages,
        more: found.pages.saturating_sub(first.len() as u64),
        reopened: reopened.get(&found.id).copied().unwrap_or_default(),
        first,
        source: source.starts_with("https://").then(|| source.clone()),
        issue,
    }))
}

/// Returns the evidence of the first pages of an issue, as far as it is of this audit: of older ones it is not kept.
async fn evidence(
    visit: &SharedVisit,
    audit: &Audit,
    issue: IssueId,
) -> Result<BTreeMap<PageId, String>, Failure> {
    let listed = visit
        .find(&ListOccurrences {
            project_id: visit.project_id(),
            issue_id: issue.to_string(),
            state: None,
            limit: Some(PAGES),
            cursor: None,
        })
        .await?;
    let occurrences = listed.into_iter().flat_map(|listed| listed.data);
    Ok(occurrences
        .filter(|occurrence| occurrence.last_seen_audit_id == audit.id)
        .map(|occurrence| {
            (
                occurrence.page_id,
                show::cut_on_page(&in_words(&occurrence.evidence), 120),
            )
        })
        .collect())
}
