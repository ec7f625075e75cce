//! Fetches the sitemaps that robots.txt names, or those at the usual places.

use std::collections::HashSet;

use url::Url;

use super::{May, Survey, at, whatever};
use crate::{
    fetch::FetchError,
    origin::Origin,
    robots::Robots,
    sitemap::{self, Listing, Sitemap},
};

/// Number of sitemaps in a row without a response after which no more are fetched: each takes three attempts until it
/// times out.
const MAX_SILENT: u32 = 3;

/// Receives a URL of a sitemap as written, and the day of its last change in days since the Unix epoch, 0 for none.
pub(super) type Listed<'l> = dyn FnMut(&str, u16) + Send + 'l;

fn report_listing(listing: &Listing, listed: &mut Listed<'_>) {
    let days = listing.days.iter().copied().chain(std::iter::repeat(0));
    for (url, day) in listing.urls.iter().zip(days) {
        listed(url, day);
    }
}

/// Creates the entry of a sitemap that was not read, with the reason.
fn unread(facts: Sitemap, why: &str) -> Listing {
    Listing {
        facts: Sitemap {
            error: Some(why.into()),
            ..facts
        },
        ..Listing::default()
    }
}

/// Creates the entry of the first sitemap beyond the limit.
fn left_out(url: &Url) -> Sitemap {
    Sitemap {
        url: url.as_str().into(),
        error: Some(sitemap::LEFT_OUT.into()),
        ..Sitemap::default()
    }
}

impl Survey {
    pub(in crate::crawl) async fn sitemaps(
        &mut self,
        root: &Url,
        may: &May<'_>,
        origin: &mut Origin,
        listed: &mut Listed<'_>,
    ) {
        let robots = Robots::parse(&origin.robots.text);
        let mut seen = HashSet::new();
        let declared = robots.sitemaps.iter().filter_map(|s| root.join(s).ok());
        let declared: Vec<Url> = declared.filter(|url| seen.insert(url.clone())).collect();
        let mut parts = Vec::new();
        let mut take = |listing: Listing| {
            if listing.facts.index {
                parts.extend(listing.urls.iter().filter_map(|url| root.join(url).ok()));
            } else {
                report_listing(&listing, listed);
            }
            origin.add_alternates(listing.alternates);
            origin.sitemaps.push(listing.facts);
        };
        let mut found = false;
        for url in declared.iter().take(sitemap::FILE_LIMIT) {
            if let Some(listing) = self.sitemap(url.clone(), true, root, &whatever).await {
                found |= listing.facts.status == Some(200);
                take(listing);
            }
        }
        let usual = sitemap::USUAL.map(|path| at(root, path));
        let mut tried = Vec::new();
        // a server that does not respond for the sitemaps it names is not asked for others
        let guesses = !found && (declared.is_empty() || self.silent < MAX_SILENT);
        for url in usual.into_iter().filter(|url| guesses && !declared.contains(url)) {
            // what robots.txt names is meant to be read; a guessed URL is subject to its rules like any other
            let Some(listing) = self.sitemap(url, false, root, may).await else {
                continue;
            };
            let facts = &listing.facts;
            // many sites respond to any URL with a page; only a sitemap counts as found
            if facts.urls > 0 || facts.status == Some(200) && facts.error.is_none() {
                tried.clear();
                take(listing);
                break;
            }
            tried.push(listing);
        }
        for listing in tried {
            take(listing);
        }
        if let Some(url) = declared.get(sitemap::FILE_LIMIT) {
            origin.sitemaps.push(left_out(url));
        }
        let mut asked: HashSet<Url> = declared.into_iter().collect();
        let named = origin.sitemaps.iter().any(|s| s.declared);
        for url in parts {
            if !asked.insert(url.clone()) {
                continue;
            }
            if origin.sitemaps.len() >= sitemap::FILE_LIMIT {
                return origin.sitemaps.push(left_out(&url));
            }
            if let Some(mut listing) = self.sitemap(url, named, root, &whatever).await {
                if listing.facts.index {
                    let why = "an index named by an index";
                    listing.facts.error.get_or_insert(why.into());
                } else {
                    report_listing(&listing, listed);
                }
                origin.add_alternates(std::mem::take(&mut listing.alternates));
                origin.sitemaps.push(listing.facts);
            }
        }
    }

    async fn sitemap(&mut self, url: Url, declared: bool, root: &Url, may: &May<'_>) -> Option<Listing> {
        let mut facts = Sitemap {
            url: url.as_str().into(),
            declared,
            ..Sitemap::default()
        };
        if self.silent >= MAX_SILENT {
            return Some(unread(facts, "not asked for: others before it gave no answer"));
        }
        let limit = sitemap::SIZE_LIMIT as usize + 1;
        let (end, fetched) = self.follow_patiently(url, limit, may).await;
        facts.url = end.as_str().into();
        let answer = match fetched {
            Ok(answer) => answer,
            Err(FetchError::Denied) if !may(&end) => return Some(unread(facts, "forbidden by robots.txt")),
            Err(error) => {
                // a denied request costs no time
                self.silent += u32::from(error != FetchError::Denied);
                return Some(unread(facts, &error.to_string()));
            }
        };
        self.silent = 0;
        facts.status = Some(answer.status);
        if answer.status != 200 {
            return Some(unread(facts, &format!("status {}", answer.status)));
        }
        let (root, now_ms) = (root.clone(), (self.now)());
        let read =
            tokio::task::spawn_blocking(move || (sitemap::read(&answer.body, &root, now_ms), answer.cut));
        let (mut listing, cut) = read.await.ok()?;
        listing.facts = Sitemap {
            url: facts.url,
            declared,
            status: facts.status,
            ..listing.facts
        };
        if let Some(cut) = cut {
            listing.facts.cut_off(cut);
        }
        Some(listing)
    }
}
