//! Outcome of a recheck in words: proven fixed, still there, could not be told.

use std::{collections::BTreeMap, io::Write};

use searchwright_client::Client;
use searchwright_contract::{
    ids::IssueId,
    issues::ListIssues,
    rechecks::{GetRecheck, Recheck, RecheckItem, RecheckOutcome, RecheckStatus},
};

use crate::{
    exit::{CliError, Exit},
    output::plain,
};

/// Rows of one request.
const PAGE: u8 = 100;
/// Items of each kind that are shown one by one.
const SHOWN: usize = 100;

/// Returns a recheck with all of its items.
pub(crate) async fn whole(client: &Client, project: &str, id: &str) -> Result<Recheck, CliError> {
    let mut query = GetRecheck {
        project_id: project.to_owned(),
        recheck_id: id.to_owned(),
        limit: Some(PAGE),
        cursor: None,
    };
    let mut recheck = client.call(&query).await?;
    while let Some(cursor) = recheck.next_cursor.take() {
        query.cursor = Some(cursor);
        let page = client.call(&query).await?;
        recheck.items.extend(page.items);
        recheck.next_cursor = page.next_cursor;
    }
    Ok(recheck)
}

/// Returns the titles of the issues of a project.
pub(crate) async fn titles(client: &Client, project: &str) -> Result<BTreeMap<IssueId, String>, CliError> {
    let mut query = ListIssues {
        project_id: project.to_owned(),
        status: None,
        severity: None,
        category: None,
        sort: None,
        limit: Some(PAGE),
        cursor: None,
    };
    let mut titles = BTreeMap::new();
    loop {
        let page = client.call(&query).await?;
        titles.extend(page.data.into_iter().map(|issue| (issue.id, issue.title)));
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            return Ok(titles);
        }
    }
}

/// Reading of the items by what they mean to somebody who fixed a site.
fn parts(recheck: &Recheck) -> [(&'static str, Vec<&RecheckItem>); 3] {
    let of = |holds: fn(RecheckOutcome) -> bool| -> Vec<&RecheckItem> {
        recheck.items.iter().filter(|item| holds(item.outcome)).collect()
    };
    [
        (
            "still there",
            of(|outcome| outcome == RecheckOutcome::StillPresent),
        ),
        (
            "could not be told",
            of(|outcome| !matches!(outcome, RecheckOutcome::Resolved | RecheckOutcome::StillPresent)),
        ),
        ("proven fixed", of(|outcome| outcome == RecheckOutcome::Resolved)),
    ]
}

const fn why(outcome: RecheckOutcome) -> &'static str {
    match outcome {
        RecheckOutcome::NeedsAudit => "only an audit of the whole site can verify it",
        RecheckOutcome::Superseded => "changed meanwhile by an audit or somebody else",
        RecheckOutcome::Pending => "not checked",
        RecheckOutcome::Inconclusive => "the page or a target gave no clear answer",
        RecheckOutcome::Resolved | RecheckOutcome::StillPresent => "",
    }
}

/// Writes what was proven, the worst first, then the sums in one line.
pub(crate) fn write(
    out: &mut impl Write,
    recheck: &Recheck,
    titles: &BTreeMap<IssueId, String>,
) -> std::io::Result<()> {
    let parts = parts(recheck);
    for (heading, items) in &parts {
        if items.is_empty() {
            continue;
        }
        writeln!(out, "{heading}: {}", items.len())?;
        for item in items.iter().take(SHOWN) {
            let title = titles.get(&item.issue_id).map_or("issue", String::as_str);
            let reasons = [why(item.outcome), item.detail.as_deref().unwrap_or_default()];
            let reasons: Vec<String> = reasons
                .into_iter()
                .filter(|why| !why.is_empty())
                .map(plain)
                .collect();
            let reasons = if reasons.is_empty() {
                String::new()
            } else {
                format!(" ({})", reasons.join("; "))
            };
            writeln!(out, "  {}: {}{reasons}", plain(title), plain(&item.url))?;
        }
        if items.len() > SHOWN {
            writeln!(out, "  and {} more", items.len() - SHOWN)?;
        }
    }
    let [there, unknown, fixed] = parts.map(|(_, items)| items.len());
    write!(
        out,
        "{fixed} proven fixed, {there} still there, {unknown} could not be told"
    )?;
    match recheck.counts.new_issues {
        0 => writeln!(out),
        1 => writeln!(out, "; 1 other problem was found on the pages"),
        more => writeln!(out, "; {more} other problems were found on the pages"),
    }
}

/// Returns the exit code: done only if everything was proven fixed.
pub(crate) fn exit(recheck: &Recheck) -> Exit {
    let is_fixed = |item: &RecheckItem| item.outcome == RecheckOutcome::Resolved;
    match recheck.status {
        RecheckStatus::Failed => Exit::Failed,
        _ if recheck.items.iter().all(is_fixed) => Exit::Done,
        _ => Exit::Unproven,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a";

    fn recheck(outcomes: &[(&str, Option<&str>)]) -> Recheck {
        let items: Vec<_> = outcomes
            .iter()
            .map(|(outcome, detail)| {
                json!({ "issue_id": ID, "page_id": ID, "url": "https://example.com/a", "outcome": outcome, "detail": detail, "checkedAt": null })
            })
            .collect();
        let recheck = json!({
            "id": ID, "jobId": ID, "status": "partial", "auditId": ID,
            "scope": { "named": false, "issues": 1, "pages": 1, "occurrences": 1 },
            "requestedAt": "2026-11-21T10:00:00.000Z", "finishedAt": null,
            "counts": { "pending": 0, "resolved": 0, "stillPresent": 0, "inconclusive": 0, "needsAudit": 0, "superseded": 0, "newIssues": 1 },
            "items": items, "nextCursor": null,
        });
        serde_json::from_value(recheck).unwrap()
    }

    #[test]
    fn what_was_proven_is_told_and_decides_the_exit() {
        for (outcomes, sums, code) in [
            (
                &[("resolved", None)][..],
                "1 proven fixed, 0 still there, 0 could not be told",
                Exit::Done,
            ),
            (
                &[
                    ("resolved", None),
                    ("still_present", None),
                    ("inconclusive", Some("HTTP 503")),
                ],
                "1 proven fixed, 1 still there, 1 could not be told",
                Exit::Unproven,
            ),
            (
                &[("needs_audit", None)],
                "0 proven fixed, 0 still there, 1 could not be told",
                Exit::Unproven,
            ),
            (
                &[("superseded", None), ("pending", None)],
                "0 proven fixed, 0 still there, 2 could not be told",
                Exit::Unproven,
            ),
        ] {
            let recheck = recheck(outcomes);
            let mut out = Vec::new();
            let titles = BTreeMap::from([(recheck.items[0].issue_id, "Missing title tag".to_owned())]);
            write(&mut out, &recheck, &titles).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(
                text.contains(sums) && text.contains("Missing title tag: https://example.com/a"),
                "{text}"
            );
            assert!(
                text.ends_with("; 1 other problem was found on the pages\n"),
                "{text}"
            );
            assert_eq!(text.contains("HTTP 503"), outcomes.len() == 3, "{text}");
            assert_eq!(exit(&recheck), code);
        }
    }
}
