//! The second half of an audit: every check is evaluated on every saved page, with the index of the whole crawl as context; then
//! the findings are reconciled with the known occurrences.
//!
//! 1. `evaluate` runs the checks on batches of pages, on several threads. Meanwhile `persist` writes what the crawl knows: page
//!    rows, URLs, titles.
//! 2. `persist` writes the findings, in the order of their keys, and the links.
//! 3. `reconcile` resolves occurrences that were not found again, where `proofs` can prove it, and marks the others stale.

mod crawl_index;
pub(super) mod evaluate;
mod finding_spill;
pub(super) mod page_rows;
mod persist;
pub(super) mod proofs;
mod reconcile;
mod title_index;

use std::{
    collections::{HashMap, HashSet},
    mem::take,
    sync::{Arc, Mutex},
};

use searchwright_contract::{
    Instant,
    audits::{AuditStatus, AuditTotals, AuditTrigger},
    events::{AuditCounts, EventType},
    ids::{AuditId, IssueId, PageId},
};
use searchwright_crawls::{
    change_counts,
    dependency_check::DependencyCheck,
    ids::{PageIds, issue_id},
};
use searchwright_site::{
    checks::{self, FetchVerdict, Rules, Severity},
    crawl::{Ending, Termination},
    graph::SiteGraph,
    page::UrlId,
};
use searchwright_store::{
    audits, crawls, events,
    issues::{self, EvidenceCutoff},
    keywords, occurrences,
    snapshots::{self, PageState},
};
use serde_json::json;
use tokio::{sync::mpsc, task::JoinSet};
use uuid::Uuid;

pub(super) use self::{
    crawl_index::CrawlIndex,
    reconcile::{AuditRef, record_history, record_unfinished, recount},
};
use self::{
    evaluate::{ByCheck, Evaluated, Shared, Sums, evaluate_batches, evaluate_site},
    finding_spill::{FindingSpill, IssueIds},
    page_rows::PageRows,
    proofs::Proofs,
    reconcile::reconcile,
    title_index::TitleIndex,
};
use super::{
    impact::scores_by_category,
    rescore::{Reckoned, reckon},
};
use crate::{
    failure::defect,
    jobs::{Job, JobContext, JobError},
    rules, wire_name,
};

/// Threads that evaluate pages, at most.
const MAX_EVALUATORS: usize = 8;

/// The pages that were measured, by issue; only of issues that rest on measurements.
pub(super) type Measured = HashMap<IssueId, HashSet<PageId>>;

fn measured(index: &SiteGraph, ids: &PageIds, rules: &Rules, project: Uuid) -> Measured {
    let checks = checks::registry().iter().filter(|check| !rules.is_off(check));
    let measured = checks.filter_map(|check| {
        let is_measured = check.is_measured?;
        let pages = index.all_vitals().filter(|(_, vitals)| is_measured(vitals));
        let pages = pages.map(|(id, _)| ids.get(id)).collect();
        Some((issue_id(project, check.id), pages))
    });
    measured.collect()
}

/// The audit whose crawl is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnalyzedAudit {
    pub(super) id: AuditId,
    /// The current time as checks see it, both during the crawl and after it.
    pub(super) requested: Instant,
    /// Earliest time the audit can have fetched a page.
    pub(super) began: Instant,
    /// The last audit with results before this one.
    pub(super) previous: Option<AuditId>,
}

/// Returns the stored form of an issue; `severity` is that of its worst occurrence.
pub(super) fn summary(
    check: &checks::Check,
    id: IssueId,
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
    audit: AnalyzedAudit,
    ending: Ending,
    crawl: CrawlIndex,
) -> Result<Option<u8>, JobError> {
    let begun = std::time::Instant::now();
    let analysis = Analysis::load(job, audit, ending, crawl.ids).await?;
    let ((), evaluated) = tokio::try_join!(
        analysis.persist_pages(crawl.rows, crawl.titles),
        analysis.evaluate()
    )?;
    let EvaluatedCrawl {
        mut sums,
        site_findings,
        findings,
    } = evaluated;
    // Readers of findings expect their pages to be stored.
    persist::write_findings(job, audit, &analysis.shared, findings, analysis.now).await?;
    persist::write_links(job, audit, &analysis.shared, crawl.batches).await?;
    let snapshot = analysis.snapshot(&mut sums).await?;
    let score = analysis.finish(sums, site_findings, snapshot).await?;
    tracing::info!(audit = %audit.id, seconds = begun.elapsed().as_secs_f64(), "audit analysed");
    Ok(score)
}

/// The analysis of a crawl.
struct Analysis<'j> {
    job: &'j JobContext,
    audit: AnalyzedAudit,
    termination: Termination,
    shared: Arc<Shared>,
    measured: Measured,
    threads: usize,
    now: Instant,
}

/// Results of the checks on a crawl.
struct EvaluatedCrawl {
    sums: Sums,
    site_findings: Vec<issues::Finding>,
    findings: FindingSpill,
}

impl<'j> Analysis<'j> {
    /// Loads what the checks need beside the crawl.
    async fn load(
        job: &'j JobContext,
        audit: AnalyzedAudit,
        ending: Ending,
        ids: PageIds,
    ) -> Result<Self, JobError> {
        let (db, scope) = (&job.engine.db, job.leased.scope);
        let project = scope.project();
        let rules = rules::load(&mut db.read().await?, scope, audit.id).await?;
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let threads = threads.min(MAX_EVALUATORS);
        let index = Arc::new(ending.index);
        let known = index.clone();
        let ids = tokio::task::spawn_blocking(move || ids.complete(project, &known, threads)).await;
        let ids = Arc::new(ids.map_err(|e| defect("analysis", e))?);
        let measured = measured(&index, &ids, &rules, project);
        let issues = checks::registry().iter().map(|c| issue_id(project, c.id));
        let ignored = occurrences::list_ignored(&mut db.read().await?, scope).await?;
        let shared = Shared {
            index,
            ids,
            origin: ending.origin,
            rules,
            ignored: ignored.into_iter().collect(),
            issues: IssueIds::new(issues.collect()),
            now_ms: audit.requested.millis(),
        };
        Ok(Self {
            job,
            audit,
            termination: ending.termination,
            shared: Arc::new(shared),
            measured,
            threads,
            now: job.engine.clock.now(),
        })
    }

    /// Reads the saved batches and evaluates the checks on their pages, and those about the site as a whole.
    async fn evaluate(&self) -> Result<EvaluatedCrawl, JobError> {
        let (db, scope, audit) = (&self.job.engine.db, self.job.leased.scope, self.audit.id);
        let (send, batches) = mpsc::channel(self.threads);
        let load = async move {
            for number in 0.. {
                let batch = crawls::find_batch(&mut db.read().await?, scope, audit, number).await?;
                let Some(batch) = batch else { break };
                // an evaluator that fails drops the receiver
                if send.send(batch).await.is_err() {
                    break;
                }
            }
            Ok::<_, JobError>(())
        };
        let batches = Arc::new(Mutex::new(batches));
        let mut evaluators = JoinSet::new();
        for _ in 0..self.threads {
            let (shared, batches) = (self.shared.clone(), batches.clone());
            let evaluated = Evaluated::new(self.threads);
            evaluators.spawn_blocking(move || evaluate_batches(&shared, &batches, evaluated));
        }
        drop(batches);
        let evaluate = async { Ok(evaluators.join_all().await) };
        let ((), evaluated) = tokio::try_join!(load, evaluate)?;
        let shared = self.shared.clone();
        let summed = tokio::task::spawn_blocking(move || sum_up(evaluated, &shared)).await;
        summed.map_err(|e| defect("analysis", e))?
    }

    /// Writes what the crawl knows of its pages.
    async fn persist_pages(&self, rows: PageRows, titles: TitleIndex) -> Result<(), JobError> {
        let Shared { index, ids, .. } = &*self.shared;
        let urls = persist::write_rows(self.job, self.audit, index.clone(), ids.clone(), rows).await?;
        persist::write_titles(self.job, self.audit, index.clone(), ids.clone(), titles).await?;
        persist::write_urls(self.job, index.clone(), ids.clone(), urls).await
    }

    /// Makes the snapshot that later audits are compared with.
    async fn snapshot(&self, sums: &mut Sums) -> Result<AuditSnapshot, JobError> {
        let (pages, found) = (take(&mut sums.marks), take(&mut sums.found));
        let (shared, project) = (self.shared.clone(), self.job.leased.scope.project());
        let made =
            tokio::task::spawn_blocking(move || AuditSnapshot::new(pages, found, &shared.ids, project));
        Ok(made.await.map_err(|e| defect("analysis", e))?)
    }

    /// Writes the issues, reconciles known occurrences with the findings, and ends the audit.
    async fn finish(
        self,
        mut sums: Sums,
        site_findings: Vec<issues::Finding>,
        snapshot: AuditSnapshot,
    ) -> Result<Option<u8>, JobError> {
        self.write_issues(&sums, site_findings).await?;
        let (job, audit, termination) = (self.job, self.audit, self.termination);
        let (db, scope) = (&job.engine.db, job.leased.scope);
        let rules = self.shared.rules.clone();
        let told = take(&mut sums.told).into_iter().collect();
        let record = audits::get(&mut db.read().await?, scope, audit.id).await?;
        let counts = if record.trigger == AuditTrigger::Scheduled {
            let AuditSnapshot { pages, found } = &snapshot;
            let changes = change_counts::count_changes(db, scope, audit.previous, pages, found).await?;
            let AuditTotals {
                errors,
                warnings,
                notices,
                issues,
            } = sums.totals();
            // what is gone is not known yet
            let new_occurrences = changes.map(|changes| changes.new + changes.added);
            Some(AuditCounts {
                errors,
                warnings,
                notices,
                issues,
                new_occurrences,
            })
        } else {
            None
        };
        let unproven = self.reconcile(told, take(&mut sums.unproven), counts).await?;
        // Occurrences without a verdict count as before. The findings do not say which pages these concern, so the score is
        // computed from the ledger.
        let reckoned = if unproven.values().all(Vec::is_empty) {
            None
        } else {
            reckon(db, scope, audit.id, audit.previous, &rules).await?
        };
        let AuditSnapshot { pages, mut found } = snapshot;
        change_counts::carry_unproven(unproven, &mut found);
        let Reckoned {
            health,
            categories,
            totals,
            weights,
        } = reckoned.unwrap_or_else(|| Reckoned {
            health: sums.scores.health(),
            categories: scores_by_category(&sums.scores),
            totals: sums.totals(),
            // the weights of what was found are written with the issues
            weights: Vec::new(),
        });
        let outcome = audits::AuditOutcome {
            termination: Some(termination.code().to_owned()),
            health_score: health.score,
            error_free_pages_pct: health.error_free_pages_pct,
            pages_scored: Some(health.pages_scored),
            category_scores: categories,
            changes: change_counts::count_changes(db, scope, audit.previous, &pages, &found).await?,
            score_is_partial: termination != Termination::Complete,
            totals,
            error: None,
        };
        end(job, audit.id, outcome, AuditSnapshot { pages, found }, weights).await?;
        // only now, because until here the titles of the previous audit were looked up
        persist::delete_older_titles(job, audit).await?;
        Ok(health.score)
    }

    /// Writes the findings about the site as a whole, and severity and impact of every issue.
    async fn write_issues(&self, sums: &Sums, site_findings: Vec<issues::Finding>) -> Result<(), JobError> {
        let (audit, now) = (self.audit, self.job.engine.clock.now());
        let (mut summaries, mut others) = (Vec::new(), Vec::new());
        for check in checks::registry() {
            let id = self.shared.issues.get(check);
            let affected = sums.affected(check);
            match affected.severity() {
                Some(severity) => summaries.push(summary(check, id, severity, affected.impact(check))),
                None => others.push((id, wire_name(&self.shared.rules.severity(check)))),
            }
        }
        let cutoff = EvidenceCutoff::from_start(audit.began);
        let written = self.job.write_fenced(move |tx, scope| {
            Box::pin(async move {
                issues::record_findings(tx, scope, audit.id, site_findings, cutoff, now).await?;
                issues::upsert(tx, scope, summaries, now).await?;
                issues::update_severities(tx, scope, others).await
            })
        });
        written.await
    }

    /// Settles the occurrences that were not found again. Returns, by issue, the visited pages without a verdict. The index of
    /// the crawl is dropped at the end, which frees hundreds of megabytes on a large site.
    async fn reconcile(
        self,
        told: HashMap<PageId, FetchVerdict>,
        unproven: HashSet<&'static str>,
        counts: Option<AuditCounts>,
    ) -> Result<HashMap<IssueId, Vec<u64>>, JobError> {
        let Self {
            job, audit, shared, ..
        } = self;
        let scope = job.leased.scope;
        let before = match audit.previous {
            Some(previous) => &rules::load(&mut job.engine.db.read().await?, scope, previous).await?,
            None => &shared.rules,
        };
        let proofs = Proofs {
            index: shared.index.clone(),
            origin: shared.origin.clone(),
            project: scope.project(),
            began: audit.began,
            told,
            measured: self.measured,
            unproven,
        };
        let dependencies = DependencyCheck::new(&proofs.index, &proofs.origin);
        let by_issue = proofs.by_issue(&shared.rules, before);
        let audit = AuditRef {
            id: audit.id,
            began: audit.began,
            counts,
        };
        reconcile(job, audit, &by_issue, &dependencies, job.engine.clock.now()).await
    }
}

/// Ends an audit with its outcome, in one transaction.
async fn end(
    job: &JobContext,
    audit: AuditId,
    outcome: audits::AuditOutcome,
    snapshot: AuditSnapshot,
    weights: Vec<issues::IssueWeight>,
) -> Result<(), JobError> {
    let (now, clock) = (job.engine.clock.now(), job.engine.clock.clone());
    let status = if outcome.score_is_partial {
        AuditStatus::Partial
    } else {
        AuditStatus::Completed
    };
    let AuditSnapshot { pages, found } = snapshot;
    let written = job.write_unless_canceled(move |tx, scope| {
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
    });
    written.await
}

/// Merges the results of all evaluators, and evaluates the checks of the site as a whole.
fn sum_up(evaluated: Vec<Result<Evaluated, JobError>>, shared: &Shared) -> Result<EvaluatedCrawl, JobError> {
    let mut all = Evaluated::new(1);
    for evaluated in evaluated {
        all.merge(evaluated?);
    }
    let site_findings = evaluate_site(shared, all.home.as_ref(), &mut all.sums);
    Ok(EvaluatedCrawl {
        sums: all.sums,
        site_findings,
        findings: all.findings,
    })
}

/// Snapshot of an audit that later audits are compared with, sorted.
struct AuditSnapshot {
    pages: Vec<PageState>,
    /// Pages by issue, as halves (8 bytes) of their ids. Up to here they are 4-byte [`UrlId`]s: a large site has millions.
    found: Vec<(IssueId, Vec<u64>)>,
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
