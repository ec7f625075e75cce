//! Fetches resources that pages need: only headers, the beginning of a social card's image, slowly on other hosts, and
//! never more than a set number.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::StreamExt;
use searchwright_text as text;
use tokio::time::Instant;
use url::Url;

use super::Crawler;
use crate::{
    crawl::{
        discovery::{location, permits},
        event::CrawlEvent,
        robots_gate::RobotsGate,
        scope,
    },
    fetch::{Fetch, FetchError, Fetched, Method, Request},
    page::resolve_http,
    resources::{Resource, Resources, purpose},
    robots::Policy,
    url_key::url_key,
};

/// Maximum number of hosts that are contacted at the same time; a connection to the site counts as one.
const MAX_CONCURRENT: usize = 16;
/// Number of failures in a row after which a host is skipped.
const MAX_FAILURES: u8 = 3;
/// Maximum number of redirects that are followed.
const MAX_HOPS: u8 = 3;
/// Number of bytes read of a social card's image: its dimensions are at the beginning, at most after an embedded
/// preview.
const CARD_BYTES: usize = 64 * 1024;
/// Maximum number of links of llms.txt that are fetched.
const LLMS_LINKS: usize = 50;

/// Returns the URLs of links in a Markdown file.
fn markdown_links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ', '\n']).next())
        .filter(|url| !url.is_empty())
}

impl Crawler {
    /// Fetches the resources of pages until their time is over, unless that was done before the process died. Returns
    /// `None` if a batch could not be handed over.
    pub(super) async fn check_resources(&mut self) -> Option<()> {
        if self.recorder.resources.is_some() && self.discovery.permit.is_none()
            || self.config.max_resources == 0
        {
            return Some(());
        }
        self.recorder.collector.finish_pages();
        self.add_llms_links();
        let wanted = self.recorder.collector.wanted().to_vec();
        let known = self.queue.gates.iter().filter_map(|(origin, gate)| match gate {
            RobotsGate::Known(policy) => Some((origin.clone(), policy.clone())),
            RobotsGate::Absent(_) => Some((origin.clone(), Policy::Unreachable)),
            RobotsGate::Asking(_) => None,
        });
        let rules: Policies = known.collect();
        let (mut lanes, own): (BTreeMap<(String, usize), Vec<_>>, _) =
            (BTreeMap::new(), self.config.connections.max(1));
        for (place, (url, purposes)) in wanted.into_iter().enumerate() {
            let asking = matches!(
                self.queue.gates.get(scope::origin(url.as_str())),
                Some(RobotsGate::Asking(_))
            );
            if asking || !is_allowed(&rules, &url) {
                continue;
            }
            let internal = self.discovery.scope.is_internal(url.as_str());
            let lane = if internal { place % own } else { usize::MAX };
            let host = scope::origin(url.as_str())
                .split_once("://")
                .map_or("", |(_, host)| host);
            lanes
                .entry((host.to_owned(), lane))
                .or_default()
                .push((url, purposes));
        }
        let until = (Instant::now() + self.config.resource_duration).min(self.deadline);
        let asking = ResourceFetcher {
            fetcher: self.fetcher.client.clone(),
            retry: self.config.retry_delays[0],
            fresh: self.discovery.permit.is_some(),
            until,
            rules,
            found: Mutex::default(),
        };
        // same rate as for pages, including Crawl-delay and complaints
        let delays = (self.root_spacing() * own as u32, self.config.external_delay);
        let sender = self.fetcher.sender.clone();
        self.fetcher.tasks.spawn(async move {
            let lanes = futures_util::stream::iter(lanes);
            lanes
                .for_each_concurrent(MAX_CONCURRENT, |((_, lane), wanted)| {
                    asking.lane(wanted, if lane == usize::MAX { delays.1 } else { delays.0 })
                })
                .await;
            let found = asking.found.into_inner().unwrap_or_else(PoisonError::into_inner);
            sender.send(CrawlEvent::Resources(found)).await.ok();
        });
        self.recorder.resources_pending = true;
        // a response may arrive some time after the last request
        let patience = until + Duration::from_secs(60);
        while self.recorder.resources_pending && !self.is_stopped() && Instant::now() < patience {
            self.turn(Some(patience)).await?;
        }
        Some(())
    }

    pub(super) fn checked_resources(&mut self, mut found: Vec<Resource>) {
        self.recorder.resources_pending = false;
        found.sort_unstable_by(|a, b| a.url.cmp(&b.url));
        // resources that were fetched again replace the earlier ones
        let again: HashSet<&str> = found.iter().map(|resource| &*resource.url).collect();
        let known = self.recorder.resources.take().unwrap_or_default().into_iter();
        let known: Vec<Resource> = known.filter(|resource| !again.contains(&*resource.url)).collect();
        self.recorder.pending.resources(found.clone());
        self.recorder.resources = Some(known.into_iter().chain(found).collect());
    }

    /// Returns all known resources, for the graph.
    pub(super) fn all_resources(&mut self) -> Resources {
        let wanted = self.recorder.collector.wanted().iter();
        let wanted: Vec<u64> = wanted
            .map(|(url, _)| text::hash(url.as_str().as_bytes()))
            .collect();
        let asked = self.recorder.resources.take().unwrap_or_default();
        let full = self.recorder.collector.is_cut();
        Resources::new(asked, &wanted, full)
    }

    fn add_llms_links(&mut self) {
        let file = &self.discovery.origin.llms_txt;
        let Ok(base) = Url::parse(&file.url) else { return };
        if file.status != Some(200) || self.discovery.permit.is_some() && !self.discovery.surveyed {
            return;
        }
        let links = markdown_links(&file.text).filter_map(|link| resolve_http(&base, link));
        // few, and not counted against the limit
        self.recorder.collector.extend_room(LLMS_LINKS);
        for url in links.take(LLMS_LINKS).collect::<Vec<_>>() {
            let known = self
                .discovery
                .table
                .get(&url_key(&url))
                .and_then(|id| self.discovery.builder.status(id));
            if known != Some(200) {
                self.recorder.collector.add(url, purpose::LLMS);
            }
        }
    }
}

/// Rules of robots.txt, by origin.
type Policies = HashMap<Box<str>, Policy>;

/// Whether robots.txt allows a URL; it is obeyed where it is known, which is on the site.
fn is_allowed(rules: &Policies, url: &Url) -> bool {
    let policy = rules.get(scope::origin(url.as_str()));
    policy.is_none_or(|policy| permits(policy, url))
}

/// State shared by all lanes.
struct ResourceFetcher {
    fetcher: Arc<dyn Fetch>,
    retry: Duration,
    fresh: bool,
    until: Instant,
    rules: Policies,
    found: Mutex<Vec<Resource>>,
}

impl ResourceFetcher {
    /// Fetches the resources of one lane one after the other.
    async fn lane(&self, wanted: Vec<(Url, u8)>, delay: Duration) {
        let (mut next, mut failures) = (Instant::now(), 0);
        for (url, purposes) in wanted {
            if next >= self.until || failures >= MAX_FAILURES {
                // a partial recrawl reports that this resource was not fetched
                if self.fresh {
                    self.keep(Resource::new(url.as_str(), purposes, Err(FetchError::Timeout)));
                }
                continue;
            }
            tokio::time::sleep_until(next).await;
            next = Instant::now() + delay;
            let resource = Resource::new(url.as_str(), purposes, self.ask(&url, purposes, delay).await);
            let failed = matches!(
                resource.error,
                Some(FetchError::Timeout | FetchError::Connect | FetchError::Dns)
            ) || matches!(resource.status, Some(429 | 503));
            failures = if failed { failures + 1 } else { 0 };
            self.keep(resource);
        }
    }

    fn keep(&self, resource: Resource) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.push(resource);
    }

    /// Fetches a resource by HEAD, then by GET if HEAD is refused; a social card's image by GET at once. A failure is
    /// retried once.
    async fn ask(&self, url: &Url, purposes: u8, delay: Duration) -> Fetched {
        let card = purposes & purpose::CARD != 0;
        let body_limit = if card { CARD_BYTES } else { 1 };
        let mut method = if card { Method::Get } else { Method::Head };
        let (mut at, mut hops, mut again) = (url.clone(), 0, false);
        loop {
            let request = Request {
                url: at.clone(),
                method,
                body_limit,
                fresh: self.fresh,
                picture: purposes & (purpose::IMAGE | purpose::CARD) != 0,
                unless: None,
            };
            let fetched = self.fetcher.fetch(request).await;
            match &fetched {
                Ok(answer) if answer.status >= 400 && !again => (method, again) = (Method::Get, true),
                Ok(answer) => match location(answer, &at).filter(|_| hops < MAX_HOPS) {
                    Some(target) if !is_allowed(&self.rules, &target) => return Err(FetchError::Denied),
                    Some(target) => (at, hops) = (target, hops + 1),
                    None => return fetched,
                },
                Err(FetchError::Timeout | FetchError::Broken) if !again => {
                    again = true;
                    tokio::time::sleep(self.retry).await;
                }
                Err(_) => return fetched,
            }
            tokio::time::sleep(delay).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::markdown_links;

    #[test]
    fn links_of_markdown() {
        let text = "# Site\n- [A](https://a.example/x): text\n- [B](/y \"title\")\n[C]() and (no) link";
        assert_eq!(
            markdown_links(text).collect::<Vec<_>>(),
            ["https://a.example/x", "/y"]
        );
    }
}
