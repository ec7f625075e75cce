//! Operator commands on the server: projects, keys and people. They work beside a running server.

pub mod checks;
pub mod limits;
mod oauth_apps;
pub mod providers;

use searchwright_contract::{
    Code, Instant, Problem, Scope,
    ids::{CredentialId, WorkspaceId},
};
use searchwright_store::{
    Error, Tx,
    admin::{self, NewKey, NewProject},
    workspaces,
};
use uuid::Uuid;

use crate::{
    Engine,
    call::fault,
    failure::Result,
    secrets::{self, SecretKind},
};

/// Live keys a project may have.
pub const MAX_KEYS: u64 = 25;

/// A project that was made.
#[derive(Clone, Debug, serde::Serialize)]
pub struct CreatedProject {
    /// Identifier.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// As given: a host, or scheme, host and port.
    pub domain: String,
}

/// A key that was made. The only time it is shown.
#[derive(Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatedKey {
    /// Identifier.
    pub id: CredentialId,
    /// The key.
    pub key: String,
    /// Its first characters.
    pub prefix: String,
    /// Time at which it expires; never if `None`.
    pub expires_at: Option<Instant>,
}

impl std::fmt::Debug for CreatedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CreatedKey({})", self.prefix)
    }
}

/// Permissions and lifetime of a key.
#[derive(Clone, Debug)]
pub struct Grant {
    /// Scopes; all if empty.
    pub scopes: Vec<String>,
    /// Refuses whatever changes something.
    pub read_only: bool,
    /// Milliseconds it lives; forever if `None`.
    pub lifetime_millis: Option<i64>,
}

/// Returns a name without spaces around it; a fault if it is empty or too long.
pub fn check_name(name: &str, most: usize) -> Result<String> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > most {
        return Err(fault(
            "/name",
            "length",
            format!("has to have 1 to {most} characters"),
        ));
    }
    let is_odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    if name.contains(is_odd) {
        let why = "has line breaks, or characters that cannot be seen or change the direction of others";
        return Err(fault("/name", "not_plain_text", why));
    }
    Ok(name.to_owned())
}

/// Checks that a text is a website's domain.
fn check_domain(domain: &str) -> Result<String> {
    searchwright_visibility::domains::read(domain)
        .map_err(|why| fault("/domain", "not_a_domain", format!("{domain:?} {why}")))
}

impl Engine {
    /// Creates a project in the first workspace.
    pub async fn create_project(&self, name: &str, domain: &str) -> Result<CreatedProject> {
        self.create_project_in(None, name, domain).await
    }

    /// Creates a project in a workspace; in the first one if none is named.
    pub async fn create_project_in(
        &self,
        workspace: Option<WorkspaceId>,
        name: &str,
        domain: &str,
    ) -> Result<CreatedProject> {
        let created = CreatedProject {
            id: self.clock.id(),
            name: check_name(name, 200)?,
            domain: check_domain(domain)?,
        };
        let new = NewProject {
            id: created.id,
            name: created.name.clone(),
            domain: created.domain.clone(),
        };
        let (first, now) = (self.clock.id(), self.clock.now());
        let work = async move |tx: &mut Tx| {
            let workspace = match workspace {
                Some(id) => id,
                None => workspaces::find_or_create_first(tx, first, now).await?,
            };
            admin::create_project(tx, new, workspace, now)
                .await
                .map_err(|e| match e {
                    Error::Dangling => Problem::not_found("workspace").into(),
                    other => crate::Failure::from(other),
                })
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(created)
    }

    /// Makes a key for a project.
    pub async fn create_key(&self, project: Uuid, name: &str, grant: Grant) -> Result<CreatedKey> {
        let name = check_name(name, 100)?;
        for scope in &grant.scopes {
            if Scope::parse(scope).is_none() {
                let known: Vec<&str> = Scope::ALL.iter().map(|s| s.as_str()).collect();
                return Err(fault(
                    "/scopes",
                    "unknown_value",
                    format!("{scope:?} is not one of {}", known.join(", ")),
                ));
            }
        }
        let scopes = if grant.scopes.is_empty() {
            Scope::ALL
                .iter()
                .map(|s| s.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        } else {
            grant.scopes.join(" ")
        };
        let expires_at = grant.lifetime_millis.map(|l| self.clock.now().plus_millis(l));
        self.insert_key(project, name, scopes, grant.read_only, expires_at)
            .await
    }

    async fn insert_key(
        &self,
        project: Uuid,
        name: String,
        scopes: String,
        read_only: bool,
        expires_at: Option<Instant>,
    ) -> Result<CreatedKey> {
        let (id, now, key) = (
            self.clock.id(),
            self.clock.now(),
            secrets::generate(SecretKind::ApiKey)?,
        );
        let prefix = secrets::prefix(&key).to_owned();
        let new = NewKey {
            id,
            project,
            name,
            prefix: prefix.clone(),
            digest: secrets::digest(&key),
            scopes,
            read_only,
            expires_at,
        };
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    if admin::count_live_keys(tx, project, now).await? >= MAX_KEYS {
                        return Err(Problem::new(
                            Code::InvalidState,
                            format!("a project has at most {MAX_KEYS} live keys"),
                        )
                        .hint("revoke one that is no longer used")
                        .into());
                    }
                    admin::create_key(tx, new, now).await.map_err(|e| match e {
                        Error::Dangling => Problem::not_found("project").into(),
                        other => crate::Failure::from(other),
                    })
                })
            })
            .await?;
        Ok(CreatedKey {
            id,
            key,
            prefix,
            expires_at,
        })
    }

    /// The project of a domain, made if there is none.
    pub async fn project_for(&self, domain: &str) -> Result<Uuid> {
        let domain = check_domain(domain)?;
        let known = admin::find_project_by_domain(&mut self.db.read().await?, &domain).await?;
        match known {
            Some(id) => Ok(id),
            None => {
                let name = domain.split_once("://").map_or(domain.as_str(), |(_, host)| host);
                Ok(self.create_project(name, &domain).await?.id)
            }
        }
    }

    /// Makes a key and ends those of the same name.
    pub async fn replace_key(&self, project: Uuid, name: &str, grant: Grant) -> Result<CreatedKey> {
        let (now, ended) = (self.clock.now(), name.to_owned());
        self.db
            .write(move |tx| {
                Box::pin(async move { admin::revoke_keys_by_name(tx, project, &ended, now).await })
            })
            .await?;
        self.db.credentials_changed().await?;
        self.create_key(project, name, grant).await
    }

    /// Ends a key at once; `false` if it had ended before.
    pub async fn revoke_key(&self, id: CredentialId) -> Result<bool> {
        let now = self.clock.now();
        let done = self
            .db
            .write(move |tx| Box::pin(async move { admin::revoke_key(tx, id, now).await }))
            .await;
        self.db.credentials_changed().await?;
        missing_key(done)
    }

    /// Makes a successor of a key; the old one works on for `overlap_millis`.
    pub async fn rotate_key(
        &self,
        id: CredentialId,
        overlap_millis: i64,
        lifetime_millis: Option<i64>,
    ) -> Result<CreatedKey> {
        let now = self.clock.now();
        let until = now.plus_millis(overlap_millis);
        let done = self
            .db
            .write(move |tx| Box::pin(async move { admin::retire_key(tx, id, until, now).await }))
            .await;
        self.db.credentials_changed().await?;
        let old = missing_key(done)?;
        let expires_at = lifetime_millis.map(|l| now.plus_millis(l));
        self.insert_key(old.project, old.name, old.scopes, old.read_only, expires_at)
            .await
    }
}

fn missing_key<T>(done: Result<T, Error>) -> Result<T> {
    done.map_err(|e| match e {
        Error::Missing => Problem::not_found("live key").into(),
        other => other.into(),
    })
}
