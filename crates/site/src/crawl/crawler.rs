//! The one task that makes all decisions. It never waits for a socket or a parser: it starts work, takes the results,
//! and saves in between.

mod completion;
mod conditional_get;
mod external_links;
mod ingest;
mod page_resources;
mod preparation;
mod probe;
mod queue;
mod refusal_rate;
mod seeds;
mod subdomains;

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::{Arc, atomic::AtomicU32},
    time::Duration,
};

use tokio::{sync::mpsc, task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;
use url::Url;

use self::external_links::Checks;
use super::{
    Batch, Clock, Config, Progress, Resume, Termination,
    batch::Pending,
    event::CrawlEvent,
    fetch_task::FetchTask,
    parse_queue::ParseQueue,
    parser_pool::ParserPool,
    partial_recrawl::FetchPermit,
    politeness::{Dice, Hosts},
    resource_collector::ResourceCollector,
    resume::Tally,
    robots_gate::RobotsGate,
    scope::CrawlScope,
};
use crate::{
    fetch::Fetch,
    frontier::Frontier,
    graph::{EdgeKind, GraphBuilder},
    origin::Origin,
    page::{At, Limits, UrlId},
    resources::Resource,
    urls::UrlTable,
    well_known::WellKnownFile,
};

/// Initial value of [`Fetcher::doubts`].
const DOUBTS: u32 = 100;
/// Initial value of [`Fetcher::useless`].
const USELESS: u32 = 10;

/// Maximum number of events that are handled in one turn.
const TAKEN_AT_ONCE: usize = 256;

/// Next step of the page loop.
enum Wake {
    /// There is nothing to do before an event or this time.
    Wait(Option<Instant>),
    /// There is more to do at once, after other tasks had a turn.
    Again,
    /// There is nothing left to do.
    Done,
}

/// A running crawl.
struct Crawler {
    config: Config,
    now: Clock,
    cancel: CancellationToken,
    deadline: Instant,
    /// Reason why a part of the site is left out.
    cut: Option<Termination>,
    /// Reason why the crawl ends now.
    stop: Option<Termination>,
    discovery: Discovery,
    queue: FetchQueue,
    fetcher: Fetcher,
    parser: Parser,
    recorder: Recorder,
}

/// All knowledge about the site and its URLs.
struct Discovery {
    scope: CrawlScope,
    table: UrlTable,
    builder: GraphBuilder,
    frontier: Frontier,
    origin: Origin,
    /// Whether the facts of the site beside its pages were gathered in this run.
    surveyed: bool,
    /// Number of known URLs of the site.
    internal: u32,
    /// Query variants by the hash of their path: their number, and the first one that was left out.
    variants: HashMap<u64, (u32, Option<UrlId>)>,
    /// Number of URLs that robots.txt forbids, by the hash of their path.
    forbidden: HashMap<u64, u32>,
    /// URLs whose response was the challenge of a firewall. They are lost on restart; nearly all of them have status
    /// 403 anyway.
    challenged: HashSet<UrlId>,
    /// The URLs that may be fetched, if the crawl is restricted to some.
    permit: Option<FetchPermit>,
}

/// Requests that wait to be started.
struct FetchQueue {
    /// Rules of robots.txt by origin.
    gates: HashMap<Box<str>, RobotsGate>,
    /// robots.txt files of other subdomains, until the sitemaps there are fetched.
    robots_below: HashMap<Box<str>, WellKnownFile>,
    hosts: Hosts,
    root_host: Option<usize>,
    dice: Dice,
    retries: BTreeMap<(Instant, u32), FetchTask>,
    /// Task that waits until its host may be contacted again.
    held: Option<FetchTask>,
    /// Tasks that waited for robots.txt and are allowed.
    ready: VecDeque<FetchTask>,
}

/// Requests in flight, and their events.
struct Fetcher {
    client: Arc<dyn Fetch>,
    tasks: JoinSet<()>,
    sender: mpsc::Sender<CrawlEvent>,
    events: mpsc::Receiver<CrawlEvent>,
    /// Number of requests in flight.
    fetching: usize,
    /// Number of slow first bytes that may still be measured again; a site that is slow throughout is not fetched twice
    /// for every page.
    doubts: Arc<AtomicU32>,
    /// Number of 304 responses that may still turn out useless before pages are fetched unconditionally.
    useless: Arc<AtomicU32>,
}

/// Pages that are being parsed.
struct Parser {
    limits: Limits,
    pool: ParserPool,
    queue: Arc<ParseQueue>,
    /// Number of pages being parsed; their bytes are in `running_bytes`.
    running: usize,
    running_bytes: usize,
}

/// Results that are not saved yet.
struct Recorder {
    pending: Pending,
    tally: Tally,
    /// Number of pages fetched, which counts towards the limit of the crawl.
    taken: u32,
    /// Number of body bytes on the wire.
    bytes: u64,
    /// Targets of the page being recorded; the allocation is reused from page to page.
    targets: Vec<(UrlId, EdgeKind)>,
    checks: Checks,
    collector: ResourceCollector,
    /// Resources of pages, when they are known.
    resources: Option<Vec<Resource>>,
    resources_pending: bool,
}

/// Runs a crawl; returns `None` if a batch could not be handed over.
pub(super) async fn run(
    config: Config,
    client: Arc<dyn Fetch>,
    resume: Option<Resume>,
    cancel: CancellationToken,
    now: Clock,
    batches: mpsc::Sender<Batch>,
) -> Option<completion::Ended> {
    let mut resume = resume.unwrap_or_else(|| Resume::new(&config, None, Duration::ZERO));
    let saved = resume.table.len();
    let start = resume.table.add_url(&config.start)?;
    let permit = config
        .again
        .as_ref()
        .map(|again| FetchPermit::new(again, &mut resume.table));
    // a partial recrawl fetches the resources of its own pages again, and no others
    let collector = if permit.is_some() {
        ResourceCollector::new(config.max_resources)
    } else {
        resume.collector
    };
    let (sender, events) = mpsc::channel(256);
    let limits = Limits {
        links: config.max_links,
        paragraph_words: config.thresholds.long_paragraph_words,
        ..Limits::default()
    };
    let pool = ParserPool::start(limits, &sender)
        .inspect_err(|error| tracing::error!(%error, "cannot start threads to read pages"))
        .ok()?;
    let mut run = Crawler {
        now,
        cancel,
        deadline: Instant::now() + config.max_duration.saturating_sub(resume.elapsed),
        cut: None,
        stop: None,
        discovery: Discovery {
            scope: CrawlScope::new(&config),
            frontier: Frontier::new(start, config.max_depth),
            table: resume.table,
            builder: resume.builder,
            origin: Origin::default(),
            surveyed: false,
            internal: 0,
            variants: HashMap::new(),
            forbidden: HashMap::new(),
            challenged: HashSet::new(),
            permit,
        },
        queue: FetchQueue {
            gates: HashMap::new(),
            robots_below: HashMap::new(),
            hosts: Hosts::new(config.delay, config.connections),
            root_host: None,
            dice: Dice(config.seed),
            retries: BTreeMap::new(),
            held: None,
            ready: VecDeque::new(),
        },
        fetcher: Fetcher {
            client,
            tasks: JoinSet::new(),
            sender,
            events,
            fetching: 0,
            doubts: Arc::new(AtomicU32::new(DOUBTS)),
            useless: Arc::new(AtomicU32::new(USELESS)),
        },
        parser: Parser {
            limits,
            pool,
            queue: Arc::default(),
            running: 0,
            running_bytes: 0,
        },
        recorder: Recorder {
            pending: Pending::new(batches, saved, config.batch_pages),
            tally: resume.tally,
            taken: 0,
            bytes: resume.bytes,
            targets: Vec::new(),
            checks: Checks::default(),
            collector,
            resources: resume.resources,
            resources_pending: false,
        },
        config,
    };
    run.note_urls(0);
    run.begin(resume.origin).await;
    run.pages().await?;
    run.subdomains().await?;
    if run.stop.is_none() {
        run.probe_folder().await;
        run.check_links().await?;
    }
    if run.stop.is_none() {
        run.check_resources().await?;
    }
    run.end().await
}

impl Crawler {
    /// Fetches the pages of the site until there are no more.
    async fn pages(&mut self) -> Option<()> {
        loop {
            match self.fill() {
                Wake::Done => return Some(()),
                Wake::Again => {
                    tokio::task::yield_now().await;
                    self.turn(Some(Instant::now())).await?;
                }
                Wake::Wait(until) => self.turn(until).await?,
            }
        }
    }

    /// Waits for the next events and handles them. Returns `None` if a batch could not be handed over.
    async fn turn(&mut self, until: Option<Instant>) -> Option<()> {
        let now = Instant::now();
        // checked before the events, of which there may always be more
        if now >= self.deadline {
            self.stop(Termination::MaxDuration);
            return Some(());
        }
        let due = self.recorder.pending.due();
        let save = due.is_some_and(|due| due <= now);
        let soonest = until
            .into_iter()
            .chain(due.filter(|_| !save))
            .fold(self.deadline, Instant::min);
        let mut came = Vec::new();
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => self.stop(Termination::Cancelled),
            room = self.recorder.pending.room().reserve_owned(), if save => {
                let batch = self.batch();
                room.ok()?.send(batch);
            }
            // not with `try_recv`, which parks the thread while a sender is about to send; and when the runtime blocks
            // on this task, that takes a wake-up from whatever else the task waits for
            _ = self.fetcher.events.recv_many(&mut came, TAKEN_AT_ONCE) => {
                for event in came {
                    self.take(event);
                }
                while self.fetcher.tasks.try_join_next().is_some() {}
            }
            () = tokio::time::sleep_until(soonest) => {
                if soonest >= self.deadline {
                    self.stop(Termination::MaxDuration);
                }
            }
        }
        Some(())
    }

    fn take(&mut self, event: CrawlEvent) {
        match event {
            CrawlEvent::Fetched(work, fetched) => self.fetched(work, fetched),
            CrawlEvent::FetchedAndRead(work, wire_bytes, page) => {
                self.fetched_and_read(&work, wire_bytes, *page)
            }
            CrawlEvent::Read(page) => {
                self.parser.running -= 1;
                self.parser.running_bytes -= page.held;
                self.adopt(*page);
            }
            CrawlEvent::Robots(origin, file) => self.learnt_robots(origin, file),
            CrawlEvent::Checked(work, page) => self.checked(&work, *page),
            CrawlEvent::Resources(found) => self.checked_resources(found),
        }
    }

    /// Marks newly discovered URLs that are internal, starting at index `from`.
    fn note_urls(&mut self, from: usize) {
        for id in (from as u32..self.discovery.table.len() as u32).map(UrlId) {
            if self.discovery.scope.is_internal(self.discovery.table.key(id)) {
                self.discovery.builder.set_internal(id);
                self.discovery.internal += 1;
            }
        }
    }

    fn at(&self, work: &FetchTask) -> At {
        At {
            id: work.id,
            attempts: work.attempts,
            fetched_at_ms: (self.now)(),
        }
    }

    /// Whether an unknown URL may be fetched.
    fn is_permitted(&self, id: UrlId) -> bool {
        self.discovery
            .permit
            .as_ref()
            .is_none_or(|permit| permit.allows(id))
    }

    /// Whether resources of a page are fetched.
    fn wants_resources(&self, id: UrlId) -> bool {
        self.discovery
            .permit
            .as_ref()
            .is_none_or(|permit| permit.allows_targets(id))
    }

    /// Permits to fetch the targets of a page that was fetched again.
    fn permit_targets(&mut self, id: UrlId) {
        if let Some(permit) = &mut self.discovery.permit {
            permit.add_targets(id, &self.discovery.builder);
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    fn stop(&mut self, why: Termination) {
        self.stop.get_or_insert(why);
    }

    /// Returns the current time between the starts of two requests to the site.
    fn root_spacing(&self) -> Duration {
        let host = self.queue.root_host.map(|host| self.queue.hosts[host].spacing());
        host.unwrap_or(self.config.delay)
    }

    fn progress(&self) -> Progress {
        let open =
            self.fetcher.fetching + self.parser.running + self.queue.retries.len() + self.queue.ready.len();
        Progress {
            discovered: self.discovery.internal,
            fetched: self.recorder.tally.fetched,
            queued: u32::try_from(self.discovery.frontier.queued() + open).unwrap_or(u32::MAX),
            failed: self.recorder.tally.failed,
            blocked: self.recorder.tally.blocked,
        }
    }

    fn batch(&mut self) -> Batch {
        let progress = self.progress();
        Batch {
            progress,
            ..self.recorder.pending.take(
                &self.discovery.table,
                &self.discovery.frontier,
                &self.discovery.builder,
            )
        }
    }
}

fn host_of(origin: &str) -> String {
    Url::parse(origin)
        .ok()
        .and_then(|url| Some(url.host_str()?.to_owned()))
        .unwrap_or_default()
}
