//! The operator's exceptions to the address guard, for sites and receivers inside their own network.
//! From the server's configuration only: whoever may write this list may reach that network.

use std::{fmt, net::IpAddr, str::FromStr};

use url::{Host, Url};

use super::addresses::Block;

/// Purpose of a request. Exceptions hold for one purpose each, so that a webhook cannot use what was
/// opened for the crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Audits: pages, robots.txt, sitemaps, link checks.
    Crawl,
    /// Webhook deliveries.
    Webhook,
    /// Publishing to a CMS.
    Publish,
    /// Language models, answer engines, keyword data.
    Provider,
    /// OAuth client id metadata documents.
    ClientMetadata,
}

impl Purpose {
    /// All, in the order of documentation.
    pub const ALL: [Self; 5] = [
        Self::Crawl,
        Self::Webhook,
        Self::Publish,
        Self::Provider,
        Self::ClientMetadata,
    ];

    /// The word used in configuration and logs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Webhook => "webhook",
            Self::Publish => "publish",
            Self::Provider => "provider",
            Self::ClientMetadata => "client-metadata",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One exception, written `PURPOSE=TARGET`: `crawl=intranet.example:8080`, `webhook=10.0.0.7:9000`,
/// `crawl=10.1.0.0/16`, `crawl=[::1]:8080`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowOutbound {
    /// The only purpose it holds for.
    pub purpose: Purpose,
    /// Addresses that may be reached.
    pub target: Target,
}

/// Addresses that an exception opens. No port means every port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A host name, lower-case ASCII. Whatever it resolves to is allowed, save metadata services.
    Host(String, Option<u16>),
    /// One address, also when a name resolves to it.
    Address(IpAddr, Option<u16>),
    /// A range of addresses, also when a name resolves into it.
    Range(Block, String),
}

impl fmt::Display for AllowOutbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.purpose)?;
        match &self.target {
            Target::Host(host, None) => f.write_str(host),
            Target::Host(host, Some(port)) => write!(f, "{host}:{port}"),
            Target::Address(address, None) => write!(f, "{address}"),
            Target::Address(IpAddr::V4(address), Some(port)) => write!(f, "{address}:{port}"),
            Target::Address(IpAddr::V6(address), Some(port)) => write!(f, "[{address}]:{port}"),
            Target::Range(_, written) => f.write_str(written),
        }
    }
}

/// Reason why a text is not an [`AllowOutbound`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllowError {
    /// No `=`.
    #[error("`{0}` lacks a purpose: write PURPOSE=HOST:PORT, for example crawl=intranet.example:8080")]
    NoPurpose(String),
    /// The word before `=` is not a purpose.
    #[error("`{0}` is not a purpose: use crawl, webhook, publish, provider or client-metadata")]
    Purpose(String),
    /// The port is not 1 to 65535.
    #[error("`{0}` is not a port: use 1 to 65535")]
    Port(String),
    /// The range does not parse.
    #[error("`{0}` is not a range: write ADDRESS/BITS, for example 10.1.0.0/16")]
    Range(String),
    /// The host does not parse.
    #[error("`{0}` is not a host: write a name or an address, without scheme, path or wildcard")]
    Host(String),
}

impl AllowOutbound {
    /// Whether the exception names the host of this URL itself, and not only an address it may resolve to.
    pub fn names(&self, url: &Url) -> bool {
        let port = self
            .target
            .port()
            .is_none_or(|p| url.port_or_known_default() == Some(p));
        port && match url.host() {
            Some(Host::Domain(name)) => matches!(&self.target, Target::Host(host, _) if host == name),
            Some(Host::Ipv4(ip)) => self.target.opens("", ip.into()),
            Some(Host::Ipv6(ip)) => self.target.opens("", ip.into()),
            None => false,
        }
    }
}

impl FromStr for AllowOutbound {
    type Err = AllowError;

    fn from_str(text: &str) -> Result<Self, AllowError> {
        let (word, target) = text
            .trim()
            .split_once('=')
            .ok_or_else(|| AllowError::NoPurpose(text.to_owned()))?;
        let purpose = Purpose::ALL
            .into_iter()
            .find(|p| p.word() == word.trim())
            .ok_or_else(|| AllowError::Purpose(word.to_owned()))?;
        Ok(Self {
            purpose,
            target: parse_target(target.trim())?,
        })
    }
}

fn parse_target(text: &str) -> Result<Target, AllowError> {
    if let Some((base, bits)) = text.split_once('/') {
        let block = base
            .parse()
            .ok()
            .zip(bits.parse().ok())
            .and_then(|(base, bits)| Block::new(base, bits));
        return block
            .map(|b| Target::Range(b, text.to_owned()))
            .ok_or_else(|| AllowError::Range(text.to_owned()));
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(Target::Address(address, None));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => {
            let port = port
                .parse()
                .ok()
                .filter(|p| *p != 0)
                .ok_or_else(|| AllowError::Port(port.to_owned()))?;
            (host, Some(port))
        }
        None => (text, None),
    };
    // The URL parser's idea of a host, so that `127.1` here is the `127.1` of a URL.
    match Host::parse(host) {
        Ok(Host::Ipv4(address)) => Ok(Target::Address(address.into(), port)),
        Ok(Host::Ipv6(address)) => Ok(Target::Address(address.into(), port)),
        Ok(Host::Domain(name)) if !name.is_empty() && !name.contains('*') => Ok(Target::Host(name, port)),
        _ => Err(AllowError::Host(host.to_owned())),
    }
}

impl Target {
    /// The port it is restricted to.
    pub(super) fn port(&self) -> Option<u16> {
        match self {
            Self::Host(_, port) | Self::Address(_, port) => *port,
            Self::Range(..) => None,
        }
    }

    /// Whether it opens `address`, reached as `host` (a literal's host is the address).
    pub(super) fn opens(&self, host: &str, address: IpAddr) -> bool {
        match self {
            Self::Host(name, _) => name.eq_ignore_ascii_case(host),
            Self::Address(allowed, _) => allowed.to_canonical() == address.to_canonical(),
            Self::Range(block, _) => block.contains(address.to_canonical()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_parses_and_prints_as_written() {
        for text in [
            "crawl=intranet.example:8080",
            "webhook=hooks.internal",
            "publish=10.0.0.7:9000",
            "provider=127.0.0.1:11434",
            "client-metadata=[::1]:8080",
            "crawl=::1",
            "crawl=10.1.0.0/16",
            "crawl=fd12:3456::/32",
        ] {
            assert_eq!(text.parse::<AllowOutbound>().unwrap().to_string(), text);
        }
        let odd: AllowOutbound = " crawl = 127.1:80 ".parse().unwrap();
        assert_eq!(odd.to_string(), "crawl=127.0.0.1:80");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, error) in [
            ("intranet:80", AllowError::NoPurpose("intranet:80".into())),
            ("crawling=a:80", AllowError::Purpose("crawling".into())),
            ("crawl=a:0", AllowError::Port("0".into())),
            ("crawl=a:99999", AllowError::Port("99999".into())),
            ("crawl=http://a", AllowError::Range("http://a".into())),
            ("crawl=10.0.0.0/33", AllowError::Range("10.0.0.0/33".into())),
            ("crawl=*.example.com", AllowError::Host("*.example.com".into())),
            ("crawl=", AllowError::Host(String::new())),
            ("crawl=a b:80", AllowError::Host("a b".into())),
        ] {
            assert_eq!(text.parse::<AllowOutbound>(), Err(error), "{text}");
        }
    }
}
