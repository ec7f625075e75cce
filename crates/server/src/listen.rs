//! Listeners: HTTP/1.1 and HTTP/2 in the clear, with limits on connections, time and headers, and an end in order.

mod connections;
mod exchange;
mod host;
pub mod line;
mod streams;

use std::{
    fmt::Display,
    future::Future,
    net::{IpAddr, SocketAddr},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body};
pub use connections::Connections;
use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulConnection},
};
use ipnet::IpNet;
pub use line::Patience;
use searchwright_contract::Problem;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    time::{Instant, sleep_until},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{
    connections::ConnectionPlace,
    exchange::Exchange,
    line::{Life, Line, Spare, Verdict, read_on, refuse_late},
    streams::StreamExecutor,
};
use crate::http::memory::MemoryPool;

/// Largest head of a request in bytes that is read, request line and headers together. A smaller head that is still too
/// large is refused with a problem; a larger one gets a 431 without a body.
const HEAD: usize = 64 * 1024;
/// Most header fields that are read.
const FIELDS: usize = 200;
/// Streams of a connection at the same time.
const STREAMS: u32 = 128;
/// Streams that a client may reset before they were begun, and that it may have reset by faults, until its connection ends.
const RESETS: usize = 20;
const FAULTY_RESETS: usize = 128;
/// Bytes that a stream of HTTP/2 takes over from its answer before they are sent.
const STREAM_BUFFER: usize = 64 * 1024;
/// Bytes that the system keeps of an answer that is not read. Left to itself it keeps megabytes.
const SEND_BUFFER: u32 = 256 * 1024;
/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// Maximum time for running requests to end after the listener was stopped.
const GRACE: Duration = Duration::from_secs(25);

/// Rules for every connection of a listener.
#[derive(Clone)]
pub struct Rules {
    /// Times for which it waits for the other side.
    pub patience: Patience,
    /// Reverse proxies whose `X-Forwarded-For` counts.
    pub proxies: Arc<[IpNet]>,
    /// Places for connections.
    pub connections: Arc<Connections>,
    /// Memory for answers.
    pub answers: Arc<MemoryPool>,
    /// Makes the answer of a refusal.
    pub refusal: Arc<dyn Fn(Problem) -> Response<Body> + Send + Sync>,
}

/// The address a request came from, in its extensions.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

fn is_proxy(address: IpAddr, proxies: &[IpNet]) -> bool {
    let address = address.to_canonical();
    proxies.iter().any(|network| network.contains(&address))
}

/// Returns the address, or for IPv6 the /64 that a subscriber usually holds.
pub(crate) fn network(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(v6) => {
            let mut segments = v6.segments();
            segments[4..].fill(0);
            IpAddr::from(segments)
        }
    }
}

/// Returns the address of the client: the last in `X-Forwarded-For` that is not a trusted proxy. What stands before it, the client
/// may have written itself.
fn client_address(peer: IpAddr, headers: &HeaderMap, proxies: &[IpNet]) -> IpAddr {
    let is_proxy = |address: IpAddr| is_proxy(address, proxies);
    if !is_proxy(peer) {
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

/// Binds, with the address in the error.
pub async fn bind(address: SocketAddr, name: &str) -> std::io::Result<TcpListener> {
    listen(address).map_err(|e| std::io::Error::new(e.kind(), format!("{name} {address}: {e}")))
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // On Windows this would let another program take the address.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn builder(patience: Patience) -> Builder<StreamExecutor> {
    let mut builder = Builder::new(StreamExecutor::new(patience.write));
    builder
        .http1()
        .timer(TokioTimer::new())
        // the time is kept here, where a connection that is idle is told from headers that do not come to an end
        .header_read_timeout(None)
        .max_headers(FIELDS)
        .max_buf_size(HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_pending_accept_reset_streams(RESETS)
        .max_local_error_reset_streams(FAULTY_RESETS)
        .max_header_list_size(HEAD as u32)
        .max_send_buf_size(STREAM_BUFFER)
        .keep_alive_interval(Some(Duration::from_secs(30)));
    builder
}

/// Serves until `stop`, then lets requests under way end.
pub fn serve(
    listener: TcpListener,
    router: Router,
    rules: Rules,
    stop: CancellationToken,
) -> impl Future<Output = ()> + Send {
    let builder = builder(rules.patience);
    async move {
        let open = TaskTracker::new();
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
            let life = Arc::new(Life::new());
            let ip = address.ip().to_canonical();
            let own = (!is_proxy(ip, &rules.proxies)).then(|| network(ip));
            match rules.connections.admit(own, &life) {
                Some(place) => {
                    let (router, rules) = (router.clone(), rules.clone());
                    let connection = Connection {
                        stream,
                        peer: address.ip(),
                        life,
                        place,
                    };
                    open.spawn(connection.serve(builder.clone(), router, rules, stop.clone()));
                }
                None => tracing::debug!(%address, "too many connections: a new one was closed"),
            }
        }
        // Refused, a client goes elsewhere; in the queue of a listener that nobody asks, it would wait.
        drop(listener);
        open.close();
        if tokio::time::timeout(GRACE, open.wait()).await.is_err() {
            tracing::warn!("some requests were cut off at shutdown");
        }
    }
}

/// A connection that was accepted.
struct Connection {
    stream: TcpStream,
    peer: IpAddr,
    life: Arc<Life>,
    place: ConnectionPlace,
}

/// Ways in which a connection comes to its end.
enum End {
    Ended,
    Late,
    Cut,
}

impl Connection {
    async fn serve(
        self,
        builder: Builder<StreamExecutor>,
        router: Router,
        rules: Rules,
        stop: CancellationToken,
    ) {
        let _ = self.stream.set_nodelay(true);
        let patience = rules.patience;
        let (line, left) = Line::new(self.stream, self.life.clone(), patience.write);
        let (life, peer) = (self.life.clone(), self.peer);
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let exchange = Exchange {
                router: router.clone(),
                rules: rules.clone(),
                life: life.clone(),
                peer: client_address(peer, request.headers(), &rules.proxies),
            };
            let active = life.begin(request.version());
            exchange.carry_out(request, active)
        });
        let connection = builder.serve_connection(TokioIo::new(line), service).into_owned();
        match attend(connection, &self.life, &self.place, patience, &stop).await {
            End::Ended if self.life.is_read_on() => read_on(&left).await,
            End::Late => refuse_late(&left),
            End::Ended | End::Cut => {}
        }
    }
}

/// Drives a connection to its end, which is also that of the other side's patience or ours.
async fn attend<C>(
    connection: C,
    life: &Life,
    place: &ConnectionPlace,
    patience: Patience,
    stop: &CancellationToken,
) -> End
where
    C: GracefulConnection<Error: Display>,
{
    let mut connection = pin!(connection);
    let (mut is_stopping, mut makes_room, mut cut_at) = (false, false, None);
    loop {
        let now = Instant::now();
        let wakes = match cut_at {
            Some(at) if now >= at => return End::Cut,
            Some(at) => at,
            None => match life.verdict(patience, now) {
                Verdict::Stays(until) => until,
                Verdict::Late if life.is_http_2() => return End::Cut,
                Verdict::Late => return End::Late,
                Verdict::Idle => {
                    connection.as_mut().graceful_shutdown();
                    cut_at = Some(now + life.farewell());
                    continue;
                }
            },
        };
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::trace!(%error, "connection ended");
                }
                return End::Ended;
            }
            () = place.ends.cancelled(), if !makes_room => {
                makes_room = true;
                connection.as_mut().graceful_shutdown();
                // A request that has come meanwhile is still answered.
                let now = Instant::now();
                cut_at = life.spare(now).map(|(why, _)| match why {
                    Spare::Stuck => now,
                    Spare::Idle | Spare::Fresh => now + life.farewell(),
                });
            }
            () = stop.cancelled(), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            () = sleep_until(wakes) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

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
