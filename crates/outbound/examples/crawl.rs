//! Crawls a site through the guarded client and throws the facts away: how fast the crawler is, and
//! how much memory it takes, without a database. Addresses on this machine are allowed.
//!
//! `cargo run --release --example crawl -- http://127.0.0.1:8099/ [max-pages] [connections]`

#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use searchwright_outbound::{Outbound, Purpose, Settings};
use searchwright_site::crawl::{Batch, Config, Sink, SinkError, crawl};
use tokio_util::sync::CancellationToken;
use url::Url;

#[derive(Default)]
struct Counted {
    pages: usize,
    links: usize,
    batches: usize,
}

impl Sink for Counted {
    async fn save(&mut self, batch: Batch) -> Result<(), SinkError> {
        self.batches += 1;
        self.pages += batch.pages.len();
        let html = batch.pages.iter().filter_map(|page| page.facts.html.as_ref());
        self.links += html.map(|html| html.links.len()).sum::<usize>();
        Ok(())
    }
}

fn megabytes(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
        .unwrap_or(0)
        / 1024
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let start = Url::parse(&arguments.next().ok_or("name a URL to start from")?)?;
    let max_pages = arguments.next().map_or(Ok(10_000), |n| n.parse())?;
    let connections = arguments.next().map_or(Ok(16), |n| n.parse())?;
    let allow = vec!["crawl=127.0.0.0/8".parse()?, "crawl=localhost".parse()?];
    let settings = Settings {
        allow,
        ..Settings::new("SearchwrightBot/1.0 (+http://localhost/bot)")
    };
    let fetcher = Arc::new(Outbound::new(&settings)?.for_purpose(Purpose::Crawl));
    let config = Config {
        connections,
        delay: Duration::ZERO,
        max_external: 0,
        ..Config::new(start, max_pages)
    };
    let mut sink = Counted::default();
    let began = Instant::now();
    let ending = crawl(
        config,
        fetcher,
        &mut sink,
        None,
        CancellationToken::new(),
        Arc::new(|| 0),
    )
    .await?;
    let seconds = began.elapsed().as_secs_f64();
    println!("{:?}, {:?}", ending.termination, ending.progress);
    println!(
        "{} pages, {} links, {} urls, {} batches",
        sink.pages,
        sink.links,
        ending.index.len(),
        sink.batches
    );
    println!(
        "{seconds:.2} s, {:.0} pages/s, {} MB now, {} MB at most",
        sink.pages as f64 / seconds,
        megabytes("VmRSS"),
        megabytes("VmHWM")
    );
    Ok(())
}
