//! Status of the answer engines of a project: what its accounts ask, and how the engines have answered.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    answers::{AnswerStatus, Engine, Surface},
    engine_status::{
        EngineFailure, EngineStatus, EngineStatuses, MeasuredValue, MissedAnswers, StatusAnswers,
    },
    runs::{CostEstimate, MissReason},
};
use searchwright_failure::Result;
use searchwright_providers::{AnswerEngine, Provider, ProviderError};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    answers::{self, Series},
    engine_activity::{self, Average, BadAnswer, EngineActivity, EngineDays, RunOutcomes},
    projects,
};
use searchwright_visibility::statistics::{Cluster, Rate};

use crate::{
    ProjectDays,
    days::format_day,
    engines::{contract_engine, contract_surface},
    overview::contract_rate,
};

/// Days of the figures.
const WINDOW_DAYS: i32 = 28;
const DAY_MILLIS: i64 = 24 * 3_600_000;
/// A prompt of the usual length, for the estimate of a cost.
const USUAL_PROMPT: &str =
    "Which standing desk is stable enough for two heavy monitors, quiet, and easy to move between rooms?";

/// An account at a provider of answer engines.
#[derive(Debug)]
pub struct EngineAccount {
    /// The provider.
    pub provider: Provider,
    /// Its engines; an error if they cannot be made from its settings.
    pub engines: std::result::Result<Vec<Box<dyn AnswerEngine>>, ProviderError>,
}

/// An engine at a surface that can be had, with its provider.
struct Offer {
    engine: Engine,
    surface: Surface,
    /// Provider that asks it; `None` where answers can only be copied by hand.
    provider: Option<Provider>,
    /// Needs of its account.
    needs: &'static str,
}

impl Offer {
    const fn key(&self) -> EntryKey {
        EntryKey {
            engine: self.engine,
            surface: self.surface,
        }
    }
}

const fn offer(engine: Engine, surface: Surface, provider: Option<Provider>, needs: &'static str) -> Offer {
    Offer {
        engine,
        surface,
        provider,
        needs,
    }
}

const KEY_AND_MODEL: &str = "--model MODEL --secret-file FILE";
const KEY: &str = "--secret-file FILE";

/// Every engine that can be had.
const OFFERS: [Offer; 14] = [
    offer(
        Engine::Chatgpt,
        Surface::Api,
        Some(Provider::OpenAi),
        KEY_AND_MODEL,
    ),
    offer(
        Engine::Chatgpt,
        Surface::ConsumerUi,
        Some(Provider::DataForSeo),
        KEY,
    ),
    offer(
        Engine::Claude,
        Surface::Api,
        Some(Provider::Anthropic),
        KEY_AND_MODEL,
    ),
    offer(
        Engine::Gemini,
        Surface::Api,
        Some(Provider::Gemini),
        KEY_AND_MODEL,
    ),
    offer(
        Engine::Gemini,
        Surface::ConsumerUi,
        Some(Provider::DataForSeo),
        KEY,
    ),
    offer(Engine::Perplexity, Surface::Api, Some(Provider::Perplexity), KEY),
    offer(
        Engine::GoogleAiOverview,
        Surface::Serp,
        Some(Provider::DataForSeo),
        KEY,
    ),
    offer(
        Engine::GoogleAiMode,
        Surface::Serp,
        Some(Provider::DataForSeo),
        KEY,
    ),
    offer(Engine::Grok, Surface::Api, Some(Provider::Xai), KEY_AND_MODEL),
    offer(Engine::Copilot, Surface::Manual, None, ""),
    offer(Engine::Mistral, Surface::Manual, None, ""),
    offer(Engine::Deepseek, Surface::Manual, None, ""),
    offer(Engine::MetaAi, Surface::Manual, None, ""),
    offer(
        Engine::Custom,
        Surface::Api,
        Some(Provider::OpenAi),
        "--base-url URL --model MODEL",
    ),
];

/// Engine and surface of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EntryKey {
    engine: Engine,
    surface: Surface,
}

/// Returns the status of all engines.
pub async fn statuses(
    tx: &mut Tx,
    scope: ProjectScope,
    accounts: &[EngineAccount],
    now: Instant,
) -> Result<EngineStatuses> {
    let project = projects::get(tx, scope).await?;
    let days = ProjectDays::new(&project.timezone)?;
    let today = days.day(now);
    let window = today - WINDOW_DAYS + 1..=today;
    let series = answers::list_series(tx, scope).await?;
    let since = now.plus_millis(-i64::from(WINDOW_DAYS) * DAY_MILLIS);
    let runs = engine_activity::list_outcomes(tx, scope, since).await?;
    let mut used: BTreeMap<EntryKey, Option<&dyn AnswerEngine>> = BTreeMap::new();
    for known in &series {
        let key = EntryKey {
            engine: known.engine,
            surface: known.surface,
        };
        used.insert(key, None);
    }
    for engine in accounts
        .iter()
        .filter_map(|account| account.engines.as_ref().ok())
        .flatten()
    {
        let key = EntryKey {
            engine: contract_engine(engine.key()),
            surface: contract_surface(engine.key()),
        };
        used.insert(key, Some(&**engine));
    }
    let mut data = Vec::with_capacity(used.len() + OFFERS.len());
    for (key, asked) in &used {
        let which = EngineDays {
            engine: key.engine,
            surface: key.surface,
            days: window.clone(),
        };
        let activity = engine_activity::get(tx, scope, &which).await?;
        let newest = series
            .iter()
            .find(|known| Some(known.id) == activity.newest_series);
        let mut status = in_use(*key, *asked, newest, &activity);
        add_misses(&mut status, &runs);
        if asked.is_none() {
            status.missing = Some(missing(scope, *key, accounts));
        }
        data.push(status);
    }
    let unused = OFFERS.iter().map(Offer::key);
    for key in unused.filter(|key| !used.contains_key(key)) {
        let mut status = empty(key);
        // An engine that never answered may have failed in runs.
        add_misses(&mut status, &runs);
        status.missing = Some(missing(scope, key, accounts));
        data.push(status);
    }
    Ok(EngineStatuses {
        data,
        from: format_day(*window.start()),
        to: format_day(today),
    })
}

fn empty(key: EntryKey) -> EngineStatus {
    EngineStatus {
        engine: key.engine,
        surface: key.surface,
        retrieval: None,
        provider: offered(key).and_then(|offer| Some(offer.provider?.word().to_owned())),
        configured: false,
        missing: None,
        requested_model: None,
        served_models: Vec::new(),
        tool_version: None,
        location_controlled: None,
        estimated_cost: None,
        last_good_answer_at: None,
        answers: 0,
        statuses: Vec::new(),
        failures: 0,
        missed: Vec::new(),
        search_performed: None,
        mean_cost: None,
        median_latency_ms: None,
        last_error: None,
        notes: notes(key, None, None),
    }
}

fn offered(key: EntryKey) -> Option<&'static Offer> {
    OFFERS.iter().find(|offer| offer.key() == key)
}

fn in_use(
    key: EntryKey,
    asked: Option<&dyn AnswerEngine>,
    newest: Option<&Series>,
    activity: &EngineActivity,
) -> EngineStatus {
    let retrieval = asked
        .map(|engine| engine.key().retrieval.word().to_owned())
        // Of answers copied by hand nobody knows.
        .or_else(|| Some(newest?.retrieval.clone()).filter(|_| key.surface != Surface::Manual));
    let stored_tool = newest.and_then(|series| series.variant.split('/').next());
    let location_controlled = asked.map(AnswerEngine::location_control);
    let estimate = asked.map(|engine| engine.estimate(USUAL_PROMPT, 1));
    let bad = activity.statuses.iter().filter(|count| is_bad(count.status));
    EngineStatus {
        provider: asked
            .map(|engine| engine.provider().to_owned())
            .or_else(|| empty(key).provider),
        configured: asked.is_some(),
        requested_model: asked.and_then(|engine| engine.key().model.clone()),
        served_models: activity.served_models.clone(),
        tool_version: match asked {
            Some(engine) => engine.key().tool_version.clone(),
            None => stored_tool.filter(|tool| !tool.is_empty()).map(str::to_owned),
        },
        location_controlled,
        estimated_cost: estimate.map(|estimate| CostEstimate {
            low: estimate.low_micros.map(|micros| micros as f64 / 1e6),
            high: estimate.high_micros.map(|micros| micros as f64 / 1e6),
        }),
        last_good_answer_at: activity.last_good_at,
        answers: activity.statuses.iter().map(|count| count.answers).sum(),
        statuses: activity
            .statuses
            .iter()
            .map(|count| StatusAnswers {
                status: count.status,
                answers: count.answers,
            })
            .collect(),
        failures: bad.map(|count| count.answers).sum(),
        search_performed: search_rate(activity),
        mean_cost: activity.cost_micros.map(|cost| measured(cost, 1e-6)),
        median_latency_ms: activity.latency_ms.map(|latency| measured(latency, 1.0)),
        last_error: activity.last_bad.map(failure),
        notes: notes(key, retrieval.as_deref(), location_controlled),
        retrieval,
        ..empty(key)
    }
}

fn measured(average: Average, unit: f64) -> MeasuredValue {
    MeasuredValue {
        value: average.value * unit,
        answers: average.answers,
    }
}

fn search_rate(activity: &EngineActivity) -> Option<searchwright_contract::visibility::Rate> {
    let clusters: Vec<Cluster> = activity
        .searches
        .iter()
        .map(|count| Cluster {
            hits: count.searched,
            answers: count.answers,
        })
        .collect();
    (!clusters.is_empty()).then(|| contract_rate(&Rate::from_clusters(&clusters)))
}

/// Whether a status is a failure. A search without an overview is none.
const fn is_bad(status: AnswerStatus) -> bool {
    match status {
        AnswerStatus::Ok | AnswerStatus::NoOverview => false,
        AnswerStatus::Refused | AnswerStatus::Empty | AnswerStatus::Incomplete | AnswerStatus::Error => true,
    }
}

fn failure(bad: BadAnswer) -> EngineFailure {
    let message = match bad.status {
        AnswerStatus::Refused => "the engine refused to answer, or said that it knows nothing",
        AnswerStatus::Empty => "the answer had no text",
        AnswerStatus::Incomplete => {
            "the answer was cut off by a limit; maxTokens of the account may be too low"
        }
        AnswerStatus::Ok | AnswerStatus::NoOverview | AnswerStatus::Error => "the engine failed",
    };
    EngineFailure {
        at: bad.at,
        message: message.to_owned(),
    }
}

/// Adds the answers that runs did not get. Runs come newest first.
fn add_misses(status: &mut EngineStatus, runs: &[RunOutcomes]) {
    let mut missed: BTreeMap<MissReason, u64> = BTreeMap::new();
    let mut newest: Option<EngineFailure> = None;
    for run in runs {
        for outcome in &run.outcomes {
            if (outcome.engine, outcome.surface) != (status.engine, status.surface) || outcome.missing == 0 {
                continue;
            }
            let reason = outcome.reason.unwrap_or(MissReason::ProviderError);
            *missed.entry(reason).or_default() += u64::from(outcome.missing);
            newest.get_or_insert_with(|| EngineFailure {
                at: run.ended_at,
                message: outcome.detail.clone().unwrap_or_else(|| reason.to_string()),
            });
        }
    }
    // A run ends after its answers.
    let last = status.last_error.as_ref().map(|last| last.at);
    if let Some(newest) = newest.filter(|newest| last.is_none_or(|last| last <= newest.at)) {
        status.last_error = Some(newest);
    }
    status.failures += missed.values().sum::<u64>();
    status.missed = missed
        .into_iter()
        .map(|(reason, answers)| MissedAnswers { reason, answers })
        .collect();
}

/// Returns what has to be done so that an engine is asked.
fn missing(scope: ProjectScope, key: EntryKey, accounts: &[EngineAccount]) -> String {
    const BY_HAND: &str = "copy its answers by hand: POST visibility/prompts/{promptId}/answers";
    let Some(offer) = offered(key) else {
        let by_account = OFFERS
            .iter()
            .find(|offer| offer.engine == key.engine && offer.provider.is_some());
        return match by_account {
            Some(offer) => format!(
                "nothing, to go on copying answers by hand; to have it asked: {}",
                command(scope, offer)
            ),
            None => BY_HAND.to_owned(),
        };
    };
    let Some(provider) = offer.provider else {
        return format!("no account asks it; {BY_HAND}");
    };
    let account = accounts.iter().find(|account| account.provider == provider);
    let what = match account.map(|account| &account.engines) {
        None => "no account is set".to_owned(),
        Some(Err(error)) => format!("the account of {} cannot be used: {error}", provider.word()),
        Some(Ok(_)) if provider == Provider::DataForSeo => {
            return "the account of dataforseo leaves it out: add it to its setting engines with --setting engines=…"
                .to_owned();
        }
        Some(Ok(_)) if key.engine == Engine::Custom => {
            "the account of openai asks OpenAI itself; a baseUrl makes it ask another server instead"
                .to_owned()
        }
        Some(Ok(_)) => {
            "the account of openai asks another server; without baseUrl it asks OpenAI instead".to_owned()
        }
    };
    format!("{what}; an operator sets it: {}", command(scope, offer))
}

fn command(scope: ProjectScope, offer: &Offer) -> String {
    let provider = offer.provider.map_or("", Provider::word);
    format!(
        "searchwright admin provider set --project {} --provider {provider} {}",
        scope.project(),
        offer.needs
    )
}

/// Returns the limits of an engine in words.
fn notes(key: EntryKey, retrieval: Option<&str>, location_controlled: Option<bool>) -> Vec<String> {
    let mut notes = Vec::new();
    match (key.engine, key.surface) {
        (_, Surface::Manual) => {
            notes.push("Answers are copied by hand: cost, latency and searches are not known.");
        }
        (Engine::GoogleAiOverview, _) => {
            notes.push("Google shows no overview for many searches; those count in the trigger rate only.");
        }
        (Engine::Custom, _) => notes
            .push("Any server with chat completions: it does not search, and the URLs in the text count as citations."),
        (_, Surface::ConsumerUi) => {
            notes.push("Read from the public page without an account or a history: nearest to what people see.");
        }
        _ => {}
    }
    match retrieval {
        Some("none") if key.engine == Engine::Gemini => notes.push(
            "Asked without grounding: it answers from its training and cites nothing. The setting grounding=true turns Google Search \
             on; Google's terms may forbid to store and analyse such answers.",
        ),
        Some("none") => notes.push("Asked without web search: it answers from its training and cites nothing."),
        Some("auto") if key.surface == Surface::Api && key.engine != Engine::Custom => {
            notes.push("The engine decides whether it searches; searchPerformed shows how often it did.");
        }
        _ => {}
    }
    if location_controlled == Some(false) {
        notes.push("The location is not controlled: it does not answer as in the country of the prompt.");
    }
    notes.into_iter().map(str::to_owned).collect()
}
