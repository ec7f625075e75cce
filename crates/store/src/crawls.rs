//! What a crawl has saved so far: numbered batches, each whole or absent, so that it can go on after a crash.

use uuid::Uuid;

use crate::{Result, Tx, access::ProjectScope, sql};

/// Saves a batch.
pub async fn save(tx: &mut Tx, scope: ProjectScope, audit: Uuid, number: u32, data: Vec<u8>) -> Result<()> {
    sql("INSERT INTO crawl_batches (project_id, audit_id, number, data) VALUES ($1, $2, $3, $4)")
        .bind(scope.project())
        .bind(audit)
        .bind(number)
        .bind(data)
        .run(tx)
        .await?;
    Ok(())
}

/// A batch; `None` after the last.
pub async fn load(tx: &mut Tx, scope: ProjectScope, audit: Uuid, number: u32) -> Result<Option<Vec<u8>>> {
    sql("SELECT data FROM crawl_batches WHERE project_id = $1 AND audit_id = $2 AND number = $3")
        .bind(scope.project())
        .bind(audit)
        .bind(number)
        .optional(tx, |c| c.take())
        .await
}

/// Forgets the batches of every audit but this one.
pub async fn forget_others(tx: &mut Tx, scope: ProjectScope, audit: Uuid) -> Result<()> {
    sql("DELETE FROM crawl_batches WHERE project_id = $1 AND audit_id <> $2")
        .bind(scope.project())
        .bind(audit)
        .run(tx)
        .await?;
    Ok(())
}
