//! Agents of assistants and search engines by their product token.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::{Deserialize, Serialize};

use crate::lists::entries;

/// Purpose of an agent's visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentPurpose {
    /// Collects text for the training of models.
    Training,
    /// Builds an index for search.
    Search,
    /// Fetches a page that a person asks about.
    User,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Agent {
    /// Product token as the vendor spells it.
    pub name: &'static str,
    /// Vendor.
    pub vendor: &'static str,
    /// Purpose.
    pub purpose: AgentPurpose,
    /// Whether it belongs to an assistant or a model, not to classic search only.
    pub is_ai: bool,
}

static AGENTS: LazyLock<Vec<Agent>> = LazyLock::new(|| {
    entries(include_str!("../data/agents.txt"))
        .filter_map(parse)
        .collect()
});

static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let names = AGENTS.iter().map(|agent| agent.name);
    let builder = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(names);
    builder.ok()
});

fn parse(line: &'static str) -> Option<Agent> {
    let mut fields = line.split('\t');
    let (name, vendor) = (fields.next()?, fields.next()?);
    let purpose = match fields.next()? {
        "training" => AgentPurpose::Training,
        "search" => AgentPurpose::Search,
        _ => AgentPurpose::User,
    };
    Some(Agent {
        name,
        vendor,
        purpose,
        is_ai: fields.next() == Some("ai"),
    })
}

/// Returns all known agents.
pub fn agents() -> &'static [Agent] {
    &AGENTS
}

/// Returns the place in [`agents`] of the agent that a `User-Agent` header names, by complete product tokens.
pub fn find_agent(user_agent: &[u8]) -> Option<usize> {
    let search = SEARCH.as_ref()?;
    let is_part = |at: Option<&u8>| at.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut found = search.find_iter(user_agent).filter(|found| {
        let before = found.start().checked_sub(1).and_then(|at| user_agent.get(at));
        !is_part(before)
            && !is_part(user_agent.get(found.end()))
            && user_agent.get(found.end()) != Some(&b'-')
    });
    found.next().map(|found| found.pattern().as_usize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_by_header() {
        for (header, name) in [
            (
                "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
                Some("GPTBot"),
            ),
            (
                "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
                Some("ClaudeBot"),
            ),
            (
                "Mozilla/5.0 (compatible; claude-searchbot/1.0)",
                Some("Claude-SearchBot"),
            ),
            (
                "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
                Some("Googlebot"),
            ),
            ("Mozilla/5.0 (compatible; Applebot-Extended/0.1)", None),
            ("Mozilla/5.0 (compatible; notGPTBot/1.2)", None),
            ("Mozilla/5.0 Google-Extended", None),
            ("Mozilla/5.0 (Windows NT 10.0)", None),
        ] {
            let found = find_agent(header.as_bytes()).map(|at| agents()[at].name);
            assert_eq!(found, name, "{header}");
        }
        assert!(agents().len() >= 25);
        assert_eq!(
            entries(include_str!("../data/agents.txt")).count(),
            agents().len()
        );
    }
}
