//! Costs of calls to providers, and budgets. Amounts are millionths of a US dollar.
//!
//! A job reserves the estimated cost before a call and settles it afterwards, so that a crash in between leaves the estimate in
//! the sum.

use searchwright_contract::{Instant, ids::JobId};
use uuid::Uuid;

use super::{Month, check_amount, set_limit};
use crate::{Result, Tx, access::ProjectScope, sql};

const DAY_MILLIS: i64 = 86_400_000;

/// Sets or, with `None`, deletes the monthly budget for a provider. [`crate::Error::Dangling`] if there is no such project.
pub async fn set_budget(tx: &mut Tx, project: Uuid, provider: &str, limit: Option<i64>) -> Result<()> {
    let text = match limit {
        Some(_) => {
            "INSERT INTO budgets (project_id, provider, most) VALUES ($1, $2, $3)
            ON CONFLICT (project_id, provider) DO UPDATE SET most = $3"
        }
        None => "DELETE FROM budgets WHERE project_id = $1 AND provider = $2",
    };
    set_limit(tx, text, project, Some(provider), limit).await
}

/// Sets or, with `None`, deletes the most that a project may spend in a day. [`crate::Error::Dangling`] if there is no such project.
pub async fn set_daily_budget(tx: &mut Tx, project: Uuid, limit: Option<i64>) -> Result<()> {
    let text = match limit {
        Some(_) => {
            "INSERT INTO daily_budgets (project_id, most) VALUES ($1, $2) ON CONFLICT (project_id) DO UPDATE SET most = $2"
        }
        None => "DELETE FROM daily_budgets WHERE project_id = $1",
    };
    set_limit(tx, text, project, None, limit).await
}

/// A call of a job that a provider may charge for, before it is made.
#[derive(Clone, Debug)]
pub struct NewReservation {
    /// Identifier, UUIDv7 of now.
    pub id: Uuid,
    /// Id of the job.
    pub job: JobId,
    /// Step of the job; a step is charged once.
    pub step: String,
    /// Provider that charges.
    pub provider: String,
    /// Description for people.
    pub what: String,
    /// Estimated maximum cost; 0 if it is unknown.
    pub estimate: i64,
}

/// Reserved cost of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Identifier, for [`settle`] and [`release`].
    pub id: Uuid,
    /// State that an earlier attempt left.
    pub status: ChargeStatus,
}

/// State of a call that may be charged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeStatus {
    /// The call was not made.
    New,
    /// An earlier attempt may have made the call, and crashed. It may have been charged for.
    Uncertain,
    /// The call was made and cost this; `None` if the provider did not report a price.
    Ended(Option<i64>),
}

/// Error: a budget would be exceeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetExceeded {
    /// Provider whose monthly budget it is; `None` for the daily budget at all providers.
    pub provider: Option<String>,
    /// Budget.
    pub limit: i64,
    /// Cost of this month or day, with uncertain amounts.
    pub used: i64,
    /// Beginning of the next month or day.
    pub resets_at: Instant,
}

/// Reserves the cost of a call. A step of a job is one charge, however often it is reserved; its estimate counts as uncertain
/// until [`settle`].
pub async fn reserve(
    tx: &mut Tx,
    scope: ProjectScope,
    new: NewReservation,
    now: Instant,
) -> Result<Result<Reservation, BudgetExceeded>> {
    check_amount(new.estimate)?;
    let month = Month::from_instant(now);
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
    // An earlier attempt has reserved the cost of this step.
    if added == 0 {
        return sql("SELECT id, ended_at IS NULL, actual FROM charges WHERE project_id = $1 AND job_id = $2 AND step = $3")
            .bind(scope.project())
            .bind(new.job)
            .bind(new.step)
            .fetch_one(tx, |c| {
                let (id, open): (Uuid, bool) = (c.take()?, c.take()?);
                let actual = c.take()?;
                let status = if open { ChargeStatus::Uncertain } else { ChargeStatus::Ended(actual) };
                Ok(Ok(Reservation { id, status }))
            })
            .await;
    }
    add_spend(tx, scope, month, &new.provider, 0, new.estimate).await?;
    // The sum is locked now: a later transaction sees this charge in it.
    let left = budget_left(tx, scope, &new.provider, now).await?;
    let over = match left.filter(|left| *left < 0) {
        Some(left) => {
            let limit = find_budget(tx, scope, &new.provider).await?.unwrap_or(0);
            Some(BudgetExceeded {
                used: limit - left - new.estimate,
                provider: Some(new.provider.clone()),
                limit,
                resets_at: month.end,
            })
        }
        None => over_daily_budget(tx, scope, new.estimate, now).await?,
    };
    let Some(over) = over else {
        return Ok(Ok(Reservation {
            id: new.id,
            status: ChargeStatus::New,
        }));
    };
    // The reservation is undone.
    add_spend(tx, scope, month, &new.provider, 0, -new.estimate).await?;
    sql("DELETE FROM charges WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(new.id)
        .execute(tx)
        .await?;
    Ok(Err(over))
}

/// Returns the excess over the daily budget, after a charge with this estimate was added.
async fn over_daily_budget(
    tx: &mut Tx,
    scope: ProjectScope,
    estimate: i64,
    now: Instant,
) -> Result<Option<BudgetExceeded>> {
    // Locked, because calls to different providers share it.
    let limit: Option<i64> = sql("UPDATE daily_budgets SET most = most WHERE project_id = $1 RETURNING most")
        .bind(scope.project())
        .fetch_optional(tx, |c| c.take())
        .await?;
    let Some(limit) = limit else {
        return Ok(None);
    };
    let day = spend_of_day(tx, scope, now).await?;
    Ok((day.spent > limit).then_some(BudgetExceeded {
        provider: None,
        limit,
        used: day.spent - estimate,
        resets_at: day.resets_at,
    }))
}

/// Cost of a day (UTC) at all providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaySpend {
    /// Daily budget; unlimited if `None`.
    pub limit: Option<i64>,
    /// Sum of known prices, and of estimates where no price is known.
    pub spent: i64,
    /// Beginning of the next day.
    pub resets_at: Instant,
}

/// Returns the cost of the day of an instant.
pub async fn spend_of_day(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<DaySpend> {
    let begin = now.millis() - now.millis().rem_euclid(DAY_MILLIS);
    let spent = sql(
        "SELECT CAST(coalesce(sum(coalesce(actual, estimate)), 0) AS BIGINT) FROM charges WHERE project_id = $1 AND begun_at >= $2",
    )
    .bind(scope.project())
    .bind(Instant::from_millis(begin))
    .fetch_one(tx, |c| c.take())
    .await?;
    let limit = sql("SELECT most FROM daily_budgets WHERE project_id = $1")
        .bind(scope.project())
        .fetch_optional(tx, |c| c.take())
        .await?;
    Ok(DaySpend {
        limit,
        spent,
        resets_at: Instant::from_millis(begin + DAY_MILLIS),
    })
}

/// Records the end of a call and its cost: 0 if nothing was charged, `None` if that is unknown, which leaves the estimate
/// uncertain. Returns `false`, and changes nothing, if it has a price already.
pub async fn settle(
    tx: &mut Tx,
    scope: ProjectScope,
    reservation: Uuid,
    actual: Option<i64>,
    now: Instant,
) -> Result<bool> {
    actual.map_or(Ok(()), check_amount)?;
    let settled: Option<(Instant, String, i64)> = sql(
        "UPDATE charges SET actual = $3, ended_at = $4 WHERE project_id = $1 AND id = $2 AND actual IS NULL
         RETURNING month, provider, estimate",
    )
    .bind(scope.project())
    .bind(reservation)
    .bind(actual)
    .bind(now)
    .fetch_optional(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
    .await?;
    let Some((begun, provider, estimate)) = settled else {
        return Ok(false);
    };
    if let Some(actual) = actual {
        add_spend(
            tx,
            scope,
            Month::from_instant(begun),
            &provider,
            actual,
            -estimate,
        )
        .await?;
    }
    Ok(true)
}

/// Deletes the reservation of a call that was refused or not sent, so that the step may be tried again.
pub async fn release(tx: &mut Tx, scope: ProjectScope, reservation: Uuid) -> Result<()> {
    let released: Option<(Instant, String, i64)> = sql(
        "DELETE FROM charges WHERE project_id = $1 AND id = $2 AND ended_at IS NULL
         RETURNING month, provider, estimate",
    )
    .bind(scope.project())
    .bind(reservation)
    .fetch_optional(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
    .await?;
    match released {
        Some((begun, provider, estimate)) => {
            add_spend(tx, scope, Month::from_instant(begun), &provider, 0, -estimate).await
        }
        None => Ok(()),
    }
}

/// A charge without a reservation.
#[derive(Clone, Debug)]
pub struct Charge {
    /// Identifier, UUIDv7 of now.
    pub id: Uuid,
    /// Provider that charges.
    pub provider: String,
    /// Description for people.
    pub what: String,
    /// Cost; `None` if the provider did not report a price.
    pub actual: Option<i64>,
}

/// Records a charge that has happened, even above the budget.
pub async fn record_charge(tx: &mut Tx, scope: ProjectScope, charge: Charge, now: Instant) -> Result<()> {
    charge.actual.map_or(Ok(()), check_amount)?;
    let month = Month::from_instant(now);
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
    add_spend(tx, scope, month, &charge.provider, charge.actual.unwrap_or(0), 0).await
}

/// Adds amounts to the sums of a month.
async fn add_spend(
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

async fn find_budget(tx: &mut Tx, scope: ProjectScope, provider: &str) -> Result<Option<i64>> {
    sql("SELECT most FROM budgets WHERE project_id = $1 AND provider = $2")
        .bind(scope.project())
        .bind(provider)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Returns the rest of a provider's budget for this month, negative if more was spent; `None` without a budget.
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
    .bind(Month::from_instant(now).start)
    .fetch_optional(tx, |c| c.take())
    .await
}

/// Costs of a provider in this month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSpend {
    /// Provider that charges.
    pub provider: String,
    /// Budget per month; unlimited if `None`.
    pub budget: Option<i64>,
    /// Sum of known prices.
    pub settled: i64,
    /// Sum of estimates of calls without a known price: running, interrupted by a crash, or never reported.
    pub uncertain: i64,
    /// Number of those calls.
    pub uncertain_calls: i64,
}

/// Returns the costs of all providers that have a budget or charges in this month, by name.
pub async fn list_spend(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<Vec<ProviderSpend>> {
    sql("SELECT m.provider, max(m.most), coalesce(CAST(sum(m.settled) AS BIGINT), 0), coalesce(CAST(sum(m.uncertain) AS BIGINT), 0),
            coalesce(CAST(sum(m.calls) AS BIGINT), 0)
         FROM (SELECT provider, most, 0 AS settled, 0 AS uncertain, 0 AS calls FROM budgets WHERE project_id = $1
            UNION ALL SELECT provider, NULL, settled, uncertain, 0 FROM spend WHERE project_id = $1 AND month = $2
            UNION ALL SELECT provider, NULL, 0, 0, 1 FROM charges WHERE project_id = $1 AND month = $2 AND actual IS NULL) m
         GROUP BY m.provider ORDER BY m.provider")
    .bind(scope.project())
    .bind(Month::from_instant(now).start)
    .fetch_all(tx, |c| {
        Ok(ProviderSpend {
            provider: c.take()?,
            budget: c.take()?,
            settled: c.take()?,
            uncertain: c.take()?,
            uncertain_calls: c.take()?,
        })
    })
    .await
}
