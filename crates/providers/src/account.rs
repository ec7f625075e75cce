//! The providers that can be set, and what each needs to be set with.

use std::collections::BTreeMap;

use searchwright_contract::Problem;
use serde_json::Value;
use url::Url;

use super::{ProviderError, language::prices::dollars};

/// A provider of language models, keyword data or measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Any server with Chat Completions: OpenAI, Ollama, vLLM, llama.cpp.
    OpenAi,
    /// Anthropic Messages.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// DataForSEO.
    DataForSeo,
    /// Google Ads.
    GoogleAds,
    /// Google Search Console.
    SearchConsole,
    /// Suggestions of Google's search box.
    Autocomplete,
    /// Google PageSpeed Insights.
    PageSpeed,
}

const ADDRESS: &str = "baseUrl";
const OF_MODELS: &[&str] = &[ADDRESS, "model", "inputPrice", "outputPrice"];

impl Provider {
    /// All; where several would do, the first that is set is asked.
    pub const ALL: [Self; 8] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::Gemini,
        Self::DataForSeo,
        Self::GoogleAds,
        Self::SearchConsole,
        Self::Autocomplete,
        Self::PageSpeed,
    ];

    /// Providers of language models.
    pub const LANGUAGE_MODELS: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// Stable word of the provider.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::DataForSeo => "dataforseo",
            Self::GoogleAds => "google-ads",
            Self::SearchConsole => "search-console",
            Self::Autocomplete => "autocomplete",
            Self::PageSpeed => "pagespeed",
        }
    }

    /// The provider of a word; the fault lists all.
    pub fn parse(word: &str) -> Result<Self, Box<Problem>> {
        let all = Self::ALL.map(Self::word);
        Self::ALL.into_iter().find(|p| p.word() == word).ok_or_else(|| {
            let why = format!("{word:?} is not one of {}", all.join(", "));
            Box::new(Problem::fault("/provider", "unknown_value", why))
        })
    }

    /// The settings it knows, and those it cannot do without.
    const fn settings(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::OpenAi | Self::Anthropic | Self::Gemini => (OF_MODELS, &["model"]),
            Self::DataForSeo | Self::Autocomplete | Self::PageSpeed => (&[ADDRESS], &[]),
            Self::GoogleAds => (
                &[
                    ADDRESS,
                    "tokenUrl",
                    "customerId",
                    "loginCustomerId",
                    "version",
                    "currency",
                ],
                &["customerId"],
            ),
            Self::SearchConsole => (&[ADDRESS, "tokenUrl", "siteUrl"], &["siteUrl"]),
        }
    }

    /// Members of a secret that is a JSON object.
    pub(super) const fn members(self) -> &'static [&'static str] {
        match self {
            Self::GoogleAds => &["clientId", "clientSecret", "refreshToken", "developerToken"],
            Self::SearchConsole => &["clientId", "clientSecret", "refreshToken"],
            _ => &[],
        }
    }

    /// Whether it works without a secret.
    pub const fn works_without_secret(self) -> bool {
        matches!(self, Self::OpenAi | Self::Autocomplete)
    }

    /// Names every fault of the settings.
    pub fn check_settings(self, settings: &BTreeMap<String, String>) -> Result<(), Box<Problem>> {
        let (known, needed) = self.settings();
        let mut faults = Vec::new();
        for (name, value) in settings {
            let why = if known.contains(&name.as_str()) {
                wrong(name, value)
            } else {
                Some(format!(
                    "is not a setting of {}: {}",
                    self.word(),
                    known.join(", ")
                ))
            };
            faults.extend(why.map(|why| Problem::fault(&format!("/settings/{name}"), "invalid", why)));
        }
        for name in needed.iter().filter(|name| !settings.contains_key(**name)) {
            let why = format!("is required for {}", self.word());
            faults.push(Problem::fault(&format!("/settings/{name}"), "required", why));
        }
        if settings.contains_key("inputPrice") != settings.contains_key("outputPrice") {
            let why = "needs both inputPrice and outputPrice";
            faults.push(Problem::fault("/settings", "invalid", why));
        }
        if faults.is_empty() {
            return Ok(());
        }
        let all = faults.into_iter().flat_map(|f| f.errors).collect();
        Err(Box::new(Problem::faults(all)))
    }

    /// Checks the form of a secret. The fault never repeats it.
    pub fn check_secret(self, secret: &str) -> Result<(), Box<Problem>> {
        let bad = |why: &str| Err(Box::new(Problem::fault("/secret", "invalid", why)));
        if self == Self::Autocomplete {
            return bad("autocomplete takes no secret");
        }
        if secret.is_empty() || secret.len() > 8 * 1024 {
            return bad("has to have 1 to 8192 bytes");
        }
        let members = self.members();
        if !members.is_empty() {
            let value: Value = serde_json::from_str(secret).unwrap_or_default();
            let text = |name: &&&str| value.get(**name).and_then(Value::as_str).is_some_and(visible);
            return if members.iter().filter(text).count() == members.len() {
                Ok(())
            } else {
                bad(&format!("has to be a JSON object with {}", members.join(", ")))
            };
        }
        if !visible(secret) {
            return bad("has to be one line of visible ASCII");
        }
        if self == Self::DataForSeo && !secret.contains(':') {
            return bad("has to be LOGIN:PASSWORD");
        }
        Ok(())
    }
}

fn visible(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic())
}

/// Returns the fault of a setting's value; `None` if the value is good.
fn wrong(name: &str, value: &str) -> Option<String> {
    let digits =
        |text: &str| text.len() <= 20 && text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty();
    let good = match name {
        "baseUrl" | "tokenUrl" => Url::parse(value).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.username().is_empty()
                && url.password().is_none()
                && url.query().is_none()
                && url.fragment().is_none()
        }),
        "model" => value.len() <= 200 && visible(value) && !value.contains(['?', '#', '%', '\\']),
        "inputPrice" | "outputPrice" => dollars(value).is_some(),
        "customerId" | "loginCustomerId" => digits(&value.replace('-', "")),
        "version" => value.strip_prefix('v').is_some_and(digits),
        "currency" => value.len() == 3 && value.bytes().all(|b| b.is_ascii_uppercase()),
        _ => value.len() <= 2048 && visible(value),
    };
    let expected = match name {
        "baseUrl" | "tokenUrl" => "has to be an http or https address without user, query and fragment",
        "model" => "has to be the name of a model",
        "inputPrice" | "outputPrice" => "has to be US dollars per million tokens, such as 0.15",
        "customerId" | "loginCustomerId" => "has to be digits, with or without hyphens",
        "version" => "has to be v and a number, such as v26",
        "currency" => "has to be an ISO 4217 code, such as EUR",
        _ => "has to be visible ASCII without spaces",
    };
    (!good).then(|| expected.to_owned())
}

/// The settings of an account, read by its vendor's file.
pub(super) struct Account<'a>(pub &'a BTreeMap<String, String>);

impl<'a> Account<'a> {
    /// An address without a slash at its end.
    pub fn address(&self, name: &str, default: &str) -> String {
        let set = self.0.get(name).map_or(default, String::as_str);
        set.trim_end_matches('/').to_owned()
    }

    /// The address of the interface.
    pub fn base_url(&self, default: &str) -> String {
        self.address(ADDRESS, default)
    }

    /// A setting the provider cannot do without.
    pub fn need(&self, name: &'static str) -> Result<&'a str, ProviderError> {
        let set = self.0.get(name).ok_or(ProviderError::NotConfigured(name))?;
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect()
    }

    #[test]
    fn settings_are_checked_before_they_are_stored() {
        for (provider, good) in [
            (Provider::OpenAi, &[("model", "meta-llama/Llama-3:70b")][..]),
            (
                Provider::OpenAi,
                &[("model", "m"), ("baseUrl", "http://127.0.0.1:11434/v1")],
            ),
            (
                Provider::Gemini,
                &[("model", "m"), ("inputPrice", "0"), ("outputPrice", "0.5")],
            ),
            (
                Provider::GoogleAds,
                &[
                    ("customerId", "123-456-7890"),
                    ("version", "v21"),
                    ("currency", "EUR"),
                ],
            ),
            (Provider::SearchConsole, &[("siteUrl", "sc-domain:example.com")]),
            (Provider::Autocomplete, &[]),
        ] {
            assert!(provider.check_settings(&settings(good)).is_ok(), "{good:?}");
        }
        for (provider, bad, pointer) in [
            (Provider::OpenAi, &[][..], "/settings/model"),
            (
                Provider::OpenAi,
                &[("model", "m"), ("color", "red")],
                "/settings/color",
            ),
            (
                Provider::OpenAi,
                &[("model", "m"), ("baseUrl", "http://u:p@h/")],
                "/settings/baseUrl",
            ),
            (
                Provider::OpenAi,
                &[("model", "m"), ("baseUrl", "file:///etc")],
                "/settings/baseUrl",
            ),
            (
                Provider::Gemini,
                &[("model", "m"), ("inputPrice", "1")],
                "/settings",
            ),
            (Provider::Gemini, &[("model", "m?key=1")], "/settings/model"),
            (
                Provider::GoogleAds,
                &[("customerId", "x")],
                "/settings/customerId",
            ),
            (
                Provider::GoogleAds,
                &[("customerId", "1"), ("version", "21")],
                "/settings/version",
            ),
        ] {
            let problem = provider.check_settings(&settings(bad)).unwrap_err();
            assert_eq!(problem.errors[0].pointer, pointer, "{bad:?}: {problem:?}");
        }
    }

    #[test]
    fn a_secret_has_its_providers_form_and_is_not_repeated() {
        let google = r#"{"clientId":"a","clientSecret":"b","refreshToken":"c","developerToken":"d"}"#;
        for (provider, good) in [
            (Provider::OpenAi, "sk-4711"),
            (Provider::DataForSeo, "me@example.com:4711"),
            (Provider::GoogleAds, google),
            (Provider::SearchConsole, google),
        ] {
            assert!(provider.check_secret(good).is_ok(), "{good}");
        }
        for (provider, bad) in [
            (Provider::OpenAi, "sk 4711"),
            (Provider::OpenAi, "sk-4711\n"),
            (Provider::OpenAi, ""),
            (Provider::DataForSeo, "sk-4711"),
            (Provider::GoogleAds, "sk-4711"),
            (Provider::GoogleAds, r#"{"clientId":"sk-4711"}"#),
            (Provider::Autocomplete, "sk-4711"),
        ] {
            let error = provider.check_secret(bad).unwrap_err();
            assert!(!format!("{error:?}").contains("4711"), "{error:?}");
        }
    }

    #[test]
    fn every_word_leads_back() {
        for provider in Provider::ALL {
            assert_eq!(Provider::parse(provider.word()).unwrap(), provider);
        }
        let error = Provider::parse("clippy").unwrap_err().to_string();
        assert!(error.contains("search-console"), "{error}");
    }
}
