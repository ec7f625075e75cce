//! Markdown (CommonMark with tables, strikethrough, task lists and footnotes) to sanitised HTML.

use std::collections::HashMap;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html::push_html};
use serde::Serialize;

use super::{
    guard::MAX_DEPTH,
    sanitise::{LinkPolicy, anchor, sanitise},
};

/// Bytes of a text, Markdown or HTML.
pub const MAX_BYTES: usize = 1 << 20;

/// Reason why a text is not rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// More than [`MAX_BYTES`].
    #[error("the text is longer than 1 MiB")]
    TooLong,
    /// Quotes, lists, emphasis or elements nested deeper than any reader follows.
    #[error("the text is nested more than 256 levels deep; close what is open")]
    TooDeep,
    /// A tree of it would be out of proportion.
    #[error("the text has too many HTML elements")]
    TooManyElements,
    /// One tag or comment takes more than 16 KiB.
    #[error("an HTML tag or comment is longer than 16 KiB; give images by address, not as data")]
    TagTooLong,
    /// HTML that every reading turns into something else.
    #[error("the HTML is nested in ways HTML does not allow")]
    Unstable,
}

/// The extensions a post may use.
pub fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
}

/// Renders Markdown and sanitises what comes out.
///
/// Headings get an `id` made of their text, prefixed as all ids are. Takes time linear in the text.
pub fn to_html(markdown: &str, links: &LinkPolicy) -> Result<String, Refused> {
    sanitise(&render(markdown)?, links)
}

/// Renders Markdown without sanitising it.
pub(super) fn render(markdown: &str) -> Result<String, Refused> {
    if markdown.len() > MAX_BYTES {
        return Err(Refused::TooLong);
    }
    let mut depth = 0usize;
    let mut events = Vec::new();
    for event in Parser::new_ext(markdown, options()) {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(Refused::TooDeep);
        }
        events.push(event);
    }
    name_headings(&mut events);
    name_footnotes(&mut events);
    let mut html = String::with_capacity(markdown.len() * 3 / 2);
    push_html(&mut html, events.into_iter());
    // a style attribute would not survive
    for cell in ["td", "th"] {
        for side in ["left", "center", "right"] {
            let styled = format!("<{cell} style=\"text-align: {side}\">");
            if html.contains(&styled) {
                html = html.replace(&styled, &format!("<{cell} align=\"{side}\">"));
            }
        }
    }
    Ok(html)
}

/// Gives every heading the anchor its text makes, numbered where two are the same.
fn name_headings(events: &mut [Event<'_>]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut start = None;
    let mut text = String::new();
    for at in 0..events.len() {
        match &events[at] {
            Event::Start(Tag::Heading { .. }) => start = Some(at),
            Event::Text(part) | Event::Code(part) if start.is_some() => text.push_str(part),
            Event::SoftBreak | Event::HardBreak if start.is_some() => text.push(' '),
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&std::mem::take(&mut text));
                if let Some(Event::Start(Tag::Heading { id, .. })) =
                    start.take().and_then(|start| events.get_mut(start))
                    && let Some(name) = name
                {
                    let times = seen.entry(name.clone()).or_default();
                    *times += 1;
                    *id = Some(match times {
                        1 => name.into(),
                        n => format!("{name}-{n}").into(),
                    });
                }
            }
            _ => {}
        }
    }
}

/// Names footnotes apart from headings, so that a note `1` and a heading "1" do not share an anchor.
fn name_footnotes(events: &mut [Event<'_>]) {
    let name = |label: &CowStr<'_>| anchor(&format!("fn-{label}")).unwrap_or_default().into();
    for event in events {
        match event {
            Event::FootnoteReference(label) | Event::Start(Tag::FootnoteDefinition(label)) => {
                *label = name(label);
            }
            _ => {}
        }
    }
}
