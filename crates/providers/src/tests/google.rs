//! Google's sources: tokens, Google Ads, Search Console and the search box.

use std::time::Duration;

use searchwright_contract::{Clock, Instant};
use searchwright_keywords::import::{Level, Month, Row, Trend};
use searchwright_outbound::test_server::{Fake, Script, client};
use serde_json::{Value, json};

use super::{
    credentials,
    dataforseo::{market, texts},
};
use crate::{Autocomplete, GoogleAds, KeywordData, Market, ProviderError, SearchConsole, Why};

const PATIENT: Duration = Duration::from_secs(60);
const GOOGLE: &str =
    r#"{"clientId":"id-1","clientSecret":"canary-1","refreshToken":"canary-2","developerToken":"canary-3"}"#;

fn token(lives: i64) -> Script {
    Script::json(
        200,
        &json!({ "access_token": format!("canary-token-{lives}"), "expires_in": lives, "token_type": "Bearer" }),
    )
}

fn google_account(fake: &Fake) -> crate::Credentials {
    let token_url = format!("{}/token", fake.url);
    credentials(
        Some(GOOGLE),
        &[
            ("baseUrl", &fake.url),
            ("tokenUrl", &token_url),
            ("customerId", "123-456-7890"),
            ("loginCustomerId", "999-888-7777"),
            ("version", "v23"),
            ("currency", "EUR"),
            ("siteUrl", "https://example.com/"),
        ],
    )
}

fn clock() -> Clock {
    Clock::fixed(Instant::from_millis(1_795_255_200_123))
}

fn language() -> Script {
    Script::json(
        200,
        &json!({ "results": [{ "languageConstant": { "resourceName": "languageConstants/1000" } }] }),
    )
}

#[tokio::test]
async fn google_ads_reads_texts_as_numbers_and_pages() {
    let metrics = json!({
        "avgMonthlySearches": "1300", "competition": "MEDIUM", "competitionIndex": "42",
        "lowTopOfPageBidMicros": "510000", "highTopOfPageBidMicros": "2100000",
        "monthlySearchVolumes": [ { "month": "NOVEMBER", "year": "2025", "monthlySearches": "1600" },
                                  { "month": "OCTOBER", "year": "2025", "monthlySearches": "1000" } ]
    });
    let fake = Fake::new(vec![
        token(3600),
        language(),
        Script::json(200, &json!({ "results": [{ "text": "oak desk", "keywordIdeaMetrics": metrics }, { "text": "fir desk" }], "nextPageToken": "p2" })),
        Script::json(200, &json!({ "results": [{ "text": "last" }], "nextPageToken": "" })),
        Script::json(200, &json!({ "results": [{ "text": "oak desk", "keywordMetrics": { "avgMonthlySearches": "0", "competition": "UNSPECIFIED" } }] })),
    ])
    .await;
    let source = GoogleAds::new(client(PATIENT), clock(), &google_account(&fake)).unwrap();
    assert!(!format!("{source:?}").contains("canary"));
    let found = source.ideas(&texts(&["desk"]), &market(), None).await.unwrap();
    assert_eq!(
        found.rows[0],
        Row {
            line: 1,
            keyword: "oak desk".to_owned(),
            search_volume: Some(1300),
            bid_low: Some(0.51),
            bid_high: Some(2.1),
            currency: Some("EUR".to_owned()),
            competition: Some(0.42),
            competition_level: Some(Level::Medium),
            trend: Some(Trend::Months(vec![
                Month {
                    month: "2025-10".to_owned(),
                    value: 1000
                },
                Month {
                    month: "2025-11".to_owned(),
                    value: 1600
                },
            ])),
            ..Row::default()
        }
    );
    assert_eq!(
        (found.rows[1].search_volume, found.rows[1].currency.clone()),
        (None, None)
    );
    assert_eq!(found.next.as_deref(), Some("p2"));
    let last = source
        .ideas(&texts(&["desk"]), &market(), Some("p2"))
        .await
        .unwrap();
    assert_eq!((last.rows.len(), last.next), (1, None));
    let metrics = source.metrics(&texts(&["oak desk"]), &market()).await.unwrap();
    assert_eq!(
        (metrics.rows[0].search_volume, metrics.rows[0].competition_level),
        (Some(0), None),
        "a zero that was said is a zero"
    );
    let asked = fake.asked();
    let lines: Vec<&str> = asked.iter().map(|a| a.line.as_str()).collect();
    let customer = "POST /v23/customers/1234567890";
    assert_eq!(
        lines,
        [
            "POST /token".to_owned(),
            format!("{customer}/googleAds:search"),
            format!("{customer}:generateKeywordIdeas"),
            format!("{customer}:generateKeywordIdeas"),
            format!("{customer}:generateKeywordHistoricalMetrics"),
        ]
    );
    assert_eq!(
        String::from_utf8(asked[0].body.clone()).unwrap(),
        "grant_type=refresh_token&client_id=id-1&client_secret=canary-1&refresh_token=canary-2"
    );
    assert_eq!(asked[2].headers["authorization"], "Bearer canary-token-3600");
    assert_eq!(asked[2].headers["developer-token"], "canary-3");
    assert_eq!(asked[2].headers["login-customer-id"], "9998887777");
    assert_eq!(
        asked[2].json(),
        json!({
            "geoTargetConstants": ["geoTargetConstants/2840"], "keywordPlanNetwork": "GOOGLE_SEARCH",
            "language": "languageConstants/1000", "includeAdultKeywords": false, "pageSize": 1000,
            "keywordSeed": { "keywords": ["desk"] }
        })
    );
    assert_eq!(asked[3].json()["pageToken"], "p2");
}

#[tokio::test]
async fn a_language_google_does_not_have_is_no_market() {
    let fake = Fake::new(vec![token(3600), Script::json(200, &json!({}))]).await;
    let source = GoogleAds::new(client(PATIENT), clock(), &google_account(&fake)).unwrap();
    for (language, questions) in [("tlh", 2), ("tlh", 2), ("x'y", 2)] {
        let market = Market {
            language: language.to_owned(),
            ..market()
        };
        let got = source.ideas(&texts(&["desk"]), &market, None).await;
        assert_eq!(got, Err(ProviderError::refused(Why::Market)));
        assert_eq!(fake.asked().len(), questions, "{language}");
    }
}

#[tokio::test]
async fn tokens_are_kept_renewed_and_replaced_once() {
    let rows = || Script::json(200, &json!({ "rows": [] }));
    let clock = clock();
    let fake = Fake::new(vec![
        token(600),
        rows(),
        rows(),
        token(601),
        rows(),
        Script::json(401, &json!({ "error": { "message": "ended canary-token-601" } })),
        token(602),
        Script::json(401, &json!({ "error": { "message": "canary-token-602" } })),
    ])
    .await;
    let source = SearchConsole::new(client(PATIENT), clock.clone(), &google_account(&fake)).unwrap();
    source.ideas(&[], &market(), None).await.unwrap();
    clock.advance(539_000);
    source.ideas(&[], &market(), None).await.unwrap();
    assert_eq!(fake.asked().len(), 3, "a token is used until its last minute");
    clock.advance(1_000);
    source.ideas(&[], &market(), None).await.unwrap();
    assert_eq!(fake.asked().len(), 5);
    let refused = source.ideas(&[], &market(), None).await.unwrap_err();
    assert_eq!(
        refused,
        ProviderError::refused_with(Why::Credential, Some("[secret]".to_owned()))
    );
    assert_eq!(fake.asked().len(), 8, "a fresh token that is refused is the end");
    let withdrawn = json!({ "error": "invalid_grant", "error_description": "Token has been revoked." });
    let fake = Fake::new(vec![Script::json(400, &withdrawn)]).await;
    let source = SearchConsole::new(client(PATIENT), clock, &google_account(&fake)).unwrap();
    let refused = source.ideas(&[], &market(), None).await.unwrap_err();
    assert!(
        matches!(&refused, ProviderError::Refused(r) if r.why == Why::Credential),
        "{refused:?}"
    );
}

#[tokio::test]
async fn search_console_gives_queries_of_the_site() {
    let rows: Vec<Value> = (0..25_000)
        .map(|n| json!({ "keys": [format!("q{n}"), "https://example.com/a"], "clicks": 3.0, "impressions": 40.0, "ctr": 0.075, "position": 4.5 }))
        .collect();
    let fake = Fake::new(vec![
        token(3600),
        Script::json(200, &json!({ "rows": rows })),
        Script::json(200, &json!({ "responseAggregationType": "byPage" })),
    ])
    .await;
    let source = SearchConsole::new(client(PATIENT), clock(), &google_account(&fake)).unwrap();
    let found = source.ideas(&[], &market(), None).await.unwrap();
    assert_eq!(
        found.rows[1],
        Row {
            line: 2,
            keyword: "q1".to_owned(),
            ranking_url: Some("https://example.com/a".to_owned()),
            clicks: Some(3),
            impressions: Some(40),
            ctr: Some(0.075),
            position: Some(4.5),
            ..Row::default()
        },
        "impressions are no volume"
    );
    assert_eq!(found.next.as_deref(), Some("25000"));
    let last = source.ideas(&[], &market(), Some("25000")).await.unwrap();
    assert!(last.rows.is_empty() && last.next.is_none());
    let asked = fake.asked();
    assert_eq!(
        asked[1].line,
        "POST /webmasters/v3/sites/https%3A%2F%2Fexample.com%2F/searchAnalytics/query"
    );
    assert_eq!(
        asked[1].json(),
        json!({
            "startDate": "2026-08-21", "endDate": "2026-11-18", "dimensions": ["query", "page"], "rowLimit": 25_000,
            "startRow": 0, "dimensionFilterGroups": [{ "filters": [{ "dimension": "country", "operator": "equals", "expression": "usa" }] }]
        })
    );
    assert_eq!(asked[2].json()["startRow"], 25_000);
    let none = source.metrics(&texts(&["desk"]), &market()).await;
    assert_eq!(
        (none, source.most_keywords()),
        (Err(ProviderError::refused(Why::Unsupported)), 0)
    );
}

#[tokio::test]
async fn the_search_box_suggests() {
    let fake = Fake::new(vec![
        Script::new(
            200,
            "text/javascript; charset=UTF-8",
            "",
            "[\"schreibtisch h\",[\"schreibtisch höhenverstellbar\",\"schreibtisch holz\"],[],{}]",
        ),
        Script::new(200, "text/html", "", "<html>unusual traffic</html>"),
        Script::new(429, "text/html", "", ""),
    ])
    .await;
    let source = Autocomplete::paced(
        client(PATIENT),
        &credentials(None, &[("baseUrl", &fake.url)]),
        Duration::ZERO,
    );
    let market = Market {
        language: "de".to_owned(),
        country: "DE".to_owned(),
    };
    let found = source
        .ideas(&texts(&["schreibtisch h"]), &market, None)
        .await
        .unwrap();
    let words: Vec<&str> = found.rows.iter().map(|r| r.keyword.as_str()).collect();
    assert_eq!(words, ["schreibtisch höhenverstellbar", "schreibtisch holz"]);
    assert_eq!(found.rows[0].search_volume, None);
    assert_eq!(
        fake.asked()[0].line,
        "GET /complete/search?client=firefox&ie=utf-8&oe=utf-8&hl=de&gl=de&q=schreibtisch+h"
    );
    for expected in [
        ProviderError::refused(Why::Unreadable),
        ProviderError::RateLimited(None),
    ] {
        assert_eq!(source.ideas(&texts(&["x"]), &market, None).await, Err(expected));
    }
    assert_eq!(
        source.ideas(&texts(&["a", "b"]), &market, None).await,
        Err(ProviderError::refused(Why::Request))
    );
}
