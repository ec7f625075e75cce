//! The one task that decides. It never waits for a socket or a parser: it hands out work, takes what
//! came of it, and saves in between.

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

/// See [`Fetcher::doubts`].
const DOUBTS: u32 = 100;
/// See [`Fetcher::useless`].
const USELESS: u32 = 10;

/// Events that are taken in before anything else is looked at.
const TAKEN_AT_ONCE: usize = 256;

/// The next step.
enum Wake {
    /// Nothing before an event or this time.
    Wait(Option<Instant>),
    /// More at once, after a turn for others.
    Again,
    /// Nothing ever.
    Done,
}

/// A crawl that is under way.
struct Crawler {
    config: Config,
    now: Clock,
    cancel: CancellationToken,
    deadline: Instant,
    /// Reason that something of the site is left out.
    cut: Option<Termination>,
    /// Reason that the crawl ends now.
    stop: Option<Termination>,
    discovery: Discovery,
    queue: FetchQueue,
    fetcher: Fetcher,
    parser: Parser,
    recorder: Recorder,
}

/// Everything known of the site and its URLs.
struct Discovery {
    scope: CrawlScope,
    table: UrlTable,
    builder: GraphBuilder,
    frontier: Frontier,
    origin: Origin,
    /// Whether the facts of the site beside its pages are of this run.
    surveyed: bool,
    /// Number of known URLs of the site.
    internal: u32,
    /// Query variants by the hash of their path: how many, and the first that was left out.
    variants: HashMap<u64, (u32, Option<UrlId>)>,
    /// Number of URLs that robots.txt forbids, by the hash of their path.
    forbidden: HashMap<u64, u32>,
    /// URLs that answered with the challenge of a firewall. Not known any more after a restart; nearly all answer 403 too.
    challenged: HashSet<UrlId>,
    /// URLs that may be fetched, where not all may.
    permit: Option<FetchPermit>,
}

/// Requests that wait for their turn.
struct FetchQueue {
    /// Rules of robots.txt by origin.
    gates: HashMap<Box<str>, RobotsGate>,
    /// robots.txt of other subdomains, until their sitemaps are asked for.
    robots_below: HashMap<Box<str>, WellKnownFile>,
    hosts: Hosts,
    root_host: Option<usize>,
    dice: Dice,
    retries: BTreeMap<(Instant, u32), FetchTask>,
    /// Waiting for its turn on its host.
    held: Option<FetchTask>,
    /// Let through by robots.txt after waiting for it.
    ready: VecDeque<FetchTask>,
}

/// Requests under way, and the events that they end in.
struct Fetcher {
    client: Arc<dyn Fetch>,
    tasks: JoinSet<()>,
    sender: mpsc::Sender<CrawlEvent>,
    events: mpsc::Receiver<CrawlEvent>,
    /// Number of requests under way.
    fetching: usize,
    /// Slow first bytes that may still be asked for again; a site that is slow throughout is not asked twice for all.
    doubts: Arc<AtomicU32>,
    /// Answers of 304 that may still come to nothing, before pages are asked for whole at once.
    useless: Arc<AtomicU32>,
}

/// Pages that are being read.
struct Parser {
    limits: Limits,
    pool: ParserPool,
    queue: Arc<ParseQueue>,
    /// Number of pages that are being read, and their bytes.
    running: usize,
    running_bytes: usize,
}

/// Results, until they are saved.
struct Recorder {
    pending: Pending,
    tally: Tally,
    /// Number of pages that were fetched, against the limit of the crawl.
    taken: u32,
    /// Bytes of bodies on the wire.
    bytes: u64,
    /// Targets of the page that is recorded, reused from page to page.
    targets: Vec<(UrlId, EdgeKind)>,
    checks: Checks,
    collector: ResourceCollector,
    /// Resources of pages, when they are known.
    resources: Option<Vec<Resource>>,
    resources_pending: bool,
}

/// Crawls; `None` when a batch could not be handed over.
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
    // of what is fetched again, what it needs is asked for again, and nothing else
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

    /// Waits for what happens next, and takes it in. `None` when a batch could not be handed over.
    async fn turn(&mut self, until: Option<Instant>) -> Option<()> {
        let now = Instant::now();
        // before the events, of which there may be more at any time
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
            // Not with `try_recv`, which parks the thread while somebody is about to send, and takes a wake-up from whatever
            // else this task waits for when the task is the one that a runtime blocks on.
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

    /// Looks at the URLs that became known.
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

    /// Whether a URL of which nothing is known is fetched.
    fn is_permitted(&self, id: UrlId) -> bool {
        self.discovery
            .permit
            .as_ref()
            .is_none_or(|permit| permit.allows(id))
    }

    /// Whether resources of a page are asked for.
    fn wants_resources(&self, id: UrlId) -> bool {
        self.discovery
            .permit
            .as_ref()
            .is_none_or(|permit| permit.allows_targets(id))
    }

    /// Permits the targets of a page that was fetched again.
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

    /// Time between the starts of two requests to the site, as it is now.
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
