//! A fresh database per test, on SQLite or PostgreSQL, and the records that most tests begin with.

use std::{
    panic::{AssertUnwindSafe, resume_unwind},
    sync::atomic::{AtomicU64, Ordering},
};

use futures_util::FutureExt as _;
use searchwright_contract::{Instant, ids::CredentialId};
use searchwright_store::{
    Db, Settings, Tx,
    access::{self, KeyAccess, ProjectScope},
    admin::{self, NewKey, NewProject},
    workspaces,
};
use tempfile::TempDir;
use tokio_postgres::NoTls;
use uuid::Uuid;

const VARIABLE: &str = "SEARCHWRIGHT_TEST_POSTGRES";

/// Names tests of this module; each is run on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($name:ident,)*) => {
        mod sqlite { $(#[test] fn $name() { $crate::harness::on_sqlite(super::$name); })* }
        mod postgres { $(#[test] fn $name() { $crate::harness::on_postgres(super::$name); })* }
    };
}

/// A write transaction of one expression, which may use `$tx`; the result of its commit.
macro_rules! commit {
    ($db:expr, |$tx:ident| $work:expr) => {
        $db.write(move |$tx| Box::pin(async move { $work })).await
    };
}

/// An empty database that is gone after the test.
pub struct Place {
    pub settings: Settings,
}

/// A migrated database.
pub struct Store {
    pub db: Db,
}

/// Runs a test on SQLite.
pub fn on_sqlite(test: impl AsyncFnOnce(&Place)) {
    let folder = TempDir::new().unwrap();
    let place = Place {
        settings: Settings::Sqlite(folder.path().join("store.sqlite")),
    };
    runtime().block_on(test(&place));
}

/// Runs a test on PostgreSQL, in a database of its own.
pub fn on_postgres(test: impl AsyncFnOnce(&Place)) {
    let Some(server) = server() else { return };
    runtime().block_on(async {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!(
            "store_{}_{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let drop_it = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        run(&server, &[&drop_it, &format!("CREATE DATABASE {name}")]).await;
        let (root, _) = server.rsplit_once('/').unwrap();
        let place = Place {
            settings: Settings::Postgres {
                url: format!("{root}/{name}"),
                connections: 16,
            },
        };
        let outcome = AssertUnwindSafe(test(&place)).catch_unwind().await;
        run(&server, &[&drop_it]).await;
        if let Err(panic) = outcome {
            resume_unwind(panic);
        }
    });
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap()
}

fn server() -> Option<String> {
    let url = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty());
    if url.is_none() {
        let ci = std::env::var("CI").is_ok_and(|v| v == "true");
        assert!(
            !ci,
            "{VARIABLE} is not set, and in continuous integration nothing is skipped"
        );
        eprintln!("skipped: {VARIABLE} is not set");
    }
    url
}

/// Runs statements on a PostgreSQL server.
pub async fn run(url: &str, statements: &[&str]) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    for statement in statements {
        client.batch_execute(statement).await.unwrap();
    }
    drop(client);
    connection.await.unwrap().unwrap();
}

impl Place {
    /// Opens the database as it is.
    pub async fn open(&self) -> Db {
        Db::open(&self.settings).await.unwrap()
    }

    /// Opens and migrates it.
    pub async fn store(&self) -> Store {
        let db = self.open().await;
        db.migrate().await.unwrap();
        Store { db }
    }
}

impl Store {
    pub async fn read(&self) -> Tx {
        self.db.read().await.unwrap()
    }

    /// Creates a project with a key, and returns its scope.
    pub async fn project(&self) -> ProjectScope {
        self.key().await.project.scope()
    }

    pub async fn key(&self) -> KeyAccess {
        let (project, key) = (new_project(), id());
        let digest = digest(key);
        let new = new_key(project.id);
        commit!(self.db, |tx| {
            let workspace = workspaces::find_or_create_first(tx, id(), now()).await?;
            admin::create_project(tx, project, workspace, now()).await?;
            admin::create_key(
                tx,
                NewKey {
                    id: key,
                    digest,
                    ..new
                },
                now(),
            )
            .await
        })
        .unwrap();
        self.find(key).await
    }

    /// Returns the key of this id, by its digest.
    pub async fn find(&self, key: CredentialId) -> KeyAccess {
        access::find_key_by_digest(&mut self.read().await, &digest(key))
            .await
            .unwrap()
            .unwrap()
    }
}

pub fn new_project() -> NewProject {
    NewProject {
        id: id(),
        name: "Fern & Fir".to_owned(),
        domain: "example.com".to_owned(),
    }
}

pub fn new_key(project: Uuid) -> NewKey {
    let id = id();
    NewKey {
        id,
        project,
        name: "agent".to_owned(),
        prefix: "swk_00000000".to_owned(),
        digest: digest(id),
        scopes: "keywords:write audits:read".to_owned(),
        read_only: false,
        expires_at: None,
    }
}

pub fn digest(id: CredentialId) -> [u8; 32] {
    let mut digest = [7; 32];
    digest[..16].copy_from_slice(id.uuid().as_bytes());
    digest
}

/// An id; each is larger than those before it, as UUIDv7 are.
pub fn id<I: From<Uuid>>() -> I {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u128((1 << 100) + u128::from(NEXT.fetch_add(1, Ordering::Relaxed))).into()
}

/// The time of every test.
pub fn now() -> Instant {
    Instant::from_millis(1_795_255_200_123)
}

/// The time of every test, `millis` later.
pub fn later(millis: i64) -> Instant {
    now().plus_millis(millis)
}
