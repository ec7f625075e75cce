//! One connection: its socket, what is under way on it, and how long it may wait for the other side.

use std::{
    future::Future,
    io::{self, IoSlice},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use http::Version;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep, sleep, timeout},
};

/// Bytes that are read on after the answer, so that a client that still sends gets to it.
const READ_ON: usize = 32 << 20;
/// Maximum time for that.
const READ_ON_TIME: Duration = Duration::from_secs(2);
/// Maximum time for a connection of HTTP/2 that was told to end.
const FAREWELL: Duration = Duration::from_secs(1);
/// Begin of a connection of HTTP/2.
const PREFACE: &[u8] = b"PRI";
/// A connection on which nothing has come yet makes no room for others before this time.
const FRESH: Duration = Duration::from_secs(1);
/// One whose client does not read makes room after this time.
const STUCK: Duration = Duration::from_secs(5);
/// Looks for progress during the time that a write may wait.
const CHECKS: u32 = 8;
/// The answer to headers that do not come to an end.
const LATE: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Times for which a connection waits for the other side.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the headers of a request.
    pub headers: Duration,
    /// For the next request.
    pub idle: Duration,
    /// For a bit of an answer to be read.
    pub write: Duration,
}

/// State of a connection: requests under way, and since when it waits.
#[derive(Debug)]
pub struct Life(Mutex<State>);

#[derive(Debug)]
struct State {
    requests: usize,
    has_begun: bool,
    is_http_2: bool,
    /// Its begin, or the end of the last request.
    idle_since: Instant,
    /// First byte of a request whose headers are incomplete.
    head_since: Option<Instant>,
    /// Nothing of what is written has been taken since then.
    stuck_since: Option<Instant>,
    is_read_on: bool,
}

/// Reasons for which a connection may make room for another, the better one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spare {
    /// It waits for its next request.
    Idle,
    /// Its client does not read.
    Stuck,
    /// It has not made its first request.
    Fresh,
}

/// Fate of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It stays, and is looked at again then.
    Stays(Instant),
    /// It was idle for too long.
    Idle,
    /// The headers of a request take too long.
    Late,
}

/// A request under way; it ends when dropped.
#[derive(Debug)]
pub struct Active(Arc<Life>);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.with(|state| {
            state.requests -= 1;
            state.idle_since = Instant::now();
        });
    }
}

impl Life {
    pub(super) fn new() -> Self {
        Self(Mutex::new(State {
            requests: 0,
            has_begun: false,
            is_http_2: false,
            idle_since: Instant::now(),
            head_since: None,
            stuck_since: None,
            is_read_on: false,
        }))
    }

    fn with<T>(&self, run: impl FnOnce(&mut State) -> T) -> T {
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes that the headers of a request are there.
    pub(super) fn begin(self: &Arc<Self>, version: Version) -> Active {
        self.with(|state| {
            state.requests += 1;
            state.has_begun = true;
            state.is_http_2 = version == Version::HTTP_2;
            state.head_since = None;
        });
        Active(self.clone())
    }

    fn heard(&self, bytes: &[u8]) {
        self.with(|state| {
            if !state.has_begun && state.head_since.is_none() {
                state.is_http_2 = bytes.starts_with(PREFACE);
            }
            // On a connection of HTTP/2 an answer to a ping is no begin of anything.
            if state.requests == 0 && !state.is_http_2 {
                state.head_since.get_or_insert_with(Instant::now);
            }
        });
    }

    fn is_stuck(&self, since: Option<Instant>) {
        self.with(|state| state.stuck_since = since);
    }

    /// Has the rest of the request read after the answer.
    pub(super) fn read_on(&self) {
        self.with(|state| state.is_read_on = true);
    }

    pub(super) fn is_read_on(&self) -> bool {
        self.with(|state| state.is_read_on)
    }

    /// Returns why and since when a connection may make room, if it may.
    pub(super) fn spare(&self, now: Instant) -> Option<(Spare, Instant)> {
        self.with(|state| match (state.requests, state.stuck_since) {
            (0, _) if state.has_begun => Some((Spare::Idle, state.idle_since)),
            (0, _) => Some((Spare::Fresh, state.idle_since)).filter(|(_, since)| now >= *since + FRESH),
            (_, since) => since
                .filter(|since| now >= *since + STUCK)
                .map(|since| (Spare::Stuck, since)),
        })
    }

    pub(super) fn is_http_2(&self) -> bool {
        self.with(|state| state.is_http_2)
    }

    pub(super) fn verdict(&self, patience: Patience, now: Instant) -> Verdict {
        self.with(|state| {
            // The first bytes of a request shorten the time that is left: it is looked at as often.
            let again = now + patience.headers.min(patience.idle);
            if state.requests > 0 {
                return Verdict::Stays(again);
            }
            let (end, verdict) = match state.head_since {
                // Until the first request all together have this time.
                None if !state.has_begun => (state.idle_since + patience.headers, Verdict::Idle),
                Some(_) if !state.has_begun => (state.idle_since + patience.headers, Verdict::Late),
                Some(head) => (head + patience.headers, Verdict::Late),
                None => (state.idle_since + patience.idle, Verdict::Idle),
            };
            if now >= end {
                verdict
            } else {
                Verdict::Stays(end.min(again))
            }
        })
    }

    /// Time that a connection has once it was told to end.
    pub(super) fn farewell(&self) -> Duration {
        if self.is_http_2() {
            FAREWELL
        } else {
            Duration::ZERO
        }
    }
}

/// The place where a socket is left when the protocol is done with it.
pub(super) type Left = Arc<Mutex<Option<TcpStream>>>;

/// A socket that is cut off when nothing of what is written to it goes out for some time. A slow reader makes progress.
#[derive(Debug)]
pub(super) struct Line {
    stream: Option<TcpStream>,
    life: Arc<Life>,
    left: Left,
    write: Duration,
    waiting: Option<Waiting>,
}

/// A write that waits for the other side to take something.
#[derive(Debug)]
struct Waiting {
    timer: Pin<Box<Sleep>>,
    end: Instant,
}

impl Line {
    pub(super) fn new(stream: TcpStream, life: Arc<Life>, write: Duration) -> (Self, Left) {
        let left = Left::default();
        let line = Self {
            stream: Some(stream),
            life,
            left: left.clone(),
            write,
            waiting: None,
        };
        (line, left)
    }

    fn stream(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        self.stream
            .as_mut()
            .map(Pin::new)
            .ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn moves(&mut self) {
        if self.waiting.take().is_some() {
            self.life.is_stuck(None);
        }
    }

    /// Notes the outcome of a write.
    fn wrote(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<usize>>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if outcome.is_ready() {
            self.moves();
            return outcome;
        }
        let (step, now) = (self.write / CHECKS, Instant::now());
        let Waiting { timer, end } = self.waiting.get_or_insert_with(|| {
            self.life.is_stuck(Some(now));
            Waiting {
                timer: Box::pin(sleep(step)),
                end: now + self.write,
            }
        });
        while timer.as_mut().poll(context).is_ready() {
            // The system tells that there is room only when there is much of it. Little is progress too.
            if let Some(Ok(sent)) = self.stream.as_ref().map(|stream| send_now(stream, bytes))
                && sent > 0
            {
                self.moves();
                return Poll::Ready(Ok(sent));
            }
            if now >= *end {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            timer.as_mut().reset((now + step).min(*end));
        }
        Poll::Pending
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = self.stream.take();
    }
}

/// Asks the system itself to take what it can.
#[cfg(unix)]
fn send_now(stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(
        stream,
        bytes,
        rustix::net::SendFlags::DONTWAIT,
    )?)
}

#[cfg(not(unix))]
fn send_now(stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    stream.try_write(bytes)
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = self.stream()?.poll_read(context, buffer);
        if let Some(bytes) = buffer.filled().get(before..).filter(|bytes| !bytes.is_empty()) {
            self.life.heard(bytes);
        }
        outcome
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = self.stream()?.poll_write(context, bytes);
        self.wrote(context, outcome, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = self.stream()?.poll_write_vectored(context, parts);
        let first = parts.iter().find(|part| !part.is_empty());
        self.wrote(context, outcome, first.map_or(&[], |part| part))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(context)
    }
}

fn take(left: &Left) -> Option<TcpStream> {
    left.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Reads and drops what still comes after the answer. Closed at once, the connection would be reset, and a client that still
/// sends would see that and not the answer.
pub(super) async fn read_on(left: &Left) {
    let Some(mut stream) = take(left) else { return };
    let mut buffer = vec![0; 64 << 10];
    let whole = async {
        let mut all = 0;
        while let Ok(read) = stream.read(&mut buffer).await {
            all += read;
            if read == 0 || all > READ_ON {
                return;
            }
        }
    };
    let _ = timeout(READ_ON_TIME, whole).await;
}

/// Answers headers that do not come to an end.
pub(super) fn refuse_late(left: &Left) {
    if let Some(stream) = take(left) {
        let _ = stream.try_write(LATE);
    }
}
