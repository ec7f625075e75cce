//! Takes out of a text what a model may not put in: links and images that lead where nobody pointed, and HTML.

use std::ops::Range;

use ammonia::Url;
use memchr::memchr2_iter;
use pulldown_cmark::{Event, Parser, Tag, TagEnd, TextMergeWithOffset};
use searchwright_site::url_key::url_key;

use super::markdown::options;

/// Passes over a text, at most. A cut can make a link of the rest, so passes are repeated until nothing changes. Honest
/// texts need two.
const MAX_PASSES: usize = 10;

/// The addresses that a text may name.
struct KnownAddresses(Vec<String>);

impl KnownAddresses {
    fn new(addresses: &[&str]) -> Self {
        Self(addresses.iter().filter_map(|address| key(address)).collect())
    }

    fn has(&self, address: &str) -> bool {
        key(address).is_some_and(|key| self.0.contains(&key))
    }

    /// Returns the web addresses in plain text that are not known. Many programs that show a text make links of them.
    fn foreign(&self, text: &str) -> Vec<Range<usize>> {
        let lower = text.to_ascii_lowercase();
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(start) = beginning(&lower[from..]).map(|at| from + at) {
            let end = text[start..]
                .find(|c: char| c.is_whitespace() || "<>\"`\\|)]".contains(c))
                .map_or(text.len(), |length| start + length);
            let address = text[start..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '\'']);
            if !self.has(address) {
                found.push(start..start + address.len());
            }
            from = end;
        }
        found
    }
}

fn key(address: &str) -> Option<String> {
    Some(url_key(&Url::parse(address).ok()?).into_owned())
}

/// Returns the position at which the first web address begins.
fn beginning(lower: &str) -> Option<usize> {
    let begins = |at: &usize| {
        let mut schemes = ["http://", "https://", "www."].iter();
        schemes.any(|scheme| lower[*at..].starts_with(scheme))
    };
    memchr2_iter(b'h', b'w', lower.as_bytes()).find(begins)
}

/// Text without the web addresses that are not known.
pub fn keep_known_addresses(text: &str, known: &[&str]) -> String {
    cut(text, KnownAddresses::new(known).foreign(text))
}

/// Markdown in which only links to known addresses are links: of the others the words stay. Images elsewhere, HTML
/// and other addresses are gone; what is code stays as it is.
pub fn keep_known(markdown: &str, known: &[&str]) -> String {
    let known = KnownAddresses::new(known);
    settle(markdown.to_owned(), &known).unwrap_or_else(|| {
        // links in links in links: nothing in it stays one
        settle(markdown.replace(['[', ']', '<'], ""), &known).unwrap_or_default()
    })
}

fn settle(mut last: String, known: &KnownAddresses) -> Option<String> {
    for _ in 0..MAX_PASSES {
        let next = pass(&last, known);
        if next == last {
            return Some(last);
        }
        last = next;
    }
    None
}

fn pass(markdown: &str, known: &KnownAddresses) -> String {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    // Of a link that goes, where it begins and which of its bytes stay so far.
    let mut open: Option<(Range<usize>, Option<Range<usize>>)> = None;
    let mut is_code = false;
    let events = Parser::new_ext(markdown, options()).into_offset_iter();
    let definitions = events.reference_definitions().iter();
    let unknown = definitions.filter(|(_, definition)| !known.has(&definition.dest));
    cuts.extend(unknown.map(|(_, definition)| definition.span.clone()));
    for (event, span) in TextMergeWithOffset::new(events) {
        match &event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Text(text) if !is_code && !known.foreign(text).is_empty() => {
                let found = known.foreign(&markdown[span.clone()]);
                // written so that only a reader of Markdown sees it
                if found.is_empty() {
                    cuts.push(span.clone());
                }
                cuts.extend(found.iter().map(|at| span.start + at.start..span.start + at.end));
            }
            _ => {}
        }
        match event {
            Event::Start(Tag::Link { dest_url, .. }) if !known.has(&dest_url) => open = Some((span, None)),
            Event::End(TagEnd::Link) => {
                if let Some((link, words)) = open.take() {
                    let words = words.unwrap_or(link.end..link.end);
                    cuts.extend([link.start..words.start, words.end..link.end]);
                }
            }
            Event::Start(Tag::Image { dest_url, .. }) if !known.has(&dest_url) => cuts.push(span),
            Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::HtmlBlock) => cuts.push(span),
            _ => {
                if let Some((_, words)) = &mut open {
                    let start = words
                        .as_ref()
                        .map_or(span.start, |words| words.start.min(span.start));
                    let end = words.as_ref().map_or(span.end, |words| words.end.max(span.end));
                    *words = Some(start..end);
                }
            }
        }
    }
    cut(markdown, cuts)
}

fn cut(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    cuts.sort_by_key(|cut| cut.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for cut in cuts {
        if cut.start > at {
            out.push_str(&text[at..cut.start]);
        }
        at = at.max(cut.end);
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop_assert, proptest};

    use super::keep_known;
    use crate::document::Document;

    const KNOWN: &str = "https://a.example/desks";

    #[test]
    fn the_words_of_a_link_stay() {
        for (text, kept) in [
            (
                "See [our **desks**](https://a.example/desks).",
                "See [our **desks**](https://a.example/desks).",
            ),
            (
                "See [our **desks**](https://b.example/x \"t\").",
                "See our **desks**.",
            ),
            (
                "See [it][1], [them][2].\n\n[1]: https://b.example/\n[2]: https://a.example/desks",
                "See it, [them][2].\n\n\n[2]: https://a.example/desks",
            ),
            ("[1]: https://b.example/ \"t\"\n\nx", "\n\nx"),
            ("See <https://b.example/>.", "See ."),
            ("See (https://b.example/a_b_c), or it.", "See (), or it."),
            ("See WWW.b.example.", "See ."),
            ("See https://a.example/desks.", "See https://a.example/desks."),
            ("\\[See\\](https://b.example/)", "\\[See\\]()"),
            ("a *b* https&#58;//b.example/", "a *b*"),
            ("    https://b.example/\n", "    https://b.example/\n"),
            ("[](https://b.example/)x", "x"),
            ("[relative](/x) [mail](mailto:a@b.example)", "relative mail"),
            ("![a](https://b.example/i.png)b", "b"),
            ("a <script>alert(1)</script> b", "a alert(1) b"),
            ("<div>\nblock\n</div>\n\ntext", "\ntext"),
            ("`[code](https://b.example/)`", "`[code](https://b.example/)`"),
        ] {
            assert_eq!(keep_known(text, &[KNOWN]), kept);
        }
    }

    /// Each pass would take one of these links out, and their number decide how long it takes.
    #[test]
    fn links_in_links_are_no_links() {
        let nested = |links: usize| {
            format!(
                "{}x{} [desks]({KNOWN})",
                "[".repeat(links),
                "](https://b.example/)".repeat(links)
            )
        };
        assert_eq!(keep_known(&nested(3), &[KNOWN]), format!("x [desks]({KNOWN})"));
        let kept = keep_known(&nested(2_000), &[KNOWN]);
        assert!(!kept.contains('[') && !kept.contains("b.example"), "{kept}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_link_leads_elsewhere(text in "([a-z ]|[\\[\\]()<>!*_`\n:]|https://b\\.example/|https://a\\.example/desks|\\[x\\]\\(|<a href=\"https://b\\.example\">){0,40}") {
            let kept = keep_known(&text, &[KNOWN]);
            let document = Document::of_markdown(&kept).unwrap();
            let is_code = kept.contains('`') || kept.contains("    ");
            prop_assert!(is_code || !document.plain_text().contains("b.example"), "{}", kept);
            for link in document.links {
                prop_assert!(link.href == KNOWN, "{:?}: {}", link, kept);
            }
        }
    }
}
