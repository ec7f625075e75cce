//! Plans of the statements that are run most, with the statistics of tables that have grown: each reads by an index.

use searchwright_contract::keywords::{Intent, KeywordSort, KeywordSource, KeywordStatus};
use searchwright_store::{
    Result, Tx, admin,
    keywords::{self, KeywordFacts, KeywordQuery, ListPart, NewKeyword},
    sql,
};

use crate::harness::{Place, Store, id, now};

on_both!(lists_of_keywords_read_by_their_indexes,);

async fn grow(store: &Store) {
    let scope = store.project().await;
    let rows = (0..12_000)
        .map(|n: i64| NewKeyword {
            id: id(),
            keyword: format!("how to choose product {n}"),
            normalized: format!("how to choose product {n}"),
            language: "en".to_owned(),
            country: String::new(),
            status: if n % 100 == 7 {
                KeywordStatus::Planned
            } else {
                KeywordStatus::New
            },
            source: KeywordSource::Manual,
            facts: KeywordFacts {
                search_volume: Some(n * 37 % 9_000),
                keyword_difficulty: Some(n % 101),
                score: Some(n * 7 % 1_000),
                intent: (n % 50 == 1).then_some(Intent::Commercial),
                ..KeywordFacts::default()
            },
        })
        .collect();
    commit!(store.db, |tx| keywords::insert_new(tx, scope, rows, now()).await).unwrap();
    // SQLite renews its statistics before this, PostgreSQL in its own time.
    commit!(store.db, |tx| admin::insert_meta(tx, "next", vec![1]).await).unwrap();
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// Steps of a plan that serves all values. Only PostgreSQL asks for the types of the parameters.
async fn explain(tx: &mut Tx, text: &str, types: &[&str]) -> Result<String> {
    let steps: Vec<String> = if types.is_empty() {
        sql(leak(format!("EXPLAIN QUERY PLAN {text}")))
            .fetch_all(tx, |c| {
                let _: (i64, i64, i64) = (c.take()?, c.take()?, c.take()?);
                c.take()
            })
            .await?
    } else {
        let (types, nothing) = (types.join(", "), vec!["NULL"; types.len()].join(", "));
        sql(leak(format!("PREPARE explained ({types}) AS {text}")))
            .execute(tx)
            .await?;
        let plan = leak(format!("EXPLAIN (COSTS OFF) EXECUTE explained ({nothing})"));
        let steps = sql(plan).fetch_all(tx, |c| c.take()).await?;
        sql("DEALLOCATE explained").execute(tx).await?;
        steps
    };
    Ok(steps.join("\n"))
}

async fn lists_of_keywords_read_by_their_indexes(place: &Place) {
    let store = place.store().await;
    grow(&store).await;
    let postgres = store.db.name() == "postgres";
    if postgres {
        commit!(store.db, |tx| sql("ANALYZE keywords").execute(tx).await).unwrap();
    }
    let mut tx = store.read().await;
    let query = |sort, status, intent| KeywordQuery {
        sort: Some(sort),
        status,
        intent,
        ..KeywordQuery::default()
    };
    let (planned, commercial) = (Some(KeywordStatus::Planned), Some(Intent::Commercial));
    let types = ["uuid", "bigint", "uuid", "bigint", "text", "text", "text", "uuid"];
    for (query, index) in [
        (query(KeywordSort::Created, planned, None), "keywords_by_status"),
        (
            query(KeywordSort::Created, None, commercial),
            "keywords_by_intent",
        ),
        (query(KeywordSort::SearchVolume, None, None), "keywords_by_volume"),
        (
            query(KeywordSort::KeywordDifficulty, None, None),
            "keywords_by_difficulty",
        ),
        (query(KeywordSort::Score, None, None), "keywords_by_score"),
    ] {
        // PostgreSQL reads a table of this size as a whole for a sorted list.
        if postgres && query.sort != Some(KeywordSort::Created) {
            continue;
        }
        let text = keywords::list_text(&query, ListPart::Known, postgres);
        let plan = explain(&mut tx, text, if postgres { &types } else { &[] })
            .await
            .unwrap();
        assert!(plan.contains(index), "{query:?}\n{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{query:?}\n{plan}");
    }
    if !postgres {
        let plan = explain(&mut tx, keywords::search_text(postgres), &[])
            .await
            .unwrap();
        assert!(plan.contains("SCAN t VIRTUAL TABLE"), "{plan}");
    }
}
