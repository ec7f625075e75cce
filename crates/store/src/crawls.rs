//! Stored crawls: numbered batches of pages, each whole or absent, so that a crawl resumes after a crash; and the last
//! robots.txt of a site, which outlives the crawl.

use searchwright_contract::{Instant, ids::AuditId};

use crate::{Result, Tx, access::ProjectScope, sql};

/// A batch as it is stored.
#[derive(Clone, Debug, Default)]
pub struct PackedBatch {
    /// Facts of its pages.
    pub data: Vec<u8>,
    /// Main texts of its pages, which are read apart from the facts; `None` if they are not kept.
    pub texts: Option<Vec<u8>>,
    /// MinHash sketches of its texts; `None` if they are not kept.
    pub sketches: Option<Vec<u8>>,
    /// Validators (ETag, Last-Modified) of its pages; `None` if there are none.
    pub validators: Option<Vec<u8>>,
}

/// Inserts a batch.
pub async fn insert_batch(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    number: u32,
    batch: PackedBatch,
) -> Result<()> {
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

/// Saves the response to a request of robots.txt and its time.
pub async fn save_robots(tx: &mut Tx, scope: ProjectScope, seen: Instant, data: Vec<u8>) -> Result<()> {
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

/// Returns the last response to a request of robots.txt and its time.
pub async fn find_robots(tx: &mut Tx, scope: ProjectScope) -> Result<Option<(Instant, Vec<u8>)>> {
    sql("SELECT seen_at, data FROM robots_copies WHERE project_id = $1")
        .bind(scope.project())
        .fetch_optional(tx, |c| Ok((c.take()?, c.take()?)))
        .await
}

/// Returns the validators of at most `limit` batches, from number `from` on, with the numbers of the batches.
pub async fn list_validators(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    from: u32,
    limit: u32,
) -> Result<Vec<(u32, Vec<u8>)>> {
    sql("SELECT number, data FROM crawl_validators WHERE project_id = $1 AND audit_id = $2 AND number >= $3 ORDER BY number LIMIT $4")
        .bind(scope.project())
        .bind(audit)
        .bind(from)
        .bind(limit)
        .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
        .await
}

/// Returns the page facts of a batch; `None` after the last.
pub async fn find_batch(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    number: u32,
) -> Result<Option<Vec<u8>>> {
    sql("SELECT data FROM crawl_batches WHERE project_id = $1 AND audit_id = $2 AND number = $3")
        .bind(scope.project())
        .bind(audit)
        .bind(number)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Returns the page facts of batches in the order of `numbers`.
pub async fn find_batches(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
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
pub async fn find_texts(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    number: u32,
) -> Result<Option<Vec<u8>>> {
    let texts =
        sql("SELECT texts FROM crawl_batches WHERE project_id = $1 AND audit_id = $2 AND number = $3")
            .bind(scope.project())
            .bind(audit)
            .bind(number)
            .fetch_optional(tx, |c| c.take::<Option<Vec<u8>>>())
            .await?;
    Ok(texts.flatten())
}

/// Counts the batches of an audit whose texts are kept, which are its first.
pub async fn count_batches_with_texts(tx: &mut Tx, scope: ProjectScope, audit: AuditId) -> Result<u32> {
    sql("SELECT count(*) FROM crawl_batches WHERE project_id = $1 AND audit_id = $2 AND texts IS NOT NULL")
        .bind(scope.project())
        .bind(audit)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Returns the sketches of the newest audit with results, one value per batch.
pub async fn list_sketches(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<Vec<u8>>> {
    sql("SELECT sketches FROM crawl_batches WHERE project_id = $1 AND sketches IS NOT NULL AND audit_id =
           (SELECT id FROM audits WHERE project_id = $1 AND status IN ('completed', 'partial') ORDER BY id DESC LIMIT 1)
         ORDER BY number")
        .bind(scope.project())
        .fetch_all(tx, |c| c.take())
        .await
}

/// Deletes the crawls of all audits but this one.
pub async fn delete_others(tx: &mut Tx, scope: ProjectScope, audit: AuditId) -> Result<()> {
    for text in [
        "DELETE FROM crawl_batches WHERE project_id = $1 AND audit_id <> $2",
        "DELETE FROM crawl_validators WHERE project_id = $1 AND audit_id <> $2",
        "DELETE FROM page_links WHERE project_id = $1 AND audit_id <> $2",
    ] {
        sql(text).bind(scope.project()).bind(audit).execute(tx).await?;
    }
    Ok(())
}
