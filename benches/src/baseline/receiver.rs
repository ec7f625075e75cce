//! The least that can receive a webhook: it reads the request, notes when it came, and answers 200.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Instant,
};

use anyhow::Result;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const END: &[u8] = b"\r\n\r\n";

/// A receiver on loopback, a thread for each connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Listening address.
    pub address: SocketAddr,
    came: Arc<Mutex<Vec<Instant>>>,
}

impl Receiver {
    /// One that notes when something came.
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let receiver = Self {
            address: listener.local_addr()?,
            came: Arc::default(),
        };
        let shared = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let receiver = shared.clone();
                thread::spawn(move || receiver.answer(stream));
            }
        });
        Ok(receiver)
    }

    /// One that accepts and says nothing.
    pub fn dead() -> Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        thread::spawn(move || listener.incoming().collect::<Vec<_>>());
        Ok(address)
    }

    /// Returns the times of the requests received since the last call.
    pub fn take(&self) -> Vec<Instant> {
        std::mem::take(&mut *self.came.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the number of requests received so far.
    pub fn count(&self) -> usize {
        self.came.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut held = Vec::new();
        let mut piece = [0; 16 << 10];
        loop {
            while let Some(length) = whole(&held) {
                held.drain(..length);
                stream.write_all(ANSWER)?;
                let mut came = self.came.lock().unwrap_or_else(PoisonError::into_inner);
                came.push(Instant::now());
            }
            match stream.read(&mut piece)? {
                0 => return Ok(()),
                read => held.extend_from_slice(&piece[..read]),
            }
        }
    }
}

/// Bytes of the request that these begin with, if it is whole.
fn whole(held: &[u8]) -> Option<usize> {
    let head = held.windows(END.len()).position(|w| w == END)? + END.len();
    let text = std::str::from_utf8(&held[..head]).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let all = head + length.unwrap_or(0);
    (held.len() >= all).then_some(all)
}
