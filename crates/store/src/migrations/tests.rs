//! The mechanism, with migrations made up for the purpose: a second one meets a database with data.

use rusqlite::Connection;
use tokio_postgres::NoTls;

use super::{Migration, apply_postgres, apply_sqlite, find_pending, load_applied_sqlite, require_none};
use crate::error::{Error, Result};

const SERVER: &str = "SEARCHWRIGHT_TEST_POSTGRES";

const NOTES: Migration = Migration {
    number: 1,
    name: "0001_notes",
    sqlite: "CREATE TABLE notes (text TEXT NOT NULL) STRICT",
    postgres: "CREATE TABLE notes (text TEXT NOT NULL)",
};
const LENGTHS: Migration = Migration {
    number: 2,
    name: "0002_lengths",
    sqlite: "ALTER TABLE notes ADD COLUMN length INTEGER; UPDATE notes SET length = length(text)",
    postgres: "ALTER TABLE notes ADD COLUMN length INTEGER; UPDATE notes SET length = length(text)",
};
const BROKEN: Migration = Migration {
    number: 3,
    name: "0003_broken",
    sqlite: "CREATE TABLE lost (a TEXT) STRICT; INSERT INTO absent VALUES (1)",
    postgres: "CREATE TABLE lost (a TEXT); INSERT INTO absent VALUES (1)",
};

const FIRST: &[Migration] = &[NOTES];
const BOTH: &[Migration] = &[NOTES, LENGTHS];
const WITH_BROKEN: &[Migration] = &[NOTES, LENGTHS, BROKEN];

fn check_sqlite(migrations: &[Migration], connection: &Connection) -> Result<()> {
    let applied = load_applied_sqlite(connection)?;
    require_none(&find_pending(migrations, &applied, |m| m.sqlite)?)
}

/// Applies migrations, and returns their numbers and whether a way back was asked for first.
fn apply(migrations: &[Migration], connection: &mut Connection) -> (Vec<u32>, bool) {
    let mut asked = false;
    let ran = apply_sqlite(migrations, connection, || {
        asked = true;
        Ok(())
    });
    (ran.unwrap(), asked)
}

#[test]
fn later_migration_keeps_data_and_begins_with_a_way_back_on_sqlite() {
    let mut connection = Connection::open_in_memory().unwrap();
    assert_eq!(
        apply(FIRST, &mut connection),
        (vec![1], false),
        "nothing was there to go back to"
    );
    connection
        .execute("INSERT INTO notes VALUES ('fern')", [])
        .unwrap();

    let refused = check_sqlite(BOTH, &connection);
    assert!(
        matches!(&refused, Err(Error::Schema(why)) if why.contains("0002_lengths has not run")),
        "{refused:?}"
    );
    let full = apply_sqlite(BOTH, &mut connection, || Err(Error::Full));
    assert!(matches!(full, Err(Error::Full)));
    check_sqlite(FIRST, &connection).unwrap();
    assert_eq!(apply(BOTH, &mut connection), (vec![2], true));
    check_sqlite(BOTH, &connection).unwrap();
    let length: i64 = connection
        .query_row("SELECT length FROM notes", [], |r| r.get(0))
        .unwrap();
    assert_eq!(length, 4);
    assert_eq!(apply(BOTH, &mut connection), (Vec::new(), false));

    let refused = check_sqlite(FIRST, &connection);
    assert!(
        matches!(&refused, Err(Error::Schema(why)) if why.contains("newer than this program")),
        "{refused:?}"
    );
}

#[test]
fn failed_migration_changes_nothing_on_sqlite() {
    let mut connection = Connection::open_in_memory().unwrap();
    apply(FIRST, &mut connection);
    assert!(apply_sqlite(WITH_BROKEN, &mut connection, || Ok(())).is_err());
    check_sqlite(FIRST, &connection).unwrap();
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";
    let tables: i64 = connection.query_row(tables, [], |r| r.get(0)).unwrap();
    assert_eq!(tables, 2, "notes and schema_migrations");
}

/// Runs in a schema of its own, which is dropped afterwards.
#[tokio::test]
async fn later_migration_keeps_data_and_failed_one_changes_nothing_on_postgres() {
    let Some(url) = std::env::var(SERVER).ok().filter(|url| !url.is_empty()) else {
        let ci = std::env::var("CI").is_ok_and(|v| v == "true");
        assert!(
            !ci,
            "{SERVER} is not set, and in continuous integration nothing is skipped"
        );
        eprintln!("skipped: {SERVER} is not set");
        return;
    };
    let (mut client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let schema = format!("migrations_{}", std::process::id());
    let begin =
        format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}; SET search_path = {schema}");
    client.batch_execute(&begin).await.unwrap();
    assert_eq!(apply_postgres(FIRST, &mut client).await.unwrap(), [1]);
    client
        .execute("INSERT INTO notes VALUES ('fern')", &[])
        .await
        .unwrap();
    assert!(apply_postgres(WITH_BROKEN, &mut client).await.is_err());
    assert_eq!(
        apply_postgres(FIRST, &mut client).await.unwrap(),
        [] as [u32; 0],
        "neither of the two later ones is there"
    );
    assert_eq!(apply_postgres(BOTH, &mut client).await.unwrap(), [2]);
    let row = client.query_one("SELECT length FROM notes", &[]).await.unwrap();
    assert_eq!(row.get::<_, i32>(0), 4);
    client
        .batch_execute(&format!("DROP SCHEMA {schema} CASCADE"))
        .await
        .unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}
