//! What the pages of an audit are called, by their titles and first headings: pages that are called the same compete for it.

use uuid::Uuid;

use crate::{Result, Tx, access::ProjectScope, sql};

/// Pages kept of a name.
pub const MOST: usize = 10;

/// Notes pages of an audit by hashes of what they are called; in their order.
pub async fn note(tx: &mut Tx, scope: ProjectScope, audit: Uuid, pages: Vec<(i64, Uuid)>) -> Result<()> {
    let rows = pages.into_iter().map(|(key, page)| vec![key.into(), page.into()]);
    sql("INSERT INTO page_names (project_id, audit_id, key, page_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING")
        .bind(scope.project())
        .bind(audit)
        .run_each_in_order(tx, rows.collect())
        .await?;
    Ok(())
}

/// Addresses of the pages that an audit found to be called this.
pub async fn called(tx: &mut Tx, scope: ProjectScope, audit: Uuid, key: i64) -> Result<Vec<String>> {
    sql(
        "SELECT p.url FROM page_names n JOIN pages p ON p.project_id = n.project_id AND p.id = n.page_id
         WHERE n.project_id = $1 AND n.audit_id = $2 AND n.key = $3 ORDER BY p.url",
    )
    .bind(scope.project())
    .bind(audit)
    .bind(key)
    .all(tx, |c| c.take())
    .await
}

/// Forgets names that older audits noted, so many at most; how many there were. An id is a UUIDv7: what is older has a
/// smaller one.
pub async fn forget_older(tx: &mut Tx, scope: ProjectScope, audit: Uuid, rows: usize) -> Result<u64> {
    sql(
        "DELETE FROM page_names WHERE project_id = $1 AND (audit_id, key, page_id) IN
           (SELECT audit_id, key, page_id FROM page_names WHERE project_id = $1 AND audit_id < $2 LIMIT $3)",
    )
    .bind(scope.project())
    .bind(audit)
    .bind(rows as i64)
    .run(tx)
    .await
}
