//! Output of commands: JSON for programs, tables for people. Control characters in text of websites are replaced,
//! because a terminal would obey them.

use std::io::{IsTerminal as _, Write as _};

use comfy_table::{ContentArrangement, Table};
use searchwright_contract::{
    Operation as _,
    evidence::in_words,
    visibility::{GetOverview, Overview},
};
use serde::Deserialize as _;
use serde_json::Value;

use crate::{exit::CliError, overview};

/// Member whose form depends on the check, shown in words.
const EVIDENCE: &str = "evidence";
/// Columns of the lists, as heading and member (or the path to one, as in a JSON Pointer).
const COLUMNS: &[(&str, &[(&str, &str)])] = &[
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

/// Prints an answer.
pub fn print(name: &str, answer: &Value, json: bool) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    if json {
        if !answer.is_null() {
            crate::json_text::write_json(&mut out, answer)?;
        }
        return Ok(());
    }
    match (
        COLUMNS.iter().find(|(n, _)| *n == name),
        answer.get("data").and_then(Value::as_array),
    ) {
        (Some((_, columns)), Some(rows)) => {
            writeln!(out, "{}", table(columns, rows))?;
            if let Some(cursor) = answer.get("nextCursor").and_then(Value::as_str) {
                eprintln!("more: --cursor {cursor}");
            }
        }
        _ if answer.is_null() => eprintln!("done"),
        _ if name == GetOverview::META.name => {
            let shown = Overview::deserialize(answer).map_err(std::io::Error::from)?;
            overview::write(&mut out, &shown)?;
        }
        _ => record(&mut out, answer, 0)?,
    }
    Ok(())
}

/// Returns a table of rows.
pub(crate) fn table(columns: &[(&str, &str)], rows: &[Value]) -> Table {
    let heads: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
    let rows = rows.iter().map(|row| {
        let member = |path: &str| row.pointer(&format!("/{path}")).unwrap_or(&Value::Null);
        let columns = columns.iter().map(|(_, path)| match *path {
            EVIDENCE => plain(&in_words(member(path))),
            path => cell(member(path)),
        });
        columns.collect()
    });
    cells(&heads, rows)
}

/// Returns a table of texts.
pub(crate) fn cells(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table
        .load_style(comfy_table::presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    if !std::io::stdout().is_terminal() {
        // A pipe has no width: nothing is wrapped, so that lines are records.
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    table.set_header(heads.iter().map(|heading| heading.to_uppercase()));
    table.add_rows(rows);
    table
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => plain(text),
        Value::Number(number) => match number.as_f64() {
            // Counts of figures are floats in JSON.
            Some(whole) if number.is_f64() && whole.fract() == 0.0 => format!("{whole}"),
            _ => number.to_string(),
        },
        other => plain(&other.to_string()),
    }
}

fn record(out: &mut impl std::io::Write, value: &Value, depth: usize) -> std::io::Result<()> {
    let Value::Object(members) = value else {
        return writeln!(out, "{}", cell(value));
    };
    let width = members.keys().map(String::len).max().unwrap_or(0);
    for (name, member) in members {
        let indent = "  ".repeat(depth);
        match member {
            Value::Object(_) if name == EVIDENCE => {
                writeln!(out, "{indent}{name:width$}  {}", plain(&in_words(member)))?;
            }
            Value::Object(inner) if !inner.is_empty() && name != "allowedActions" => {
                writeln!(out, "{indent}{name}:")?;
                record(out, member, depth + 1)?;
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                writeln!(out, "{indent}{name}:")?;
                for item in items {
                    record(out, item, depth + 1)?;
                    writeln!(out)?;
                }
            }
            _ if name == "allowedActions" => {
                let allowed: Vec<&str> = member
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter(|(_, v)| **v == Value::Bool(true))
                    .map(|(k, _)| k.as_str())
                    .collect();
                writeln!(
                    out,
                    "{indent}{name:width$}  {}",
                    if allowed.is_empty() {
                        "-".to_owned()
                    } else {
                        allowed.join(", ")
                    }
                )?;
            }
            _ => writeln!(out, "{indent}{name:width$}  {}", cell(member))?,
        }
    }
    Ok(())
}

/// Text without control characters, so that a page's title cannot steer the terminal.
pub fn plain(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => ' ',
            c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                '\u{fffd}'
            }
            c => c,
        })
        .collect()
}
