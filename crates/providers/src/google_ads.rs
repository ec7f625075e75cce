//! Google Ads' keyword planner: `generateKeywordIdeas` and `generateKeywordHistoricalMetrics`, over REST.
//!
//! Requests were validated by parsing them into the messages of Google's own client library, see
//! `cargo xtask peers providers`. Google gives no document of the REST interface; it is the JSON form of
//! those messages. The interface is free of charge.

use std::{collections::HashMap, fmt};

use async_trait::async_trait;
use http::{HeaderName, HeaderValue};
use searchwright_contract::{Clock, keywords::KeywordSource};
use searchwright_keywords::import::{Month, Row};
use searchwright_outbound::Guarded;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{
    account::{Account, Provider},
    dataforseo::{level, sorted},
    error::{ProviderError, Why},
    google::Google,
    http::secret_header,
    keyword_data::{Found, KeywordData, Market, within},
};
use crate::Credentials;

const ADDRESS: &str = "https://googleads.googleapis.com";
/// Google ends a version about a year after it appeared; the setting `version` names another.
const VERSION: &str = "v26";
/// Keywords of a seed.
const MAX_SEEDS: usize = 20;
/// Keywords of one request for metrics; Google takes 10,000, our own callers 1,000.
const MAX_KEYWORDS: usize = 1000;
/// Rows of a page.
const PAGE: u32 = 1000;

/// An account at Google Ads.
pub struct GoogleAds {
    google: Google,
    customer: String,
    currency: Option<String>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Ids of languages by their codes, as Google said.
    languages: Mutex<HashMap<String, Option<String>>>,
}

impl fmt::Debug for GoogleAds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GoogleAds({})", self.customer)
    }
}

impl GoogleAds {
    /// An account of a customer.
    pub fn new(client: Guarded, clock: Clock, account: &Credentials) -> Result<Self, ProviderError> {
        let settings = Account(&account.settings);
        let google = Google::new(client, clock, Provider::GoogleAds, account)?;
        let mut headers = vec![(
            HeaderName::from_static("developer-token"),
            secret_header(google.secret(3)?)?,
        )];
        if let Some(login) = account.settings.get("loginCustomerId") {
            let login = secret_header(&login.replace('-', ""))?;
            headers.push((HeaderName::from_static("login-customer-id"), login));
        }
        let version = account.settings.get("version").map_or(VERSION, String::as_str);
        Ok(Self {
            google,
            customer: format!(
                "{}/{version}/customers/{}",
                settings.base_url(ADDRESS),
                settings.need("customerId")?.replace('-', "")
            ),
            currency: account.settings.get("currency").cloned(),
            headers,
            languages: Mutex::default(),
        })
    }

    pub(super) async fn ask(&self, method: &str, body: &Value) -> Result<Value, ProviderError> {
        self.google
            .ask(&format!("{}{method}", self.customer), &self.headers, body)
            .await
    }

    /// Members about the market that both methods send.
    async fn market(&self, market: &Market) -> Result<Value, ProviderError> {
        let places = market.place()?.map(|id| format!("geoTargetConstants/{id}"));
        let mut body = json!({
            "geoTargetConstants": places.into_iter().collect::<Vec<_>>(),
            "keywordPlanNetwork": "GOOGLE_SEARCH",
        });
        body["language"] = self.language(market).await?.into();
        Ok(body)
    }

    /// The resource name of a language. Google is asked for it, once: its list is on no public page that a
    /// program could hold itself to.
    async fn language(&self, market: &Market) -> Result<String, ProviderError> {
        let code = match market.primary().as_str() {
            "zh" if market.traditional() => "zh_TW".to_owned(),
            "zh" => "zh_CN".to_owned(),
            "he" => "iw".to_owned(),
            "nb" | "nn" => "no".to_owned(),
            "fil" => "tl".to_owned(),
            other if other.bytes().all(|b| b.is_ascii_lowercase()) => other.to_owned(),
            _ => return Err(ProviderError::refused(Why::Market)),
        };
        let mut known = self.languages.lock().await;
        let found = match known.get(&code) {
            Some(found) => found.clone(),
            None => {
                let query = format!(
                    "SELECT language_constant.resource_name FROM language_constant WHERE language_constant.code = '{code}'"
                );
                let answer = self.ask("/googleAds:search", &json!({ "query": query })).await?;
                let name = answer
                    .pointer("/results/0/languageConstant/resourceName")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
                known.insert(code, name.clone());
                name
            }
        };
        found.ok_or_else(|| ProviderError::refused(Why::Market))
    }

    fn found(&self, answer: &Value, metrics: &str) -> Found {
        let results = answer.get("results").and_then(Value::as_array);
        let rows = results
            .into_iter()
            .flatten()
            .zip(1..)
            .filter_map(|(result, line)| {
                let keyword = result.get("text")?.as_str()?.to_owned();
                let metrics = result.get(metrics).unwrap_or(&Value::Null);
                Some(self.row(keyword, metrics, line))
            });
        Found {
            rows: rows.collect(),
            cost_micros_usd: Some(0),
            ..Found::default()
        }
    }

    fn row(&self, keyword: String, metrics: &Value, line: u64) -> Row {
        // 64-bit numbers are texts in this JSON.
        let number = |of: &Value, name: &str| {
            let value = of.get(name)?;
            value.as_i64().or_else(|| value.as_str()?.parse().ok())
        };
        let bid = |name| number(metrics, name).map(|micros| micros as f64 / 1e6);
        let (bid_low, bid_high) = (bid("lowTopOfPageBidMicros"), bid("highTopOfPageBidMicros"));
        let cpc = bid("averageCpcMicros");
        let priced = bid_low.is_some() || bid_high.is_some() || cpc.is_some();
        let volumes = metrics.get("monthlySearchVolumes").and_then(Value::as_array);
        let months = volumes.into_iter().flatten().filter_map(|volume| {
            Some(Month {
                month: format!(
                    "{:04}-{:02}",
                    number(volume, "year")?,
                    month(volume.get("month")?.as_str()?)?
                ),
                value: number(volume, "monthlySearches")?,
            })
        });
        Row {
            line,
            keyword,
            search_volume: number(metrics, "avgMonthlySearches"),
            cpc,
            bid_low,
            bid_high,
            currency: self.currency.clone().filter(|_| priced),
            competition: number(metrics, "competitionIndex")
                .filter(|i| (0..=100).contains(i))
                .map(|i| i as f64 / 100.0),
            competition_level: metrics.get("competition").and_then(Value::as_str).and_then(level),
            trend: sorted(months.collect()),
            ..Row::default()
        }
    }
}

fn month(word: &str) -> Option<usize> {
    const MONTHS: [&str; 12] = [
        "JANUARY",
        "FEBRUARY",
        "MARCH",
        "APRIL",
        "MAY",
        "JUNE",
        "JULY",
        "AUGUST",
        "SEPTEMBER",
        "OCTOBER",
        "NOVEMBER",
        "DECEMBER",
    ];
    MONTHS.iter().position(|m| *m == word).map(|at| at + 1)
}

#[async_trait]
impl KeywordData for GoogleAds {
    fn provider(&self) -> &'static str {
        "google-ads"
    }

    fn source(&self) -> KeywordSource {
        KeywordSource::GoogleAds
    }

    fn most_seeds(&self) -> usize {
        MAX_SEEDS
    }

    async fn ideas(
        &self,
        seeds: &[String],
        market: &Market,
        after: Option<&str>,
    ) -> Result<Found, ProviderError> {
        within(seeds.len(), MAX_SEEDS)?;
        let mut body = self.market(market).await?;
        body["includeAdultKeywords"] = false.into();
        body["pageSize"] = PAGE.into();
        body["keywordSeed"] = json!({ "keywords": seeds });
        if let Some(token) = after {
            body["pageToken"] = token.into();
        }
        let answer = self.ask(":generateKeywordIdeas", &body).await?;
        let next = answer
            .get("nextPageToken")
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty());
        Ok(Found {
            next: next.map(str::to_owned),
            ..self.found(&answer, "keywordIdeaMetrics")
        })
    }

    fn most_keywords(&self) -> usize {
        MAX_KEYWORDS
    }

    async fn metrics(&self, keywords: &[String], market: &Market) -> Result<Found, ProviderError> {
        within(keywords.len(), MAX_KEYWORDS)?;
        let mut body = self.market(market).await?;
        body["keywords"] = json!(keywords);
        let answer = self.ask(":generateKeywordHistoricalMetrics", &body).await?;
        Ok(self.found(&answer, "keywordMetrics"))
    }
}
