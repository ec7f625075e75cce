//! Write transactions: grouped, each whole or absent, with bounded waiting.

use std::sync::mpsc;

use futures_util::{FutureExt as _, future::join_all};
use searchwright_store::{BoxFuture, Db, Error, Result, Settings, Tx, admin, sql};

use crate::harness::{Place, now, on_postgres, on_sqlite};

on_both!(
    failed_transaction_does_not_affect_its_group,
    error_rolls_everything_back,
    panic_rolls_everything_back,
    a_failed_statement_is_not_committed,
    readers_see_only_what_is_committed,
);

/// Inserts a row; refused if it exists.
async fn insert_row(tx: &mut Tx, name: String) -> Result<()> {
    sql("INSERT INTO meta (name, value) VALUES ($1, $2)")
        .bind(name)
        .bind(b"x".as_slice())
        .execute(tx)
        .await?;
    Ok(())
}

async fn names(db: &Db) -> Vec<String> {
    let mut tx = db.read().await.unwrap();
    let mut names = sql("SELECT name FROM meta")
        .fetch_all(&mut tx, |c| c.take::<String>())
        .await
        .unwrap();
    names.sort();
    names
}

async fn failed_transaction_does_not_affect_its_group(place: &Place) {
    let db = place.store().await.db;
    commit!(db, |tx| insert_row(tx, "taken".to_owned()).await).unwrap();
    let outcomes = join_all((0..64).map(|n| {
        let db = db.clone();
        tokio::spawn(async move {
            commit!(db, |tx| {
                insert_row(tx, format!("row-{n:02}")).await?;
                match n % 8 {
                    3 => insert_row(tx, "taken".to_owned()).await,
                    5 => Err(Error::Missing),
                    _ => Ok(()),
                }
            })
        })
    }))
    .await;
    let mut expected = vec!["taken".to_owned()];
    for (n, outcome) in outcomes.into_iter().enumerate() {
        match (n % 8, outcome.unwrap()) {
            (3, Err(Error::Duplicate(_))) | (5, Err(Error::Missing)) => {}
            (3 | 5, other) => panic!("{n}: {other:?}"),
            (_, done) => {
                done.unwrap();
                expected.push(format!("row-{n:02}"));
            }
        }
    }
    expected.sort();
    assert_eq!(names(&db).await, expected);
}

async fn error_rolls_everything_back(place: &Place) {
    let db = place.store().await.db;
    let refused: Result<()> = commit!(db, |tx| {
        insert_row(tx, "one".to_owned()).await?;
        insert_row(tx, "two".to_owned()).await?;
        Err(Error::Missing)
    });
    assert!(matches!(refused, Err(Error::Missing)));
    assert_eq!(names(&db).await, [] as [&str; 0]);
}

async fn panic_rolls_everything_back(place: &Place) {
    let db = place.store().await.db;
    let panicking = {
        let db = db.clone();
        tokio::spawn(async move {
            let done: Result<()> = commit!(db, |tx| {
                insert_row(tx, "one".to_owned()).await?;
                panic!("a defect in a handler")
            });
            done
        })
    };
    let others = join_all((0..8).map(|n| {
        let db = db.clone();
        tokio::spawn(async move { commit!(db, |tx| insert_row(tx, format!("row-{n}")).await) })
    }))
    .await;
    // SQLite's writer thread has to survive; on PostgreSQL the work runs in the caller's own task.
    let outcome = panicking.await;
    assert!(
        matches!(&outcome, Ok(Err(Error::Defect(_))) | Err(_)),
        "{outcome:?}"
    );
    assert!(others.into_iter().all(|o| matches!(o, Ok(Ok(())))));
    commit!(db, |tx| insert_row(tx, "row-8".to_owned()).await).unwrap();
    assert_eq!(
        names(&db).await,
        (0..9).map(|n| format!("row-{n}")).collect::<Vec<_>>()
    );
}

/// PostgreSQL silently turns the COMMIT of a transaction in which a statement failed into a ROLLBACK. A caller
/// that ignores the error must not be told that the rest is durable.
async fn a_failed_statement_is_not_committed(place: &Place) {
    let db = place.store().await.db;
    commit!(db, |tx| insert_row(tx, "taken".to_owned()).await).unwrap();
    let done: Result<()> = commit!(db, |tx| {
        insert_row(tx, "kept".to_owned()).await?;
        drop(insert_row(tx, "taken".to_owned()).await);
        Ok(())
    });
    let kept = names(&db).await.contains(&"kept".to_owned());
    assert_eq!(done.is_ok(), kept, "{done:?}");
}

async fn readers_see_only_what_is_committed(place: &Place) {
    let db = place.store().await.db;
    let reader = db.clone();
    let seen = commit!(db, |tx| {
        insert_row(tx, "one".to_owned()).await?;
        // On SQLite a write must wait for nothing but the store, so the other reader is asked in place.
        Ok::<_, Error>(names(&reader).now_or_never())
    })
    .unwrap();
    assert!(seen.is_none_or(|names| names.is_empty()));
    assert_eq!(names(&db).await, ["one"]);
}

type Work = for<'a> fn(&'a mut Tx) -> BoxFuture<'a, Result<()>>;

#[test]
fn a_full_queue_refuses_at_once() {
    on_sqlite(async |place| {
        let db = place.store().await.db;
        let (started, wait_started) = mpsc::channel();
        let (release, wait_release) = mpsc::channel::<()>();
        let mut blocking = Box::pin(db.write(move |_: &mut Tx| {
            started.send(()).unwrap();
            wait_release.recv().unwrap();
            Box::pin(async { Ok::<_, Error>(()) })
        }));
        assert!((&mut blocking).now_or_never().is_none());
        wait_started.recv().unwrap();
        let work: Work = |_| Box::pin(async { Ok(()) });
        let mut waiting: Vec<_> = (0..1024).map(|_| Box::pin(db.write(work))).collect();
        for one in &mut waiting {
            assert!(one.now_or_never().is_none());
        }
        let refused = db.write(work).now_or_never();
        assert!(matches!(refused, Some(Err(Error::Overloaded))), "{refused:?}");
        release.send(()).unwrap();
        blocking.await.unwrap();
        for one in join_all(waiting).await {
            one.unwrap();
        }
        commit!(db, |tx| insert_row(tx, "after".to_owned()).await).unwrap();
    });
}

#[test]
fn a_write_must_not_wait_for_anything_else() {
    on_sqlite(async |place| {
        let db = place.store().await.db;
        let refused: Result<()> = commit!(db, |tx| {
            insert_row(tx, "one".to_owned()).await?;
            std::future::pending::<()>().await;
            Ok(())
        });
        assert!(matches!(refused, Err(Error::Defect(_))), "{refused:?}");
        assert_eq!(names(&db).await, [] as [&str; 0]);
    });
}

#[test]
fn a_full_disk_refuses_writes_and_goes_on_reading() {
    on_sqlite(async |place| {
        let db = place.store().await.db;
        commit!(db, |tx| insert_row(tx, "one".to_owned()).await).unwrap();
        let pages = commit!(db, |tx| sql("PRAGMA page_count")
            .fetch_one(tx, |c| c.take::<i64>())
            .await)
        .unwrap();
        // The limit is the connection's: nothing but the writer feels it.
        let limited: i64 = commit!(db, |tx| sql("PRAGMA max_page_count = 1")
            .fetch_one(tx, |c| c.take())
            .await)
        .unwrap();
        assert_eq!(limited, pages);
        let large = |name: &'static str| {
            let db = db.clone();
            async move { commit!(db, |tx| admin::insert_meta(tx, name, vec![1; 1 << 20]).await) }
        };
        let refused = large("large").await;
        assert!(matches!(refused, Err(Error::Full)), "{refused:?}");
        assert_eq!(names(&db).await, ["one"]);
        let unlimited: i64 = commit!(db, |tx| sql("PRAGMA max_page_count = 1000000")
            .fetch_one(tx, |c| c.take())
            .await)
        .unwrap();
        assert_eq!(unlimited, 1_000_000);
        large("large").await.unwrap();
        assert_eq!(names(&db).await, ["large", "one"]);
        db.ready().await.unwrap();
    });
}

/// A full disk fails the whole commit with all its transactions. A write that was reported as done must be
/// found, and one that was reported as failed must not.
#[test]
fn full_disk_reports_the_truth_to_the_group() {
    on_sqlite(async |place| {
        let db = place.store().await.db;
        commit!(db, |tx| sql("PRAGMA max_page_count = 1")
            .fetch_one(tx, |c| c.take::<i64>())
            .await)
        .unwrap();
        let (started, wait_started) = mpsc::channel();
        let (release, wait_release) = mpsc::channel::<()>();
        let mut first = Box::pin(db.write(move |_: &mut Tx| {
            started.send(()).unwrap();
            wait_release.recv().unwrap();
            Box::pin(async { Ok::<_, Error>(()) })
        }));
        assert!((&mut first).now_or_never().is_none());
        wait_started.recv().unwrap();
        // All of them are waiting when the first ends, so they share its commit.
        let mut waiting: Vec<_> = (0..6)
            .map(|n| {
                Box::pin(db.write(move |tx: &mut Tx| {
                    Box::pin(async move {
                        let size = if n == 3 { 1 << 20 } else { 1 };
                        admin::insert_meta(tx, &format!("row-{n}"), vec![1; size]).await
                    })
                }))
            })
            .collect();
        for one in &mut waiting {
            assert!(one.now_or_never().is_none());
        }
        release.send(()).unwrap();
        let first = first.await;
        let outcomes = join_all(waiting).await;
        let there = names(&db).await;
        assert!(matches!(outcomes[3], Err(Error::Full)), "{:?}", outcomes[3]);
        assert!(matches!(first, Ok(()) | Err(Error::Overloaded)), "{first:?}");
        for (n, outcome) in outcomes.iter().enumerate() {
            let found = there.contains(&format!("row-{n}"));
            assert_eq!(outcome.is_ok(), found, "row-{n}: {outcome:?}");
        }
    });
}

#[test]
fn a_dropped_write_leaves_no_transaction_open() {
    on_postgres(async |place| {
        let Settings::Postgres { url, .. } = &place.settings else {
            unreachable!()
        };
        place.store().await;
        let one = Settings::Postgres {
            url: url.clone(),
            connections: 1,
        };
        let db = Db::open(&one).await.unwrap();
        let (inserted, wait_inserted) = tokio::sync::oneshot::channel();
        let dropped = db.write(move |tx: &mut Tx| {
            Box::pin(async move {
                insert_row(tx, "one".to_owned()).await?;
                inserted.send(()).unwrap();
                std::future::pending::<Result<()>>().await
            })
        });
        tokio::select! {
            _ = dropped => panic!("the write has no end"),
            _ = wait_inserted => {}
        }
        // The pool has one place: what comes next would find the transaction, or would wait for ever.
        commit!(db, |tx| insert_row(tx, "two".to_owned()).await).unwrap();
        assert_eq!(names(&db).await, ["two"]);
        let open: i64 = sql("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction' AND pid <> pg_backend_pid() AND xact_start < now() - interval '5 seconds'")
            .fetch_one(&mut db.read().await.unwrap(), |c| c.take())
            .await
            .unwrap();
        assert_eq!(open, 0);
    });
}

#[test]
fn a_pool_without_a_free_place_refuses_in_time() {
    on_postgres(async |place| {
        let Settings::Postgres { url, .. } = &place.settings else {
            unreachable!()
        };
        place.store().await;
        let one = Settings::Postgres {
            url: url.clone(),
            connections: 1,
        };
        let db = Db::open(&one).await.unwrap();
        let held = db.read().await.unwrap();
        let refused = commit!(db, |tx| insert_row(tx, "one".to_owned()).await);
        assert!(matches!(refused, Err(Error::Overloaded)), "{refused:?}");
        drop(held);
        commit!(db, |tx| admin::revoke_keys_by_name(
            tx,
            crate::harness::id(),
            "none",
            now()
        )
        .await)
        .unwrap();
    });
}
