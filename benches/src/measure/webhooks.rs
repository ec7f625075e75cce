//! Deliveries of webhooks: how many a second, with many waiting, and beside a receiver that says nothing.

use std::{
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use searchwright_store::{Db, Settings, sql};
use serde_json::json;
use tokio::runtime::Runtime;
use uuid::Uuid;
use xtask::{
    postgres::{Binaries, Postgres},
    process::Running,
};

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
    let folder = |name: &str| -> Result<_> {
        let installation = Installation::new(name, Database::Folder)?;
        let file = installation.folder().join("data/searchwright.sqlite");
        Ok((installation, Settings::Sqlite(file)))
    };
    let places = [folder("webhooks-sqlite")?, folder("webhooks-sqlite-waiting")?];
    measure("SQLite", 8_000.0, effort, places, report)?;
    if effort.no_postgres {
        return Ok(());
    }
    let postgres = Postgres::start(Binaries::find_or_install()?)?;
    let database = |name: &str| -> Result<_> {
        let url = new_database(&postgres, name)?;
        let place = Settings::Postgres {
            url: url.clone(),
            connections: 2,
        };
        let folder = format!("{name}-postgresql");
        Ok((Installation::new(&folder, Database::Postgres(url))?, place))
    };
    let places = [database("webhooks")?, database("webhooks_waiting")?];
    measure("PostgreSQL", 5_000.0, effort, places, report)
}

/// Two installations that live the same life, one of them with many deliveries waiting: rounds are measured in turn, so that neither
/// the machine's moods nor what earlier rounds left behind is taken for what waiting costs.
fn measure(
    name: &str,
    least: f64,
    effort: &Effort,
    places: [(Installation, Settings); 2],
    report: &mut Report,
) -> Result<()> {
    let dead = Receiver::dead()?;
    let [alone, among] = places;
    let (alone, among) = (Site::start(alone, dead)?, Site::start(among, dead)?);
    among
        .rows
        .add(&among.hooks, WAITING, "2099-01-01T00:00:00.000Z")?;
    for site in [&alone, &among] {
        // the first round of a new database fills its caches and plans
        site.round()?;
        site.rows.settle()?;
    }
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        without.push(alone.round()?);
        with.push(among.round()?);
    }
    report.add(Figure {
        name: format!("webhook deliveries, signed and recorded, {name}"),
        unit: "1/s",
        baseline: Vec::new(),
        product: without.clone(),
        target: Target::AtLeast(least),
    });
    report.add(Figure {
        name: format!("the same with {WAITING} waiting for another day, to none, {name}"),
        unit: "1/s",
        baseline: without,
        product: with,
        target: Target::RatioAtLeast(0.8),
    });
    among.hook(
        &format!("http://{}/timed", among.receiver.address),
        "post.created",
    )?;
    let (mut healthy, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        healthy.push(among.timed()?);
        let dead = among.hook(&format!("http://{dead}/"), "*")?;
        among.rows.add(&[dead], ROWS, "2026-01-01T00:00:00.000Z")?;
        beside.push(among.timed()?);
        among.api.delete(&format!("webhooks/{dead}"))?;
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

/// A running product with webhooks and who receives what they send.
struct Site {
    receiver: Receiver,
    api: Api,
    hooks: Vec<Uuid>,
    rows: Rows,
    _running: Running,
}

impl Site {
    fn start(place: (Installation, Settings), dead: SocketAddr) -> Result<Self> {
        let (mut installation, settings) = place;
        let receiver = Receiver::start()?;
        installation.allow_webhooks(&[receiver.address, dead]);
        let running = installation.start()?;
        let access = installation.project("webhooks.example")?;
        let rows = Rows::open(Uuid::try_parse(&access.project)?, &settings)?;
        let mut site = Self {
            receiver,
            api: Api::new(installation.origin(), access)?,
            hooks: Vec::new(),
            rows,
            _running: running,
        };
        site.hooks = (0..HOOKS)
            .map(|n| site.hook(&format!("http://{}/{n}", site.receiver.address), "webhook.test"))
            .collect::<Result<_>>()?;
        Ok(site)
    }

    fn hook(&self, url: &str, event: &str) -> Result<Uuid> {
        let made = self
            .api
            .post("webhooks", &json!({ "targetUrl": url, "event": event }))?;
        Ok(Uuid::try_parse(&text(&made, "id")?)?)
    }

    /// Deliveries a second of one round.
    fn round(&self) -> Result<f64> {
        self.receiver.take();
        self.rows.add(&self.hooks, ROUND, "2026-01-01T00:00:00.000Z")?;
        let begun = Instant::now();
        while self.receiver.count() < ROUND {
            let count = self.receiver.count();
            ensure!(begun.elapsed() < LIMIT, "{count} of {ROUND} came");
            thread::sleep(Duration::from_millis(5));
        }
        let came = self.receiver.take();
        let (first, last) = (came.iter().min(), came.iter().max());
        let took = *last.context("nothing came")? - *first.context("nothing came")?;
        while self.rows.pending("2026-06-01T00:00:00.000Z")? > 0 {
            thread::sleep(Duration::from_millis(20));
        }
        Ok(came.len() as f64 / took.as_secs_f64())
    }

    /// Milliseconds from the start of a POST that makes an event until it was received; the 99th percentile.
    fn timed(&self) -> Result<f64> {
        let mut waits = Vec::with_capacity(TIMED);
        for _ in 0..TIMED {
            self.receiver.take();
            let begun = Instant::now();
            // each of another name, or finding a free address for it takes longer and longer
            let title = format!("{} timed", self.rows.next() as u64);
            self.api.post("posts", &json!({ "title": title }))?;
            while self.receiver.count() == 0 {
                ensure!(begun.elapsed() < LIMIT, "an event did not come");
                thread::sleep(Duration::from_micros(200));
            }
            let came = self.receiver.take();
            let at = came.first().context("nothing came")?;
            waits.push(at.duration_since(begun).as_secs_f64() * 1e3);
        }
        waits.sort_unstable_by(f64::total_cmp);
        waits.get(TIMED * 99 / 100).copied().context("nothing was timed")
    }
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
                    .execute_each(tx, events)
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
                .execute_each(tx, deliveries)
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

    /// Returns the number of deliveries due before a time and still pending.
    fn pending(&self, before: &str) -> Result<u64> {
        let before = before
            .parse::<searchwright_contract::Instant>()
            .map_err(anyhow::Error::msg)?;
        Ok(self.runtime.block_on(async {
            let mut tx = self.db.read().await?;
            sql("SELECT count(*) FROM deliveries WHERE project_id = $1 AND status = 'pending' AND next_at < $2")
                .bind(self.project)
                .bind(before)
                .fetch_one(&mut tx, |c| c.take())
                .await
        })?)
    }
}
