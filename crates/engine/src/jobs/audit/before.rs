//! What is known of a site before it is crawled again.

use std::time::Duration;

use searchwright_contract::{Instant, audits::Audit};
use searchwright_site::{origin::File, urls::provenance};
use searchwright_store::{Db, audits, crawls, pages, posts};

use super::{
    super::{JobError, batches::unpack, named::key, worker::Run},
    ORIGIN_LASTS_MILLIS, previous,
};

/// What is left at least to an audit that goes on, so that it finds its place among what it had saved.
const LEFT: Duration = Duration::from_secs(60);

/// How long an audit has been going on, interruptions included: its longest time counts from its start.
pub(super) fn elapsed(audit: &Audit, now: Instant, longest: Duration) -> Duration {
    let since = audit.started_at.map_or(0, |at| now.millis() - at.millis());
    Duration::from_millis(u64::try_from(since).unwrap_or(0)).min(longest.saturating_sub(LEFT))
}

/// robots.txt as the audit before this one has seen it, as long as that may be used (RFC 9309 section 2.4).
pub(super) async fn robots_copy(run: &Run, db: &Db, audit: &Audit) -> Result<Option<File>, JobError> {
    let scope = run.leased.scope;
    let Some(previous) = previous(audit) else {
        return Ok(None);
    };
    let seen = audits::get(&mut db.read().await?, scope, previous)
        .await?
        .started_at;
    let age = run.engine.clock.now().millis() - seen.map_or(0, |at| at.millis());
    if age >= ORIGIN_LASTS_MILLIS {
        return Ok(None);
    }
    let first = crawls::load(&mut db.read().await?, scope, previous, 0).await?;
    let Some(first) = first else { return Ok(None) };
    let (origin, ..) = unpack(&first)?;
    // a copy is not copied on
    let answered = |file: &File| file.status.is_some_and(|status| status < 500 && status != 429);
    Ok(origin.map(|origin| origin.robots).filter(answered))
}

/// Pages that are known from before, so that a page that nothing links to any more is seen to be there or gone.
pub(super) async fn seeds(run: &Run, db: &Db, most: u32) -> Result<Vec<(String, u8)>, JobError> {
    let scope = run.leased.scope;
    let posts = posts::published_urls(&mut db.read().await?, scope, most).await?;
    let pages = pages::seeds(&mut db.read().await?, scope, most).await?;
    // without what was added to follow visitors: the page is fetched as its own links name it
    let posts = posts.iter().filter_map(|url| Some((key(url)?, provenance::POST)));
    Ok(posts
        .chain(pages.into_iter().map(|url| (url, provenance::PREVIOUS)))
        .collect())
}
