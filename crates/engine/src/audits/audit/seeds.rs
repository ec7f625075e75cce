//! Knowledge of a site from before its crawl: the robots.txt copy, seeds and the time used.

use std::time::Duration;

use searchwright_contract::{Instant, audits::Audit};
use searchwright_crawls::ids::url_key_of;
use searchwright_site::{urls::provenance, well_known::WellKnownFile};
use searchwright_store::{crawls, pages, posts};

use super::ORIGIN_LASTS_MILLIS;
use crate::{
    failure::defect,
    jobs::{JobContext, JobError},
};

/// Minimum time left to a resumed audit, so that it can read what it had saved.
const MIN_TIME_LEFT: Duration = Duration::from_secs(60);

/// Returns the time since the start of an audit, interruptions included, because `longest` counts from the start; at most
/// `longest` less [`MIN_TIME_LEFT`].
pub(super) fn elapsed(audit: &Audit, now: Instant, longest: Duration) -> Duration {
    let since = audit.started_at.map_or(0, |at| now.millis() - at.millis());
    Duration::from_millis(u64::try_from(since).unwrap_or(0)).min(longest.saturating_sub(MIN_TIME_LEFT))
}

/// Returns the last answer for robots.txt while it may still be used (RFC 9309 section 2.4).
pub(super) async fn robots_copy(job: &JobContext) -> Result<Option<WellKnownFile>, JobError> {
    let db = &job.engine.db;
    let kept = crawls::find_robots(&mut db.read().await?, job.leased.scope).await?;
    let is_usable = |seen: Instant| job.engine.clock.now().millis() - seen.millis() < ORIGIN_LASTS_MILLIS;
    let Some((_, data)) = kept.filter(|(seen, _)| is_usable(*seen)) else {
        return Ok(None);
    };
    let copy = postcard::from_bytes(&data).map_err(|e| defect("copy of robots.txt", e))?;
    Ok(Some(copy))
}

/// Keeps what the site of an audit answered; a copy that was used in its place is not copied on.
pub(super) async fn keep_robots(
    job: &JobContext,
    audit: &Audit,
    file: &WellKnownFile,
) -> Result<(), JobError> {
    let answered = file.status.is_some_and(|status| status < 500 && status != 429);
    if !answered {
        return Ok(());
    }
    // the saved answer does not say when it was fetched: not before this
    let seen = audit.requested_at;
    let data = postcard::to_stdvec(file).map_err(|e| defect("copy of robots.txt", e))?;
    job.write_fenced(move |tx, scope| {
        Box::pin(async move { crawls::save_robots(tx, scope, seen, data).await })
    })
    .await
}

/// Pages that are known from before, so that a page that nothing links to any more is seen to be there or gone.
pub(super) async fn list_seeds(job: &JobContext, most: u32) -> Result<Vec<(String, u8)>, JobError> {
    let db = &job.engine.db;
    let scope = job.leased.scope;
    let posts = posts::list_published_urls(&mut db.read().await?, scope, most).await?;
    let pages = pages::list_seeds(&mut db.read().await?, scope, most).await?;
    // without what was added to follow visitors: the page is fetched as its own links name it
    let posts = posts
        .iter()
        .filter_map(|url| Some((url_key_of(url)?, provenance::POST)));
    Ok(posts
        .chain(pages.into_iter().map(|url| (url, provenance::PREVIOUS)))
        .collect())
}
