//! Servers that do not do as they should, and one of pictures. Each serves until this program ends.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use anyhow::Result;

/// How a server answers.
#[derive(Clone)]
pub(super) enum Way {
    /// Reads, and says nothing.
    Silent,
    /// Gives two bytes of its answer each second, which never ends.
    Trickling,
    /// Refuses whoever asks.
    Refusing,
    /// Answers with this file.
    Giving(Arc<Vec<u8>>),
}

/// One of them.
pub(super) struct Strange {
    pub(super) port: u16,
    heard: Arc<Mutex<String>>,
}

impl Strange {
    /// Begins to serve.
    pub(super) fn start(way: Way) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let heard = Arc::new(Mutex::new(String::new()));
        let own = Arc::clone(&heard);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (way, heard) = (way.clone(), Arc::clone(&own));
                // whoever goes away early has not asked for it
                thread::spawn(move || drop(serve(client, &way, &heard)));
            }
        });
        Ok(Self { port, heard })
    }

    /// All that it was sent.
    pub(super) fn heard(&self) -> String {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(mut client: TcpStream, way: &Way, heard: &Mutex<String>) -> Result<()> {
    let note = |text: &str| {
        heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_str(text)
    };
    note("(connected)\n");
    if matches!(way, Way::Silent) {
        let mut all = Vec::new();
        client.read_to_end(&mut all)?;
        note(&String::from_utf8_lossy(&all));
        return Ok(());
    }
    let mut head = String::new();
    let mut reader = BufReader::new(client.try_clone()?);
    while reader.read_line(&mut head)? > 2 {}
    note(&head);
    let (status, kind, body) = match way {
        Way::Giving(file) => ("200 OK", "image/gif", file.as_slice()),
        _ => ("403 Forbidden", "text/plain", &b"no"[..]),
    };
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    if matches!(way, Way::Trickling) {
        client.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")?;
        loop {
            client.write_all(b"ab")?;
            thread::sleep(Duration::from_secs(1));
        }
    }
    client.write_all(answer.as_bytes())?;
    Ok(client.write_all(body)?)
}
