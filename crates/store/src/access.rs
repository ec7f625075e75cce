//! Access to projects: by API key, or by membership in a workspace.
//!
//! A [`ProjectScope`] can only come from the database: from a key or a share link joined to its project, from a membership, or
//! from a leased job. Every function on project data takes one.

use std::sync::Arc;

use searchwright_contract::{
    Instant, Scope,
    ids::{CredentialId, JobId, ProjectId, UserId},
    me::AccessibleProject,
    people::Role,
    projects::ProjectRef,
};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use crate::{Cells, Result, Tx, sql};

/// Proof that the caller may access a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProjectScope {
    project: Uuid,
}

impl ProjectScope {
    /// Id of the project.
    pub const fn project(self) -> Uuid {
        self.project
    }

    /// Creates the proof. To be called only with an id from the row that proves access.
    pub(crate) const fn from_row(project: Uuid) -> Self {
        Self { project }
    }
}

/// A valid API key with its project.
#[derive(Clone, Debug)]
pub struct KeyAccess {
    /// The key.
    pub key: KeyRecord,
    /// Its project.
    pub project: Arc<ProjectAccess>,
}

/// A project that the caller may access.
#[derive(Clone, Debug)]
pub struct ProjectAccess {
    /// The project.
    pub project: ProjectRef,
    /// Default language of new records.
    pub language: String,
    /// Default country of new records; empty if not set.
    pub country: String,
    /// Role of the user in its workspace; `None` for a caller with an API key.
    pub role: Option<Role>,
    scope: ProjectScope,
}

impl ProjectAccess {
    /// Scope of the project.
    pub const fn scope(&self) -> ProjectScope {
        self.scope
    }
}

/// An API key as it is stored, which is without the key itself.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyRecord {
    /// Identifier.
    pub id: CredentialId,
    /// Label.
    pub name: String,
    /// First characters of the key, to recognise it by.
    pub prefix: String,
    /// Permissions.
    pub scopes: Vec<Scope>,
    /// Forbids all changes.
    pub read_only: bool,
    /// Time of expiry.
    pub expires_at: Option<Instant>,
    /// Time of revocation.
    pub revoked_at: Option<Instant>,
    /// Time of the last use, to the minute.
    pub last_used_at: Option<Instant>,
}

impl KeyAccess {
    /// Returns the project of this key if `project_id` is its id. Malformed, unknown and foreign ids are not told apart.
    pub fn find_project(&self, project_id: &str) -> Option<Arc<ProjectAccess>> {
        (project_id == self.project.project.id.to_string()).then(|| self.project.clone())
    }

    /// Whether the key permits an operation that needs this scope.
    pub fn permits(&self, needed: Scope) -> bool {
        !(self.key.read_only && needed.writes())
            && (matches!(needed, Scope::Any | Scope::OfRecord)
                || self.key.scopes.iter().any(|s| s.grants(needed)))
    }
}

/// Returns the key with this digest, also if it is expired or revoked.
pub async fn find_key_by_digest(tx: &mut Tx, digest: &[u8; 32]) -> Result<Option<KeyAccess>> {
    let found = sql("SELECT k.digest, k.id, k.name, k.prefix, k.scopes, k.read_only, k.expires_at, k.revoked_at, k.last_used_at,
            p.id, p.name, p.domain, p.language, p.country
         FROM api_keys k JOIN projects p ON p.id = k.project_id WHERE k.digest = $1")
    .bind(digest)
    .fetch_optional(tx, |c| {
        let stored: Vec<u8> = c.take()?;
        Ok((stored, key_access(c)?))
    })
    .await?;
    // The index has compared the bytes already; this comparison is in constant time.
    Ok(found.and_then(|(stored, access)| bool::from(stored.as_slice().ct_eq(digest)).then_some(access)))
}

/// Returns ids and labels of the keys of a project, revoked ones included.
pub async fn list_key_names(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<(CredentialId, String)>> {
    sql("SELECT id, name FROM api_keys WHERE project_id = $1")
        .bind(scope.project())
        .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
        .await
}

/// A key as a list of the keys of its project has it.
#[derive(Clone, Debug)]
pub struct ListedKey {
    /// The key.
    pub key: KeyRecord,
    /// Time of creation.
    pub created_at: Instant,
}

/// Returns the keys of a project, ended ones included, newest first.
pub async fn list_keys(tx: &mut Tx, scope: ProjectScope, limit: u32) -> Result<Vec<ListedKey>> {
    sql(
        "SELECT id, name, prefix, scopes, read_only, expires_at, revoked_at, last_used_at, created_at
         FROM api_keys WHERE project_id = $1 ORDER BY id DESC LIMIT $2",
    )
    .bind(scope.project())
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(ListedKey {
            key: key_record(c)?,
            created_at: c.take()?,
        })
    })
    .await
}

/// Returns whether a project has this key.
pub async fn has_key(tx: &mut Tx, scope: ProjectScope, id: CredentialId) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM api_keys WHERE project_id = $1 AND id = $2)")
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, |c| c.take())
        .await
}

fn key_access(c: &mut Cells<'_>) -> Result<KeyAccess> {
    Ok(KeyAccess {
        key: key_record(c)?,
        project: Arc::new(project_access(c)?),
    })
}

/// Returns the access of a share link, from the row that joins the link to its project: it is a key that is not stored.
pub(crate) fn key_of_share(key: KeyRecord, c: &mut Cells<'_>) -> Result<KeyAccess> {
    Ok(KeyAccess {
        key,
        project: Arc::new(project_access(c)?),
    })
}

fn project_access(c: &mut Cells<'_>) -> Result<ProjectAccess> {
    let id: Uuid = c.take()?;
    Ok(ProjectAccess {
        project: ProjectRef {
            id: id.into(),
            name: c.take()?,
            domain: c.take()?,
        },
        language: c.take()?,
        country: c.take()?,
        role: None,
        scope: ProjectScope::from_row(id),
    })
}

/// Returns a project if the user is a member of its workspace now.
pub async fn find_project_of_user(
    tx: &mut Tx,
    user: UserId,
    project: ProjectId,
) -> Result<Option<ProjectAccess>> {
    sql("SELECT p.id, p.name, p.domain, p.language, p.country, m.role
         FROM projects p JOIN memberships m ON m.workspace_id = p.workspace_id
         WHERE p.id = $1 AND m.user_id = $2")
    .bind(project)
    .bind(user)
    .fetch_optional(tx, |c| {
        let access = project_access(c)?;
        Ok(ProjectAccess {
            role: Some(c.parse()?),
            ..access
        })
    })
    .await
}

/// Returns the project of a job if the user is a member of its workspace now.
pub async fn find_project_of_job(tx: &mut Tx, user: UserId, job: JobId) -> Result<Option<ProjectId>> {
    sql(
        "SELECT p.id FROM projects p JOIN memberships m ON m.workspace_id = p.workspace_id
         WHERE m.user_id = $1 AND EXISTS (SELECT 1 FROM jobs j WHERE j.project_id = p.id AND j.id = $2)",
    )
    .bind(user)
    .bind(job)
    .fetch_optional(tx, |c| c.take())
    .await
}

/// Position in a list of projects: name and id of the last one.
pub type ProjectPosition = (String, ProjectId);

/// Returns at most `limit` projects of the workspaces of a user, by name; Agent Autonomy is left to the caller.
pub async fn list_projects_of_user(
    tx: &mut Tx,
    user: UserId,
    after: Option<ProjectPosition>,
    limit: u32,
) -> Result<Vec<AccessibleProject>> {
    let (name, id) = after.unwrap_or((String::new(), ProjectId::MIN));
    sql("SELECT p.id, p.name, p.domain, m.role
         FROM projects p JOIN memberships m ON m.workspace_id = p.workspace_id
         WHERE m.user_id = $1 AND (p.name > $2 OR (p.name = $2 AND p.id > $3))
         ORDER BY p.name, p.id LIMIT $4")
    .bind(user)
    .bind(name)
    .bind(id)
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(AccessibleProject {
            id: c.take()?,
            name: c.take()?,
            domain: c.take()?,
            role: c.parse()?,
            agent_autonomy: Default::default(),
        })
    })
    .await
}

fn key_record(c: &mut Cells<'_>) -> Result<KeyRecord> {
    Ok(KeyRecord {
        id: c.take()?,
        name: c.take()?,
        prefix: c.take()?,
        scopes: c.take::<String>()?.split(' ').filter_map(Scope::parse).collect(),
        read_only: c.take()?,
        expires_at: c.take()?,
        revoked_at: c.take()?,
        last_used_at: c.take()?,
    })
}

/// Records the last use of keys. An older time never replaces a newer one.
pub async fn record_key_uses(tx: &mut Tx, uses: Vec<(CredentialId, Instant)>) -> Result<()> {
    let rows = uses
        .into_iter()
        .map(|(id, at)| vec![id.into(), at.into()])
        .collect();
    sql(
        "UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)",
    )
    .execute_each(tx, rows)
    .await?;
    Ok(())
}

macro_rules! record_kinds {
    ($($variant:ident $table:literal $word:literal;)*) => {
        /// A kind of record of a project.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum RecordKind { $(#[doc = $word] $variant,)* }

        impl RecordKind {
            /// Name in messages.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            // One key lookup per project: the tables lead with project_id, and an index by id alone
            // would cost every insert for the sake of a caller's mistake.
            const fn exists_text(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!("SELECT EXISTS (SELECT 1 FROM projects p WHERE EXISTS (SELECT 1 FROM ", $table, " c WHERE c.project_id = p.id AND c.id = $1))"),)*
                }
            }
        }
    };
}
record_kinds! {
    Keyword "keywords" "keyword";
    Post "posts" "post";
    Audit "audits" "audit";
    Recheck "rechecks" "recheck";
    Issue "issues" "issue";
    Page "pages" "page";
    Job "jobs" "job";
    Webhook "webhooks" "webhook";
    Delivery "deliveries" "delivery";
    Product "(SELECT project_id, id FROM brand_items WHERE resource = 'products')" "product";
    Competitor "(SELECT project_id, id FROM brand_items WHERE resource = 'competitors')" "competitor";
    Faq "(SELECT project_id, id FROM brand_items WHERE resource = 'faqs')" "faq";
    Prompt "prompts" "prompt";
    Answer "answers" "answer";
    Run "answer_runs" "run";
    Approval "approvals" "approval";
    Cta "(SELECT project_id, id FROM brand_items WHERE resource = 'ctas')" "cta";
}

/// Whether any project has this record; distinguishes a foreign id (403) from an unknown one (404).
pub async fn exists_in_any_project(tx: &mut Tx, kind: RecordKind, id: Uuid) -> Result<bool> {
    sql(kind.exists_text()).bind(id).fetch_one(tx, |c| c.take()).await
}
