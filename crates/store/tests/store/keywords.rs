//! Keywords: unique by text, listed and searched.

use searchwright_contract::{
    ids::KeywordId,
    keywords::{
        Cannibalisation, CannibalisationReason, CompetitionLevel, Intent, IntentSource, Keyword,
        KeywordDetails, KeywordOrigin, KeywordSort, KeywordSource, KeywordStatus, TrendMonth, VolumeRange,
    },
    missing::MissingReason,
};
use searchwright_store::{
    Error,
    access::ProjectScope,
    keywords::{self, KeywordFacts, KeywordQuery, NewKeyword},
    projects,
};

use crate::harness::{Place, Store, id, later, now};

on_both!(
    keyword_reads_back,
    text_is_unique_per_language_and_country,
    changes_count_up_and_never_overwrite,
    another_project_sees_nothing,
    filters,
    search_takes_its_text_literally,
);

/// Creates a keyword.
pub async fn keyword(
    store: &Store,
    scope: ProjectScope,
    text: &str,
    volume: Option<i64>,
    difficulty: Option<i64>,
) -> KeywordId {
    let new = new(text, volume, difficulty);
    let id = new.id;
    commit!(store.db, |tx| keywords::create(tx, scope, new, now()).await)
        .unwrap()
        .unwrap();
    id
}

fn new(text: &str, search_volume: Option<i64>, keyword_difficulty: Option<i64>) -> NewKeyword {
    NewKeyword {
        id: id(),
        keyword: text.to_owned(),
        normalized: text.to_lowercase(),
        language: "en".to_owned(),
        country: String::new(),
        status: KeywordStatus::Approved,
        source: KeywordSource::Manual,
        facts: KeywordFacts {
            search_volume,
            keyword_difficulty,
            score: search_volume,
            ..KeywordFacts::default()
        },
    }
}

/// Facts with a different value in every field.
fn everything() -> KeywordFacts {
    KeywordFacts {
        search_volume: Some(0),
        keyword_difficulty: None,
        intent: Some(Intent::Commercial),
        intent_source: Some(IntentSource::Rules),
        intent_confidence: Some(0.4),
        intent_reason: Some("\"best\" compares".to_owned()),
        score: Some(63_501),
        details: KeywordDetails {
            secondary_intents: vec![Intent::Navigational],
            relevance: Some(0.25),
            volume_range: Some(VolumeRange { min: 10, max: 100 }),
            difficulty_source: Some(KeywordSource::CsvAhrefs),
            cpc: Some(1.25),
            currency: Some("EUR".to_owned()),
            competition: Some(0.33),
            competition_level: Some(CompetitionLevel::Medium),
            trend: vec![TrendMonth {
                month: "2026-10".to_owned(),
                value: 7,
            }],
            trend_relative: vec![0.5, 1.0],
            parent_topic: Some("desks".to_owned()),
            serp_features: vec!["video".to_owned()],
            position: Some(3.5),
            ranking_url: Some("https://example.com/desks".to_owned()),
            clicks: Some(5),
            impressions: Some(90),
            variant_of: Some("cafe".to_owned()),
            cannibalisation: Some(Cannibalisation {
                reason: CannibalisationReason::SearchConsole,
                urls: vec!["https://example.com/a".to_owned()],
                post_ids: Vec::new(),
            }),
            sources: vec![KeywordOrigin {
                source: KeywordSource::CsvGkp,
                place: Some("line 3".to_owned()),
                detail: None,
                search_volume: Some(0),
                keyword_difficulty: None,
                at: now(),
            }],
            metrics_updated_at: Some(later(4)),
        },
    }
}

pub async fn list(store: &Store, scope: ProjectScope, query: KeywordQuery) -> Vec<Keyword> {
    keywords::list(&mut store.read().await, scope, query)
        .await
        .unwrap()
}

async fn texts(store: &Store, scope: ProjectScope, query: KeywordQuery) -> Vec<String> {
    list(store, scope, query)
        .await
        .into_iter()
        .map(|k| k.keyword)
        .collect()
}

async fn keyword_reads_back(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let wanted = NewKeyword {
        country: "DE".to_owned(),
        source: KeywordSource::CsvGkp,
        facts: everything(),
        ..new("Café \u{1f33f} 🪴", None, None)
    };
    let id = wanted.id;
    let added = commit!(store.db, |tx| keywords::create(tx, scope, wanted, now()).await)
        .unwrap()
        .unwrap();
    assert_eq!(
        keywords::get(&mut store.read().await, scope, id).await.unwrap(),
        added
    );
    assert_eq!(
        (
            added.keyword.as_str(),
            added.country.as_deref(),
            added.language.as_str()
        ),
        ("Café \u{1f33f} 🪴", Some("DE"), "en")
    );
    assert_eq!(
        (added.search_volume, added.search_volume_status),
        (Some(0), None),
        "0 is known"
    );
    assert_eq!(KeywordFacts::from_keyword(&added), everything());
    assert_eq!((added.score, added.source), (Some(63.501), KeywordSource::CsvGkp));
    assert_eq!(
        (added.keyword_difficulty, added.keyword_difficulty_status),
        (None, Some(MissingReason::NotMeasured))
    );
    assert_eq!(
        (added.intent, added.version, added.created_at, added.updated_at),
        (Some(Intent::Commercial), 1, now(), now())
    );
    assert!(
        projects::get(&mut store.read().await, scope)
            .await
            .unwrap()
            .setup
            .has_keywords
    );
}

async fn text_is_unique_per_language_and_country(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let first = keyword(&store, scope, "desk", None, None).await;
    keyword(&store, foreign, "desk", None, None).await;
    for (language, country, there) in [
        ("en", "", true),
        ("de", "", false),
        ("en", "DE", false),
        ("de", "", true),
    ] {
        let wanted = NewKeyword {
            language: language.to_owned(),
            country: country.to_owned(),
            ..new("desk", None, None)
        };
        let outcome = commit!(store.db, |tx| keywords::create(tx, scope, wanted, now()).await).unwrap();
        assert_eq!(outcome.is_err(), there, "{language} {country}");
        if (language, country) == ("en", "") {
            assert_eq!(outcome.unwrap_err(), first);
        }
    }
    let at_once: Vec<_> = (0..8)
        .map(|_| {
            let db = store.db.clone();
            tokio::spawn(async move {
                commit!(db, |tx| keywords::create(
                    tx,
                    scope,
                    new("chair", None, None),
                    now()
                )
                .await)
                .unwrap()
            })
        })
        .collect();
    let (mut added, mut told) = (Vec::new(), Vec::new());
    for one in at_once {
        match one.await.unwrap() {
            Ok(keyword) => added.push(keyword.id),
            Err(existing) => told.push(existing),
        }
    }
    assert_eq!((added.len(), told.len()), (1, 7));
    assert!(told.iter().all(|id| *id == added[0]));
}

async fn changes_count_up_and_never_overwrite(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let id = keyword(&store, scope, "desk", Some(10), Some(20)).await;
    let read = keywords::get(&mut store.read().await, scope, id).await.unwrap();
    let changed = Keyword {
        search_volume: None,
        intent: Some(Intent::Transactional),
        status: KeywordStatus::Archived,
        ..read.clone()
    };
    let written = {
        let changed = changed.clone();
        commit!(store.db, |tx| keywords::update(tx, scope, id, &changed, later(5))
            .await)
        .unwrap()
    };
    let expected = Keyword {
        version: 2,
        updated_at: later(5),
        search_volume_status: Some(MissingReason::NotMeasured),
        ..changed
    };
    assert_eq!(written, expected);
    let stale = commit!(store.db, |tx| keywords::update(tx, scope, id, &read, later(6))
        .await);
    assert!(matches!(stale, Err(Error::Missing)), "{stale:?}");
    assert_eq!(
        keywords::get(&mut store.read().await, scope, id).await.unwrap(),
        expected
    );
}

async fn another_project_sees_nothing(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let id = keyword(&store, scope, "desk", None, None).await;
    let mine = keywords::get(&mut store.read().await, scope, id).await.unwrap();
    let missing = |outcome: Result<(), Error>| assert!(matches!(outcome, Err(Error::Missing)), "{outcome:?}");
    missing(
        keywords::get(&mut store.read().await, foreign, id)
            .await
            .map(drop),
    );
    let attempt = mine.clone();
    missing(
        commit!(store.db, |tx| keywords::update(tx, foreign, id, &attempt, now())
            .await)
        .map(drop),
    );
    missing(commit!(store.db, |tx| keywords::delete(tx, foreign, id, 1).await));
    assert!(
        list(
            &store,
            foreign,
            KeywordQuery {
                limit: 10,
                ..KeywordQuery::default()
            }
        )
        .await
        .is_empty()
    );
    assert_eq!(
        keywords::get(&mut store.read().await, scope, id).await.unwrap(),
        mine
    );
    commit!(store.db, |tx| keywords::delete(tx, scope, id, 1).await).unwrap();
    missing(commit!(store.db, |tx| keywords::delete(tx, scope, id, 1).await));
}

async fn filters(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    for (text, intent, status) in [
        ("red desk", Some(Intent::Commercial), KeywordStatus::Approved),
        ("blue desk", Some(Intent::Commercial), KeywordStatus::Rejected),
        ("red chair", None, KeywordStatus::Approved),
    ] {
        let mut wanted = new(text, None, None);
        wanted.facts.intent = intent;
        commit!(store.db, |tx| {
            let added = keywords::create(tx, scope, wanted, now()).await?.unwrap();
            let id = added.id;
            keywords::update(tx, scope, id, &Keyword { status, ..added }, now()).await
        })
        .unwrap();
    }
    let query = |status, intent, contains: Option<&str>| KeywordQuery {
        status,
        intent,
        contains: contains.map(str::to_owned),
        limit: 10,
        ..KeywordQuery::default()
    };
    let commercial = Some(Intent::Commercial);
    for sort in [
        None,
        Some(KeywordSort::Created),
        Some(KeywordSort::Score),
        Some(KeywordSort::SearchVolume),
        Some(KeywordSort::KeywordDifficulty),
    ] {
        for (filter, expected) in [
            (
                query(None, None, None),
                vec!["red chair", "blue desk", "red desk"],
            ),
            (
                query(Some(KeywordStatus::Approved), None, None),
                vec!["red chair", "red desk"],
            ),
            (query(None, commercial, None), vec!["blue desk", "red desk"]),
            (query(None, None, Some("red")), vec!["red chair", "red desk"]),
            (
                query(Some(KeywordStatus::Approved), commercial, Some("desk")),
                vec!["red desk"],
            ),
            (query(Some(KeywordStatus::New), None, None), vec![]),
        ] {
            let filter = KeywordQuery { sort, ..filter };
            assert_eq!(texts(&store, scope, filter.clone()).await, expected, "{filter:?}");
        }
    }
}

async fn search_takes_its_text_literally(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    for text in [
        "100% cotton",
        "100 cotton",
        "a_b",
        "axb",
        r"back\slash",
        "it's",
        "straße",
    ] {
        keyword(&store, scope, text, None, None).await;
    }
    for (contains, expected) in [
        ("100%", vec!["100% cotton"]),
        ("%", vec!["100% cotton"]),
        ("a_b", vec!["a_b"]),
        ("_", vec!["a_b"]),
        (r"\", vec![r"back\slash"]),
        (r"k\s", vec![r"back\slash"]),
        ("'", vec!["it's"]),
        ("aße", vec!["straße"]),
        ("nothing", vec![]),
    ] {
        for sort in [
            KeywordSort::Created,
            KeywordSort::SearchVolume,
            KeywordSort::KeywordDifficulty,
        ] {
            let query = KeywordQuery {
                contains: Some(contains.to_owned()),
                sort: Some(sort),
                limit: 10,
                ..KeywordQuery::default()
            };
            assert_eq!(
                texts(&store, scope, query).await,
                expected,
                "{contains:?} by {sort:?}"
            );
        }
    }
}
