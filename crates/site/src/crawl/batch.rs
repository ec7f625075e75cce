//! Collects what has to be saved, and decides when.

use std::time::Duration;

use tokio::{sync::mpsc, time::Instant};

use super::{Batch, CrawledPage, Discovered};
use crate::{
    frontier::Frontier, graph::GraphBuilder, origin::Origin, page::UrlId, resources::Resource, urls::UrlTable,
};

/// URLs of one batch; a sitemap can bring a million at once.
const URLS: usize = 10_000;
/// Pages that may wait, in full batches: where each save takes long, there are fewer of them and they are larger.
const CROWD: usize = 8;
/// A page waits at most this long.
const AGE: Duration = Duration::from_secs(1);

pub(super) struct Pending {
    batch: Batch,
    since: Option<Instant>,
    /// URLs below this id are saved, or will be with a batch that was handed over.
    saved: u32,
    /// Pages of a full batch.
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

    /// Time at which the batch has to go; `None` when there is nothing to save.
    pub(super) fn due(&self) -> Option<Instant> {
        let since = self.since?;
        Some(if self.batch.pages.len() >= self.full {
            since
        } else {
            since + AGE
        })
    }

    /// Saving does not keep up: fetch nothing until it does.
    pub(super) fn is_crowded(&self) -> bool {
        self.batch.pages.len() >= CROWD * self.full
    }

    /// Room for a batch; `None` when saving has failed.
    pub(super) fn room(&self) -> mpsc::Sender<Batch> {
        self.out.clone()
    }

    /// Hands over what has come together. Pages and origin go with the last URLs they could name.
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

    /// Something has come together that is not handed over yet.
    pub(super) fn is_filled(&self) -> bool {
        self.since.is_some()
    }
}
