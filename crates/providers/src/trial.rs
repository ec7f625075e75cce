//! Tests of accounts: a request that needs the credential and costs nothing.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, header};
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::{
    Credentials, Provider, Providers,
    account::Account,
    answers::XAI_ADDRESS,
    anthropic,
    autocomplete::Autocomplete,
    dataforseo::DataForSeo,
    error::{ProviderError, Why},
    gemini,
    google_ads::GoogleAds,
    http::{Terms, bearer, build_request, fetch_json},
    language::chat::ChatDialect,
    openai,
    search_console::SearchConsole,
};

impl Provider {
    /// Whether an account can be tested for free.
    pub const fn has_free_test(self) -> bool {
        !matches!(self, Self::Perplexity | Self::PageSpeed)
    }
}

/// Address of the list of models of a dialect, with the headers that carry the credential.
fn models(
    dialect: &ChatDialect,
    path: &str,
    account: &Credentials,
) -> Result<http::Request<Bytes>, ProviderError> {
    let base = Account(&account.settings).base_url(dialect.address);
    let headers = (dialect.headers)(account.secret.as_ref())?;
    get(&format!("{base}{path}"), headers)
}

fn get(
    url: &str,
    headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
) -> Result<http::Request<Bytes>, ProviderError> {
    let mut request = build_request(Method::GET, url, Bytes::new())?;
    request.headers_mut().extend(headers);
    Ok(request)
}

impl Providers {
    /// Asks the vendor of an account for something that is free and that needs the credential. It is asked even while its
    /// circuit is open, because what is tested may be new.
    pub async fn test(&self, provider: Provider, account: &Credentials) -> Result<(), ProviderError> {
        let (client, clock) = (self.client.clone(), self.clock.clone());
        let request = match provider {
            Provider::OpenAi => models(&openai::DIALECT, "/models", account)?,
            Provider::Anthropic => models(&anthropic::DIALECT, "/v1/models?limit=1", account)?,
            Provider::Gemini => models(&gemini::DIALECT, "/models?pageSize=1", account)?,
            Provider::Xai => {
                let secret = account.secret.as_ref();
                let secret = secret.ok_or(ProviderError::NotConfigured("key"))?;
                let base = Account(&account.settings).base_url(XAI_ADDRESS);
                get(
                    &format!("{base}/models"),
                    [(header::AUTHORIZATION, bearer(secret)?)],
                )?
            }
            Provider::DataForSeo => return DataForSeo::new(client, account)?.test().await,
            Provider::GoogleAds => return GoogleAds::new(client, clock, account)?.test().await,
            Provider::SearchConsole => return SearchConsole::new(client, clock, account)?.test().await,
            Provider::Autocomplete => return Autocomplete::new(client, account).test().await,
            Provider::Perplexity | Provider::PageSpeed => {
                return Err(ProviderError::refused(Why::Unsupported));
            }
        };
        let secrets: Vec<&str> = account
            .secret
            .iter()
            .map(|secret| secret.expose_secret())
            .collect();
        let terms = Terms {
            charges: false,
            secrets: &secrets,
        };
        fetch_json(&client, request, terms).await.map(drop)
    }
}

impl GoogleAds {
    async fn test(&self) -> Result<(), ProviderError> {
        let query = json!({ "query": "SELECT customer.id FROM customer LIMIT 1" });
        self.ask("/googleAds:search", &query).await.map(drop)
    }
}
