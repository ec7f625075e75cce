//! Index of a crawl: the batch of each URL and the pages that link there, so that the links of a page are found without reading
//! the crawl.

use searchwright_contract::ids::{AuditId, PageId};

use crate::{Result, Tx, access::ProjectScope, sql};

/// A chunk of packed URLs, with the first of their ids.
pub type LinkChunk = (PageId, Vec<u8>);

/// Inserts chunks of an audit. With `first`, chunks of an interrupted run are deleted before.
pub async fn insert(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    chunks: Vec<LinkChunk>,
    first: bool,
) -> Result<()> {
    if first {
        sql("DELETE FROM page_links WHERE project_id = $1 AND audit_id = $2")
            .bind(scope.project())
            .bind(audit)
            .execute(tx)
            .await?;
    }
    let rows = chunks
        .into_iter()
        .map(|(first, data)| vec![first.into(), data.into()]);
    sql("INSERT INTO page_links (project_id, audit_id, first_id, data) VALUES ($1, $2, $3, $4)")
        .bind(scope.project())
        .bind(audit)
        .execute_each(tx, rows.collect())
        .await?;
    Ok(())
}

/// Returns the first ids of the chunks of an audit, ascending; none if its crawl was deleted.
pub async fn list_first_ids(tx: &mut Tx, scope: ProjectScope, audit: AuditId) -> Result<Vec<PageId>> {
    sql("SELECT first_id FROM page_links WHERE project_id = $1 AND audit_id = $2 ORDER BY first_id")
        .bind(scope.project())
        .bind(audit)
        .fetch_all(tx, |c| c.take())
        .await
}

/// Returns chunks in the order of their first ids in `firsts`.
pub async fn find_chunks(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    firsts: Vec<PageId>,
) -> Result<Vec<Option<Vec<u8>>>> {
    sql("SELECT data FROM page_links WHERE project_id = $1 AND audit_id = $2 AND first_id = $3")
        .bind(scope.project())
        .bind(audit)
        .fetch_optional_each(
            tx,
            firsts.into_iter().map(|first| vec![first.into()]).collect(),
            |c| c.take(),
        )
        .await
}
