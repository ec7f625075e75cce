//! Resolves the links of a page.

use std::borrow::Cow;

use memchr::memmem;
use searchwright_text::simd::find_near;
use url::Url;

use super::{Intern, LINK_FRAGMENT, LINK_MALFORMED, LINK_OTHER_SCHEME, UrlId};
use crate::url_key::Base;

/// Common misspellings of `http://` and `https://`, and URLs without a scheme, which as written resolve to paths of the
/// site itself.
const MISTYPED: [&str; 25] = [
    "http//", "https//", "http;", "https;", "htp:", "htps:", "htpp:", "htpps:", "htt:", "htts:", "httsp:",
    "httpp:", "httpps:", "httpss:", "htttp", "hhttp", "hhtp:", "hhtps:", "hppt:", "hppts:", "hpps:", "ttp:",
    "ttps:", "://", "www.",
];

/// Path that Cloudflare answers itself on every site behind it, by design with errors for programs. It writes mail
/// addresses of pages as links to it, which are no more pages than `mailto:`.
const RESERVED: &str = "/cdn-cgi/";

/// Whether a path belongs to the network in front of the site instead of the site.
pub(crate) fn is_reserved(path: &str) -> bool {
    path.starts_with(RESERVED)
}

/// Resolver of the links of one page.
pub(super) struct Resolver<'u> {
    page: &'u Url,
    own: UrlId,
    base: Cow<'u, Url>,
    short: Base,
    intern: &'u mut dyn Intern,
}

impl<'u> Resolver<'u> {
    pub fn new(page: &'u Url, own: UrlId, intern: &'u mut dyn Intern) -> Self {
        Self {
            page,
            own,
            base: Cow::Borrowed(page),
            short: Base::new(page),
            intern,
        }
    }

    /// Returns the id of the page.
    pub fn own(&self) -> UrlId {
        self.own
    }

    /// Applies a `<base href>`; one that is not http(s) has no effect.
    pub fn rebase(&mut self, href: &str) {
        let Ok(base) = self.page.join(href) else { return };
        if matches!(base.scheme(), "http" | "https") {
            self.short = Base::new(&base);
            self.base = Cow::Owned(base);
        }
    }

    /// Returns the target of a relative URL if the page is on https and its base URL on http.
    pub fn downgraded(&self, url: &str) -> Option<Url> {
        if url.is_empty() || self.base.scheme() != "http" || self.page.scheme() != "https" {
            return None;
        }
        self.base.join(url).ok().filter(|url| url.scheme() == "http")
    }

    /// Returns the id of a link's target and flags of [`super::Link`].
    pub fn resolve(&mut self, href: &str) -> (Option<UrlId>, u8) {
        let href = trimmed(href);
        let fragment = match find_near(b'#', href.as_bytes()) {
            Some(at) if at + 1 < href.len() => LINK_FRAGMENT,
            Some(_) | None => 0,
        };
        if (href.is_empty() || href.starts_with('#')) && matches!(self.base, Cow::Borrowed(_)) {
            return (Some(self.own), fragment);
        }
        if is_mistyped(href) {
            return (self.as_written(href), LINK_MALFORMED | fragment);
        }
        // few links name it anywhere
        let may_be_reserved = memmem::find(href.as_bytes(), &RESERVED.as_bytes()[1..]).is_some();
        if let Some(key) = self.short.key(href).filter(|_| !may_be_reserved) {
            return (self.intern.intern_key(key), fragment);
        }
        match self.base.join(href) {
            Ok(url) if is_reserved(url.path()) => (None, LINK_OTHER_SCHEME),
            Ok(url) if matches!(url.scheme(), "http" | "https") => (self.intern.intern(&url), fragment),
            Ok(_) => (None, LINK_OTHER_SCHEME),
            Err(_) => (None, LINK_MALFORMED | fragment),
        }
    }

    /// Resolves a misspelled link like browsers: they treat `www.example.com` and `http//example.com` as paths of the
    /// site, so it is a broken internal link. A host that nobody meant is not fetched.
    fn as_written(&mut self, href: &str) -> Option<UrlId> {
        let url = self.base.join(href).ok()?;
        (url.origin() == self.page.origin())
            .then(|| self.intern.intern(&url))
            .flatten()
    }

    /// Returns the id of the target if it is http(s).
    pub fn target(&mut self, href: &str) -> Option<UrlId> {
        self.resolve(href).0
    }
}

/// Trims control characters and spaces, which a URL may have around it; most have none.
fn trimmed(href: &str) -> &str {
    match href.as_bytes() {
        [first, .., last] if *first > b' ' && *last > b' ' => href,
        _ => href.trim_matches(|c: char| c <= ' '),
    }
}

fn is_mistyped(href: &str) -> bool {
    // most links begin with another character, which rules out every misspelling
    if !matches!(
        href.as_bytes().first(),
        Some(b'h' | b'H' | b't' | b'T' | b'w' | b'W' | b':')
    ) {
        return false;
    }
    let after = |text: &'_ str, prefix: &str| {
        let start = text.get(..prefix.len())?;
        start.eq_ignore_ascii_case(prefix).then_some(prefix.len())
    };
    let scheme = after(href, "https:").or_else(|| after(href, "http:"));
    if let Some(scheme) = scheme {
        // one slash, three slashes, or the scheme twice
        return href[scheme..].strip_prefix("//").is_none_or(|rest| {
            rest.starts_with('/')
                || ["http:", "https:", "http//", "https//"]
                    .iter()
                    .any(|again| after(rest, again).is_some())
        });
    }
    MISTYPED.iter().any(|prefix| after(href, prefix).is_some())
}

#[cfg(test)]
mod tests {
    use super::{Intern, LINK_FRAGMENT, LINK_MALFORMED, LINK_OTHER_SCHEME, Resolver, Url, UrlId};

    #[derive(Default)]
    struct Seen(Vec<String>);

    impl Intern for Seen {
        fn intern(&mut self, url: &Url) -> Option<UrlId> {
            self.intern_key(&crate::url_key::url_key(url))
        }

        fn intern_key(&mut self, key: &str) -> Option<UrlId> {
            self.0.push(key.to_owned());
            Some(UrlId(self.0.len() as u32))
        }
    }

    fn resolve(base: Option<&str>, href: &str) -> (Option<String>, u8) {
        let page = Url::parse("https://e.example/a/b.html?q").unwrap();
        let mut seen = Seen::default();
        let mut resolver = Resolver::new(&page, UrlId(99), &mut seen);
        if let Some(base) = base {
            resolver.rebase(base);
        }
        let (id, flags) = resolver.resolve(href);
        (
            id.map(|id| {
                if id == UrlId(99) {
                    "own".to_owned()
                } else {
                    seen.0.remove(0)
                }
            }),
            flags,
        )
    }

    #[test]
    fn links_as_they_are_written() {
        for (href, key, flags) in [
            ("/x.html", Some("https://e.example/x.html"), 0),
            ("x", Some("https://e.example/a/x"), 0),
            (" ../x?b=1&a=2\n", Some("https://e.example/x?a=2&b=1"), 0),
            ("//f.example/#top", Some("https://f.example/"), LINK_FRAGMENT),
            ("", Some("own"), 0),
            ("#", Some("own"), 0),
            ("#part", Some("own"), LINK_FRAGMENT),
            ("mailto:a@b.example", None, LINK_OTHER_SCHEME),
            ("javascript:void(0)", None, LINK_OTHER_SCHEME),
            ("tel:+49", None, LINK_OTHER_SCHEME),
            (
                "https:/f.example/",
                Some("https://e.example/f.example/"),
                LINK_MALFORMED,
            ),
            ("http:/f.example/", None, LINK_MALFORMED),
            (
                "http//f.example",
                Some("https://e.example/a/http//f.example"),
                LINK_MALFORMED,
            ),
            ("https://https://f.example", None, LINK_MALFORMED),
            (
                "www.f.example",
                Some("https://e.example/a/www.f.example"),
                LINK_MALFORMED,
            ),
            ("http://[::1", None, LINK_MALFORMED),
            ("hhtps://f.example", None, LINK_MALFORMED),
            ("HTT://f.example", None, LINK_MALFORMED),
            ("hppts://f.example", None, LINK_MALFORMED),
            (
                "http;//f.example",
                Some("https://e.example/a/http;//f.example"),
                LINK_MALFORMED,
            ),
            ("htt/x", Some("https://e.example/a/htt/x"), 0),
            ("http://a b/", None, LINK_MALFORMED),
            ("/cdn-cgi/l/email-protection#a1", None, LINK_OTHER_SCHEME),
            ("https://f.example/cdn-cgi/trace", None, LINK_OTHER_SCHEME),
            ("../cdn-cgi/x", None, LINK_OTHER_SCHEME),
            ("cdn-cgi/x", Some("https://e.example/a/cdn-cgi/x"), 0),
            ("https.html", Some("https://e.example/a/https.html"), 0),
            ("wwwx", Some("https://e.example/a/wwwx"), 0),
        ] {
            assert_eq!(resolve(None, href), (key.map(str::to_owned), flags), "{href:?}");
        }
    }

    #[test]
    fn a_base_moves_every_link() {
        assert_eq!(
            resolve(Some("/c/"), "x").0.as_deref(),
            Some("https://e.example/c/x")
        );
        assert_eq!(
            resolve(Some("https://cdn.example/d/"), "x?y").0.as_deref(),
            Some("https://cdn.example/d/x?y")
        );
        assert_eq!(
            resolve(Some("/c/"), "#part").0.as_deref(),
            Some("https://e.example/c/")
        );
        assert_eq!(
            resolve(Some("mailto:x"), "x").0.as_deref(),
            Some("https://e.example/a/x")
        );
    }
}
