//! Fetches URLs of other sites slowly, with a separate rate for each host: only headers for link targets, the page for
//! language alternates.

use std::{
    collections::{BTreeMap, HashSet},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use futures_util::FutureExt;
use tokio::{sync::Semaphore, time::Instant};
use url::Url;

use super::Crawler;
use crate::{
    crawl::{
        CrawledPage, alternates,
        event::CrawlEvent,
        fetch_task::FetchTask,
        parse_job::{ParseJob, ParsedPage},
        scope,
    },
    fetch::{FetchError, Fetched, Method, Request},
    page::{At, Outcome, PageFacts, UrlId},
    urls::provenance,
};

/// Maximum number of simultaneous checks.
const MAX_CONCURRENT: usize = 16;
/// Maximum number of alternates that are parsed at the same time.
const READING: usize = 2;
/// Number of failures in a row after which a host is skipped.
const MAX_FAILURES: u8 = 3;
/// Maximum number of redirects followed from a link, no fewer than other crawlers and browsers follow.
const MAX_HOPS: u8 = 10;

/// The links to one host.
struct Host {
    name: Box<str>,
    /// URLs to check, each with the number of redirects that led there; the last one is next.
    waiting: Vec<(UrlId, u8)>,
    next: Instant,
    busy: bool,
    failures: u8,
}

impl Host {
    fn new(name: &str, waiting: Vec<(UrlId, u8)>) -> Self {
        Self {
            name: name.into(),
            waiting,
            next: Instant::now(),
            busy: false,
            failures: 0,
        }
    }
}

/// The external checks of a crawl.
pub(super) struct Checks {
    hosts: Vec<Host>,
    in_flight: usize,
    /// Number of redirects that may still be followed.
    left: usize,
    /// URLs fetched in this run: a partial recrawl trusts no older outcome on the redirect path of a link.
    asked: HashSet<UrlId>,
    /// Limits how many alternates are parsed at the same time.
    reading: Arc<Semaphore>,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            in_flight: 0,
            left: 0,
            asked: HashSet::new(),
            reading: Arc::new(Semaphore::new(READING)),
        }
    }
}

impl Crawler {
    /// Checks the links to other sites until all are done or their time is over. Returns `None` if a batch could not be
    /// handed over.
    pub(super) async fn check_links(&mut self) -> Option<()> {
        self.recorder.checks = self.foreign_links();
        let until = (Instant::now() + self.config.external_duration).min(self.deadline);
        while !self.is_stopped() && Instant::now() < until && self.recorder.bytes <= self.config.max_bytes {
            let wake = self.start_checks();
            if self.recorder.checks.in_flight == 0 && wake.is_none() {
                break;
            }
            self.turn(Some(wake.map_or(until, |w| w.min(until)))).await?;
        }
        Some(())
    }

    fn foreign_links(&self) -> Checks {
        let pointed_at =
            provenance::LINK | provenance::REDIRECT | provenance::CANONICAL | provenance::HREFLANG;
        let mut ids: Vec<UrlId> = (0..self.discovery.table.len() as u32)
            .map(UrlId)
            .filter(|id| {
                !self.discovery.builder.is_internal(*id)
                    && self.discovery.table.provenance(*id) & pointed_at != 0
            })
            // URLs that may not be fetched again take no place
            .filter(|id| self.is_permitted(*id))
            .collect();
        ids.sort_unstable_by(|a, b| self.discovery.table.key(*b).cmp(self.discovery.table.key(*a)));
        let (links, alternates): (Vec<UrlId>, Vec<UrlId>) =
            ids.into_iter().partition(|id| !self.is_alternate(*id));
        // The choice must not depend on what a process that died had already checked. Neither links nor alternates get
        // less than half of the places because of the other kind.
        let most = self.config.max_external;
        let of_alternates = alternates
            .len()
            .min((most / 2).max(most.saturating_sub(links.len())));
        let last = |ids: &'_ [UrlId], count: usize| ids[ids.len().saturating_sub(count)..].to_vec();
        let mut asked = last(&links, most - of_alternates);
        asked.extend(last(&alternates, of_alternates));
        let count = asked.len();
        let mut hosts: BTreeMap<&str, Vec<(UrlId, u8)>> = BTreeMap::new();
        for (id, hops) in asked.into_iter().filter_map(|id| self.unasked(id, 0)) {
            hosts.entry(self.host_of(id)).or_default().push((id, hops));
        }
        let hosts = hosts.into_iter().map(|(name, waiting)| Host::new(name, waiting));
        Checks {
            hosts: hosts.collect(),
            left: most.saturating_sub(count),
            ..Checks::default()
        }
    }

    fn host_of(&self, id: UrlId) -> &str {
        let origin = scope::origin(self.discovery.table.key(id));
        origin.split_once("://").map_or(origin, |(_, host)| host)
    }

    /// Returns the URL to fetch next in order to follow a URL's redirects to their end, with the number of redirects
    /// that lead there: the URL itself, or the end of its known redirects. `None` if the end is known, leads back to
    /// the site, or if the URL only matters as an alternate, which has to respond itself.
    fn unasked(&self, mut id: UrlId, mut hops: u8) -> Option<(UrlId, u8)> {
        let is_followed = hops > 0
            || self.discovery.table.provenance(id) & !(provenance::HREFLANG | provenance::GIVEN) != 0;
        // in a partial recrawl, earlier redirects may be outdated
        let is_known = |id: UrlId, hops: u8| {
            let is_stale =
                hops > 0 && self.discovery.permit.is_some() && !self.recorder.checks.asked.contains(&id);
            self.discovery.builder.is_known(id) && !is_stale
        };
        while is_known(id, hops) {
            id = self
                .discovery
                .builder
                .redirect(id)
                .filter(|_| is_followed && hops < MAX_HOPS)?;
            hops += 1;
            if self.discovery.builder.is_internal(id) {
                return None;
            }
        }
        Some((id, hops))
    }

    /// Queues the target of a redirect after all other URLs of its host, unless the host is skipped.
    fn follow(&mut self, work: &FetchTask) {
        let next = self.unasked(work.id, work.hops);
        let Some(next) = next.filter(|_| self.recorder.checks.left > 0) else {
            return;
        };
        let name: Box<str> = self.host_of(next.0).into();
        let hosts = &mut self.recorder.checks.hosts;
        match hosts.iter_mut().find(|host| host.name == name) {
            Some(host) if host.failures < MAX_FAILURES => host.waiting.insert(0, next),
            Some(_) => return,
            None => hosts.push(Host::new(&name, vec![next])),
        }
        self.recorder.checks.left -= 1;
    }

    /// Whether pages of the site name a URL as their alternate in another language.
    fn is_alternate(&self, id: UrlId) -> bool {
        self.discovery.table.provenance(id) & provenance::HREFLANG != 0
    }

    /// Starts the checks that may start now, and returns the time at which the next one may.
    fn start_checks(&mut self) -> Option<Instant> {
        let now = Instant::now();
        let mut wake: Option<Instant> = None;
        for i in 0..self.recorder.checks.hosts.len() {
            let host = &mut self.recorder.checks.hosts[i];
            if host.busy || host.waiting.is_empty() {
                continue;
            }
            if host.next > now || self.recorder.checks.in_flight >= MAX_CONCURRENT {
                // at the limit of simultaneous checks, an event wakes the task
                if host.next > now {
                    wake = Some(wake.map_or(host.next, |w| w.min(host.next)));
                }
                continue;
            }
            // two links may redirect to the same URL
            let asked = &self.recorder.checks.asked;
            host.waiting.retain(|(id, _)| !asked.contains(id));
            if let Some((id, hops)) = host.waiting.pop()
                && let Ok(url) = Url::parse(self.discovery.table.url(id))
            {
                (host.busy, host.next) = (true, now + self.config.external_delay);
                self.recorder.checks.in_flight += 1;
                self.start_check(FetchTask {
                    id,
                    url,
                    host: i,
                    attempts: 0,
                    hops,
                });
            }
        }
        wake
    }

    fn start_check(&mut self, mut work: FetchTask) {
        let (fetcher, sender, now) = (
            self.fetcher.client.clone(),
            self.fetcher.sender.clone(),
            self.now.clone(),
        );
        let (delay, retry) = (self.config.external_delay, self.config.retry_delays[0]);
        let fresh = self.discovery.permit.is_some();
        let urls = self.discovery.table.page(work.id);
        let reading = self.recorder.checks.reading.clone();
        let whole = self.is_alternate(work.id).then_some(self.config.body_limit);
        self.fetcher.tasks.spawn(async move {
            let mut method = whole.map_or(Method::Head, |_| Method::Get);
            let fetched = loop {
                work.attempts += 1;
                let request = Request {
                    url: work.url.clone(),
                    method,
                    body_limit: whole.unwrap_or(1),
                    fresh,
                    picture: false,
                    unless: None,
                };
                let fetched = AssertUnwindSafe(fetcher.fetch(request)).catch_unwind().await;
                let fetched = fetched.unwrap_or(Err(FetchError::Broken));
                match again(&fetched, method, work.attempts) {
                    Some(Again::ByGet) => (method, _) = (Method::Get, tokio::time::sleep(delay).await),
                    Some(Again::Later) => tokio::time::sleep(retry.max(delay)).await,
                    None => break fetched,
                }
            };
            let at = At {
                id: work.id,
                attempts: work.attempts,
                fetched_at_ms: now(),
            };
            let url = work.url.clone();
            let page = match fetched {
                Err(error) => ParsedPage {
                    facts: PageFacts::without_answer(&url, at, Outcome::Failed(error)),
                    urls,
                    held: 0,
                },
                Ok(mut response) => {
                    if whole.is_none() {
                        response.body = Bytes::new();
                    }
                    let job = ParseJob {
                        response,
                        url,
                        at,
                        urls,
                    };
                    if whole.is_some() {
                        // parsed at any length, but few at a time, because each takes several times its size in memory
                        let _permit = reading.acquire().await;
                        let read = tokio::task::spawn_blocking(|| alternates::alternate(job)).await;
                        let Ok(page) = read else { return };
                        page
                    } else {
                        alternates::head(job)
                    }
                }
            };
            sender.send(CrawlEvent::Checked(work, Box::new(page))).await.ok();
        });
    }

    pub(super) fn checked(&mut self, work: &FetchTask, page: ParsedPage) {
        let ParsedPage { mut facts, urls, .. } = page;
        self.recorder.bytes += facts.wire_bytes;
        self.recorder.checks.in_flight -= 1;
        let failed = matches!(
            facts.outcome,
            Outcome::Failed(FetchError::Timeout | FetchError::Connect | FetchError::Dns)
        );
        if let Some(host) = self.recorder.checks.hosts.get_mut(work.host) {
            host.busy = false;
            host.next = host
                .next
                .max(Instant::now() + self.config.external_delay.min(Duration::from_secs(60)));
            host.failures = if failed { host.failures + 1 } else { 0 };
            if host.failures >= MAX_FAILURES {
                host.waiting.clear();
            }
        }
        let before = self.discovery.table.len();
        self.discovery.table.adopt_foreign(&urls, &mut facts);
        self.note_urls(before);
        if let Some(html) = &mut facts.html {
            let is_ours = |id: UrlId| id == work.id || self.discovery.builder.is_internal(id);
            html.hreflangs.retain(|link| link.target.is_some_and(is_ours));
        }
        self.discovery.builder.add(&facts);
        self.recorder.pending.page(CrawledPage { facts, depth: None });
        self.recorder.checks.asked.insert(work.id);
        self.follow(work);
    }
}

enum Again {
    /// GET, because the server may not support HEAD.
    ByGet,
    Later,
}

/// Decides on another attempt: GET after a refused HEAD; one retry if there was no response, or if a GET got 5xx.
fn again(fetched: &Fetched, method: Method, attempts: u8) -> Option<Again> {
    match fetched {
        Ok(answer) if method == Method::Head => (answer.status >= 400).then_some(Again::ByGet),
        Ok(answer) => (answer.status >= 500 && attempts < 2).then_some(Again::Later),
        Err(FetchError::Timeout | FetchError::Broken) if attempts < 2 => Some(Again::Later),
        Err(_) => None,
    }
}
