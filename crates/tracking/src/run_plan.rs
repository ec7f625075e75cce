//! Plan of a run: engines that it asks, and the range of its cost.

use searchwright_contract::{
    Code, Problem,
    answers::Engine,
    prompts::{Prompt, PromptStatus},
    runs::{CostEstimate, TrackPrompt},
};
use searchwright_failure::{Result, fault};
use searchwright_providers::{AnswerEngine, Estimate};

use crate::engines::contract_engine;

/// Most answers of an engine to a prompt in a run that aims at a precision.
pub const MAX_ANSWERS: u32 = 200;

/// Refuses an archived prompt: it gets no further answers, because the set of prompts that it counted in is closed.
pub fn require_active(prompt: &Prompt) -> Result<()> {
    if prompt.status == PromptStatus::Archived {
        return Err(Problem::new(Code::InvalidState, "the prompt is archived")
            .hint("make it active first: prompts.update with status active")
            .with("from", prompt.status.as_str())
            .into());
    }
    Ok(())
}

/// Engines that a run asks, with the estimate of its cost.
#[derive(Debug)]
pub struct RunPlan {
    /// Engines.
    pub engines: Vec<Engine>,
    /// Number of ways by which they are asked: an engine may have several.
    pub ways: u32,
    /// Range of the cost.
    pub estimate: CostEstimate,
}

impl RunPlan {
    /// Chooses among the engines of the project's accounts. Refuses an archived prompt, a run that nothing can be asked in,
    /// and a limit that cannot be held.
    pub fn new(
        operation: &TrackPrompt,
        prompt: &Prompt,
        configured: &[Box<dyn AnswerEngine>],
    ) -> Result<Self> {
        require_active(prompt)?;
        let wanted = operation.engines.as_deref().unwrap_or(&prompt.engines);
        let chosen: Vec<&dyn AnswerEngine> = configured
            .iter()
            .map(|engine| &**engine)
            .filter(|engine| wanted.is_empty() || wanted.contains(&contract_engine(engine.key())))
            .collect();
        let mut engines: Vec<Engine> = chosen
            .iter()
            .map(|engine| contract_engine(engine.key()))
            .collect();
        engines.sort_unstable();
        engines.dedup();
        if let Some(missing) = wanted.iter().find(|engine| !engines.contains(engine)) {
            return Err(not_configured(format!("no account asks {missing}")).into());
        }
        if engines.is_empty() {
            return Err(not_configured("no account asks an engine".to_owned()).into());
        }
        check_limit(operation, prompt, &chosen)?;
        Ok(Self {
            engines,
            ways: u32::try_from(chosen.len()).unwrap_or(u32::MAX),
            estimate: estimate(operation, prompt, &chosen),
        })
    }
}

fn not_configured(detail: String) -> Problem {
    Problem::new(Code::ProviderNotConfigured, detail).hint(
        "let the operator set an account: searchwright admin provider set; or copy answers by hand: POST visibility/prompts/{promptId}/answers",
    )
}

fn estimate(operation: &TrackPrompt, prompt: &Prompt, chosen: &[&dyn AnswerEngine]) -> CostEstimate {
    let fewest = u32::from(operation.samples.unwrap_or(1));
    let most = match operation.precision_target {
        Some(_) => MAX_ANSWERS,
        None => fewest,
    };
    let sum = |samples: u32, member: fn(Estimate) -> Option<u64>| {
        let micros = chosen
            .iter()
            .map(|engine| member(engine.estimate(&prompt.text, samples)));
        micros.sum::<Option<u64>>().map(dollars)
    };
    let high = sum(most, |estimate| estimate.high_micros);
    CostEstimate {
        low: sum(fewest, |estimate| estimate.low_micros),
        high: high.map(|high| high.min(operation.max_cost.unwrap_or(f64::INFINITY))),
    }
}

fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// Refuses a limit that allows no answer at all, or that cannot be held because a price is unknown.
fn check_limit(operation: &TrackPrompt, prompt: &Prompt, chosen: &[&dyn AnswerEngine]) -> Result<()> {
    let Some(limit) = operation.max_cost else {
        return match operation.precision_target {
            Some(_) => {
                let why = "is needed beside precisionTarget, which may take up to 200 answers per engine";
                Err(fault("/maxCost", "required", why))
            }
            None => Ok(()),
        };
    };
    let most_of_one = chosen
        .iter()
        .map(|engine| engine.estimate(&prompt.text, 1).high_micros);
    let Some(known) = most_of_one.collect::<Option<Vec<u64>>>() else {
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
