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

/// Returns the part of `longest` that an audit has used, which has run for so many milliseconds: at most `longest` less
/// [`MIN_TIME_LEFT`]. Time for which it waited for a place does not count.
pub(super) fn elapsed(ran_millis: i64, longest: Duration) -> Duration {
    let ran = u64::try_from(ran_millis).unwrap_or(0);
    Duration::from_millis(ran).min(longest.saturating_sub(MIN_TIME_LEFT))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_audit_has_the_time_that_it_did_not_run() {
        let longest = Duration::from_hours(2);
        for (ran_millis, used_secs) in [(0, 0), (90_000, 90), (7_140_000, 7_140), (9_000_000, 7_140)] {
            assert_eq!(elapsed(ran_millis, longest), Duration::from_secs(used_secs));
        }
    }
}
