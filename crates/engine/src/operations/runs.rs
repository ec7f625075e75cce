//! Runs of prompts. The work itself is `jobs/track_prompts.rs`.

use std::fmt::Write as _;

use searchwright_contract::{
    List, Problem,
    ids::{PromptId, RunId},
    runs::{GetRun, ListRuns, Run, RunStarted, RunTrigger, TrackPrompt},
};
use searchwright_store::{
    Tx,
    access::RecordKind,
    answer_runs::{self, NewRun},
    jobs, projects, prompts,
};
use searchwright_tracking::RunPlan;

use super::jobs::with_actions as job_with_actions;
use crate::{
    Engine,
    call::{Call, Prepared, limit},
    endpoint::Handle,
    failure::{Result, defect},
    starts::start_run,
};

/// Time within which an equal call gets the same run.
const SAME_RUN_MILLIS: i64 = 60_000;

impl Handle<TrackPrompt> for Engine {
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &TrackPrompt) -> Result<Prepared> {
        let id: PromptId = call.child(RecordKind::Prompt, &operation.prompt_id)?;
        let scope = call.scope()?;
        let mut tx = call.engine.db.read().await?;
        let found = prompts::get(&mut tx, scope, id).await;
        let prompt = call.or_missing(&mut tx, RecordKind::Prompt, id, found).await?;
        let engines = call
            .engine
            .accounts_at_vendors()?
            .answer_engines(&mut tx, scope)
            .await?;
        let engines = engines.map_err(|e| Problem::from(&e))?;
        RunPlan::new(operation, &prompt, &engines).map(|plan| Prepared::Run(Box::new(plan)))
    }

    async fn handle(call: &Call, tx: &mut Tx, operation: TrackPrompt) -> Result<RunStarted> {
        let Prepared::Run(plan) = &call.prepared else {
            return Err(defect("run", "it was not planned"));
        };
        let scope = call.scope()?;
        let prompt: PromptId = call.child(RecordKind::Prompt, &operation.prompt_id)?;
        let estimate = plan.estimate;
        let mut started = RunStarted {
            run: None,
            job: None,
            estimated_cost: estimate,
            already_running: false,
        };
        if operation.dry_run == Some(true) {
            return Ok(started);
        }
        projects::lock(tx, scope).await?;
        let samples = operation.samples.unwrap_or(1);
        let engines: Vec<&str> = plan.engines.iter().map(|engine| engine.as_str()).collect();
        let mut request = format!("{prompt} {} {samples}", engines.join(","));
        if let Some(points) = operation.precision_target {
            write!(request, " {points}").map_err(|e| defect("run", e))?;
        }
        let since = call.now.plus_millis(-SAME_RUN_MILLIS);
        if let Some(known) = answer_runs::find_equal(tx, scope, &request, since).await? {
            let job = jobs::get(tx, scope, known.job).await?;
            started.job = Some(job_with_actions(call, job));
            started.run = Some(known.run);
            started.already_running = true;
            return Ok(started);
        }
        let new = NewRun {
            id: call.engine.clock.id(),
            job: call.engine.clock.id(),
            request,
            trigger: RunTrigger::Manual,
            prompts: vec![prompt],
            engines: plan.engines.clone(),
            samples,
            precision_target: operation.precision_target,
            estimate,
            max_cost_micros: operation.max_cost.map(|usd| (usd * 1e6).round() as i64),
            requested_by: Some(call.credential.name().to_owned()),
        };
        let answers = u32::from(samples) * plan.ways;
        let queued = start_run(tx, scope, new, answers, call.now).await?;
        started.run = Some(queued.run);
        started.job = Some(job_with_actions(call, queued.job));
        Ok(started)
    }
}

impl Handle<ListRuns> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListRuns) -> Result<List<Run>> {
        let limit = limit(operation.limit);
        let before: Option<RunId> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = answer_runs::list(tx, call.scope()?, operation.status, before, limit + 1).await?;
        call.page(&operation, limit, rows, |last| last.id)
    }
}

impl Handle<GetRun> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetRun) -> Result<Run> {
        let id: RunId = call.child(RecordKind::Run, &operation.run_id)?;
        let found = answer_runs::get(tx, call.scope()?, id).await;
        Ok(call.or_missing(tx, RecordKind::Run, id, found).await?.run)
    }
}
