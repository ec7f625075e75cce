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

#[test]
fn later_migration_keeps_data_and_a_copy_on_sqlite() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut connection = Connection::open(&path).unwrap();
    assert_eq!(apply_sqlite(FIRST, &mut connection, &path).unwrap(), [1]);
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files(), 1, "an empty database is not copied");
    connection
        .execute("INSERT INTO notes VALUES ('fern')", [])
        .unwrap();

    let refused = check_sqlite(BOTH, &connection);
    assert!(
        matches!(&refused, Err(Error::Schema(why)) if why.contains("0002_lengths has not run")),
        "{refused:?}"
    );
    assert_eq!(apply_sqlite(BOTH, &mut connection, &path).unwrap(), [2]);
    check_sqlite(BOTH, &connection).unwrap();
    let length = |c: &Connection| c.query_row("SELECT length FROM notes", [], |r| r.get::<_, i64>(0));
    assert_eq!(length(&connection).unwrap(), 4);
    assert_eq!(
        apply_sqlite(BOTH, &mut connection, &path).unwrap(),
        [] as [u32; 0]
    );

    let copy = Connection::open(folder.path().join("store.before-2.sqlite")).unwrap();
    check_sqlite(FIRST, &copy).unwrap();
    let text: String = copy
        .query_row("SELECT text FROM notes", [], |r| r.get(0))
        .unwrap();
    assert_eq!(text, "fern");
    assert!(length(&copy).is_err(), "the copy is of before");

    let refused = check_sqlite(FIRST, &connection);
    assert!(
        matches!(&refused, Err(Error::Schema(why)) if why.contains("newer than this program")),
        "{refused:?}"
    );
}

#[test]
fn failed_migration_changes_nothing_on_sqlite() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut connection = Connection::open(&path).unwrap();
    apply_sqlite(FIRST, &mut connection, &path).unwrap();
    assert!(apply_sqlite(WITH_BROKEN, &mut connection, &path).is_err());
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
