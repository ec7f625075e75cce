//! The least that can be called a crawl: fetch a known list of URLs with the product's HTTP client and
//! pass over each page once with lol_html. No frontier, no store, no checks, no politeness.
//!
//! There are two passes. One takes links, title and metas, which is the least that a crawl needs to go on. The
//! other hands out every element and every text as well, which is the least that an audit needs: headings,
//! images, words. Nothing is done with them but to keep them until the page is over.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use lol_html::{HtmlRewriter, Settings, doc_text, element, text};
use reqwest::{Client, header, redirect};
use serde::{Deserialize, Serialize};

/// Requests that are under way at any time.
const IN_FLIGHT: usize = 64;

/// Output that `lol_html` hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Pass {
    /// Links, title, metas.
    Links,
    /// Every element and every text.
    Page,
}

impl Pass {
    /// As on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Page => "page",
        }
    }
}

/// Counts and duration of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Wall time in seconds.
    pub seconds: f64,
    /// Answers with any status.
    pub fetched: u64,
    /// Answers that were passed over.
    pub pages: u64,
    /// Links found.
    pub links: u64,
    /// Highest resident memory in MB.
    pub peak: f64,
}

/// Findings of one pass over a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Found {
    links: Vec<String>,
    title: String,
    metas: Vec<(String, String)>,
    elements: usize,
    text: String,
}

/// Fetches the URLs of a file, one a line.
pub fn run(urls: &Path, pass: Pass) -> Result<Outcome> {
    let text = fs::read_to_string(urls).context("cannot read the list of URLs")?;
    let urls: Arc<[url::Url]> = text.lines().map(url::Url::parse).collect::<Result<_, _>>()?;
    // the same number of threads as the product on two cores
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let client = client()?;
    runtime.block_on(async {
        let start = Instant::now();
        let next = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..IN_FLIGHT)
            .map(|_| tokio::spawn(fetch_all(client.clone(), urls.clone(), next.clone(), pass)))
            .collect();
        let mut sum = Outcome::default();
        for task in tasks {
            let part = task.await??;
            sum.fetched += part.fetched;
            sum.pages += part.pages;
            sum.links += part.links;
        }
        sum.seconds = start.elapsed().as_secs_f64();
        sum.peak = crate::memory::peak(std::process::id())?;
        Ok(sum)
    })
}

/// The settings of the product's client for crawling, without its address guard.
fn client() -> Result<Client> {
    // fails only when one is already installed
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(Client::builder()
        .user_agent("SearchwrightBench/1.0")
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .tcp_nodelay(true)
        .timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(IN_FLIGHT)
        .build()?)
}

async fn fetch_all(
    client: Client,
    urls: Arc<[url::Url]>,
    next: Arc<AtomicUsize>,
    kind: Pass,
) -> Result<Outcome> {
    let mut sum = Outcome::default();
    while let Some(url) = urls.get(next.fetch_add(1, Ordering::Relaxed)) {
        let request = client
            .get(url.clone())
            .header(
                header::ACCEPT,
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            )
            .header(header::ACCEPT_ENCODING, "gzip, br");
        let answer = request
            .send()
            .await
            .with_context(|| format!("cannot fetch {url}"))?;
        let page = answer.status().is_success();
        let body = answer.bytes().await?;
        sum.fetched += 1;
        if page {
            sum.pages += 1;
            let found = match kind {
                Pass::Links => links(&body)?,
                Pass::Page => whole(&body)?,
            };
            sum.links += found.links.len() as u64;
        }
    }
    Ok(sum)
}

/// One pass with handlers for links, title and metas. What is found is kept until the page is done,
/// as any use of it would need.
fn links(html: &[u8]) -> Result<Found> {
    let mut found = Found::default();
    let (links, title, metas) = (&mut found.links, &mut found.title, &mut found.metas);
    let settings = Settings::new()
        .append_element_content_handler(element!("a[href]", |a| {
            links.extend(a.get_attribute("href"));
            Ok(())
        }))
        .append_element_content_handler(text!("title", |chunk| {
            title.push_str(chunk.as_str());
            Ok(())
        }))
        .append_element_content_handler(element!("meta[name]", |meta| {
            let name = meta.get_attribute("name").unwrap_or_default();
            metas.push((name, meta.get_attribute("content").unwrap_or_default()));
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(html)?;
    rewriter.end()?;
    Ok(found)
}

/// One pass with handlers for every element and every text.
fn whole(html: &[u8]) -> Result<Found> {
    let mut found = Found::default();
    let (links, metas) = (&mut found.links, &mut found.metas);
    let (elements, text) = (&mut found.elements, &mut found.text);
    let settings = Settings::new()
        .append_element_content_handler(element!("*", |element| {
            *elements += 1;
            match element.tag_name().as_str() {
                "a" => links.extend(element.get_attribute("href")),
                "meta" => {
                    let name = element.get_attribute("name").unwrap_or_default();
                    metas.push((name, element.get_attribute("content").unwrap_or_default()));
                }
                _ => {}
            }
            Ok(())
        }))
        .append_document_content_handler(doc_text!(|chunk| {
            text.push_str(chunk.as_str());
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(html)?;
    rewriter.end()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{links, whole};

    const HTML: &[u8] = b"<!doctype html><title>Two words</title><meta name=robots content=noindex><a href=/x>x</a><a>no</a><a href='/y'>y</a>";

    #[test]
    fn a_pass_finds_links_title_and_metas() {
        let found = links(HTML).unwrap();
        assert_eq!(found.links, ["/x", "/y"]);
        assert_eq!(found.title, "Two words");
        assert_eq!(found.metas, [("robots".to_owned(), "noindex".to_owned())]);
    }

    #[test]
    fn a_whole_pass_sees_every_element_and_text() {
        let found = whole(HTML).unwrap();
        assert_eq!(
            (found.links, found.elements),
            (vec!["/x".to_owned(), "/y".to_owned()], 5)
        );
        assert_eq!(found.metas, [("robots".to_owned(), "noindex".to_owned())]);
        assert_eq!(found.text, "Two wordsxnoy");
    }
}
