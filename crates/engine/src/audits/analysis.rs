//! The second half of an audit: every check is evaluated on every saved page, in batches, with the index of the whole
//! crawl as context; then the findings are reconciled with the known occurrences.

pub(super) mod evaluate;
mod gather;
mod laps;
mod names;
mod noted;
pub(super) mod page_rows;
pub(super) mod proofs;
mod settle;
mod since;
#[cfg(test)]
pub(super) mod tests;
mod urls;
pub(super) mod writing;

use std::{
    collections::{HashMap, HashSet},
    mem::take,
    sync::{Arc, Mutex},
};

use searchwright_contract::{Instant, audits::AuditStatus, events::EventType};
use searchwright_site::{
    checks::{self, Rules, Severity},
    crawl::{Ending, Termination},
    graph::SiteGraph,
    page::UrlId,
    vitals::{self, Vitals},
};
use searchwright_store::{
    audits, crawls, events,
    issues::{self, EvidenceCutoff},
    keywords, occurrences,
    snapshots::{self, PageState},
};
use serde_json::json;
use tokio::task::JoinSet;
use uuid::Uuid;

use self::{
    evaluate::{ByCheck, Evaluated, Shared, Sums, evaluate_batches, evaluate_site},
    gather::FindingSpill,
    laps::Laps,
    proofs::Proofs,
    settle::settle,
};
pub(super) use self::{
    noted::Noted,
    settle::{leave, recount, tell},
};
use super::{
    ids::{PageIds, issue_id},
    impact::scores_by_category,
    page_links,
    rescore::{Reckoned, reckon},
    witnessed::Witnessed,
};
use crate::{
    failure::defect,
    jobs::{Job, JobContext, JobError},
    rules, wire_name,
};

/// The pages that were measured, by issue; only of issues that rest on measurements.
pub(super) type Measured = HashMap<Uuid, HashSet<Uuid>>;

fn measured(index: &SiteGraph, ids: &PageIds, rules: &Rules, project: Uuid) -> Measured {
    let of = |(check, is_known): &(&str, fn(&Vitals) -> bool)| {
        let pages = index.all_vitals().filter(|(_, vitals)| is_known(vitals));
        let pages = pages.map(|(id, _)| ids.get(id)).collect();
        (issue_id(project, check), pages)
    };
    let is_asked = |check: &str| checks::find(check).is_some_and(|check| !rules.is_off(check));
    vitals::CHECKS
        .iter()
        .filter(|(check, _)| is_asked(check))
        .map(of)
        .collect()
}

/// The audit whose crawl is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Audited {
    pub(super) id: Uuid,
    /// The current time as checks see it, both during the crawl and after it.
    pub(super) requested: Instant,
    /// Earliest time the audit can have fetched a page.
    pub(super) began: Instant,
    /// The last audit with results before this one.
    pub(super) previous: Option<Uuid>,
}

/// Returns the stored form of an issue; `severity` is that of its worst occurrence.
pub(super) fn summary(
    check: &checks::Check,
    id: Uuid,
    severity: Severity,
    impact: f64,
) -> issues::IssueSummary {
    issues::IssueSummary {
        id,
        check_id: check.id,
        category: wire_name(&check.category),
        severity: wire_name(&severity),
        impact,
    }
}

/// Evaluates a crawl, writes its results and the places of its pages, and returns the health score.
pub(super) async fn analyze(
    job: &JobContext,
    audit: Audited,
    ending: Ending,
    noted: Noted,
) -> Result<Option<u8>, JobError> {
    let db = &job.engine.db;
    let scope = job.leased.scope;
    let project = scope.project();
    let now = job.engine.clock.now();
    let mut laps = Laps::begin();
    let termination = ending.termination;
    let rules = rules::load(&mut db.read().await?, scope, audit.id).await?;
    let index = Arc::new(ending.index);
    let issue_ids = checks::registry().iter().map(|c| issue_id(project, c.id));
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    let Noted {
        ids,
        rows,
        batches,
        names,
        found,
    } = noted;
    let of = index.clone();
    let ids = tokio::task::spawn_blocking(move || ids.complete(project, &of, threads)).await;
    let ids = Arc::new(ids.map_err(|e| defect("analysis", e))?);
    let measured = measured(&index, &ids, &rules, project);
    let shared = Arc::new(Shared {
        index: index.clone(),
        ids: ids.clone(),
        origin: ending.origin,
        rules: rules.clone(),
        ignored: occurrences::list_ignored(&mut db.read().await?, scope)
            .await?
            .into_iter()
            .collect(),
        issue_ids: issue_ids.collect(),
        now_ms: audit.requested.millis(),
    });
    // Batches are read while those before them are evaluated, and what the crawl knows is written meanwhile.
    let (give, loaded) = tokio::sync::mpsc::channel(threads);
    let loading = async move {
        for number in 0.. {
            let Some(data) = crawls::find_batch(&mut db.read().await?, scope, audit.id, number).await? else {
                break;
            };
            if give.send(data).await.is_err() {
                break;
            }
        }
        Ok::<_, JobError>(())
    };
    let loaded = Arc::new(Mutex::new(loaded));
    let mut evaluators = JoinSet::new();
    for _ in 0..threads {
        let (shared, loaded) = (shared.clone(), loaded.clone());
        evaluators.spawn_blocking(move || evaluate_batches(&shared, &loaded, FindingSpill::one_of(threads)));
    }
    drop(loaded);
    let (there, known_are_there) = tokio::sync::oneshot::channel();
    let (end, is_evaluated) = tokio::sync::oneshot::channel();
    let evaluating = async {
        let evaluated = evaluators.join_all().await;
        end.send(()).ok();
        laps.lap("evaluated");
        let of_all = shared.clone();
        let summed = tokio::task::spawn_blocking(move || sum_up(evaluated, &of_all)).await;
        let (mut sums, gathered, site) = summed.map_err(|e| defect("analysis", e))??;
        let (pages, found, ids) = (take(&mut sums.marks), take(&mut sums.found), ids.clone());
        let kept = tokio::task::spawn_blocking(move || AuditSnapshot::new(pages, found, &ids, project));
        // Readers of findings expect their pages to be stored, and there is one writer at a time: findings wait for the pages. If
        // those cannot be written, this ends too.
        known_are_there.await.map_err(|e| defect("analysis", e))?;
        writing::findings(job, audit, (&shared, gathered), now).await?;
        let kept = kept.await.map_err(|e| defect("analysis", e))?;
        Ok::<_, JobError>((sums, site, kept))
    };
    let listing = async {
        let mut laps = Laps::begin();
        let of = (index.clone(), ids.clone());
        let urls = writing::rows(job, audit, of.clone(), rows).await?;
        laps.lap("rows");
        writing::findings(job, audit, (&shared, found), now).await?;
        laps.lap("findings");
        there.send(()).ok();
        writing::names(job, audit, of.clone(), names).await?;
        laps.lap("names");
        writing::urls(job, of.clone(), urls).await?;
        laps.lap("urls");
        // Links are bound by the processor and the last findings by the disk, so links wait until evaluation has ended.
        is_evaluated.await.map_err(|e| defect("analysis", e))?;
        laps.lap("waited");
        page_links::write_links(job, audit.id, of, batches).await?;
        laps.lap("links");
        Ok::<_, JobError>(laps)
    };
    // If one of them fails, no more batches are loaded, and evaluation ends.
    let ((), (mut sums, site, kept), known) = tokio::try_join!(loading, evaluating, listing)?;
    laps.lap("written");
    let proofs = Proofs {
        index,
        origin: shared.origin.clone(),
        project,
        began: audit.began,
        told: take(&mut sums.told).into_iter().collect(),
        measured,
        unproven: take(&mut sums.unproven),
    };
    // so that the index of the crawl is dropped together with the proofs
    drop((shared, ids));
    let score = finish(job, audit, termination, &rules, (sums, site, kept), proofs).await?;
    laps.lap("settled");
    tracing::info!(audit = %audit.id, laps = %laps, known = %known, "audit analysed");
    Ok(score)
}

/// Merges the results of all evaluators, and evaluates the checks of the site as a whole.
fn sum_up(
    evaluated: Vec<Result<Evaluated, JobError>>,
    shared: &Shared,
) -> Result<(Sums, FindingSpill, Vec<issues::Finding>), JobError> {
    let mut all: Option<Evaluated> = None;
    for evaluated in evaluated {
        let evaluated = evaluated?;
        match &mut all {
            Some(all) => all.merge(evaluated),
            None => all = Some(evaluated),
        }
    }
    let Evaluated {
        mut sums,
        gathered,
        home,
    } = all.unwrap_or_default();
    let site = evaluate_site(shared, home.as_ref(), &mut sums);
    Ok((sums, gathered, site))
}

/// Snapshot of an audit that later audits are compared with, sorted.
struct AuditSnapshot {
    pages: Vec<PageState>,
    /// Pages by issue, as halves (8 bytes) of their ids. Up to here they are 4-byte [`UrlId`]s: a large site has millions.
    found: Vec<(Uuid, Vec<u64>)>,
}

impl AuditSnapshot {
    fn new(mut pages: Vec<PageState>, found: ByCheck<Vec<UrlId>>, ids: &PageIds, project: Uuid) -> Self {
        pages.sort_unstable();
        let prefix = |page: UrlId| snapshots::id_prefix(ids.get(page));
        let found = found.into_each().filter(|(_, pages)| !pages.is_empty());
        let found = found.map(|(check, pages)| {
            let mut pages: Vec<u64> = pages.into_iter().map(prefix).collect();
            pages.sort_unstable();
            (issue_id(project, check.id), pages)
        });
        let found = found.collect();
        Self { pages, found }
    }
}

async fn finish(
    job: &JobContext,
    audited: Audited,
    termination: Termination,
    rules: &Rules,
    (mut sums, site_findings, kept): (Sums, Vec<issues::Finding>, AuditSnapshot),
    proofs: Proofs,
) -> Result<Option<u8>, JobError> {
    let db = &job.engine.db;
    let Audited {
        id: audit,
        began,
        previous,
        ..
    } = audited;
    let project = job.leased.scope.project();
    let now = job.engine.clock.now();
    let clock = job.engine.clock.clone();
    sums.totals.issues = sums.issues();
    let complete = termination == Termination::Complete;
    let AuditSnapshot { pages, mut found } = kept;
    let before = match previous {
        Some(previous) => &rules::load(&mut db.read().await?, job.leased.scope, previous).await?,
        None => rules,
    };
    let (mut summaries, mut others) = (Vec::new(), Vec::new());
    for check in checks::registry() {
        let id = issue_id(project, check.id);
        match sums.weighed(check) {
            Some(weighed) => summaries.push(summary(check, id, weighed.severity, weighed.impact())),
            None => others.push((id, wire_name(&rules.severity(check)))),
        }
    }
    let status = if complete {
        AuditStatus::Completed
    } else {
        AuditStatus::Partial
    };
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            issues::record_findings(
                tx,
                scope,
                audit,
                site_findings,
                EvidenceCutoff::from_start(began),
                now,
            )
            .await?;
            issues::upsert(tx, scope, summaries, now).await?;
            issues::update_severities(tx, scope, others).await
        })
    })
    .await?;
    let untold = {
        let witnessed = Witnessed::new(&proofs.index, &proofs.origin);
        let proofs = proofs.by_issue(rules, before);
        settle(job, audit, (&proofs, &witnessed), began, now).await?
    };
    // frees hundreds of megabytes on a large site, which the next steps can use
    drop(proofs);
    // Occurrences without a verdict count as before. The findings do not say which pages these concern, so the score is
    // computed from the ledger.
    let reckoned = if untold.values().all(Vec::is_empty) {
        None
    } else {
        reckon(db, job.leased.scope, (audit, previous), rules).await?
    };
    since::carry(untold, &mut found);
    let Reckoned {
        health,
        categories,
        totals,
        weights,
    } = reckoned.unwrap_or_else(|| Reckoned {
        health: sums.scores.health(),
        categories: scores_by_category(&sums.scores),
        totals: sums.totals,
        // the weights of what was found are written with the issues
        weights: Vec::new(),
    });
    let outcome = audits::AuditOutcome {
        termination: Some(termination.code().to_owned()),
        health_score: health.score,
        error_free_pages_pct: health.error_free_pages_pct,
        pages_scored: Some(health.pages_scored),
        category_scores: categories,
        changes: since::since(db, job.leased.scope, previous, &pages, &found).await?,
        score_is_partial: !complete,
        totals,
        error: None,
    };
    job.write_unless_canceled(move |tx, scope| {
        Box::pin(async move {
            crawls::delete_others(tx, scope, audit).await?;
            snapshots::save(tx, scope, audit, &pages, found).await?;
            issues::update_weights(tx, scope, weights).await?;
            let score = outcome.health_score;
            if audits::finish(tx, scope, audit, status, outcome, now).await? {
                for language in keywords::list_languages(tx, scope).await? {
                    Job::ClusterKeywords { language }
                        .enqueue_once(tx, scope, clock.id(), now)
                        .await?;
                }
                let version = audits::get(tx, scope, audit).await?.version;
                let data =
                    json!({ "auditId": audit, "version": version, "status": status, "healthScore": score });
                events::insert(tx, scope, clock.id(), EventType::AuditCompleted, &data, now).await?;
            }
            Ok(())
        })
    })
    .await?;
    // only now, because until here the names of the previous audit were looked up
    writing::forget_names(job, audited).await?;
    Ok(health.score)
}
