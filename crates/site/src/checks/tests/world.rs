//! Small sites, crawled from memory.

mod verdicts;

use std::collections::HashMap;

use url::Url;

use super::super::{Context, Rules};
use crate::{
    fetch::{Cut, FetchError, Response},
    graph::{CrawlSummary, GraphBuilder, SiteGraph},
    origin::Origin,
    page::{At, Intern, Limits, Outcome, PageFacts, UrlId, read},
    resources::{Resource, Resources},
    sitemap::Sitemap,
    url_key::url_key,
    urls::{UrlTable, provenance},
    vitals::Vitals,
    well_known::WellKnownFile,
};

/// 2026-06-01.
pub(super) const NOW: i64 = 1_780_272_000_000;

#[derive(Clone)]
enum Entry {
    Answer(Response),
    Failed(FetchError),
    Blocked,
}

/// A site: `/` is its home page and its start.
#[derive(Clone)]
pub(super) struct World {
    root: &'static str,
    entries: Vec<(String, Entry)>,
    sitemap: Vec<String>,
    /// Paths with the days of their last change according to the sitemap.
    days: Vec<(String, u16)>,
    previous: Vec<String>,
    depths: HashMap<String, u16>,
    traps: Vec<(String, u32)>,
    complete: bool,
    rules: Rules,
    resources: Vec<Resource>,
    /// Whether the previous audit saw the same redirects.
    again: bool,
    vitals: Option<Vitals>,
    brand: Option<&'static str>,
    pub origin: Origin,
}

struct Table<'t>(&'t mut UrlTable);

impl Intern for Table<'_> {
    fn intern(&mut self, url: &Url) -> Option<UrlId> {
        self.0.insert(&url_key(url), None)
    }

    fn intern_key(&mut self, key: &str) -> Option<UrlId> {
        self.0.insert(key, None)
    }
}

/// A crawled site.
pub(super) struct Built {
    pub index: SiteGraph,
    pub pages: Vec<PageFacts>,
    pub origin: Origin,
    rules: Rules,
}

impl Built {
    pub fn context(&self) -> Context<'_> {
        Context::new(&self.index, &self.origin, &self.rules, NOW)
    }
}

fn response(status: u16, headers: &[(&'static str, &str)], body: &str) -> Response {
    Response::new(status, headers, body.as_bytes())
}

impl World {
    pub fn new() -> Self {
        let origin = Origin {
            root: "https://www.example.com".into(),
            home: UrlId(0),
            robots: WellKnownFile {
                status: Some(200),
                ..WellKnownFile::default()
            },
            ..Origin::default()
        };
        Self {
            root: "https://www.example.com",
            entries: Vec::new(),
            sitemap: Vec::new(),
            days: Vec::new(),
            previous: Vec::new(),
            depths: HashMap::new(),
            traps: Vec::new(),
            complete: true,
            rules: Rules::default(),
            resources: Vec::new(),
            again: false,
            vitals: None,
            brand: None,
            origin,
        }
    }

    /// The same site over http.
    pub fn insecure(self) -> Self {
        self.rooted("http://www.example.com")
    }

    /// Copy of the site at another address.
    pub fn rooted(mut self, root: &'static str) -> Self {
        self.root = root;
        self.origin.root = root.into();
        self
    }

    pub fn page(self, path: &str, body: &str) -> Self {
        self.answer(path, 200, &[("content-type", "text/html; charset=utf-8")], body)
    }

    pub fn answer(mut self, path: &str, status: u16, headers: &[(&'static str, &str)], body: &str) -> Self {
        self.entries
            .push((path.to_owned(), Entry::Answer(response(status, headers, body))));
        self
    }

    /// Changes the response that was added last.
    pub fn with(mut self, change: impl FnOnce(&mut Response)) -> Self {
        if let Some((_, Entry::Answer(response))) = self.entries.last_mut() {
            change(response);
        }
        self
    }

    /// Cuts off all responses.
    pub fn cut(mut self, cut: Cut) -> Self {
        for (_, entry) in &mut self.entries {
            if let Entry::Answer(response) = entry {
                response.cut = Some(cut);
            }
        }
        self
    }

    pub fn redirect(self, path: &str, status: u16, to: &str) -> Self {
        self.answer(path, status, &[("location", to)], "")
    }

    pub fn failed(self, path: &str) -> Self {
        self.fails(path, FetchError::Timeout)
    }

    pub fn fails(mut self, path: &str, error: FetchError) -> Self {
        self.entries.push((path.to_owned(), Entry::Failed(error)));
        self
    }

    pub fn blocked(mut self, path: &str) -> Self {
        self.entries.push((path.to_owned(), Entry::Blocked));
        self
    }

    pub fn sitemap(mut self, paths: &[&str]) -> Self {
        self.sitemap = paths.iter().map(|path| (*path).to_owned()).collect();
        self.origin.sitemaps = vec![Sitemap {
            url: "https://www.example.com/sitemap.xml".into(),
            status: Some(200),
            declared: true,
            urls: paths.len() as u32,
            ..Sitemap::default()
        }];
        self
    }

    /// Sets the day of the last change according to the sitemap, in days since the Unix epoch.
    pub fn changed(mut self, path: &str, day: u16) -> Self {
        self.days.push((path.to_owned(), day));
        self
    }

    pub fn previous(mut self, path: &str) -> Self {
        self.previous.push(path.to_owned());
        self
    }

    pub fn depth(mut self, path: &str, depth: u16) -> Self {
        self.depths.insert(path.to_owned(), depth);
        self
    }

    pub fn trap(mut self, path: &str, left_out: u32) -> Self {
        self.traps.push((path.to_owned(), left_out));
        self
    }

    pub fn robots(mut self, text: &str) -> Self {
        self.origin.robots.text = text.into();
        self.origin.robots.bytes = text.len() as u64;
        self
    }

    pub fn origin(mut self, change: impl FnOnce(&mut Origin)) -> Self {
        change(&mut self.origin);
        self
    }

    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Adds a previous audit, a day ago, with the same redirects and the same pages without a response.
    pub fn again(mut self) -> Self {
        self.again = true;
        self
    }

    /// Sets the name of the brand.
    pub fn brand(mut self, name: &'static str) -> Self {
        self.brand = Some(name);
        self
    }

    /// Sets the measurements of `/p`.
    pub fn measured(mut self, vitals: Vitals) -> Self {
        self.vitals = Some(vitals);
        self
    }

    /// Adds a fetched resource.
    pub fn resource(mut self, resource: Resource) -> Self {
        self.resources.push(resource);
        self
    }

    pub fn incomplete(mut self) -> Self {
        self.complete = false;
        self
    }

    fn url(&self, path: &str) -> Url {
        Url::parse(self.root).unwrap().join(path).unwrap()
    }

    pub fn build(&self) -> Built {
        let mut table = UrlTable::new(100_000);
        let mut entries = self.entries.clone();
        if !entries.iter().any(|(path, _)| path == "/") {
            let links: String = entries
                .iter()
                .map(|(path, _)| format!("<a href='{path}'>To {path}</a>"))
                .collect();
            let home = response(
                200,
                &[("content-type", "text/html; charset=utf-8")],
                &format!("<title>Example</title>{links}"),
            );
            entries.insert(0, ("/".to_owned(), Entry::Answer(home)));
        }
        let mut intern = Table(&mut table);
        intern.intern(&self.url("/"));
        let limits = Limits {
            paragraph_words: self.rules.thresholds.long_paragraph_words,
            ..Limits::default()
        };
        let mut pages = Vec::new();
        for (path, entry) in &entries {
            let url = self.url(path);
            let id = intern.intern(&url).unwrap();
            let at = At {
                id,
                attempts: 1,
                fetched_at_ms: NOW,
            };
            pages.push(match entry {
                Entry::Answer(response) => read(response, &url, at, &mut intern, &limits),
                Entry::Failed(error) => PageFacts::without_answer(&url, at, Outcome::Failed(error.clone())),
                Entry::Blocked => {
                    PageFacts::without_answer(&url, at, Outcome::Blocked("Disallow: /x".into()))
                }
            });
        }
        for (paths, bit) in [
            (&self.sitemap, provenance::SITEMAP),
            (&self.previous, provenance::PREVIOUS),
        ] {
            for path in paths {
                let id = table.insert(&url_key(&self.url(path)), None).unwrap();
                table.mark(id, bit);
            }
        }
        for (path, day) in &self.days {
            let id = table.insert(&url_key(&self.url(path)), None).unwrap();
            table.changed_on(id, *day);
        }
        let traps = self
            .traps
            .iter()
            .map(|(path, n)| (table.insert(&url_key(&self.url(path)), None).unwrap().0, *n))
            .collect();
        let mut builder = GraphBuilder::with_thresholds(&self.rules.thresholds);
        let mut depths = vec![u16::MAX; table.len()];
        for id in (0..table.len() as u32).map(UrlId) {
            let key = table.key(id);
            if [self.root, "https://www.example.com/", "http://www.example.com/"]
                .iter()
                .any(|root| key.starts_with(root))
            {
                builder.set_internal(id);
            }
            let path = &key[key.find(".com").map_or(0, |at| at + 4)..];
            depths[id.0 as usize] = self.depths.get(path).copied().unwrap_or(1);
        }
        pages.iter().for_each(|page| builder.add(page));
        let ends = CrawlSummary {
            depths,
            origin: &self.origin,
            traps,
            complete: self.complete,
        };
        let mut index = builder.finish(table, ends);
        index.resources = Resources::new(self.resources.clone(), &[], false);
        if self.again {
            let before: Vec<_> = index
                .temporary_redirects()
                .map(|id| (id, NOW - 86_400_000))
                .collect();
            index.set_temporary_redirects(before);
            let silent = pages
                .iter()
                .filter(|page| matches!(page.outcome, Outcome::Failed(_)));
            index.set_silent(silent.map(|page| page.id));
        }
        index.set_brand(self.brand);
        if let Some(vitals) = &self.vitals {
            let page = pages.iter().find(|page| page.url.ends_with("/p")).unwrap();
            index.set_vitals(vec![(page.id, vitals.clone())]);
        }
        Built {
            index,
            pages,
            origin: self.origin.clone(),
            rules: self.rules.clone(),
        }
    }

    pub fn facts(&self, path: &str) -> Option<PageFacts> {
        let url = self.url(path);
        self.build()
            .pages
            .into_iter()
            .find(|page| *page.url == *url.as_str())
    }
}
