//! Sources of keyword data.

use std::time::Duration;

use searchwright_contract::{Instant, keywords::Intent};
use serde_json::{Value, json};

use super::server::{Fake, Script, account, client};
use crate::{
    Clock,
    keywords::import::{Level, Month, Row, Trend},
    providers::{
        Autocomplete, DataForSeo, GoogleAds, KeywordData, Market, ProviderError, SearchConsole, Why,
    },
};

const PATIENT: Duration = Duration::from_secs(60);
const LOGIN: &str = "me@example.com:canary-4711";
const GOOGLE: &str =
    r#"{"clientId":"id-1","clientSecret":"canary-1","refreshToken":"canary-2","developerToken":"canary-3"}"#;

fn market() -> Market {
    Market {
        language: "en-US".to_owned(),
        country: "US".to_owned(),
    }
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|t| (*t).to_owned()).collect()
}

fn dataforseo(fake: &Fake) -> DataForSeo {
    DataForSeo::new(client(PATIENT), &account(Some(LOGIN), &[("baseUrl", &fake.url)])).unwrap()
}

/// An answer as DataForSEO wraps it.
fn task(status: u64, cost: Value, result: Value) -> Script {
    Script::json(
        200,
        &json!({ "status_code": 20000, "status_message": "Ok.", "cost": 9.9, "tasks": [
            { "status_code": status, "status_message": "as it was", "cost": cost, "result": result }
        ] }),
    )
}

#[tokio::test]
async fn ideas_with_all_that_is_known_and_nothing_that_is_not() {
    let items = json!([
        { "keyword": "standing desk", "keyword_info": {
            "search_volume": 246_000, "competition": 1, "competition_level": "HIGH", "cpc": 1.73,
            "low_top_of_page_bid": 0.6, "high_top_of_page_bid": 2.5,
            "monthly_searches": [ { "year": 2026, "month": 10, "search_volume": 201_000 },
                                  { "year": 2026, "month": 9, "search_volume": null },
                                  { "year": 2025, "month": 11, "search_volume": 301_000 } ] },
          "keyword_properties": { "keyword_difficulty": 61 },
          "search_intent_info": { "main_intent": "commercial", "foreign_intent": ["transactional", "other"] } },
        { "keyword": "desk riser", "keyword_info": { "search_volume": null, "cpc": null, "competition": null },
          "keyword_properties": { "keyword_difficulty": null }, "search_intent_info": null },
        { "keyword": "desk" }
    ]);
    let fake = Fake::new(vec![
        task(
            20000,
            json!(0.0105),
            json!([{ "total_count": 4, "items": items }]),
        ),
        task(
            20000,
            json!(0.0101),
            json!([{ "total_count": 4, "items": [{ "keyword": "last" }] }]),
        ),
    ])
    .await;
    let source = dataforseo(&fake);
    let found = source.ideas(&texts(&["desk"]), &market(), None).await.unwrap();
    assert_eq!(
        found.rows[0],
        Row {
            line: 1,
            keyword: "standing desk".to_owned(),
            search_volume: Some(246_000),
            difficulty: Some(61),
            cpc: Some(1.73),
            bid_low: Some(0.6),
            bid_high: Some(2.5),
            currency: Some("USD".to_owned()),
            competition: Some(1.0),
            competition_level: Some(Level::High),
            trend: Some(Trend::Months(vec![
                Month {
                    month: "2025-11".to_owned(),
                    value: 301_000
                },
                Month {
                    month: "2026-10".to_owned(),
                    value: 201_000
                },
            ])),
            intents: vec![Intent::Commercial, Intent::Transactional],
            ..Row::default()
        }
    );
    for (at, keyword) in [(1, "desk riser"), (2, "desk")] {
        let unknown = Row {
            line: at as u64 + 1,
            keyword: keyword.to_owned(),
            ..Row::default()
        };
        assert_eq!(found.rows[at], unknown, "unknown is not 0");
    }
    assert_eq!(
        (found.next.as_deref(), found.cost_micros_usd),
        (Some("3"), Some(10_500))
    );
    let last = source
        .ideas(&texts(&["desk"]), &market(), found.next.as_deref())
        .await
        .unwrap();
    assert_eq!((last.rows[0].line, last.next), (4, None));
    let asked = fake.asked();
    assert_eq!(
        asked[0].line,
        "POST /v3/dataforseo_labs/google/keyword_ideas/live"
    );
    assert_eq!(
        asked[0].headers["authorization"],
        "Basic bWVAZXhhbXBsZS5jb206Y2FuYXJ5LTQ3MTE="
    );
    assert_eq!(
        asked[0].json(),
        json!([{ "language_code": "en", "location_code": 2840, "keywords": ["desk"], "limit": 1000 }])
    );
    assert_eq!(asked[1].json()[0]["offset"], 3);
    assert!(!format!("{source:?}").contains("4711"));
}

#[tokio::test]
async fn metrics_are_three_answers_in_one() {
    let long = "x".repeat(81);
    let fake = Fake::new(vec![
        task(
            20000,
            json!(0.05),
            json!([
                { "keyword": "oak desk", "search_volume": 90, "competition": "LOW", "competition_index": 12, "cpc": 0.4 },
                { "keyword": "fir desk", "search_volume": null, "competition": null, "competition_index": null, "cpc": null }
            ]),
        ),
        task(
            20000,
            json!(0.01),
            json!([{ "items": [{ "keyword": "oak desk", "keyword_difficulty": 7 }, { "keyword": "fir desk", "keyword_difficulty": null }] }]),
        ),
        task(
            20000,
            json!(0.001),
            json!([{ "items": [{ "keyword": "Fir desk", "keyword_intent": { "label": "informational", "probability": 0.9 },
                "secondary_keyword_intents": [{ "label": "commercial", "probability": 0.1 }] }, { "keyword": long, "keyword_intent": { "label": "navigational" } }] }]),
        ),
    ])
    .await;
    let source = dataforseo(&fake);
    let asked = texts(&["oak desk", "fir desk", &long]);
    let found = source.metrics(&asked, &market()).await.unwrap();
    let [oak, fir, other] = &found.rows[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (
            oak.search_volume,
            oak.difficulty,
            oak.competition,
            oak.competition_level
        ),
        (Some(90), Some(7), Some(0.12), Some(Level::Low))
    );
    assert_eq!(
        (
            fir.search_volume,
            fir.difficulty,
            fir.competition,
            fir.currency.clone()
        ),
        (None, None, None, None)
    );
    assert_eq!(fir.intents, [Intent::Informational, Intent::Commercial]);
    assert_eq!(
        (other.keyword.as_str(), other.search_volume),
        (long.as_str(), None)
    );
    assert_eq!(found.cost_micros_usd, Some(61_000));
    assert!(found.missed.is_empty());
    let lines: Vec<String> = fake.asked().iter().map(|a| a.line.clone()).collect();
    assert_eq!(
        lines,
        [
            "POST /v3/keywords_data/google_ads/search_volume/live",
            "POST /v3/dataforseo_labs/google/bulk_keyword_difficulty/live",
            "POST /v3/dataforseo_labs/google/search_intent/live"
        ]
    );
    let volume = fake.asked()[0].json();
    assert_eq!(
        volume[0]["keywords"],
        json!(["oak desk", "fir desk"]),
        "a keyword that is too long would fail all"
    );
}

#[tokio::test]
async fn a_part_that_fails_is_missed_and_not_invented() {
    let fake = Fake::new(vec![
        task(
            20000,
            json!(null),
            json!([{ "keyword": "oak desk", "search_volume": 90 }]),
        ),
        task(40210, json!(0), json!(null)),
        Script::json(500, &json!({})),
    ])
    .await;
    let source = dataforseo(&fake);
    let found = source.metrics(&texts(&["oak desk"]), &market()).await.unwrap();
    assert_eq!(
        (found.rows[0].search_volume, found.rows[0].difficulty),
        (Some(90), None)
    );
    assert_eq!(found.cost_micros_usd, None, "a price that is not said is unknown");
    assert_eq!(
        found.missed,
        [
            ProviderError::refused_with(Why::Quota, Some("as it was".to_owned())),
            ProviderError::Unavailable
        ]
    );
}

#[tokio::test]
async fn a_failure_in_a_success_is_a_failure() {
    for (code, expected) in [
        (40202, ProviderError::RateLimited(None)),
        (50000, ProviderError::Unavailable),
        (
            40100,
            ProviderError::refused_with(Why::Credential, Some("as it was".to_owned())),
        ),
        (
            40200,
            ProviderError::refused_with(Why::Quota, Some("as it was".to_owned())),
        ),
        (
            40501,
            ProviderError::refused_with(Why::Request, Some("as it was".to_owned())),
        ),
    ] {
        let fake = Fake::new(vec![task(code, json!(0), json!(null))]).await;
        let got = dataforseo(&fake)
            .keyword_suggestions("desk", &market(), None)
            .await;
        assert_eq!(got, Err(expected), "{code}");
    }
    let whole = json!({ "status_code": 40100, "status_message": "login canary-4711", "tasks": null });
    for (script, expected) in [
        (
            Script::json(200, &whole),
            ProviderError::refused_with(Why::Credential, Some("login [secret]".to_owned())),
        ),
        (
            Script::json(401, &whole),
            ProviderError::refused_with(Why::Credential, Some("login [secret]".to_owned())),
        ),
        (
            Script::of(200, "text/html", "", "<html>"),
            ProviderError::refused(Why::Unreadable),
        ),
        (Script::nothing(), ProviderError::Uncertain(Box::default())),
        (
            Script::json(504, &json!({})),
            ProviderError::Uncertain(Box::default()),
        ),
    ] {
        let fake = Fake::new(vec![script]).await;
        let got = dataforseo(&fake)
            .search_intent(&texts(&["desk"]), &market())
            .await;
        assert_eq!(got, Err(expected));
        assert_eq!(
            fake.asked().len(),
            1,
            "what may have been charged is not repeated"
        );
    }
    let fake = Fake::new(vec![task(40102, json!(0.01), json!(null))]).await;
    let nothing = dataforseo(&fake)
        .keyword_suggestions("desk", &market(), None)
        .await
        .unwrap();
    assert!(nothing.rows.is_empty() && nothing.next.is_none());
}

#[tokio::test]
async fn too_much_is_refused_before_it_is_charged() {
    let fake = Fake::new(vec![Script::nothing()]).await;
    let source = dataforseo(&fake);
    let many: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    let nowhere = Market {
        country: String::new(),
        ..market()
    };
    for got in [
        source.ideas(&many[..201], &market(), None).await,
        source.ideas(&[], &market(), None).await,
        source.metrics(&many, &market()).await,
        source.ideas(&many[..1], &market(), Some("x")).await,
    ] {
        assert_eq!(got, Err(ProviderError::refused(Why::Request)));
    }
    let got = source.ideas(&many[..1], &nowhere, None).await;
    assert_eq!(got, Err(ProviderError::refused(Why::Market)));
    assert!(fake.asked().is_empty());
}

fn token(lives: i64) -> Script {
    Script::json(
        200,
        &json!({ "access_token": format!("canary-token-{lives}"), "expires_in": lives, "token_type": "Bearer" }),
    )
}

fn google_account(fake: &Fake) -> searchwright_store::providers::Opened {
    let token_url = format!("{}/token", fake.url);
    account(
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
        Script::of(
            200,
            "text/javascript; charset=UTF-8",
            "",
            "[\"schreibtisch h\",[\"schreibtisch höhenverstellbar\",\"schreibtisch holz\"],[],{}]",
        ),
        Script::of(200, "text/html", "", "<html>unusual traffic</html>"),
        Script::of(429, "text/html", "", ""),
    ])
    .await;
    let source = Autocomplete::paced(
        client(PATIENT),
        &account(None, &[("baseUrl", &fake.url)]),
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
