//! Checkpoints: results of the steps of a job, stored under its lease, and steps that call a provider, each charged once.

use searchwright_providers::{LanguageModel, Prompt, ProviderError, Why, answer};
use searchwright_store::{
    jobs, posts,
    usage::{self, ChargeStatus, NewReservation, Reservation},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{JobContext, JobError};
use crate::{
    failure::{Failure, defect},
    posts::hashes::digest,
};

/// Subject of the steps of a post.
pub(super) const POST: &str = "post";

/// The steps of one job.
pub(super) struct Steps<'a> {
    pub(super) job: &'a JobContext,
    /// Subject of the steps, shown with what was spent.
    pub(super) of: &'static str,
}

/// Provider that charges for a call, and an upper estimate in millionths of a US dollar; `None` if it cannot be known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    pub(super) provider: &'static str,
    pub(super) estimate: Option<u64>,
}

/// Outcome of a call to a provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StepAnswer {
    /// The answer, as text or as JSON of the form that was asked for; `None` if there is none to be had.
    pub(super) said: Option<Value>,
    /// Reason for which there is no answer.
    pub(super) lost: Option<String>,
    /// Cost in millionths of a US dollar; `None` if unknown.
    pub(super) cost: Option<i64>,
}

impl StepAnswer {
    fn lost(why: impl ToString, cost: Option<i64>) -> Self {
        Self {
            said: None,
            lost: Some(why.to_string()),
            cost,
        }
    }
}

impl Steps<'_> {
    /// Loads the result that a step produced from this input in an earlier attempt; `None` if there is none.
    pub(super) async fn done<T: DeserializeOwned>(
        &self,
        step: &str,
        input: &Value,
    ) -> Result<Option<T>, JobError> {
        let mut tx = self.job.engine.db.read().await?;
        let made = posts::find_step(&mut tx, &self.job.leased, step, &digest(input)).await?;
        made.map(serde_json::from_value)
            .transpose()
            .map_err(|e| defect("stored step", e).into())
    }

    /// Keeps what a step made of this input.
    pub(super) async fn save<T: Serialize>(
        &self,
        step: &str,
        input: &Value,
        made: &T,
    ) -> Result<(), JobError> {
        self.keep(step, input, made, None).await
    }

    /// Keeps what a step made, and says in the same transaction what the call for it cost.
    async fn keep<T: Serialize>(
        &self,
        step: &str,
        input: &Value,
        made: &T,
        settled: Option<(Reservation, Option<i64>)>,
    ) -> Result<(), JobError> {
        let made = serde_json::to_value(made).map_err(|e| defect("step", e))?;
        let (leased, step) = (self.job.leased.clone(), step.to_owned());
        let (digest, now) = (digest(input), self.job.engine.clock.now());
        self.job
            .write_fenced(move |tx, scope| {
                Box::pin(async move {
                    posts::save_step(tx, &leased, &step, &digest, &made, now).await?;
                    if let Some((reservation, cost)) = settled {
                        usage::settle(tx, scope, reservation.id, cost, now).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Asks a model once; see [`Steps::once`].
    pub(super) async fn ask(
        &self,
        model: &dyn LanguageModel,
        step: &str,
        prompt: Prompt,
    ) -> Result<StepAnswer, JobError> {
        let input = json!([
            model.provider(),
            model.model(),
            prompt.system,
            prompt
                .data
                .iter()
                .map(|data| [&data.label, &data.text])
                .collect::<Vec<_>>(),
            prompt.instructions,
        ]);
        let price = Price {
            provider: model.provider(),
            estimate: model.most(&prompt),
        };
        self.once(step, &input, price, async {
            let answer = answer(model, &prompt).await?;
            let said = answer.json.unwrap_or(Value::String(answer.text));
            Ok((said, answer.usage.cost_micros_usd))
        })
        .await
    }

    /// Makes a call that may be charged for once. Before the call its charge is noted; the answer is kept together
    /// with what it cost. A call whose answer did not live to be kept may have been charged for: it is not made
    /// again, and there is no answer to this step.
    pub(super) async fn once(
        &self,
        step: &str,
        input: &Value,
        price: Price,
        call: impl Future<Output = Result<(Value, Option<u64>), ProviderError>>,
    ) -> Result<StepAnswer, JobError> {
        if let Some(asked) = self.done(step, input).await? {
            return Ok(asked);
        }
        // A call that is known not to have been carried out is a new charge when it is made again.
        let (count, none) = (format!("{step} tries"), Value::Null);
        let tries: u32 = self.done(&count, &none).await?.unwrap_or_default();
        let charge = if tries == 0 {
            step.to_owned()
        } else {
            format!("{step}, try {}", tries + 1)
        };
        let reservation = self.reserve_charge(price, charge).await?;
        let asked = match reservation.status {
            ChargeStatus::New => match call.await {
                Ok((said, cost)) => StepAnswer {
                    said: Some(said),
                    lost: None,
                    cost: cost.and_then(|cost| cost.try_into().ok()),
                },
                Err(
                    error @ (ProviderError::RateLimited(_)
                    | ProviderError::Unavailable
                    | ProviderError::Resting(_)),
                ) => {
                    self.keep(&count, &none, &(tries + 1), Some((reservation, Some(0))))
                        .await?;
                    return Err(error.into());
                }
                Err(error) => self.without_answer(&count, reservation, tries, error).await?,
            },
            ChargeStatus::Uncertain => StepAnswer::lost(ProviderError::Uncertain(Box::default()), None),
            ChargeStatus::Ended(cost) => StepAnswer::lost("its answer was not kept", cost),
        };
        let settled = (reservation.status == ChargeStatus::New).then_some((reservation, asked.cost));
        self.keep(step, input, &asked, settled).await?;
        Ok(asked)
    }

    /// Returns the outcome of a step that got no answer. An error that concerns the account ends the job.
    async fn without_answer(
        &self,
        count: &str,
        reservation: Reservation,
        tries: u32,
        error: ProviderError,
    ) -> Result<StepAnswer, JobError> {
        let cost = |came: Option<&searchwright_providers::Partial>| match came {
            None => Some(0),
            Some(came) => came.usage.cost_micros_usd.and_then(|cost| cost.try_into().ok()),
        };
        match &error {
            ProviderError::Refused(refusal)
                if matches!(
                    refusal.why,
                    Why::Filtered | Why::Truncated | Why::Empty | Why::Unreadable
                ) =>
            {
                Ok(StepAnswer::lost(&error, cost(refusal.came.as_ref())))
            }
            ProviderError::Uncertain(_) => Ok(StepAnswer::lost(&error, None)),
            ProviderError::Refused(refusal) => {
                let paid = cost(refusal.came.as_ref());
                self.keep(count, &Value::Null, &(tries + 1), Some((reservation, paid)))
                    .await?;
                Err(error.into())
            }
            _ => Err(error.into()),
        }
    }

    /// Reserves the charge of a call before it is made; for a post it also stores the current step, which callers can see.
    async fn reserve_charge(&self, price: Price, charge: String) -> Result<Reservation, JobError> {
        let new = NewReservation {
            id: self.job.engine.clock.id(),
            job: self.job.leased.id,
            what: format!("{}: {charge}", self.of),
            step: charge.clone(),
            provider: price.provider.to_owned(),
            estimate: price.estimate.and_then(|most| most.try_into().ok()).unwrap_or(0),
        };
        let now = self.job.engine.clock.now();
        let leased = self.job.leased.clone();
        let progress = (self.of == POST).then(|| json!({ "step": charge }));
        let noted = self
            .job
            .write_fenced(move |tx, scope| {
                Box::pin(async move {
                    if let Some(progress) = progress {
                        jobs::save_progress(tx, &leased, progress).await?;
                    }
                    usage::reserve(tx, scope, new, now).await
                })
            })
            .await?;
        noted.map_err(|over| JobError::GiveUp(Failure::from(over).0))
    }
}
