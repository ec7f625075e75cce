//! The operator's settings of crawling, and the HTTP clients made from them.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use searchwright_outbound::{self as outbound, AllowOutbound, Guarded, Lookup, Outbound, Purpose, SiteLogin};
pub use searchwright_site::robots::TOKEN;

use crate::failure::{Failure, defect};

/// Crawl settings of the server.
#[derive(Clone, Debug)]
pub struct CrawlSettings {
    /// Private addresses that may be reached.
    pub allow: Vec<AllowOutbound>,
    /// Logins of websites.
    pub logins: Vec<SiteLogin>,
    /// `User-Agent`.
    pub user_agent: String,
    /// Addresses of this server's own listeners, which are never fetched.
    pub own: Vec<SocketAddr>,
    /// Connections to the site.
    pub connections: usize,
    /// Least time between the starts of two requests.
    pub delay: Duration,
    /// Connections to a site that the operator allowed by name; it has no delay.
    pub connections_to_allowed: usize,
    /// Resolves names.
    pub lookup: Arc<dyn Lookup>,
}

impl CrawlSettings {
    /// Makes the client that fetches pages.
    pub(crate) fn crawler(&self) -> Result<Guarded, Failure> {
        Ok(self.outbound()?.for_purpose(Purpose::Crawl))
    }

    /// Makes the clients of jobs.
    pub(crate) fn outbound(&self) -> Result<Outbound, Failure> {
        let mut outbound = outbound::Settings::new(self.user_agent.clone());
        outbound.allow.clone_from(&self.allow);
        outbound.logins.clone_from(&self.logins);
        outbound.own.clone_from(&self.own);
        outbound.lookup = self.lookup.clone();
        Outbound::new(&outbound).map_err(|e| defect("http client", e))
    }
}
