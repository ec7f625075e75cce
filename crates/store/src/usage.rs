//! Monthly usage of a project: counts against quotas, and money against budgets.
//!
//! A month is a calendar month in UTC, whatever the project's time zone: a zone can be changed, and a
//! month must not begin twice. Counts and sums are rows that every change locks, so that two transactions
//! at once exceed neither a quota nor a budget. Amounts are millionths of a US dollar.

mod budget;

use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use searchwright_contract::{Instant, usage::Metric};
use uuid::Uuid;

use crate::{Error, Result, Tx, access::ProjectScope, sql, transfer::imports::UNDER_WAY_ID};

pub use budget::{
    BudgetExceeded, Charge, ChargeStatus, DaySpend, NewReservation, ProviderSpend, Reservation, budget_left,
    list_spend, record_charge, release, reserve, set_budget, set_daily_budget, settle, spend_of_day,
};

/// A calendar month in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month {
    /// First instant.
    pub start: Instant,
    /// First instant of the next month, when counts are reset.
    pub end: Instant,
}

impl Month {
    /// Creates the month of an instant.
    pub fn from_instant(at: Instant) -> Self {
        let zoned = Timestamp::from_millisecond(at.millis())
            .map(|t| t.to_zoned(TimeZone::UTC))
            .unwrap_or_default();
        let first = zoned.date().first_of_month();
        let begin = |date: jiff::civil::Date| {
            date.to_zoned(TimeZone::UTC)
                .map_or(at, |z| Instant::from_millis(z.timestamp().as_millisecond()))
        };
        Self {
            start: begin(first),
            end: begin(first.saturating_add(1.month())),
        }
    }
}

/// Error: a quota would be exceeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaExceeded {
    /// Metric that is counted.
    pub metric: Metric,
    /// Maximum per month.
    pub limit: i64,
    /// Usage of this month.
    pub used: i64,
    /// Time at which the count is reset.
    pub resets_at: Instant,
}

/// Usage of a metric, with its quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricUsage {
    /// Metric that is counted.
    pub metric: Metric,
    /// Maximum per month; unlimited if `None`.
    pub limit: Option<i64>,
    /// Usage of this month.
    pub used: i64,
}

/// Returns [`Error::Defect`] for a negative amount.
fn check_amount(n: i64) -> Result<()> {
    if n < 0 {
        return Err(Error::Defect(format!("an amount of {n}")));
    }
    Ok(())
}

/// Adds `n` to the usage of a metric, in the caller's transaction. Adds nothing if that would exceed the quota.
pub async fn consume(
    tx: &mut Tx,
    scope: ProjectScope,
    metric: Metric,
    n: i64,
    now: Instant,
) -> Result<Result<(), QuotaExceeded>> {
    check_amount(n)?;
    if n == 0 {
        return Ok(Ok(()));
    }
    let month = Month::from_instant(now);
    sql("INSERT INTO usage_counts (project_id, month, metric, used) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING")
        .bind(scope.project())
        .bind(month.start)
        .bind(metric.as_str())
        .execute(tx)
        .await?;
    // A second transaction waits here for the first, and then sees its count.
    let updated = sql(
        "UPDATE usage_counts SET used = used + $4 WHERE project_id = $1 AND month = $2 AND metric = $3
         AND (used + $4 <= (SELECT q.most FROM quotas q WHERE q.project_id = $1 AND q.metric = $3)
            OR NOT EXISTS (SELECT 1 FROM quotas q WHERE q.project_id = $1 AND q.metric = $3))",
    )
    .bind(scope.project())
    .bind(month.start)
    .bind(metric.as_str())
    .bind(n)
    .execute(tx)
    .await?;
    if updated == 1 {
        return Ok(Ok(()));
    }
    sql("SELECT q.most, u.used FROM quotas q JOIN usage_counts u ON u.project_id = q.project_id AND u.metric = q.metric
         WHERE q.project_id = $1 AND u.month = $2 AND q.metric = $3")
    .bind(scope.project())
    .bind(month.start)
    .bind(metric.as_str())
    .fetch_one(tx, |c| Ok(QuotaExceeded { metric, limit: c.take()?, used: c.take()?, resets_at: month.end }))
    .await
    .map(Err)
}

/// Subtracts usage that was added at `consumed_at` and not used.
pub async fn refund(
    tx: &mut Tx,
    scope: ProjectScope,
    metric: Metric,
    n: i64,
    consumed_at: Instant,
) -> Result<()> {
    check_amount(n)?;
    sql(
        "UPDATE usage_counts SET used = CASE WHEN used > $4 THEN used - $4 ELSE 0 END
         WHERE project_id = $1 AND month = $2 AND metric = $3",
    )
    .bind(scope.project())
    .bind(Month::from_instant(consumed_at).start)
    .bind(metric.as_str())
    .bind(n)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the usage of all metrics in this month.
pub async fn list_usage(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<Vec<MetricUsage>> {
    let known: Vec<(String, Option<i64>, i64)> = sql(
        "SELECT m.metric, max(m.most), coalesce(CAST(sum(m.used) AS BIGINT), 0)
         FROM (SELECT metric, most, 0 AS used FROM quotas WHERE project_id = $1
            UNION ALL SELECT metric, NULL, used FROM usage_counts WHERE project_id = $1 AND month = $2) m
         GROUP BY m.metric",
    )
    .bind(scope.project())
    .bind(Month::from_instant(now).start)
    .fetch_all(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
    .await?;
    let usage_of = |metric: &Metric| {
        let (limit, used) = known
            .iter()
            .find(|(name, ..)| name == metric.as_str())
            .map_or((None, 0), |(_, limit, used)| (*limit, *used));
        MetricUsage {
            metric: *metric,
            limit,
            used,
        }
    };
    Ok(Metric::ALL.iter().map(usage_of).collect())
}

/// Sets or, with `None`, deletes a quota. [`Error::Dangling`] if there is no such project.
pub async fn set_quota(tx: &mut Tx, project: Uuid, metric: Metric, limit: Option<i64>) -> Result<()> {
    let text = match limit {
        Some(_) => {
            "INSERT INTO quotas (project_id, metric, most) VALUES ($1, $2, $3)
            ON CONFLICT (project_id, metric) DO UPDATE SET most = $3"
        }
        None => "DELETE FROM quotas WHERE project_id = $1 AND metric = $2",
    };
    set_limit(tx, text, project, Some(metric.as_str()), limit).await
}

/// Sets a limit; [`Error::Dangling`] if there is no such project, or its import has not ended.
async fn set_limit(
    tx: &mut Tx,
    text: &'static str,
    project: Uuid,
    name: Option<&str>,
    limit: Option<i64>,
) -> Result<()> {
    let known = sql("SELECT 1 FROM projects WHERE id = $1 AND workspace_id <> $2")
        .bind(project)
        .bind(UNDER_WAY_ID)
        .fetch_optional(tx, |_| Ok(()))
        .await?;
    known.ok_or(Error::Dangling)?;
    let mut statement = sql(text).bind(project);
    if let Some(name) = name {
        statement = statement.bind(name);
    }
    match limit {
        Some(limit) => {
            check_amount(limit)?;
            statement.bind(limit)
        }
        None => statement,
    }
    .execute(tx)
    .await?;
    Ok(())
}
