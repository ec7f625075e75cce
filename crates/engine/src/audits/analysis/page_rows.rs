//! Data of the rows of pages that the graph of a crawl lacks, collected during the crawl, so that the rows can be written while
//! checks are evaluated. They are written in the order of their ids, so that each leaf of the tree is written once. Until then
//! they are compressed, because a very large site has many.

use searchwright_contract::{Instant, ids::PageId, pages::Page};
use searchwright_crawls::{
    ids::{PageIds, page_id},
    sorted_spill::{SortedSpill, send_portions},
    url_order::UrlOrder,
};
use searchwright_site::{
    fetch::FetchError,
    graph::{PageFlags, SiteGraph},
    page::{NotIndexable, Outcome, PageFacts, UrlId, not_indexable},
    score,
    url_key::key_of,
};
use searchwright_store::pages::PageRow;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::jobs::JobError;

/// Parts in which pages are kept, by the first byte of their ids. With a million pages, a part has about 8,000.
const PARTS: usize = 128;
/// Bytes of rows above which they are compressed.
const MAX_OPEN_BYTES: usize = 2 << 20;

/// Data of a page for its row.
#[derive(Debug, Serialize, Deserialize)]
struct RowDraft {
    id: UrlId,
    /// URL as fetched, if it differs from its key.
    url: Option<Box<str>>,
    status: Option<u16>,
    failure: Option<Box<str>>,
    outlinks: Option<u32>,
    not_indexable: Option<Box<str>>,
    title: Option<Box<str>>,
    words: Option<u32>,
    crawled_ms: i64,
    /// Whether it counts in the score.
    is_scored: bool,
    /// Whether it counts in the score if it gave no answer in the previous audit either.
    is_scored_if_silent: bool,
}

impl RowDraft {
    fn new(facts: &PageFacts, key: &str) -> Self {
        let html = facts.html.as_deref();
        let failure = match &facts.outcome {
            Outcome::Failed(error) => Some(failure_code(error)),
            Outcome::Blocked(_) => Some("blocked"),
            Outcome::Status(_) | Outcome::Redirect { .. } => None,
        };
        Self {
            id: facts.id,
            url: (*facts.url != *key).then(|| facts.url.clone()),
            status: facts.status(),
            failure: failure.map(Into::into),
            outlinks: html.map(|html| html.links_total),
            not_indexable: not_indexable(facts).map(|why| why.code().into()),
            title: html.and_then(|html| html.titles.first().cloned()),
            words: html.map(|html| html.main_words),
            crawled_ms: facts.fetched_at_ms,
            is_scored: score::is_scored(facts, false),
            is_scored_if_silent: score::is_scored(facts, true),
        }
    }

    fn into_row(self, id: PageId, index: &SiteGraph) -> PageRow {
        let hops = index.hops(self.id);
        let last = hops.urls.last().copied().unwrap_or(self.id);
        let url = self.url.unwrap_or_else(|| index.key(self.id).into());
        let last = if last == self.id { &url } else { index.key(last) };
        let indexable = index.has(self.id, PageFlags::INDEXABLE);
        let followed = index.inlinks(self.id).filter(|(_, nofollow)| !nofollow);
        let reason = self
            .not_indexable
            .as_deref()
            .unwrap_or(NotIndexable::Blocked.code());
        PageRow {
            id,
            page: Page {
                id,
                final_url: (self.status.is_some() && !hops.looped).then(|| last.to_owned()),
                url: url.into(),
                status_code: self.status,
                failure: self.failure.map(Into::into),
                depth: index.depth(self.id),
                inlinks: followed.count() as u32,
                outlinks: self.outlinks,
                link_score: index.link_score(self.id),
                indexable,
                non_indexable_reason: (!indexable).then(|| reason.to_owned()),
                title: self.title.map(Into::into),
                word_count: self.words,
                last_crawled_at: Instant::default(),
            },
            crawled_at: Instant::from_millis(self.crawled_ms),
            scored: score::counts_apart(index, self.id)
                && if index.was_silent(self.id) {
                    self.is_scored_if_silent
                } else {
                    self.is_scored
                },
            rank: f64::from(index.rank(self.id)),
        }
    }
}

/// Returns the code of the contract for a missing answer.
const fn failure_code(error: &FetchError) -> &'static str {
    match error {
        FetchError::Denied => "denied",
        FetchError::Dns => "dns",
        FetchError::Connect => "connect",
        FetchError::Tls | FetchError::Certificate(_) => "tls",
        FetchError::Timeout => "timeout",
        FetchError::Broken => "broken",
    }
}

/// Data of the rows of all pages of a crawl.
#[derive(Debug)]
pub(super) struct PageRows {
    project: Uuid,
    drafts: SortedSpill<RowDraft>,
}

impl PageRows {
    pub(super) const fn new(project: Uuid) -> Self {
        Self {
            project,
            drafts: SortedSpill::new(MAX_OPEN_BYTES),
        }
    }

    /// Adds a page and returns its id.
    pub(super) fn insert(&mut self, facts: &PageFacts) -> Result<PageId, JobError> {
        let key = key_of(&facts.url);
        let id = page_id(self.project, &key);
        let part = usize::from(id.uuid().as_bytes()[0]) * PARTS / 256;
        self.drafts.push(part, &RowDraft::new(facts, &key))?;
        Ok(id)
    }

    /// Sends the rows of the pages of the site in portions of at most `limit`, in the order of their ids, until the receiver
    /// refuses one. Returns the pages with their URLs, for the list.
    pub(super) fn send(
        self,
        index: &SiteGraph,
        ids: &PageIds,
        limit: usize,
        send: &mut dyn FnMut(Vec<PageRow>) -> bool,
    ) -> Result<UrlOrder, JobError> {
        let mut urls = UrlOrder::default();
        let parts = self.drafts.into_sorted(|draft| ids.get(draft.id));
        let parts = parts.map(|drafts| {
            let mut drafts = drafts?;
            drafts.retain(|draft| index.has(draft.id, PageFlags::INTERNAL));
            let row = |draft: RowDraft| {
                let id = ids.get(draft.id);
                urls.add(draft.id, draft.url.as_deref());
                draft.into_row(id, index)
            };
            Ok(drafts.into_iter().map(row).collect())
        });
        send_portions(parts, limit, send)?;
        Ok(urls)
    }
}

#[cfg(test)]
mod tests {
    use searchwright_site::{
        graph::{CrawlSummary, GraphBuilder},
        origin::Origin,
        page::{At, HtmlFacts},
        urls::UrlTable,
    };
    use url::Url;

    use super::*;

    fn facts(id: UrlId, url: &str, outcome: Outcome) -> PageFacts {
        let at = At {
            id,
            attempts: 1,
            fetched_at_ms: 1_700_000_000_000 + i64::from(id.0),
        };
        let html = (outcome == Outcome::Status(200)).then(|| HtmlFacts {
            titles: vec![format!("Page {} of a shop that has desks, chairs and lamps", id.0).into()],
            main_words: id.0,
            links_total: 3,
            ..HtmlFacts::default()
        });
        PageFacts {
            html: html.map(Box::new),
            ..PageFacts::without_answer(&Url::parse(url).unwrap(), at, outcome)
        }
    }

    /// A crawl of so many pages, and of one on another site.
    fn crawl(pages: u32) -> (SiteGraph, Vec<PageFacts>) {
        let (mut table, mut builder) = (UrlTable::new(1_000_000), GraphBuilder::default());
        let mut all = Vec::new();
        for number in 0..=pages {
            // the URL as fetched is not the key of all of them
            let url = match number {
                1 => "https://example.com/?b=1&a=2".to_owned(),
                _ if number % 3 == 2 && number > 9 => format!("https://example.com/%d0%b0?b=1&a={number}"),
                _ if number == pages => "https://elsewhere.example/".to_owned(),
                _ => format!("https://example.com/{number}"),
            };
            let id = table.add_url(&Url::parse(&url).unwrap()).unwrap();
            let outcome = match number {
                2 => Outcome::Failed(FetchError::Timeout),
                3 => Outcome::Blocked("/3".into()),
                4 => Outcome::Redirect {
                    status: 301,
                    location: Some("/5".into()),
                    target: Some(UrlId(5)),
                },
                6 => Outcome::Status(404),
                _ => Outcome::Status(200),
            };
            all.push(facts(id, &url, outcome));
            if number < pages {
                builder.set_internal(id);
            }
        }
        all.iter().for_each(|page| builder.add(page));
        let index = builder.finish(
            table,
            CrawlSummary {
                depths: vec![0],
                origin: &Origin::default(),
                traps: Vec::new(),
                complete: true,
            },
        );
        (index, all)
    }

    #[test]
    fn rows_come_in_the_order_of_ids() {
        let project = Uuid::from_u128(7);
        let (index, pages) = crawl(30_000);
        let mut rows = PageRows::new(project);
        for page in &pages {
            rows.insert(page).unwrap();
        }
        let (mut all, mut portions) = (Vec::new(), 0);
        let ids = PageIds::default().complete(project, &index, 3);
        let urls = rows.send(&index, &ids, 4_000, &mut |portion| {
            assert!((1..=4_000).contains(&portion.len()));
            portions += 1;
            all.extend(portion);
            true
        });
        let urls = urls.unwrap().into_sorted(&index);
        assert!(portions > 5, "{portions}");
        assert!(all.is_sorted_by_key(|row| row.id));
        assert_eq!(all.len(), 30_000);
        let row = |number: u32| {
            let id = page_id(project, index.key(UrlId(number)));
            let row = all.iter().find(|row| row.id == id).unwrap();
            (&row.page, row.scored, row.crawled_at)
        };
        let (page, scored, at) = row(0);
        assert_eq!(
            (page.depth, page.status_code, page.outlinks, scored),
            (Some(0), Some(200), Some(3), true)
        );
        assert_eq!(
            (page.title.as_deref(), page.word_count),
            (Some("Page 0 of a shop that has desks, chairs and lamps"), Some(0))
        );
        assert_eq!((page.indexable, &page.non_indexable_reason), (true, &None));
        assert_eq!(at.millis(), 1_700_000_000_000);
        let (page, ..) = row(1);
        assert_eq!(page.url, "https://example.com/?b=1&a=2");
        assert_eq!(page.final_url.as_ref(), Some(&page.url));
        let (page, scored, _) = row(2);
        assert_eq!(
            (page.failure.as_deref(), &page.final_url, scored),
            (Some("timeout"), &None, false)
        );
        let (page, ..) = row(3);
        assert_eq!(page.failure.as_deref(), Some("blocked"));
        let (page, ..) = row(4);
        assert_eq!(page.final_url.as_deref(), Some("https://example.com/5"));
        assert_eq!(page.non_indexable_reason.as_deref(), Some("redirect"));
        let (page, scored, _) = row(6);
        assert_eq!(
            (page.non_indexable_reason.as_deref(), scored),
            (Some("status"), false),
            "it is missing"
        );
        let listed = urls.portions(100_000, &index, &ids).next().unwrap();
        assert_eq!((listed.len(), listed.is_sorted()), (30_000, true));
        assert!(listed.iter().any(|(url, _)| url.ends_with("?b=1&a=2")));
    }

    #[test]
    fn who_writes_no_more_gets_no_more() {
        let (index, pages) = crawl(1_000);
        let mut rows = PageRows::new(Uuid::nil());
        for page in &pages {
            rows.insert(page).unwrap();
        }
        let mut given = 0;
        let ids = PageIds::default().complete(Uuid::nil(), &index, 1);
        let done = rows.send(&index, &ids, 10, &mut |_| {
            given += 1;
            given < 3
        });
        done.unwrap();
        assert_eq!(given, 3);
    }
}
