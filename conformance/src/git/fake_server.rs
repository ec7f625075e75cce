//! Servers that misbehave, and one of pictures. Each serves until this program ends.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use anyhow::Result;

/// Behaviour of a fake server.
#[derive(Clone)]
pub(super) enum Behavior {
    /// Reads, and says nothing.
    Silent,
    /// Gives two bytes of its answer each second, which never ends.
    Trickling,
    /// Answers 403.
    Refusing,
    /// Answers with this file.
    Serving(Arc<Vec<u8>>),
}

/// A listening fake server.
pub(super) struct FakeServer {
    pub(super) port: u16,
    received: Arc<Mutex<String>>,
}

impl FakeServer {
    /// Begins to serve.
    pub(super) fn start(way: Behavior) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let received = Arc::new(Mutex::new(String::new()));
        let own = Arc::clone(&received);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (way, received) = (way.clone(), Arc::clone(&own));
                // whoever goes away early has not asked for it
                thread::spawn(move || drop(serve(client, &way, &received)));
            }
        });
        Ok(Self { port, received })
    }

    /// Everything that clients sent.
    pub(super) fn received(&self) -> String {
        self.received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn serve(mut client: TcpStream, way: &Behavior, received: &Mutex<String>) -> Result<()> {
    let record = |text: &str| {
        received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_str(text)
    };
    record("(connected)\n");
    if matches!(way, Behavior::Silent) {
        let mut all = Vec::new();
        client.read_to_end(&mut all)?;
        record(&String::from_utf8_lossy(&all));
        return Ok(());
    }
    let mut head = String::new();
    let mut reader = BufReader::new(client.try_clone()?);
    while reader.read_line(&mut head)? > 2 {}
    record(&head);
    let (status, kind, body) = match way {
        Behavior::Serving(file) => ("200 OK", "image/gif", file.as_slice()),
        _ => ("403 Forbidden", "text/plain", &b"no"[..]),
    };
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    if matches!(way, Behavior::Trickling) {
        client.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")?;
        loop {
            client.write_all(b"ab")?;
            thread::sleep(Duration::from_secs(1));
        }
    }
    client.write_all(answer.as_bytes())?;
    Ok(client.write_all(body)?)
}
