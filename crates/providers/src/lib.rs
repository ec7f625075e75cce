//! Clients of vendors: language models, keyword data and page measurements, one file per vendor. All traffic leaves through
//! `outbound`, which decides where it may go.
//!
//! [`LanguageModel`] generates text, [`KeywordData`] knows figures of keywords and an [`AnswerEngine`] answers questions as an
//! assistant does. [`Providers`] makes them from accounts.
//! No call is repeated here: a [`ProviderError`] says whether a job may do so.

mod account;
mod answers;
mod anthropic;
mod autocomplete;
mod circuit;
mod dataforseo;
mod dialects;
mod error;
mod gemini;
mod google;
mod google_ads;
mod http;
mod keyword_data;
mod language;
mod openai;
mod pagespeed;
mod search_console;
mod sse;
#[cfg(test)]
mod tests;
mod trial;

use std::{collections::BTreeMap, fmt};

pub use account::Provider;
pub use answers::{
    AnswerEngine, AnswerStatus, Aside, AsideKind, EngineAnswer, EngineKey, EngineName, Estimate,
    MAX_CITATIONS, MAX_QUESTION_CHARS, MAX_RAW_BYTES, MAX_TEXT_CHARS, Question, RawCitation, Retrieval,
    Surface,
};
pub use autocomplete::Autocomplete;
use circuit::{Behind, Circuits};
pub use dataforseo::DataForSeo;
pub use dialects::{chat_model, replay};
pub use error::{Partial, ProviderError, Refusal, Usage, Why};
pub use google_ads::GoogleAds;
pub use keyword_data::{Found, KeywordData, Market};
pub use language::{
    ChatModel, Chunk, Data, Finish, Form, Generated, Generation, LanguageModel, Prompt, answer,
};
pub use pagespeed::PageSpeed;
pub use search_console::SearchConsole;
use searchwright_contract::Clock;
use searchwright_outbound::{Guarded, Outbound, Purpose};
use secrecy::SecretString;
use uuid::Uuid;

/// Settings and secret of an account at a vendor.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Base URL, model and the like.
    pub settings: BTreeMap<String, String>,
    /// API key or other credential.
    pub secret: Option<SecretString>,
}

/// Makes clients of vendors from accounts. Cheap to clone.
#[derive(Clone)]
pub struct Providers {
    client: Guarded,
    clock: Clock,
    circuits: Circuits,
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Providers")
    }
}

impl Providers {
    /// Creates a factory whose clients send through the guarded client.
    pub fn new(outbound: &Outbound, clock: Clock) -> Self {
        Self {
            client: outbound.for_purpose(Purpose::Provider),
            circuits: Circuits::new(clock.clone()),
            clock,
        }
    }

    /// Makes a language model from an account of a project, behind the circuit breaker of both.
    pub fn language_model(
        &self,
        project: Uuid,
        provider: Provider,
        credentials: &Credentials,
    ) -> Result<Box<dyn LanguageModel>, ProviderError> {
        let inner: Box<dyn LanguageModel> = Box::new(chat_model(self.client.clone(), provider, credentials)?);
        let circuit = self.circuits.get(project, provider);
        Ok(Box::new(Behind { circuit, inner }))
    }

    /// Makes a source of keyword data from an account of a project, behind the circuit breaker of both.
    pub fn keyword_data(
        &self,
        project: Uuid,
        provider: Provider,
        credentials: &Credentials,
    ) -> Result<Box<dyn KeywordData>, ProviderError> {
        let (client, clock) = (self.client.clone(), self.clock.clone());
        let inner: Box<dyn KeywordData> = match provider {
            Provider::DataForSeo => Box::new(DataForSeo::new(client, credentials)?),
            Provider::GoogleAds => Box::new(GoogleAds::new(client, clock, credentials)?),
            Provider::SearchConsole => Box::new(SearchConsole::new(client, clock, credentials)?),
            Provider::Autocomplete => Box::new(Autocomplete::new(client, credentials)),
            _ => return Err(ProviderError::refused(Why::Unsupported)),
        };
        let circuit = self.circuits.get(project, provider);
        Ok(Box::new(Behind { circuit, inner }))
    }

    /// Makes the answer engines of an account of a project, behind the circuit breaker of both. Most accounts have one;
    /// DataForSEO reads several.
    pub fn answer_engines(
        &self,
        project: Uuid,
        provider: Provider,
        credentials: &Credentials,
    ) -> Result<Vec<Box<dyn AnswerEngine>>, ProviderError> {
        let circuit = self.circuits.get(project, provider);
        let engines = answers::engines(&self.client, provider, credentials)?;
        let behind = |inner| {
            let circuit = circuit.clone();
            Box::new(Behind { circuit, inner }) as Box<dyn AnswerEngine>
        };
        Ok(engines.into_iter().map(behind).collect())
    }

    /// Makes the client that measures pages, from an account of a project.
    pub fn page_speed(&self, project: Uuid, credentials: &Credentials) -> Result<PageSpeed, ProviderError> {
        let circuit = self.circuits.get(project, Provider::PageSpeed);
        PageSpeed::new(self.client.clone(), credentials, circuit)
    }
}
