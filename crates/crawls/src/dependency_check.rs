//! Dependencies of findings outside their own page, and which of these gave no answer in a crawl. Used by audits and rechecks.

use std::{collections::HashMap, sync::OnceLock};

use searchwright_contract::ids::PageId;
use searchwright_site::{
    checks::{Check, Dependencies, FetchVerdict, is_cut, urls},
    graph::{PageFlags, SiteGraph, State},
    origin::Origin,
    page::UrlId,
};
use searchwright_text::hash;
use serde_json::Value;
use uuid::Uuid;

use crate::ids::{page_id, url_key_of};

/// Index of a crawl with look-ups of the URLs that gave no answer.
pub struct DependencyCheck<'a> {
    index: &'a SiteGraph,
    origin: &'a Origin,
    // computed on first use, because only few look-ups need it
    /// Hashes and ids of the URLs without a known answer, sorted by hash.
    silent: OnceLock<Vec<(u64, u32)>>,
    /// For each page, whether it points at one of these.
    pointing: OnceLock<Vec<bool>>,
    /// Some resource that pages need gave no answer, or was not requested.
    resources: OnceLock<bool>,
    /// URLs of the site by page id.
    pages: OnceLock<HashMap<PageId, UrlId>>,
}

impl<'a> DependencyCheck<'a> {
    /// Starts without any look-up.
    pub fn new(index: &'a SiteGraph, origin: &'a Origin) -> Self {
        Self {
            index,
            origin,
            silent: OnceLock::new(),
            pointing: OnceLock::new(),
            resources: OnceLock::new(),
            pages: OnceLock::new(),
        }
    }

    /// Returns the reason for which a problem is not proven fixed although its check no longer finds it: a dependency of the
    /// finding gave no answer. `None` if all dependencies answered. If the evidence was cut, any silent dependency counts.
    pub fn silence(
        &self,
        check: &Check,
        evidence: &Value,
        told: FetchVerdict,
        page: impl Fn() -> Option<UrlId>,
    ) -> Option<String> {
        let index = self.index;
        if let Some(why) = check.unmet_beside(evidence, told, self.origin) {
            return Some(why);
        }
        // a page is looked up only where it matters
        if check.counts_inlinks() && page().is_some_and(|page| check.doubts_inlinks(page, index)) {
            return Some("a page that gave no answer may link to it".to_owned());
        }
        if check.doubts_listing(self.origin)
            && page().is_none_or(|page| !index.has(page, PageFlags::IN_SITEMAP))
        {
            return Some("a sitemap that could not be read may list it".to_owned());
        }
        let mut named = urls(evidence).into_iter();
        match check.dependencies(told) {
            Dependencies::None => None,
            Dependencies::Resources => {
                let mut silent = named.filter_map(|url| Some((url, index.resources().silence(url)?)));
                match silent.next() {
                    Some((url, why)) => Some(format!("{url}: {why}")),
                    None if is_cut(evidence) && self.lacks_resources() => {
                        Some("not all that pages need gave an answer".to_owned())
                    }
                    None => None,
                }
            }
            Dependencies::Others => {
                let silent = named.find_map(|url| Some((url, self.silent(&url_key_of(url)?).next()?)));
                match silent {
                    Some((url, id)) => Some(format!("{url}: {}", self.why(id))),
                    None if is_cut(evidence) && !self.all_silent().is_empty() => {
                        Some("not all pages gave an answer".to_owned())
                    }
                    None => None,
                }
            }
            Dependencies::Targets => {
                let page = page()?;
                if let Some(id) = check.mute_alternate(evidence, page, index) {
                    let url = index.key(id);
                    return Some(format!(
                        "{url}: its HTML does not tell which alternates it has, and its sitemap is not read"
                    ));
                }
                let unread = |url: &&str| check.looks_inside_alternates() && index.is_unread_of(page, url);
                if let Some(url) = urls(evidence).into_iter().find(unread) {
                    return Some(format!("{url}: the page could not be read to its end"));
                }
                let target = |key: &str| self.silent(key).find(|target| index.points_at(page, *target));
                match named.find_map(|url| Some((url, target(&url_key_of(url)?)?))) {
                    Some((url, id)) => Some(format!("{url}: {}", self.why(id))),
                    None if is_cut(evidence) && self.points_at_silence(page) => {
                        Some("not all that the page links to gave an answer".to_owned())
                    }
                    None => None,
                }
            }
        }
    }

    fn why(&self, id: UrlId) -> String {
        match (self.index.state(id), self.index.status(id)) {
            (State::Blocked, _) => "forbidden by robots.txt".to_owned(),
            (State::Failed, _) => "no answer".to_owned(),
            (_, Some(status)) => format!("the server answered {status}"),
            _ => "what it answers is not known".to_owned(),
        }
    }

    /// Returns the hashes and ids of the URLs without a known answer, sorted by hash.
    fn all_silent(&self) -> &[(u64, u32)] {
        self.silent.get_or_init(|| {
            let ids = (0..self.index.len() as u32)
                .map(UrlId)
                .filter(|id| !self.index.is_answered(*id));
            let mut all: Vec<(u64, u32)> = ids
                .map(|id| (hash(self.index.key(id).as_bytes()), id.0))
                .collect();
            all.sort_unstable();
            all
        })
    }

    fn silent<'k>(&'k self, key: &'k str) -> impl Iterator<Item = UrlId> + 'k {
        let all = self.all_silent();
        let hash = hash(key.as_bytes());
        let start = all.partition_point(|(other, _)| *other < hash);
        all[start..]
            .iter()
            .take_while(move |(other, _)| *other == hash)
            .map(|(_, id)| UrlId(*id))
            .filter(move |id| self.index.key(*id) == key)
    }

    fn points_at_silence(&self, page: UrlId) -> bool {
        let pointing = self.pointing.get_or_init(|| {
            let silent = self.all_silent().iter().map(|(_, id)| UrlId(*id));
            self.index.pointing_at(silent)
        });
        pointing.get(page.0 as usize).copied().unwrap_or(false)
    }

    fn lacks_resources(&self) -> bool {
        *self.resources.get_or_init(|| self.index.resources().is_lacking())
    }

    /// Returns the URL id of a page of the site.
    pub fn page(&self, project: Uuid, page: PageId) -> Option<UrlId> {
        let index = self.index;
        let pages = self.pages.get_or_init(|| {
            let ids = (0..index.len() as u32).map(UrlId);
            ids.filter(|id| index.has(*id, PageFlags::INTERNAL))
                .map(|id| (page_id(project, index.key(id)), id))
                .collect()
        });
        pages.get(&page).copied()
    }
}
