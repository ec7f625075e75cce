//! Accounts with vendors, as the page of providers shows and sets them. A secret goes in and never comes out.

use std::collections::BTreeMap;

use searchwright_engine::{Failure, admin::providers::ProviderAccount};
use searchwright_people::vendors::{self, AccountChange, Provider};
use serde_json::{Map, Value};

use crate::dashboard::{
    show,
    visit::{ConfirmedForm, SentForm, Visit},
};

/// Name of a vendor by its word.
pub(super) fn vendor_name(word: &str) -> &'static str {
    match word {
        "openai" => "OpenAI or a compatible server",
        "anthropic" => "Anthropic",
        "gemini" => "Google Gemini",
        "dataforseo" => "DataForSEO",
        "google-ads" => "Google Ads",
        "search-console" => "Search Console",
        "autocomplete" => "Autocomplete",
        "pagespeed" => "PageSpeed Insights",
        "perplexity" => "Perplexity",
        "xai" => "xAI",
        _ => "another provider",
    }
}

/// Purpose of an account with a vendor, and the source of its secret.
const fn purpose(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => {
            "Writes posts and answers prompts. Any server with Chat Completions does, such as Ollama or vLLM: set its address, and leave the key empty if it wants none."
        }
        Provider::Anthropic | Provider::Gemini => {
            "Writes posts and answers prompts. The secret is an API key."
        }
        Provider::Perplexity | Provider::Xai => "Answers prompts. The secret is an API key.",
        Provider::DataForSeo => {
            "Knows figures of keywords and reads answer pages. The secret is login and password of the API with a colon between them."
        }
        Provider::GoogleAds => {
            "Knows search volumes. It needs an OAuth client with a refresh token, and a developer token."
        }
        Provider::SearchConsole => {
            "Knows clicks and positions of your own site. It needs an OAuth client with a refresh token."
        }
        Provider::Autocomplete => "Suggestions of Google's search box. It needs no secret.",
        Provider::PageSpeed => "Measures Core Web Vitals of your pages in audits. The secret is an API key.",
    }
}

/// Explanation of a setting.
fn hint(name: &str) -> &'static str {
    match name {
        "baseUrl" => "the vendor's own address if left empty",
        "tokenUrl" => "Google's own if left empty",
        "model" => "as the vendor writes it",
        "inputPrice" | "outputPrice" => "US dollars per million tokens",
        "searchPrice" => "US dollars per thousand searches",
        "api" => "responses or chat",
        "contextSize" => "low, medium or high",
        "effort" => "none, minimal, low, medium, high, xhigh or max",
        "maxSearches" => "1 to 20",
        "maxTokens" => "16 to 128000",
        "retrieval" => "auto or forced",
        "toolVersion" => "such as web_search_20260209",
        "grounding" => "true or false; Google's terms may forbid to store grounded answers",
        "engines" => "such as google_ai_overview,google_ai_mode,chatgpt,gemini",
        "customerId" | "loginCustomerId" => "digits, with or without hyphens",
        "version" => "such as v26",
        "currency" => "ISO 4217, such as EUR",
        "siteUrl" => "such as sc-domain:example.com",
        _ => "",
    }
}

/// Words of a name such as `baseUrl`.
fn label(name: &str) -> String {
    match name {
        "baseUrl" => return "Address".to_owned(),
        "tokenUrl" => return "Address for tokens".to_owned(),
        "siteUrl" => return "Site".to_owned(),
        _ => {}
    }
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            text.push(' ');
        }
        text.push(letter.to_ascii_lowercase());
    }
    show::heading(&text)
}

/// An account in the table.
pub(super) struct VendorAccount {
    pub word: String,
    pub name: &'static str,
    pub settings: Vec<String>,
    pub has_secret: bool,
    pub updated: String,
    pub has_test: bool,
    pub href: String,
}

impl VendorAccount {
    pub fn new(visit: &Visit, account: &ProviderAccount, base: &str) -> Self {
        let settings = account.settings.iter();
        Self {
            name: vendor_name(&account.provider),
            settings: settings
                .map(|(name, value)| format!("{}: {}", show::plain(name), show::cut(value, 200)))
                .collect(),
            has_secret: account.has_secret,
            updated: visit.time(&account.updated_at),
            has_test: Provider::parse(&account.provider).is_ok_and(Provider::has_free_test),
            href: format!("{base}?provider={}#account", account.provider),
            word: account.provider.clone(),
        }
    }
}

/// A field of the form of an account.
pub(super) struct AccountField {
    pub name: &'static str,
    pub label: String,
    pub hint: &'static str,
    pub value: String,
    pub is_needed: bool,
}

/// The form of an account.
pub(super) struct AccountFields {
    pub word: &'static str,
    pub name: &'static str,
    pub purpose: &'static str,
    /// Settings that most accounts need, and the others.
    pub first: Vec<AccountField>,
    pub more: Vec<AccountField>,
    /// Fields of the secret, with their labels.
    pub secrets: Vec<(String, String)>,
    pub has_secret: bool,
    pub seen: String,
    pub is_known: bool,
    pub wrong: Option<String>,
}

impl AccountFields {
    fn new(provider: Provider, seen: String, has_secret: bool, value: impl Fn(&str) -> String) -> Self {
        let needed = provider.needed_settings();
        let fields = provider.known_settings().iter().map(|name| AccountField {
            label: label(name),
            hint: hint(name),
            value: value(name),
            is_needed: needed.contains(name),
            name,
        });
        let (first, more) =
            fields.partition(|field| field.is_needed || ["model", "baseUrl"].contains(&field.name));
        let secrets = match provider.members() {
            [] if provider == Provider::Autocomplete => Vec::new(),
            [] if provider == Provider::DataForSeo => {
                vec![(
                    "secret".to_owned(),
                    "Login and password, login:password".to_owned(),
                )]
            }
            [] => vec![("secret".to_owned(), "API key".to_owned())],
            members => {
                let field = |name: &&str| (format!("secret-{name}"), label(name));
                members.iter().map(field).collect()
            }
        };
        Self {
            word: provider.word(),
            name: vendor_name(provider.word()),
            purpose: purpose(provider),
            first,
            more,
            secrets,
            has_secret,
            is_known: !seen.is_empty(),
            seen,
            wrong: None,
        }
    }

    /// Whether one of the settings that few accounts need is set.
    pub fn is_open(&self) -> bool {
        self.more.iter().any(|field| !field.value.is_empty())
    }

    /// The form of an account as it is stored, or of a new one.
    pub fn stored(provider: Provider, account: Option<&ProviderAccount>) -> Self {
        let has_secret = account.is_some_and(|account| account.has_secret);
        Self::new(provider, vendors::version(account), has_secret, |name| {
            let set = account.and_then(|account| account.settings.get(name));
            set.cloned().unwrap_or_default()
        })
    }

    /// The form as it was sent, without the secret.
    pub fn sent(provider: Provider, sent: &SentForm) -> Self {
        let has_secret = !sent.form.get("kept").is_empty();
        let seen = sent.form.get("seen").to_owned();
        Self::new(provider, seen, has_secret, |name| typed(sent, name))
    }
}

/// Value of the field of a setting.
fn typed(sent: &SentForm, name: &str) -> String {
    sent.form.get(&format!("set-{name}")).trim().to_owned()
}

/// The secret that was typed; `None` if none was, so that the stored one stays.
fn typed_secret(provider: Provider, sent: &SentForm) -> Option<String> {
    let members = provider.members();
    if members.is_empty() {
        let secret = sent.form.get("secret").trim();
        return (!secret.is_empty()).then(|| secret.to_owned());
    }
    let typed = members.iter().map(|name| {
        let value = sent.form.get(&format!("secret-{name}")).trim();
        ((*name).to_owned(), Value::from(value))
    });
    let typed: Map<String, Value> = typed.collect();
    let is_empty = typed.values().all(|value| value == "");
    (!is_empty).then(|| Value::Object(typed).to_string())
}

/// Sets the account that a form describes.
pub(super) async fn set(confirmed: &ConfirmedForm, provider: Provider) -> Result<(), Failure> {
    let (sent, visit) = (&confirmed.sent, &confirmed.sent.visit);
    visit.check_manages()?;
    let settings = provider.known_settings().iter();
    let settings: BTreeMap<String, String> = settings
        .map(|name| ((*name).to_owned(), typed(sent, name)))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    let change = AccountChange {
        provider: provider.word().to_owned(),
        settings,
        secret: typed_secret(provider, sent),
        seen: sent.form.get("seen").to_owned(),
    };
    let people = &visit.app().people;
    let set = people.set_account(&confirmed.by, visit.project.id, change).await;
    // Settings are called as their fields are.
    set.map_err(|mut failure| {
        for fault in &mut failure.0.errors {
            if let Some(name) = fault.pointer.strip_prefix("/settings/") {
                fault.pointer = label(name);
            }
        }
        failure
    })
}

/// Removes an account; nothing happens if there is none.
pub(super) async fn remove(confirmed: &ConfirmedForm, provider: Provider) -> Result<(), Failure> {
    let visit = &confirmed.sent.visit;
    let people = &visit.app().people;
    people
        .remove_account(&confirmed.by, visit.project.id, provider.word())
        .await
        .map(drop)
}

/// Asks the vendor whether it knows the account.
pub(super) async fn test(confirmed: &ConfirmedForm, provider: Provider) -> Result<(), Failure> {
    let visit = &confirmed.sent.visit;
    visit.start_work().await?;
    let people = &visit.app().people;
    people
        .test_account(&confirmed.by, visit.project.id, provider.word())
        .await
}
