//! Deliveries of webhooks: how many a second, with many waiting, and beside a receiver that says nothing.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use searchwright_store::{Db, Settings, sql};
use serde_json::json;
use tokio::runtime::Runtime;
use uuid::Uuid;
use xtask::postgres::{Binaries, Postgres};

use super::http::new_database;
use crate::{
    Effort,
    baseline::receiver::Receiver,
    product::{Api, Database, Installation, text},
    report::{Figure, Report, Target},
};

/// Webhooks of the measured project.
const HOOKS: usize = 8;
/// Deliveries of one round, and those that wait for tomorrow in the second half.
const ROUND: usize = 40_000;
const WAITING: usize = 100_000;
/// Rows of one transaction.
const ROWS: usize = 10_000;
/// Events whose way is timed.
const TIMED: usize = 1_000;
const LIMIT: Duration = Duration::from_secs(300);

/// Measures both databases.
pub fn run(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = Installation::new("webhooks-sqlite", Database::Folder)?;
    let file = Settings::Sqlite(folder.folder().join("data/searchwright.sqlite"));
    measure("SQLite", 8_000.0, effort, folder, file, report)?;
    if effort.no_postgres {
        return Ok(());
    }
    let postgres = Postgres::start(Binaries::find_or_install()?)?;
    let url = new_database(&postgres, "webhooks")?;
    let place = Settings::Postgres {
        url: url.clone(),
        connections: 2,
    };
    let installation = Installation::new("webhooks-postgresql", Database::Postgres(url))?;
    measure("PostgreSQL", 5_000.0, effort, installation, place, report)
}

fn measure(
    name: &str,
    least: f64,
    effort: &Effort,
    mut installation: Installation,
    place: Settings,
    report: &mut Report,
) -> Result<()> {
    let (receiver, dead) = (Receiver::start()?, Receiver::dead()?);
    installation.allow_webhooks(&[receiver.address, dead]);
    let _server = installation.start()?;
    let access = installation.project("webhooks.example")?;
    let project = Uuid::try_parse(&access.project)?;
    let api = Api::new(installation.origin(), access)?;
    let hook = |url: String, event: &str| -> Result<Uuid> {
        let made = api.post("webhooks", &json!({ "targetUrl": url, "event": event }))?;
        Ok(Uuid::try_parse(&text(&made, "id")?)?)
    };
    let hooks: Vec<Uuid> = (0..HOOKS)
        .map(|n| hook(format!("http://{}/{n}", receiver.address), "webhook.test"))
        .collect::<Result<_>>()?;
    let rows = Rows::open(project, &place)?;
    let round = || -> Result<f64> {
        receiver.take();
        rows.add(&hooks, ROUND, "2026-01-01T00:00:00.000Z")?;
        let begun = Instant::now();
        while receiver.count() < ROUND {
            ensure!(begun.elapsed() < LIMIT, "{} of {ROUND} came", receiver.count());
            thread::sleep(Duration::from_millis(5));
        }
        let came = receiver.take();
        let (first, last) = (came.iter().min(), came.iter().max());
        let took = *last.context("nothing came")? - *first.context("nothing came")?;
        while rows.pending("2026-06-01T00:00:00.000Z")? > 0 {
            thread::sleep(Duration::from_millis(20));
        }
        Ok(came.len() as f64 / took.as_secs_f64())
    };
    rows.settle()?;
    let alone: Vec<f64> = (0..effort.rounds).map(|_| round()).collect::<Result<_>>()?;
    report.add(Figure {
        name: format!("webhook deliveries, signed and recorded, {name}"),
        unit: "1/s",
        baseline: Vec::new(),
        product: alone.clone(),
        target: Target::AtLeast(least),
    });
    rows.add(&hooks, WAITING, "2099-01-01T00:00:00.000Z")?;
    rows.settle()?;
    let among: Vec<f64> = (0..effort.rounds).map(|_| round()).collect::<Result<_>>()?;
    report.add(Figure {
        name: format!("the same with {WAITING} waiting for another day, to none, {name}"),
        unit: "1/s",
        baseline: alone,
        product: among,
        target: Target::RatioAtLeast(0.8),
    });
    hook(format!("http://{}/timed", receiver.address), "post.created")?;
    let (mut healthy, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        healthy.push(timed(&api, &receiver, &rows)?);
        let dead = hook(format!("http://{dead}/"), "*")?;
        rows.add(&[dead], ROWS, "2026-01-01T00:00:00.000Z")?;
        beside.push(timed(&api, &receiver, &rows)?);
        api.delete(&format!("webhooks/{dead}"))?;
    }
    report.add(Figure {
        name: format!("99th percentile from POST to receipt beside a dead receiver, to without, {name}"),
        unit: "ms",
        baseline: healthy,
        product: beside,
        target: Target::RatioBelow(1.2),
    });
    Ok(())
}

/// Milliseconds from the start of a POST that makes an event until it was received; the 99th percentile.
fn timed(api: &Api, receiver: &Receiver, rows: &Rows) -> Result<f64> {
    let mut waits = Vec::with_capacity(TIMED);
    for _ in 0..TIMED {
        receiver.take();
        let begun = Instant::now();
        // each of another name, or finding a free address for it takes longer and longer
        let title = format!("{} timed", rows.next() as u64);
        api.post("posts", &json!({ "title": title }))?;
        while receiver.count() == 0 {
            ensure!(begun.elapsed() < LIMIT, "an event did not come");
            thread::sleep(Duration::from_micros(200));
        }
        let came = receiver.take();
        let at = came.first().context("nothing came")?;
        waits.push(at.duration_since(begun).as_secs_f64() * 1e3);
    }
    waits.sort_unstable_by(f64::total_cmp);
    waits.get(TIMED * 99 / 100).copied().context("nothing was timed")
}

/// Deliveries written beside the server, as a busy day would have left them.
struct Rows {
    project: Uuid,
    place: Settings,
    db: Db,
    runtime: Runtime,
    written: std::cell::Cell<u128>,
}

impl Rows {
    fn open(project: Uuid, place: &Settings) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let db = runtime.block_on(Db::open(place))?;
        Ok(Self {
            project,
            place: place.clone(),
            db,
            runtime,
            written: std::cell::Cell::new(1 << 64),
        })
    }

    /// A number that has not been used; its low half counts.
    fn next(&self) -> u128 {
        self.written.set(self.written.get() + 1);
        self.written.get()
    }

    /// Adds deliveries that are due at a time, dealt out to webhooks.
    fn add(&self, hooks: &[Uuid], count: usize, due: &str) -> Result<()> {
        let (project, due) = (
            self.project,
            due.parse::<searchwright_contract::Instant>()
                .map_err(anyhow::Error::msg)?,
        );
        for first in (0..count).step_by(ROWS) {
            let pairs: Vec<(Uuid, Uuid)> = (first..count.min(first + ROWS))
                .map(|n| (Uuid::from_u128(self.next()), hooks[n % hooks.len()]))
                .collect();
            let work = async move |tx: &mut searchwright_store::Tx| -> searchwright_store::Result<()> {
                let events = pairs
                    .iter()
                    .map(|(id, _)| {
                        let body = format!(
                            "{{\"id\":\"{id}\",\"type\":\"webhook.test\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"projectId\":\"{project}\",\"data\":{{\"webhookId\":\"{id}\"}}}}"
                        );
                        vec![(*id).into(), body.into()]
                    })
                    .collect();
                sql("INSERT INTO events (project_id, kind, data, created_at, id, body) VALUES ($1, 'webhook.test', $2, $3, $4, $5)")
                    .bind(project)
                    .bind(&json!({}))
                    .bind(due)
                    .run_each(tx, events)
                    .await?;
                let deliveries = pairs
                    .iter()
                    .map(|(id, hook)| vec![(*id).into(), (*hook).into()])
                    .collect();
                sql(
                    "INSERT INTO deliveries (project_id, kind, status, next_at, created_at, id, webhook_id)
                     VALUES ($1, 'post.created', 'pending', $2, $2, $3, $4)",
                )
                .bind(project)
                .bind(due)
                .run_each(tx, deliveries)
                .await?;
                Ok(())
            };
            self.runtime
                .block_on(self.db.write(move |tx| Box::pin(async move { work(tx).await })))?;
        }
        Ok(())
    }

    /// Lets PostgreSQL do what it would do in the next minutes, so that no round is measured while it tidies up after many rows that
    /// were written at once.
    fn settle(&self) -> Result<()> {
        let Settings::Postgres { url, .. } = &self.place else {
            return Ok(());
        };
        self.runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
            let connection = tokio::spawn(connection);
            for table in ["deliveries", "events", "delivery_attempts"] {
                client.batch_execute(&format!("VACUUM (ANALYZE) {table}")).await?;
            }
            client.batch_execute("CHECKPOINT").await?;
            drop(client);
            Ok(connection.await??)
        })
    }

    /// How many were due before a time and are still to be sent.
    fn pending(&self, before: &str) -> Result<u64> {
        let before = before
            .parse::<searchwright_contract::Instant>()
            .map_err(anyhow::Error::msg)?;
        Ok(self.runtime.block_on(async {
            let mut tx = self.db.read().await?;
            sql("SELECT count(*) FROM deliveries WHERE project_id = $1 AND status = 'pending' AND next_at < $2")
                .bind(self.project)
                .bind(before)
                .one(&mut tx, |c| c.take())
                .await
        })?)
    }
}
