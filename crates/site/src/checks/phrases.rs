//! Lists that live in data files: robots by what they read for, and link texts that say nothing.

use std::{collections::HashSet, sync::LazyLock};

use serde_json::{Value, json};

use crate::robots::{Agent, Robots};

/// `group token` lines.
const BOTS: &str = include_str!("../../data/bots.txt");
/// One folded text a line.
const ANCHORS: &str = include_str!("../../data/generic_anchors.txt");

/// Longest text of the list with an arrow or two around it, bytes.
static LONGEST: LazyLock<usize> = LazyLock::new(|| lines(ANCHORS).map(str::len).max().unwrap_or(0) + 8);
static GENERIC: LazyLock<HashSet<&'static str>> = LazyLock::new(|| lines(ANCHORS).collect());

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

/// Link texts that say nothing about their target.
pub(super) fn is_generic_anchor(anchor: &str) -> bool {
    if anchor.len() > *LONGEST {
        return false;
    }
    let folded = crate::text::folded(anchor);
    let bare = folded.trim_matches(|c: char| !c.is_alphanumeric());
    GENERIC.contains(bare)
}

/// A group of robots with the rules that each has to follow. Those that robots.txt does not name share the rules
/// for everybody, which are then asked once.
#[derive(Debug)]
pub(super) struct Bots {
    named: Vec<(&'static str, Agent)>,
    others: Vec<&'static str>,
    everybody: Agent,
}

impl Bots {
    pub fn search(robots: &Robots) -> Self {
        Self::of("search", robots)
    }

    pub fn user(robots: &Robots) -> Self {
        Self::of("user", robots)
    }

    pub fn training(robots: &Robots) -> Self {
        Self::of("training", robots)
    }

    fn of(group: &str, robots: &Robots) -> Self {
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

    /// Which of them may not read a path, and by which rules.
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
        assert!(is_generic_anchor("  Read\nMORE »"));
        assert!(is_generic_anchor("Подробнее…"));
        assert!(!is_generic_anchor("Read more about mowers"));
        assert!(!is_generic_anchor("»"));
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
