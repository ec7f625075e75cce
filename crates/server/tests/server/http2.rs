//! HTTP/2 by hand (RFC 9113), for clients that read nothing.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RESET: u8 = 3;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
const SETTINGS: u8 = 4;
const WINDOW: u8 = 8;
const ACK: u8 = 1;
/// Of headers: the stream ends with them, and so do they.
const ALL: u8 = 5;
/// Of a reset: the client does not want the answer any more.
const CANCEL: u32 = 8;

/// Longest a test waits for a frame.
const LONGEST: Duration = Duration::from_secs(20);

/// A connection of HTTP/2 in the clear.
pub struct Http2(TcpStream);

/// A frame of the server.
#[derive(Debug)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

fn encode(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The headers of a GET, with one more whose name is in the static table.
fn header_block(path: &str, header: Option<([u8; 2], &str)>) -> Vec<u8> {
    // `:method: GET` and `:scheme: http` of the static table, then literals (RFC 7541)
    let mut block = vec![0x82, 0x86];
    let mut literal = |index: &[u8], value: &str| {
        block.extend(index);
        block.push(
            u8::try_from(value.len())
                .ok()
                .filter(|length| *length < 127)
                .unwrap(),
        );
        block.extend(value.as_bytes());
    };
    literal(&[0x04], path);
    literal(&[0x01], "localhost");
    if let Some((name, value)) = header {
        literal(&name, value);
    }
    block
}

impl Http2 {
    /// Opens one on whose streams the server may send so many bytes each.
    pub async fn open(address: SocketAddr, window: u32) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            .await
            .unwrap();
        let mut own = Self(stream);
        // SETTINGS_INITIAL_WINDOW_SIZE
        let setting = [[0, 4].as_slice(), &window.to_be_bytes()].concat();
        own.frame(SETTINGS, 0, 0, &setting).await;
        own
    }

    async fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> bool {
        self.0
            .write_all(&encode(kind, flags, stream, payload))
            .await
            .is_ok()
    }

    /// Sends so many GETs at once, each of which is taken back at once.
    pub async fn flood(&mut self, count: u32) -> bool {
        let block = header_block("/v1/me", None);
        let mut bytes = Vec::new();
        for stream in (0..count).map(|at| 2 * at + 1) {
            bytes.extend(encode(HEADERS, ALL, stream, &block));
            bytes.extend(encode(RESET, 0, stream, &CANCEL.to_be_bytes()));
        }
        self.0.write_all(&bytes).await.is_ok()
    }

    /// Sends a GET.
    pub async fn get(&mut self, stream: u32, path: &str, key: &str) -> bool {
        let bearer = format!("Bearer {key}");
        let authorization = (!key.is_empty()).then_some(([0x0f, 0x08], bearer.as_str()));
        self.ask(stream, path, authorization).await
    }

    /// Sends the GET of a browser that is signed in.
    pub async fn get_as(&mut self, stream: u32, path: &str, session: &str) -> bool {
        let cookie = format!("__Host-session={session}");
        self.ask(stream, path, Some(([0x0f, 0x11], &cookie))).await
    }

    /// Sends a GET with a header whose name is in the static table.
    async fn ask(&mut self, stream: u32, path: &str, header: Option<([u8; 2], &str)>) -> bool {
        let block = header_block(path, header);
        self.frame(HEADERS, ALL, stream, &block).await
    }

    /// Lets the server send more on a stream.
    pub async fn open_window(&mut self, stream: u32, bytes: u32) -> bool {
        self.frame(WINDOW, 0, stream, &bytes.to_be_bytes()).await
    }

    pub async fn reset(&mut self, stream: u32) -> bool {
        self.frame(RESET, 0, stream, &CANCEL.to_be_bytes()).await
    }

    pub async fn ping(&mut self) -> bool {
        self.frame(PING, 0, 0, &[7; 8]).await
    }

    /// The next frame, none when the connection ended. Settings and pings of the server are answered.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            let mut head = [0; 9];
            let read = tokio::time::timeout(LONGEST, self.0.read_exact(&mut head));
            read.await.unwrap().ok()?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; length as usize];
            self.0.read_exact(&mut payload).await.ok()?;
            let frame = Frame {
                kind: head[3],
                flags: head[4],
                stream: u32::from_be_bytes([head[5], head[6], head[7], head[8]]),
                payload,
            };
            match frame.kind {
                SETTINGS if frame.flags != ACK => {
                    self.frame(SETTINGS, ACK, 0, &[]).await;
                }
                PING if frame.flags != ACK => {
                    self.frame(PING, ACK, 0, &frame.payload).await;
                }
                _ => return Some(frame),
            }
        }
    }

    /// The next frame of this kind.
    pub async fn until(&mut self, kind: u8) -> Frame {
        loop {
            let frame = self
                .next()
                .await
                .unwrap_or_else(|| panic!("no frame of kind {kind}"));
            if frame.kind == kind {
                return frame;
            }
        }
    }
}
