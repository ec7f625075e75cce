//! Accounts with providers, set by the operator. A secret goes in and never comes out.

use std::{collections::BTreeMap, sync::Arc};

use searchwright_contract::Instant;
use searchwright_providers::Provider;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    admin,
    providers::{self, Account, NewAccount},
    seal::Keyring,
};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

use super::limits::no_project;
use crate::{Engine, call::fault, failure::Result};

/// An account as the operator sees it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderAccount {
    /// The provider's word.
    pub provider: String,
    /// Address, model and the like.
    pub settings: BTreeMap<String, String>,
    /// Whether a secret is stored.
    pub has_secret: bool,
    /// Time at which it was first set.
    pub created_at: Instant,
    /// Time at which it was last set.
    pub updated_at: Instant,
}

impl From<Account> for ProviderAccount {
    fn from(account: Account) -> Self {
        Self {
            provider: account.name,
            settings: account.settings,
            has_secret: account.has_secret,
            created_at: account.created_at,
            updated_at: account.updated_at,
        }
    }
}

/// An account that was checked.
#[derive(Debug)]
pub struct CheckedAccount {
    provider: Provider,
    new: NewAccount,
}

impl CheckedAccount {
    /// Checks an account. The stored secret stays if none is given.
    pub fn new(
        id: Uuid,
        provider: &str,
        settings: BTreeMap<String, String>,
        secret: Option<String>,
    ) -> Result<Self> {
        let secret = secret.map(SecretString::from);
        let provider = Provider::parse(provider)?;
        provider.check_settings(&settings)?;
        if let Some(secret) = &secret {
            provider.check_secret(secret.expose_secret())?;
        }
        let new = NewAccount {
            id,
            name: provider.word().to_owned(),
            settings,
            secret,
        };
        Ok(Self { provider, new })
    }

    /// Sets it over the one there was.
    pub async fn store(
        self,
        tx: &mut Tx,
        scope: ProjectScope,
        keyring: &Keyring,
        now: Instant,
    ) -> Result<ProviderAccount> {
        let account = providers::set(tx, scope, keyring, self.new, now).await?;
        if !account.has_secret && !self.provider.works_without_secret() {
            return Err(fault("/secret", "required", "a secret is required"));
        }
        Ok(account.into())
    }
}

impl Engine {
    /// Sets an account over the one there was; the stored secret stays if none is given.
    pub async fn set_provider(
        &self,
        keyring: Arc<Keyring>,
        project: Uuid,
        provider: &str,
        settings: BTreeMap<String, String>,
        secret: Option<String>,
    ) -> Result<ProviderAccount> {
        let account = CheckedAccount::new(self.clock.id(), provider, settings, secret)?;
        let now = self.clock.now();
        let done = self.db.write(move |tx| {
            Box::pin(async move {
                let scope = admin::get_scope(tx, project).await.map_err(no_project)?;
                account.store(tx, scope, &keyring, now).await
            })
        });
        done.await
    }

    /// The accounts of a project, by provider.
    pub async fn list_providers(&self, project: Uuid) -> Result<Vec<ProviderAccount>> {
        let mut tx = self.db.read().await?;
        let scope = admin::get_scope(&mut tx, project).await.map_err(no_project)?;
        let accounts = providers::list(&mut tx, scope).await?;
        Ok(accounts.into_iter().map(ProviderAccount::from).collect())
    }

    /// Forgets an account and its secret; `false` if there was none.
    pub async fn remove_provider(&self, project: Uuid, provider: &str) -> Result<bool> {
        let word = Provider::parse(provider)?.word();
        let done = self.db.write(move |tx| {
            Box::pin(async move {
                let scope = admin::get_scope(tx, project).await.map_err(no_project)?;
                Ok(providers::remove(tx, scope, word).await?)
            })
        });
        done.await
    }
}
