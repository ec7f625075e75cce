//! Sources that an answer links.

use std::collections::HashMap;

use searchwright_site::url_key::url_key;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::answer_text::AnswerText;

/// Maximum number of sources of an answer.
pub const MAX_CITATIONS: usize = 1000;
/// Maximum length of a URL in bytes; a longer one is invalid.
pub const MAX_URL_BYTES: usize = 8 << 10;
/// Maximum length of a title in characters; the rest is left out.
const MAX_TITLE_CHARS: usize = 300;

/// Use that the engine made of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CitationUse {
    /// The engine read it, and does not name it in the answer.
    Retrieved,
    /// The answer names it.
    Cited,
}

/// A source as an engine reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLink {
    /// URL.
    pub url: String,
    /// Title, if there is one.
    pub title: Option<String>,
    /// Use of the source.
    pub used: CitationUse,
}

/// A source of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Citation {
    /// URL as the engine names it.
    pub url: String,
    /// Identity of the page, without tracking parameters.
    pub url_key: String,
    /// Host, without `www.`.
    pub domain: String,
    /// Registrable domain by the public suffix list; the host, if nothing is registered.
    pub registrable_domain: String,
    /// Title.
    pub title: Option<String>,
    /// Place among the sources of the answer, from 0.
    pub index: u32,
    /// Whether it stands only in the text.
    pub inline: bool,
    /// Use of the source.
    pub used: CitationUse,
}

/// Sources of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Citations {
    /// Each page once.
    pub items: Vec<Citation>,
    /// Number of links that are no URLs of the web.
    pub invalid: u32,
    /// Number of links to pages that were there already.
    pub duplicates: u32,
    /// Number of sources that were left out behind the first [`MAX_CITATIONS`].
    pub omitted: u32,
}

impl Citations {
    /// Collects the sources that an engine reports.
    pub fn from_links<'l>(links: impl IntoIterator<Item = &'l SourceLink>) -> Self {
        let mut collector = Collector::default();
        for link in links {
            collector.add(&link.url, link.title.as_deref(), link.used, false);
        }
        collector.found
    }

    /// Collects the URLs in the text, for engines that report no sources.
    pub fn from_text(answer: &AnswerText) -> Self {
        let mut collector = Collector::default();
        for link in &answer.links {
            collector.add(&link.url, link.title.as_deref(), CitationUse::Cited, true);
        }
        collector.found
    }

    /// Returns the sources that the answer names.
    pub fn cited(&self) -> impl Iterator<Item = &Citation> {
        self.items
            .iter()
            .filter(|citation| citation.used == CitationUse::Cited)
    }
}

#[derive(Default)]
struct Collector {
    found: Citations,
    known: HashMap<String, usize>,
}

impl Collector {
    fn add(&mut self, url: &str, title: Option<&str>, used: CitationUse, inline: bool) {
        let Some(parsed) = parse(url) else {
            self.found.invalid += 1;
            return;
        };
        let key = url_key(&parsed).into_owned();
        if let Some(at) = self.known.get(&key) {
            let known = &mut self.found.items[*at];
            known.used = known.used.max(used);
            known.title = known.title.take().or_else(|| clean_title(title));
            self.found.duplicates += 1;
            return;
        }
        if self.found.items.len() >= MAX_CITATIONS {
            self.found.omitted += 1;
            return;
        }
        let host = parsed.host_str().unwrap_or_default();
        let domain = host.strip_prefix("www.").unwrap_or(host).trim_end_matches('.');
        self.known.insert(key.clone(), self.found.items.len());
        self.found.items.push(Citation {
            url: url.trim().to_owned(),
            url_key: key,
            registrable_domain: registrable_domain(domain).to_owned(),
            domain: domain.to_owned(),
            title: clean_title(title),
            index: self.found.items.len() as u32,
            inline,
            used,
        });
    }
}

/// Returns the identity of a page by its URL; `None` if it is no URL of the web.
pub fn page_key(url: &str) -> Option<String> {
    Some(url_key(&parse(url)?).into_owned())
}

fn parse(url: &str) -> Option<Url> {
    let url = url.trim();
    if url.len() > MAX_URL_BYTES {
        return None;
    }
    let parsed = Url::parse(url)
        .ok()
        .filter(|parsed| matches!(parsed.scheme(), "http" | "https"))?;
    let is_host = parsed
        .host_str()
        .is_some_and(|host| host.contains('.') || host.starts_with('['));
    is_host.then_some(parsed)
}

fn clean_title(title: Option<&str>) -> Option<String> {
    let title = searchwright_text::squeeze(title?);
    let title: String = title
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_TITLE_CHARS)
        .collect();
    (!title.is_empty()).then_some(title)
}

/// Returns the registrable domain of a host by the public suffix list with its private part; the host itself if nothing
/// is registered, as for an IP address.
pub fn registrable_domain(host: &str) -> &str {
    if host.starts_with('[') || host.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(url: &str, used: CitationUse) -> SourceLink {
        SourceLink {
            url: url.to_owned(),
            title: Some(" A\n title ".to_owned()),
            used,
        }
    }

    #[test]
    fn duplicates_collapse_and_invalid_ones_are_counted() {
        let links = [
            link(
                "https://www.a.example/x?utm_source=chatgpt.com",
                CitationUse::Retrieved,
            ),
            link("https://www.a.example/x", CitationUse::Cited),
            link("not a url", CitationUse::Cited),
            link("javascript:alert(1)", CitationUse::Cited),
            link("https://localhost/", CitationUse::Cited),
            link("https://shop.b.co.uk/y?b=2&a=1#top", CitationUse::Retrieved),
        ];
        let found = Citations::from_links(&links);
        assert_eq!((found.items.len(), found.invalid, found.duplicates), (2, 3, 1));
        let first = &found.items[0];
        assert_eq!(
            (&*first.domain, &*first.url_key),
            ("a.example", "https://www.a.example/x")
        );
        assert_eq!(
            (first.used, first.title.as_deref()),
            (CitationUse::Cited, Some("A title"))
        );
        let second = &found.items[1];
        assert_eq!(
            (&*second.registrable_domain, &*second.url_key),
            ("b.co.uk", "https://shop.b.co.uk/y?a=1&b=2")
        );
        assert_eq!(found.cited().count(), 1);
    }

    #[test]
    fn urls_in_the_text() {
        let text = "See [Desks](https://a.example/d), https://b.example/x. and ([c.example](https://c.example/?utm_source=openai))";
        let found = Citations::from_text(&AnswerText::parse(text, "en"));
        let keys: Vec<&str> = found.items.iter().map(|item| &*item.url_key).collect();
        assert_eq!(
            keys,
            ["https://a.example/d", "https://b.example/x", "https://c.example/"]
        );
        assert!(found.items.iter().all(|item| item.inline));
    }

    #[test]
    fn registrable_domains() {
        for (host, domain) in [
            ("a.b.example.co.jp", "example.co.jp"),
            ("oak.github.io", "oak.github.io"),
            ("10.0.0.1", "10.0.0.1"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(registrable_domain(host), domain);
        }
    }
}
