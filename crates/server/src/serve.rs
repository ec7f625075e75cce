//! The server process: listeners, worker, upkeep, and an end in order.

use std::{
    future::Future,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use ipnet::IpNet;
use searchwright_contract::Clock;
use searchwright_engine::{Engine, audits, audits::CrawlSettings, jobs::worker::Worker};
use searchwright_outbound::SystemLookup;
use searchwright_store::{
    activity, answers, connect_links,
    deliveries::queue,
    events, idempotency, jobs,
    notices::{self as stored_notices, messages},
    rate_limits, reports, schedules,
    seal::Keyring,
};
use tokio::time::{Instant, sleep_until};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use url::Url;

use crate::{
    Settings,
    app::App,
    backups::{BackupSurroundings, Backups},
    config::is_on_loopback,
    http::{answer, bearer::Door, pressure, router, without_tls},
    listen::{self, Rules},
    mcp,
    notices::Notices,
    open::{self, Installation, OpenError},
};

/// Interval at which deferred writes are made and expired records are deleted.
const UPKEEP: Duration = Duration::from_secs(60);
/// Interval at which requests that were refused are told.
const TOLD_EVERY: Duration = Duration::from_secs(10);
/// Events and deliveries deleted in one transaction. Other writers wait for its end.
const FORGOTTEN: u32 = 10_000;
/// Milliseconds after which a bucket of a rate limit that is full is deleted.
const BUCKETS_KEPT: i64 = 3_600_000;
/// Time for callers to read their answers before a process ends that may not go on.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// Milliseconds for which slots of schedules are kept: more than a year of daily ones.
const SLOTS_KEPT: i64 = 400 * 24 * 3_600_000;
/// The same of texts of answers, which are large.
const FORGOTTEN_TEXTS: u32 = 1_000;

/// Addresses on which a running server listens.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    /// API.
    pub api: SocketAddr,
    /// MCP.
    pub mcp: SocketAddr,
    /// Metrics, where they are on.
    pub metrics: Option<SocketAddr>,
}

/// A server that has begun to listen.
#[derive(Debug)]
pub struct Server {
    /// The doors.
    pub app: Arc<App>,
    /// Addresses on which it listens.
    pub addresses: Addresses,
    tasks: TaskTracker,
    stop: CancellationToken,
    _ownership: Option<open::Ownership>,
}

/// Opens an installation and begins to serve it.
pub async fn start(settings: Settings) -> Result<Server, OpenError> {
    start_with(settings, Clock::system()).await
}

/// As [`start`], with a clock of the caller's: limits, expiry and leases go by it.
pub async fn start_with(mut settings: Settings, clock: Clock) -> Result<Server, OpenError> {
    let embedded = settings.database_url.is_empty();
    let ownership = if embedded {
        Some(open::own(&settings)?)
    } else {
        None
    };
    open::clear_scratch(&settings, embedded);
    let Installation {
        engine,
        people,
        keyring,
    } = open::open_with(&settings, clock).await?;
    if embedded && jobs::has_running(&mut engine.db.read().await?).await? {
        // The lock on the folder is ours: whoever held these jobs is gone.
        let at = engine.db.lease_time(&engine.clock).await?;
        engine
            .db
            .write(move |tx| Box::pin(async move { jobs::expire_leases(tx, at).await }))
            .await?;
    }
    if embedded {
        engine.db.write(|tx| Box::pin(queue::release_all(tx))).await?;
        engine.db.write(|tx| Box::pin(messages::release_all(tx))).await?;
    }
    engine.db.keep_reserve();
    let failed = |e: std::io::Error| OpenError::File("listen".to_owned(), e);
    let api = listen::bind(settings.listen, "--listen").await.map_err(failed)?;
    let mcp = listen::bind(settings.mcp_listen, "--mcp-listen")
        .await
        .map_err(failed)?;
    let metrics = match settings.metrics_listen.parse() {
        Ok(address) => Some(listen::bind(address, "--metrics-listen").await.map_err(failed)?),
        Err(_) => None,
    };
    let addresses = Addresses {
        api: api.local_addr().map_err(failed)?,
        mcp: mcp.local_addr().map_err(failed)?,
        metrics: metrics.as_ref().and_then(|m| m.local_addr().ok()),
    };
    settings.bound(addresses.api, addresses.mcp);
    settings.check_transport()?;
    if settings.is_insecure() {
        tracing::warn!(public_url = %settings.public_url, "people are served over plain http: their passwords can be read on the way; MCP and OAuth are off");
    } else {
        for (name, address) in settings.open_listeners() {
            tracing::warn!(%address, "{name} is open to other machines without TLS: what they send can be read on the way; listen on 127.0.0.1, or put a proxy with TLS in front and set PUBLIC_URL and MCP_URL to its https addresses");
        }
    }
    if embedded && settings.worker.jobs == 0 {
        tracing::warn!(
            "worker.jobs is 0, and no other process works beside a server with an embedded database: jobs, webhooks and notices wait"
        );
    }
    people.set_accounts(settings.accounts()?);
    if let Some(ownership) = &ownership {
        ownership.announce(&settings.public_url).map_err(failed)?;
    }
    for allowed in &settings.allow_outbound {
        tracing::info!(allowed, "outbound requests to a private address are allowed");
    }
    engine.publish_with(open::publishing(&settings, vec![addresses.api, addresses.mcp])?);
    let proxies: Arc<[IpNet]> = settings.proxies()?.into();
    let notices = Arc::new(Notices::open(&settings, engine.clone()).await?);
    let app = Arc::new(App::new(settings, people, engine.clone(), notices));
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let rules = rules(&app, proxies);
    let open = |listener, router| tasks.spawn(listen::serve(listener, router, rules.clone(), stop.clone()));
    open(api, router(app.clone()));
    let tools = if app.settings.is_insecure() {
        without_tls(app.clone())
    } else {
        mcp::router(app.clone())
    };
    open(mcp, tools);
    if let Some(listener) = metrics {
        open(listener, metrics_router(app.clone()));
    }
    tasks.spawn(upkeep(app.clone(), stop.clone()));
    tasks.spawn(back_up(app.clone(), stop.clone()));
    if app.settings.limits.wait_ms > 0 {
        tasks.spawn(follow_pressure(app.clone(), stop.clone()));
    }
    if app.settings.worker.jobs > 0 {
        let worker = worker(
            &app.settings,
            engine,
            app.settings.worker.jobs,
            addresses,
            keyring,
        )?;
        tasks.spawn(worker.run(stop.clone()));
        tasks.spawn(app.notices.clone().run(stop.clone()));
    }
    tracing::info!(api = %app.settings.base_url(), mcp = %app.settings.mcp_url, database = app.engine.db.name(), "serving");
    Ok(Server {
        app,
        addresses,
        tasks,
        stop,
        _ownership: ownership,
    })
}

impl Server {
    /// Serves until `ended` does, and then ends in order. Ends with an error when nobody knows any more what is on the disk.
    pub async fn run_until(self, ended: impl Future<Output = ()>) -> Result<(), OpenError> {
        let db = self.app.engine.db.clone();
        tokio::select! {
            () = ended => {
                self.stop().await;
                Ok(())
            }
            () = db.until_broken() => {
                // Callers are answered, and nobody else is waited for.
                let _ = tokio::time::timeout(LAST_ANSWERS, self.stop()).await;
                Err(OpenError::Uncertain)
            }
        }
    }

    /// Stops taking work, ends running tasks, and closes the database.
    pub async fn stop(self) {
        self.app.stopping.store(true, Ordering::Release);
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.app.gate.flush().await;
        self.app.engine.db.close().await;
    }
}

/// Rules that hold at all doors together.
fn rules(app: &Arc<App>, proxies: Arc<[IpNet]>) -> Rules {
    let refuses = app.clone();
    Rules {
        patience: app.settings.limits.patience(),
        proxies,
        connections: app.connections.clone(),
        answers: app.answers.clone(),
        refusal: Arc::new(move |problem| {
            answer::problem(&refuses, &refuses.request_id(), Door::Api, "", problem, None)
        }),
    }
}

fn worker(
    settings: &Settings,
    engine: Arc<Engine>,
    jobs: usize,
    addresses: Addresses,
    keyring: Arc<Keyring>,
) -> Result<Worker, OpenError> {
    let crawl = CrawlSettings {
        allow: settings.allowed()?,
        logins: settings.site_logins()?,
        user_agent: format!("{}/1.0 (+{})", audits::TOKEN, contact(&settings.public_url)),
        own: vec![addresses.api, addresses.mcp],
        connections: settings.crawl.connections,
        delay: Duration::from_millis(settings.crawl.delay_ms),
        connections_to_allowed: settings.crawl.connections_to_allowed,
        lookup: Arc::new(SystemLookup),
    };
    Ok(Worker::new(engine, jobs, crawl, keyring)?)
}

/// Returns the URL at which a website's owner can read who crawls: the page of this server, or the repository if only this
/// machine can open the server.
fn contact(public_url: &str) -> String {
    if Url::parse(public_url).is_ok_and(|url| !is_on_loopback(&url)) {
        format!("{public_url}/bot")
    } else {
        env!("CARGO_PKG_REPOSITORY").to_owned()
    }
}

/// A worker process: jobs, notices and backups without a listener. Any number work beside the servers of a PostgreSQL installation;
/// an embedded database has one process.
pub async fn work(settings: Settings, stop: CancellationToken) -> Result<(), OpenError> {
    let embedded = settings.database_url.is_empty();
    let _ownership = if embedded {
        Some(open::own(&settings)?)
    } else {
        None
    };
    open::clear_scratch(&settings, embedded);
    let Installation { engine, keyring, .. } = open::open(&settings).await?;
    let addresses = Addresses {
        api: settings.listen,
        mcp: settings.mcp_listen,
        metrics: None,
    };
    tracing::info!(
        database = engine.db.name(),
        jobs = settings.worker.jobs.max(1),
        "working"
    );
    engine.publish_with(open::publishing(&settings, vec![addresses.api, addresses.mcp])?);
    let jobs = settings.worker.jobs.max(1);
    engine.db.keep_reserve();
    let notices = Arc::new(Notices::open(&settings, engine.clone()).await?);
    let worker = worker(&settings, engine.clone(), jobs, addresses, keyring)?;
    let backups = Backups::new(&settings);
    let around = BackupSurroundings {
        settings: &settings,
        clock: &engine.clock,
        metrics: None,
        notices: &notices,
    };
    let work = async {
        tokio::join!(
            worker.run(stop.clone()),
            notices.clone().run(stop.clone()),
            backups.run(around, stop),
        )
    };
    let db = engine.db.clone();
    tokio::select! {
        ((), (), ()) = work => {}
        () = db.until_broken() => {
            backups.stop();
            return Err(OpenError::Uncertain);
        }
    }
    engine.db.close().await;
    Ok(())
}

fn metrics_router(app: Arc<App>) -> axum::Router {
    axum::Router::new().route(
        "/metrics",
        axum::routing::get(move || async move {
            app.metrics.set_ready(app.ready().await.is_ok());
            app.metrics.set_connections(app.connections.count());
            let (refused, waited) = app.pressure.now();
            app.metrics.set_pressure(waited, refused);
            (
                [(
                    http::header::CONTENT_TYPE,
                    "application/openmetrics-text; version=1.0.0; charset=utf-8",
                )],
                app.metrics.text(),
            )
        }),
    )
}

async fn back_up(app: Arc<App>, stop: CancellationToken) {
    app.backups.run(app.backup_surroundings(), stop).await;
}

/// Measures for how long requests wait to be looked at, as one of them would: until it is seen that they are there, behind those that
/// came before, and for a connection to a database that is asked by others.
async fn follow_pressure(app: Arc<App>, stop: CancellationToken) {
    let bound = Duration::from_millis(app.settings.limits.wait_ms);
    let asks = app.engine.db.name() == "postgres";
    let (mut tells_at, mut told) = (Instant::now(), 0);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = app.pressure.until_asked() => {}
        }
        let due = Instant::now() + pressure::PULSE;
        app.pressure.expect(due.into_std());
        sleep_until(due).await;
        last_in_line().await;
        if asks {
            drop(app.engine.db.read().await);
        }
        let now = Instant::now();
        let bound = if app.connections.count() > pressure::ORDINARY {
            bound
        } else {
            Duration::MAX
        };
        app.pressure.observe(now.saturating_duration_since(due), bound);
        let (refused, _) = app.pressure.now();
        if refused > told && now >= tells_at {
            tracing::warn!(
                refused = refused - told,
                "requests were refused, as more came than can be carried out"
            );
            (told, tells_at) = (refused, now + TOLD_EVERY);
        }
    }
}

/// Waits until everything that was ready to run before has run.
async fn last_in_line() {
    let turn = tokio::spawn(async {});
    // the task that became ready last runs first, and sends the one before it to the end of the line
    tokio::spawn(async {});
    let _ = turn.await;
}

async fn upkeep(app: Arc<App>, stop: CancellationToken) {
    let mut tick = tokio::time::interval(UPKEEP);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = tick.tick() => {}
        }
        app.gate.flush().await;
        let now = app.engine.clock.now();
        let engine = app.engine.clone();
        let swept = app
            .engine
            .db
            .write(move |tx| {
                Box::pin(async move {
                    idempotency::delete_expired(tx, now).await?;
                    rate_limits::delete_full(tx, now.plus_millis(-BUCKETS_KEPT)).await?;
                    audits::wake_ignored(&engine, tx, now).await?;
                    activity::delete_expired(tx, now).await?;
                    connect_links::delete_expired(tx, now).await?;
                    schedules::delete_old_slots(tx, now.plus_millis(-SLOTS_KEPT)).await?;
                    answers::delete_expired_texts(tx, now, FORGOTTEN_TEXTS).await?;
                    reports::delete_expired(tx, now, FORGOTTEN).await?;
                    stored_notices::delete_expired(tx, now, FORGOTTEN).await?;
                    events::delete_expired(tx, now, FORGOTTEN).await
                })
            })
            .await;
        if let Err(error) = swept {
            tracing::warn!(%error, "upkeep failed; trying again in a minute");
        }
        let people = async {
            app.people.delete_expired_sign_ins().await?;
            app.people.store_connection_steps().await?;
            app.people.store_denials().await?;
            app.people.delete_ended_shares().await?;
            app.people.delete_expired_authorizations().await
        };
        if let Err(failure) = people.await {
            tracing::warn!(%failure, "upkeep of sign-ins failed; trying again in a minute");
        }
    }
}

/// Ends at the first SIGINT or SIGTERM. A second one ends the process at once.
///
/// Listens from the moment it is called, not from the first poll: called before a server starts, it misses
/// no signal that comes while it does.
pub fn signalled() -> impl Future<Output = ()> + Send {
    let mut signals = Signals::listen();
    async move {
        signals.next().await;
        tracing::info!("shutting down; a second signal ends at once");
        tokio::spawn(async move {
            signals.next().await;
            std::process::exit(130);
        });
    }
}

#[cfg(unix)]
struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let both = [SignalKind::interrupt(), SignalKind::terminate()];
        Self(both.into_iter().filter_map(|kind| signal(kind).ok()).collect())
    }

    async fn next(&mut self) {
        if self.0.is_empty() {
            return std::future::pending().await;
        }
        let any = self.0.iter_mut().map(|s| Box::pin(s.recv()));
        drop(futures_util::future::select_all(any).await);
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    const fn listen() -> Self {
        Self
    }

    async fn next(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}
