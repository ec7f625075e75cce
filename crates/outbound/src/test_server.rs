//! A server for tests: it answers each request with the bytes it was given and records the requests.

#![expect(
    clippy::unwrap_used,
    reason = "used by tests only, where a panic is a failed test"
)]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
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
}

impl Fake {
    /// The n-th request gets the n-th answer; the last one repeats.
    pub async fn new(answers: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let fake = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            asked: asked.clone(),
        };
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (asked, answers) = (asked.clone(), answers.clone());
                tokio::spawn(async move {
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
                });
            }
        });
        fake
    }

    /// Returns the requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
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
    let patient = Duration::from_secs(60);
    let settings = Settings {
        allow: vec!["provider=127.0.0.1".parse().unwrap()],
        times: Some(Times {
            dns: patient,
            connect: patient,
            first_byte: patient,
            idle,
            total: patient,
        }),
        ..Settings::new("SearchwrightBot/1.0 (+http://localhost/bot)")
    };
    Outbound::new(&settings).unwrap().for_purpose(Purpose::Provider)
}
