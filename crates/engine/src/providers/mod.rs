//! Everything that talks to the outside. One file per vendor; all traffic leaves through
//! [`outbound`], so that where it may go is decided in one place.
//!
//! [`LanguageModel`] writes and [`KeywordData`] knows keywords. [`Providers`] makes them from the accounts of
//! a project. No call is repeated here: a [`ProviderError`] says whether a job may do so.

mod account;
mod anthropic;
mod autocomplete;
mod circuit;
mod dataforseo;
mod error;
mod exchange;
mod gemini;
mod google;
mod google_ads;
mod keyword_data;
mod language;
mod openai;
pub mod outbound;
mod pagespeed;
mod search_console;
mod sse;
#[cfg(test)]
pub(crate) mod tests;

use std::{fmt, sync::Arc};

use searchwright_store::{
    Tx,
    access::ProjectScope,
    providers::{self, Opened},
    seal::Keyring,
};

pub use account::Provider;
pub use anthropic::Anthropic;
pub use autocomplete::Autocomplete;
pub use dataforseo::DataForSeo;
pub(crate) use error::said;
pub use error::{Partial, ProviderError, Refusal, Usage, Why};
pub(crate) use exchange::retry_after;
pub use gemini::Gemini;
pub use google_ads::GoogleAds;
pub use keyword_data::{Answering, Found, KeywordData, Market};
pub use language::{Chunk, Data, Finish, Form, Generated, Generation, LanguageModel, Prompt, answer, replay};
pub use openai::OpenAi;
pub use pagespeed::PageSpeed;
pub use search_console::SearchConsole;

use crate::Clock;
use circuit::{Behind, Circuits};
use outbound::{Guarded, Outbound, Purpose};

/// Makes providers from the accounts of projects. Cheap to clone.
#[derive(Clone)]
pub struct Providers {
    client: Guarded,
    clock: Clock,
    keyring: Arc<Keyring>,
    circuits: Circuits,
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Providers")
    }
}

impl Providers {
    /// Providers that are reached through the guard, with accounts that these keys open.
    pub fn new(outbound: &Outbound, clock: Clock, keyring: Arc<Keyring>) -> Self {
        Self {
            client: outbound.for_purpose(Purpose::Provider),
            circuits: Circuits::new(clock.clone()),
            clock,
            keyring,
        }
    }

    /// The language model of a project: the first of [`Provider::LANGUAGE_MODELS`] that has an account.
    pub async fn language_model(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
    ) -> searchwright_store::Result<Result<Box<dyn LanguageModel>, ProviderError>> {
        for provider in Provider::LANGUAGE_MODELS {
            if let Some(account) = self.account(tx, scope, provider).await? {
                let circuit = self.circuits.of(scope.project(), provider);
                return Ok(self
                    .model_of(provider, &account)
                    .map(|inner| Box::new(Behind { circuit, inner }) as Box<dyn LanguageModel>));
            }
        }
        Ok(Err(ProviderError::NotConfigured("language model")))
    }

    /// The sources of keyword data of a project, one for each account, in the order of [`Provider::ALL`].
    pub async fn keyword_data(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
    ) -> searchwright_store::Result<Result<Vec<Box<dyn KeywordData>>, ProviderError>> {
        let mut sources: Vec<Box<dyn KeywordData>> = Vec::new();
        for provider in Provider::ALL {
            if Provider::LANGUAGE_MODELS.contains(&provider) || provider == Provider::PageSpeed {
                continue;
            }
            if let Some(account) = self.account(tx, scope, provider).await? {
                match self.keyword_data_of(provider, &account) {
                    Ok(inner) => {
                        let circuit = self.circuits.of(scope.project(), provider);
                        sources.push(Box::new(Behind { circuit, inner }));
                    }
                    Err(error) => return Ok(Err(error)),
                }
            }
        }
        Ok(Ok(sources))
    }

    /// Who measures pages of a project, if there is an account.
    pub async fn page_speed(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
    ) -> searchwright_store::Result<Option<Result<PageSpeed, ProviderError>>> {
        let account = self.account(tx, scope, Provider::PageSpeed).await?;
        let circuit = self.circuits.of(scope.project(), Provider::PageSpeed);
        Ok(account.map(|account| PageSpeed::new(self.client.clone(), &account, circuit)))
    }

    async fn account(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
        provider: Provider,
    ) -> searchwright_store::Result<Option<Opened>> {
        providers::open(tx, scope, &self.keyring, provider.word()).await
    }

    fn model_of(
        &self,
        provider: Provider,
        account: &Opened,
    ) -> Result<Box<dyn LanguageModel>, ProviderError> {
        let client = self.client.clone();
        Ok(match provider {
            Provider::OpenAi => Box::new(OpenAi::new(client, account)?),
            Provider::Anthropic => Box::new(Anthropic::new(client, account)?),
            Provider::Gemini => Box::new(Gemini::new(client, account)?),
            _ => return Err(ProviderError::refused(Why::Unsupported)),
        })
    }

    fn keyword_data_of(
        &self,
        provider: Provider,
        account: &Opened,
    ) -> Result<Box<dyn KeywordData>, ProviderError> {
        let (client, clock) = (self.client.clone(), self.clock.clone());
        Ok(match provider {
            Provider::DataForSeo => Box::new(DataForSeo::new(client, account)?),
            Provider::GoogleAds => Box::new(GoogleAds::new(client, clock, account)?),
            Provider::SearchConsole => Box::new(SearchConsole::new(client, clock, account)?),
            Provider::Autocomplete => Box::new(Autocomplete::new(client, account)),
            _ => return Err(ProviderError::refused(Why::Unsupported)),
        })
    }
}
