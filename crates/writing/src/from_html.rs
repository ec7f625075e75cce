//! Markdown of HTML, where rendering it gives the HTML back.
//!
//! A post kept as HTML becomes Markdown only when nothing is lost. Whether that is so is not reasoned about but
//! tried: the Markdown is rendered and compared.

use super::{
    html::{Piece, is_block, is_void, pieces},
    markdown::{Refused, to_html},
    sanitise::{ID_PREFIX, LinkPolicy, sanitise},
};

mod tree;
mod write;

/// Reason why HTML is not converted to Markdown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFaithful {
    /// The HTML cannot even be sanitised.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Markdown has no way to write this.
    #[error("Markdown cannot say what <{0}> does here")]
    Element(String),
    /// The Markdown could be written, but would be read as something else.
    #[error("the Markdown would be read differently, first at {0}")]
    Differs(String),
}

/// Markdown that renders to this HTML, sanitised; white space that does not show, and ids of headings that have
/// none, may differ.
pub fn from_html(html: &str, links: &LinkPolicy) -> Result<String, NotFaithful> {
    let clean = sanitise(html, links)?;
    let wanted = pieces(&clean);
    let markdown = write::blocks(&tree::build(&wanted))?;
    let back = pieces(&to_html(&markdown, links)?);
    match difference(&comparable(&wanted), &comparable(&back)) {
        None => Ok(markdown),
        Some(place) => Err(NotFaithful::Differs(place)),
    }
}

/// Runs of ASCII white space as one space.
pub fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' ' | '\t' | '\n' | '\r' | '\u{c}' if out.ends_with(' ') => {}
            ' ' | '\t' | '\n' | '\r' | '\u{c}' => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

/// Pieces without the white space that does not show.
fn comparable(pieces: &[Piece]) -> Vec<Piece> {
    let is_edge = |piece: Option<&Piece>| match piece {
        None => true,
        Some(Piece::Open { name, .. } | Piece::Close(name)) => is_block(name),
        Some(Piece::Text(_)) => false,
    };
    let mut preformatted = 0usize;
    let mut out = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Open { name, .. } if name == "pre" => preformatted += 1,
            Piece::Close(name) if name == "pre" => preformatted = preformatted.saturating_sub(1),
            _ => {}
        }
        match piece {
            Piece::Text(text) if preformatted == 0 => {
                let mut text = folded(text);
                if is_edge(at.checked_sub(1).and_then(|before| pieces.get(before))) {
                    text = text.trim_start_matches(' ').to_owned();
                }
                if is_edge(pieces.get(at + 1)) {
                    text.truncate(text.trim_end_matches(' ').len());
                }
                if !text.is_empty() {
                    out.push(Piece::Text(text));
                }
            }
            Piece::Open { name, attributes } => {
                let mut attributes = attributes.clone();
                for (name, value) in &mut attributes {
                    if matches!(name.as_str(), "href" | "src") {
                        *value = encoded(value);
                    }
                }
                attributes.sort();
                out.push(Piece::Open {
                    name: name.clone(),
                    attributes,
                });
            }
            other => out.push(other.clone()),
        }
    }
    out
}

/// An address with everything percent-encoded that a browser would encode, and the renderer does.
fn encoded(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    for byte in address.bytes() {
        match byte {
            b if b.is_ascii_alphanumeric() => out.push(char::from(b)),
            b if b"!#$%&'()*+,-./:;=?@_~".contains(&b) => out.push(char::from(b)),
            b => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

/// The first place where they differ. A heading may have got an id it did not have.
fn difference(wanted: &[Piece], back: &[Piece]) -> Option<String> {
    let same = |a: &Piece, b: &Piece| match (a, b) {
        (
            Piece::Open {
                name: a,
                attributes: x,
            },
            Piece::Open {
                name: b,
                attributes: y,
            },
        ) => {
            let heading = matches!(a.as_bytes(), [b'h', b'1'..=b'6']);
            let bare = heading && !x.iter().any(|(name, _)| name == "id");
            let given = y.iter().filter(|(name, _)| !(bare && name == "id"));
            a == b && x.iter().eq(given)
        }
        _ => a == b,
    };
    let show = |piece: Option<&Piece>| match piece {
        None => "the end".to_owned(),
        Some(Piece::Open { name, .. }) => format!("<{name}>"),
        Some(Piece::Close(name)) => format!("</{name}>"),
        Some(Piece::Text(text)) => format!("\"{}\"", searchwright_text::cut(text, 40)),
    };
    let at = wanted
        .iter()
        .zip(back)
        .position(|(a, b)| !same(a, b))
        .or_else(|| (wanted.len() != back.len()).then(|| wanted.len().min(back.len())))?;
    Some(show(wanted.get(at)))
}

/// A fragment as an author writes it.
pub(crate) fn own_href(href: &str) -> String {
    match href
        .strip_prefix('#')
        .and_then(|fragment| fragment.strip_prefix(ID_PREFIX))
    {
        Some(name) => format!("#{name}"),
        None => href.to_owned(),
    }
}

/// Returns whether an element has an end tag.
pub(crate) fn has_end(name: &str) -> bool {
    !is_void(name)
}

#[cfg(test)]
#[path = "from_html/tests.rs"]
mod tests;
