//! What of a post is at which provider, and the attempts to bring it there.

use searchwright_contract::{
    Instant,
    integrations::{IntegrationError, Provider},
    posts::{Evidence, PostStatus, Publication, PublicationState, PublishAttempt, Verification},
};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::{Cells, Error, Json, Result, Tx, access::ProjectScope, sql};

/// Entries of evidence that are kept of an attempt; the first ones stay.
const MOST_EVIDENCE: usize = 50;

/// A post at a provider, as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The post.
    pub post: Uuid,
    /// The connection.
    pub connection: Uuid,
    /// The provider.
    pub provider: Provider,
    /// Where it stands.
    pub state: PublicationState,
    /// Whether readers see it.
    pub is_live: bool,
    /// The provider's id.
    pub external_id: Option<String>,
    /// Where readers find it.
    pub external_url: Option<String>,
    /// The provider's version as we left it.
    pub external_version: Option<String>,
    /// Digest of what was sent.
    pub content_hash: Option<Vec<u8>>,
    /// Version of the post it was sent of.
    pub post_version: Option<i64>,
    /// What looking at the page found.
    pub verification: Option<Verification>,
    /// Why the last attempt failed.
    pub last_error: Option<IntegrationError>,
    /// When it first was live.
    pub published_at: Option<Instant>,
}

impl Record {
    /// Of a post that never was there.
    pub const fn new(post: Uuid, connection: Uuid, provider: Provider) -> Self {
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

/// An attempt, as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Identifier.
    pub id: Uuid,
    /// The post.
    pub post: Uuid,
    /// The connection.
    pub connection: Uuid,
    /// The job that does it.
    pub job: Uuid,
    /// `live`, `draft` or `gone`.
    pub aim: String,
    /// Overwrite what others changed.
    pub force: bool,
    /// Make anew what others deleted.
    pub recreate: bool,
    /// Version of the post.
    pub post_version: i64,
    /// Digest of what is sent.
    pub content_hash: Vec<u8>,
    /// The status the post had.
    pub from_status: PostStatus,
    /// Where it stands.
    pub state: PublicationState,
    /// `create` or `change` that was sent and not answered.
    pub sent: Option<String>,
    /// It was looked for before anything was sent, and was not there.
    pub was_absent: bool,
    /// Times it was looked for after a lost answer.
    pub checks: u32,
    /// Times it was not there then, one after another.
    pub misses: u32,
    /// When it was first not there then.
    pub first_missed_at: Option<Instant>,
    /// When it is looked for next.
    pub next_check_at: Option<Instant>,
    /// What was done and seen.
    pub evidence: Vec<Evidence>,
    /// When it began.
    pub created_at: Instant,
    /// When its outcome was known.
    pub finished_at: Option<Instant>,
}

impl Attempt {
    /// Notes what was done or seen.
    pub fn note(&mut self, what: &str, detail: impl Into<Option<String>>, at: Instant) {
        if self.evidence.len() >= MOST_EVIDENCE {
            // The beginning says how it came to this, the end how it stands.
            self.evidence.remove(MOST_EVIDENCE / 2);
        }
        self.evidence.push(Evidence {
            at,
            what: what.to_owned(),
            detail: detail.into(),
        });
    }
}

fn read<T: DeserializeOwned>(Json(value): Json) -> Result<T> {
    serde_json::from_value(value).map_err(|e| Error::Defect(e.to_string()))
}

fn json(value: &impl Serialize) -> Result<Json> {
    serde_json::to_value(value)
        .map(Json)
        .map_err(|e| Error::Defect(e.to_string()))
}

macro_rules! attempt {
    ($rest:literal) => {
        concat!(
            "SELECT id, post_id, connection_id, job_id, aim, force, recreate, post_version, content_hash, from_status, state, sent, was_absent,
               checks, misses, first_missed_at, next_check_at, evidence, created_at, finished_at FROM publish_attempts WHERE project_id = $1 ",
            $rest
        )
    };
}

fn attempt(c: &mut Cells<'_>) -> Result<Attempt> {
    Ok(Attempt {
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
        evidence: read(c.take()?)?,
        created_at: c.take()?,
        finished_at: c.take()?,
    })
}

/// Begins an attempt. The index of open attempts refuses a second one of the same post.
pub async fn begin(tx: &mut Tx, scope: ProjectScope, new: &Attempt) -> Result<()> {
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
    .bind(json(&new.evidence)?)
    .bind(new.created_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// One attempt.
pub async fn attempt_of(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<Attempt> {
    sql(attempt!("AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, attempt)
        .await
}

/// The attempt of a post whose outcome is not known.
pub async fn open_attempt(tx: &mut Tx, scope: ProjectScope, post: Uuid) -> Result<Option<Attempt>> {
    sql(attempt!("AND post_id = $2 AND finished_at IS NULL"))
        .bind(scope.project())
        .bind(post)
        .fetch_optional(tx, attempt)
        .await
}

/// The attempt without an outcome that a job was to do.
pub async fn open_of_job(tx: &mut Tx, scope: ProjectScope, job: Uuid) -> Result<Option<Attempt>> {
    sql(attempt!("AND job_id = $2 AND finished_at IS NULL"))
        .bind(scope.project())
        .bind(job)
        .fetch_optional(tx, attempt)
        .await
}

/// Writes what can change of an attempt.
pub async fn save_attempt(tx: &mut Tx, scope: ProjectScope, changed: &Attempt) -> Result<()> {
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
    .bind(json(&changed.evidence)?)
    .bind(changed.finished_at)
    .execute(tx)
    .await?;
    Ok(())
}

macro_rules! publication {
    ($rest:literal) => {
        concat!(
            "SELECT post_id, connection_id, provider, state, is_live, external_id, external_url, external_version, content_hash, post_version,
               verification, last_error, published_at, updated_at FROM publications WHERE project_id = $1 AND post_id = $2 ",
            $rest
        )
    };
}

fn publication(c: &mut Cells<'_>) -> Result<Record> {
    Ok(Record {
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
        verification: c.take::<Option<Json>>()?.map(read).transpose()?,
        last_error: c.take::<Option<Json>>()?.map(read).transpose()?,
        published_at: c.take()?,
    })
}

/// A post at one provider.
pub async fn get(tx: &mut Tx, scope: ProjectScope, post: Uuid, connection: Uuid) -> Result<Option<Record>> {
    sql(publication!("AND connection_id = $3"))
        .bind(scope.project())
        .bind(post)
        .bind(connection)
        .fetch_optional(tx, publication)
        .await
}

/// Writes it.
pub async fn save(tx: &mut Tx, scope: ProjectScope, record: &Record, now: Instant) -> Result<()> {
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
    .bind(record.verification.as_ref().map(json).transpose()?)
    .bind(record.last_error.as_ref().map(json).transpose()?)
    .bind(record.published_at)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Where a post is, as it is shown; what changed last comes first.
pub async fn shown(tx: &mut Tx, scope: ProjectScope, post: Uuid) -> Result<Vec<Publication>> {
    let records = sql(publication!("ORDER BY updated_at DESC, connection_id"))
        .bind(scope.project())
        .bind(post)
        .fetch_all(tx, |c| Ok((publication(c)?, c.take::<Instant>()?)))
        .await?;
    let mut shown = Vec::with_capacity(records.len());
    for (record, updated_at) in records {
        let last = sql(attempt!(
            "AND post_id = $2 AND connection_id = $3 ORDER BY id DESC LIMIT 1"
        ))
        .bind(scope.project())
        .bind(post)
        .bind(record.connection)
        .fetch_optional(tx, attempt)
        .await?;
        shown.push(Publication {
            provider: record.provider,
            connection_id: record.connection.to_string(),
            state: record.state,
            is_live: record.is_live,
            external_id: record.external_id,
            url: record.external_url,
            post_version: record.post_version,
            published_at: record.published_at,
            last_error: record.last_error,
            verification: record.verification,
            attempt: last.map(|attempt| PublishAttempt {
                id: attempt.id.to_string(),
                job_id: attempt.job.to_string(),
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

/// Posts whose time has come: of each project the one that is due longest, then of each the next.
pub async fn due(tx: &mut Tx, now: Instant, most: u32) -> Result<Vec<(ProjectScope, Uuid)>> {
    sql("SELECT project_id, id FROM posts WHERE status = 'scheduled' AND scheduled_at <= $1
         ORDER BY row_number() OVER (PARTITION BY project_id ORDER BY scheduled_at, id), scheduled_at, id LIMIT $2")
        .bind(now)
        .bind(most)
        .fetch_all(tx, |c| Ok((ProjectScope::proven(c.take()?), c.take()?)))
        .await
}

/// An image that a provider has, by the digest of its bytes.
pub async fn uploaded(
    tx: &mut Tx,
    scope: ProjectScope,
    connection: Uuid,
    digest: &[u8; 32],
) -> Result<Option<serde_json::Value>> {
    sql("SELECT uploaded FROM uploads WHERE project_id = $1 AND connection_id = $2 AND digest = $3")
        .bind(scope.project())
        .bind(connection)
        .bind(digest)
        .fetch_optional(tx, |c| Ok(c.take::<Json>()?.0))
        .await
}

/// Notes that a provider has an image.
pub async fn note_upload(
    tx: &mut Tx,
    scope: ProjectScope,
    connection: Uuid,
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
