//! The worker: leases a job, runs it with no transaction open, renews the lease, and ends it under its
//! fence. Any number of them run side by side without a leader.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::FutureExt as _;
use searchwright_contract::{Instant, ids::JobId};
use searchwright_store::{
    jobs::{self, JobEnd, Lane, LeaseStatus, LeaseTime, LeasedJob},
    seal::Keyring,
};
use tokio::{
    task::{JoinHandle, JoinSet},
    time::MissedTickBehavior,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{Job, JobContext, JobError, dispatch};
use crate::{
    Engine,
    accounts::Accounts,
    audits::{AuditFailure, CrawlSettings},
    failure::Result,
    posts::schedule::publish_all_due,
    schedules,
    webhooks::Sender,
};

/// Interval at which an idle worker polls the queue; wake-ups only shorten it. A busy worker polls at the same
/// interval whether its job is to be stopped.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which a lease is renewed; a sixth of its length.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Attempts after which a job that asks to be retried is given up.
const MAX_ATTEMPTS: i64 = 8;

/// Milliseconds after which a crawl gives its place to an audit that waits: a slow website costs its share of the time, and its
/// crawl goes on later where it was.
const TURN_MILLIS: i64 = 300_000;
/// Delay before a job that panicked is tried again.
const PANIC_WAIT_MILLIS: i64 = 10_000;

/// A job that runs in this process.
#[derive(Debug)]
struct RunningJob {
    lane: Lane,
    since: Instant,
    /// Asks the job to give its place to another.
    turn_over: CancellationToken,
}

/// Jobs that run in this process.
#[derive(Clone, Debug, Default)]
struct RunningJobs(Arc<Mutex<HashMap<JobId, RunningJob>>>);

impl RunningJobs {
    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, RunningJob>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, job: JobId, running: RunningJob) -> JobPlace {
        self.lock().insert(job, running);
        JobPlace {
            jobs: self.clone(),
            job,
        }
    }

    fn ids(&self) -> Vec<JobId> {
        self.lock().keys().copied().collect()
    }

    fn count(&self, lane: Lane) -> usize {
        self.lock().values().filter(|job| job.lane == lane).count()
    }

    /// Asks the job of a lane that has run longest to give way, if its turn is over.
    fn end_a_turn(&self, lane: Lane, now: Instant) {
        let running = self.lock();
        let over = now.plus_millis(-TURN_MILLIS);
        let of_lane = running
            .values()
            .filter(|job| job.lane == lane && job.since <= over);
        if let Some(job) = of_lane.min_by_key(|job| job.since) {
            job.turn_over.cancel();
        }
    }
}

/// A job that counts as running until this is dropped.
struct JobPlace {
    jobs: RunningJobs,
    job: JobId,
}

impl Drop for JobPlace {
    fn drop(&mut self) {
        self.jobs.lock().remove(&self.job);
    }
}

/// A task that ends when this is dropped.
struct Beating(JoinHandle<()>);

impl Drop for Beating {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Runs jobs until it is told to stop.
#[derive(Debug)]
pub struct Worker {
    engine: Arc<Engine>,
    owner: Uuid,
    /// Places of each lane.
    capacity: usize,
    running: RunningJobs,
    /// Passed to crawls.
    settings: Arc<CrawlSettings>,
    accounts: Accounts,
    sender: Sender,
}

impl Worker {
    /// A worker that runs at most `capacity` jobs of each lane at once; the keys open the accounts of projects.
    pub fn new(
        engine: Arc<Engine>,
        capacity: usize,
        settings: CrawlSettings,
        keyring: Arc<Keyring>,
    ) -> Result<Self> {
        let owner = engine.clock.id();
        let outbound = settings.outbound()?;
        let accounts = Accounts::new(&outbound, engine.clock.clone(), keyring);
        let user_agent = settings
            .user_agent
            .replacen("SearchwrightBot/1.0", "Searchwright-Webhooks/1", 1);
        Ok(Self {
            sender: Sender::new(engine.clone(), &outbound, user_agent),
            engine,
            owner,
            capacity,
            running: RunningJobs::default(),
            settings: Arc::new(settings),
            accounts,
        })
    }

    /// Runs jobs until `stop`, then releases unfinished jobs to the queue and returns.
    pub async fn run(self, stop: CancellationToken) {
        let sending = tokio::spawn(self.sender.clone().run(stop.clone()));
        // beside the jobs, so that neither waits for the other
        let ticking = tokio::spawn(schedules::run(self.engine.clone(), self.owner, stop.clone()));
        let mut running = JoinSet::new();
        let mut tick = tokio::time::interval(POLL_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.engine.wake.notified() => {}
                _ = tick.tick() => {}
                Some(_) = running.join_next(), if !running.is_empty() => {}
            }
            if let Err(error) = publish_all_due(&self.engine).await {
                tracing::warn!(%error, "looking for scheduled posts failed; trying again");
            }
            if let Err(error) = self.take(&mut running, &stop).await {
                tracing::warn!(%error, "looking for work failed; trying again");
            }
        }
        while running.join_next().await.is_some() {}
        if let Err(error) = sending.await {
            tracing::error!(%error, "the sender of webhooks ended");
        }
        if let Err(error) = ticking.await {
            tracing::error!(%error, "the ticks of the schedules ended");
        }
    }

    async fn take(
        &self,
        running: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Result<(), searchwright_store::Error> {
        let (owner, at) = (self.owner, self.engine.db.lease_time(&self.engine.clock).await?);
        let poisoned = if jobs::has_expired(&mut self.engine.db.read().await?, at).await? {
            let (own, now) = (self.running.ids(), self.engine.clock.now());
            let db = &self.engine.db;
            db.write(move |tx| Box::pin(async move { jobs::requeue_expired(tx, owner, &own, now, at).await }))
                .await?
        } else {
            Vec::new()
        };
        for leased in poisoned {
            let job = self.context(leased, stop);
            tracing::error!(job = %job.leased.id, "job given up: its worker crashed too often");
            let problem = searchwright_contract::Problem::new(
                searchwright_contract::Code::InternalError,
                "the job was interrupted too often and has been given up",
            );
            end(&job, Err(JobError::GiveUp(Box::new(problem)))).await;
        }
        for lane in Lane::ALL {
            self.take_of_lane(lane, at, running, stop).await?;
        }
        Ok(())
    }

    async fn take_of_lane(
        &self,
        lane: Lane,
        at: LeaseTime,
        running: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Result<(), searchwright_store::Error> {
        let (owner, now) = (self.owner, self.engine.clock.now());
        while jobs::has_due(&mut self.engine.db.read().await?, lane, now).await? {
            if self.running.count(lane) >= self.capacity {
                self.running.end_a_turn(lane, self.engine.clock.steady());
                break;
            }
            let leased = self
                .engine
                .db
                .write(move |tx| Box::pin(async move { jobs::lease(tx, owner, lane, now, at).await }))
                .await?;
            let Some(leased) = leased else { break };
            let job = self.context(leased, stop);
            let place = self.running.insert(
                job.leased.id,
                RunningJob {
                    lane,
                    since: job.since,
                    turn_over: job.turn_over.clone(),
                },
            );
            running.spawn(async move {
                let beating = Beating(tokio::spawn(heartbeat(job.clone())));
                let outcome = AssertUnwindSafe(dispatch::run(job.clone())).catch_unwind().await;
                drop(beating);
                let outcome = outcome.unwrap_or_else(|_| {
                    tracing::error!(job = %job.leased.id, "the job panicked; trying again");
                    Err(JobError::Retry(PANIC_WAIT_MILLIS))
                });
                end(&job, outcome).await;
                drop(place);
            });
        }
        Ok(())
    }

    fn context(&self, leased: LeasedJob, stop: &CancellationToken) -> JobContext {
        JobContext {
            engine: self.engine.clone(),
            leased,
            since: self.engine.clock.steady(),
            settings: self.settings.clone(),
            accounts: self.accounts.clone(),
            canceled: CancellationToken::new(),
            stopping: stop.child_token(),
            turn_over: CancellationToken::new(),
            lost: CancellationToken::new(),
        }
    }
}

async fn heartbeat(job: JobContext) {
    let mut tick = tokio::time::interval(POLL_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut renewed = tokio::time::Instant::now();
    loop {
        tick.tick().await;
        let is_due = renewed.elapsed() >= HEARTBEAT;
        match hear(&job, is_due).await {
            Ok(LeaseStatus::Lost) => job.lost.cancel(),
            Ok(beat) => {
                if is_due {
                    renewed = tokio::time::Instant::now();
                }
                if beat == LeaseStatus::Cancel {
                    job.canceled.cancel();
                }
            }
            // What cannot be renewed must be let go before another worker may take it.
            Err(_) if renewed.elapsed() > HEARTBEAT * 5 => job.lost.cancel(),
            Err(error) => tracing::warn!(%error, "lease not renewed"),
        }
    }
}

async fn hear(job: &JobContext, renew: bool) -> Result<LeaseStatus, searchwright_store::Error> {
    let db = &job.engine.db;
    if !renew {
        return jobs::check_lease(&mut db.read().await?, &job.leased).await;
    }
    let (leased, at) = (job.lease_now(), db.lease_time(&job.engine.clock).await?);
    db.write(move |tx| Box::pin(async move { jobs::renew_lease(tx, &leased, at).await }))
        .await
}

async fn end(job: &JobContext, outcome: Result<serde_json::Value, JobError>) {
    let now = job.engine.clock.now();
    let failure = match &outcome {
        Err(JobError::AuditFailed(failure, _)) => *failure,
        _ => AuditFailure::Internal,
    };
    let end = match outcome {
        Ok(result) => JobEnd::Succeeded(result),
        Err(JobError::Lost) => return,
        Err(JobError::Canceled) => JobEnd::Canceled,
        Err(JobError::Released) => JobEnd::Released,
        Err(JobError::GiveUp(problem) | JobError::AuditFailed(_, problem)) => JobEnd::Failed(problem),
        Err(JobError::Uncertain(problem)) => JobEnd::Uncertain(problem),
        Err(JobError::Wait(millis)) => JobEnd::Waits(now.plus_millis(millis)),
        Err(JobError::Retry(_)) if job.leased.attempt >= MAX_ATTEMPTS => {
            JobEnd::Failed(Box::new(searchwright_contract::Problem::new(
                searchwright_contract::Code::InternalError,
                format!("the job was tried {MAX_ATTEMPTS} times without success"),
            )))
        }
        Err(JobError::Retry(after)) => JobEnd::Retry(now.plus_millis(job.backoff(after))),
    };
    let problem = end.problem().map(ToString::to_string);
    tracing::info!(job = %job.leased.id, end = end.name(), problem, "job ended");
    let leased = job.lease_now();
    let payload = Job::read(leased.payload.clone()).ok();
    let engine = job.engine.clone();
    let written = job
        .engine
        .db
        .write(move |tx| {
            Box::pin(async move {
                if let Some(payload) = payload
                    && !matches!(end, JobEnd::Retry(_) | JobEnd::Waits(_) | JobEnd::Released)
                    && jobs::holds_lease(tx, &leased).await?
                {
                    dispatch::clean_up(&engine, tx, &leased, &payload, &end, failure, now).await?;
                }
                if !jobs::finish(tx, &leased, end, now).await? {
                    return Err(JobError::Lost);
                }
                Ok(())
            })
        })
        .await;
    job.engine.happened.notify_one();
    if let Err(error) = written {
        // Another worker has the job, or finds it where it was when the lease has run out.
        tracing::error!(?error, job = %job.leased.id, "the end of a job was not written");
    }
}
