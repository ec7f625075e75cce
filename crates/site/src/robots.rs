//! The Robots Exclusion Protocol (RFC 9309): which URLs a crawler of a given name may fetch.
//!
//! An own matcher, because evidence needs the deciding rule and its line, which no library returns, and because agent
//! names must match as Google matches them (`User-agent: Foo/1.2` means `foo`). The test vectors of Google's parser are
//! among the tests.

use crate::{url_key, well_known::WellKnownFile};

#[cfg(test)]
mod vectors;

/// Product token of this crawler.
pub const TOKEN: &str = "SearchwrightBot";
/// Maximum number of bytes read of a robots.txt: 500 KiB (RFC 9309 section 2.5).
pub const SIZE_LIMIT: usize = 500 * 1024;
/// Maximum length of a line in bytes; the rest of a longer line is dropped, as in Google's parser.
const LINE_LIMIT: usize = 16 * 1024;

/// Maximum number of path bytes that patterns with `*` may scan, one after the other, to decide about a path: thousands
/// of such patterns for any honest path, a hundredth of what a hostile file could cost.
const MAX_STEPS: usize = 2 * 1024 * 1024;

/// A parsed robots.txt.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    groups: Vec<RuleGroup>,
    /// Values of `Sitemap:` lines, in order, as written.
    pub sitemaps: Vec<Box<str>>,
}

#[derive(Clone, Debug, Default)]
struct RuleGroup {
    /// Lower-case tokens; `*` for all crawlers.
    agents: Vec<Box<str>>,
    rules: Vec<Rule>,
    delay: Option<f32>,
}

/// One `Allow` or `Disallow` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Whether the line is `Allow` rather than `Disallow`.
    pub allow: bool,
    /// Pattern as written.
    pub pattern: Box<str>,
    /// 1-based line in the file.
    pub line: u32,
    /// Pattern in the normalised form in which paths are compared.
    normal: Box<str>,
    /// Position of its first `*`.
    star: Option<u32>,
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = if self.allow { "Allow" } else { "Disallow" };
        write!(f, "{word}: {}", self.pattern)
    }
}

/// Rules for one crawler.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    rules: Vec<Rule>,
    /// `Crawl-delay` in seconds; not part of RFC 9309.
    pub delay: Option<f32>,
    /// Whether a group names this crawler; otherwise the rules are those for `*`.
    pub named: bool,
}

impl Robots {
    /// Parses a text. Never fails; unknown lines are skipped.
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut robots = Self::default();
        let mut open: Option<RuleGroup> = None;
        let mut in_rules = false;
        for (i, line) in lines(text).enumerate() {
            let Some((name, value)) = directive(line) else {
                continue;
            };
            match name {
                Directive::UserAgent => {
                    if in_rules {
                        robots.groups.extend(open.take());
                        in_rules = false;
                    }
                    open.get_or_insert_default().agents.push(token(value));
                }
                Directive::Allow | Directive::Disallow => {
                    // a rule before any user-agent line belongs to no group
                    let Some(group) = &mut open else { continue };
                    in_rules = true;
                    if !value.is_empty() {
                        let normal = normal(value);
                        group.rules.push(Rule {
                            allow: name == Directive::Allow,
                            pattern: value.into(),
                            line: u32::try_from(i + 1).unwrap_or(u32::MAX),
                            star: normal.find('*').and_then(|at| u32::try_from(at).ok()),
                            normal,
                        });
                    }
                }
                // other records do not end a list of user agents (RFC 9309 section 2.2.4)
                Directive::CrawlDelay => {
                    if let (Some(group), Ok(delay)) = (&mut open, value.parse::<f32>())
                        && delay >= 0.0
                    {
                        group.delay = Some(delay);
                    }
                }
                Directive::Sitemap => robots.sitemaps.push(value.into()),
            }
        }
        robots.groups.extend(open);
        robots
    }

    /// Returns the rules for a product token such as `Googlebot`: those of all groups that name it, or else of all
    /// groups for `*`.
    pub fn agent(&self, token: &str) -> Agent {
        let named = self
            .groups
            .iter()
            .any(|g| g.agents.iter().any(|a| a.eq_ignore_ascii_case(token)));
        let wanted = if named { token } else { "*" };
        let mut agent = Agent {
            named,
            ..Agent::default()
        };
        for group in &self.groups {
            if group.agents.iter().any(|a| a.eq_ignore_ascii_case(wanted)) {
                agent.rules.extend_from_slice(&group.rules);
                agent.delay = group.delay.or(agent.delay);
            }
        }
        agent
    }
}

impl Agent {
    /// Returns the rule that forbids `path` (path and query as in a URL, from the first slash); `None` if it may be
    /// fetched. The longest pattern wins, and `Allow` wins a tie; `/robots.txt` is always allowed. If there are too
    /// many patterns to match, the remaining ones forbid and do not allow.
    pub fn forbids(&self, path: &str) -> Option<&Rule> {
        self.decides(path).filter(|rule| !rule.allow)
    }

    /// Whether any path is forbidden.
    pub(crate) fn forbids_anything(&self) -> bool {
        self.rules.iter().any(|rule| !rule.allow)
    }

    /// Returns the rule that decides about `path`; `None` if no rule matches, which allows it.
    pub fn decides(&self, path: &str) -> Option<&Rule> {
        if self.rules.is_empty() || path == "/robots.txt" {
            return None;
        }
        let path = normal(path);
        let mut best: Option<(usize, &Rule)> = None;
        let mut left = MAX_STEPS;
        for rule in &self.rules {
            let length = rule.normal.len();
            let better =
                best.is_none_or(|(most, b)| length > most || (length == most && rule.allow && !b.allow));
            if better && rule.matches(&path, &mut left) {
                best = Some((length, rule));
            } else if rule.allow
                && let Some(folder) = index_folder(&rule.normal)
            {
                // Google applies an allow rule for an index file to its folder
                let length = folder.len() + 1;
                let better = best.is_none_or(|(most, b)| length > most || (length == most && !b.allow));
                if better && *path == *folder {
                    best = Some((length, rule));
                }
            }
        }
        best.map(|(_, rule)| rule)
    }
}

impl Rule {
    fn matches(&self, path: &str, left: &mut usize) -> bool {
        if let Some(star) = self.star
            && path
                .as_bytes()
                .starts_with(&self.normal.as_bytes()[..star as usize])
        {
            match left.checked_sub(path.len()) {
                Some(rest) => *left = rest,
                None => return !self.allow,
            }
        }
        matches(&self.normal, path)
    }
}

fn index_folder(pattern: &str) -> Option<&str> {
    let slash = pattern.rfind('/')?;
    pattern[slash..]
        .starts_with("/index.htm")
        .then(|| &pattern[..=slash])
}

/// Policy of a robots.txt for this crawler.
#[derive(Clone, Debug)]
pub enum Policy {
    /// Follow these rules; without a file there are none.
    Follow(Agent),
    /// Fetch nothing, because the server failed to deliver the file (RFC 9309 section 2.3.1.4).
    Unreachable,
}

impl Policy {
    /// Returns the policy of a fetched file. Success: its rules. 4xx and endless redirects: no rules. 5xx, no response
    /// and 429 (which means "later", not "missing"): fetch nothing, unless there is a text, which is an earlier version
    /// of the file.
    pub fn from_file(file: &WellKnownFile) -> Self {
        match file.status {
            Some(429 | 500..) | None if !file.text.is_empty() => {
                Self::Follow(Robots::parse(&file.text).agent(TOKEN))
            }
            Some(200..=299) => Self::Follow(Robots::parse(&file.text).agent(TOKEN)),
            Some(429 | 500..) | None => Self::Unreachable,
            Some(_) => Self::Follow(Agent::default()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directive {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    // CR, LF and CRLF all end a line; the empty piece between CR and LF is no line
    text.split_inclusive(['\n', '\r'])
        .scan(false, |after_cr, piece| {
            let skip = *after_cr && piece == "\n";
            *after_cr = piece.ends_with('\r');
            Some((!skip).then(|| piece.trim_end_matches(['\n', '\r'])))
        })
        .flatten()
}

fn directive(line: &str) -> Option<(Directive, &str)> {
    let mut end = line.len().min(LINE_LIMIT);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let line = line[..end].split('#').next().unwrap_or_default();
    let line = line.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\0');
    let (name, value) = match line.split_once(':') {
        Some(parts) => parts,
        // Google accepts a missing colon if there are exactly two words
        None => line
            .split_once([' ', '\t'])
            .filter(|(_, value)| !value.trim().contains([' ', '\t']))?,
    };
    let name = name.trim();
    let is = |words: &[&str]| words.iter().any(|w| name.eq_ignore_ascii_case(w));
    let directive = if is(&["user-agent", "useragent", "user agent"]) {
        Directive::UserAgent
    } else if is(&[
        "disallow",
        "dissallow",
        "dissalow",
        "disalow",
        "diasllow",
        "disallaw",
    ]) {
        Directive::Disallow
    } else if is(&["allow"]) {
        Directive::Allow
    } else if is(&["crawl-delay", "crawldelay", "crawl delay"]) {
        Directive::CrawlDelay
    } else if is(&["sitemap", "site-map"]) {
        Directive::Sitemap
    } else {
        return None;
    };
    Some((directive, value.trim()))
}

/// Returns the product token of a user-agent line: the part before the first character not allowed in a token. `*
/// anything` is `*`.
fn token(value: &str) -> Box<str> {
    if value == "*"
        || value
            .strip_prefix('*')
            .is_some_and(|rest| rest.starts_with([' ', '\t']))
    {
        return "*".into();
    }
    let end = value
        .find(|c: char| !c.is_ascii_alphabetic() && c != '-' && c != '_')
        .unwrap_or(value.len());
    value[..end].to_ascii_lowercase().into()
}

/// Normalises a path by RFC 9309 section 2.2.2: octets outside ASCII are escaped, escaped unreserved characters
/// decoded, and escapes in upper case. `*` and `$` keep their meaning; `%2A` and `%24` stay literal.
fn normal(path: &str) -> Box<str> {
    if path.is_ascii() && !path.contains('%') {
        return path.into();
    }
    let mut escaped = String::with_capacity(path.len() + 16);
    let mut buffer = [0; 4];
    for c in path.chars() {
        if c.is_ascii() {
            escaped.push(c);
        } else {
            for byte in c.encode_utf8(&mut buffer).bytes() {
                escaped.push('%');
                for digit in [byte >> 4, byte & 15] {
                    escaped.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
                }
            }
        }
    }
    let mut normal = String::with_capacity(escaped.len());
    url_key::push_normal(&mut normal, &escaped);
    normal.into()
}

/// Whether a pattern matches a path: `*` stands for anything, `$` at the end for the end; otherwise a pattern is a
/// prefix. Linear, because without other wildcards the leftmost match of each part leaves the most room for the next
/// one.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        // the leftmost match is right for every part but the last
        if let Some(part) = last.replace(part) {
            match rest.find(part) {
                Some(i) => rest = &rest[i + part.len()..],
                None => return false,
            }
        }
    }
    match last {
        None => !anchored || rest.is_empty(),
        Some(part) if anchored => rest.ends_with(part),
        Some(part) => rest.contains(part),
    }
}
