//! Finds keywords in what is at hand without any account. Reads first, then writes everything in one
//! transaction that notes itself, so that a job that is run again adds and counts nothing twice.

mod gather;

use std::collections::{HashMap, HashSet};

use searchwright_contract::{
    Instant,
    events::EventType,
    keywords::{IntentSource, KeywordDetails, KeywordOrigin, KeywordSource, KeywordStatus},
};
use searchwright_store::{
    Db, events, jobs,
    keywords::{self, Known, New, Text},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::gather::{Gathered, Read, competitor_pages, gather};
use super::{JobError, USED, audit::fenced, worker::Run};
use crate::{
    failure::defect,
    keywords::ideas::{self, Brand, Idea, Material},
    operations::keywords::score_of,
};

/// What a caller asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// Terms to ask questions about.
    pub seeds: Vec<String>,
    /// Where to look.
    pub sources: Vec<KeywordSource>,
    /// Keywords, at most.
    pub count: u32,
    /// Language.
    pub language: String,
    /// Country, empty for all.
    pub country: String,
    /// Add nothing.
    pub dry_run: bool,
    /// Name of the project.
    pub project: String,
}

/// Carries it out.
pub(super) async fn run(run: Run, wanted: Wanted) -> Result<Value, JobError> {
    let interrupted = run.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = carry_out(&run, wanted) => done,
    }
}

async fn carry_out(run: &Run, wanted: Wanted) -> Result<Value, JobError> {
    let db = run.engine.db.clone();
    let mut gathered = gather(&db, run.leased.scope, &wanted).await?;
    if wanted.sources.contains(&KeywordSource::CompetitorPage) {
        gathered.competitor_pages = competitor_pages(run, &gathered.competitors).await?;
    }
    let looked = json!({
        "pages": gathered.pages.len(),
        "sitemapUrls": gathered.sitemap.len(),
        "competitorPages": gathered.competitor_pages.len(),
    });
    let asked = wanted.clone();
    // Seconds of computing on a large site, which the threads that wait for sockets do not have.
    let found = tokio::task::spawn_blocking(move || find(&gathered, &asked));
    let found = found.await.map_err(|e| defect("keyword ideas", e))?;
    let rejected: HashMap<String, usize> = found
        .rejected
        .iter()
        .map(|(why, n)| (why.as_str().to_owned(), *n))
        .collect();
    let mut result = json!({ "found": found.ideas.len(), "looked": looked, "rejected": rejected });
    if wanted.dry_run {
        result["keywords"] = found.ideas.iter().map(shown).collect();
        return Ok(result);
    }
    let added = add(run, &db, &wanted, found.ideas).await?;
    result["added"] = added;
    Ok(result)
}

fn shown(idea: &Idea) -> Value {
    let places: Vec<Value> = idea
        .evidence
        .iter()
        .map(|e| json!({ "source": e.source, "place": e.place, "detail": e.detail }))
        .collect();
    json!({
        "keyword": idea.keyword,
        "intent": idea.intent.intent,
        "score": idea.score,
        "variantOf": idea.variant_of,
        "sources": places,
    })
}

fn find(gathered: &Gathered, wanted: &Wanted) -> ideas::Ideas {
    let wants = |source: &KeywordSource| wanted.sources.contains(source);
    let competitors = gathered.competitors.iter().map(|competitor| {
        let aliases = competitor.aliases.iter().map(String::as_str);
        std::iter::once(competitor.name.as_str()).chain(aliases).collect()
    });
    let products = gathered.products.iter().map(|product| ideas::Product {
        name: &product.name,
        category: product.category.as_deref(),
    });
    let material = Material {
        language: &wanted.language,
        pages: gathered.pages.iter().map(Read::page).collect(),
        sitemap: gathered.sitemap.iter().map(String::as_str).collect(),
        brand: Brand {
            names: gathered.names.iter().map(String::as_str).collect(),
            products: products.collect(),
            faqs: gathered.faqs.iter().map(|faq| faq.question.as_str()).collect(),
            competitors: competitors.collect(),
        },
        competitor_pages: gathered.competitor_pages.iter().map(Read::page).collect(),
        seeds: wanted.seeds.iter().map(String::as_str).collect(),
        blocked: Vec::new(),
        known: gathered.known.iter().map(String::as_str).collect(),
        most: ideas::MOST,
    };
    let mut found = ideas::ideas(&material);
    found
        .ideas
        .retain(|idea| idea.evidence.iter().any(|evidence| wants(&evidence.source)));
    found.ideas.truncate(wanted.count as usize);
    found
}

async fn add(run: &Run, db: &Db, wanted: &Wanted, found: Vec<Idea>) -> Result<Value, JobError> {
    let now = run.engine.clock.now();
    let leased = run.leased.clone();
    let event = run.engine.clock.id();
    let new: Vec<New> = found
        .into_iter()
        .map(|idea| New {
            id: run.engine.clock.id(),
            known: known(&idea, now),
            source: idea
                .evidence
                .first()
                .map_or(KeywordSource::SiteContent, |e| e.source),
            keyword: idea.keyword,
            normalized: idea.normalized,
            language: wanted.language.clone(),
            country: wanted.country.clone(),
            status: KeywordStatus::New,
        })
        .collect();
    fenced(db, run.leased.clone(), move |tx, scope| {
        Box::pin(async move {
            let texts: Vec<Text> = new
                .iter()
                .map(|n| (n.language.clone(), n.country.clone(), n.normalized.clone()))
                .collect();
            let there = keywords::by_texts(tx, scope, texts).await?;
            let taken: HashSet<usize> = (0..new.len()).filter(|at| there[*at].is_some()).collect();
            let new: Vec<New> = new
                .into_iter()
                .enumerate()
                .filter(|(at, _)| !taken.contains(at))
                .map(|(_, new)| new)
                .collect();
            let ids: Vec<String> = new.iter().map(|n| n.id.to_string()).collect();
            let done = json!({ USED: ids.len() });
            let before = jobs::note(tx, &leased, done.clone()).await?;
            if let Some(before) = before {
                return Ok(before[USED].clone());
            }
            let added = keywords::add(tx, scope, new, now).await?;
            let data = json!({ "jobId": leased.id, "added": added, "keywordIds": ids });
            events::write(tx, scope, event, EventType::KeywordGenerated, &data, now).await?;
            Ok(done[USED].clone())
        })
    })
    .await
}

fn known(idea: &Idea, now: Instant) -> Known {
    let sources = idea.evidence.iter().map(|e| KeywordOrigin {
        source: e.source,
        place: Some(e.place.clone()),
        detail: Some(e.detail.clone()),
        search_volume: None,
        keyword_difficulty: None,
        at: now,
    });
    let mut known = Known {
        intent: Some(idea.intent.intent),
        intent_source: Some(IntentSource::Rules),
        intent_confidence: Some(idea.intent.confidence),
        intent_reason: Some(idea.intent.reason.clone()),
        details: KeywordDetails {
            secondary_intents: idea.intent.secondary.clone(),
            relevance: idea.relevance,
            variant_of: idea.variant_of.clone(),
            sources: sources.collect(),
            ..KeywordDetails::default()
        },
        ..Known::default()
    };
    known.score = score_of(&known);
    known
}
