//! Reports of vendors and access logs.

use searchwright_contract::reports::{GetReports, ImportReport, ImportedReport, Reports};
use searchwright_store::Tx;
use searchwright_tracking::reports;

use crate::{Engine, call::Call, endpoint::Handle, failure::Result};

impl Handle<GetReports> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetReports) -> Result<Reports> {
        reports::reports(tx, call.scope()?, &operation, call.now).await
    }
}

impl Handle<ImportReport> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ImportReport) -> Result<ImportedReport> {
        reports::import(tx, call.scope()?, operation, call.now).await
    }
}
