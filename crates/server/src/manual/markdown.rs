//! Chapters from Markdown to HTML. The texts are the program's own, so nothing is taken out of them.

use std::collections::HashMap;

use pulldown_cmark::{Alignment, Event, Options, Parser, Tag, TagEnd, html::push_html};

/// Most characters of the description of a page.
const MAX_DESCRIPTION: usize = 155;

/// A page without what is around it.
#[derive(Debug, Default)]
pub(super) struct Article {
    /// Text of its main heading.
    pub title: String,
    /// Beginning of its first paragraph.
    pub description: String,
    pub html: String,
}

/// Renders a chapter. `resolve` turns the targets of links and images, as they are in the repository, into those of the page.
pub(super) fn render(text: &str, resolve: impl Fn(&str) -> String) -> Article {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, options).collect();
    for event in &mut events {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                *dest_url = resolve(dest_url).into();
            }
            // The style sheet has a class for numbers; other cells begin at the left anyway.
            Event::Start(Tag::Table(sides)) => {
                for side in sides.iter_mut().filter(|side| **side != Alignment::Right) {
                    *side = Alignment::None;
                }
            }
            _ => {}
        }
    }
    let title = name_headings(&mut events);
    let description = describe(&events);
    let mut html = String::with_capacity(text.len() * 3 / 2);
    push_html(&mut html, events.into_iter());
    for (from, to) in [
        ("<pre><code", "<pre tabindex=\"0\"><code"),
        ("<table>", "<div class=\"wide\" tabindex=\"0\"><table>"),
        ("</table>", "</table></div>"),
        ("<th>", "<th scope=\"col\">"),
        ("<th scope=\"col\"></th>", "<td></td>"),
        (
            "<th style=\"text-align: right\">",
            "<th scope=\"col\" class=\"num\">",
        ),
        ("<td style=\"text-align: right\">", "<td class=\"num\">"),
    ] {
        html = html.replace(from, to);
    }
    Article {
        title,
        description,
        html,
    }
}

/// Gives each heading the anchor that a repository's pages give it, and returns the text of the first.
fn name_headings(events: &mut [Event<'_>]) -> String {
    let mut used: HashMap<String, usize> = HashMap::new();
    let (mut start, mut text, mut title) = (None, String::new(), None);
    for at in 0..events.len() {
        match &events[at] {
            Event::Start(Tag::Heading { .. }) => start = Some(at),
            Event::Text(part) | Event::Code(part) if start.is_some() => text.push_str(part),
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&text);
                if let Some(Event::Start(Tag::Heading { id, .. })) =
                    start.take().and_then(|start| events.get_mut(start))
                {
                    let times = used.entry(name.clone()).or_default();
                    *id = Some(match *times {
                        0 => name.into(),
                        n => format!("{name}-{n}").into(),
                    });
                    *times += 1;
                }
                title.get_or_insert_with(|| std::mem::take(&mut text));
                text.clear();
            }
            _ => {}
        }
    }
    title.unwrap_or_default()
}

/// Anchor of a heading: lower case, hyphens for spaces, without punctuation.
fn anchor(text: &str) -> String {
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// Returns the beginning of the first paragraph, up to the end of a sentence or word.
fn describe(events: &[Event<'_>]) -> String {
    let mut text = String::new();
    let mut is_inside = false;
    for event in events {
        match event {
            Event::Start(Tag::Paragraph) => is_inside = true,
            Event::Text(part) | Event::Code(part) if is_inside => text.push_str(part),
            Event::SoftBreak | Event::HardBreak if is_inside => text.push(' '),
            Event::End(TagEnd::Paragraph) if is_inside => break,
            _ => {}
        }
    }
    shorten(&text)
}

/// Cuts a text to the length of a description.
pub(super) fn shorten(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_DESCRIPTION) else {
        return text.to_owned();
    };
    let head = text.get(..end).unwrap_or_default();
    if let Some(end) = head.rfind(". ").filter(|end| *end > MAX_DESCRIPTION / 2) {
        return head.get(..=end).unwrap_or_default().to_owned();
    }
    let end = head.rfind(' ').unwrap_or(head.len());
    let words = head.get(..end).unwrap_or_default();
    format!("{}…", words.trim_end_matches([',', ';', ':', '(', ' ']))
}

#[cfg(test)]
mod tests {
    use super::{anchor, render, shorten};

    #[test]
    fn chapters_become_pages() {
        let text = "# The `files` place\n\nPosts *here*, [there](other.md#a)\nand on.\n\n## Two words, again\n\n## Two words again\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n";
        let page = render(text, |target| format!("/{target}"));
        assert_eq!(page.title, "The files place");
        assert_eq!(page.description, "Posts here, there and on.");
        for part in [
            "<h1 id=\"the-files-place\">",
            "href=\"/other.md#a\"",
            "<h2 id=\"two-words-again\">",
            "<h2 id=\"two-words-again-1\">",
            "<td class=\"num\">2</td>",
            "<th scope=\"col\">a</th>",
        ] {
            assert!(page.html.contains(part), "{part}: {}", page.html);
        }
        assert!(!page.html.contains("style="), "{}", page.html);
    }

    #[test]
    fn anchors_are_those_of_repositories() {
        assert_eq!(
            anchor("Keys that secrets are sealed with"),
            "keys-that-secrets-are-sealed-with"
        );
        assert_eq!(anchor("401, 403: `no` entry"), "401-403-no-entry");
    }

    #[test]
    fn descriptions_end_with_a_sentence_or_a_word() {
        let long = "A sentence that has eighty letters is long enough to stand alone as a summary, so it does. And then there is more of it, which is left out of the description.";
        assert!(shorten(long).ends_with("so it does."));
        let words = "word ".repeat(60);
        assert!(shorten(&words).ends_with("word…"));
        assert!(shorten(&words).chars().count() <= 155);
    }
}
