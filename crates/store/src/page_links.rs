//! Where the crawl of an audit keeps each URL, and which pages link there, so that the links of a page are found without
//! reading the crawl.

use uuid::Uuid;

use crate::{Result, Tx, access::ProjectScope, sql};

/// Some URLs, packed, with the first of their ids.
pub type Portion = (Uuid, Vec<u8>);

/// Saves portions of an audit; the first ones replace what an interrupted run left.
pub async fn save(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    portions: Vec<Portion>,
    first: bool,
) -> Result<()> {
    if first {
        sql("DELETE FROM page_links WHERE project_id = $1 AND audit_id = $2")
            .bind(scope.project())
            .bind(audit)
            .execute(tx)
            .await?;
    }
    let rows = portions
        .into_iter()
        .map(|(first, data)| vec![first.into(), data.into()]);
    sql("INSERT INTO page_links (project_id, audit_id, first_id, data) VALUES ($1, $2, $3, $4)")
        .bind(scope.project())
        .bind(audit)
        .execute_each(tx, rows.collect())
        .await?;
    Ok(())
}

/// The first ids of the portions of an audit, ascending; none when its crawl is gone.
pub async fn firsts(tx: &mut Tx, scope: ProjectScope, audit: Uuid) -> Result<Vec<Uuid>> {
    sql("SELECT first_id FROM page_links WHERE project_id = $1 AND audit_id = $2 ORDER BY first_id")
        .bind(scope.project())
        .bind(audit)
        .fetch_all(tx, |c| c.take())
        .await
}

/// Portions by their first ids.
pub async fn load(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    firsts: Vec<Uuid>,
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
