//! The worker: leases a job, runs it with no transaction open, renews the lease, and ends it under its
//! fence. Any number of them run side by side without a leader.

use std::{sync::Arc, time::Duration};

use searchwright_contract::Instant;
use searchwright_store::{
    Tx,
    jobs::{self, Beat, End, Leased},
    publications, rechecks,
    seal::Keyring,
};
use tokio::{task::JoinSet, time::MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{
    Job, JobError, audit, generate_post, keyword_clusters, keyword_generation, keyword_metrics, publish,
    recheck, rescore, verify_publication,
};
use crate::{
    Engine, failure::Result, operations::publishing::publish_due, providers::Providers, webhooks::Sender,
};

/// How often an idle worker looks, when nothing woke it: the truth behind every wake-up. So often a busy one looks
/// whether its job is to be stopped.
const POLL: Duration = Duration::from_secs(1);
/// How often a lease is renewed; a sixth of its length.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Backoff of the first retry, doubled with each attempt up to an hour.
const LONGEST_BACKOFF_MILLIS: i64 = 3_600_000;
/// Attempts after which a job that asks to be retried is given up.
const MOST_ATTEMPTS: i64 = 8;
/// Scheduled posts that are let go at a time, those of many projects before many of one.
const DUE: u32 = 100;

/// Runs jobs until it is told to stop.
#[derive(Debug)]
pub struct Worker {
    engine: Arc<Engine>,
    owner: Uuid,
    capacity: usize,
    /// Passed to crawls.
    settings: Arc<audit::Settings>,
    providers: Providers,
    sender: Sender,
}

/// What a running job holds on to.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) engine: Arc<Engine>,
    pub(super) leased: Leased,
    pub(super) settings: Arc<audit::Settings>,
    pub(super) providers: Providers,
    /// Somebody asked for it to be stopped.
    pub(super) canceled: CancellationToken,
    /// The worker is shutting down.
    pub(super) stopping: CancellationToken,
    /// The lease is gone.
    pub(super) lost: CancellationToken,
}

impl Run {
    /// Ends when any of the three reasons to stop does.
    pub(super) async fn interrupted(&self) -> JobError {
        tokio::select! {
            biased;
            () = self.lost.cancelled() => JobError::Lost,
            () = self.canceled.cancelled() => JobError::Canceled,
            () = self.stopping.cancelled() => JobError::Released,
        }
    }
}

impl Worker {
    /// A worker that runs at most `capacity` jobs at once; the keys open the accounts of projects.
    pub fn new(
        engine: Arc<Engine>,
        capacity: usize,
        settings: audit::Settings,
        keyring: Arc<Keyring>,
    ) -> Result<Self> {
        let owner = engine.clock.id();
        let outbound = audit::outbound(&settings)?;
        let providers = Providers::new(&outbound, engine.clock.clone(), keyring);
        let user_agent = settings
            .user_agent
            .replacen("SearchwrightBot/1.0", "Searchwright-Webhooks/1", 1);
        Ok(Self {
            sender: Sender::new(engine.clone(), &outbound, user_agent),
            engine,
            owner,
            capacity,
            settings: Arc::new(settings),
            providers,
        })
    }

    /// Works until `stop`, then gives back what is unfinished and returns.
    pub async fn run(self, stop: CancellationToken) {
        let sending = tokio::spawn(self.sender.clone().run(stop.clone()));
        let mut running = JoinSet::new();
        let mut tick = tokio::time::interval(POLL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.engine.wake.notified() => {}
                _ = tick.tick() => {}
                Some(_) = running.join_next(), if !running.is_empty() => {}
            }
            if let Err(error) = self.publish_due().await {
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
    }

    /// Lets posts go whose time has come, each for itself. Whoever finds one first takes it: its status changes with the job.
    async fn publish_due(&self) -> Result<()> {
        let now = self.engine.clock.now();
        let due = publications::due(&mut self.engine.db.read().await?, now, DUE).await?;
        if due.is_empty() {
            return Ok(());
        }
        for (scope, post) in due {
            let engine = self.engine.clone();
            let write = self
                .engine
                .db
                .write(move |tx| Box::pin(async move { publish_due(&engine, tx, scope, post, now).await }));
            if let Err(error) = write.await {
                // Others do not wait for it, and it is tried again at the next look.
                tracing::error!(%error, %post, "a scheduled post was not let go");
            }
        }
        self.engine.happened.notify_one();
        Ok(())
    }

    async fn take(
        &self,
        running: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Result<(), searchwright_store::Error> {
        let now = self.engine.clock.now();
        if !jobs::any_due(&mut self.engine.db.read().await?, now).await? {
            return Ok(());
        }
        let owner = self.owner;
        let poisoned = self
            .engine
            .db
            .write(move |tx| Box::pin(async move { jobs::rescue(tx, owner, now).await }))
            .await?;
        for leased in poisoned {
            let run = self.run_of(leased, stop);
            tracing::error!(job = %run.leased.id, "job given up: its worker crashed too often");
            let problem = searchwright_contract::Problem::new(
                searchwright_contract::Code::InternalError,
                "the job was interrupted too often and has been given up",
            );
            end(&run, Err(JobError::GiveUp(Box::new(problem)))).await;
        }
        while running.len() < self.capacity {
            let leased = self
                .engine
                .db
                .write(move |tx| Box::pin(async move { jobs::lease(tx, owner, now).await }))
                .await?;
            let Some(leased) = leased else { break };
            let run = self.run_of(leased, stop);
            running.spawn(async move {
                let beating = tokio::spawn(heartbeat(run.clone()));
                let outcome = work(run.clone()).await;
                beating.abort();
                end(&run, outcome).await;
            });
        }
        Ok(())
    }

    fn run_of(&self, leased: Leased, stop: &CancellationToken) -> Run {
        Run {
            engine: self.engine.clone(),
            leased,
            settings: self.settings.clone(),
            providers: self.providers.clone(),
            canceled: CancellationToken::new(),
            stopping: stop.child_token(),
            lost: CancellationToken::new(),
        }
    }
}

async fn work(run: Run) -> Result<serde_json::Value, JobError> {
    tracing::info!(job = %run.leased.id, attempt = run.leased.attempt, "job started");
    match Job::read(run.leased.payload.clone()).map_err(JobError::give_up)? {
        Job::Audit { audit_id } => audit::run(run, audit_id).await,
        Job::GenerateKeywords { wanted } => keyword_generation::run(run, wanted).await,
        Job::KeywordMetrics { wanted } => keyword_metrics::run(run, wanted).await,
        Job::ClusterKeywords { language } => keyword_clusters::run(run, language).await,
        Job::Recheck { recheck_id } => recheck::run(run, recheck_id).await,
        Job::Rescore => rescore::run(run).await,
        Job::GeneratePost { order } => generate_post::run(run, order).await,
        Job::PublishPost { attempt_id } => publish::run(run, attempt_id).await,
        Job::VerifyPublication {
            post_id,
            connection_id,
        } => verify_publication::run(run, post_id, connection_id).await,
    }
}

async fn heartbeat(run: Run) {
    let mut tick = tokio::time::interval(POLL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut renewed = tokio::time::Instant::now();
    loop {
        tick.tick().await;
        let is_due = renewed.elapsed() >= HEARTBEAT;
        match hear(&run, is_due).await {
            Ok(Beat::Lost) => run.lost.cancel(),
            Ok(beat) => {
                if is_due {
                    renewed = tokio::time::Instant::now();
                }
                if beat == Beat::Cancel {
                    run.canceled.cancel();
                }
            }
            // What cannot be renewed must be let go before another worker may take it.
            Err(_) if renewed.elapsed() > HEARTBEAT * 5 => run.lost.cancel(),
            Err(error) => tracing::warn!(%error, "lease not renewed"),
        }
    }
}

async fn hear(run: &Run, renew: bool) -> Result<Beat, searchwright_store::Error> {
    let db = &run.engine.db;
    if !renew {
        return jobs::listen(&mut db.read().await?, &run.leased).await;
    }
    let (leased, now) = (run.leased.clone(), run.engine.clock.now());
    db.write(move |tx| Box::pin(async move { jobs::beat(tx, &leased, None, now).await }))
        .await
}

/// Milliseconds until the next attempt after this one.
pub(super) fn backoff(attempt: i64, first: i64) -> i64 {
    let factor = 1i64 << attempt.clamp(0, 20);
    first.saturating_mul(factor).min(LONGEST_BACKOFF_MILLIS)
}

async fn end(run: &Run, outcome: Result<serde_json::Value, JobError>) {
    let now = run.engine.clock.now();
    let end = match outcome {
        Ok(result) => End::Succeeded(result),
        Err(JobError::Lost) => return,
        Err(JobError::Canceled) => End::Canceled,
        Err(JobError::Released) => End::Released,
        Err(JobError::GiveUp(problem)) => End::Failed(problem),
        Err(JobError::Uncertain(problem)) => End::Uncertain(problem),
        Err(JobError::Wait(millis)) => End::Waits(now.plus_millis(millis)),
        Err(JobError::Retry(_)) if run.leased.attempt >= MOST_ATTEMPTS => {
            End::Failed(Box::new(searchwright_contract::Problem::new(
                searchwright_contract::Code::InternalError,
                "tried too often",
            )))
        }
        Err(JobError::Retry(after)) => End::Retry(now.plus_millis(backoff(run.leased.attempt, after))),
    };
    let problem = end.problem().map(ToString::to_string);
    tracing::info!(job = %run.leased.id, end = end.name(), problem, "job ended");
    let leased = run.leased.clone();
    let job = Job::read(leased.payload.clone()).ok();
    let engine = run.engine.clone();
    let written = run
        .engine
        .db
        .write(move |tx| {
            Box::pin(async move {
                if let Some(job) = job
                    && !matches!(end, End::Retry(_) | End::Waits(_) | End::Released)
                    && jobs::holds(tx, &leased).await?
                {
                    over(&engine, tx, &leased, &job, &end, now).await?;
                }
                jobs::finish(tx, &leased, end, now).await
            })
        })
        .await;
    run.engine.happened.notify_one();
    if let Err(error) = written {
        // The lease runs out and another worker finds the job where it was.
        tracing::error!(%error, job = %run.leased.id, "the end of a job was not written");
    }
}

/// What a job that will not be run again leaves behind, written in the transaction that ends it.
async fn over(
    engine: &Engine,
    tx: &mut Tx,
    leased: &Leased,
    job: &Job,
    end: &End,
    now: Instant,
) -> searchwright_store::Result<()> {
    let succeeded = matches!(end, End::Succeeded(_));
    let event = engine.clock.id();
    match job {
        Job::Audit { .. } if !succeeded => audit::over(engine, tx, leased, end, now).await?,
        Job::Recheck { recheck_id } if !succeeded => {
            let why = match end {
                End::Failed(problem) => problem.detail.as_str(),
                _ => "canceled",
            };
            rechecks::abandon(tx, leased.scope, *recheck_id, why, now).await?;
        }
        Job::GeneratePost { order } if !succeeded => {
            generate_post::over(tx, leased, order, end, event, now).await?;
        }
        Job::PublishPost { attempt_id } if !succeeded => {
            publish::over(tx, leased, *attempt_id, end, event, now).await?;
        }
        _ => {}
    }
    let record = jobs::get(tx, leased.scope, leased.id).await?;
    job.give_back(tx, &record, leased.scope, succeeded).await
}
