//! Word lists in data files: bots by purpose, and generic link texts.

use std::sync::LazyLock;

use hashbrown::HashMap;
use searchwright_text as text;
use serde_json::{Value, json};

use crate::robots::{Agent, Robots};

/// Lines of `group token`.
const BOTS: &str = include_str!("../../data/bots.txt");
/// Folded texts, one per line, below their language in brackets.
const ANCHORS: &str = include_str!("../../data/generic_anchors.txt");

/// Maximum length in bytes of a generic text with an arrow or two around it.
static MAX_ANCHOR_BYTES: LazyLock<usize> =
    LazyLock::new(|| lines(ANCHORS).map(str::len).max().unwrap_or(0) + 8);
/// Generic texts with their languages, and the languages that have a list.
type Anchors = (HashMap<&'static str, Vec<&'static str>>, Vec<&'static str>);
static GENERIC: LazyLock<Anchors> = LazyLock::new(|| {
    let (mut texts, mut languages) = (HashMap::<_, Vec<_>>::new(), Vec::new());
    for line in lines(ANCHORS) {
        if let Some(language) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            languages.push(language);
        } else {
            texts.entry(line).or_default().extend(languages.last());
        }
    }
    (texts, languages)
});

/// Numbers of letters and digits of ASCII texts, as bits by the first letter or digit: a text of another shape need not
/// be folded.
static SHAPES: LazyLock<[u64; 128]> = LazyLock::new(|| {
    let mut shapes = [0; 128];
    for text in lines(ANCHORS).filter(|text| text.is_ascii()) {
        let (first, letters) = shape(text);
        shapes[first] |= letters;
    }
    shapes
});

/// Returns the first letter or digit of an ASCII text, and the bit of the number of its letters and digits.
fn shape(anchor: &str) -> (usize, u64) {
    let first = anchor.bytes().find(u8::is_ascii_alphanumeric);
    let others = text::simd::count(anchor.as_bytes(), |b| b.is_ascii_alphanumeric()).saturating_sub(1);
    (
        first.map_or(0, |b| usize::from(b.to_ascii_lowercase())),
        1 << others.min(63),
    )
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn bots(group: &str) -> impl Iterator<Item = &'static str> {
    lines(BOTS).filter_map(move |line| {
        line.split_once(' ')
            .filter(|(g, _)| *g == group)
            .map(|(_, token)| token)
    })
}

/// Whether a link text is generic. A generic text in one language can be a term in another (`suite`, `plus`), so the
/// page's own language decides; a page in a language without a list is checked against English, a page without a
/// declared language against all lists.
pub(super) fn is_generic_anchor(anchor: &str, language: Option<&str>) -> bool {
    if anchor.len() > *MAX_ANCHOR_BYTES {
        return false;
    }
    if anchor.is_ascii() {
        let (first, letters) = shape(anchor);
        if SHAPES[first] & letters == 0 {
            return false;
        }
    }
    let folded = text::folded(anchor);
    let bare = folded.trim_matches(|c: char| !c.is_alphanumeric());
    // start() and --details are names in a program
    if folded.ends_with("()") || folded.starts_with("--") && !folded.starts_with("-- ") {
        return false;
    }
    let (texts, languages) = &*GENERIC;
    let Some(known) = texts.get(bare) else {
        return false;
    };
    let declared = language.and_then(|tag| tag.split(['-', '_']).next());
    match declared.map(str::to_ascii_lowercase).as_deref() {
        None | Some("") => true,
        Some(own) => {
            let own = if matches!(own, "nb" | "nn") { "no" } else { own };
            let asked = if languages.contains(&own) { own } else { "en" };
            known.contains(&asked)
        }
    }
}

/// A group of bots with their rules. Bots that robots.txt does not name share the rules for `*`, which are then
/// evaluated once.
#[derive(Debug)]
pub(super) struct Bots {
    named: Vec<(&'static str, Agent)>,
    others: Vec<&'static str>,
    everybody: Agent,
}

impl Bots {
    pub fn search(robots: &Robots) -> Self {
        Self::from_group("search", robots)
    }

    pub fn user(robots: &Robots) -> Self {
        Self::from_group("user", robots)
    }

    pub fn training(robots: &Robots) -> Self {
        Self::from_group("training", robots)
    }

    fn from_group(group: &str, robots: &Robots) -> Self {
        let mut this = Self {
            named: Vec::new(),
            others: Vec::new(),
            everybody: robots.agent("*"),
        };
        for token in bots(group) {
            let agent = robots.agent(token);
            if agent.named {
                this.named.push((token, agent));
            } else {
                this.others.push(token);
            }
        }
        this
    }

    /// Returns the bots that may not fetch a path, with the rules that forbid it; `None` if there are none.
    pub fn blocked(&self, path: &str) -> Option<Value> {
        let mut blocked = Vec::new();
        let mut rule = None;
        if let Some(forbids) = self.everybody.forbids(path) {
            blocked.extend(&self.others);
            rule = (!self.others.is_empty()).then(|| forbids.to_string());
        }
        for (token, agent) in &self.named {
            if let Some(forbids) = agent.forbids(path) {
                blocked.push(token);
                rule.get_or_insert_with(|| forbids.to_string());
            }
        }
        (!blocked.is_empty()).then(|| json!({"bots": blocked, "total": blocked.len(), "rule": rule}))
    }
}

#[cfg(test)]
mod tests {
    use super::{Bots, Robots, bots, is_generic_anchor};

    #[test]
    fn anchors_are_folded_first() {
        assert!(is_generic_anchor("  Read\nMORE »", Some("en")));
        assert!(is_generic_anchor("Подробнее…", None));
        assert!(!is_generic_anchor("Read more about mowers", Some("en")));
        assert!(!is_generic_anchor("»", None));
    }

    #[test]
    fn an_anchor_is_judged_in_the_language_of_its_page() {
        for (anchor, language, generic) in [
            // a term of Python's grammar, and French for "next"
            ("suite", Some("en"), false),
            ("suite", Some("fr-CA"), true),
            ("+ (plus)", Some("en"), false),
            ("Plus »", Some("FR"), true),
            ("suite", None, true),
            ("suite", Some(""), true),
            ("here", Some("cs"), false),
            ("zde", Some("cs"), true),
            ("click here", Some("el"), true),
            ("les mer", Some("nb-NO"), true),
            ("start", Some("en"), true),
            ("start()", Some("en"), false),
            ("--details", Some("en"), false),
            ("-- details", Some("en"), true),
        ] {
            assert_eq!(
                is_generic_anchor(anchor, language),
                generic,
                "{anchor} {language:?}"
            );
        }
    }

    #[test]
    fn robots_that_are_not_named_follow_the_rules_for_all() {
        let robots = Robots::parse(
            "User-agent: *\nDisallow: /private\n\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /",
        );
        assert_eq!(bots("search").count(), 8);
        let search = Bots::search(&robots);
        let blocked = search.blocked("/private/x").unwrap();
        assert_eq!(
            (blocked["total"].as_u64(), blocked["rule"].as_str()),
            (Some(7), Some("Disallow: /private"))
        );
        assert_eq!(search.blocked("/x"), None);
        assert_eq!(
            Bots::training(&robots).blocked("/x").unwrap()["bots"],
            serde_json::json!(["GPTBot"])
        );
    }
}
