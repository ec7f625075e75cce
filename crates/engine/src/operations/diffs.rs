//! Compares two audits from their snapshots.

use searchwright_contract::{
    Code, Problem,
    audits::{Audit, AuditStatus},
    diffs::{
        AuditDiff, Change, ChangeCounts, DiffAudits, Incomparable, IssueDiff, PageChange, PageDiff,
        PagesChanged,
    },
    ids::{AuditId, IssueId},
};
use searchwright_crawls::{ids::issue_id, merged};
use searchwright_site::{
    checks::{self, Check},
    crawl::Termination,
};
use searchwright_store::{
    self as store, Tx,
    access::{ProjectScope, RecordKind},
    audits,
    snapshots::{self, PageState},
};

use super::issues::severity;
use crate::{
    Engine,
    call::{Call, fault, limit},
    endpoint::Handle,
    failure::Result,
    rules,
};

/// URLs shown of each kind of change, at most.
const MAX_SHOWN: usize = 5;

impl Handle<DiffAudits> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: DiffAudits) -> Result<AuditDiff> {
        let scope = call.scope()?;
        let later = finished(call, tx, call.child(RecordKind::Audit, &operation.audit_id)?).await?;
        let against = match &operation.against {
            Some(named) => Some(call.child(RecordKind::Audit, named)?),
            None => later.previous_audit_id,
        };
        let Some(against) = against else {
            return Err(Problem::new(
                Code::NotFound,
                "there is no earlier audit to compare this one with",
            )
            .with("resource", "audit")
            .into());
        };
        let earlier = finished(call, tx, against).await?;
        let was = rules::load(tx, scope, earlier.id).await?;
        let rules = rules::load(tx, scope, later.id).await?;
        let (a, b) = (kept(tx, scope, &earlier).await?, kept(tx, scope, &later).await?);
        let mut diff = AuditDiff {
            audit_id: later.id,
            against_id: earlier.id,
            reasons: reasons(&earlier, &later, was == rules),
            comparable: false,
            health_score_before: earlier.health_score,
            health_score: later.health_score,
            counts: ChangeCounts::default(),
            issues: Vec::new(),
            pages: pages(tx, scope, &a, &b).await?,
            changes: Vec::new(),
            next_cursor: None,
        };
        diff.comparable = diff.reasons.is_empty();
        let only = operation.issue_id.as_deref().map(IssueId::parse).transpose();
        let only = only.map_err(|_| fault("/issueId", "not_an_id", "is no id of an issue"))?;
        let after: (IssueId, u64) = call
            .after(&operation, operation.cursor.as_deref())?
            .unwrap_or((IssueId::MIN, 0));
        let limit = limit(operation.limit);
        let mut changes: Vec<(IssueId, u64, Change)> = Vec::new();
        for (issue, check) in issues(tx, scope, [&earlier, &later]).await? {
            let [before, now] = [earlier.id, later.id];
            let (before, now) = (
                snapshots::list_issue_pages(tx, scope, before, issue).await?,
                snapshots::list_issue_pages(tx, scope, now, issue).await?,
            );
            let mut counts = ChangeCounts::default();
            for (page, change) in merged(&before, &now, &a, &b) {
                *counts.count_mut(change) += 1;
                let asked = operation
                    .change
                    .map_or(change != Change::Unchanged, |wanted| wanted == change);
                if asked
                    && only.is_none_or(|only| only == issue)
                    && (issue, page) > after
                    && changes.len() <= limit as usize
                {
                    changes.push((issue, page, change));
                }
            }
            diff.counts += counts;
            if counts.new + counts.added + counts.removed + counts.missing > 0 {
                let severity = match store::issues::get(tx, scope, issue).await {
                    Ok(kept) => kept.severity,
                    Err(store::Error::Missing) => severity(rules.severity(check)),
                    Err(error) => return Err(error.into()),
                };
                diff.issues.push(IssueDiff {
                    issue_id: issue,
                    check_id: check.id.to_owned(),
                    title: check.title.to_owned(),
                    severity,
                    counts,
                });
            }
        }
        diff.issues.sort_by_key(|issue| {
            (
                issue.severity,
                std::cmp::Reverse(issue.counts.new + issue.counts.added),
            )
        });
        let listed = call.page(&operation, limit, changes, |(issue, page, _)| (*issue, *page))?;
        diff.next_cursor = listed.next_cursor;
        let halves: Vec<u64> = listed.data.iter().map(|(_, page, _)| *page).collect();
        let named = snapshots::find_page_urls(tx, scope, &halves).await?;
        diff.changes = listed
            .data
            .into_iter()
            .zip(named)
            .filter_map(|((issue, _, change), page)| {
                let (id, url) = page?;
                Some(PageChange {
                    issue_id: issue,
                    page_id: id,
                    url,
                    change,
                })
            })
            .collect();
        Ok(diff)
    }
}

async fn finished(call: &Call, tx: &mut Tx, id: AuditId) -> Result<Audit> {
    let found = audits::get(tx, call.scope()?, id).await;
    let audit = call.or_missing(tx, RecordKind::Audit, id, found).await?;
    if audit.status.has_results() {
        return Ok(audit);
    }
    Err(Problem::new(
        Code::InvalidState,
        format!("the audit {id} is {} and has no results", audit.status),
    )
    .hint("compare audits that are completed or partial")
    .into())
}

async fn kept(tx: &mut Tx, scope: ProjectScope, audit: &Audit) -> Result<Vec<PageState>> {
    let pages = snapshots::find_pages(tx, scope, audit.id).await?;
    pages.ok_or_else(|| {
        Problem::new(
            Code::NotFound,
            format!("the findings of the audit {} are not kept any more", audit.id),
        )
        .hint("the findings of the last ten audits are kept")
        .with("resource", "audit")
        .into()
    })
}

/// Returns the versions that decide which problems are found, and on which page.
fn versions(audit: &Audit) -> (&str, u32) {
    (&audit.ruleset_version, audit.normalization_version)
}

/// Returns whether the settings of two audits let them see the same pages: a limit that ended neither has no effect.
fn saw_alike(earlier: &Audit, later: &Audit) -> bool {
    let is_complete = |audit: &Audit| audit.status == AuditStatus::Completed;
    let mut config = earlier.config.clone();
    if is_complete(earlier) && is_complete(later) {
        (config.max_pages, config.max_depth) = (later.config.max_pages, later.config.max_depth);
    }
    config == later.config
}

fn reasons(earlier: &Audit, later: &Audit, same_rules: bool) -> Vec<Incomparable> {
    let is_partial = |audit: &Audit| audit.status == AuditStatus::Partial;
    // two partial audits that the same limit of the project ended are comparable: both saw as much of the site as it allows
    let limits = [Termination::MaxPages, Termination::MaxDepth];
    let is_alike = limits.iter().any(|limit| {
        let is_by_it = |audit: &Audit| audit.termination.as_deref() == Some(limit.code());
        is_by_it(earlier) && is_by_it(later)
    });
    let partial = (is_partial(earlier) || is_partial(later)) && !is_alike;
    [
        (
            !same_rules || versions(earlier) != versions(later),
            Incomparable::Ruleset,
        ),
        (!saw_alike(earlier, later), Incomparable::Config),
        (earlier.start_url != later.start_url, Incomparable::StartUrl),
        (partial, Incomparable::Partial),
    ]
    .into_iter()
    .filter_map(|(holds, reason)| holds.then_some(reason))
    .collect()
}

/// Loads the issues that one of the audits found, with their checks, by id.
async fn issues(
    tx: &mut Tx,
    scope: ProjectScope,
    audits: [&Audit; 2],
) -> Result<Vec<(IssueId, &'static Check)>> {
    let mut found: Vec<IssueId> = Vec::new();
    for audit in audits {
        found.extend(snapshots::list_issues(tx, scope, audit.id).await?);
    }
    let mut all: Vec<(IssueId, &'static Check)> = checks::registry()
        .iter()
        .map(|check| (issue_id(scope.project(), check.id), check))
        .filter(|(issue, _)| found.contains(issue))
        .collect();
    all.sort_unstable_by_key(|(issue, _)| *issue);
    Ok(all)
}

async fn pages(tx: &mut Tx, scope: ProjectScope, a: &[PageState], b: &[PageState]) -> Result<PageDiff> {
    let mut found: [Vec<u64>; 6] = Default::default();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        match (a.get(i), b.get(j)) {
            (Some(old), Some(new)) if old.page == new.page => {
                for (at, changed) in [
                    (2, old.status != new.status),
                    (3, old.title != new.title),
                    (4, old.canonical != new.canonical),
                    (5, old.indexable != new.indexable),
                ] {
                    if changed {
                        found[at].push(new.page);
                    }
                }
                (i, j) = (i + 1, j + 1);
            }
            (Some(old), new) if new.is_none_or(|new| old.page < new.page) => {
                found[1].push(old.page);
                i += 1;
            }
            (_, Some(new)) => {
                found[0].push(new.page);
                j += 1;
            }
            (_, None) => break,
        }
    }
    let mut shown = Vec::with_capacity(found.len());
    for pages in &found {
        let first = &pages[..pages.len().min(MAX_SHOWN)];
        let urls = snapshots::find_page_urls(tx, scope, first).await?;
        shown.push(PagesChanged {
            count: pages.len() as u64,
            urls: urls.into_iter().flatten().map(|(_, url)| url).collect(),
        });
    }
    let mut shown = shown.into_iter();
    let mut next = || shown.next().unwrap_or_default();
    Ok(PageDiff {
        added: next(),
        gone: next(),
        status_changed: next(),
        title_changed: next(),
        canonical_changed: next(),
        indexability_changed: next(),
    })
}
