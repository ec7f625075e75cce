//! Figures of what a server holds at one moment, on both databases.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
use rusqlite::{Connection, OpenFlags};
use searchwright_contract::Clock;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

use crate::{memory, product::Database};

/// Figures of one moment, in the order of [`HELD`].
pub(super) type Sampled = [f64; 7];

/// Name of the figure of the log, which PostgreSQL keeps as long as it is set to.
pub(super) const LOG: &str = "write-ahead log";

/// Name, unit, and the increase in the whole time that is no growth, whatever a tenth of the figure is; none is asked of the last.
pub(super) const HELD: [(&str, &str, Option<f64>); 7] = [
    ("resident memory", "MB", Some(10.0)),
    ("open files without sockets", "", Some(10.0)),
    ("threads", "", Some(4.0)),
    (LOG, "MB", Some(8.0)),
    ("age of the oldest due job", "s", Some(2.0)),
    ("age of the oldest due delivery", "s", Some(2.0)),
    ("database", "MB", None),
];

/// Age in seconds of the oldest of each kind that is due.
const SQLITE_DUE: [&str; 2] = [
    "SELECT min(run_after) FROM jobs WHERE status = 'queued'",
    "SELECT min(next_at) FROM deliveries WHERE status = 'pending'",
];
/// The same, then the sizes of log and database in bytes.
const POSTGRES: &str = "SELECT \
    (SELECT extract(epoch FROM clock_timestamp() - min(run_after))::float8 FROM jobs WHERE status = 'queued'), \
    (SELECT extract(epoch FROM clock_timestamp() - min(next_at))::float8 FROM deliveries WHERE status = 'pending'), \
    (SELECT sum(size)::float8 FROM pg_ls_waldir()), \
    pg_database_size(current_database())::float8";

/// Takes the figures of a server.
pub(super) struct Meter {
    server: u32,
    store: Store,
}

enum Store {
    Sqlite { connection: Connection, file: PathBuf },
    Postgres { runtime: Runtime, client: Client },
}

impl Meter {
    /// Opens a connection of its own to the database.
    pub(super) fn new(server: u32, folder: &Path, database: &Database) -> Result<Self> {
        let store = match database {
            Database::Folder => {
                let file = folder.join("data/searchwright.sqlite");
                let connection = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
                Store::Sqlite { connection, file }
            }
            Database::Postgres(url) => {
                let runtime = Builder::new_multi_thread()
                    .worker_threads(1)
                    .enable_all()
                    .build()?;
                let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
                drop(runtime.spawn(connection));
                Store::Postgres { runtime, client }
            }
        };
        Ok(Self { server, store })
    }

    pub(super) fn sample(&self) -> Result<Sampled> {
        let process = format!("/proc/{}", self.server);
        let threads = fs::read_dir(format!("{process}/task"))?.count();
        // those of clients come and go with their number
        let files = fs::read_dir(format!("{process}/fd"))?
            .flatten()
            .filter_map(|entry| fs::read_link(entry.path()).ok())
            .filter(|target| !target.to_string_lossy().starts_with("socket:"))
            .count();
        let ([job, delivery], [log, database]) = match &self.store {
            Store::Sqlite { connection, file } => sample_sqlite(connection, file)?,
            Store::Postgres { runtime, client } => {
                let row = runtime.block_on(client.query_one(POSTGRES, &[]))?;
                let age = |column: usize| {
                    anyhow::Ok(row.try_get::<_, Option<f64>>(column)?.unwrap_or(0.0).max(0.0))
                };
                let size = |column: usize| anyhow::Ok(row.try_get::<_, f64>(column)? / 1e6);
                ([age(0)?, age(1)?], [size(2)?, size(3)?])
            }
        };
        let resident = memory::resident(self.server)?;
        Ok([
            resident,
            files as f64,
            threads as f64,
            log,
            job,
            delivery,
            database,
        ])
    }
}

/// Ages in seconds, then sizes in MB.
fn sample_sqlite(connection: &Connection, file: &Path) -> Result<([f64; 2], [f64; 2])> {
    let mut ages = [0.0; 2];
    for (age, text) in ages.iter_mut().zip(SQLITE_DUE) {
        let due: Option<String> = connection.query_row(text, [], |row| row.get(0))?;
        if let Some(due) = due {
            let due: searchwright_contract::Instant = due.parse().map_err(anyhow::Error::msg)?;
            *age = (Clock::system().now().millis() - due.millis()).max(0) as f64 / 1e3;
        }
    }
    let size = |file: &Path| fs::metadata(file).map_or(0, |file| file.len()) as f64 / 1e6;
    Ok((ages, [size(&file.with_extension("sqlite-wal")), size(file)]))
}
