//! One exchange under the limits of a purpose.

use std::{
    error::Error,
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    time::Instant,
};

use bytes::Bytes;
use http::{HeaderValue, header};
use searchwright_site::fetch::{
    Connection, Cut, Fault, Fetch, FetchError, Fetched, Method, Request, Response,
};
use tokio::time::{Instant as Deadline, timeout_at};
use url::{Host, Url};

use super::{
    Times,
    body::{Body, Coding},
    certificate,
    resolve::{Guard, Lookup, NameError, judged},
    stream::Streamed,
};

/// The client of one purpose. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct Guarded {
    shared: Arc<Shared>,
}

struct Shared {
    guard: Arc<Guard>,
    lookup: Arc<dyn Lookup>,
    times: Times,
    by_port: Vec<(u16, reqwest::Client)>,
    other: reqwest::Client,
}

impl Guarded {
    pub(super) fn new(
        guard: Arc<Guard>,
        lookup: Arc<dyn Lookup>,
        times: Times,
        by_port: Vec<(u16, reqwest::Client)>,
        other: reqwest::Client,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                guard,
                lookup,
                times,
                by_port,
                other,
            }),
        }
    }

    /// Sends any request and keeps at most `body_limit` bytes of the decoded answer. No redirect is
    /// followed, nothing is tried twice. [`FetchError::Denied`], `Dns`, `Connect` and `Tls` mean that
    /// the request was not sent; after `Timeout` and `Broken` it may have been.
    pub async fn send(&self, request: http::Request<Bytes>, body_limit: usize) -> Fetched {
        let request = reqwest::Request::try_from(request).map_err(|_| FetchError::Denied)?;
        self.perform(request, body_limit).await
    }

    /// Sends any request and hands out the answer's body as it comes, at most `body_limit` bytes of it.
    /// Errors mean what they mean in [`Guarded::send`].
    pub async fn stream(
        &self,
        request: http::Request<Bytes>,
        body_limit: usize,
    ) -> Result<Streamed, FetchError> {
        let request = reqwest::Request::try_from(request).map_err(|_| FetchError::Denied)?;
        let start = Deadline::now();
        let (answer, headers, coding) = self.begin(request, start).await?;
        let body = Body::new(coding, body_limit, answer.content_length());
        Ok(Streamed::new(answer, headers, body, start, self.shared.times))
    }

    /// An address of a host that may be reached at this port: for programs that speak for themselves, which are told to
    /// connect there and nowhere else.
    pub async fn address_of(&self, host: &Host<&str>, port: u16) -> Result<IpAddr, FetchError> {
        let special = self
            .shared
            .by_port
            .iter()
            .find(|(p, _)| *p == port)
            .map(|(p, _)| *p);
        let name = match host {
            Host::Ipv4(address) => return self.permitted((*address).into(), special),
            Host::Ipv6(address) => return self.permitted((*address).into(), special),
            Host::Domain(name) => *name,
        };
        let (guard, looked) = (self.shared.guard.clone(), self.shared.lookup.lookup(name));
        let judged = judged(guard, looked, name.to_owned(), special, self.shared.times.dns).await;
        let found = judged.map_err(|error| name_error(&error))?;
        found.first().map(SocketAddr::ip).ok_or(FetchError::Dns)
    }

    fn permitted(&self, address: IpAddr, port: Option<u16>) -> Result<IpAddr, FetchError> {
        if self.shared.guard.permits(&address.to_string(), address, port) {
            Ok(address)
        } else {
            Err(FetchError::Denied)
        }
    }

    /// Sends, and waits for the headers.
    async fn begin(
        &self,
        mut request: reqwest::Request,
        start: Deadline,
    ) -> Result<(reqwest::Response, http::HeaderMap, Coding), FetchError> {
        let client = self.client_for(request.url())?;
        request
            .headers_mut()
            .entry(header::ACCEPT_ENCODING)
            .or_insert(HeaderValue::from_static("gzip, br"));
        let times = &self.shared.times;
        let sent = timeout_at(start + times.first_byte.min(times.total), client.execute(request));
        let mut answer = match sent.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(reason(&error)),
            Err(_) => return Err(FetchError::Timeout),
        };
        let headers = std::mem::take(answer.headers_mut());
        // what a redirect says beside where it leads, nobody reads
        let unread = || answer.status().is_redirection().then_some(Coding::Identity);
        let coding = Coding::from_headers(&headers)
            .or_else(unread)
            .ok_or(FetchError::Broken)?;
        Ok((answer, headers, coding))
    }

    async fn perform(&self, request: reqwest::Request, body_limit: usize) -> Fetched {
        let (clock, start) = (Instant::now(), Deadline::now());
        let (mut answer, headers, coding) = self.begin(request, start).await?;
        let ttfb = clock.elapsed();
        let status = answer.status().as_u16();
        let connection = connection(&answer);
        let mut body = Body::new(coding, body_limit, answer.content_length());
        let (body, wire_bytes, cut) = loop {
            match timeout_at(start + self.shared.times.total, answer.chunk()).await {
                Ok(Ok(Some(piece))) => match body.take(piece) {
                    Ok(true) => {}
                    Ok(false) => break body.cut_short(None),
                    Err(_) => return Err(FetchError::Broken),
                },
                Ok(Ok(None)) => break body.finish().map_err(|_| FetchError::Broken)?,
                Ok(Err(error)) => return Err(reason(&error)),
                Err(_) => break body.cut_short(Some(Cut::Time)),
            }
        };
        Ok(Response {
            status,
            headers,
            body,
            wire_bytes,
            cut,
            ttfb,
            connection,
        })
    }

    /// Judges what can be judged without resolving, and picks the client whose resolver judges the rest.
    fn client_for(&self, url: &Url) -> Result<&reqwest::Client, FetchError> {
        if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() || url.password().is_some()
        {
            return Err(FetchError::Denied);
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(FetchError::Denied);
        };
        let special = self.shared.by_port.iter().find(|(p, _)| *p == port);
        let literal = match host {
            Host::Ipv4(address) => Some(IpAddr::from(address)),
            Host::Ipv6(address) => Some(IpAddr::from(address)),
            Host::Domain(_) => None,
        };
        if let Some(address) = literal
            && !self
                .shared
                .guard
                .permits(&address.to_string(), address, special.map(|(p, _)| *p))
        {
            return Err(FetchError::Denied);
        }
        Ok(special.map_or(&self.shared.other, |(_, client)| client))
    }
}

impl Fetch for Guarded {
    fn fetch(&self, request: Request) -> Pin<Box<dyn Future<Output = Fetched> + Send + '_>> {
        Box::pin(async move {
            let method = match request.method {
                Method::Get => reqwest::Method::GET,
                Method::Head => reqwest::Method::HEAD,
            };
            // what browsers send for a picture: servers choose its format by it
            let accept = if request.picture || is_picture(&request.url) {
                "image/avif,image/webp,image/*,*/*;q=0.8"
            } else {
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
            };
            let logins = &self.shared.guard.logins;
            let login = logins
                .iter()
                .find_map(|login| login.header_for(&request.url))
                .cloned();
            let mut asked = reqwest::Request::new(method, request.url);
            let headers = asked.headers_mut();
            headers.extend(login.map(|login| (header::AUTHORIZATION, login)));
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            if request.fresh {
                headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
                headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
            }
            if let Some(known) = request.unless {
                // one that is no header value was none of its server's either
                let value = |text: Option<Box<str>>| HeaderValue::from_str(&text?).ok();
                headers.extend(value(known.etag).map(|etag| (header::IF_NONE_MATCH, etag)));
                headers.extend(value(known.last_modified).map(|date| (header::IF_MODIFIED_SINCE, date)));
            }
            self.perform(asked, request.body_limit).await
        })
    }
}

fn is_picture(url: &Url) -> bool {
    let extension = url.path().rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| {
        ["avif", "gif", "jpeg", "jpg", "png", "svg", "webp"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
    })
}

/// Returns the facts about the connection of an answer.
fn connection(answer: &reqwest::Response) -> Connection {
    let tls = answer.extensions().get::<reqwest::tls::TlsInfo>();
    Connection {
        multiplexed: answer.version() >= http::Version::HTTP_2,
        certificate_until_ms: tls.and_then(|tls| certificate::expires_ms(tls.peer_certificate()?)),
    }
}

/// Turns a TLS error into the fault of the certificate, if it is one.
fn fault(error: &rustls::Error) -> FetchError {
    use rustls::CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet, NotValidYetContext,
        UnknownIssuer,
    };
    let rustls::Error::InvalidCertificate(error) = error else {
        return FetchError::Tls;
    };
    FetchError::Certificate(match error {
        Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. } => Fault::Expired,
        NotValidForName | NotValidForNameContext { .. } => Fault::WrongName,
        UnknownIssuer => Fault::UnknownIssuer,
        _ => Fault::Invalid,
    })
}

const fn name_error(error: &NameError) -> FetchError {
    match error {
        NameError::Denied => FetchError::Denied,
        NameError::Unknown => FetchError::Dns,
        NameError::Slow => FetchError::Timeout,
    }
}

/// Finds the cause of a client error in its chain.
pub(super) fn reason(error: &reqwest::Error) -> FetchError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(at) = cause {
        if let Some(name) = at.downcast_ref::<NameError>() {
            return name_error(name);
        }
        if let Some(tls) = at.downcast_ref::<rustls::Error>() {
            // After the handshake the request may have been sent, and carried out.
            return if error.is_connect() {
                fault(tls)
            } else {
                FetchError::Broken
            };
        }
        cause = match at.downcast_ref::<io::Error>() {
            // An I/O error hides the error it was made of from `source`.
            Some(io) => match io.get_ref() {
                Some(inner) => Some(inner),
                None => at.source(),
            },
            None => at.source(),
        };
    }
    if error.is_timeout() {
        FetchError::Timeout
    } else if error.is_connect() {
        FetchError::Connect
    } else {
        FetchError::Broken
    }
}
