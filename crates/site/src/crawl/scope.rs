//! Scope of a crawl: the URLs that belong to the site, and those among them that are crawled.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::Url;

use crate::url_key::push_normal;

/// Maximum length in bytes of a URL that is crawled; a longer one is a sign of a crawler trap.
const URL_LIMIT: usize = 2_048;

/// Extensions of files for which a HEAD request is enough.
const MEDIA: [&str; 48] = [
    "7z", "aac", "apk", "avi", "avif", "bin", "bmp", "bz2", "css", "deb", "dmg", "doc", "docx", "eot",
    "epub", "exe", "flac", "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg", "js", "m4a", "m4v", "mkv", "mov",
    "mp3", "mp4", "mpeg", "ogg", "otf", "pdf", "png", "ppt", "pptx", "rar", "svg", "tar", "ttf", "wav",
    "webm", "webp", "woff", "woff2", "zip",
];

/// The site of a crawl.
#[derive(Clone, Debug)]
pub(super) struct CrawlScope {
    /// Host without `www.`.
    bare: Box<str>,
    port: u16,
    subdomains: bool,
    include: Vec<String>,
    exclude: Vec<String>,
}

impl CrawlScope {
    pub(super) fn new(config: &super::Config) -> Self {
        let host = config.start.host_str().unwrap_or_default();
        Self {
            bare: host.strip_prefix("www.").unwrap_or(host).into(),
            port: config.start.port().unwrap_or(0),
            subdomains: config.include_subdomains,
            include: config.include.iter().map(|glob| as_key(glob)).collect(),
            exclude: config.exclude.iter().map(|glob| as_key(glob)).collect(),
        }
    }

    /// Whether a key is on the site: its host, over http or https, on the port of the start URL (or on the default
    /// ports if the start URL names none).
    pub(super) fn is_internal(&self, key: &str) -> bool {
        let (host, port) = host_and_port(key);
        port == self.port && (self.is_own(host) || self.subdomains && self.is_under(host))
    }

    /// Whether a key is on another subdomain, and subdomains belong to the site.
    pub(super) fn is_below(&self, key: &str) -> bool {
        let (host, port) = host_and_port(key);
        self.subdomains && port == self.port && !self.is_own(host) && self.is_under(host)
    }

    fn is_own(&self, host: &str) -> bool {
        host.strip_prefix("www.").unwrap_or(host) == &*self.bare
    }

    fn is_under(&self, host: &str) -> bool {
        let rest = host.strip_suffix(&*self.bare);
        rest.is_some_and(|rest| rest.ends_with('.'))
    }

    /// Whether an internal key is crawled.
    pub(super) fn is_crawled(&self, key: &str) -> bool {
        let (_, path) = split(key);
        key.len() <= URL_LIMIT
            && (self.include.is_empty() || self.include.iter().any(|glob| matches(glob, path)))
            && !self.exclude.iter().any(|glob| matches(glob, path))
    }

    /// Returns the counterpart of `www.example.com` or `example.com`; `None` for IP addresses and other subdomains.
    pub(super) fn twin(&self, root: &Url) -> Option<Url> {
        let host = root.domain()?;
        let twin = match host.strip_prefix("www.") {
            Some(bare) => bare.to_owned(),
            None if *host == *self.bare && host.contains('.') => format!("www.{host}"),
            None => return None,
        };
        let mut url = root.clone();
        url.set_host(Some(&twin)).ok()?;
        url.set_path("/");
        url.set_query(None);
        Some(url)
    }
}

/// Splits a key into host with port, and path with query.
fn split(key: &str) -> (&str, &str) {
    let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

/// Returns scheme, host and port of a key.
pub(super) fn origin(key: &str) -> &str {
    let start = key.find("://").map_or(0, |i| i + 3);
    &key[..key[start..].find('/').map_or(key.len(), |i| start + i)]
}

/// Returns host and port of a key; port 0 if it names none.
fn host_and_port(key: &str) -> (&str, u16) {
    let (authority, _) = split(key);
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().unwrap_or(0)),
        _ => (authority, 0),
    }
}

/// Whether a HEAD request is enough, judging by the file name.
pub(super) fn is_media(url: &Url) -> bool {
    is_media_name(url.path())
}

/// Whether a path, or a URL without its query, names a media file.
pub(super) fn is_media_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| MEDIA.iter().any(|media| media.eq_ignore_ascii_case(extension)))
}

/// Returns a pattern in the form of keys. It may be written as people read URLs: characters other than ASCII are
/// percent-encoded as UTF-8.
fn as_key(glob: &str) -> String {
    // path percent-encode set of the URL Standard, which browsers and links follow
    const PATH: AsciiSet = CONTROLS
        .add(b' ')
        .add(b'"')
        .add(b'<')
        .add(b'>')
        .add(b'`')
        .add(b'{')
        .add(b'}');
    let mut key = String::with_capacity(glob.len());
    push_normal(&mut key, &utf8_percent_encode(glob, &PATH).to_string());
    key
}

/// Whether a text matches a pattern: `*` is any text; `?` is literal, since it begins a query. At worst takes the
/// product of both lengths, because only the last star is retried after a mismatch.
fn matches(glob: &str, text: &str) -> bool {
    let (glob, text) = (glob.as_bytes(), text.as_bytes());
    let (mut g, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        match glob.get(g) {
            Some(b'*') => {
                star = Some((g, t));
                g += 1;
            }
            Some(c) if *c == text[t] => {
                g += 1;
                t += 1;
            }
            _ => match &mut star {
                Some((at, from)) => {
                    *from += 1;
                    (g, t) = (*at + 1, *from);
                }
                None => return false,
            },
        }
    }
    glob[g..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawl::Config;

    fn scope(start: &str) -> CrawlScope {
        CrawlScope::new(&Config::new(Url::parse(start).unwrap(), 10))
    }

    #[test]
    fn a_site_is_its_host_and_the_www_twin() {
        let site = scope("https://www.example.com/blog/");
        for key in [
            "https://example.com/",
            "http://www.example.com/x",
            "http://example.com/?q",
        ] {
            assert!(site.is_internal(key), "{key}");
        }
        for key in [
            "https://blog.example.com/",
            "https://example.com:8443/",
            "https://example.com.evil/",
            "https://badexample.com/",
        ] {
            assert!(!site.is_internal(key), "{key}");
        }
        let local = scope("http://127.0.0.1:8080/");
        assert!(local.is_internal("http://127.0.0.1:8080/a") && !local.is_internal("http://127.0.0.1/a"));
        assert!(
            scope("http://[::1]:8080/").is_internal("http://[::1]:8080/a")
                && scope("http://[::1]/").is_internal("http://[::1]/a")
        );
        let mut wide = scope("https://example.com/");
        wide.subdomains = true;
        assert!(wide.is_internal("https://a.b.example.com/") && !wide.is_internal("https://badexample.com/"));
    }

    #[test]
    fn globs_choose_among_paths() {
        let site = CrawlScope::new(&Config {
            include: vec!["/blog/*".into(), "/".into(), "/über%c3%A4*".into()],
            exclude: vec![
                "*?page=*".into(),
                "/blog/2024".into(),
                "/blog/größen/*".into(),
                "/blog/%67one*".into(),
            ],
            ..Config::new(Url::parse("https://example.com/").unwrap(), 1)
        });
        for (key, crawled) in [
            ("/", true),
            ("/blog/a", true),
            ("/shop", false),
            ("/blog/a?page=2", false),
            ("/blog/2024", false),
            ("/blog/2024/x", true),
            ("/%C3%BCber%C3%A4/x", true),
            ("/blog/gr%C3%B6%C3%9Fen/x", false),
            ("/blog/gone", false),
        ] {
            assert_eq!(
                site.is_crawled(&format!("https://example.com{key}")),
                crawled,
                "{key}"
            );
        }
        assert!(
            !scope("https://example.com/").is_crawled(&format!("https://example.com/{}", "a".repeat(2_048)))
        );
        assert!(
            matches("a*b*c", "aXbYbZc") && !matches("a*b", "abc") && matches("**", "") && !matches("?", "x")
        );
    }

    #[test]
    fn twins_and_media_are_told_by_name() {
        let url = |text: &str| Url::parse(text).unwrap();
        let twin = |start: &str| scope(start).twin(&url(start)).map(|u| u.to_string());
        assert_eq!(
            twin("https://example.com/a?b").as_deref(),
            Some("https://www.example.com/")
        );
        assert_eq!(
            twin("https://www.example.com/").as_deref(),
            Some("https://example.com/")
        );
        assert_eq!(
            (twin("http://127.0.0.1/"), twin("http://localhost/")),
            (None, None)
        );
        assert!(MEDIA.is_sorted());
        assert!(
            is_media(&url("https://example.com/a.PDF?x"))
                && !is_media(&url("https://example.com/a.html"))
                && !is_media(&url("https://example.com/pdf"))
        );
        assert_eq!(origin("https://example.com:8443/a"), "https://example.com:8443");
    }
}
