//! Crawls a site: robots.txt and sitemaps first, then pages breadth first, then what no link leads to,
//! then what other sites answer that it links to or names as alternates. Knows neither database nor sockets: pages come from a
//! [`Fetch`], facts go to a [`Sink`] in batches, and what has to stay in memory is compact columns.
//!
//! One task decides everything (which page next, how fast, when to stop), fetches run as tasks of the
//! runtime, pages are read on threads of their own. Nothing is shared, so nothing is locked.

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
    /// Other subdomains belong to the site too.
    pub include_subdomains: bool,
    /// Patterns over path and query, `*` for any text; when there are any, only URLs that match one are crawled.
    pub include: Vec<String>,
    /// Such patterns; URLs that match one are not crawled.
    pub exclude: Vec<String>,
    /// Crawl what robots.txt forbids. Only for domains whose owner asked.
    pub ignore_robots: bool,
    /// A copy of robots.txt at most 24 hours old, used when the server fails to give one.
    pub robots_copy: Option<WellKnownFile>,
    /// URLs known from elsewhere, each with bits of [`crate::urls::provenance::GIVEN`].
    pub seeds: Vec<(String, u8)>,
    /// Most URLs fetched, 1 to 1,000,000.
    pub max_pages: u32,
    /// Most clicks from the start URL.
    pub max_depth: u16,
    /// Most URLs fetched that differ in their query only.
    pub max_query_variants: u32,
    /// Longest run.
    pub max_duration: Duration,
    /// Most bytes of bodies on the wire.
    pub max_bytes: u64,
    /// Most URLs known, other sites' included.
    pub max_urls: usize,
    /// Most bytes of a decoded body that are read.
    pub body_limit: usize,
    /// Most links of a page that are kept.
    pub max_links: usize,
    /// Connections to a host.
    pub connections: usize,
    /// Least time between two requests to a host begin.
    pub delay: Duration,
    /// Waits before the second and third attempt.
    pub retry_delays: [Duration; 2],
    /// Most URLs of other sites that are asked: language alternates of pages, then what links lead to.
    pub max_external: usize,
    /// Least time between two requests to a foreign host begin.
    pub external_delay: Duration,
    /// Longest time for asking other sites, after the site itself.
    pub external_duration: Duration,
    /// Most images, scripts and styles that are asked for, links of llms.txt beside them; 0 for none of either.
    pub max_resources: usize,
    /// Longest time for asking for them, after the links to other sites.
    pub resource_duration: Duration,
    /// Pages after which a batch is saved; fewer are saved after a second, and more where saving takes longer than fetching.
    pub batch_pages: usize,
    /// Chooses the jitter and the made-up URLs.
    pub seed: u64,
    /// Fetch only this of a crawl that is resumed, past every cache.
    pub again: Option<PartialRecrawl>,
    /// Numbers in the conditions of checks that are looked at while pages are read and when texts are compared.
    pub thresholds: Thresholds,
    /// The previous crawl; pages are asked for only if they have changed since. `None` asks for all of them whole.
    pub earlier: Option<Arc<dyn PreviousCrawl>>,
    /// Whether the main text of a page that is read now is wanted.
    pub wants_texts: Arc<AtomicBool>,
}

impl Config {
    /// The defaults of contract.md section 7 and domain.md section 1.1. Time and bytes grow with
    /// `max_pages`: 150 ms a page and at least 2 h, 1 MiB a page and at least 1 GiB.
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
            // those of some batches are in memory at once
            batch_pages: 64,
            seed: 0,
            again: None,
            thresholds: Thresholds::default(),
            earlier: None,
            wants_texts: Arc::new(AtomicBool::new(true)),
        }
    }
}

/// A URL that became known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovered {
    /// Its id; each batch continues where the last one ended.
    pub id: UrlId,
    /// Normalised form.
    pub key: Box<str>,
    /// The form to fetch.
    pub url: Box<str>,
    /// Clicks from the start URL as known now; a URL found without a link may get one later.
    pub depth: Option<u16>,
    /// Bits of [`crate::urls::provenance`] as known now.
    pub provenance: u8,
    /// On the site being crawled.
    pub internal: bool,
    /// Day of its last change by a sitemap, since the Unix epoch; 0 when none does.
    pub day: u16,
}

/// A page that was fetched, failed or is blocked.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawledPage {
    /// Its facts.
    pub facts: PageFacts,
    /// Clicks from the start URL; `None` when not reached by links.
    pub depth: Option<u16>,
}

/// Counters, of URLs of the site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Known.
    pub discovered: u32,
    /// Answered, and saved with this batch or before.
    pub fetched: u32,
    /// Waiting or being fetched.
    pub queued: u32,
    /// Without an answer after all attempts.
    pub failed: u32,
    /// Forbidden by robots.txt.
    pub blocked: u32,
}

/// Facts that are saved together, in one transaction: a page names ids of `discovered`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// URLs that became known since the last batch, by id.
    pub discovered: Vec<Discovered>,
    /// Pages since the last batch; checked links to other sites are among them.
    pub pages: Vec<CrawledPage>,
    /// Set when it became known or changed.
    pub origin: Option<Origin>,
    /// Resources of pages, when they were asked for.
    pub resources: Option<Vec<Resource>>,
    /// With this batch.
    pub progress: Progress,
}

/// Saving failed; the crawl ends at once.
#[derive(Debug, thiserror::Error)]
#[error("cannot save crawled pages")]
pub struct SinkError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Receiver of the facts.
pub trait Sink: Send {
    /// Saves a batch durably. Called with one batch at a time; the crawl goes on meanwhile.
    fn save(&mut self, batch: Batch) -> impl Future<Output = Result<(), SinkError>> + Send;
}

/// Reason that the crawl ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// Nothing left to fetch.
    Complete,
    /// [`Config::max_pages`] was reached.
    MaxPages,
    /// URLs deeper than [`Config::max_depth`] were left out.
    MaxDepth,
    /// [`Config::max_duration`] ran out.
    MaxDuration,
    /// [`Config::max_bytes`] was used up.
    MaxBytes,
    /// Ten requests in a row to the site failed, or more than half of its pages gave no answer or 5xx.
    HostUnavailable,
    /// The caller cancelled.
    Cancelled,
    /// robots.txt could not be fetched, which forbids everything (RFC 9309 section 2.3.1.4).
    RobotsUnreachable,
    /// More than half of the pages were refused: 401, 403, 429, 451, or the challenge of a firewall.
    Blocked,
    /// URLs beyond [`Config::max_query_variants`] of a path were left out.
    MaxQueryVariants,
}

impl Termination {
    /// The word for it in answers.
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
    /// Reason that it ended.
    pub termination: Termination,
    /// The crawl as a graph.
    pub index: SiteGraph,
    /// The site beside its pages.
    pub origin: Origin,
    /// The last counters.
    pub progress: Progress,
    /// Pages of the site that answered, be it that they are not there; refusals and 5xx are no such answers.
    pub answered: u32,
}

/// Lets another thread of the runtime run, before one works for a millisecond or more.
///
/// A task that is woken by one that runs waits for its end in a slot of which no other thread takes it, until another is woken; and
/// a thread that sleeps does not see to sockets when the one that did so last has work to do. Two tasks that do nothing clear
/// the slot and wake a thread that sleeps, if one does.
pub fn let_others_run() {
    for _ in 0..2 {
        tokio::spawn(std::future::ready(()));
    }
}

/// Tells the time in milliseconds since the Unix epoch.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Crawls until done, cut short or cancelled. Waits for every batch to be saved.
///
/// `resume` continues a crawl whose process died, with the same `config`; the result is that of a crawl
/// that was never disturbed.
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
        // Dropped here, so that a crawl whose batches cannot be saved stops.
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
