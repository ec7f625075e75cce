//! Access tokens for Google's interfaces: a refresh token is exchanged for one that lives about an hour
//! (RFC 6749 section 6).

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, header};
use searchwright_contract::{Clock, Instant};
use searchwright_outbound::Guarded;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::sync::Mutex;

use super::{
    account::{Account, Provider},
    error::{ProviderError, Why},
    http::{Terms, bearer, build_request, fetch_json, post_json},
};
use crate::Credentials;

const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
/// A token is not used in its last minute, so that it does not expire on the way.
const MARGIN_MILLIS: i64 = 60_000;

/// A user's consent, as a source of access tokens. Its requests are free, so a lost answer means another try.
pub(super) struct Google {
    client: Guarded,
    clock: Clock,
    token_url: String,
    /// The members of the stored secret, in the order of [`Provider::members`].
    secrets: Vec<SecretString>,
    token: Mutex<Option<(SecretString, Instant)>>,
}

impl Google {
    /// The account of a provider whose secret is a JSON object.
    pub fn new(
        client: Guarded,
        clock: Clock,
        provider: Provider,
        account: &Credentials,
    ) -> Result<Self, ProviderError> {
        let stored = account
            .secret
            .as_ref()
            .ok_or(ProviderError::NotConfigured(provider.word()))?;
        let stored: Value = serde_json::from_str(stored.expose_secret()).unwrap_or_default();
        let secrets = provider
            .members()
            .iter()
            .map(|name| Some(SecretString::from(stored.get(name)?.as_str()?)));
        Ok(Self {
            client,
            clock,
            token_url: Account(&account.settings).address("tokenUrl", TOKEN_URL),
            secrets: secrets
                .collect::<Option<_>>()
                .ok_or_else(|| ProviderError::refused(Why::Credential))?,
            token: Mutex::default(),
        })
    }

    /// A further member of the secret.
    pub fn secret(&self, index: usize) -> Result<&str, ProviderError> {
        let secret = self.secrets.get(index).map(ExposeSecret::expose_secret);
        secret.ok_or_else(|| ProviderError::refused(Why::Credential))
    }

    /// Sends a JSON request with an access token. A token that was revoked early is replaced once.
    pub async fn ask(
        &self,
        url: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: &Value,
    ) -> Result<Value, ProviderError> {
        let mut fresh = false;
        loop {
            let (token, was_fresh) = self.token(fresh).await?;
            let mut all = headers.to_vec();
            all.push((header::AUTHORIZATION, bearer(&token)?));
            let answer = self.send(post_json(url, all, body)?, Some(&token)).await;
            match answer {
                Err(ProviderError::Refused(r)) if r.why == Why::Credential && !was_fresh => fresh = true,
                other => return other,
            }
        }
    }

    /// An access token, and whether it was got just now.
    async fn token(&self, fresh: bool) -> Result<(SecretString, bool), ProviderError> {
        // Held while asking: several jobs that begin at once share one request.
        let mut known = self.token.lock().await;
        let now = self.clock.now();
        if let Some((token, expires)) = known.as_ref().filter(|_| !fresh)
            && *expires > now
        {
            return Ok((token.clone(), false));
        }
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", "refresh_token")
            .append_pair("client_id", self.secret(0)?)
            .append_pair("client_secret", self.secret(1)?)
            .append_pair("refresh_token", self.secret(2)?)
            .finish();
        let mut request = build_request(Method::POST, &self.token_url, Bytes::from(form))?;
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers_mut().insert(header::CONTENT_TYPE, kind);
        let answer = self.send(request, None).await.map_err(|error| match error {
            // `invalid_grant`: the consent was withdrawn. Google answers 400.
            ProviderError::Refused(mut refusal) if refusal.why == Why::Request => {
                refusal.why = Why::Credential;
                ProviderError::Refused(refusal)
            }
            other => other,
        })?;
        let token = answer.get("access_token").and_then(Value::as_str);
        let lives = answer.get("expires_in").and_then(Value::as_i64);
        let (Some(token), Some(lives)) = (token, lives) else {
            return Err(ProviderError::refused(Why::Unreadable));
        };
        let token = SecretString::from(token);
        let expires = now.plus_millis(lives.clamp(0, 86_400) * 1_000 - MARGIN_MILLIS);
        *known = Some((token.clone(), expires));
        Ok((token, true))
    }

    async fn send(
        &self,
        request: http::Request<Bytes>,
        token: Option<&SecretString>,
    ) -> Result<Value, ProviderError> {
        let secrets: Vec<&str> = self
            .secrets
            .iter()
            .chain(token)
            .map(ExposeSecret::expose_secret)
            .collect();
        let terms = Terms {
            charges: false,
            secrets: &secrets,
        };
        fetch_json(&self.client, request, terms).await
    }
}
