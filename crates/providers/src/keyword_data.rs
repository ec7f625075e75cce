//! Keyword data: ideas for keywords, and what is known of given ones.

use std::fmt;

use async_trait::async_trait;
use searchwright_contract::keywords::KeywordSource;
use searchwright_keywords::import::Row;

use super::error::{ProviderError, Why};

/// Country and language of searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Market {
    /// BCP 47.
    pub language: String,
    /// ISO 3166-1 alpha-2; empty for the whole world.
    pub country: String,
}

/// Answer of a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// A row per keyword; `line` is its place in the answer, from 1. What the provider does not say is
    /// `None`, never 0.
    pub rows: Vec<Row>,
    /// Cursor of the next page; `None` after the last.
    pub next: Option<String>,
    /// Price in millionths of a US dollar; `None` if the provider does not say.
    pub cost_micros_usd: Option<u64>,
    /// Errors of requests that failed while others succeeded: metrics can take several requests.
    pub missed: Vec<ProviderError>,
}

/// A source of keywords.
#[async_trait]
pub trait KeywordData: Send + Sync + fmt::Debug {
    /// The provider's word.
    fn provider(&self) -> &'static str;

    /// Source that its keywords are given.
    fn source(&self) -> KeywordSource;

    /// Most seeds of one call of [`KeywordData::ideas`].
    fn most_seeds(&self) -> usize;

    /// Ideas for keywords around the seeds: one page, from the beginning or from `after`, the `next` of the
    /// page before with the same seeds.
    async fn ideas(
        &self,
        seeds: &[String],
        market: &Market,
        after: Option<&str>,
    ) -> Result<Found, ProviderError>;

    /// Most keywords of one call of [`KeywordData::metrics`]; 0 if it has none.
    fn most_keywords(&self) -> usize {
        0
    }

    /// Fetches the metrics of these keywords. A keyword without a row is unknown to the provider.
    async fn metrics(&self, keywords: &[String], market: &Market) -> Result<Found, ProviderError> {
        let _ = (keywords, market);
        Err(ProviderError::refused(Why::Unsupported))
    }
}

/// Refuses more than a provider takes, before it is asked and charges.
pub(super) fn within(count: usize, most: usize) -> Result<(), ProviderError> {
    if (1..=most).contains(&count) {
        Ok(())
    } else {
        Err(ProviderError::refused(Why::Request))
    }
}

impl Market {
    fn country_code(&self) -> Result<Option<isocountry::CountryCode>, ProviderError> {
        if self.country.is_empty() {
            return Ok(None);
        }
        isocountry::CountryCode::for_alpha2_caseless(&self.country)
            .map(Some)
            .map_err(|_| ProviderError::refused(Why::Market))
    }

    /// Google's id of the country as a place: 2000 and the number of ISO 3166-1. DataForSEO has the same.
    pub(super) fn place(&self) -> Result<Option<u32>, ProviderError> {
        Ok(self.country_code()?.map(|c| 2000 + c.numeric_id()))
    }

    /// ISO 3166-1 alpha-3.
    pub(super) fn alpha3(&self) -> Result<Option<&'static str>, ProviderError> {
        Ok(self.country_code()?.map(|c| c.alpha3()))
    }

    /// The first part of the language, lower-case.
    pub(super) fn primary(&self) -> String {
        searchwright_keywords::words::primary(&self.language)
    }

    /// Whether a Chinese text is in traditional characters.
    pub(super) fn traditional(&self) -> bool {
        let tag = self.language.to_ascii_lowercase();
        tag.split(['-', '_'])
            .any(|part| matches!(part, "hant" | "tw" | "hk"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_by_country() {
        let market = |country: &str| Market {
            language: "de-AT".to_owned(),
            country: country.to_owned(),
        };
        for (country, id, alpha3) in [("US", 2840, "USA"), ("de", 2276, "DEU"), ("VN", 2704, "VNM")] {
            assert_eq!(market(country).place().unwrap(), Some(id));
            assert_eq!(market(country).alpha3().unwrap(), Some(alpha3));
        }
        assert_eq!(market("").place().unwrap(), None);
        assert_eq!(market("XX").place(), Err(ProviderError::refused(Why::Market)));
        assert_eq!(market("").primary(), "de");
    }
}
