//! The activity log: one entry per call that changed something, written in the transaction of the change.

use searchwright_contract::{
    Instant,
    activity::{Activity, CredentialKind, UsedCredential},
    ids::{ActivityId, CredentialId, PostId, UserId},
    people::UserRef,
};
use uuid::Uuid;

use crate::{Result, Tx, access::ProjectScope, sql, transfer::imports::UNDER_WAY_ID};

/// Days after which an entry is deleted.
pub const RETENTION_DAYS: i64 = 400;

/// An entry to be inserted.
#[derive(Clone, Debug)]
pub struct NewActivity {
    /// Identifier, UUIDv7 of now: the order of ids is the order of entries.
    pub id: ActivityId,
    /// Name of the operation.
    pub action: &'static str,
    /// Id of the record that was changed or created.
    pub subject: Option<String>,
    /// Kind of the credential.
    pub kind: CredentialKind,
    /// Id of the credential.
    pub credential: CredentialId,
    /// Label of the credential at this time; it may be renamed or deleted later.
    pub name: String,
    /// Person on whose behalf the call was made.
    pub user: Option<UserRef>,
}

impl NewActivity {
    /// Creates the entry of a change that was made without a credential.
    pub fn without_credential(
        id: ActivityId,
        action: &'static str,
        subject: String,
        kind: CredentialKind,
    ) -> Self {
        Self {
            id,
            action,
            subject: Some(subject),
            kind,
            credential: Uuid::nil().into(),
            name: String::new(),
            user: None,
        }
    }
}

impl NewActivity {
    /// Creates the entry of a change that a person made on the dashboard.
    pub fn of_person(id: ActivityId, action: &'static str, subject: String, user: UserRef) -> Self {
        Self {
            name: user.name.clone(),
            user: Some(user),
            ..Self::without_credential(id, action, subject, CredentialKind::Session)
        }
    }
}

/// Returns the person who last wrote or changed a post, if one did.
pub async fn find_last_author(tx: &mut Tx, scope: ProjectScope, post: PostId) -> Result<Option<UserId>> {
    sql("SELECT user_id FROM activity WHERE project_id = $1 AND subject = $2 AND user_id IS NOT NULL
           AND action IN ('posts.create', 'posts.update', 'posts.restore', 'posts.generate') ORDER BY id DESC LIMIT 1")
    .bind(scope.project())
    .bind(post.to_string())
    .fetch_optional(tx, |c| c.take())
    .await
}

/// Inserts an entry.
pub async fn insert(tx: &mut Tx, scope: ProjectScope, new: NewActivity, now: Instant) -> Result<()> {
    sql("INSERT INTO activity (project_id, id, action, subject, credential_kind, credential_id, credential_name, user_id, user_name, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
    .bind(scope.project())
    .bind(new.id)
    .bind(new.action)
    .bind(new.subject)
    .bind(new.kind.as_str())
    .bind(new.credential)
    .bind(new.name)
    .bind(new.user.as_ref().map(|user| user.id))
    .bind(new.user.map(|user| user.name))
    .bind(now)
    .execute_at_commit(tx)
    .await
}

/// Returns at most `limit` entries older than `before`, newest first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    before: Option<ActivityId>,
    limit: u32,
) -> Result<Vec<Activity>> {
    sql("SELECT id, action, subject, credential_kind, credential_id, credential_name, user_id, user_name, created_at FROM activity
         WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3")
    .bind(scope.project())
    .bind(before.unwrap_or(ActivityId::MAX))
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(Activity {
            id: c.take()?,
            action: c.take()?,
            subject: c.take()?,
            credential: UsedCredential {
                kind: c.parse()?,
                id: c.take()?,
                name: c.take()?,
            },
            user: match (c.take::<Option<UserId>>()?, c.take::<Option<String>>()?) {
                (Some(id), Some(name)) => Some(UserRef { id, name }),
                _ => None,
            },
            created_at: c.take()?,
        })
    })
    .await
}

/// Deletes entries older than [`RETENTION_DAYS`] and returns their number.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<u64> {
    let oldest = now.plus_millis(-RETENTION_DAYS * 86_400_000).millis();
    // An id begins with its time in milliseconds: the primary key finds older entries.
    let oldest = Uuid::from_u128(u128::try_from(oldest).unwrap_or_default() << 80);
    sql("DELETE FROM activity WHERE project_id IN (SELECT id FROM projects WHERE workspace_id <> $2) AND id < $1")
        .bind(oldest)
        .bind(UNDER_WAY_ID)
        .execute(tx)
        .await
}
