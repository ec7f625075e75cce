//! Rate limits that several servers on one database share (GCRA): for each bucket the time at which it is full again.
//!
//! The table is not written to the log of PostgreSQL: after a crash of the database every bucket is full, and taking units
//! waits for no disk.

use searchwright_contract::Instant;
use uuid::Uuid;

use crate::{Result, Tx, sql};

/// Units to be taken of a bucket. Times are microseconds.
#[derive(Clone, Copy, Debug)]
pub struct UnitOrder {
    /// Owner of the bucket.
    pub owner: Uuid,
    /// Name of the bucket.
    pub bucket: &'static str,
    /// Units.
    pub units: u32,
    /// Time in which one unit comes back.
    pub step: i64,
    /// Time in which all units come back.
    pub window: i64,
    /// Now, by the clock of the database.
    pub now: i64,
}

/// Outcome of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitsTaken {
    /// Whether the units were taken; all or none are.
    pub is_granted: bool,
    /// Microseconds until the bucket is full again.
    pub full_in: i64,
}

/// Takes units of a bucket, if it has so many.
pub async fn take(tx: &mut Tx, order: UnitOrder) -> Result<UnitsTaken> {
    let cost = order.step.saturating_mul(i64::from(order.units));
    // a bucket that is full long after its window was filled by a clock that was ahead
    let taken: Option<i64> = sql(
        "INSERT INTO rate_limits (owner, bucket, full_at) VALUES ($1, $2, CAST($3 AS BIGINT) + CAST($4 AS BIGINT))
         ON CONFLICT (owner, bucket) DO UPDATE SET full_at = CAST($4 AS BIGINT) + CASE
             WHEN rate_limits.full_at BETWEEN CAST($3 AS BIGINT) AND CAST($3 AS BIGINT) + 2 * CAST($5 AS BIGINT)
             THEN rate_limits.full_at ELSE CAST($3 AS BIGINT) END
         WHERE CAST($4 AS BIGINT) + CASE
             WHEN rate_limits.full_at BETWEEN CAST($3 AS BIGINT) AND CAST($3 AS BIGINT) + 2 * CAST($5 AS BIGINT)
             THEN rate_limits.full_at ELSE CAST($3 AS BIGINT) END <= CAST($3 AS BIGINT) + CAST($5 AS BIGINT)
         RETURNING full_at",
    )
    .bind(order.owner)
    .bind(order.bucket)
    .bind(order.now)
    .bind(cost)
    .bind(order.window)
    .fetch_optional(tx, |c| c.take())
    .await?;
    let full_at = match taken {
        Some(full_at) => full_at,
        None => {
            sql("SELECT full_at FROM rate_limits WHERE owner = $1 AND bucket = $2")
                .bind(order.owner)
                .bind(order.bucket)
                .fetch_one(tx, |c| c.take())
                .await?
        }
    };
    Ok(UnitsTaken {
        is_granted: taken.is_some(),
        full_in: full_at - order.now,
    })
}

/// Deletes the buckets that were full at a time.
pub async fn delete_full(tx: &mut Tx, at: Instant) -> Result<()> {
    sql("DELETE FROM rate_limits WHERE full_at < $1")
        .bind(at.millis().saturating_mul(1_000))
        .execute(tx)
        .await?;
    Ok(())
}
