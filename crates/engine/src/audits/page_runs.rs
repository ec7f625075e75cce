//! Runs of words of crawled pages, read back to tell how alike pages are: of most pages nobody asks for them.

use std::{collections::HashSet, sync::Arc};

use searchwright_site::{graph::KnownRuns, page::UrlId};
use searchwright_store::{Db, access::ProjectScope, crawls};
use uuid::Uuid;

use super::{batches::unpack_tokens, recheck::OVERLAY};
use crate::{failure::defect, jobs::JobError};

/// Those of some pages of an audit, as they were saved last.
pub(super) async fn load(
    db: &Db,
    scope: ProjectScope,
    audit: Uuid,
    pages: &[UrlId],
) -> Result<KnownRuns, JobError> {
    let wanted: Arc<HashSet<UrlId>> = Arc::new(pages.iter().copied().collect());
    let mut known = KnownRuns::default();
    // they are kept where texts are, and of pages that were fetched again
    let first = crawls::count_batches_with_texts(&mut db.read().await?, scope, audit).await?;
    for number in (0..first).chain(OVERLAY..) {
        let Some(data) = crawls::find_batch(&mut db.read().await?, scope, audit, number).await? else {
            break;
        };
        let wanted = wanted.clone();
        let found = tokio::task::spawn_blocking(move || unpack_tokens(&data, |page| wanted.contains(&page)));
        for (page, tokens) in found.await.map_err(|e| defect("saved tokens", e))?? {
            known.add(page, &tokens);
        }
    }
    Ok(known)
}
