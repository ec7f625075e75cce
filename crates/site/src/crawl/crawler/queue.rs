//! Chooses the next fetch: retries that are due, then the frontier, subject to robots.txt and to the request rate of
//! the host.

use std::{panic::AssertUnwindSafe, sync::atomic::Ordering::Relaxed};

use futures_util::FutureExt;
use searchwright_text as text;
use tokio::time::Instant;
use url::Url;

use super::{
    Crawler, Discovery, Wake,
    conditional_get::{Ask, Asked},
    host_of,
};
use crate::{
    crawl::{
        Termination,
        discovery::{Survey, path, policy},
        event::CrawlEvent,
        fetch_task::FetchTask,
        let_others_run,
        parse_job::{ParseJob, read, still},
        robots_gate::RobotsGate,
        scope::origin,
    },
    fetch::{FetchError, Response},
    graph::State,
    page::{At, Limits, Outcome, PageFacts, UrlId},
    robots::{Agent, Policy},
    urls::provenance,
    well_known::WellKnownFile,
};

/// Number of pages waiting to be parsed above which no fetch begins; [`READING_BYTES`] is the same limit in bytes.
const READING: usize = 32;
const READING_BYTES: usize = 32 * 1024 * 1024;
/// Maximum size in bytes of a page that is parsed in its fetch task.
const SMALL_PAGE: usize = 256 * 1024;
/// Number of known pages to skip before other tasks get a turn.
const REPLAYS: usize = 512;

enum Next {
    FetchTask(FetchTask),
    Again,
    None,
}

impl Crawler {
    /// Starts every fetch that may start now.
    pub(super) fn fill(&mut self) -> Wake {
        loop {
            if self.stop.is_some() {
                return Wake::Done;
            }
            let busy = self.parser.running >= READING
                || self.parser.running_bytes >= READING_BYTES
                || self.recorder.pending.is_crowded();
            if busy {
                return Wake::Wait(None);
            }
            let now = Instant::now();
            let work = if let Some(due) = self.queue.retries.first_entry().filter(|due| due.key().0 <= now) {
                due.remove()
            } else if let Some(held) = self.queue.held.take() {
                held
            } else {
                match self.next_work() {
                    Next::FetchTask(work) => work,
                    Next::Again => return Wake::Again,
                    Next::None if self.is_idle() => return Wake::Done,
                    Next::None => return Wake::Wait(self.queue.retries.keys().next().map(|(due, _)| *due)),
                }
            };
            let pace = &mut self.queue.hosts[work.host];
            if pace.is_dead() {
                self.cut.get_or_insert(Termination::HostUnavailable);
                self.discovery.frontier.finished();
                continue;
            }
            match pace.ready_at(now) {
                Some(at) if at <= now => {
                    pace.begin(now, self.queue.dice.jitter());
                    self.start(work);
                }
                ready_at => {
                    // a retry gives way to a held task, which has waited longer
                    match &self.queue.held {
                        None => self.queue.held = Some(work),
                        Some(_) => drop(self.queue.retries.insert((now, work.id.0), work)),
                    }
                    let due = self
                        .queue
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
        let waiting =
            self.fetcher.fetching + self.parser.running + self.queue.retries.len() + self.queue.ready.len();
        let asking = self
            .queue
            .gates
            .values()
            .any(|gate| matches!(gate, RobotsGate::Asking(works) if !works.is_empty()));
        waiting == 0 && !asking
    }

    /// Returns the next URL that may be fetched, and handles URLs that need no fetch on the way.
    fn next_work(&mut self) -> Next {
        for _ in 0..REPLAYS {
            let (work, fresh) = match self.queue.ready.pop_front() {
                Some(work) => (work, false),
                None if matches!(self.cut, Some(Termination::MaxPages | Termination::MaxBytes)) => {
                    return Next::None;
                }
                None => match self.discovery.frontier.next(&self.discovery.table) {
                    None if self.discovery.frontier.is_idle() && self.seed() => continue,
                    None => return Next::None,
                    Some(id) if self.discovery.builder.state(id) == State::Blocked => {
                        // saved before a restart
                        self.is_one_of_many(id);
                        self.discovery.frontier.finished();
                        continue;
                    }
                    Some(id) if self.discovery.builder.is_known(id) => {
                        // saved before a restart: only its targets remain to be handled
                        if !self.is_trap(id) {
                            self.recorder.taken += 1;
                            self.expand(id);
                        }
                        self.discovery.frontier.finished();
                        continue;
                    }
                    Some(id) if !self.is_permitted(id) => {
                        // counted as in the full crawl
                        if self.is_forbidden(id) {
                            self.is_one_of_many(id);
                        } else {
                            self.is_trap(id);
                        }
                        self.discovery.frontier.finished();
                        continue;
                    }
                    Some(id) => match Url::parse(self.discovery.table.url(id)) {
                        Ok(url) => {
                            let host = self.queue.hosts.index_of(url.host_str().unwrap_or_default());
                            let work = FetchTask {
                                id,
                                url,
                                host,
                                attempts: 0,
                                hops: 0,
                            };
                            (work, true)
                        }
                        Err(_) => {
                            self.discovery.frontier.finished();
                            continue;
                        }
                    },
                },
            };
            let refused = match self.queue.gates.get_mut(origin(work.url.as_str())) {
                Some(RobotsGate::Absent(error)) => Some(Outcome::Failed(error.clone())),
                Some(RobotsGate::Known(Policy::Unreachable)) => {
                    Some(Outcome::Blocked("robots.txt unreachable".into()))
                }
                Some(RobotsGate::Known(Policy::Follow(rules))) => {
                    let rule = rules.forbids(path(&work.url));
                    rule.map(|rule| Outcome::Blocked(rule.to_string().into()))
                }
                Some(RobotsGate::Asking(waiting)) => {
                    waiting.push(work);
                    continue;
                }
                None => {
                    self.ask_robots(work);
                    continue;
                }
            };
            if matches!(refused, Some(Outcome::Blocked(_))) && self.is_one_of_many(work.id) {
                self.discovery.frontier.finished();
                continue;
            }
            if let Some(outcome @ Outcome::Blocked(_)) = refused {
                let at = self.at(&work);
                self.record(PageFacts::without_answer(&work.url, at, outcome));
                continue;
            }
            if self.is_trap(work.id) {
                self.discovery.frontier.finished();
                continue;
            }
            if self.recorder.taken >= self.config.max_pages {
                self.cut.get_or_insert(Termination::MaxPages);
                self.discovery.frontier.finished();
                if !fresh {
                    continue;
                }
                return Next::None;
            }
            self.recorder.taken += 1;
            if let Some(outcome) = refused {
                let at = self.at(&work);
                self.record(PageFacts::without_answer(&work.url, at, outcome));
                continue;
            }
            return Next::FetchTask(work);
        }
        Next::Again
    }

    /// Queues known URLs that no link leads to, and given ones that are too many clicks away: a URL from another source
    /// is fetched at any depth. Returns false if there is none.
    fn seed(&mut self) -> bool {
        let Discovery {
            table,
            builder,
            scope,
            frontier,
            ..
        } = &mut self.discovery;
        let mut seeds = Vec::new();
        for id in (0..table.len() as u32).map(UrlId) {
            let given = table.provenance(id) & provenance::GIVEN != 0;
            let waits = !frontier.is_placed(id) || given && frontier.is_beyond(id);
            let wanted = table.provenance(id) != 0 && builder.is_internal(id);
            if waits && wanted && scope.is_crawled(table.key(id)) {
                seeds.push(id);
            }
        }
        frontier.seed(seeds.into_iter())
    }

    /// Whether robots.txt forbids a URL that will not be fetched. If the rules are unknown: whether its path already
    /// has as many forbidden query variants as are recorded.
    fn is_forbidden(&self, id: UrlId) -> bool {
        let Ok(url) = Url::parse(self.discovery.table.url(id)) else {
            return false;
        };
        if let Some(RobotsGate::Known(Policy::Follow(rules))) = self.queue.gates.get(origin(url.as_str())) {
            return rules.forbids(path(&url)).is_some();
        }
        let key = self.discovery.table.key(id);
        let (path, _) = key.split_once('?').unwrap_or((key, ""));
        let variants = self.discovery.forbidden.get(&text::hash(path.as_bytes()));
        variants.is_some_and(|variants| *variants >= self.config.max_query_variants)
    }

    /// Whether [`Config::max_query_variants`](crate::crawl::Config) forbidden URLs already differ from this one only in
    /// their query, so that recording one more adds nothing. That is no trap, because the crawl does not go there.
    fn is_one_of_many(&mut self, id: UrlId) -> bool {
        let Some((path, _)) = self.discovery.table.key(id).split_once('?') else {
            return false;
        };
        let variants = self
            .discovery
            .forbidden
            .entry(text::hash(path.as_bytes()))
            .or_default();
        *variants += 1;
        *variants > self.config.max_query_variants
    }

    /// Whether too many fetched URLs differ from this one only in their query.
    fn is_trap(&mut self, id: UrlId) -> bool {
        let Some((path, _)) = self.discovery.table.key(id).split_once('?') else {
            return false;
        };
        let (variants, left_out) = self
            .discovery
            .variants
            .entry(text::hash(path.as_bytes()))
            .or_default();
        *variants += 1;
        let trap = *variants > self.config.max_query_variants;
        if trap {
            left_out.get_or_insert(id);
        }
        trap
    }

    fn ask_robots(&mut self, work: FetchTask) {
        let origin: Box<str> = origin(work.url.as_str()).into();
        let Ok(root) = Url::parse(&origin) else {
            self.discovery.frontier.finished();
            return;
        };
        let mut survey = Survey::new(self.fetcher.client.clone(), &self.config, self.now.clone());
        let sender = self.fetcher.sender.clone();
        self.queue
            .gates
            .insert(origin.clone(), RobotsGate::Asking(vec![work]));
        self.fetcher.tasks.spawn(async move {
            let file = AssertUnwindSafe(survey.robots(&root))
                .catch_unwind()
                .await
                .unwrap_or_default();
            sender.send(CrawlEvent::Robots(origin, file)).await.ok();
        });
    }

    /// Releases the tasks that wait for the robots.txt of an origin.
    pub(super) fn learnt_robots(&mut self, root: Box<str>, file: WellKnownFile) {
        // an error of a host that robots.txt redirected to says nothing about this one
        let absent = match &file.error {
            Some(
                error
                @ (FetchError::Dns | FetchError::Connect | FetchError::Tls | FetchError::Certificate(_)),
            ) if origin(&file.url) == &*root => Some(error.clone()),
            _ => None,
        };
        let policy = policy(&file, &self.config);
        if let Policy::Follow(Agent {
            delay: Some(delay), ..
        }) = &policy
        {
            let host = self.queue.hosts.index_of(&host_of(&root));
            self.queue.hosts[host].slow_to(*delay);
        }
        if self.config.include_subdomains && self.discovery.scope.is_below(&root) {
            self.queue.robots_below.insert(root.clone(), file);
        }
        let gate = absent.map_or(RobotsGate::Known(policy), RobotsGate::Absent);
        if let Some(RobotsGate::Asking(waiting)) = self.queue.gates.insert(root, gate) {
            self.queue.ready.extend(waiting);
        }
    }

    fn start(&mut self, mut work: FetchTask) {
        self.fetcher.fetching += 1;
        work.attempts = work.attempts.saturating_add(1);
        let (at, urls, limits) = (
            self.at(&work),
            self.discovery.table.page(work.id),
            self.parser.limits,
        );
        let wants_texts = self.config.wants_texts.clone();
        // Facts about the site are read from its start page, above all from its headers, which a 304 mostly omits.
        let start = work.id.0 == 0 || work.id == self.discovery.origin.home;
        let ask = Ask {
            fetcher: self.fetcher.client.clone(),
            url: work.url.clone(),
            body_limit: self.config.body_limit,
            fresh: self.discovery.permit.is_some(),
            doubts: self.fetcher.doubts.clone(),
            // after a failed attempt the page is fetched unconditionally
            earlier: self
                .config
                .earlier
                .clone()
                .filter(|_| !start && work.attempts == 1),
            useless: self.fetcher.useless.clone(),
            now: self.now.clone(),
        };
        let (sender, desk) = (self.fetcher.sender.clone(), self.parser.queue.clone());
        self.fetcher.tasks.spawn(async move {
            let asked = ask.page().await;
            let at = At {
                fetched_at_ms: (ask.now)(),
                ..at
            };
            let event = match asked {
                Asked::Unchanged(facts, known, answer) => {
                    let page = still(*facts, &known, &answer, &ask.url, at, urls);
                    CrawlEvent::FetchedAndRead(work, page.facts.wire_bytes, Box::new(page))
                }
                Asked::Answer(Ok(response)) if is_small_page(&response) => {
                    let job = ParseJob {
                        response,
                        url: ask.url,
                        at,
                        urls,
                    };
                    desk.put(work, job);
                    // yields until pages that arrived meanwhile are queued too
                    tokio::task::yield_now().await;
                    let limits = Limits {
                        keeps_text: wants_texts.load(Relaxed),
                        ..limits
                    };
                    for (work, job) in desk.take() {
                        // lets the crawler handle the previous page, and the runtime poll the sockets
                        let_others_run();
                        let wire_bytes = job.response.wire_bytes;
                        let page = Box::new(read(job, &limits));
                        sender
                            .send(CrawlEvent::FetchedAndRead(work, wire_bytes, page))
                            .await
                            .ok();
                    }
                    return;
                }
                Asked::Answer(other) => CrawlEvent::Fetched(work, other),
            };
            sender.send(event).await.ok();
        });
    }
}

/// Whether a response is a small page that only needs parsing, which takes less than a millisecond.
fn is_small_page(response: &Response) -> bool {
    (200..300).contains(&response.status) && (1..=SMALL_PAGE).contains(&response.body.len())
}
