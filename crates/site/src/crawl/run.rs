//! The one task that decides. It never waits for a socket or a parser: it hands out work, takes what
//! came of it, and saves in between.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    panic::AssertUnwindSafe,
    sync::Arc,
};

use futures_util::FutureExt;
use tokio::{sync::mpsc, task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{
    Batch, Clock, Config, Ending, Page, Progress, Resume, Termination,
    batch::Pending,
    externals::Checks,
    pace::{Dice, Pace, Signal, retry_after},
    readers::{Job, ReadPage, Readers, read},
    resume::Tally,
    scope::{Scope, is_media, origin},
    survey::{Survey, at, path},
};
use crate::{
    fetch::{Fetch, FetchError, Fetched, Method, Request, Response},
    frontier::Frontier,
    graph::{Ends, IndexBuilder, Kind, State},
    origin::{File, Origin},
    page::{At, Limits, Outcome, PageFacts, UrlId},
    robots::Policy,
    text,
    urls::{UrlTable, provenance},
};

/// Pages waiting for a parser, and their bytes, beyond which no fetch begins.
const READING: usize = 32;
const READING_BYTES: usize = 32 * 1024 * 1024;
/// Known pages gone through before other tasks get a turn.
const REPLAYS: usize = 512;
/// Times a URL may redirect to another spelling of itself.
const ALIASES: u8 = 3;

/// What comes back to the deciding task.
#[derive(Debug)]
pub(super) enum Event {
    /// An exchange ended.
    Fetched(Work, Fetched),
    /// A page was read.
    Read(Box<ReadPage>),
    /// The robots.txt of an origin.
    Robots(Box<str>, File),
    /// A link to another site was checked: index of its host, the exchange.
    Checked(usize, Work, Fetched),
}

/// A URL on its way.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) id: UrlId,
    pub(super) url: Url,
    pub(super) attempts: u8,
    pub(super) aliases: u8,
}

/// What robots.txt of an origin says, or who waits for it.
enum Gate {
    Asking(Vec<Work>),
    Known(Policy),
}

/// What there is to do.
pub(super) enum Wake {
    /// Nothing before an event or this time.
    Wait(Option<Instant>),
    /// More at once, after a turn for others.
    Again,
    /// Nothing ever.
    Done,
}

enum Next {
    Work(Work),
    Again,
    None,
}

pub(super) struct Run {
    pub(super) config: Config,
    limits: Limits,
    pub(super) scope: Scope,
    pub(super) fetcher: Arc<dyn Fetch>,
    pub(super) now: Clock,
    cancel: CancellationToken,
    pub(super) table: UrlTable,
    pub(super) builder: IndexBuilder,
    frontier: Frontier,
    pub(super) pending: Pending,
    tally: Tally,
    origin: Origin,
    gates: HashMap<Box<str>, Gate>,
    paces: HashMap<Box<str>, Pace>,
    dice: Dice,
    pub(super) tasks: JoinSet<()>,
    pub(super) sender: mpsc::Sender<Event>,
    events: mpsc::Receiver<Event>,
    readers: Readers,
    fetching: usize,
    reading: usize,
    reading_bytes: usize,
    retries: BTreeMap<(Instant, u32), Work>,
    /// Waiting for its turn on its host.
    held: Option<Work>,
    /// Let through by robots.txt after waiting for it.
    ready: VecDeque<Work>,
    variants: HashMap<u64, (u32, Option<UrlId>)>,
    taken: u32,
    /// Bytes of bodies on the wire.
    bytes: u64,
    internal: u32,
    /// Something of the site is left out.
    cut: Option<Termination>,
    /// The crawl is over, now.
    stop: Option<Termination>,
    pub(super) deadline: Instant,
    targets: Vec<(UrlId, Kind)>,
    pub(super) checks: Checks,
}

/// Crawls; `None` when a batch could not be handed over.
pub(super) async fn run(
    config: Config,
    fetcher: Arc<dyn Fetch>,
    resume: Option<Resume>,
    cancel: CancellationToken,
    now: Clock,
    batches: mpsc::Sender<Batch>,
) -> Option<Ending> {
    let mut resume = resume.unwrap_or_else(|| Resume::new(&config, None, std::time::Duration::ZERO));
    let saved = resume.table.len();
    let start = resume.table.add_url(&config.start)?;
    let (sender, events) = mpsc::channel(256);
    let limits = Limits {
        links: config.max_links,
    };
    let readers = Readers::start(limits, &sender)
        .inspect_err(|error| tracing::error!(%error, "cannot start threads to read pages"))
        .ok()?;
    let mut run = Run {
        limits,
        scope: Scope::new(&config),
        fetcher,
        now,
        cancel,
        internal: 0,
        table: resume.table,
        builder: resume.builder,
        frontier: Frontier::new(start, config.max_depth),
        pending: Pending::new(batches, saved, config.batch_pages),
        tally: resume.tally,
        bytes: resume.bytes,
        origin: Origin::default(),
        gates: HashMap::new(),
        paces: HashMap::new(),
        dice: Dice(config.seed),
        tasks: JoinSet::new(),
        sender,
        events,
        readers,
        fetching: 0,
        reading: 0,
        reading_bytes: 0,
        retries: BTreeMap::new(),
        held: None,
        ready: VecDeque::new(),
        variants: HashMap::new(),
        taken: 0,
        cut: None,
        stop: None,
        deadline: Instant::now() + config.max_duration.saturating_sub(resume.elapsed),
        targets: Vec::new(),
        checks: Checks::default(),
        config,
    };
    run.note_urls(0);
    run.begin(resume.origin).await;
    run.pages().await?;
    if run.stop.is_none() {
        run.probe_folder().await;
        run.check_links().await?;
    }
    run.end().await
}

impl Run {
    /// Learns what is to be known before the first page, from the store if it was learnt before.
    async fn begin(&mut self, known: Option<Origin>) {
        if let Some(known) = known {
            self.gates
                .insert(known.root.clone(), Gate::Known(self.policy(&known.robots)));
            self.origin = known;
        } else {
            let before = self.table.len();
            let mut survey = Survey::new(self.fetcher.clone(), &self.config, self.now.clone());
            let (table, scope) = (&mut self.table, &self.scope);
            // Room is left for what the pages will link to.
            let most = self.config.max_urls / 2;
            let mut given = |text: &str, bits: u8| {
                if let Ok(url) = Url::parse(text)
                    && scope.is_internal(url.as_str())
                    && table.len() < most
                    && let Some(id) = table.add_url(&url)
                {
                    table.mark(id, bits);
                }
            };
            self.config
                .seeds
                .iter()
                .for_each(|(url, bits)| given(url, bits & provenance::GIVEN));
            let mut listed = |url: &str| given(url, provenance::SITEMAP);
            let surveyed = tokio::select! {
                surveyed = survey.survey(&self.config, &self.scope, &mut listed) => surveyed,
                () = self.cancel.cancelled() => return self.stop(Termination::Cancelled),
                () = tokio::time::sleep_until(self.deadline) => return self.stop(Termination::MaxDuration),
            };
            self.origin = surveyed.origin;
            if let Some(id) = self.table.add_url(&surveyed.home) {
                self.origin.home = id;
            }
            self.note_urls(before);
            self.pending.origin(self.origin.clone());
            self.gates
                .insert(self.origin.root.clone(), Gate::Known(surveyed.policy));
        }
        match self.gates.get(&self.origin.root) {
            Some(Gate::Known(Policy::Unreachable)) => self.stop(Termination::RobotsUnreachable),
            Some(Gate::Known(Policy::Follow(rules))) => {
                if let (Some(delay), Some(host)) = (rules.delay, host_of(&self.origin.root)) {
                    self.pace(&host).slow_to(delay);
                }
            }
            _ => {}
        }
    }

    fn policy(&self, file: &File) -> Policy {
        if self.config.ignore_robots {
            Policy::Follow(Default::default())
        } else {
            Policy::of(file)
        }
    }

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

    /// Begins whatever may begin now.
    fn fill(&mut self) -> Wake {
        loop {
            if self.stop.is_some() {
                return Wake::Done;
            }
            let busy =
                self.reading >= READING || self.reading_bytes >= READING_BYTES || self.pending.is_crowded();
            if busy {
                return Wake::Wait(None);
            }
            let now = Instant::now();
            let work = if let Some(due) = self.retries.first_entry().filter(|due| due.key().0 <= now) {
                due.remove()
            } else if let Some(held) = self.held.take() {
                held
            } else {
                match self.next_work() {
                    Next::Work(work) => work,
                    Next::Again => return Wake::Again,
                    Next::None if self.is_idle() => return Wake::Done,
                    Next::None => return Wake::Wait(self.retries.keys().next().map(|(due, _)| *due)),
                }
            };
            let host: Box<str> = work.url.host_str().unwrap_or_default().into();
            let pace = self.pace(&host);
            if pace.is_dead() {
                self.cut.get_or_insert(Termination::HostUnavailable);
                self.frontier.finished();
                continue;
            }
            match pace.ready_at(now) {
                Some(at) if at <= now => {
                    let jitter = self.dice.jitter();
                    self.pace(&host).begin(now, jitter);
                    self.start(work);
                }
                ready_at => {
                    // A retry gives way to what was held before it, which has waited longer.
                    match &self.held {
                        None => self.held = Some(work),
                        Some(_) => drop(self.retries.insert((now, work.id.0), work)),
                    }
                    let due = self
                        .retries
                        .keys()
                        .next()
                        .map(|(due, _)| *due)
                        .filter(|due| *due > now);
                    return Wake::Wait(ready_at.into_iter().chain(due).min());
                }
            }
        }
    }

    fn is_idle(&self) -> bool {
        let waiting = self.fetching + self.reading + self.retries.len() + self.ready.len();
        let asking = self
            .gates
            .values()
            .any(|gate| matches!(gate, Gate::Asking(works) if !works.is_empty()));
        waiting == 0 && !asking
    }

    /// The next URL that may be fetched. Goes through what needs no fetch on the way.
    fn next_work(&mut self) -> Next {
        for _ in 0..REPLAYS {
            let (work, fresh) = match self.ready.pop_front() {
                Some(work) => (work, false),
                None if matches!(self.cut, Some(Termination::MaxPages | Termination::MaxBytes)) => {
                    return Next::None;
                }
                None => match self.frontier.next(&self.table) {
                    None if self.frontier.is_idle() && self.seed() => continue,
                    None => return Next::None,
                    Some(id) if self.is_trap(id) => {
                        self.frontier.finished();
                        continue;
                    }
                    Some(id) if self.builder.is_known(id) => {
                        // Saved before a restart: what it leads to is all there is to do.
                        self.taken += u32::from(self.builder.state(id) != State::Blocked);
                        self.expand(id);
                        self.frontier.finished();
                        continue;
                    }
                    Some(id) => match Url::parse(self.table.url(id)) {
                        Ok(url) => (
                            Work {
                                id,
                                url,
                                attempts: 0,
                                aliases: 0,
                            },
                            true,
                        ),
                        Err(_) => {
                            self.frontier.finished();
                            continue;
                        }
                    },
                },
            };
            let origin: Box<str> = origin(work.url.as_str()).into();
            let blocked = match self.gates.get_mut(&origin) {
                Some(Gate::Known(Policy::Unreachable)) => Some("robots.txt unreachable".into()),
                Some(Gate::Known(Policy::Follow(rules))) => {
                    rules.forbids(path(&work.url)).map(ToString::to_string)
                }
                Some(Gate::Asking(waiting)) => {
                    waiting.push(work);
                    continue;
                }
                None => {
                    self.ask_robots(origin, work);
                    continue;
                }
            };
            if let Some(rule) = blocked {
                let at = self.at(&work);
                self.record(PageFacts::without_answer(
                    &work.url,
                    at,
                    Outcome::Blocked(rule.into()),
                ));
                continue;
            }
            if self.taken >= self.config.max_pages {
                self.cut.get_or_insert(Termination::MaxPages);
                self.frontier.finished();
                if !fresh {
                    continue;
                }
                return Next::None;
            }
            self.taken += 1;
            return Next::Work(work);
        }
        Next::Again
    }

    /// Queues what is known and reached by no link. False when there is nothing.
    fn seed(&mut self) -> bool {
        let Self {
            table,
            builder,
            scope,
            frontier,
            ..
        } = self;
        let mut seeds = Vec::new();
        for id in (0..table.len() as u32).map(UrlId) {
            let wanted = table.provenance(id) != 0 && builder.is_internal(id) && !frontier.is_placed(id);
            if wanted && scope.is_crawled(table.key(id)) {
                seeds.push(id);
            }
        }
        frontier.seed(seeds.into_iter())
    }

    /// Whether too many URLs differ from this one in their query only.
    fn is_trap(&mut self, id: UrlId) -> bool {
        let Some((path, _)) = self.table.key(id).split_once('?') else {
            return false;
        };
        let (variants, left_out) = self.variants.entry(text::hash(path.as_bytes())).or_default();
        *variants += 1;
        let trap = *variants > self.config.max_query_variants;
        if trap {
            left_out.get_or_insert(id);
        }
        trap
    }

    fn ask_robots(&mut self, origin: Box<str>, work: Work) {
        let Ok(root) = Url::parse(&origin) else {
            self.frontier.finished();
            return;
        };
        let mut survey = Survey::new(self.fetcher.clone(), &self.config, self.now.clone());
        let sender = self.sender.clone();
        self.gates.insert(origin.clone(), Gate::Asking(vec![work]));
        self.tasks.spawn(async move {
            let file = AssertUnwindSafe(survey.robots(&root))
                .catch_unwind()
                .await
                .unwrap_or_default();
            sender.send(Event::Robots(origin, file)).await.ok();
        });
    }

    fn start(&mut self, mut work: Work) {
        let (fetcher, sender) = (self.fetcher.clone(), self.sender.clone());
        let body_limit = self.config.body_limit;
        self.fetching += 1;
        work.attempts = work.attempts.saturating_add(1);
        self.tasks.spawn(async move {
            let ask = |method, body_limit| {
                let request = Request {
                    url: work.url.clone(),
                    method,
                    body_limit,
                    fresh: false,
                };
                AssertUnwindSafe(fetcher.fetch(request)).catch_unwind()
            };
            let fetched = if is_media(&work.url) {
                match ask(Method::Head, 0).await {
                    // Some servers refuse HEAD in one way or another.
                    Ok(Ok(answer)) if answer.status >= 400 => ask(Method::Get, 1).await,
                    head => head,
                }
            } else {
                ask(Method::Get, body_limit).await
            };
            sender
                .send(Event::Fetched(work, fetched.unwrap_or(Err(FetchError::Broken))))
                .await
                .ok();
        });
    }

    /// Waits for what happens next, and takes it in. `None` when a batch could not be handed over.
    pub(super) async fn turn(&mut self, until: Option<Instant>) -> Option<()> {
        let now = Instant::now();
        let due = self.pending.due();
        let save = due.is_some_and(|due| due <= now);
        let soonest = until
            .into_iter()
            .chain(due.filter(|_| !save))
            .fold(self.deadline, Instant::min);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => self.stop(Termination::Cancelled),
            room = self.pending.room().reserve_owned(), if save => {
                let batch = self.batch();
                room.ok()?.send(batch);
            }
            Some(event) = self.events.recv() => {
                self.take(event);
                while let Ok(event) = self.events.try_recv() {
                    self.take(event);
                }
                while self.tasks.try_join_next().is_some() {}
            }
            () = tokio::time::sleep_until(soonest) => {
                if soonest >= self.deadline {
                    self.stop(Termination::MaxDuration);
                }
            }
        }
        Some(())
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Fetched(work, fetched) => self.fetched(work, fetched),
            Event::Read(page) => {
                self.reading -= 1;
                self.reading_bytes -= page.held;
                self.adopt(*page);
            }
            Event::Robots(origin, file) => {
                let policy = self.policy(&file);
                if let (Policy::Follow(rules), Some(host)) = (&policy, host_of(&origin))
                    && let Some(delay) = rules.delay
                {
                    self.pace(&host).slow_to(delay);
                }
                if let Some(Gate::Asking(waiting)) = self.gates.insert(origin, Gate::Known(policy)) {
                    self.ready.extend(waiting);
                }
            }
            Event::Checked(host, work, fetched) => self.checked(host, work, fetched),
        }
    }

    fn fetched(&mut self, mut work: Work, fetched: Fetched) {
        self.fetching -= 1;
        let now = Instant::now();
        let (signal, passing, failed) = judge(&fetched);
        let host: Box<str> = work.url.host_str().unwrap_or_default().into();
        self.pace(&host).end(now, signal);
        self.bytes += fetched.as_ref().map_or(0, |answer| answer.wire_bytes);
        if self.bytes > self.config.max_bytes {
            self.cut = Some(Termination::MaxBytes);
        }
        if passing && let Some(delay) = self.config.retry_delays.get(usize::from(work.attempts) - 1) {
            let asked = match signal {
                Signal::TooMuch(Some(after)) => after.min(std::time::Duration::from_secs(60)),
                _ => std::time::Duration::ZERO,
            };
            self.retries.insert((now + asked.max(*delay), work.id.0), work);
            return;
        }
        if let Ok(answer) = &fetched
            && let Some(same) = self.other_spelling(&work, answer)
        {
            (work.url, work.attempts, work.aliases) = (same, 0, work.aliases + 1);
            self.retries.insert((now, work.id.0), work);
            return;
        }
        if self.pace(&host).settle(failed) && host_of(&self.origin.root).as_deref() == Some(&*host) {
            self.stop(Termination::HostUnavailable);
        }
        let at = self.at(&work);
        match fetched {
            Err(error) => self.record(PageFacts::without_answer(&work.url, at, Outcome::Failed(error))),
            Ok(response) => {
                let short = response.body.is_empty() || matches!(response.status, 300..=399);
                let job = Job {
                    response,
                    url: work.url,
                    at,
                    urls: self.table.page(work.id),
                };
                if short {
                    self.adopt(read(job, &self.limits));
                } else {
                    self.reading += 1;
                    self.reading_bytes += job.response.body.len();
                    self.readers.push(job);
                }
            }
        }
    }

    /// A redirect from one spelling of a URL to another is not a redirect of the page to itself: the
    /// spelling that the server wants is fetched instead.
    fn other_spelling(&self, work: &Work, answer: &Response) -> Option<Url> {
        if work.aliases >= ALIASES || !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = answer.headers.get(http::header::LOCATION)?.to_str().ok()?;
        let mut target = work.url.join(location.trim()).ok()?;
        target.set_fragment(None);
        let same = crate::url_key::url_key(&target) == self.table.key(work.id);
        let unlike = target != work.url && target.username().is_empty() && target.password().is_none();
        (same && unlike).then_some(target)
    }

    fn adopt(&mut self, page: ReadPage) {
        let ReadPage { mut facts, urls, .. } = page;
        let before = self.table.len();
        self.table.adopt(&urls, &mut facts);
        self.note_urls(before);
        self.record(facts);
    }

    /// Takes in a page of the site that nothing more is expected of.
    fn record(&mut self, facts: PageFacts) {
        let id = facts.id;
        self.builder.add(&facts);
        self.tally.add(self.builder.state(id));
        self.expand(id);
        self.frontier.finished();
        self.pending.page(Page {
            depth: self.frontier.depth(id),
            facts,
        });
    }

    /// Offers what a page leads to.
    fn expand(&mut self, id: UrlId) {
        let mut targets = std::mem::take(&mut self.targets);
        targets.clear();
        targets.extend(self.builder.targets(id).filter(|(target, _)| *target != id));
        for (target, kind) in &targets {
            self.table.mark(
                *target,
                match kind {
                    Kind::Follow | Kind::NoFollow => provenance::LINK,
                    Kind::Canonical => provenance::CANONICAL,
                    Kind::Hreflang => provenance::HREFLANG,
                },
            );
            if *kind == Kind::Follow && !self.frontier.is_placed(*target) && self.is_crawled(*target) {
                self.frontier.offer_link(*target);
            }
        }
        self.targets = targets;
        if let Some(target) = self.builder.redirect(id).filter(|target| *target != id)
            && (!self.is_crawled(target) || self.frontier.offer_redirect(id, target))
        {
            self.table.mark(target, provenance::REDIRECT);
        }
    }

    fn is_crawled(&self, id: UrlId) -> bool {
        self.builder.is_internal(id) && self.scope.is_crawled(self.table.key(id))
    }

    /// Looks at the URLs that became known.
    pub(super) fn note_urls(&mut self, from: usize) {
        for id in (from as u32..self.table.len() as u32).map(UrlId) {
            if self.scope.is_internal(self.table.key(id)) {
                self.builder.set_internal(id);
                self.internal += 1;
            }
        }
    }

    pub(super) fn at(&self, work: &Work) -> At {
        At {
            id: work.id,
            attempts: work.attempts,
            fetched_at_ms: (self.now)(),
        }
    }

    fn pace(&mut self, host: &str) -> &mut Pace {
        if !self.paces.contains_key(host) {
            self.paces
                .insert(host.into(), Pace::new(self.config.delay, self.config.connections));
        }
        self.paces
            .entry(host.into())
            .or_insert_with(|| Pace::new(self.config.delay, self.config.connections))
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    fn stop(&mut self, why: Termination) {
        self.stop.get_or_insert(why);
    }

    fn progress(&self) -> Progress {
        let open = self.fetching + self.reading + self.retries.len() + self.ready.len();
        Progress {
            discovered: self.internal,
            fetched: self.tally.fetched,
            queued: u32::try_from(self.frontier.queued() + open).unwrap_or(u32::MAX),
            failed: self.tally.failed,
            blocked: self.tally.blocked,
        }
    }

    fn batch(&mut self) -> Batch {
        let progress = self.progress();
        Batch {
            progress,
            ..self.pending.take(&self.table, &self.frontier, &self.builder)
        }
    }

    /// Asks for a made-up URL in the folder that all pages share, where errors may look different.
    async fn probe_folder(&mut self) {
        let folder = self.shared_folder();
        if self.origin.probes.len() != 1 || folder.len() < 2 {
            return;
        }
        let Ok(root) = Url::parse(&self.origin.root) else {
            return;
        };
        let mut dice = Dice(self.config.seed);
        let _first = dice.roll();
        let url = at(&root, &format!("{folder}{:016x}", dice.roll()));
        let allowed = match self.gates.get(&self.origin.root) {
            Some(Gate::Known(Policy::Follow(rules))) => rules.forbids(path(&url)).is_none(),
            _ => false,
        };
        if !allowed {
            return;
        }
        let mut survey = Survey::new(self.fetcher.clone(), &self.config, self.now.clone());
        let probe = tokio::select! {
            probe = survey.probe(url, self.config.body_limit) => probe,
            () = self.cancel.cancelled() => return self.stop(Termination::Cancelled),
        };
        if let Some(probe) = probe {
            self.origin.probes.push(probe);
            self.pending.origin(self.origin.clone());
        }
    }

    /// Path, with its last slash, that all pages but the start page share.
    fn shared_folder(&self) -> String {
        let mut shared: Option<&str> = None;
        for id in (0..self.table.len() as u32).map(UrlId) {
            if !self.builder.is_internal(id)
                || self.builder.state(id) != State::Html
                || id == self.origin.home
                || id.0 == 0
            {
                continue;
            }
            let key = self.table.key(id);
            let path = key.get(origin(key).len()..).unwrap_or_default();
            let path = path.split('?').next().unwrap_or_default();
            let same = match shared {
                None => path.len(),
                Some(known) => known
                    .bytes()
                    .zip(path.bytes())
                    .take_while(|(a, b)| a == b)
                    .count(),
            };
            shared = path
                .get(..same)
                .or(Some(""))
                .map(|p| &p[..p.rfind('/').map_or(0, |i| i + 1)]);
        }
        shared.unwrap_or_default().to_owned()
    }

    /// Hands over the last batches and finishes the index.
    async fn end(mut self) -> Option<Ending> {
        self.tasks.abort_all();
        let termination = match (self.stop, self.cut) {
            (Some(stop), _) => stop,
            (None, Some(cut)) => cut,
            (None, None) if self.frontier.beyond() > 0 => Termination::MaxDepth,
            (None, None) => Termination::Complete,
        };
        loop {
            let batch = self.batch();
            self.pending.room().send(batch).await.ok()?;
            if !self.pending.is_filled() {
                break;
            }
        }
        let progress = self.progress();
        let Self {
            table,
            builder,
            frontier,
            origin,
            variants,
            config,
            ..
        } = self;
        let most = config.max_query_variants;
        let mut traps: Vec<(u32, u32)> = variants
            .into_values()
            .filter_map(|(n, first)| Some((first?.0, n - most)))
            .collect();
        traps.sort_unstable();
        let complete = termination == Termination::Complete;
        let (probes, home) = (origin.probes.clone(), origin.home);
        let index = tokio::task::spawn_blocking(move || {
            builder.finish(
                table,
                Ends {
                    depths: frontier.into_depths(),
                    probes: &probes,
                    home,
                    traps,
                    complete,
                },
            )
        });
        let index = index
            .await
            .inspect_err(|error| tracing::error!(%error, "cannot finish the index"))
            .ok()?;
        Some(Ending {
            termination,
            index,
            origin,
            progress,
        })
    }
}

/// What an exchange says of the host, whether trying again may help, and whether it counts as failed.
fn judge(fetched: &Fetched) -> (Signal, bool, bool) {
    match fetched {
        Ok(answer) => match answer.status {
            429 | 503 => (Signal::TooMuch(retry_after(&answer.headers)), true, true),
            // The server is there, what stands behind it is not.
            502 | 504 => (Signal::Fine, true, true),
            500.. => (Signal::Fine, true, false),
            _ => (Signal::Fine, false, false),
        },
        Err(FetchError::Denied | FetchError::Tls) => (Signal::Nothing, false, true),
        Err(_) => (Signal::Nothing, true, true),
    }
}

fn host_of(origin: &str) -> Option<Box<str>> {
    Url::parse(origin).ok()?.host_str().map(Into::into)
}
