//! Activity: one row per call that changed something, written in the transaction of the change.

use searchwright_contract::{
    Instant,
    activity::{Activity, CredentialKind, UsedCredential},
};
use uuid::Uuid;

use crate::{Result, Tx, access::ProjectScope, sql};

/// Days an entry is kept.
pub const KEPT_DAYS: i64 = 400;

/// An entry to be written.
#[derive(Clone, Debug)]
pub struct New {
    /// Identifier, UUIDv7 of now: the order of ids is the order of entries.
    pub id: Uuid,
    /// Name of the operation.
    pub action: &'static str,
    /// Id of the record acted on or made.
    pub subject: Option<String>,
    /// Kind of the credential.
    pub kind: CredentialKind,
    /// The credential.
    pub credential: Uuid,
    /// Its label now; it may be renamed or deleted later.
    pub name: String,
}

impl New {
    /// What no credential did.
    pub fn without_credential(id: Uuid, action: &'static str, subject: String, kind: CredentialKind) -> Self {
        Self {
            id,
            action,
            subject: Some(subject),
            kind,
            credential: Uuid::nil(),
            name: String::new(),
        }
    }
}

/// Writes an entry.
pub async fn write(tx: &mut Tx, scope: ProjectScope, new: New, now: Instant) -> Result<()> {
    sql("INSERT INTO activity (project_id, id, action, subject, credential_kind, credential_id, credential_name, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)")
    .bind(scope.project())
    .bind(new.id)
    .bind(new.action)
    .bind(new.subject)
    .bind(new.kind.as_str())
    .bind(new.credential)
    .bind(new.name)
    .bind(now)
    .execute_at_commit(tx)
    .await
}

/// Entries older than this one, newest first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<Activity>> {
    sql("SELECT id, action, subject, credential_kind, credential_id, credential_name, created_at FROM activity
         WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3")
    .bind(scope.project())
    .bind(before.unwrap_or(Uuid::max()))
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(Activity {
            id: c.take::<Uuid>()?.to_string(),
            action: c.take()?,
            subject: c.take()?,
            credential: UsedCredential {
                kind: c.parse()?,
                id: c.take::<Uuid>()?.to_string(),
                name: c.take()?,
            },
            created_at: c.take()?,
        })
    })
    .await
}

/// Forgets what is older than [`KEPT_DAYS`]; how many rows.
pub async fn sweep(tx: &mut Tx, now: Instant) -> Result<u64> {
    let oldest = now.plus_millis(-KEPT_DAYS * 86_400_000).millis();
    // An id begins with the milliseconds it was made at: the primary key finds what is older.
    let oldest = Uuid::from_u128(u128::try_from(oldest).unwrap_or_default() << 80);
    sql("DELETE FROM activity WHERE project_id IN (SELECT id FROM projects) AND id < $1")
        .bind(oldest)
        .execute(tx)
        .await
}
