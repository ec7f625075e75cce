//! Judges addresses and resolves names under that judgement.

use std::{
    collections::HashSet,
    fmt,
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{
    addresses::{Denied, denied},
    allow::{Purpose, Target},
    site_login::SiteLogin,
};

/// Future that a [`Lookup`] returns.
pub type Looked = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Turns a name into addresses; a parameter so that tests can make names lie.
pub trait Lookup: Send + Sync + 'static {
    /// All addresses of a name; an empty list or an error when there is none, [`io::ErrorKind::TimedOut`] when nobody can
    /// tell for the moment.
    fn lookup(&self, name: &str) -> Looked;
}

impl fmt::Debug for dyn Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lookup")
    }
}

/// The operating system's resolver.
#[derive(Debug)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, name: &str) -> Looked {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await;
            let found = found.map_err(|error| {
                if is_passing(&error) {
                    io::ErrorKind::TimedOut.into()
                } else {
                    error
                }
            })?;
            Ok(found.map(|a| a.ip()).collect())
        })
    }
}

/// Whether the resolver could not say for the moment. The standard library hands on nothing but its words for that
/// (`EAI_AGAIN` of glibc, musl and the BSDs), and a system error as such.
fn is_passing(error: &io::Error) -> bool {
    let text = error.to_string();
    error.raw_os_error().is_some() || text.contains("emporary failure") || text.contains("ry again")
}

/// The rules of one purpose.
pub(super) struct Guard {
    pub(super) purpose: Purpose,
    pub(super) allow: Vec<Target>,
    pub(super) allow_metadata: bool,
    /// Logins of websites.
    pub(super) logins: Vec<SiteLogin>,
    pub(super) own: Vec<SocketAddr>,
    /// Exceptions whose use has been logged; a crawl uses one ten thousand times.
    pub(super) logged: Mutex<HashSet<(IpAddr, Option<u16>)>>,
}

/// Exceptions remembered as logged, at most.
const MAX_LOGGED: usize = 1_000;

impl Guard {
    /// Whether `host` may be reached at this address. `port` is `None` when it is none of those that
    /// exceptions or our own listeners name.
    pub(super) fn permits(&self, host: &str, address: IpAddr, port: Option<u16>) -> bool {
        let opened = |with_port: bool| {
            self.allow.iter().any(|target| {
                let port_fits = match target.port() {
                    Some(wanted) => Some(wanted) == port,
                    None => !with_port,
                };
                port_fits && target.opens(host, address)
            })
        };
        let own = port.is_some_and(|p| self.own.contains(&SocketAddr::new(address.to_canonical(), p)));
        let permitted = match denied(address) {
            Some(Denied::Metadata) if !self.allow_metadata => false,
            _ if own => opened(true),
            Some(_) => opened(false),
            None => return true,
        };
        if permitted {
            // Exceptions reach inside: that one was used can be found in the log.
            let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
            if logged.len() < MAX_LOGGED && !logged.insert((address, port)) {
                return true;
            }
            tracing::info!(purpose = %self.purpose, host, %address, port, "outbound exception used");
        } else {
            tracing::debug!(purpose = %self.purpose, host, %address, port, "outbound address denied");
        }
        permitted
    }
}

/// Reason why a name could not be resolved; it is found again in the chain of a client error.
#[derive(Debug, thiserror::Error)]
pub(super) enum NameError {
    #[error("an address of the name is not allowed")]
    Denied,
    #[error("the name has no address")]
    Unknown,
    #[error("the name took too long to resolve")]
    Slow,
}

/// The hook of one client.
pub(super) struct GuardedResolver {
    pub(super) guard: Arc<Guard>,
    pub(super) lookup: Arc<dyn Lookup>,
    pub(super) port: Option<u16>,
    pub(super) limit: Duration,
}

/// The addresses of a name, if all of them may be reached.
pub(super) async fn judged(
    guard: Arc<Guard>,
    looked: Looked,
    name: String,
    port: Option<u16>,
    limit: Duration,
) -> Result<Vec<SocketAddr>, NameError> {
    let found = match tokio::time::timeout(limit, looked).await {
        Ok(Ok(found)) if !found.is_empty() => found,
        Ok(Err(error)) if error.kind() == io::ErrorKind::TimedOut => return Err(NameError::Slow),
        Ok(_) => return Err(NameError::Unknown),
        Err(_) => return Err(NameError::Slow),
    };
    // One bad address refuses the name: filtering would let an attacker try until one slips by.
    if found.iter().all(|address| guard.permits(&name, *address, port)) {
        Ok(found
            .into_iter()
            .map(|address| SocketAddr::new(address, 0))
            .collect())
    } else {
        Err(NameError::Denied)
    }
}

impl reqwest::dns::Resolve for GuardedResolver {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let name = name.as_str().to_owned();
        let looked = self.lookup.lookup(&name);
        let judged = judged(self.guard.clone(), looked, name, self.port, self.limit);
        Box::pin(async move {
            match judged.await {
                Ok(found) => Ok(Box::new(found.into_iter()) as reqwest::dns::Addrs),
                Err(error) => Err(error.into()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::is_passing;

    #[test]
    fn a_resolver_that_cannot_tell_is_no_unknown_name() {
        for (text, passing) in [
            (
                "failed to lookup address information: Name or service not known",
                false,
            ),
            (
                "failed to lookup address information: No address associated with hostname",
                false,
            ),
            (
                "failed to lookup address information: Name does not resolve",
                false,
            ),
            (
                "failed to lookup address information: Temporary failure in name resolution",
                true,
            ),
            ("failed to lookup address information: Try again", true),
        ] {
            assert_eq!(is_passing(&io::Error::other(text)), passing, "{text}");
        }
        assert!(is_passing(&io::Error::from_raw_os_error(24)));
    }
}
