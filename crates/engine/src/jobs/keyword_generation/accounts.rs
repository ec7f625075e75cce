//! Keywords that the accounts of a project offer: services of keyword data, the search box, and a language model,
//! which offers candidates and never a number. An account that fails says so in the result and stops no other.

use std::collections::HashMap;

use schemars::json_schema;
use searchwright_contract::{Code, keywords::KeywordSource};
use searchwright_keywords::{cannibalisation::shown_in_turn, ideas::questions, import::Row, normalize};
use searchwright_providers::{Data, Form, KeywordData, LanguageModel, Market, Prompt};
use searchwright_store::suggestions;
use serde_json::{Value, json};

use super::GenerationOrder;
use crate::{
    failure::defect,
    jobs::{
        JobContext, JobError,
        checkpoints::{Price, StepAnswer, Steps},
    },
};

/// Sources that need an account.
pub(crate) const ACCOUNTS: [KeywordSource; 5] = [
    KeywordSource::Gsc,
    KeywordSource::GoogleAds,
    KeywordSource::Dataforseo,
    KeywordSource::Autocomplete,
    KeywordSource::Llm,
];

/// Rows of one account that are looked at.
const MAX_ROWS: usize = 1_000;
/// Runs of a job that wait for an account that is not there or asks for patience.
const PATIENT_RUNS: i64 = 3;
/// Texts that the search box is asked about, and how long its answers are used again.
const MAX_SUGGESTIONS: usize = 200;
const SUGGESTIONS_LAST_MILLIS: i64 = 7 * 86_400_000;
/// Tokens of a model's answer.
const CANDIDATE_TOKENS: u32 = 2_000;

/// Outcome of one account.
#[derive(Clone, Debug)]
pub(super) struct Offered {
    pub(super) source: KeywordSource,
    pub(super) rows: Vec<Row>,
    outcome: &'static str,
    detail: Option<String>,
    cost: Option<i64>,
}

impl Offered {
    fn nothing(source: KeywordSource, outcome: &'static str, detail: Option<String>) -> Self {
        Self {
            source,
            rows: Vec::new(),
            outcome,
            detail,
            cost: Some(0),
        }
    }

    pub(super) fn told(&self) -> Value {
        json!({
            "source": self.source,
            "outcome": self.outcome,
            "detail": self.detail,
            "rows": self.rows.len(),
            "costMicrosUsd": self.cost,
        })
    }
}

/// Question for accounts.
pub(super) struct Question {
    /// Terms, the most important first.
    pub(super) seeds: Vec<String>,
    /// Description of the website, for a model to read.
    pub(super) about: String,
}

/// Asks every account that is wanted.
pub(super) async fn offers(
    job: &JobContext,
    wanted: &GenerationOrder,
    question: &Question,
) -> Result<Vec<Offered>, JobError> {
    let accounts = wanted.sources.iter().filter(|source| ACCOUNTS.contains(source));
    let accounts: Vec<KeywordSource> = accounts.copied().collect();
    if accounts.is_empty() {
        return Ok(Vec::new());
    }
    let (sources, model) = {
        let mut tx = job.engine.db.read().await?;
        let scope = job.leased.scope;
        let sources = job.accounts.keyword_data(&mut tx, scope).await??;
        (sources, job.accounts.language_model(&mut tx, scope).await?)
    };
    let market = Market {
        language: wanted.language.clone(),
        country: wanted.country.clone(),
    };
    let steps = Steps { job, of: "keywords" };
    let mut offered = Vec::new();
    for account in accounts {
        let source = sources.iter().find(|source| source.source() == account);
        let source = source.map(AsRef::as_ref);
        let model = model.as_ref().ok().filter(|_| account == KeywordSource::Llm);
        let came = match (source, model) {
            (None, None) => Ok(Offered::nothing(account, "no_provider", None)),
            _ if wanted.dry_run => Ok(Offered::nothing(account, "would_ask", None)),
            (_, Some(model)) => candidates(&steps, model.as_ref(), wanted, question).await,
            (Some(source), _) if question.seeds.is_empty() && source.most_seeds() != usize::MAX => {
                let why = "there are no seed terms: give seeds, add products, or audit the website";
                Ok(Offered::nothing(account, "no_seeds", Some(why.to_owned())))
            }
            (Some(source), _) if account == KeywordSource::Autocomplete => {
                suggested(job, source, &question.seeds, &market, 3 * wanted.count as usize).await
            }
            (Some(source), _) => ideas(&steps, source, &question.seeds, &market).await,
        };
        offered.push(came.or_else(|error| failed(job, account, error))?);
    }
    Ok(offered)
}

/// Converts the failure of an account to a line of the job's result. A retry that may help and errors of the job itself are
/// passed on.
fn failed(job: &JobContext, account: KeywordSource, error: JobError) -> Result<Offered, JobError> {
    match error {
        JobError::GiveUp(problem) if problem.code != Code::InternalError => {
            let outcome = match problem.code {
                Code::QuotaExceeded => "capped",
                _ => "provider_error",
            };
            Ok(Offered::nothing(account, outcome, Some(problem.detail)))
        }
        JobError::Retry(_) if job.leased.attempt >= PATIENT_RUNS => {
            let why = "the provider was unavailable or rate limited at every attempt";
            Ok(Offered::nothing(account, "provider_error", Some(why.to_owned())))
        }
        other => Err(other),
    }
}

fn answered(
    source: KeywordSource,
    asked: StepAnswer,
    read: impl FnOnce(Value) -> Option<Vec<Row>>,
) -> Result<Offered, JobError> {
    let Some(said) = asked.said else {
        let mut lost = Offered::nothing(source, "uncertain", asked.lost);
        lost.cost = asked.cost;
        return Ok(lost);
    };
    let rows = read(said).ok_or_else(|| defect("kept rows", source))?;
    Ok(Offered {
        source,
        rows,
        outcome: "asked",
        detail: None,
        cost: asked.cost,
    })
}

/// The ideas of a service, its first page.
async fn ideas(
    steps: &Steps<'_>,
    source: &dyn KeywordData,
    seeds: &[String],
    market: &Market,
) -> Result<Offered, JobError> {
    let seeds = &seeds[..seeds.len().min(source.most_seeds())];
    let input = json!([source.provider(), seeds, market.language, market.country]);
    let price = Price {
        provider: source.provider(),
        estimate: None,
    };
    let step = format!("ideas of {}", source.provider());
    let asked = steps
        .once(&step, &input, price, async {
            let found = source.ideas(seeds, market, None).await?;
            let competing = shown_in_turn(&found.rows);
            let mut rows = merged(found.rows);
            for row in &mut rows {
                row.competing = competing
                    .get(&normalize(&row.keyword))
                    .cloned()
                    .unwrap_or_default();
            }
            let rows = serde_json::to_value(rows).unwrap_or_default();
            Ok((rows, found.cost_micros_usd))
        })
        .await?;
    answered(source.source(), asked, |said| serde_json::from_value(said).ok())
}

/// A row per text. Of several the first has the say, and what people did on each page is summed.
fn merged(rows: Vec<Row>) -> Vec<Row> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut merged: Vec<Row> = Vec::new();
    let sum = |a: Option<i64>, b: Option<i64>| a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or(0))));
    for row in rows {
        let text = normalize(&row.keyword);
        if let Some(first) = places.get(&text).and_then(|at| merged.get_mut(*at)) {
            first.clicks = sum(first.clicks, row.clicks);
            first.impressions = sum(first.impressions, row.impressions);
            first.ctr = None;
        } else if merged.len() < MAX_ROWS {
            places.insert(text, merged.len());
            merged.push(row);
        }
    }
    merged
}

/// Returns completions of the search box, until there are enough. Its answers are cached for a week, because it is asked
/// slowly.
async fn suggested(
    job: &JobContext,
    source: &dyn KeywordData,
    seeds: &[String],
    market: &Market,
    enough: usize,
) -> Result<Offered, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let mut offered = Offered::nothing(source.source(), "asked", None);
    for text in expansions(seeds, &market.language) {
        if offered.rows.len() >= enough {
            break;
        }
        let now = job.engine.clock.now();
        let place = suggestions::SuggestionQuery {
            language: market.language.clone(),
            country: market.country.clone(),
            text,
        };
        let since = now.plus_millis(-SUGGESTIONS_LAST_MILLIS);
        let known = suggestions::find(&mut db.read().await?, scope, &place, since).await?;
        let texts = match known {
            Some(texts) => texts,
            None => match source
                .ideas(std::slice::from_ref(&place.text), market, None)
                .await
            {
                Ok(found) => {
                    let texts: Vec<String> = found.rows.into_iter().map(|row| row.keyword).collect();
                    let kept = texts.clone();
                    job.write_fenced(move |tx, scope| {
                        Box::pin(async move { suggestions::save(tx, scope, place, &kept, since, now).await })
                    })
                    .await?;
                    texts
                }
                // What it said so far is worth having; it is unofficial and may stop any time.
                Err(error) => {
                    (offered.outcome, offered.detail) = ("provider_error", Some(error.to_string()));
                    break;
                }
            },
        };
        offered.rows.extend(texts.into_iter().map(candidate));
        offered.rows = merged(std::mem::take(&mut offered.rows));
    }
    Ok(offered)
}

fn candidate(keyword: String) -> Row {
    Row {
        keyword,
        ..Row::default()
    }
}

/// The seeds, then questions about them, then each with every letter behind it.
fn expansions(seeds: &[String], language: &str) -> Vec<String> {
    let mut all: Vec<String> = seeds.to_vec();
    for question in questions(language) {
        all.extend(seeds.iter().map(|seed| question.replace("{term}", seed)));
    }
    for letter in 'a'..='z' {
        all.extend(seeds.iter().map(|seed| format!("{seed} {letter}")));
    }
    all.truncate(MAX_SUGGESTIONS);
    all
}

/// Asks a model for keywords that people may search for.
async fn candidates(
    steps: &Steps<'_>,
    model: &dyn LanguageModel,
    wanted: &GenerationOrder,
    question: &Question,
) -> Result<Offered, JobError> {
    let form = Form {
        name: "keywords",
        schema: json_schema!({
            "type": "object", "additionalProperties": false, "required": ["keywords"],
            "properties": { "keywords": { "type": "array", "items": { "type": "string" } } }
        }),
    };
    let prompt = Prompt {
        system: format!(
            "You know what people type into search engines. Language: {}. You give search terms and nothing else: no numbers \
             of searches, no addresses.",
            wanted.language
        ),
        data: vec![
            Data {
                label: "website".to_owned(),
                text: question.about.clone(),
            },
            Data {
                label: "terms".to_owned(),
                text: question.seeds.join("\n"),
            },
        ],
        instructions: format!(
            "Give up to {} search terms, of two to eight words each, of people whom this website can help, around the terms \
             where there are any. The most useful first.",
            wanted.count.min(100)
        ),
        max_tokens: CANDIDATE_TOKENS,
        temperature: None,
        form: Some(form),
        nonce: steps.job.engine.clock.id(),
    };
    let asked = steps.ask(model, "candidates", prompt).await?;
    answered(KeywordSource::Llm, asked, |said| {
        let keywords: Vec<String> = serde_json::from_value(said.get("keywords")?.clone()).ok()?;
        Some(merged(keywords.into_iter().map(candidate).collect()))
    })
}
