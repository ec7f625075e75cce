//! Suggestions of Google's search box. The interface is unofficial, so it is off until an operator turns it
//! on, and it sends at most one request per second and 200 per job.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::Method;
use searchwright_contract::keywords::KeywordSource;
use searchwright_keywords::import::Row;
use searchwright_outbound::Guarded;
use serde_json::Value;
use tokio::{sync::Mutex, time::Instant};

use super::{
    account::Account,
    error::{ProviderError, Why},
    http::{Terms, build_request, fetch_json},
    keyword_data::{Found, KeywordData, Market, within},
};
use crate::Credentials;

const ADDRESS: &str = "https://suggestqueries.google.com";
/// Least time between two requests.
const SPACING: Duration = Duration::from_secs(1);
/// Most requests of one job.
const MAX_REQUESTS: u32 = 200;

/// The search box of one job: its limit of requests begins with it.
#[derive(Debug)]
pub struct Autocomplete {
    url: String,
    client: Client,
    turns: Turns,
}

struct Client(Guarded);

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

/// Hands out turns, apart in time and few.
#[derive(Debug)]
struct Turns {
    spacing: Duration,
    state: Mutex<(Option<Instant>, u32)>,
}

impl Turns {
    fn new(spacing: Duration, count: u32) -> Self {
        Self {
            spacing,
            state: Mutex::new((None, count)),
        }
    }

    async fn take(&self) -> Result<(), ProviderError> {
        let mut state = self.state.lock().await;
        let (last, left) = *state;
        let left = left
            .checked_sub(1)
            .ok_or_else(|| ProviderError::refused(Why::Capped))?;
        if let Some(last) = last {
            tokio::time::sleep_until(last + self.spacing).await;
        }
        *state = (Some(Instant::now()), left);
        Ok(())
    }
}

impl Autocomplete {
    /// The search box for one job.
    pub fn new(client: Guarded, account: &Credentials) -> Self {
        Self::paced(client, account, SPACING)
    }

    pub(super) fn paced(client: Guarded, account: &Credentials, spacing: Duration) -> Self {
        Self {
            url: format!("{}/complete/search", Account(&account.settings).base_url(ADDRESS)),
            client: Client(client),
            turns: Turns::new(spacing, MAX_REQUESTS),
        }
    }

    /// Asks for the suggestions of one word.
    pub(super) async fn test(&self) -> Result<(), ProviderError> {
        let market = Market {
            language: "en".to_owned(),
            country: String::new(),
        };
        self.suggestions("website", &market).await.map(drop)
    }

    fn address(&self, seed: &str, market: &Market) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("client", "firefox")
            .append_pair("ie", "utf-8")
            .append_pair("oe", "utf-8")
            .append_pair("hl", &market.language);
        if !market.country.is_empty() {
            query.append_pair("gl", &market.country.to_ascii_lowercase());
        }
        query.append_pair("q", seed);
        format!("{}?{}", self.url, query.finish())
    }

    async fn suggestions(&self, seed: &str, market: &Market) -> Result<Found, ProviderError> {
        self.turns.take().await?;
        let request = build_request(Method::GET, &self.address(seed, market), Bytes::new())?;
        let terms = Terms {
            charges: false,
            secrets: &[],
        };
        let answer = fetch_json(&self.client.0, request, terms).await?;
        // `["seed", ["suggestion", …], …]`
        let list = answer
            .get(1)
            .and_then(Value::as_array)
            .ok_or_else(|| ProviderError::refused(Why::Unreadable))?;
        let rows = list.iter().filter_map(Value::as_str).zip(1..);
        Ok(Found {
            rows: rows
                .map(|(keyword, line)| Row {
                    line,
                    keyword: keyword.to_owned(),
                    ..Row::default()
                })
                .collect(),
            cost_micros_usd: Some(0),
            ..Found::default()
        })
    }
}

#[async_trait]
impl KeywordData for Autocomplete {
    fn provider(&self) -> &'static str {
        "autocomplete"
    }

    fn source(&self) -> KeywordSource {
        KeywordSource::Autocomplete
    }

    /// Returns 1: each seed takes a request of its own.
    fn most_seeds(&self) -> usize {
        1
    }

    async fn ideas(
        &self,
        seeds: &[String],
        market: &Market,
        _: Option<&str>,
    ) -> Result<Found, ProviderError> {
        within(seeds.len(), 1)?;
        let seed = seeds.first().map_or("", String::as_str);
        self.suggestions(seed, market).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn turns_are_apart_and_few() {
        let (turns, start) = (Turns::new(SPACING, 3), Instant::now());
        let mut at = Vec::new();
        for _ in 0..3 {
            turns.take().await.unwrap();
            at.push(start.elapsed().as_secs());
        }
        assert_eq!(at, [0, 1, 2]);
        assert_eq!(turns.take().await, Err(ProviderError::refused(Why::Capped)));
        assert_eq!(start.elapsed().as_secs(), 2, "a refusal waits for nothing");
    }
}
