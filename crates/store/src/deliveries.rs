//! Deliveries of events to webhooks, and their attempts.

pub mod queue;

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    events::EventType,
    ids::{DeliveryId, EventId, WebhookId},
    webhooks::{Attempt, Delivery, DeliveryStatus},
};

use crate::{Cells, Param, Result, Tx, access::ProjectScope, sql};

/// Maximum number of attempts shown with a delivery.
const MAX_SHOWN_ATTEMPTS: u32 = 10;

/// Creates the delivery of an event to one webhook.
pub async fn create(
    tx: &mut Tx,
    scope: ProjectScope,
    webhook: WebhookId,
    event: EventId,
    kind: EventType,
    now: Instant,
) -> Result<()> {
    sql("INSERT INTO deliveries (project_id, webhook_id, id, kind, status, next_at, created_at) VALUES ($1, $2, $3, $4, 'pending', $5, $5)")
        .bind(scope.project())
        .bind(webhook)
        .bind(event)
        .bind(kind.as_str())
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Queues a finished delivery again; `false` if it is not finished.
pub async fn replay(
    tx: &mut Tx,
    scope: ProjectScope,
    webhook: WebhookId,
    id: DeliveryId,
    now: Instant,
) -> Result<bool> {
    let touched = sql(
        "UPDATE deliveries SET status = 'pending', tries = 0, next_at = $4, finished_at = NULL
         WHERE project_id = $1 AND webhook_id = $2 AND id = $3 AND status <> 'pending'",
    )
    .bind(scope.project())
    .bind(webhook)
    .bind(id)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(touched > 0)
}

/// Queues failed deliveries since an instant again, oldest first, at most `limit`; returns their number.
pub async fn recover(
    tx: &mut Tx,
    scope: ProjectScope,
    webhook: WebhookId,
    since: Instant,
    limit: u32,
    now: Instant,
) -> Result<u64> {
    sql(
        "UPDATE deliveries SET status = 'pending', tries = 0, next_at = $5, finished_at = NULL
         WHERE project_id = $1 AND webhook_id = $2 AND id IN (SELECT id FROM deliveries
           WHERE project_id = $1 AND webhook_id = $2 AND status = 'failed' AND created_at >= $3 ORDER BY id LIMIT $4)",
    )
    .bind(scope.project())
    .bind(webhook)
    .bind(since)
    .bind(limit)
    .bind(now)
    .execute(tx)
    .await
}

macro_rules! columns {
    ($where:literal) => {
        concat!(
            "SELECT id, kind, status, attempts, next_at, created_at, finished_at FROM deliveries WHERE project_id = $1 AND webhook_id = $2 ",
            $where
        )
    };
}

fn read_delivery(c: &mut Cells<'_>, webhook: WebhookId) -> Result<Delivery> {
    let id: DeliveryId = c.take()?;
    Ok(Delivery {
        id,
        webhook_id: webhook,
        event_id: id.into(),
        event: c.parse()?,
        message_id: message_id(id),
        status: c.parse()?,
        attempts: c.take()?,
        next_attempt_at: c.take()?,
        last_attempts: Vec::new(),
        created_at: c.take()?,
        finished_at: c.take()?,
        allowed_actions: AllowedActions::default(),
    })
}

/// Returns the id by which receivers recognise a message.
pub fn message_id(id: DeliveryId) -> String {
    format!("msg_{}", id.uuid().simple())
}

/// Filters and cursor of a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryQuery {
    /// Only this status.
    pub status: Option<DeliveryStatus>,
    /// Last row of the previous page.
    pub before: Option<DeliveryId>,
    /// Maximum number of rows.
    pub limit: u32,
}

/// Returns one page of deliveries with their last attempts, newest first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    webhook: WebhookId,
    query: DeliveryQuery,
) -> Result<Vec<Delivery>> {
    let mut rows = sql(columns!(
        "AND id < $3 AND (CAST($4 AS TEXT) IS NULL OR status = $4) ORDER BY id DESC LIMIT $5"
    ))
    .bind(scope.project())
    .bind(webhook)
    .bind(query.before.unwrap_or(DeliveryId::MAX))
    .bind(query.status.map(DeliveryStatus::as_str))
    .bind(query.limit)
    .fetch_all(tx, |c| read_delivery(c, webhook))
    .await?;
    load_attempts(tx, scope, webhook, &mut rows).await?;
    Ok(rows)
}

/// Returns a delivery with its last attempts; [`Error::Missing`](crate::Error::Missing) if there is none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, webhook: WebhookId, id: DeliveryId) -> Result<Delivery> {
    let mut row = sql(columns!("AND id = $3"))
        .bind(scope.project())
        .bind(webhook)
        .bind(id)
        .fetch_one(tx, |c| read_delivery(c, webhook))
        .await?;
    load_attempts(tx, scope, webhook, std::slice::from_mut(&mut row)).await?;
    Ok(row)
}

async fn load_attempts(
    tx: &mut Tx,
    scope: ProjectScope,
    webhook: WebhookId,
    deliveries: &mut [Delivery],
) -> Result<()> {
    let ids = deliveries.iter();
    let ids: Vec<Vec<Param>> = ids.map(|delivery| vec![delivery.id.into()]).collect();
    let attempts = sql(
        "SELECT at, status_code, error, duration_ms, response FROM delivery_attempts
         WHERE project_id = $1 AND webhook_id = $2 AND delivery_id = $4 ORDER BY number DESC LIMIT $3",
    )
    .bind(scope.project())
    .bind(webhook)
    .bind(MAX_SHOWN_ATTEMPTS)
    .fetch_all_each(tx, ids, |c| {
        Ok(Attempt {
            at: c.take()?,
            status_code: c.take()?,
            error: c.parse_optional()?,
            duration_ms: c.take()?,
            response: c.take()?,
        })
    })
    .await?;
    for (delivery, attempts) in deliveries.iter_mut().zip(attempts) {
        delivery.last_attempts = attempts;
    }
    Ok(())
}
