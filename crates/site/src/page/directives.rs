//! Robots directives in the head and the headers of a page, and its indexability.

use std::borrow::Cow;

use super::{Outcome, PageFacts};

/// Directives of one source; those for all robots and for Googlebot are merged, and the stricter one wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobotsRules {
    /// Values as written, for evidence.
    pub values: Vec<Box<str>>,
    /// Whether `noindex` or `none` is set.
    pub noindex: bool,
    /// Whether `nofollow` or `none` is set.
    pub nofollow: bool,
    /// Whether `index` or `all` is set explicitly.
    pub index: bool,
    /// Whether `follow` or `all` is set explicitly.
    pub follow: bool,
    /// Whether `noimageindex` is set.
    pub noimageindex: bool,
    /// Whether `nosnippet` or `max-snippet:0` is set.
    pub nosnippet: bool,
    /// Date of `unavailable_after`, as written.
    pub unavailable_after: Option<Box<str>>,
    /// Directives that no search engine documents.
    pub unknown: Vec<Box<str>>,
}

/// Robots directives of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// Directives of `<meta name="robots|googlebot">`.
    pub meta: RobotsRules,
    /// Directives of `X-Robots-Tag`.
    pub header: RobotsRules,
}

impl Directives {
    /// Whether the page must not be indexed.
    pub fn noindex(&self) -> bool {
        self.meta.noindex || self.header.noindex
    }

    /// Whether the links of the page must not be followed.
    pub fn nofollow(&self) -> bool {
        self.meta.nofollow || self.header.nofollow
    }
}

/// Known directives, including those that have no effect here (robots meta tag specifications of Google, and what other
/// search engines document).
const KNOWN: [&str; 15] = [
    "archive",
    "snippet",
    "noarchive",
    "nocache",
    "notranslate",
    "indexifembedded",
    "nopagereadaloud",
    "noodp",
    "noydir",
    "noai",
    "noimageai",
    "max-image-preview",
    "max-video-preview",
    "max-snippet",
    "unavailable_after",
];

/// Reads the robots directives of a page.
pub fn directives(page: &PageFacts) -> Directives {
    let mut found = Directives::default();
    for meta in page.html.iter().flat_map(|html| &html.metas) {
        if matches!(&*meta.name, "robots" | "googlebot") {
            found.meta.add(&meta.content, &meta.content);
        }
    }
    for value in &page.headers.robots_tags {
        if let Some(rules) = for_googlebot(value) {
            found.header.add(&rules, value);
        }
    }
    found
}

/// Returns the directives of an `X-Robots-Tag` value without those for other robots; `None` if none is left. The name
/// of a robot applies up to the next name, since header lines may be joined.
fn for_googlebot(value: &str) -> Option<Cow<'_, str>> {
    if !value.contains(':') {
        return Some(Cow::Borrowed(value));
    }
    let mut is_meant = true;
    let mut rules = Vec::new();
    for part in value.split(',') {
        let mut part = part;
        if let Some((before, after)) = part.split_once(':') {
            let name = before.trim();
            // colons in dates come after a space
            let is_name = !name.contains(' ') && !KNOWN.iter().any(|known| name.eq_ignore_ascii_case(known));
            if is_name {
                (is_meant, part) = (name.eq_ignore_ascii_case("googlebot"), after);
            }
        }
        if is_meant {
            rules.push(part);
        }
    }
    (!rules.is_empty()).then(|| Cow::Owned(rules.join(",")))
}

impl RobotsRules {
    fn add(&mut self, rules: &str, value: &str) {
        self.values.push(value.into());
        let mut parts = rules.split(',').peekable();
        while let Some(part) = parts.next() {
            let part = part.trim();
            let (name, value) = part.split_once([':', '=']).unwrap_or((part, ""));
            let name = name.trim().to_ascii_lowercase();
            match name.as_str() {
                "" => {}
                "all" => (self.index, self.follow) = (true, true),
                "index" => self.index = true,
                "follow" => self.follow = true,
                "none" => (self.noindex, self.nofollow) = (true, true),
                "noindex" => self.noindex = true,
                "nofollow" => self.nofollow = true,
                "noimageindex" => self.noimageindex = true,
                "nosnippet" => self.nosnippet = true,
                "max-snippet" => self.nosnippet |= value.trim() == "0",
                "unavailable_after" => {
                    // dates of RFC 850 and RFC 822 contain a comma
                    let mut date = value.trim().to_owned();
                    while let Some(more) = parts.next_if(|next| !is_directive(next)) {
                        date.push(',');
                        date.push_str(more.trim_end());
                    }
                    self.unavailable_after = Some(date.into());
                }
                name if KNOWN.contains(&name) => {}
                _ => self.unknown.push(part.into()),
            }
        }
    }
}

fn is_directive(part: &str) -> bool {
    let name = part
        .split([':', '='])
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let acted_on = [
        "",
        "all",
        "index",
        "follow",
        "none",
        "noindex",
        "nofollow",
        "noimageindex",
        "nosnippet",
    ];
    acted_on.contains(&name.as_str()) || KNOWN.contains(&name.as_str())
}

/// Reason why a page is not indexable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotIndexable {
    /// robots.txt forbids to fetch the URL.
    Blocked,
    /// There was no response.
    NoAnswer,
    /// The URL redirects.
    Redirect,
    /// The status is not 200.
    Status,
    /// The response is not HTML.
    NotHtml,
    /// The page has `noindex`.
    Noindex,
    /// The page names another page as canonical.
    Canonicalised,
}

impl NotIndexable {
    /// Returns the code of the reason in API responses and evidence.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Blocked => "blocked_by_robots",
            Self::NoAnswer => "no_answer",
            Self::Redirect => "redirect",
            Self::Status => "status",
            Self::NotHtml => "not_html",
            Self::Noindex => "noindex",
            Self::Canonicalised => "canonicalised",
        }
    }
}

/// Returns the reason why a page is not indexable; `None` if it is.
pub fn not_indexable(page: &PageFacts) -> Option<NotIndexable> {
    match page.outcome {
        Outcome::Blocked(_) => Some(NotIndexable::Blocked),
        Outcome::Failed(_) => Some(NotIndexable::NoAnswer),
        Outcome::Redirect { .. } => Some(NotIndexable::Redirect),
        Outcome::Status(200) if page.html.is_none() => Some(NotIndexable::NotHtml),
        Outcome::Status(200) if directives(page).noindex() => Some(NotIndexable::Noindex),
        Outcome::Status(200) => page
            .canonical()
            .is_some_and(|canonical| canonical != page.id)
            .then_some(NotIndexable::Canonicalised),
        Outcome::Status(_) => Some(NotIndexable::Status),
    }
}

/// Returns delay in seconds and URL of a `<meta http-equiv="refresh">`, parsed by the HTML standard ("shared
/// declarative refresh steps"): commas, semicolons and white space separate them alike. `None` if it only reloads the
/// page, or is invalid.
pub fn refresh(content: &str) -> Option<(&str, &str)> {
    let content = content.trim_ascii_start();
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let (delay, rest) = content.split_at(digits);
    if delay.is_empty() && !rest.starts_with('.') {
        return None;
    }
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !rest.starts_with(|c: char| matches!(c, ';' | ',') || c.is_ascii_whitespace()) {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_ascii();
    let named = rest
        .get(..3)
        .filter(|word| word.eq_ignore_ascii_case("url"))
        .and_then(|_| rest[3..].trim_ascii_start().strip_prefix('='));
    let url = named.map_or(rest, str::trim_ascii_start);
    let url = match url.strip_prefix(['"', '\'']) {
        Some(quoted) => {
            let quote = char::from(url.as_bytes()[0]);
            quoted.split(quote).next().unwrap_or_default()
        }
        None => url,
    };
    let url = url.trim_ascii();
    (!url.is_empty()).then_some((delay, url))
}

#[cfg(test)]
mod tests {
    use super::{RobotsRules, for_googlebot, refresh};

    #[test]
    fn refreshes_are_read_as_browsers_do() {
        for (content, found) in [
            ("5; URL=/x", Some(("5", "/x"))),
            ("0 url=/x", Some(("0", "/x"))),
            ("0,/x", Some(("0", "/x"))),
            (" 0.5 ; Url = '/x y' z", Some(("0", "/x y"))),
            (".5;\"/x", Some(("", "/x"))),
            ("1;url /x", Some(("1", "url /x"))),
            ("300", None),
            ("0;", None),
            ("0;url=", None),
            ("0;url=''", None),
            ("url=/x", None),
            ("0url=/x", None),
            ("", None),
        ] {
            assert_eq!(refresh(content), found, "{content}");
        }
    }

    fn rules(value: &str) -> RobotsRules {
        let mut rules = RobotsRules::default();
        rules.add(value, value);
        rules
    }

    #[test]
    fn directives_are_read_whatever_their_case() {
        let none = rules("NONE");
        assert!(none.noindex && none.nofollow && none.unknown.is_empty());
        assert!(rules("max-snippet:0").nosnippet && !rules("max-snippet:50").nosnippet);
        assert_eq!(
            rules("noindx, max-image-preview:large, follow").unknown,
            ["noindx".into()]
        );
    }

    #[test]
    fn a_date_may_hold_a_comma() {
        let found = rules("unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, noindex");
        assert_eq!(
            found.unavailable_after.as_deref(),
            Some("Friday, 25-Jun-10 15:00:00 GMT")
        );
        assert!(found.noindex && found.unknown.is_empty());
    }

    #[test]
    fn a_header_may_be_for_another_robot() {
        assert_eq!(for_googlebot("otherbot: noindex").as_deref(), None);
        assert_eq!(for_googlebot("googlebot: noindex").as_deref(), Some(" noindex"));
        assert_eq!(
            for_googlebot("noindex, max-snippet:3").as_deref(),
            Some("noindex, max-snippet:3")
        );
        assert_eq!(for_googlebot("max-snippet: 3").as_deref(), Some("max-snippet: 3"));
    }
}
