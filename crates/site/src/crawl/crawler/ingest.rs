//! Handles the result of a fetch: another attempt, a page to be parsed, or facts to be kept and followed.

use std::time::Duration;

use tokio::time::Instant;
use url::Url;

use super::Crawler;
use crate::{
    crawl::{
        CrawledPage, Termination,
        challenge::is_challenge,
        fetch_task::FetchTask,
        parse_job::{ParseJob, ParsedPage, read},
        politeness::{RETRY_AFTER_LIMIT, Signal, retry_after},
        refresh,
    },
    fetch::{FetchError, Fetched, Response},
    graph::EdgeKind,
    page::{Outcome, PageFacts, UrlId},
    url_key::url_key,
    urls::provenance,
};

/// Maximum number of redirects from a URL to another spelling of itself.
const ALIASES: u8 = 3;

impl Crawler {
    pub(super) fn fetched(&mut self, mut work: FetchTask, fetched: Fetched) {
        self.fetcher.fetching -= 1;
        let now = Instant::now();
        let (signal, passing, failed) = judge(&fetched);
        self.queue.hosts[work.host].end(now, signal);
        self.count_bytes(fetched.as_ref().map_or(0, |answer| answer.wire_bytes));
        if passing && let Some(delay) = self.config.retry_delays.get(usize::from(work.attempts) - 1) {
            let asked = match signal {
                Signal::TooMuch(Some(after)) => after.min(RETRY_AFTER_LIMIT),
                _ => Duration::ZERO,
            };
            self.queue
                .retries
                .insert((now + asked.max(*delay), work.id.0), work);
            return;
        }
        if let Ok(answer) = &fetched
            && let Some(same) = self.other_spelling(&work, answer)
        {
            (work.url, work.attempts, work.hops) = (same, 0, work.hops + 1);
            self.queue.retries.insert((now, work.id.0), work);
            return;
        }
        if self.queue.hosts[work.host].settle(failed) && Some(work.host) == self.queue.root_host {
            self.stop(Termination::HostUnavailable);
        }
        if fetched.as_ref().is_ok_and(|answer| is_challenge(&answer.headers)) {
            self.discovery.challenged.insert(work.id);
        }
        let at = self.at(&work);
        match fetched {
            Err(error) => self.record(PageFacts::without_answer(&work.url, at, Outcome::Failed(error))),
            Ok(response) => {
                let short = response.body.is_empty() || matches!(response.status, 300..=399);
                let job = ParseJob {
                    response,
                    url: work.url,
                    at,
                    urls: self.discovery.table.page(work.id),
                };
                if short {
                    self.adopt(read(job, &self.parser.limits));
                } else {
                    self.parser.running += 1;
                    self.parser.running_bytes += job.response.body.len();
                    self.parser.pool.push(job);
                }
            }
        }
    }

    /// Takes in a page that was parsed in its fetch task. Its status shows that the host is well.
    pub(super) fn fetched_and_read(&mut self, work: &FetchTask, wire_bytes: u64, page: ParsedPage) {
        self.fetcher.fetching -= 1;
        self.queue.hosts[work.host].end(Instant::now(), Signal::Fine);
        self.count_bytes(wire_bytes);
        self.queue.hosts[work.host].settle(false);
        self.adopt(page);
    }

    fn count_bytes(&mut self, wire_bytes: u64) {
        self.recorder.bytes += wire_bytes;
        if self.recorder.bytes > self.config.max_bytes {
            self.cut = Some(Termination::MaxBytes);
        }
    }

    /// Returns the target of a redirect from one spelling of a URL to another. This is not a redirect of the page to
    /// itself: the spelling that the server wants is fetched instead.
    fn other_spelling(&self, work: &FetchTask, answer: &Response) -> Option<Url> {
        if work.hops >= ALIASES || !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = answer.headers.get(http::header::LOCATION)?;
        let location = String::from_utf8_lossy(location.as_bytes());
        let mut target = work.url.join(location.trim()).ok()?;
        target.set_fragment(None);
        let same = url_key(&target) == self.discovery.table.key(work.id);
        let unlike = target != work.url && target.username().is_empty() && target.password().is_none();
        (same && unlike).then_some(target)
    }

    pub(super) fn adopt(&mut self, page: ParsedPage) {
        let ParsedPage { mut facts, urls, .. } = page;
        let before = self.discovery.table.len();
        self.discovery.table.adopt(urls, &mut facts);
        let refresh =
            refresh::target(&facts, &self.discovery.scope).and_then(|url| self.discovery.table.add_url(&url));
        self.note_urls(before);
        self.add_page(facts, refresh);
    }

    /// Takes in a page of the site for which no further result is expected.
    pub(super) fn record(&mut self, facts: PageFacts) {
        self.add_page(facts, None);
    }

    fn add_page(&mut self, facts: PageFacts, refresh: Option<UrlId>) {
        let id = facts.id;
        self.discovery.builder.add_refreshed(&facts, refresh);
        if self.wants_resources(id) {
            self.recorder.collector.page(&facts);
        }
        self.recorder.tally.add(self.discovery.builder.state(id));
        self.expand(id);
        self.discovery.frontier.finished();
        self.recorder.pending.page(CrawledPage {
            depth: self.discovery.frontier.depth(id),
            facts,
        });
    }

    /// Offers the targets of a page to the frontier.
    pub(super) fn expand(&mut self, id: UrlId) {
        self.permit_targets(id);
        let mut targets = std::mem::take(&mut self.recorder.targets);
        targets.clear();
        targets.extend(
            self.discovery
                .builder
                .targets(id)
                .filter(|(target, _)| *target != id),
        );
        for (target, kind) in &targets {
            self.discovery.table.mark(
                *target,
                match kind {
                    EdgeKind::Follow | EdgeKind::NoFollow => provenance::LINK,
                    EdgeKind::Canonical => provenance::CANONICAL,
                    EdgeKind::Hreflang => provenance::HREFLANG,
                },
            );
            if *kind == EdgeKind::Follow
                && !self.discovery.frontier.is_placed(*target)
                && self.is_crawled(*target)
            {
                self.discovery.frontier.offer_link(*target);
            }
        }
        self.recorder.targets = targets;
        if let Some(target) = self.discovery.builder.redirect(id).filter(|target| *target != id)
            && (!self.is_crawled(target) || self.discovery.frontier.offer_redirect(id, target))
        {
            self.discovery.table.mark(target, provenance::REDIRECT);
        }
    }

    pub(super) fn is_crawled(&self, id: UrlId) -> bool {
        self.discovery.builder.is_internal(id)
            && self.discovery.scope.is_crawled(self.discovery.table.key(id))
    }
}

/// Returns the signal of a finished request about its host, whether a retry may help, and whether it counts as failed.
fn judge(fetched: &Fetched) -> (Signal, bool, bool) {
    match fetched {
        Ok(answer) => match answer.status {
            429 | 503 => (Signal::TooMuch(retry_after(&answer.headers)), true, true),
            // the server responds, its upstream does not
            502 | 504 => (Signal::Fine, true, true),
            500.. => (Signal::Fine, true, false),
            _ => (Signal::Fine, false, false),
        },
        Err(FetchError::Denied | FetchError::Tls | FetchError::Certificate(_)) => {
            (Signal::Nothing, false, true)
        }
        Err(_) => (Signal::Nothing, true, true),
    }
}
