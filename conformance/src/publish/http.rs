//! HTTP/1.1 as far as servers on this machine need it: a connection for each request, bodies in memory.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// Longest wait for any one piece of an answer.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// A request or an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    /// The first line, without its end.
    pub(crate) start: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    /// Reads an answer; `None` where the other side closed without one.
    pub(crate) fn answer(stream: impl Read) -> Result<Option<Self>> {
        let mut reader = BufReader::new(stream);
        let Some(mut message) = read_head(&mut reader)? else {
            return Ok(None);
        };
        if !matches!(message.status(), 204 | 304) {
            message.body = read_body(&message, &mut reader)?;
        }
        Ok(Some(message))
    }

    /// Reads a request, which has no body unless it says how long it is; `None` where the other side closed without one.
    pub(crate) fn request(stream: impl Read) -> Result<Option<Self>> {
        let mut reader = BufReader::new(stream);
        let Some(mut message) = read_head(&mut reader)? else {
            return Ok(None);
        };
        if message.header("content-length").is_some() || message.header("transfer-encoding").is_some() {
            message.body = read_body(&message, &mut reader)?;
        }
        Ok(Some(message))
    }

    /// Reads the head only, from bytes that hold all of it.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        read_head(&mut &*bytes)?.context("an empty head")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Status of an answer, 0 where there is none.
    pub(crate) fn status(&self) -> u16 {
        let word = self.start.split(' ').nth(1);
        word.and_then(|word| word.parse().ok()).unwrap_or(0)
    }

    /// The body as JSON; `null` where it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// All of it as it is sent, with the length of its body.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}\r\n", self.start);
        for (name, value) in &self.headers {
            let own = ["content-length", "transfer-encoding", "connection", "keep-alive"];
            if !own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                bytes.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        if !matches!(self.status(), 204 | 304) {
            bytes.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        bytes.push_str("Connection: close\r\n\r\n");
        let mut bytes = bytes.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Sends it to `address` as a request and reads the answer.
    pub(crate) fn send(&self, address: &str) -> Result<Self> {
        let mut stream =
            TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        stream.write_all(&self.bytes())?;
        Self::answer(stream)?.with_context(|| format!("{address} closes without an answer to {}", self.start))
    }
}

fn read_head(reader: &mut impl BufRead) -> Result<Option<Message>> {
    let mut message = Message {
        start: read_line(reader)?,
        ..Message::default()
    };
    if message.start.is_empty() {
        return Ok(None);
    }
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            return Ok(Some(message));
        }
        let (name, value) = line
            .split_once(':')
            .with_context(|| format!("no header: {line}"))?;
        message.headers.push((name.to_owned(), value.trim().to_owned()));
    }
}

fn read_line(reader: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn read_body(message: &Message, reader: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    if message
        .header("transfer-encoding")
        .is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"))
    {
        loop {
            let size = read_line(reader)?;
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16).with_context(|| format!("no chunk: {size:?}"))?;
            let read = reader.by_ref().take(size).read_to_end(&mut body)?;
            ensure!(read as u64 == size, "a chunk ends early");
            read_line(reader)?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
    let Some(length) = message.header("content-length") else {
        reader.read_to_end(&mut body)?;
        return Ok(body);
    };
    let length: u64 = length.parse()?;
    let read = reader.take(length).read_to_end(&mut body)?;
    ensure!(
        read as u64 == length,
        "the answer ends after {read} of {length} bytes"
    );
    Ok(body)
}

/// A server with the headers that every request to it carries.
#[derive(Clone, Debug)]
pub(crate) struct HttpClient {
    /// `http://host:port`, without a slash at its end.
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl HttpClient {
    pub(crate) fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Host and port.
    pub(crate) fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Sends a request and returns any answer.
    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Message> {
        let mut message = Message {
            start: format!("{method} {path} HTTP/1.1"),
            headers: self.headers.clone(),
            body: Vec::new(),
        };
        message
            .headers
            .push(("Host".to_owned(), self.address().to_owned()));
        if let Some(body) = body {
            message
                .headers
                .push(("Content-Type".to_owned(), "application/json".to_owned()));
            message.body = serde_json::to_vec(body)?;
        }
        message.send(self.address())
    }

    /// Sends a request and returns the body of a 2xx answer.
    pub(crate) fn json(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let answer = self.request(method, path, body)?;
        if !(200..300).contains(&answer.status()) {
            let said = String::from_utf8_lossy(&answer.body);
            bail!(
                "{method} {path}: {}\n{}",
                answer.start,
                said.chars().take(800).collect::<String>()
            );
        }
        Ok(answer.json())
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        self.json("GET", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.json("POST", path, Some(body))
    }
}
