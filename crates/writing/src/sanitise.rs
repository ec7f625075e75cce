//! HTML that may be shown: an allowlist of elements, attributes and schemes, and links that say what they are.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use ammonia::{Builder, Url, UrlRelative};
use percent_encoding::percent_decode_str;
use searchwright_site::url_key::url_key;

use unicode_normalization::UnicodeNormalization as _;
use url::ParseError;

use super::{
    guard::Depth,
    html::{Piece, is_block, pieces, read, rewrite, write},
    markdown::{MAX_BYTES, Refused},
};

/// Prefix of ids, so that none can shadow a name of the page they are shown on (DOM clobbering).
pub const ID_PREFIX: &str = "user-content-";

pub(super) const TAGS: &[&str] = &[
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
    "rb",
    "rp",
    "rt",
    "rtc",
    "ruby",
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
pub(super) const ATTRIBUTES: &[(&str, &[&str])] = &[
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

pub(super) const EVERYWHERE: &[&str] = &["id", "lang", "dir"];
pub(super) const SCHEMES: &[&str] = &["http", "https", "mailto", "tel"];

/// Elements whose content is no HTML, or another language, or which hide what is in them from a tree
/// builder. They are renamed before a tree is built, so that every parser reads the same tags.
pub(super) const FOREIGN: &[&str] = &[
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
    /// Home page of the site that the text belongs to: addresses from its root are made absolute, because a text is read
    /// in feeds and by mail too. `None`: they stay.
    pub base: Option<Url>,
    /// Address that the text will have. Addresses relative to it are made absolute. `None`: they stay.
    pub page: Option<Url>,
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
    /// No web page (`mailto:`, `tel:`).
    Other,
}

impl LinkPolicy {
    /// Returns the absolute form of a relative address; `None` for others, and where its base is not known.
    pub fn absolute(&self, address: &str) -> Option<String> {
        let is_relative = matches!(Url::parse(address), Err(ParseError::RelativeUrlWithoutBase));
        if !is_relative || address.trim().is_empty() {
            return None;
        }
        let base = if is_from_root(address) {
            self.base.as_ref()
        } else {
            self.page.as_ref()
        };
        base?.join(address).ok().map(String::from)
    }

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

/// Returns whether a relative address is the same on all pages of a site.
pub(super) fn is_from_root(address: &str) -> bool {
    address.trim_start().starts_with(['/', '\\'])
}

/// Name of the anchor that a text makes: lower case, letters and digits of any script, `-` for what is between.
pub fn anchor(text: &str) -> Option<String> {
    let mut name = String::with_capacity(text.len());
    // headings and links to them are typed on different keyboards
    for c in text.nfc().flat_map(char::to_lowercase) {
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
        let settled = write(&join_lines(settle(pieces(&clean), links)));
        // taking an element out of a tree may leave one that no HTML means, which the next pass repairs
        if settled == *html {
            return Ok(settled);
        }
        html = Cow::Owned(settled);
    }
    Err(Refused::Unstable)
}

/// Writes `x-` before the names of [`FOREIGN`] elements, and `id` for the `name` that older texts give an anchor.
fn rename(piece: &mut Piece) {
    if let Piece::Open { name, attributes } = piece
        && name == "a"
        && attributes.iter().all(|(name, _)| name != "id")
        && let Some((name, _)) = attributes.iter_mut().find(|(name, _)| name == "name")
    {
        "id".clone_into(name);
    }
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
                Some(fragment) => {
                    let typed = percent_decode_str(fragment).decode_utf8();
                    prefixed(typed.as_deref().unwrap_or(fragment)).map(|id| format!("#{id}").into())
                }
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

/// Sets attributes that depend on others: absolute addresses, `rel` of links, and `disabled` of boxes in task lists, which
/// nobody can tick. A link that leads nowhere and that nothing leads to is text.
fn settle(pieces: Vec<Piece>, links: &LinkPolicy) -> Vec<Piece> {
    let mut is_bare = false;
    let settle = |mut piece| {
        match &piece {
            Piece::Open { name, .. } if name == "a" => {
                is_bare = piece.attribute("href").is_none() && piece.attribute("id").is_none();
                if is_bare {
                    return None;
                }
            }
            Piece::Close(name) if name == "a" && std::mem::take(&mut is_bare) => return None,
            _ => {}
        }
        if let Piece::Open { name, attributes } = &mut piece {
            for (name, value) in attributes
                .iter_mut()
                .filter(|(name, _)| name == "href" || name == "src")
            {
                let is_link = name == "href";
                if let Some(absolute) = links
                    .absolute(value)
                    .filter(|_| !(is_link && value.starts_with('#')))
                {
                    *value = absolute;
                }
            }
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

/// Joins the lines of running text. Authors wrap their lines, and a system that takes what it is sent for half written, as
/// WordPress does, makes a line break of every one.
fn join_lines(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let is_edge = |piece: Option<&Piece>| match piece {
        None => true,
        Some(Piece::Open { name, .. } | Piece::Close(name)) => is_block(name),
        Some(Piece::Text(_)) => false,
    };
    let mut preformatted = 0usize;
    for at in 0..pieces.len() {
        let before = is_edge(at.checked_sub(1).and_then(|before| pieces.get(before)));
        let after = is_edge(pieces.get(at + 1));
        match &mut pieces[at] {
            Piece::Open { name, .. } if name == "pre" => preformatted += 1,
            Piece::Close(name) if name == "pre" => preformatted = preformatted.saturating_sub(1),
            Piece::Text(text) if preformatted == 0 && text.contains(['\n', '\r']) => {
                *text = one_line(text, before, after);
            }
            _ => {}
        }
    }
    pieces
}

/// A text whose line breaks are spaces, except at edges where they do not show. Between two characters of scripts without
/// spaces nothing is left of them.
fn one_line(text: &str, edge_before: bool, edge_after: bool) -> String {
    let is_white = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_white) {
        let (words, white) = rest.split_at(start);
        out.push_str(words);
        let end = white.find(|c| !is_white(c)).unwrap_or(white.len());
        let (run, after) = white.split_at(end);
        rest = after;
        let is_at_edge = out.is_empty() && edge_before || rest.is_empty() && edge_after;
        let between = (out.chars().next_back(), rest.chars().next());
        if is_at_edge || !run.contains(['\n', '\r']) {
            out.push_str(run);
        } else if !matches!(between, (Some(a), Some(b)) if is_unspaced(a) && is_unspaced(b)) {
            out.push(' ');
        }
    }
    out.push_str(rest);
    out
}

/// Returns whether a character is of a script that puts no spaces between words: Chinese or Japanese.
fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        '\u{2e80}'..='\u{30ff}' | '\u{31f0}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
            | '\u{ff01}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}'
    )
}

#[cfg(test)]
#[path = "sanitise_tests.rs"]
mod tests;
