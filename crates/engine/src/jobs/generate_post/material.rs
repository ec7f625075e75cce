//! Material of the project on the topic of a post.

use searchwright_contract::{
    brand::Item, competitors::Competitor, ctas::Cta, faqs::Faq, posts::Post, products::Product,
};
use searchwright_crawls::stored_batch::unpack;
use searchwright_keywords::{ideas::is_question, words::primary};
use searchwright_site::page::PageFacts;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    audits,
    brand::{self, Resource},
    crawls, keywords,
};
use searchwright_writing::brief::{Material, OwnPage, is_near};
use serde::de::DeserializeOwned;

use super::{
    super::{JobContext, JobError},
    candidates::indexable,
};

/// Items of brand data, at most (domain rule).
const MAX_ITEMS: u32 = 2_000;
/// Pages near the topic that are looked at more closely.
const MAX_PAGES: usize = 500;

/// Gathers it: keyword, brand data, pages of the last audit, questions.
pub(super) async fn gather(job: &JobContext, post: &Post) -> Result<Material, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let summary = &post.summary;
    let topic = summary
        .keyword
        .clone()
        .or_else(|| summary.title.clone())
        .unwrap_or_default();
    let pages = pages(job, &topic, &summary.language).await?;
    let mut tx = db.read().await?;
    let intent = match summary.keyword_id {
        Some(id) => keywords::get(&mut tx, scope, id).await?.intent,
        None => None,
    };
    let products: Vec<Item<Product>> = items(&mut tx, scope, Resource::Products).await?;
    let faqs: Vec<Item<Faq>> = items(&mut tx, scope, Resource::Faqs).await?;
    let ctas: Vec<Item<Cta>> = items(&mut tx, scope, Resource::Ctas).await?;
    let rivals: Vec<Item<Competitor>> = items(&mut tx, scope, Resource::Competitors).await?;
    Ok(Material {
        questions: questions(&post.details.secondary_keywords, &summary.language),
        topic,
        intent,
        secondary: post.details.secondary_keywords.clone(),
        language: summary.language.clone(),
        profile: brand::find_profile(&mut tx, scope)
            .await?
            .map(|stored| stored.profile),
        products: products
            .into_iter()
            .map(|item| (item.id.to_string(), item.data))
            .collect(),
        faqs: faqs.into_iter().map(|item| item.data).collect(),
        ctas: ctas.into_iter().map(|item| item.data).collect(),
        rivals: rivals.into_iter().map(|item| item.data.into()).collect(),
        pages,
        now: job.engine.clock.now(),
    })
}

async fn items<T: DeserializeOwned>(
    tx: &mut Tx,
    scope: ProjectScope,
    resource: Resource,
) -> Result<Vec<Item<T>>, JobError> {
    Ok(brand::list(tx, scope, resource, None, MAX_ITEMS).await?)
}

/// Returns the further keywords of a post that are questions.
fn questions(secondary: &[String], language: &str) -> Vec<String> {
    let asks = |text: &&String| is_question(text, language);
    secondary.iter().filter(asks).cloned().collect()
}

/// Pages of the last audit that are near the topic; none before the first.
async fn pages(job: &JobContext, topic: &str, language: &str) -> Result<Vec<OwnPage>, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let Some(audit) = audits::find_newest_finished(&mut db.read().await?, scope).await? else {
        return Ok(Vec::new());
    };
    let near = is_near(topic, language);
    let indexable = indexable(job).await?;
    let mut found = Vec::new();
    for number in 0.. {
        let Some(data) = crawls::find_batch(&mut db.read().await?, scope, audit, number).await? else {
            break;
        };
        let pages = unpack(&data)?.pages;
        let pages = pages.iter().filter(|page| indexable.contains_key(&*page.url));
        found.extend(pages.filter_map(|page| own(page, language)).filter(&near));
        if found.len() >= MAX_PAGES {
            break;
        }
        tokio::task::yield_now().await;
    }
    found.truncate(MAX_PAGES);
    Ok(found)
}

/// A page to be linked to: one that is shown and is written in the language of the post.
fn own(facts: &PageFacts, language: &str) -> Option<OwnPage> {
    let html = facts.html_200()?;
    if html
        .lang
        .as_deref()
        .is_some_and(|of_page| primary(of_page) != primary(language))
    {
        return None;
    }
    let description = html.metas.iter().find(|meta| &*meta.name == "description");
    let texts = [description.map(|meta| &*meta.content), Some(&*html.excerpt)];
    let title = html.titles.first().map(ToString::to_string);
    Some(OwnPage {
        url: facts.url.to_string(),
        title: title.filter(|title| !title.trim().is_empty())?,
        headings: html
            .headings
            .iter()
            .filter(|heading| heading.level > 1)
            .map(|heading| heading.text.to_string())
            .collect(),
        text: texts.into_iter().flatten().collect::<Vec<_>>().join(" "),
    })
}
