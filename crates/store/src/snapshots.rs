//! Snapshots of the findings of the last audits, to compare two audits. They are small: a page is the first half of its id.

use std::collections::BTreeMap;

use searchwright_contract::{
    ids::{AuditId, IssueId, PageId},
    issues::Severity,
};
use uuid::Uuid;

use crate::{Error, Result, Tx, access::ProjectScope, sql};

/// Maximum number of snapshots per project.
const MAX_SNAPSHOTS: u32 = 10;

/// State of a page, as far as audits are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageState {
    /// First half of the page id.
    pub page: u64,
    /// HTTP status; 0 if there was no response.
    pub status: u16,
    /// Whether it can appear in search results.
    pub indexable: bool,
    /// Hash of the title.
    pub title: u32,
    /// Hash of the canonical URL.
    pub canonical: u32,
}

/// Length of an encoded state in bytes.
const STATE_LEN: usize = 19;

/// Returns the first half of an id.
pub fn id_prefix(id: PageId) -> u64 {
    id.uuid().as_u64_pair().0
}

/// Saves the snapshot of an audit: its pages and the pages of each issue, both ascending. Deletes the oldest beyond
/// ten.
pub async fn save(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    pages: &[PageState],
    found: Vec<(IssueId, Vec<u64>)>,
) -> Result<()> {
    let mut data = Vec::with_capacity(pages.len() * STATE_LEN);
    for state in pages {
        data.extend(state.page.to_be_bytes());
        data.extend(state.status.to_be_bytes());
        data.push(u8::from(state.indexable));
        data.extend(state.title.to_be_bytes());
        data.extend(state.canonical.to_be_bytes());
    }
    sql("INSERT INTO audit_pages (project_id, audit_id, pages) VALUES ($1, $2, $3) ON CONFLICT (project_id, audit_id) DO UPDATE SET pages = $3")
        .bind(scope.project())
        .bind(audit)
        .bind(data)
        .execute(tx)
        .await?;
    let rows = found.into_iter().map(|(issue, pages)| {
        let data: Vec<u8> = pages.into_iter().flat_map(u64::to_be_bytes).collect();
        vec![issue.into(), data.into()]
    });
    sql(
        "INSERT INTO audit_findings (project_id, audit_id, issue_id, pages) VALUES ($1, $2, $3, $4)
         ON CONFLICT (project_id, audit_id, issue_id) DO UPDATE SET pages = $4",
    )
    .bind(scope.project())
    .bind(audit)
    .execute_each(tx, rows.collect())
    .await?;
    // Ids are UUIDv7: older audits have smaller ones.
    for text in [
        "DELETE FROM audit_findings WHERE project_id = $1 AND audit_id <
           (SELECT audit_id FROM audit_pages WHERE project_id = $1 ORDER BY audit_id DESC LIMIT 1 OFFSET $2)",
        "DELETE FROM audit_pages WHERE project_id = $1 AND audit_id <
           (SELECT audit_id FROM audit_pages WHERE project_id = $1 ORDER BY audit_id DESC LIMIT 1 OFFSET $2)",
    ] {
        sql(text)
            .bind(scope.project())
            .bind(MAX_SNAPSHOTS - 1)
            .execute(tx)
            .await?;
    }
    Ok(())
}

/// Returns the pages of an audit, ascending; `None` if there is no snapshot.
pub async fn find_pages(tx: &mut Tx, scope: ProjectScope, audit: AuditId) -> Result<Option<Vec<PageState>>> {
    let data: Option<Vec<u8>> = sql("SELECT pages FROM audit_pages WHERE project_id = $1 AND audit_id = $2")
        .bind(scope.project())
        .bind(audit)
        .fetch_optional(tx, |c| c.take())
        .await?;
    data.map(|data| data.chunks_exact(STATE_LEN).map(decode_state).collect())
        .transpose()
}

/// Returns whether the findings of an audit are kept.
pub async fn is_kept(tx: &mut Tx, scope: ProjectScope, audit: AuditId) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM audit_pages WHERE project_id = $1 AND audit_id = $2)")
        .bind(scope.project())
        .bind(audit)
        .fetch_one(tx, |c| c.take())
        .await
}

fn decode_state(bytes: &[u8]) -> Result<PageState> {
    let defect = || Error::Defect("a page of a snapshot".to_owned());
    let (page, rest) = bytes.split_first_chunk().ok_or_else(defect)?;
    let (status, rest) = rest.split_first_chunk().ok_or_else(defect)?;
    let ([indexable], rest) = rest.split_first_chunk().ok_or_else(defect)?;
    let (title, rest) = rest.split_first_chunk().ok_or_else(defect)?;
    let (canonical, _) = rest.split_first_chunk().ok_or_else(defect)?;
    Ok(PageState {
        page: u64::from_be_bytes(*page),
        status: u16::from_be_bytes(*status),
        indexable: *indexable != 0,
        title: u32::from_be_bytes(*title),
        canonical: u32::from_be_bytes(*canonical),
    })
}

/// Returns the issues that an audit found.
pub async fn list_issues(tx: &mut Tx, scope: ProjectScope, audit: AuditId) -> Result<Vec<IssueId>> {
    sql("SELECT issue_id FROM audit_findings WHERE project_id = $1 AND audit_id = $2 ORDER BY issue_id")
        .bind(scope.project())
        .bind(audit)
        .fetch_all(tx, |c| c.take())
        .await
}

/// An issue that an audit found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundIssue {
    /// The issue.
    pub id: IssueId,
    /// Severity in the newest audit.
    pub severity: Severity,
    /// Number of pages on which the audit found it.
    pub pages: u64,
    /// Number of pages on which it is ignored now.
    pub ignored: u64,
}

/// Returns the issues that an audit found, highest impact first.
pub async fn list_found(tx: &mut Tx, scope: ProjectScope, audit: AuditId) -> Result<Vec<FoundIssue>> {
    sql(
        "SELECT f.issue_id, i.severity, CAST(length(f.pages) / 8 AS BIGINT), i.counts
         FROM audit_findings f JOIN issues i ON i.project_id = f.project_id AND i.id = f.issue_id
         WHERE f.project_id = $1 AND f.audit_id = $2 ORDER BY i.impact DESC, i.check_id",
    )
    .bind(scope.project())
    .bind(audit)
    .fetch_all(tx, |c| {
        let (id, severity, pages) = (c.take()?, c.parse()?, c.take()?);
        let counts: BTreeMap<String, u64> = c.take_json()?;
        Ok(FoundIssue {
            id,
            severity,
            pages,
            ignored: counts.get("ignored").copied().unwrap_or_default(),
        })
    })
    .await
}

/// Returns the pages on which an audit found an issue, ascending.
pub async fn list_issue_pages(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    issue: IssueId,
) -> Result<Vec<u64>> {
    let data: Option<Vec<u8>> =
        sql("SELECT pages FROM audit_findings WHERE project_id = $1 AND audit_id = $2 AND issue_id = $3")
            .bind(scope.project())
            .bind(audit)
            .bind(issue)
            .fetch_optional(tx, |c| c.take())
            .await?;
    let data = data.unwrap_or_default();
    Ok(data
        .chunks_exact(8)
        .filter_map(|bytes| Some(u64::from_be_bytes(bytes.try_into().ok()?)))
        .collect())
}

/// Returns ids and URLs of pages by the first halves of their ids, in the order of `pages`.
pub async fn find_page_urls(
    tx: &mut Tx,
    scope: ProjectScope,
    pages: &[u64],
) -> Result<Vec<Option<(PageId, String)>>> {
    let rows = pages
        .iter()
        .map(|half| {
            let (first, last) = (
                Uuid::from_u64_pair(*half, 0),
                Uuid::from_u64_pair(*half, u64::MAX),
            );
            vec![first.into(), last.into()]
        })
        .collect();
    sql("SELECT id, url FROM pages WHERE project_id = $1 AND id BETWEEN $2 AND $3 LIMIT 1")
        .bind(scope.project())
        .fetch_optional_each(tx, rows, |c| Ok((c.take()?, c.take()?)))
        .await
}
