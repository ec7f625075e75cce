//! Schema migrations: embedded, numbered, forward only, checksummed.
//!
//! Each migration is a pair of files of one name, `migrations/sqlite/` and `migrations/postgres/`. A migration that has been
//! released never changes: its checksum is stored when it runs, and a database whose checksums differ is refused. All pending
//! migrations run in one transaction, so that a failure leaves the schema as it was.

#[cfg(test)]
mod tests;

use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

struct Migration {
    number: u32,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! migrations {
    ($($number:literal $name:literal,)*) => {
        &[$(Migration {
            number: $number,
            name: $name,
            sqlite: include_str!(concat!("../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $name, ".sql")),
        },)*]
    };
}
const MIGRATIONS: &[Migration] = migrations! {
    1 "0001_schema",
};

const TABLE_SQLITE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT";
const TABLE_POSTGRES: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)";

/// A row of `schema_migrations`.
struct AppliedMigration {
    number: i64,
    checksum: String,
}

fn checksum(text: &str) -> String {
    Sha256::digest(text).iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns the migrations still to run; `text` selects the half of a database. Refuses a schema that is newer than
/// `migrations`, or was altered.
fn find_pending<'m>(
    migrations: &'m [Migration],
    applied: &[AppliedMigration],
    text: impl Fn(&Migration) -> &'static str,
) -> Result<Vec<&'m Migration>> {
    for AppliedMigration {
        number,
        checksum: sum,
    } in applied
    {
        let known = migrations.iter().find(|m| i64::from(m.number) == *number);
        match known {
            None => {
                return Err(Error::Schema(format!(
                    "the schema has migration {number}, which is newer than this program; update the program"
                )));
            }
            Some(m) if checksum(text(m)) != *sum => {
                return Err(Error::Schema(format!(
                    "migration {} is not the one that was applied; restore the program or the database",
                    m.name
                )));
            }
            Some(_) => {}
        }
    }
    let is_pending = |m: &&Migration| !applied.iter().any(|row| row.number == i64::from(m.number));
    Ok(migrations.iter().filter(is_pending).collect())
}

fn require_none(pending: &[&Migration]) -> Result<()> {
    match pending.first() {
        None => Ok(()),
        Some(first) => Err(Error::Schema(format!(
            "migration {} has not run; run `searchwright migrate`",
            first.name
        ))),
    }
}

fn load_applied_sqlite(connection: &Connection) -> Result<Vec<AppliedMigration>> {
    let exists: i64 = connection.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'",
        [],
        |r| r.get(0),
    )?;
    if exists == 0 {
        return Ok(Vec::new());
    }
    let mut statement =
        connection.prepare("SELECT number, checksum FROM schema_migrations ORDER BY number")?;
    let rows = statement.query_map([], |r| {
        Ok(AppliedMigration {
            number: r.get(0)?,
            checksum: r.get(1)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the statements of all migrations on PostgreSQL, in order.
pub(crate) fn postgres_texts() -> impl Iterator<Item = &'static str> {
    MIGRATIONS.iter().map(|migration| migration.postgres)
}

/// Returns the number of the last migration of this program.
pub(crate) fn newest() -> u32 {
    MIGRATIONS.last().map_or(0, |migration| migration.number)
}

/// Returns the number of the last migration of an SQLite database, 0 for none. Refuses a schema that is newer or was altered.
pub(crate) fn last_applied(connection: &Connection) -> Result<u32> {
    let applied = load_applied_sqlite(connection)?;
    find_pending(MIGRATIONS, &applied, |m| m.sqlite)?;
    let last = applied.iter().map(|row| row.number).max().unwrap_or(0);
    u32::try_from(last).map_err(Error::defect)
}

/// Returns [`Error::Schema`] unless the schema of an SQLite database is exactly this program's.
pub(crate) fn check_sqlite(connection: &Connection) -> Result<()> {
    require_none(&find_pending(
        MIGRATIONS,
        &load_applied_sqlite(connection)?,
        |m| m.sqlite,
    )?)
}

/// Runs the pending migrations on an SQLite database and returns their numbers; see [`crate::Db::migrate_with`].
pub(crate) fn run_sqlite(
    connection: &mut Connection,
    before: impl FnOnce() -> Result<()>,
) -> Result<Vec<u32>> {
    apply_sqlite(MIGRATIONS, connection, before)
}

/// Runs pending migrations. `before` is called first if the database has tables: migrations go forward only, and a copy of before is
/// the way back.
fn apply_sqlite(
    migrations: &[Migration],
    connection: &mut Connection,
    before: impl FnOnce() -> Result<()>,
) -> Result<Vec<u32>> {
    let applied = load_applied_sqlite(connection)?;
    if find_pending(migrations, &applied, |m| m.sqlite)?.is_empty() {
        return Ok(Vec::new());
    }
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_migrations'";
    let tables: i64 = connection.query_row(tables, [], |r| r.get(0))?;
    if tables > 0 {
        before()?;
    }
    let tx = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    tx.execute_batch(TABLE_SQLITE)?;
    let mut ran = Vec::new();
    // Looked up again under the write lock: another process may have migrated meanwhile.
    for migration in find_pending(migrations, &load_applied_sqlite(&tx)?, |m| m.sqlite)? {
        tx.execute_batch(migration.sqlite)?;
        tx.execute(
            "INSERT INTO schema_migrations (number, name, checksum) VALUES (?1, ?2, ?3)",
            (migration.number, migration.name, checksum(migration.sqlite)),
        )?;
        ran.push(migration.number);
    }
    tx.commit()?;
    Ok(ran)
}

async fn load_applied_postgres(client: &tokio_postgres::Client) -> Result<Vec<AppliedMigration>> {
    if client
        .query_one("SELECT to_regclass('schema_migrations')::text", &[])
        .await?
        .get::<_, Option<String>>(0)
        .is_none()
    {
        return Ok(Vec::new());
    }
    let rows = client
        .query(
            "SELECT number, checksum FROM schema_migrations ORDER BY number",
            &[],
        )
        .await?;
    let rows = rows.iter().map(|r| AppliedMigration {
        number: r.get(0),
        checksum: r.get(1),
    });
    Ok(rows.collect())
}

/// Returns [`Error::Schema`] unless the schema of a PostgreSQL database is exactly this program's.
pub(crate) async fn check_postgres(client: &tokio_postgres::Client) -> Result<()> {
    require_none(&find_pending(
        MIGRATIONS,
        &load_applied_postgres(client).await?,
        |m| m.postgres,
    )?)
}

/// Runs the pending migrations on a PostgreSQL database and returns their numbers.
pub(crate) async fn run_postgres(client: &mut tokio_postgres::Client) -> Result<Vec<u32>> {
    apply_postgres(MIGRATIONS, client).await
}

async fn apply_postgres(migrations: &[Migration], client: &mut tokio_postgres::Client) -> Result<Vec<u32>> {
    if find_pending(migrations, &load_applied_postgres(client).await?, |m| m.postgres)?.is_empty() {
        return Ok(Vec::new());
    }
    let tx = client.transaction().await?;
    // Replicas start together: one migrates, the others wait and find it done. Another process's
    // migration may take longer than the ordinary lock timeout.
    tx.batch_execute("SET LOCAL lock_timeout = '5min'; SET LOCAL statement_timeout = '10min'; SELECT pg_advisory_xact_lock(6004800142195184199)").await?;
    tx.batch_execute(TABLE_POSTGRES).await?;
    let mut ran = Vec::new();
    for migration in find_pending(migrations, &load_applied_postgres(tx.client()).await?, |m| {
        m.postgres
    })? {
        tx.batch_execute(migration.postgres).await?;
        tx.execute(
            "INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3)",
            &[
                &i64::from(migration.number),
                &migration.name,
                &checksum(migration.postgres),
            ],
        )
        .await?;
        ran.push(migration.number);
    }
    tx.commit().await?;
    Ok(ran)
}
