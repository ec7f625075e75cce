//! Requests with an `Idempotency-Key` to a server that is killed at any moment.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::program::User;

const CLIENTS: usize = 4;
const ROUNDS: usize = 4;

/// A connection to the API with a project and its key.
struct Connection {
    stream: BufReader<TcpStream>,
    head: String,
}

impl Connection {
    fn open(url: &str, project: &str, key: &str) -> Self {
        let host = url.strip_prefix("http://").unwrap();
        Self {
            stream: BufReader::new(TcpStream::connect(host).unwrap()),
            head: format!(
                "POST /v1/projects/{project}/keywords HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\n\
                 content-type: application/json\r\n"
            ),
        }
    }

    /// Creates a keyword under a key of its own; status and body, unless the server ended.
    fn create(&mut self, keyword: &str) -> std::io::Result<(String, String)> {
        let body = format!("{{\"keyword\":\"{keyword}\"}}");
        let request = format!(
            "{}idempotency-key: {}\r\ncontent-length: {}\r\n\r\n{body}",
            self.head,
            keyword.replace(' ', "-"),
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut length, mut line) = (String::new(), 0, String::new());
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if status.is_empty() {
                status = line.split(' ').nth(1).unwrap_or_default().to_owned();
            } else if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            } else if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((status, String::from_utf8(body).unwrap()))
    }
}

/// Each was answered, or not; sent again, each has one effect, and the answer that was seen first.
#[test]
fn a_repeat_after_a_crash_is_answered_once() {
    let user = User::new();
    let project = user.project("example.com");
    let (_, key) = user.key(&project, &[]);
    let unlimited = ["--set", "limits.requests_per_minute=1000000"];
    for round in 0..ROUNDS {
        let mut server = user.serve(&unlimited);
        let answered = Arc::new(AtomicUsize::new(0));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let mut connection = Connection::open(&server.url, &project, &key);
                let answered = answered.clone();
                std::thread::spawn(move || {
                    let mut answers = BTreeMap::new();
                    for n in 0.. {
                        let keyword = format!("round {round} client {client} keyword {n}");
                        let Ok((status, body)) = connection.create(&keyword) else {
                            answers.insert(keyword, None);
                            break;
                        };
                        assert_eq!(status, "201", "{body}");
                        answers.insert(keyword, Some(body));
                        answered.fetch_add(1, Ordering::AcqRel);
                    }
                    answers
                })
            })
            .collect();
        while answered.load(Ordering::Acquire) < 20 + 7 * round {
            std::thread::yield_now();
        }
        server.kill();
        let server = user.serve(&unlimited);
        let mut connection = Connection::open(&server.url, &project, &key);
        for client in clients {
            for (keyword, seen) in client.join().unwrap() {
                let (status, body) = connection.create(&keyword).unwrap();
                assert_eq!(status, "201", "{keyword}: {body}");
                if let Some(seen) = seen {
                    assert_eq!(body, seen, "{keyword}");
                }
                assert_eq!(connection.create(&keyword).unwrap(), (status, body));
            }
        }
    }
}
