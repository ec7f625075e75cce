//! End of a crawl: remaining data is handed over, and the crawl becomes a graph.

use super::{Crawler, Discovery};
use crate::{
    crawl::{Ending, Progress, Termination},
    graph::{CrawlSummary, GraphBuilder},
    origin::Origin,
    page::UrlId,
    resources::Resources,
    urls::UrlTable,
};

/// A crawl whose last batch is handed over and whose graph is not built yet.
pub(in crate::crawl) struct Ended {
    termination: Termination,
    progress: Progress,
    answered: u32,
    table: UrlTable,
    builder: GraphBuilder,
    origin: Origin,
    depths: Vec<u16>,
    traps: Vec<(u32, u32)>,
    complete: bool,
    resources: Resources,
}

impl Ended {
    /// Builds the graph. Returns `None` if that panicked.
    pub(in crate::crawl) async fn finish(self) -> Option<Ending> {
        let Self { table, builder, .. } = self;
        let (depths, traps, complete) = (self.depths, self.traps, self.complete);
        let origin = self.origin;
        let index = tokio::task::spawn_blocking(move || {
            let ends = CrawlSummary {
                depths,
                origin: &origin,
                traps,
                complete,
            };
            (builder.finish(table, ends), origin)
        });
        let (mut index, origin) = index
            .await
            .inspect_err(|error| tracing::error!(%error, "cannot finish the index"))
            .ok()?;
        index.resources = self.resources;
        Some(Ending {
            termination: self.termination,
            index,
            origin,
            progress: self.progress,
            answered: self.answered,
        })
    }
}

impl Crawler {
    /// Hands over the last batches. Returns `None` if a batch could not be handed over.
    pub(super) async fn end(mut self) -> Option<Ended> {
        self.fetcher.tasks.abort_all();
        // frees memory, since the graph of a very large site takes as much as there is
        self.config.earlier = None;
        let stopped = self.stop.is_some();
        let resources = self.all_resources();
        let answers = self.answers();
        let left_out = || {
            let trapped = || self.discovery.variants.values().any(|(_, first)| first.is_some());
            match () {
                () if self.discovery.frontier.beyond() > 0 => Termination::MaxDepth,
                () if trapped() => Termination::MaxQueryVariants,
                () => Termination::Complete,
            }
        };
        let termination = match self.stop {
            // ten refusals in a row do not mean that the host is unavailable
            None | Some(Termination::HostUnavailable) => answers.verdict().or(self.stop).or(self.cut),
            stop => stop,
        };
        let termination = match termination.unwrap_or_else(left_out) {
            Termination::Complete if self.discovery.permit.is_none() && self.is_shut_out() => {
                Termination::Blocked
            }
            other => other,
        };
        loop {
            let batch = self.batch();
            self.recorder.pending.room().send(batch).await.ok()?;
            if !self.recorder.pending.is_filled() {
                break;
            }
        }
        // nothing waits any more; URLs that were left out are known and have no outcome
        let progress = Progress {
            queued: 0,
            ..self.progress()
        };
        let config = self.config;
        let Discovery {
            table,
            builder,
            frontier,
            origin,
            variants,
            permit,
            scope,
            ..
        } = self.discovery;
        let most = config.max_query_variants;
        let mut traps: Vec<(u32, u32)> = variants
            .into_values()
            .filter_map(|(n, first)| Some((first?.0, n - most)))
            .collect();
        traps.sort_unstable();
        // URLs excluded by configuration may hold the only link to a page
        let left_out = |id: u32| builder.is_internal(UrlId(id)) && !scope.is_crawled(table.key(UrlId(id)));
        let narrow = !(config.include.is_empty() && config.exclude.is_empty())
            && (0..table.len() as u32).any(left_out);
        let complete = match &permit {
            Some(permit) => permit.complete && !stopped,
            None => termination == Termination::Complete && !narrow,
        };
        Some(Ended {
            termination,
            progress,
            answered: answers.answered,
            table,
            builder,
            origin,
            depths: frontier.into_depths(),
            traps,
            complete,
            resources,
        })
    }
}
