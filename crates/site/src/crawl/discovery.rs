//! Requests before the first page: robots.txt, the start URL and its redirects, sitemaps, well-known files, variants of
//! the root URL, and a made-up URL.

mod sitemaps;

use std::{sync::Arc, time::Duration};

use searchwright_text::folded_hash;
use tokio::time::Instant;
use url::Url;

use self::sitemaps::Listed;
use super::{
    Clock, Config,
    politeness::{Dice, RETRY_AFTER_LIMIT, retry_after},
    scope::CrawlScope,
};
use crate::{
    fetch::{Cut, Fault, Fetch, FetchError, Fetched, Method, Request, Response},
    origin::{Origin, Probe, Variant},
    page::{self, At, Limits},
    robots::{self, Agent, Policy},
    urls::UrlTable,
    well_known::WellKnownFile,
};

/// Maximum number of redirects followed from a well-known file (RFC 9309 section 2.3.1.2: at least five).
const FILE_HOPS: u8 = 5;
/// Decides whether a URL may be fetched.
type May<'m> = dyn Fn(&Url) -> bool + Sync + 'm;

/// Allows every URL: for robots.txt itself, and for the files that it names.
const fn whatever(_: &Url) -> bool {
    true
}

/// Maximum number of redirects followed from the start URL.
const START_HOPS: u8 = 10;
/// Maximum number of bytes read of llms.txt.
const LLMS_LIMIT: usize = 500 * 1024;

/// Sends requests one after the other, with the usual delay between them.
pub(super) struct Survey {
    pub(super) fetcher: Arc<dyn Fetch>,
    pub(super) delay: Duration,
    pub(super) retry_delays: [Duration; 2],
    pub(super) now: Clock,
    /// Whether requests bypass every cache.
    fresh: bool,
    next: Instant,
    /// Number of sitemaps in a row without a response.
    silent: u32,
}

/// Result of a survey.
pub(super) struct Surveyed {
    pub(super) origin: Origin,
    /// Final URL after the redirects of the start URL.
    pub(super) home: Url,
    /// Rules of robots.txt at the origin of `home`.
    pub(super) policy: Policy,
}

impl Survey {
    pub(super) fn new(fetcher: Arc<dyn Fetch>, config: &Config, now: Clock) -> Self {
        let (delay, retry_delays) = (config.delay, config.retry_delays);
        Self {
            fetcher,
            delay,
            retry_delays,
            now,
            fresh: config.again.is_some(),
            next: Instant::now(),
            silent: 0,
        }
    }

    /// Raises the delay between requests to a `Crawl-delay` in seconds, at most 10.
    pub(super) fn slow_to(&mut self, delay: Option<f32>) {
        let wanted = Duration::from_secs_f32(delay.unwrap_or(0.0).clamp(0.0, 10.0));
        self.delay = self.delay.max(wanted);
    }

    pub(super) async fn ask(&mut self, url: Url, method: Method, body_limit: usize) -> Fetched {
        tokio::time::sleep_until(self.next).await;
        self.next = Instant::now() + self.delay;
        self.fetcher
            .fetch(Request {
                url,
                method,
                body_limit,
                fresh: self.fresh,
                picture: false,
                unless: None,
            })
            .await
    }

    /// Follows redirects and returns the last URL with its response. A redirect to a URL that may not be fetched yields
    /// [`FetchError::Denied`].
    async fn follow(&mut self, url: Url, body_limit: usize, may: &May<'_>) -> (Url, Fetched) {
        let mut at = url;
        for hop in 0..=FILE_HOPS {
            if !may(&at) {
                return (at, Err(FetchError::Denied));
            }
            let fetched = self.ask(at.clone(), Method::Get, body_limit).await;
            match fetched.as_ref().ok().and_then(|answer| location(answer, &at)) {
                Some(target) if hop < FILE_HOPS => at = target,
                _ => return (at, fetched),
            }
        }
        (at, Err(FetchError::Broken))
    }

    /// Follows redirects, and retries failures that may be temporary.
    async fn follow_patiently(&mut self, url: Url, body_limit: usize, may: &May<'_>) -> (Url, Fetched) {
        let mut delays = self.retry_delays.into_iter();
        loop {
            let (end, fetched) = self.follow(url.clone(), body_limit, may).await;
            let passing = match &fetched {
                Ok(answer) => answer.status == 429 || answer.status >= 500,
                Err(error) => *error != FetchError::Denied,
            };
            let after = fetched
                .as_ref()
                .ok()
                .and_then(|answer| retry_after(&answer.headers));
            match delays.next() {
                Some(delay) if passing => {
                    tokio::time::sleep(delay.max(after.unwrap_or_default().min(RETRY_AFTER_LIMIT))).await;
                }
                _ => return (end, fetched),
            }
        }
    }

    /// Fetches the robots.txt of an origin.
    pub(super) async fn robots(&mut self, origin: &Url) -> WellKnownFile {
        let url = at(origin, "/robots.txt");
        self.file(url, robots::SIZE_LIMIT, &whatever).await
    }

    async fn file(&mut self, url: Url, limit: usize, may: &May<'_>) -> WellKnownFile {
        let (url, fetched) = self.follow_patiently(url, limit, may).await;
        let url = url.as_str().into();
        match fetched {
            Err(error) => WellKnownFile {
                url,
                error: Some(error),
                ..WellKnownFile::default()
            },
            Ok(answer) => {
                let whole = answer.headers.get(http::header::CONTENT_LENGTH);
                let whole = whole.and_then(|v| v.to_str().ok()?.parse().ok());
                let read = answer.body.len() as u64;
                WellKnownFile {
                    url,
                    status: Some(answer.status),
                    error: None,
                    content_type: header(&answer, http::header::CONTENT_TYPE),
                    bytes: if answer.cut == Some(Cut::Size) {
                        whole.unwrap_or(read + 1).max(read + 1)
                    } else {
                        read
                    },
                    text: if answer.status == 200 {
                        // an incomplete last line could mean something else
                        let end = memchr::memrchr(b'\n', &answer.body).filter(|_| answer.cut.is_some());
                        let whole = &answer.body[..end.unwrap_or(answer.body.len())];
                        String::from_utf8_lossy(whole).into()
                    } else {
                        "".into()
                    },
                }
            }
        }
    }

    /// Sends all requests before the first page; ends early if robots.txt cannot be fetched. URLs of sitemaps go to
    /// `listed` as written, since there may be millions.
    pub(super) async fn survey(
        &mut self,
        config: &Config,
        scope: &CrawlScope,
        listed: &mut Listed<'_>,
    ) -> Surveyed {
        let (home, robots, policy) = self.home(config, scope).await;
        let root = at(&home, "/");
        let mut origin = Origin {
            root: root.as_str().trim_end_matches('/').into(),
            robots,
            ..Origin::default()
        };
        if let Policy::Follow(rules) = &policy {
            let may = within(&root, &policy);
            self.slow_to(rules.delay);
            self.sitemaps(&root, &may, &mut origin, listed).await;
            origin.llms_txt = self.file(at(&root, "/llms.txt"), LLMS_LIMIT, &may).await;
            let icon = at(&root, "/favicon.ico");
            if may(&icon) {
                let first = self.ask(icon.clone(), Method::Get, 1).await.ok();
                let target = first.as_ref().and_then(|answer| location(answer, &icon));
                origin.favicon_status = match target {
                    Some(target) => self.follow(target, 1, &may).await.1.ok().map(|end| end.status),
                    None => first.as_ref().map(|answer| answer.status),
                };
                let is_secure = root.scheme() == "https";
                if let Some(connection) = first.map(|first| first.connection).filter(|_| is_secure) {
                    origin.http1_only = !connection.multiplexed;
                    origin.certificate_until_ms = connection.certificate_until_ms;
                }
            }
            if may(&root) {
                self.variants(&root, scope, &mut origin).await;
            }
            let made_up = at(&root, &format!("/{:016x}", Dice(config.seed).roll()));
            if may(&made_up)
                && let Some(probe) = self.probe(made_up, config.body_limit, &may).await
            {
                origin.probe_status = Some(probe.status).filter(|status| *status > 0);
                origin.probes.push(probe);
            }
        }
        Surveyed { origin, home, policy }
    }

    /// Returns the final URL of the start URL's redirects if it is inside the site, with the robots.txt of its origin
    /// and the rules in it. A forbidden URL is not fetched.
    async fn home(&mut self, config: &Config, scope: &CrawlScope) -> (Url, WellKnownFile, Policy) {
        let mut home = config.start.clone();
        // per origin on the way, beginning with that of the start URL
        let mut known = vec![self.policy(&home, config).await];
        let mut here = 0;
        for _ in 0..START_HOPS {
            if !permits(&known[here].2, &home) {
                break;
            }
            let answer = self.ask(home.clone(), Method::Get, 1).await.ok();
            let Some(target) = answer.and_then(|answer| location(&answer, &home)) else {
                break;
            };
            let origin = target.origin();
            here = match known.iter().position(|(of, ..)| *of == origin) {
                Some(place) => place,
                None => {
                    known.push(self.policy(&target, config).await);
                    known.len() - 1
                }
            };
            home = target;
        }
        if !scope.is_internal(home.as_str()) {
            (home, here) = (config.start.clone(), 0);
        }
        let (_, robots, policy) = known.swap_remove(here);
        (home, robots, policy)
    }

    /// Returns the origin of a URL, its robots.txt and the rules in it.
    async fn policy(&mut self, url: &Url, config: &Config) -> (url::Origin, WellKnownFile, Policy) {
        let mut robots = self.robots(url).await;
        let policy = decide(&mut robots, config);
        (url.origin(), robots, policy)
    }

    /// Fetches variants of the root URL: with or without `www.`, and with the other scheme.
    async fn variants(&mut self, root: &Url, scope: &CrawlScope, origin: &mut Origin) {
        if let Some(twin) = scope.twin(root) {
            origin.twin = self.variant(twin, &mut origin.faults).await;
        }
        let other = match root.scheme() {
            "https" => Some("http"),
            // a site without https may still present a certificate to visitors who type it
            _ => root.port().is_none().then_some("https"),
        };
        let mut spelled = root.clone();
        if other.is_some_and(|scheme| spelled.set_scheme(scheme).is_ok()) {
            origin.other_scheme = self.variant(spelled, &mut origin.faults).await;
        }
    }

    async fn variant(&mut self, url: Url, faults: &mut Vec<(Box<str>, Fault)>) -> Option<Variant> {
        let answer = match self.ask(url.clone(), Method::Get, 1).await {
            Ok(answer) => answer,
            Err(FetchError::Certificate(fault)) => {
                faults.push((url.as_str().into(), fault));
                return None;
            }
            // there is no server
            Err(FetchError::Dns | FetchError::Connect | FetchError::Denied) => return None,
            Err(_) => {
                return Some(Variant {
                    url: url.as_str().into(),
                    ..Variant::default()
                });
            }
        };
        let location = location(&answer, &url).map(|l| l.as_str().into());
        Some(Variant {
            url: url.as_str().into(),
            status: answer.status,
            location,
        })
    }

    /// Fetches a URL that cannot exist.
    pub(super) async fn probe(&mut self, url: Url, body_limit: usize, may: &May<'_>) -> Option<Probe> {
        let asked: Box<str> = url.as_str().into();
        let (url, fetched) = self.follow(url, body_limit, may).await;
        let Ok(answer) = fetched else {
            return Some(Probe {
                url: asked,
                ..Probe::default()
            });
        };
        let status = answer.status;
        let read = tokio::task::spawn_blocking(move || {
            page::read(
                &answer,
                &url,
                At::default(),
                &mut UrlTable::new(0),
                &Limits::default(),
            )
        });
        let html = read.await.ok()?.html;
        let title = html
            .as_ref()
            .and_then(|h| h.titles.first())
            .map_or(0, |t| folded_hash(t));
        Some(Probe {
            url: asked,
            status,
            title,
            text: html.as_ref().map_or(0, |h| h.text_hash),
            sketch: html.and_then(|h| h.sketch),
        })
    }
}

/// Returns the rules of a robots.txt. If the server cannot deliver it, those of the copy apply, whose text is then
/// stored together with the failure.
fn decide(file: &mut WellKnownFile, config: &Config) -> Policy {
    match (policy(file, config), &config.robots_copy) {
        (Policy::Unreachable, Some(copy)) if matches!(Policy::from_file(copy), Policy::Follow(_)) => {
            // an empty text means that there is no copy
            file.text = match &*copy.text {
                "" => "# nothing is forbidden\n".into(),
                text => text.into(),
            };
            Policy::from_file(copy)
        }
        (policy, _) => policy,
    }
}

/// Returns the rules of a robots.txt, unless the crawl ignores it.
pub(super) fn policy(file: &WellKnownFile, config: &Config) -> Policy {
    if config.ignore_robots {
        Policy::Follow(Agent::default())
    } else {
        Policy::from_file(file)
    }
}

pub(super) fn permits(policy: &Policy, url: &Url) -> bool {
    match policy {
        Policy::Follow(rules) => rules.forbids(path(url)).is_none(),
        Policy::Unreachable => false,
    }
}

/// Applies the rules of an origin to its URLs; URLs of other origins are allowed.
pub(super) fn within(root: &Url, policy: &Policy) -> impl Fn(&Url) -> bool + Sync {
    move |url| url.origin() != root.origin() || permits(policy, url)
}

/// Returns path and query, the part of a URL that robots.txt rules match.
pub(super) fn path(url: &Url) -> &str {
    &url[url::Position::BeforePath..url::Position::AfterQuery]
}

pub(super) fn at(root: &Url, path: &str) -> Url {
    let mut url = root.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

fn header(answer: &Response, name: http::HeaderName) -> Option<Box<str>> {
    Some(String::from_utf8_lossy(answer.headers.get(name)?.as_bytes()).into())
}

/// Returns the target URL of a redirect.
pub(super) fn location(answer: &Response, from: &Url) -> Option<Url> {
    if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let target = answer.headers.get(http::header::LOCATION)?;
    let target = from
        .join(String::from_utf8_lossy(target.as_bytes()).trim())
        .ok()?;
    matches!(target.scheme(), "http" | "https").then_some(target)
}
