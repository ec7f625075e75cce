//! Plan of a run: engines that it asks, and the range of its cost.

use std::collections::BTreeSet;

use searchwright_contract::{
    Code, Problem,
    answers::Engine,
    prompts::{Prompt, PromptStatus},
    runs::{CostEstimate, TrackPrompt},
};
use searchwright_failure::{Failure, Result, fault};
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

    /// Plans a run of the schedule, which never spends more than `max_cost` US dollars: each prompt is put to the configured
    /// engines among those that it names, or to all. `ways` counts each engine once for every prompt that is put to it.
    pub fn of_schedule(
        prompts: &[Prompt],
        samples: u8,
        max_cost: f64,
        configured: &[Box<dyn AnswerEngine>],
    ) -> Result<Self> {
        let mut plan = Self {
            engines: Vec::new(),
            ways: 0,
            estimate: CostEstimate {
                low: Some(0.0),
                high: Some(0.0),
            },
        };
        let mut engines = BTreeSet::new();
        let mut least: Option<f64> = None;
        for prompt in prompts {
            let asked = configured.iter().map(|engine| &**engine);
            let asked = asked.filter(|engine| is_for(prompt, contract_engine(engine.key())));
            let chosen: Vec<&dyn AnswerEngine> = asked.collect();
            if chosen.is_empty() {
                continue;
            }
            let cheapest = cheapest_answer("/max_cost", prompt, &chosen)?;
            least = Some(least.unwrap_or(f64::INFINITY).min(cheapest));
            engines.extend(chosen.iter().map(|engine| contract_engine(engine.key())));
            plan.ways = plan
                .ways
                .saturating_add(u32::try_from(chosen.len()).unwrap_or(u32::MAX));
            let samples = u32::from(samples);
            let cost = sum_estimates(prompt, &chosen, samples, samples);
            plan.estimate.low = plan.estimate.low.zip(cost.low).map(|(sum, low)| sum + low);
            plan.estimate.high = plan.estimate.high.zip(cost.high).map(|(sum, high)| sum + high);
        }
        match least {
            None => return Err(not_configured("no account asks an engine of the prompts".to_owned()).into()),
            Some(least) if least > max_cost => return Err(too_low("/max_cost", least)),
            Some(_) => {}
        }
        plan.estimate.high = plan.estimate.high.map(|high| high.min(max_cost));
        plan.engines = engines.into_iter().collect();
        Ok(plan)
    }
}

/// Returns whether a prompt is put to an engine by a schedule: it names that engine, or none.
pub fn is_for(prompt: &Prompt, engine: Engine) -> bool {
    prompt.engines.is_empty() || prompt.engines.contains(&engine)
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
    let sum = sum_estimates(prompt, chosen, fewest, most);
    CostEstimate {
        high: sum
            .high
            .map(|high| high.min(operation.max_cost.unwrap_or(f64::INFINITY))),
        ..sum
    }
}

/// Returns the cost of `fewest` to `most` answers of each engine.
fn sum_estimates(prompt: &Prompt, chosen: &[&dyn AnswerEngine], fewest: u32, most: u32) -> CostEstimate {
    let sum = |samples: u32, member: fn(Estimate) -> Option<u64>| {
        let micros = chosen
            .iter()
            .map(|engine| member(engine.estimate(&prompt.text, samples)));
        micros.sum::<Option<u64>>().map(dollars)
    };
    CostEstimate {
        low: sum(fewest, |estimate| estimate.low_micros),
        high: sum(most, |estimate| estimate.high_micros),
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
    match cheapest_answer("/maxCost", prompt, chosen)? {
        least if least > limit => Err(too_low("/maxCost", least)),
        _ => Ok(()),
    }
}

/// Returns the most that one answer of the cheapest engine may cost; a fault of the limit if a price is unknown.
fn cheapest_answer(pointer: &str, prompt: &Prompt, chosen: &[&dyn AnswerEngine]) -> Result<f64> {
    let most_of_one = chosen
        .iter()
        .map(|engine| engine.estimate(&prompt.text, 1).high_micros);
    let Some(known) = most_of_one.collect::<Option<Vec<u64>>>() else {
        return Err(fault(
            pointer,
            "price_unknown",
            "cannot be held: the price of an engine is unknown; let the operator set inputPrice, outputPrice and searchPrice of its account",
        ));
    };
    Ok(known.into_iter().min().map_or(0.0, dollars))
}

fn too_low(pointer: &str, least: f64) -> Failure {
    let detail = format!("allows no answer: one may cost up to {least} USD");
    fault(pointer, "too_low", detail)
}
