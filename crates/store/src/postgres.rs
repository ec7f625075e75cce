//! PostgreSQL: a pool of connections, statements prepared once per connection.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Timeouts};
use tokio_postgres::NoTls;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{
    error::{Error, Result},
    migrate,
};

/// The oldest version supported, as `server_version_num`.
const OLDEST: i32 = 150_000;

/// A connection of the pool. One that is dropped inside a transaction is closed, not given back.
#[derive(Debug)]
pub(crate) struct Client {
    object: Option<Object>,
    begun: bool,
    failed: AtomicBool,
}

impl Client {
    pub(crate) fn get(&self) -> Result<&deadpool_postgres::ClientWrapper> {
        self.object
            .as_deref()
            .ok_or_else(|| Error::Defect("the connection has been given back".to_owned()))
    }

    /// The outcome of a statement, noting a failure: PostgreSQL would turn the COMMIT of its transaction into
    /// a ROLLBACK without a word.
    pub(crate) fn noted<T>(&self, outcome: Result<T, tokio_postgres::Error>) -> Result<T> {
        self.failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
        Ok(outcome?)
    }

    /// Commits or rolls back.
    pub(crate) async fn end(mut self, commit: bool) -> Result<()> {
        if commit && self.failed.load(Ordering::Relaxed) {
            // Dropped inside its transaction, so closed.
            return Err(Error::Defect(
                "a write went on after a statement that failed".to_owned(),
            ));
        }
        if commit {
            self.get()?.batch_execute("COMMIT").await?;
        } else if self.get()?.batch_execute("ROLLBACK").await.is_err() {
            return Ok(());
        }
        self.begun = false;
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.begun
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
        Ok(Client {
            object: Some(self.object().await?),
            begun: false,
            failed: AtomicBool::new(false),
        })
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
        let client = Client {
            object: Some(self.object().await?),
            begun: true,
            failed: AtomicBool::new(false),
        };
        client.get()?.batch_execute("BEGIN").await?;
        Ok(client)
    }

    pub(crate) async fn migrate(&self) -> Result<Vec<u32>> {
        let mut object = self.object().await?;
        migrate::postgres(&mut object).await
    }

    pub(crate) async fn check_schema(&self) -> Result<()> {
        let object = self.object().await?;
        migrate::check_postgres(&object).await
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
