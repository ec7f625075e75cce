//! What the steps of a job made, kept under its lease.

use searchwright_store::posts;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::super::{JobError, audit::fenced, worker::Run};
use crate::{failure::defect, posts::digest};

/// The steps of one job.
pub(super) struct Steps<'a> {
    pub(super) run: &'a Run,
}

impl Steps<'_> {
    /// What a step made of this input in an earlier run, if it did.
    pub(super) async fn done<T: DeserializeOwned>(
        &self,
        step: &str,
        input: &Value,
    ) -> Result<Option<T>, JobError> {
        let mut tx = self.run.engine.db.read().await?;
        let made = posts::step(&mut tx, &self.run.leased, step, &digest(input)).await?;
        made.map(serde_json::from_value)
            .transpose()
            .map_err(|e| defect("stored step", e).into())
    }

    /// Keeps what a step made of this input.
    pub(super) async fn save<T: Serialize>(
        &self,
        step: &'static str,
        input: &Value,
        made: &T,
    ) -> Result<(), JobError> {
        let made = serde_json::to_value(made).map_err(|e| defect("step", e))?;
        let (leased, digest, now) = (
            self.run.leased.clone(),
            digest(input),
            self.run.engine.clock.now(),
        );
        fenced(&self.run.engine.db, self.run.leased.clone(), move |tx, _| {
            Box::pin(async move { posts::save_step(tx, &leased, step, &digest, &made, now).await })
        })
        .await
    }
}
