//! Pages of the previous audit, for a crawl that makes conditional requests. Memory holds the batch of each page, 16 bytes each
//! (16 MB for a million pages, which no audit exceeds), and the few batches that are being read: pages come in much the same
//! order as last time.

use std::{collections::HashMap, fmt, future::Future, pin::Pin, sync::Arc};

use searchwright_contract::{audits::Audit, ids::AuditId};
use searchwright_failure::{Failure, defect};
use searchwright_site::{
    checks::Thresholds,
    crawl::{self, Batch},
    fetch::Validators,
    page::{PageFacts, READER},
};
use searchwright_store::{Db, access::ProjectScope, crawls};
use searchwright_text::hash;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use url::Url;

use crate::{
    page_texts,
    stored_batch::{compress, decompress, unpack},
};

/// Batches whose validators are read at once when an audit begins.
const BATCHES_PER_READ: u32 = 256;
/// Pages whose validators are kept, some 80 bytes each.
const MAX_LISTED_PAGES: usize = 4_096;
/// Pages whose facts are kept, some 10 kB each.
const MAX_CACHED_PAGES: usize = 768;

/// Stored form of the validators of the pages of a batch.
#[derive(Serialize, Deserialize)]
struct Saved {
    /// Fingerprint of the reader; see [`reader`].
    reader: u64,
    /// Validators by the hash of the URL, ascending.
    pages: Vec<(u64, Validators)>,
}

/// Returns the fingerprint of a reader of pages: its version, its `User-Agent`, to which servers may answer differently, and
/// the threshold of the project that is applied while a page is read.
pub fn reader(user_agent: &str, thresholds: &Thresholds) -> u64 {
    let words = thresholds.long_paragraph_words;
    hash(format!("{READER} {words} {user_agent}").as_bytes())
}

fn place(url: &str) -> u64 {
    hash(url.as_bytes())
}

/// Packs the validators of a batch; `None` if no page has any.
pub fn pack(batch: &Batch, reader: u64) -> Result<Option<Vec<u8>>, Failure> {
    let pages = batch.pages.iter().filter_map(|page| {
        let validators = page.facts.validators.as_deref()?;
        Some((place(&page.facts.url), validators.clone()))
    });
    let mut pages: Vec<_> = pages.collect();
    if pages.is_empty() {
        return Ok(None);
    }
    pages.sort_unstable_by_key(|(place, _)| *place);
    Ok(Some(compress(&Saved { reader, pages })?))
}

/// Cache of the batches used last: those that together have at most `most` pages, and at least one.
struct Recent<T> {
    most: usize,
    /// Number, count of pages, and content of each, the one used last at the end.
    batches: Vec<(u32, usize, T)>,
}

impl<T> Recent<T> {
    const fn new(most: usize) -> Self {
        Self {
            most,
            batches: Vec::new(),
        }
    }

    fn has(&mut self, number: u32) -> bool {
        let at = self.batches.iter().position(|(kept, ..)| *kept == number);
        if let Some(at) = at {
            self.batches[at..].rotate_left(1);
        }
        at.is_some()
    }

    fn put(&mut self, number: u32, pages: usize, batch: T) {
        let mut room = self.most.saturating_sub(pages);
        let newest = self.batches.iter().rev();
        let kept =
            newest.take_while(|(_, pages, _)| room.checked_sub(*pages).map(|left| room = left).is_some());
        let from = self.batches.len() - kept.count();
        self.batches.drain(..from);
        self.batches.push((number, pages, batch));
    }

    fn last(&mut self) -> Option<&mut T> {
        self.batches.last_mut().map(|(.., batch)| batch)
    }
}

/// A page that was read, and whether it has its text.
type Read = (PageFacts, bool);

/// Pages of an audit by their URLs.
pub struct Earlier {
    db: Db,
    scope: ProjectScope,
    audit: AuditId,
    /// The batch of each page by the hash of its URL, ascending.
    places: Vec<(u64, u32)>,
    /// Count of batches whose texts were kept; these are the first ones.
    with_texts: u32,
    /// Texts that the running audit keeps.
    texts: page_texts::TextBudget,
    lists: Mutex<Recent<Vec<(u64, Validators)>>>,
    batches: Mutex<Recent<HashMap<u64, Read>>>,
}

impl fmt::Debug for Earlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Earlier")
            .field("audit", &self.audit)
            .field("pages", &self.places.len())
            .finish_non_exhaustive()
    }
}

/// Loads the places of the pages that the previous audit read; `None` if none can be reused.
pub async fn load(
    db: &Db,
    scope: ProjectScope,
    audit: &Audit,
    reader: u64,
    texts: page_texts::TextBudget,
) -> Result<Option<Arc<dyn crawl::PreviousCrawl>>, Failure> {
    let Some(previous) = audit.previous_audit_id else {
        return Ok(None);
    };
    let (mut places, mut from) = (Vec::new(), 0);
    loop {
        let lists =
            crawls::list_validators(&mut db.read().await?, scope, previous, from, BATCHES_PER_READ).await?;
        let Some((last, _)) = lists.last() else { break };
        from = last + 1;
        let found = tokio::task::spawn_blocking(move || found(&lists, reader));
        places.append(&mut found.await.map_err(|e| defect("validators", e))?);
    }
    if places.is_empty() {
        return Ok(None);
    }
    places.sort_unstable();
    places.shrink_to_fit();
    let with_texts = crawls::count_batches_with_texts(&mut db.read().await?, scope, previous).await?;
    Ok(Some(Arc::new(Earlier {
        db: db.clone(),
        scope,
        audit: previous,
        places,
        with_texts,
        texts,
        lists: Mutex::new(Recent::new(MAX_LISTED_PAGES)),
        batches: Mutex::new(Recent::new(MAX_CACHED_PAGES)),
    })))
}

/// Returns the batches of the pages that this reader has read, by URL hash. Lists of other readers may have another form and are
/// skipped.
fn found(lists: &[(u32, Vec<u8>)], reader: u64) -> Vec<(u64, u32)> {
    let mut places = Vec::new();
    for (number, data) in lists {
        if let Ok(list) = decompress::<Saved>(data)
            && list.reader == reader
        {
            places.extend(list.pages.iter().map(|(place, _)| (*place, *number)));
        }
    }
    places
}

impl Earlier {
    fn batch(&self, place: u64) -> Option<u32> {
        let at = self.places.partition_point(|(known, _)| *known < place);
        let (known, number) = self.places.get(at)?;
        (*known == place).then_some(*number)
    }

    /// Returns whether the running audit keeps the texts of pages that it fetches now.
    fn keeps_texts(&self) -> bool {
        self.texts.goes_on()
    }

    async fn find_validators(&self, url: &str) -> Result<Option<Validators>, Failure> {
        let place = place(url);
        let Some(number) = self.batch(place) else {
            return Ok(None);
        };
        // its text would be missing
        if self.keeps_texts() && number >= self.with_texts {
            return Ok(None);
        }
        let mut lists = self.lists.lock().await;
        if !lists.has(number) {
            let mut tx = self.db.read().await?;
            let found = crawls::list_validators(&mut tx, self.scope, self.audit, number, 1).await?;
            let data = found.first().filter(|(found, _)| *found == number);
            let list = data.map(|(_, data)| decompress::<Saved>(data)).transpose()?;
            let pages = list.map_or_else(Vec::new, |list| list.pages);
            lists.put(number, pages.len(), pages);
        }
        let list = lists.last().map_or(&[][..], |list| list);
        let at = list.binary_search_by_key(&place, |(place, _)| *place);
        Ok(at.ok().map(|at| list[at].1.clone()))
    }

    async fn find_facts(&self, url: &str) -> Result<Option<PageFacts>, Failure> {
        let place = place(url);
        let Some(number) = self.batch(place) else {
            return Ok(None);
        };
        let mut batches = self.batches.lock().await;
        if !batches.has(number) {
            let batch = self.load(number).await?;
            batches.put(number, batch.len(), batch);
        }
        let found = batches.last().and_then(|batch| batch.remove(&place));
        Ok(found
            .filter(|(_, with_text)| *with_text || !self.keeps_texts())
            .map(|(facts, _)| facts))
    }

    async fn load(&self, number: u32) -> Result<HashMap<u64, Read>, Failure> {
        let data = crawls::find_batch(&mut self.db.read().await?, self.scope, self.audit, number).await?;
        let Some(data) = data else {
            return Ok(HashMap::new());
        };
        let mut texts = if number < self.with_texts {
            page_texts::load(&self.db, self.scope, self.audit, number).await?
        } else {
            HashMap::new()
        };
        let read = tokio::task::spawn_blocking(move || {
            let pages = unpack(&data)?.pages;
            let whole = pages.into_iter().filter(|page| page.html_200().is_some());
            let read = whole.map(|mut page| {
                let text = texts.remove(&page.id);
                let with_text = text.is_some();
                if let (Some(html), Some(text)) = (&mut page.html, text) {
                    html.main_text = text.into();
                }
                (place(&page.url), (page, with_text))
            });
            Ok::<_, Failure>(read.collect())
        });
        read.await.map_err(|e| defect("saved batch", e))?
    }
}

/// Maps a read error to `None`, so that the page is fetched.
fn or_none<T>(found: Result<Option<T>, Failure>) -> Option<T> {
    found.unwrap_or_else(|error| {
        tracing::warn!(?error, "cannot read what the last audit read");
        None
    })
}

impl crawl::PreviousCrawl for Earlier {
    fn validators(&self, url: &Url) -> Pin<Box<dyn Future<Output = Option<Validators>> + Send + '_>> {
        let url = url.as_str().to_owned();
        Box::pin(async move { or_none(self.find_validators(&url).await) })
    }

    fn facts(&self, url: &Url) -> Pin<Box<dyn Future<Output = Option<PageFacts>> + Send + '_>> {
        let url = url.as_str().to_owned();
        Box::pin(async move { or_none(self.find_facts(&url).await) })
    }
}

#[cfg(test)]
mod tests {
    use searchwright_site::{
        crawl::CrawledPage,
        page::{At, Outcome},
    };

    use super::*;

    fn batch(urls: &[&str]) -> Batch {
        let page = |url: &&str| CrawledPage {
            facts: PageFacts {
                validators: url.ends_with("v").then(|| {
                    Box::new(Validators {
                        etag: Some("\"a\"".into()),
                        last_modified: None,
                        read_at_ms: 1,
                    })
                }),
                ..PageFacts::without_answer(&Url::parse(url).unwrap(), At::default(), Outcome::Status(200))
            },
            depth: None,
        };
        Batch {
            pages: urls.iter().map(page).collect(),
            ..Batch::default()
        }
    }

    #[test]
    fn only_what_the_same_reader_read_is_found() {
        let by = |agent| reader(agent, &Thresholds::default());
        let packed = |urls: &[&str], agent| pack(&batch(urls), by(agent)).unwrap();
        let (a, b) = ("https://e.example/a?v", "https://e.example/b?v");
        let lists = [
            (3, packed(&[a, "https://e.example/none", b], "one").unwrap()),
            (4, packed(&["https://e.example/c?v"], "two").unwrap()),
            (5, b"what another release wrote".to_vec()),
        ];
        let mut expected = vec![(place(a), 3), (place(b), 3)];
        expected.sort_unstable();
        assert_eq!(found(&lists, by("one")), expected);
        assert_eq!(found(&lists, by("two")).len(), 1);
        assert_eq!(found(&lists, by("three")), []);
        assert_eq!(packed(&["https://e.example/none"], "one"), None);
    }

    #[test]
    fn what_was_used_last_is_kept() {
        let mut recent = Recent::new(64);
        for number in [1, 2] {
            assert!(!recent.has(number));
            recent.put(number, 32, number * 10);
        }
        assert!(recent.has(1));
        assert_eq!(recent.last(), Some(&mut 10));
        recent.put(3, 16, 30);
        let kept = |recent: &mut Recent<u32>| [1, 2, 3, 4].map(|number| recent.has(number));
        assert_eq!(kept(&mut recent), [true, false, true, false]);
        recent.put(4, 256, 40);
        assert_eq!(kept(&mut recent), [false, false, false, true], "one in any case");
    }
}
