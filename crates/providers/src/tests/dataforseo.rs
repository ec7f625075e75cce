//! DataForSEO: what is read, what is missing, and how it says no.

use std::time::Duration;

use searchwright_contract::keywords::Intent;
use searchwright_keywords::import::{Level, Month, Row, Trend};
use searchwright_outbound::test_server::{Fake, Script, client};
use serde_json::{Value, json};

use super::credentials;
use crate::{DataForSeo, KeywordData, Market, ProviderError, Why};

const PATIENT: Duration = Duration::from_secs(60);
const LOGIN: &str = "me@example.com:canary-4711";

pub(super) fn market() -> Market {
    Market {
        language: "en-US".to_owned(),
        country: "US".to_owned(),
    }
}

pub(super) fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|t| (*t).to_owned()).collect()
}

fn dataforseo(fake: &Fake) -> DataForSeo {
    DataForSeo::new(
        client(PATIENT),
        &credentials(Some(LOGIN), &[("baseUrl", &fake.url)]),
    )
    .unwrap()
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
            Script::new(200, "text/html", "", "<html>"),
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
