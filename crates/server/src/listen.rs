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
            let router = router.clone();
            let begun = Arc::new(AtomicBool::new(false));
            let begins = begun.clone();
            let service = hyper::service::service_fn(move |request: Request<Incoming>| {
                begins.store(true, Ordering::Release);
                let mut router = router.clone();
                async move {
                    let unread = Unread::default();
                    let is_small = is_small(request.headers());
                    // A connection of HTTP/2 goes on after a stream that nobody read.
                    let may_cut = request.version() < Version::HTTP_2;
                    let chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
                    let mut request = request.map(|body| Body::new(Lent::new(body, &unread)));
                    request.extensions_mut().insert(Peer(address.ip()));
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
