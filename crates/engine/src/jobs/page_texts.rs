//! Main texts of crawled pages. They are saved beside the facts of their batch, because an evaluation holds the facts
//! of many pages at once and needs none of the texts.

use std::collections::HashMap;

use searchwright_site::{crawl::Batch, page::UrlId};
use searchwright_store::{Db, access::ProjectScope, crawls};
use uuid::Uuid;

use super::JobError;
use crate::failure::defect;

/// Batches whose texts are kept: some 2,000 pages, those nearest to the start, which is what a site is about.
const MOST_BATCHES: u32 = 8;

/// Whether the texts of a batch are kept.
pub(super) const fn are_kept(number: u32) -> bool {
    number < MOST_BATCHES
}

/// The texts of a batch as they are stored, if they are kept.
pub(super) fn pack(batch: &Batch, number: u32) -> Result<Option<Vec<u8>>, JobError> {
    if !are_kept(number) {
        return Ok(None);
    }
    let texts: Vec<(UrlId, &str)> = batch
        .pages
        .iter()
        .filter_map(|page| Some((page.facts.id, &*page.facts.html_200()?.main_text)))
        .collect();
    let plain = postcard::to_stdvec(&texts).map_err(|e| defect("texts", e))?;
    Ok(Some(lz4_flex::compress_prepend_size(&plain)))
}

/// The texts of a saved batch, by page; none where they were not kept.
pub(super) async fn load(
    db: &Db,
    scope: ProjectScope,
    audit: Uuid,
    number: u32,
) -> Result<HashMap<UrlId, String>, JobError> {
    let Some(data) = crawls::texts(&mut db.read().await?, scope, audit, number).await? else {
        return Ok(HashMap::new());
    };
    let plain = lz4_flex::decompress_size_prepended(&data).map_err(|e| defect("saved texts", e))?;
    let texts: Vec<(UrlId, String)> = postcard::from_bytes(&plain).map_err(|e| defect("saved texts", e))?;
    Ok(texts.into_iter().collect())
}
