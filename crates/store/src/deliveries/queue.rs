//! The queue of deliveries.
//!
//! A webhook is leased as a whole, so that one process at a time sends to it and taking a delivery costs no write. The outcomes
//! of several deliveries are written in one transaction.

use searchwright_contract::{
    Instant,
    events::EventType,
    ids::{DeliveryId, WebhookId},
    webhooks::{Attempt, DeliveryError, DeliveryStatus, DisabledReason},
};

use crate::{Result, Tx, access::ProjectScope, jobs::LeaseTime, sql};

/// Duration of a lease in milliseconds: within it, the webhooks of a process that was killed are served by another.
const LEASE_MILLIS: i64 = 12_000;
/// Milliseconds after which a lease is renewed.
pub const RENEW_MILLIS: u64 = 4_000;

/// A webhook that this process holds a lease on.
#[derive(Clone, Debug)]
pub struct LeasedWebhook {
    /// Scope of its project.
    pub scope: ProjectScope,
    /// Id of the webhook.
    pub id: WebhookId,
    /// Number of the lease, which every write must match.
    pub fence: i64,
    /// URL that events are POSTed to.
    pub target_url: String,
    /// Time since which every attempt has failed.
    pub failing_since: Option<Instant>,
}

/// Condition for a webhook to be leased. The first delivery is one look-up in an index; with `EXISTS` the planner may join all
/// pending deliveries.
macro_rules! due {
    () => {
        "(w.lease_until IS NULL OR w.lease_until < $2) AND (SELECT d.next_at FROM deliveries d
           WHERE d.project_id = w.project_id AND d.webhook_id = w.id AND d.status = 'pending' ORDER BY d.next_at LIMIT 1) <= $1"
    };
}

/// Whether any delivery is due.
pub async fn has_due(tx: &mut Tx, now: Instant, at: LeaseTime) -> Result<bool> {
    sql(concat!(
        "SELECT EXISTS (SELECT 1 FROM webhooks w WHERE ",
        due!(),
        ")"
    ))
    .bind(now)
    .bind(at.0)
    .fetch_one(tx, |c| c.take())
    .await
}

/// Leases at most `limit` webhooks with due deliveries, those that do not fail first.
pub async fn lease(tx: &mut Tx, now: Instant, at: LeaseTime, limit: u32) -> Result<Vec<LeasedWebhook>> {
    macro_rules! text {
        ($lock:literal) => {
            concat!(
                "UPDATE webhooks SET fence = fence + 1, lease_until = $3 WHERE (project_id, id) IN (
                   SELECT w.project_id, w.id FROM webhooks w WHERE ",
                due!(),
                " ORDER BY w.failing_since IS NOT NULL LIMIT $4",
                $lock,
                ") RETURNING project_id, id, fence, target_url, failing_since"
            )
        };
    }
    let text = if tx.is_postgres() {
        text!(" FOR UPDATE OF w SKIP LOCKED")
    } else {
        text!("")
    };
    sql(text)
        .bind(now)
        .bind(at.0)
        .bind(at.0.plus_millis(LEASE_MILLIS))
        .bind(limit)
        .fetch_all(tx, |c| {
            Ok(LeasedWebhook {
                scope: ProjectScope::from_row(c.take()?),
                id: c.take()?,
                fence: c.take()?,
                target_url: c.take()?,
                failing_since: c.take()?,
            })
        })
        .await
}

/// A delivery that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    /// Id of the delivery and of its event.
    pub id: DeliveryId,
    /// Time at which it became due.
    pub next_at: Instant,
    /// Number of attempts.
    pub attempts: u32,
    /// Number of attempts since it was created or replayed.
    pub tries: u32,
    /// Its event is a test.
    pub is_test: bool,
    /// Body of the request.
    pub body: String,
}

/// Returns at most `limit` due deliveries of a webhook after a cursor (due time and id), the longest due first.
pub async fn list_due(
    tx: &mut Tx,
    webhook: &LeasedWebhook,
    after: Option<(Instant, DeliveryId)>,
    now: Instant,
    limit: u32,
) -> Result<Vec<DueDelivery>> {
    let (at, id) = after.unwrap_or((Instant::from_millis(0), DeliveryId::MIN));
    // The body by a subquery and not by a join: it is looked up only for the rows that are returned.
    sql("SELECT d.id, d.next_at, d.attempts, d.tries, d.kind, (SELECT e.body FROM events e WHERE e.project_id = d.project_id AND e.id = d.id)
         FROM deliveries d WHERE d.project_id = $1 AND d.webhook_id = $2 AND d.status = 'pending' AND d.next_at <= $3 AND (d.next_at, d.id) > ($4, $5)
         ORDER BY d.next_at, d.id LIMIT $6")
    .bind(webhook.scope.project())
    .bind(webhook.id)
    .bind(now)
    .bind(at)
    .bind(id)
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(DueDelivery {
            id: c.take()?,
            next_at: c.take()?,
            attempts: c.take()?,
            tries: c.take()?,
            is_test: c.parse::<EventType>()? == EventType::WebhookTest,
            body: c.take::<Option<String>>()?.unwrap_or_default(),
        })
    })
    .await
}

/// Outcome of an attempt.
#[derive(Clone, Debug)]
pub struct DeliveryOutcome {
    /// Delivery as it was read.
    pub due: DueDelivery,
    /// Attempt.
    pub attempt: Attempt,
    /// Time of the next attempt; `None` if the delivery is finished.
    pub next_at: Option<Instant>,
}

impl DeliveryOutcome {
    const fn succeeded(&self) -> bool {
        self.attempt.error.is_none()
    }
}

/// Renews the lease of a webhook. Returns `false` if it is lost.
pub async fn renew(tx: &mut Tx, webhook: &LeasedWebhook, at: LeaseTime) -> Result<bool> {
    let renewed =
        sql("UPDATE webhooks SET lease_until = $4 WHERE project_id = $1 AND id = $2 AND fence = $3")
            .bind(webhook.scope.project())
            .bind(webhook.id)
            .bind(webhook.fence)
            .bind(at.0.plus_millis(LEASE_MILLIS))
            .execute(tx)
            .await?;
    Ok(renewed == 1)
}

/// Records outcomes, in the order in which the attempts ended. Returns the time since which the webhook
/// fails; `None`, and writes nothing, if the lease is lost.
pub async fn record_outcomes(
    tx: &mut Tx,
    webhook: &LeasedWebhook,
    outcomes: Vec<DeliveryOutcome>,
    now: Instant,
) -> Result<Option<Option<Instant>>> {
    let Some(last) = outcomes.last() else {
        return Ok(Some(webhook.failing_since));
    };
    let (at, succeeded) = (last.attempt.at, last.succeeded());
    let success = outcomes.iter().rev().find(|outcome| outcome.succeeded());
    // Failures before a success do not count: the first one after it began the current series.
    let failure = outcomes
        .iter()
        .rev()
        .take_while(|outcome| !outcome.succeeded())
        .last();
    let failing_since: Option<Option<Instant>> = sql("UPDATE webhooks SET last_attempt_at = $4,
           last_success_at = coalesce($5, last_success_at), failing_since = CASE WHEN $6 THEN NULL WHEN $7 THEN $8 ELSE coalesce(failing_since, $8) END,
           version = version + CASE WHEN (failing_since IS NULL) = $6 THEN 0 ELSE 1 END
         WHERE project_id = $1 AND id = $2 AND fence = $3 RETURNING failing_since")
    .bind(webhook.scope.project())
    .bind(webhook.id)
    .bind(webhook.fence)
    .bind(at)
    .bind(success.map(|outcome| outcome.attempt.at))
    .bind(succeeded)
    .bind(success.is_some())
    .bind(failure.map(|outcome| outcome.attempt.at))
    .fetch_optional(tx, |c| c.take())
    .await?;
    // No row matched the fence: the lease is lost.
    if failing_since.is_none() {
        return Ok(None);
    }
    // A test that succeeds enables a disabled webhook again.
    if outcomes
        .iter()
        .any(|outcome| outcome.due.is_test && outcome.succeeded())
    {
        sql("UPDATE webhooks SET status = 'active', disabled_reason = NULL, disabled_at = NULL, version = version + 1
             WHERE project_id = $1 AND id = $2 AND status = 'disabled'")
        .bind(webhook.scope.project())
        .bind(webhook.id)
        .execute(tx)
        .await?;
    }
    let row = |outcome: &DeliveryOutcome| {
        let status = match (outcome.succeeded(), outcome.next_at) {
            (true, _) => DeliveryStatus::Succeeded,
            (false, Some(_)) => DeliveryStatus::Pending,
            (false, None) => DeliveryStatus::Failed,
        };
        vec![
            outcome.due.id.into(),
            status.as_str().into(),
            (outcome.due.attempts + 1).into(),
            (outcome.due.tries + 1).into(),
            outcome.next_at.into(),
            (status != DeliveryStatus::Pending).then_some(now).into(),
        ]
    };
    // A pending delivery has no `finished_at`. With a condition on its status, PostgreSQL would scan the index of all
    // pending ones.
    sql(
        "UPDATE deliveries SET status = $4, attempts = $5, tries = $6, next_at = $7, finished_at = $8
         WHERE project_id = $1 AND webhook_id = $2 AND id = $3 AND finished_at IS NULL",
    )
    .bind(webhook.scope.project())
    .bind(webhook.id)
    .execute_each(tx, outcomes.iter().map(row).collect())
    .await?;
    let row = |outcome: DeliveryOutcome| {
        let attempt = outcome.attempt;
        vec![
            outcome.due.id.into(),
            (outcome.due.attempts + 1).into(),
            attempt.at.into(),
            attempt.status_code.into(),
            attempt.error.map(DeliveryError::as_str).into(),
            attempt.duration_ms.into(),
            attempt.response.into(),
        ]
    };
    sql("INSERT INTO delivery_attempts (project_id, webhook_id, delivery_id, number, at, status_code, error, duration_ms, response)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING")
    .bind(webhook.scope.project())
    .bind(webhook.id)
    .execute_each(tx, outcomes.into_iter().map(row).collect())
    .await?;
    Ok(failing_since)
}

/// Disables a webhook. Its pending deliveries fail, and can be replayed. Returns `false` if the lease is lost or it was
/// disabled before.
pub async fn disable(
    tx: &mut Tx,
    webhook: &LeasedWebhook,
    reason: DisabledReason,
    now: Instant,
) -> Result<bool> {
    let disabled = sql("UPDATE webhooks SET status = 'disabled', disabled_reason = $4, disabled_at = $5, version = version + 1
         WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'active'")
    .bind(webhook.scope.project())
    .bind(webhook.id)
    .bind(webhook.fence)
    .bind(reason.as_str())
    .bind(now)
    .execute(tx)
    .await?;
    if disabled > 0 {
        sql(
            "UPDATE deliveries SET status = 'failed', next_at = NULL, finished_at = $3
             WHERE project_id = $1 AND webhook_id = $2 AND status = 'pending'",
        )
        .bind(webhook.scope.project())
        .bind(webhook.id)
        .bind(now)
        .execute(tx)
        .await?;
    }
    Ok(disabled > 0)
}

/// Releases the lease of a webhook.
pub async fn release(tx: &mut Tx, webhook: &LeasedWebhook) -> Result<()> {
    sql("UPDATE webhooks SET lease_until = NULL WHERE project_id = $1 AND id = $2 AND fence = $3")
        .bind(webhook.scope.project())
        .bind(webhook.id)
        .bind(webhook.fence)
        .execute(tx)
        .await?;
    Ok(())
}

/// Releases all leases. For the start of the only process of an installation.
pub async fn release_all(tx: &mut Tx) -> Result<()> {
    sql("UPDATE webhooks SET lease_until = NULL WHERE lease_until IS NOT NULL")
        .execute(tx)
        .await?;
    Ok(())
}
