//! The account of a person: all that its page shows, and the changes of name and password.

use searchwright_contract::{
    Code, Problem,
    ids::{ConnectionId, ProjectId, UserId},
    integrations::{Provider, Readiness},
};
use searchwright_store::{
    Tx, access,
    account_activity::{self, AccountActivity},
    integrations::{self, IntegrationRecord},
    oauth_grants::{self, GrantOfUser},
    passkeys::{self, Passkey},
    providers, second_factors,
    sessions::{self, Session, SessionOfUser},
    sign_in,
    usage::{self, DaySpend, ProviderSpend},
    users,
    workspaces::{self, WorkspaceOfUser},
};

use super::{
    AccountEntry, Caller, passwords,
    sessions::{IDLE_MILLIS, RecentSession},
};
use crate::People;
use searchwright_engine::admin::check_name;
use searchwright_failure::{Failure, Result};

/// Entries of the log that are shown.
const MAX_ENTRIES: u32 = 20;
/// Projects that are named.
const MAX_PROJECTS: u32 = 20;
/// Projects that are counted.
const MAX_COUNTED: u32 = 1_000;

/// Account of a person.
#[derive(Debug)]
pub struct Account {
    /// Whether a password is set.
    pub has_password: bool,
    /// Whether a code of an authenticator app is asked for at sign-in.
    pub has_totp: bool,
    /// Recovery codes that are left.
    pub recovery_codes: u64,
    /// Passkeys.
    pub passkeys: Vec<Passkey>,
    /// Sessions of browsers.
    pub sessions: Vec<SessionOfUser>,
    /// Workspaces, with the person's roles.
    pub workspaces: Vec<WorkspaceOfUser>,
    /// Applications that have access.
    pub applications: Vec<GrantOfUser>,
    /// Newest entries of the log.
    pub activity: Vec<AccountActivity>,
}

/// A place at which a project publishes.
#[derive(Debug)]
pub struct PublishingPlace {
    /// Id of its connection.
    pub connection: ConnectionId,
    /// Name of the provider.
    pub provider: &'static str,
    /// The site at the provider.
    pub site: String,
    /// Whether posts can be published there now.
    pub is_ready: bool,
}

impl From<IntegrationRecord> for PublishingPlace {
    fn from(mut connection: IntegrationRecord) -> Self {
        Self {
            connection: connection.id,
            provider: connection.provider.as_str(),
            is_ready: matches!(connection.status, Readiness::Ready | Readiness::Error)
                && connection.missing.is_empty(),
            // of a folder of this server its name: where that is concerns the operator alone
            site: match connection.provider {
                Provider::Files => connection.settings.remove("folder").unwrap_or_default(),
                _ => connection.site_key,
            },
        }
    }
}

/// Consequences that a program's acts can have in a project: where posts become public, and what may be spent.
#[derive(Debug)]
pub struct ProjectReach {
    /// Name of the project.
    pub name: String,
    /// Its domain.
    pub domain: String,
    /// Places at which it publishes.
    pub places: Vec<PublishingPlace>,
    /// Providers that charge an account of this project.
    pub accounts: Vec<String>,
    /// Spending of this month by provider.
    pub spend: Vec<ProviderSpend>,
    /// Spending of today at all providers.
    pub today: DaySpend,
}

impl ProjectReach {
    /// Returns a sentence about money: the most that may be spent where a budget says so.
    pub fn spending(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let unlimited = self
            .accounts
            .iter()
            .filter(|account| !self.spend.iter().any(|spend| spend.provider == **account));
        for provider in unlimited {
            parts.push(format!("{provider} without a budget, nothing spent this month"));
        }
        for spend in &self.spend {
            let spent = dollars(spend.settled + spend.uncertain);
            parts.push(match spend.budget {
                Some(budget) => format!(
                    "{} up to {} a month, {spent} spent",
                    spend.provider,
                    dollars(budget)
                ),
                None => format!("{} without a budget, {spent} spent this month", spend.provider),
            });
        }
        if let Some(limit) = self.today.limit.filter(|_| !parts.is_empty()) {
            parts.push(format!("at most {} a day in all", dollars(limit)));
        }
        parts.join("; ")
    }
}

/// Formats millionths of a US dollar.
fn dollars(micros: i64) -> String {
    let cents = micros.saturating_add(5_000) / 10_000;
    format!("${}.{:02}", cents / 100, cents % 100)
}

impl People {
    /// Returns the account of a person.
    pub async fn account(&self, user: UserId) -> Result<Account> {
        self.store_denials().await?;
        let now = self.clock.now();
        let mut tx = self.db.read().await?;
        let person = users::find(&mut tx, user).await?;
        Ok(Account {
            has_password: person.is_some_and(|person| person.password.is_some()),
            has_totp: second_factors::has_totp(&mut tx, user).await?,
            recovery_codes: second_factors::count_recovery_codes(&mut tx, user).await?,
            passkeys: passkeys::list_of_user(&mut tx, user).await?,
            sessions: sessions::list_of_user(&mut tx, user, now, now.plus_millis(-IDLE_MILLIS)).await?,
            workspaces: workspaces::list_of_user(&mut tx, user).await?,
            applications: oauth_grants::list_of_user(&mut tx, user, now).await?,
            activity: account_activity::list_of_user(&mut tx, user, MAX_ENTRIES).await?,
        })
    }

    /// Returns where the first projects that a person can access publish and what they may spend, and the number of further
    /// projects.
    pub async fn project_reaches(&self, user: UserId) -> Result<(Vec<ProjectReach>, usize)> {
        let now = self.clock.now();
        let mut tx = self.db.read().await?;
        let all = access::list_projects_of_user(&mut tx, user, None, MAX_COUNTED).await?;
        let more = all.len().saturating_sub(MAX_PROJECTS as usize);
        let mut reaches = Vec::new();
        for project in all.into_iter().take(MAX_PROJECTS as usize) {
            let Some(access) = access::find_project_of_user(&mut tx, user, project.id).await? else {
                continue;
            };
            let scope = access.scope();
            let connections = integrations::list(&mut tx, scope).await?;
            let places = connections.into_iter().map(PublishingPlace::from);
            let accounts = providers::list(&mut tx, scope).await?;
            reaches.push(ProjectReach {
                name: project.name,
                domain: project.domain,
                places: places.collect(),
                accounts: accounts.into_iter().map(|account| account.name).collect(),
                spend: usage::list_spend(&mut tx, scope, now).await?,
                today: usage::spend_of_day(&mut tx, scope, now).await?,
            });
        }
        Ok((reaches, more))
    }

    /// Returns where a project publishes, for a person who can access it.
    pub async fn publishing_places(&self, user: UserId, project: ProjectId) -> Result<Vec<PublishingPlace>> {
        let mut tx = self.db.read().await?;
        let Some(access) = access::find_project_of_user(&mut tx, user, project).await? else {
            return Ok(Vec::new());
        };
        let connections = integrations::list(&mut tx, access.scope()).await?;
        Ok(connections.into_iter().map(PublishingPlace::from).collect())
    }

    /// Returns the first projects that a person can access.
    pub async fn projects_of_user(
        &self,
        user: UserId,
    ) -> Result<Vec<searchwright_contract::me::AccessibleProject>> {
        Ok(access::list_projects_of_user(&mut self.db.read().await?, user, None, MAX_PROJECTS).await?)
    }

    /// Changes the name of a person.
    pub async fn rename_user(&self, session: &Session, name: &str) -> Result<()> {
        let (user, name, now) = (session.user, check_name(name, 100)?, self.clock.now());
        self.db
            .write(move |tx| Box::pin(async move { users::set_name(tx, user, &name, now).await }))
            .await?;
        Ok(())
    }

    /// Sets the password of a person. Their other sessions end, and applications have to be connected again: whoever knew the
    /// former password keeps nothing.
    pub async fn set_password(
        &self,
        by: &RecentSession,
        session: &Session,
        password: String,
        caller: &Caller,
    ) -> Result<()> {
        passwords::check(&password, &[&session.user_name, &session.email, "searchwright"])?;
        let hash = self.passwords.hash(password).await?;
        let (user, kept, now) = (by.user, by.id, self.clock.now());
        let entry = AccountEntry::new("password.set", Some(user), &caller.address);
        let entry = self.account_activity(entry, now);
        let work = async move |tx: &mut Tx| {
            users::set_password(tx, user, &hash, now).await?;
            sign_in::delete_links_of_user(tx, user).await?;
            sessions::delete_others(tx, user, Some(kept)).await?;
            second_factors::delete_pending_of_user(tx, user).await?;
            oauth_grants::revoke_of_user(tx, user, "the password was changed", now).await?;
            account_activity::insert(tx, entry).await
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(self.db.credentials_changed().await?)
    }

    /// Ends all sessions of a person but this one.
    pub async fn end_other_sessions(&self, session: &Session, caller: &Caller) -> Result<()> {
        let (user, kept, now) = (session.user, session.id, self.clock.now());
        let entry = AccountEntry::new("session.ended", Some(user), &caller.address).with_detail("all others");
        let entry = self.account_activity(entry, now);
        let work = async move |tx: &mut Tx| {
            sessions::delete_others(tx, user, Some(kept)).await?;
            account_activity::insert(tx, entry).await
        };
        Ok(self.db.write(move |tx| Box::pin(work(tx))).await?)
    }

    /// Disables a person, whose sessions and applications end, or lets them in again.
    pub async fn set_user_disabled(&self, user: UserId, is_disabled: bool) -> Result<()> {
        let now = self.clock.now();
        let entry = AccountEntry {
            action: if is_disabled {
                "user.disabled"
            } else {
                "user.enabled"
            },
            user: Some(user),
            client: None,
            address: "",
            detail: Some("operator"),
        };
        let entry = self.account_activity(entry, now);
        let work = async move |tx: &mut Tx| {
            users::set_disabled(tx, user, is_disabled.then_some(now), now).await?;
            if is_disabled {
                sessions::delete_others(tx, user, None).await?;
                second_factors::delete_pending_of_user(tx, user).await?;
                oauth_grants::revoke_of_user(tx, user, "the account was disabled", now).await?;
            }
            account_activity::insert(tx, entry).await
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(self.db.credentials_changed().await?)
    }

    /// Removes the second factor of a person who lost it, on behalf of the operator.
    pub async fn remove_second_factor_as_operator(&self, user: UserId) -> Result<()> {
        let now = self.clock.now();
        let entry = AccountEntry::new("second_factor.removed", Some(user), "").with_detail("operator");
        let entry = self.account_activity(entry, now);
        let work = async move |tx: &mut Tx| {
            if !second_factors::remove(tx, user).await? {
                return Err(Problem::new(Code::InvalidState, "the person has no second factor").into());
            }
            account_activity::insert(tx, entry).await?;
            Ok::<_, Failure>(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await
    }
}
