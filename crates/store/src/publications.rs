//! Publications: the state of posts at providers, and the attempts to publish them.

use searchwright_contract::{
    Instant,
    ids::{AttemptId, ConnectionId, JobId, PostId},
    integrations::{IntegrationError, Provider},
    posts::{Evidence, PostStatus, Publication, PublicationState, PublishAttempt, Verification},
};

use crate::{Cells, Json, Result, Tx, access::ProjectScope, sql, statement::indexed};

/// Maximum number of entries of evidence per attempt.
const MAX_EVIDENCE: usize = 50;

/// State of a post at a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicationRecord {
    /// Id of the post.
    pub post: PostId,
    /// Id of the connection.
    pub connection: ConnectionId,
    /// The provider.
    pub provider: Provider,
    /// State of the publication.
    pub state: PublicationState,
    /// Whether readers see it.
    pub is_live: bool,
    /// Id at the provider.
    pub external_id: Option<String>,
    /// Public URL.
    pub external_url: Option<String>,
    /// Version at the provider after our last write.
    pub external_version: Option<String>,
    /// Digest of the fields that were sent.
    pub content_hash: Option<Vec<u8>>,
    /// Version of the post that was sent.
    pub post_version: Option<i64>,
    /// Result of the check of the public page.
    pub verification: Option<Verification>,
    /// Error of the last attempt.
    pub last_error: Option<IntegrationError>,
    /// Time at which it was first live.
    pub published_at: Option<Instant>,
}

impl PublicationRecord {
    /// Creates the record of a post that was never published there.
    pub const fn new(post: PostId, connection: ConnectionId, provider: Provider) -> Self {
        Self {
            post,
            connection,
            provider,
            state: PublicationState::Pending,
            is_live: false,
            external_id: None,
            external_url: None,
            external_version: None,
            content_hash: None,
            post_version: None,
            verification: None,
            last_error: None,
            published_at: None,
        }
    }
}

/// An attempt to publish or to unpublish a post.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicationAttempt {
    /// Identifier.
    pub id: AttemptId,
    /// Id of the post.
    pub post: PostId,
    /// Id of the connection.
    pub connection: ConnectionId,
    /// Id of the job that does it.
    pub job: JobId,
    /// Aim: `live`, `draft` or `gone`.
    pub aim: String,
    /// Overwrites changes that others made at the provider.
    pub force: bool,
    /// Creates the post again if others deleted it at the provider.
    pub recreate: bool,
    /// Version of the post.
    pub post_version: i64,
    /// Digest of the fields that are sent.
    pub content_hash: Vec<u8>,
    /// Status of the post before.
    pub from_status: PostStatus,
    /// State of the attempt.
    pub state: PublicationState,
    /// Request that was sent and not answered: `create` or `change`.
    pub sent: Option<String>,
    /// The post was not at the provider before anything was sent.
    pub was_absent: bool,
    /// Number of look-ups after a lost response.
    pub checks: u32,
    /// Number of consecutive look-ups that did not find it.
    pub misses: u32,
    /// Time of the first of them.
    pub first_missed_at: Option<Instant>,
    /// Time of the next look-up.
    pub next_check_at: Option<Instant>,
    /// Log of actions and observations.
    pub evidence: Vec<Evidence>,
    /// Time of the start.
    pub created_at: Instant,
    /// Time at which the outcome was known.
    pub finished_at: Option<Instant>,
}

impl PublicationAttempt {
    /// Adds an entry of evidence.
    pub fn add_evidence(&mut self, what: &str, detail: impl Into<Option<String>>, at: Instant) {
        if self.evidence.len() >= MAX_EVIDENCE {
            // The first and the last entries matter most.
            self.evidence.remove(MAX_EVIDENCE / 2);
        }
        self.evidence.push(Evidence {
            at,
            what: what.to_owned(),
            detail: detail.into(),
        });
    }
}

macro_rules! attempts {
    () => {
        "SELECT id, post_id, connection_id, job_id, aim, force, recreate, post_version, content_hash, from_status, state, sent, was_absent,
               checks, misses, first_missed_at, next_check_at, evidence, created_at, finished_at FROM publish_attempts"
    };
}

fn read_attempt(c: &mut Cells<'_>) -> Result<PublicationAttempt> {
    Ok(PublicationAttempt {
        id: c.take()?,
        post: c.take()?,
        connection: c.take()?,
        job: c.take()?,
        aim: c.take()?,
        force: c.take()?,
        recreate: c.take()?,
        post_version: c.take()?,
        content_hash: c.take()?,
        from_status: c.parse()?,
        state: c.parse()?,
        sent: c.take()?,
        was_absent: c.take()?,
        checks: c.take()?,
        misses: c.take()?,
        first_missed_at: c.take()?,
        next_check_at: c.take()?,
        evidence: c.take_json()?,
        created_at: c.take()?,
        finished_at: c.take()?,
    })
}

/// Inserts an attempt; [`Error::Duplicate`](crate::Error::Duplicate) if the post has an unfinished one.
pub async fn insert_attempt(tx: &mut Tx, scope: ProjectScope, new: &PublicationAttempt) -> Result<()> {
    sql("INSERT INTO publish_attempts (project_id, id, post_id, connection_id, job_id, aim, force, recreate, post_version, content_hash,
           from_status, state, was_absent, checks, misses, evidence, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, 0, $14, $15)")
    .bind(scope.project())
    .bind(new.id)
    .bind(new.post)
    .bind(new.connection)
    .bind(new.job)
    .bind(&new.aim)
    .bind(new.force)
    .bind(new.recreate)
    .bind(new.post_version)
    .bind(new.content_hash.as_slice())
    .bind(new.from_status.as_str())
    .bind(new.state.as_str())
    .bind(new.was_absent)
    .bind(Json::encode(&new.evidence)?)
    .bind(new.created_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns an attempt; [`Error::Missing`](crate::Error::Missing) if the project has none of this id.
pub async fn get_attempt(tx: &mut Tx, scope: ProjectScope, id: AttemptId) -> Result<PublicationAttempt> {
    sql(concat!(attempts!(), " WHERE project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, read_attempt)
        .await
}

/// Returns the unfinished attempt of a post.
pub async fn find_open_attempt(
    tx: &mut Tx,
    scope: ProjectScope,
    post: PostId,
) -> Result<Option<PublicationAttempt>> {
    sql(concat!(
        attempts!(),
        " WHERE project_id = $1 AND post_id = $2 AND finished_at IS NULL"
    ))
    .bind(scope.project())
    .bind(post)
    .fetch_optional(tx, read_attempt)
    .await
}

/// Returns the unfinished attempt of a job.
pub async fn find_open_attempt_of_job(
    tx: &mut Tx,
    scope: ProjectScope,
    job: JobId,
) -> Result<Option<PublicationAttempt>> {
    sql(indexed!(
        tx,
        attempts!(),
        "publish_attempts_open",
        "WHERE project_id = $1 AND job_id = $2 AND finished_at IS NULL"
    ))
    .bind(scope.project())
    .bind(job)
    .fetch_optional(tx, read_attempt)
    .await
}

/// Updates an attempt.
pub async fn update_attempt(tx: &mut Tx, scope: ProjectScope, changed: &PublicationAttempt) -> Result<()> {
    sql("UPDATE publish_attempts SET job_id = $3, force = $4, recreate = $5, state = $6, sent = $7, was_absent = $8, checks = $9, misses = $10,
           first_missed_at = $11, next_check_at = $12, evidence = $13, finished_at = $14 WHERE project_id = $1 AND id = $2")
    .bind(scope.project())
    .bind(changed.id)
    .bind(changed.job)
    .bind(changed.force)
    .bind(changed.recreate)
    .bind(changed.state.as_str())
    .bind(changed.sent.as_deref())
    .bind(changed.was_absent)
    .bind(changed.checks)
    .bind(changed.misses)
    .bind(changed.first_missed_at)
    .bind(changed.next_check_at)
    .bind(Json::encode(&changed.evidence)?)
    .bind(changed.finished_at)
    .execute(tx)
    .await?;
    Ok(())
}

macro_rules! select_publication {
    ($rest:literal) => {
        concat!(
            "SELECT post_id, connection_id, provider, state, is_live, external_id, external_url, external_version, content_hash, post_version,
               verification, last_error, published_at, updated_at FROM publications WHERE project_id = $1 AND post_id = $2 ",
            $rest
        )
    };
}

fn read_publication(c: &mut Cells<'_>) -> Result<PublicationRecord> {
    Ok(PublicationRecord {
        post: c.take()?,
        connection: c.take()?,
        provider: c.parse()?,
        state: c.parse()?,
        is_live: c.take()?,
        external_id: c.take()?,
        external_url: c.take()?,
        external_version: c.take()?,
        content_hash: c.take()?,
        post_version: c.take()?,
        verification: c.take_json_optional()?,
        last_error: c.take_json_optional()?,
        published_at: c.take()?,
    })
}

/// Returns the state of a post at a provider.
pub async fn find(
    tx: &mut Tx,
    scope: ProjectScope,
    post: PostId,
    connection: ConnectionId,
) -> Result<Option<PublicationRecord>> {
    sql(select_publication!("AND connection_id = $3"))
        .bind(scope.project())
        .bind(post)
        .bind(connection)
        .fetch_optional(tx, read_publication)
        .await
}

/// Inserts or updates the state of a post at a provider.
pub async fn upsert(
    tx: &mut Tx,
    scope: ProjectScope,
    record: &PublicationRecord,
    now: Instant,
) -> Result<()> {
    sql("INSERT INTO publications (project_id, post_id, connection_id, provider, state, is_live, external_id, external_url, external_version,
           content_hash, post_version, verification, last_error, published_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         ON CONFLICT (project_id, post_id, connection_id) DO UPDATE SET state = $5, is_live = $6, external_id = $7, external_url = $8,
           external_version = $9, content_hash = $10, post_version = $11, verification = $12, last_error = $13, published_at = $14, updated_at = $15")
    .bind(scope.project())
    .bind(record.post)
    .bind(record.connection)
    .bind(record.provider.as_str())
    .bind(record.state.as_str())
    .bind(record.is_live)
    .bind(record.external_id.as_deref())
    .bind(record.external_url.as_deref())
    .bind(record.external_version.as_deref())
    .bind(record.content_hash.as_deref())
    .bind(record.post_version)
    .bind(record.verification.as_ref().map(Json::encode).transpose()?)
    .bind(record.last_error.as_ref().map(Json::encode).transpose()?)
    .bind(record.published_at)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the publications of a post with their last attempts, as they are shown; the last changed first.
pub async fn list_of_post(tx: &mut Tx, scope: ProjectScope, post: PostId) -> Result<Vec<Publication>> {
    let records = sql(select_publication!("ORDER BY updated_at DESC, connection_id"))
        .bind(scope.project())
        .bind(post)
        .fetch_all(tx, |c| Ok((read_publication(c)?, c.take::<Instant>()?)))
        .await?;
    let mut shown = Vec::with_capacity(records.len());
    for (record, updated_at) in records {
        let last = sql(concat!(
            attempts!(),
            " WHERE project_id = $1 AND post_id = $2 AND connection_id = $3 ORDER BY id DESC LIMIT 1"
        ))
        .bind(scope.project())
        .bind(post)
        .bind(record.connection)
        .fetch_optional(tx, read_attempt)
        .await?;
        shown.push(Publication {
            provider: record.provider,
            connection_id: record.connection,
            state: record.state,
            is_live: record.is_live,
            external_id: record.external_id,
            url: record.external_url,
            post_version: record.post_version,
            published_at: record.published_at,
            last_error: record.last_error,
            verification: record.verification,
            attempt: last.map(|attempt| PublishAttempt {
                id: attempt.id,
                job_id: attempt.job,
                aim: attempt.aim,
                next_check_at: attempt.next_check_at,
                evidence: attempt.evidence,
                created_at: attempt.created_at,
                finished_at: attempt.finished_at,
            }),
            updated_at,
        });
    }
    Ok(shown)
}

/// Returns at most `limit` scheduled posts that are due: of each project the one that is due longest, then of each the next.
pub async fn list_due(tx: &mut Tx, now: Instant, limit: u32) -> Result<Vec<(ProjectScope, PostId)>> {
    sql("SELECT project_id, id FROM posts WHERE status = 'scheduled' AND scheduled_at <= $1
         ORDER BY row_number() OVER (PARTITION BY project_id ORDER BY scheduled_at, id), scheduled_at, id LIMIT $2")
        .bind(now)
        .bind(limit)
        .fetch_all(tx, |c| Ok((ProjectScope::from_row(c.take()?), c.take()?)))
        .await
}

/// Returns the upload of an image at a provider, by the SHA-256 of its bytes.
pub async fn find_upload(
    tx: &mut Tx,
    scope: ProjectScope,
    connection: ConnectionId,
    digest: &[u8; 32],
) -> Result<Option<serde_json::Value>> {
    sql("SELECT uploaded FROM uploads WHERE project_id = $1 AND connection_id = $2 AND digest = $3")
        .bind(scope.project())
        .bind(connection)
        .bind(digest)
        .fetch_optional(tx, |c| Ok(c.take::<Json>()?.0))
        .await
}

/// Saves the upload of an image at a provider.
pub async fn save_upload(
    tx: &mut Tx,
    scope: ProjectScope,
    connection: ConnectionId,
    digest: &[u8; 32],
    uploaded: &serde_json::Value,
    now: Instant,
) -> Result<()> {
    sql("INSERT INTO uploads (project_id, connection_id, digest, uploaded, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project_id, connection_id, digest) DO UPDATE SET uploaded = $4")
    .bind(scope.project())
    .bind(connection)
    .bind(digest)
    .bind(uploaded)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}
