//! Reads sitemaps of other subdomains, if these belong to the site: a subdomain is known once one of its pages is.

use std::collections::HashSet;

use url::Url;

use super::{Crawler, seeds::Given};
use crate::{
    crawl::{
        Termination,
        discovery::{Survey, policy, within},
        scope::origin,
    },
    graph::State,
    http_status::is_transient,
    origin::Origin,
    page::UrlId,
    robots::Policy,
    sitemap::{LEFT_OUT, Sitemap},
};

/// Maximum number of subdomains whose sitemaps are read.
const MAX_SUBDOMAINS: usize = 100;

impl Crawler {
    /// Crawls the URLs that sitemaps of other subdomains list, until no new subdomain appears. Returns `None` if a
    /// batch could not be handed over.
    pub(super) async fn subdomains(&mut self) -> Option<()> {
        let mut asked = HashSet::new();
        // a partial recrawl does this only if it reads the sitemaps of the site again
        let wanted =
            self.config.include_subdomains && (self.discovery.permit.is_none() || self.discovery.surveyed);
        if !wanted {
            return Some(());
        }
        let scope = &self.discovery.scope;
        let stays = |sitemap: &Sitemap| !sitemap.is_left_out() || !scope.is_below(origin(&sitemap.url));
        self.discovery.origin.sitemaps.retain(stays);
        loop {
            let new = self.origins_below(&asked);
            if new.is_empty() {
                break;
            }
            for root in new {
                if self.is_stopped() || self.cut.is_some() || asked.len() == MAX_SUBDOMAINS {
                    self.leave_out(&root);
                    return Some(());
                }
                self.sitemaps_of(&root).await;
                asked.insert(root);
            }
            self.pages().await?;
        }
        Some(())
    }

    /// Returns origins of other subdomains that have an HTML page.
    fn origins_below(&self, asked: &HashSet<Box<str>>) -> Vec<Box<str>> {
        let mut found = HashSet::new();
        for id in (0..self.discovery.table.len() as u32).map(UrlId) {
            let root = origin(self.discovery.table.key(id));
            if self.discovery.builder.is_internal(id)
                && self.discovery.builder.state(id) == State::Html
                && self.discovery.scope.is_below(root)
                && !asked.contains(root)
            {
                found.insert(root);
            }
        }
        let mut found: Vec<Box<str>> = found.into_iter().map(Into::into).collect();
        found.sort_unstable();
        found
    }

    /// Records that the sitemaps of an origin were left out, so that its pages do not count as missing from sitemaps.
    fn leave_out(&mut self, root: &str) {
        self.discovery.origin.sitemaps.push(Sitemap {
            url: format!("{root}/sitemap.xml").into(),
            error: Some(LEFT_OUT.into()),
            ..Sitemap::default()
        });
        self.recorder.pending.origin(self.discovery.origin.clone());
    }

    async fn sitemaps_of(&mut self, root: &str) {
        let Ok(url) = Url::parse(root) else { return };
        let mut survey = Survey::new(self.fetcher.client.clone(), &self.config, self.now.clone());
        let known = self.queue.robots_below.remove(root);
        let before = self.discovery.table.len();
        let mut found = Origin::default();
        let config = &self.config;
        let mut given = Given::new(&mut self.discovery.table, &self.discovery.scope, config);
        let mut listed = |url: &str, day: u16| given.listed(url, day);
        let reading = async {
            found.robots = match known {
                Some(file) => file,
                None => survey.robots(&url).await,
            };
            let policy = policy(&found.robots, config);
            if let Policy::Follow(rules) = &policy {
                survey.slow_to(rules.delay);
                let may = within(&url, &policy);
                survey.sitemaps(&url, &may, &mut found, &mut listed).await;
            }
        };
        let ended = tokio::select! {
            () = reading => None,
            () = self.cancel.cancelled() => Some(Termination::Cancelled),
            () = tokio::time::sleep_until(self.deadline) => Some(Termination::MaxDuration),
        };
        if let Some(why) = ended {
            return self.stop(why);
        }
        // A subdomain without declared sitemaps and without any at the usual places need not have one; whether a page
        // at such a place stands for a missing file was not probed.
        let mut sitemaps = found.sitemaps.iter();
        let has_index = sitemaps.any(|sitemap| sitemap.status == Some(200) && sitemap.index);
        let sitemaps = found.sitemaps.into_iter();
        let sitemaps = sitemaps.filter(|sitemap| match sitemap.status {
            _ if sitemap.declared || sitemap.is_left_out() => true,
            Some(200) => !sitemap.is_page(),
            // sitemap that an index names
            status => has_index && status.is_none_or(is_transient),
        });
        for sitemap in sitemaps {
            // replaces an entry from before a restart
            self.discovery
                .origin
                .sitemaps
                .retain(|known| known.url != sitemap.url);
            self.discovery.origin.sitemaps.push(sitemap);
        }
        self.note_urls(before);
        self.recorder.pending.origin(self.discovery.origin.clone());
    }
}
