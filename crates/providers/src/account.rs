//! The providers that can be set, and what each needs to be set with.

use std::collections::{BTreeMap, BTreeSet};

use searchwright_contract::Problem;
use serde_json::Value;
use url::Url;

use super::{ProviderError, language::prices::dollars};

/// A provider of language models, keyword data, answers or measurements.
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
    /// Perplexity.
    Perplexity,
    /// xAI.
    Xai,
}

/// Pages that DataForSEO reads, as the setting `engines` names them.
pub(super) const SCRAPED_ENGINES: [&str; 4] = ["google_ai_overview", "google_ai_mode", "chatgpt", "gemini"];

const ADDRESS: &str = "baseUrl";
const OF_OPENAI: &[&str] = &[
    ADDRESS,
    "model",
    "inputPrice",
    "outputPrice",
    "searchPrice",
    "api",
    "contextSize",
    "effort",
    "maxSearches",
    "maxTokens",
    "retrieval",
    "toolVersion",
];
const OF_ANTHROPIC: &[&str] = &[
    ADDRESS,
    "model",
    "inputPrice",
    "outputPrice",
    "searchPrice",
    "maxSearches",
    "maxTokens",
    "toolVersion",
];
const OF_GEMINI: &[&str] = &[
    ADDRESS,
    "model",
    "inputPrice",
    "outputPrice",
    "searchPrice",
    "grounding",
    "maxTokens",
];
const OF_PERPLEXITY: &[&str] = &[
    ADDRESS,
    "model",
    "inputPrice",
    "outputPrice",
    "searchPrice",
    "api",
    "contextSize",
    "effort",
    "maxTokens",
];
const OF_XAI: &[&str] = &[
    ADDRESS,
    "model",
    "inputPrice",
    "outputPrice",
    "searchPrice",
    "effort",
    "maxTokens",
    "retrieval",
    "toolVersion",
];
const OF_GOOGLE_ADS: &[&str] = &[
    ADDRESS,
    "tokenUrl",
    "customerId",
    "loginCustomerId",
    "version",
    "currency",
];

impl Provider {
    /// All; where several would do, the first that is set is asked.
    pub const ALL: [Self; 10] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::Gemini,
        Self::DataForSeo,
        Self::GoogleAds,
        Self::SearchConsole,
        Self::Autocomplete,
        Self::PageSpeed,
        Self::Perplexity,
        Self::Xai,
    ];

    /// Providers of language models.
    pub const LANGUAGE_MODELS: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// Providers of keyword data.
    pub const KEYWORD_DATA: [Self; 4] = [
        Self::DataForSeo,
        Self::GoogleAds,
        Self::SearchConsole,
        Self::Autocomplete,
    ];

    /// Providers of answer engines.
    pub const ANSWER_ENGINES: [Self; 6] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::Gemini,
        Self::DataForSeo,
        Self::Perplexity,
        Self::Xai,
    ];

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
            Self::Perplexity => "perplexity",
            Self::Xai => "xai",
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

    /// Names of the settings it knows.
    pub const fn known_settings(self) -> &'static [&'static str] {
        self.settings().0
    }

    /// Names of the settings it cannot do without.
    pub const fn needed_settings(self) -> &'static [&'static str] {
        self.settings().1
    }

    /// The settings it knows, and those it cannot do without.
    const fn settings(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::OpenAi => (OF_OPENAI, &["model"]),
            Self::Anthropic => (OF_ANTHROPIC, &["model"]),
            Self::Gemini => (OF_GEMINI, &["model"]),
            Self::DataForSeo => (&[ADDRESS, "engines", "retrieval", "searchPrice"], &[]),
            Self::Autocomplete | Self::PageSpeed => (&[ADDRESS], &[]),
            Self::Perplexity => (OF_PERPLEXITY, &[]),
            Self::Xai => (OF_XAI, &["model"]),
            Self::GoogleAds => (OF_GOOGLE_ADS, &["customerId"]),
            Self::SearchConsole => (&[ADDRESS, "tokenUrl", "siteUrl"], &["siteUrl"]),
        }
    }

    /// Members of a secret that is a JSON object.
    pub const fn members(self) -> &'static [&'static str] {
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
        let all: Vec<_> = faults.into_iter().flat_map(|f| f.errors).collect();
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

/// A rule for the value of a setting.
struct ValueRule {
    is_good: fn(&str) -> bool,
    /// The fault of a value that is not good.
    fault: &'static str,
}

impl ValueRule {
    const fn new(is_good: fn(&str) -> bool, fault: &'static str) -> Self {
        Self { is_good, fault }
    }
}

/// Returns the fault of a setting's value; `None` if the value is good.
fn wrong(name: &str, value: &str) -> Option<String> {
    let rule = rule(name);
    (!(rule.is_good)(value)).then(|| rule.fault.to_owned())
}

const OTHER: ValueRule = ValueRule {
    is_good: |value| value.len() <= 2048 && visible(value),
    fault: "has to be visible ASCII without spaces",
};

fn rule(name: &str) -> ValueRule {
    let rule = ValueRule::new;
    match name {
        "baseUrl" | "tokenUrl" => rule(
            is_address,
            "has to be an http or https address without user, query and fragment",
        ),
        "model" => rule(
            |value| value.len() <= 200 && visible(value) && !value.contains(['?', '#', '%', '\\']),
            "has to be the name of a model",
        ),
        "inputPrice" | "outputPrice" => rule(
            |value| dollars(value).is_some(),
            "has to be US dollars per million tokens, such as 0.15",
        ),
        "searchPrice" => rule(
            |value| dollars(value).is_some(),
            "has to be US dollars per thousand searches, such as 10",
        ),
        "customerId" | "loginCustomerId" => rule(
            |value| is_digits(&value.replace('-', "")),
            "has to be digits, with or without hyphens",
        ),
        "version" => rule(
            |value| value.strip_prefix('v').is_some_and(is_digits),
            "has to be v and a number, such as v26",
        ),
        "currency" => rule(
            |value| value.len() == 3 && value.bytes().all(|b| b.is_ascii_uppercase()),
            "has to be an ISO 4217 code, such as EUR",
        ),
        _ => answer_rule(name),
    }
}

/// Rules for the settings of answer engines.
fn answer_rule(name: &str) -> ValueRule {
    let rule = ValueRule::new;
    match name {
        "api" => rule(
            |value| matches!(value, "responses" | "chat"),
            "has to be responses or chat",
        ),
        "contextSize" => rule(
            |value| matches!(value, "low" | "medium" | "high"),
            "has to be low, medium or high",
        ),
        "effort" => rule(
            |value| {
                matches!(
                    value,
                    "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"
                )
            },
            "has to be none, minimal, low, medium, high, xhigh or max",
        ),
        "engines" => rule(
            are_engines,
            "has to be a list such as google_ai_overview,google_ai_mode,chatgpt,gemini, each at most once",
        ),
        "grounding" => rule(
            |value| matches!(value, "true" | "false"),
            "has to be true or false; look at Google's terms for grounded answers first",
        ),
        "maxSearches" => rule(|value| is_within(value, 1, 20), "has to be a number from 1 to 20"),
        "maxTokens" => rule(
            |value| is_within(value, 16, 128_000),
            "has to be a number from 16 to 128000",
        ),
        "retrieval" => rule(
            |value| matches!(value, "auto" | "forced"),
            "has to be auto or forced",
        ),
        "toolVersion" => rule(
            |value| value.len() <= 100 && value.starts_with("web_search") && visible(value),
            "has to be a version of the search tool, such as web_search_20260209",
        ),
        _ => OTHER,
    }
}

fn is_address(value: &str) -> bool {
    Url::parse(value).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    })
}

fn is_digits(value: &str) -> bool {
    (1..=20).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit())
}

fn is_within(value: &str, min: u32, max: u32) -> bool {
    is_digits(value)
        && value
            .parse()
            .is_ok_and(|number: u32| (min..=max).contains(&number))
}

fn are_engines(value: &str) -> bool {
    let mut seen = BTreeSet::new();
    value.split(',').all(|word| {
        let word = word.trim();
        SCRAPED_ENGINES.contains(&word) && seen.insert(word)
    })
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

    /// A setting, if it is set.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(String::as_str)
    }

    /// The text of a setting, if it is set.
    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// The number of a setting, if it is set.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.0.get(name)?.parse().ok()
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

    #[test]
    fn guides_name_every_provider_and_its_settings() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers");
        for provider in Provider::ALL {
            let file = match provider {
                Provider::DataForSeo => "dataforseo.md",
                Provider::GoogleAds
                | Provider::SearchConsole
                | Provider::Autocomplete
                | Provider::PageSpeed => "google.md",
                _ => "models.md",
            };
            let guide = std::fs::read_to_string(docs.join(file)).unwrap_or_default();
            let known = provider.known_settings().iter().chain(provider.members());
            for name in known.chain([&provider.word()]) {
                assert!(guide.contains(&format!("`{name}`")), "{file} lacks {name}");
            }
        }
    }

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
            (
                Provider::OpenAi,
                &[
                    ("model", "m"),
                    ("api", "responses"),
                    ("effort", "low"),
                    ("contextSize", "high"),
                    ("retrieval", "forced"),
                    ("maxSearches", "3"),
                    ("maxTokens", "4000"),
                    ("searchPrice", "10"),
                    ("toolVersion", "web_search_2025_08_26"),
                ],
            ),
            (Provider::Gemini, &[("model", "m"), ("grounding", "true")]),
            (Provider::Perplexity, &[]),
            (Provider::Xai, &[("model", "grok-4.7")]),
            (
                Provider::DataForSeo,
                &[("engines", "google_ai_overview, chatgpt")],
            ),
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
            (
                Provider::Gemini,
                &[("model", "m"), ("grounding", "yes")],
                "/settings/grounding",
            ),
            (
                Provider::Anthropic,
                &[("model", "m"), ("maxSearches", "0")],
                "/settings/maxSearches",
            ),
            (
                Provider::Anthropic,
                &[("model", "m"), ("toolVersion", "bash_20250124")],
                "/settings/toolVersion",
            ),
            (
                Provider::Anthropic,
                &[("model", "m"), ("grounding", "true")],
                "/settings/grounding",
            ),
            (
                Provider::OpenAi,
                &[("model", "m"), ("maxTokens", "4e3")],
                "/settings/maxTokens",
            ),
            (
                Provider::OpenAi,
                &[("model", "m"), ("retrieval", "none")],
                "/settings/retrieval",
            ),
            (Provider::Xai, &[], "/settings/model"),
            (Provider::Perplexity, &[("api", "agent")], "/settings/api"),
            (
                Provider::Perplexity,
                &[("searchPrice", "-1")],
                "/settings/searchPrice",
            ),
            (
                Provider::DataForSeo,
                &[("engines", "copilot")],
                "/settings/engines",
            ),
            (Provider::DataForSeo, &[("engines", "")], "/settings/engines"),
            (
                Provider::DataForSeo,
                &[("engines", "gemini,gemini")],
                "/settings/engines",
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
            (Provider::Perplexity, "pplx-4711"),
            (Provider::Xai, "xai-4711"),
        ] {
            assert!(provider.check_secret(good).is_ok(), "{good}");
        }
        for (provider, bad) in [
            (Provider::OpenAi, "sk 4711"),
            (Provider::OpenAi, "sk-4711\n"),
            (Provider::OpenAi, ""),
            (Provider::Xai, "xai 4711"),
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
