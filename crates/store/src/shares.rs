//! Read-only links to one report of a project, for people without an account, by the digest of the token in the URL.

use std::sync::Arc;

use searchwright_contract::{
    Instant, Scope,
    ids::{AuditId, CredentialId, UserId},
};
use subtle::ConstantTimeEq as _;

use crate::{
    Cells, Error, Result, Tx,
    access::{self, KeyAccess, KeyRecord, ProjectScope},
    sql,
};

/// Days of a period, both inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedPeriod {
    /// First day, such as `2026-11-01`.
    pub first: String,
    /// Last day.
    pub last: String,
}

/// The report to which a link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedReport {
    /// Report of this audit.
    Audit(AuditId),
    /// Visibility of a period; `None` is the last 28 days, on every day anew.
    Visibility(Option<FixedPeriod>),
}

impl SharedReport {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Audit(_) => "audit",
            Self::Visibility(_) => "visibility",
        }
    }

    /// Scope that the operations need which read it.
    pub const fn scope(&self) -> Scope {
        match self {
            Self::Audit(_) => Scope::AuditsRead,
            Self::Visibility(_) => Scope::VisibilityRead,
        }
    }

    fn read(c: &mut Cells<'_>) -> Result<Self> {
        let (kind, audit): (String, Option<AuditId>) = (c.take()?, c.take()?);
        let days: (Option<String>, Option<String>) = (c.take()?, c.take()?);
        match (kind.as_str(), audit, days) {
            ("audit", Some(audit), _) => Ok(Self::Audit(audit)),
            ("visibility", _, (Some(first), Some(last))) => {
                Ok(Self::Visibility(Some(FixedPeriod { first, last })))
            }
            ("visibility", ..) => Ok(Self::Visibility(None)),
            _ => Err(Error::Defect("a share link of an unknown kind".to_owned())),
        }
    }
}

/// A link to be created.
#[derive(Clone, Debug)]
pub struct NewShare {
    /// Identifier.
    pub id: CredentialId,
    /// SHA-256 of the token.
    pub digest: [u8; 32],
    /// First characters of the token, shown in lists.
    pub prefix: String,
    /// The report.
    pub report: SharedReport,
    /// Person who creates it.
    pub created_by: UserId,
    /// Time of expiry.
    pub expires_at: Instant,
}

/// A live link with its access.
#[derive(Clone, Debug)]
pub struct OpenShare {
    /// A read-only key that is stored nowhere: it permits the operations that read the report, in its project.
    pub access: Arc<KeyAccess>,
    /// The report.
    pub report: SharedReport,
    /// Time of expiry.
    pub expires_at: Instant,
    /// Time zone of the project.
    pub timezone: String,
}

impl OpenShare {
    /// Scope of its project.
    pub fn scope(&self) -> ProjectScope {
        self.access.project.scope()
    }
}

/// A link as the list of a project has it.
#[derive(Clone, Debug)]
pub struct ListedShare {
    /// Identifier.
    pub id: CredentialId,
    /// First characters of the token.
    pub prefix: String,
    /// The report.
    pub report: SharedReport,
    /// Time at which the audit was requested; `None` if it is gone, or if the report is not of one.
    pub audit_at: Option<Instant>,
    /// Name of the person who created it; `None` if their account is gone.
    pub created_by: Option<String>,
    /// Time of creation.
    pub created_at: Instant,
    /// Time of expiry.
    pub expires_at: Instant,
    /// Time of revocation.
    pub revoked_at: Option<Instant>,
    /// Number of times that it was opened.
    pub views: u64,
    /// Time at which it was last opened.
    pub last_viewed_at: Option<Instant>,
}

/// Creates a link.
pub async fn create(tx: &mut Tx, scope: ProjectScope, new: NewShare, now: Instant) -> Result<()> {
    let kind = new.report.kind();
    let (audit, period) = match new.report {
        SharedReport::Audit(audit) => (Some(audit), None),
        SharedReport::Visibility(period) => (None, period),
    };
    let (first, last) = period.map(|days| (days.first, days.last)).unzip();
    sql("INSERT INTO share_links (project_id, id, digest, prefix, kind, audit_id, first_day, last_day, created_by, created_at, expires_at, views)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0)")
    .bind(scope.project())
    .bind(new.id)
    .bind(&new.digest)
    .bind(new.prefix)
    .bind(kind)
    .bind(audit)
    .bind(first)
    .bind(last)
    .bind(new.created_by)
    .bind(now)
    .bind(new.expires_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the link of a token with its access, unless it is expired or revoked or its audit is gone.
pub async fn find(tx: &mut Tx, digest: &[u8; 32], now: Instant) -> Result<Option<OpenShare>> {
    let found = sql("SELECT s.digest, s.id, s.prefix, s.expires_at, s.kind, s.audit_id, s.first_day, s.last_day, p.timezone,
            p.id, p.name, p.domain, p.language, p.country
         FROM share_links s JOIN projects p ON p.id = s.project_id
         WHERE s.digest = $1 AND s.revoked_at IS NULL AND s.expires_at > $2
           AND (s.audit_id IS NULL OR EXISTS (SELECT 1 FROM audits a WHERE a.project_id = s.project_id AND a.id = s.audit_id))")
    .bind(digest)
    .bind(now)
    .fetch_optional(tx, |c| {
        let stored: Vec<u8> = c.take()?;
        let (id, prefix, expires_at) = (c.take()?, c.take()?, c.take()?);
        let report = SharedReport::read(c)?;
        let timezone = c.take()?;
        let key = KeyRecord {
            id,
            name: "share link".to_owned(),
            prefix,
            scopes: vec![report.scope()],
            read_only: true,
            expires_at: Some(expires_at),
            revoked_at: None,
            last_used_at: None,
        };
        let share = OpenShare {
            access: Arc::new(access::key_of_share(key, c)?),
            report,
            expires_at,
            timezone,
        };
        Ok((stored, share))
    })
    .await?;
    // The index has compared the bytes already; this comparison is in constant time.
    Ok(found.and_then(|(stored, share)| bool::from(stored.as_slice().ct_eq(digest)).then_some(share)))
}

/// Returns whether a project has this link, ended or not.
pub async fn exists(tx: &mut Tx, scope: ProjectScope, id: CredentialId) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM share_links WHERE project_id = $1 AND id = $2)")
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Counts the links of a project that are neither revoked nor expired.
pub async fn count_live(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<u64> {
    sql("SELECT count(*) FROM share_links WHERE project_id = $1 AND revoked_at IS NULL AND expires_at > $2")
        .bind(scope.project())
        .bind(now)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Returns the links of a project, ended ones included, newest first.
pub async fn list(tx: &mut Tx, scope: ProjectScope, limit: u32) -> Result<Vec<ListedShare>> {
    sql(
        "SELECT s.id, s.prefix, s.kind, s.audit_id, s.first_day, s.last_day, a.requested_at, u.name,
            s.created_at, s.expires_at, s.revoked_at, s.views, s.last_viewed_at
         FROM share_links s LEFT JOIN audits a ON a.project_id = s.project_id AND a.id = s.audit_id
           LEFT JOIN users u ON u.id = s.created_by
         WHERE s.project_id = $1 ORDER BY s.id DESC LIMIT $2",
    )
    .bind(scope.project())
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(ListedShare {
            id: c.take()?,
            prefix: c.take()?,
            report: SharedReport::read(c)?,
            audit_at: c.take()?,
            created_by: c.take()?,
            created_at: c.take()?,
            expires_at: c.take()?,
            revoked_at: c.take()?,
            views: c.take()?,
            last_viewed_at: c.take()?,
        })
    })
    .await
}

/// Revokes a link; [`Error::Missing`] if the project has none of this id, `false` if it was revoked before.
pub async fn revoke(tx: &mut Tx, scope: ProjectScope, id: CredentialId, now: Instant) -> Result<bool> {
    let is_revoked: bool =
        sql("SELECT revoked_at IS NOT NULL FROM share_links WHERE project_id = $1 AND id = $2")
            .bind(scope.project())
            .bind(id)
            .fetch_one(tx, |c| c.take())
            .await?;
    if is_revoked {
        return Ok(false);
    }
    sql("UPDATE share_links SET revoked_at = $3 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(true)
}

/// Counts a view of a link.
pub async fn record_view(tx: &mut Tx, scope: ProjectScope, id: CredentialId, now: Instant) -> Result<()> {
    sql("UPDATE share_links SET views = views + 1, last_viewed_at = $3 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes links that ended before this time and returns their number.
pub async fn delete_ended(tx: &mut Tx, before: Instant) -> Result<u64> {
    sql("DELETE FROM share_links WHERE expires_at < $1")
        .bind(before)
        .execute(tx)
        .await
}
