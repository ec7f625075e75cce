//! Analyses all stored answers again after a change of the names that are looked for in them. The work itself is
//! `tracking::reanalysis`.

use std::sync::Arc;

use searchwright_contract::jobs::Job as JobRecord;
use searchwright_store::{Tx, answers, projects, prompts};
use searchwright_tracking::{
    TrackedBrands,
    reanalysis::{self, AnalysisCounts},
};
use serde_json::{Value, json};

use super::{Job, JobContext, JobError};
use crate::{
    call::Call,
    failure::{Result, defect},
};

/// Counts a change of names and queues the analysis, if there is anything to analyse; returns the job that will do it.
pub(crate) async fn enqueue(call: &Call, tx: &mut Tx) -> Result<Option<JobRecord>> {
    let scope = call.scope()?;
    projects::count_change_of_names(tx, scope).await?;
    if !prompts::exist(tx, scope).await? {
        return Ok(None);
    }
    let id = call.engine.clock.id();
    let queued = Job::AnalyzeAnswers.enqueue_once(tx, scope, id, call.now);
    Ok(queued.await?)
}

/// Runs the job.
pub(super) async fn run(job: JobContext) -> Result<Value, JobError> {
    let interrupted = job.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = carry_out(&job) => done,
    }
}

async fn load_brands(job: &JobContext) -> Result<Arc<TrackedBrands>, JobError> {
    let mut tx = job.engine.db.read().await?;
    let project = projects::get(&mut tx, job.leased.scope).await?;
    Ok(Arc::new(
        TrackedBrands::load(&mut tx, job.leased.scope, &project).await?,
    ))
}

async fn carry_out(job: &JobContext) -> Result<Value, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let mut brands = load_brands(job).await?;
    let prompts = prompts::list_outlines(&mut db.read().await?, scope).await?;
    let (mut sum, total) = (AnalysisCounts::default(), prompts.len());
    for prompt in prompts {
        // Answers and names that come meanwhile make the result old; it is then computed again.
        loop {
            let found = answers::list_of_prompt(&mut db.read().await?, scope, prompt.id).await?;
            let (names, outline) = (brands.clone(), prompt.clone());
            let analysed =
                tokio::task::spawn_blocking(move || reanalysis::analyse_prompt(&names, &outline, found));
            let analysed = analysed.await.map_err(|e| defect("analysis of answers", e))??;
            let counts = analysed.counts();
            let is_saved = job
                .write_fenced(move |tx, scope| Box::pin(reanalysis::save(tx, scope, analysed)))
                .await?;
            if is_saved {
                sum.analysed += counts.analysed;
                sum.without_text += counts.without_text;
                break;
            }
            brands = load_brands(job).await?;
        }
    }
    Ok(json!({ "prompts": total, "answers": sum.analysed, "answersWithoutText": sum.without_text }))
}
