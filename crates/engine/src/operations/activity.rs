//! Activity. Its entries are written by the frame around every call, in `endpoint.rs`.

use searchwright_contract::{
    List,
    activity::{Activity, ListActivity},
    ids::ActivityId,
};
use searchwright_store::{Tx, activity};

use crate::{
    Engine,
    call::{Call, limit},
    endpoint::Handle,
    failure::Result,
};

impl Handle<ListActivity> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListActivity) -> Result<List<Activity>> {
        let limit = limit(operation.limit);
        let before: Option<ActivityId> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = activity::list(tx, call.scope()?, before, limit + 1).await?;
        call.page(&operation, limit, rows, |last| last.id)
    }
}
