//! Places of URLs in the stored crawl of an audit, with the pages that link to each. Written once when a crawl has ended, so
//! that a page can be shown with its links without reading the whole crawl.

use std::mem::take;

use searchwright_contract::ids::{AuditId, PageId};
use searchwright_failure::{Failure, Result};
use searchwright_site::{
    graph::{PageFlags, SiteGraph, State},
    page::UrlId,
    url_key::url_key,
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    page_links::{self, LinkChunk},
};
use serde::{Deserialize, Serialize};
use url::Url;
use uuid::Uuid;

use crate::{
    ids::{PageIds, page_id},
    stored_batch::{compress, decompress},
};

/// Linking pages that are shown of a page, at most.
pub const MAX_SHOWN: usize = 50;
/// URLs in a chunk.
const URLS_PER_CHUNK: usize = 256;
/// Chunks written in one transaction.
const CHUNKS_PER_WRITE: usize = 64;
/// URLs that are sorted together, roughly; sorting all of a very large site at once would take much memory.
const RANGE: usize = 4 * URLS_PER_CHUNK * CHUNKS_PER_WRITE;

/// Numbers of the batches of fetched URLs, by URL id.
#[derive(Debug, Default)]
pub struct Batches(Vec<u32>);

/// Batch number of a URL that was not fetched.
const NO_BATCH: u32 = u32::MAX;

impl Batches {
    /// Stores the batch number of a page.
    pub fn insert(&mut self, id: UrlId, number: u32) {
        let place = id.0 as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, NO_BATCH);
        }
        self.0[place] = number;
    }

    fn get(&self, id: UrlId) -> Option<u32> {
        let batch = self.0.get(id.0 as usize).copied();
        batch.filter(|number| *number != NO_BATCH)
    }
}

/// Place of a fetched URL in the stored crawl, with its links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    page: PageId,
    /// Its id in the crawl.
    pub id: UrlId,
    /// The batch that holds its facts.
    pub batch: u32,
    /// Status; 0 without an answer.
    pub status: u16,
    /// robots.txt forbids it.
    pub blocked: bool,
    /// It belongs to the site.
    pub internal: bool,
    /// Bits of [`searchwright_site::urls::provenance`].
    pub provenance: u8,
    /// Count of pages that link to it.
    pub inlinks: u32,
    /// Batch and id of the linking pages, at most [`MAX_SHOWN`] of them.
    pub sources: Vec<(u32, UrlId)>,
}

impl Place {
    /// Returns the count of other pages that link to it.
    pub fn others(&self) -> u32 {
        let own = self.sources.iter().filter(|(_, id)| *id == self.id).count();
        self.inlinks.saturating_sub(own as u32)
    }
}

fn place(index: &SiteGraph, batches: &Batches, page: PageId, id: UrlId, batch: u32) -> Place {
    let internal = index.has(id, PageFlags::INTERNAL);
    let inlinks = index.inlinks(id);
    Place {
        page,
        id,
        batch,
        status: index.status(id).unwrap_or(0),
        blocked: index.state(id) == State::Blocked,
        internal,
        provenance: index.provenance(id),
        inlinks: inlinks.len() as u32,
        sources: inlinks
            .filter_map(|(source, _)| Some((batches.get(source)?, source)))
            .take(MAX_SHOWN)
            .collect(),
    }
}

/// A fetched URL: its page id, its id in the crawl, and the batch that holds it.
pub type Fetched = (PageId, UrlId, u32);

/// Gives the fetched URLs of a crawl in the order of page ids, in portions for one write each; true with the first one. Stops
/// when `give` returns false.
pub fn send_fetched(
    index: &SiteGraph,
    batches: &Batches,
    ids: &PageIds,
    give: &mut dyn FnMut((Vec<Fetched>, bool)) -> bool,
) {
    let mut first = true;
    orders(index, batches, ids, RANGE).all(|order| {
        let mut some = order.chunks(URLS_PER_CHUNK * CHUNKS_PER_WRITE);
        some.all(|urls| give((urls.to_vec(), take(&mut first))))
    });
}

/// Yields the fetched URLs (page id, URL id, batch) in the order of page ids, about `about` at a time.
fn orders(
    index: &SiteGraph,
    batches: &Batches,
    ids: &PageIds,
    about: usize,
) -> impl Iterator<Item = Vec<Fetched>> {
    let ranges = index.len().div_ceil(about).max(1) as u128;
    let range = move |page: PageId| ((page.uuid().as_u128() >> 64) * ranges) >> 64;
    (0..ranges).map(move |wanted| {
        let all = (0..index.len() as u32).map(UrlId);
        let fetched = all.filter_map(|id| Some((ids.get(id), id, batches.get(id)?)));
        let mut order: Vec<_> = fetched.filter(|(page, ..)| range(*page) == wanted).collect();
        order.sort_unstable();
        order
    })
}

/// Packs the places of fetched URLs in chunks.
pub fn pack(index: &SiteGraph, batches: &Batches, order: &[Fetched]) -> Result<Vec<LinkChunk>> {
    let pack = |urls: &[Fetched]| {
        let places: Vec<Place> = urls
            .iter()
            .map(|(page, id, batch)| place(index, batches, *page, *id, *batch))
            .collect();
        Ok((
            places.first().map_or(PageId::MIN, |place| place.page),
            compress(&places)?,
        ))
    };
    order.chunks(URLS_PER_CHUNK).map(pack).collect()
}

/// Returns the page id of a URL, fetched or not.
pub fn page_of(project: Uuid, url: &Url) -> PageId {
    page_id(project, &url_key(url))
}

/// Finds the places of pages in the crawl of an audit, in the order of `pages`; `None` for a page that was not fetched.
pub async fn find(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    pages: &[PageId],
) -> Result<Vec<Option<Place>>, Failure> {
    let firsts = page_links::list_first_ids(tx, scope, audit).await?;
    let portion = |page: &PageId| firsts.partition_point(|first| first <= page).checked_sub(1);
    let mut wanted: Vec<usize> = pages.iter().filter_map(portion).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let asked = wanted.iter().map(|at| firsts[*at]).collect();
    let mut found = vec![None; pages.len()];
    for (at, data) in wanted
        .into_iter()
        .zip(page_links::find_chunks(tx, scope, audit, asked).await?)
    {
        let Some(data) = data else { continue };
        let places: Vec<Place> = decompress(&data)?;
        for (page, found) in pages.iter().zip(&mut found) {
            if portion(page) == Some(at) {
                let place = places.binary_search_by_key(page, |place| place.page).ok();
                *found = place.map(|place| places[place].clone());
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::index;

    #[test]
    fn what_was_fetched_comes_by_page_and_once() {
        let (index, mut batches) = (index(1_000), Batches::default());
        let fetched = (0..1_000).filter(|id| id % 7 != 3).map(UrlId);
        fetched.clone().for_each(|id| batches.insert(id, id.0 / 100));
        let ids = PageIds::default().complete(Uuid::nil(), &index, 2);
        let mut right: Vec<_> = fetched.map(|id| (ids.get(id), id, id.0 / 100)).collect();
        right.sort_unstable();
        for about in [1, 64, 999, 1_000_000] {
            let orders: Vec<_> = orders(&index, &batches, &ids, about).collect();
            assert_eq!(orders.len(), 1_000_usize.div_ceil(about));
            assert_eq!(orders.concat(), right, "{about}");
        }
    }
}
