//! Reports of vendors and access logs.

use searchwright_contract::reports::{GetReports, ImportReport, ImportedReport, Reports};
use searchwright_store::{Tx, projects};
use searchwright_tracking::{ProjectDays, TrackedBrands, reports};

use crate::{
    Engine,
    call::{Call, Prepared},
    endpoint::Handle,
    failure::{Result, defect},
};

impl Handle<GetReports> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetReports) -> Result<Reports> {
        reports::reports(tx, call.scope()?, &operation, call.now).await
    }
}

impl Handle<ImportReport> for Engine {
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &ImportReport) -> Result<Prepared> {
        let (brands, days) = {
            let mut tx = call.engine.db.read().await?;
            let project = projects::get(&mut tx, call.scope()?).await?;
            let brands = TrackedBrands::load(&mut tx, call.scope()?, &project).await?;
            (brands, ProjectDays::new(&project.timezone)?)
        };
        let (operation, now) = (operation.clone(), call.now);
        let read = tokio::task::spawn_blocking(move || reports::read(operation, &brands, &days, now));
        let report = read.await.map_err(|e| defect("report", e))??;
        Ok(Prepared::Report(Box::new(report)))
    }

    async fn handle(call: &Call, tx: &mut Tx, _: ImportReport) -> Result<ImportedReport> {
        let Prepared::Report(report) = &call.prepared else {
            return Err(defect("report", "it was not parsed"));
        };
        reports::save(tx, call.scope()?, report, call.now).await
    }
}
