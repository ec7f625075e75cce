//! Columns of the lists in tables for people.

use super::EVIDENCE;

/// Columns of the lists, as heading and member (or the path to one, as in a JSON Pointer).
pub(super) const COLUMNS: &[(&str, &[(&str, &str)])] = &[
    (
        "projects.list",
        &[("id", "id"), ("name", "name"), ("domain", "domain")],
    ),
    (
        "keywords.list",
        &[
            ("id", "id"),
            ("keyword", "keyword"),
            ("volume", "searchVolume"),
            ("difficulty", "keywordDifficulty"),
            ("intent", "intent"),
            ("status", "status"),
        ],
    ),
    (
        "posts.list",
        &[
            ("id", "id"),
            ("status", "status"),
            ("title", "title"),
            ("keyword", "keyword"),
            ("words", "wordCount"),
            ("score", "seoScore"),
            ("version", "version"),
        ],
    ),
    (
        "posts.revisions",
        &[
            ("number", "number"),
            ("words", "wordCount"),
            ("title", "title"),
            ("replaced", "replacedAt"),
        ],
    ),
    (
        "audits.list",
        &[
            ("id", "id"),
            ("status", "status"),
            ("score", "healthScore"),
            ("change", "sincePrevious/healthScore"),
            ("errors", "totals/errors"),
            ("warnings", "totals/warnings"),
            ("requested", "requestedAt"),
            ("finished", "finishedAt"),
        ],
    ),
    (
        "issues.list",
        &[
            ("severity", "severity"),
            ("check", "checkId"),
            ("pages", "affectedPages"),
            ("site-wide", "siteWide/share"),
            ("impact", "impact"),
            ("title", "title"),
            ("id", "id"),
        ],
    ),
    (
        "issues.occurrences",
        &[
            ("url", "url"),
            ("state", "state"),
            ("evidence", EVIDENCE),
            ("page", "page_id"),
        ],
    ),
    (
        "pages.list",
        &[
            ("status", "statusCode"),
            ("indexable", "indexable"),
            ("depth", "depth"),
            ("url", "url"),
            ("title", "title"),
            ("id", "id"),
        ],
    ),
    (
        "jobs.list",
        &[
            ("id", "id"),
            ("type", "type"),
            ("status", "status"),
            ("attempt", "attempt"),
            ("created", "createdAt"),
        ],
    ),
    (
        "activity.list",
        &[
            ("when", "createdAt"),
            ("action", "action"),
            ("subject", "subject"),
            ("by", "credential/type"),
            ("name", "credential/name"),
        ],
    ),
    (
        "integrations.list",
        &[
            ("provider", "provider"),
            ("status", "status"),
            ("missing", "missing"),
            ("account", "account"),
            ("site", "siteId"),
            ("collection", "collectionId"),
            ("last publish", "lastPublishAt"),
        ],
    ),
    (
        "prompts.list",
        &[
            ("id", "id"),
            ("prompt", "text"),
            ("class", "class"),
            ("mention rate", "window/mentionRate/value"),
            ("answers", "window/mentionRate/denominator"),
            ("standing", "window/gap"),
            ("last answer", "latest/answerAt"),
        ],
    ),
    (
        "prompts.answers",
        &[
            ("id", "id"),
            ("engine", "engine"),
            ("surface", "surface"),
            ("status", "status"),
            ("asked", "askedAt"),
            ("model", "servedModel"),
            ("text", "text"),
        ],
    ),
    (
        "runs.list",
        &[
            ("id", "id"),
            ("status", "status"),
            ("trigger", "trigger"),
            ("engines", "engines"),
            ("samples", "samples"),
            ("cost", "actualCost"),
            ("created", "createdAt"),
        ],
    ),
    (
        "names.list",
        &[
            ("name", "name"),
            ("status", "status"),
            ("answers", "answers"),
            ("prompts", "prompts"),
            ("engines", "engines"),
            ("last seen", "lastSeenAt"),
            ("near to", "nearTo/brand"),
        ],
    ),
    (
        "visibility.engines",
        &[
            ("engine", "engine"),
            ("surface", "surface"),
            ("configured", "configured"),
            ("answers", "answers"),
            ("failures", "failures"),
            ("last good answer", "lastGoodAnswerAt"),
            ("last error", "lastError"),
            ("missing", "missing"),
        ],
    ),
    (
        "visibility.opportunities",
        &[
            ("score", "score"),
            ("kind", "kind"),
            ("title", "title"),
            ("why", "why"),
        ],
    ),
    (
        "webhooks.list",
        &[
            ("id", "id"),
            ("event", "event"),
            ("url", "targetUrl"),
            ("status", "status"),
            ("failing since", "failingSince"),
        ],
    ),
    (
        "webhooks.deliveries",
        &[
            ("id", "id"),
            ("event", "event"),
            ("status", "status"),
            ("attempts", "attempts"),
            ("next", "nextAttemptAt"),
            ("created", "createdAt"),
        ],
    ),
    (
        "events.list",
        &[("when", "timestamp"), ("type", "type"), ("data", "data")],
    ),
    (
        "products.list",
        &[
            ("id", "id"),
            ("name", "name"),
            ("category", "category"),
            ("status", "status"),
            ("url", "url"),
        ],
    ),
    (
        "competitors.list",
        &[
            ("id", "id"),
            ("name", "name"),
            ("domain", "domain"),
            ("active", "active"),
        ],
    ),
    (
        "faqs.list",
        &[
            ("id", "id"),
            ("question", "question"),
            ("language", "language"),
            ("verified", "verifiedAt"),
        ],
    ),
    (
        "ctas.list",
        &[
            ("id", "id"),
            ("label", "label"),
            ("placement", "placement"),
            ("priority", "priority"),
            ("url", "url"),
        ],
    ),
];
