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
    fn lookup(&self, _: &str) -> resolve::Looked {
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

#[tokio::test]
async fn every_spelling_of_loopback_is_denied() {
    let port = server(OK).await.port();
    let client = crawler(&settings(&[]));
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "①②⑦.0.0.1",
        "0",
        "localhost",
        "localhost.",
        "a.example",
        "[::1]",
        "[::]",
        "[::ffff:7f00:1]",
        "[::ffff:127.0.0.1]",
        "[::7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2001::1]",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "10.0.0.1",
        "192.168.1.1",
        "example.com@127.0.0.1",
        "user@a.example",
        "user:pw@a.example",
        ":pw@a.example",
    ] {
        assert_eq!(
            get(&client, &format!("http://{host}:{port}/")).await.unwrap_err(),
            FetchError::Denied,
            "{host}"
        );
    }
    for url in [
        "ftp://1.1.1.1/",
        "file:///etc/passwd",
        "data:,x",
        "unix:/run/x.sock",
    ] {
        assert_eq!(get(&client, url).await.unwrap_err(), FetchError::Denied, "{url}");
    }
}

#[tokio::test]
async fn an_exception_holds_for_its_purpose_host_and_port_only() {
    let (open, shut) = (server(OK).await.port(), server(OK).await.port());
    let outbound = Outbound::new(&settings(&[
        format!("crawl=site.example:{open}"),
        "webhook=hooks.example".into(),
    ]))
    .unwrap();
    let (crawl, hook) = (
        outbound.for_purpose(Purpose::Crawl),
        outbound.for_purpose(Purpose::Webhook),
    );
    assert_eq!(
        get(&crawl, &format!("http://site.example:{open}/"))
            .await
            .unwrap()
            .body,
        "hi"
    );
    for url in [
        format!("http://site.example:{shut}/"),
        format!("http://other.example:{open}/"),
        format!("http://hooks.example:{open}/"),
        format!("http://127.0.0.1:{open}/"),
    ] {
        assert_eq!(get(&crawl, &url).await.unwrap_err(), FetchError::Denied, "{url}");
    }
    assert_eq!(
        get(&hook, &format!("http://hooks.example:{shut}/"))
            .await
            .unwrap()
            .body,
        "hi"
    );
    assert_eq!(
        get(&hook, &format!("http://site.example:{open}/"))
            .await
            .unwrap_err(),
        FetchError::Denied
    );
}

#[tokio::test]
async fn an_exception_for_addresses_holds_for_names_too() {
    let (open, shut) = (server(OK).await.port(), server(OK).await.port());
    let client = crawler(&settings(&[format!("crawl=127.0.0.1:{open}")]));
    for host in ["127.0.0.1", "a.example", "127.1"] {
        assert!(
            get(&client, &format!("http://{host}:{open}/")).await.is_ok(),
            "{host}"
        );
        assert_eq!(
            get(&client, &format!("http://{host}:{shut}/")).await.unwrap_err(),
            FetchError::Denied,
            "{host}"
        );
    }
    let client = crawler(&settings(&["crawl=127.0.0.0/8".into()]));
    assert!(get(&client, &format!("http://a.example:{shut}/")).await.is_ok());
}

#[tokio::test]
async fn metadata_stays_denied_unless_the_operator_insists() {
    let mut settings = settings(&["crawl=169.254.0.0/16".into(), "crawl=metadata.example".into()]);
    settings.lookup = Names::new(&[&["169.254.169.254"]]);
    let client = crawler(&settings);
    for url in ["http://169.254.169.254/", "http://metadata.example/"] {
        assert_eq!(get(&client, url).await.unwrap_err(), FetchError::Denied, "{url}");
    }
    // Asked of the guard alone: a test that connects to such an address would leave the machine.
    let insisting = |allow_metadata| Guard {
        purpose: Purpose::Crawl,
        allow: settings.allow.iter().map(|a| a.target.clone()).collect(),
        allow_metadata,
        own: Vec::new(),
        logged: Mutex::default(),
    };
    let address = "169.254.169.254".parse().unwrap();
    assert!(insisting(true).permits("169.254.169.254", address, None));
    assert!(!insisting(false).permits("169.254.169.254", address, None));
    assert!(!insisting(true).permits("fd00:ec2::254", "fd00:ec2::254".parse().unwrap(), None));
}

#[tokio::test]
async fn one_bad_address_refuses_the_name() {
    let mut settings = settings(&[]);
    settings.lookup = Names::new(&[&["1.1.1.1", "10.0.0.1"]]);
    assert_eq!(
        get(&crawler(&settings), "http://a.example/").await.unwrap_err(),
        FetchError::Denied
    );
}

#[tokio::test]
async fn a_name_that_changes_its_mind_gains_nothing() {
    // The first answer is judged and refused; whatever comes later is judged again.
    let port = server(OK).await.port();
    let mut settings = settings(&[]);
    let names = Names::new(&[&["127.0.0.1"], &["::1"], &["10.0.0.1"], &["127.0.0.1"]]);
    settings.lookup = names.clone();
    let client = crawler(&settings);
    for i in 1..=4 {
        assert_eq!(
            get(&client, &format!("http://a.example:{port}/"))
                .await
                .unwrap_err(),
            FetchError::Denied
        );
        assert_eq!(
            names.asked.load(Ordering::SeqCst),
            i,
            "one lookup for each connection"
        );
    }
}

#[tokio::test]
async fn our_own_listener_is_not_reached_through_a_range() {
    let address = server(OK).await;
    let mut settings = settings(&["crawl=127.0.0.0/8".into()]);
    settings.own = vec![address];
    for host in ["127.0.0.1", "a.example"] {
        let url = format!("http://{host}:{}/", address.port());
        assert_eq!(
            get(&crawler(&settings), &url).await.unwrap_err(),
            FetchError::Denied,
            "{url}"
        );
    }
    settings
        .allow
        .push(format!("crawl=127.0.0.1:{}", address.port()).parse().unwrap());
    assert!(
        get(
            &crawler(&settings),
            &format!("http://127.0.0.1:{}/", address.port())
        )
        .await
        .is_ok()
    );
}

fn allowed(address: SocketAddr, times: Option<Times>) -> (Guarded, String) {
    let mut settings = settings(&[format!("crawl={address}")]);
    settings.times = times;
    (crawler(&settings), format!("http://{address}/"))
}

#[tokio::test]
async fn redirects_and_statuses_are_answers() {
    let (client, url) = allowed(
        server(b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n").await,
        None,
    );
    let answer = get(&client, &url).await.unwrap();
    assert_eq!(
        (answer.status, &answer.headers["location"]),
        (302, &http::HeaderValue::from_static("http://169.254.169.254/"))
    );
}

#[tokio::test]
async fn the_request_says_who_asks_and_what_it_can_read() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (client, url) = allowed(listener.local_addr().unwrap(), None);
    let seen = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 4096];
        let length = stream.read(&mut head).await.unwrap();
        stream.write_all(OK).await.unwrap();
        String::from_utf8(head[..length].to_vec())
            .unwrap()
            .to_ascii_lowercase()
    });
    let request = Request {
        url: Url::parse(&url).unwrap(),
        method: Method::Head,
        body_limit: 10,
        fresh: true,
        picture: true,
        unless: Some(Box::new(Validators {
            etag: Some("w/\"a\"".into()),
            last_modified: Some("wed, 18 nov 2020 02:00:00 gmt".into()),
            read_at_ms: 0,
        })),
    };
    client.fetch(request).await.unwrap();
    let head = seen.await.unwrap();
    assert!(head.starts_with("head / http/1.1\r\n"), "{head}");
    for line in [
        "user-agent: searchwrightbot/1.0 (+http://localhost/bot)",
        "accept-encoding: gzip, br",
        "cache-control: no-cache",
        "if-none-match: w/\"a\"",
        "if-modified-since: wed, 18 nov 2020 02:00:00 gmt",
        "accept: image/avif,image/webp,image/*,*/*;q=0.8",
    ] {
        assert!(head.contains(&format!("\r\n{line}\r\n")), "{head}");
    }
    assert!(!head.contains("cookie") && !head.contains("referer"), "{head}");
}

#[tokio::test]
async fn ten_gigabytes_are_cut_at_the_limit() {
    let address = serve(|mut stream| async move {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n")
            .await
            .ok();
        let piece = vec![b'x'; 64 * 1024];
        while stream.write_all(&piece).await.is_ok() {}
    })
    .await;
    let (client, url) = allowed(address, None);
    let answer = get_up_to(&client, &url, 100_000).await.unwrap();
    assert_eq!((answer.body.len(), answer.cut), (100_000, Some(Cut::Size)));
    assert!(answer.wire_bytes < 1024 * 1024, "{}", answer.wire_bytes);
}

#[tokio::test]
async fn a_bomb_is_cut() {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    let bomb = BOMB.get_or_init(|| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        for _ in 0..100 {
            encoder.write_all(&[0; 1024 * 1024]).unwrap();
        }
        let coded = encoder.finish().unwrap();
        let mut answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            coded.len()
        )
        .into_bytes();
        answer.extend_from_slice(&coded);
        answer
    });
    let (client, url) = allowed(server(bomb).await, None);
    let answer = get_up_to(&client, &url, 50 * 1024 * 1024).await.unwrap();
    assert_eq!(answer.cut, Some(Cut::Ratio));
    assert!(answer.body.len() < 2 * 1024 * 1024);
}

const SHORT: Times = Times {
    dns: Duration::from_millis(200),
    connect: Duration::from_millis(200),
    first_byte: Duration::from_millis(200),
    idle: Duration::from_millis(400),
    total: Duration::from_millis(400),
};

#[tokio::test]
async fn a_trickle_is_cut_with_what_came() {
    let address = serve(|mut stream| async move {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nab")
            .await
            .ok();
        stream.flush().await.ok();
        // Holds the connection until the client leaves.
        stream.read_u8().await.ok();
    })
    .await;
    let (client, url) = allowed(address, Some(SHORT));
    let answer = get(&client, &url).await.unwrap();
    assert_eq!((&answer.body[..], answer.cut), (&b"ab"[..], Some(Cut::Time)));
}

#[tokio::test]
async fn silence_times_out() {
    let address = serve(|mut stream| async move {
        stream.read_u8().await.ok();
    })
    .await;
    let (client, url) = allowed(address, Some(SHORT));
    assert_eq!(get(&client, &url).await.unwrap_err(), FetchError::Timeout);
}

#[tokio::test]
async fn failures_are_told_apart() {
    for (answer, error) in [
        (&b"\x16\x03\x01 this is not http\r\n\r\n"[..], FetchError::Broken),
        (b"", FetchError::Broken),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
            FetchError::Broken,
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
            FetchError::Broken,
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, br\r\nContent-Length: 4\r\n\r\nabcd",
            FetchError::Broken,
        ),
    ] {
        let (client, url) = allowed(server(answer).await, None);
        assert_eq!(
            get(&client, &url).await.unwrap_err(),
            error,
            "{}",
            answer.escape_ascii()
        );
    }
    let address = server(OK).await;
    let (client, _) = allowed(address, None);
    assert_eq!(
        get(&client, &format!("https://{address}/")).await.unwrap_err(),
        FetchError::Tls
    );
    let gone = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let (client, url) = allowed(gone, None);
    assert_eq!(get(&client, &url).await.unwrap_err(), FetchError::Connect);
    let mut unknown = settings(&[]);
    unknown.lookup = Names::new(&[&[]]);
    assert_eq!(
        get(&crawler(&unknown), "http://nowhere.example/")
            .await
            .unwrap_err(),
        FetchError::Dns
    );
}

#[tokio::test]
async fn any_request_can_be_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 4096];
        let mut length = 0;
        while !head[..length].ends_with(b"{}") {
            length += stream.read(&mut head[length..]).await.unwrap();
        }
        stream.write_all(OK).await.unwrap();
        String::from_utf8(head[..length].to_vec())
            .unwrap()
            .to_ascii_lowercase()
    });
    let client = Outbound::new(&settings(&[format!("webhook={address}")]))
        .unwrap()
        .for_purpose(Purpose::Webhook);
    let request = http::Request::post(format!("http://{address}/hook"))
        .header("webhook-id", "msg_1")
        .body(Bytes::from_static(b"{}"))
        .unwrap();
    assert_eq!(client.send(request, 100).await.unwrap().status, 200);
    assert!(seen.await.unwrap().contains("webhook-id: msg_1\r\n"));
}
