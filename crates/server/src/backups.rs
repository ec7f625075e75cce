//! Backups of the embedded database by time, made by the process that owns the data folder: a server, or a worker without one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use searchwright_backups::{Backup, BackupError, BackupReason};
use searchwright_contract::{Clock, Instant};
use tokio::{sync::Mutex, time::MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::{Settings, metrics::Metrics, notices::Notices};

/// Interval between two looks whether a backup is due.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);

/// Milliseconds from a backup that failed to the next attempt.
const RETRY_MILLIS: i64 = 15 * 60_000;
const HOUR_MILLIS: i64 = 3_600_000;

/// Backups by time.
#[derive(Debug)]
pub struct Backups {
    /// Milliseconds between two; `None` where none are made.
    every: Option<i64>,
    state: Mutex<BackupState>,
    stop: Arc<AtomicBool>,
}

/// Parts that a backup by time needs, and that are told how it went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackupSurroundings<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) clock: &'a Clock,
    /// `None` in a worker, which has no listener for them.
    pub(crate) metrics: Option<&'a Metrics>,
    pub(crate) notices: &'a Notices,
}

#[derive(Debug, Default)]
struct BackupState {
    /// Time of the newest backup, once it was looked for.
    last: Option<Instant>,
    /// Time of the last attempt if it failed.
    failed_at: Option<Instant>,
}

fn is_within(now: Instant, at: Instant, millis: i64) -> bool {
    now.millis().abs_diff(at.millis()) < millis.unsigned_abs()
}

impl BackupState {
    fn is_due(&self, now: Instant, every: i64) -> bool {
        match (self.failed_at, self.last) {
            (Some(failed), _) => !is_within(now, failed, RETRY_MILLIS),
            (None, Some(last)) => !is_within(now, last, every),
            (None, None) => true,
        }
    }

    async fn made(&mut self, around: BackupSurroundings<'_>, backup: &Backup, now: Instant) {
        let at = backup.manifest.created_at;
        if at == now {
            tracing::info!(backup = %backup.path.display(), bytes = backup.manifest.bytes(), "a backup was made");
        }
        if let Some(metrics) = around.metrics {
            metrics.set_last_backup(at);
        }
        (self.last, self.failed_at) = (Some(at), None);
        warn(around.notices.backup_made().await);
    }

    async fn failed(&mut self, around: BackupSurroundings<'_>, why: &str, now: Instant) {
        tracing::error!(%why, "the backup failed; it is tried again in 15 minutes");
        if let Some(metrics) = around.metrics {
            metrics.backup_failed();
        }
        self.failed_at = Some(now);
        warn(around.notices.backup_failed(why).await);
    }
}

fn warn(told: Result<(), searchwright_store::Error>) {
    if let Err(error) = told {
        tracing::warn!(%error, "no notice could tell how the backups are");
    }
}

impl Backups {
    pub(crate) fn new(settings: &Settings) -> Self {
        let hours = i64::from(settings.backups.every_hours);
        let is_on = settings.database_url.is_empty() && hours > 0;
        Self {
            every: is_on.then_some(hours * HOUR_MILLIS),
            state: Mutex::default(),
            stop: Arc::default(),
        }
    }

    /// Makes backups until `stop`; one that is under way then is given up.
    pub(crate) async fn run(&self, around: BackupSurroundings<'_>, stop: CancellationToken) {
        if self.every.is_none() {
            return;
        }
        let mut tick = tokio::time::interval(LOOK_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = tick.tick() => {}
            }
            let turn = self.turn(around);
            tokio::pin!(turn);
            tokio::select! {
                () = &mut turn => {}
                () = stop.cancelled() => {
                    self.stop();
                    return turn.await;
                }
            }
        }
    }

    /// Gives up a backup that is under way.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Makes a backup if it is time.
    pub(crate) async fn turn(&self, around: BackupSurroundings<'_>) {
        let Some(every) = self.every else { return };
        let mut state = self.state.lock().await;
        let now = around.clock.now();
        if !state.is_due(now, every) {
            return;
        }
        let order = around.settings.backup_order(BackupReason::Schedule);
        let stop = self.stop.clone();
        let made = tokio::task::spawn_blocking(move || {
            // A time ahead of now is of a clock that was wrong: it counts as near as it is.
            let recent = searchwright_backups::list(&order.folder)?
                .into_iter()
                .find(|other| is_within(now, other.manifest.created_at, every));
            match recent {
                Some(recent) => Ok(recent),
                None => searchwright_backups::make(&order, now, &stop),
            }
        })
        .await;
        let why = match made {
            Ok(Ok(backup)) => return state.made(around, &backup, now).await,
            // One that an operator makes is as good; it is found at the next look.
            Ok(Err(BackupError::Busy(_))) => return,
            Ok(Err(error)) => error.to_string(),
            Err(error) => format!("the backup ended: {error}"),
        };
        if !self.stop.load(Ordering::Relaxed) {
            state.failed(around, &why, now).await;
        }
    }
}
