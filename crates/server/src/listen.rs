//! Listeners: HTTP/1.1 and HTTP/2 in the clear, with limits on time and headers, and an end in order.

use std::{
    convert::Infallible,
    future::Future,
    net::{IpAddr, SocketAddr},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{Router, body::Body};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, Version, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
};
use ipnet::IpNet;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

/// Largest head of a request in bytes that is read, request line and headers together. A smaller head that is still too
/// large is refused with a problem; a larger one gets a 431 without a body.
const HEAD: usize = 64 * 1024;
/// Most header fields that are read.
const FIELDS: usize = 200;
/// Bytes of a body that are read to keep the connection, though the answer does not need them.
const READ_ON: u64 = 64 * 1024;
/// Maximum time for that.
const READ_ON_TIME: Duration = Duration::from_secs(1);
/// Maximum time for running requests to end after the listener was stopped.
const GRACE: Duration = Duration::from_secs(25);

/// The address a request came from, in its extensions.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

/// Returns the address of the client: the last in `X-Forwarded-For` that is not a trusted proxy. What stands before it, the client
/// may have written itself.
fn client_address(peer: IpAddr, headers: &HeaderMap, proxies: &[IpNet]) -> IpAddr {
    let is_proxy = |address: IpAddr| {
        let address = address.to_canonical();
        proxies.iter().any(|network| network.contains(&address))
    };
    if proxies.is_empty() || !is_proxy(peer) {
        return peer;
    }
    let hops: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect();
    let mut client = peer;
    for hop in hops.iter().rev() {
        let Some(address) = hop_address(hop) else {
            return client;
        };
        client = address;
        if !is_proxy(address) {
            return client;
        }
    }
    client
}

/// Reads an address with or without a port, IPv6 with or without brackets.
fn hop_address(hop: &str) -> Option<IpAddr> {
    let bare = hop.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse().ok();
    address.or_else(|| Some(hop.parse::<SocketAddr>().ok()?.ip()))
}

/// Body of a request that its handler dropped before the end.
#[derive(Clone, Default)]
struct Unread(Arc<Mutex<Option<Incoming>>>);

impl Unread {
    fn take(&self) -> Option<Incoming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Body of a request that comes back to the listener if its handler drops it before the end.
struct Lent {
    body: Option<Incoming>,
    unread: Unread,
}

impl Lent {
    fn new(body: Incoming, unread: &Unread) -> Self {
        Self {
            body: Some(body),
            unread: unread.clone(),
        }
    }
}

impl hyper::body::Body for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Incoming::size_hint).unwrap_or_default()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            *self.unread.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}

/// Returns whether a body of this length is read to its end though nobody needs it. One that the client sends only when it is
/// asked for is not.
fn is_small(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    length.is_some_and(|length| length <= READ_ON) && !headers.contains_key(header::EXPECT)
}

/// Reads a body to its end. Returns `false` if it does not end soon.
async fn read_on(body: Incoming) -> bool {
    let mut body = Limited::new(body, READ_ON as usize);
    let whole = async {
        while let Some(frame) = body.frame().await {
            if frame.is_err() {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(READ_ON_TIME, whole).await.unwrap_or(false)
}

/// Binds, with the address in the error.
pub async fn bind(address: SocketAddr, name: &str) -> std::io::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .map_err(|e| std::io::Error::new(e.kind(), format!("{name} {address}: {e}")))
}

/// Serves until `stop`, then lets requests under way end. Within `headers` of its begin a connection has to
/// have made its first request; as long it may stay idle between two, or take for the headers of the next.
pub fn serve(
    listener: TcpListener,
    router: Router,
    headers: Duration,
    proxies: Arc<[IpNet]>,
    stop: CancellationToken,
) -> impl Future<Output = ()> + Send {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(headers)
        .max_headers(FIELDS)
        .max_buf_size(HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(128)
        .max_header_list_size(HEAD as u32)
        .keep_alive_interval(Some(Duration::from_secs(30)));
    async move {
        let graceful = GracefulShutdown::new();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            let (stream, address) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, most likely: those in use have to be given back first.
                    tracing::warn!(%error, "accepting a connection failed");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let _ = stream.set_nodelay(true);
            let (router, proxies) = (router.clone(), proxies.clone());
            let begun = Arc::new(AtomicBool::new(false));
            let begins = begun.clone();
            let service = hyper::service::service_fn(move |request: Request<Incoming>| {
                begins.store(true, Ordering::Release);
                let mut router = router.clone();
                let peer = client_address(address.ip(), request.headers(), &proxies);
                async move {
                    let unread = Unread::default();
                    let is_small = is_small(request.headers());
                    // A connection of HTTP/2 goes on after a stream that nobody read.
                    let may_cut = request.version() < Version::HTTP_2;
                    let chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
                    let mut request = request.map(|body| Body::new(Lent::new(body, &unread)));
                    request.extensions_mut().insert(Peer(peer));
                    let mut answer: Result<Response<Body>, Infallible> = router.call(request).await;
                    let is_cut = match unread.take() {
                        Some(body) => !is_small || !read_on(body).await,
                        None => false,
                    };
                    if let (true, Ok(answer)) = (chunked || (is_cut && may_cut), &mut answer) {
                        // A chunked body may have carried a Content-Length too, which somebody before us may have believed:
                        // what follows on the connection could be anyone's (RFC 9112, 6.1). After a body that nobody
                        // reads, the connection ends, and a client that is not told would lose its next request (9.6).
                        answer
                            .headers_mut()
                            .insert(header::CONNECTION, HeaderValue::from_static("close"));
                    }
                    answer
                }
            });
            let connection = graceful.watch(
                builder
                    .serve_connection(TokioIo::new(stream), service)
                    .into_owned(),
            );
            tokio::spawn(async move {
                let mut connection = pin!(connection);
                // hyper bounds the headers once it knows the version of HTTP; this bounds the time before, and
                // what comes before the first request of HTTP/2.
                let ended = match tokio::time::timeout(headers, &mut connection).await {
                    Ok(ended) => ended,
                    Err(_) if !begun.load(Ordering::Acquire) => return,
                    Err(_) => connection.await,
                };
                if let Err(error) = ended {
                    tracing::trace!(%error, "connection ended");
                }
            });
        }
        // Refused, a client goes elsewhere; in the queue of a listener that nobody asks, it would wait.
        drop(listener);
        if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests were cut off at shutdown");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_is_the_last_address_that_is_no_proxy() {
        let proxies: Vec<IpNet> = ["127.0.0.1/32", "10.0.0.0/8", "fd00::/8"]
            .map(|text| text.parse().unwrap())
            .to_vec();
        let read = |peer: &str, lines: &[&'static str]| {
            let headers = lines
                .iter()
                .map(|line| {
                    (
                        http::HeaderName::from_static("x-forwarded-for"),
                        HeaderValue::from_static(line),
                    )
                })
                .collect();
            client_address(peer.parse().unwrap(), &headers, &proxies).to_string()
        };
        let cases: [(&str, &[&'static str], &str); 10] = [
            ("192.0.2.1", &["198.51.100.7"], "192.0.2.1"),
            ("127.0.0.1", &[], "127.0.0.1"),
            ("127.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("127.0.0.1", &["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
            (
                "127.0.0.1",
                &["203.0.113.9", "198.51.100.7, 10.1.2.3"],
                "198.51.100.7",
            ),
            ("127.0.0.1", &["10.0.0.9, 10.1.2.3"], "10.0.0.9"),
            ("127.0.0.1", &["198.51.100.7:4321"], "198.51.100.7"),
            ("fd00::1", &["[2001:db8::7]:443"], "2001:db8::7"),
            ("127.0.0.1", &["198.51.100.7, unknown"], "127.0.0.1"),
            ("::ffff:10.1.1.1", &["198.51.100.7"], "198.51.100.7"),
        ];
        for (peer, lines, client) in cases {
            assert_eq!(read(peer, lines), client, "{peer} {lines:?}");
        }
    }
}
