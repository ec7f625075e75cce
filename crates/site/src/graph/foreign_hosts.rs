//! Whether the audit reached any other site. Where none responds, the network of the audit is at fault, not the links.

use std::collections::BTreeSet;

use super::{PageFlags, SiteGraph, State};
use crate::{page::UrlId, private_network::is_private};

/// Silent hosts that are needed to blame the network: a single one may be gone.
const HOSTS: usize = 2;

impl SiteGraph {
    /// Whether several other sites were requested and none responded.
    pub(crate) fn is_cut_off(&self) -> bool {
        *self.cut_off.get_or_init(|| !self.silent_hosts().is_empty())
    }

    /// Returns the hosts of other sites, sorted, if several were requested and none responded.
    pub(crate) fn silent_hosts(&self) -> Vec<&str> {
        let mut urls = BTreeSet::new();
        for id in (0..self.len() as u32).map(UrlId) {
            if self.has(id, PageFlags::INTERNAL) {
                continue;
            }
            match self.state(id) {
                State::Known | State::Blocked => {}
                State::Html | State::Other | State::Redirect => return Vec::new(),
                State::Failed => {
                    urls.insert(self.key(id));
                }
            }
        }
        let own = if self.is_empty() {
            ""
        } else {
            host(self.key(UrlId(0)))
        };
        for resource in self.resources.iter() {
            let at = host(&resource.url);
            if at == own {
                continue;
            }
            if resource.status.is_some() {
                return Vec::new();
            }
            urls.insert(&*resource.url);
        }
        // the audit is not permitted to request private addresses that pages name
        let public = urls.into_iter().filter(|url| !is_private(url));
        let hosts: BTreeSet<&str> = public.map(host).collect();
        if hosts.len() < HOSTS {
            return Vec::new();
        }
        hosts.into_iter().collect()
    }
}

/// Returns host and port of a normalised URL.
fn host(key: &str) -> &str {
    let after = key.split_once("://").map_or(key, |(_, after)| after);
    after.split(['/', '?', '#']).next().unwrap_or_default()
}
