//! Starts the work of a slot, in the transaction that uses the slot.

use std::{cmp::Reverse, collections::BTreeMap};

use searchwright_autopilot::slots::Slot;
use searchwright_contract::{
    Code, Instant, Problem,
    audits::{AuditConfig, AuditTrigger},
    ids::KeywordId,
    projects::Project,
    prompts::PromptStatus,
    runs::RunTrigger,
    schedules::{ScheduleKind, SlotOutcome},
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    answer_runs::{self, NewRun},
    audits, jobs, keywords,
    prompts::{self, PromptQuery},
    schedules::ScheduleRecord,
};
use searchwright_tracking::{RunPlan, is_for};

use crate::{
    Engine,
    failure::Result,
    jobs::{Job, keyword_metrics::MetricsOrder},
    starts::{AuditOrder, DEFAULT_MAX_DEPTH, DEFAULT_MAX_PAGES, start_audit, start_run},
};

/// Most prompts of a run; a project has no more active ones.
const MAX_PROMPTS: u32 = 5_000;
/// Most keywords whose metrics are refreshed at one slot.
const MAX_KEYWORDS: u32 = 1_000;

/// Most markets whose keywords are refreshed at one slot, each by a job.
const MAX_MARKETS: usize = 10;

/// Keywords of one language and country.
#[derive(Debug, Default)]
struct Market {
    ids: Vec<KeywordId>,
    texts: Vec<String>,
}

/// Outcome of the start of the work of a slot.
#[derive(Debug)]
pub(super) struct Start {
    /// Outcome.
    pub outcome: SlotOutcome,
    /// Reason of the outcome.
    pub detail: Option<String>,
}

impl Start {
    const STARTED: Self = Self {
        outcome: SlotOutcome::Started,
        detail: None,
    };

    /// Creates an outcome with its reason.
    pub(super) fn new(outcome: SlotOutcome, detail: impl Into<String>) -> Self {
        Self {
            outcome,
            detail: Some(detail.into()),
        }
    }

    /// Creates the outcome of a slot that is a day or more late.
    pub(super) fn missed(slot: &Slot, now: Instant) -> Self {
        let hours = (now.millis() - slot.at.millis()) / 3_600_000;
        let detail = format!("no worker was running at its time; it was found {hours} hours later");
        Self::new(SlotOutcome::SkippedMissed, detail)
    }
}

/// Starts the work of a slot. An error is a refusal whose writes have to be undone.
pub(super) async fn start(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    record: &ScheduleRecord,
    project: &Project,
    now: Instant,
) -> Result<Start> {
    match record.kind {
        ScheduleKind::Audits => audit(engine, tx, scope, project, now).await,
        ScheduleKind::Visibility => run(engine, tx, scope, record, now).await,
        ScheduleKind::Metrics => metrics(engine, tx, scope, record, now).await,
        ScheduleKind::Posts => Ok(Start::new(SlotOutcome::NothingToDo, "the autopilot makes posts")),
    }
}

async fn audit(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    project: &Project,
    now: Instant,
) -> Result<Start> {
    if audits::find_active(tx, scope).await?.is_some() {
        return Ok(Start::new(SlotOutcome::AlreadyRunning, "an audit was running"));
    }
    let order = AuditOrder {
        domain: &project.domain,
        trigger: AuditTrigger::Scheduled,
        config: AuditConfig {
            max_pages: DEFAULT_MAX_PAGES,
            max_depth: DEFAULT_MAX_DEPTH,
            include: Vec::new(),
            exclude: Vec::new(),
            include_subdomains: false,
        },
    };
    start_audit(engine, tx, scope, order, now).await?;
    Ok(Start::STARTED)
}

async fn run(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    record: &ScheduleRecord,
    now: Instant,
) -> Result<Start> {
    if answer_runs::is_scheduled_under_way(tx, scope).await? {
        let why = "the run of an earlier slot has not ended";
        return Ok(Start::new(SlotOutcome::AlreadyRunning, why));
    }
    let query = PromptQuery {
        status: PromptStatus::Active,
        class: None,
        tag: None,
        before: None,
        limit: MAX_PROMPTS,
    };
    let prompts = prompts::list(tx, scope, query).await?;
    if prompts.is_empty() {
        return Ok(Start::new(SlotOutcome::NothingToDo, "no prompt is active"));
    }
    let Some(max_cost_micros) = record.max_cost_micros else {
        return Err(Problem::new(Code::InvalidState, "max_cost is not set").into());
    };
    let accounts = engine.accounts_at_vendors()?;
    let engines = accounts.answer_engines(tx, scope).await?;
    let engines = engines.map_err(|e| Problem::from(&e))?;
    let max_cost = max_cost_micros as f64 / 1e6;
    let plan = RunPlan::of_schedule(&prompts, record.samples, max_cost, &engines)?;
    let asked = prompts
        .iter()
        .filter(|prompt| plan.engines.iter().any(|engine| is_for(prompt, *engine)));
    let new = NewRun {
        id: engine.clock.id(),
        job: engine.clock.id(),
        request: format!("schedule {now}"),
        trigger: RunTrigger::Scheduled,
        prompts: asked.map(|prompt| prompt.id).collect(),
        engines: plan.engines.clone(),
        samples: record.samples,
        precision_target: None,
        estimate: plan.estimate,
        max_cost_micros: Some(max_cost_micros),
        requested_by: None,
    };
    let answers = u32::from(record.samples).saturating_mul(plan.ways);
    start_run(tx, scope, new, answers, now).await?;
    Ok(Start::STARTED)
}

async fn metrics(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    record: &ScheduleRecord,
    now: Instant,
) -> Result<Start> {
    if jobs::is_active(tx, scope, "keyword_metrics").await? {
        let why = "metrics of keywords were being refreshed";
        return Ok(Start::new(SlotOutcome::AlreadyRunning, why));
    }
    let accounts = engine.accounts_at_vendors()?;
    let sources = accounts.keyword_data(tx, scope).await?;
    let sources = sources.map_err(|e| Problem::from(&e))?;
    if sources.iter().all(|source| source.most_keywords() == 0) {
        return Err(Problem::new(Code::ProviderNotConfigured, "no account has metrics of keywords").into());
    }
    let found = keywords::list_least_measured(tx, scope, MAX_KEYWORDS).await?;
    // a request of a provider is about one market
    let mut markets: BTreeMap<(String, String), Market> = BTreeMap::new();
    for keyword in found {
        let (language, country, text) = keyword.key;
        let market = markets.entry((language, country)).or_default();
        market.ids.push(keyword.id);
        market.texts.push(text);
    }
    if markets.is_empty() {
        let why = "the project has no keywords";
        return Ok(Start::new(SlotOutcome::NothingToDo, why));
    }
    let mut markets: Vec<((String, String), Market)> = markets.into_iter().collect();
    // those of further markets are the oldest at the next slot
    markets.sort_by_key(|(_, market)| Reverse(market.texts.len()));
    markets.truncate(MAX_MARKETS);
    let total: usize = markets.iter().map(|(_, market)| market.texts.len()).sum();
    for ((language, country), market) in markets {
        let share = market.texts.len() as i64;
        let wanted = MetricsOrder {
            keywords: market.texts,
            language,
            country,
            dry_run: false,
            max_cost_micros: record
                .max_cost_micros
                .map(|most| most.saturating_mul(share) / total as i64),
        };
        let work = Job::KeywordMetrics { wanted };
        work.count(tx, scope, now).await?;
        work.enqueue(tx, scope, engine.clock.id(), BTreeMap::new(), now)
            .await?;
        keywords::set_measured(tx, scope, market.ids, now).await?;
    }
    Ok(Start::STARTED)
}
