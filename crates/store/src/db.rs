//! A database: embedded SQLite or PostgreSQL behind one interface.

use std::{path::PathBuf, sync::Arc};

use searchwright_contract::Clock;

use crate::{
    error::{Error, Result},
    jobs::LeaseTime,
    postgres::Postgres,
    sql,
    sqlite::Sqlite,
    transaction::{BoxFuture, Tx, TxConnection},
};

/// Location of a database.
#[derive(Clone, Debug)]
pub enum Settings {
    /// Embedded SQLite, one file.
    Sqlite(PathBuf),
    /// PostgreSQL 15 or later, `postgres://…`.
    Postgres {
        /// Connection URL.
        url: String,
        /// Maximum number of connections.
        connections: usize,
    },
}

/// A database, shared by everything in the process.
#[derive(Clone, Debug)]
pub struct Db {
    backend: Arc<Backend>,
}

#[derive(Debug)]
enum Backend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Db {
    /// Opens a database. Refuses one of another program or of an unsupported version; its schema is left to [`Db::migrate`].
    pub async fn open(settings: &Settings) -> Result<Self> {
        let backend = match settings {
            Settings::Sqlite(path) => Backend::Sqlite(Sqlite::open(path)?),
            Settings::Postgres { url, connections } => {
                Backend::Postgres(Postgres::open(url, *connections).await?)
            }
        };
        Ok(Self {
            backend: Arc::new(backend),
        })
    }

    /// Name of the backend: `sqlite` or `postgres`.
    pub fn name(&self) -> &'static str {
        match &*self.backend {
            Backend::Sqlite(_) => "sqlite",
            Backend::Postgres(_) => "postgres",
        }
    }

    /// Brings the schema up to date and returns the numbers of the migrations that ran.
    pub async fn migrate(&self) -> Result<Vec<u32>> {
        self.migrate_with(|| Ok(())).await
    }

    /// As [`Db::migrate`]. Before an embedded database that has tables is changed, `before` is called, and an error of it leaves the
    /// schema as it is.
    pub async fn migrate_with(&self, before: impl FnOnce() -> Result<()> + Send) -> Result<Vec<u32>> {
        match &*self.backend {
            Backend::Sqlite(db) => db.migrate(before),
            Backend::Postgres(db) => db.migrate().await,
        }
    }

    /// Returns [`Error::Schema`] unless the schema is exactly this program's.
    pub async fn check_schema(&self) -> Result<()> {
        match &*self.backend {
            Backend::Sqlite(db) => db.check_schema(),
            Backend::Postgres(db) => db.check_schema().await,
        }
    }

    /// Returns a connection for reading. On SQLite, a statement runs on the calling thread for a moment, and elsewhere if it needs longer.
    pub async fn read(&self) -> Result<Tx> {
        Ok(Tx {
            connection: match &*self.backend {
                Backend::Sqlite(db) => TxConnection::Sqlite(db.reader()?),
                Backend::Postgres(db) => TxConnection::Postgres(db.client().await?),
            },
        })
    }

    /// Returns a connection that sees the database as it is now, whatever is written meanwhile. It ends when it is dropped.
    pub async fn snapshot(&self) -> Result<Tx> {
        Ok(Tx {
            connection: match &*self.backend {
                Backend::Sqlite(db) => TxConnection::Sqlite(db.snapshot()?),
                Backend::Postgres(db) => TxConnection::Postgres(db.snapshot().await?),
            },
        })
    }

    /// Runs a write transaction and returns once it is durable. An error rolls all of it back.
    ///
    /// The work must await nothing but the store: on SQLite it runs on the writer's thread, and shares
    /// its commit with other transactions.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T, E>> + Send + 'static,
    {
        match &*self.backend {
            Backend::Sqlite(db) => db.write(work).await,
            Backend::Postgres(db) => {
                let mut tx = Tx {
                    connection: TxConnection::Postgres(db.begin().await?),
                };
                let done = work(&mut tx).await;
                if let TxConnection::Postgres(client) = tx.connection {
                    client.end(done.is_ok()).await?;
                }
                done
            }
        }
    }

    /// Returns the time by which leases count: of the database where processes of several machines share it.
    pub async fn lease_time(&self, clock: &Clock) -> Result<LeaseTime> {
        match &*self.backend {
            Backend::Postgres(_) if !clock.is_fixed() => {
                let mut tx = self.read().await?;
                let now = sql("SELECT clock_timestamp()").fetch_one(&mut tx, |c| c.take());
                Ok(LeaseTime(now.await?))
            }
            _ => Ok(LeaseTime(clock.steady())),
        }
    }

    /// Returns an error unless the database accepts writes now.
    pub async fn ready(&self) -> Result<()> {
        match &*self.backend {
            Backend::Sqlite(db) => db.ready(),
            Backend::Postgres(db) => db.ready().await,
        }
    }

    /// Keeps space on the disk of an embedded database, and refuses writes rather than to use it up. For servers; commands of the
    /// operator may use it.
    pub fn keep_reserve(&self) {
        if let Backend::Sqlite(db) = &*self.backend {
            db.keep_reserve();
        }
    }

    /// Ends once it is unknown what of a commit is on the disk. All writes fail from then on, and only another process can tell.
    pub async fn until_broken(&self) {
        match &*self.backend {
            Backend::Sqlite(db) => db.until_broken().await,
            Backend::Postgres(_) => std::future::pending().await,
        }
    }

    /// Number of changes of credentials that any process on this database has announced. As long as it stays the same, a cached
    /// credential is still valid. `None` while announcements are not heard: nothing may be cached then.
    pub fn credential_generation(&self) -> Option<u64> {
        match &*self.backend {
            Backend::Sqlite(db) => Some(db.credential_generation()),
            Backend::Postgres(db) => db.credential_generation(),
        }
    }

    /// Announces that keys, tokens or people have changed. To be called after the change is committed.
    pub async fn credentials_changed(&self) -> Result<()> {
        match &*self.backend {
            Backend::Sqlite(db) => {
                db.credentials_changed();
                Ok(())
            }
            Backend::Postgres(db) => {
                db.credentials_changed().await;
                Ok(())
            }
        }
    }

    /// Shuts down: waits for running transactions and copies the write-ahead log into the database.
    pub async fn close(&self) {
        match &*self.backend {
            Backend::Sqlite(db) => db.close(),
            Backend::Postgres(db) => db.close(),
        }
    }
}
