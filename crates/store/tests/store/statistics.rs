//! Statistics of SQLite, by which it plans: made while the server runs, and known to its readers.

use searchwright_contract::keywords::{KeywordSource, KeywordStatus};
use searchwright_store::{
    admin,
    keywords::{self, KeywordFacts, NewKeyword},
    sql,
};

use crate::harness::{id, now, on_sqlite};

#[test]
fn statistics_are_made_while_a_table_grows() {
    on_sqlite(async |place| {
        let store = place.store().await;
        let scope = store.project().await;
        let rows = (0..1_500)
            .map(|n| NewKeyword {
                id: id(),
                keyword: format!("row {n}"),
                normalized: format!("row {n}"),
                language: "en".to_owned(),
                country: String::new(),
                status: KeywordStatus::New,
                source: KeywordSource::Manual,
                facts: KeywordFacts::default(),
            })
            .collect();
        commit!(store.db, |tx| keywords::insert_new(tx, scope, rows, now()).await).unwrap();
        // The writer looks at the statistics after it has answered, and before this.
        commit!(store.db, |tx| admin::insert_meta(tx, "next", vec![1]).await).unwrap();
        let counted: String =
            sql("SELECT stat FROM sqlite_stat1 WHERE tbl = 'keywords' AND idx = 'keywords_by_status'")
                .fetch_one(&mut store.read().await, |c| c.take())
                .await
                .unwrap();
        assert!(
            counted.split(' ').next().unwrap().parse::<u32>().unwrap() >= 1_000,
            "{counted}"
        );
    });
}
