//! Sitemaps (sitemaps.org protocol 0.9): the URLs that a site declares. One streaming pass, so a file of 50 MiB costs
//! no more memory than its URLs. Entities that a document defines itself are never expanded, since a few lines could
//! yield gigabytes.

mod alternates;
mod encoding;
mod facts;
mod faults;
mod format;
mod input;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, BufReader};

use quick_xml::{
    Error, Reader,
    errors::SyntaxError,
    events::{BytesStart, Event},
};
use url::Url;

use crate::{
    dates::{DAY_MS, w3c_datetime_ms},
    fetch::Cut,
};

use alternates::EntryAlternates;
pub(crate) use alternates::{ALTERNATE_LIMIT, named};
pub use facts::Sitemap;
pub(crate) use faults::LEFT_OUT;
use faults::{FEED, HTML, LATE, UTF_8_ONLY};
use format::{Field, Format, attribute, namespace_name, resolve};
use input::Counted;

/// Maximum number of URLs of one file that are used; further ones are only counted (sitemaps.org: 50,000).
pub const URL_LIMIT: u32 = 50_000;
/// Maximum number of decoded bytes read of one file (sitemaps.org: 50 MiB).
pub const SIZE_LIMIT: u64 = 50 * 1024 * 1024;
/// Usual paths of sitemaps, used if robots.txt names none.
pub(crate) const USUAL: [&str; 3] = ["/sitemap.xml", "/sitemap_index.xml", "/wp-sitemap.xml"];
/// Maximum number of sitemap files per audit.
pub const FILE_LIMIT: usize = 200;
/// Maximum length in bytes of a `<loc>`; the protocol allows 2,048 characters.
const LOC_LIMIT: usize = 8 * 1024;
/// Maximum number of foreign URLs kept as evidence.
pub(crate) const FOREIGN_LIMIT: usize = 20;
/// Size of the read buffer in bytes.
const BUFFER: usize = 64 * 1024;
/// Number of URLs from which identical dates count as the date of the file.
const MADE_UP: u32 = 20;
/// Tolerance for clock differences: a `lastmod` is in the future if it is more than a day ahead.
const FUTURE_SLACK_MS: i64 = DAY_MS;

/// Contents of a sitemap file.
#[derive(Debug, Default)]
pub struct Listing {
    /// Facts of the file except `url`, `status` and `declared`, which the caller sets.
    pub facts: Sitemap,
    /// Listed URLs as written but trimmed, at most [`URL_LIMIT`]; those of sitemaps if `facts.index`.
    pub urls: Vec<Box<str>>,
    /// Day of the last change of each URL, in days since the Unix epoch; 0 for a missing or impossible date. Days at
    /// the end may be missing, and all are if every date is the same, because then it is the date of the file.
    pub days: Vec<u16>,
    /// Hashes of URLs with a language alternate that they name.
    pub alternates: Vec<u64>,
}

/// Reads a sitemap, sitemap index, feed or text sitemap, gzipped or not. `root` decides which URLs are foreign,
/// `now_ms` (milliseconds since the Unix epoch) which dates are in the future.
pub fn read(body: &[u8], root: &Url, now_ms: i64) -> Listing {
    read_within(body, root, now_ms, SIZE_LIMIT)
}

fn read_within(body: &[u8], root: &Url, now_ms: i64, limit: u64) -> Listing {
    let counted = Counted::new(body, limit);
    let mut scan = Scan {
        listing: Listing::default(),
        root,
        origin: format!("{}/", root.origin().ascii_serialization()),
        now_ms,
        first_date: String::new(),
        dates_differ: false,
        day: 0,
        listed: false,
        entry: EntryAlternates::default(),
    };
    let mut reader = BufReader::with_capacity(BUFFER, counted);
    let encoding = reader.fill_buf().ok().and_then(encoding::detect);
    let (outcome, counted, encoding) = match encoding {
        None => (scan.document(&mut reader), reader.into_inner(), None),
        Some(encoding) => {
            let decoded = encoding::Decoded::new(reader, encoding);
            let mut decoded = BufReader::with_capacity(BUFFER, decoded);
            let outcome = scan.document(&mut decoded);
            let decoded = decoded.into_inner();
            let encoding = decoded.matters.then_some(encoding);
            (outcome, decoded.inner.into_inner(), encoding)
        }
    };
    scan.end_entry();
    let facts = &mut scan.listing.facts;
    facts.bytes = counted.read;
    facts.lastmod_identical = facts.lastmod[0] >= 2 && !scan.dates_differ;
    if facts.lastmod_identical && facts.lastmod[0] >= MADE_UP {
        scan.listing.days.clear();
    }
    if let Some(encoding) = encoding {
        facts.wrong(&format!("encoded in {}: {UTF_8_ONLY}", encoding.name()));
    }
    if counted.read > limit {
        facts.cut_off(Cut::Size);
    } else if counted.read >= counted.cap {
        facts.cut_off(Cut::Ratio);
    } else if let Err(problem) = outcome {
        facts.wrong(&problem);
    }
    scan.listing
}

struct Scan<'a> {
    listing: Listing,
    root: &'a Url,
    /// Usual prefix of a URL of the site, which spares parsing the URL.
    origin: String,
    now_ms: i64,
    first_date: String,
    dates_differ: bool,
    /// Day of the current entry; 0 if it has none so far.
    day: u16,
    /// Whether the URL of the current entry is the last one of the list.
    listed: bool,
    /// Alternates of the current entry.
    entry: EntryAlternates,
}

impl Scan<'_> {
    fn document(&mut self, reader: &mut impl BufRead) -> Result<(), String> {
        let start = reader.fill_buf().map_err(|e| damaged(&e))?;
        let start = start
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(start)
            .trim_ascii_start();
        match start.first() {
            None => Err("empty".into()),
            Some(b'<') => self.xml(reader),
            Some(_) if start.starts_with(b"http://") || start.starts_with(b"https://") => self.text(reader),
            Some(_) => Err("neither XML nor a list of URLs".into()),
        }
    }

    fn text(&mut self, reader: &mut impl BufRead) -> Result<(), String> {
        let mut line = Vec::new();
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(|e| damaged(&e))? == 0 {
                return Ok(());
            }
            let text = std::str::from_utf8(&line).map_err(|_| format!("not UTF-8: {UTF_8_ONLY}"))?;
            let text = text.trim_start_matches('\u{feff}').trim();
            if !text.is_empty() {
                self.url(text);
            }
        }
    }

    fn xml(&mut self, reader: &mut impl BufRead) -> Result<(), String> {
        let mut xml = Reader::from_reader(reader);
        let mut buffer = Vec::new();
        let mut depth = 0_u32;
        let mut root: Option<(Format, Box<str>)> = None;
        let mut in_entry = false;
        let mut field = Field::None;
        let mut value = String::new();
        let mut events = 0_u64;
        loop {
            buffer.clear();
            let event = xml.read_event_into(&mut buffer);
            let event = event.map_err(|e| said(&e, xml.error_position(), xml.buffer_position()))?;
            let empty = matches!(event, Event::Empty(_));
            events += 1;
            match event {
                Event::Decl(_) if events > 1 => self.listing.facts.wrong(LATE),
                Event::Start(tag) | Event::Empty(tag) => {
                    let (name, local) = (tag.name(), tag.local_name());
                    let prefix = name.as_ref().strip_suffix(local.as_ref()).unwrap_or_default();
                    let (format, of_root) = match &root {
                        Some(_) if depth == 0 => {
                            let at = xml.buffer_position();
                            return Err(format!("not well-formed at byte {at}: a second root element"));
                        }
                        Some((format, known)) => (*format, **known == *prefix),
                        None => {
                            let namespace = attribute(&tag, &namespace_name(name.as_ref()));
                            let format = self.root_element(local.as_ref(), namespace.as_deref())?;
                            root = Some((format, prefix.into()));
                            (format, true)
                        }
                    };
                    let (around, entry) = format.entry();
                    if depth == around {
                        self.end_entry();
                        (self.day, self.listed) = (0, false);
                        in_entry = entry.is_none_or(|entry| entry == local.as_ref());
                    }
                    // `image:loc` and similar elements are no pages
                    let is_field = depth == around + 1 && in_entry && of_root;
                    field = if is_field && !empty {
                        format.field(local.as_ref())
                    } else {
                        Field::None
                    };
                    if is_field && format == Format::Atom && local.as_ref() == "link" && !self.listed {
                        self.atom_link(&tag);
                    }
                    if depth == around + 1
                        && in_entry
                        && format == Format::Sitemap
                        && local.as_ref() == "link"
                    {
                        self.entry.link(&tag);
                    }
                    value.clear();
                    depth += u32::from(!empty);
                }
                Event::End(_) => {
                    depth = depth.saturating_sub(1);
                    match std::mem::replace(&mut field, Field::None) {
                        Field::Loc => self.url(value.trim()),
                        Field::LastMod => self.lastmod(value.trim()),
                        Field::None => {}
                    }
                }
                Event::Text(text) if field != Field::None => push(&mut value, &text),
                Event::CData(text) if field != Field::None => push(&mut value, &text),
                Event::GeneralRef(reference) if field != Field::None => match resolve(&reference) {
                    Some(c) => push(&mut value, c.encode_utf8(&mut [0; 4])),
                    None => return Err(format!("unknown entity `{}`", &*reference)),
                },
                Event::DocType(name) if name.get(..4).is_some_and(|n| n.eq_ignore_ascii_case("html")) => {
                    return Err(HTML.into());
                }
                Event::Eof if root.is_none() => return Err("no element".into()),
                Event::Eof if depth > 0 => {
                    let end = xml.buffer_position();
                    return Err(format!(
                        "the XML ends after {end} bytes, before its root element does"
                    ));
                }
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }

    /// Ends the current entry.
    fn end_entry(&mut self) {
        let Listing { urls, alternates, .. } = &mut self.listing;
        let url = urls.last().filter(|_| self.listed);
        self.entry.end(url.map(|url| &**url), self.root, alternates);
    }

    /// Adds the page link of an Atom entry, which may have other links.
    fn atom_link(&mut self, tag: &BytesStart<'_>) {
        let is_page = attribute(tag, "rel").is_none_or(|rel| rel == "alternate");
        let href = attribute(tag, "href").filter(|href| is_page && !href.trim().is_empty());
        // links in feeds may be relative
        if let Some(url) = href.and_then(|href| self.root.join(href.trim()).ok()) {
            self.url(url.as_str());
        }
    }

    fn root_element(&mut self, name: &str, namespace: Option<&str>) -> Result<Format, String> {
        match name {
            "urlset" => {}
            "sitemapindex" => self.listing.facts.index = true,
            "rss" | "feed" => {
                self.listing.facts.wrong(FEED);
                return Ok(if name == "rss" { Format::Rss } else { Format::Atom });
            }
            _ if name.eq_ignore_ascii_case("html") => return Err(HTML.into()),
            _ => {
                return Err(format!(
                    "root element is `{name}`, not urlset, sitemapindex, rss or feed"
                ));
            }
        }
        // continues after the fault: crawlers accept it, and the URLs are worth knowing
        match namespace {
            Some(
                "http://www.sitemaps.org/schemas/sitemap/0.9"
                | "https://www.sitemaps.org/schemas/sitemap/0.9",
            ) => {}
            Some(other) => self.listing.facts.wrong(&format!("unknown namespace `{other}`")),
            None => self.listing.facts.wrong("no namespace"),
        }
        Ok(Format::Sitemap)
    }

    fn url(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let facts = &mut self.listing.facts;
        facts.urls = facts.urls.saturating_add(1);
        let native = text.starts_with(&self.origin)
            || Url::parse(text)
                .is_ok_and(|u| u.host() == self.root.host() && u.scheme() == self.root.scheme());
        if !native && !facts.index && facts.foreign.len() < FOREIGN_LIMIT {
            facts.foreign.push(text.into());
        }
        if facts.urls <= URL_LIMIT {
            self.listing.urls.push(text.into());
            self.listed = true;
            self.date();
        }
    }

    /// Records the date of the entry, which may come before its URL or after it.
    fn date(&mut self) {
        if self.listed && self.day > 0 {
            let Listing { urls, days, .. } = &mut self.listing;
            days.resize(urls.len(), 0);
            days.last_mut().into_iter().for_each(|day| *day = self.day);
        }
    }

    fn lastmod(&mut self, text: &str) {
        let facts = &mut self.listing.facts;
        facts.lastmod[0] = facts.lastmod[0].saturating_add(1);
        match w3c_datetime_ms(text) {
            None => facts.lastmod[1] = facts.lastmod[1].saturating_add(1),
            Some(at) if at > self.now_ms.saturating_add(FUTURE_SLACK_MS) => {
                facts.lastmod[2] = facts.lastmod[2].saturating_add(1);
            }
            Some(at) => self.day = u16::try_from(at / DAY_MS).unwrap_or(0),
        }
        if facts.lastmod[0] == 1 {
            self.first_date.push_str(text);
        } else {
            self.dates_differ |= self.first_date != text;
        }
        self.date();
    }
}

/// Describes an XML error in a short sentence.
fn said(error: &Error, at: u64, end: u64) -> String {
    match error {
        Error::Io(error) => damaged(error),
        Error::Encoding(_) => format!("not UTF-8 at byte {at}: {UTF_8_ONLY}"),
        Error::Syntax(SyntaxError::InvalidBangMarkup) => format!("not well-formed at byte {at}: {error}"),
        // the other errors are of markup without an end
        Error::Syntax(_) => {
            format!("the XML ends after {end} bytes, within what begins at byte {at}: {error}")
        }
        error => format!("not well-formed at byte {at}: {error}"),
    }
}

fn damaged(error: &io::Error) -> String {
    format!("compressed, and damaged or not whole: {error}")
}

fn push(value: &mut String, text: &str) {
    if value.len() + text.len() <= LOC_LIMIT {
        value.push_str(text);
    }
}
