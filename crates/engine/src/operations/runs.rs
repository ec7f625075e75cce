//! Runs of prompts. The work itself is `jobs/track_prompts.rs`.

use std::{collections::BTreeMap, fmt::Write as _};

use searchwright_contract::{
    Code, List, Problem,
    answers::Engine as EngineName,
    ids::{PromptId, RunId},
    prompts::Prompt,
    runs::{CostEstimate, GetRun, ListRuns, Run, RunStarted, RunTrigger, TrackPrompt},
};
use searchwright_providers::{AnswerEngine, Estimate};
use searchwright_store::{
    Tx,
    access::RecordKind,
    answer_runs::{self, NewRun},
    jobs, projects, prompts,
};
use searchwright_tracking::engines::contract_engine;

use super::jobs::with_actions as job_with_actions;
use crate::{
    Engine,
    call::{Call, Prepared, fault, limit},
    endpoint::Handle,
    failure::{Result, defect},
    jobs::Job,
};

/// Time within which an equal call gets the same run.
const SAME_RUN_MILLIS: i64 = 60_000;

/// Engines that a run would ask, with the estimate of its cost.
#[derive(Debug)]
pub struct RunPlan {
    engines: Vec<EngineName>,
    /// Number of ways by which they are asked: an engine may have several.
    ways: u32,
    low_micros: Option<u64>,
    high_micros: Option<u64>,
}

impl Handle<TrackPrompt> for Engine {
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
        plan(operation, &prompt, &engines).map(|plan| Prepared::Run(Box::new(plan)))
    }

    async fn handle(call: &Call, tx: &mut Tx, operation: TrackPrompt) -> Result<RunStarted> {
        let Prepared::Run(plan) = &call.prepared else {
            return Err(defect("run", "it was not planned"));
        };
        let scope = call.scope()?;
        let prompt: PromptId = call.child(RecordKind::Prompt, &operation.prompt_id)?;
        let estimate = CostEstimate {
            low: plan.low_micros.map(dollars),
            high: plan.high_micros.map(dollars),
        };
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
        let (run, job) = (call.engine.clock.id::<RunId>(), call.engine.clock.id());
        let work = Job::TrackPrompts {
            run_id: run,
            answers: u32::from(samples) * plan.ways,
        };
        work.count(tx, scope, call.now).await?;
        let links = BTreeMap::from([(
            "run".to_owned(),
            format!("/projects/{}/visibility/runs/{run}", scope.project()),
        )]);
        let queued = work.enqueue(tx, scope, job, links, call.now).await?;
        let new = NewRun {
            id: run,
            job,
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
        started.run = Some(answer_runs::create(tx, scope, new, call.now).await?.run);
        started.job = Some(job_with_actions(call, queued));
        Ok(started)
    }
}

fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// Returns the engines that are asked, and the range of the cost.
fn plan(operation: &TrackPrompt, prompt: &Prompt, engines: &[Box<dyn AnswerEngine>]) -> Result<RunPlan> {
    let not_configured = |detail: String| {
        Problem::new(Code::ProviderNotConfigured, detail).hint(
            "let the operator set an account: searchwright admin provider set; or copy answers by hand: POST visibility/prompts/{promptId}/answers",
        )
    };
    let wanted = match &operation.engines {
        Some(engines) => engines.as_slice(),
        None => prompt.engines.as_slice(),
    };
    let mut chosen: Vec<&dyn AnswerEngine> = Vec::new();
    for engine in engines {
        if wanted.is_empty() || wanted.contains(&contract_engine(engine.key())) {
            chosen.push(&**engine);
        }
    }
    let mut names: Vec<EngineName> = chosen
        .iter()
        .map(|engine| contract_engine(engine.key()))
        .collect();
    names.sort_unstable();
    names.dedup();
    if let Some(missing) = wanted.iter().find(|engine| !names.contains(engine)) {
        return Err(not_configured(format!("no account asks {missing}")).into());
    }
    if names.is_empty() {
        return Err(not_configured("no account asks an engine".to_owned()).into());
    }
    let samples = u32::from(operation.samples.unwrap_or(1));
    let estimates: Vec<Estimate> = chosen
        .iter()
        .map(|engine| engine.estimate(&prompt.text, samples))
        .collect();
    let sum = |member: fn(&Estimate) -> Option<u64>| estimates.iter().map(member).sum::<Option<u64>>();
    let plan = RunPlan {
        engines: names,
        ways: u32::try_from(chosen.len()).unwrap_or(u32::MAX),
        low_micros: sum(|estimate| estimate.low_micros),
        high_micros: sum(|estimate| estimate.high_micros),
    };
    if operation.precision_target.is_some() && operation.max_cost.is_none() {
        let why = "is needed beside precisionTarget, which may take up to 200 answers per engine";
        return Err(fault("/maxCost", "required", why));
    }
    if let Some(limit) = operation.max_cost {
        let of_one: Vec<Estimate> = chosen
            .iter()
            .map(|engine| engine.estimate(&prompt.text, 1))
            .collect();
        check_limit(limit, &of_one)?;
    }
    Ok(plan)
}

/// Refuses a limit that allows no answer at all, or that cannot be held because a price is unknown.
fn check_limit(limit: f64, of_one: &[Estimate]) -> Result<()> {
    let known: Option<Vec<u64>> = of_one.iter().map(|estimate| estimate.high_micros).collect();
    let Some(known) = known else {
        return Err(fault(
            "/maxCost",
            "price_unknown",
            "cannot be held: the price of an engine is unknown; let the operator set inputPrice, outputPrice and searchPrice of its account",
        ));
    };
    match known.into_iter().min().map(dollars) {
        Some(least) if least > limit => Err(fault(
            "/maxCost",
            "too_low",
            format!("allows no answer: one may cost up to {least} USD"),
        )),
        _ => Ok(()),
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
