//! One question to an engine, with its charge.

use searchwright_contract::{prompts::Prompt, runs::MissReason, usage::Metric};
use searchwright_providers::{self as providers, AnswerEngine, ProviderError};
use searchwright_store::{
    answer_runs,
    usage::{self, ChargeStatus, NewReservation, Reservation},
};
use searchwright_tracking::{engines::new_answer, recording};

use super::RunContext;
use crate::{
    failure::{Failure, defect},
    jobs::JobError,
};

/// A question of a run.
#[derive(Clone, Copy)]
pub(super) struct RunQuestion<'a> {
    pub(super) engine: &'a dyn AnswerEngine,
    pub(super) prompt: &'a Prompt,
    /// Number of the answer, from 0.
    pub(super) sample: u32,
    /// Whether it goes beyond the answers that were counted against the quota when the run was queued.
    pub(super) is_further: bool,
}

/// Outcome of a question.
pub(super) enum Asked {
    Stored,
    Missing {
        reason: MissReason,
        detail: String,
    },
    /// The engine is not available now; nothing was charged.
    Later(ProviderError),
}

impl Asked {
    fn missing(reason: MissReason, detail: impl Into<String>) -> Self {
        Self::Missing {
            reason,
            detail: detail.into(),
        }
    }
}

/// Asks a question, unless it was asked before or could exceed a limit.
pub(super) async fn ask(context: &RunContext, question: RunQuestion<'_>) -> Result<Asked, JobError> {
    let most = question.engine.estimate(&question.prompt.text, 1).high_micros;
    let most = i64::try_from(most.unwrap_or(0)).unwrap_or(i64::MAX);
    if !context.budget.take(most) {
        let detail = "a further answer could exceed maxCost";
        return Ok(Asked::missing(MissReason::Capped, detail));
    }
    let reservation = match reserve(context, question, most).await? {
        Ok(reservation) => reservation,
        Err(over) => {
            context.budget.give_back(most);
            return Ok(Asked::missing(MissReason::Capped, over.0.detail));
        }
    };
    match reservation.status {
        ChargeStatus::New => {}
        ChargeStatus::Ended(_) => {
            // Its cost is in the sum of the run, with which the budget began.
            context.budget.give_back(most);
            return Ok(Asked::Stored);
        }
        ChargeStatus::Uncertain => {
            let detail = "an interrupted attempt may have paid for it; the question is not repeated";
            return Ok(Asked::missing(MissReason::Uncertain, detail));
        }
    }
    let asked = providers::Question {
        text: question.prompt.text.clone(),
        language: question.prompt.language.clone(),
        country: question.prompt.country.clone(),
        city: question.prompt.city.clone(),
    };
    match question.engine.ask(&asked).await {
        Ok(answer) => {
            let clock = &context.job.engine.clock;
            let key = question.engine.key();
            let new = new_answer(key, answer, clock.id(), context.run.run.id, clock.now());
            let cost = new.source.cost_micros_usd;
            context.budget.give_back(most - cost.unwrap_or(most));
            store(context, question.prompt, new, reservation).await?;
            Ok(Asked::Stored)
        }
        Err(ProviderError::Uncertain(_)) => {
            let detail = "the answer was lost; it may have been charged, so the question is not repeated";
            Ok(Asked::missing(MissReason::Uncertain, detail))
        }
        Err(error) => {
            release(context, question, reservation).await?;
            context.budget.give_back(most);
            Ok(match error {
                ProviderError::RateLimited(_) | ProviderError::Unavailable | ProviderError::Resting(_) => {
                    Asked::Later(error)
                }
                _ => Asked::missing(MissReason::ProviderError, error.to_string()),
            })
        }
    }
}

/// Stores the charge of a question before it is asked.
async fn reserve(
    context: &RunContext,
    question: RunQuestion<'_>,
    most: i64,
) -> Result<Result<Reservation, Failure>, JobError> {
    let key = question.engine.key();
    let [engine, surface] = [key.engine.word(), key.surface.word()];
    let new = NewReservation {
        id: context.job.engine.clock.id(),
        job: context.job.leased.id,
        step: format!("{engine}-{surface}-{}-{}", question.prompt.id, question.sample),
        provider: question.engine.provider().to_owned(),
        what: format!("answer of {engine} to a prompt"),
        estimate: most,
    };
    let (now, is_further) = (context.job.engine.clock.now(), question.is_further);
    context
        .job
        .write_fenced(move |tx, scope| {
            Box::pin(async move {
                let reservation = match usage::reserve(tx, scope, new, now).await? {
                    Ok(reservation) => reservation,
                    Err(over) => return Ok(Err(Failure::from(over))),
                };
                if is_further
                    && reservation.status == ChargeStatus::New
                    && let Err(over) = usage::consume(tx, scope, Metric::AnswersTracked, 1, now).await?
                {
                    usage::release(tx, scope, reservation.id).await?;
                    return Ok(Err(Failure::from(over)));
                }
                Ok(Ok(reservation))
            })
        })
        .await
}

/// Removes the charge of a question that was not charged for.
async fn release(
    context: &RunContext,
    question: RunQuestion<'_>,
    reservation: Reservation,
) -> Result<(), JobError> {
    let (now, is_further) = (context.job.engine.clock.now(), question.is_further);
    context
        .job
        .write_fenced(move |tx, scope| {
            Box::pin(async move {
                usage::release(tx, scope, reservation.id).await?;
                if is_further {
                    usage::refund(tx, scope, Metric::AnswersTracked, 1, now).await?;
                }
                Ok(())
            })
        })
        .await
}

/// Stores an answer with its cost, in one transaction.
async fn store(
    context: &RunContext,
    prompt: &Prompt,
    new: recording::NewAnswer,
    reservation: Reservation,
) -> Result<(), JobError> {
    let cost = new.source.cost_micros_usd;
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
