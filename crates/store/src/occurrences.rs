//! Occurrences of issues on pages: lists of them, what people say of them, and the ledger of every change.

use searchwright_contract::{
    Instant,
    issues::{self, ActorKind, Occurrence, OccurrenceChange, OccurrenceState, Severity},
    rechecks::LastRecheck,
};
use uuid::Uuid;

use crate::{Cells, Error, Json, Param, Result, Tx, access::ProjectScope, sql};

/// An issue on a page.
pub type Pair = (Uuid, Uuid);

fn occurrence(c: &mut Cells<'_>) -> Result<Occurrence> {
    let mut occurrence = Occurrence {
        issue_id: c.take::<Uuid>()?.to_string(),
        page_id: c.take::<Uuid>()?.to_string(),
        url: c.take()?,
        state: c.word()?,
        evidence: c.take::<Json>()?.0,
        first_seen_audit_id: c.take::<Uuid>()?.to_string(),
        last_seen_audit_id: c.take::<Uuid>()?.to_string(),
        last_checked_at: c.take()?,
        resolved_at: c.take()?,
        resolution: c.take()?,
        reopen_count: c.take()?,
        stale: c.take()?,
        reopen_reason: c.take()?,
        done_at: c.take()?,
        done_by: c.take()?,
        done_note: None,
        ignored_reason: None,
        ignored_until: c.take()?,
        last_recheck: None,
        history: Vec::new(),
    };
    let note: Option<String> = c.take()?;
    if occurrence.state == OccurrenceState::Ignored {
        occurrence.ignored_reason = note;
    } else if occurrence.done_at.is_some() {
        occurrence.done_note = note;
    }
    let recheck = (
        c.take::<Option<Uuid>>()?,
        c.word_or_null()?,
        c.take::<Option<Instant>>()?,
    );
    if let (Some(id), Some(outcome), Some(checked_at)) = recheck {
        occurrence.last_recheck = Some(LastRecheck {
            id: id.to_string(),
            outcome,
            checked_at,
        });
    }
    Ok(occurrence)
}

/// One page of an issue's occurrences, by page id; only active ones unless a state is given.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: Uuid,
    state: Option<OccurrenceState>,
    after: Option<Uuid>,
    limit: u32,
) -> Result<Vec<Occurrence>> {
    sql("SELECT o.issue_id, o.page_id, p.url, o.state, o.evidence, o.first_seen_audit_id, o.last_seen_audit_id, o.checked_at, o.resolved_at, o.resolution,
            o.reopen_count, o.stale, o.reopen_reason, o.done_at, o.done_by, o.ignored_until, o.note, o.recheck_id, o.recheck_outcome, o.rechecked_at
         FROM occurrences o JOIN pages p ON p.project_id = o.project_id AND p.id = o.page_id
         WHERE o.project_id = $1 AND o.issue_id = $2 AND o.page_id > $3
           AND ((CAST($5 AS TEXT) IS NULL AND o.state NOT IN ('resolved', 'ignored')) OR o.state = $5)
         ORDER BY o.page_id LIMIT $4")
    .bind(scope.project())
    .bind(issue)
    .bind(after.unwrap_or(Uuid::nil()))
    .bind(limit)
    .bind(state.map(OccurrenceState::as_str))
    .all(tx, occurrence)
    .await
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
    // One key lookup per issue of the project (there are as many as checks): CROSS JOIN keeps SQLite to that
    // order. An index by page would cost every finding of every audit.
    sql("SELECT o.issue_id, i.check_id, i.severity, o.state, o.evidence FROM issues i CROSS JOIN occurrences o
         WHERE i.project_id = $1 AND o.project_id = i.project_id AND o.issue_id = i.id AND o.page_id = $2 AND o.state NOT IN ('resolved', 'ignored')
         ORDER BY CASE i.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, i.impact DESC, o.issue_id LIMIT 100")
    .bind(scope.project())
    .bind(page)
    .all(tx, |c| {
        Ok(OfPage {
            issue: c.take()?,
            check_id: c.take()?,
            severity: c.word()?,
            state: c.word()?,
            evidence: c.take::<Json>()?.0,
        })
    })
    .await
}

/// Pairs of issue and page that somebody decided to live with: they leave the score.
pub async fn ignored(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<Pair>> {
    sql("SELECT issue_id, page_id FROM occurrences WHERE project_id = $1 AND state = 'ignored'")
        .bind(scope.project())
        .all(tx, |c| Ok((c.take()?, c.take()?)))
        .await
}

/// Where occurrences stand, each in its place; `None` for what the project does not have.
pub async fn states(
    tx: &mut Tx,
    scope: ProjectScope,
    pairs: &[Pair],
) -> Result<Vec<Option<OccurrenceState>>> {
    sql("SELECT state FROM occurrences WHERE project_id = $1 AND issue_id = $2 AND page_id = $3")
        .bind(scope.project())
        .optional_each(tx, rows(pairs), |c| c.word())
        .await
}

fn rows(pairs: &[Pair]) -> Vec<Vec<Param>> {
    pairs
        .iter()
        .map(|(issue, page)| vec![(*issue).into(), (*page).into()])
        .collect()
}

/// A change of state.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// Of what.
    pub of: Pair,
    /// The state it has.
    pub from: OccurrenceState,
    /// The state it gets.
    pub to: OccurrenceState,
}

/// Who changes states, when, and what they say.
#[derive(Clone, Debug)]
pub struct Actor {
    /// For the ledger: `key:`, `audit:` or `recheck:` and an id, or `system`.
    pub id: String,
    /// For people.
    pub name: String,
    /// What they say.
    pub note: Option<String>,
    /// When.
    pub at: Instant,
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
    let Some(to) = changes.first().map(|change| change.to) else {
        return Ok(());
    };
    let is_done = to == OccurrenceState::Done;
    let is_said = is_done || to == OccurrenceState::Ignored;
    let touched = sql(
        "UPDATE occurrences SET done_at = $2, done_by = $3, note = $4, ignored_until = $5, was = NULL, state = $8
         WHERE project_id = $1 AND issue_id = $6 AND page_id = $7 AND state = $9",
    )
    .bind(scope.project())
    .bind(is_done.then_some(actor.at))
    .bind(is_done.then(|| actor.name.clone()))
    .bind(actor.note.clone().filter(|_| is_said))
    .bind(until)
    .run_each(tx, changes.iter().map(Change::row).collect())
    .await?;
    if touched < changes.len() as u64 {
        return Err(Error::Overloaded);
    }
    log(tx, scope, changes, actor).await
}

/// Writes changes to the ledger.
pub async fn log(tx: &mut Tx, scope: ProjectScope, changes: &[Change], actor: &Actor) -> Result<()> {
    sql("INSERT INTO occurrence_changes (project_id, at, actor, note, issue_id, page_id, to_state, from_state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING")
    .bind(scope.project())
    .bind(actor.at)
    .bind(actor.id.clone())
    .bind(actor.note.clone())
    .run_each(tx, changes.iter().map(Change::row).collect())
    .await?;
    Ok(())
}

/// Brings what an audit changed of an issue since it began to the ledger, once however often it is done. How many that were
/// resolved it has brought there as something else.
pub async fn log_audit(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: Uuid,
    began: Instant,
    actor: &Actor,
) -> Result<u64> {
    let from: Vec<Option<String>> = sql("INSERT INTO occurrence_changes (project_id, issue_id, page_id, at, to_state, from_state, actor)
         SELECT project_id, issue_id, page_id, changed_at, state, was, $3 FROM occurrences
         WHERE project_id = $1 AND issue_id = $2 AND was IS NOT NULL AND changed_at >= $4 ON CONFLICT DO NOTHING RETURNING from_state")
    .bind(scope.project())
    .bind(issue)
    .bind(actor.id.clone())
    .bind(began)
    .all(tx, |c| c.take())
    .await?;
    let resolved = from.iter().filter(|from| from.as_deref() == Some("resolved"));
    Ok(resolved.count() as u64)
}

/// Opens what was ignored until now; the projects it was in.
pub async fn wake(tx: &mut Tx, now: Instant) -> Result<Vec<ProjectScope>> {
    sql("INSERT INTO occurrence_changes (project_id, issue_id, page_id, at, to_state, from_state, actor)
         SELECT project_id, issue_id, page_id, ignored_until, 'open', 'ignored', 'system' FROM occurrences
         WHERE state = 'ignored' AND ignored_until IS NOT NULL AND ignored_until <= $1 ON CONFLICT DO NOTHING")
    .bind(now)
    .run(tx)
    .await?;
    let mut woken: Vec<(Uuid, Uuid)> = sql("UPDATE occurrences SET state = 'open', note = NULL, ignored_until = NULL
         WHERE state = 'ignored' AND ignored_until IS NOT NULL AND ignored_until <= $1 RETURNING project_id, issue_id")
    .bind(now)
    .all(tx, |c| Ok((c.take()?, c.take()?)))
    .await?;
    woken.sort_unstable();
    woken.dedup();
    let mut scopes: Vec<ProjectScope> = Vec::new();
    for (project, issue) in woken {
        let scope = ProjectScope::proven(project);
        crate::issues::recount(tx, scope, issue).await?;
        if scopes.last() != Some(&scope) {
            scopes.push(scope);
        }
    }
    Ok(scopes)
}

/// Every active occurrence that an audit saw, or a recheck of its pages: issue, page, and whether that page counts in the
/// score. What it could not look at is stale and no part of it.
pub async fn active(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    mut each: impl FnMut(Uuid, Uuid, bool),
) -> Result<()> {
    sql("SELECT o.issue_id, o.page_id, p.scored FROM occurrences o JOIN pages p ON p.project_id = o.project_id AND p.id = o.page_id
         WHERE o.project_id = $1 AND o.last_seen_audit_id = $2 AND o.state NOT IN ('resolved', 'ignored')")
    .bind(scope.project())
    .bind(audit)
    .each(tx, |c| {
        each(c.take()?, c.take()?, c.take()?);
        Ok(())
    })
    .await
}

/// What became of occurrences, each in its place, the newest changes first.
pub async fn histories(
    tx: &mut Tx,
    scope: ProjectScope,
    pairs: &[Pair],
    limit: u32,
) -> Result<Vec<Vec<OccurrenceChange>>> {
    sql(
        "SELECT at, from_state, to_state, actor, note FROM occurrence_changes
         WHERE project_id = $1 AND issue_id = $3 AND page_id = $4 ORDER BY at DESC, to_state LIMIT $2",
    )
    .bind(scope.project())
    .bind(limit)
    .all_each(tx, rows(pairs), |c| {
        Ok(OccurrenceChange {
            at: c.take()?,
            from: c.word()?,
            to: c.word()?,
            by: by(&c.take::<String>()?)?,
            note: c.take()?,
        })
    })
    .await
}

/// Reads [`Actor::id`].
fn by(actor: &str) -> Result<issues::Actor> {
    let (kind, id) = actor.split_once(':').unwrap_or((actor, ""));
    let kind = match kind {
        "key" => ActorKind::ApiKey,
        "audit" => ActorKind::Audit,
        "recheck" => ActorKind::Recheck,
        "system" => ActorKind::System,
        other => return Err(Error::Defect(format!("unknown actor {other}"))),
    };
    Ok(issues::Actor {
        kind,
        id: Some(id.to_owned()).filter(|id| !id.is_empty()),
        name: None,
    })
}
