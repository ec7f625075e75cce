//! Calls every function of the providers named, at the addresses given, and says what came of it:
//! `cargo run --example call_providers openai=http://127.0.0.1:4040/v1 dataforseo=http://127.0.0.1:4041`. With `-answers` after
//! its name a provider is asked as an answer engine.
//!
//! The accounts are made up, so it is for servers that stand in for a vendor: `cargo xtask peers providers`.
#![expect(clippy::print_stdout, reason = "a report is its output")]

use std::error::Error;

use schemars::json_schema;
use searchwright_contract::Clock;
use searchwright_outbound::{Guarded, Outbound, Purpose, Settings};
use searchwright_providers::{
    AnswerEngine, Credentials, DataForSeo, Form, Found, GoogleAds, KeywordData, LanguageModel, Market,
    Prompt, Provider, ProviderError, Providers, Question, SearchConsole, answer, chat_model,
};

fn account(secret: &str, settings: &[(&str, &str)]) -> Credentials {
    let settings = settings.iter();
    Credentials {
        settings: settings
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect(),
        secret: Some(secret.into()),
    }
}

fn prompt(clock: &Clock) -> Prompt {
    Prompt {
        system: "You write about gardens.".to_owned(),
        data: Vec::new(),
        instructions: "Write about ferns.".to_owned(),
        max_tokens: 100,
        temperature: Some(0.5),
        form: Some(Form {
            name: "text",
            schema: json_schema!({
                "type": "object", "additionalProperties": false, "required": ["text"],
                "properties": { "text": { "type": "string" } }
            }),
        }),
        nonce: clock.id(),
    }
}

async fn ask(model: &dyn LanguageModel, clock: &Clock) {
    match answer(model, &prompt(clock)).await {
        Ok(whole) => println!("WHOLE {} {:?} {:?}", model.provider(), whole.text, whole.usage),
        Err(error) => println!("FAILED {} {error:?}", model.provider()),
    }
}

fn tell(what: &str, found: Result<Found, ProviderError>) {
    match found {
        Ok(found) => println!(
            "ROWS {what} {} cost {:?} missed {:?} first {:?}",
            found.rows.len(),
            found.cost_micros_usd,
            found.missed,
            found.rows.first()
        ),
        Err(error) => println!("FAILED {what} {error:?}"),
    }
}

/// Settings of accounts that together send every kind of request.
fn engine_accounts(provider: Provider) -> Vec<Vec<(&'static str, &'static str)>> {
    match provider {
        Provider::OpenAi => vec![
            vec![("model", "gpt-5.6-sol"), ("api", "responses")],
            vec![
                ("model", "gpt-5.6-sol"),
                ("api", "responses"),
                ("retrieval", "forced"),
                ("effort", "low"),
                ("contextSize", "high"),
                ("maxSearches", "3"),
                ("maxTokens", "4000"),
                ("toolVersion", "web_search_2025_08_26"),
            ],
            vec![("model", "gpt-4o-mini"), ("api", "chat"), ("maxTokens", "4000")],
        ],
        Provider::Anthropic => vec![
            vec![("model", "claude-sonnet-5")],
            vec![
                ("model", "claude-sonnet-5"),
                ("toolVersion", "web_search_20250305"),
            ],
        ],
        Provider::Gemini => vec![
            vec![("model", "gemini-3.8-flash")],
            vec![
                ("model", "gemini-3.8-flash"),
                ("grounding", "true"),
                ("maxTokens", "4000"),
            ],
        ],
        _ => vec![vec![
            ("engines", "google_ai_overview,google_ai_mode,chatgpt"),
            ("retrieval", "forced"),
        ]],
    }
}

async fn ask_engine(engine: &dyn AnswerEngine) {
    let question = Question {
        text: "Which standing desk is good?".to_owned(),
        language: "en".to_owned(),
        country: Some("US".to_owned()),
        city: Some("Boston".to_owned()),
    };
    let key = engine.key();
    match engine.ask(&question).await {
        Ok(answer) => println!("ANSWERED {key:?} {:?}", answer.status),
        Err(error) => println!("NO ANSWER {key:?} {error:?}"),
    }
}

/// Asks all engines of a provider.
async fn ask_engines(name: &str, url: &str, outbound: &Outbound, clock: Clock) -> Result<(), Box<dyn Error>> {
    let provider = Provider::parse(name)?;
    let providers = Providers::new(outbound, clock.clone());
    for settings in engine_accounts(provider) {
        let mut all = vec![("baseUrl", url)];
        all.extend(settings);
        let account = account("login:password", &all);
        for engine in providers.answer_engines(clock.id(), provider, &account)? {
            ask_engine(&*engine).await;
        }
    }
    Ok(())
}

async fn call(provider: &str, url: &str, client: Guarded, clock: Clock) -> Result<(), Box<dyn Error>> {
    let words = ["oak desk".to_owned(), "fir desk".to_owned()];
    let market = Market {
        language: "en".to_owned(),
        country: "US".to_owned(),
    };
    let token_url = url::Url::parse(url)?.join("/token")?.to_string();
    let google = [
        ("baseUrl", url),
        ("tokenUrl", token_url.as_str()),
        ("customerId", "123-456-7890"),
        ("loginCustomerId", "999-888-7777"),
        ("siteUrl", "https://example.com/"),
    ];
    let google_secret = r#"{"clientId":"i","clientSecret":"s","refreshToken":"r","developerToken":"d"}"#;
    let chat = |provider, name| {
        let account = account("key", &[("baseUrl", url), ("model", name)]);
        chat_model(client.clone(), provider, &account)
    };
    match provider {
        "openai" => ask(&chat(Provider::OpenAi, "gpt-4o-mini")?, &clock).await,
        "anthropic" => ask(&chat(Provider::Anthropic, "claude-sonnet-4-5")?, &clock).await,
        "gemini" => ask(&chat(Provider::Gemini, "gemini-2.5-flash")?, &clock).await,
        "dataforseo" => {
            let source = DataForSeo::new(client, &account("login:password", &[("baseUrl", url)]))?;
            tell("dataforseo ideas", source.ideas(&words, &market, None).await);
            let suggestions = source.keyword_suggestions(&words[0], &market, None).await;
            tell("dataforseo suggestions", suggestions);
            tell("dataforseo volume", source.search_volume(&words, &market).await);
            let difficulty = source.keyword_difficulty(&words, &market).await;
            tell("dataforseo difficulty", difficulty);
            tell("dataforseo intent", source.search_intent(&words, &market).await);
        }
        "google-ads" => {
            let source = GoogleAds::new(client, clock, &account(google_secret, &google))?;
            tell("google-ads ideas", source.ideas(&words, &market, None).await);
            tell(
                "google-ads next page",
                source.ideas(&words, &market, Some("more")).await,
            );
            tell("google-ads metrics", source.metrics(&words, &market).await);
        }
        "search-console" => {
            let source = SearchConsole::new(client, clock, &account(google_secret, &google))?;
            tell("search-console queries", source.ideas(&[], &market, None).await);
        }
        other => return Err(format!("{other} is not called here").into()),
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings = Settings {
        allow: vec!["provider=127.0.0.1".parse()?],
        ..Settings::new("SearchwrightBot/1.0 (+http://localhost/bot)")
    };
    let outbound = Outbound::new(&settings)?;
    let client = outbound.for_purpose(Purpose::Provider);
    for argument in std::env::args().skip(1) {
        let (provider, url) = argument.split_once('=').ok_or("write PROVIDER=URL")?;
        match provider.strip_suffix("-answers") {
            Some(name) => ask_engines(name, url, &outbound, Clock::system()).await?,
            None => call(provider, url, client.clone(), Clock::system()).await?,
        }
    }
    Ok(())
}
