//! What a crawl has saved so far: numbered batches, each whole or absent, so that it can go on after a crash. And robots.txt,
//! which outlives it.

use searchwright_contract::Instant;
use uuid::Uuid;

use crate::{Result, Tx, access::ProjectScope, sql};

/// A batch as it is kept.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    /// What is known of its pages.
    pub data: Vec<u8>,
    /// Their texts, which are read by themselves; `None` where they are not kept.
    pub texts: Option<Vec<u8>>,
    /// What other texts are compared with; `None` where it is not kept.
    pub sketches: Option<Vec<u8>>,
    /// By what its pages can be asked for only if they have changed; `None` where none of them can.
    pub validators: Option<Vec<u8>>,
}

/// Saves a batch.
pub async fn save(tx: &mut Tx, scope: ProjectScope, audit: Uuid, number: u32, batch: Packed) -> Result<()> {
    sql("INSERT INTO crawl_batches (project_id, audit_id, number, data, texts, sketches) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(scope.project())
        .bind(audit)
        .bind(number)
        .bind(batch.data)
        .bind(batch.texts)
        .bind(batch.sketches)
        .execute(tx)
        .await?;
    if let Some(validators) = batch.validators {
        sql("INSERT INTO crawl_validators (project_id, audit_id, number, data) VALUES ($1, $2, $3, $4)")
            .bind(scope.project())
            .bind(audit)
            .bind(number)
            .bind(validators)
            .execute(tx)
            .await?;
    }
    Ok(())
}

/// Keeps what the site answered when it was asked for robots.txt, and when that was.
pub async fn keep_robots(tx: &mut Tx, scope: ProjectScope, seen: Instant, data: Vec<u8>) -> Result<()> {
    sql(
        "INSERT INTO robots_copies (project_id, seen_at, data) VALUES ($1, $2, $3)
         ON CONFLICT (project_id) DO UPDATE SET seen_at = $2, data = $3",
    )
    .bind(scope.project())
    .bind(seen)
    .bind(data)
    .execute(tx)
    .await?;
    Ok(())
}

/// What was kept of it.
pub async fn robots(tx: &mut Tx, scope: ProjectScope) -> Result<Option<(Instant, Vec<u8>)>> {
    sql("SELECT seen_at, data FROM robots_copies WHERE project_id = $1")
        .bind(scope.project())
        .fetch_optional(tx, |c| Ok((c.take()?, c.take()?)))
        .await
}

/// Numbers of batches from this one on, at most so many, with what their pages can be asked by.
pub async fn validators(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    from: u32,
    most: u32,
) -> Result<Vec<(u32, Vec<u8>)>> {
    sql("SELECT number, data FROM crawl_validators WHERE project_id = $1 AND audit_id = $2 AND number >= $3 ORDER BY number LIMIT $4")
        .bind(scope.project())
        .bind(audit)
        .bind(from)
        .bind(most)
        .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
        .await
}

/// A batch; `None` after the last.
pub async fn load(tx: &mut Tx, scope: ProjectScope, audit: Uuid, number: u32) -> Result<Option<Vec<u8>>> {
    sql("SELECT data FROM crawl_batches WHERE project_id = $1 AND audit_id = $2 AND number = $3")
        .bind(scope.project())
        .bind(audit)
        .bind(number)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Batches by their numbers, each in its place.
pub async fn load_each(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    numbers: &[u32],
) -> Result<Vec<Option<Vec<u8>>>> {
    sql("SELECT data FROM crawl_batches WHERE project_id = $1 AND audit_id = $2 AND number = $3")
        .bind(scope.project())
        .bind(audit)
        .fetch_optional_each(
            tx,
            numbers.iter().map(|number| vec![(*number).into()]).collect(),
            |c| c.take(),
        )
        .await
}

/// Returns the texts of a batch; `None` after the last, and for a batch whose texts are not kept.
pub async fn texts(tx: &mut Tx, scope: ProjectScope, audit: Uuid, number: u32) -> Result<Option<Vec<u8>>> {
    let texts =
        sql("SELECT texts FROM crawl_batches WHERE project_id = $1 AND audit_id = $2 AND number = $3")
            .bind(scope.project())
            .bind(audit)
            .bind(number)
            .fetch_optional(tx, |c| c.take::<Option<Vec<u8>>>())
            .await?;
    Ok(texts.flatten())
}

/// Batches of an audit whose texts are kept, which are its first.
pub async fn with_texts(tx: &mut Tx, scope: ProjectScope, audit: Uuid) -> Result<u32> {
    sql("SELECT count(*) FROM crawl_batches WHERE project_id = $1 AND audit_id = $2 AND texts IS NOT NULL")
        .bind(scope.project())
        .bind(audit)
        .fetch_one(tx, |c| c.take())
        .await
}

/// What is kept of the newest audit that has finished to compare texts with, batch after batch.
pub async fn sketches(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<Vec<u8>>> {
    sql("SELECT sketches FROM crawl_batches WHERE project_id = $1 AND sketches IS NOT NULL AND audit_id =
           (SELECT id FROM audits WHERE project_id = $1 AND status IN ('completed', 'partial') ORDER BY id DESC LIMIT 1)
         ORDER BY number")
        .bind(scope.project())
        .fetch_all(tx, |c| c.take())
        .await
}

/// Forgets the crawls of every audit but this one.
pub async fn forget_others(tx: &mut Tx, scope: ProjectScope, audit: Uuid) -> Result<()> {
    for text in [
        "DELETE FROM crawl_batches WHERE project_id = $1 AND audit_id <> $2",
        "DELETE FROM crawl_validators WHERE project_id = $1 AND audit_id <> $2",
        "DELETE FROM page_links WHERE project_id = $1 AND audit_id <> $2",
    ] {
        sql(text).bind(scope.project()).bind(audit).execute(tx).await?;
    }
    Ok(())
}
