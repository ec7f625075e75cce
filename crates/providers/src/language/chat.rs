//! A model behind a chat interface that streams. Vendors differ in address, headers, body and events, which a
//! [`ChatDialect`] names; everything else is the same for all of them.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use searchwright_outbound::Guarded;
use secrecy::SecretString;
use serde_json::Value;

use super::{
    Generation, LanguageModel, Prompt,
    prices::Price,
    stream,
    stream::{Read, Wire},
};
use crate::{Credentials, account::Account, error::ProviderError, http::post_json};

/// Headers of a request.
pub type Headers = Vec<(HeaderName, HeaderValue)>;

/// Differences between a vendor's chat interface and those of others.
#[derive(Debug)]
pub struct ChatDialect {
    /// The provider's word.
    pub provider: &'static str,
    /// The vendor's own address.
    pub address: &'static str,
    /// Beginning of a model's name that people may copy along; empty if there is none.
    pub model_prefix: &'static str,
    /// Returns the address of requests, from the address of the interface and the name of the model.
    pub url: fn(&str, &str) -> String,
    /// Returns the headers of requests, with the credential in them.
    pub headers: fn(Option<&SecretString>) -> Result<Headers, ProviderError>,
    /// Returns the body of a request.
    pub body: fn(&ChatModel, &Prompt) -> Value,
    /// Reads an event of an answer.
    pub read: Read,
}

/// A language model of an account.
#[derive(Debug)]
pub struct ChatModel {
    dialect: &'static ChatDialect,
    url: String,
    /// Name of the model at the provider.
    pub(crate) model: String,
    /// Whether the vendor itself is asked, and not a server that copies its interface.
    pub(crate) is_own: bool,
    wire: Arc<Wire>,
}

impl ChatModel {
    /// Creates the model of an account whose vendor has this dialect.
    pub(crate) fn new(
        client: Guarded,
        dialect: &'static ChatDialect,
        account: &Credentials,
    ) -> Result<Self, ProviderError> {
        let settings = Account(&account.settings);
        let base = settings.base_url(dialect.address);
        let model = settings.need("model")?;
        let model = model.strip_prefix(dialect.model_prefix).unwrap_or(model);
        let is_own = base == dialect.address;
        Ok(Self {
            dialect,
            url: (dialect.url)(&base, model),
            model: model.to_owned(),
            is_own,
            wire: Arc::new(Wire {
                client,
                secret: account.secret.clone(),
                price: Price::find(dialect.provider, model, &account.settings, is_own),
                read: dialect.read,
            }),
        })
    }
}

impl LanguageModel for ChatModel {
    fn provider(&self) -> &'static str {
        self.dialect.provider
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn most(&self, prompt: &Prompt) -> Option<u64> {
        self.wire.most(prompt)
    }

    fn generate(&self, prompt: &Prompt) -> Generation {
        let headers = (self.dialect.headers)(self.wire.secret.as_ref());
        let request =
            headers.and_then(|headers| post_json(&self.url, headers, &(self.dialect.body)(self, prompt)));
        stream::generate(&self.wire, request)
    }
}
