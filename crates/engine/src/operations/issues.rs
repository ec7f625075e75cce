//! Issues: stored records joined with the texts of the registry of checks.

use std::collections::HashMap;

use searchwright_contract::{
    List,
    ids::{ActorId, IssueId, PageId},
    issues::{
        ActorKind, GetIssue, Issue, IssueSort, IssueStatus, ListIssues, ListOccurrences, Occurrence,
        OccurrenceChange, Severity, SiteWide,
    },
};
use searchwright_site::checks::{self, Rules};
use searchwright_store::{
    Tx,
    access::{self, ProjectScope, RecordKind},
    audits,
    issues::{self, IssueOrder, IssueQuery, IssueRow},
    occurrences, users,
};

use super::occurrences::actions;
use crate::{
    Engine,
    call::{Call, limit},
    endpoint::Handle,
    failure::{Result, defect},
    rules, wire_name,
};

/// Changes shown of an occurrence.
const HISTORY: u32 = 10;

pub(super) const fn severity(of: checks::Severity) -> Severity {
    match of {
        checks::Severity::Error => Severity::Error,
        checks::Severity::Warning => Severity::Warning,
        checks::Severity::Notice => Severity::Notice,
    }
}

pub(super) fn check(id: &str) -> Result<&'static checks::Check> {
    checks::find(id).ok_or_else(|| defect("unknown check", id))
}

/// Returns that an issue is one cause on nearly all pages, if it is.
fn site_wide(check: &checks::Check, affected: u64, pages: u32) -> Option<SiteWide> {
    let of_pages = u64::from(pages);
    let pages = affected.min(of_pages);
    let share = pages as f64 / of_pages.max(1) as f64;
    check.is_site_wide(pages, of_pages).then(|| SiteWide {
        pages,
        of_pages,
        share: (share * 1000.0).round() / 1000.0,
        note: format!(
            "{pages} of {of_pages} pages have it, so it comes from the template or the server: fix it once, there."
        ),
    })
}

fn issue(rules: &Rules, pages: u32, row: IssueRow) -> Result<Issue> {
    let check = check(&row.check_id)?;
    Ok(Issue {
        id: row.id,
        check_id: check.id.to_owned(),
        title: check.title.to_owned(),
        category: wire_name(&check.category),
        severity: row.severity,
        scope: wire_name(&check.scope),
        recheck_mode: wire_name(&check.recheck_mode())
            .parse()
            .map_err(|e: String| defect("recheck mode", e))?,
        description: rules.description(check),
        why_it_matters: check.why_it_matters.to_owned(),
        recommendation: check.recommendation.to_owned(),
        recommendation_source: check.source.to_owned(),
        how_to_verify: check.recheck_mode().verification().to_owned(),
        impact: row.impact,
        affected_pages: row.active,
        site_wide: site_wide(check, row.active, pages),
        counts: row.counts,
        first_seen_at: row.first_seen_at,
        last_seen_at: row.last_seen_at,
    })
}

impl Handle<ListIssues> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListIssues) -> Result<List<Issue>> {
        let limit = limit(operation.limit);
        let query = IssueQuery {
            active: operation.status.map(|s| s == IssueStatus::Active),
            severity: operation.severity,
            category: operation.category.clone(),
            after: None,
            limit: limit + 1,
        };
        let cursor = operation.cursor.as_deref();
        let order = match operation.sort.unwrap_or(IssueSort::Impact) {
            IssueSort::Impact => None,
            IssueSort::Pages => Some(IssueOrder::Affected(call.after(&operation, cursor)?)),
            IssueSort::Newest => Some(IssueOrder::FirstSeen(call.after(&operation, cursor)?)),
        };
        let rows = match order {
            Some(order) => issues::list_by(tx, call.scope()?, query, order).await?,
            None => {
                let after = call.after(&operation, cursor)?;
                issues::list(tx, call.scope()?, IssueQuery { after, ..query }).await?
            }
        };
        let rules = rules::of_newest(tx, call.scope()?).await?;
        let pages = audits::count_scored_pages(tx, call.scope()?).await?;
        let rows = rows.into_iter().map(|row| issue(&rules, pages, row));
        let rows = rows.collect::<Result<Vec<_>>>()?;
        match operation.sort.unwrap_or(IssueSort::Impact) {
            IssueSort::Impact => call.page(&operation, limit, rows, |last: &Issue| (last.impact, last.id)),
            IssueSort::Pages => call.page(&operation, limit, rows, |last: &Issue| {
                (last.affected_pages, last.id)
            }),
            IssueSort::Newest => call.page(&operation, limit, rows, |last: &Issue| {
                (last.first_seen_at, last.id)
            }),
        }
    }
}

impl Handle<GetIssue> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetIssue) -> Result<Issue> {
        let id = call.child(RecordKind::Issue, &operation.issue_id)?;
        let found = issues::get(tx, call.scope()?, id).await;
        let row = call.or_missing(tx, RecordKind::Issue, id, found).await?;
        let pages = audits::count_scored_pages(tx, call.scope()?).await?;
        issue(&rules::of_newest(tx, call.scope()?).await?, pages, row)
    }
}

impl Handle<ListOccurrences> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListOccurrences) -> Result<List<Occurrence>> {
        let id = call.child(RecordKind::Issue, &operation.issue_id)?;
        let scope = call.scope()?;
        let found = issues::get(tx, scope, id).await;
        let row = call.or_missing(tx, RecordKind::Issue, id, found).await?;
        let (check, rules) = (check(&row.check_id)?, rules::of_newest(tx, scope).await?);
        let limit = limit(operation.limit);
        let after: Option<PageId> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = occurrences::list(tx, scope, id, operation.state, after, limit + 1).await?;
        let mut page = call.page(&operation, limit, rows, |last: &Occurrence| last.page_id)?;
        tell_histories(tx, scope, id, &mut page.data).await?;
        for occurrence in &mut page.data {
            occurrence.severity = severity(rules.severity_of(check, &occurrence.evidence));
            occurrence.allowed_actions = actions(call, occurrence.state);
        }
        Ok(page)
    }
}

/// Adds to each occurrence of an issue its history, with the names of those who made the changes.
async fn tell_histories(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: IssueId,
    of: &mut [Occurrence],
) -> Result<()> {
    let pairs: Vec<occurrences::OccurrenceKey> =
        of.iter().map(|occurrence| (issue, occurrence.page_id)).collect();
    let mut histories = occurrences::list_histories(tx, scope, &pairs, HISTORY).await?;
    let by_key = |change: &&mut OccurrenceChange| change.by.kind == ActorKind::ApiKey;
    let mut callers = histories.iter_mut().flatten().filter(by_key).peekable();
    if callers.peek().is_some() {
        let names = access::list_key_names(tx, scope).await?;
        let names: HashMap<ActorId, String> = names
            .into_iter()
            .map(|(id, name)| (id.uuid().into(), name))
            .collect();
        callers.for_each(|change| change.by.name = change.by.id.and_then(|id| names.get(&id)).cloned());
    }
    for change in histories
        .iter_mut()
        .flatten()
        .filter(|change| change.by.kind == ActorKind::User)
    {
        if let Some(id) = change.by.id {
            change.by.name = users::find(tx, id.uuid().into()).await?.map(|user| user.name);
        }
    }
    for (occurrence, history) in of.iter_mut().zip(histories) {
        occurrence.history = history;
    }
    Ok(())
}
