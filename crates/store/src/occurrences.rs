//! Occurrences of issues on pages: lists of them, what people say of them, and the ledger of every change.

mod counted;
mod history;

use std::collections::HashMap;

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
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
};

pub use crate::ledger::{Actor, OccurrenceKey};
pub use counted::{Counted, active};
pub use history::{histories, log, log_audit};

fn occurrence((issue, page): OccurrenceKey, url: String, entry: Entry) -> Result<Occurrence> {
    let mut occurrence = Occurrence {
        issue_id: issue.to_string(),
        page_id: page.to_string(),
        url,
        severity: Severity::Notice,
        state: entry.state,
        evidence: json(&entry.evidence)?,
        evidence_hash: short_hash(entry.evidence.as_bytes()),
        version: entry.version()?,
        ruleset_version: None,
        first_seen_audit_id: entry.first_seen.to_string(),
        last_seen_audit_id: entry.last_seen.to_string(),
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
            id: id.to_string(),
            outcome,
            checked_at,
        });
    }
    Ok(occurrence)
}

/// What was seen, from its text.
pub(crate) fn json(evidence: &str) -> Result<serde_json::Value> {
    serde_json::from_str(evidence).map_err(|e| Error::Defect(format!("evidence: {e}")))
}

/// One page of an issue's occurrences, by page id; only active ones unless a state is given. How bad each is and what the
/// caller may do is left to be filled in.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: Uuid,
    state: Option<OccurrenceState>,
    after: Option<Uuid>,
    limit: u32,
) -> Result<Vec<Occurrence>> {
    let filter = state.map_or(EntryFilter::Active, EntryFilter::InState);
    let found = ledger::list_after(tx, scope, issue, filter, after, limit as usize).await?;
    let pages = found.iter().map(|(page, _)| vec![(*page).into()]).collect();
    let urls = sql("SELECT url FROM pages WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .fetch_optional_each(tx, pages, |c| c.take::<String>())
        .await?;
    let of = found.into_iter().zip(urls);
    let occurrences = of.filter_map(|((page, entry), url)| Some(occurrence((issue, page), url?, entry)));
    let mut occurrences = occurrences.collect::<Result<Vec<_>>>()?;
    let mut versions: HashMap<String, Option<String>> = HashMap::new();
    for occurrence in &mut occurrences {
        let audit = &occurrence.last_seen_audit_id;
        if !versions.contains_key(audit) {
            let id = Uuid::try_parse(audit).unwrap_or_default();
            let of = audit_settings::of(tx, scope, id).await?;
            versions.insert(audit.clone(), of.map(|(_, version)| version));
        }
        occurrence.ruleset_version = versions.get(audit).cloned().flatten();
    }
    Ok(occurrences)
}

/// An active occurrence of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct OfPage {
    /// The issue.
    pub issue: Uuid,
    /// Its check.
    pub check_id: String,
    /// How bad it is.
    pub severity: Severity,
    /// Where it stands.
    pub state: OccurrenceState,
    /// What was seen.
    pub evidence: serde_json::Value,
}

/// Active occurrences of a page, at most 100.
pub async fn of_page(tx: &mut Tx, scope: ProjectScope, page: Uuid) -> Result<Vec<OfPage>> {
    // One leaf per issue of the project (there are as many as checks): CROSS JOIN keeps SQLite to that order. An index by page would
    // cost every finding of every audit.
    let leaves: Vec<(OfPage, f64, Vec<u8>)> = sql(
        "SELECT i.id, i.check_id, i.severity, i.impact, l.data FROM issues i CROSS JOIN occurrence_leaves l
         WHERE i.project_id = $1 AND l.project_id = i.project_id AND l.issue_id = i.id
           AND l.first_page = (SELECT k.first_page FROM occurrence_leaves k WHERE k.project_id = i.project_id AND k.issue_id = i.id AND k.first_page <= $2
             ORDER BY k.first_page DESC LIMIT 1)",
    )
    .bind(scope.project())
    .bind(page)
    .fetch_all(tx, |c| {
        let of = OfPage {
            issue: c.take()?,
            check_id: c.take()?,
            severity: c.parse()?,
            state: OccurrenceState::Open,
            evidence: serde_json::Value::Null,
        };
        Ok((of, c.take()?, c.take()?))
    })
    .await?;
    let mut found = Vec::new();
    for (of, impact, data) in leaves {
        if let Some(entry) = ledger::find_in_leaf(&data, page)?.filter(Entry::is_active) {
            let of = OfPage {
                state: entry.state,
                evidence: json(&entry.evidence)?,
                ..of
            };
            found.push((of, impact));
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
    Ok(found.into_iter().map(|(of, _)| of).collect())
}

/// Pairs of issue and page that somebody decided to live with: they leave the score.
pub async fn ignored(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<OccurrenceKey>> {
    let leaves = sql("SELECT issue_id, data FROM occurrence_leaves WHERE project_id = $1 AND ignored > 0")
        .bind(scope.project());
    let mut found = Vec::new();
    ledger::for_each_entry(tx, leaves, |of, entry| {
        if entry.state == OccurrenceState::Ignored {
            found.push(of);
        }
    })
    .await?;
    Ok(found)
}

/// Where occurrences stand, each in its place; `None` for what the project does not have.
pub async fn states(
    tx: &mut Tx,
    scope: ProjectScope,
    pairs: &[OccurrenceKey],
) -> Result<Vec<Option<OccurrenceState>>> {
    let known = ledger::find_entries(tx, scope, pairs).await?;
    let states = known.into_iter().map(|entry| entry.map(|entry| entry.state));
    Ok(states.collect())
}

/// The same, and in which version each is.
pub async fn versions(
    tx: &mut Tx,
    scope: ProjectScope,
    pairs: &[OccurrenceKey],
) -> Result<Vec<Option<(OccurrenceState, String)>>> {
    let known = ledger::find_entries(tx, scope, pairs).await?;
    let of = |entry: Entry| Ok((entry.state, entry.version()?));
    known.into_iter().map(|entry| entry.map(of).transpose()).collect()
}

/// A change of state.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// Of what.
    pub of: OccurrenceKey,
    /// The state it has.
    pub from: OccurrenceState,
    /// The state it gets.
    pub to: OccurrenceState,
}

impl Change {
    fn row(&self) -> Vec<Param> {
        let (issue, page) = self.of;
        let (to, from) = (self.to.as_str(), self.from.as_str());
        vec![issue.into(), page.into(), to.into(), from.into()]
    }
}

/// Writes what somebody says of occurrences, all of which get one state, and the ledger. [`Error::Overloaded`] when one of
/// them is no longer in the state it was read in: all is to be tried again.
pub async fn mark(
    tx: &mut Tx,
    scope: ProjectScope,
    changes: &[Change],
    until: Option<Instant>,
    actor: &Actor,
) -> Result<()> {
    let marks = changes.iter().map(|change| (change.of, change)).collect();
    let touched = ledger::update_existing(tx, scope, marks, |entry, change| {
        entry.mark(change.from, change.to, until, actor)
    })
    .await?;
    if touched < changes.len() {
        return Err(Error::Overloaded);
    }
    log(tx, scope, changes, actor).await
}

/// Opens what was ignored until now; the projects it was in.
pub async fn wake(tx: &mut Tx, now: Instant) -> Result<Vec<ProjectScope>> {
    let mut sleeping: Vec<(Uuid, Uuid)> =
        sql("SELECT project_id, issue_id FROM occurrence_leaves WHERE wakes_at <= $1")
            .bind(now)
            .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
            .await?;
    sleeping.sort_unstable();
    sleeping.dedup();
    let mut scopes: Vec<ProjectScope> = Vec::new();
    for (project, issue) in sleeping {
        let scope = ProjectScope::proven(project);
        if scopes.last() != Some(&scope) {
            projects::lock(tx, scope).await?;
            scopes.push(scope);
        }
        let leaves = sql("SELECT issue_id, data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND wakes_at <= $3")
            .bind(project)
            .bind(issue)
            .bind(now);
        let mut woken: Vec<(Uuid, Instant)> = Vec::new();
        ledger::for_each_entry(tx, leaves, |(_, page), mut entry| {
            let until = entry.ignored_until;
            if entry.unsnooze(now) {
                woken.extend(until.map(|until| (page, until)));
            }
        })
        .await?;
        let rows = woken
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
        ledger::update_entries(tx, scope, issue, woken, |known, _| {
            known.as_mut().is_some_and(|entry| entry.unsnooze(now))
        })
        .await?;
        crate::issues::recount(tx, scope, issue).await?;
    }
    Ok(scopes)
}
