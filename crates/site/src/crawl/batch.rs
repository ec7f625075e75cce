//! Collects data to be saved, and decides when to save it.

use std::time::Duration;

use tokio::{sync::mpsc, time::Instant};

use super::{Batch, CrawledPage, Discovered};
use crate::{
    frontier::Frontier, graph::GraphBuilder, origin::Origin, page::UrlId, resources::Resource, urls::UrlTable,
};

/// Maximum number of URLs in one batch; a sitemap can bring a million at once.
const URLS: usize = 10_000;
/// Maximum number of waiting pages, in full batches: where saving is slow, batches are fewer and larger.
const CROWD: usize = 8;
/// Maximum time that a page waits.
const AGE: Duration = Duration::from_secs(1);

pub(super) struct Pending {
    batch: Batch,
    since: Option<Instant>,
    /// First id that is neither saved nor part of a batch that was handed over.
    saved: u32,
    /// Number of pages of a full batch.
    full: usize,
    out: mpsc::Sender<Batch>,
}

impl Pending {
    pub(super) fn new(out: mpsc::Sender<Batch>, saved: usize, full: usize) -> Self {
        Self {
            batch: Batch::default(),
            since: None,
            saved: saved as u32,
            full: full.max(1),
            out,
        }
    }

    pub(super) fn page(&mut self, page: CrawledPage) {
        self.since.get_or_insert_with(Instant::now);
        self.batch.pages.push(page);
    }

    pub(super) fn origin(&mut self, origin: Origin) {
        self.since.get_or_insert_with(Instant::now);
        self.batch.origin = Some(origin);
    }

    pub(super) fn resources(&mut self, found: Vec<Resource>) {
        self.since.get_or_insert_with(Instant::now);
        self.batch.resources = Some(found);
    }

    /// Time at which the batch has to be saved; `None` if there is nothing to save.
    pub(super) fn due(&self) -> Option<Instant> {
        let since = self.since?;
        Some(if self.batch.pages.len() >= self.full {
            since
        } else {
            since + AGE
        })
    }

    /// Whether saving cannot keep up, so that nothing more may be fetched.
    pub(super) fn is_crowded(&self) -> bool {
        self.batch.pages.len() >= CROWD * self.full
    }

    /// Returns the channel for a batch; reserving room in it fails once saving has failed.
    pub(super) fn room(&self) -> mpsc::Sender<Batch> {
        self.out.clone()
    }

    /// Takes the collected data. Pages and origin go with the last URLs, because they may refer to any of them.
    pub(super) fn take(&mut self, urls: &UrlTable, frontier: &Frontier, builder: &GraphBuilder) -> Batch {
        let end = (self.saved as usize + URLS).min(urls.len()) as u32;
        let discovered = (self.saved..end)
            .map(|id| {
                let id = UrlId(id);
                Discovered {
                    id,
                    key: urls.key(id).into(),
                    url: urls.url(id).into(),
                    depth: frontier.depth(id),
                    provenance: urls.provenance(id),
                    internal: builder.is_internal(id),
                    day: urls.day(id),
                }
            })
            .collect();
        self.saved = end;
        if (end as usize) < urls.len() {
            return Batch {
                discovered,
                ..Batch::default()
            };
        }
        self.since = None;
        Batch {
            discovered,
            ..std::mem::take(&mut self.batch)
        }
    }

    /// Whether collected data has not been handed over yet.
    pub(super) fn is_filled(&self) -> bool {
        self.since.is_some()
    }
}
