//! The overview of visibility, the status of engines, and what to do next.

use searchwright_contract::{
    List,
    engine_status::{EngineStatuses, ListEngines},
    opportunities::{ListOpportunities, Opportunity},
    visibility::{GetOverview, Overview},
};
use searchwright_store::Tx;
use searchwright_tracking::{engine_status, opportunities, overview};

use crate::{
    Engine,
    call::{Call, limit},
    endpoint::Handle,
    failure::Result,
};

impl Handle<GetOverview> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetOverview) -> Result<Overview> {
        overview::overview(tx, call.scope()?, &operation, call.now).await
    }
}

impl Handle<ListEngines> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: ListEngines) -> Result<EngineStatuses> {
        let scope = call.scope()?;
        let accounts = call
            .engine
            .accounts_at_vendors()?
            .engine_accounts(tx, scope)
            .await?;
        engine_status::statuses(tx, scope, &accounts, call.now).await
    }
}

/// Place of an entry in the list: its score in hundredths, and its id.
fn place(entry: &Opportunity) -> (i64, String) {
    ((entry.score * 100.0).round() as i64, entry.id.clone())
}

impl Handle<ListOpportunities> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListOpportunities) -> Result<List<Opportunity>> {
        let limit = limit(operation.limit);
        let after: Option<(i64, String)> = call.after(&operation, operation.cursor.as_deref())?;
        let mut rows = opportunities::list(tx, call.scope()?, operation.kind, call.now).await?;
        if let Some((score, id)) = after {
            rows.retain(|entry| {
                let entry = place(entry);
                (-entry.0, entry.1) > (-score, id.clone())
            });
        }
        rows.truncate(limit as usize + 1);
        call.page(&operation, limit, rows, place)
    }
}
