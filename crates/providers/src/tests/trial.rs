//! Tests of accounts: each asks for something free, with the credential in its header.

use std::time::Duration;

use searchwright_contract::{Clock, Instant};
use searchwright_outbound::test_server::{Fake, Script, client};
use serde_json::{Value, json};

use super::credentials;
use crate::{Provider, ProviderError, Providers, Why, circuit::Circuits};

const GOOGLE: &str =
    r#"{"clientId":"id-1","clientSecret":"canary-1","refreshToken":"canary-2","developerToken":"canary-3"}"#;

async fn test(fake: &Fake, provider: Provider, secret: Option<&str>) -> Result<(), ProviderError> {
    let clock = Clock::fixed(Instant::from_millis(1_795_255_200_123));
    let providers = Providers {
        client: client(Duration::from_secs(60)),
        circuits: Circuits::new(clock.clone()),
        clock,
    };
    let token_url = format!("{}/token", fake.url);
    let settings = [
        ("baseUrl", fake.url.as_str()),
        ("tokenUrl", &token_url),
        ("model", "m"),
        ("customerId", "123-456-7890"),
        ("siteUrl", "sc-domain:example.com"),
    ];
    providers.test(provider, &credentials(secret, &settings)).await
}

#[tokio::test]
async fn each_vendor_is_asked_for_something_free() {
    let list = || Script::json(200, &json!({ "data": [], "models": [] }));
    let token = || {
        Script::json(
            200,
            &json!({ "access_token": "canary-token", "expires_in": 3_600 }),
        )
    };
    let account = Script::json(200, &json!({ "status_code": 20_000, "tasks": [] }));
    for (provider, secret, answers, line, header, value) in [
        (
            Provider::OpenAi,
            "sk-1",
            vec![list()],
            "GET /models",
            "authorization",
            "Bearer sk-1",
        ),
        (
            Provider::Anthropic,
            "sk-2",
            vec![list()],
            "GET /v1/models?limit=1",
            "x-api-key",
            "sk-2",
        ),
        (
            Provider::Gemini,
            "sk-3",
            vec![list()],
            "GET /models?pageSize=1",
            "x-goog-api-key",
            "sk-3",
        ),
        (
            Provider::Xai,
            "sk-4",
            vec![list()],
            "GET /models",
            "authorization",
            "Bearer sk-4",
        ),
        (
            Provider::DataForSeo,
            "me:pass",
            vec![account],
            "GET /v3/appendix/user_data",
            "authorization",
            "Basic bWU6cGFzcw==",
        ),
        (
            Provider::GoogleAds,
            GOOGLE,
            vec![token(), list()],
            "POST /v",
            "developer-token",
            "canary-3",
        ),
        (
            Provider::SearchConsole,
            GOOGLE,
            vec![token(), list()],
            "POST /webmasters/v3/sites/sc-domain%3Aexample.com/searchAnalytics/query",
            "authorization",
            "Bearer canary-token",
        ),
    ] {
        let fake = Fake::new(answers).await;
        assert_eq!(test(&fake, provider, Some(secret)).await, Ok(()), "{provider:?}");
        let asked = fake.asked();
        let last = asked.last().unwrap();
        assert!(last.line.starts_with(line), "{provider:?}: {}", last.line);
        assert_eq!(last.headers[header], value, "{provider:?}");
    }
    let fake = Fake::new(vec![Script::json(200, &json!(["website", ["website builder"]]))]).await;
    assert_eq!(test(&fake, Provider::Autocomplete, None).await, Ok(()));
}

#[tokio::test]
async fn a_wrong_credential_is_told_and_not_repeated() {
    let refused = || Script::json(401, &json!({ "error": { "message": "wrong key sk-4711" } }));
    for provider in [
        Provider::OpenAi,
        Provider::Anthropic,
        Provider::Gemini,
        Provider::Xai,
    ] {
        let fake = Fake::new(vec![refused()]).await;
        let error = test(&fake, provider, Some("sk-4711")).await.unwrap_err();
        assert!(
            matches!(&error, ProviderError::Refused(refusal) if refusal.why == Why::Credential),
            "{error:?}"
        );
        assert!(!format!("{error:?}").contains("4711"), "{error:?}");
    }
    let account: Value = json!({ "status_code": 40_100, "status_message": "You are not authorized" });
    let fake = Fake::new(vec![Script::json(200, &account)]).await;
    assert!(test(&fake, Provider::DataForSeo, Some("me:pass")).await.is_err());
    // What has no free request is not asked.
    let fake = Fake::new(Vec::new()).await;
    for provider in [Provider::Perplexity, Provider::PageSpeed] {
        assert!(!provider.has_free_test());
        let error = test(&fake, provider, Some("sk-1")).await.unwrap_err();
        assert_eq!(error, ProviderError::refused(Why::Unsupported));
    }
    assert!(fake.asked().is_empty());
}
