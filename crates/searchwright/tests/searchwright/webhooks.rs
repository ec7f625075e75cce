//! Webhooks of a server that dies: nothing that was answered is lost, and what is sent twice says so.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::program::User;

const POSTS: usize = 12;

/// Notes the `webhook-id` of whatever comes, and answers when it is told to.
#[derive(Clone, Default)]
struct Receiver {
    ids: Arc<Mutex<Vec<String>>>,
    answers: Arc<AtomicBool>,
}

impl Receiver {
    fn start() -> (Self, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let receiver = Self::default();
        let shared = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let receiver = shared.clone();
                thread::spawn(move || receiver.serve(stream));
            }
        });
        (receiver, address)
    }

    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        loop {
            let (mut length, mut id) = (0, None);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).ok()? == 0 {
                    return None;
                }
                let line = line.trim_end();
                if line.is_empty() {
                    break;
                }
                let (name, value) = line.split_once(": ").unwrap_or_default();
                match name {
                    "content-length" => length = value.parse().ok()?,
                    "webhook-id" => id = Some(value.to_owned()),
                    _ => {}
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            self.ids.lock().unwrap().push(id?);
            if !self.answers.load(Ordering::SeqCst) {
                // until the sender is gone
                let _ = reader.read(&mut [0]);
                return None;
            }
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").ok()?;
        }
    }

    fn until(&self, enough: impl Fn(&[String]) -> bool) {
        let begun = Instant::now();
        while !enough(&self.ids.lock().unwrap()) {
            assert!(begun.elapsed() < Duration::from_secs(60));
            thread::yield_now();
        }
    }
}

#[test]
fn what_was_not_delivered_when_a_server_died_is_delivered_by_the_next() {
    let (receiver, address) = Receiver::start();
    let user = User::new();
    let (_, key) = user.key(&user.project("example.com"), &[]);
    let allow = format!("webhook={address}");
    let mut server = user.serve(&["--allow-outbound", &allow]);
    let mine = |url: &str| {
        User::new()
            .with("SEARCHWRIGHT_URL", url)
            .with("SEARCHWRIGHT_KEY", &key)
    };
    let made = mine(&server.url).run(&[
        "webhooks",
        "create",
        &format!("http://{address}/"),
        "post.created",
        "--json",
    ]);
    let hook = made.json()["id"].as_str().unwrap().to_owned();
    for n in 0..POSTS {
        let made = mine(&server.url).run(&["posts", "create", "--title", &format!("Oak {n}"), "--json"]);
        assert_eq!(made.code, 0, "{made:?}");
    }
    // Some are on their way, and none has been answered.
    receiver.until(|ids| !ids.is_empty());
    server.kill();
    receiver.answers.store(true, Ordering::SeqCst);
    let server = user.serve(&["--allow-outbound", &allow]);
    let mine = mine(&server.url);
    let begun = Instant::now();
    let delivered = loop {
        let list = mine
            .run(&["webhooks", "deliveries", &hook, "--limit", "100", "--json"])
            .json();
        let all = list["data"].as_array().unwrap().clone();
        if all.iter().all(|delivery| delivery["status"] == "succeeded") {
            break all;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{list:#}");
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let messages: BTreeSet<String> = delivered.iter().map(|d| text(&d["messageId"])).collect();
    assert_eq!(messages.len(), POSTS);
    let came = receiver.ids.lock().unwrap().clone();
    assert_eq!(came.iter().cloned().collect::<BTreeSet<_>>(), messages);
    assert!(came.len() > POSTS, "what was on its way was sent again");
}
