//! Main texts of crawled pages. They are saved separately from the facts of their batch, because an evaluation holds the
//! facts of many pages at once and needs none of the texts.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
};

use searchwright_contract::ids::AuditId;
use searchwright_failure::Failure;
use searchwright_site::{
    crawl::Batch,
    page::{PageFacts, UrlId},
};
use searchwright_store::{Db, access::ProjectScope, crawls};

use crate::stored_batch::{compress, decompress};

/// Pages of an audit whose texts are kept: those nearest to the start, which is what a site is about.
const MAX_PAGES: u32 = 2_000;

/// Counter of the pages of an audit that were saved with their texts. It counts pages, because batches of a slow site have only
/// one or two.
#[derive(Clone, Debug)]
pub struct TextBudget {
    pages: Arc<AtomicU32>,
    goes_on: Arc<AtomicBool>,
}

impl Default for TextBudget {
    fn default() -> Self {
        Self {
            pages: Arc::default(),
            goes_on: Arc::new(AtomicBool::new(true)),
        }
    }
}

impl TextBudget {
    /// Returns the shared flag that says whether the texts of pages that are read now are wanted, for the next batch.
    pub const fn wanted(&self) -> &Arc<AtomicBool> {
        &self.goes_on
    }

    /// Returns the current value of the flag [`Self::wanted`].
    pub fn goes_on(&self) -> bool {
        self.goes_on.load(Relaxed)
    }

    /// Counts the pages of a saved batch, and returns whether its texts are kept.
    pub fn record_batch<'p>(&self, pages: impl Iterator<Item = &'p PageFacts>) -> bool {
        let goes_on = self.goes_on();
        if goes_on {
            let more = pages.filter(|page| page.html_200().is_some()).count();
            let pages = self.pages.fetch_add(more as u32, Relaxed) + more as u32;
            self.goes_on.store(pages < MAX_PAGES, Relaxed);
        }
        goes_on
    }
}

/// Returns the stored form of the texts of a batch.
pub fn pack(batch: &Batch) -> Result<Vec<u8>, Failure> {
    let texts: Vec<(UrlId, &str)> = batch
        .pages
        .iter()
        .filter_map(|page| Some((page.facts.id, &*page.facts.html_200()?.main_text)))
        .collect();
    compress(&texts)
}

/// Loads the texts of a saved batch, by page; none if they were not kept.
pub async fn load(
    db: &Db,
    scope: ProjectScope,
    audit: AuditId,
    number: u32,
) -> Result<HashMap<UrlId, String>, Failure> {
    let Some(data) = crawls::find_texts(&mut db.read().await?, scope, audit, number).await? else {
        return Ok(HashMap::new());
    };
    let texts: Vec<(UrlId, String)> = decompress(&data)?;
    Ok(texts.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use searchwright_site::page::{At, Outcome};
    use url::Url;

    use super::*;

    #[test]
    fn texts_of_as_many_pages_are_kept_whatever_their_batches() {
        let url = Url::parse("https://example.com/").unwrap();
        let without = PageFacts::without_answer(&url, At::default(), Outcome::Status(200));
        let page = PageFacts {
            html: Some(Box::default()),
            ..without.clone()
        };
        for of_batch in [1, 2, 10, 64] {
            let batch = vec![page.clone(); of_batch];
            let kept = TextBudget::default();
            let with_texts = (0..5_000).filter(|_| kept.record_batch(batch.iter())).count();
            assert_eq!(with_texts, (MAX_PAGES as usize).div_ceil(of_batch), "{of_batch}");
            assert!(!kept.goes_on());
        }
        let kept = TextBudget::default();
        assert!((0..5_000).all(|_| kept.record_batch(std::iter::once(&without))));
    }
}
