//! HTML that may be shown: an allowlist of elements, attributes and schemes, and links that say what they are.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use ammonia::{Builder, Url, UrlRelative};
use searchwright_site::url_key::url_key;

use super::{
    guard::Depth,
    html::{Piece, pieces, read, rewrite, write},
    markdown::{MAX_BYTES, Refused},
};

/// Prefix of ids, so that none can shadow a name of the page they are shown on (DOM clobbering).
pub const ID_PREFIX: &str = "user-content-";

const TAGS: &[&str] = &[
    "a",
    "abbr",
    "b",
    "blockquote",
    "br",
    "caption",
    "cite",
    "code",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "input",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "small",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "time",
    "tr",
    "u",
    "ul",
    "var",
    "wbr",
];

// no `cite`: ammonia takes it for an address on some elements only, and no reader shows it
const ATTRIBUTES: &[(&str, &[&str])] = &[
    ("a", &["href", "title"]),
    ("abbr", &["title"]),
    ("code", &["class"]),
    ("del", &["datetime"]),
    ("details", &["open"]),
    ("img", &["src", "alt", "title", "width", "height"]),
    ("input", &["type", "checked", "disabled"]),
    ("ins", &["datetime"]),
    ("li", &["value"]),
    ("ol", &["start", "reversed"]),
    ("td", &["align", "colspan", "rowspan"]),
    ("th", &["align", "colspan", "rowspan", "scope"]),
    ("time", &["datetime"]),
];

const EVERYWHERE: &[&str] = &["id", "lang", "dir"];
const SCHEMES: &[&str] = &["http", "https", "mailto"];

/// Elements whose content is no HTML, or another language, or which hide what is in them from a tree
/// builder. They are renamed before a tree is built, so that every parser reads the same tags.
const FOREIGN: &[&str] = &[
    "script",
    "style",
    "textarea",
    "title",
    "xmp",
    "iframe",
    "noembed",
    "noframes",
    "noscript",
    "plaintext",
    "template",
    "svg",
    "math",
    "select",
    "frameset",
    "object",
    "applet",
    "marquee",
];

/// Names of [`FOREIGN`] elements, as renamed, that are dropped with their content.
const DROPPED: &[&str] = &[
    "x-script",
    "x-style",
    "x-textarea",
    "x-title",
    "x-iframe",
    "x-noembed",
    "x-noframes",
    "x-noscript",
    "x-template",
    "x-svg",
    "x-math",
    "x-select",
    "x-object",
    "x-applet",
];

/// Policy that says which links are marked as not ours.
#[derive(Clone, Debug, Default)]
pub struct LinkPolicy {
    /// Host of the project; its subdomains are ours too. `None`: only relative links are.
    pub own_host: Option<String>,
    /// Addresses elsewhere that were read as sources; followed.
    pub followed: Vec<String>,
}

/// Target of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This page, this site, or a subdomain.
    Internal,
    /// Elsewhere, vouched for.
    Source,
    /// Elsewhere.
    External,
    /// No web page (`mailto:`).
    Other,
}

impl LinkPolicy {
    /// Returns the target of `href`.
    pub fn target(&self, href: &str) -> Target {
        // browsers take `\` for `/` here, and `//host` for an address of another host
        let absolute = match href.trim_start().get(..2) {
            Some("//" | "\\\\" | "/\\" | "\\/") => Cow::Owned(format!("https:{}", href.trim_start())),
            _ => Cow::Borrowed(href),
        };
        let Ok(url) = Url::parse(&absolute) else {
            return Target::Internal;
        };
        let Some(host) = url.host_str().filter(|_| url.scheme() != "mailto") else {
            return Target::Other;
        };
        let own = self.own_host.as_deref().is_some_and(|own| {
            let own = own.strip_prefix("www.").unwrap_or(own);
            let inside = host.strip_suffix(own);
            inside.is_some_and(|before| before.is_empty() || before.ends_with('.'))
        });
        let key = url_key(&url);
        if own {
            Target::Internal
        } else if self
            .followed
            .iter()
            .filter_map(|known| Url::parse(known).ok())
            .any(|known| url_key(&known) == key)
        {
            Target::Source
        } else {
            Target::External
        }
    }
}

/// Name of the anchor that a text makes: lower case, letters and digits of any script, `-` for what is between.
pub fn anchor(text: &str) -> Option<String> {
    let mut name = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            '_' => name.push(c),
            c if c.is_alphanumeric() => name.push(c),
            c if !(c.is_whitespace() || matches!(c, '-' | '–' | '—' | '/')) => {}
            _ if name.is_empty() || name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    name.truncate(name.trim_end_matches('-').len());
    (!name.is_empty()).then_some(name)
}

/// Sanitises HTML. The result parses into what it says: sanitising it again changes nothing.
pub fn sanitise(html: &str, links: &LinkPolicy) -> Result<String, Refused> {
    const MAX_PASSES: usize = 6;
    // rendering lengthens a text, at worst by an entity per character
    if html.len() > 6 * MAX_BYTES {
        return Err(Refused::TooLong);
    }
    let mut html = Cow::Borrowed(html);
    for _ in 0..MAX_PASSES {
        let mut depth = Depth::default();
        let mut read = read(&html, |piece| depth.see(piece))?;
        read.iter_mut().for_each(rename);
        let clean = RULES.clean(&rewrite(&read)).to_string();
        let settled = write(&settle(pieces(&clean), links));
        // taking an element out of a tree may leave one that no HTML means, which the next pass repairs
        if settled == *html {
            return Ok(settled);
        }
        html = Cow::Owned(settled);
    }
    Err(Refused::Unstable)
}

/// Writes `x-` before the names of [`FOREIGN`] elements.
fn rename(piece: &mut Piece) {
    if let Piece::Open { name, .. } | Piece::Close(name) = piece
        && FOREIGN.contains(&name.as_str())
    {
        name.insert_str(0, "x-");
    }
}

static RULES: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut rules = Builder::empty();
    rules
        .tags(TAGS.iter().copied().collect())
        .clean_content_tags(DROPPED.iter().copied().collect())
        .tag_attributes(
            ATTRIBUTES
                .iter()
                .map(|(tag, names)| (*tag, names.iter().copied().collect()))
                .collect::<HashMap<_, HashSet<_>>>(),
        )
        .generic_attributes(EVERYWHERE.iter().copied().collect())
        .url_schemes(SCHEMES.iter().copied().collect())
        .url_relative(UrlRelative::PassThrough)
        .link_rel(None)
        .strip_comments(true)
        .attribute_filter(attribute);
    rules
});

/// The value an allowed attribute keeps, if any.
fn attribute<'u>(element: &str, name: &str, value: &'u str) -> Option<Cow<'u, str>> {
    let number =
        |value: &str| !value.is_empty() && value.len() < 6 && value.bytes().all(|b| b.is_ascii_digit());
    let keep = match name {
        "id" => return prefixed(value),
        "href" => {
            return match value.strip_prefix('#') {
                Some("") | None => Some(value.into()),
                Some(fragment) => prefixed(fragment).map(|id| format!("#{id}").into()),
            };
        }
        "src" => !value.trim_start().to_ascii_lowercase().starts_with("mailto:"),
        "class" => {
            return value
                .split_ascii_whitespace()
                .find(|class| class.starts_with("language-"))
                .map(Cow::Borrowed);
        }
        "align" => matches!(value, "left" | "center" | "right"),
        "type" => value == "checkbox",
        "dir" => matches!(value, "ltr" | "rtl" | "auto"),
        "scope" => matches!(value, "row" | "col" | "rowgroup" | "colgroup"),
        "width" | "height" | "colspan" | "rowspan" => number(value),
        "start" | "value" if matches!(element, "ol" | "li") => {
            number(value.strip_prefix('-').unwrap_or(value))
        }
        _ => true,
    };
    keep.then_some(Cow::Borrowed(value))
}

/// An id with [`ID_PREFIX`] before what [`anchor`] keeps of it.
fn prefixed<'u>(id: &str) -> Option<Cow<'u, str>> {
    let mut own = id;
    while let Some(rest) = own.strip_prefix(ID_PREFIX) {
        own = rest;
    }
    anchor(own).map(|name| format!("{ID_PREFIX}{name}").into())
}

/// Sets attributes that depend on others: `rel` of links, and `disabled` of boxes in task lists, which nobody can tick.
fn settle(pieces: Vec<Piece>, links: &LinkPolicy) -> Vec<Piece> {
    let settle = |mut piece| {
        if let Piece::Open { name, attributes } = &mut piece {
            match name.as_str() {
                "a" => {
                    let target = attributes
                        .iter()
                        .find(|(name, _)| name == "href")
                        .map(|(_, href)| links.target(href));
                    let rel = match target {
                        Some(Target::External) => Some("nofollow noopener"),
                        Some(Target::Source) => Some("noopener"),
                        _ => None,
                    };
                    attributes.extend(rel.map(|rel| ("rel".to_owned(), rel.to_owned())));
                }
                "input" => {
                    if !attributes.iter().any(|(name, _)| name == "type") {
                        return None;
                    }
                    attributes.retain(|(name, _)| name == "type" || name == "checked");
                    attributes.push(("disabled".to_owned(), String::new()));
                    for (name, value) in attributes {
                        if name == "checked" {
                            value.clear();
                        }
                    }
                }
                _ => {}
            }
        }
        Some(piece)
    };
    pieces.into_iter().filter_map(settle).collect()
}

#[cfg(test)]
#[path = "sanitise_tests.rs"]
mod tests;
