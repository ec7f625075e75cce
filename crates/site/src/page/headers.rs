//! Response headers that checks read.

use http::{HeaderMap, HeaderName, header};
use searchwright_text as text;
use url::Url;

use super::{HeaderFacts, Intern, LinkRel, limits::ALTERNATES};

/// Maximum number of bytes kept of a header value; a policy can be long, a hostile header longer.
const MAX_VALUE_BYTES: usize = 4_096;
/// Maximum number of bytes read of a `Link` header, which may name a whole set of alternates.
const MAX_LINK_BYTES: usize = 64 * 1024;
/// Maximum number of characters kept of a language code.
const CODE: usize = 40;
/// Maximum number of characters kept of `frame-ancestors`.
const FRAMING: usize = 200;
/// Headers of intermediate caches.
const CACHES: [&str; 4] = ["age", "cf-cache-status", "via", "x-cache"];
/// Maximum number of values kept of a header that may repeat.
const MAX_VALUES: usize = 100;

/// Reads the headers; targets of `Link` are resolved against the URL of the page.
pub(super) fn read(headers: &HeaderMap, url: &Url, intern: &mut dyn Intern) -> HeaderFacts {
    let one = |name: HeaderName| headers.get(name).map(|value| text(value.as_bytes()));
    HeaderFacts {
        content_type: one(header::CONTENT_TYPE),
        content_encoding: one(header::CONTENT_ENCODING),
        robots_tags: headers
            .get_all("x-robots-tag")
            .iter()
            .take(MAX_VALUES)
            .map(|v| text(v.as_bytes()))
            .collect(),
        canonicals: canonicals(headers, url, intern),
        server: one(header::SERVER),
        retry_after: one(header::RETRY_AFTER),
        cache_control: one(header::CACHE_CONTROL),
        hsts: one(header::STRICT_TRANSPORT_SECURITY),
        csp: policies(headers),
        frame_options: one(header::X_FRAME_OPTIONS),
        content_type_options: one(header::X_CONTENT_TYPE_OPTIONS),
        referrer_policy: one(header::REFERRER_POLICY),
        last_modified: one(header::LAST_MODIFIED),
        caches: CACHES
            .iter()
            .filter_map(|name| Some((*name, text(headers.get(*name)?.as_bytes()))))
            .collect(),
    }
}

impl HeaderFacts {
    /// Returns the age of a cached response in seconds, if known; the outer `None` means that no header indicates a
    /// cache.
    pub fn cached(&self) -> Option<Option<u64>> {
        let of = |name| self.caches.iter().find(|(known, _)| *known == name);
        let says = |name, words: &[&str]| {
            of(name).is_some_and(|(_, value)| {
                let value = value.to_ascii_lowercase();
                words.iter().any(|word| value.contains(word))
            })
        };
        let age = of("age")
            .and_then(|(_, age)| age.parse::<u64>().ok())
            .filter(|age| *age > 0);
        let hit = says("x-cache", &["hit"])
            || says("cf-cache-status", &["hit", "stale", "updating", "revalidated"]);
        (hit || age.is_some()).then_some(age)
    }
}

/// Returns all Content-Security-Policies, which apply together, as one value. `frame-ancestors` is kept even of a long
/// one.
fn policies(headers: &HeaderMap) -> Option<Box<str>> {
    let values: Vec<_> = headers
        .get_all(header::CONTENT_SECURITY_POLICY)
        .iter()
        .take(MAX_VALUES)
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    if values.is_empty() {
        return None;
    }
    let all = values.join(", ");
    let kept = text(all.as_bytes());
    let framing = |policy: &str| {
        policy
            .split([',', ';'])
            .find(|part| is_frame_ancestors(part))
            .map(|part| text::cut(part.trim(), FRAMING).to_owned())
    };
    if all.len() > MAX_VALUE_BYTES
        && framing(&kept).is_none()
        && let Some(framing) = framing(&all)
    {
        return Some(format!("{kept}; {framing}").into());
    }
    Some(kept)
}

/// Whether a directive is `frame-ancestors`, which controls who may frame the page.
pub(crate) fn is_frame_ancestors(directive: &str) -> bool {
    let name = directive.split_ascii_whitespace().next();
    name.is_some_and(|name| name.eq_ignore_ascii_case("frame-ancestors"))
}

fn text(value: &[u8]) -> Box<str> {
    String::from_utf8_lossy(&value[..value.len().min(MAX_VALUE_BYTES)])
        .trim()
        .into()
}

fn canonicals(headers: &HeaderMap, url: &Url, intern: &mut dyn Intern) -> Vec<LinkRel> {
    related(headers, url, intern, MAX_VALUES, |parameters| {
        Vec::from_iter(has_rel(parameters, "canonical").then_some("canonical"))
    })
}

/// Returns language alternates in the headers, in the form of those in the head: `rel` of each is its hreflang code.
pub(super) fn alternates(headers: &HeaderMap, url: &Url, intern: &mut dyn Intern) -> Vec<LinkRel> {
    related(headers, url, intern, ALTERNATES, |parameters| {
        // one link may have several codes
        let codes = { parameters.iter() }.filter(|(name, _)| name.eq_ignore_ascii_case("hreflang"));
        let codes = codes.map(|(_, code)| text::cut(code, CODE));
        codes.filter(|_| has_rel(parameters, "alternate")).collect()
    })
}

fn has_rel(parameters: &[(&str, &str)], wanted: &str) -> bool {
    let rel = { parameters.iter() }.find(|(name, _)| name.eq_ignore_ascii_case("rel"));
    rel.is_some_and(|(_, rels)| { rels.split_ascii_whitespace() }.any(|rel| rel.eq_ignore_ascii_case(wanted)))
}

/// Returns the links of `Link` headers such as `<https://example.com/>; rel="canonical"` (RFC 8288) for which `meaning`
/// returns relations.
fn related(
    headers: &HeaderMap,
    url: &Url,
    intern: &mut dyn Intern,
    most: usize,
    meaning: impl for<'p> Fn(&[(&'p str, &'p str)]) -> Vec<&'p str>,
) -> Vec<LinkRel> {
    let mut found = Vec::new();
    for value in headers.get_all(header::LINK).iter().take(MAX_VALUES) {
        let value = String::from_utf8_lossy(&value.as_bytes()[..value.len().min(MAX_LINK_BYTES)]);
        let mut rest = &*value;
        while let Some((_, after)) = rest.split_once('<')
            && let Some((href, after)) = after.split_once('>')
        {
            let parameters = &after[..end(after, b',')];
            rest = &after[parameters.len()..];
            let rels = meaning(&pairs(parameters));
            if rels.is_empty() || found.len() >= most {
                continue;
            }
            let href = href.trim();
            let target = url
                .join(href)
                .ok()
                .filter(|url| matches!(url.scheme(), "http" | "https"));
            let target = target.and_then(|url| intern.intern(&url));
            found.extend(rels.into_iter().map(|rel| LinkRel {
                rel: rel.into(),
                href: href.into(),
                target,
                in_head: true,
            }));
        }
    }
    found
}

/// Returns names and values of the parameters of a link.
fn pairs(mut parameters: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    while !parameters.is_empty() {
        let (one, rest) = parameters.split_at(end(parameters, b';'));
        parameters = rest.get(1..).unwrap_or_default();
        let (name, value) = one.split_once('=').unwrap_or((one, ""));
        pairs.push((name.trim(), value.trim().trim_matches('"').trim()));
    }
    pairs
}

/// Returns the end of a part: the first mark outside quotes, or the end of the text.
fn end(text: &str, mark: u8) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    let end = text.bytes().position(|b| {
        quoted ^= b == b'"' && !escaped;
        escaped = quoted && b == b'\\' && !escaped;
        b == mark && !quoted
    });
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};
    use url::Url;

    use super::{super::UrlId, Intern, alternates, read};

    #[derive(Default)]
    struct Seen(Vec<String>);

    impl Intern for Seen {
        fn intern(&mut self, url: &Url) -> Option<UrlId> {
            self.intern_key(url.as_str())
        }

        fn intern_key(&mut self, key: &str) -> Option<UrlId> {
            self.0.push(key.to_owned());
            Some(UrlId(self.0.len() as u32))
        }
    }

    #[test]
    fn canonical_of_the_link_header() {
        let mut headers = HeaderMap::new();
        headers.append(
            "link",
            HeaderValue::from_static("</style.css>; rel=preload; title=\"a, b\", </page>; rel=\"canonical\""),
        );
        headers.append(
            "link",
            HeaderValue::from_static("<https://x.example/>; rel=canonical, <broken"),
        );
        let mut seen = Seen::default();
        let facts = read(&headers, &Url::parse("https://e.example/a/b").unwrap(), &mut seen);
        assert_eq!(
            facts.canonicals.iter().map(|c| &*c.href).collect::<Vec<_>>(),
            ["/page", "https://x.example/"]
        );
        assert_eq!(seen.0, ["https://e.example/page", "https://x.example/"]);
    }

    #[test]
    fn alternates_of_the_link_header() {
        let mut headers = HeaderMap::new();
        let sets = [
            "<https://e.example/de>; rel=\"alternate\"; hreflang=\"de-AT\", </en>; hreflang=en; rel=alternate",
            "<https://e.example/>; title=\"a; rel=x, b\"; rel=\"canonical Alternate\"; HREFLANG=x-default",
            "</feed>; rel=alternate; type=\"application/rss+xml\", </fr>; rel=next; hreflang=fr, <mailto:x>; rel=alternate; hreflang=it",
            "</es>; title=\"a \\\" b, c\"; rel=alternate; hreflang=es; hreflang=es-MX",
        ];
        sets.iter().for_each(|set| {
            headers.append("link", HeaderValue::from_static(set));
        });
        let mut seen = Seen::default();
        let found = alternates(&headers, &Url::parse("https://e.example/a").unwrap(), &mut seen);
        let found: Vec<_> = found
            .iter()
            .map(|l| (&*l.rel, &*l.href, l.target.is_some()))
            .collect();
        assert_eq!(
            found,
            [
                ("de-AT", "https://e.example/de", true),
                ("en", "/en", true),
                ("x-default", "https://e.example/", true),
                ("it", "mailto:x", false),
                ("es", "/es", true),
                ("es-MX", "/es", true),
            ]
        );
        assert_eq!(
            seen.0,
            [
                "https://e.example/de",
                "https://e.example/en",
                "https://e.example/",
                "https://e.example/es"
            ]
        );
    }

    #[test]
    fn every_policy_is_kept() {
        let csp = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("content-security-policy", HeaderValue::from_str(value).unwrap());
            }
            let url = Url::parse("https://e.example/").unwrap();
            read(&headers, &url, &mut Seen::default()).csp
        };
        assert_eq!(csp(&[]), None);
        assert_eq!(
            csp(&["default-src 'self'", "frame-ancestors 'none'"]).as_deref(),
            Some("default-src 'self', frame-ancestors 'none'")
        );
        let long = format!(
            "script-src {}; Frame-Ancestors 'self'; x",
            "'sha256-x' ".repeat(500)
        );
        let kept = csp(&[&long]).unwrap();
        assert!(
            kept.len() < 4_200 && kept.ends_with("; Frame-Ancestors 'self'"),
            "{kept}"
        );
        assert!(csp(&[&long.replace("Frame-", "Former-")]).unwrap().len() <= 4_096);
    }

    #[test]
    fn values_that_are_not_text_do_no_harm() {
        let mut headers = HeaderMap::new();
        headers.insert("server", HeaderValue::from_bytes(b"\xff\xfe x").unwrap());
        let facts = read(
            &headers,
            &Url::parse("https://e.example/").unwrap(),
            &mut Seen::default(),
        );
        assert_eq!(facts.server.as_deref(), Some("\u{fffd}\u{fffd} x"));
    }
}
