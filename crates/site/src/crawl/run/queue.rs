//! What is fetched next: retries that are due, then the frontier, past robots.txt and the pace of the
//! host.

use std::{panic::AssertUnwindSafe, sync::atomic::Ordering::Relaxed, time::Duration};

use futures_util::FutureExt;
use tokio::time::Instant;
use url::Url;

use super::{Event, Gate, Run, Wake, Work};
use crate::{
    crawl::{
        Termination,
        readers::{Job, read},
        scope::{is_media, origin},
        survey::{Survey, path},
    },
    fetch::{FetchError, Method, Request, Response},
    graph::State,
    page::{At, Outcome, PageFacts, UrlId},
    robots::Policy,
    text,
};

/// Pages waiting for a parser, and their bytes, beyond which no fetch begins.
const READING: usize = 32;
const READING_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of a page that is read where it arrived.
const SMALL_PAGE: usize = 256 * 1024;
/// A first byte later than this is asked for once more, and the median of the two counts, which is their mean: a moment
/// in which the server or this machine was busy says half as much.
const SLOW: Duration = Duration::from_millis(800);
/// Known pages gone through before other tasks get a turn.
const REPLAYS: usize = 512;

enum Next {
    Work(Work),
    Again,
    None,
}

impl Run {
    /// Begins whatever may begin now.
    pub(super) fn fill(&mut self) -> Wake {
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
            let pace = &mut self.hosts[work.host];
            if pace.is_dead() {
                self.cut.get_or_insert(Termination::HostUnavailable);
                self.frontier.finished();
                continue;
            }
            match pace.ready_at(now) {
                Some(at) if at <= now => {
                    pace.begin(now, self.dice.jitter());
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
                    Some(id) if !self.is_permitted(id) => {
                        self.frontier.finished();
                        continue;
                    }
                    Some(id) => match Url::parse(self.table.url(id)) {
                        Ok(url) => {
                            let host = self.hosts.of(url.host_str().unwrap_or_default());
                            let work = Work {
                                id,
                                url,
                                host,
                                attempts: 0,
                                aliases: 0,
                            };
                            (work, true)
                        }
                        Err(_) => {
                            self.frontier.finished();
                            continue;
                        }
                    },
                },
            };
            let blocked = match self.gates.get_mut(origin(work.url.as_str())) {
                Some(Gate::Known(Policy::Unreachable)) => Some("robots.txt unreachable".into()),
                Some(Gate::Known(Policy::Follow(rules))) => {
                    rules.forbids(path(&work.url)).map(ToString::to_string)
                }
                Some(Gate::Asking(waiting)) => {
                    waiting.push(work);
                    continue;
                }
                None => {
                    self.ask_robots(work);
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

    fn ask_robots(&mut self, work: Work) {
        let origin: Box<str> = origin(work.url.as_str()).into();
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
        let (body_limit, fresh) = (self.config.body_limit, self.permit.is_some());
        self.fetching += 1;
        work.attempts = work.attempts.saturating_add(1);
        let (at, urls, limits) = (self.at(&work), self.table.page(work.id), self.limits);
        let (now, doubts) = (self.now.clone(), self.doubts.clone());
        self.tasks.spawn(async move {
            let ask = |method, body_limit| {
                let request = Request {
                    url: work.url.clone(),
                    method,
                    body_limit,
                    fresh,
                    picture: false,
                };
                AssertUnwindSafe(fetcher.fetch(request)).catch_unwind()
            };
            let fetched = if is_media(&work.url) {
                match ask(Method::Head, 0).await {
                    // Some servers refuse HEAD in one way or another.
                    Ok(Ok(answer)) if answer.status >= 400 => ask(Method::Get, 1).await,
                    // /wiki/Node.js is a page
                    Ok(Ok(answer)) if answer.status == 200 && says_html(&answer) => {
                        ask(Method::Get, body_limit).await
                    }
                    head => head,
                }
            } else {
                let mut fetched = ask(Method::Get, body_limit).await;
                if let Ok(Ok(answer)) = &mut fetched
                    && answer.status == 200
                    && answer.ttfb > SLOW
                    && doubts
                        .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
                        .is_ok()
                    && let Ok(Ok(again)) = ask(Method::Get, 1).await
                {
                    answer.ttfb = (answer.ttfb + again.ttfb) / 2;
                }
                fetched
            };
            let event = match fetched.unwrap_or(Err(FetchError::Broken)) {
                // Read where it arrived: handing a small page to another thread costs more than reading it.
                Ok(response) if is_small_page(&response) => {
                    let wire_bytes = response.wire_bytes;
                    let at = At {
                        fetched_at_ms: now(),
                        ..at
                    };
                    let job = Job {
                        response,
                        url: work.url.clone(),
                        at,
                        urls,
                    };
                    Event::FetchedAndRead(work, wire_bytes, Box::new(read(job, &limits)))
                }
                other => Event::Fetched(work, other),
            };
            sender.send(event).await.ok();
        });
    }
}

/// Whatever its name says.
fn says_html(response: &Response) -> bool {
    let kind = response.headers.get(http::header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.as_bytes().get(..9));
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/html"))
}

/// A page that nothing but reading it is left of, in less than a millisecond.
fn is_small_page(response: &Response) -> bool {
    (200..300).contains(&response.status) && (1..=SMALL_PAGE).contains(&response.body.len())
}
