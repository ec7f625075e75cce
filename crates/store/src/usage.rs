//! What a project uses in a month: counted against quotas, and money against budgets.
//!
//! A month is a calendar month in UTC, whatever the project's time zone: a zone can be changed, and a
//! month must not begin twice. Counts and sums are rows that every change locks, so that neither a quota
//! nor a budget is exceeded by two transactions at once. Amounts are millionths of a US dollar.

mod money;

use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use searchwright_contract::{Instant, usage::Metric};
use uuid::Uuid;

use crate::{Error, Result, Tx, access::ProjectScope, sql};

pub use money::{
    Charge, Intent, NewIntent, OverBudget, Spent, Standing, budget_left, intend, set_budget, settle, spend,
    spent, withdraw,
};

/// A calendar month in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month {
    /// Its first instant.
    pub start: Instant,
    /// The first instant of the next, when counts begin anew.
    pub end: Instant,
}

impl Month {
    /// The month of an instant.
    pub fn of(at: Instant) -> Self {
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

/// A quota that does not allow any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// What is counted.
    pub metric: Metric,
    /// Most per month.
    pub limit: i64,
    /// Used this month.
    pub used: i64,
    /// When counting begins anew.
    pub resets_at: Instant,
}

/// A count with its quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// What is counted.
    pub metric: Metric,
    /// Most per month; unlimited if `None`.
    pub limit: Option<i64>,
    /// Used this month.
    pub used: i64,
}

fn positive(n: i64) -> Result<()> {
    if n < 0 {
        return Err(Error::Defect(format!("an amount of {n}")));
    }
    Ok(())
}

/// Counts `n` more of something in the caller's transaction, or nothing if that were above the quota.
pub async fn take(
    tx: &mut Tx,
    scope: ProjectScope,
    metric: Metric,
    n: i64,
    now: Instant,
) -> Result<Result<(), Exceeded>> {
    positive(n)?;
    if n == 0 {
        return Ok(Ok(()));
    }
    let month = Month::of(now);
    sql("INSERT INTO usage_counts (project_id, month, metric, used) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING")
        .bind(scope.project())
        .bind(month.start)
        .bind(metric.as_str())
        .execute(tx)
        .await?;
    // A second transaction waits here for the first, and then sees what that one counted.
    let taken = sql(
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
    if taken == 1 {
        return Ok(Ok(()));
    }
    sql("SELECT q.most, u.used FROM quotas q JOIN usage_counts u ON u.project_id = q.project_id AND u.metric = q.metric
         WHERE q.project_id = $1 AND u.month = $2 AND q.metric = $3")
    .bind(scope.project())
    .bind(month.start)
    .bind(metric.as_str())
    .fetch_one(tx, |c| Ok(Exceeded { metric, limit: c.take()?, used: c.take()?, resets_at: month.end }))
    .await
    .map(Err)
}

/// Takes back what was counted at `taken_at` and then not used.
pub async fn give_back(
    tx: &mut Tx,
    scope: ProjectScope,
    metric: Metric,
    n: i64,
    taken_at: Instant,
) -> Result<()> {
    positive(n)?;
    sql(
        "UPDATE usage_counts SET used = CASE WHEN used > $4 THEN used - $4 ELSE 0 END
         WHERE project_id = $1 AND month = $2 AND metric = $3",
    )
    .bind(scope.project())
    .bind(Month::of(taken_at).start)
    .bind(metric.as_str())
    .bind(n)
    .execute(tx)
    .await?;
    Ok(())
}

/// Every metric with what was used of it this month.
pub async fn counts(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<Vec<Count>> {
    let known: Vec<(String, Option<i64>, i64)> = sql(
        "SELECT m.metric, max(m.most), coalesce(CAST(sum(m.used) AS BIGINT), 0)
         FROM (SELECT metric, most, 0 AS used FROM quotas WHERE project_id = $1
            UNION ALL SELECT metric, NULL, used FROM usage_counts WHERE project_id = $1 AND month = $2) m
         GROUP BY m.metric",
    )
    .bind(scope.project())
    .bind(Month::of(now).start)
    .fetch_all(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
    .await?;
    let count = |metric: &Metric| {
        let (limit, used) = known
            .iter()
            .find(|(name, ..)| name == metric.as_str())
            .map_or((None, 0), |(_, limit, used)| (*limit, *used));
        Count {
            metric: *metric,
            limit,
            used,
        }
    };
    Ok(Metric::ALL.iter().map(count).collect())
}

/// Sets a quota; `None` takes it away. [`Error::Dangling`] without the project.
pub async fn set_quota(tx: &mut Tx, project: Uuid, metric: Metric, limit: Option<i64>) -> Result<()> {
    let text = match limit {
        Some(_) => {
            "INSERT INTO quotas (project_id, metric, most) VALUES ($1, $2, $3)
            ON CONFLICT (project_id, metric) DO UPDATE SET most = $3"
        }
        None => "DELETE FROM quotas WHERE project_id = $1 AND metric = $2",
    };
    set(tx, text, project, metric.as_str(), limit).await
}

async fn set(tx: &mut Tx, text: &'static str, project: Uuid, name: &str, limit: Option<i64>) -> Result<()> {
    let known = sql("SELECT 1 FROM projects WHERE id = $1")
        .bind(project)
        .fetch_optional(tx, |_| Ok(()))
        .await?;
    known.ok_or(Error::Dangling)?;
    let statement = sql(text).bind(project).bind(name);
    match limit {
        Some(limit) => {
            positive(limit)?;
            statement.bind(limit)
        }
        None => statement,
    }
    .execute(tx)
    .await?;
    Ok(())
}
