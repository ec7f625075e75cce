//! Puts prompts to engines. A question is noted as a charge before it is asked and is asked once: an answer that may have been
//! paid for is not asked for again. Every answer is stored together with its cost, so that whatever ends the job keeps it.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;
use searchwright_contract::{
    Instant,
    ids::RunId,
    prompts::Prompt,
    runs::{MissReason, RunOutcome, RunStatus},
};
use searchwright_providers::{AnswerEngine, ProviderError, Question};
use searchwright_store::{
    Tx,
    answer_runs::{self, StoredRun},
    jobs::{JobEnd, LeasedJob},
    projects, prompts,
    usage::{self, ChargeStatus, NewReservation, Reservation},
};
use searchwright_tracking::{
    ProjectDays, TrackedBrands,
    engines::{contract_engine, contract_surface, new_answer},
    recording,
};
use serde_json::{Value, json};

use super::{JobContext, JobError};
use crate::failure::{Failure, defect};

/// Attempts after which an engine that is not available counts as failed.
const MAX_ATTEMPTS: i64 = 3;
/// Wait before engines that were not available are asked again.
const RETRY_MILLIS: i64 = 5_000;

/// Everything that a run needs.
struct RunContext {
    job: JobContext,
    run: StoredRun,
    prompts: Vec<Prompt>,
    brands: Arc<TrackedBrands>,
    days: Arc<ProjectDays>,
    budget: RunBudget,
}

/// Outcome of one question.
enum Asked {
    Stored,
    Missing {
        reason: MissReason,
        detail: String,
    },
    /// The engine is not available now; nothing was charged.
    Later(ProviderError),
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
        context
            .job
            .accounts
            .answer_engines(&mut tx, context.job.leased.scope)
            .await??
    };
    let wanted = &context.run.run.engines;
    let chosen: Vec<&dyn AnswerEngine> = engines
        .iter()
        .map(|engine| &**engine)
        .filter(|engine| wanted.contains(&contract_engine(engine.key())))
        .collect();
    let id = context.run.run.id;
    context
        .job
        .write_fenced(move |tx, scope| Box::pin(async move { answer_runs::begin(tx, scope, id).await }))
        .await?;
    let asked = join_all(chosen.iter().map(|engine| ask_engine(&context, *engine))).await;
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
        job,
        budget: RunBudget {
            limit: run.max_cost_micros,
            spent: Mutex::new(spent),
        },
        run,
        prompts,
        brands: Arc::new(brands),
        days: Arc::new(days),
    })
}

/// Puts all prompts to one engine, one after the other. Returns its outcome, and whether it has to be asked again later.
async fn ask_engine(context: &RunContext, engine: &dyn AnswerEngine) -> Result<(RunOutcome, bool), JobError> {
    let mut outcome = RunOutcome {
        engine: contract_engine(engine.key()),
        surface: contract_surface(engine.key()),
        answers: 0,
        missing: 0,
        reason: None,
        detail: None,
        location_controlled: engine.location_control(),
    };
    for prompt in &context.prompts {
        for sample in 0..context.run.run.samples {
            match ask_once(context, engine, prompt, sample).await? {
                Asked::Stored => outcome.answers += 1,
                Asked::Missing { reason, detail } => {
                    outcome.missing += 1;
                    outcome.reason.get_or_insert(reason);
                    outcome.detail.get_or_insert(detail);
                }
                Asked::Later(_) if context.job.leased.attempt < MAX_ATTEMPTS => {
                    return Ok((outcome, true));
                }
                Asked::Later(error) => {
                    outcome.missing += 1;
                    outcome.reason.get_or_insert(MissReason::ProviderError);
                    outcome.detail.get_or_insert(error.to_string());
                }
            }
        }
    }
    Ok((outcome, false))
}

/// Money that a run may still spend: cost of the answers, and the most that questions under way may cost.
struct RunBudget {
    limit: Option<i64>,
    spent: Mutex<i64>,
}

impl RunBudget {
    /// Takes the most that a question may cost. `false` if that could exceed the limit.
    fn take(&self, micros: i64) -> bool {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let after = spent.saturating_add(micros);
        let fits = self.limit.is_none_or(|limit| after <= limit);
        if fits {
            *spent = after;
        }
        fits
    }

    /// Gives back what a question did not cost.
    fn give_back(&self, micros: i64) {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) -= micros;
    }
}

async fn ask_once(
    context: &RunContext,
    engine: &dyn AnswerEngine,
    prompt: &Prompt,
    sample: u8,
) -> Result<Asked, JobError> {
    let most = most_micros(engine, prompt);
    if !context.budget.take(most) {
        return Ok(Asked::Missing {
            reason: MissReason::Capped,
            detail: "a further answer could exceed maxCost".to_owned(),
        });
    }
    let reservation = match reserve(context, engine, prompt, sample, most).await? {
        Ok(reservation) => reservation,
        Err(over) => {
            context.budget.give_back(most);
            return Ok(Asked::Missing {
                reason: MissReason::Capped,
                detail: Failure::from(over).0.detail,
            });
        }
    };
    match reservation.status {
        ChargeStatus::New => {}
        ChargeStatus::Ended(_) => {
            // What it cost is in the sum of the run, with which the budget began.
            context.budget.give_back(most);
            return Ok(Asked::Stored);
        }
        ChargeStatus::Uncertain => {
            return Ok(Asked::Missing {
                reason: MissReason::Uncertain,
                detail: "an interrupted attempt may have paid for it; the question is not repeated"
                    .to_owned(),
            });
        }
    }
    let question = Question {
        text: prompt.text.clone(),
        language: prompt.language.clone(),
        country: prompt.country.clone(),
        city: prompt.city.clone(),
    };
    match engine.ask(&question).await {
        Ok(answer) => {
            let clock = &context.job.engine.clock;
            let new = new_answer(engine.key(), answer, clock.id(), context.run.run.id, clock.now());
            let cost = new.source.cost_micros_usd;
            context.budget.give_back(most - cost.unwrap_or(most));
            store(context, prompt, new, reservation, cost).await?;
            Ok(Asked::Stored)
        }
        Err(ProviderError::Uncertain(_)) => Ok(Asked::Missing {
            reason: MissReason::Uncertain,
            detail: "the answer was lost; it may have been charged, so the question is not repeated"
                .to_owned(),
        }),
        Err(error) => {
            release(context, reservation).await?;
            context.budget.give_back(most);
            Ok(match error {
                ProviderError::RateLimited(_) | ProviderError::Unavailable | ProviderError::Resting(_) => {
                    Asked::Later(error)
                }
                _ => Asked::Missing {
                    reason: MissReason::ProviderError,
                    detail: error.to_string(),
                },
            })
        }
    }
}

/// Most that an answer is expected to cost; 0 if the price is unknown.
fn most_micros(engine: &dyn AnswerEngine, prompt: &Prompt) -> i64 {
    let most = engine.estimate(&prompt.text, 1).high_micros.unwrap_or(0);
    i64::try_from(most).unwrap_or(i64::MAX)
}

/// Stores the charge of a question before it is asked.
async fn reserve(
    context: &RunContext,
    engine: &dyn AnswerEngine,
    prompt: &Prompt,
    sample: u8,
    most: i64,
) -> Result<Result<Reservation, usage::BudgetExceeded>, JobError> {
    let key = engine.key();
    let new = NewReservation {
        id: context.job.engine.clock.id(),
        job: context.job.leased.id,
        step: format!(
            "{}-{}-{}-{sample}",
            key.engine.word(),
            key.surface.word(),
            prompt.id
        ),
        provider: engine.provider().to_owned(),
        what: format!("answer of {} to a prompt", key.engine.word()),
        estimate: most,
    };
    let now = context.job.engine.clock.now();
    context
        .job
        .write_fenced(move |tx, scope| Box::pin(async move { usage::reserve(tx, scope, new, now).await }))
        .await
}

/// Removes the charge of a question that was not charged for.
async fn release(context: &RunContext, reservation: Reservation) -> Result<(), JobError> {
    context
        .job
        .write_fenced(move |tx, scope| {
            Box::pin(async move { usage::release(tx, scope, reservation.id).await })
        })
        .await
}

/// Stores an answer with its cost, in one transaction.
async fn store(
    context: &RunContext,
    prompt: &Prompt,
    new: recording::NewAnswer,
    reservation: Reservation,
    cost: Option<i64>,
) -> Result<(), JobError> {
    let (brands, days, prompt) = (context.brands.clone(), context.days.clone(), prompt.clone());
    let analysed =
        tokio::task::spawn_blocking(move || recording::analyse_answers(&brands, &days, &prompt, vec![new]));
    let analysed = analysed.await.map_err(|e| defect("analysis of answers", e))?;
    let (run, now) = (context.run.run.id, context.job.engine.clock.now());
    context
        .job
        .write_fenced(move |tx, scope| {
            Box::pin(async move {
                recording::store(tx, scope, &analysed, now).await?;
                usage::settle(tx, scope, reservation.id, cost, now).await?;
                if let Some(cost) = cost {
                    answer_runs::add_cost(tx, scope, run, cost).await?;
                }
                Ok(())
            })
        })
        .await
}

async fn finish(context: &RunContext, outcomes: Vec<RunOutcome>) -> Result<Value, JobError> {
    let answers: u32 = outcomes.iter().map(|outcome| outcome.answers).sum();
    let missing: u32 = outcomes.iter().map(|outcome| outcome.missing).sum();
    let status = match (answers, missing) {
        (0, _) => RunStatus::Failed,
        (_, 0) => RunStatus::Completed,
        _ => RunStatus::Partial,
    };
    let (id, now) = (context.run.run.id, context.job.engine.clock.now());
    context
        .job
        .write_unless_canceled(move |tx, scope| {
            Box::pin(async move { answer_runs::finish(tx, scope, id, status, &outcomes, now).await })
        })
        .await?;
    Ok(json!({ "runId": id, "status": status, "answers": answers, "missing": missing }))
}

/// Ends the run of a job that ended for good without success, in the transaction that ends it.
pub(super) async fn abort(
    tx: &mut Tx,
    leased: &LeasedJob,
    run: RunId,
    end: &JobEnd,
    now: Instant,
) -> searchwright_store::Result<()> {
    let status = match end {
        JobEnd::Canceled => RunStatus::Canceled,
        _ => RunStatus::Failed,
    };
    answer_runs::finish(tx, leased.scope, run, status, &[], now).await
}
