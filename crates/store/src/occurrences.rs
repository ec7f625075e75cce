//! Occurrences of issues on pages: lists, changes of state by people, and the history of changes.

mod history;
mod scored_pages;

use std::collections::{HashMap, hash_map};

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    ids::{AuditId, IssueId, PageId},
    issues::{Occurrence, OccurrenceState, Severity},
    rechecks::LastRecheck,
};
use uuid::Uuid;

use crate::{
    Error, Param, Result, Tx,
    access::ProjectScope,
    audit_settings,
    ledger::{self, Entry, EntryFilter, short_hash},
    projects, sql,
    transfer::imports::UNDER_WAY_ID,
};

pub use crate::ledger::{Actor, OccurrenceKey};
pub use history::{count_reopened, insert_audit_changes, insert_changes, list_histories, list_ignored_pages};
pub use scored_pages::{ScoredPages, for_each_active};

fn build_occurrence(key: OccurrenceKey, url: String, entry: Entry) -> Result<Occurrence> {
    let (issue, page) = key;
    let mut occurrence = Occurrence {
        issue_id: issue,
        page_id: page,
        url,
        severity: Severity::Notice,
        state: entry.state,
        evidence: parse_evidence(&entry.evidence)?,
        evidence_hash: short_hash(entry.evidence.as_bytes()),
        version: entry.version()?,
        ruleset_version: None,
        first_seen_audit_id: entry.first_seen,
        last_seen_audit_id: entry.last_seen,
        last_checked_at: entry.checked_at,
        resolved_at: entry.resolved_at,
        resolution: entry.resolution,
        reopen_count: entry.reopen_count,
        stale: entry.stale,
        reopen_reason: entry.reopen_reason,
        done_at: entry.done_at,
        done_by: entry.done_by,
        done_note: None,
        ignored_reason: None,
        ignored_until: entry.ignored_until,
        last_recheck: None,
        history: Vec::new(),
        allowed_actions: AllowedActions::default(),
    };
    if occurrence.state == OccurrenceState::Ignored {
        occurrence.ignored_reason = entry.note;
    } else if occurrence.done_at.is_some() {
        occurrence.done_note = entry.note;
    }
    let recheck = (entry.recheck_id, entry.recheck_outcome, entry.rechecked_at);
    if let (Some(id), Some(outcome), Some(checked_at)) = recheck {
        occurrence.last_recheck = Some(LastRecheck {
            id,
            outcome,
            checked_at,
        });
    }
    Ok(occurrence)
}

/// Parses stored evidence.
pub(crate) fn parse_evidence(evidence: &str) -> Result<serde_json::Value> {
    serde_json::from_str(evidence).map_err(|e| Error::Defect(format!("evidence: {e}")))
}

/// Returns one page of an issue's occurrences, by page id; only active ones unless a state is given. Severity and allowed
/// actions are left for the caller to fill in.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: IssueId,
    state: Option<OccurrenceState>,
    after: Option<PageId>,
    limit: u32,
) -> Result<Vec<Occurrence>> {
    let filter = state.map_or(EntryFilter::Active, EntryFilter::InState);
    let found = ledger::list_after(tx, scope, issue, filter, after, limit as usize).await?;
    let pages = found.iter().map(|(page, _)| vec![(*page).into()]).collect();
    let urls = sql("SELECT url FROM pages WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .fetch_optional_each(tx, pages, |c| c.take::<String>())
        .await?;
    let occurrences = found
        .into_iter()
        .zip(urls)
        .filter_map(|((page, entry), url)| Some(build_occurrence((issue, page), url?, entry)));
    let mut occurrences = occurrences.collect::<Result<Vec<_>>>()?;
    let mut versions: HashMap<AuditId, Option<String>> = HashMap::new();
    for occurrence in &mut occurrences {
        let audit = occurrence.last_seen_audit_id;
        if let hash_map::Entry::Vacant(version) = versions.entry(audit) {
            let found = audit_settings::find_for_audit(tx, scope, audit).await?;
            version.insert(found.map(|(_, version)| version));
        }
        occurrence.ruleset_version = versions.get(&audit).cloned().flatten();
    }
    Ok(occurrences)
}

/// An active occurrence of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageOccurrence {
    /// Id of the issue.
    pub issue: IssueId,
    /// Id of the check.
    pub check_id: String,
    /// Severity of the issue.
    pub severity: Severity,
    /// State of the occurrence.
    pub state: OccurrenceState,
    /// The audit that found it first.
    pub first_seen: AuditId,
    /// Last evidence.
    pub evidence: serde_json::Value,
}

/// Returns the active occurrences of a page, at most 100, worst first.
pub async fn list_of_page(tx: &mut Tx, scope: ProjectScope, page: PageId) -> Result<Vec<PageOccurrence>> {
    // Reads one leaf per issue of the project (there are at most as many as checks): CROSS JOIN keeps SQLite to that order. An
    // index by page would cost every finding of every audit.
    let leaves: Vec<(PageOccurrence, f64, Vec<u8>)> = sql(
        "SELECT i.id, i.check_id, i.severity, i.impact, l.data FROM issues i CROSS JOIN occurrence_leaves l
         WHERE i.project_id = $1 AND l.project_id = i.project_id AND l.issue_id = i.id
           AND l.first_page = (SELECT k.first_page FROM occurrence_leaves k WHERE k.project_id = i.project_id AND k.issue_id = i.id AND k.first_page <= $2
             ORDER BY k.first_page DESC LIMIT 1)",
    )
    .bind(scope.project())
    .bind(page)
    .fetch_all(tx, |c| {
        let occurrence = PageOccurrence {
            issue: c.take()?,
            check_id: c.take()?,
            severity: c.parse()?,
            state: OccurrenceState::Open,
            first_seen: AuditId::MIN,
            evidence: serde_json::Value::Null,
        };
        Ok((occurrence, c.take()?, c.take()?))
    })
    .await?;
    let mut found = Vec::new();
    for (occurrence, impact, data) in leaves {
        if let Some(entry) = ledger::find_in_leaf(&data, page)?.filter(Entry::is_active) {
            let occurrence = PageOccurrence {
                state: entry.state,
                first_seen: entry.first_seen,
                evidence: parse_evidence(&entry.evidence)?,
                ..occurrence
            };
            found.push((occurrence, impact));
        }
    }
    let rank = |severity| match severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Notice => 2,
    };
    found.sort_by(|(a, impact_a), (b, impact_b)| {
        rank(a.severity)
            .cmp(&rank(b.severity))
            .then(impact_b.total_cmp(impact_a))
            .then(a.issue.cmp(&b.issue))
    });
    found.truncate(100);
    Ok(found.into_iter().map(|(occurrence, _)| occurrence).collect())
}

/// Returns all ignored occurrences, which do not count in the score.
pub async fn list_ignored(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<OccurrenceKey>> {
    let leaves = sql("SELECT issue_id, data FROM occurrence_leaves WHERE project_id = $1 AND ignored > 0")
        .bind(scope.project());
    let mut found = Vec::new();
    ledger::for_each_entry(tx, leaves, |key, entry| {
        if entry.state == OccurrenceState::Ignored {
            found.push(key);
        }
    })
    .await?;
    Ok(found)
}

/// Returns the states of occurrences in the order of `keys`; `None` for one that does not exist.
pub async fn find_states(
    tx: &mut Tx,
    scope: ProjectScope,
    keys: &[OccurrenceKey],
) -> Result<Vec<Option<OccurrenceState>>> {
    let known = ledger::find_entries(tx, scope, keys).await?;
    let states = known.into_iter().map(|entry| entry.map(|entry| entry.state));
    Ok(states.collect())
}

/// Returns states and versions of occurrences in the order of `keys`; `None` for one that does not exist.
pub async fn find_versions(
    tx: &mut Tx,
    scope: ProjectScope,
    keys: &[OccurrenceKey],
) -> Result<Vec<Option<(OccurrenceState, String)>>> {
    let known = ledger::find_entries(tx, scope, keys).await?;
    let state_and_version = |entry: Entry| Ok((entry.state, entry.version()?));
    known
        .into_iter()
        .map(|entry| entry.map(state_and_version).transpose())
        .collect()
}

/// A change of state of an occurrence.
#[derive(Clone, Copy, Debug)]
pub struct StateChange {
    /// Occurrence.
    pub key: OccurrenceKey,
    /// Current state.
    pub from: OccurrenceState,
    /// New state.
    pub to: OccurrenceState,
}

impl StateChange {
    fn to_row(self) -> Vec<Param> {
        let (issue, page) = self.key;
        let (to, from) = (self.to.as_str(), self.from.as_str());
        vec![issue.into(), page.into(), to.into(), from.into()]
    }
}

/// Changes the state of occurrences on behalf of a person, and records it. [`Error::Overloaded`] if one of them is no longer in
/// the state it was read in, which cannot be while the caller has locked the project.
pub async fn change_states(
    tx: &mut Tx,
    scope: ProjectScope,
    changes: &[StateChange],
    until: Option<Instant>,
    actor: &Actor,
) -> Result<()> {
    let by_key = changes.iter().map(|change| (change.key, change)).collect();
    let touched = ledger::update_existing(tx, scope, by_key, |entry, change| {
        entry.mark(change.from, change.to, until, actor)
    })
    .await?;
    if touched < changes.len() {
        return Err(Error::Overloaded);
    }
    insert_changes(tx, scope, changes, actor).await
}

/// Opens occurrences that were ignored until now, and returns their projects.
pub async fn unsnooze(tx: &mut Tx, now: Instant) -> Result<Vec<ProjectScope>> {
    let mut due: Vec<(Uuid, IssueId)> = sql(
        "SELECT project_id, issue_id FROM occurrence_leaves WHERE wakes_at <= $1
               AND project_id NOT IN (SELECT id FROM projects WHERE workspace_id = $2)",
    )
    .bind(now)
    .bind(UNDER_WAY_ID)
    .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
    .await?;
    due.sort_unstable();
    due.dedup();
    let mut scopes: Vec<ProjectScope> = Vec::new();
    // Sorted by project, so that each project is locked once.
    for (project, issue) in due {
        let scope = ProjectScope::from_row(project);
        if scopes.last() != Some(&scope) {
            projects::lock(tx, scope).await?;
            scopes.push(scope);
        }
        let leaves = sql("SELECT issue_id, data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND wakes_at <= $3")
            .bind(project)
            .bind(issue)
            .bind(now);
        let mut reopened: Vec<(PageId, Instant)> = Vec::new();
        ledger::for_each_entry(tx, leaves, |(_, page), mut entry| {
            let until = entry.ignored_until;
            if entry.unsnooze(now) {
                reopened.extend(until.map(|until| (page, until)));
            }
        })
        .await?;
        let rows = reopened
            .iter()
            .map(|(page, until)| vec![(*page).into(), (*until).into()]);
        sql(
            "INSERT INTO occurrence_changes (project_id, issue_id, page_id, at, to_state, from_state, actor)
             VALUES ($1, $2, $3, $4, 'open', 'ignored', 'system') ON CONFLICT DO NOTHING",
        )
        .bind(project)
        .bind(issue)
        .execute_each(tx, rows.collect())
        .await?;
        ledger::update_entries(tx, scope, issue, reopened, |known, _| {
            known.as_mut().is_some_and(|entry| entry.unsnooze(now))
        })
        .await?;
        crate::issues::recount(tx, scope, issue).await?;
    }
    Ok(scopes)
}
