//! The outbox: events are rows of the transaction that made them true, and so is their way to every webhook.

use searchwright_contract::{
    Instant,
    events::{Event, EventType},
};
use uuid::Uuid;

use crate::{Cells, Error, Json, Result, Tx, access::ProjectScope, sql};

/// Days that events and deliveries are kept.
const KEPT_DAYS: i64 = 30;

/// Writes an event, and for every webhook that is told of its kind a delivery. The id is a UUIDv7 of now.
pub async fn write(
    tx: &mut Tx,
    scope: ProjectScope,
    id: Uuid,
    kind: EventType,
    data: &serde_json::Value,
    now: Instant,
) -> Result<()> {
    put(tx, scope, id, kind, data, now).await?;
    sql(
        "INSERT INTO deliveries (project_id, webhook_id, id, kind, status, next_at, created_at)
         SELECT project_id, id, $2, $3, 'pending', $4, $4 FROM webhooks
         WHERE project_id = $1 AND status = 'active' AND event IN ($3, '*') ON CONFLICT DO NOTHING",
    )
    .bind(scope.project())
    .bind(id)
    .bind(kind.as_str())
    .bind(now)
    .execute_at_commit(tx)
    .await
}

/// Writes an event without telling any webhook.
///
/// Readers follow events by place. The row of the head is locked until the transaction ends, so that places become
/// visible in their order, which ids of several processes do not.
pub async fn put(
    tx: &mut Tx,
    scope: ProjectScope,
    id: Uuid,
    kind: EventType,
    data: &serde_json::Value,
    now: Instant,
) -> Result<()> {
    let event = Event {
        id: id.to_string(),
        kind,
        timestamp: now,
        project_id: scope.project().to_string(),
        data: data.clone(),
    };
    let body = serde_json::to_string(&event).map_err(|e| Error::Defect(e.to_string()))?;
    sql("INSERT INTO event_heads (project_id, position) VALUES ($1, 1)
         ON CONFLICT (project_id) DO UPDATE SET position = event_heads.position + 1")
    .bind(scope.project())
    .execute_at_commit(tx)
    .await?;
    sql(
        "INSERT INTO events (project_id, id, kind, data, created_at, body, position)
         SELECT $1, $2, $3, $4, $5, $6, position FROM event_heads WHERE project_id = $1",
    )
    .bind(scope.project())
    .bind(id)
    .bind(kind.as_str())
    .bind(data)
    .bind(now)
    .bind(body)
    .execute_at_commit(tx)
    .await
}

/// An event with its place in the order of its project.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Its place.
    pub position: i64,
    /// The event.
    pub event: Event,
}

/// The events after a place, oldest first.
pub async fn after(
    tx: &mut Tx,
    scope: ProjectScope,
    position: i64,
    kind: Option<EventType>,
    limit: u32,
) -> Result<Vec<Placed>> {
    let project = scope.project().to_string();
    sql("SELECT position, id, kind, created_at, data FROM events
         WHERE project_id = $1 AND position > $2 AND (CAST($3 AS TEXT) IS NULL OR kind = $3) ORDER BY position LIMIT $4")
    .bind(scope.project())
    .bind(position)
    .bind(kind.map(EventType::as_str))
    .bind(limit)
    .fetch_all(tx, |c: &mut Cells<'_>| {
        Ok(Placed {
            position: c.take()?,
            event: Event {
                id: c.take::<Uuid>()?.to_string(),
                kind: c.parse()?,
                timestamp: c.take()?,
                project_id: project.clone(),
                data: c.take::<Json>()?.0,
            },
        })
    })
    .await
}

/// The place of an event.
pub async fn position(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<Option<i64>> {
    sql("SELECT position FROM events WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Forgets events and deliveries that are older than 30 days, so many at a time; how many rows.
pub async fn forget(tx: &mut Tx, now: Instant, most: u32) -> Result<u64> {
    let before = now.plus_millis(-KEPT_DAYS * 86_400_000);
    let attempts = sql("DELETE FROM delivery_attempts WHERE (project_id, webhook_id, delivery_id) IN
           (SELECT project_id, webhook_id, id FROM deliveries WHERE created_at < $1 ORDER BY created_at LIMIT $2)")
    .bind(before)
    .bind(most)
    .execute(tx)
    .await?;
    let deliveries = sql("DELETE FROM deliveries WHERE (project_id, webhook_id, id) IN
           (SELECT project_id, webhook_id, id FROM deliveries WHERE created_at < $1 ORDER BY created_at LIMIT $2)")
    .bind(before)
    .bind(most)
    .execute(tx)
    .await?;
    let events = sql("DELETE FROM events WHERE (project_id, id) IN
           (SELECT project_id, id FROM events WHERE created_at < $1 ORDER BY created_at LIMIT $2)")
    .bind(before)
    .bind(most)
    .execute(tx)
    .await?;
    Ok(attempts + deliveries + events)
}
