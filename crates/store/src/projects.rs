//! Projects.

use searchwright_contract::{
    Instant,
    people::AgentAutonomy,
    projects::{Project, Setup},
};

use crate::{Result, Tx, access::ProjectScope, sql};

/// Returns the project of a scope; Agent Autonomy is left to the caller.
pub async fn get(tx: &mut Tx, scope: ProjectScope) -> Result<Project> {
    sql("SELECT p.id, p.name, p.domain, p.language, p.country, p.timezone, p.version, p.created_at, p.updated_at,
            EXISTS (SELECT 1 FROM audits a WHERE a.project_id = p.id AND a.status IN ('completed', 'partial')),
            EXISTS (SELECT 1 FROM keywords k WHERE k.project_id = p.id)
         FROM projects p WHERE p.id = $1")
    .bind(scope.project())
    .fetch_one(tx, |c| {
        Ok(Project {
            id: c.take()?,
            name: c.take()?,
            domain: c.take()?,
            language: c.take()?,
            country: Some(c.take::<String>()?).filter(|t| !t.is_empty()),
            timezone: c.take()?,
            agent_autonomy: AgentAutonomy::default(),
            version: c.take()?,
            created_at: c.take()?,
            updated_at: c.take()?,
            setup: Setup { audited: c.take()?, has_keywords: c.take()? },
        })
    })
    .await
}

/// Fields of a project that can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFields {
    /// Name.
    pub name: String,
    /// Main language of the content (BCP 47).
    pub language: String,
    /// Main market (ISO 3166-1 alpha-2 country code); all if `None`.
    pub country: Option<String>,
    /// Time zone (IANA name).
    pub timezone: String,
}

/// Sets the fields of a project; `false` if it does not have this version.
pub async fn update(
    tx: &mut Tx,
    scope: ProjectScope,
    version: i64,
    fields: &ProjectFields,
    now: Instant,
) -> Result<bool> {
    let changed = sql("UPDATE projects SET name = $3, language = $4, country = $5, timezone = $6, version = version + 1, updated_at = $7
         WHERE id = $1 AND version = $2")
    .bind(scope.project())
    .bind(version)
    .bind(&fields.name)
    .bind(&fields.language)
    .bind(fields.country.as_deref().unwrap_or_default())
    .bind(&fields.timezone)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(changed > 0)
}

/// Returns the number of changes of the names that are looked for in answers.
pub async fn names_version(tx: &mut Tx, scope: ProjectScope) -> Result<i64> {
    sql("SELECT names_version FROM projects WHERE id = $1")
        .bind(scope.project())
        .fetch_one(tx, |c| c.take())
        .await
}

/// Counts a change of the names that are looked for in answers.
pub async fn count_change_of_names(tx: &mut Tx, scope: ProjectScope) -> Result<()> {
    sql("UPDATE projects SET names_version = names_version + 1 WHERE id = $1")
        .bind(scope.project())
        .execute(tx)
        .await
        .map(drop)
}

/// Locks the project until the transaction ends: other transactions that lock it wait, those that only reference it in a row do
/// not.
pub async fn lock(tx: &mut Tx, scope: ProjectScope) -> Result<()> {
    tx.lock_row(
        "SELECT 1 FROM projects WHERE id = $1 FOR NO KEY UPDATE",
        scope.project(),
    )
    .await
}
