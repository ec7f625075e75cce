//! A site in memory, and a sink that remembers.

use std::{
    collections::{BTreeMap, HashMap},
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use searchwright_site::{
    crawl::{Batch, Config, CrawledPage, Discovered, Ending, Resume, Sink, SinkError, crawl},
    fetch::{Connection, Cut, Fetch, FetchError, Fetched, Method, Request, Response},
    graph::{PageFlags, SiteGraph},
    origin::Origin,
    page::UrlId,
    resources::Resource,
};
use tokio_util::sync::CancellationToken;
use url::Url;

#[derive(Clone, Debug)]
pub enum Answer {
    Is(u16, Vec<(&'static str, String)>, String),
    Fails(FetchError),
}

/// A header that says after how many milliseconds the answer began; else after one.
pub const SLOWNESS: &str = "x-slowness";

/// A header of what is cut short, by the time that it takes.
pub const CUT: &str = "x-cut";

/// A header that is the `ETag` of a 304 that has nothing to do with the page.
pub const LIE: &str = "x-lie";

/// URLs answer what they are told to, in turn, the last answer again and again; others answer 404.
#[derive(Default)]
pub struct Site {
    answers: HashMap<String, Vec<Answer>>,
    asked: Mutex<HashMap<String, usize>>,
    /// Every request: method and URL, in order.
    pub log: Mutex<Vec<String>>,
    /// Makes answers come back in another order.
    pub shuffle: u64,
    /// Pages that answer 200 have an `ETag`, and are not sent to who has them.
    pub etags: bool,
}

pub fn html(body: impl Into<String>) -> Answer {
    Answer::Is(
        200,
        vec![("content-type", "text/html; charset=utf-8".into())],
        body.into(),
    )
}

pub fn links(to: &[&str]) -> Answer {
    html(
        to.iter()
            .map(|href| format!("<a href=\"{href}\">x</a>"))
            .collect::<String>(),
    )
}

pub fn redirect(status: u16, to: &str) -> Answer {
    Answer::Is(status, vec![("location", to.into())], String::new())
}

pub fn status(status: u16) -> Answer {
    Answer::Is(status, Vec::new(), String::new())
}

/// Paths are those of one host.
fn absolute(path: &str) -> String {
    if path.starts_with('/') {
        format!("https://example.com{path}")
    } else {
        path.to_owned()
    }
}

impl Site {
    pub fn with(mut self, path: &str, answer: Answer) -> Self {
        self.answers.entry(absolute(path)).or_default().push(answer);
        self
    }

    /// Paths asked for that exist, after the survey.
    pub fn pages(&self) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let urls = log
            .iter()
            .filter_map(|line| line.strip_prefix("GET "))
            .filter(|url| self.answers.contains_key(*url));
        // The survey asks where the start URL leads.
        urls.skip(1).map(path).collect()
    }

    pub fn asked(&self, path: &str) -> usize {
        self.asked
            .lock()
            .unwrap()
            .get(&absolute(path))
            .copied()
            .unwrap_or(0)
    }
}

impl Fetch for Site {
    fn fetch(&self, request: Request) -> Pin<Box<dyn Future<Output = Fetched> + Send + '_>> {
        let url = request.url.to_string();
        let n = {
            let mut asked = self.asked.lock().unwrap();
            let n = asked.entry(url.clone()).or_default();
            *n += 1;
            *n - 1
        };
        let method = match (request.method, &request.unless) {
            (Method::Head, _) => "HEAD",
            (Method::Get, None) => "GET",
            (Method::Get, Some(_)) => "ASK",
        };
        self.log.lock().unwrap().push(format!("{method} {url}"));
        let answers = self.answers.get(&url);
        let mut answer = answers.map_or(status(404), |answers| answers[n.min(answers.len() - 1)].clone());
        if self.etags
            && let Answer::Is(200, headers, body) = &mut answer
        {
            let etag = format!("\"{:x}\"", searchwright_text::hash(body.as_bytes()));
            let unless = request.unless.as_ref().and_then(|unless| unless.etag.as_deref());
            // a lie is told to whoever has anything
            let lie = headers.iter().find(|(name, _)| *name == LIE && unless.is_some());
            if let Some((_, lie)) = lie {
                answer = Answer::Is(304, vec![("etag", lie.clone())], String::new());
            } else if unless == Some(&etag) {
                answer = Answer::Is(304, vec![("etag", etag)], String::new());
            } else {
                headers.push(("etag", etag));
            }
        }
        let turns = url.bytes().fold(self.shuffle, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
        }) % 7;
        Box::pin(async move {
            if self.shuffle != 0 {
                for _ in 0..turns {
                    tokio::task::yield_now().await;
                }
            }
            match answer {
                Answer::Fails(error) => Err(error),
                Answer::Is(status, headers, body) => {
                    let ttfb = headers.iter().find(|(name, _)| *name == SLOWNESS);
                    let ttfb = ttfb.map_or(1, |(_, ms)| ms.parse().unwrap());
                    let cut = headers.iter().any(|(name, _)| *name == CUT).then_some(Cut::Time);
                    let pairs = headers
                        .iter()
                        .map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_str(v).unwrap()));
                    let body = if request.method == Method::Head {
                        String::new()
                    } else {
                        body
                    };
                    Ok(Response {
                        status,
                        headers: pairs.collect::<HeaderMap>(),
                        wire_bytes: body.len() as u64,
                        body: Bytes::from(body),
                        cut,
                        ttfb: Duration::from_millis(ttfb),
                        connection: Connection::default(),
                    })
                }
            }
        })
    }
}

/// Remembers what was saved.
#[derive(Clone, Default)]
pub struct Memory {
    pub urls: Vec<Discovered>,
    pub pages: Vec<CrawledPage>,
    pub origin: Option<Origin>,
    pub batches: Vec<Batch>,
    /// Batches after which nothing can be saved any more, as if the process had died.
    pub dies_after: Option<usize>,
}

impl Sink for Memory {
    async fn save(&mut self, batch: Batch) -> Result<(), SinkError> {
        if self.dies_after.is_some_and(|n| self.batches.len() >= n) {
            return Err(SinkError("died".into()));
        }
        self.batches.push(batch.clone());
        self.urls.extend(batch.discovered);
        for page in &batch.pages {
            assert!(
                (page.facts.id.0 as usize) < self.urls.len(),
                "a page before its url"
            );
        }
        self.pages.extend(batch.pages);
        self.origin = batch.origin.or(self.origin.take());
        Ok(())
    }
}

impl Memory {
    pub fn resume(&self, config: &Config) -> Resume {
        let mut resume = self.pages_of(config, self.origin.clone());
        resume.resources(self.resources().cloned());
        resume
    }

    /// The pages that were saved, and that of the site beside them.
    pub fn pages_of(&self, config: &Config, origin: Option<Origin>) -> Resume {
        let mut resume = Resume::new(config, origin, Duration::ZERO);
        self.urls.iter().for_each(|url| resume.url(url).unwrap());
        self.pages
            .iter()
            .for_each(|page| resume.page(&page.facts).unwrap());
        resume
    }

    /// What pages need, as it was saved last.
    pub fn resources(&self) -> Option<&Vec<Resource>> {
        self.batches
            .iter()
            .rev()
            .find_map(|batch| batch.resources.as_ref())
    }

    /// Paths of the pages, in the order they were saved.
    pub fn paths(&self) -> Vec<String> {
        self.pages.iter().map(|page| path(&page.facts.url)).collect()
    }

    pub fn page(&self, path_and_query: &str) -> &CrawledPage {
        self.pages
            .iter()
            .find(|page| path(&page.facts.url) == path_and_query)
            .unwrap()
    }

    pub fn id(&self, path_and_query: &str) -> UrlId {
        self.urls
            .iter()
            .find(|url| path(&url.key) == path_and_query)
            .unwrap()
            .id
    }
}

pub fn path(url: &str) -> String {
    url.strip_prefix("https://example.com").unwrap_or(url).to_owned()
}

/// As fast as it goes, with nothing left to chance.
pub fn config() -> Config {
    Config {
        delay: Duration::ZERO,
        retry_delays: [Duration::from_millis(1); 2],
        external_delay: Duration::from_millis(1),
        ..Config::new(Url::parse("https://example.com/").unwrap(), 1_000)
    }
}

pub fn site() -> Site {
    Site::default()
}

/// Runs a crawl whose batches can all be saved.
pub async fn run(site: Site, config: Config) -> (Arc<Site>, Memory, Ending) {
    let site = Arc::new(site);
    let mut memory = Memory::default();
    let ending = run_with(&site, config, &mut memory, None).await.unwrap();
    (site, memory, ending)
}

pub async fn run_with(
    site: &Arc<Site>,
    config: Config,
    memory: &mut Memory,
    resume: Option<Resume>,
) -> Result<Ending, SinkError> {
    let now = Arc::new(|| 1_795_000_000_000);
    crawl(
        config,
        site.clone(),
        memory,
        resume,
        CancellationToken::new(),
        now,
    )
    .await
}

/// Everything of a crawl that must not depend on timing or restarts, by URL.
pub fn picture(memory: &Memory, ending: &Ending) -> BTreeMap<String, String> {
    let index = &ending.index;
    let name = |id: UrlId| index.key(id).to_owned();
    let mut picture: BTreeMap<String, String> = memory
        .pages
        .iter()
        .map(|page| {
            let id = page.facts.id;
            let inlinks: Vec<_> = index.inlinks(id).map(|(from, nofollow)| (name(from), nofollow)).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
            let about = format!(
                "{:?} depth {:?} {:?} redirect {:?} canonical {:?} rank {:.6} score {:?} inlinks {inlinks:?} {} changed {:?}",
                index.status(id),
                page.depth,
                index.depth(id),
                index.redirect(id).map(name),
                index.canonical(id).map(name),
                index.rank(id),
                index.link_score(id),
                flags(index, id),
                index.changed_ms(id),
            );
            (name(id), about)
        })
        .collect();
    picture.insert("resources".into(), format!("{:?}", memory.resources()));
    picture.insert(
        "ending".into(),
        format!(
            "{:?} {:?} {} pages",
            ending.termination,
            ending.progress,
            memory.pages.len()
        ),
    );
    picture
}

fn flags(index: &SiteGraph, id: UrlId) -> u16 {
    let set = PageFlags::all().iter().filter(|flag| index.has(id, *flag));
    set.collect::<PageFlags>().bits()
}
