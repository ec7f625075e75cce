//! Databases with rows in every table.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicU64, Ordering},
};

use searchwright_contract::{Clock, Instant};
use searchwright_store::{
    Db, Param, Settings,
    transfer::{self, ColumnKind, RowValues, Table},
};
use tempfile::TempDir;
use tokio_postgres::NoTls;
use uuid::Uuid;

const VARIABLE: &str = "SEARCHWRIGHT_TEST_POSTGRES";
/// Bytes of every secret, which no file may have.
pub const SECRET: &[u8] = b"a secret that is sealed";
/// Rows of each table that may have several.
const ROWS: u128 = 3;

pub const PROJECT: Uuid = Uuid::from_u128(7);
pub const OTHER: Uuid = Uuid::from_u128(8);

pub fn clock() -> Clock {
    Clock::fixed(Instant::from_millis(1_795_255_200_123))
}

/// Kind of a database.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Sqlite,
    Postgres,
}

/// Databases that are gone after a test.
pub struct Bench {
    pub folder: TempDir,
    server: Option<String>,
    names: std::sync::Mutex<Vec<String>>,
}

/// Runs a test, which may ask for databases; without a PostgreSQL server it is skipped if it needs one.
pub fn run(needs: &[Kind], test: impl AsyncFnOnce(&Bench)) {
    let server = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty());
    let needs_server = needs.iter().any(|kind| matches!(kind, Kind::Postgres));
    if needs_server && server.is_none() {
        let ci = std::env::var("CI").is_ok_and(|v| v == "true");
        assert!(
            !ci,
            "{VARIABLE} is not set, and in continuous integration nothing is skipped"
        );
        return eprintln!("skipped: {VARIABLE} is not set");
    }
    let bench = Bench {
        folder: TempDir::new().unwrap(),
        server,
        names: Default::default(),
    };
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| runtime().block_on(test(&bench))));
    let names = bench.names.lock().unwrap().clone();
    for name in names {
        let drop_it = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        runtime().block_on(execute(bench.server.as_deref().unwrap(), &drop_it));
    }
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

async fn execute(url: &str, statement: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(statement).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

impl Bench {
    /// An empty, migrated database.
    pub async fn empty(&self, kind: Kind) -> Db {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!(
            "backups_{}_{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let settings = match kind {
            Kind::Sqlite => Settings::Sqlite(self.folder.path().join(name)),
            Kind::Postgres => {
                let server = self.server.as_deref().unwrap();
                execute(server, &format!("CREATE DATABASE {name}")).await;
                let (root, _) = server.rsplit_once('/').unwrap();
                let url = format!("{root}/{name}");
                self.names.lock().unwrap().push(name);
                Settings::Postgres { url, connections: 4 }
            }
        };
        let db = Db::open(&settings).await.unwrap();
        db.migrate().await.unwrap();
        db
    }

    /// A database with two projects that have rows in every table.
    pub async fn filled(&self, kind: Kind) -> Db {
        let db = self.empty(kind).await;
        for table in transfer::tables() {
            let rows: Vec<RowValues> = if table.name == "projects" {
                vec![row(table, PROJECT, 1), row(table, OTHER, 2)]
            } else if table.is_of_projects() {
                let of = |project| (1..=rows_of(table)).map(move |number| row(table, project, number));
                // Digests are unique over all projects.
                match table.name {
                    "api_keys" | "idempotency" | "share_links" | "connect_links" => of(PROJECT).collect(),
                    _ => of(PROJECT).chain(of(OTHER)).collect(),
                }
            } else {
                (1..=rows_of(table))
                    .map(|number| row(table, PROJECT, number))
                    .collect()
            };
            db.write(move |tx| Box::pin(async move { transfer::insert(tx, table, rows).await }))
                .await
                .unwrap_or_else(|error| panic!("{}: {error}", table.name));
        }
        db
    }
}

/// Number of rows for which a table has room in a project.
fn rows_of(table: &Table) -> u128 {
    let one = [
        "daily_budgets",
        "audit_settings",
        "robots_copies",
        "brand_profiles",
        "autopilot_settings",
        "event_heads",
        "notice_heads",
        "notice_chats",
    ];
    if one.contains(&table.name) { 1 } else { ROWS }
}

fn row(table: &Table, project: Uuid, number: u128) -> RowValues {
    let value = |name: &str, kind: ColumnKind| -> Param {
        match (table.name, name) {
            (_, "project_id") | ("projects", "id") => return project.into(),
            // Nothing is under way.
            ("audits" | "rechecks", "status") => return "completed".into(),
            ("jobs", "status") => return "succeeded".into(),
            ("posts", "status") if number == 1 => return "scheduled".into(),
            ("approvals", "status") => return "approved".into(),
            ("prompts", "status") => return "active".into(),
            (_, "client_id") | ("oauth_clients", "id") => return Param::Text(format!("client {number}")),
            ("issues", "id") => return Uuid::from_u128(number).into(),
            ("posts", "published_at") => return Param::Null,
            _ => {}
        }
        match kind {
            ColumnKind::Uuid => Uuid::from_u128(number).into(),
            ColumnKind::Text => Param::Text(format!("{name} {number} \u{1f333}\n\"")),
            ColumnKind::Int => Param::Int(i64::MAX - i64::try_from(number).unwrap()),
            ColumnKind::ShortInt => Param::Int(i64::from(i32::MAX) - i64::try_from(number).unwrap()),
            ColumnKind::Float => Param::Float(0.1),
            ColumnKind::Bool => Param::Bool(true),
            ColumnKind::Time => Param::Time(clock().now().plus_millis(i64::try_from(number).unwrap())),
            ColumnKind::Json => Param::Json(format!("{{\"n\": {number}, \"x\": [0.1, null]}}")),
            ColumnKind::Bytes => Param::Bytes([SECRET, &[u8::try_from(number).unwrap()]].concat()),
        }
    };
    table
        .columns
        .iter()
        .map(|column| value(&column.name, column.kind))
        .collect()
}
