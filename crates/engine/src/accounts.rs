//! Accounts of a project at vendors: opened from the database, with the clients made from them.

use std::{fmt, sync::Arc};

use searchwright_contract::Clock;
use searchwright_outbound::Outbound;
use searchwright_providers::{
    AnswerEngine, Credentials, KeywordData, LanguageModel, PageSpeed, Provider, ProviderError, Providers,
};
use searchwright_store::{Tx, access::ProjectScope, providers, seal::Keyring};
use searchwright_tracking::engine_status::EngineAccount;

/// Opens accounts of projects. Cheap to clone.
#[derive(Clone)]
pub struct Accounts {
    providers: Providers,
    keyring: Arc<Keyring>,
}

impl fmt::Debug for Accounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Accounts")
    }
}

impl Accounts {
    /// Creates accounts whose clients send through the guard, and whose secrets these keys open.
    pub fn new(outbound: &Outbound, clock: Clock, keyring: Arc<Keyring>) -> Self {
        Self {
            providers: Providers::new(outbound, clock),
            keyring,
        }
    }

    /// Returns the language model of a project: the first of [`Provider::LANGUAGE_MODELS`] that has an account.
    pub async fn language_model(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
    ) -> searchwright_store::Result<Result<Box<dyn LanguageModel>, ProviderError>> {
        for provider in Provider::LANGUAGE_MODELS {
            if let Some(account) = self.open(tx, scope, provider).await? {
                return Ok(self.providers.language_model(scope.project(), provider, &account));
            }
        }
        Ok(Err(ProviderError::NotConfigured("language model")))
    }

    /// Returns the sources of keyword data of a project, one for each account, in the order of [`Provider::KEYWORD_DATA`].
    pub async fn keyword_data(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
    ) -> searchwright_store::Result<Result<Vec<Box<dyn KeywordData>>, ProviderError>> {
        let mut sources = Vec::new();
        for provider in Provider::KEYWORD_DATA {
            if let Some(account) = self.open(tx, scope, provider).await? {
                match self.providers.keyword_data(scope.project(), provider, &account) {
                    Ok(source) => sources.push(source),
                    Err(error) => return Ok(Err(error)),
                }
            }
        }
        Ok(Ok(sources))
    }

    /// Returns the engines of a project, by its accounts in the order of [`Provider::ANSWER_ENGINES`].
    pub async fn answer_engines(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
    ) -> searchwright_store::Result<Result<Vec<Box<dyn AnswerEngine>>, ProviderError>> {
        let accounts = self.engine_accounts(tx, scope).await?;
        let engines: Result<Vec<_>, ProviderError> =
            accounts.into_iter().map(|account| account.engines).collect();
        Ok(engines.map(|engines| engines.into_iter().flatten().collect()))
    }

    /// Returns the accounts of a project that ask engines, each with its engines or the error by which it has none.
    pub async fn engine_accounts(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
    ) -> searchwright_store::Result<Vec<EngineAccount>> {
        let mut accounts = Vec::new();
        for provider in Provider::ANSWER_ENGINES {
            if let Some(account) = self.open(tx, scope, provider).await? {
                accounts.push(EngineAccount {
                    provider,
                    engines: self.providers.answer_engines(scope.project(), provider, &account),
                });
            }
        }
        Ok(accounts)
    }

    /// Returns the client that measures pages of a project; `None` when it has no account.
    pub async fn page_speed(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
    ) -> searchwright_store::Result<Option<Result<PageSpeed, ProviderError>>> {
        let account = self.open(tx, scope, Provider::PageSpeed).await?;
        Ok(account.map(|account| self.providers.page_speed(scope.project(), &account)))
    }

    async fn open(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
        provider: Provider,
    ) -> searchwright_store::Result<Option<Credentials>> {
        let opened = providers::open(tx, scope, &self.keyring, provider.word()).await?;
        Ok(opened.map(|opened| Credentials {
            settings: opened.settings,
            secret: opened.secret,
        }))
    }
}

#[cfg(test)]
mod tests;
