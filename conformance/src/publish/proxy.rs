//! A proxy that injects faults as networks and busy servers do: one for each request, by a plan that a seed fixes.

use std::{
    collections::VecDeque,
    fmt,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use xtask::random::Random;

use super::http::Message;

const READ_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// An answer that trickles comes in so many pieces.
const PIECES: usize = 20;

/// Fault that the proxy adds to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing.
    Pass,
    /// It arrives late.
    Delay,
    /// The connection is reset; the server never hears of it.
    ResetBefore,
    /// The connection is reset after the server did what was asked.
    ResetAfter,
    /// The answer comes bit by bit.
    Trickle,
    /// 500 after the server did what was asked.
    ErrorAfter,
    /// 503; the server never hears of it.
    BusyBefore,
    /// 429 with `Retry-After`; the server never hears of it.
    LimitedBefore,
    /// The answer ends in its middle.
    Truncated,
    /// The connection is reset, and the server does what was asked after so many milliseconds, when nobody waits for it any more.
    Late(u16),
    /// 200 with a page of something that stands before the server, after it did what was asked.
    Page,
}

impl Fault {
    /// Share of each in a hundred.
    const SHARES: [(Self, usize); 11] = [
        (Self::Pass, 51),
        (Self::Delay, 10),
        (Self::ResetBefore, 5),
        (Self::ResetAfter, 6),
        (Self::Trickle, 5),
        (Self::ErrorAfter, 6),
        (Self::BusyBefore, 4),
        (Self::LimitedBefore, 4),
        (Self::Truncated, 4),
        (Self::Page, 3),
        (Self::Late(12_000), 2),
    ];

    fn random(random: &mut Random) -> Self {
        let mut place = random.below(Self::SHARES.iter().map(|(_, share)| share).sum());
        for (fault, share) in Self::SHARES {
            if place < share {
                return fault;
            }
            place -= share;
        }
        Self::Pass
    }

    const fn forwards(self) -> bool {
        !matches!(self, Self::ResetBefore | Self::BusyBefore | Self::LimitedBefore)
    }
}

/// Log entry of one request.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) request: String,
    pub(super) fault: Fault,
    /// Status that the server answered; `None` if it was not asked, or has not answered.
    pub(super) status: Option<u16>,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status.map_or("-".to_owned(), |status| status.to_string());
        write!(
            f,
            "{:<13} {status:>3} {}",
            format!("{:?}", self.fault),
            self.request
        )
    }
}

/// A proxy that listens until the value is dropped.
pub(super) struct Proxy {
    address: String,
    state: Arc<ProxyState>,
}

struct ProxyState {
    server: String,
    seed: u64,
    requests: AtomicU64,
    random: AtomicBool,
    ended: AtomicBool,
    forced: Mutex<VecDeque<Fault>>,
    log: Mutex<Vec<Entry>>,
}

impl Proxy {
    /// Stands before `server`, host and port, and lets everything pass until told otherwise.
    pub(super) fn start(server: &str, seed: u64) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let state = Arc::new(ProxyState {
            server: server.to_owned(),
            seed,
            requests: AtomicU64::new(0),
            random: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            forced: Mutex::default(),
            log: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if shared.ended.load(Ordering::Relaxed) {
                    return;
                }
                let state = Arc::clone(&shared);
                thread::spawn(move || {
                    // a client that is gone, often because it was killed, is what this is for
                    drop(state.serve(client));
                });
            }
        });
        Ok(Self { address, state })
    }

    /// Host and port on which it listens.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Begins or ends to spoil requests by the plan.
    pub(super) fn spoil(&self, random: bool) {
        self.state.random.store(random, Ordering::Relaxed);
    }

    /// Spoils the next request that writes, in this way.
    pub(super) fn force(&self, fault: Fault) {
        lock(&self.state.forced).push_back(fault);
    }

    /// Log so far, in the order in which requests came.
    pub(super) fn log(&self) -> Vec<Entry> {
        lock(&self.state.log).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(&self.address));
    }
}

impl ProxyState {
    fn serve(&self, mut client: TcpStream) -> Result<()> {
        client.set_read_timeout(Some(READ_TIMEOUT))?;
        let Some(request) = receive(&mut client)? else {
            return Ok(());
        };
        let mut random = Random::new(self.seed, self.requests.fetch_add(1, Ordering::Relaxed));
        let fault = self.choose_fault(&request, &mut random);
        let entry = {
            let mut log = lock(&self.log);
            log.push(Entry {
                request: request.start.trim_end_matches(" HTTP/1.1").to_owned(),
                fault,
                status: None,
            });
            log.len() - 1
        };
        if fault == Fault::Delay {
            thread::sleep(Duration::from_millis(random.between(50, 1500) as u64));
        }
        if let Fault::Late(millis) = fault {
            drop(client);
            thread::sleep(Duration::from_millis(millis.into()));
            let status = self.forward(request)?.status();
            if let Some(entry) = lock(&self.log).get_mut(entry) {
                entry.status = Some(status);
            }
            return Ok(());
        }
        let mut answer = Message::default();
        if fault.forwards() {
            answer = self.forward(request)?;
            if let Some(entry) = lock(&self.log).get_mut(entry) {
                entry.status = Some(answer.status());
            }
        }
        let bytes = match fault {
            Fault::ResetBefore | Fault::ResetAfter | Fault::Late(_) => return Ok(()),
            Fault::Pass | Fault::Delay | Fault::Trickle => answer.bytes(),
            Fault::ErrorAfter => refusal("500 Internal Server Error").bytes(),
            Fault::BusyBefore => refusal("503 Service Unavailable").bytes(),
            Fault::LimitedBefore => refusal("429 Too Many Requests").bytes(),
            Fault::Page => page().bytes(),
            Fault::Truncated => {
                let mut bytes = answer.bytes();
                bytes.truncate(bytes.len() - (answer.body.len() / 2).max(2));
                bytes
            }
        };
        // what is not read resets the connection when it is closed, so this is read where it may end well
        client.read_exact(&mut [0])?;
        if fault == Fault::Trickle {
            for piece in bytes.chunks(bytes.len().div_ceil(PIECES)) {
                client.write_all(piece)?;
                thread::sleep(Duration::from_millis(random.between(10, 100) as u64));
            }
        } else {
            client.write_all(&bytes)?;
        }
        Ok(())
    }

    fn choose_fault(&self, request: &Message, random: &mut Random) -> Fault {
        let reads = ["GET ", "HEAD ", "OPTIONS "];
        if !reads.iter().any(|method| request.start.starts_with(method))
            && let Some(fault) = lock(&self.forced).pop_front()
        {
            return fault;
        }
        if self.random.load(Ordering::Relaxed) {
            Fault::random(random)
        } else {
            Fault::Pass
        }
    }

    fn forward(&self, mut request: Message) -> Result<Message> {
        for (name, value) in &mut request.headers {
            if name.eq_ignore_ascii_case("host") {
                value.clone_from(&self.server);
            }
        }
        request.send(&self.server)
    }
}

fn refusal(status: &str) -> Message {
    Message {
        start: format!("HTTP/1.1 {status}"),
        headers: vec![("Retry-After".to_owned(), "1".to_owned())],
        body: b"out of order".to_vec(),
    }
}

fn page() -> Message {
    Message {
        start: "HTTP/1.1 200 OK".to_owned(),
        headers: vec![("Content-Type".to_owned(), "text/html".to_owned())],
        body: b"<!doctype html><title>One moment</title>".to_vec(),
    }
}

/// Reads a request but leaves its last byte where it is; `None` where there is none.
fn receive(client: &mut TcpStream) -> Result<Option<Message>> {
    let mut buffer = vec![0; MAX_HEAD_BYTES];
    let head = loop {
        let seen = client.peek(&mut buffer)?;
        let end = buffer[..seen].windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            break end + 4;
        }
        if seen == 0 {
            return Ok(None);
        }
        if seen == MAX_HEAD_BYTES {
            bail!("a head of more than {MAX_HEAD_BYTES} bytes");
        }
        thread::sleep(Duration::from_millis(1));
    };
    let mut request = Message::parse(&buffer[..head])?;
    let length = match request.header("content-length") {
        Some(length) => length.parse()?,
        None if request.header("transfer-encoding").is_some() => {
            bail!("a body of unknown length: {}", request.start)
        }
        None => 0,
    };
    let mut bytes = vec![0; head + length - 1];
    client.read_exact(&mut bytes)?;
    let mut last = [0];
    if client.peek(&mut last)? == 0 {
        return Ok(None);
    }
    bytes.extend(last);
    request.body = bytes.get(head..).context("no body")?.to_vec();
    Ok(Some(request))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
