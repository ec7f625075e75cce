//! Google Search Console: what people searched for when they saw the site. Impressions are not a volume.
//!
//! Requests were validated against Google's discovery document of the interface, see
//! `cargo xtask peers providers`. The interface is free of charge.

use std::fmt;

use async_trait::async_trait;
use jiff::civil::Date;
use searchwright_contract::{Clock, Instant, keywords::KeywordSource};
use searchwright_keywords::import::Row;
use searchwright_outbound::Guarded;
use serde_json::{Value, json};

use super::{
    account::{Account, Provider},
    error::{ProviderError, Why},
    google::Google,
    keyword_data::{Found, KeywordData, Market},
};
use crate::Credentials;

const ADDRESS: &str = "https://www.googleapis.com";
/// Rows of a page, the most Google gives.
const PAGE: usize = 25_000;
/// Days that are looked at, the last of which ended [`DELAY_DAYS`] ago.
const DAYS: i32 = 90;
/// Age in days of the newest day that is read: the figures of newer days are not final.
const DELAY_DAYS: i32 = 3;

/// A site in Search Console.
pub struct SearchConsole {
    google: Google,
    clock: Clock,
    url: String,
}

impl fmt::Debug for SearchConsole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SearchConsole({})", self.url)
    }
}

impl SearchConsole {
    /// The site of an account.
    pub fn new(client: Guarded, clock: Clock, account: &Credentials) -> Result<Self, ProviderError> {
        let settings = Account(&account.settings);
        let site = settings.need("siteUrl")?;
        let site: String = url::form_urlencoded::byte_serialize(site.as_bytes()).collect();
        Ok(Self {
            url: format!(
                "{}/webmasters/v3/sites/{site}/searchAnalytics/query",
                settings.base_url(ADDRESS)
            ),
            google: Google::new(client, clock.clone(), Provider::SearchConsole, account)?,
            clock,
        })
    }
}

impl SearchConsole {
    /// Asks for one row of the site.
    pub(super) async fn test(&self) -> Result<(), ProviderError> {
        let (first, last) = days(self.clock.now()).ok_or_else(|| ProviderError::refused(Why::Request))?;
        let body = json!({ "startDate": first.to_string(), "endDate": last.to_string(), "rowLimit": 1 });
        self.google.ask(&self.url, &[], &body).await.map(drop)
    }
}

/// First and last day, both included.
fn days(now: Instant) -> Option<(Date, Date)> {
    let today = jiff::Timestamp::from_millisecond(now.millis())
        .ok()?
        .to_zoned(jiff::tz::TimeZone::UTC)
        .date();
    let ago = |days: i32| today.checked_sub(jiff::Span::new().days(days)).ok();
    Some((ago(DELAY_DAYS + DAYS - 1)?, ago(DELAY_DAYS)?))
}

fn row(of: &Value, line: u64) -> Option<Row> {
    let number = |name| of.get(name).and_then(Value::as_f64);
    let count = |name| number(name).map(|n| n.round() as i64);
    Some(Row {
        line,
        keyword: of.pointer("/keys/0")?.as_str()?.to_owned(),
        ranking_url: of.pointer("/keys/1").and_then(Value::as_str).map(str::to_owned),
        clicks: count("clicks"),
        impressions: count("impressions"),
        ctr: number("ctr"),
        position: number("position"),
        ..Row::default()
    })
}

#[async_trait]
impl KeywordData for SearchConsole {
    fn provider(&self) -> &'static str {
        "search-console"
    }

    fn source(&self) -> KeywordSource {
        KeywordSource::Gsc
    }

    /// Seeds are not looked at: what is known of the site is known without them.
    fn most_seeds(&self) -> usize {
        usize::MAX
    }

    async fn ideas(
        &self,
        _: &[String],
        market: &Market,
        after: Option<&str>,
    ) -> Result<Found, ProviderError> {
        let start: usize = match after {
            None => 0,
            Some(text) => text.parse().map_err(|_| ProviderError::refused(Why::Request))?,
        };
        let (first, last) = days(self.clock.now()).ok_or_else(|| ProviderError::refused(Why::Request))?;
        let mut body = json!({
            "startDate": first.to_string(),
            "endDate": last.to_string(),
            "dimensions": ["query", "page"],
            "rowLimit": PAGE,
            "startRow": start,
        });
        if let Some(country) = market.alpha3()? {
            body["dimensionFilterGroups"] = json!([{ "filters": [
                { "dimension": "country", "operator": "equals", "expression": country.to_ascii_lowercase() }
            ] }]);
        }
        let answer = self.google.ask(&self.url, &[], &body).await?;
        // Without any row there is no `rows`.
        let rows = answer.get("rows").and_then(Value::as_array);
        let rows = rows.map_or(&[][..], Vec::as_slice);
        Ok(Found {
            rows: rows
                .iter()
                .zip(start as u64 + 1..)
                .filter_map(|(r, line)| row(r, line))
                .collect(),
            next: (rows.len() == PAGE).then(|| (start + PAGE).to_string()),
            cost_micros_usd: Some(0),
            missed: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninety_final_days() {
        let now = Instant::from_millis(1_795_255_200_123);
        let (first, last) = days(now).unwrap();
        assert_eq!(
            (first.to_string(), last.to_string()),
            ("2026-08-21".to_owned(), "2026-11-18".to_owned())
        );
        assert_eq!(first.until(last).unwrap().get_days(), DAYS - 1);
    }
}
