//! Finds keywords in what is at hand without any account. Reads first, then writes everything in one
//! transaction that notes itself, so that a job that is run again adds and counts nothing twice.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use searchwright_contract::{
    Instant,
    brand::Item,
    competitors::Competitor,
    events::EventType,
    faqs::Faq,
    keywords::{IntentSource, KeywordDetails, KeywordOrigin, KeywordSource, KeywordStatus},
    products::Product,
    usage::Metric,
};
use searchwright_site::{
    crawl::{self, Batch, Config, Sink, SinkError},
    page::{PageFacts, UrlId},
};
use searchwright_store::{
    Db, Tx,
    access::ProjectScope,
    audits,
    brand::{self, Resource},
    crawls, events,
    jobs::{self, Leased},
    keywords::{self, Known, New, Text},
    usage,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::{
    JobError,
    audit::{crawler, fenced, unpack},
    worker::Run,
};
use crate::{
    failure::defect,
    keywords::ideas::{self, Brand, Idea, Material, Page},
    operations::{audits::start_url, keywords::score_of},
};

/// Items of brand data, at most (domain rule).
const MOST_ITEMS: u32 = 2_000;
/// Own pages that are read.
const MOST_PAGES: usize = 5_000;
/// Competitors that are looked at, and pages of each.
const MOST_COMPETITORS: usize = 10;
const COMPETITOR_PAGES: u32 = 5;
const COMPETITOR_TIME: Duration = Duration::from_secs(30);

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

/// A page with what ideas need of it, owned.
#[derive(Debug, Default)]
struct Read {
    url: String,
    language: Option<String>,
    title: Option<String>,
    h1s: Vec<String>,
    headings: Vec<String>,
    anchors: Vec<String>,
    text: String,
}

impl Read {
    /// `None` for what is no page of its own: errors, redirects, pages that stay out of search.
    fn of(facts: &PageFacts) -> Option<Self> {
        let html = facts.html_200()?;
        let description = html.metas.iter().find(|meta| &*meta.name == "description");
        let texts = [description.map(|meta| &*meta.content), Some(&*html.excerpt)];
        let of_level = |first: bool| {
            let wanted = html.headings.iter().filter(move |h| (h.level == 1) == first);
            wanted.map(|h| h.text.to_string()).collect()
        };
        Some(Self {
            url: facts.url.to_string(),
            language: html.lang.as_deref().map(str::to_owned),
            title: html.titles.first().map(ToString::to_string),
            h1s: of_level(true),
            headings: of_level(false),
            anchors: Vec::new(),
            text: texts.into_iter().flatten().collect::<Vec<_>>().join(". "),
        })
    }

    fn page(&self) -> Page<'_> {
        Page {
            url: &self.url,
            language: self.language.as_deref(),
            title: self.title.as_deref(),
            h1s: self.h1s.iter().map(String::as_str).collect(),
            headings: self.headings.iter().map(String::as_str).collect(),
            anchors: self.anchors.iter().map(String::as_str).collect(),
            text: &self.text,
        }
    }
}

/// Everything that was read.
#[derive(Debug, Default)]
struct Gathered {
    pages: Vec<Read>,
    sitemap: Vec<String>,
    names: Vec<String>,
    products: Vec<Product>,
    faqs: Vec<Faq>,
    competitors: Vec<Competitor>,
    competitor_pages: Vec<Read>,
    known: Vec<String>,
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

async fn gather(db: &Db, scope: ProjectScope, wanted: &Wanted) -> Result<Gathered, JobError> {
    let wants = |source| wanted.sources.contains(&source);
    let mut gathered = Gathered::default();
    let audit = audits::newest_finished(&mut db.read().await?, scope).await?;
    // Pages also tell what the site is about, which every idea is measured by.
    if let Some(audit) = audit {
        let mut links: Vec<(UrlId, String)> = Vec::new();
        let mut places: HashMap<UrlId, usize> = HashMap::new();
        for number in 0.. {
            let Some(data) = crawls::load(&mut db.read().await?, scope, audit, number).await? else {
                break;
            };
            let (_, discovered, pages) = unpack(&data)?;
            if wants(KeywordSource::Sitemap) {
                let listed = discovered.iter().filter(|url| {
                    url.internal && url.provenance & searchwright_site::urls::provenance::SITEMAP != 0
                });
                gathered.sitemap.extend(listed.map(|url| url.url.to_string()));
            }
            for page in pages {
                if let Some(html) = page.html_200() {
                    let named = html.links.iter().filter(|link| !link.anchor.is_empty());
                    links.extend(named.filter_map(|link| Some((link.target?, link.anchor.to_owned()))));
                }
                if gathered.pages.len() < MOST_PAGES
                    && let Some(read) = Read::of(&page)
                {
                    places.insert(page.id, gathered.pages.len());
                    gathered.pages.push(read);
                }
            }
        }
        for (target, anchor) in links {
            if let Some(page) = places.get(&target).and_then(|at| gathered.pages.get_mut(*at))
                && page.anchors.len() < 20
                && !page.anchors.contains(&anchor)
            {
                page.anchors.push(anchor);
            }
        }
    }
    let mut tx = db.read().await?;
    let profile = brand::profile(&mut tx, scope).await?.map(|stored| stored.profile);
    gathered.names.push(wanted.project.clone());
    if let Some(profile) = profile {
        gathered.names.push(profile.name);
        gathered.names.extend(profile.aliases);
    }
    gathered.names.retain(|name| !name.trim().is_empty());
    gathered.competitors = items(&mut tx, scope, Resource::Competitors).await?;
    if wants(KeywordSource::BrandData) {
        gathered.products = items(&mut tx, scope, Resource::Products).await?;
        gathered.faqs = items(&mut tx, scope, Resource::Faqs).await?;
    }
    gathered.known = keywords::texts(&mut tx, scope, &wanted.language, &wanted.country).await?;
    Ok(gathered)
}

async fn items<T: serde::de::DeserializeOwned>(
    tx: &mut Tx,
    scope: ProjectScope,
    resource: Resource,
) -> Result<Vec<T>, JobError> {
    let items: Vec<Item<T>> = brand::list(tx, scope, resource, None, MOST_ITEMS).await?;
    Ok(items.into_iter().map(|item| item.data).collect())
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
    let (leased, count, taken_at) = (run.leased.clone(), i64::from(wanted.count), now);
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
    let answered = Arc::new(std::sync::Mutex::new(Value::Null));
    let answer = answered.clone();
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
            let done = json!({ "added": ids.len() });
            let before = jobs::note(tx, &leased, done.clone()).await?;
            let told = before.as_ref().unwrap_or(&done)["added"].clone();
            *answer.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = told;
            if before.is_some() {
                return Ok(());
            }
            let added = keywords::add(tx, scope, new, now).await?;
            let unused = count - i64::try_from(added).unwrap_or(count);
            usage::give_back(tx, scope, Metric::KeywordsGenerated, unused.max(0), taken_at).await?;
            let data = json!({ "jobId": leased.id, "added": added, "keywordIds": ids });
            events::write(tx, scope, event, EventType::KeywordGenerated, &data, now).await
        })
    })
    .await?;
    let answered = answered
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .clone();
    Ok(answered)
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
    known.score = score_of(&known, None);
    known
}

/// A job that will not be run again gives back what it counted and did not use.
pub(super) async fn over(
    tx: &mut Tx,
    leased: &Leased,
    wanted: &Wanted,
) -> Result<(), searchwright_store::Error> {
    if wanted.dry_run || !jobs::holds(tx, leased).await? || jobs::has_noted(tx, leased).await? {
        return Ok(());
    }
    let queued = jobs::get(tx, leased.scope, leased.id).await?.created_at;
    usage::give_back(
        tx,
        leased.scope,
        Metric::KeywordsGenerated,
        wanted.count.into(),
        queued,
    )
    .await
}

/// A few pages of each competitor, as their robots.txt and one request a second allow.
async fn competitor_pages(run: &Run, competitors: &[Competitor]) -> Result<Vec<Read>, JobError> {
    let fetcher = Arc::new(crawler(&run.settings)?);
    let clock = run.engine.clock.clone();
    let now: crawl::Clock = Arc::new(move || clock.now().millis());
    let mut read = Vec::new();
    for competitor in competitors.iter().filter(|c| c.active).take(MOST_COMPETITORS) {
        let Ok(start) = Url::parse(&start_url(&competitor.domain)) else {
            continue;
        };
        let mut config = Config::new(start, COMPETITOR_PAGES);
        (config.max_depth, config.max_external, config.connections) = (1, 0, 1);
        (config.delay, config.max_duration) = (Duration::from_secs(1), COMPETITOR_TIME);
        let mut sink = Keep::default();
        let crawled = crawl::crawl(
            config,
            fetcher.clone(),
            &mut sink,
            None,
            run.stopping.child_token(),
            now.clone(),
        );
        if let Err(error) = crawled.await {
            // A competitor that does not answer says nothing; the others may.
            tracing::info!(domain = competitor.domain, error = %error.0, "competitor not read");
        }
        read.append(&mut sink.0);
    }
    Ok(read)
}

/// Keeps pages in memory: there are few.
#[derive(Default)]
struct Keep(Vec<Read>);

impl Sink for Keep {
    async fn save(&mut self, batch: Batch) -> Result<(), SinkError> {
        self.0
            .extend(batch.pages.iter().filter_map(|page| Read::of(&page.facts)));
        Ok(())
    }
}
