//! Reports what a text loses on its way to readers: what [`sanitise`](super::sanitise) takes out, and addresses that
//! depend on where the text is read.

use ammonia::Url;
use url::ParseError;

use super::{
    html::{Piece, is_void, read},
    markdown::{Refused, render},
    sanitise::{ATTRIBUTES, EVERYWHERE, FOREIGN, LinkPolicy, SCHEMES, TAGS, is_from_root},
};

/// Most losses reported of one text.
const MAX_LOSSES: usize = 50;
/// Most characters of an address in a report.
const MAX_ADDRESS: usize = 200;

/// Something that a text loses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// An element, as its tag with its address.
    Element {
        /// The tag.
        tag: String,
        /// Its content goes with it; else its text stays.
        with_content: bool,
    },
    /// An attribute of an element that stays.
    Attribute {
        /// Name of the element.
        element: String,
        /// The attribute with its value.
        attribute: String,
    },
    /// An address relative to the page it is read on, which is not known.
    Relative {
        /// The address, as written.
        address: String,
        /// It is the address of an image.
        is_image: bool,
    },
}

/// Reports what a Markdown text loses, each once, in reading order.
pub fn losses(markdown: &str, links: &LinkPolicy) -> Result<Vec<Loss>, Refused> {
    let mut found = Vec::new();
    // the element that takes its content with it, and how many of its name are open
    let mut inside: Option<(String, usize)> = None;
    for piece in read(&render(markdown)?, |_| Ok(()))? {
        match (&piece, &mut inside) {
            (Piece::Open { name, .. }, Some((outer, open))) => *open += usize::from(name == outer),
            (Piece::Close(name), Some((outer, open))) if name == outer => {
                *open -= 1;
                if *open == 0 {
                    inside = None;
                }
            }
            (Piece::Open { name, attributes }, None) => {
                // the only field that a post may have is the box of a task
                let is_field = name == "input" && piece.attribute("type") != Some("checkbox");
                let all = if TAGS.contains(&name.as_str()) && !is_field {
                    of_attributes(name, attributes, links)
                } else if matches!(name.as_str(), "html" | "head" | "body") {
                    Vec::new()
                } else {
                    let with_content = FOREIGN.contains(&name.as_str());
                    if with_content {
                        inside = Some((name.clone(), 1));
                    }
                    vec![Loss::Element {
                        tag: tag(&piece),
                        with_content: with_content || is_void(name),
                    }]
                };
                for loss in all {
                    if found.len() < MAX_LOSSES && !found.contains(&loss) {
                        found.push(loss);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// A tag as it is reported: with the address of what it embeds.
fn tag(piece: &Piece) -> String {
    let Piece::Open { name, .. } = piece else {
        return String::new();
    };
    let address = ["src", "href", "data", "action", "code"]
        .iter()
        .find_map(|attribute| Some((attribute, piece.attribute(attribute)?)));
    match address {
        Some((attribute, address)) => format!("<{name} {attribute}=\"{}\">", shortened(address)),
        None => format!("<{name}>"),
    }
}

fn of_attributes(element: &str, attributes: &[(String, String)], links: &LinkPolicy) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (name, value) in attributes {
        let is_address = matches!((element, name.as_str()), ("a", "href") | ("img", "src"));
        if is_address {
            losses.extend(of_address(element, name, value, links));
        } else if !is_kept(element, name) && !is_silent(element, name) {
            losses.push(Loss::Attribute {
                element: element.to_owned(),
                attribute: format!("{name}=\"{}\"", shortened(value)),
            });
        }
    }
    losses
}

fn of_address(element: &str, name: &str, value: &str, links: &LinkPolicy) -> Option<Loss> {
    let is_image = name == "src";
    let is_allowed = match Url::parse(value) {
        Ok(url) => SCHEMES.contains(&url.scheme()) && !(is_image && matches!(url.scheme(), "mailto" | "tel")),
        Err(ParseError::RelativeUrlWithoutBase) => {
            let stays = is_from_root(value) || value.starts_with('#') || value.trim().is_empty();
            let depends = !stays && links.absolute(value).is_none();
            return depends.then(|| Loss::Relative {
                address: shortened(value),
                is_image,
            });
        }
        Err(_) => false,
    };
    (!is_allowed).then(|| Loss::Attribute {
        element: element.to_owned(),
        attribute: format!("{name}=\"{}\"", shortened(value)),
    })
}

fn is_kept(element: &str, name: &str) -> bool {
    let of_element = ATTRIBUTES.iter().find(|(known, _)| *known == element);
    EVERYWHERE.contains(&name) || of_element.is_some_and(|(_, names)| names.contains(&name))
}

/// Attributes of which no reader misses anything, or that are written anew.
fn is_silent(element: &str, name: &str) -> bool {
    let is_written_anew = element == "a" && matches!(name, "rel" | "target" | "name");
    let is_hint = matches!(
        name,
        "class" | "role" | "tabindex" | "loading" | "decoding" | "fetchpriority" | "srcset" | "sizes"
    );
    is_written_anew || is_hint || name.starts_with("data-") || name.starts_with("aria-")
}

fn shortened(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .take(MAX_ADDRESS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Loss, losses};
    use crate::sanitise::LinkPolicy;

    fn found(markdown: &str, page: &str) -> Vec<String> {
        let links = LinkPolicy {
            page: page.parse().ok(),
            ..LinkPolicy::default()
        };
        let shown = |loss| match loss {
            Loss::Element { tag, with_content } => format!("{tag} {with_content}"),
            Loss::Attribute { element, attribute } => format!("{element}: {attribute}"),
            Loss::Relative { address, is_image } => format!("{address} {is_image}"),
        };
        losses(markdown, &links).unwrap().into_iter().map(shown).collect()
    }

    #[test]
    fn removed_markup_is_named() {
        let text = "<iframe src=\"https://video.example/1\"><p style=\"x\">no</p></iframe>\n\n\
            <section>\n\n<p onclick=\"x()\" class=\"y\">a</p>\n\n</section>\n\n\
            [b](javascript:alert(1)) [c](tel:+4930) <audio src=\"/a.mp3\"></audio> <audio src=\"/a.mp3\"></audio>\n\n\
            ![d](data:image/png;base64,AAAA)\n";
        assert_eq!(
            found(text, ""),
            [
                "<iframe src=\"https://video.example/1\"> true",
                "<section> false",
                "p: onclick=\"x()\"",
                "a: href=\"javascript:alert(1)\"",
                "<audio src=\"/a.mp3\"> false",
                "img: src=\"data:image/png;base64,AAAA\"",
            ]
        );
        let sound = "# A\n\nText[^1] with `code`, [link](/a#b \"T\") and ![x](/x.png).\n\n- [x] y\n\n|a|\n|:-:|\n|b|\n\n\
            <ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>\n\n```rust\nx\n```\n\n[^1]: Note.\n";
        assert_eq!(found(sound, ""), [] as [&str; 0]);
    }

    #[test]
    fn addresses_that_depend_on_the_page_are_named() {
        let text = "[a](guide.html) ![b](img/b.png) [c](/c) [d](#d) [e](?f=1) [g](https://x.example)";
        assert_eq!(
            found(text, ""),
            ["guide.html false", "img/b.png true", "?f=1 false"]
        );
        assert_eq!(found(text, "https://example.com/blog/a"), [] as [&str; 0]);
    }
}
