//! Who may touch which project. A [`ProjectScope`] can only come out of the database: from a key
//! joined to its project, or from a leased job. Every function on project data takes one.

use searchwright_contract::{Instant, Scope, projects::ProjectRef};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use crate::{Cells, Result, Tx, sql};

/// Proof that somebody may work on a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProjectScope {
    project: Uuid,
}

impl ProjectScope {
    /// The project.
    pub const fn project(self) -> Uuid {
        self.project
    }

    /// Only where the row that proves it was just read.
    pub(crate) const fn proven(project: Uuid) -> Self {
        Self { project }
    }
}

/// A valid API key with its project.
#[derive(Clone, Debug)]
pub struct KeyAccess {
    /// The key.
    pub key: KeyRecord,
    /// Its project.
    pub project: ProjectRef,
    /// Language and country that new records get.
    pub language: String,
    /// Country, empty when not set.
    pub country: String,
    scope: ProjectScope,
}

/// What is kept of an API key; never the key itself.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyRecord {
    /// Identifier.
    pub id: Uuid,
    /// Label.
    pub name: String,
    /// First characters.
    pub prefix: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// Refuses whatever changes something.
    pub read_only: bool,
    /// When it stops working.
    pub expires_at: Option<Instant>,
    /// When somebody ended it.
    pub revoked_at: Option<Instant>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Instant>,
}

impl KeyAccess {
    /// The scope, if the path names exactly this key's project. Malformed, unknown and foreign are one answer.
    pub fn enter(&self, project_id: &str) -> Option<ProjectScope> {
        (project_id == self.project.id).then_some(self.scope)
    }

    /// The scope of the key's own project.
    pub const fn own(&self) -> ProjectScope {
        self.scope
    }

    /// Whether the key may do what needs this scope.
    pub fn may(&self, needed: Scope) -> bool {
        !(self.key.read_only && needed.writes())
            && (matches!(needed, Scope::Any | Scope::OfRecord)
                || self.key.scopes.iter().any(|s| s.grants(needed)))
    }
}

/// The key with this digest, whether or not it still works.
pub async fn key_by_digest(tx: &mut Tx, digest: &[u8; 32]) -> Result<Option<KeyAccess>> {
    let found = sql("SELECT k.digest, k.id, k.name, k.prefix, k.scopes, k.read_only, k.expires_at, k.revoked_at, k.last_used_at,
            p.id, p.name, p.domain, p.language, p.country
         FROM api_keys k JOIN projects p ON p.id = k.project_id WHERE k.digest = $1")
    .bind(digest)
    .fetch_optional(tx, |c| {
        let stored: Vec<u8> = c.take()?;
        Ok((stored, key_access(c)?))
    })
    .await?;
    // The index has found equal bytes already; comparing them again in constant time costs nothing.
    Ok(found.and_then(|(stored, access)| bool::from(stored.as_slice().ct_eq(digest)).then_some(access)))
}

/// The keys of a project, revoked ones too, with their labels.
pub async fn key_names(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<(Uuid, String)>> {
    sql("SELECT id, name FROM api_keys WHERE project_id = $1")
        .bind(scope.project())
        .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
        .await
}

fn key_access(c: &mut Cells<'_>) -> Result<KeyAccess> {
    let key = key_record(c)?;
    let project: Uuid = c.take()?;
    Ok(KeyAccess {
        key,
        project: ProjectRef {
            id: project.to_string(),
            name: c.take()?,
            domain: c.take()?,
        },
        language: c.take()?,
        country: c.take()?,
        scope: ProjectScope::proven(project),
    })
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

/// Notes when keys were last used; an older note never replaces a newer one.
pub async fn note_use(tx: &mut Tx, uses: Vec<(Uuid, Instant)>) -> Result<()> {
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

macro_rules! children {
    ($($variant:ident $table:literal $word:literal;)*) => {
        /// A kind of record that lives in a project.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Child { $(#[doc = $word] $variant,)* }

        impl Child {
            /// Its name in messages.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            // One key lookup per project: the tables lead with project_id, and an index by id alone
            // would cost every insert for the sake of a caller's mistake.
            const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!("SELECT EXISTS (SELECT 1 FROM projects p WHERE EXISTS (SELECT 1 FROM ", $table, " c WHERE c.project_id = p.id AND c.id = $1))"),)*
                }
            }
        }
    };
}
children! {
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
    Cta "(SELECT project_id, id FROM brand_items WHERE resource = 'ctas')" "cta";
}

/// Whether any project has such a record: tells a foreign id (403) from an unknown one (404).
pub async fn exists_anywhere(tx: &mut Tx, child: Child, id: Uuid) -> Result<bool> {
    sql(child.text()).bind(id).fetch_one(tx, |c| c.take()).await
}
