//! The two databases behind one face.

use std::{future::Future, path::PathBuf, pin::Pin, sync::Arc};

use crate::{
    error::{Error, Result},
    postgres::{Client, Postgres},
    sqlite::{Reader, Sqlite},
};

/// A future that borrows its transaction.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where to remember.
#[derive(Clone, Debug)]
pub enum Settings {
    /// Embedded SQLite, one file.
    Sqlite(PathBuf),
    /// PostgreSQL 15 or later, `postgres://…`.
    Postgres {
        /// Connection URL.
        url: String,
        /// Most connections.
        connections: usize,
    },
}

/// A database, shared by everything in the process.
#[derive(Clone, Debug)]
pub struct Db {
    kind: Arc<Kind>,
}

#[derive(Debug)]
enum Kind {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// A transaction, or a connection to read from.
#[derive(Debug)]
pub struct Tx {
    pub(crate) on: On,
}

#[derive(Debug)]
pub(crate) enum On {
    Sqlite(Reader),
    Postgres(Client),
}

impl Db {
    /// Opens the database. Refuses one that the program must not use; see [`Db::migrate`] for its schema.
    pub async fn open(settings: &Settings) -> Result<Self> {
        let kind = match settings {
            Settings::Sqlite(path) => Kind::Sqlite(Sqlite::open(path)?),
            Settings::Postgres { url, connections } => {
                Kind::Postgres(Postgres::open(url, *connections).await?)
            }
        };
        Ok(Self { kind: Arc::new(kind) })
    }

    /// `sqlite` or `postgres`.
    pub fn name(&self) -> &'static str {
        match &*self.kind {
            Kind::Sqlite(_) => "sqlite",
            Kind::Postgres(_) => "postgres",
        }
    }

    /// Brings the schema up to date; the numbers of the migrations that ran.
    pub async fn migrate(&self) -> Result<Vec<u32>> {
        match &*self.kind {
            Kind::Sqlite(db) => db.migrate(),
            Kind::Postgres(db) => db.migrate().await,
        }
    }

    /// [`Error::Schema`] unless the schema is exactly this program's.
    pub async fn check_schema(&self) -> Result<()> {
        match &*self.kind {
            Kind::Sqlite(db) => db.check_schema(),
            Kind::Postgres(db) => db.check_schema().await,
        }
    }

    /// A connection for reading: short reads run in place, without a thread hop on SQLite.
    pub async fn read(&self) -> Result<Tx> {
        Ok(Tx {
            on: match &*self.kind {
                Kind::Sqlite(db) => On::Sqlite(db.reader()?),
                Kind::Postgres(db) => On::Postgres(db.client().await?),
            },
        })
    }

    /// Runs a write transaction and answers once it is durable. An error rolls back all of it.
    ///
    /// The work must await nothing but the store: on SQLite it runs on the writer's thread, together
    /// with others in one commit.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx) -> Boxed<'a, Result<T, E>> + Send + 'static,
    {
        match &*self.kind {
            Kind::Sqlite(db) => db.write(work).await,
            Kind::Postgres(db) => {
                let mut tx = Tx {
                    on: On::Postgres(db.begin().await?),
                };
                let done = work(&mut tx).await;
                if let On::Postgres(client) = tx.on {
                    client.end(done.is_ok()).await?;
                }
                done
            }
        }
    }

    /// Whether it takes writes now.
    pub async fn ready(&self) -> Result<()> {
        match &*self.kind {
            Kind::Sqlite(db) => db.ready(),
            Kind::Postgres(db) => db.ready().await,
        }
    }

    /// Counts the changes of keys that any process sharing an embedded database has announced; always 0 on
    /// PostgreSQL. As long as it stays, what was read of a key still holds.
    pub fn key_generation(&self) -> u64 {
        match &*self.kind {
            Kind::Sqlite(db) => db.key_generation(),
            Kind::Postgres(_) => 0,
        }
    }

    /// Announces that keys have changed, after the change is committed.
    pub fn keys_changed(&self) -> Result<()> {
        match &*self.kind {
            Kind::Sqlite(db) => db.keys_changed(),
            Kind::Postgres(_) => Ok(()),
        }
    }

    /// Ends in order: no transaction is cut, the write-ahead log is folded in.
    pub async fn close(&self) {
        match &*self.kind {
            Kind::Sqlite(db) => db.close(),
            Kind::Postgres(db) => db.close(),
        }
    }
}

impl Tx {
    /// For the few statements that only one of the two databases knows.
    pub(crate) const fn is_postgres(&self) -> bool {
        matches!(self.on, On::Postgres(_))
    }
}
