//! Takes out of a text what a model may not put in: links and images that lead where nobody pointed, and HTML.

use std::ops::Range;

use ammonia::Url;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use searchwright_site::url_key::url_key;

use super::markdown::options;

/// Markdown in which only links to known addresses are links: of the others the words stay. Images elsewhere
/// and HTML are gone.
pub fn keep_known(markdown: &str, known: &[&str]) -> String {
    let key = |address: &str| Some(url_key(&Url::parse(address).ok()?).into_owned());
    let known: Vec<String> = known.iter().filter_map(|address| key(address)).collect();
    let is_known = |address: &str| key(address).is_some_and(|key| known.contains(&key));
    let mut cuts: Vec<Range<usize>> = Vec::new();
    // Of a link that goes, where it begins and which of its bytes stay so far.
    let mut open: Option<(Range<usize>, Option<Range<usize>>)> = None;
    for (event, span) in Parser::new_ext(markdown, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) if !is_known(&dest_url) => open = Some((span, None)),
            Event::End(TagEnd::Link) => {
                if let Some((link, words)) = open.take() {
                    let words = words.unwrap_or(link.end..link.end);
                    cuts.extend([link.start..words.start, words.end..link.end]);
                }
            }
            Event::Start(Tag::Image { dest_url, .. }) if !is_known(&dest_url) => cuts.push(span),
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
    cuts.sort_by_key(|cut| cut.start);
    let mut out = String::with_capacity(markdown.len());
    let mut at = 0;
    for cut in cuts {
        if cut.start > at {
            out.push_str(&markdown[at..cut.start]);
        }
        at = at.max(cut.end);
    }
    out.push_str(&markdown[at..]);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop_assert, proptest};

    use super::keep_known;
    use crate::writing::document::Document;

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
                "See [it][1].\n\n[1]: https://b.example/",
                "See it.\n\n[1]: https://b.example/",
            ),
            ("See <https://b.example/>.", "See https://b.example/."),
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

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_link_leads_elsewhere(text in "([a-z ]|[\\[\\]()<>!*_`\n:]|https://b\\.example/|https://a\\.example/desks|\\[x\\]\\(|<a href=\"https://b\\.example\">){0,40}") {
            let once = keep_known(&text, &[KNOWN]);
            // Taking something out can make a link of what is left; what is shown is what is left in the end.
            let mut last = once;
            for _ in 0..40 {
                let next = keep_known(&last, &[KNOWN]);
                if next == last {
                    break;
                }
                last = next;
            }
            let document = Document::of_markdown(&last).unwrap();
            for link in document.links {
                prop_assert!(link.href == KNOWN, "{:?}: {}", link, last);
            }
        }
    }
}
