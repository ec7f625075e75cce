//! Workspaces, people, members and Agent Autonomy, as the operator sets them.

use searchwright_contract::{
    Code, Instant, Problem,
    ids::{UserId, WorkspaceId},
    people::{Autonomy, AutonomyAction, Role},
};
use searchwright_store::{
    Error, Tx,
    access::ListedKey,
    account_activity,
    admin::{self, OperatorList, OperatorProject, OperatorUser, OperatorWorkspace, get_scope},
    agent_autonomy::{self, NewAutonomy},
    users::{self, User},
    workspaces,
};
use uuid::Uuid;

use crate::{AccountEntry, People, autonomy::check_cap, check_email, passwords};
use searchwright_engine::admin::check_name;
use searchwright_failure::{Failure, Result};

/// A workspace that was created.
#[derive(Clone, Debug, serde::Serialize)]
pub struct CreatedWorkspace {
    /// Identifier.
    pub id: WorkspaceId,
    /// Name.
    pub name: String,
}

/// A person who was created, with the membership.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatedUser {
    /// Identifier.
    pub id: UserId,
    /// Email address.
    pub email: String,
    /// Workspace of the membership.
    pub workspace_id: WorkspaceId,
    /// Role in it.
    pub role: Role,
}

/// A person to be created.
#[derive(Clone)]
pub struct NewUser {
    /// Email address.
    pub email: String,
    /// Name.
    pub name: String,
    /// Password; without one the person signs in by a link.
    pub password: Option<String>,
    /// Role; without one owner if the workspace has no owner, else editor.
    pub role: Option<Role>,
    /// Workspace; the first one if none is named.
    pub workspace: Option<WorkspaceId>,
}

impl std::fmt::Debug for NewUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NewUser({})", self.email)
    }
}

impl People {
    /// Creates a workspace.
    pub async fn create_workspace(&self, name: &str) -> Result<CreatedWorkspace> {
        let created = CreatedWorkspace {
            id: self.clock.id(),
            name: check_name(name, 100)?,
        };
        let (new, now) = (created.clone(), self.clock.now());
        self.db
            .write(move |tx| Box::pin(async move { workspaces::create(tx, new.id, &new.name, now).await }))
            .await?;
        Ok(created)
    }

    /// Lists at most `limit` projects of all workspaces, oldest first.
    pub async fn list_all_projects(&self, limit: u32) -> Result<OperatorList<OperatorProject>> {
        Ok(admin::list_projects(&mut self.db.read().await?, limit).await?)
    }

    /// Lists at most `limit` keys of a project, newest first.
    pub async fn list_keys_of_project(&self, project: Uuid, limit: u32) -> Result<OperatorList<ListedKey>> {
        let mut tx = self.db.read().await?;
        let scope = get_scope(&mut tx, project).await.map_err(no_project)?;
        Ok(admin::list_keys(&mut tx, scope, limit).await?)
    }

    /// Lists at most `limit` workspaces, oldest first.
    pub async fn list_all_workspaces(&self, limit: u32) -> Result<OperatorList<OperatorWorkspace>> {
        Ok(admin::list_workspaces(&mut self.db.read().await?, limit).await?)
    }

    /// Lists at most `limit` people with their memberships, oldest first.
    pub async fn list_all_users(&self, limit: u32) -> Result<OperatorList<OperatorUser>> {
        Ok(admin::list_users(&mut self.db.read().await?, limit).await?)
    }

    /// Creates a person and their membership.
    pub async fn create_user(&self, new: NewUser) -> Result<CreatedUser> {
        let (name, email) = (check_name(&new.name, 100)?, check_email(&new.email)?);
        let password = match new.password {
            Some(password) => {
                passwords::check(&password, &[&name, &email, "searchwright"])?;
                Some(self.passwords.hash(password).await?)
            }
            None => None,
        };
        let (now, first) = (self.clock.now(), self.clock.id());
        let user = User {
            id: self.clock.id(),
            email,
            name,
            password,
            disabled_at: None,
        };
        let entry = self.operator_entry("user.created", user.id, None, now);
        let (workspace, role) = (new.workspace, new.role);
        let work = async move |tx: &mut Tx| {
            let workspace_id = match workspace {
                Some(id) => id,
                None => workspaces::find_or_create_first(tx, first, now).await?,
            };
            users::create(tx, &user, now).await.map_err(|e| match e {
                Error::Duplicate(_) => Failure::from(Problem::new(
                    Code::AlreadyExists,
                    "a person with this email address exists already",
                )),
                other => other.into(),
            })?;
            workspaces::lock(tx, workspace_id).await?;
            let role = match role {
                Some(role) => role,
                None if workspaces::count_owners(tx, workspace_id).await? == 0 => Role::Owner,
                None => Role::Editor,
            };
            set_member(tx, workspace_id, user.id, role, now).await?;
            account_activity::insert(tx, entry).await?;
            Ok::<_, Failure>(CreatedUser {
                id: user.id,
                email: user.email,
                workspace_id,
                role,
            })
        };
        self.db.write(move |tx| Box::pin(work(tx))).await
    }

    /// Returns the id of a person by id or email address.
    pub async fn find_user(&self, named: &str) -> Result<UserId> {
        let mut tx = self.db.read().await?;
        let found = match UserId::parse(named) {
            Ok(id) => users::find(&mut tx, id).await?,
            Err(_) => users::find_by_email(&mut tx, &named.trim().to_lowercase()).await?,
        };
        let unknown = || Problem::new(Code::NotFound, "there is no such person");
        Ok(found.ok_or_else(unknown)?.id)
    }

    /// Adds a member to a workspace, or changes their role.
    pub async fn set_member(&self, workspace: WorkspaceId, user: UserId, role: Role) -> Result<()> {
        let now = self.clock.now();
        let entry = self.operator_entry("member.set", user, Some(role.as_str()), now);
        let work = async move |tx: &mut Tx| {
            workspaces::lock(tx, workspace).await?;
            if role != Role::Owner {
                keep_an_owner(tx, workspace, user).await?;
            }
            set_member(tx, workspace, user, role, now).await?;
            account_activity::insert(tx, entry).await?;
            Ok::<_, Failure>(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(self.db.credentials_changed().await?)
    }

    /// Removes a member from a workspace.
    pub async fn remove_member(&self, workspace: WorkspaceId, user: UserId) -> Result<()> {
        let now = self.clock.now();
        let entry = self.operator_entry("member.removed", user, None, now);
        let work = async move |tx: &mut Tx| {
            workspaces::lock(tx, workspace).await?;
            keep_an_owner(tx, workspace, user).await?;
            workspaces::remove_member(tx, workspace, user)
                .await
                .map_err(|e| match e {
                    Error::Missing => Failure::from(Problem::new(
                        Code::NotFound,
                        "the person is not a member of this workspace",
                    )),
                    other => other.into(),
                })?;
            account_activity::insert(tx, entry).await?;
            Ok::<_, Failure>(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(self.db.credentials_changed().await?)
    }

    /// Turns Agent Autonomy for an action on or off, and returns what is in force.
    pub async fn set_autonomy(
        &self,
        project: Uuid,
        action: AutonomyAction,
        is_on: bool,
        daily_cap: Option<u32>,
        lifetime_millis: Option<i64>,
    ) -> Result<Autonomy> {
        check_cap(daily_cap)?;
        let now = self.clock.now();
        let expires_at: Option<Instant> = lifetime_millis.map(|millis| now.plus_millis(millis));
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    let scope = get_scope(tx, project).await.map_err(no_project)?;
                    if is_on {
                        let new = NewAutonomy {
                            action,
                            daily_cap,
                            expires_at,
                            enabled_by: None,
                        };
                        agent_autonomy::enable(tx, scope, new, now).await?;
                    } else {
                        agent_autonomy::disable(tx, scope, action).await?;
                    }
                    Ok::<_, Failure>(())
                })
            })
            .await?;
        Ok(if is_on {
            Autonomy {
                enabled: true,
                daily_cap,
                expires_at,
            }
        } else {
            Autonomy::default()
        })
    }

    fn operator_entry(
        &self,
        action: &'static str,
        user: UserId,
        detail: Option<&str>,
        now: Instant,
    ) -> account_activity::AccountActivity {
        let entry = AccountEntry {
            action,
            user: Some(user),
            client: None,
            address: "",
            detail: detail.or(Some("operator")),
        };
        self.account_activity(entry, now)
    }
}

fn no_project(error: Error) -> Failure {
    match error {
        Error::Missing => Problem::not_found("project").into(),
        other => other.into(),
    }
}

async fn set_member(
    tx: &mut Tx,
    workspace: WorkspaceId,
    user: UserId,
    role: Role,
    now: Instant,
) -> Result<()> {
    workspaces::set_member(tx, workspace, user, role, now)
        .await
        .map_err(|e| match e {
            Error::Dangling => Problem::new(Code::NotFound, "there is no such workspace").into(),
            other => other.into(),
        })
}

/// Refuses to take the role from the last owner of a workspace.
pub(crate) async fn keep_an_owner(tx: &mut Tx, workspace: WorkspaceId, user: UserId) -> Result<()> {
    let is_owner = workspaces::find_role(tx, workspace, user).await? == Some(Role::Owner);
    if is_owner && workspaces::count_owners(tx, workspace).await? == 1 {
        return Err(
            Problem::new(Code::InvalidState, "the workspace would be left without an owner")
                .hint("make somebody else an owner first")
                .into(),
        );
    }
    Ok(())
}
