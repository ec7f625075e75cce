//! API keys of a project, as the people in it manage them.

use searchwright_contract::{
    Code, Problem, Scope,
    ids::{ActivityId, CredentialId, ProjectId, UserId},
    people::{Role, UserRef},
};
use searchwright_engine::{
    admin::{CreatedKey, MAX_KEYS, check_name},
    secrets::{self, SecretKind},
};
use searchwright_failure::{Failure, Result, fault};
use searchwright_store::{
    Error, Tx,
    access::{self, ListedKey, ProjectAccess},
    activity::{self, NewActivity},
    admin::{self, NewKey},
    users,
};

use crate::{People, sessions::RecentSession};

/// Keys that are listed, ended ones included.
const MAX_LISTED: u32 = 200;
/// Days that a key may live, unless it lives forever.
const MAX_DAYS: u32 = 3_650;

/// A key that a person wants to have made.
#[derive(Clone, Debug)]
pub struct KeyWish {
    /// Id of the key, which the form has from the page: a form that is sent twice makes one key.
    pub id: Option<CredentialId>,
    /// Label.
    pub name: String,
    /// Scopes.
    pub scopes: Vec<Scope>,
    /// Refuses whatever changes something.
    pub read_only: bool,
    /// Days it lives; forever if `None`.
    pub days: Option<u32>,
}

/// A project that a person may manage, and the person for its activity log.
pub(crate) struct Managed {
    pub access: ProjectAccess,
    pub user: UserRef,
}

fn no_project() -> Failure {
    Problem::not_found("project").into()
}

/// Refuses a role that does not manage a project.
pub fn check_manages(role: Option<Role>) -> Result<()> {
    if role >= Some(Role::Admin) {
        return Ok(());
    }
    Err(
        Problem::new(Code::InsufficientRole, "this needs the role admin or owner")
            .hint("ask an admin or the owner of the workspace")
            .into(),
    )
}

/// Refuses who is neither admin nor owner. Unknown projects and those of others are not told apart.
pub(crate) async fn managed(tx: &mut Tx, user: UserId, project: ProjectId) -> Result<Managed> {
    let access = access::find_project_of_user(tx, user, project)
        .await?
        .ok_or_else(no_project)?;
    check_manages(access.role)?;
    let person = users::find(tx, user).await?.ok_or_else(no_project)?;
    Ok(Managed {
        access,
        user: UserRef {
            id: user,
            name: person.name,
        },
    })
}

impl People {
    /// Returns the keys of a project to a member, ended ones included, newest first.
    pub async fn keys(&self, user: UserId, project: ProjectId) -> Result<Vec<ListedKey>> {
        let mut tx = self.db.read().await?;
        let access = access::find_project_of_user(&mut tx, user, project).await?;
        let access = access.ok_or_else(no_project)?;
        Ok(access::list_keys(&mut tx, access.scope(), MAX_LISTED).await?)
    }

    /// Makes a key, as a person who manages the project.
    pub async fn make_key(
        &self,
        by: &RecentSession,
        project: ProjectId,
        wish: KeyWish,
    ) -> Result<CreatedKey> {
        let name = check_name(&wish.name, 100)?;
        if wish.scopes.is_empty() {
            return Err(fault("/scopes", "required", "have to be at least one"));
        }
        if wish.days.is_some_and(|days| !(1..=MAX_DAYS).contains(&days)) {
            return Err(fault(
                "/days",
                "out_of_range",
                format!("have to be 1 to {MAX_DAYS}"),
            ));
        }
        let scopes: Vec<&str> = wish.scopes.iter().map(|scope| scope.as_str()).collect();
        let (now, user, key) = (self.clock.now(), by.user, secrets::generate(SecretKind::ApiKey)?);
        let expires_at = wish
            .days
            .map(|days| now.plus_millis(i64::from(days) * 86_400_000));
        let created = CreatedKey {
            id: wish.id.unwrap_or_else(|| self.clock.id()),
            prefix: secrets::prefix(&key).to_owned(),
            expires_at,
            key,
        };
        let new = NewKey {
            id: created.id,
            project: project.into(),
            name,
            prefix: created.prefix.clone(),
            digest: secrets::digest(&created.key),
            scopes: scopes.join(" "),
            read_only: wish.read_only,
            expires_at,
        };
        let entry = self.clock.id::<ActivityId>();
        let work = async move |tx: &mut Tx| {
            let Managed { access, user } = managed(tx, user, project).await?;
            if admin::count_live_keys(tx, new.project, now).await? >= MAX_KEYS {
                return Err(Problem::new(
                    Code::InvalidState,
                    format!("a project has at most {MAX_KEYS} live keys"),
                )
                .hint("revoke one that is no longer used")
                .into());
            }
            let subject = new.id.to_string();
            admin::create_key(tx, new, now).await.map_err(|e| match e {
                Error::Duplicate(_) => Failure::from(
                    Problem::new(
                        Code::AlreadyExists,
                        "this form was sent before, and its key was shown then",
                    )
                    .hint("if you did not keep the key, revoke it and make another"),
                ),
                other => other.into(),
            })?;
            let entry = NewActivity::of_person(entry, "keys.create", subject, user);
            Ok::<_, Failure>(activity::insert(tx, access.scope(), entry, now).await?)
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(created)
    }

    /// Ends a key at once, as a person who manages its project; `false` if it had ended before.
    pub async fn end_key(&self, by: &RecentSession, project: ProjectId, id: CredentialId) -> Result<bool> {
        let (now, user, entry) = (self.clock.now(), by.user, self.clock.id::<ActivityId>());
        let work = self.db.write(move |tx| {
            Box::pin(async move {
                let Managed { access, user } = managed(tx, user, project).await?;
                if !access::has_key(tx, access.scope(), id).await? {
                    return Err(Problem::not_found("key").into());
                }
                let is_ended = admin::revoke_key(tx, id, now).await?;
                if is_ended {
                    let entry = NewActivity::of_person(entry, "keys.revoke", id.to_string(), user);
                    activity::insert(tx, access.scope(), entry, now).await?;
                }
                Ok::<_, Failure>(is_ended)
            })
        });
        let is_ended = work.await?;
        self.db.credentials_changed().await?;
        Ok(is_ended)
    }
}
