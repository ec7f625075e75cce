//! The next fetch: retries that are due, then the frontier, past robots.txt and the pace of the
//! host.

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

/// Pages waiting for a parser, and their bytes, beyond which no fetch begins.
const READING: usize = 32;
const READING_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of a page that is read where it arrived.
const SMALL_PAGE: usize = 256 * 1024;
/// Known pages gone through before other tasks get a turn.
const REPLAYS: usize = 512;

enum Next {
    FetchTask(FetchTask),
    Again,
    None,
}

impl Crawler {
    /// Begins whatever may begin now.
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
                    // A retry gives way to what was held before it, which has waited longer.
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

    /// The next URL that may be fetched. Goes through what needs no fetch on the way.
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
                        // Saved before a restart.
                        self.is_one_of_many(id);
                        self.discovery.frontier.finished();
                        continue;
                    }
                    Some(id) if self.discovery.builder.is_known(id) => {
                        // Saved before a restart: what it leads to is all there is to do.
                        if !self.is_trap(id) {
                            self.recorder.taken += 1;
                            self.expand(id);
                        }
                        self.discovery.frontier.finished();
                        continue;
                    }
                    Some(id) if !self.is_permitted(id) => {
                        // counted as the whole crawl did
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

    /// Queues what is known and reached by no link, or by too many: what is known from elsewhere is asked for however deep
    /// it lies. False when there is nothing.
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

    /// Whether robots.txt forbids a URL that is not asked for; where it is not known, whether there were so many such before that
    /// no more were taken down.
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

    /// Whether so many URLs that robots.txt forbids differ from this one in their query only that one more tells nothing new.
    /// That is no trap: nobody goes there.
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

    /// Whether too many URLs that are fetched differ from this one in their query only.
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

    /// Lets through who waits for the robots.txt of an origin.
    pub(super) fn learnt_robots(&mut self, root: Box<str>, file: WellKnownFile) {
        // not of a host that it was sent on to
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
        // What is said of the site is read off its start page, above all off its headers, of which a 304 says little.
        let start = work.id.0 == 0 || work.id == self.discovery.origin.home;
        let ask = Ask {
            fetcher: self.fetcher.client.clone(),
            url: work.url.clone(),
            body_limit: self.config.body_limit,
            fresh: self.discovery.permit.is_some(),
            doubts: self.fetcher.doubts.clone(),
            // nor is a server that failed asked a second question
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
                    // until those that have come meanwhile are there too
                    tokio::task::yield_now().await;
                    let limits = Limits {
                        keeps_text: wants_texts.load(Relaxed),
                        ..limits
                    };
                    for (work, job) in desk.take() {
                        // to decide about the page before, and to see to what arrives
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

/// A page that nothing but reading it is left of, in less than a millisecond.
fn is_small_page(response: &Response) -> bool {
    (200..300).contains(&response.status) && (1..=SMALL_PAGE).contains(&response.body.len())
}
