//! Searches in the texts of keywords: they find what contains the text, however many keywords there are.

use searchwright_contract::{
    ids::KeywordId,
    keywords::{Intent, Keyword, KeywordSort, KeywordSource, KeywordStatus},
};
use searchwright_store::{
    Settings,
    access::ProjectScope,
    keywords::{self, KeywordFacts, KeywordQuery, NewKeyword},
    sql,
};

use uuid::Uuid;

use crate::{
    harness::{Place, Store, id, now, on_postgres, run},
    keywords::{keyword, list},
};

on_both!(
    every_order_of_a_search_has_what_contains_the_text,
    a_search_of_many_hits_is_the_list_without_the_others,
    deleted_keywords_are_not_found_and_come_back_once,
    a_filter_lists_what_passes_it_few_or_many,
    keywords_created_one_by_one_are_found_at_once,
);

const SORTS: [KeywordSort; 4] = [
    KeywordSort::Created,
    KeywordSort::Score,
    KeywordSort::SearchVolume,
    KeywordSort::KeywordDifficulty,
];

/// Walks a search in pages.
async fn search(
    store: &Store,
    scope: ProjectScope,
    contains: &str,
    sort: KeywordSort,
    limit: u32,
) -> Vec<Keyword> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let query = KeywordQuery {
            contains: Some(contains.to_owned()),
            sort: Some(sort),
            after,
            limit,
            ..KeywordQuery::default()
        };
        let page = list(store, scope, query).await;
        let Some(last) = page.last() else { return found };
        let value = match sort {
            KeywordSort::Created => 0,
            KeywordSort::Score => last.score.map_or(-1, |score| (score * 1000.0).round() as i64),
            KeywordSort::SearchVolume => last.search_volume.unwrap_or(-1),
            KeywordSort::KeywordDifficulty => last.keyword_difficulty.unwrap_or(-1),
        };
        after = Some((value, last.id));
        found.extend(page);
    }
}

async fn every_order_of_a_search_has_what_contains_the_text(place: &Place) {
    let store = place.store().await;
    let (scope, other) = (store.project().await, store.project().await);
    let firsts = [
        "fern",
        "ferns",
        "\"fir\" tree",
        "straße",
        "東京 タワー",
        "a",
        "ab",
        "r&b and or not",
        "c*",
    ];
    let seconds = ["", " pot", " pots 100%", " tree_house", " near me", " \\ back"];
    let mut texts = Vec::new();
    for (n, first) in firsts.iter().enumerate() {
        for (m, second) in seconds.iter().enumerate() {
            let text = format!("{first}{second}");
            let volume = (m % 3 > 0).then_some(((n + m) % 4) as i64);
            keyword(&store, scope, &text, volume, volume.map(|v| v * 7 % 5)).await;
            keyword(&store, other, &text, Some(1), None).await;
            texts.push(text);
        }
    }
    for contained in [
        "fern",
        "ferns p",
        "\"fir\"",
        "aße",
        "東京",
        "東京 タ",
        "a",
        "ab",
        "abc",
        "pot",
        "ot",
        "100%",
        "e_h",
        "near me",
        "\\ b",
        "and or",
        "c*",
        "r&b and or not near me",
        "fern fern",
        "   ",
    ] {
        let mut expected: Vec<&String> = texts.iter().filter(|text| text.contains(contained)).collect();
        expected.sort();
        for sort in SORTS {
            let found = search(&store, scope, contained, sort, 4).await;
            let mut found: Vec<&String> = found.iter().map(|keyword| &keyword.keyword).collect();
            found.sort();
            assert_eq!(found, expected, "{contained:?} by {sort:?}");
        }
    }
}

async fn a_search_of_many_hits_is_the_list_without_the_others(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let new = |n: i64| NewKeyword {
        id: id(),
        keyword: format!("common {n}"),
        normalized: format!("common {n}"),
        language: "en".to_owned(),
        country: String::new(),
        status: KeywordStatus::New,
        source: KeywordSource::Manual,
        facts: KeywordFacts {
            search_volume: (n % 3 > 0).then_some(n * 37 % 1000),
            ..KeywordFacts::default()
        },
    };
    let rows: Vec<NewKeyword> = (0..6_000).map(new).collect();
    let ids: Vec<KeywordId> = rows.iter().map(|row| row.id).collect();
    let inserted = commit!(store.db, |tx| keywords::insert_new(tx, scope, rows, now()).await);
    assert_eq!(inserted.unwrap().len(), 6_000);
    let again: Vec<NewKeyword> = (5_990..6_010).map(new).collect();
    let inserted = commit!(store.db, |tx| keywords::insert_new(tx, scope, again, now()).await);
    assert_eq!(inserted.unwrap().len(), 10, "the others are there");
    for (contained, hits) in [
        ("common", 6_010),
        ("mon 59", 111),
        ("common 4242", 1),
        ("common x", 0),
    ] {
        for sort in [KeywordSort::Created, KeywordSort::SearchVolume] {
            let found = search(&store, scope, contained, sort, 1_000).await;
            assert_eq!(found.len(), hits, "{contained:?} by {sort:?}");
            assert!(found.iter().all(|keyword| keyword.keyword.contains(contained)));
            let key = |k: &Keyword| match sort {
                KeywordSort::SearchVolume => (k.search_volume.unwrap_or(-1), k.id),
                _ => (0, k.id),
            };
            assert!(
                found.is_sorted_by(|a, b| key(a) > key(b)),
                "{contained:?} by {sort:?}"
            );
        }
    }
    let first = search(&store, scope, "common 17", KeywordSort::Created, 1_000).await;
    assert_eq!(first.last().map(|k| k.id), ids.get(17).copied());
}

async fn deleted_keywords_are_not_found_and_come_back_once(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    for _ in 0..3 {
        let one = keyword(&store, scope, "garden fence", Some(1), None).await;
        keyword(&store, scope, "of", None, None).await;
        for sort in SORTS {
            let found = search(&store, scope, "den fen", sort, 10).await;
            assert_eq!(found.iter().map(|k| k.id).collect::<Vec<_>>(), [one], "{sort:?}");
        }
        for contained in ["garden fence", "of"] {
            let found = search(&store, scope, contained, KeywordSort::Created, 10).await;
            let found = found.first().unwrap().id;
            commit!(store.db, |tx| keywords::delete(tx, scope, found, 1).await).unwrap();
            assert!(
                search(&store, scope, contained, KeywordSort::Created, 10)
                    .await
                    .is_empty()
            );
        }
    }
}

async fn a_filter_lists_what_passes_it_few_or_many(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let rows = (0..2_400)
        .map(|n: i64| NewKeyword {
            id: id(),
            keyword: format!("filtered {n}"),
            normalized: format!("filtered {n}"),
            language: "en".to_owned(),
            country: String::new(),
            status: if n % 200 == 7 {
                KeywordStatus::Rejected
            } else {
                KeywordStatus::New
            },
            source: KeywordSource::Manual,
            facts: KeywordFacts {
                search_volume: (n % 3 > 0).then_some(n * 37 % 1000),
                intent: (n % 2 == 0).then_some(Intent::Commercial),
                ..KeywordFacts::default()
            },
        })
        .collect();
    commit!(store.db, |tx| keywords::insert_new(tx, scope, rows, now()).await).unwrap();
    let commercial = Some(Intent::Commercial);
    for (status, intent, expected) in [
        (Some(KeywordStatus::New), None, 2_388),
        (Some(KeywordStatus::Rejected), None, 12),
        (Some(KeywordStatus::Rejected), commercial, 0),
        (Some(KeywordStatus::New), commercial, 1_200),
        (None, commercial, 1_200),
        (None, Some(Intent::Navigational), 0),
    ] {
        for sort in [KeywordSort::Created, KeywordSort::SearchVolume] {
            let query = KeywordQuery {
                status,
                intent,
                sort: Some(sort),
                limit: 500,
                ..KeywordQuery::default()
            };
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let query = KeywordQuery {
                    after,
                    ..query.clone()
                };
                let page = list(&store, scope, query).await;
                let Some(last) = page.last() else { break };
                after = Some((last.search_volume.unwrap_or(-1), last.id));
                found.extend(page);
            }
            assert_eq!(found.len(), expected, "{status:?} {intent:?} by {sort:?}");
            let key = |k: &Keyword| match sort {
                KeywordSort::SearchVolume => (k.search_volume.unwrap_or(-1), k.id),
                _ => (0, k.id),
            };
            assert!(
                found.is_sorted_by(|a, b| key(a) > key(b)),
                "{status:?} {intent:?} by {sort:?}"
            );
        }
    }
}

#[test]
fn a_role_that_may_not_create_extensions_searches_without() {
    on_postgres(async |place| {
        let Settings::Postgres { url, connections } = &place.settings else {
            return;
        };
        let (_, name) = url.rsplit_once('/').unwrap();
        let (_, server) = url.rsplit_once('@').unwrap();
        let role = format!("{name}_plain");
        let create = format!("CREATE ROLE {role} LOGIN PASSWORD '{role}'");
        run(url, &[&create, &format!("GRANT ALL ON SCHEMA public TO {role}")]).await;
        let plain = Place {
            settings: Settings::Postgres {
                url: format!("postgres://{role}:{role}@{server}"),
                connections: *connections,
            },
        };
        {
            let store = plain.store().await;
            let extensions: i64 = sql("SELECT count(*) FROM pg_extension WHERE extname = 'pg_trgm'")
                .fetch_one(&mut store.read().await, |c| c.take())
                .await
                .unwrap();
            assert_eq!(extensions, 0);
            let scope = store.project().await;
            for text in ["fern", "fern pot", "fir"] {
                keyword(&store, scope, text, None, None).await;
            }
            for (contained, hits) in [("fern", 2), ("ern p", 1), ("oak", 0), ("f", 3)] {
                let found = search(&store, scope, contained, KeywordSort::Created, 25).await;
                assert_eq!(found.len(), hits, "{contained}");
            }
            store.db.close().await;
        }
        run(
            url,
            &[&format!("DROP OWNED BY {role}"), &format!("DROP ROLE {role}")],
        )
        .await;
    });
}

/// They come into the index many together, in the order of their ids; those of an earlier time one by one.
async fn keywords_created_one_by_one_are_found_at_once(place: &Place) {
    let store = place.store().await;
    let (scope, other) = (store.project().await, store.project().await);
    let mut count = 0;
    for n in 0..400_u128 {
        // Every seventh is from a clock that was set back.
        let time = if n % 7 == 3 { n } else { n + 10_000 };
        let new = NewKeyword {
            id: KeywordId::from(Uuid::from_u128((time << 80) + n * 5)),
            keyword: format!("lamp number {n}"),
            normalized: format!("lamp number {n}"),
            language: "en".to_owned(),
            country: String::new(),
            status: KeywordStatus::New,
            source: KeywordSource::Manual,
            facts: KeywordFacts::default(),
        };
        let made = commit!(store.db, |tx| keywords::create(tx, scope, new, now()).await);
        made.unwrap().unwrap();
        count += 1;
        let text = format!("p number {n}");
        let found = search(&store, scope, &text, KeywordSort::Created, 100).await;
        assert!(
            found.iter().any(|found| found.keyword.ends_with(&text)),
            "{n} of {found:?}"
        );
        if n % 50 == 49 {
            for sort in SORTS {
                assert_eq!(
                    search(&store, scope, "mp num", sort, 30).await.len(),
                    count,
                    "{sort:?}"
                );
            }
        }
    }
    assert!(
        search(&store, other, "mp num", KeywordSort::Created, 30)
            .await
            .is_empty()
    );
    for (n, found) in search(&store, scope, "number 1", KeywordSort::Created, 100)
        .await
        .iter()
        .enumerate()
    {
        let gone = found.id;
        commit!(store.db, |tx| keywords::delete(tx, scope, gone, 1).await).unwrap();
        let left = search(&store, scope, "number 1", KeywordSort::Created, 100).await;
        assert_eq!(left.len(), 111 - n - 1);
    }
}
