//! Report of `try` when the audit has ended: the score, the most important issues, and next steps.

use std::fmt::Write as _;

use searchwright_cli::{CliError, Client, output::plain};
use searchwright_contract::{
    audits::Audit,
    evidence::in_words,
    ids::ProjectId,
    issues::{Issue, IssueStatus, ListIssues, ListOccurrences, Occurrence},
};
use serde_json::{Value, json};

/// Issues shown.
const ISSUES: u8 = 6;
/// Pages shown per issue.
const PAGES: u8 = 3;

/// An issue with the first of its pages.
struct Finding {
    issue: Issue,
    occurrences: Vec<Occurrence>,
}

/// Reads the most important issues.
async fn findings(client: &Client, project: ProjectId) -> Result<Vec<Finding>, CliError> {
    let query = ListIssues {
        project_id: project.to_string(),
        status: Some(IssueStatus::Active),
        severity: None,
        category: None,
        sort: None,
        limit: Some(ISSUES),
        cursor: None,
    };
    let mut findings = Vec::new();
    for issue in client.call(&query).await?.data {
        let query = ListOccurrences {
            project_id: project.to_string(),
            issue_id: issue.id.to_string(),
            state: None,
            limit: Some(PAGES),
            cursor: None,
        };
        let occurrences = client.call(&query).await?.data;
        findings.push(Finding { issue, occurrences });
    }
    Ok(findings)
}

/// The report of an audit that has ended, with the address and the key to go on with.
pub async fn to_json(client: &Client, audit: &Audit, api_url: &str, key: &str) -> Result<Value, CliError> {
    let findings = findings(client, audit.project_id).await?;
    let issues: Vec<Value> = findings
        .iter()
        .map(|finding| json!({ "issue": finding.issue, "occurrences": finding.occurrences }))
        .collect();
    Ok(json!({ "audit": audit, "issues": issues, "apiUrl": api_url, "key": key }))
}

/// The report of an audit that has ended, for people.
pub async fn to_text(client: &Client, project: ProjectId, audit: &Audit) -> Result<String, CliError> {
    let mut text = String::new();
    let score = audit.health_score.map_or_else(
        || "not available: no page responded".to_owned(),
        |s| format!("{s} of 100 ({})", audit.band.as_deref().unwrap_or("-")),
    );
    let _ = writeln!(text, "Health score  {score}");
    let progress = audit.progress;
    let _ = writeln!(
        text,
        "Crawl         {} URLs fetched, {} without response, {} blocked by robots.txt; ended: {}",
        progress.fetched,
        progress.failed,
        progress.blocked,
        audit.termination.as_deref().unwrap_or("-")
    );
    if let Some(totals) = audit.totals {
        let _ = writeln!(
            text,
            "Findings      {} errors, {} warnings, {} notices in {} issues",
            totals.errors, totals.warnings, totals.notices, totals.issues
        );
    }
    if let Some(error) = &audit.error {
        let _ = writeln!(text, "Failed        {}: {}", error.code, error.message);
    }
    let findings = findings(client, project).await?;
    if !findings.is_empty() {
        let _ = writeln!(text, "\nTop issues");
    }
    for (at, finding) in findings.iter().enumerate() {
        describe(&mut text, at + 1, finding);
    }
    Ok(text)
}

fn describe(text: &mut String, number: usize, finding: &Finding) {
    let issue = &finding.issue;
    let pages = if issue.affected_pages == 1 {
        "1 page".to_owned()
    } else {
        format!("{} pages", issue.affected_pages)
    };
    let _ = writeln!(text, "\n{number}. {} ({}, {pages})", issue.title, issue.severity);
    if let Some(site_wide) = &issue.site_wide {
        let _ = writeln!(text, "   {}", site_wide.note);
    }
    let _ = writeln!(text, "   {}", issue.recommendation);
    let _ = writeln!(text, "   How to verify: {}", issue.how_to_verify);
    for occurrence in &finding.occurrences {
        let mut evidence = in_words(&occurrence.evidence);
        if evidence.chars().count() > 160 {
            evidence = evidence.chars().take(160).chain(['…']).collect();
        }
        let _ = writeln!(text, "   - {}\n     {}", plain(&occurrence.url), plain(&evidence));
    }
    if issue.affected_pages > u64::from(PAGES) {
        let _ = writeln!(text, "   - and {} more", issue.affected_pages - u64::from(PAGES));
    }
}
