//! Everything that the page of a person shows.

use searchwright_contract::ids::UserId;
use searchwright_store::{
    access,
    account_activity::{self, AccountActivity},
    oauth_grants::{self, GrantOfUser},
    workspaces::{self, WorkspaceOfUser},
};

use crate::{Engine, failure::Result};

/// Entries of the log that are shown.
const MAX_ENTRIES: u32 = 20;
/// Projects that are named.
const MAX_PROJECTS: u32 = 20;
/// Projects that are counted.
const MAX_COUNTED: u32 = 1_000;

/// Account of a person.
#[derive(Debug)]
pub struct Account {
    /// Workspaces, with the person's roles.
    pub workspaces: Vec<WorkspaceOfUser>,
    /// Applications that have access.
    pub applications: Vec<GrantOfUser>,
    /// Newest entries of the log.
    pub activity: Vec<AccountActivity>,
}

impl Engine {
    /// Returns the account of a person.
    pub async fn account(&self, user: UserId) -> Result<Account> {
        let mut tx = self.db.read().await?;
        Ok(Account {
            workspaces: workspaces::list_of_user(&mut tx, user).await?,
            applications: oauth_grants::list_of_user(&mut tx, user, self.clock.now()).await?,
            activity: account_activity::list_of_user(&mut tx, user, MAX_ENTRIES).await?,
        })
    }

    /// Returns the names of the first projects that a person can access, and the number of further ones.
    pub async fn project_names_of_user(&self, user: UserId) -> Result<(Vec<String>, usize)> {
        let mut tx = self.db.read().await?;
        let all = access::list_projects_of_user(&mut tx, user, None, MAX_COUNTED).await?;
        let more = all.len().saturating_sub(MAX_PROJECTS as usize);
        let names = all.into_iter().take(MAX_PROJECTS as usize);
        Ok((names.map(|project| project.name).collect(), more))
    }
}
