//! The generated website behind a small server that can be told to stop answering in the middle of a crawl.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex},
};

use tempfile::TempDir;
use xtask::website::{Expected, Order, generate};

/// A website with known faults, on a port of its own.
pub struct Website {
    pub expected: Expected,
    gate: Arc<Gate>,
    _folder: TempDir,
}

/// Counts of received requests and of those that may be answered.
#[derive(Default)]
struct Gate {
    counts: Mutex<Counts>,
    changed: Condvar,
}

#[derive(Default)]
struct Counts {
    came: usize,
    most: Option<usize>,
}

impl Gate {
    /// A request came; returns when it may be answered.
    fn pass(&self) {
        let mut counts = self.counts.lock().unwrap();
        counts.came += 1;
        let place = counts.came;
        self.changed.notify_all();
        drop(
            self.changed
                .wait_while(counts, |counts| counts.most.is_some_and(|most| place > most))
                .unwrap(),
        );
    }
}

impl Website {
    /// Makes the website and serves it for the rest of the process.
    pub fn new(pages: u32) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let folder = TempDir::new().unwrap();
        let order = Order { pages, seed: 7, port };
        let expected = generate(&order, folder.path()).unwrap();
        let redirects = expected.redirects.iter().map(|r| {
            (
                r.url[expected.origin.len()..].to_owned(),
                (r.status, r.target.clone()),
            )
        });
        let redirects: Arc<HashMap<_, _>> = Arc::new(redirects.collect());
        let gate = Arc::new(Gate::default());
        let (root, entrance) = (folder.path().join("root"), gate.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (root, redirects, gate) = (root.clone(), redirects.clone(), entrance.clone());
                // a client that hangs up ends its thread, whatever it was told
                std::thread::spawn(move || answer(&stream, &root, &redirects, &gate));
            }
        });
        Self {
            expected,
            gate,
            _folder: folder,
        }
    }

    /// From now on answers this many more requests, and lets the others wait.
    pub fn answer_only(&self, more: usize) {
        let mut counts = self.gate.counts.lock().unwrap();
        counts.most = Some(counts.came + more);
    }

    /// Returns when a request waits.
    pub fn until_one_waits(&self) {
        let counts = self.gate.counts.lock().unwrap();
        let idle = |counts: &mut Counts| counts.most.is_some_and(|most| counts.came <= most);
        drop(self.gate.changed.wait_while(counts, idle).unwrap());
    }

    /// Answers everything, what waits first.
    pub fn answer_all(&self) {
        self.gate.counts.lock().unwrap().most = None;
        self.gate.changed.notify_all();
    }

    /// Requests that came so far.
    pub fn requests(&self) -> usize {
        self.gate.counts.lock().unwrap().came
    }
}

fn answer(
    stream: &TcpStream,
    root: &Path,
    redirects: &HashMap<String, (u16, String)>,
    gate: &Gate,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") {
            (reader.read_line(&mut request).ok()? > 0).then_some(())?;
        }
        gate.pass();
        let path = request.split(' ').nth(1)?;
        let (status, head, body) = match redirects.get(path) {
            Some((status, target)) => (*status, format!("location: {target}\r\n"), Vec::new()),
            None => match std::fs::read(file(root, path)) {
                Ok(body) => (200, format!("content-type: {}\r\n", kind(path)), body),
                Err(_) => (
                    404,
                    "content-type: text/plain\r\n".to_owned(),
                    b"not here".to_vec(),
                ),
            },
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {status} .\r\ncontent-length: {length}\r\n{head}\r\n");
        let mut writer = stream;
        writer.write_all(&[head.as_bytes(), &body].concat()).ok()?;
    }
}

fn file(root: &Path, path: &str) -> PathBuf {
    let name = path.trim_start_matches('/');
    if name.is_empty() || name.ends_with('/') {
        root.join(name).join("index.html")
    } else {
        root.join(name)
    }
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("txt") => "text/plain; charset=utf-8",
        Some("xml") => "application/xml",
        Some("css") => "text/css",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    }
}
