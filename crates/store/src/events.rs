//! The outbox: events are rows of the transaction that made them true.

use searchwright_contract::{Instant, events::EventType};
use uuid::Uuid;

use crate::{Result, Tx, access::ProjectScope, sql};

/// Writes an event. The id is a UUIDv7 of now, so that the order of ids is the order of events.
pub async fn write(
    tx: &mut Tx,
    scope: ProjectScope,
    id: Uuid,
    kind: EventType,
    data: &serde_json::Value,
    now: Instant,
) -> Result<()> {
    sql("INSERT INTO events (project_id, id, kind, data, created_at) VALUES ($1, $2, $3, $4, $5)")
        .bind(scope.project())
        .bind(id)
        .bind(kind.as_str())
        .bind(data)
        .bind(now)
        .run_last(tx)
        .await
}

/// The events after this one, oldest first.
pub async fn after(
    tx: &mut Tx,
    scope: ProjectScope,
    id: Uuid,
    limit: u32,
) -> Result<Vec<searchwright_contract::events::Event>> {
    sql("SELECT id, kind, created_at, data FROM events WHERE project_id = $1 AND id > $2 ORDER BY id LIMIT $3")
        .bind(scope.project())
        .bind(id)
        .bind(limit)
        .all(tx, |c| {
            Ok(searchwright_contract::events::Event {
                id: c.take::<Uuid>()?.to_string(),
                kind: c.word()?,
                timestamp: c.take()?,
                project_id: scope.project().to_string(),
                data: c.take::<crate::Json>()?.0,
            })
        })
        .await
}
