//! HTTP by hand, for requests that no client would send.

use std::{net::SocketAddr, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};

use crate::harness::Answer;

/// Longest a test waits for an answer: far beyond what any takes, so that a hang fails and does not hang.
const LONGEST: Duration = Duration::from_secs(20);

/// An open connection, and what was read from it and not taken yet.
pub struct Wire(TcpStream, Vec<u8>);

impl Wire {
    pub async fn open(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap(), Vec::new())
    }

    /// Opens one from an address of this machine.
    pub async fn open_from(from: [u8; 4], address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        Self(socket.connect(address).await.unwrap(), Vec::new())
    }

    /// Sends bytes; the other side may have hung up already.
    pub async fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).await.is_ok() && self.0.flush().await.is_ok()
    }

    /// Everything until the other side closes the connection.
    pub async fn rest(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.1);
        let read = self.0.read_to_end(&mut bytes);
        // A reset after the answer is a closed connection too; one that stays open is a failure.
        let _ = tokio::time::timeout(LONGEST, read).await.unwrap();
        bytes
    }

    /// One answer with `Content-Length`.
    pub async fn answer(&mut self) -> Answer {
        loop {
            if let Some((answer, rest)) = parse(&self.1) {
                self.1 = rest.to_vec();
                return answer;
            }
            let read = self.some(1 << 16).await;
            assert!(
                read > 0,
                "the connection ended: {} bytes, {}",
                self.1.len(),
                String::from_utf8_lossy(&self.1[..self.1.len().min(500)])
            );
        }
    }

    /// So many answers.
    pub async fn exactly(&mut self, count: usize) -> Vec<Answer> {
        let mut all = Vec::new();
        while all.len() < count {
            all.push(self.answer().await);
        }
        all
    }

    /// Reads at most so many bytes, which are kept for an answer; how many they are.
    pub async fn some(&mut self, most: usize) -> usize {
        let mut more = vec![0; most];
        let read = tokio::time::timeout(LONGEST, self.0.read(&mut more));
        let read = read.await.unwrap().unwrap_or_default();
        self.1.extend_from_slice(&more[..read]);
        read
    }
}

/// Sends a request as it is on a connection of its own; every answer until the connection closes.
pub async fn exchange(address: SocketAddr, request: &[u8]) -> Vec<Answer> {
    let mut wire = Wire::open(address).await;
    wire.send(request).await;
    answers(&wire.rest().await)
}

/// The answers in these bytes.
pub fn answers(mut bytes: &[u8]) -> Vec<Answer> {
    let mut all = Vec::new();
    while let Some((answer, rest)) = parse(bytes) {
        all.push(answer);
        bytes = rest;
    }
    assert!(
        bytes.is_empty(),
        "half an answer: {:?}",
        String::from_utf8_lossy(bytes)
    );
    all
}

fn parse(bytes: &[u8]) -> Option<(Answer, &[u8])> {
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let status: u16 = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        headers.append(
            name.parse::<HeaderName>().unwrap(),
            value.parse::<HeaderValue>().unwrap(),
        );
    }
    let length = headers
        .get("content-length")
        .map_or(0, |v| v.to_str().unwrap().parse().unwrap());
    let body = bytes.get(end + 4..end + 4 + length)?;
    let answer = Answer {
        status,
        headers,
        body: body.to_vec(),
    };
    Some((answer, &bytes[end + 4 + length..]))
}
