//! Statements that take long: they hold up nobody, and end with their caller.

use std::time::Duration;

use searchwright_store::{Db, Result, sql};
use uuid::Uuid;

use crate::harness::{Place, on_postgres, on_sqlite};

on_both!(
    rows_come_once_however_long_it_takes,
    runs_of_one_statement_keep_their_rows_apart,
    long_reads_hold_up_nobody_and_end_with_their_callers,
);

/// More than the places of long reads, of one owner or of all.
const MANY: usize = 12;

/// A statement without an end.
async fn endless(db: Db, owner: Uuid) -> Result<i64> {
    sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT 1 - i FROM n) SELECT count(*) FROM n WHERE CAST($1 AS UUID) IS NOT NULL")
        .bind(owner)
        .fetch_one(&mut db.read().await?, |c| c.take())
        .await
}

/// A statement that takes longer than a moment.
async fn long(db: &Db, owner: Uuid) -> Result<i64> {
    sql(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
         SELECT count(*) FROM n WHERE CAST($1 AS UUID) IS NOT NULL",
    )
    .bind(owner)
    .fetch_one(&mut db.read().await?, |c| c.take())
    .await
}

async fn rows_come_once_however_long_it_takes(place: &Place) {
    let db = place.store().await.db;
    let rows = || {
        sql("WITH RECURSIVE n (i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 299999)
             SELECT i, CAST(i AS TEXT) FROM n WHERE i % 1000 = 0")
    };
    let expected: Vec<(i64, String)> = (0..300).map(|n| (n * 1000, (n * 1000).to_string())).collect();
    let mut tx = db.read().await.unwrap();
    let all = rows().fetch_all(&mut tx, |c| Ok((c.take()?, c.take()?))).await;
    assert_eq!(all.unwrap(), expected);
    let first = rows().fetch_one(&mut tx, |c| Ok((c.take()?, c.take()?))).await;
    assert_eq!(Some(&first.unwrap()), expected.first());
    let mut visited = Vec::new();
    rows()
        .for_each(&mut tx, |c| {
            visited.push((c.take()?, c.take()?));
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(visited, expected);
    // A row that cannot be read ends the statement, and the connection goes on.
    let bad = rows().fetch_all(&mut tx, |c| c.parse::<Uuid>()).await;
    assert!(bad.is_err(), "{bad:?}");
    let again = rows().fetch_all(&mut tx, |c| Ok((c.take()?, c.take()?))).await;
    assert_eq!(again.unwrap(), expected);
}

async fn runs_of_one_statement_keep_their_rows_apart(place: &Place) {
    let db = place.store().await.db;
    let runs = (0..40_i64).map(|n| vec![(n % 4).into()]).collect();
    let found = sql(
        "WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                     SELECT i FROM n WHERE i <= CAST($1 AS BIGINT) ORDER BY i",
    )
    .fetch_all_each(&mut db.read().await.unwrap(), runs, |c| c.take::<i64>())
    .await
    .unwrap();
    let expected: Vec<Vec<i64>> = (0..40).map(|n| (1..=n % 4).collect()).collect();
    assert_eq!(found, expected);
}

async fn long_reads_hold_up_nobody_and_end_with_their_callers(place: &Place) {
    let db = place.store().await.db;
    let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let callers: Vec<_> = (0..MANY)
        .map(|_| tokio::spawn(endless(db.clone(), one)))
        .collect();
    assert_eq!(
        long(&db, other).await.unwrap(),
        300_000,
        "another owner has a place"
    );
    for caller in callers {
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
    }
    assert_eq!(
        long(&db, one).await.unwrap(),
        300_000,
        "the places are free again"
    );
}

/// A runtime of one thread would stand still.
#[test]
fn a_long_read_leaves_the_thread_of_its_caller() {
    on_sqlite(async |place| {
        let db = place.store().await.db;
        let check = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let caller = tokio::spawn(endless(db.clone(), Uuid::nil()));
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                    let mut tx = db.read().await.unwrap();
                    let one = sql("SELECT 1").fetch_one(&mut tx, |c| c.take::<i64>());
                    assert_eq!(one.await.unwrap(), 1);
                }
                assert!(!caller.is_finished(), "it has no end");
                caller.abort();
                assert!(caller.await.unwrap_err().is_cancelled());
            });
        };
        tokio::task::spawn_blocking(check).await.unwrap();
    });
}

#[test]
fn a_statement_whose_caller_is_gone_is_cancelled() {
    on_postgres(async |place| {
        let db = place.store().await.db;
        let count = || async {
            sql("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%1 - i%'
                 AND pid <> pg_backend_pid()")
                .fetch_one(&mut db.read().await.unwrap(), |c| c.take::<i64>())
                .await
                .unwrap()
        };
        let caller = tokio::spawn(endless(db.clone(), Uuid::nil()));
        while count().await == 0 {
            assert!(!caller.is_finished(), "it has no end");
        }
        caller.abort();
        // It would go on for thirty seconds.
        let ended = async { while count().await > 0 {} };
        tokio::time::timeout(Duration::from_secs(10), ended)
            .await
            .unwrap();
    });
}
