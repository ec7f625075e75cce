//! The outbox: an event and its deliveries to webhooks are rows written in the transaction of the change.

use searchwright_contract::{
    Instant,
    events::{Event, EventType},
    ids::EventId,
};

use crate::{Cells, Error, Json, Result, Tx, access::ProjectScope, sql};

/// Days after which events and deliveries are deleted.
const RETENTION_DAYS: i64 = 30;

/// Inserts an event, and a delivery for every webhook that subscribes to its kind. The id is a UUIDv7 of now.
pub async fn insert(
    tx: &mut Tx,
    scope: ProjectScope,
    id: EventId,
    kind: EventType,
    data: &serde_json::Value,
    now: Instant,
) -> Result<()> {
    insert_undelivered(tx, scope, id, kind, data, now).await?;
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

/// Inserts an event without deliveries.
///
/// Readers follow events by position. The row of `event_heads` is locked until the transaction ends, so that positions
/// become visible in their order, which ids of several processes would not.
pub async fn insert_undelivered(
    tx: &mut Tx,
    scope: ProjectScope,
    id: EventId,
    kind: EventType,
    data: &serde_json::Value,
    now: Instant,
) -> Result<()> {
    let event = Event {
        id,
        kind,
        timestamp: now,
        project_id: scope.project().into(),
        data: data.clone(),
    };
    let body = serde_json::to_string(&event).map_err(Error::defect)?;
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

/// An event with its position in its project.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionedEvent {
    /// Position, from 1.
    pub position: i64,
    /// Event.
    pub event: Event,
}

/// Returns at most `limit` events after a position, oldest first.
pub async fn list_after(
    tx: &mut Tx,
    scope: ProjectScope,
    position: i64,
    kind: Option<EventType>,
    limit: u32,
) -> Result<Vec<PositionedEvent>> {
    let project = scope.project().into();
    sql("SELECT position, id, kind, created_at, data FROM events
         WHERE project_id = $1 AND position > $2 AND (CAST($3 AS TEXT) IS NULL OR kind = $3) ORDER BY position LIMIT $4")
    .bind(scope.project())
    .bind(position)
    .bind(kind.map(EventType::as_str))
    .bind(limit)
    .fetch_all(tx, |c: &mut Cells<'_>| {
        Ok(PositionedEvent {
            position: c.take()?,
            event: Event {
                id: c.take()?,
                kind: c.parse()?,
                timestamp: c.take()?,
                project_id: project,
                data: c.take::<Json>()?.0,
            },
        })
    })
    .await
}

/// Returns the position of an event.
pub async fn find_position(tx: &mut Tx, scope: ProjectScope, id: EventId) -> Result<Option<i64>> {
    sql("SELECT position FROM events WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Deletes events and deliveries older than 30 days, at most `limit` of each, and returns the number of rows.
pub async fn delete_expired(tx: &mut Tx, now: Instant, limit: u32) -> Result<u64> {
    let before = now.plus_millis(-RETENTION_DAYS * 86_400_000);
    // The inner limit is for PostgreSQL, which plans a limit that it does not know as a tenth of the rows.
    let attempts = sql("DELETE FROM delivery_attempts WHERE (project_id, webhook_id, delivery_id) IN
           (SELECT project_id, webhook_id, id FROM (SELECT project_id, webhook_id, id FROM deliveries WHERE created_at < $1 ORDER BY created_at LIMIT 10000) old LIMIT $2)")
    .bind(before)
    .bind(limit)
    .execute(tx)
    .await?;
    let deliveries = sql("DELETE FROM deliveries WHERE (project_id, webhook_id, id) IN
           (SELECT project_id, webhook_id, id FROM (SELECT project_id, webhook_id, id FROM deliveries WHERE created_at < $1 ORDER BY created_at LIMIT 10000) old LIMIT $2)")
    .bind(before)
    .bind(limit)
    .execute(tx)
    .await?;
    let events = sql("DELETE FROM events WHERE (project_id, id) IN
           (SELECT project_id, id FROM (SELECT project_id, id FROM events WHERE created_at < $1 ORDER BY created_at LIMIT 10000) old LIMIT $2)")
    .bind(before)
    .bind(limit)
    .execute(tx)
    .await?;
    Ok(attempts + deliveries + events)
}
