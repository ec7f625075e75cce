//! Money: what calls to providers cost, and budgets. Amounts are millionths of a US dollar.

use searchwright_contract::Instant;
use uuid::Uuid;

use super::{Month, positive, set};
use crate::{Result, Tx, access::ProjectScope, sql};

/// Sets what may be spent at a provider per month; `None` takes the budget away. [`crate::Error::Dangling`] without the project.
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
    .execute(tx)
    .await?;
    if added == 0 {
        return sql("SELECT id, ended_at IS NULL, actual FROM charges WHERE project_id = $1 AND job_id = $2 AND step = $3")
            .bind(scope.project())
            .bind(new.job)
            .bind(new.step)
            .fetch_one(tx, |c| {
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
        .execute(tx)
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
    .fetch_optional(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
    .await?;
    let Some((begun, provider, estimate)) = settled else {
        return Ok(false);
    };
    if let Some(actual) = actual {
        add(tx, scope, Month::of(begun), &provider, actual, -estimate).await?;
    }
    Ok(true)
}

/// Takes back the note of a call that was refused or never reached anybody, so that it may be made again.
pub async fn withdraw(tx: &mut Tx, scope: ProjectScope, intent: Uuid) -> Result<()> {
    let withdrawn: Option<(Instant, String, i64)> = sql(
        "DELETE FROM charges WHERE project_id = $1 AND id = $2 AND ended_at IS NULL
         RETURNING month, provider, estimate",
    )
    .bind(scope.project())
    .bind(intent)
    .fetch_optional(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
    .await?;
    match withdrawn {
        Some((begun, provider, estimate)) => add(tx, scope, Month::of(begun), &provider, 0, -estimate).await,
        None => Ok(()),
    }
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
    .execute(tx)
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
    .execute(tx)
    .await?;
    Ok(())
}

async fn budget(tx: &mut Tx, scope: ProjectScope, provider: &str) -> Result<Option<i64>> {
    sql("SELECT most FROM budgets WHERE project_id = $1 AND provider = $2")
        .bind(scope.project())
        .bind(provider)
        .fetch_optional(tx, |c| c.take())
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
    .fetch_optional(tx, |c| c.take())
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
    .fetch_all(tx, |c| {
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
