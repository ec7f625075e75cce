//! A server for tests: it answers each request with the bytes it was given and records the requests.

#![expect(
    clippy::unwrap_used,
    reason = "used by tests only, where a panic is a failed test"
)]

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::{Guarded, Outbound, Purpose, Settings, Times};

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Method and target.
    pub line: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Body as it came.
    pub body: Vec<u8>,
}

impl Asked {
    /// Parses the body as JSON; panics when it is not.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// An answer: its bytes, and whether the connection stays open and silent after them.
#[derive(Clone)]
pub struct Script {
    bytes: Vec<u8>,
    hangs: bool,
}

impl Script {
    /// Returns a reply with a status, a media type, further header lines and a body.
    pub fn new(status: u16, media: &str, headers: &str, body: &str) -> Self {
        let bytes = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: {media}\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Self {
            bytes: bytes.into_bytes(),
            hangs: false,
        }
    }

    /// Returns a reply with a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json; charset=utf-8", "", &body.to_string())
    }

    /// A stream of events, each byte range in a chunk of its own.
    pub fn events(body: &str) -> Self {
        let mut script = Self::cut(body);
        script.bytes.extend_from_slice(b"0\r\n\r\n");
        script
    }

    /// A stream of events that is cut before its last chunk.
    pub fn cut(body: &str) -> Self {
        let mut bytes =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                .to_vec();
        for piece in body.as_bytes().chunks(7) {
            bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            bytes.extend_from_slice(piece);
            bytes.extend_from_slice(b"\r\n");
        }
        Self { bytes, hangs: false }
    }

    /// Keeps the connection open and silent after the bytes of this reply.
    pub fn then_silence(self) -> Self {
        Self { hangs: true, ..self }
    }

    /// Exactly these bytes.
    pub fn raw(bytes: Vec<u8>) -> Self {
        Self { bytes, hangs: false }
    }

    /// Closes the connection without a word.
    pub fn nothing() -> Self {
        Self {
            bytes: Vec::new(),
            hangs: false,
        }
    }
}

/// A running server; ends with the test's runtime.
pub struct Fake {
    /// Base URL of the server.
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    _port: TcpSocket,
}

impl Fake {
    /// The n-th request gets the n-th answer; the last one repeats.
    pub async fn new(answers: Vec<Script>) -> Self {
        Self::start(answers, false).await
    }

    /// The n-th request gets the n-th answer. After the last one nothing listens any more, so that the next
    /// request cannot be sent. Every answer has to close its connection.
    pub async fn vanishing(answers: Vec<Script>) -> Self {
        Self::start(answers, true).await
    }

    async fn start(answers: Vec<Script>, vanishes: bool) -> Self {
        // Keeps the port from other tests when the listener is gone.
        let port = shared_socket("127.0.0.1:0".parse().unwrap());
        let address = port.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let fake = Self {
            url: format!("http://{address}"),
            asked: asked.clone(),
            _port: port,
        };
        let mut left = if vanishes { answers.len() } else { usize::MAX };
        let mut listener = (left > 0).then(|| shared_socket(address).listen(1024).unwrap());
        tokio::spawn(async move {
            while let Some(open) = &listener
                && let Ok((stream, _)) = open.accept().await
            {
                left -= 1;
                if left == 0 {
                    // Before the answer, for the client may connect again as soon as it has it.
                    listener = None;
                }
                tokio::spawn(serve(stream, asked.clone(), answers.clone()));
            }
        });
        fake
    }

    /// Returns the requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn shared_socket(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseport(true).unwrap();
    socket.bind(address).unwrap();
    socket
}

async fn serve(mut stream: TcpStream, asked: Arc<Mutex<Vec<Asked>>>, answers: Vec<Script>) {
    let Some(request) = read(&mut stream).await else {
        return;
    };
    let at = {
        let mut asked = asked.lock().unwrap();
        asked.push(request);
        asked.len() - 1
    };
    let script = &answers[at.min(answers.len() - 1)];
    stream.write_all(&script.bytes).await.ok();
    if script.hangs {
        // Until the client goes.
        stream.read_u8().await.ok();
    }
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let head = loop {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.split("\r\n");
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|l| l.split_once(": "))
        .map(|(n, v)| (n.to_ascii_lowercase(), v.to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        let mut piece = vec![0; length - body.len()];
        let count = stream.read(&mut piece).await.ok().filter(|n| *n > 0)?;
        body.extend_from_slice(&piece[..count]);
    }
    Some(Asked { line, headers, body })
}

/// A client that may reach the tests' servers. `idle` bounds silence in a body; all else is generous.
pub fn client(idle: Duration) -> Guarded {
    client_with(Times { idle, ..PATIENT })
}

/// A client that may reach the tests' servers, and waits for the headers of an answer no longer than `first_byte`.
pub fn impatient_client(first_byte: Duration) -> Guarded {
    client_with(Times {
        first_byte,
        ..PATIENT
    })
}

const PATIENT: Times = {
    let limit = Duration::from_secs(60);
    Times {
        dns: limit,
        connect: limit,
        first_byte: limit,
        idle: limit,
        total: limit,
    }
};

fn client_with(times: Times) -> Guarded {
    let settings = Settings {
        allow: vec!["provider=127.0.0.1".parse().unwrap()],
        times: Some(times),
        ..Settings::new("SearchwrightBot/1.0 (+http://localhost/bot)")
    };
    Outbound::new(&settings).unwrap().for_purpose(Purpose::Provider)
}
