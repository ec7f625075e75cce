//! A brief as a text to write over, in which nothing that strangers wrote is markup.

use std::fmt::Write as _;

use searchwright_contract::keywords::Intent;

use super::{BRAND_DATA, Brief, one_line};

impl Brief {
    /// Returns the brief as Markdown, to be replaced by the text of the post.
    pub fn to_markdown(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "> Brief, not an article: what the project knows about “{}”. Write the text over it.\n",
            plain(&self.topic)
        );
        let mut line = |label: &str, text: &str| {
            let _ = writeln!(out, "- {label}: {text}");
        };
        line("Keyword", &plain(&self.topic));
        if !self.title.is_empty() {
            line("Title", &plain(&self.title));
        }
        if let Some(intent) = self.intent {
            line("The reader wants", wish(intent));
        }
        if !self.secondary_keywords.is_empty() {
            line("Further keywords", &plain(&self.secondary_keywords.join(", ")));
        }
        line("Language", &plain(&self.language));
        line("Length", &format!("{} to {} words", self.words.0, self.words.1));
        for (label, text) in [("Brand", &self.brand), ("Voice", &self.tone)] {
            if let Some(text) = text {
                line(label, &plain(text));
            }
        }
        if !self.banned_phrases.is_empty() {
            line("Never say", &plain(&self.banned_phrases.join("; ")));
        }
        for section in &self.sections {
            let _ = writeln!(out, "\n## {}\n", plain(&section.heading));
            for fact in &section.facts {
                let _ = writeln!(out, "- {} ({})", plain(&fact.text), source(&fact.source));
            }
            if section.facts.is_empty() {
                out.push_str("- nothing in the project answers this yet\n");
            }
        }
        for (heading, links) in [("Link to", &self.links), ("Close with", &self.ctas)] {
            if !links.is_empty() {
                let _ = writeln!(out, "\n## {heading}\n");
            }
            for link in links {
                let beside = link.text.as_ref().map(|text| format!(": {}", plain(text)));
                let _ = writeln!(
                    out,
                    "- [{}]({}){}",
                    plain(&link.title),
                    address(&link.url),
                    beside.unwrap_or_default()
                );
            }
        }
        out
    }
}

const fn wish(intent: Intent) -> &'static str {
    match intent {
        Intent::Informational => "to know something (informational)",
        Intent::Navigational => "to reach a known place (navigational)",
        Intent::Commercial => "to compare before buying (commercial)",
        Intent::Transactional => "to buy or act (transactional)",
    }
}

fn source(source: &str) -> String {
    if source == BRAND_DATA {
        BRAND_DATA.to_owned()
    } else {
        format!("[source]({})", address(source))
    }
}

/// An address within the parentheses of a link, none of whose characters ends it.
pub fn address(url: &str) -> String {
    let mut out = String::from("<");
    for c in url.chars() {
        match c {
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\\' => out.push_str("%5C"),
            c if c.is_whitespace() => out.push_str("%20"),
            c => out.push(c),
        }
    }
    out.push('>');
    out
}

/// A text of strangers on one line, none of whose characters is markup.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        // CommonMark 2.4: any ASCII punctuation may be escaped
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '!'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
