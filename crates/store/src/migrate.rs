//! Schema migrations: embedded, numbered, forward only, checksummed. The two folders hold files of
//! equal names; the statements differ only where the types do.

use std::path::Path;

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
    1 "0001_base",
    2 "0002_usage",
    3 "0003_brand",
    4 "0004_keywords",
    5 "0005_providers",
    6 "0006_posts",
    7 "0007_job_turns",
    8 "0008_writes_and_filters",
    9 "0009_targets",
    10 "0010_page_texts",
    11 "0011_suggestions",
    12 "0012_post_sources",
    13 "0013_keyword_orders",
    14 "0014_ledger",
    15 "0015_sketches",
    16 "0016_snapshots",
    17 "0017_audit_settings",
    18 "0018_page_links",
    19 "0019_webhooks",
    20 "0020_audit_figures",
    21 "0021_changed_occurrences",
    22 "0022_publishing",
    23 "0023_oauth_apps",
    24 "0024_kept_connections",
    25 "0025_page_names",
    26 "0026_crawl_validators",
    27 "0027_page_urls",
    28 "0028_occurrence_leaves",
    29 "0029_page_name_leaves",
    30 "0030_page_ranks",
    31 "0031_recheck_scope",
    32 "0032_robots_copies",
    33 "0033_normalization_version",
};

const TABLE_SQLITE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT";
const TABLE_POSTGRES: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)";

fn checksum(text: &str) -> String {
    Sha256::digest(text).iter().map(|b| format!("{b:02x}")).collect()
}

/// The migrations still to run. Refuses a schema that is newer than this program, or altered.
fn pending<'a>(
    applied: &[(i64, String)],
    text: impl Fn(&Migration) -> &'a str,
) -> Result<Vec<&'static Migration>> {
    for (number, sum) in applied {
        let known = MIGRATIONS.iter().find(|m| i64::from(m.number) == *number);
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
    Ok(MIGRATIONS
        .iter()
        .filter(|m| !applied.iter().any(|(n, _)| *n == i64::from(m.number)))
        .collect())
}

fn behind(pending: &[&Migration]) -> Result<()> {
    match pending.first() {
        None => Ok(()),
        Some(first) => Err(Error::Schema(format!(
            "migration {} has not run; run `searchwright migrate`",
            first.name
        ))),
    }
}

fn applied_sqlite(connection: &Connection) -> Result<Vec<(i64, String)>> {
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
    let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn check_sqlite(connection: &Connection) -> Result<()> {
    behind(&pending(&applied_sqlite(connection)?, |m| m.sqlite)?)
}

pub(crate) fn sqlite(connection: &mut Connection, path: &Path) -> Result<Vec<u32>> {
    let applied = applied_sqlite(connection)?;
    if pending(&applied, |m| m.sqlite)?.is_empty() {
        return Ok(Vec::new());
    }
    if !applied.is_empty() {
        // Forward only: the copy is the way back.
        let copy = path.with_extension(format!("before-{}.sqlite", MIGRATIONS.len()));
        if !copy.exists() {
            connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()])?;
        }
    }
    let tx = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    tx.execute_batch(TABLE_SQLITE)?;
    let mut ran = Vec::new();
    for migration in pending(&applied_sqlite(&tx)?, |m| m.sqlite)? {
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

async fn applied_postgres(client: &tokio_postgres::Client) -> Result<Vec<(i64, String)>> {
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
    Ok(rows.iter().map(|r| (r.get(0), r.get(1))).collect())
}

pub(crate) async fn check_postgres(client: &tokio_postgres::Client) -> Result<()> {
    behind(&pending(&applied_postgres(client).await?, |m| m.postgres)?)
}

pub(crate) async fn postgres(client: &mut tokio_postgres::Client) -> Result<Vec<u32>> {
    if pending(&applied_postgres(client).await?, |m| m.postgres)?.is_empty() {
        return Ok(Vec::new());
    }
    let tx = client.transaction().await?;
    // Replicas start together: one migrates, the others wait and find it done. Another process's
    // migration may take longer than the ordinary lock timeout.
    tx.batch_execute("SET LOCAL lock_timeout = '5min'; SET LOCAL statement_timeout = '10min'; SELECT pg_advisory_xact_lock(6004800142195184199)").await?;
    tx.batch_execute(TABLE_POSTGRES).await?;
    let mut ran = Vec::new();
    for migration in pending(&applied_postgres(tx.client()).await?, |m| m.postgres)? {
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
