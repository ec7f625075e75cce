//! The schema: created once however many processes start, and refused when it is not that of the program.

use std::collections::BTreeSet;

use searchwright_store::{Db, Error, Settings, sql};

use crate::harness::Place;

on_both!(
    empty_database_is_migrated_once,
    concurrent_starts_run_each_migration_once,
    schema_newer_than_the_program_is_refused,
    altered_migration_is_refused,
);

/// Numbers of all migrations, from the names of their files.
fn all_numbers() -> Vec<u32> {
    let names = |folder: &str| -> BTreeSet<String> {
        let path = format!("{}/migrations/{folder}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    let sqlite = names("sqlite");
    assert_eq!(
        sqlite,
        names("postgres"),
        "both folders hold files of the same names"
    );
    sqlite
        .iter()
        .map(|name| name.split_once('_').unwrap().0.parse().unwrap())
        .collect()
}

async fn empty_database_is_migrated_once(place: &Place) {
    let db = place.open().await;
    let refused = db.check_schema().await;
    assert!(
        matches!(&refused, Err(Error::Schema(why)) if why.contains("has not run")),
        "{refused:?}"
    );
    assert_eq!(db.migrate().await.unwrap(), all_numbers());
    db.check_schema().await.unwrap();
    assert_eq!(db.migrate().await.unwrap(), [] as [u32; 0]);
    db.ready().await.unwrap();
}

async fn concurrent_starts_run_each_migration_once(place: &Place) {
    let start = std::sync::Arc::new(tokio::sync::Barrier::new(4));
    let starting: Vec<_> = (0..4)
        .map(|_| {
            let (settings, start) = (place.settings.clone(), start.clone());
            tokio::spawn(async move {
                start.wait().await;
                let db = Db::open(&settings).await.unwrap();
                let ran = db.migrate().await.unwrap();
                db.check_schema().await.unwrap();
                ran
            })
        })
        .collect();
    let mut ran = Vec::new();
    for one in starting {
        ran.extend(one.await.unwrap());
    }
    assert_eq!(ran, all_numbers(), "each migration ran once");
}

async fn schema_newer_than_the_program_is_refused(place: &Place) {
    let db = place.store().await.db;
    commit!(db, |tx| sql(
        "INSERT INTO schema_migrations (number, name, checksum) VALUES (9999, '9999_future', 'x')"
    )
    .execute(tx)
    .await)
    .unwrap();
    assert_refused(place, "9999").await;
}

async fn altered_migration_is_refused(place: &Place) {
    let db = place.store().await.db;
    commit!(db, |tx| sql(
        "UPDATE schema_migrations SET checksum = 'x' WHERE number = 1"
    )
    .execute(tx)
    .await)
    .unwrap();
    assert_refused(place, "0001_schema").await;
}

/// Asserts that another start refuses the schema and names the migration.
async fn assert_refused(place: &Place, name: &str) {
    let db = place.open().await;
    for refused in [db.migrate().await.map(drop), db.check_schema().await] {
        assert!(
            matches!(&refused, Err(Error::Schema(why)) if why.contains(name)),
            "{refused:?}"
        );
    }
}

/// Only SQLite: a PostgreSQL database has no owner.
#[tokio::test]
async fn database_of_another_program_is_refused() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("other.sqlite");
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('mine')")
        .unwrap();
    let refused = Db::open(&Settings::Sqlite(path.clone())).await;
    assert!(
        matches!(&refused, Err(Error::Schema(why)) if why.contains("another program")),
        "{refused:?}"
    );
    other
        .execute_batch("DROP TABLE notes; PRAGMA application_id = 7")
        .unwrap();
    assert!(matches!(
        Db::open(&Settings::Sqlite(path)).await,
        Err(Error::Schema(_))
    ));
}
