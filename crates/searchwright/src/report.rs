//! Report of `try` when the audit has ended: the score, the most important issues, and next steps.

use std::fmt::Write as _;

use searchwright_cli::{CliError, Client, output::plain};
use searchwright_contract::{
    audits::Audit,
    evidence::in_words,
    ids::ProjectId,
    issues::{Issue, IssueStatus, ListIssues, ListOccurrences},
};

/// Issues shown.
const ISSUES: u8 = 6;
/// Pages shown per issue.
const PAGES: u8 = 3;

/// The report of an audit that has ended.
pub async fn report(client: &Client, project: ProjectId, audit: &Audit) -> Result<String, CliError> {
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
    let query = ListIssues {
        project_id: project.to_string(),
        status: Some(IssueStatus::Active),
        severity: None,
        category: None,
        sort: None,
        limit: Some(ISSUES),
        cursor: None,
    };
    let issues = client.call(&query).await?.data;
    if !issues.is_empty() {
        let _ = writeln!(text, "\nTop issues");
    }
    for (at, issue) in issues.iter().enumerate() {
        describe(&mut text, client, project, at + 1, issue).await?;
    }
    Ok(text)
}

async fn describe(
    text: &mut String,
    client: &Client,
    project: ProjectId,
    number: usize,
    issue: &Issue,
) -> Result<(), CliError> {
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
    let query = ListOccurrences {
        project_id: project.to_string(),
        issue_id: issue.id.to_string(),
        state: None,
        limit: Some(PAGES),
        cursor: None,
    };
    for occurrence in client.call(&query).await?.data {
        let mut evidence = in_words(&occurrence.evidence);
        if evidence.chars().count() > 160 {
            evidence = evidence.chars().take(160).chain(['…']).collect();
        }
        let _ = writeln!(text, "   - {}\n     {}", plain(&occurrence.url), plain(&evidence));
    }
    if issue.affected_pages > u64::from(PAGES) {
        let _ = writeln!(text, "   - and {} more", issue.affected_pages - u64::from(PAGES));
    }
    Ok(())
}
