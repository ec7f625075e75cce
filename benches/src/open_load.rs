//! Load by arrivals that do not wait for answers: requests come at a rate, whatever becomes of those before them, and each is timed
//! from the moment it should have been sent.
//!
//! A client that waits for answers sends less to a server that is slow, and so never measures what callers wait there. Connections
//! are plain sockets on one thread, because the client shares the processors with what it measures.

use std::{
    collections::VecDeque,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    sync::Semaphore,
};
use xtask::random::Random;

/// Connections at most to each address, and addresses of loopback that they come from: a server bounds those of one.
const CONNECTIONS: usize = 512;
const ADDRESSES: usize = 16;
/// Clients of a load that waits for its answers, each with a connection to both listeners.
const CLOSED_CLIENTS: usize = 32;
/// Interval at which what is due is sent.
const TICK: Duration = Duration::from_millis(1);
/// Time within which an answer has to come.
const LONGEST: Duration = Duration::from_secs(20);

/// Makes the requests of a load: the class of the next one, where it goes, and its bytes.
pub trait Requests: Send + Sync + 'static {
    /// Returns the class of a request by a random number.
    fn class(&self, random: &mut Random) -> usize;
    /// Writes a request of a class into an empty buffer, and returns the address that it goes to.
    fn write(&self, class: usize, number: u64, buffer: &mut Vec<u8>) -> SocketAddr;
}

/// Kind of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerKind {
    /// It was carried out.
    Done,
    /// It was refused as overload, with a time to come again.
    Refused,
    /// Any other answer, by its status.
    Other(u16),
    /// The connection failed or was closed.
    Broken,
    /// No answer came in time.
    Silent,
}

/// One request that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Class of the request.
    pub class: usize,
    /// Kind of its answer.
    pub outcome: AnswerKind,
    /// Milliseconds from the moment at which it was due until the whole answer was there.
    pub millis: f64,
}

/// A request that is due.
#[derive(Clone, Copy)]
struct Arrival {
    due: Instant,
    class: usize,
    number: u64,
}

/// Everything that the connections of a load share.
struct LoadState<R> {
    requests: R,
    waiting: Mutex<VecDeque<Arrival>>,
    due: Semaphore,
    stop: AtomicBool,
    samples: Mutex<Vec<Sample>>,
}

impl<R> LoadState<R> {
    fn new(requests: R) -> Arc<Self> {
        Arc::new(Self {
            requests,
            waiting: Mutex::default(),
            due: Semaphore::new(0),
            stop: AtomicBool::new(false),
            samples: Mutex::default(),
        })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends at a rate for some time; what is due and not yet sent at its end is given up.
pub fn open<R: Requests>(requests: R, first: u64, rate: f64, time: Duration) -> Result<Vec<Sample>> {
    let shared = LoadState::new(requests);
    let arrivals = shared.clone();
    let clock = thread::spawn(move || make_due(&arrivals, first, rate, time));
    let samples = run(&shared, CONNECTIONS, |shared, address| {
        Box::pin(follow(shared, address))
    });
    clock
        .join()
        .map_err(|_| anyhow::anyhow!("the clock of the load failed"))?;
    samples
}

/// Sends on each of some connections as soon as the answer before has come.
pub fn closed<R: Requests>(requests: R, first: u64, time: Duration) -> Result<Vec<Sample>> {
    let shared = LoadState::new(requests);
    let ends = Instant::now() + time;
    run(&shared, CLOSED_CLIENTS, move |shared, connection| {
        Box::pin(repeat(shared, connection, first, ends))
    })
}

/// Makes requests due, a random number of them in each tick: as many callers who know nothing of each other send them.
fn make_due<R: Requests>(shared: &LoadState<R>, first: u64, rate: f64, time: Duration) {
    let mut random = Random::new(53, first);
    let begun = Instant::now();
    let uniform = |random: &mut Random| (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
    let (mut next, mut number) = (0.0_f64, first);
    loop {
        let now = begun.elapsed();
        if now >= time {
            break;
        }
        let mut sent = 0;
        while next <= now.as_secs_f64() {
            let arrival = Arrival {
                due: begun + Duration::from_secs_f64(next),
                class: shared.requests.class(&mut random),
                number,
            };
            locked(&shared.waiting).push_back(arrival);
            (number, sent) = (number + 1, sent + 1);
            next -= (1.0 - uniform(&mut random)).ln() / rate;
        }
        shared.due.add_permits(sent);
        thread::sleep(TICK);
    }
    // what is under way is answered before the load ends
    locked(&shared.waiting).clear();
    shared.stop.store(true, Ordering::Release);
    shared.due.add_permits(CONNECTIONS);
}

type Lane = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

fn run<R: Requests>(
    shared: &Arc<LoadState<R>>,
    connections: usize,
    lane: impl Fn(Arc<LoadState<R>>, usize) -> Lane,
) -> Result<Vec<Sample>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let lanes: Vec<_> = (0..connections)
            .map(|number| tokio::spawn(lane(shared.clone(), number)))
            .collect();
        for lane in lanes {
            lane.await.context("a connection of the load failed")?;
        }
        Ok(std::mem::take(&mut *locked(&shared.samples)))
    })
}

/// Sends what is due until the end.
async fn follow<R: Requests>(shared: Arc<LoadState<R>>, number: usize) {
    let mut line = ClientLine::new(number);
    while let Ok(permit) = shared.due.acquire().await {
        permit.forget();
        let arrival = locked(&shared.waiting).pop_front();
        match arrival {
            Some(arrival) => send(&shared, &mut line, arrival).await,
            None if shared.stop.load(Ordering::Acquire) => return,
            None => {}
        }
    }
}

async fn repeat<R: Requests>(shared: Arc<LoadState<R>>, number: usize, first: u64, ends: Instant) {
    let mut line = ClientLine::new(number);
    let mut random = Random::new(54, first + number as u64);
    let mut sent = first + number as u64;
    loop {
        let due = Instant::now();
        if due >= ends {
            return;
        }
        let class = shared.requests.class(&mut random);
        let arrival = Arrival {
            due,
            class,
            number: sent,
        };
        send(&shared, &mut line, arrival).await;
        sent += CLOSED_CLIENTS as u64;
    }
}

async fn send<R: Requests>(shared: &LoadState<R>, line: &mut ClientLine, arrival: Arrival) {
    line.out.clear();
    let address = shared
        .requests
        .write(arrival.class, arrival.number, &mut line.out);
    let outcome = line.ask(address).await;
    locked(&shared.samples).push(Sample {
        class: arrival.class,
        outcome,
        millis: arrival.due.elapsed().as_secs_f64() * 1e3,
    });
}

/// The connections of one client: one to each address, kept open.
pub struct ClientLine {
    from: IpAddr,
    streams: Vec<(SocketAddr, TcpStream)>,
    /// Bytes of the next request.
    pub out: Vec<u8>,
    held: Vec<u8>,
}

impl ClientLine {
    /// A client without a connection yet; its number decides about the address it comes from.
    pub fn new(number: usize) -> Self {
        let last = (number % ADDRESSES) as u8 + 1;
        Self {
            from: Ipv4Addr::new(127, 0, 0, last).into(),
            streams: Vec::new(),
            out: Vec::new(),
            held: Vec::new(),
        }
    }

    /// Sends `out` and reads the answer.
    pub async fn ask(&mut self, address: SocketAddr) -> AnswerKind {
        match tokio::time::timeout(LONGEST, self.exchange(address)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => {
                self.streams.clear();
                AnswerKind::Broken
            }
            Err(_) => {
                self.streams.clear();
                AnswerKind::Silent
            }
        }
    }

    async fn exchange(&mut self, address: SocketAddr) -> std::io::Result<AnswerKind> {
        let at = match self.streams.iter().position(|(to, _)| *to == address) {
            Some(at) => at,
            None => {
                let socket = TcpSocket::new_v4()?;
                socket.bind(SocketAddr::new(self.from, 0))?;
                let stream = socket.connect(address).await?;
                stream.set_nodelay(true)?;
                self.streams.push((address, stream));
                self.streams.len() - 1
            }
        };
        let (_, stream) = &mut self.streams[at];
        stream.write_all(&self.out).await?;
        self.held.clear();
        loop {
            if let Some(outcome) = whole(&self.held) {
                return Ok(outcome);
            }
            if stream.read_buf(&mut self.held).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Kind of the answer in these bytes, once it is whole.
fn whole(held: &[u8]) -> Option<AnswerKind> {
    let head = held.windows(4).position(|part| part == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&held[..head]).ok()?;
    let status: u16 = text.get(9..12)?.parse().ok()?;
    let field = |wanted: &str| {
        text.lines().skip(1).find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    };
    let body = &held[head..];
    let is_complete = match field("content-length") {
        Some(length) => body.len() >= length.parse().ok()?,
        None if field("transfer-encoding").is_some() => body.ends_with(b"0\r\n\r\n"),
        None => true,
    };
    if !is_complete {
        return None;
    }
    let has = |text: &str| body.windows(text.len()).any(|part| part == text.as_bytes());
    Some(match status {
        429 | 503 if field("retry-after").is_some() => AnswerKind::Refused,
        // a tool that fails is answered 200, with the problem inside
        200 if body.starts_with(b"{\"jsonrpc\"") && has("\"isError\":true") => {
            if has("retryAfterSeconds") && (has("overloaded") || has("rate_limit_exceeded")) {
                AnswerKind::Refused
            } else {
                AnswerKind::Other(200)
            }
        }
        200..=299 => AnswerKind::Done,
        other => AnswerKind::Other(other),
    })
}

#[cfg(test)]
mod tests {
    use super::{AnswerKind, whole};

    fn answer(status: &str, headers: &str, body: &str) -> String {
        format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    #[test]
    fn answers_are_told_apart() {
        let is = |text: String| whole(text.as_bytes());
        assert_eq!(is(answer("201 Created", "", "{}")), Some(AnswerKind::Done));
        assert_eq!(
            is(answer("503 Service Unavailable", "Retry-After: 2\r\n", "{}")),
            Some(AnswerKind::Refused)
        );
        assert_eq!(
            is(answer("503 Service Unavailable", "", "{}")),
            Some(AnswerKind::Other(503)),
            "one has to be told when to come again"
        );
        let failed = r#"{"jsonrpc":"2.0","result":{"content":[{"text":"{\"code\":\"overloaded\",\"retryAfterSeconds\":1}"}],"isError":true}}"#;
        assert_eq!(is(answer("200 OK", "", failed)), Some(AnswerKind::Refused));
        let other = r#"{"jsonrpc":"2.0","result":{"structuredContent":{"code":"not_found"},"isError":true}}"#;
        assert_eq!(is(answer("200 OK", "", other)), Some(AnswerKind::Other(200)));
    }

    #[test]
    fn an_answer_is_read_to_its_end() {
        let text = answer("200 OK", "", "abc");
        for end in 0..text.len() {
            assert_eq!(whole(&text.as_bytes()[..end]), None, "{end}");
        }
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
        assert_eq!(whole(chunked), Some(AnswerKind::Done));
        assert_eq!(whole(&chunked[..chunked.len() - 2]), None);
    }
}
