//! Crawls a site: robots.txt and sitemaps first, then pages breadth first, then URLs that no link leads to, then the
//! URLs of other sites that the site links to or names as language alternates. The crawl knows neither database nor
//! sockets: responses come from a [`Fetch`], facts go to a [`Sink`] in batches, and the data that has to stay in memory
//! is kept in compact columns.
//!
//! One task makes all decisions (which page is next, how fast, when to stop), fetches run as tasks of the runtime, and
//! pages are parsed on threads of their own. Nothing is shared, so nothing is locked.

mod alternates;
mod batch;
mod challenge;
mod crawler;
mod discovery;
mod event;
mod fetch_task;
mod parse_job;
mod parse_queue;
mod parser_pool;
mod partial_recrawl;
mod politeness;
mod previous_crawl;
mod refresh;
mod resource_collector;
mod resume;
mod robots_gate;
mod scope;
mod single;

use std::{
    future::Future,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{
    fetch::Fetch,
    graph::SiteGraph,
    origin::Origin,
    page::{PageFacts, UrlId},
    resources::Resource,
    thresholds::Thresholds,
    well_known::WellKnownFile,
};

pub use partial_recrawl::PartialRecrawl;
pub use previous_crawl::PreviousCrawl;
pub use resume::{Resume, ResumeError};
pub use single::{Reading, Unread, read_page};

/// Settings of a crawl: its site, limits and pace. Counts and times are per audit.
#[derive(Clone, Debug)]
pub struct Config {
    /// Start URL, http or https. Its host and the `www.` twin are the site.
    pub start: Url,
    /// Whether other subdomains belong to the site too.
    pub include_subdomains: bool,
    /// Patterns over path and query, `*` for any text. If there are any, only URLs that match one are crawled.
    pub include: Vec<String>,
    /// Patterns like those of `include`; URLs that match one are not crawled.
    pub exclude: Vec<String>,
    /// Crawls URLs that robots.txt forbids. Only for domains whose owner asked for it.
    pub ignore_robots: bool,
    /// Copy of robots.txt, at most 24 hours old, that is used when the server cannot deliver the file.
    pub robots_copy: Option<WellKnownFile>,
    /// URLs known from other sources than links, each with bits of [`crate::urls::provenance::GIVEN`].
    pub seeds: Vec<(String, u8)>,
    /// Maximum number of fetched URLs, 1 to 1,000,000.
    pub max_pages: u32,
    /// Maximum number of clicks from the start URL.
    pub max_depth: u16,
    /// Maximum number of fetched URLs that differ only in their query.
    pub max_query_variants: u32,
    /// Maximum duration of the crawl.
    pub max_duration: Duration,
    /// Maximum number of body bytes on the wire.
    pub max_bytes: u64,
    /// Maximum number of known URLs, including those of other sites.
    pub max_urls: usize,
    /// Maximum number of bytes read of a decoded body.
    pub body_limit: usize,
    /// Maximum number of links kept per page.
    pub max_links: usize,
    /// Maximum number of simultaneous connections to a host.
    pub connections: usize,
    /// Minimum time between the starts of two requests to the same host.
    pub delay: Duration,
    /// Delays before the second and the third attempt.
    pub retry_delays: [Duration; 2],
    /// Maximum number of URLs of other sites that are fetched: language alternates of pages, then link targets.
    pub max_external: usize,
    /// Minimum time between the starts of two requests to the same host of another site.
    pub external_delay: Duration,
    /// Maximum time for fetching from other sites, after the site itself.
    pub external_duration: Duration,
    /// Maximum number of images, scripts and styles that are fetched, in addition to links of llms.txt; 0 fetches
    /// neither.
    pub max_resources: usize,
    /// Maximum time for fetching resources, after the links to other sites.
    pub resource_duration: Duration,
    /// Number of pages after which a batch is saved. A batch is smaller when a second has passed, and larger when
    /// saving takes longer than fetching.
    pub batch_pages: usize,
    /// Seed of the jitter and of the made-up URLs.
    pub seed: u64,
    /// The only pages of a resumed crawl to fetch, bypassing every cache.
    pub again: Option<PartialRecrawl>,
    /// Limits that checks use while pages are parsed and when texts are compared.
    pub thresholds: Thresholds,
    /// The previous crawl: pages are fetched conditionally, only if they have changed since. `None` fetches all pages
    /// in full.
    pub earlier: Option<Arc<dyn PreviousCrawl>>,
    /// Whether the main text of a page that is being parsed is needed.
    pub wants_texts: Arc<AtomicBool>,
}

impl Config {
    /// Creates the defaults of contract.md section 7 and domain.md section 1.1. The limits of time and bytes grow with
    /// `max_pages`: 150 ms per page and at least 2 h, 1 MiB per page and at least 1 GiB.
    pub fn new(start: Url, max_pages: u32) -> Self {
        Self {
            start,
            include_subdomains: false,
            include: Vec::new(),
            exclude: Vec::new(),
            ignore_robots: false,
            robots_copy: None,
            seeds: Vec::new(),
            max_pages,
            max_depth: 20,
            max_query_variants: 50,
            max_duration: Duration::from_millis(150 * u64::from(max_pages))
                .max(Duration::from_secs(2 * 60 * 60)),
            max_bytes: (u64::from(max_pages) << 20).max(1 << 30),
            max_urls: max_pages as usize * 4 + 200_000,
            body_limit: 5 * 1024 * 1024,
            max_links: 5_000,
            connections: 4,
            delay: Duration::from_millis(100),
            retry_delays: [Duration::from_secs(1), Duration::from_secs(4)],
            max_external: 2_000,
            external_delay: Duration::from_secs(1),
            external_duration: Duration::from_secs(5 * 60),
            max_resources: 1_000,
            resource_duration: Duration::from_secs(2 * 60),
            // several batches are in memory at once
            batch_pages: 64,
            seed: 0,
            again: None,
            thresholds: Thresholds::default(),
            earlier: None,
            wants_texts: Arc::new(AtomicBool::new(true)),
        }
    }
}

/// A URL that the crawl discovered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovered {
    /// Id of the URL; each batch continues where the last one ended.
    pub id: UrlId,
    /// Normalised URL.
    pub key: Box<str>,
    /// URL as it is fetched.
    pub url: Box<str>,
    /// Clicks from the start URL as far as known; a URL discovered without a link may get a depth later.
    pub depth: Option<u16>,
    /// Bits of [`crate::urls::provenance`] as far as known.
    pub provenance: u8,
    /// Whether the URL is on the site being crawled.
    pub internal: bool,
    /// Day of the last change according to a sitemap, in days since the Unix epoch; 0 if no sitemap names one.
    pub day: u16,
}

/// A page that was fetched, failed or is blocked.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawledPage {
    /// Facts of the page.
    pub facts: PageFacts,
    /// Clicks from the start URL; `None` if no link leads to the page.
    pub depth: Option<u16>,
}

/// Counters of the URLs of the site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Number of known URLs.
    pub discovered: u32,
    /// Number of URLs with a response, saved with this batch or earlier.
    pub fetched: u32,
    /// Number of URLs that wait or are being fetched.
    pub queued: u32,
    /// Number of URLs without a response after all attempts.
    pub failed: u32,
    /// Number of URLs that robots.txt forbids.
    pub blocked: u32,
}

/// Facts that are saved together, in one transaction, because pages refer to ids of `discovered`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// URLs discovered since the last batch, by id.
    pub discovered: Vec<Discovered>,
    /// Pages since the last batch, including checked links to other sites.
    pub pages: Vec<CrawledPage>,
    /// Facts of the site beside its pages, if they became known or changed.
    pub origin: Option<Origin>,
    /// Resources of pages, if they were fetched.
    pub resources: Option<Vec<Resource>>,
    /// Counters as of this batch.
    pub progress: Progress,
}

/// Error of saving a batch; the crawl ends at once.
#[derive(Debug, thiserror::Error)]
#[error("cannot save crawled pages")]
pub struct SinkError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Receiver of the facts of a crawl.
pub trait Sink: Send {
    /// Saves a batch durably. Called with one batch at a time, while the crawl goes on.
    fn save(&mut self, batch: Batch) -> impl Future<Output = Result<(), SinkError>> + Send;
}

/// Reason why the crawl ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// Nothing was left to fetch.
    Complete,
    /// [`Config::max_pages`] was reached.
    MaxPages,
    /// URLs deeper than [`Config::max_depth`] were left out.
    MaxDepth,
    /// [`Config::max_duration`] ran out.
    MaxDuration,
    /// [`Config::max_bytes`] was used up.
    MaxBytes,
    /// Ten requests in a row to the site failed, or more than half of its pages gave no response or 5xx.
    HostUnavailable,
    /// The caller cancelled.
    Cancelled,
    /// robots.txt could not be fetched, which forbids everything (RFC 9309 section 2.3.1.4).
    RobotsUnreachable,
    /// More than half of the pages were refused: status 401, 403, 429 or 451, or the challenge of a firewall.
    Blocked,
    /// URLs beyond [`Config::max_query_variants`] of a path were left out.
    MaxQueryVariants,
}

impl Termination {
    /// Returns the code of the reason in API responses.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::MaxPages => "max_pages",
            Self::MaxDepth => "max_depth",
            Self::MaxDuration => "max_duration",
            Self::MaxBytes => "max_bytes",
            Self::HostUnavailable => "host_unavailable",
            Self::Cancelled => "cancelled",
            Self::RobotsUnreachable => "robots_unreachable",
            Self::Blocked => "blocked",
            Self::MaxQueryVariants => "max_query_variants",
        }
    }
}

/// Result of a crawl once every batch is saved.
#[derive(Debug)]
pub struct Ending {
    /// Reason why the crawl ended.
    pub termination: Termination,
    /// The crawl as a graph.
    pub index: SiteGraph,
    /// Facts of the site beside its pages.
    pub origin: Origin,
    /// Final counters.
    pub progress: Progress,
    /// Number of pages of the site with a conclusive response, 404 included; refusals and 5xx do not count.
    pub answered: u32,
}

/// Lets another thread of the runtime run before this one works for a millisecond or more.
///
/// A task that is woken by a running task waits in a slot of the same thread until that task ends; no other thread
/// takes it from there until another task is woken. And a sleeping thread does not poll the sockets while the thread
/// that polled last has work to do. Spawning two empty tasks clears the slot and wakes a sleeping thread, if there is
/// one.
pub fn let_others_run() {
    for _ in 0..2 {
        tokio::spawn(std::future::ready(()));
    }
}

/// Returns the time in milliseconds since the Unix epoch.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Crawls until done, cut short or cancelled, and waits until every batch is saved.
///
/// `resume` continues a crawl whose process died, with the same `config`; the result is that of an uninterrupted crawl.
pub async fn crawl(
    config: Config,
    fetcher: Arc<dyn Fetch>,
    sink: &mut impl Sink,
    resume: Option<Resume>,
    cancel: CancellationToken,
    now: Clock,
) -> Result<Ending, SinkError> {
    // One batch is being saved, one may wait, one is being filled.
    let (batches, mut waiting) = tokio::sync::mpsc::channel(1);
    let saving = async {
        while let Some(batch) = waiting.recv().await {
            sink.save(batch).await?;
        }
        // dropped here, so that a crawl whose batches cannot be saved stops
        drop(waiting);
        Ok(())
    };
    let crawling = crawler::run(config, fetcher, resume, cancel, now, batches);
    let (ended, saved) = tokio::join!(crawling, saving);
    saved?;
    let unfinished = || SinkError("the crawl ended before its last batch".into());
    let ended = ended.ok_or_else(unfinished)?;
    ended.finish().await.ok_or_else(unfinished)
}
