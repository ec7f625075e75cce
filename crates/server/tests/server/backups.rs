//! Backups by time: one a day, never two at once, and a failure that people learn of.

use std::{path::Path, sync::Arc};

use searchwright_contract::Clock;
use searchwright_server::{Settings, doctor};
use tempfile::TempDir;

use crate::harness::{Bench, now, settings};

const HOUR: i64 = 3_600_000;

/// A server whose backups go to this folder.
async fn start(folder: &Arc<TempDir>, clock: &Clock, set: &[&str]) -> (Bench, Settings) {
    let set = [&["backups.every_hours=24", "backups.keep=2"], set].concat();
    let settings = settings(folder, "", &set);
    let bench = Bench::open(folder.clone(), settings.clone(), clock.clone()).await;
    bench.server.app.back_up_if_due().await;
    (bench, settings)
}

fn backups(folder: &Path) -> Vec<String> {
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("searchwright-"))
        .collect();
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_made_at_the_start_and_then_each_day() {
    let (folder, clock) = (Arc::new(TempDir::new().unwrap()), Clock::fixed(now()));
    let (bench, settings) = start(&folder, &clock, &[]).await;
    let place = folder.path().join("backups");
    assert_eq!(backups(&place), ["searchwright-20261121T100000Z"]);
    let metrics = bench.server.app.metrics.text();
    assert!(
        metrics.contains("searchwright_backup_last_success_timestamp_seconds 1795255200\n"),
        "{metrics}"
    );
    assert!(metrics.contains("searchwright_backup_failures_total 0\n"));
    let app = bench.server.app.clone();
    clock.advance(23 * HOUR);
    app.back_up_if_due().await;
    assert_eq!(backups(&place).len(), 1);
    // a restart is no reason for another
    bench.server.stop().await;
    let (bench, _) = start(&folder, &clock, &[]).await;
    assert_eq!(backups(&place).len(), 1);
    clock.advance(HOUR);
    let app = bench.server.app.clone();
    tokio::join!(app.back_up_if_due(), app.back_up_if_due());
    assert_eq!(backups(&place).len(), 2, "two at once are one");
    clock.advance(24 * HOUR);
    app.back_up_if_due().await;
    assert_eq!(
        backups(&place),
        ["searchwright-20261122T100000Z", "searchwright-20261123T100000Z"],
        "the oldest goes"
    );
    let looked = doctor::examine(&settings).await;
    let finding = looked.iter().find(|finding| finding.check == "backups").unwrap();
    assert!(finding.detail.contains("20261123T100000Z"), "{finding:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_fails_is_told_once_until_one_is_made() {
    let (folder, clock) = (Arc::new(TempDir::new().unwrap()), Clock::fixed(now()));
    std::fs::write(folder.path().join("taken"), "a file").unwrap();
    let (bench, settings) = start(&folder, &clock, &["backups.folder=taken/backups"]).await;
    let app = bench.server.app.clone();
    let failures = |count: u32| {
        let line = format!("searchwright_backup_failures_total {count}\n");
        assert!(app.metrics.text().contains(&line), "{line}");
    };
    failures(1);
    app.back_up_if_due().await;
    failures(1);
    // The project came after the first attempt, which nobody could be told of.
    clock.advance(HOUR);
    app.back_up_if_due().await;
    failures(2);
    clock.advance(HOUR);
    app.back_up_if_due().await;
    failures(3);
    let standing = || async {
        let mut tx = app.engine.db.read().await.unwrap();
        searchwright_store::sql("SELECT kind FROM notices WHERE ended_at IS NULL")
            .fetch_all(&mut tx, |c| c.take::<String>())
            .await
            .unwrap()
    };
    assert_eq!(standing().await, ["backup_failed"]);
    let found = doctor::examine(&settings).await;
    let finding = found.iter().find(|finding| finding.check == "backups").unwrap();
    assert!(
        !finding.ok && finding.fix.as_deref().unwrap().contains("backups.folder"),
        "{finding:?}"
    );
    std::fs::remove_file(folder.path().join("taken")).unwrap();
    clock.advance(HOUR);
    app.back_up_if_due().await;
    assert_eq!(standing().await, [] as [String; 0]);
    assert_eq!(backups(&folder.path().join("taken/backups")).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_begins_with_a_backup_and_one_that_fails_changes_nothing() {
    let folder = Arc::new(TempDir::new().unwrap());
    let path = folder.path().join("searchwright.sqlite");
    // as an older program left it: tables, and fewer migrations than this program has
    let older = rusqlite::Connection::open(&path).unwrap();
    older
        .execute_batch(
            "PRAGMA application_id = 1398231623; CREATE TABLE meta (old TEXT) STRICT;
             INSERT INTO meta VALUES ('fern')",
        )
        .unwrap();
    let opened = searchwright_server::open::open(&settings(&folder, "", &[])).await;
    assert!(opened.is_err(), "the table is there already");
    let left: String = older
        .query_row("SELECT old FROM meta", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, "fern");
    let made = backups(&folder.path().join("backups"));
    let copy = folder
        .path()
        .join("backups")
        .join(&made[0])
        .join("searchwright.sqlite");
    let copied: String = rusqlite::Connection::open(copy)
        .unwrap()
        .query_row("SELECT old FROM meta", [], |row| row.get(0))
        .unwrap();
    assert_eq!((made.len(), copied.as_str()), (1, "fern"));
    // where no backup can be made, nothing is migrated
    let blocked = settings(&folder, "", &["backups.folder=searchwright.sqlite/backups"]);
    let error = searchwright_server::open::open(&blocked)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("no backup could be made before"), "{error}");
}
