//! Toolsets: parts of the tools that a client lists, by words in the address of the server.
//!
//! The server keeps nothing of a client, so a client says with each request what it wants listed: `/mcp?toolsets=core,visibility`.
//! Tools that are not listed are found with `tools_find`, and can be called all the same.

use searchwright_contract::{Code, Problem};

/// Parameter of the address that chooses.
const PARAMETER: &str = "toolsets";
/// Word for every tool.
const ALL: &str = "all";
/// The set of a client that chooses none.
pub(super) const CORE: &str = "core";

/// A set of tools with a name.
#[derive(Debug)]
pub(super) struct Toolset {
    /// Its word.
    pub(super) name: &'static str,
    /// Purpose of its tools.
    pub(super) about: &'static str,
    /// Operations, or their resources.
    of: &'static [&'static str],
}

/// Every set. An operation is in one of those after the first.
pub(super) const TOOLSETS: &[Toolset] = &[
    Toolset {
        name: CORE,
        about: "the first steps of every task",
        of: &[
            "me.get",
            "projects.list",
            "audits.start",
            "audits.current",
            "issues.list",
            "issues.get",
            "issues.occurrences",
            "rechecks.start",
            "rechecks.get",
            "keywords.list",
            "keywords.create",
            "posts.list",
            "posts.get",
            "posts.create",
            "posts.update",
            "posts.publish",
            "visibility.overview",
            "jobs.get",
        ],
    },
    Toolset {
        name: "project",
        about: "credential, projects, jobs, quotas, activity",
        of: &["me", "project", "projects", "jobs", "usage", "activity"],
    },
    Toolset {
        name: "audit",
        about: "audits, issues and where they occur, rechecks, crawled pages",
        of: &["audits", "issues", "occurrences", "rechecks", "pages"],
    },
    Toolset {
        name: "content",
        about: "keywords, posts, revisions, publishing, approvals",
        of: &["keywords", "posts", "approvals"],
    },
    Toolset {
        name: "visibility",
        about: "presence in answers of AI assistants: prompts, runs, answers, names, reports",
        of: &["visibility", "prompts", "names", "runs", "reports"],
    },
    Toolset {
        name: "brand",
        about: "brand profile, products, competitors, FAQs, calls to action",
        of: &["brand", "products", "competitors", "faqs", "ctas"],
    },
    Toolset {
        name: "connections",
        about: "places to publish, webhooks, events",
        of: &["integrations", "webhooks", "events"],
    },
    Toolset {
        name: "automation",
        about: "autopilot and schedules",
        of: &["autopilot", "schedules"],
    },
];

impl Toolset {
    /// Finds a set by its word.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        TOOLSETS.iter().find(|set| set.name == name)
    }

    /// Returns whether an operation is in it.
    pub(super) fn has(&self, operation: &str) -> bool {
        let resource = operation.split('.').next().unwrap_or_default();
        self.of
            .iter()
            .any(|entry| *entry == operation || *entry == resource)
    }
}

/// Sets that a client wants listed.
#[derive(Clone, Debug)]
pub(super) enum Chosen {
    All,
    These(Vec<&'static Toolset>),
}

impl Chosen {
    /// Reads the query of an address. The error names the words that it takes.
    pub(super) fn from_query(query: Option<&str>) -> Result<Self, Box<Problem>> {
        let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let mut is_all = false;
        let mut chosen = Vec::new();
        let values: Vec<_> = pairs.filter(|(name, _)| name == PARAMETER).collect();
        for word in values.iter().flat_map(|(_, value)| value.split(',')) {
            match word.trim() {
                ALL => is_all = true,
                word => chosen.push(Toolset::find(word).ok_or_else(|| unknown(word))?),
            }
        }
        Ok(if is_all {
            Self::All
        } else if chosen.is_empty() {
            Self::These(Toolset::find(CORE).into_iter().collect())
        } else {
            Self::These(chosen)
        })
    }

    /// Returns whether an operation is to be listed.
    pub(super) fn has(&self, operation: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(sets) => sets.iter().any(|set| set.has(operation)),
        }
    }
}

/// Words of the sets, joined by commas.
pub(super) fn words() -> String {
    let words: Vec<&str> = TOOLSETS.iter().map(|set| set.name).collect();
    words.join(", ")
}

fn unknown(word: &str) -> Box<Problem> {
    const LONGEST: usize = 40;
    let word: String = word.chars().take(LONGEST).collect();
    let detail = format!("there is no toolset {word:?}");
    let hint = format!("toolsets takes all, or some of {} with commas between", words());
    Problem::new(Code::MalformedRequest, detail).hint(hint).into()
}

#[cfg(test)]
mod tests {
    use searchwright_contract::{
        operation::{Operation, Visitor},
        visit,
    };

    use super::*;

    #[test]
    fn every_operation_is_in_one_set() {
        struct Names(Vec<&'static str>);
        impl Visitor for Names {
            fn operation<O: Operation>(&mut self) {
                self.0.push(O::META.name);
            }
        }
        let mut all = Names(Vec::new());
        visit(&mut all);
        for name in &all.0 {
            let sets = TOOLSETS[1..].iter().filter(|set| set.has(name)).count();
            assert_eq!(sets, 1, "{name}");
        }
        for entry in TOOLSETS.iter().flat_map(|set| set.of) {
            let is_known = |name: &&str| *name == *entry || name.split('.').next() == Some(entry);
            assert!(all.0.iter().any(is_known), "{entry}");
        }
    }

    #[test]
    fn words_of_an_address_choose() {
        let names = |query: &str| match Chosen::from_query(Some(query)) {
            Ok(Chosen::All) => ALL.to_owned(),
            Ok(Chosen::These(sets)) => sets.iter().map(|set| set.name).collect::<Vec<_>>().join("+"),
            Err(problem) => problem.hint.unwrap_or_default(),
        };
        for (query, chosen) in [
            ("", "core"),
            ("x=1", "core"),
            ("toolsets=core%2Cvisibility", "core+visibility"),
            ("toolsets=audit&toolsets=brand", "audit+brand"),
            ("toolsets=audit,all", "all"),
        ] {
            assert_eq!(names(query), chosen, "{query}");
        }
        for query in [
            "toolsets=",
            "toolsets=Core",
            "toolsets=core,,audit",
            "toolsets=pages",
        ] {
            assert!(names(query).contains("core, project, audit"), "{query}");
        }
    }
}
