//! Rechecks: exactly the pages of claims are fetched again, past every cache, and put in their place in the crawl of the
//! last audit; then the same checks are evaluated as in the audit. Nothing is resolved by silence.

mod verdicts;

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use searchwright_contract::{
    Instant,
    ids::{AuditId, EventId, IssueId, RecheckId},
    rechecks::{RecheckOutcome, RecheckStatus},
};
pub(super) use searchwright_crawls::resumed::OVERLAY;
use searchwright_crawls::{
    annotate::{Crawled, annotate},
    ids::url_key_of,
    resumed,
    stored_batch::pack,
};
use searchwright_site::{
    checks::{self, RecheckMode, Rules, urls},
    crawl::{Batch, Ending, PartialRecrawl, Sink, SinkError, Termination},
    page::PageFacts,
    score::Affected,
};
use searchwright_store::{
    audits, crawls,
    issues::{self, Finding},
    occurrences,
    rechecks::{self, ItemOutcome, PendingItem},
};
use serde_json::{Value, json};

use self::verdicts::{RecheckedPages, evaluate, inconclusive};
use super::{
    analysis,
    audit::{self, ORIGIN_LASTS_MILLIS, Stopped},
    rescore,
};
use crate::{
    failure::defect,
    jobs::{JobContext, JobError},
    rules,
};

/// Pages of one recheck.
pub(crate) const MAX_PAGES: usize = 500;

/// Runs a recheck job.
pub(crate) async fn run(job: JobContext, id: RecheckId) -> Result<Value, JobError> {
    let interrupted = job.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = recheck(&job, id) => done,
    }
}

async fn recheck(job: &JobContext, id: RecheckId) -> Result<Value, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let record = rechecks::get(&mut db.read().await?, scope, id).await?;
    let waiting = rechecks::list_pending(&mut db.read().await?, scope, id).await?;
    job.write_fenced(move |tx, scope| Box::pin(async move { rechecks::begin(tx, scope, id).await }))
        .await?;
    let audit_id = record.audit_id;
    let rules = Arc::new(rules::load(&mut db.read().await?, scope, audit_id).await?);
    let looked = look(job, audit_id, &waiting, &rules).await?;
    let (found, pages) = match looked {
        Some(looked) => {
            let project = scope.project();
            let rules = rules.clone();
            tokio::task::spawn_blocking(move || evaluate(&looked, &waiting, &rules, project))
                .await
                .map_err(|e| defect("recheck", e))?
        }
        None => {
            let items = waiting.iter();
            (
                items
                    .map(|item| ItemOutcome {
                        outcome: RecheckOutcome::NeedsAudit,
                        ..inconclusive(item, "the crawl it is compared with is gone")
                    })
                    .collect(),
                RecheckedPages::default(),
            )
        }
    };
    let status = finish(job, id, audit_id, &rules, found, pages).await?;
    rescore::compute(job).await?;
    Ok(json!({ "recheckId": id, "status": status }))
}

/// The crawl of the audit, with the pages that were fetched again in their place.
struct Looked {
    ending: Ending,
    fetched: Vec<PageFacts>,
    overlay: Vec<Batch>,
    now: Instant,
}

/// Collects the pages that are fetched; what was saved of the audit stays unchanged.
#[derive(Default)]
struct Collected {
    batches: Vec<Batch>,
}

impl Sink for Collected {
    async fn save(&mut self, batch: Batch) -> Result<(), SinkError> {
        self.batches.push(batch);
        Ok(())
    }
}

async fn look(
    job: &JobContext,
    audit_id: AuditId,
    waiting: &[PendingItem],
    rules: &Rules,
) -> Result<Option<Looked>, JobError> {
    let (db, scope, now) = (&job.engine.db, job.leased.scope, job.engine.clock.now());
    let audit = audits::get(&mut db.read().await?, scope, audit_id).await?;
    let mut config = audit::config(job, &audit)?;
    let mut again = PartialRecrawl {
        complete: audit.termination.as_deref() == Some(Termination::Complete.code()),
        ..PartialRecrawl::default()
    };
    let mut site = false;
    for item in waiting {
        let Some(check) = checks::find(&item.check_id) else {
            continue;
        };
        let mode = check.recheck_mode();
        if mode == RecheckMode::Audit || rules.is_off(check) {
            continue;
        }
        let Some(page) = url_key_of(&item.url) else {
            continue;
        };
        site |= mode == RecheckMode::Site || check.rests_on_origin();
        if mode == RecheckMode::Targets {
            again.with_targets.insert(page.clone());
            again
                .pages
                .extend(urls(&item.evidence).into_iter().filter_map(url_key_of));
        }
        again.pages.insert(page);
    }
    if site {
        // What is said of the site is read off the page that the start URL ends at.
        again.pages.extend(resumed::home(db, scope, audit_id).await?);
    }
    config.again = Some(again);
    config.thresholds = rules.thresholds.clone();
    (config.max_pages, config.max_bytes) = (u32::MAX, u64::MAX);
    let age = audit
        .finished_at
        .map_or(i64::MAX, |at| now.millis() - at.millis());
    let robots = crawls::find_robots(&mut db.read().await?, scope).await?;
    // an audit without a result may have seen another robots.txt since
    let is_newest = robots.is_none_or(|(seen, _)| audit.finished_at.is_none_or(|at| seen <= at));
    let known = !site && is_newest && age < ORIGIN_LASTS_MILLIS;
    let Some(resume) = resumed::crawl(db, scope, audit_id, &config, known).await? else {
        return Ok(None);
    };
    let mut sink = Collected::default();
    let fetcher = Arc::new(job.settings.crawler()?);
    let clock = job.engine.clock.clone();
    let mut ending = searchwright_site::crawl::crawl(
        config,
        fetcher,
        &mut sink,
        Some(resume),
        job.stopping.child_token(),
        Arc::new(move || clock.now().millis()),
    )
    .await
    .map_err(Stopped::reason)?;
    if ending.termination == Termination::Cancelled {
        return Err(job.interrupted().await);
    }
    annotate(db, scope, &audit, Crawled::Recheck, &mut ending.index).await?;
    let fetched = sink
        .batches
        .iter()
        .flat_map(|batch| batch.pages.iter().map(|page| page.facts.clone()))
        .collect();
    Ok(Some(Looked {
        ending,
        fetched,
        overlay: sink.batches,
        now,
    }))
}

/// Writes all results in one transaction, and returns the status of the recheck.
async fn finish(
    job: &JobContext,
    id: RecheckId,
    audit: AuditId,
    rules: &Rules,
    found: Vec<ItemOutcome>,
    pages: RecheckedPages,
) -> Result<&'static str, JobError> {
    let (db, scope, now) = (&job.engine.db, job.leased.scope, job.engine.clock.now());
    let partial = found.iter().any(|f| {
        matches!(
            f.outcome,
            RecheckOutcome::Inconclusive | RecheckOutcome::NeedsAudit
        )
    });
    let status = if partial {
        RecheckStatus::Partial
    } else {
        RecheckStatus::Completed
    };
    let mut number = OVERLAY;
    while crawls::find_batch(&mut db.read().await?, scope, audit, number)
        .await?
        .is_some()
    {
        number += 1;
    }
    let mut packed = Vec::new();
    for batch in pages
        .overlay
        .into_iter()
        .filter(|batch| !batch.pages.is_empty() || !batch.discovered.is_empty())
    {
        packed.push((number, pack(batch)?));
        number += 1;
    }
    let known = issues::list_ids(&mut db.read().await?, scope).await?;
    let mut events: Vec<EventId> = Vec::new();
    let claims: HashSet<occurrences::OccurrenceKey> = found.iter().map(|f| f.key).collect();
    let mut new: BTreeMap<IssueId, (&checks::Check, Affected)> = BTreeMap::new();
    for (check, finding, rank) in &pages.findings {
        if !known.contains(&finding.issue) {
            let severity = rules.severity_by(check, &finding.evidence);
            let (_, affected) = new.entry(finding.issue).or_insert((check, Affected::default()));
            affected.add(check, severity, *rank);
        }
    }
    let summaries = new.into_iter().filter_map(|(issue, (check, affected))| {
        Some(analysis::summary(
            check,
            issue,
            affected.severity()?,
            affected.impact(check),
        ))
    });
    let summaries: Vec<_> = summaries.collect();
    let findings: Vec<Finding> = pages
        .findings
        .into_iter()
        .map(|(_, finding, _)| finding)
        .filter(|finding| !claims.contains(&(finding.issue, finding.page)))
        .collect();
    let mut touched: Vec<IssueId> = claims.iter().map(|(issue, _)| *issue).collect();
    touched.extend(findings.iter().map(|finding| finding.issue));
    touched.sort_unstable();
    touched.dedup();
    let still = found.iter().filter(|f| f.outcome == RecheckOutcome::StillPresent);
    let seen: Vec<IssueId> = still
        .map(|f| f.key.0)
        .chain(findings.iter().map(|finding| finding.issue))
        .collect();
    events.extend(touched.iter().map(|_| job.engine.clock.id::<EventId>()));
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            for (number, batch) in packed {
                crawls::insert_batch(tx, scope, audit, number, batch).await?;
            }
            rechecks::settle_items(tx, scope, id, found, now).await?;
            issues::upsert(tx, scope, summaries, now).await?;
            issues::update_last_seen(tx, scope, &seen, now).await?;
            let pairs: Vec<occurrences::OccurrenceKey> = findings.iter().map(|f| (f.issue, f.page)).collect();
            let states = occurrences::find_states(tx, scope, &pairs).await?;
            let opened = |state: &&Option<_>| {
                matches!(
                    state,
                    None | Some(searchwright_contract::issues::OccurrenceState::Resolved)
                )
            };
            let new = states.iter().filter(opened).count();
            // Claims about other checks of these pages are not looked at: they are newer than the beginning of time.
            let cutoff = issues::EvidenceCutoff {
                claim: Instant::default(),
                proof: now,
            };
            issues::record_findings(tx, scope, audit, findings, cutoff, now).await?;
            for (issue, event) in touched.into_iter().zip(events) {
                let again =
                    occurrences::insert_audit_changes(tx, scope, issue, now, &rechecks::actor(id, now))
                        .await?;
                let by = json!({ "recheckId": id });
                analysis::recount(tx, scope, issue, again, event, by, now).await?;
            }
            rechecks::finish(tx, scope, id, status, new as u32, now).await
        })
    })
    .await?;
    Ok(status.as_str())
}
