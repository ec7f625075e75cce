//! DataForSEO, version 3: ideas, suggestions, volume, difficulty and intent.
//!
//! Requests of all five were validated against DataForSEO's own OpenAPI document, and answers made from its
//! schemas were read, see `cargo xtask peers providers`. What fails is told twice there: by the status of HTTP, and in a 200 by
//! the `status_code` of the answer and of its task.

use std::{collections::HashMap, fmt};

use async_trait::async_trait;
use base64::Engine as _;
use bytes::Bytes;
use http::{HeaderValue, Method, header};
use searchwright_contract::keywords::{Intent, KeywordSource};
use searchwright_keywords::import::{Level, Month, Row, Trend};
use searchwright_outbound::{Guarded, excerpt};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::{
    account::Account,
    error::{Partial, ProviderError, Why},
    http::{Terms, build_request, error_message, fetch_json, post_json, secret_header},
    keyword_data::{Found, KeywordData, Market, within},
};
use crate::Credentials;

pub(super) const ADDRESS: &str = "https://api.dataforseo.com";
/// Seeds of `keyword_ideas`.
const MAX_SEEDS: usize = 200;
/// Keywords of every other list, and rows of a page.
const MAX_KEYWORDS: usize = 1000;
/// Longest keyword that has a volume, in characters and in words: one longer fails all.
const MAX_KEYWORD: (usize, usize) = (80, 10);

/// An account at DataForSEO.
pub struct DataForSeo {
    base: String,
    client: Guarded,
    secret: SecretString,
    authorization: HeaderValue,
}

impl fmt::Debug for DataForSeo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataForSeo({})", self.base)
    }
}

impl DataForSeo {
    /// An account whose secret is `login:password`.
    pub fn new(client: Guarded, account: &Credentials) -> Result<Self, ProviderError> {
        let secret = account
            .secret
            .clone()
            .ok_or(ProviderError::NotConfigured("dataforseo"))?;
        let coded = base64::engine::general_purpose::STANDARD.encode(secret.expose_secret());
        Ok(Self {
            base: Account(&account.settings).base_url(ADDRESS),
            client,
            authorization: secret_header(&format!("Basic {coded}"))?,
            secret,
        })
    }

    /// Asks for the account itself, which is free.
    pub(super) async fn test(&self) -> Result<(), ProviderError> {
        let url = format!("{}/v3/appendix/user_data", self.base);
        let mut request = build_request(Method::GET, &url, Bytes::new())?;
        let authorization = self.authorization.clone();
        request.headers_mut().insert(header::AUTHORIZATION, authorization);
        let terms = Terms {
            charges: false,
            secrets: &[self.secret.expose_secret()],
        };
        judge(&fetch_json(&self.client, request, terms).await?, terms)
    }

    /// One task; its results and its price.
    pub(super) async fn task(
        &self,
        path: &str,
        task: Value,
    ) -> Result<(Vec<Value>, Option<u64>), ProviderError> {
        let headers = [(header::AUTHORIZATION, self.authorization.clone())];
        let request = post_json(&format!("{}/v3/{path}", self.base), headers, &json!([task]))?;
        let secret = self.secret.expose_secret();
        let password = secret.split_once(':').map_or(secret, |(_, password)| password);
        let secrets = [secret, password];
        let terms = Terms {
            charges: true,
            secrets: &secrets,
        };
        let mut answer = fetch_json(&self.client, request, terms).await?;
        judge(&answer, terms)?;
        let task = answer
            .pointer_mut("/tasks/0")
            .map(Value::take)
            .ok_or_else(|| ProviderError::refused(Why::Unreadable))?;
        judge(&task, terms)?;
        let cost = task
            .get("cost")
            .and_then(Value::as_f64)
            .filter(|c| (0.0..1e6).contains(c));
        let results = match task.get("result") {
            Some(Value::Array(results)) => results.clone(),
            _ => Vec::new(),
        };
        Ok((results, cost.map(|c| (c * 1e6).ceil() as u64)))
    }

    /// Keywords that contain the seed.
    pub async fn keyword_suggestions(
        &self,
        seed: &str,
        market: &Market,
        after: Option<&str>,
    ) -> Result<Found, ProviderError> {
        let mut task = self.market(market, false)?;
        task["keyword"] = seed.into();
        self.page("dataforseo_labs/google/keyword_suggestions/live", task, after)
            .await
    }

    async fn page(&self, path: &str, mut task: Value, after: Option<&str>) -> Result<Found, ProviderError> {
        let offset: u64 = match after {
            None => 0,
            Some(text) => text.parse().map_err(|_| ProviderError::refused(Why::Request))?,
        };
        task["limit"] = MAX_KEYWORDS.into();
        if offset > 0 {
            task["offset"] = offset.into();
        }
        let (results, cost_micros_usd) = self.task(path, task).await?;
        let result = results.first().unwrap_or(&Value::Null);
        let items = list(result, "items");
        let seen = offset + items.len() as u64;
        let total = result.get("total_count").and_then(Value::as_u64).unwrap_or(seen);
        let rows = items
            .iter()
            .zip(offset + 1..)
            .filter_map(|(item, line)| {
                let part = |name| item.get(name).unwrap_or(&Value::Null);
                let mut row = volume_row(item.get("keyword")?, part("keyword_info"), line)?;
                row.difficulty = difficulty(part("keyword_properties"));
                let intent = part("search_intent_info");
                row.intents = intents(intent.get("main_intent"), list(intent, "foreign_intent").iter());
                Some(row)
            })
            .collect();
        Ok(Found {
            rows,
            next: (!items.is_empty() && seen < total).then(|| seen.to_string()),
            cost_micros_usd,
            missed: Vec::new(),
        })
    }

    /// Searches, prices and competition, as Google Ads has them. Keywords it cannot take are left out.
    pub async fn search_volume(&self, keywords: &[String], market: &Market) -> Result<Found, ProviderError> {
        let mut task = self.market(market, false)?;
        let fit: Vec<&String> = keywords.iter().filter(|k| fits(k)).collect();
        if fit.is_empty() {
            return Ok(Found::default());
        }
        within(fit.len(), MAX_KEYWORDS)?;
        task["keywords"] = json!(fit);
        let (results, cost_micros_usd) = self
            .task("keywords_data/google_ads/search_volume/live", task)
            .await?;
        let rows = results.iter().zip(1..);
        Ok(Found {
            rows: rows
                .filter_map(|(item, line)| volume_row(item.get("keyword")?, item, line))
                .collect(),
            cost_micros_usd,
            ..Found::default()
        })
    }

    /// Difficulty, 0 to 100.
    pub async fn keyword_difficulty(
        &self,
        keywords: &[String],
        market: &Market,
    ) -> Result<Found, ProviderError> {
        let mut task = self.market(market, true)?;
        task["keywords"] = json!(keywords);
        self.items(
            "dataforseo_labs/google/bulk_keyword_difficulty/live",
            keywords.len(),
            task,
            |item, row| row.difficulty = difficulty(item),
        )
        .await
    }

    /// Fetches the search intents of keywords.
    pub async fn search_intent(&self, keywords: &[String], market: &Market) -> Result<Found, ProviderError> {
        let task = json!({ "language_code": language(market), "keywords": keywords });
        self.items(
            "dataforseo_labs/google/search_intent/live",
            keywords.len(),
            task,
            |item, row| {
                let more = list(item, "secondary_keyword_intents");
                row.intents = intents(
                    item.pointer("/keyword_intent/label"),
                    more.iter().filter_map(|i| i.get("label")),
                );
            },
        )
        .await
    }

    async fn items(
        &self,
        path: &str,
        count: usize,
        task: Value,
        read: fn(&Value, &mut Row),
    ) -> Result<Found, ProviderError> {
        within(count, MAX_KEYWORDS)?;
        let (results, cost_micros_usd) = self.task(path, task).await?;
        let items = results.first().map_or(&[][..], |r| list(r, "items"));
        let rows = items.iter().zip(1..).filter_map(|(item, line)| {
            let mut row = row(item.get("keyword")?, line)?;
            read(item, &mut row);
            Some(row)
        });
        Ok(Found {
            rows: rows.collect(),
            cost_micros_usd,
            ..Found::default()
        })
    }

    /// Language and place of a task.
    fn market(&self, market: &Market, needs_place: bool) -> Result<Value, ProviderError> {
        let mut task = json!({ "language_code": language(market) });
        match market.place()? {
            Some(place) => task["location_code"] = place.into(),
            None if needs_place => return Err(ProviderError::refused(Why::Market)),
            None => {}
        }
        Ok(task)
    }
}

#[async_trait]
impl KeywordData for DataForSeo {
    fn provider(&self) -> &'static str {
        "dataforseo"
    }

    fn source(&self) -> KeywordSource {
        KeywordSource::Dataforseo
    }

    fn most_seeds(&self) -> usize {
        MAX_SEEDS
    }

    /// Ideas that share words or meaning with the seeds, at most 200 of them.
    async fn ideas(
        &self,
        seeds: &[String],
        market: &Market,
        after: Option<&str>,
    ) -> Result<Found, ProviderError> {
        within(seeds.len(), MAX_SEEDS)?;
        let mut task = self.market(market, true)?;
        task["keywords"] = json!(seeds);
        self.page("dataforseo_labs/google/keyword_ideas/live", task, after)
            .await
    }

    fn most_keywords(&self) -> usize {
        MAX_KEYWORDS
    }

    async fn metrics(&self, keywords: &[String], market: &Market) -> Result<Found, ProviderError> {
        within(keywords.len(), MAX_KEYWORDS)?;
        let mut found = self.search_volume(keywords, market).await?;
        let mut places: HashMap<String, usize> = HashMap::new();
        for (place, row) in found.rows.iter().enumerate() {
            places.insert(row.keyword.to_lowercase(), place);
        }
        for more in [
            self.keyword_difficulty(keywords, market).await,
            self.search_intent(keywords, market).await,
        ] {
            let more = match more {
                Ok(more) => more,
                Err(error) => {
                    found.missed.push(error);
                    continue;
                }
            };
            found.cost_micros_usd = found
                .cost_micros_usd
                .zip(more.cost_micros_usd)
                .map(|(a, b)| a + b);
            for row in more.rows {
                match places.get(&row.keyword.to_lowercase()) {
                    Some(&place) => {
                        let known = &mut found.rows[place];
                        known.difficulty = row.difficulty.or(known.difficulty);
                        if !row.intents.is_empty() {
                            known.intents = row.intents;
                        }
                    }
                    None => {
                        places.insert(row.keyword.to_lowercase(), found.rows.len());
                        let line = found.rows.len() as u64 + 1;
                        found.rows.push(Row { line, ..row });
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Judges the `status_code` of an answer or of a task: 20000 is good, 40102 means that there is nothing.
fn judge(of: &Value, terms: Terms<'_>) -> Result<(), ProviderError> {
    let code = of
        .get("status_code")
        .and_then(Value::as_u64)
        .ok_or_else(|| ProviderError::refused_after(Why::Unreadable, Partial::default()))?;
    let why = match code {
        20000..=29999 | 40102 => return Ok(()),
        40202 | 40209 => return Err(ProviderError::RateLimited(None)),
        40101 | 40103 | 50000..=59999 => return Err(ProviderError::Unavailable),
        40100 | 40104 | 40201 | 40204 | 40207 => Why::Credential,
        40200 | 40203 | 40210 => Why::Quota,
        _ => Why::Request,
    };
    let words = error_message(of).and_then(|text| excerpt(text, terms.secrets));
    Err(ProviderError::refused_with(why, words))
}

/// Returns the code that DataForSEO has for the language of a market.
pub(super) fn language(market: &Market) -> String {
    match market.primary() {
        zh if zh == "zh" && market.traditional() => "zh-TW".to_owned(),
        zh if zh == "zh" => "zh-CN".to_owned(),
        other => other,
    }
}

fn fits(keyword: &str) -> bool {
    keyword.chars().count() <= MAX_KEYWORD.0 && keyword.split_whitespace().count() <= MAX_KEYWORD.1
}

fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn row(keyword: &Value, line: u64) -> Option<Row> {
    Some(Row {
        line,
        keyword: keyword.as_str()?.to_owned(),
        ..Row::default()
    })
}

fn difficulty(of: &Value) -> Option<i64> {
    let value = of.get("keyword_difficulty")?.as_i64()?;
    (0..=100).contains(&value).then_some(value)
}

/// Reads the members that `keyword_info` of an idea and an item of `search_volume` share. Competition is a share
/// of one in the first; a word in the second, beside an index of 100.
fn volume_row(keyword: &Value, info: &Value, line: u64) -> Option<Row> {
    let number = |name| info.get(name).and_then(Value::as_f64);
    let word = info.get("competition_level").or_else(|| info.get("competition"));
    let cpc = number("cpc");
    let (bid_low, bid_high) = (number("low_top_of_page_bid"), number("high_top_of_page_bid"));
    let months: Vec<Month> = list(info, "monthly_searches")
        .iter()
        .filter_map(|m| {
            let (year, month) = (m.get("year")?.as_u64()?, m.get("month")?.as_u64()?);
            let value = m.get("search_volume")?.as_i64()?;
            Some(Month {
                month: format!("{year:04}-{month:02}"),
                value,
            })
        })
        .collect();
    Some(Row {
        search_volume: info.get("search_volume").and_then(Value::as_i64),
        cpc,
        bid_low,
        bid_high,
        // All of its prices are in US dollars.
        currency: (cpc.is_some() || bid_low.is_some() || bid_high.is_some()).then(|| "USD".to_owned()),
        competition: number("competition_index")
            .map(|i| i / 100.0)
            .or_else(|| number("competition"))
            .filter(|c| (0.0..=1.0).contains(c)),
        competition_level: word.and_then(Value::as_str).and_then(level),
        trend: sorted(months),
        ..row(keyword, line)?
    })
}

/// Sorts months into a trend, oldest first; `None` without months.
pub(super) fn sorted(mut months: Vec<Month>) -> Option<Trend> {
    months.sort_by(|a, b| a.month.cmp(&b.month));
    (!months.is_empty()).then_some(Trend::Months(months))
}

/// Google's word for competition.
pub(super) fn level(word: &str) -> Option<Level> {
    match word {
        "LOW" => Some(Level::Low),
        "MEDIUM" => Some(Level::Medium),
        "HIGH" => Some(Level::High),
        _ => None,
    }
}

fn intents<'a>(main: Option<&'a Value>, more: impl Iterator<Item = &'a Value>) -> Vec<Intent> {
    let mut intents: Vec<Intent> = Vec::new();
    for word in main.into_iter().chain(more).filter_map(Value::as_str) {
        if let Ok(intent) = word.parse()
            && !intents.contains(&intent)
        {
            intents.push(intent);
        }
    }
    intents
}
