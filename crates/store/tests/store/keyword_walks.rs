//! Reading all pages of a list while its table changes.

use std::collections::BTreeSet;

use proptest::{
    prelude::{Just, Strategy, any},
    prop_oneof,
    strategy::ValueTree as _,
    test_runner::TestRunner,
};
use searchwright_contract::{ids::KeywordId, keywords::KeywordSort};
use searchwright_store::keywords::{self, KeywordQuery};

use crate::{
    harness::Place,
    keywords::{keyword, list},
};

on_both!(every_order_is_walked_once_while_the_table_changes,);

#[derive(Clone, Copy, Debug)]
enum Between {
    Nothing,
    Add(Option<i64>),
    Remove(usize),
}

/// Rows that exist throughout a walk appear in it exactly once, whatever is added and removed meanwhile.
async fn every_order_is_walked_once_while_the_table_changes(place: &Place) {
    let store = place.store().await;
    let values = proptest::option::of(0..4_i64);
    let between = prop_oneof![
        Just(Between::Nothing),
        values.clone().prop_map(Between::Add),
        any::<usize>().prop_map(Between::Remove),
    ];
    let walk = (
        proptest::collection::vec((values.clone(), values), 1..30),
        proptest::collection::vec(between, 40),
        1..9_u32,
    );
    let mut runner = TestRunner::deterministic();
    for round in 0..8 {
        let (rows, between, limit) = walk.new_tree(&mut runner).unwrap().current();
        for sort in [
            KeywordSort::Created,
            KeywordSort::Score,
            KeywordSort::SearchVolume,
            KeywordSort::KeywordDifficulty,
        ] {
            let scope = store.project().await;
            for (n, (volume, difficulty)) in rows.iter().enumerate() {
                keyword(&store, scope, &format!("row {n}"), *volume, *difficulty).await;
            }
            let begun = list(
                &store,
                scope,
                KeywordQuery {
                    limit: 100,
                    ..KeywordQuery::default()
                },
            )
            .await;
            let mut stayed: BTreeSet<KeywordId> = begun.into_iter().map(|k| k.id).collect();
            let (mut seen, mut after, mut last) = (Vec::new(), None, (i64::MAX, KeywordId::MAX));
            for step in 0.. {
                let page = list(
                    &store,
                    scope,
                    KeywordQuery {
                        sort: Some(sort),
                        after,
                        limit,
                        ..KeywordQuery::default()
                    },
                )
                .await;
                for row in &page {
                    let value = match sort {
                        KeywordSort::Created => 0,
                        KeywordSort::Score => row.score.map_or(-1, |score| (score * 1000.0).round() as i64),
                        KeywordSort::SearchVolume => row.search_volume.unwrap_or(-1),
                        KeywordSort::KeywordDifficulty => row.keyword_difficulty.unwrap_or(-1),
                    };
                    let key = (value, row.id);
                    assert!(key < last, "round {round}, {sort:?}: {key:?} after {last:?}");
                    (last, after) = (key, Some(key));
                    seen.push(row.id);
                }
                if page.len() < limit as usize {
                    break;
                }
                match between.get(step).copied().unwrap_or(Between::Nothing) {
                    Between::Nothing => {}
                    Between::Add(value) => {
                        keyword(&store, scope, &format!("meanwhile {step}"), value, value).await;
                    }
                    Between::Remove(at) => {
                        let gone = stayed.iter().nth(at % stayed.len().max(1)).copied();
                        if let Some(gone) = gone {
                            stayed.remove(&gone);
                            commit!(store.db, |tx| keywords::delete(tx, scope, gone, 1).await).unwrap();
                        }
                    }
                }
            }
            let once: BTreeSet<&KeywordId> = seen.iter().collect();
            assert_eq!(
                once.len(),
                seen.len(),
                "round {round}, {sort:?}: a row came twice"
            );
            for row in &stayed {
                assert!(once.contains(row), "round {round}, {sort:?}: {row} is missing");
            }
        }
    }
}
