//! The overview of visibility, the status of engines, and what to do next.

use searchwright_contract::{
    List,
    engine_status::{EngineStatuses, ListEngines},
    opportunities::{ListOpportunities, Opportunity},
    visibility::{GetOverview, Overview},
};
use searchwright_store::Tx;
use searchwright_tracking::{engine_status, opportunities::OpportunityData, overview::OverviewData};

use crate::{
    Engine,
    call::{Call, Prepared, limit},
    endpoint::Handle,
    failure::{Result, defect},
};

impl Handle<GetOverview> for Engine {
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &GetOverview) -> Result<Prepared> {
        let data = {
            let mut tx = call.engine.db.read().await?;
            OverviewData::load(&mut tx, call.scope()?, operation.clone(), call.now).await?
        };
        let computed = tokio::task::spawn_blocking(move || data.compute());
        let computed = computed.await.map_err(|e| defect("overview", e))??;
        Ok(Prepared::Overview(Box::new(computed)))
    }

    async fn handle(call: &Call, _: &mut Tx, _: GetOverview) -> Result<Overview> {
        let Prepared::Overview(computed) = &call.prepared else {
            return Err(defect("overview", "it was not computed"));
        };
        Ok(Overview::clone(computed))
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
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &ListOpportunities) -> Result<Prepared> {
        let data = {
            let mut tx = call.engine.db.read().await?;
            OpportunityData::load(&mut tx, call.scope()?, operation.kind, call.now).await?
        };
        let computed = tokio::task::spawn_blocking(move || data.compute());
        let computed = computed.await.map_err(|e| defect("opportunities", e))??;
        Ok(Prepared::Opportunities(computed))
    }

    async fn handle(call: &Call, _: &mut Tx, operation: ListOpportunities) -> Result<List<Opportunity>> {
        let Prepared::Opportunities(computed) = &call.prepared else {
            return Err(defect("opportunities", "they were not computed"));
        };
        let limit = limit(operation.limit);
        let after: Option<(i64, String)> = call.after(&operation, operation.cursor.as_deref())?;
        let mut rows = computed.clone();
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
