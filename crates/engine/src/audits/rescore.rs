//! Computes the health score of an audit from the ledger of occurrences: for the newest audit again, so that what was fixed or
//! ignored since counts at once, and for an audit that has no verdict on some occurrences.

use std::collections::{BTreeMap, HashMap};

use searchwright_contract::{
    Instant,
    audits::AuditTotals,
    ids::{AuditId, IssueId},
};
use searchwright_crawls::{annotate::previously_unresponsive, ids::issue_id};
use searchwright_site::{
    checks::{self, Rules, Scope, Severity},
    score::{Affected, Counts, Health, Scores, is_counted},
};
use searchwright_store::{Db, Tx, access::ProjectScope, audits, issues, occurrences, snapshots::id_prefix};
use serde_json::{Value, json};

use super::impact::scores_by_category;
use crate::{
    Engine,
    jobs::{Job, JobContext, JobError},
    rules, wire_name,
};

/// Runs the rescore job.
pub(crate) async fn run(job: JobContext) -> Result<Value, JobError> {
    let interrupted = job.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        score = compute(&job) => Ok(json!({ "healthScore": score? })),
    }
}

/// Opens occurrences that were ignored until now, and queues a rescore of their projects.
pub async fn wake_ignored(engine: &Engine, tx: &mut Tx, now: Instant) -> searchwright_store::Result<()> {
    for scope in occurrences::unsnooze(tx, now).await? {
        Job::Rescore
            .enqueue_once(tx, scope, engine.clock.id(), now)
            .await?;
    }
    Ok(())
}

/// Computes and writes the health score; `None` if there is no audit or nothing to score.
pub(super) async fn compute(job: &JobContext) -> Result<Option<u8>, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let Some(audit) = audits::find_newest_finished(&mut db.read().await?, scope).await? else {
        return Ok(None);
    };
    let record = audits::get(&mut db.read().await?, scope, audit).await?;
    let rules = rules::load(&mut db.read().await?, scope, audit).await?;
    let Some(reckoned) = reckon(db, scope, audit, record.previous_audit_id, &rules).await? else {
        return Ok(None);
    };
    let value = reckoned.health.score;
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            // an audit that ended meanwhile has written its own score and the weights of issues
            if audits::find_newest_finished(tx, scope).await? != Some(audit) {
                return Ok(());
            }
            issues::update_weights(tx, scope, reckoned.weights).await?;
            audits::rescore(
                tx,
                scope,
                audit,
                reckoned.health.score,
                reckoned.health.error_free_pages_pct,
                reckoned.categories,
                reckoned.totals,
            )
            .await
        })
    })
    .await?;
    Ok(value)
}

/// Score, totals and weights that follow from the occurrences on the pages of an audit.
#[derive(Debug)]
pub(super) struct Reckoned {
    pub(super) health: Health,
    pub(super) categories: Option<BTreeMap<String, u8>>,
    pub(super) totals: AuditTotals,
    pub(super) weights: Vec<issues::IssueWeight>,
}

/// Computes the score of an audit from the stored occurrences on its pages; `None` if none of its pages counts in the score.
/// `previous` says which pages gave no response before.
pub(super) async fn reckon(
    db: &Db,
    scope: ProjectScope,
    audit: AuditId,
    previous: Option<AuditId>,
    rules: &Rules,
) -> Result<Option<Reckoned>, JobError> {
    let project = scope.project();
    let silent = previously_unresponsive(db, scope, previous).await?;
    let all: HashMap<IssueId, &'static checks::Check> = checks::registry()
        .iter()
        .map(|check| (issue_id(project, check.id), check))
        .collect();
    let pages = occurrences::ScoredPages::load(&mut db.read().await?, scope, audit).await?;
    let mut found = vec![Counts::default(); pages.len()];
    let (mut site, mut totals) = (Counts::default(), AuditTotals::default());
    // the share of the site that each issue concerns, and whether the ranks of all its pages are known
    let mut weights: HashMap<IssueId, (Affected, bool)> = HashMap::new();
    occurrences::for_each_active(
        &mut db.read().await?,
        scope,
        &pages,
        |(issue, page), place, evidence| {
            let Some(check) = all.get(&issue).filter(|check| !rules.is_off(check)) else {
                return;
            };
            let rank = if check.scope == Scope::Site {
                Some(1.0)
            } else {
                pages.rank(place)
            };
            let severity = rules.severity_by(check, evidence);
            let (affected, is_known) = weights.entry(issue).or_insert((Affected::default(), true));
            affected.add(check, severity, rank.unwrap_or(0.0));
            *is_known &= rank.is_some();
            match severity {
                Severity::Error => totals.errors += 1,
                Severity::Warning => totals.warnings += 1,
                Severity::Notice => totals.notices += 1,
            }
            if check.scope == Scope::Site {
                site.count(check, severity, rules);
            } else if is_counted(check, silent.contains(&id_prefix(page))) {
                found[place].count(check, severity, rules);
            }
        },
    )
    .await?;
    totals.issues = weights.len() as u64;
    let weights: Vec<issues::IssueWeight> = weights
        .into_iter()
        .filter_map(|(issue, (affected, is_known))| {
            Some(issues::IssueWeight {
                issue,
                severity: wire_name(&affected.severity()?),
                impact: all
                    .get(&issue)
                    .filter(|_| is_known)
                    .map(|check| affected.impact(check)),
            })
        })
        .collect();
    let mut scores = Scores::default();
    let scored = found
        .iter()
        .enumerate()
        .filter(|(place, _)| pages.is_scored(*place));
    scored.for_each(|(_, found)| scores.add(found));
    scores.set_site(site);
    let health = scores.health();
    if health.pages_scored == 0 {
        // an audit of before pages said whether they count has none either
        return Ok(None);
    }
    Ok(Some(Reckoned {
        health,
        categories: scores_by_category(&scores),
        totals,
        weights,
    }))
}
