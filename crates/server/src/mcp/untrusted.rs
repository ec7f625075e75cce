//! Members of answers that hold text of websites, providers and models: it is data, and an answer names it as such.

use super::shaping::Untrusted;

/// Members by operation, or by resource where all of its operations answer alike.
const MEMBERS: &[(&str, Untrusted)] = &[
    (
        "keywords",
        &["keyword", "parentTopic", "rankingUrl", "cannibalisation"],
    ),
    ("posts.revisions", &["title", "content"]),
    ("posts.generate", &["post"]),
    ("posts.publish", &["post"]),
    ("posts.unpublish", &["post"]),
    (
        "posts",
        &[
            "title",
            "slug",
            "publishedUrl",
            "failure",
            "keyword",
            "content",
            "contentHtml",
            "excerpt",
            "metaTitle",
            "metaDescription",
            "structuredData",
            "externalSources",
            "internalLinks",
            "seoChecks",
            "warnings",
            "publications",
        ],
    ),
    ("integrations.fields", &["data", "sites", "collections"]),
    (
        "integrations",
        &[
            "account",
            "siteId",
            "collectionId",
            "fieldMap",
            "missing",
            "lastError",
        ],
    ),
    ("issues.occurrences", &["url", "evidence"]),
    ("rechecks", &["items"]),
    ("audits.diff", &["pages", "changes"]),
    (
        "pages",
        &[
            "url", "finalUrl", "title", "facts", "issues", "linksIn", "linksOut",
        ],
    ),
    ("jobs", &["result", "problem"]),
    ("events", &["data"]),
    ("webhooks", &["lastAttempts"]),
    ("autopilot.runs", &["choice", "publishedUrl"]),
    ("approvals", &["title"]),
    ("visibility.overview", &["citedSources"]),
    ("visibility.opportunities", &["title", "why", "urls", "sentences"]),
    ("visibility.engines", &["data"]),
    (
        "prompts.answers",
        &[
            "servedModel",
            "text",
            "fanoutQueries",
            "mentions",
            "citations",
            "wrongFacts",
        ],
    ),
    (
        "prompts.dispute",
        &[
            "servedModel",
            "text",
            "fanoutQueries",
            "mentions",
            "citations",
            "wrongFacts",
        ],
    ),
    ("prompts.suggest", &["data"]),
    ("prompts.copy", &["data"]),
    ("prompts", &["text"]),
    ("names.list", &["name", "quotes"]),
    ("names.decide", &["data"]),
    ("reports", &["bingAiPerformance", "searchConsoleAi", "accessLog"]),
];

/// Returns the members of the answers of an operation that hold text of others.
pub(super) fn members(operation: &str) -> Untrusted {
    let resource = operation.split('.').next().unwrap_or_default();
    let find = |name: &str| MEMBERS.iter().find(|(of, _)| *of == name);
    find(operation)
        .or_else(|| find(resource))
        .map_or(&[], |(_, members)| *members)
}

#[cfg(test)]
mod tests {
    use searchwright_contract::{
        operation::{Operation, Visitor, answer_schema},
        visit,
    };

    use super::*;

    /// Every name is that of a member, so that one that is renamed is noticed.
    #[test]
    fn names_are_those_of_members() {
        struct Answers(Vec<(&'static str, String)>);
        impl Visitor for Answers {
            fn operation<O: Operation>(&mut self) {
                self.0
                    .push((O::META.name, answer_schema::<O>().as_value().to_string()));
            }
        }
        let mut answers = Answers(Vec::new());
        visit(&mut answers);
        for (of, names) in MEMBERS {
            let mut schemas = answers
                .0
                .iter()
                .filter(|(name, _)| name == of || name.split('.').next() == Some(of))
                .peekable();
            assert!(schemas.peek().is_some(), "{of}");
            let schemas: String = schemas.map(|(_, schema)| schema.as_str()).collect();
            for name in *names {
                assert!(schemas.contains(&format!("\"{name}\":")), "{of}: {name}");
            }
        }
    }
}
