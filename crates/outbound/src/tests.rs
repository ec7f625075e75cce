mod answers;
mod denied;

use std::{
    io::Write,
    net::IpAddr,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use searchwright_site::fetch::{Cut, Fetch, FetchError, Fetched, Method, Request, Validators};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use url::Url;

use super::*;

/// Answers each connection with the bytes given, then closes.
async fn server(answer: &'static [u8]) -> SocketAddr {
    serve(move |mut stream| async move {
        stream.write_all(answer).await.ok();
    })
    .await
}

async fn serve<F, A>(answer: F) -> SocketAddr
where
    F: Fn(TcpStream) -> A + Send + Sync + 'static,
    A: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            if stream.read(&mut head).await.is_ok() {
                tokio::spawn(answer(stream));
            }
        }
    });
    address
}

/// Names that tests make up; counts what it was asked.
#[derive(Default)]
struct Names {
    answers: Mutex<Vec<Vec<IpAddr>>>,
    asked: AtomicUsize,
}

impl Names {
    /// The n-th lookup gets the n-th answer; the last one repeats.
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let answers = answers
            .iter()
            .map(|a| a.iter().map(|a| a.parse().unwrap()).collect())
            .collect();
        Arc::new(Self {
            answers: Mutex::new(answers),
            asked: AtomicUsize::new(0),
        })
    }
}

impl Lookup for Names {
    fn lookup(&self, _: &str) -> Looked {
        let i = self.asked.fetch_add(1, Ordering::SeqCst);
        let answers = self.answers.lock().unwrap();
        let found = answers[i.min(answers.len() - 1)].clone();
        Box::pin(async move { Ok(found) })
    }
}

fn settings(allow: &[String]) -> Settings {
    Settings {
        allow: allow.iter().map(|a| a.parse().unwrap()).collect(),
        lookup: Names::new(&[&["127.0.0.1"]]),
        ..Settings::new("SearchwrightBot/1.0 (+http://localhost/bot)")
    }
}

fn crawler(settings: &Settings) -> Guarded {
    Outbound::new(settings).unwrap().for_purpose(Purpose::Crawl)
}

async fn get(client: &Guarded, url: &str) -> Fetched {
    get_up_to(client, url, 1024 * 1024).await
}

async fn get_up_to(client: &Guarded, url: &str, body_limit: usize) -> Fetched {
    let url = Url::parse(url).unwrap();
    client
        .fetch(Request {
            url,
            method: Method::Get,
            body_limit,
            fresh: false,
            picture: false,
            unless: None,
        })
        .await
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

fn allowed(address: SocketAddr, times: Option<Times>) -> (Guarded, String) {
    let mut settings = settings(&[format!("crawl={address}")]);
    settings.times = times;
    (crawler(&settings), format!("http://{address}/"))
}
