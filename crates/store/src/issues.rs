//! Issues and their occurrences. Their texts are the registry's; what is kept is what was seen.

mod standing;

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    issues::{OccurrenceState, Severity},
};
use uuid::Uuid;

pub use crate::ledger::EvidenceCutoff;
pub use standing::{Summary, Weight, announce, grade, seen, weigh};

use crate::{
    Cells, Error, Json, Result, Tx,
    access::ProjectScope,
    ledger::{self, EntryFilter, NewLeaves},
    projects, sql,
};

/// An issue as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct IssueRow {
    /// UUIDv5 of project and check.
    pub id: Uuid,
    /// The check.
    pub check_id: String,
    /// As the newest audit had it.
    pub severity: Severity,
    /// Sort key.
    pub impact: f64,
    /// Active occurrences.
    pub active: u64,
    /// Occurrences by state.
    pub counts: BTreeMap<String, u64>,
    /// First seen.
    pub first_seen_at: Instant,
    /// Last seen.
    pub last_seen_at: Instant,
}

/// Filters and place of a list of issues.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Only with (`true`) or without active occurrences.
    pub active: Option<bool>,
    /// Only this severity.
    pub severity: Option<Severity>,
    /// Only this category.
    pub category: Option<String>,
    /// Last row of the page before: impact and id.
    pub after: Option<(f64, Uuid)>,
    /// Rows, at most.
    pub limit: u32,
}

/// What occurs nowhere matters to nobody now; as soon as it occurs again, as much as before.
macro_rules! columns {
    ($where:literal) => {
        concat!(
            "SELECT id, check_id, severity, CASE WHEN active > 0 THEN impact ELSE 0.0 END, active, counts, first_seen_at, last_seen_at FROM issues WHERE ",
            $where
        )
    };
}

fn issue(c: &mut Cells<'_>) -> Result<IssueRow> {
    Ok(IssueRow {
        id: c.take()?,
        check_id: c.take()?,
        severity: c.parse()?,
        impact: c.take()?,
        active: c.take()?,
        counts: serde_json::from_value(c.take::<Json>()?.0).map_err(|e| Error::Defect(e.to_string()))?,
        first_seen_at: c.take()?,
        last_seen_at: c.take()?,
    })
}

/// One page, highest impact first.
pub async fn list(tx: &mut Tx, scope: ProjectScope, query: Query) -> Result<Vec<IssueRow>> {
    let (impact, id) = query.after.unwrap_or((f64::MAX, Uuid::max()));
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
    .fetch_all(tx, issue)
    .await
}

/// One issue.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<IssueRow> {
    sql(columns!("project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, issue)
        .await
}

/// One finding of an audit.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding<E = String> {
    /// The issue.
    pub issue: Uuid,
    /// The page.
    pub page: Uuid,
    /// What was seen, JSON text.
    pub evidence: E,
}

/// Records what an audit found. An occurrence that was resolved reopens, and so does one that was marked as done before
/// the audit began: what was seen may be older than a later mark.
pub async fn record(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    findings: Vec<Finding>,
    cutoff: EvidenceCutoff,
    now: Instant,
) -> Result<()> {
    let ready = Ready {
        fresh: Vec::new(),
        known: by_issue(findings).collect(),
    };
    record_ready(tx, scope, audit, ready, cutoff, now).await
}

/// What was found on pages, by issue.
fn by_issue<E>(findings: Vec<Finding<E>>) -> impl Iterator<Item = (Uuid, Vec<(Uuid, E)>)> {
    let mut of: BTreeMap<Uuid, Vec<(Uuid, E)>> = BTreeMap::new();
    for finding in findings {
        of.entry(finding.issue)
            .or_default()
            .push((finding.page, finding.evidence));
    }
    of.into_iter()
}

/// What an audit found, made ready to be recorded.
#[derive(Debug)]
pub struct Ready {
    fresh: Vec<(Uuid, NewLeaves)>,
    known: Vec<(Uuid, Vec<(Uuid, String)>)>,
}

impl Ready {
    /// Takes time where an issue is new, and saves more when it is recorded; one that is called new and is not takes more.
    pub fn make(
        findings: Vec<Finding<&str>>,
        is_new: impl Fn(Uuid) -> bool,
        audit: Uuid,
        now: Instant,
    ) -> Result<Self> {
        let (fresh, known): (Vec<_>, Vec<_>) = by_issue(findings).partition(|(issue, _)| is_new(*issue));
        let fresh = fresh.into_iter();
        let fresh = fresh.map(|(issue, found)| Ok((issue, NewLeaves::pack(found, audit, now)?)));
        let owned = |(page, evidence): (Uuid, &str)| (page, evidence.to_owned());
        let known = known.into_iter();
        let known = known.map(|(issue, found)| (issue, found.into_iter().map(owned).collect()));
        Ok(Self {
            fresh: fresh.collect::<Result<_>>()?,
            known: known.collect(),
        })
    }
}

/// The same as [`record`].
pub async fn record_ready(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    ready: Ready,
    cutoff: EvidenceCutoff,
    now: Instant,
) -> Result<()> {
    projects::lock(tx, scope).await?;
    let Ready { fresh, mut known } = ready;
    for (issue, fresh) in fresh {
        let found = fresh.append(tx, scope, issue).await?;
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

/// Every issue of the project.
pub async fn ids(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<Uuid>> {
    sql("SELECT id FROM issues WHERE project_id = $1 ORDER BY id")
        .bind(scope.project())
        .fetch_all(tx, |c| c.take())
        .await
}

/// An occurrence that an audit did not find again, open or ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct Unseen {
    /// Where it was.
    pub page: Uuid,
    /// What was seen then, JSON text.
    pub evidence: String,
    /// The audit has fetched the page, or tried to.
    pub visited: bool,
    /// When it was looked at last.
    pub checked_at: Instant,
}

/// Occurrences of an issue that an audit did not find again, open or ignored, by page id.
pub async fn unseen(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    issue: Uuid,
    after: Option<Uuid>,
    limit: usize,
) -> Result<Vec<Unseen>> {
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
        .map(|((page, entry), visited)| Unseen {
            page,
            evidence: entry.evidence,
            visited: visited.is_some(),
            checked_at: entry.checked_at,
        });
    Ok(unseen.collect())
}

/// What becomes of occurrences that an audit did not find again.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Pages where they are over, and why.
    pub resolved: Vec<(Uuid, &'static str)>,
    /// Pages where nothing could be told.
    pub stale: Vec<Uuid>,
    /// Pages where something newer than the audit has seen them.
    pub newer: Vec<Uuid>,
}

/// Settles what an audit did not find again. What is ignored stays so.
pub async fn settle(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    issue: Uuid,
    settled: Settled,
    now: Instant,
) -> Result<()> {
    enum Is {
        Over(&'static str),
        Stale,
        Newer,
    }
    projects::lock(tx, scope).await?;
    let resolved = settled
        .resolved
        .into_iter()
        .map(|(page, why)| (page, Is::Over(why)));
    let stale = settled.stale.into_iter().map(|page| (page, Is::Stale));
    let newer = settled.newer.into_iter().map(|page| (page, Is::Newer));
    let all = resolved.chain(stale).chain(newer).collect();
    ledger::update_entries(tx, scope, issue, all, |known, is| {
        let Some(entry) = known
            .as_mut()
            .filter(|entry| entry.is_active() && entry.is_unseen(audit))
        else {
            return false;
        };
        match is {
            Is::Over(why) => entry.resolve(why, now),
            Is::Stale => entry.stale = true,
            Is::Newer => entry.last_seen = entry.last_seen.max(audit),
        }
        true
    })
    .await
}

/// Counts the occurrences of an issue, while nobody else changes them. How it turned, if it did.
pub async fn recount(tx: &mut Tx, scope: ProjectScope, issue: Uuid) -> Result<Option<Turned>> {
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
    let json = serde_json::to_value(&counts).map_err(|e| Error::Defect(e.to_string()))?;
    sql("UPDATE issues SET active = $3, counts = $4 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(issue)
        .bind(active)
        .bind(Json(json))
        .execute(tx)
        .await?;
    let turned = Turned {
        issue,
        active: active > 0,
        new: before.counts.is_empty(),
    };
    Ok((turned.active != (before.active > 0)).then_some(turned))
}

/// How an audit left an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turned {
    /// The issue.
    pub issue: Uuid,
    /// It occurs now.
    pub active: bool,
    /// It had never been counted before.
    pub new: bool,
}
