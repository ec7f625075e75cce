//! Listeners: HTTP/1.1 and HTTP/2 in the clear, with limits on time and headers, and an end in order.

use std::{
    convert::Infallible,
    future::Future,
    net::{IpAddr, SocketAddr},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Body};
use http::{HeaderValue, Request, Response, header};
use hyper::body::Incoming;
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
/// Maximum time for running requests to end after the listener was stopped.
const GRACE: Duration = Duration::from_secs(25);

/// The address a request came from, in its extensions.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

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
                    let mut request = request.map(Body::new);
                    let chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
                    request.extensions_mut().insert(Peer(address.ip()));
                    let mut answer: Result<Response<Body>, Infallible> = router.call(request).await;
                    if let (true, Ok(answer)) = (chunked, &mut answer) {
                        // It may have carried a Content-Length too, which somebody before us may have believed:
                        // what follows on the connection could be anyone's (RFC 9112, 6.1).
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
