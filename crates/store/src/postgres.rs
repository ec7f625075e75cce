//! PostgreSQL: a pool of connections, with statements prepared once per connection.
//!
//! Round trips are what a transaction costs: BEGIN is sent with the first statement, and statements whose effect the
//! transaction does not read are sent with COMMIT.

mod credential_changes;
mod tls;

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::Duration,
};

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Timeouts,
};
use futures_util::future::try_join_all;

use credential_changes::{CredentialChanges, NOTIFY};
use tls::Connector;

use crate::{
    error::{Error, Result},
    migrations,
    statement::log,
    value::{Param, postgres_params},
};

/// Oldest supported version, as `server_version_num`.
const MIN_VERSION: i32 = 150_000;

/// Lifetime of cached plans. A plan keeps the size that its tables had when it was made, until they are next
/// analysed: a plan of an empty table would go on scanning all rows that were added since.
const PLAN_LIFETIME: Duration = Duration::from_secs(10);
const DISCARD_PLANS: &str = "DISCARD PLANS";
/// Runs of a statement in one pipeline from which on it is planned again.
const REPLAN_RUNS: usize = 100;

/// A connection of the pool. It is closed, not given back, when it is dropped inside a transaction or with a statement running.
#[derive(Debug)]
pub(crate) struct Client {
    object: Option<Object>,
    /// One of the states below.
    transaction: AtomicU8,
    /// Whether a statement was sent and not answered.
    running: AtomicBool,
    connector: Connector,
    /// Statements to be sent with COMMIT.
    deferred: Vec<(tokio_postgres::Statement, Vec<Param>)>,
}

/// No transaction: statements commit by themselves.
const NO_TRANSACTION: u8 = 0;
/// A transaction whose BEGIN is sent with its first statement.
const TO_BEGIN: u8 = 1;
/// A transaction.
const BEGUN: u8 = 2;
/// A transaction in which a statement failed. PostgreSQL would silently turn its COMMIT into ROLLBACK.
const FAILED: u8 = 3;

impl Client {
    fn new(object: Object, transaction: u8, connector: Connector) -> Self {
        Self {
            object: Some(object),
            transaction: AtomicU8::new(transaction),
            running: AtomicBool::new(false),
            connector,
            deferred: Vec::new(),
        }
    }

    pub(crate) fn get(&self) -> Result<&deadpool_postgres::ClientWrapper> {
        self.object
            .as_deref()
            .ok_or_else(|| Error::Defect("the connection has been given back".to_owned()))
    }

    /// Runs a request on the connection, with BEGIN before it if that is due, and records whether it failed.
    pub(crate) async fn run<T>(
        &self,
        statement: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        let begins = self.transaction.load(Ordering::Relaxed) == TO_BEGIN;
        self.running.store(true, Ordering::Relaxed);
        let outcome = if begins {
            // From here on a dropped future leaves the connection inside a transaction.
            self.transaction.store(BEGUN, Ordering::Relaxed);
            let begin = self.get()?.batch_execute("BEGIN");
            let (begun, outcome) = tokio::join!(biased; begin, statement);
            begun.and(outcome)
        } else {
            statement.await
        };
        self.running.store(false, Ordering::Relaxed);
        if outcome.is_err() && self.transaction.load(Ordering::Relaxed) == BEGUN {
            self.transaction.store(FAILED, Ordering::Relaxed);
        }
        Ok(outcome?)
    }

    /// Returns a statement that is prepared once per connection.
    pub(crate) async fn prepare(&self, text: &str) -> Result<tokio_postgres::Statement> {
        log(text);
        let prepared = self.get()?.prepare_cached(text).await;
        if prepared.is_err() && self.transaction.load(Ordering::Relaxed) == BEGUN {
            self.transaction.store(FAILED, Ordering::Relaxed);
        }
        Ok(prepared?)
    }

    /// Returns a statement that is to be run `runs` times in one pipeline. If that is often, it is planned again, with the
    /// rows that the transaction itself has added: a million look-ups by the plan of an empty table would never end.
    pub(crate) async fn prepare_for_pipeline(
        &self,
        text: &str,
        runs: usize,
    ) -> Result<tokio_postgres::Statement> {
        if runs >= REPLAN_RUNS {
            self.run(self.get()?.batch_execute(DISCARD_PLANS)).await?;
        }
        self.prepare(text).await
    }

    /// Defers a statement until COMMIT.
    pub(crate) async fn defer(&mut self, text: &str, params: Vec<Param>) -> Result<()> {
        let statement = self.prepare(text).await?;
        self.deferred.push((statement, params));
        Ok(())
    }

    /// Commits or rolls back.
    pub(crate) async fn end(mut self, commit: bool) -> Result<()> {
        let deferred = std::mem::take(&mut self.deferred);
        match self.transaction.load(Ordering::Relaxed) {
            NO_TRANSACTION => return Ok(()),
            TO_BEGIN if deferred.is_empty() || !commit => return Ok(()),
            // It is dropped inside its transaction, and so closed.
            FAILED if commit => {
                return Err(Error::Defect(
                    "a write went on after a statement that failed".to_owned(),
                ));
            }
            _ => {}
        }
        if commit {
            let connection = self.get()?;
            let deferred = deferred.iter().map(|(statement, params)| async move {
                connection.execute(statement, &postgres_params(params)).await
            });
            let (deferred, committed) =
                tokio::join!(biased; self.run(try_join_all(deferred)), connection.batch_execute("COMMIT"));
            committed?;
            // If one failed, COMMIT has rolled back.
            *self.transaction.get_mut() = NO_TRANSACTION;
            return deferred.map(drop);
        } else if self.get()?.batch_execute("ROLLBACK").await.is_err() {
            return Ok(());
        }
        *self.transaction.get_mut() = NO_TRANSACTION;
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let is_left_reading = *self.transaction.get_mut() == NO_TRANSACTION && *self.running.get_mut();
        if (*self.transaction.get_mut() >= BEGUN || is_left_reading)
            && let Some(object) = self.object.take()
        {
            // The server notices that a caller is gone only when it sends something.
            if is_left_reading && let Ok(runtime) = tokio::runtime::Handle::try_current() {
                let (token, connector) = (object.cancel_token(), self.connector.clone());
                runtime.spawn(async move {
                    if let Err(error) = connector.cancel(token).await {
                        tracing::debug!(%error, "a statement whose caller is gone was not cancelled");
                    }
                });
            }
            drop(Object::take(object));
        }
    }
}

#[derive(Debug)]
pub(crate) struct Postgres {
    pool: Pool,
    config: Box<tokio_postgres::Config>,
    connector: Connector,
    /// Set by the first process that asks for the generation of credentials; commands of the operator never do.
    changes: OnceLock<CredentialChanges>,
}

impl Postgres {
    pub(crate) async fn open(url: &str, connections: usize) -> Result<Self> {
        let (mut config, connector) = tls::parse(url)?;
        config.application_name("searchwright");
        config.connect_timeout(Duration::from_secs(5));
        // One plan for all values, as on SQLite: planning a point read takes longer than running it.
        let limits = "-c statement_timeout=30s -c lock_timeout=5s -c idle_in_transaction_session_timeout=60s \
                      -c plan_cache_mode=force_generic_plan";
        let options = config
            .get_options()
            .map_or_else(|| limits.to_owned(), |o| format!("{limits} {o}"));
        config.options(options);
        let own = config.clone();
        let manager_config = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = Manager::from_connect(config, connector.clone(), manager_config);
        let pool = Pool::builder(manager)
            .max_size(connections)
            .runtime(Runtime::Tokio1)
            .post_recycle(Hook::async_fn(|client, metrics| {
                Box::pin(async move {
                    let periods = |age: Duration| age.as_secs() / PLAN_LIFETIME.as_secs();
                    let last = metrics.recycled.unwrap_or(metrics.created);
                    if periods(metrics.age()) == periods(last.duration_since(metrics.created)) {
                        return Ok(());
                    }
                    client
                        .batch_execute(DISCARD_PLANS)
                        .await
                        .map_err(HookError::Backend)
                })
            }))
            .timeouts(Timeouts {
                wait: Some(Duration::from_secs(2)),
                create: Some(Duration::from_secs(5)),
                recycle: None,
            })
            .build()
            .map_err(|e| Error::Defect(e.to_string()))?;
        let postgres = Self {
            pool,
            config: Box::new(own),
            connector,
            changes: OnceLock::new(),
        };
        let client = postgres.object().await?;
        let row = client
            .query_one(
                "SELECT current_setting('server_version_num')::int, current_setting('synchronous_commit')",
                &[],
            )
            .await?;
        let (version, synchronous): (i32, String) = (row.get(0), row.get(1));
        if version < MIN_VERSION {
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
        Ok(Client::new(
            self.object().await?,
            NO_TRANSACTION,
            self.connector.clone(),
        ))
    }

    /// Returns a connection inside a transaction, which is closed when it is dropped.
    pub(crate) async fn snapshot(&self) -> Result<Client> {
        let client = self.client().await?;
        client
            .run(
                client
                    .get()?
                    .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            )
            .await?;
        client.transaction.store(BEGUN, Ordering::Relaxed);
        Ok(client)
    }

    async fn object(&self) -> Result<Object> {
        use deadpool_postgres::PoolError;
        self.pool.get().await.map_err(|e| match e {
            PoolError::Timeout(_) => Error::Overloaded,
            PoolError::Backend(e) => match tls::explain(&e) {
                Some(why) => Error::Unavailable(why),
                None => match Error::from(e) {
                    Error::Defect(why) => Error::Unavailable(why),
                    other => other,
                },
            },
            other => Error::Unavailable(other.to_string()),
        })
    }

    pub(crate) async fn begin(&self) -> Result<Client> {
        Ok(Client::new(
            self.object().await?,
            TO_BEGIN,
            self.connector.clone(),
        ))
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

    /// Number of changes of credentials that any process on this database has announced; `None` while they are not heard.
    pub(crate) fn credential_generation(&self) -> Option<u64> {
        self.changes
            .get_or_init(|| CredentialChanges::listen((*self.config).clone(), self.connector.clone()))
            .generation()
    }

    /// The change is committed: an announcement that fails must not make it look failed. Other processes then learn of it when
    /// their entries end.
    pub(crate) async fn credentials_changed(&self) {
        if let Some(changes) = self.changes.get() {
            changes.count();
        }
        let announced = async { Ok::<_, Error>(self.object().await?.batch_execute(NOTIFY).await?) };
        if let Err(error) = announced.await {
            tracing::warn!(%error, "a change of credentials was not announced; other replicas notice it within 2 seconds");
        }
    }

    pub(crate) fn close(&self) {
        self.pool.close();
    }
}
