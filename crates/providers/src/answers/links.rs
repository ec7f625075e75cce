//! Links in a text: addresses of web pages and numbered references to a list of sources.

use url::Url;

/// Longest address that is kept, in bytes.
const MAX_URL_BYTES: usize = 4_096;
/// Longest text of a link, in bytes.
const MAX_LABEL_BYTES: usize = 1_000;

/// Part of a text, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextSpan {
    /// First character.
    pub start: usize,
    /// Character after the last one.
    pub end: usize,
}

/// An address in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Address, as written.
    pub url: String,
    /// Text of the link, where Markdown gives it one.
    pub title: Option<String>,
    /// Place of the address.
    pub span: TextSpan,
}

/// A reference such as `[3]` or `[web:3]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marker {
    /// Number of the source.
    pub number: u64,
    /// Place of the reference.
    pub span: TextSpan,
}

/// Parses the address of a web page; `None` for anything else.
pub(super) fn page(url: &str) -> Option<Url> {
    let is_web = url.len() <= MAX_URL_BYTES && !url.contains(|c: char| c.is_whitespace() || c.is_control());
    let parsed = is_web.then(|| Url::parse(url).ok()).flatten()?;
    (matches!(parsed.scheme(), "http" | "https") && parsed.has_host()).then_some(parsed)
}

/// Returns the form by which two addresses of one page are told to be one: without its fragment and without the mark that an
/// engine adds to its links.
pub(super) fn page_form(url: &str) -> Option<String> {
    let mut parsed = page(url)?;
    parsed.set_fragment(None);
    let rest: Vec<_> = parsed
        .query_pairs()
        .filter(|(name, _)| name != "utm_source")
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    parsed.set_query((!rest.is_empty()).then(|| rest.join("&")).as_deref());
    Some(parsed.as_str().trim_end_matches('/').to_owned())
}

/// Finds the addresses of web pages in a text, in its order.
pub(super) fn find_links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    let mut counted = Position::default();
    let mut from = 0;
    while let Some(at) = text[from..].find("http").map(|at| from + at) {
        let rest = &text[at..];
        from = at + "http".len();
        if !(rest.starts_with("http://") || rest.starts_with("https://")) {
            continue;
        }
        let url = address(rest);
        from = from.max(at + url.len());
        if page(url).is_none() {
            continue;
        }
        let start = counted.advance(text, at);
        links.push(Link {
            url: url.to_owned(),
            title: label(&text[..at]),
            span: TextSpan {
                start,
                end: start + url.chars().count(),
            },
        });
    }
    links
}

/// Finds the numbered references in a text, in its order.
pub(super) fn find_markers(text: &str) -> Vec<Marker> {
    let mut markers = Vec::new();
    let mut counted = Position::default();
    for (at, _) in text.match_indices('[') {
        let inner = &text[at + 1..];
        let prefix = if inner.starts_with("web:") {
            "web:".len()
        } else {
            0
        };
        let inner = &inner[prefix..];
        let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
        if !(1..=4).contains(&digits) || !inner[digits..].starts_with(']') {
            continue;
        }
        let Ok(number) = inner[..digits].parse() else {
            continue;
        };
        let start = counted.advance(text, at);
        let length = "[".len() + prefix + digits + "]".len();
        markers.push(Marker {
            number,
            span: TextSpan {
                start,
                end: start + length,
            },
        });
    }
    markers
}

/// Characters before a place, counted while the place moves on.
#[derive(Default)]
struct Position {
    byte: usize,
    chars: usize,
}

impl Position {
    fn advance(&mut self, text: &str, byte: usize) -> usize {
        self.chars += text[self.byte..byte].chars().count();
        self.byte = byte;
        self.chars
    }
}

/// The address at the beginning of a text, without the punctuation of the sentence around it.
fn address(text: &str) -> &str {
    let is_end = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '<' | '>' | '"' | '`' | '|' | '\\' | '{' | '}' | '^')
            || ('\u{3000}'..='\u{303f}').contains(&c)
            || matches!(
                c,
                '，' | '！' | '？' | '：' | '；' | '（' | '）' | '“' | '”' | '«' | '»'
            )
    };
    let text = &text[..text.floor_char_boundary(MAX_URL_BYTES + 1)];
    let mut url = &text[..text.find(is_end).unwrap_or(text.len())];
    // Where `[text](address)` ends, and where a sentence does.
    url = &url[..unmatched_close(url).unwrap_or(url.len())];
    url.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '\'', '~'])
}

/// The place of the first closing bracket that nothing opened.
fn unmatched_close(text: &str) -> Option<usize> {
    let (mut round, mut square) = (0_i32, 0_i32);
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' => round += 1,
            ')' => round -= 1,
            '[' => square += 1,
            ']' => square -= 1,
            _ => {}
        }
        (round < 0 || square < 0).then_some(at)
    })
}

/// The text of the Markdown link whose address begins where `before` ends.
fn label(before: &str) -> Option<String> {
    let inner = before.strip_suffix("](").or_else(|| before.strip_suffix("](<"))?;
    let near = &inner[inner.ceil_char_boundary(inner.len().saturating_sub(MAX_LABEL_BYTES))..];
    let label = near[near.rfind('[')? + 1..].trim();
    (!label.is_empty() && !label.contains('\n')).then(|| label.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn urls(text: &str) -> Vec<String> {
        find_links(text).into_iter().map(|link| link.url).collect()
    }

    #[test]
    fn links_end_where_the_sentence_goes_on() {
        for (text, expected) in [
            (
                "see https://acme.example/desks. Bolt",
                "https://acme.example/desks",
            ),
            ("(https://a.example/x)", "https://a.example/x"),
            (
                "https://en.wikipedia.org/wiki/Desk_(table), too",
                "https://en.wikipedia.org/wiki/Desk_(table)",
            ),
            ("**https://a.example/**", "https://a.example/"),
            ("<https://a.example/?q=1&r=2>", "https://a.example/?q=1&r=2"),
            ("在https://a.example/桌。然后", "https://a.example/桌"),
            ("|https://a.example|", "https://a.example"),
        ] {
            assert_eq!(urls(text), [expected], "{text}");
        }
        for text in ["http", "https://", "http:// a", "httpx://a", "https://[::"] {
            assert!(urls(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn markdown_gives_a_link_its_title_and_place() {
        let links = find_links("Ä: [Acme Desk](https://acme.example/a) and https://b.example");
        assert_eq!(links[0].title.as_deref(), Some("Acme Desk"));
        assert_eq!(links[0].span, TextSpan { start: 15, end: 37 });
        assert_eq!(links[1].title, None);
    }

    #[test]
    fn markers_are_numbers_in_brackets() {
        let markers = find_markers("é one[1] two[web:12], not [x], [12345] nor [ 3]");
        let numbers: Vec<u64> = markers.iter().map(|m| m.number).collect();
        assert_eq!(numbers, [1, 12]);
        assert_eq!(markers[0].span, TextSpan { start: 5, end: 8 });
        assert_eq!(markers[1].span, TextSpan { start: 12, end: 20 });
    }

    #[test]
    fn one_page_has_one_form() {
        let form = page_form("https://acme.example/a?utm_source=openai#x");
        assert_eq!(form, page_form("https://acme.example/a/"));
        assert_ne!(form, page_form("https://acme.example/a?b=1"));
        for none in [
            "javascript:alert(1)",
            "acme.example",
            "https://",
            "",
            "https://a b.example",
            "data:,x",
        ] {
            assert_eq!(page_form(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_links_within_it(text in "(\\PC|https?://|\\[[0-9]\\]|\\]\\(|[()\\[\\] é桌]){0,60}") {
            let chars: Vec<char> = text.chars().collect();
            for link in find_links(&text) {
                let placed: String = chars[link.span.start..link.span.end].iter().collect();
                prop_assert_eq!(placed, link.url);
            }
            for marker in find_markers(&text) {
                prop_assert_eq!(chars[marker.span.start], '[');
                prop_assert_eq!(chars[marker.span.end - 1], ']');
            }
        }
    }
}
