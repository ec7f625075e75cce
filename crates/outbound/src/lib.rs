//! The one way out. Every request to an address that a user, a page or a vendor named goes through
//! here: the address guard, the time limits and the size limits cannot be forgotten, because there is
//! no other client.
//!
//! A name is kept from leading inside as follows: a literal address is judged before the request; a name is
//! resolved by our own hook, every address it resolves to is judged, one denied address refuses the
//! name, and the connection uses exactly the addresses that were judged. So a name that answers
//! differently the second time (DNS rebinding) gains nothing. The hook does not learn the port, so
//! each port that an exception (or our own listener) names has a client of its own.
//!
//! Mail goes to the server of the operator's choice only, so it needs no guard ([`mail`]).

mod addresses;
mod allow;
mod body;
mod certificate;
mod client;
mod error;
#[cfg(test)]
mod hostile;
pub mod mail;
mod replies;
mod resolve;
mod site_login;
mod stream;
#[cfg(any(test, feature = "test-server"))]
pub mod test_server;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tls_tests;
pub mod webhook_signature;

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

pub use addresses::{Block, Denied, denied};
pub use allow::{AllowError, AllowOutbound, Purpose, Target};
pub use body::replay;
pub use client::Guarded;
pub use error::{Ambiguous, Loss, NotSent, Rejected, RequestError};
pub use replies::{excerpt, retry_after};
pub use resolve::{Looked, Lookup, SystemLookup};
pub use site_login::{SiteLogin, SiteLoginFault};
pub use stream::{Piece, Streamed};

use resolve::{Guard, GuardedResolver};

/// Maximum number of header fields of an answer; browsers set none, and policies and cookies make hundreds.
const HEADER_FIELDS: usize = 1_000;

/// Time limits of the stages of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Resolving the name.
    pub dns: Duration,
    /// TCP and TLS.
    pub connect: Duration,
    /// Time from the start to the headers of the answer, connecting included.
    pub first_byte: Duration,
    /// Between two pieces of the answer's body.
    pub idle: Duration,
    /// The whole exchange.
    pub total: Duration,
}

impl Times {
    /// The limits for a purpose: 3 s DNS, 5 s connect, 15 s first byte, 30 s total, 15 s of a webhook; a model may
    /// think and speak for 120 s, but not fall silent for 30 s once it has begun.
    pub fn for_purpose(purpose: Purpose) -> Self {
        let (first_byte, total) = match purpose {
            Purpose::Provider => (120, 120),
            Purpose::Webhook => (15, 15),
            _ => (15, 30),
        };
        Self {
            dns: Duration::from_secs(3),
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(first_byte),
            idle: Duration::from_secs(30),
            total: Duration::from_secs(total),
        }
    }
}

/// Configuration of the guard.
#[derive(Clone)]
pub struct Settings {
    /// `User-Agent` of every request: `SearchwrightBot/1.0 (+{origin}/bot)`.
    pub user_agent: String,
    /// Exceptions for networks the operator owns.
    pub allow: Vec<AllowOutbound>,
    /// Logins of websites that are crawled.
    pub logins: Vec<SiteLogin>,
    /// Lets exceptions reach metadata services too; they stay denied otherwise.
    pub allow_metadata: bool,
    /// Addresses on which this server listens: denied even when public, unless an exception names the port, so
    /// that nobody makes the server call itself.
    pub own: Vec<SocketAddr>,
    /// Replaces [`Times::for_purpose`] for every purpose.
    pub times: Option<Times>,
    /// Resolves names; [`SystemLookup`] outside tests.
    pub lookup: Arc<dyn Lookup>,
}

impl Settings {
    /// No exceptions, the system's resolver, the usual times.
    pub fn new(user_agent: impl Into<String>) -> Self {
        Self {
            user_agent: user_agent.into(),
            allow: Vec::new(),
            logins: Vec::new(),
            allow_metadata: false,
            own: Vec::new(),
            times: None,
            lookup: Arc::new(SystemLookup),
        }
    }
}

/// Reason why the client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// The TLS stack refused its configuration.
    #[error("cannot set up TLS")]
    Tls(#[from] rustls::Error),
    /// The HTTP client refused its configuration.
    #[error("cannot set up the HTTP client")]
    Client(#[from] reqwest::Error),
}

/// The guarded clients, one for each purpose. Cheap to clone; connections are pooled across clones.
#[derive(Clone)]
pub struct Outbound {
    purposes: Arc<[(Purpose, Guarded)]>,
}

impl Outbound {
    /// Sets up all purposes.
    pub fn new(settings: &Settings) -> Result<Self, OutboundError> {
        let tls = tls()?;
        let purposes = Purpose::ALL
            .into_iter()
            .map(|purpose| Ok((purpose, guarded(settings, purpose, tls)?)))
            .collect::<Result<_, OutboundError>>()?;
        Ok(Self { purposes })
    }

    /// The client for a purpose.
    pub fn for_purpose(&self, purpose: Purpose) -> Guarded {
        self.purposes[purpose as usize].1.clone()
    }
}

fn guarded(
    settings: &Settings,
    purpose: Purpose,
    tls: &rustls::ClientConfig,
) -> Result<Guarded, OutboundError> {
    let times = settings.times.unwrap_or_else(|| Times::for_purpose(purpose));
    let allow: Vec<Target> = settings
        .allow
        .iter()
        .filter(|a| a.purpose == purpose)
        .map(|a| a.target.clone())
        .collect();
    let ports: BTreeSet<u16> = allow
        .iter()
        .filter_map(Target::port)
        .chain(settings.own.iter().map(SocketAddr::port))
        .collect();
    let guard = Arc::new(Guard {
        purpose,
        allow,
        logins: match purpose {
            Purpose::Crawl => settings.logins.clone(),
            _ => Vec::new(),
        },
        allow_metadata: settings.allow_metadata,
        own: settings.own.clone(),
        logged: Mutex::default(),
    });
    let client = |port| {
        let resolver = GuardedResolver {
            guard: guard.clone(),
            lookup: settings.lookup.clone(),
            port,
            limit: times.dns,
        };
        reqwest::Client::builder()
            .user_agent(&settings.user_agent)
            .tls_backend_preconfigured(tls.clone())
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .tls_info(true)
            .dns_resolver(Arc::new(resolver))
            .connect_timeout(times.dns + times.connect)
            .tcp_nodelay(true)
            .pool_idle_timeout(Duration::from_secs(30))
            .pool_max_idle_per_host(32)
            // Real servers send such headers, and browsers read them.
            .http1_ignore_invalid_headers_in_responses(true)
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_max_headers(HEADER_FIELDS)
            .build()
    };
    let by_port = ports
        .into_iter()
        .map(|port| Ok((port, client(Some(port))?)))
        .collect::<Result<_, reqwest::Error>>()?;
    let other = client(None)?;
    Ok(Guarded::new(
        guard,
        settings.lookup.clone(),
        times,
        by_port,
        other,
    ))
}

/// TLS by rustls with ring. Trusts what the system trusts, so that an operator's own authority works;
/// a system without certificates (a bare container) trusts Mozilla's list.
///
/// Read once: the system's certificates take milliseconds and megabytes.
fn tls() -> Result<&'static rustls::ClientConfig, OutboundError> {
    static READ: OnceLock<rustls::ClientConfig> = OnceLock::new();
    match READ.get() {
        Some(config) => Ok(config),
        None => {
            let config = read_tls()?;
            Ok(READ.get_or_init(|| config))
        }
    }
}

fn read_tls() -> Result<rustls::ClientConfig, OutboundError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()?;
    let mut config = match rustls_platform_verifier::Verifier::new(provider) {
        Ok(verifier) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth(),
        Err(error) => {
            tracing::info!(%error, "no system certificates: trusting the built-in list");
            let roots = rustls::RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
