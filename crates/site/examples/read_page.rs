//! How long reading and judging a page takes, beside what `lol_html` takes to find its links and nothing
//! else, and to hand out its elements and texts. `cargo run --release -p searchwright-site --example read_page`, with the
//! names of HTML files to read those one after the other: a processor learns one page by heart, many it does not.
#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]

use std::{
    collections::HashMap,
    error::Error,
    hint::black_box,
    slice,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use lol_html::{HtmlRewriter, Settings, doc_text, element};
use searchwright_site::{
    checks::{self, Context, Rules},
    fetch::Response,
    graph::{CrawlSummary, GraphBuilder},
    origin::Origin,
    page::{self, At, Intern, Limits, UrlId},
    url_key::url_key,
    urls::UrlTable,
};
use url::Url;

/// That of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 20;
const NOT_READ: &str = "lol_html, all elements and texts, not read";
const ADDRESS: &str = "https://www.example.com/guides/mower.html";

/// A table as the crawl's: one look-up per link.
#[derive(Default)]
struct Table(HashMap<String, u32>);

impl Intern for Table {
    fn intern(&mut self, url: &Url) -> Option<UrlId> {
        self.intern_key(&url_key(url))
    }

    fn intern_key(&mut self, key: &str) -> Option<UrlId> {
        if let Some(id) = self.0.get(key) {
            return Some(UrlId(*id));
        }
        let id = self.0.len() as u32;
        self.0.insert(key.to_owned(), id);
        Some(UrlId(id))
    }
}

/// About 20 KB with 50 links, as a content management system writes them.
fn page(lang: &str, paragraphs: [&str; 2]) -> String {
    let mut html = format!("<!doctype html>\n<html lang=\"{lang}\">");
    html.push_str(
        "\n<head>\n  <meta charset=\"utf-8\">\n  <title>How to repair a lawn mower | Example</title>\n  \
         <meta name=\"description\" content=\"What to look at when the engine does not start, step by step.\">\n  \
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n  <link rel=\"canonical\" href=\"https://www.example.com/guides/mower.html\">\n  \
         <link rel=\"stylesheet\" href=\"/a.css\">\n  <script src=\"/a.js\" defer></script>\n  \
         <script type=\"application/ld+json\">{\"@context\": \"https://schema.org\", \"@type\": \"Article\", \"headline\": \"How to repair a lawn mower\"}</script>\n\
         </head>\n<body class=\"page\">\n<header>\n<nav>\n<ul>\n",
    );
    for i in 0..25 {
        html.push_str(&format!("  <li class=\"nav-item\"><a class=\"nav-link\" href=\"/section/page-{i}.html\">Section number {i}</a></li>\n"));
    }
    html.push_str("</ul>\n</nav>\n</header>\n<main>\n<h1>How to repair a lawn mower</h1>\n");
    for i in 0..25 {
        html.push_str(&format!(
            "<h2 id=\"s{i}\">Part {i} of the story</h2>\n<p>{} <strong>it is not hard</strong>; see <a href=\"/articles/{i}/details.html\" \
             title=\"details\">the detailed guide number {i}</a>.</p>\n<p>{}</p>\n<img src=\"/img/{i}.jpg\" alt=\"mower part\" width=\"200\" height=\"100\">\n",
            paragraphs[0], paragraphs[1]
        ));
    }
    html.push_str("</main>\n<footer><p>Imprint and more</p></footer>\n</body>\n</html>\n");
    html
}

const ENGLISH: [&str; 2] = [
    "The mower is a machine that people use in gardens, and which breaks now and then; when you know how it works,",
    "Every engine needs air, fuel and a spark, and one of the three is missing when it does not start. Clean the filter, drain \
     the old fuel &amp; put a new plug in, then pull the cord again and listen to it.",
];
const GERMAN: [&str; 2] = [
    "Der Rasenmäher ist eine Maschine, die Menschen in Gärten benutzen und die ab und zu ausfällt; wenn man weiß, wie sie läuft,",
    "Jeder Motor benötigt Luft, Kraftstoff und einen Funken, und eines der drei fehlt, wenn er nicht anspringt. Für den Anfang \
     genügt es, den Filter zu säubern und eine neue Zündkerze einzusetzen; danach größere Stücke.",
];

/// Best of 20 rounds of 200, in microseconds.
fn time(name: &str, mut work: impl FnMut()) -> f64 {
    best(name, 200, || (0..200).for_each(|_| work()))
}

/// Best of 20 rounds of so many, in microseconds of one.
fn best(name: &str, count: usize, mut round: impl FnMut()) -> f64 {
    let best = (0..ROUNDS)
        .map(|_| timed(count, &mut round))
        .fold(f64::MAX, f64::min);
    println!("{name:44} {best:7.1} µs");
    best
}

fn timed(count: usize, round: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    round();
    start.elapsed().as_secs_f64() * 1e6 / count as f64
}

/// The same of two, in turn, because a shared machine is now fast and now slow; and the median of what the second takes to the
/// first.
fn best_of_both(names: [&str; 2], count: usize, mut first: impl FnMut(), mut second: impl FnMut()) {
    let rounds = (0..ROUNDS).map(|_| [timed(count, &mut first), timed(count, &mut second)]);
    let rounds: Vec<[f64; 2]> = rounds.collect();
    for (i, name) in names.into_iter().enumerate() {
        let best = rounds.iter().map(|times| times[i]).fold(f64::MAX, f64::min);
        println!("{name:44} {best:7.1} µs");
    }
    let mut ratios: Vec<f64> = rounds.iter().map(|[first, second]| second / first).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    println!("{:44} {:7.2} times the first", "", ratios[ratios.len() / 2]);
}

/// Hands out every element and every text; how many elements and bytes that were.
fn hand_out(html: &[u8]) -> (usize, usize) {
    let (mut elements, mut bytes) = (0, 0);
    let settings = Settings::new()
        .append_element_content_handler(element!("*", |_element| {
            elements += 1;
            Ok(())
        }))
        .append_document_content_handler(doc_text!(|text| {
            bytes += text.as_str().len();
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    black_box(rewriter.write(html).and_then(|()| rewriter.end()).is_ok());
    (elements, bytes)
}

fn response(html: Vec<u8>) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    Response {
        status: 200,
        headers,
        body: Bytes::from(html),
        wire_bytes: 0,
        cut: None,
        ttfb: Duration::ZERO,
        connection: searchwright_site::fetch::Connection::default(),
    }
}

fn run(language: &str, html: &str) -> Result<(), Box<dyn Error>> {
    println!(
        "{language}: {} bytes, {} links",
        html.len(),
        html.matches("<a ").count()
    );
    let bare = time("lol_html, a[href] only", || {
        let mut bytes = 0;
        let settings = Settings::new().append_element_content_handler(element!("a[href]", |a| {
            bytes += a.get_attribute("href").map_or(0, |href| href.len());
            Ok(())
        }));
        let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
        black_box(
            rewriter
                .write(html.as_bytes())
                .and_then(|()| rewriter.end())
                .is_ok(),
        );
        black_box(bytes);
    });
    time(NOT_READ, || {
        black_box(hand_out(html.as_bytes()));
    });
    let response = response(html.as_bytes().to_vec());
    let url = Url::parse(ADDRESS)?;
    let mut table = Table::default();
    let whole = time("this crate, everything", || {
        black_box(page::read(
            &response,
            &url,
            At::default(),
            &mut table,
            &Limits::default(),
        ));
    });
    println!("{:44} {:7.2} times the first", "", whole / bare);
    let mut urls = UrlTable::new(10_000);
    let id = urls.add_url(&url).ok_or("no room for the page")?;
    let at = At { id, ..At::default() };
    let facts = page::read(&response, &url, at, &mut urls, &Limits::default());
    let mut builder = GraphBuilder::default();
    builder.add(&facts);
    (0..urls.len() as u32).for_each(|id| builder.set_internal(UrlId(id)));
    let mut origin = Origin {
        home: id,
        ..Origin::default()
    };
    origin.robots.text =
        "User-agent: *\nDisallow: /search\nDisallow: /*?sort=\n\nUser-agent: GPTBot\nDisallow: /\n".into();
    let ends = CrawlSummary {
        depths: vec![0],
        origin: &origin,
        traps: Vec::new(),
        complete: true,
    };
    let index = builder.finish(urls, ends);
    let rules = Rules::default();
    let context = Context::new(&index, &origin, &rules, 0);
    let mut found = 0;
    time(
        &format!("this crate, {} checks", checks::registry().len()),
        || {
            let evaluated = black_box(checks::evaluate(slice::from_ref(&facts), &context));
            found = evaluated.iter().map(|page| page.findings.len()).sum();
        },
    );
    println!("{:44} {found:7} findings\n", "");
    Ok(())
}

/// Reads files one after the other, as a crawl does.
fn run_files(files: &[String]) -> Result<(), Box<dyn Error>> {
    let pages = files.iter().map(|file| Ok(response(std::fs::read(file)?)));
    let pages: Vec<Response> = pages.collect::<Result<_, Box<dyn Error>>>()?;
    let bytes: usize = pages.iter().map(|page| page.body.len()).sum();
    println!("{} files of {} bytes", pages.len(), bytes / pages.len());
    let url = Url::parse(ADDRESS)?;
    let mut table = UrlTable::new(1);
    let id = table.add_url(&url).ok_or("no room for the page")?;
    best_of_both(
        [NOT_READ, "this crate, everything"],
        pages.len(),
        || {
            for page in &pages {
                black_box(hand_out(&page.body));
            }
        },
        || {
            for page in &pages {
                let mut urls = table.page(id);
                black_box(page::read(
                    page,
                    &url,
                    At::default(),
                    &mut urls,
                    &Limits::default(),
                ));
            }
        },
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if !files.is_empty() {
        return run_files(&files);
    }
    run("English", &page("en", ENGLISH))?;
    run("German", &page("de", GERMAN))
}
