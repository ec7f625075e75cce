//! Pages of others that a post takes facts from: those that the caller named, and those on record for the brand's answers.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use searchwright_contract::{Instant, posts::PostWarning};
use searchwright_crawls::{page_texts, stored_batch::unpack};
use searchwright_site::{
    crawl::{self, read_page},
    page::PageFacts,
};
use searchwright_store::{audits, crawls};
use searchwright_writing::{
    assessment::sources::SourceText,
    brief::{Brief, address, plain},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use super::Order;
use crate::jobs::{JobContext, JobError, checkpoints::Steps};

/// Pages that are read.
const MAX_PAGES: usize = 10;
/// Bytes kept of the text of each.
const TEXT: usize = 20 * 1024;
/// Time for each, its robots.txt included.
const TIME: Duration = Duration::from_secs(40);

/// Outcome of reading a page.
#[derive(Debug, Serialize, Deserialize)]
struct SourcePage {
    title: Option<String>,
    text: String,
    at: Instant,
    /// Reason for which there is no text.
    why: Option<String>,
}

/// Reads them, each once for the job. A page that cannot be read is named by a warning and says nothing.
pub(super) async fn read(
    steps: &Steps<'_>,
    order: &Order,
    brief: &Brief,
) -> Result<(Vec<SourceText>, Vec<PostWarning>), JobError> {
    let (mut known, mut warnings) = (Vec::new(), Vec::new());
    for (at, url) in addresses(order, brief).into_iter().enumerate() {
        let (step, input) = (format!("source {}", at + 1), json!(url));
        let page: SourcePage = match steps.done(&step, &input).await? {
            Some(page) => page,
            None => {
                let page = fetch(steps, &url).await?;
                steps.save(&step, &input, &page).await?;
                page
            }
        };
        if let Some(why) = page.why {
            warnings.push(PostWarning {
                code: "source_unread".to_owned(),
                detail: format!("this source could not be read: {why}; it does not support any claim"),
                source: Some(url.clone()),
                ..PostWarning::default()
            });
        }
        known.push(SourceText {
            name: url,
            title: page.title,
            text: page.text,
            checked_at: Some(page.at),
        });
    }
    Ok((known, warnings))
}

/// Those of the caller, then those of the brand's answers that are in the brief; no page of the site is among them.
fn addresses(order: &Order, brief: &Brief) -> Vec<String> {
    let own: Vec<&str> = brief.links.iter().map(|link| link.url.as_str()).collect();
    let facts = brief.sections.iter().flat_map(|section| &section.facts);
    let of_brand = facts
        .map(|fact| &fact.source)
        .filter(|source| source.contains("://") && !own.contains(&source.as_str()));
    let mut all: Vec<String> = Vec::new();
    for url in order.sources.iter().chain(of_brand) {
        if all.len() < MAX_PAGES && !all.contains(url) {
            all.push(url.clone());
        }
    }
    all
}

async fn fetch(steps: &Steps<'_>, url: &str) -> Result<SourcePage, JobError> {
    let job = steps.job;
    let at = job.engine.clock.now();
    let unread = |why: String| SourcePage {
        title: None,
        text: String::new(),
        at,
        why: Some(why),
    };
    let Ok(parsed) = Url::parse(url) else {
        return Ok(unread("it is not a URL".to_owned()));
    };
    let clock = job.engine.clock.clone();
    let now: crawl::Clock = Arc::new(move || clock.now().millis());
    let reading = read_page(Arc::new(job.settings.crawler()?), parsed, TEXT, now);
    // No database keeps U+0000.
    let kept = |text: &str| text.replace('\0', "");
    Ok(match tokio::time::timeout(TIME, reading).await {
        Ok(Ok(page)) => SourcePage {
            title: page.title.as_deref().map(kept),
            text: kept(&page.text),
            at,
            why: None,
        },
        Ok(Err(why)) => unread(why.to_string()),
        Err(_) => unread("it took too long".to_owned()),
    })
}

/// Returns the facts of a brief, grouped by their source.
pub(super) fn of_brief(brief: &Brief) -> Vec<SourceText> {
    let facts = brief.sections.iter().flat_map(|section| &section.facts);
    let mut all: Vec<SourceText> = Vec::new();
    for fact in facts.chain(&brief.pages) {
        match all.iter_mut().find(|known| known.name == fact.source) {
            Some(known) => {
                known.text.push('\n');
                known.text.push_str(&fact.text);
            }
            None => all.push(SourceText {
                name: fact.source.clone(),
                text: fact.text.clone(),
                ..SourceText::default()
            }),
        }
    }
    all
}

/// Main texts of the pages of the site that are near the topic: what the text builds on, and must not repeat.
pub(super) async fn own_pages(job: &JobContext, brief: &Brief) -> Result<Vec<SourceText>, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let near: Vec<&str> = brief.pages.iter().map(|page| page.source.as_str()).collect();
    let mut found = Vec::new();
    let Some(audit) = audits::find_newest_finished(&mut db.read().await?, scope).await? else {
        return Ok(found);
    };
    for number in 0.. {
        if found.len() == near.len() {
            break;
        }
        let Some(data) = crawls::find_batch(&mut db.read().await?, scope, audit, number).await? else {
            break;
        };
        let pages = unpack(&data)?.pages;
        let here: Vec<&PageFacts> = pages.iter().filter(|page| near.contains(&&*page.url)).collect();
        if here.is_empty() {
            continue;
        }
        let mut texts = page_texts::load(db, scope, audit, number).await?;
        found.extend(here.into_iter().map(|page| SourceText {
            name: page.url.to_string(),
            text: texts.remove(&page.id).unwrap_or_default(),
            ..SourceText::default()
        }));
    }
    Ok(found)
}

/// The pages that were read, for a brief.
pub(super) fn section(read: &[SourceText]) -> String {
    let mut out = String::new();
    for known in read.iter().filter(|known| !known.text.is_empty()) {
        if out.is_empty() {
            out.push_str("\n## Sources\n\n");
        }
        let title = known.title.as_ref().unwrap_or(&known.name);
        let _ = writeln!(out, "- [{}]({})", plain(title), address(&known.name));
    }
    out
}
