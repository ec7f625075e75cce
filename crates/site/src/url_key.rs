//! Identity of URLs: whether two URLs are the same page. Every stored id and every link of a crawl depends on it, so
//! the rule is versioned; and it is fast, because a crawl of 10,000 pages uses it half a million times.
//!
//! Two functions must agree, which a property test ensures: [`url_key`] normalises a parsed URL, and [`Base::key`]
//! resolves the plain `href`s of most links without parsing.

mod base;

use std::borrow::Cow;

use url::{Position, Url};

pub use self::base::Base;

/// Version of the rule below; stored with every key. Raise it when any key changes.
pub const NORMALIZATION_VERSION: u32 = 1;

/// Query parameters that identify the source of a visit, not the page.
const TRACKING: [&str; 18] = [
    "_gl",
    "_hsenc",
    "_hsmi",
    "dclid",
    "fbclid",
    "gbraid",
    "gclid",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "msclkid",
    "srsltid",
    "ttclid",
    "twclid",
    "wbraid",
    "yclid",
    "_ga",
];

/// Returns the identity of a page: the URL without fragment, user info, default port and tracking parameters, with
/// percent-encoding in its shortest upper-case form and parameters stably sorted by name. Case of the path, trailing
/// slashes and index files are kept, because servers may distinguish them.
///
/// Borrows if the URL already is its own key, as most are.
pub fn url_key(url: &Url) -> Cow<'_, str> {
    let plain_path = is_plain(url.path());
    let plain_query = url.query().is_none_or(is_sorted_and_plain);
    let plain_user = url.username().is_empty() && url.password().is_none();
    if plain_path && plain_query && plain_user {
        return Cow::Borrowed(&url[..Position::AfterQuery]);
    }
    let mut key = String::with_capacity(url.as_str().len() + 8);
    key.push_str(&url[..Position::BeforeUsername]);
    key.push_str(&url[Position::BeforeHost..Position::BeforePath]);
    push_normal(&mut key, url.path());
    if let Some(query) = url.query() {
        push_query(&mut key, query);
    }
    Cow::Owned(key)
}

/// Returns the key of a URL as [`Url`] serializes it; borrowed if the URL is its own key.
pub fn key_of(written: &str) -> Cow<'_, str> {
    // without any of these, a URL is its own key
    if !written.contains(['%', '?', '#', '@']) {
        return Cow::Borrowed(written);
    }
    match Url::parse(written) {
        Ok(url) => Cow::Owned(url_key(&url).into_owned()),
        Err(_) => Cow::Borrowed(written),
    }
}

/// Whether a parameter of this raw name is dropped from the key.
pub fn is_tracking(name: &str) -> bool {
    let name = name.as_bytes();
    let starts =
        |prefix: &[u8]| name.len() >= prefix.len() && name[..prefix.len()].eq_ignore_ascii_case(prefix);
    starts(b"utm_") || starts(b"_ga") || TRACKING.iter().any(|t| name.eq_ignore_ascii_case(t.as_bytes()))
}

fn is_plain(part: &str) -> bool {
    !part.as_bytes().contains(&b'%')
}

fn is_sorted_and_plain(query: &str) -> bool {
    if query.is_empty() || !is_plain(query) {
        return false;
    }
    let mut last = "";
    query.split('&').all(|pair| {
        let name = name_of(pair);
        let fine = !pair.is_empty() && name >= last && !is_tracking(name);
        last = name;
        fine
    })
}

fn name_of(pair: &str) -> &str {
    pair.split_once('=').map_or(pair, |(name, _)| name)
}

/// Appends a part normalised by RFC 3986 section 6.2.2: unreserved bytes are decoded, other escapes are in upper case.
/// A `%` that begins no escape becomes `%25`: otherwise it could form an escape with decoded neighbours, and the key of
/// a key would differ from the key.
pub(crate) fn push_normal(key: &mut String, part: &str) {
    let bytes = part.as_bytes();
    let mut copied = 0;
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] != b'%' {
            i += 1;
            continue;
        }
        key.push_str(&part[copied..i]);
        let pair = bytes
            .get(i + 1..i + 3)
            .and_then(|h| Some((hex(h[0])?, hex(h[1])?)));
        match pair {
            Some((high, low)) => {
                let byte = high << 4 | low;
                if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
                    key.push(char::from(byte));
                } else {
                    key.push('%');
                    key.push(char::from(part.as_bytes()[i + 1].to_ascii_uppercase()));
                    key.push(char::from(part.as_bytes()[i + 2].to_ascii_uppercase()));
                }
                i += 3;
            }
            None => {
                key.push_str("%25");
                i += 1;
            }
        }
        copied = i;
    }
    key.push_str(&part[copied..]);
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|d| d as u8)
}

fn push_query(key: &mut String, query: &str) {
    let mut pairs: Vec<String> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let mut normal = String::with_capacity(pair.len());
            push_normal(&mut normal, pair);
            normal
        })
        .filter(|pair| !is_tracking(name_of(pair)))
        .collect();
    pairs.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    for (i, pair) in pairs.iter().enumerate() {
        key.push(if i == 0 { '?' } else { '&' });
        key.push_str(pair);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(url: &str) -> String {
        url_key(&Url::parse(url).unwrap()).into_owned()
    }

    #[test]
    fn same_page_same_key() {
        for (url, expected) in [
            ("HTTP://EXAMPLE.com", "http://example.com/"),
            ("http://example.com:80/", "http://example.com/"),
            ("https://example.com:443/a", "https://example.com/a"),
            ("https://example.com:8443/a", "https://example.com:8443/a"),
            ("http://user:secret@example.com/a", "http://example.com/a"),
            ("http://example.com/a#part", "http://example.com/a"),
            ("http://example.com/a/./b/../c", "http://example.com/a/c"),
            (
                "http://example.com/%7euser/%c3%a9",
                "http://example.com/~user/%C3%A9",
            ),
            ("http://example.com/é", "http://example.com/%C3%A9"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
            ("http://example.com/100%", "http://example.com/100%25"),
            (
                "http://example.com/Case/Index.html",
                "http://example.com/Case/Index.html",
            ),
            ("http://example.com/a/", "http://example.com/a/"),
            ("http://example.com/a?", "http://example.com/a"),
            ("http://example.com/?b=2&a=1", "http://example.com/?a=1&b=2"),
            ("http://example.com/?a=2&b&a=1", "http://example.com/?a=2&a=1&b"),
            (
                "http://example.com/?utm_source=x&utm_medium=y",
                "http://example.com/",
            ),
            (
                "http://example.com/?q=1&UTM_Campaign=x&gclid=1&_ga_X=2&_gl=3",
                "http://example.com/?q=1",
            ),
            (
                "http://example.com/?utmost=1&gclids=2",
                "http://example.com/?gclids=2&utmost=1",
            ),
            (
                "http://example.com/?a=%7e&&b=%zz",
                "http://example.com/?a=~&b=%25zz",
            ),
            ("http://example.com/?%75tm_source=x", "http://example.com/"),
        ] {
            assert_eq!(key(url), expected, "{url}");
        }
    }

    #[test]
    fn a_url_that_is_its_key_is_borrowed() {
        let url = Url::parse("https://example.com/a/b?x=1&y=2#z").unwrap();
        assert!(matches!(
            url_key(&url),
            Cow::Borrowed("https://example.com/a/b?x=1&y=2")
        ));
    }

    proptest! {
        #[test]
        fn keys_are_stable(rest in "[/a-zA-Z0-9%.?&=#_~ éß+:;@!*'()\\\\-]{0,40}") {
            if let Ok(url) = Url::parse(&format!("https://example.com/{rest}")) {
                let once = url_key(&url).into_owned();
                let again = Url::parse(&once).unwrap();
                prop_assert_eq!(url_key(&again), once.as_str());
            }
        }

        #[test]
        fn a_written_url_has_the_same_key(user in "(|a@|a:b@)", rest in "[/a-zA-Z0-9%.?&=#_~ éß+:;@!*'()\\\\-]{0,40}") {
            if let Ok(url) = Url::parse(&format!("https://{user}example.com:443/{rest}")) {
                prop_assert_eq!(key_of(url.as_str()), url_key(&url));
            }
        }
    }
}
