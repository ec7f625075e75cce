//! What audits found, kept small, so that two of them can be compared: a page is the first half of its id.

use uuid::Uuid;

use crate::{Error, Result, Tx, access::ProjectScope, sql};

/// Audits whose findings are kept.
const KEPT: u32 = 10;

/// A page as far as audits are compared, in the order of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The first half of its id.
    pub page: u64,
    /// Status; 0 without an answer.
    pub status: u16,
    /// It can appear in search results.
    pub indexable: bool,
    /// Hash of its title.
    pub title: u32,
    /// Hash of its canonical.
    pub canonical: u32,
}

/// Bytes of a mark.
const MARK: usize = 19;

/// The first half of an id.
pub fn half(id: Uuid) -> u64 {
    id.as_u64_pair().0
}

/// Keeps what an audit found: its pages and, for each issue, the pages it is on, both ascending. Forgets the oldest.
pub async fn keep(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    pages: &[Mark],
    found: Vec<(Uuid, Vec<u64>)>,
) -> Result<()> {
    let mut data = Vec::with_capacity(pages.len() * MARK);
    for mark in pages {
        data.extend(mark.page.to_be_bytes());
        data.extend(mark.status.to_be_bytes());
        data.push(u8::from(mark.indexable));
        data.extend(mark.title.to_be_bytes());
        data.extend(mark.canonical.to_be_bytes());
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
    // An id is a UUIDv7: what is older has a smaller one.
    for text in [
        "DELETE FROM audit_findings WHERE project_id = $1 AND audit_id <
           (SELECT audit_id FROM audit_pages WHERE project_id = $1 ORDER BY audit_id DESC LIMIT 1 OFFSET $2)",
        "DELETE FROM audit_pages WHERE project_id = $1 AND audit_id <
           (SELECT audit_id FROM audit_pages WHERE project_id = $1 ORDER BY audit_id DESC LIMIT 1 OFFSET $2)",
    ] {
        sql(text).bind(scope.project()).bind(KEPT - 1).execute(tx).await?;
    }
    Ok(())
}

/// The pages of an audit; `None` when they are not kept.
pub async fn pages(tx: &mut Tx, scope: ProjectScope, audit: Uuid) -> Result<Option<Vec<Mark>>> {
    let data: Option<Vec<u8>> = sql("SELECT pages FROM audit_pages WHERE project_id = $1 AND audit_id = $2")
        .bind(scope.project())
        .bind(audit)
        .fetch_optional(tx, |c| c.take())
        .await?;
    data.map(|data| data.chunks_exact(MARK).map(mark).collect())
        .transpose()
}

fn mark(bytes: &[u8]) -> Result<Mark> {
    let defect = || Error::Defect("a mark of a page".to_owned());
    let (page, rest) = bytes.split_first_chunk().ok_or_else(defect)?;
    let (status, rest) = rest.split_first_chunk().ok_or_else(defect)?;
    let ([indexable], rest) = rest.split_first_chunk().ok_or_else(defect)?;
    let (title, rest) = rest.split_first_chunk().ok_or_else(defect)?;
    let (canonical, _) = rest.split_first_chunk().ok_or_else(defect)?;
    Ok(Mark {
        page: u64::from_be_bytes(*page),
        status: u16::from_be_bytes(*status),
        indexable: *indexable != 0,
        title: u32::from_be_bytes(*title),
        canonical: u32::from_be_bytes(*canonical),
    })
}

/// The issues an audit found.
pub async fn issues(tx: &mut Tx, scope: ProjectScope, audit: Uuid) -> Result<Vec<Uuid>> {
    sql("SELECT issue_id FROM audit_findings WHERE project_id = $1 AND audit_id = $2 ORDER BY issue_id")
        .bind(scope.project())
        .bind(audit)
        .fetch_all(tx, |c| c.take())
        .await
}

/// The pages on which an audit found an issue, ascending.
pub async fn found(tx: &mut Tx, scope: ProjectScope, audit: Uuid, issue: Uuid) -> Result<Vec<u64>> {
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

/// Ids and addresses of pages by the first halves of their ids, each in its place.
pub async fn named(tx: &mut Tx, scope: ProjectScope, pages: &[u64]) -> Result<Vec<Option<(Uuid, String)>>> {
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
