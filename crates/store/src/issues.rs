//! Issues, and the findings of audits that make them. Titles and texts of issues come from the registry of checks.

mod severity;

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    ids::{AuditId, IssueId, PageId},
    issues::{OccurrenceState, Severity},
};

pub use crate::ledger::EvidenceCutoff;
pub use severity::{IssueSummary, IssueWeight, update_last_seen, update_severities, update_weights, upsert};

use crate::{
    Cells, Json, Result, Tx,
    access::ProjectScope,
    ledger::{self, EntryFilter, NewLeaves},
    projects, sql,
};

/// An issue as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct IssueRow {
    /// UUIDv5 of project and check.
    pub id: IssueId,
    /// Id of the check.
    pub check_id: String,
    /// Severity in the newest audit.
    pub severity: Severity,
    /// Impact, by which issues are sorted; 0 without active occurrences.
    pub impact: f64,
    /// Number of active occurrences.
    pub active: u64,
    /// Number of occurrences by state.
    pub counts: BTreeMap<String, u64>,
    /// Time of the first finding.
    pub first_seen_at: Instant,
    /// Time of the last finding.
    pub last_seen_at: Instant,
}

/// Filters and cursor of a list of issues.
#[derive(Clone, Debug, Default)]
pub struct IssueQuery {
    /// Only with (`true`) or without active occurrences.
    pub active: Option<bool>,
    /// Only this severity.
    pub severity: Option<Severity>,
    /// Only this category.
    pub category: Option<String>,
    /// Last row of the previous page: impact and id.
    pub after: Option<(f64, IssueId)>,
    /// Maximum number of rows.
    pub limit: u32,
}

/// Selects issues. The impact of one without active occurrences is shown as 0, and kept for when it occurs again.
macro_rules! columns {
    ($($where:literal),*) => {
        concat!(
            "SELECT id, check_id, severity, CASE WHEN active > 0 THEN impact ELSE 0.0 END, active, counts, first_seen_at, last_seen_at FROM issues WHERE ",
            $($where),*
        )
    };
}

fn read_issue(c: &mut Cells<'_>) -> Result<IssueRow> {
    Ok(IssueRow {
        id: c.take()?,
        check_id: c.take()?,
        severity: c.parse()?,
        impact: c.take()?,
        active: c.take()?,
        counts: c.take_json()?,
        first_seen_at: c.take()?,
        last_seen_at: c.take()?,
    })
}

/// Returns one page of issues, highest impact first.
pub async fn list(tx: &mut Tx, scope: ProjectScope, query: IssueQuery) -> Result<Vec<IssueRow>> {
    let (impact, id) = query.after.unwrap_or((f64::MAX, IssueId::MAX));
    sql(columns!("project_id = $1 AND (CASE WHEN active > 0 THEN impact ELSE 0.0 END, id) < ($2, $3)
           AND (CAST($5 AS BOOLEAN) IS NULL OR (active > 0) = $5) AND (CAST($6 AS TEXT) IS NULL OR severity = $6) AND (CAST($7 AS TEXT) IS NULL OR category = $7)
         ORDER BY CASE WHEN active > 0 THEN impact ELSE 0.0 END DESC, id DESC LIMIT $4"))
    .bind(scope.project())
    .bind(impact)
    .bind(id)
    .bind(query.limit)
    .bind(query.active)
    .bind(query.severity.map(Severity::as_str))
    .bind(query.category)
    .fetch_all(tx, read_issue)
    .await
}

/// Order of a list of issues, with the value of the last row of the page before; `None` to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueOrder {
    /// By number of active occurrences, most first.
    Affected(Option<(u64, IssueId)>),
    /// By time of the first finding, newest first.
    FirstSeen(Option<(Instant, IssueId)>),
}

/// Returns one page of issues in an order. There are no more of them than checks, so none has an index. The cursor of the query is
/// that of another order.
pub async fn list_by(
    tx: &mut Tx,
    scope: ProjectScope,
    query: IssueQuery,
    order: IssueOrder,
) -> Result<Vec<IssueRow>> {
    macro_rules! text {
        ($value:literal, $kind:literal) => {
            columns!(
                "project_id = $1 AND (CAST($2 AS ",
                $kind,
                ") IS NULL OR (",
                $value,
                ", id) < ($2, $3)) AND (CAST($5 AS BOOLEAN) IS NULL OR (active > 0) = $5) AND (CAST($6 AS TEXT) IS NULL OR severity = $6)
                   AND (CAST($7 AS TEXT) IS NULL OR category = $7) ORDER BY ",
                $value,
                " DESC, id DESC LIMIT $4"
            )
        };
    }
    let statement = match order {
        IssueOrder::Affected(after) => {
            let (affected, id) = after.unzip();
            sql(text!("active", "BIGINT"))
                .bind(scope.project())
                .bind(affected)
                .bind(id)
        }
        IssueOrder::FirstSeen(after) => {
            let (seen, id) = after.unzip();
            let text = if tx.is_postgres() {
                text!("first_seen_at", "TIMESTAMPTZ")
            } else {
                text!("first_seen_at", "TEXT")
            };
            sql(text).bind(scope.project()).bind(seen).bind(id)
        }
    };
    statement
        .bind(query.limit)
        .bind(query.active)
        .bind(query.severity.map(Severity::as_str))
        .bind(query.category)
        .fetch_all(tx, read_issue)
        .await
}

/// Returns an issue; [`Error::Missing`](crate::Error::Missing) if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: IssueId) -> Result<IssueRow> {
    sql(columns!("project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, read_issue)
        .await
}

/// A finding of an audit.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding<E = String> {
    /// Id of the issue.
    pub issue: IssueId,
    /// Id of the page.
    pub page: PageId,
    /// Evidence, JSON text.
    pub evidence: E,
}

/// Records findings of an audit. An occurrence that was resolved is reopened, and so is one that was marked as done before the
/// cutoff: the finding may be older than a later mark.
pub async fn record_findings(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    findings: Vec<Finding>,
    cutoff: EvidenceCutoff,
    now: Instant,
) -> Result<()> {
    let prepared = PreparedFindings {
        new: Vec::new(),
        known: group_by_issue(findings).collect(),
    };
    record_prepared(tx, scope, audit, prepared, cutoff, now).await
}

/// Groups findings (page and evidence) by issue.
fn group_by_issue<E>(findings: Vec<Finding<E>>) -> impl Iterator<Item = (IssueId, Vec<(PageId, E)>)> {
    let mut groups: BTreeMap<IssueId, Vec<(PageId, E)>> = BTreeMap::new();
    for finding in findings {
        groups
            .entry(finding.issue)
            .or_default()
            .push((finding.page, finding.evidence));
    }
    groups.into_iter()
}

/// Findings of an audit, packed before the transaction that records them.
#[derive(Debug)]
pub struct PreparedFindings {
    /// Packed findings of issues that are new to the project.
    new: Vec<(IssueId, NewLeaves)>,
    /// Findings of other issues.
    known: Vec<(IssueId, Vec<(PageId, String)>)>,
}

impl PreparedFindings {
    /// Packs the findings of new issues. An issue that is not new although `is_new` says so is recorded correctly, but slowly.
    pub fn new(
        findings: Vec<Finding<&str>>,
        is_new: impl Fn(IssueId) -> bool,
        audit: AuditId,
        now: Instant,
    ) -> Result<Self> {
        let (new, known): (Vec<_>, Vec<_>) = group_by_issue(findings).partition(|(issue, _)| is_new(*issue));
        let new = new.into_iter();
        let new = new.map(|(issue, found)| Ok((issue, NewLeaves::pack(found, audit, now)?)));
        let owned = |(page, evidence): (PageId, &str)| (page, evidence.to_owned());
        let known = known.into_iter();
        let known = known.map(|(issue, found)| (issue, found.into_iter().map(owned).collect()));
        Ok(Self {
            new: new.collect::<Result<_>>()?,
            known: known.collect(),
        })
    }
}

/// Records findings that were packed before the transaction; see [`record_findings`].
pub async fn record_prepared(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    prepared: PreparedFindings,
    cutoff: EvidenceCutoff,
    now: Instant,
) -> Result<()> {
    projects::lock(tx, scope).await?;
    let PreparedFindings { new, mut known } = prepared;
    for (issue, leaves) in new {
        let found = leaves.append(tx, scope, issue).await?;
        known.extend(found.map(|found| (issue, found)));
    }
    for (issue, found) in known {
        ledger::update_entries(tx, scope, issue, found, |known, evidence| {
            ledger::apply_finding(known, evidence, audit, cutoff, now)
        })
        .await?;
    }
    Ok(())
}

/// Returns the ids of all issues of the project.
pub async fn list_ids(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<IssueId>> {
    sql("SELECT id FROM issues WHERE project_id = $1 ORDER BY id")
        .bind(scope.project())
        .fetch_all(tx, |c| c.take())
        .await
}

/// An occurrence, active or ignored, that an audit did not find again.
#[derive(Clone, Debug, PartialEq)]
pub struct UnseenOccurrence {
    /// Id of the page.
    pub page: PageId,
    /// Last evidence, JSON text.
    pub evidence: String,
    /// The audit fetched the page, or tried to.
    pub visited: bool,
    /// Time of the last check.
    pub checked_at: Instant,
}

/// Returns at most `limit` occurrences of an issue, active or ignored, that an audit did not find again, by page id.
pub async fn list_unseen(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    issue: IssueId,
    after: Option<PageId>,
    limit: usize,
) -> Result<Vec<UnseenOccurrence>> {
    let found = ledger::list_after(tx, scope, issue, EntryFilter::Unseen(audit), after, limit).await?;
    let pages = found.iter().map(|(page, _)| vec![(*page).into()]).collect();
    let visited = sql("SELECT 1 FROM pages WHERE project_id = $1 AND audit_id = $2 AND id = $3")
        .bind(scope.project())
        .bind(audit)
        .fetch_optional_each(tx, pages, |_| Ok(()))
        .await?;
    let unseen = found
        .into_iter()
        .zip(visited)
        .map(|((page, entry), visited)| UnseenOccurrence {
            page,
            evidence: entry.evidence,
            visited: visited.is_some(),
            checked_at: entry.checked_at,
        });
    Ok(unseen.collect())
}

/// Decisions about occurrences that an audit did not find again.
#[derive(Clone, Debug, Default)]
pub struct Settlement {
    /// Pages on which the issue is resolved, and the resolution.
    pub resolved: Vec<(PageId, &'static str)>,
    /// Pages for which the audit could not tell.
    pub stale: Vec<PageId>,
    /// Pages on which something newer than the audit has seen the issue.
    pub newer: Vec<PageId>,
}

/// Applies decisions about occurrences that an audit did not find again. Ignored ones stay ignored.
pub async fn settle_unseen(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    issue: IssueId,
    settled: Settlement,
    now: Instant,
) -> Result<()> {
    enum Decision {
        Resolved(&'static str),
        Stale,
        Newer,
    }
    projects::lock(tx, scope).await?;
    let resolved = settled
        .resolved
        .into_iter()
        .map(|(page, resolution)| (page, Decision::Resolved(resolution)));
    let stale = settled.stale.into_iter().map(|page| (page, Decision::Stale));
    let newer = settled.newer.into_iter().map(|page| (page, Decision::Newer));
    let decisions = resolved.chain(stale).chain(newer).collect();
    ledger::update_entries(tx, scope, issue, decisions, |known, decision| {
        let Some(entry) = known
            .as_mut()
            .filter(|entry| entry.is_active() && entry.is_unseen(audit))
        else {
            return false;
        };
        match decision {
            Decision::Resolved(resolution) => entry.resolve(resolution, now),
            Decision::Stale => entry.stale = true,
            Decision::Newer => entry.last_seen = entry.last_seen.max(audit),
        }
        true
    })
    .await
}

/// Counts the occurrences of an issue under the lock of the project. Returns a transition if it became active or inactive.
pub async fn recount(tx: &mut Tx, scope: ProjectScope, issue: IssueId) -> Result<Option<IssueTransition>> {
    projects::lock(tx, scope).await?;
    let before = get(tx, scope, issue).await?;
    let counts = ledger::count_by_state(tx, scope, issue).await?;
    let is_active =
        |state: &OccurrenceState| !matches!(state, OccurrenceState::Resolved | OccurrenceState::Ignored);
    let active: u64 = counts
        .iter()
        .filter(|(state, _)| is_active(state))
        .map(|(_, n)| n)
        .sum();
    let counts = Json::encode(&counts)?;
    sql("UPDATE issues SET active = $3, counts = $4 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(issue)
        .bind(active)
        .bind(counts)
        .execute(tx)
        .await?;
    let transition = IssueTransition {
        issue,
        active: active > 0,
        new: before.counts.is_empty(),
    };
    Ok((transition.active != (before.active > 0)).then_some(transition))
}

/// A change of an issue from inactive to active, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IssueTransition {
    /// Id of the issue.
    pub issue: IssueId,
    /// It has active occurrences now.
    pub active: bool,
    /// It was counted for the first time.
    pub new: bool,
}
