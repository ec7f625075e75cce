//! Quotas that all servers on one PostgreSQL count together.
//!
//! A server takes units out of the shared bucket for the next moment, as many as were used in the last one: a client that
//! sends fast costs a look into the database now and then, one that sends slowly costs one for each request. What was taken
//! and not used within a second is lost to the client, and is never more than it used in the second before.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use searchwright_contract::Instant;
use searchwright_engine::Engine;
use searchwright_store::{
    Error,
    rate_limits::{self, UnitOrder, UnitsTaken},
};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::rate_limit::{Quota, Standing};

/// Milliseconds for which units that were taken count.
const RESERVE_MILLIS: i64 = 1_000;
/// Milliseconds for which a bucket that had no unit is not asked again, at most.
const REFUSED_MILLIS: i64 = 250;
/// Share of a quota that a server takes at once, at most: a twentieth.
const MAX_SHARE: u32 = 20;
/// Buckets that are remembered before unused ones are swept out.
const SWEEP: usize = 4_096;
/// Milliseconds after which the clock of the database is read again.
const CLOCK_MILLIS: i64 = 60_000;

/// A bucket: its owner and name.
pub type Bucket = (Uuid, &'static str);

/// Units that this server has taken of a shared bucket.
#[derive(Clone, Copy, Debug, Default)]
struct Reserve {
    units: u32,
    /// Units used since they were taken.
    used: u32,
    taken_at: Instant,
    /// Units left in the shared bucket when it was asked.
    left: u32,
    refused_until: Instant,
    /// Time at which the shared bucket is full again.
    full_at: Instant,
}

/// Quotas of all servers on one database.
#[derive(Debug, Default)]
pub struct SharedLimits {
    reserves: std::sync::Mutex<HashMap<Bucket, Arc<Mutex<Reserve>>>>,
    /// Milliseconds from the steady time of this process to the time of the database, and when it was read.
    offset: AtomicI64,
    read_at: AtomicI64,
}

impl SharedLimits {
    fn reserve(&self, bucket: Bucket) -> Arc<Mutex<Reserve>> {
        let mut reserves = self.reserves.lock().unwrap_or_else(PoisonError::into_inner);
        if reserves.len() > SWEEP {
            reserves.retain(|_, reserve| Arc::strong_count(reserve) > 1);
        }
        reserves.entry(bucket).or_default().clone()
    }

    /// Takes a unit of a bucket, if there is one in the sum of all servers.
    pub async fn take(&self, engine: &Engine, bucket: Bucket, quota: Quota) -> Result<Standing, Error> {
        let shared = self.reserve(bucket);
        let mut reserve = shared.lock().await;
        let now = engine.clock.steady();
        if reserve.refused_until > now {
            return Ok(refused(&reserve, quota, now));
        }
        if reserve.units == 0 || reserve.taken_at.plus_millis(RESERVE_MILLIS) <= now {
            // those that wait here want a unit as well
            let waiting = u32::try_from(Arc::strong_count(&shared))
                .unwrap_or(u32::MAX)
                .saturating_sub(1);
            let is_recent = reserve.taken_at.plus_millis(RESERVE_MILLIS) > now;
            let used = if is_recent { reserve.used } else { 0 };
            let most = (quota.units / MAX_SHARE).max(1);
            let wanted = used.max(waiting).clamp(1, most);
            let mut taken = self.fetch(engine, bucket, quota, wanted).await?;
            let units = if taken.is_granted { wanted } else { 1 };
            if !taken.is_granted && wanted > 1 {
                taken = self.fetch(engine, bucket, quota, 1).await?;
            }
            let window = quota.window_millis.saturating_mul(1_000);
            *reserve = Reserve {
                units: if taken.is_granted { units } else { 0 },
                used: 0,
                taken_at: now,
                left: u32::try_from((window - taken.full_in) / quota.step_micros()).unwrap_or(0),
                refused_until: Instant::default(),
                full_at: now.plus_millis(taken.full_in / 1_000),
            };
        }
        if reserve.units == 0 {
            let standing = refused(&reserve, quota, now);
            let wait = i64::from(standing.reset)
                .saturating_mul(1_000)
                .min(REFUSED_MILLIS);
            reserve.refused_until = now.plus_millis(wait);
            return Ok(standing);
        }
        reserve.units -= 1;
        reserve.used += 1;
        Ok(Standing {
            allowed: true,
            limit: quota.units,
            remaining: reserve.left + reserve.units,
            reset: seconds(reserve.full_at.millis() - now.millis()),
        })
    }

    /// Gives a unit back that was taken for a request which another quota then refused.
    pub async fn give_back(&self, bucket: Bucket) {
        self.reserve(bucket).lock().await.units += 1;
    }

    async fn fetch(
        &self,
        engine: &Engine,
        bucket: Bucket,
        quota: Quota,
        units: u32,
    ) -> Result<UnitsTaken, Error> {
        let order = UnitOrder {
            owner: bucket.0,
            bucket: bucket.1,
            units,
            step: quota.step_micros(),
            window: quota.window_millis.saturating_mul(1_000),
            now: self.database_time(engine).await?.saturating_mul(1_000),
        };
        let db = &engine.db;
        db.write(move |tx| Box::pin(async move { rate_limits::take(tx, order).await }))
            .await
    }

    /// Milliseconds of the database's clock, which all servers count by.
    async fn database_time(&self, engine: &Engine) -> Result<i64, Error> {
        let steady = engine.clock.steady().millis();
        let read_at = self.read_at.load(Ordering::Relaxed);
        if read_at == 0 || steady - read_at > CLOCK_MILLIS {
            let database = engine.db.lease_time(&engine.clock).await?.0.millis();
            self.offset.store(database - steady, Ordering::Relaxed);
            self.read_at.store(steady, Ordering::Relaxed);
        }
        Ok(steady + self.offset.load(Ordering::Relaxed))
    }
}

fn refused(reserve: &Reserve, quota: Quota, now: Instant) -> Standing {
    let until_full = reserve.full_at.millis() - now.millis();
    let step = quota.step_micros().div_euclid(1_000);
    Standing {
        allowed: false,
        limit: quota.units,
        remaining: 0,
        reset: seconds(until_full + step - quota.window_millis).max(1),
    }
}

fn seconds(millis: i64) -> u32 {
    u32::try_from(millis.max(0).div_euclid(1_000) + i64::from(millis.rem_euclid(1_000) > 0))
        .unwrap_or(u32::MAX)
}
