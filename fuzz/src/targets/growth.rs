//! Twice the input takes twice the time. The first byte chooses a reader; the rest is a beginning, a piece that is
//! repeated, and an end, between bytes that UTF-8 never has. `{n}` in the piece counts. `SHOW_GROWTH` prints
//! times instead.

use std::hint::black_box;

use searchwright_contract::json::parse;
use searchwright_keywords::import::Import;
use searchwright_providers::{Provider, replay};
use searchwright_site::{robots::Robots, sitemap, url_key::url_key};
use searchwright_text::{folded, minhash::Sketch, readability};
use searchwright_writing::{
    document::Document, facts, from_html::from_html, known_links::keep_known, markdown::to_html,
    sanitise::sanitise, slug::slugify, structured_data::faqs,
};
use url::Url;

use crate::{NOW, answer, in_language, judge_page, page, policy};

/// Bytes of the smallest input; the others are twice and four times as long.
const LEAST: usize = 32 * 1024;
/// Processor time that is no harm whatever it grows like, in nanoseconds.
const HARMLESS: u64 = 150_000_000;
/// So many times as long as a usual input of the same length takes is harm whatever it grows like: a bound on what is read can
/// hide how a reader grows up to it.
const HARMFUL: u64 = 20;

/// A beginning, a piece and an end of what each reader usually reads, in the order of [`read`].
const USUAL: [[&str; 3]; 12] = {
    const HTML: [&str; 3] = [
        "<!doctype html><title>Usual</title>",
        "<p>A line with <a href=/x>a link</a>, and <b>text</b>.</p>\n",
        "",
    ];
    const MARKDOWN: [&str; 3] = [
        "",
        "A line of *words* with [a link](https://example.com/{n}).\n\n",
        "",
    ];
    const JSON: [&str; 3] = ["[", "{\"@type\": \"Thing\", \"name\": \"A name\"},", "{}]"];
    [
        HTML,
        JSON,
        ["User-agent: *\n", "Disallow: /folder/page\n", ""],
        [
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">",
            "<url><loc>https://example.com/{n}</loc></url>",
            "</urlset>",
        ],
        ["/", "folder/", "page"],
        ["\0", "This is a line of some words. ", ""],
        HTML,
        MARKDOWN,
        MARKDOWN,
        ["keyword,volume\n", "keyword {n},10\n", ""],
        [
            "",
            "data: {\"choices\": [{\"delta\": {\"content\": \"a\"}}]}\n\n",
            "",
        ],
        JSON,
    ]
};

/// Processor time of this thread, in nanoseconds: what else runs on the machine does not count.
fn spent() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ')
        .next()
        .and_then(|time| time.parse().ok())
        .unwrap_or(0)
}

fn read(reader: u8, input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match reader {
        0 => {
            let (facts, table) = page(&answer(&[b"content-type: text/html\n\n", input].concat()));
            black_box(judge_page(&facts, table));
        }
        1 => {
            let script = b"content-type: text/html\n\n<script type=application/ld+json>";
            let (facts, table) = page(&answer(&[script, input].concat()));
            black_box(judge_page(&facts, table));
        }
        2 => {
            let robots = Robots::parse(&text);
            for name in ["Googlebot", "SearchwrightBot", "*"] {
                black_box(
                    robots
                        .agent(name)
                        .decides("/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa?a=b"),
                );
            }
        }
        3 => {
            let root = "https://example.com/".parse().expect("a URL");
            black_box(sitemap::read(input, &root, NOW));
        }
        4 => {
            if let Ok(url) = Url::parse("https://example.com/").and_then(|base| base.join(&text)) {
                black_box(url_key(&url));
            }
        }
        5 => {
            if let Some((language, text)) = in_language(text.as_bytes()) {
                black_box((
                    readability::readability(text.lines(), language),
                    Sketch::from_text(&folded(text)),
                ));
            }
        }
        6 => {
            black_box(sanitise(&text, &policy()).and_then(|html| {
                let back = from_html(&html, &policy());
                Ok((back, Document::of_html(&html).words()))
            }))
            .ok();
        }
        7 => {
            if let Ok(html) = to_html(&text, &policy()) {
                let document = Document::of_html(&html);
                let plain = document.plain_text();
                let source = facts::Source {
                    name: "s",
                    text: &plain,
                };
                black_box((
                    facts::trace(&document, "en", &[source], &[]),
                    faqs(&document),
                    slugify(&plain, "de"),
                ));
            }
        }
        8 => {
            black_box(keep_known(&text, &["https://example.com/a"]));
        }
        9 => {
            black_box(Import::open(input).map(|rows| rows.count())).ok();
        }
        10 => {
            black_box(replay(Provider::OpenAi, [input]));
        }
        _ => {
            black_box(parse(input)).ok();
        }
    }
}

fn repeated(first: &[u8], piece: &[u8], last: &[u8], least: usize) -> Vec<u8> {
    let mut input = first.to_vec();
    let counts = piece.windows(3).position(|w| w == b"{n}");
    let mut n = 0_u32;
    while input.len() < least {
        match counts {
            Some(at) => {
                input.extend_from_slice(&piece[..at]);
                input.extend_from_slice(n.to_string().as_bytes());
                input.extend_from_slice(&piece[at + 3..]);
            }
            None => input.extend_from_slice(piece),
        }
        n += 1;
    }
    input.extend_from_slice(last);
    input
}

/// Returns usual input of a reader, of this length.
fn usual(reader: u8, length: usize) -> Vec<u8> {
    let [first, piece, last] = USUAL[usize::from(reader)].map(str::as_bytes);
    repeated(first, piece, last, length)
}

fn time(reader: u8, input: &[u8]) -> u64 {
    let before = spent();
    read(reader, input);
    spent() - before
}

/// Microseconds of one reading, of as many as the clock of the system needs to tell.
fn often(reader: u8, input: &[u8]) -> u64 {
    let (before, mut readings) = (spent(), 0);
    while spent() - before < 100_000_000 {
        read(reader, input);
        readings += 1;
    }
    (spent() - before) / readings / 1000
}

/// Reads one input.
pub fn run(data: &[u8]) {
    let Some((reader, rest)) = data.split_first() else {
        return;
    };
    let reader = *reader % 12;
    let mut parts = rest.splitn(3, |byte| *byte == 0xff);
    let (first, piece, last) = match (parts.next(), parts.next(), parts.next()) {
        (Some(first), Some(piece), last) if !piece.is_empty() => (first, piece, last.unwrap_or_default()),
        _ => return,
    };
    let inputs = [1, 2, 4].map(|times| repeated(first, piece, last, times * LEAST));
    if std::env::var_os("SHOW_GROWTH").is_some() {
        let [one, two, four] = inputs.each_ref().map(|input| often(reader, input));
        let share = |more: u64| more as f64 / one.max(1) as f64;
        let usual = often(reader, &usual(reader, inputs[2].len()));
        let piece = String::from_utf8_lossy(piece);
        eprintln!(
            "growth: {one} us, x{:.1}, x{:.1}, x{:.1} of what is usual: reader {reader}, {piece:?}",
            share(two),
            share(four),
            four as f64 / usual.max(1) as f64
        );
        return;
    }
    // what else the machine does disturbs one measurement, and hardly three
    let mut seen = [0; 3];
    for _ in 0..3 {
        let [one, four] = [&inputs[0], &inputs[2]].map(|input| time(reader, input));
        if four < HARMLESS {
            return;
        }
        let usual = time(reader, &usual(reader, inputs[2].len()));
        if four < HARMFUL * usual && four < 8 * one {
            return;
        }
        seen = [one, four, usual].map(|time| time / 1000);
    }
    let [one, four, usual] = seen;
    panic!("reader {reader}: {one} us, four times as much {four} us; usual {usual} us");
}
