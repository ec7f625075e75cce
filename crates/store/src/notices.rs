//! Notices: what needs a person, and the facts that are told of it.

pub mod facts;
pub mod messages;
pub mod settings;

use searchwright_contract::Instant;
use serde_json::Value;
use uuid::Uuid;

use crate::{Cells, Json, Result, Tx, access::ProjectScope, sql};

/// Days for which notices and messages are kept.
const RETENTION_DAYS: i64 = 90;

/// A notice.
#[derive(Clone, Debug, PartialEq)]
pub struct NoticeRecord {
    /// Identifier, UUIDv7 of its first event.
    pub id: Uuid,
    /// Kind.
    pub kind: String,
    /// Record whose change ends the cause.
    pub subject: Uuid,
    /// Number of events of the cause.
    pub times: u64,
    /// Facts.
    pub facts: Value,
    /// Headline, once it was told.
    pub headline: Option<String>,
    /// Address of the page that shows it, once it was told.
    pub link: Option<String>,
    /// Time of the first event.
    pub first_at: Instant,
    /// Time at which it is told.
    pub due_at: Instant,
    /// Batch in which it was told; notices of one batch were told together.
    pub batch: Option<Uuid>,
    /// Time at which it was told.
    pub told_at: Option<Instant>,
    /// Time at which the cause was over.
    pub ended_at: Option<Instant>,
}

macro_rules! columns {
    () => {
        "id, kind, subject, times, facts, headline, link, first_at, due_at, batch, told_at, ended_at"
    };
}

fn read_notice(c: &mut Cells<'_>) -> Result<NoticeRecord> {
    Ok(NoticeRecord {
        id: c.take()?,
        kind: c.take()?,
        subject: c.take()?,
        times: c.take()?,
        facts: c.take::<Json>()?.0,
        headline: c.take()?,
        link: c.take()?,
        first_at: c.take()?,
        due_at: c.take()?,
        batch: c.take()?,
        told_at: c.take()?,
        ended_at: c.take()?,
    })
}

/// A notice to be inserted.
#[derive(Clone, Debug)]
pub struct NewNotice {
    /// Identifier, UUIDv7 of now.
    pub id: Uuid,
    /// Kind.
    pub kind: &'static str,
    /// Key of the cause.
    pub cause: String,
    /// Record whose change ends the cause.
    pub subject: Uuid,
    /// Facts.
    pub facts: Value,
    /// Time at which it is told.
    pub due_at: Instant,
}

/// Returns at most `limit` projects with events that were not read.
pub async fn list_unread(tx: &mut Tx, limit: u32) -> Result<Vec<ProjectScope>> {
    sql(
        "SELECT h.project_id FROM event_heads h LEFT JOIN notice_heads n ON n.project_id = h.project_id
         WHERE n.project_id IS NULL OR n.position < h.position LIMIT $1",
    )
    .bind(limit)
    .fetch_all(tx, |c| Ok(ProjectScope::from_row(c.take()?)))
    .await
}

/// Returns the position up to which the events of a project were read, and keeps others from reading them until the end of the
/// transaction.
pub async fn lock_head(tx: &mut Tx, scope: ProjectScope) -> Result<i64> {
    sql("INSERT INTO notice_heads (project_id, position) VALUES ($1, 0)
         ON CONFLICT (project_id) DO UPDATE SET position = notice_heads.position RETURNING position")
    .bind(scope.project())
    .fetch_one(tx, |c| c.take())
    .await
}

/// Returns the newest position of the events of a project.
pub async fn newest_position(tx: &mut Tx, scope: ProjectScope) -> Result<i64> {
    let newest = sql("SELECT position FROM event_heads WHERE project_id = $1")
        .bind(scope.project())
        .fetch_optional(tx, |c| c.take())
        .await?;
    Ok(newest.unwrap_or(0))
}

/// Sets the position up to which the events of a project were read.
pub async fn set_head(tx: &mut Tx, scope: ProjectScope, position: i64) -> Result<()> {
    sql("UPDATE notice_heads SET position = $2 WHERE project_id = $1")
        .bind(scope.project())
        .bind(position)
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns the notice of a cause that stands.
pub async fn find_standing(
    tx: &mut Tx,
    scope: ProjectScope,
    kind: &'static str,
    cause: &str,
) -> Result<Option<NoticeRecord>> {
    sql(concat!(
        "SELECT ",
        columns!(),
        " FROM notices WHERE project_id = $1 AND kind = $2 AND cause = $3 AND ended_at IS NULL"
    ))
    .bind(scope.project())
    .bind(kind)
    .bind(cause.to_owned())
    .fetch_optional(tx, read_notice)
    .await
}

/// Inserts a notice.
pub async fn insert(tx: &mut Tx, scope: ProjectScope, new: NewNotice, now: Instant) -> Result<()> {
    sql(
        "INSERT INTO notices (project_id, id, kind, cause, subject, times, facts, first_at, due_at)
         VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8)",
    )
    .bind(scope.project())
    .bind(new.id)
    .bind(new.kind)
    .bind(new.cause)
    .bind(new.subject)
    .bind(Json(new.facts))
    .bind(now)
    .bind(new.due_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// Counts another event of a notice, and replaces its facts.
pub async fn add(tx: &mut Tx, scope: ProjectScope, id: Uuid, facts: Value) -> Result<()> {
    sql("UPDATE notices SET times = times + 1, facts = $3 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(Json(facts))
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns the notices that concern a record and were not told, while their cause stands.
pub async fn list_untold_of(tx: &mut Tx, scope: ProjectScope, subject: Uuid) -> Result<Vec<NoticeRecord>> {
    sql(concat!(
        "SELECT ",
        columns!(),
        " FROM notices WHERE project_id = $1 AND subject = $2 AND ended_at IS NULL AND batch IS NULL ORDER BY id"
    ))
    .bind(scope.project())
    .bind(subject)
    .fetch_all(tx, read_notice)
    .await
}

/// Makes a notice due at a time, with its last facts.
pub async fn make_due(
    tx: &mut Tx,
    scope: ProjectScope,
    id: Uuid,
    facts: Value,
    due_at: Instant,
) -> Result<()> {
    sql("UPDATE notices SET facts = $3, due_at = $4 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(Json(facts))
        .bind(due_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Ends the causes that concern a record. What was not told is told no more.
pub async fn end_all_of(tx: &mut Tx, scope: ProjectScope, subject: Uuid, now: Instant) -> Result<()> {
    sql("UPDATE notices SET ended_at = $3 WHERE project_id = $1 AND subject = $2 AND ended_at IS NULL")
        .bind(scope.project())
        .bind(subject)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Ends a notice.
pub async fn end(tx: &mut Tx, scope: ProjectScope, id: Uuid, now: Instant) -> Result<()> {
    sql("UPDATE notices SET ended_at = $3 WHERE project_id = $1 AND id = $2 AND ended_at IS NULL")
        .bind(scope.project())
        .bind(id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns at most `limit` projects with notices that are due.
pub async fn list_due(tx: &mut Tx, now: Instant, limit: u32) -> Result<Vec<ProjectScope>> {
    sql("SELECT DISTINCT project_id FROM (SELECT project_id FROM notices
           WHERE batch IS NULL AND ended_at IS NULL AND due_at <= $1 ORDER BY due_at LIMIT 1000) due LIMIT $2")
    .bind(now)
    .bind(limit)
    .fetch_all(tx, |c| Ok(ProjectScope::from_row(c.take()?)))
    .await
}

/// Takes the notices of a project that are due until a time into a batch, oldest first.
pub async fn take_due(
    tx: &mut Tx,
    scope: ProjectScope,
    batch: Uuid,
    until: Instant,
    now: Instant,
) -> Result<Vec<NoticeRecord>> {
    let mut taken = sql(concat!(
        "UPDATE notices SET batch = $2, told_at = $4
         WHERE project_id = $1 AND batch IS NULL AND ended_at IS NULL AND due_at <= $3 RETURNING ",
        columns!()
    ))
    .bind(scope.project())
    .bind(batch)
    .bind(until)
    .bind(now)
    .fetch_all(tx, read_notice)
    .await?;
    taken.sort_by_key(|notice| notice.id);
    Ok(taken)
}

/// Stores in which words a notice was told.
pub async fn set_words(tx: &mut Tx, scope: ProjectScope, id: Uuid, headline: &str, link: &str) -> Result<()> {
    sql("UPDATE notices SET headline = $3, link = $4 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(headline)
        .bind(link)
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns the newest notices of a project.
pub async fn list_newest(tx: &mut Tx, scope: ProjectScope, limit: u32) -> Result<Vec<NoticeRecord>> {
    sql(concat!(
        "SELECT ",
        columns!(),
        " FROM notices WHERE project_id = $1 ORDER BY id DESC LIMIT $2"
    ))
    .bind(scope.project())
    .bind(limit)
    .fetch_all(tx, read_notice)
    .await
}

/// Deletes notices and messages older than 90 days, at most `limit` of each, and returns the number of rows.
pub async fn delete_expired(tx: &mut Tx, now: Instant, limit: u32) -> Result<u64> {
    let before = now.plus_millis(-RETENTION_DAYS * 86_400_000);
    let notices = sql("DELETE FROM notices WHERE (project_id, id) IN
           (SELECT project_id, id FROM (SELECT project_id, id FROM notices WHERE first_at < $1 ORDER BY first_at LIMIT 10000) old LIMIT $2)")
    .bind(before)
    .bind(limit)
    .execute(tx)
    .await?;
    let messages = sql("DELETE FROM notice_messages WHERE (project_id, id) IN
           (SELECT project_id, id FROM (SELECT project_id, id FROM notice_messages WHERE created_at < $1 ORDER BY created_at LIMIT 10000) old LIMIT $2)")
    .bind(before)
    .bind(limit)
    .execute(tx)
    .await?;
    Ok(notices + messages)
}
