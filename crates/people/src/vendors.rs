//! Accounts of a project at vendors, its budgets and its quotas, as a person who manages it sets them.

use std::{collections::BTreeMap, time::Duration};

use searchwright_contract::{Problem, ids::ProjectId, usage::Metric};
use searchwright_engine::admin::{
    limits::{check_budget, check_quota},
    providers::{CheckedAccount, ProviderAccount},
};
use searchwright_failure::{Failure, Result, fault};
pub use searchwright_providers::Provider;
use searchwright_providers::{Credentials, ProviderError, Providers};
use searchwright_store::{providers, usage};

use crate::{People, keys::managed, managed::changed_meanwhile, sessions::RecentSession};

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
    /// Sets an account over the one there was, as a person who manages the project.
    pub async fn set_account(
        &self,
        by: &RecentSession,
        project: ProjectId,
        change: AccountChange,
    ) -> Result<()> {
        let AccountChange {
            provider,
            settings,
            secret,
            seen,
        } = change;
        let (keyring, now) = (self.keyring.clone(), self.clock.now());
        let (has_typed, typed) = (secret.is_some(), settings.clone());
        let account = CheckedAccount::new(self.clock.id(), &provider, settings, secret)?;
        self.change_managed(by.user, project, move |tx, scope| {
            Box::pin(async move {
                let known = providers::list(tx, scope).await?.into_iter();
                let known: Option<ProviderAccount> = known
                    .map(ProviderAccount::from)
                    .find(|account| account.provider == provider);
                if seen != version(known.as_ref()) {
                    return Err(changed_meanwhile());
                }
                let keeps_secret = !has_typed && known.as_ref().is_some_and(|known| known.has_secret);
                if keeps_secret && known.is_some_and(|known| leads_elsewhere(&known.settings, &typed)) {
                    let why = "has to be typed again, because it would be sent to another address";
                    return Err(fault("/secret", "secret_required", why));
                }
                account.store(tx, scope, &keyring, now).await?;
                Ok(((), Some(("providers.set", provider))))
            })
        })
        .await
    }

    /// Forgets an account and its secret, as a person who manages the project; `false` if there was none.
    pub async fn remove_account(
        &self,
        by: &RecentSession,
        project: ProjectId,
        provider: &str,
    ) -> Result<bool> {
        let word = Provider::parse(provider)?.word();
        self.change_managed(by.user, project, move |tx, scope| {
            Box::pin(async move {
                let is_gone = providers::remove(tx, scope, word).await?;
                Ok((is_gone, is_gone.then(|| ("providers.remove", word.to_owned()))))
            })
        })
        .await
    }

    /// Asks a vendor, for free, whether it knows the stored account.
    pub async fn test_account(&self, by: &RecentSession, project: ProjectId, provider: &str) -> Result<()> {
        let provider = Provider::parse(provider)?;
        let opened = {
            let mut tx = self.db.read().await?;
            let scope = managed(&mut tx, by.user, project).await?.access.scope();
            providers::open(&mut tx, scope, &self.keyring, provider.word()).await?
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
        check_budget(micros_usd)?;
        let word = provider.map(|provider| Ok::<_, Failure>(Provider::parse(provider)?.word()));
        let word = word.transpose()?;
        self.change_managed(by.user, project, move |tx, _| {
            Box::pin(async move {
                match word {
                    Some(word) => usage::set_budget(tx, project.into(), word, micros_usd).await?,
                    None => usage::set_daily_budget(tx, project.into(), micros_usd).await?,
                }
                Ok(((), Some(("budgets.set", word.unwrap_or("all").to_owned()))))
            })
        })
        .await
    }

    /// Sets how much of something may be used in a month; no limit if `None`.
    pub async fn change_quota(
        &self,
        by: &RecentSession,
        project: ProjectId,
        metric: Metric,
        limit: Option<i64>,
    ) -> Result<()> {
        check_quota(metric, limit)?;
        self.change_managed(by.user, project, move |tx, _| {
            Box::pin(async move {
                usage::set_quota(tx, project.into(), metric, limit).await?;
                Ok(((), Some(("quotas.set", metric.to_string()))))
            })
        })
        .await
    }
}
