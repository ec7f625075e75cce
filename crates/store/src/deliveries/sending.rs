//! Sending. A webhook is leased as a whole, so that one process at a time sends to it and taking a delivery costs no write; what
//! became of several is written in one transaction.

use searchwright_contract::{
    Instant,
    events::EventType,
    webhooks::{Attempt, DeliveryError, DeliveryStatus, DisabledReason},
};
use uuid::Uuid;

use crate::{Result, Tx, access::ProjectScope, sql};

/// Milliseconds a lease lasts unless it is renewed, which every record of what was sent does: longer than an attempt of 15
/// seconds takes with its wait for a place, which others may hold for as long four times over.
const LEASE_MILLIS: i64 = 120_000;

/// A webhook in a process's hands.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Proof for the project.
    pub scope: ProjectScope,
    /// The webhook.
    pub id: Uuid,
    /// Must match in every write.
    pub fence: i64,
    /// Where events are POSTed to.
    pub target_url: String,
    /// Since when every attempt has failed.
    pub failing_since: Option<Instant>,
}

/// What is true of a webhook that can be leased. Its first delivery is one look into the index; `EXISTS` would leave it to the
/// planner to join all that wait.
macro_rules! due {
    () => {
        "(w.lease_until IS NULL OR w.lease_until < $1) AND (SELECT d.next_at FROM deliveries d
           WHERE d.project_id = w.project_id AND d.webhook_id = w.id AND d.status = 'pending' ORDER BY d.next_at LIMIT 1) <= $1"
    };
}

/// Whether anything is to be sent, without taking it.
pub async fn any_due(tx: &mut Tx, now: Instant) -> Result<bool> {
    sql(concat!(
        "SELECT EXISTS (SELECT 1 FROM webhooks w WHERE ",
        due!(),
        ")"
    ))
    .bind(now)
    .fetch_one(tx, |c| c.take())
    .await
}

/// Takes webhooks to which something is to be sent, those that answer first.
pub async fn lease(tx: &mut Tx, now: Instant, most: u32) -> Result<Vec<Endpoint>> {
    macro_rules! text {
        ($lock:literal) => {
            concat!(
                "UPDATE webhooks SET fence = fence + 1, lease_until = $2 WHERE (project_id, id) IN (
                   SELECT w.project_id, w.id FROM webhooks w WHERE ",
                due!(),
                " ORDER BY w.failing_since IS NOT NULL LIMIT $3",
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
        .bind(now.plus_millis(LEASE_MILLIS))
        .bind(most)
        .fetch_all(tx, |c| {
            Ok(Endpoint {
                scope: ProjectScope::proven(c.take()?),
                id: c.take()?,
                fence: c.take()?,
                target_url: c.take()?,
                failing_since: c.take()?,
            })
        })
        .await
}

/// A delivery whose time has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its id, which is that of its event.
    pub id: Uuid,
    /// When it was to be sent.
    pub next_at: Instant,
    /// Attempts of all time.
    pub attempts: u32,
    /// Attempts since it was made or replayed.
    pub tries: u32,
    /// It is a test.
    pub is_test: bool,
    /// What is sent.
    pub body: String,
}

/// What is to be sent to a webhook, after a place, the longest due first.
pub async fn due(
    tx: &mut Tx,
    endpoint: &Endpoint,
    after: Option<(Instant, Uuid)>,
    now: Instant,
    limit: u32,
) -> Result<Vec<Due>> {
    let (at, id) = after.unwrap_or((Instant::from_millis(0), Uuid::nil()));
    // The body as a value of its own, not by a join: it is looked up for the rows of the page and no others.
    sql("SELECT d.id, d.next_at, d.attempts, d.tries, d.kind, (SELECT e.body FROM events e WHERE e.project_id = d.project_id AND e.id = d.id)
         FROM deliveries d WHERE d.project_id = $1 AND d.webhook_id = $2 AND d.status = 'pending' AND d.next_at <= $3 AND (d.next_at, d.id) > ($4, $5)
         ORDER BY d.next_at, d.id LIMIT $6")
    .bind(endpoint.scope.project())
    .bind(endpoint.id)
    .bind(now)
    .bind(at)
    .bind(id)
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(Due {
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

/// What became of an attempt.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The delivery, as it was read.
    pub due: Due,
    /// What happened.
    pub attempt: Attempt,
    /// When it is tried again; `None` when it is over.
    pub next_at: Option<Instant>,
}

impl Outcome {
    const fn succeeded(&self) -> bool {
        self.attempt.error.is_none()
    }
}

/// Writes what became of attempts, in the order in which they ended, and renews the lease. Since when the webhook fails, or
/// nothing at all when the lease is somebody else's.
pub async fn record(
    tx: &mut Tx,
    endpoint: &Endpoint,
    outcomes: Vec<Outcome>,
    now: Instant,
) -> Result<Option<Option<Instant>>> {
    let Some(last) = outcomes.last() else {
        return Ok(Some(endpoint.failing_since));
    };
    let (at, succeeded) = (last.attempt.at, last.succeeded());
    let success = outcomes.iter().rev().find(|outcome| outcome.succeeded());
    // What failed before a success was another failure.
    let failure = outcomes
        .iter()
        .rev()
        .take_while(|outcome| !outcome.succeeded())
        .last();
    let failing_since: Option<Option<Instant>> = sql("UPDATE webhooks SET lease_until = $4, last_attempt_at = $5,
           last_success_at = coalesce($6, last_success_at), failing_since = CASE WHEN $7 THEN NULL WHEN $8 THEN $9 ELSE coalesce(failing_since, $9) END,
           version = version + CASE WHEN (failing_since IS NULL) = $7 THEN 0 ELSE 1 END
         WHERE project_id = $1 AND id = $2 AND fence = $3 RETURNING failing_since")
    .bind(endpoint.scope.project())
    .bind(endpoint.id)
    .bind(endpoint.fence)
    .bind(now.plus_millis(LEASE_MILLIS))
    .bind(at)
    .bind(success.map(|outcome| outcome.attempt.at))
    .bind(succeeded)
    .bind(success.is_some())
    .bind(failure.map(|outcome| outcome.attempt.at))
    .fetch_optional(tx, |c| c.take())
    .await?;
    if failing_since.is_none() {
        return Ok(None);
    }
    if outcomes
        .iter()
        .any(|outcome| outcome.due.is_test && outcome.succeeded())
    {
        sql("UPDATE webhooks SET status = 'active', disabled_reason = NULL, disabled_at = NULL, version = version + 1
             WHERE project_id = $1 AND id = $2 AND status = 'disabled'")
        .bind(endpoint.scope.project())
        .bind(endpoint.id)
        .execute(tx)
        .await?;
    }
    let row = |outcome: &Outcome| {
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
    // Pending is what has no end: said by its status, PostgreSQL would go through all that wait in the index of those.
    sql(
        "UPDATE deliveries SET status = $4, attempts = $5, tries = $6, next_at = $7, finished_at = $8
         WHERE project_id = $1 AND webhook_id = $2 AND id = $3 AND finished_at IS NULL",
    )
    .bind(endpoint.scope.project())
    .bind(endpoint.id)
    .execute_each(tx, outcomes.iter().map(row).collect())
    .await?;
    let row = |outcome: Outcome| {
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
    .bind(endpoint.scope.project())
    .bind(endpoint.id)
    .execute_each(tx, outcomes.into_iter().map(row).collect())
    .await?;
    Ok(failing_since)
}

/// Disables a webhook; what was still to be sent has failed and can be replayed.
pub async fn disable(tx: &mut Tx, endpoint: &Endpoint, reason: DisabledReason, now: Instant) -> Result<bool> {
    let disabled = sql("UPDATE webhooks SET status = 'disabled', disabled_reason = $4, disabled_at = $5, version = version + 1
         WHERE project_id = $1 AND id = $2 AND fence = $3 AND status = 'active'")
    .bind(endpoint.scope.project())
    .bind(endpoint.id)
    .bind(endpoint.fence)
    .bind(reason.as_str())
    .bind(now)
    .execute(tx)
    .await?;
    if disabled > 0 {
        sql(
            "UPDATE deliveries SET status = 'failed', next_at = NULL, finished_at = $3
             WHERE project_id = $1 AND webhook_id = $2 AND status = 'pending'",
        )
        .bind(endpoint.scope.project())
        .bind(endpoint.id)
        .bind(now)
        .execute(tx)
        .await?;
    }
    Ok(disabled > 0)
}

/// Gives a webhook back.
pub async fn release(tx: &mut Tx, endpoint: &Endpoint) -> Result<()> {
    sql("UPDATE webhooks SET lease_until = NULL WHERE project_id = $1 AND id = $2 AND fence = $3")
        .bind(endpoint.scope.project())
        .bind(endpoint.id)
        .bind(endpoint.fence)
        .execute(tx)
        .await?;
    Ok(())
}

/// Gives every webhook back, for the only process of an installation when it starts.
pub async fn reclaim(tx: &mut Tx) -> Result<()> {
    sql("UPDATE webhooks SET lease_until = NULL WHERE lease_until IS NOT NULL")
        .execute(tx)
        .await?;
    Ok(())
}
