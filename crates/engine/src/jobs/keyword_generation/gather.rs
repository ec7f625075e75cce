//! Sources of keywords: pages of the last audit, brand data, pages of competitors.

use std::{collections::HashMap, sync::Arc, time::Duration};

use searchwright_contract::{
    brand::Item, competitors::Competitor, faqs::Faq, keywords::KeywordSource, products::Product,
};
use searchwright_crawls::{
    page_texts,
    stored_batch::{StoredBatch, unpack},
};
use searchwright_keywords::ideas::Page;
use searchwright_site::{
    crawl::{self, Batch, Config, Sink, SinkError},
    page::{PageFacts, UrlId},
    urls::provenance,
};
use searchwright_store::{
    Db, Tx,
    access::ProjectScope,
    audits,
    brand::{self, Resource},
    crawls, keywords,
};
use searchwright_visibility::domains::start_url;
use url::Url;

use super::{
    super::{JobContext, JobError},
    GenerationOrder,
};

/// Items of brand data, at most (domain rule).
const MAX_ITEMS: u32 = 2_000;
/// Own pages that are read.
const MAX_PAGES: usize = 5_000;
/// Competitors that are looked at, and pages of each.
const MAX_COMPETITORS: usize = 10;
const COMPETITOR_PAGES: u32 = 5;
const COMPETITOR_TIME: Duration = Duration::from_secs(30);

/// A page with the facts that ideas are made from, owned.
#[derive(Debug, Default)]
pub(super) struct SitePage {
    url: String,
    language: Option<String>,
    title: Option<String>,
    h1s: Vec<String>,
    headings: Vec<String>,
    anchors: Vec<String>,
    text: String,
}

impl SitePage {
    /// Makes it from the facts of a page; `None` for errors, redirects, and pages of other sites, whose text is not kept.
    fn from_facts(facts: &PageFacts, text: Option<&str>) -> Option<Self> {
        let html = facts.html_200()?;
        let description = html.metas.iter().find(|meta| &*meta.name == "description");
        if html.titles.is_empty() && html.headings.is_empty() && html.words == 0 && description.is_none() {
            return None;
        }
        let texts = [
            description.map(|meta| &*meta.content),
            text.or(Some(&*html.excerpt)),
        ];
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
            text: texts.into_iter().flatten().collect::<Vec<_>>().join("\n"),
        })
    }

    pub(super) fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    pub(super) fn page(&self) -> Page<'_> {
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
pub(super) struct SiteMaterial {
    pub(super) pages: Vec<SitePage>,
    pub(super) sitemap: Vec<String>,
    pub(super) names: Vec<String>,
    pub(super) products: Vec<Product>,
    pub(super) faqs: Vec<Faq>,
    pub(super) competitors: Vec<Competitor>,
    pub(super) competitor_pages: Vec<SitePage>,
    pub(super) known: Vec<String>,
}

/// Reads everything but the pages of competitors.
pub(super) async fn gather(
    db: &Db,
    scope: ProjectScope,
    wanted: &GenerationOrder,
) -> Result<SiteMaterial, JobError> {
    let wants = |source| wanted.sources.contains(&source);
    let mut gathered = SiteMaterial::default();
    let audit = audits::find_newest_finished(&mut db.read().await?, scope).await?;
    // Pages also tell what the site is about, which every idea is measured by.
    if let Some(audit) = audit {
        let mut links: Vec<(UrlId, String)> = Vec::new();
        let mut places: HashMap<UrlId, usize> = HashMap::new();
        for number in 0.. {
            let Some(data) = crawls::find_batch(&mut db.read().await?, scope, audit, number).await? else {
                break;
            };
            let StoredBatch {
                discovered, pages, ..
            } = unpack(&data)?;
            let texts = if gathered.pages.len() < MAX_PAGES {
                page_texts::load(db, scope, audit, number).await?
            } else {
                HashMap::new()
            };
            if wants(KeywordSource::Sitemap) {
                let listed = discovered
                    .iter()
                    .filter(|url| url.internal && url.provenance & provenance::SITEMAP != 0);
                gathered.sitemap.extend(listed.map(|url| url.url.to_string()));
            }
            for page in pages {
                if let Some(html) = page.html_200() {
                    let named = html.links.iter().filter(|link| !link.anchor.is_empty());
                    links.extend(named.filter_map(|link| Some((link.target?, link.anchor.to_owned()))));
                }
                if gathered.pages.len() < MAX_PAGES
                    && let Some(read) = SitePage::from_facts(&page, texts.get(&page.id).map(String::as_str))
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
    let profile = brand::find_profile(&mut tx, scope)
        .await?
        .map(|stored| stored.profile);
    if let Some(profile) = profile {
        gathered.names.push(profile.name);
        gathered.names.extend(profile.aliases);
    }
    // After the names of the brand, because the first is put into texts: that of a project may be a label.
    gathered.names.push(wanted.project.clone());
    gathered.names.retain(|name| !name.trim().is_empty());
    gathered.competitors = items(&mut tx, scope, Resource::Competitors).await?;
    if wants(KeywordSource::BrandData) {
        gathered.products = items(&mut tx, scope, Resource::Products).await?;
        gathered.faqs = items(&mut tx, scope, Resource::Faqs).await?;
    }
    gathered.known = keywords::list_texts(&mut tx, scope, &wanted.language, &wanted.country).await?;
    Ok(gathered)
}

async fn items<T: serde::de::DeserializeOwned>(
    tx: &mut Tx,
    scope: ProjectScope,
    resource: Resource,
) -> Result<Vec<T>, JobError> {
    let items: Vec<Item<T>> = brand::list(tx, scope, resource, None, MAX_ITEMS).await?;
    Ok(items.into_iter().map(|item| item.data).collect())
}

/// A few pages of each competitor, as their robots.txt and one request a second allow.
pub(super) async fn competitor_pages(
    job: &JobContext,
    competitors: &[Competitor],
) -> Result<Vec<SitePage>, JobError> {
    let fetcher = Arc::new(job.settings.crawler()?);
    let clock = job.engine.clock.clone();
    let now: crawl::Clock = Arc::new(move || clock.now().millis());
    let mut read = Vec::new();
    for competitor in competitors.iter().filter(|c| c.active).take(MAX_COMPETITORS) {
        let Ok(start) = Url::parse(&start_url(&competitor.domain)) else {
            continue;
        };
        let mut config = Config::new(start, COMPETITOR_PAGES);
        (config.max_depth, config.max_external, config.connections) = (1, 0, 1);
        config.max_resources = 0;
        (config.delay, config.max_duration) = (Duration::from_secs(1), COMPETITOR_TIME);
        let mut sink = Keep::default();
        let crawled = crawl::crawl(
            config,
            fetcher.clone(),
            &mut sink,
            None,
            job.stopping.child_token(),
            now.clone(),
        );
        if let Err(error) = crawled.await {
            // A competitor that does not answer is skipped.
            tracing::info!(domain = competitor.domain, error = %error.0, "competitor not read");
        }
        read.append(&mut sink.0);
    }
    Ok(read)
}

/// Keeps pages in memory: there are few.
#[derive(Default)]
struct Keep(Vec<SitePage>);

impl Sink for Keep {
    async fn save(&mut self, batch: Batch) -> Result<(), SinkError> {
        let read = |facts: &PageFacts| SitePage::from_facts(facts, Some(&facts.html_200()?.main_text));
        self.0
            .extend(batch.pages.iter().filter_map(|page| read(&page.facts)));
        Ok(())
    }
}
