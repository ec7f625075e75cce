//! The overview of visibility.

use searchwright_contract::visibility::{GetOverview, Overview};
use searchwright_store::Tx;

use searchwright_tracking::overview;

use crate::{Engine, call::Call, endpoint::Handle, failure::Result};

impl Handle<GetOverview> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetOverview) -> Result<Overview> {
        overview::overview(tx, call.scope()?, &operation, call.now).await
    }
}
