//! Fast path from a link to its key, without parsing, for most links and absolute URLs.

use searchwright_text as text;
use url::{Position, Url};

use super::is_plain;

/// Base URL of a document, prepared for resolving many links.
#[derive(Debug)]
pub struct Base {
    /// Length of `https://host[:port]`, with which `key` begins; 0 if the base does not allow the fast path.
    origin: usize,
    /// Path up to and including its last slash.
    folder: String,
    key: String,
}

impl Base {
    /// Prepares a base URL. There is no fast path if the base is not http(s) or not its own key, nor if a folder looks
    /// like a drive letter: `Url::join` keeps the slash after it when `../` removes it.
    pub fn new(url: &Url) -> Self {
        let is_drive = |folder: &str| matches!(folder.as_bytes(), [_, b':' | b'|']);
        let short = matches!(url.scheme(), "http" | "https")
            && is_plain(url.path())
            && !url.path().split('/').any(is_drive)
            && url.username().is_empty()
            && url.password().is_none();
        if !short {
            return Self {
                origin: 0,
                folder: String::new(),
                key: String::new(),
            };
        }
        let path = url.path();
        let folder = &path[..path.rfind('/').map_or(0, |i| i + 1)];
        let key = url[..Position::BeforePath].to_owned();
        Self {
            origin: key.len(),
            folder: folder.to_owned(),
            key,
        }
    }

    /// Returns the key of a link as written, if that is possible without parsing: for a path or same-origin URL of
    /// ordinary characters without query and dot segments, apart from leading `../`. `None` says nothing about the
    /// link: resolve it with [`Url::join`] and [`url_key`](super::url_key).
    pub fn key(&mut self, href: &str) -> Option<&str> {
        if self.origin == 0 {
            return None;
        }
        self.key.truncate(self.origin);
        let (path, whole) = match href.strip_prefix(self.key.as_str()) {
            Some(path) if path.starts_with('/') => (path, true),
            Some(_) => return None,
            None => (href, false),
        };
        // empty, or only a fragment: the page itself
        if matches!(path.as_bytes().first(), None | Some(b'#')) {
            return None;
        }
        let (folder, rest) = if path.starts_with('/') {
            ("", path)
        } else {
            above(&self.folder, path)
        };
        // two slashes at the beginning name another host, and one more after `../` leaves an empty segment
        let slashes = if folder.is_empty() { "//" } else { "/" };
        if !whole && rest.starts_with(slashes) {
            return None;
        }
        let end = ordinary(rest.as_bytes())?;
        self.key.push_str(folder);
        self.key.push_str(&rest[..end]);
        Some(&self.key)
    }

    /// Returns the key of an absolute URL on the origin of the base; `None` for others.
    pub fn key_of_absolute(&mut self, url: &str) -> Option<&str> {
        let path = url.strip_prefix(self.key.get(..self.origin)?)?;
        if path.starts_with('/') {
            self.key(url)
        } else {
            None
        }
    }
}

/// Returns the folder that a path with leading `../` starts from, and the rest of the path.
fn above<'f, 'p>(mut folder: &'f str, mut path: &'p str) -> (&'f str, &'p str) {
    while let Some(after) = path.strip_prefix("../") {
        path = after;
        let parent = folder.strip_suffix('/').unwrap_or(folder);
        folder = &folder[..parent.rfind('/').map_or(folder.len().min(1), |i| i + 1)];
    }
    (folder, path)
}

/// Returns the length of a path up to its end or its fragment; `None` if a byte is not ordinary, or if a segment begins
/// with a dot: it may be a dot segment, and other names with a leading dot are too rare to distinguish here.
fn ordinary(path: &[u8]) -> Option<usize> {
    let (mut end, mut dotted) = (None, false);
    // the path continues after a slash
    let mut slash = 1;
    text::simd::each_block(path, |at, block| {
        if end.is_some() || dotted {
            return;
        }
        let slashes = block.each(b'/');
        let dots = block.each(b'.') & (slashes << 1 | slash);
        slash = slashes >> 63;
        // padding zeros behind the end are not ordinary either
        let first_odd = (!block.ordinary_in_paths()).trailing_zeros();
        if first_odd < u64::BITS {
            end = Some(at + first_odd as usize);
        }
        dotted = dots.trailing_zeros() < first_odd;
    });
    let end = end.filter(|_| !dotted)?;
    matches!(path.get(end), None | Some(b'#')).then_some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::url_key, *};

    #[test]
    fn plain_links_take_the_short_way() {
        let mut base = Base::new(&Url::parse("https://example.com/a/b/c.html?q=1").unwrap());
        for (href, expected) in [
            ("d.html", "https://example.com/a/b/d.html"),
            ("d/e#f?", "https://example.com/a/b/d/e"),
            ("/x", "https://example.com/x"),
            ("../x", "https://example.com/a/x"),
            ("../../../../x", "https://example.com/x"),
            ("../", "https://example.com/a/"),
            ("https://example.com/y", "https://example.com/y"),
        ] {
            assert_eq!(base.key(href), Some(expected), "{href}");
        }
        for href in [
            "",
            "#a",
            "?q",
            "//other/",
            "mailto:a",
            "./x",
            "a/../b",
            "x y",
            "/%41",
            "https://other/",
            "https://example.com.evil/",
            "..",
        ] {
            assert_eq!(base.key(href), None, "{href}");
        }
        let absolute = "https://example.com/y";
        assert_eq!(base.key_of_absolute(absolute), Some(absolute));
        for href in [
            "/x",
            "d.html",
            "https://example.com",
            "https://example.com.evil/y",
        ] {
            assert_eq!(base.key_of_absolute(href), None, "{href}");
        }
    }

    #[test]
    fn drives_go_the_long_way() {
        for (base, expected) in [
            ("/a/s:/le", None),
            ("/a/s|/", None),
            ("/ab:/c", Some("https://example.com/x")),
        ] {
            let base = Url::parse("https://example.com").unwrap().join(base).unwrap();
            assert_eq!(Base::new(&base).key("../x"), expected, "{base}");
        }
    }

    proptest! {
        #[test]
        fn both_ways_agree(
            path in "(/[a-zA-Z0-9.:|%_-]{0,6}){0,4}",
            href in "(\\.\\./){0,3}[/a-zA-Z0-9.#?%:;@!$,()*+= ~_-]{0,20}|https://example.com[/.:a-z]{0,10}",
        ) {
            let base = Url::parse(&format!("https://example.com{path}")).unwrap();
            if let Some(short) = Base::new(&base).key(&href) {
                let long = base.join(&href).unwrap();
                prop_assert_eq!(short, url_key(&long));
            }
            if let Some(short) = Base::new(&base).key_of_absolute(&href) {
                let long = Url::parse(&href).unwrap();
                prop_assert_eq!(short, url_key(&long));
            }
        }
    }
}
