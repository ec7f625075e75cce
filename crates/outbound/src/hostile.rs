//! Sites that want to do harm: the crawler gets through all of it, in bounded time and memory, and
//! what is harmless among it is still read.

use std::{
    io::Write,
    net::SocketAddr,
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use searchwright_site::{
    crawl::{Batch, Config, CrawledPage, Ending, Sink, SinkError, Termination, crawl},
    fetch::{Cut, FetchError},
    page::Outcome,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{Lookup, Outbound, Purpose, Settings, Times, resolve::Looked};

const MIB: usize = 1024 * 1024;

#[derive(Default)]
struct Pages(Vec<CrawledPage>);

impl Sink for Pages {
    async fn save(&mut self, batch: Batch) -> Result<(), SinkError> {
        self.0.extend(batch.pages);
        Ok(())
    }
}

impl Pages {
    fn get(&self, end: &str) -> &CrawledPage {
        self.0
            .iter()
            .find(|page| page.facts.url.ends_with(end))
            .unwrap_or_else(|| panic!("no {end}"))
    }
}

/// `site.example` is on loopback and allowed; every other name leads to a private address.
struct Names;

impl Lookup for Names {
    fn lookup(&self, name: &str) -> Looked {
        let address = if name == "site.example" {
            "127.0.0.1"
        } else {
            "10.1.2.3"
        };
        Box::pin(async move { Ok(vec![address.parse().unwrap()]) })
    }
}

fn page(body: &[u8], headers: &str) -> Vec<u8> {
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(body);
    answer
}

fn gzip_bomb() -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..50).for_each(|_| encoder.write_all(&[b' '; MIB]).unwrap());
    encoder.finish().unwrap()
}

fn brotli_bomb() -> Vec<u8> {
    let mut coded = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut coded, 4096, 1, 22);
    (0..50).for_each(|_| encoder.write_all(&[b' '; MIB]).unwrap());
    drop(encoder);
    coded
}

/// Made once, before the clock runs.
static GZIP_BOMB: LazyLock<Vec<u8>> = LazyLock::new(gzip_bomb);
static BROTLI_BOMB: LazyLock<Vec<u8>> = LazyLock::new(brotli_bomb);
static LINKS: LazyLock<String> =
    LazyLock::new(|| (0..1_000_000).map(|i| format!("<a href=/l/{i}>")).collect());
static ATTRIBUTES: LazyLock<String> = LazyLock::new(|| {
    let names: String = (0..1_000_000).map(|i| format!("a{i} ")).collect();
    format!("<div {names}>")
});

async fn pour(stream: &mut TcpStream, head: &str, piece: &[u8]) {
    stream.write_all(head.as_bytes()).await.ok();
    while stream.write_all(piece).await.is_ok() {}
}

async fn answer(stream: &mut TcpStream, path: &str) -> std::io::Result<()> {
    let redirect =
        |to: &str| format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes();
    let bytes = match path {
        "/" => page(
            b"<a href=/good>a</a><a href=/endless/0>b</a><a href=/huge>c</a><a href=/gzip>d</a><a href=/br>e</a><a href=/trickle>f</a>\
              <a href=/silent>g</a><a href=/garbage>h</a><a href=/metadata>i</a><a href=/links>j</a><a href=/deep>k</a><a href=/attributes>l</a>\
              <a href=/headers>m</a><a href=/self>n</a><a href=//inside.example/>o</a><a href=http://169.254.169.254/latest/>p</a><a href=/later>q</a>",
            "",
        ),
        "/robots.txt" => {
            let mut rules = b"User-agent: *\nDisallow: /forbidden\n".to_vec();
            rules.resize(5 * MIB, b'#');
            page(&rules, "")
        }
        "/huge" => {
            pour(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10737418240\r\n\r\n", &[b'x'; 65536]).await;
            return Ok(());
        }
        "/gzip" => page(&GZIP_BOMB, "Content-Encoding: gzip\r\n"),
        "/br" => page(&BROTLI_BOMB, "Content-Encoding: br\r\n"),
        "/trickle" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000000\r\n\r\n<title>slow").await?;
            stream.read_u8().await?;
            return Ok(());
        }
        "/silent" => {
            stream.read_u8().await?;
            return Ok(());
        }
        "/garbage" => b"\x00\x01\x02 SSH-2.0-OpenSSH\r\n\r\n".to_vec(),
        "/metadata" => redirect("http://169.254.169.254/latest/meta-data/"),
        "/self" => redirect("/self"),
        "/links" => page(LINKS.as_bytes(), ""),
        "/deep" => page("<div>".repeat(200_000).as_bytes(), ""),
        "/attributes" => page(ATTRIBUTES.as_bytes(), ""),
        "/headers" => {
            pour(stream, "HTTP/1.1 200 OK\r\n", &b"X-A: 0123456789abcdef0123456789abcdef\r\n".repeat(1000)).await;
            return Ok(());
        }
        path => match path.strip_prefix("/endless/").and_then(|n| n.parse::<u32>().ok()) {
            Some(n) => redirect(&format!("/endless/{}", n + 1)),
            None => page(b"<title>Good</title>", ""),
        },
    };
    stream.write_all(&bytes).await
}

async fn serve() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let log = Arc::new(Mutex::new(Vec::new()));
    let shared = log.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let log = shared.clone();
            tokio::spawn(async move {
                let mut head = vec![0; 8192];
                let read = stream.read(&mut head).await.unwrap_or(0);
                let line = String::from_utf8_lossy(&head[..read])
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                let path = line.split(' ').nth(1).unwrap_or("/").to_owned();
                log.lock().unwrap().push(path.clone());
                answer(&mut stream, &path).await.ok();
            });
        }
    });
    (address, log)
}

fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

async fn attack() -> (Pages, Ending, Vec<String>) {
    // Made before the clock runs: only what is sent counts against the limits below.
    assert!(GZIP_BOMB.len() + BROTLI_BOMB.len() < MIB);
    assert!(LINKS.len() > MIB && ATTRIBUTES.len() > MIB);
    let (address, log) = serve().await;
    let settings = Settings {
        allow: vec![format!("crawl=site.example:{}", address.port()).parse().unwrap()],
        lookup: Arc::new(Names),
        times: Some(Times {
            dns: Duration::from_secs(1),
            connect: Duration::from_secs(1),
            first_byte: Duration::from_secs(3),
            idle: Duration::from_secs(5),
            total: Duration::from_secs(5),
        }),
        ..Settings::new("SearchwrightBot/1.0 (+http://localhost/bot)")
    };
    let fetcher = Outbound::new(&settings).unwrap().for_purpose(Purpose::Crawl);
    let start = Url::parse(&format!("http://site.example:{}/", address.port())).unwrap();
    let config = Config {
        delay: Duration::ZERO,
        retry_delays: [Duration::from_millis(10); 2],
        external_delay: Duration::from_millis(10),
        exclude: vec!["/l/*".into()],
        ..Config::new(start, 1_000)
    };
    let mut pages = Pages::default();
    let ending = crawl(
        config,
        Arc::new(fetcher),
        &mut pages,
        None,
        CancellationToken::new(),
        Arc::new(|| 0),
    )
    .await
    .unwrap();
    let log = log.lock().unwrap().clone();
    (pages, ending, log)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_site_is_crawled_to_its_end() {
    let began = Instant::now();
    let (pages, ending, asked) = attack().await;
    assert_eq!(ending.termination, Termination::Complete);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert!(peak_mib() < 500, "{} MiB", peak_mib());

    for good in ["/good", "/later"] {
        assert_eq!(
            pages.get(good).facts.html_200().map(|html| &*html.titles[0]),
            Some("Good"),
            "{good}"
        );
    }
    assert!(asked.contains(&"/endless/10".into()) && !asked.contains(&"/endless/11".into()));
    let cut = |path: &str| (pages.get(path).facts.cut, pages.get(path).facts.body_bytes);
    assert_eq!(cut("/huge"), (Some(Cut::Size), 5 * MIB as u64));
    for bomb in ["/gzip", "/br"] {
        let (why, bytes) = cut(bomb);
        assert_eq!(why, Some(Cut::Ratio), "{bomb}");
        assert!(bytes < 2 * MIB as u64, "{bomb}");
    }
    assert_eq!(cut("/trickle"), (Some(Cut::Time), 11));
    let failed = |path: &str| match &pages.get(path).facts.outcome {
        Outcome::Failed(error) => error.clone(),
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(
        [failed("/silent"), failed("/garbage"), failed("/headers")],
        [FetchError::Timeout, FetchError::Broken, FetchError::Broken]
    );
    assert!(matches!(
        pages.get("/metadata").facts.outcome,
        Outcome::Redirect { status: 302, .. }
    ));
    // The guard refuses what leads inside, whether a link names it or a redirect does.
    assert_eq!(
        [
            failed("//inside.example/"),
            failed("//169.254.169.254/latest/"),
            failed("/latest/meta-data/")
        ],
        [const { FetchError::Denied }; 3]
    );
    let links = pages.get("/links").facts.html.as_ref().unwrap();
    assert!(
        links.links.len() <= 10_000 && links.links_total > 100_000,
        "{} of {}",
        links.links.len(),
        links.links_total
    );
    assert!(ending.index.len() < 15_000, "{} urls", ending.index.len());
    assert_eq!(
        pages
            .get("/deep")
            .facts
            .html
            .as_ref()
            .map(|html| html.elements >= 200_000),
        Some(true)
    );
    assert!(pages.get("/attributes").facts.html.is_some());
    assert_eq!(ending.origin.robots.bytes, 5 * MIB as u64);
}
