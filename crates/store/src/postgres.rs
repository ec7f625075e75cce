//! PostgreSQL: a pool of connections, statements prepared once per connection.

use std::{
    sync::atomic::{AtomicU8, Ordering},
    time::Duration,
};

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Timeouts,
};
use futures_util::future::try_join_all;
use tokio_postgres::NoTls;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{
    Param,
    error::{Error, Result},
    migrations,
    statement::refs,
};

/// The oldest version supported, as `server_version_num`.
const OLDEST: i32 = 150_000;

/// How long a plan is kept. PostgreSQL takes the size of a table into a plan and keeps it until the table is
/// next analysed: a plan made while a table was empty would go on reading all of what has come since.
const PLANS_LAST: Duration = Duration::from_secs(10);
const DISCARD: &str = "DISCARD PLANS";
/// Runs of one statement that are worth a plan of their own.
const MANY: usize = 100;

/// A connection of the pool. One that is dropped inside a transaction is closed, not given back.
#[derive(Debug)]
pub(crate) struct Client {
    object: Option<Object>,
    transaction: AtomicU8,
    /// What goes with COMMIT, which saves it a round trip too.
    last: Vec<(tokio_postgres::Statement, Vec<Param>)>,
}

/// What a connection is in.
const NO_TRANSACTION: u8 = 0;
/// BEGIN goes with the first statement, which saves it a round trip.
const TO_BEGIN: u8 = 1;
const BEGUN: u8 = 2;
/// PostgreSQL would turn COMMIT into ROLLBACK without a word.
const FAILED: u8 = 3;

impl Client {
    fn new(object: Object, transaction: u8) -> Self {
        Self {
            object: Some(object),
            transaction: AtomicU8::new(transaction),
            last: Vec::new(),
        }
    }

    pub(crate) fn get(&self) -> Result<&deadpool_postgres::ClientWrapper> {
        self.object
            .as_deref()
            .ok_or_else(|| Error::Defect("the connection has been given back".to_owned()))
    }

    /// Carries out what is asked of the connection, and notes whether it failed.
    pub(crate) async fn run<T>(
        &self,
        statement: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        let begins = self.transaction.load(Ordering::Relaxed) == TO_BEGIN;
        let outcome = if begins {
            // Dropped between the two, it is inside.
            self.transaction.store(BEGUN, Ordering::Relaxed);
            let begin = self.get()?.batch_execute("BEGIN");
            let (begun, outcome) = tokio::join!(biased; begin, statement);
            begun.and(outcome)
        } else {
            statement.await
        };
        if outcome.is_err() && self.transaction.load(Ordering::Relaxed) == BEGUN {
            self.transaction.store(FAILED, Ordering::Relaxed);
        }
        Ok(outcome?)
    }

    /// The statement, prepared once per connection.
    pub(crate) async fn prepare(&self, text: &str) -> Result<tokio_postgres::Statement> {
        let prepared = self.get()?.prepare_cached(text).await;
        if prepared.is_err() && self.transaction.load(Ordering::Relaxed) == BEGUN {
            self.transaction.store(FAILED, Ordering::Relaxed);
        }
        Ok(prepared?)
    }

    /// The statement, to be run so many times in one pipeline. What the transaction itself has added to a table
    /// counts for its plan: a million lookups by the plan of an empty table would never end.
    pub(crate) async fn prepare_for(&self, text: &str, runs: usize) -> Result<tokio_postgres::Statement> {
        if runs >= MANY {
            self.run(self.get()?.batch_execute(DISCARD)).await?;
        }
        self.prepare(text).await
    }

    /// Keeps a statement back until the transaction is committed.
    pub(crate) async fn run_last(&mut self, text: &str, params: Vec<Param>) -> Result<()> {
        let statement = self.prepare(text).await?;
        self.last.push((statement, params));
        Ok(())
    }

    /// Commits or rolls back.
    pub(crate) async fn end(mut self, commit: bool) -> Result<()> {
        let last = std::mem::take(&mut self.last);
        match self.transaction.load(Ordering::Relaxed) {
            NO_TRANSACTION => return Ok(()),
            TO_BEGIN if last.is_empty() || !commit => return Ok(()),
            // Dropped inside its transaction, so closed.
            FAILED if commit => {
                return Err(Error::Defect(
                    "a write went on after a statement that failed".to_owned(),
                ));
            }
            _ => {}
        }
        if commit {
            let connection = self.get()?;
            let last = last
                .iter()
                .map(|(statement, params)| async move { connection.execute(statement, &refs(params)).await });
            let (last, committed) =
                tokio::join!(biased; self.run(try_join_all(last)), connection.batch_execute("COMMIT"));
            committed?;
            // Where one failed, COMMIT has rolled back.
            *self.transaction.get_mut() = NO_TRANSACTION;
            return last.map(drop);
        } else if self.get()?.batch_execute("ROLLBACK").await.is_err() {
            return Ok(());
        }
        *self.transaction.get_mut() = NO_TRANSACTION;
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if *self.transaction.get_mut() >= BEGUN
            && let Some(object) = self.object.take()
        {
            drop(Object::take(object));
        }
    }
}

#[derive(Debug)]
pub(crate) struct Postgres {
    pool: Pool,
}

impl Postgres {
    pub(crate) async fn open(url: &str, connections: usize) -> Result<Self> {
        let mut config: tokio_postgres::Config = url
            .parse()
            .map_err(|e| Error::Schema(format!("DATABASE_URL is not a connection URL: {e}")))?;
        config.application_name("searchwright");
        config.connect_timeout(Duration::from_secs(5));
        // One plan for all values, as on SQLite: planning a point read anew takes longer than carrying it out.
        let limits = "-c statement_timeout=30s -c lock_timeout=5s -c idle_in_transaction_session_timeout=60s \
                      -c plan_cache_mode=force_generic_plan";
        let options = config
            .get_options()
            .map_or_else(|| limits.to_owned(), |o| format!("{limits} {o}"));
        config.options(options);
        let how = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = if config.get_ssl_mode() == tokio_postgres::config::SslMode::Disable {
            Manager::from_config(config, NoTls, how)
        } else {
            Manager::from_config(config, tls()?, how)
        };
        let pool = Pool::builder(manager)
            .max_size(connections)
            .runtime(Runtime::Tokio1)
            .post_recycle(Hook::async_fn(|client, metrics| {
                Box::pin(async move {
                    let turns = |age: Duration| age.as_secs() / PLANS_LAST.as_secs();
                    let last = metrics.recycled.unwrap_or(metrics.created);
                    if turns(metrics.age()) == turns(last.duration_since(metrics.created)) {
                        return Ok(());
                    }
                    client.batch_execute(DISCARD).await.map_err(HookError::Backend)
                })
            }))
            .timeouts(Timeouts {
                wait: Some(Duration::from_secs(2)),
                create: Some(Duration::from_secs(5)),
                recycle: None,
            })
            .build()
            .map_err(|e| Error::Defect(e.to_string()))?;
        let postgres = Self { pool };
        let client = postgres.object().await?;
        let row = client
            .query_one(
                "SELECT current_setting('server_version_num')::int, current_setting('synchronous_commit')",
                &[],
            )
            .await?;
        let (version, synchronous): (i32, String) = (row.get(0), row.get(1));
        if version < OLDEST {
            return Err(Error::Schema(format!(
                "PostgreSQL {} is too old; 15 or later is needed",
                version / 10_000
            )));
        }
        if synchronous == "off" {
            tracing::warn!(
                "synchronous_commit is off: what was answered can be lost when the database server fails"
            );
        }
        Ok(postgres)
    }

    pub(crate) async fn client(&self) -> Result<Client> {
        Ok(Client::new(self.object().await?, NO_TRANSACTION))
    }

    async fn object(&self) -> Result<Object> {
        use deadpool_postgres::PoolError;
        self.pool.get().await.map_err(|e| match e {
            PoolError::Timeout(_) => Error::Overloaded,
            PoolError::Backend(e) => match Error::from(e) {
                Error::Defect(why) => Error::Unavailable(why),
                other => other,
            },
            other => Error::Unavailable(other.to_string()),
        })
    }

    pub(crate) async fn begin(&self) -> Result<Client> {
        Ok(Client::new(self.object().await?, TO_BEGIN))
    }

    pub(crate) async fn migrate(&self) -> Result<Vec<u32>> {
        let mut object = self.object().await?;
        migrations::run_postgres(&mut object).await
    }

    pub(crate) async fn check_schema(&self) -> Result<()> {
        let object = self.object().await?;
        migrations::check_postgres(&object).await
    }

    pub(crate) async fn ready(&self) -> Result<()> {
        let row = self
            .object()
            .await?
            .query_one("SELECT pg_is_in_recovery()", &[])
            .await?;
        if row.get(0) {
            return Err(Error::Unavailable(
                "the database is a read-only standby".to_owned(),
            ));
        }
        Ok(())
    }

    pub(crate) fn close(&self) {
        self.pool.close();
    }
}

fn tls() -> Result<MakeRustlsConnect> {
    // Ring is named here, because more than one provider may be linked and none is the default.
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::Defect(e.to_string()))?
        .with_root_certificates(rustls::RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        })
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
