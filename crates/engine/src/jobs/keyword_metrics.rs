//! Asks providers what they know of keywords. A request is noted as a charge before it is made and is made
//! once: what an interrupted attempt may have paid for is not asked again. A failure changes no stored value.

use std::collections::{BTreeMap, HashMap, HashSet};

use searchwright_contract::{
    Instant,
    keywords::{Keyword, KeywordSource, KeywordStatus},
    usage::Metric,
};
use searchwright_store::{
    Tx,
    jobs::{self, Leased},
    keywords::{self, Known, Text},
    usage::{self, NewIntent, Standing},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{JobError, audit::fenced, worker::Run};
use crate::{
    failure::{Failure, defect},
    keywords::{import::Row, intent::Brands, normalize},
    operations::keyword_import::{Context, learn},
    providers::{KeywordData, Market, ProviderError},
};

/// What a caller asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
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

/// What became of a text.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    keyword: String,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    keyword_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// Where a refresh stands.
struct Standings {
    outcomes: Vec<Outcome>,
    cost_micros: i64,
    cost_is_partial: bool,
}

/// Carries it out.
pub(super) async fn run(run: Run, wanted: Wanted) -> Result<Value, JobError> {
    let interrupted = run.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = carry_out(&run, &wanted) => done,
    }
}

async fn carry_out(run: &Run, wanted: &Wanted) -> Result<Value, JobError> {
    let db = &run.engine.db;
    let scope = run.leased.scope;
    let texts: Vec<Text> = wanted
        .keywords
        .iter()
        .map(|text| (wanted.language.clone(), wanted.country.clone(), normalize(text)))
        .collect();
    let found = keywords::by_texts(&mut db.read().await?, scope, texts).await?;
    let mut standings = Standings {
        outcomes: Vec::new(),
        cost_micros: 0,
        cost_is_partial: false,
    };
    let mut known: BTreeMap<String, (String, Keyword)> = BTreeMap::new();
    for (text, keyword) in wanted.keywords.iter().zip(found) {
        match keyword {
            Some(keyword) => {
                known.insert(normalize(text), (text.clone(), keyword));
            }
            None => standings.outcomes.push(Outcome {
                keyword: text.clone(),
                outcome: "unknown_keyword",
                keyword_id: None,
                detail: None,
            }),
        }
    }
    let source = source(run).await?;
    let provider = source.as_ref().map(|source| source.provider());
    match &source {
        None => standings.all(&known, "no_provider", None),
        Some(_) if wanted.dry_run => standings.all(&known, "would_ask", None),
        Some(source) => ask(run, wanted, source.as_ref(), &known, &mut standings).await?,
    }
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for outcome in &standings.outcomes {
        *counts.entry(outcome.outcome).or_default() += 1;
    }
    Ok(json!({
        "provider": provider,
        "skipped": source.is_none().then_some("no_provider"),
        "counts": counts,
        "costMicrosUsd": standings.cost_micros,
        "costIsPartial": standings.cost_is_partial,
        "outcomes": standings.outcomes,
    }))
}

/// The first account that knows figures.
async fn source(run: &Run) -> Result<Option<Box<dyn KeywordData>>, JobError> {
    let mut tx = run.engine.db.read().await?;
    let sources = run.providers.keyword_data(&mut tx, run.leased.scope).await??;
    Ok(sources.into_iter().find(|source| source.most_keywords() > 0))
}

async fn ask(
    run: &Run,
    wanted: &Wanted,
    source: &dyn KeywordData,
    known: &BTreeMap<String, (String, Keyword)>,
    standings: &mut Standings,
) -> Result<(), JobError> {
    let market = Market {
        language: wanted.language.clone(),
        country: wanted.country.clone(),
    };
    let all: Vec<&String> = known.keys().collect();
    for (at, portion) in all.chunks(source.most_keywords().max(1)).enumerate() {
        let portion: HashMap<&String, &(String, Keyword)> =
            portion.iter().map(|text| (*text, &known[*text])).collect();
        if wanted
            .max_cost_micros
            .is_some_and(|most| standings.cost_micros >= most)
        {
            standings.some(&portion, "capped", Some("maxCost is spent"));
            continue;
        }
        let intent = match intend(run, source.provider(), at, portion.len()).await? {
            Ok(intent) => intent,
            Err(over) => {
                let detail = Failure::from(over).0.detail;
                standings.some(&portion, "capped", Some(&detail));
                continue;
            }
        };
        match intent.standing {
            Standing::New => {}
            Standing::Uncertain => {
                standings.cost_is_partial = true;
                let detail = "an interrupted attempt may have asked and paid for it; it is not asked again";
                standings.some(&portion, "uncertain", Some(detail));
                continue;
            }
            Standing::Ended(cost) => {
                standings.paid(cost);
                standings.learnt_before(&portion, source.provider());
                continue;
            }
        }
        let texts: Vec<String> = portion.keys().map(|text| (*text).clone()).collect();
        match source.metrics(&texts, &market).await {
            Ok(found) => {
                let cost = found.cost_micros_usd.and_then(|cost| i64::try_from(cost).ok());
                let missed = found.missed.first().map(ToString::to_string);
                let updated = write(run, source.provider(), &portion, found.rows, intent.id, cost).await?;
                standings.paid(cost);
                for (text, (asked, keyword)) in &portion {
                    let (outcome, detail) = if updated.contains(*text) {
                        ("updated", None)
                    } else if missed.is_some() {
                        ("provider_error", missed.as_deref())
                    } else {
                        ("unknown_to_provider", None)
                    };
                    standings.one(asked, outcome, Some(keyword), detail);
                }
            }
            // Nothing was charged, so the note goes and the job asks again later.
            Err(error @ (ProviderError::RateLimited(_) | ProviderError::Unavailable)) => {
                withdraw(run, intent.id).await?;
                return Err(error.into());
            }
            Err(ProviderError::Uncertain(_)) => {
                standings.cost_is_partial = true;
                let detail = "the answer was lost; it may have been charged for and is not asked again";
                standings.some(&portion, "uncertain", Some(detail));
            }
            Err(error) => {
                withdraw(run, intent.id).await?;
                standings.some(&portion, "provider_error", Some(&error.to_string()));
            }
        }
    }
    Ok(())
}

async fn intend(
    run: &Run,
    provider: &'static str,
    at: usize,
    count: usize,
) -> Result<Result<usage::Intent, usage::OverBudget>, JobError> {
    let now = run.engine.clock.now();
    let new = NewIntent {
        id: run.engine.clock.id(),
        job: run.leased.id,
        step: format!("metrics-{at}"),
        provider: provider.to_owned(),
        what: format!("figures of {count} keywords"),
        estimate: 0,
    };
    let leased = run.leased.clone();
    let intended: Result<Option<_>, searchwright_store::Error> = run
        .engine
        .db
        .write(move |tx| {
            Box::pin(async move {
                if !jobs::holds(tx, &leased).await? {
                    return Ok(None);
                }
                usage::intend(tx, leased.scope, new, now).await.map(Some)
            })
        })
        .await;
    intended?.ok_or(JobError::Lost)
}

/// A call that was not charged for was not made.
async fn withdraw(run: &Run, intent: Uuid) -> Result<(), JobError> {
    fenced(&run.engine.db, run.leased.clone(), move |tx, scope| {
        Box::pin(async move { usage::withdraw(tx, scope, intent).await })
    })
    .await
}

/// Writes what came and what it cost in one transaction; the texts that learnt something.
async fn write(
    run: &Run,
    provider: &str,
    portion: &HashMap<&String, &(String, Keyword)>,
    rows: Vec<Row>,
    intent: Uuid,
    cost: Option<i64>,
) -> Result<HashSet<String>, JobError> {
    let now = run.engine.clock.now();
    let source = source_of(provider)?;
    let scope = run.leased.scope;
    let context = Context {
        source,
        status: KeywordStatus::New,
        brands: Brands::new([], []),
        largest: keywords::largest_volume(&mut run.engine.db.read().await?, scope).await?,
        now,
    };
    let mut updated = HashSet::new();
    let mut learnt = Vec::new();
    for row in rows {
        let text = normalize(&row.keyword);
        let Some((_, keyword)) = portion.get(&text) else {
            continue;
        };
        let id = Uuid::try_parse(&keyword.id).unwrap_or_default();
        if updated.insert(text.clone()) {
            let after = learn(Known::of(keyword), &row, &text, &keyword.language, &context);
            learnt.push((id, after));
        }
    }
    fenced(&run.engine.db, run.leased.clone(), move |tx, scope| {
        Box::pin(async move {
            keywords::learn(tx, scope, learnt, now).await?;
            usage::settle(tx, scope, intent, cost, now).await.map(drop)
        })
    })
    .await?;
    Ok(updated)
}

fn source_of(provider: &str) -> Result<KeywordSource, JobError> {
    match provider {
        "dataforseo" => Ok(KeywordSource::Dataforseo),
        "google-ads" => Ok(KeywordSource::GoogleAds),
        "search-console" => Ok(KeywordSource::Gsc),
        other => Err(defect("keyword data", other).into()),
    }
}

impl Standings {
    fn paid(&mut self, cost: Option<i64>) {
        match cost {
            Some(cost) => self.cost_micros += cost,
            None => self.cost_is_partial = true,
        }
    }

    fn one(&mut self, text: &str, outcome: &'static str, keyword: Option<&Keyword>, detail: Option<&str>) {
        self.outcomes.push(Outcome {
            keyword: text.to_owned(),
            outcome,
            keyword_id: keyword.map(|keyword| keyword.id.clone()),
            detail: detail.map(str::to_owned),
        });
    }

    fn some(
        &mut self,
        portion: &HashMap<&String, &(String, Keyword)>,
        outcome: &'static str,
        detail: Option<&str>,
    ) {
        for (asked, keyword) in portion.values() {
            self.one(asked, outcome, Some(keyword), detail);
        }
    }

    fn all(
        &mut self,
        known: &BTreeMap<String, (String, Keyword)>,
        outcome: &'static str,
        detail: Option<&str>,
    ) {
        for (asked, keyword) in known.values() {
            self.one(asked, outcome, Some(keyword), detail);
        }
    }

    /// An earlier attempt asked, and wrote what it learnt in the transaction that ended its charge.
    fn learnt_before(&mut self, portion: &HashMap<&String, &(String, Keyword)>, provider: &str) {
        let source = source_of(provider).ok();
        for (asked, keyword) in portion.values() {
            let learnt = keyword
                .details
                .sources
                .iter()
                .any(|origin| Some(origin.source) == source);
            let outcome = if learnt { "updated" } else { "unknown_to_provider" };
            self.one(asked, outcome, Some(keyword), None);
        }
    }
}

/// A job that ends without a result gives back what it counted.
pub(super) async fn over(
    tx: &mut Tx,
    leased: &Leased,
    wanted: &Wanted,
) -> Result<(), searchwright_store::Error> {
    if wanted.dry_run || !jobs::holds(tx, leased).await? {
        return Ok(());
    }
    let queued: Instant = jobs::get(tx, leased.scope, leased.id).await?.created_at;
    let count = i64::try_from(wanted.keywords.len()).unwrap_or(i64::MAX);
    usage::give_back(tx, leased.scope, Metric::KeywordMetrics, count, queued).await
}
