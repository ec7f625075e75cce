//! Events as a feed. They are written where they happen.

use searchwright_contract::{
    List,
    events::{Event, ListEvents},
};
use searchwright_store::{Tx, events};

use crate::{
    Engine,
    call::{Call, limit},
    endpoint::Handle,
    failure::Result,
};

impl Handle<ListEvents> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListEvents) -> Result<List<Event>> {
        let limit = limit(operation.limit);
        let after: Option<i64> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = events::list_after(tx, call.scope()?, after.unwrap_or(0), operation.event, limit).await?;
        // A feed goes on: there is a cursor behind the newest event too, and none only where nothing was new.
        let next_cursor = match rows.last() {
            Some(last) => Some(call.engine.cursors.seal(&operation, &last.position)?),
            None => None,
        };
        Ok(List {
            data: rows.into_iter().map(|placed| placed.event).collect(),
            next_cursor,
        })
    }
}
