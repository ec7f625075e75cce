//! Accounts of a project at vendors, its budgets and its quotas, as a person who manages it sets them.

use std::{collections::BTreeMap, time::Duration};

use searchwright_contract::{
    Code, Problem,
    ids::{ActivityId, ProjectId},
    usage::Metric,
};
use searchwright_engine::admin::providers::ProviderAccount;
use searchwright_failure::{Failure, Result, fault};
pub use searchwright_providers::Provider;
use searchwright_providers::{Credentials, ProviderError, Providers};
use searchwright_store::{
    activity::{self, NewActivity},
    providers,
};

use crate::{
    People,
    keys::{Managed, managed},
    sessions::RecentSession,
};

/// Time in which a vendor has to answer a test.
const TEST_TIMEOUT: Duration = Duration::from_secs(20);

/// An account as a person sets it.
#[derive(Clone)]
pub struct AccountChange {
    /// The provider's word.
    pub provider: String,
    /// Address, model and the like.
    pub settings: BTreeMap<String, String>,
    /// Secret; the stored one stays if `None`.
    pub secret: Option<String>,
    /// Version of what the person saw, by [`version`].
    pub seen: String,
}

impl std::fmt::Debug for AccountChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AccountChange({})", self.provider)
    }
}

/// Returns the version of an account: the change of another person makes it another. Empty before it is set.
pub fn version(account: Option<&ProviderAccount>) -> String {
    account.map_or_else(String::new, |account| account.updated_at.to_string())
}

/// Whether the secret would be sent to another address than before. Who sets one has to know the secret: otherwise anybody who
/// manages the project could have it sent to himself.
fn leads_elsewhere(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> bool {
    let addresses = before
        .keys()
        .chain(after.keys())
        .filter(|name| name.ends_with("Url"));
    let value =
        |settings: &BTreeMap<String, String>, name: &String| settings.get(name).cloned().unwrap_or_default();
    addresses.into_iter().any(|name| {
        value(before, name).trim_end_matches('/') != value(after, name).trim().trim_end_matches('/')
    })
}

impl People {
    /// Refuses who does not manage a project, and returns what the log needs to know of those who do.
    async fn manager(&self, by: &RecentSession, project: ProjectId) -> Result<Managed> {
        managed(&mut self.db.read().await?, by.user, project).await
    }

    async fn log(&self, manager: Managed, verb: &'static str, subject: String) -> Result<()> {
        let (entry, now) = (self.clock.id::<ActivityId>(), self.clock.now());
        let work = self.db.write(move |tx| {
            Box::pin(async move {
                let entry = NewActivity::of_person(entry, verb, subject, manager.user);
                Ok::<_, Failure>(activity::insert(tx, manager.access.scope(), entry, now).await?)
            })
        });
        work.await
    }

    /// Sets an account over the one there was, as a person who manages the project.
    pub async fn set_account(
        &self,
        by: &RecentSession,
        project: ProjectId,
        change: AccountChange,
    ) -> Result<()> {
        let manager = self.manager(by, project).await?;
        let known = self.list_providers(project.into()).await?;
        let known = known.iter().find(|account| account.provider == change.provider);
        if change.seen != version(known) {
            return Err(Problem::new(
                Code::PreconditionFailed,
                "somebody changed it since this page was loaded",
            )
            .hint("look at what is set now, and send the form again if it is still right")
            .into());
        }
        if let Some(known) = known
            && known.has_secret
            && change.secret.is_none()
            && leads_elsewhere(&known.settings, &change.settings)
        {
            let why = "has to be typed again, because it would be sent to another address";
            return Err(fault("/secret", "secret_required", why));
        }
        let keyring = self.keyring.clone();
        let set = self.set_provider(
            keyring,
            project.into(),
            &change.provider,
            change.settings,
            change.secret,
        );
        let account = set.await?;
        self.log(manager, "providers.set", account.provider).await
    }

    /// Forgets an account and its secret, as a person who manages the project; `false` if there was none.
    pub async fn remove_account(
        &self,
        by: &RecentSession,
        project: ProjectId,
        provider: &str,
    ) -> Result<bool> {
        let manager = self.manager(by, project).await?;
        let is_gone = self.remove_provider(project.into(), provider).await?;
        if is_gone {
            self.log(manager, "providers.remove", provider.to_owned()).await?;
        }
        Ok(is_gone)
    }

    /// Asks a vendor, for free, whether it knows the stored account.
    pub async fn test_account(&self, by: &RecentSession, project: ProjectId, provider: &str) -> Result<()> {
        let manager = self.manager(by, project).await?;
        let provider = Provider::parse(provider)?;
        let opened = {
            let mut tx = self.db.read().await?;
            providers::open(&mut tx, manager.access.scope(), &self.keyring, provider.word()).await?
        };
        let opened = opened.ok_or_else(|| Problem::not_found("account"))?;
        let account = Credentials {
            settings: opened.settings,
            secret: opened.secret,
        };
        let vendors = Providers::new(&self.publishing()?.outbound, self.clock.clone());
        let asked = tokio::time::timeout(TEST_TIMEOUT, vendors.test(provider, &account)).await;
        asked
            .unwrap_or(Err(ProviderError::Unavailable))
            .map_err(|error| Problem::from(&error).into())
    }

    /// Sets what may be spent in a month at a provider, or in a day at all of them; no limit if `None`.
    pub async fn change_budget(
        &self,
        by: &RecentSession,
        project: ProjectId,
        provider: Option<&str>,
        micros_usd: Option<i64>,
    ) -> Result<()> {
        let manager = self.manager(by, project).await?;
        match provider {
            Some(provider) => self.set_budget(project.into(), provider, micros_usd).await?,
            None => self.set_daily_budget(project.into(), micros_usd).await?,
        };
        let subject = provider.unwrap_or("all").to_owned();
        self.log(manager, "budgets.set", subject).await
    }

    /// Sets how much of something may be used in a month; no limit if `None`.
    pub async fn change_quota(
        &self,
        by: &RecentSession,
        project: ProjectId,
        metric: Metric,
        limit: Option<i64>,
    ) -> Result<()> {
        let manager = self.manager(by, project).await?;
        self.set_quota(project.into(), metric.as_str(), limit).await?;
        self.log(manager, "quotas.set", metric.to_string()).await
    }
}
