//! A brief as a text to write over, in which nothing that strangers wrote is markup.

use std::fmt::Write as _;

use searchwright_contract::keywords::Intent;
use searchwright_keywords::words::primary;

use super::{BRAND_DATA, Brief, one_line};

/// Words of a brief in one language. `{}` stands for what differs.
pub(super) struct Labels {
    opening: &'static str,
    keyword: &'static str,
    title: &'static str,
    wish: &'static str,
    /// Wishes by intent: informational, navigational, commercial, transactional.
    wishes: [&'static str; 4],
    secondary: &'static str,
    language: &'static str,
    length: &'static str,
    between_words: [&'static str; 2],
    brand: &'static str,
    voice: &'static str,
    banned: &'static str,
    unanswered: &'static str,
    link: &'static str,
    close: &'static str,
    source: &'static str,
    brand_data: &'static str,
    /// Heading of the section about own pages.
    pub own_pages: &'static str,
    /// Fact about the audience of a product.
    pub audience: &'static str,
}

const ENGLISH: Labels = Labels {
    opening: "Brief, not an article: what the project knows about “{}”. Write the text over it.",
    keyword: "Keyword",
    title: "Title",
    wish: "The reader wants",
    wishes: [
        "to know something (informational)",
        "to reach a known place (navigational)",
        "to compare before buying (commercial)",
        "to buy or act (transactional)",
    ],
    secondary: "Further keywords",
    language: "Language",
    length: "Length",
    between_words: ["to", "words"],
    brand: "Brand",
    voice: "Voice",
    banned: "Never say",
    unanswered: "nothing in the project answers this yet",
    link: "Link to",
    close: "Close with",
    source: "source",
    brand_data: BRAND_DATA,
    own_pages: "{}: what the site says already",
    audience: "For {}",
};

const GERMAN: Labels = Labels {
    opening: "Briefing, kein Artikel: was das Projekt über „{}“ weiß. Der Text wird darüber geschrieben.",
    keyword: "Keyword",
    title: "Titel",
    wish: "Leser möchten",
    wishes: [
        "etwas wissen (informational)",
        "zu einer bekannten Seite (navigational)",
        "vor dem Kauf vergleichen (commercial)",
        "kaufen oder handeln (transactional)",
    ],
    secondary: "Weitere Keywords",
    language: "Sprache",
    length: "Länge",
    between_words: ["bis", "Wörter"],
    brand: "Marke",
    voice: "Tonfall",
    banned: "Nie sagen",
    unanswered: "im Projekt steht dazu noch nichts",
    link: "Verlinken",
    close: "Schließen mit",
    source: "Quelle",
    brand_data: "Markendaten",
    own_pages: "{}: Was schon auf der Website steht",
    audience: "Für {}",
};

/// Returns the words of a brief in a BCP 47 language; English where there are none.
pub(super) fn labels(language: &str) -> &'static Labels {
    match primary(language).as_str() {
        "de" => &GERMAN,
        _ => &ENGLISH,
    }
}

impl Brief {
    /// Returns the brief as Markdown in its own language, to be replaced by the text of the post.
    pub fn to_markdown(&self) -> String {
        let labels = labels(&self.language);
        let mut out = String::new();
        let _ = writeln!(out, "> {}\n", labels.opening.replace("{}", &plain(&self.topic)));
        let mut line = |label: &str, text: &str| {
            let _ = writeln!(out, "- {label}: {text}");
        };
        line(labels.keyword, &plain(&self.topic));
        if !self.title.is_empty() {
            line(labels.title, &plain(&self.title));
        }
        if let Some(intent) = self.intent {
            line(labels.wish, labels.wishes[wish(intent)]);
        }
        if !self.secondary_keywords.is_empty() {
            line(labels.secondary, &plain(&self.secondary_keywords.join(", ")));
        }
        line(labels.language, &plain(&self.language));
        let [to, words] = labels.between_words;
        line(
            labels.length,
            &format!("{} {to} {} {words}", self.words.0, self.words.1),
        );
        for (label, text) in [(labels.brand, &self.brand), (labels.voice, &self.tone)] {
            if let Some(text) = text {
                line(label, &plain(text));
            }
        }
        if !self.banned_phrases.is_empty() {
            line(labels.banned, &plain(&self.banned_phrases.join("; ")));
        }
        for section in &self.sections {
            let _ = writeln!(out, "\n## {}\n", plain(&section.heading));
            for fact in &section.facts {
                let _ = writeln!(out, "- {} ({})", plain(&fact.text), source(&fact.source, labels));
            }
            if section.facts.is_empty() {
                let _ = writeln!(out, "- {}", labels.unanswered);
            }
        }
        for (heading, links) in [(labels.link, &self.links), (labels.close, &self.ctas)] {
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

const fn wish(intent: Intent) -> usize {
    match intent {
        Intent::Informational => 0,
        Intent::Navigational => 1,
        Intent::Commercial => 2,
        Intent::Transactional => 3,
    }
}

fn source(source: &str, labels: &Labels) -> String {
    if source == BRAND_DATA {
        labels.brand_data.to_owned()
    } else {
        format!("[{}]({})", labels.source, address(source))
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
