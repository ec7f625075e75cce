//! Puts prompts to engines. A question is stored as a charge before it is asked and is asked once: an answer that may have been
//! paid for is not asked for again. Every answer is stored together with its cost, so that whatever ends the job keeps it.

mod questions;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_util::{
    FutureExt as _, StreamExt as _,
    future::{BoxFuture, join_all},
    stream,
};
use searchwright_contract::{
    Clock, Code, Instant, Problem,
    answers::Engine,
    events::{EventType, MentionData, RunData},
    ids::{JobId, PromptId, RunId},
    prompts::Prompt,
    runs::{MissReason, Run, RunOutcome, RunStatus, RunTrigger},
};
use searchwright_providers::AnswerEngine;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    answer_overrides::{self, AnswerPlace},
    answer_runs::{self, StoredRun},
    answers, events,
    jobs::{JobEnd, LeasedJob},
    projects, prompts,
};
use searchwright_tracking::{
    MAX_ANSWERS, ProjectDays, RunBudget, RunMentions, TrackedBrands,
    engines::{contract_engine, contract_surface},
    is_for, mention_change,
};
use serde_json::{Value, json};

use self::questions::{Asked, RunQuestion};
use super::{JobContext, JobError};

/// Attempts after which an engine that is not available counts as failed.
const MAX_ATTEMPTS: i64 = 3;
/// Wait before engines that were not available are asked again.
const RETRY_MILLIS: i64 = 5_000;
/// Answers of which one has to be evaluated before more are asked for.
const MIN_EVALUATED: u32 = 5;
/// Questions that one engine is asked at a time.
const AT_ONCE: usize = 4;

/// Everything that a run needs.
struct RunContext {
    job: JobContext,
    run: StoredRun,
    prompts: Vec<Prompt>,
    brands: Arc<TrackedBrands>,
    days: Arc<ProjectDays>,
    budget: RunBudget,
}

/// Runs the job.
pub(super) async fn run(job: JobContext, id: RunId) -> Result<Value, JobError> {
    let interrupted = job.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = carry_out(job, id) => done,
    }
}

async fn carry_out(job: JobContext, id: RunId) -> Result<Value, JobError> {
    let context = load(job, id).await?;
    let engines = {
        let mut tx = context.job.engine.db.read().await?;
        let scope = context.job.leased.scope;
        context.job.accounts.answer_engines(&mut tx, scope).await??
    };
    let wanted = &context.run.run.engines;
    let chosen = engines
        .iter()
        .map(|engine| &**engine)
        .filter(|engine| wanted.contains(&contract_engine(engine.key())));
    context
        .job
        .write_fenced(move |tx, scope| Box::pin(async move { answer_runs::begin(tx, scope, id).await }))
        .await?;
    let asked = join_all(chosen.map(|engine| ask_engine(&context, engine))).await;
    let mut outcomes = Vec::with_capacity(asked.len());
    let mut is_late = false;
    for outcome in asked {
        let (outcome, late) = outcome?;
        is_late |= late;
        outcomes.push(outcome);
    }
    if is_late {
        return Err(JobError::Retry(RETRY_MILLIS));
    }
    finish(&context, outcomes).await
}

async fn load(job: JobContext, id: RunId) -> Result<RunContext, JobError> {
    let scope = job.leased.scope;
    let (run, prompts, brands, days) = {
        let mut tx = job.engine.db.read().await?;
        let run = answer_runs::get(&mut tx, scope, id).await?;
        let mut asked = Vec::with_capacity(run.run.prompt_ids.len());
        for prompt in &run.run.prompt_ids {
            asked.push(prompts::get(&mut tx, scope, *prompt).await?);
        }
        let project = projects::get(&mut tx, scope).await?;
        let brands = TrackedBrands::load(&mut tx, scope, &project).await?;
        (run, asked, brands, ProjectDays::new(&project.timezone)?)
    };
    let spent = run.run.actual_cost.map_or(0, |usd| (usd * 1e6).round() as i64);
    Ok(RunContext {
        budget: RunBudget::new(run.max_cost_micros, spent),
        job,
        run,
        prompts,
        brands: Arc::new(brands),
        days: Arc::new(days),
    })
}

/// Puts all prompts to one engine. Returns its outcome, and whether it has to be asked again later.
async fn ask_engine(context: &RunContext, engine: &dyn AnswerEngine) -> Result<(RunOutcome, bool), JobError> {
    let mut outcome = RunOutcome {
        engine: contract_engine(engine.key()),
        surface: contract_surface(engine.key()),
        answers: 0,
        missing: 0,
        reason: None,
        detail: None,
        mention_rate: None,
        stability: None,
        location_controlled: Some(engine.location_control()),
    };
    let is_last = context.job.leased.attempt >= MAX_ATTEMPTS;
    let is_late = AtomicBool::new(false);
    let mut questions = Vec::new();
    for prompt in context
        .prompts
        .iter()
        .filter(|prompt| is_asked(context, prompt, outcome.engine))
    {
        questions.extend((0..u32::from(context.run.run.samples)).map(|sample| RunQuestion {
            engine,
            prompt,
            sample,
            is_further: false,
        }));
    }
    let answers: Vec<BoxFuture<'_, _>> = questions
        .into_iter()
        .map(|question| ask_unless_late(context, question, &is_late).boxed())
        .collect();
    let mut answers = stream::iter(answers).buffer_unordered(AT_ONCE);
    while let Some(asked) = answers.next().await {
        if let Some(asked) = asked? {
            add(&mut outcome, asked);
        }
    }
    drop(answers);
    if is_late.into_inner() && !is_last {
        return Ok((outcome, true));
    }
    if let Some(points) = context.run.run.precision_target
        && outcome.missing == 0
        && ask_further(context, engine, &mut outcome, points).await?
    {
        return Ok((outcome, true));
    }
    mentions(context, &outcome).await?.describe(&mut outcome);
    Ok((outcome, false))
}

/// Returns whether a run puts a prompt to an engine. A caller has named the engines; a schedule keeps to those of each prompt.
fn is_asked(context: &RunContext, prompt: &Prompt, engine: Engine) -> bool {
    context.run.run.trigger != RunTrigger::Scheduled || is_for(prompt, engine)
}

/// Asks a question, unless its engine is not available: that is left alone until the next attempt.
async fn ask_unless_late(
    context: &RunContext,
    question: RunQuestion<'_>,
    is_late: &AtomicBool,
) -> Result<Option<Asked>, JobError> {
    if is_late.load(Ordering::Relaxed) && context.job.leased.attempt < MAX_ATTEMPTS {
        return Ok(None);
    }
    let asked = questions::ask(context, question).await?;
    is_late.fetch_or(matches!(asked, Asked::Later(_)), Ordering::Relaxed);
    Ok(Some(asked))
}

/// Asks until the interval of the mention rate is narrow enough. Returns whether the engine has to be asked again later.
async fn ask_further(
    context: &RunContext,
    engine: &dyn AnswerEngine,
    outcome: &mut RunOutcome,
    points: f64,
) -> Result<bool, JobError> {
    let samples = u32::from(context.run.run.samples);
    for prompt in &context.prompts {
        for sample in samples..MAX_ANSWERS {
            let mentions = mentions(context, outcome).await?;
            // An engine that refuses the prompt is not asked 200 times.
            if mentions.reaches(points) || mentions.is_empty() && sample >= MIN_EVALUATED {
                break;
            }
            let question = RunQuestion {
                engine,
                prompt,
                sample,
                is_further: true,
            };
            let asked = questions::ask(context, question).await?;
            if matches!(asked, Asked::Later(_)) && context.job.leased.attempt < MAX_ATTEMPTS {
                return Ok(true);
            }
            let is_stored = matches!(asked, Asked::Stored);
            add(outcome, asked);
            if !is_stored {
                return Ok(false);
            }
        }
    }
    Ok(false)
}

fn add(outcome: &mut RunOutcome, asked: Asked) {
    let (reason, detail) = match asked {
        Asked::Stored => {
            outcome.answers += 1;
            return;
        }
        Asked::Missing { reason, detail } => (reason, detail),
        Asked::Later(error) => (MissReason::ProviderError, error.to_string()),
    };
    outcome.missing += 1;
    outcome.reason.get_or_insert(reason);
    outcome.detail.get_or_insert(detail);
}

/// Returns the places of the answers of an engine to each prompt.
fn places(context: &RunContext, outcome: &RunOutcome) -> Vec<AnswerPlace> {
    let prompts = context.run.run.prompt_ids.iter();
    let place = |prompt: &PromptId| AnswerPlace {
        prompt: *prompt,
        engine: outcome.engine,
        surface: outcome.surface,
    };
    prompts.map(place).collect()
}

/// Returns the mentions in the answers of an engine so far.
async fn mentions(context: &RunContext, outcome: &RunOutcome) -> Result<RunMentions, JobError> {
    let mut all = RunMentions::default();
    let mut tx = context.job.engine.db.read().await?;
    for place in places(context, outcome) {
        let scope = context.job.leased.scope;
        all.add_prompt(&answer_overrides::list_of_run(&mut tx, scope, &place, context.run.run.id).await?);
    }
    Ok(all)
}

async fn finish(context: &RunContext, outcomes: Vec<RunOutcome>) -> Result<Value, JobError> {
    let answers: u32 = outcomes.iter().map(|outcome| outcome.answers).sum();
    let missing: u32 = outcomes.iter().map(|outcome| outcome.missing).sum();
    let status = match (answers, missing) {
        (0, _) => RunStatus::Failed,
        (_, 0) => RunStatus::Completed,
        _ => RunStatus::Partial,
    };
    let changes = mention_changes(context, &outcomes).await?;
    let detail = outcomes.iter().find_map(|outcome| outcome.detail.clone());
    let (run, clock) = (context.run.run.clone(), context.job.engine.clock.clone());
    let id = run.id;
    context
        .job
        .write_unless_canceled(move |tx, scope| {
            Box::pin(async move {
                let now = clock.now();
                if !answer_runs::finish(tx, scope, run.id, status, &outcomes, now).await? {
                    return Ok(());
                }
                for change in changes {
                    let kind = if change.now.mentions > 0 {
                        EventType::VisibilityMentionGained
                    } else {
                        EventType::VisibilityMentionLost
                    };
                    events::insert(tx, scope, clock.id(), kind, &json!(change), now).await?;
                }
                announce(tx, scope, &clock, &run, status, &outcomes).await
            })
        })
        .await?;
    if status == RunStatus::Failed {
        let detail = detail.unwrap_or_else(|| "the project no longer has an account for it".to_owned());
        let detail = format!("no engine answered: {detail}");
        let problem = Problem::new(Code::ProviderError, detail).with("runId", id.to_string());
        return Err(JobError::GiveUp(Box::new(problem)));
    }
    Ok(json!({ "runId": id, "status": status, "answers": answers, "missing": missing }))
}

async fn mention_changes(
    context: &RunContext,
    outcomes: &[RunOutcome],
) -> Result<Vec<MentionData>, JobError> {
    let mut changes = Vec::new();
    let mut tx = context.job.engine.db.read().await?;
    for outcome in outcomes.iter().filter(|outcome| outcome.answers > 0) {
        for place in places(context, outcome) {
            let scope = context.job.leased.scope;
            changes.extend(mention_change(&mut tx, scope, place, context.run.run.id).await?);
        }
    }
    Ok(changes)
}

/// Inserts the event of a run that ended.
async fn announce(
    tx: &mut Tx,
    scope: ProjectScope,
    clock: &Clock,
    run: &Run,
    status: RunStatus,
    outcomes: &[RunOutcome],
) -> searchwright_store::Result<()> {
    let data = RunData {
        run_id: run.id,
        trigger: run.trigger,
        status,
        answers: outcomes.iter().map(|outcome| outcome.answers).sum(),
        missing: outcomes.iter().map(|outcome| outcome.missing).sum(),
    };
    let kind = EventType::VisibilityRunCompleted;
    events::insert(tx, scope, clock.id(), kind, &json!(data), clock.now()).await
}

/// Ends the run of a job that ended for good without success, in the transaction that ends it.
pub(super) async fn abort(
    tx: &mut Tx,
    clock: &Clock,
    leased: &LeasedJob,
    id: RunId,
    job_end: &JobEnd,
) -> searchwright_store::Result<()> {
    let scope = leased.scope;
    let run = answer_runs::get(tx, scope, id).await?.run;
    let reason = match job_end {
        JobEnd::Canceled => return cancel(tx, scope, run, clock.now()).await,
        JobEnd::Failed(problem) => problem.detail.clone(),
        _ => "the run was interrupted".to_owned(),
    };
    let outcomes = stored_outcomes(tx, scope, &run, &reason).await?;
    let status = if outcomes.is_empty() {
        RunStatus::Failed
    } else {
        RunStatus::Partial
    };
    if answer_runs::finish(tx, scope, id, status, &outcomes, clock.now()).await? {
        announce(tx, scope, clock, &run, status, &outcomes).await?;
    }
    Ok(())
}

/// Ends the run of a job that was canceled before a worker took it, in the transaction that cancels the job.
pub(super) async fn withdraw(
    tx: &mut Tx,
    scope: ProjectScope,
    job: JobId,
    now: Instant,
) -> searchwright_store::Result<()> {
    match answer_runs::find_of_job(tx, scope, job).await? {
        Some(found) => cancel(tx, scope, found.run, now).await,
        None => Ok(()),
    }
}

async fn cancel(tx: &mut Tx, scope: ProjectScope, run: Run, now: Instant) -> searchwright_store::Result<()> {
    let outcomes = stored_outcomes(tx, scope, &run, "the run was canceled").await?;
    answer_runs::finish(tx, scope, run.id, RunStatus::Canceled, &outcomes, now)
        .await
        .map(drop)
}

/// Returns the outcomes of a run of which only the stored answers are known.
async fn stored_outcomes(
    tx: &mut Tx,
    scope: ProjectScope,
    run: &Run,
    why: &str,
) -> searchwright_store::Result<Vec<RunOutcome>> {
    let wanted = u32::from(run.samples) * run.prompt_ids.len() as u32;
    let found = answers::count_of_run_by_engine(tx, scope, run.id).await?;
    let outcomes = found.into_iter().map(|(engine, surface, answers)| RunOutcome {
        engine,
        surface,
        answers,
        missing: wanted.saturating_sub(answers),
        reason: Some(MissReason::Interrupted),
        detail: Some(why.to_owned()),
        mention_rate: None,
        stability: None,
        location_controlled: None,
    });
    Ok(outcomes.collect())
}
