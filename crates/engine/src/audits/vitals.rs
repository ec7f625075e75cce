//! Core Web Vitals of the highest-ranked pages of an audit, if an account can measure them. Other pages stay without a
//! measurement, and no failure of the account fails the audit.

use futures_util::StreamExt as _;
use searchwright_providers::ProviderError;
use searchwright_site::{
    crawl::Ending,
    graph::{PageFlags, SiteGraph},
    page::UrlId,
};
use serde_json::{Value, json};

use crate::jobs::{JobContext, JobError};

/// Pages measured in an audit, at most. Each takes up to half a minute, and counts against the quota of the key.
const MAX_PAGES: usize = 10;
/// Pages measured at the same time.
const MAX_CONCURRENT: usize = 4;

/// Measures pages and stores the values in the index; returns the counts of pages requested and measured, or `null` without an
/// account.
pub(super) async fn measure(job: &JobContext, ending: &mut Ending) -> Result<Value, JobError> {
    let db = &job.engine.db;
    let scope = job.leased.scope;
    let service = match job.accounts.page_speed(&mut db.read().await?, scope).await? {
        None => return Ok(Value::Null),
        Some(Ok(service)) => service,
        Some(Err(error)) => return Ok(json!({ "asked": 0, "measured": 0, "error": error.to_string() })),
    };
    let wanted = wanted(&ending.index, ending.origin.home);
    let (mut asked, mut pages, mut lost) = (0, Vec::new(), None);
    {
        let (index, service) = (&ending.index, &service);
        let calls = wanted
            .into_iter()
            .map(|id| async move { (id, service.measure(index.key(id)).await) });
        let mut answers = futures_util::stream::iter(calls).buffered(MAX_CONCURRENT);
        while let Some((id, answer)) = answers.next().await {
            asked += 1;
            match answer {
                Ok(mut vitals) => {
                    vitals.measured_at = job.engine.clock.now().to_string();
                    pages.push((id, vitals));
                }
                Err(error) => {
                    let ends = matches!(error, ProviderError::RateLimited(_) | ProviderError::Resting(_));
                    lost = Some(error.to_string());
                    if ends {
                        break;
                    }
                }
            }
        }
    }
    let measured = pages.len();
    ending.index.set_vitals(pages);
    Ok(json!({ "asked": asked, "measured": measured, "error": lost }))
}

/// Returns the home page and the indexable pages with the highest rank.
fn wanted(index: &SiteGraph, home: UrlId) -> Vec<UrlId> {
    let ids = (0..index.len() as u32).map(UrlId);
    let mut pages: Vec<UrlId> = ids
        .filter(|id| index.has(*id, PageFlags::INTERNAL) && index.has(*id, PageFlags::INDEXABLE))
        .collect();
    pages.sort_by(|a, b| {
        let first = (*b == home).cmp(&(*a == home));
        first.then(index.rank(*b).total_cmp(&index.rank(*a)))
    });
    pages.truncate(MAX_PAGES);
    pages
}
