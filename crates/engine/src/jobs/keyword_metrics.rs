//! Asks providers what they know of keywords. A request is noted as a charge before it is made and is made
//! once: what an interrupted attempt may have paid for is not asked again. A failure changes no stored value.

use std::collections::{BTreeMap, HashMap, HashSet};

use searchwright_contract::{
    ids::KeywordId,
    keywords::{Keyword, KeywordSource, KeywordStatus},
};
use searchwright_keywords::{import::Row, intent::Brands, normalize};
use searchwright_providers::{KeywordData, Market, ProviderError};
use searchwright_store::{
    jobs,
    keywords::{self, KeywordFacts, TextKey},
    usage::{self, ChargeStatus, NewReservation},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{JobContext, JobError, USED, keyword_clusters::cluster};
use crate::{
    failure::Failure,
    keyword_merge::{RowOrigin, merge_row},
};

/// Request of a caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricsOrder {
    /// Texts.
    pub keywords: Vec<String>,
    /// Language.
    pub language: String,
    /// Country, empty for all.
    pub country: String,
    /// Ask nobody.
    pub dry_run: bool,
    /// No request begins once this much is spent, micro-USD.
    pub max_cost_micros: Option<i64>,
}

/// Outcome of one text.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    keyword: String,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    keyword_id: Option<KeywordId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// A keyword as it stood when the refresh began, by its normalised text.
type Portion = BTreeMap<String, Keyword>;

/// Progress of a refresh.
#[derive(Default)]
struct Standings {
    outcomes: HashMap<String, (&'static str, Option<String>)>,
    /// Keywords that the provider was asked about.
    asked: usize,
    cost_micros: i64,
    cost_is_partial: bool,
}

impl MetricsOrder {
    /// Returns the normalised texts to ask about, each once. The order must never change, because charges are stored by index.
    pub(crate) fn texts(&self) -> Vec<String> {
        let texts: Vec<String> = self.keywords.iter().map(|text| normalize(text)).collect();
        let mut seen = HashSet::new();
        texts
            .into_iter()
            .filter(|text| seen.insert(text.clone()))
            .collect()
    }
}

/// Runs the job.
pub(super) async fn run(job: JobContext, wanted: MetricsOrder) -> Result<Value, JobError> {
    let interrupted = job.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = carry_out(&job, &wanted) => done,
    }
}

async fn carry_out(job: &JobContext, wanted: &MetricsOrder) -> Result<Value, JobError> {
    let db = &job.engine.db;
    let texts = wanted.texts();
    let rows: Vec<TextKey> = texts
        .iter()
        .map(|text| (wanted.language.clone(), wanted.country.clone(), text.clone()))
        .collect();
    let found = keywords::find_by_texts(&mut db.read().await?, job.leased.scope, rows).await?;
    let known: Portion = texts
        .iter()
        .zip(found)
        .filter_map(|(text, keyword)| Some((text.clone(), keyword?)))
        .collect();
    let mut standings = Standings::default();
    let source = source(job).await?;
    match &source {
        None => standings.record(&known, "no_provider", None),
        Some(_) if wanted.dry_run => standings.record(&known, "would_ask", None),
        Some(source) => ask(job, wanted, source.as_ref(), &texts, &known, &mut standings).await?,
    }
    if standings
        .outcomes
        .values()
        .any(|(outcome, _)| *outcome == "updated")
    {
        cluster(job, &wanted.language).await?;
    }
    let outcomes: Vec<Outcome> = wanted
        .keywords
        .iter()
        .map(|asked| {
            let text = normalize(asked);
            let became = standings.outcomes.get(&text).cloned();
            let (outcome, detail) = became.unwrap_or(("unknown_keyword", None));
            Outcome {
                keyword: asked.clone(),
                outcome,
                keyword_id: known.get(&text).map(|keyword| keyword.id),
                detail,
            }
        })
        .collect();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for outcome in &outcomes {
        *counts.entry(outcome.outcome).or_default() += 1;
    }
    Ok(json!({
        "provider": source.as_ref().map(|source| source.provider()),
        "skipped": source.is_none().then_some("no_provider"),
        "counts": counts,
        "costMicrosUsd": standings.cost_micros,
        "costIsPartial": standings.cost_is_partial,
        "outcomes": outcomes,
    }))
}

/// Returns the first account that has keyword metrics.
async fn source(job: &JobContext) -> Result<Option<Box<dyn KeywordData>>, JobError> {
    let mut tx = job.engine.db.read().await?;
    let sources = job.accounts.keyword_data(&mut tx, job.leased.scope).await??;
    Ok(sources.into_iter().find(|source| source.most_keywords() > 0))
}

async fn ask(
    job: &JobContext,
    wanted: &MetricsOrder,
    source: &dyn KeywordData,
    texts: &[String],
    known: &Portion,
    standings: &mut Standings,
) -> Result<(), JobError> {
    let market = Market {
        language: wanted.language.clone(),
        country: wanted.country.clone(),
    };
    for (at, places) in texts.chunks(source.most_keywords().max(1)).enumerate() {
        let portion: Portion = places
            .iter()
            .filter_map(|text| Some((text.clone(), known.get(text)?.clone())))
            .collect();
        if portion.is_empty() {
            continue;
        }
        if wanted
            .max_cost_micros
            .is_some_and(|most| standings.cost_micros >= most)
        {
            standings.record(&portion, "capped", Some("maxCost is used up"));
            continue;
        }
        let (before, after) = (standings.asked, standings.asked + portion.len());
        let reservation = match reserve_charge(job, source.provider(), at, portion.len(), after).await? {
            Ok(reservation) => reservation,
            Err(over) => {
                standings.record(&portion, "capped", Some(&Failure::from(over).0.detail));
                continue;
            }
        };
        standings.asked = after;
        match reservation.status {
            ChargeStatus::New => {}
            ChargeStatus::Uncertain => {
                standings.cost_is_partial = true;
                let detail =
                    "an interrupted attempt may have requested and paid for it; the request is not repeated";
                standings.record(&portion, "uncertain", Some(detail));
                continue;
            }
            ChargeStatus::Ended(cost) => {
                standings.paid(cost);
                standings.learnt_before(&portion, source.source());
                continue;
            }
        }
        let asked: Vec<String> = portion.keys().cloned().collect();
        match source.metrics(&asked, &market).await {
            Ok(found) => {
                let cost = found.cost_micros_usd.and_then(|cost| i64::try_from(cost).ok());
                let missed = found.missed.first().map(ToString::to_string);
                let updated = write(job, source.source(), &portion, found.rows, reservation.id, cost).await?;
                standings.paid(cost);
                let rest = match missed {
                    Some(_) => "provider_error",
                    None => "unknown_to_provider",
                };
                standings.record(&portion, rest, missed.as_deref());
                standings.note_all(updated.iter(), "updated", None);
            }
            // Nothing was charged, so the charge is removed and the job is retried later.
            Err(
                error @ (ProviderError::RateLimited(_)
                | ProviderError::Unavailable
                | ProviderError::Resting(_)),
            ) => {
                withdraw(job, reservation.id, before).await?;
                return Err(error.into());
            }
            Err(ProviderError::Uncertain(_)) => {
                standings.cost_is_partial = true;
                let detail =
                    "the response was lost; it may have been charged, so the request is not repeated";
                standings.record(&portion, "uncertain", Some(detail));
            }
            Err(error) => {
                withdraw(job, reservation.id, before).await?;
                standings.asked = before;
                standings.record(&portion, "provider_error", Some(&error.to_string()));
            }
        }
    }
    Ok(())
}

/// Stores the charge of a request before it is made, and the count of keywords used of the quota so far.
async fn reserve_charge(
    job: &JobContext,
    provider: &'static str,
    at: usize,
    count: usize,
    used: usize,
) -> Result<Result<usage::Reservation, usage::BudgetExceeded>, JobError> {
    let now = job.engine.clock.now();
    let new = NewReservation {
        id: job.engine.clock.id(),
        job: job.leased.id,
        step: format!("metrics-{provider}-{at}"),
        provider: provider.to_owned(),
        what: format!("figures of {count} keywords"),
        estimate: 0,
    };
    let leased = job.leased.clone();
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            let reservation = usage::reserve(tx, scope, new, now).await?;
            if reservation.is_ok() {
                jobs::save_progress(tx, &leased, json!({ USED: used })).await?;
            }
            Ok(reservation)
        })
    })
    .await
}

/// Removes the charge of a call that was not charged for.
async fn withdraw(job: &JobContext, reservation: Uuid, used: usize) -> Result<(), JobError> {
    let leased = job.leased.clone();
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            jobs::save_progress(tx, &leased, json!({ USED: used })).await?;
            usage::release(tx, scope, reservation).await
        })
    })
    .await
}

/// Writes the answers and their cost in one transaction, and returns the texts that got new values.
async fn write(
    job: &JobContext,
    source: KeywordSource,
    portion: &Portion,
    rows: Vec<Row>,
    reservation: Uuid,
    cost: Option<i64>,
) -> Result<HashSet<String>, JobError> {
    let now = job.engine.clock.now();
    let origin = RowOrigin {
        source,
        status: KeywordStatus::New,
        brands: Brands::new([], []),
        now,
    };
    let mut answers: BTreeMap<TextKey, Row> = BTreeMap::new();
    for row in rows {
        let text = normalize(&row.keyword);
        if let Some(keyword) = portion.get(&text) {
            let country = keyword.country.clone().unwrap_or_default();
            let key = (keyword.language.clone(), country, text);
            answers.entry(key).or_insert(row);
        }
    }
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            // As they are now: they may have been changed while the provider was asked.
            let current =
                keywords::find_by_texts_for_update(tx, scope, answers.keys().cloned().collect()).await?;
            let (mut updated, mut learnt) = (HashSet::new(), Vec::new());
            for (((language, _, text), row), keyword) in answers.into_iter().zip(current) {
                let Some(keyword) = keyword else { continue };
                let before = KeywordFacts::from_keyword(&keyword);
                learnt.push((keyword.id, merge_row(before, &row, &text, &language, &origin)));
                updated.insert(text);
            }
            keywords::update_facts(tx, scope, learnt, now).await?;
            usage::settle(tx, scope, reservation, cost, now).await?;
            Ok(updated)
        })
    })
    .await
}

impl Standings {
    fn paid(&mut self, cost: Option<i64>) {
        match cost {
            Some(cost) => self.cost_micros += cost,
            None => self.cost_is_partial = true,
        }
    }

    fn record(&mut self, portion: &Portion, outcome: &'static str, detail: Option<&str>) {
        self.note_all(portion.keys(), outcome, detail);
    }

    fn note_all<'t>(
        &mut self,
        texts: impl Iterator<Item = &'t String>,
        outcome: &'static str,
        detail: Option<&str>,
    ) {
        self.outcomes
            .extend(texts.map(|text| (text.clone(), (outcome, detail.map(str::to_owned)))));
    }

    /// Records the outcomes of an earlier attempt, which wrote its answers in the transaction that ended its charge.
    fn learnt_before(&mut self, portion: &Portion, source: KeywordSource) {
        let learnt = |keyword: &Keyword| {
            let mut origins = keyword.details.sources.iter();
            origins.any(|origin| origin.source == source)
        };
        self.record(portion, "unknown_to_provider", None);
        let learnt = portion.iter().filter(|(_, keyword)| learnt(keyword));
        self.note_all(learnt.map(|(text, _)| text), "updated", None);
    }
}
