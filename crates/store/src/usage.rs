//! What a project uses in a month: counted against quotas, and money against budgets.
//!
//! A month is a calendar month in UTC, whatever the project's time zone: a zone can be changed, and a
//! month must not begin twice. Counts and sums are rows that every change locks, so that neither a quota
//! nor a budget is exceeded by two transactions at once. Amounts are millionths of a US dollar.

use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use searchwright_contract::{Instant, usage::Metric};
use uuid::Uuid;

use crate::{Error, Result, Tx, access::ProjectScope, sql};

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
        .run(tx)
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
    .run(tx)
    .await?;
    if taken == 1 {
        return Ok(Ok(()));
    }
    sql("SELECT q.most, u.used FROM quotas q JOIN usage_counts u ON u.project_id = q.project_id AND u.metric = q.metric
         WHERE q.project_id = $1 AND u.month = $2 AND q.metric = $3")
    .bind(scope.project())
    .bind(month.start)
    .bind(metric.as_str())
    .one(tx, |c| Ok(Exceeded { metric, limit: c.take()?, used: c.take()?, resets_at: month.end }))
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
    .run(tx)
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
    .all(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
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

/// Sets what may be spent at a provider per month; `None` takes the budget away. [`Error::Dangling`] without the project.
pub async fn set_budget(tx: &mut Tx, project: Uuid, provider: &str, limit: Option<i64>) -> Result<()> {
    let text = match limit {
        Some(_) => {
            "INSERT INTO budgets (project_id, provider, most) VALUES ($1, $2, $3)
            ON CONFLICT (project_id, provider) DO UPDATE SET most = $3"
        }
        None => "DELETE FROM budgets WHERE project_id = $1 AND provider = $2",
    };
    set(tx, text, project, provider, limit).await
}

async fn set(tx: &mut Tx, text: &'static str, project: Uuid, name: &str, limit: Option<i64>) -> Result<()> {
    let known = sql("SELECT 1 FROM projects WHERE id = $1")
        .bind(project)
        .optional(tx, |_| Ok(()))
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
    .run(tx)
    .await?;
    Ok(())
}

/// A call that a provider may charge for, about to be made by a job.
#[derive(Clone, Debug)]
pub struct NewIntent {
    /// Identifier, UUIDv7 of now.
    pub id: Uuid,
    /// The job.
    pub job: Uuid,
    /// What within the job; the job does it once, whatever happens.
    pub step: String,
    /// Who charges.
    pub provider: String,
    /// What for, for people.
    pub what: String,
    /// What it may cost at most, as far as one can know; 0 when nobody knows.
    pub estimate: i64,
}

/// The record of such a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Pass it to [`settle`].
    pub id: Uuid,
    /// What an earlier attempt left.
    pub standing: Standing,
}

/// Where a call stands that may be charged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nobody has made the call.
    New,
    /// An earlier attempt may have made it and did not live to say so. It may have been charged for.
    Uncertain,
    /// It was made, and this is what it cost; `None` if the provider did not say.
    Ended(Option<i64>),
}

/// A budget that does not allow any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverBudget {
    /// Who charges.
    pub provider: String,
    /// Most per month.
    pub limit: i64,
    /// Spent this month, what is uncertain included.
    pub used: i64,
    /// When the next month begins.
    pub resets_at: Instant,
}

/// Notes, before a call, that it will be charged for. One (job, step) is one charge however often it is
/// noted; its estimate counts as uncertain until [`settle`] says what it cost.
pub async fn intend(
    tx: &mut Tx,
    scope: ProjectScope,
    new: NewIntent,
    now: Instant,
) -> Result<Result<Intent, OverBudget>> {
    positive(new.estimate)?;
    let month = Month::of(now);
    let added = sql(
        "INSERT INTO charges (project_id, id, month, provider, what, job_id, step, estimate, begun_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (project_id, job_id, step) DO NOTHING",
    )
    .bind(scope.project())
    .bind(new.id)
    .bind(month.start)
    .bind(&new.provider)
    .bind(new.what)
    .bind(new.job)
    .bind(&new.step)
    .bind(new.estimate)
    .bind(now)
    .run(tx)
    .await?;
    if added == 0 {
        return sql("SELECT id, ended_at IS NULL, actual FROM charges WHERE project_id = $1 AND job_id = $2 AND step = $3")
            .bind(scope.project())
            .bind(new.job)
            .bind(new.step)
            .one(tx, |c| {
                let (id, open): (Uuid, bool) = (c.take()?, c.take()?);
                let actual = c.take()?;
                let standing = if open { Standing::Uncertain } else { Standing::Ended(actual) };
                Ok(Ok(Intent { id, standing }))
            })
            .await;
    }
    add(tx, scope, month, &new.provider, 0, new.estimate).await?;
    // The sum is locked by now: whoever comes later sees this charge in it.
    let Some(left) = budget_left(tx, scope, &new.provider, now).await? else {
        return Ok(Ok(Intent {
            id: new.id,
            standing: Standing::New,
        }));
    };
    if left >= 0 {
        return Ok(Ok(Intent {
            id: new.id,
            standing: Standing::New,
        }));
    }
    add(tx, scope, month, &new.provider, 0, -new.estimate).await?;
    sql("DELETE FROM charges WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(new.id)
        .run(tx)
        .await?;
    let limit = budget(tx, scope, &new.provider).await?.unwrap_or(0);
    Ok(Err(OverBudget {
        used: limit - left - new.estimate,
        provider: new.provider,
        limit,
        resets_at: month.end,
    }))
}

/// Says that a call has ended and what it cost: 0 if it is known that nothing was charged, `None` if nobody
/// can say, which keeps its estimate uncertain. The first price stays; `false` if there was one.
pub async fn settle(
    tx: &mut Tx,
    scope: ProjectScope,
    intent: Uuid,
    actual: Option<i64>,
    now: Instant,
) -> Result<bool> {
    actual.map_or(Ok(()), positive)?;
    let settled: Option<(Instant, String, i64)> = sql(
        "UPDATE charges SET actual = $3, ended_at = $4 WHERE project_id = $1 AND id = $2 AND actual IS NULL
         RETURNING month, provider, estimate",
    )
    .bind(scope.project())
    .bind(intent)
    .bind(actual)
    .bind(now)
    .optional(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
    .await?;
    let Some((begun, provider, estimate)) = settled else {
        return Ok(false);
    };
    if let Some(actual) = actual {
        add(tx, scope, Month::of(begun), &provider, actual, -estimate).await?;
    }
    Ok(true)
}

/// A charge that was not foreseen, noted with what it cost.
#[derive(Clone, Debug)]
pub struct Charge {
    /// Identifier, UUIDv7 of now.
    pub id: Uuid,
    /// Who charges.
    pub provider: String,
    /// What for, for people.
    pub what: String,
    /// What it cost; `None` if the provider did not say.
    pub actual: Option<i64>,
}

/// Notes a charge that has happened, also above the budget.
pub async fn spend(tx: &mut Tx, scope: ProjectScope, charge: Charge, now: Instant) -> Result<()> {
    charge.actual.map_or(Ok(()), positive)?;
    let month = Month::of(now);
    sql(
        "INSERT INTO charges (project_id, id, month, provider, what, estimate, actual, begun_at, ended_at)
         VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $7)",
    )
    .bind(scope.project())
    .bind(charge.id)
    .bind(month.start)
    .bind(&charge.provider)
    .bind(charge.what)
    .bind(charge.actual)
    .bind(now)
    .run(tx)
    .await?;
    add(tx, scope, month, &charge.provider, charge.actual.unwrap_or(0), 0).await
}

async fn add(
    tx: &mut Tx,
    scope: ProjectScope,
    month: Month,
    provider: &str,
    settled: i64,
    uncertain: i64,
) -> Result<()> {
    sql(
        "INSERT INTO spend (project_id, month, provider, settled, uncertain) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project_id, month, provider)
         DO UPDATE SET settled = spend.settled + $4, uncertain = spend.uncertain + $5",
    )
    .bind(scope.project())
    .bind(month.start)
    .bind(provider)
    .bind(settled)
    .bind(uncertain)
    .run(tx)
    .await?;
    Ok(())
}

async fn budget(tx: &mut Tx, scope: ProjectScope, provider: &str) -> Result<Option<i64>> {
    sql("SELECT most FROM budgets WHERE project_id = $1 AND provider = $2")
        .bind(scope.project())
        .bind(provider)
        .optional(tx, |c| c.take())
        .await
}

/// What may still be spent at a provider this month, below 0 if more was; `None` without a budget.
pub async fn budget_left(
    tx: &mut Tx,
    scope: ProjectScope,
    provider: &str,
    now: Instant,
) -> Result<Option<i64>> {
    sql(
        "SELECT b.most - coalesce(s.settled + s.uncertain, 0) FROM budgets b
         LEFT JOIN spend s ON s.project_id = b.project_id AND s.provider = b.provider AND s.month = $3
         WHERE b.project_id = $1 AND b.provider = $2",
    )
    .bind(scope.project())
    .bind(provider)
    .bind(Month::of(now).start)
    .optional(tx, |c| c.take())
    .await
}

/// What was spent at a provider this month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Who charges.
    pub provider: String,
    /// Most per month; unlimited if `None`.
    pub budget: Option<i64>,
    /// Known to have been charged.
    pub settled: i64,
    /// Estimates of calls whose price is not known: under way, cut off by a crash, or never told.
    pub uncertain: i64,
    /// How many calls those are.
    pub uncertain_calls: i64,
}

/// Every provider that has a budget or was paid this month, by name.
pub async fn spent(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<Vec<Spent>> {
    sql("SELECT m.provider, max(m.most), coalesce(CAST(sum(m.settled) AS BIGINT), 0), coalesce(CAST(sum(m.uncertain) AS BIGINT), 0),
            coalesce(CAST(sum(m.calls) AS BIGINT), 0)
         FROM (SELECT provider, most, 0 AS settled, 0 AS uncertain, 0 AS calls FROM budgets WHERE project_id = $1
            UNION ALL SELECT provider, NULL, settled, uncertain, 0 FROM spend WHERE project_id = $1 AND month = $2
            UNION ALL SELECT provider, NULL, 0, 0, 1 FROM charges WHERE project_id = $1 AND month = $2 AND actual IS NULL) m
         GROUP BY m.provider ORDER BY m.provider")
    .bind(scope.project())
    .bind(Month::of(now).start)
    .all(tx, |c| {
        Ok(Spent {
            provider: c.take()?,
            budget: c.take()?,
            settled: c.take()?,
            uncertain: c.take()?,
            uncertain_calls: c.take()?,
        })
    })
    .await
}
