//! Applications of the installation with providers that let people in on a page of their own, set by the operator.

use std::collections::BTreeMap;

use searchwright_contract::{Problem, integrations::Provider};
use searchwright_publishing::oauth;
use searchwright_store::oauth_apps::{self, OauthApp};
use secrecy::SecretString;
use url::Url;

use crate::{Engine, call::fault, failure::Result};

fn provider(word: &str) -> Result<Provider> {
    let found = word.parse().ok().filter(|provider| oauth::has_page(*provider));
    found.ok_or_else(|| {
        let all: Vec<&str> = Provider::ALL
            .iter()
            .filter(|provider| oauth::has_page(**provider))
            .map(|provider| provider.as_str())
            .collect();
        fault(
            "/provider",
            "unknown_value",
            format!("is not one of {}", all.join(", ")),
        )
    })
}

impl Engine {
    /// Sets the application with a provider, over the one there was.
    pub async fn set_oauth_app(
        &self,
        word: &str,
        client_id: String,
        settings: BTreeMap<String, String>,
        secret: String,
    ) -> Result<()> {
        let provider = provider(word)?;
        let known = oauth::settings(provider);
        for (name, value) in &settings {
            if !known.contains(&name.as_str()) || Url::parse(value).is_err() {
                let why = format!("has to be an address, and one of {}", known.join(", "));
                return Err(fault(&format!("/settings/{name}"), "invalid", why));
            }
        }
        for (name, value) in [("/clientId", &client_id), ("/secret", &secret)] {
            if value.is_empty() || value.len() > 1_024 || !value.bytes().all(|b| b.is_ascii_graphic()) {
                return Err(fault(name, "invalid", "has to be one word of visible ASCII"));
            }
        }
        let app = OauthApp {
            provider,
            client_id,
            settings,
        };
        let (keyring, id, now) = (self.keyring.clone(), self.clock.id(), self.clock.now());
        let secret = SecretString::from(secret);
        let write = self.db.write(move |tx| {
            Box::pin(async move { oauth_apps::set(tx, &keyring, id, &app, &secret, now).await })
        });
        Ok(write.await?)
    }

    /// The applications, without their secrets.
    pub async fn oauth_apps(&self) -> Result<Vec<OauthApp>> {
        Ok(oauth_apps::list(&mut self.db.read().await?).await?)
    }

    /// Forgets the application with a provider.
    pub async fn remove_oauth_app(&self, word: &str) -> Result<()> {
        let provider = provider(word)?;
        let write = self
            .db
            .write(move |tx| Box::pin(async move { oauth_apps::remove(tx, provider).await }));
        if write.await? {
            Ok(())
        } else {
            Err(Problem::not_found("application").into())
        }
    }
}
