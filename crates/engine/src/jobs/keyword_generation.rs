//! Finds keywords in the project's own data and with accounts. Reads first, then writes everything in one transaction
//! with a checkpoint, so that a job that is run again adds and counts nothing twice.

mod accounts;
mod gather;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use searchwright_contract::{
    Instant,
    events::EventType,
    keywords::{IntentSource, KeywordDetails, KeywordOrigin, KeywordSource, KeywordStatus},
};
use searchwright_keywords::{
    ideas,
    ideas::{Brand, Figures, Idea, Material, Offer, Rejected},
    intent::Brands,
    normalize,
};
use searchwright_store::{
    events, jobs,
    keywords::{self, KeywordFacts, NewKeyword, TextKey},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use self::accounts::ACCOUNTS;
use self::{
    accounts::{Offered, Question, offers},
    gather::{SiteMaterial, SitePage, competitor_pages, gather},
};
use super::{JobContext, JobError, USED, keyword_clusters::cluster};
use crate::{
    failure::defect,
    keyword_merge::{RowOrigin, merge_row, score_of},
};

/// Terms that accounts are asked about when the caller names none.
const MAX_SEEDS: usize = 5;
/// Titles that a model reads to know what the website is about.
const MAX_TITLES: usize = 40;

/// Request of a caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenerationOrder {
    /// Terms to ask questions about.
    pub seeds: Vec<String>,
    /// Sources to search.
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

/// Runs the job.
pub(super) async fn run(job: JobContext, wanted: GenerationOrder) -> Result<Value, JobError> {
    let interrupted = job.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = carry_out(&job, wanted) => done,
    }
}

async fn carry_out(job: &JobContext, wanted: GenerationOrder) -> Result<Value, JobError> {
    let db = job.engine.db.clone();
    let mut gathered = gather(&db, job.leased.scope, &wanted).await?;
    if wanted.sources.contains(&KeywordSource::CompetitorPage) {
        gathered.competitor_pages = competitor_pages(job, &gathered.competitors).await?;
    }
    let question = question(&gathered, &wanted);
    let offered = offers(job, &wanted, &question).await?;
    let looked = json!({
        "pages": gathered.pages.len(),
        "sitemapUrls": gathered.sitemap.len(),
        "competitorPages": gathered.competitor_pages.len(),
    });
    let looked_at_pages = !gathered.pages.is_empty();
    let asked = wanted.clone();
    let told: Vec<Value> = offered.iter().map(Offered::told).collect();
    let offered = Arc::new(offered);
    let offers = offered.clone();
    // Seconds of computing on a large site, which the threads that wait for sockets do not have.
    let found = tokio::task::spawn_blocking(move || find(&gathered, &asked, &question, &offers));
    let found = found.await.map_err(|e| defect("keyword ideas", e))?;
    let rejected: HashMap<String, usize> = found
        .rejected
        .iter()
        .map(|(why, n)| (why.as_str().to_owned(), *n))
        .collect();
    let mut result =
        json!({ "found": found.ideas.len(), "looked": looked, "accounts": told, "rejected": rejected });
    if found.ideas.is_empty() {
        result["next"] = next_step(!looked_at_pages, &found.rejected).into();
    }
    if wanted.dry_run {
        result["keywords"] = found.ideas.iter().map(shown).collect();
        return Ok(result);
    }
    let added = add(job, &wanted, found.ideas, &offered).await?;
    result["added"] = added;
    result["clustered"] = cluster(job, &wanted.language).await?.into();
    Ok(result)
}

/// Returns what to do so that there are ideas.
fn next_step(is_unread: bool, rejected: &BTreeMap<Rejected, usize>) -> &'static str {
    if is_unread {
        return "no page of the website has been read: start an audit and generate again when it has ended, or send seeds, the \
                terms that customers use";
    }
    if rejected.contains_key(&Rejected::Covered) || rejected.contains_key(&Rejected::Known) {
        return "every topic that was found has a page or is a keyword already: send seeds, or add products, questions and \
                competitors to the brand data";
    }
    "the pages name no topics: send seeds, or add products, questions and competitors to the brand data"
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

/// Returns the question for accounts: the caller's terms, else the brand's products, else the topics of the pages.
fn question(gathered: &SiteMaterial, wanted: &GenerationOrder) -> Question {
    let mut seeds = wanted.seeds.clone();
    if seeds.is_empty() {
        let categories = gathered.products.iter().filter_map(|p| p.category.clone());
        let names = gathered.products.iter().map(|product| product.name.clone());
        seeds = categories.chain(names).take(MAX_SEEDS).collect();
    }
    if seeds.is_empty() && wanted.sources.iter().any(|source| ACCOUNTS.contains(source)) {
        let own = ideas::ideas(&material(gathered, wanted));
        let heads = own.ideas.into_iter().filter(|idea| idea.variant_of.is_none());
        seeds = heads.map(|idea| idea.keyword).take(MAX_SEEDS).collect();
    }
    let titles = gathered.pages.iter().filter_map(SitePage::title).take(MAX_TITLES);
    let about = gathered.names.iter().map(String::as_str).chain(titles);
    Question {
        seeds,
        about: about.collect::<Vec<_>>().join("\n"),
    }
}

fn find(
    gathered: &SiteMaterial,
    wanted: &GenerationOrder,
    question: &Question,
    offered: &[Offered],
) -> ideas::Ideas {
    let mut material = material(gathered, wanted);
    let place = question.seeds.first().map_or("", String::as_str);
    material.offers = offered
        .iter()
        .flat_map(|account| account.rows.iter().map(|row| (account.source, row)))
        .map(|(source, row)| Offer {
            keyword: &row.keyword,
            source,
            place,
            figures: Figures {
                volume: row.search_volume,
                difficulty: row.difficulty,
                intent: row.intents.first().copied(),
            },
        })
        .collect();
    let mut found = ideas::ideas(&material);
    found.ideas.truncate(wanted.count as usize);
    found
}

fn material<'a>(gathered: &'a SiteMaterial, wanted: &'a GenerationOrder) -> Material<'a> {
    let competitors = gathered.competitors.iter().map(|competitor| {
        let aliases = competitor.aliases.iter().map(String::as_str);
        std::iter::once(competitor.name.as_str()).chain(aliases).collect()
    });
    let products = gathered.products.iter().map(|product| ideas::Product {
        name: &product.name,
        category: product.category.as_deref(),
    });
    Material {
        language: &wanted.language,
        pages: gathered.pages.iter().map(SitePage::page).collect(),
        sitemap: gathered.sitemap.iter().map(String::as_str).collect(),
        brand: Brand {
            names: gathered.names.iter().map(String::as_str).collect(),
            products: products.collect(),
            faqs: gathered.faqs.iter().map(|faq| faq.question.as_str()).collect(),
            competitors: competitors.collect(),
        },
        competitor_pages: gathered.competitor_pages.iter().map(SitePage::page).collect(),
        seeds: wanted.seeds.iter().map(String::as_str).collect(),
        offers: Vec::new(),
        sources: &wanted.sources,
        blocked: Vec::new(),
        known: gathered.known.iter().map(String::as_str).collect(),
        most: ideas::MAX_IDEAS,
    }
}

async fn add(
    job: &JobContext,
    wanted: &GenerationOrder,
    found: Vec<Idea>,
    offered: &[Offered],
) -> Result<Value, JobError> {
    let now = job.engine.clock.now();
    let leased = job.leased.clone();
    let event = job.engine.clock.id();
    let new: Vec<NewKeyword> = found
        .into_iter()
        .map(|idea| NewKeyword {
            id: job.engine.clock.id(),
            facts: known(&idea, wanted, offered, now),
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
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            let texts: Vec<TextKey> = new
                .iter()
                .map(|n| (n.language.clone(), n.country.clone(), n.normalized.clone()))
                .collect();
            let there = keywords::find_by_texts_for_update(tx, scope, texts).await?;
            let taken: HashSet<usize> = (0..new.len()).filter(|at| there[*at].is_some()).collect();
            let new: Vec<NewKeyword> = new
                .into_iter()
                .enumerate()
                .filter(|(at, _)| !taken.contains(at))
                .map(|(_, new)| new)
                .collect();
            let ids: Vec<String> = new.iter().map(|n| n.id.to_string()).collect();
            let done = json!({ USED: ids.len() });
            let before = jobs::checkpoint(tx, &leased, done.clone()).await?;
            if let Some(before) = before {
                return Ok(before[USED].clone());
            }
            let added = keywords::insert_new(tx, scope, new, now).await?;
            let data = json!({ "jobId": leased.id, "added": added.len(), "keywordIds": ids });
            events::insert(tx, scope, event, EventType::KeywordGenerated, &data, now).await?;
            Ok(done[USED].clone())
        })
    })
    .await
}

fn known(idea: &Idea, wanted: &GenerationOrder, offered: &[Offered], now: Instant) -> KeywordFacts {
    let sources = idea.evidence.iter().map(|e| KeywordOrigin {
        source: e.source,
        place: Some(e.place.clone()),
        detail: Some(e.detail.clone()),
        search_volume: None,
        keyword_difficulty: None,
        at: now,
    });
    let mut known = KeywordFacts {
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
        ..KeywordFacts::default()
    };
    known.score = score_of(&known);
    for account in offered {
        let mut rows = account.rows.iter();
        let Some(row) = rows.find(|row| normalize(&row.keyword) == idea.normalized) else {
            continue;
        };
        let origin = RowOrigin {
            source: account.source,
            status: KeywordStatus::New,
            brands: Brands::new([], []),
            now,
        };
        known = merge_row(known, row, &idea.normalized, &wanted.language, &origin);
    }
    known
}
