//! An audit: crawls the website, evaluates the checks, and settles earlier occurrences. Resumes after a crash
//! with the batches that were saved; its writes are idempotent.

use std::{sync::Arc, time::Duration};

use searchwright_contract::{
    Code, Instant, Problem,
    audits::{Audit, AuditStatus},
    ids::AuditId,
};
use searchwright_crawls::{
    annotate::{Crawled, annotate},
    page_texts,
    stored_batch::unpack,
    validators,
};
use searchwright_outbound::Purpose;
use searchwright_site::crawl::{self, Config, Ending, Resume};
use searchwright_store::{Db, access::ProjectScope, audits, crawls};
use serde_json::json;
use url::Url;

pub(crate) use self::abort::{abort, withdraw};
pub(super) use self::batch_sink::Stopped;
use self::{
    abort::{failure, given_up},
    batch_sink::BatchSink,
};
use super::{
    analysis::{self, AuditRef, CrawlIndex},
    failure::AuditFailure,
    vitals,
};
use crate::{
    failure::defect,
    jobs::{JobContext, JobError},
    rules,
};

mod abort;
mod batch_sink;
mod seeds;

/// Milliseconds for which a cached robots.txt is used (RFC 9309 section 2.4: a day).
pub(super) const ORIGIN_LASTS_MILLIS: i64 = 24 * 3_600_000;
/// Crashes of the worker after which an audit is still resumed.
const MAX_CRASHES: i64 = 3;

/// Runs an audit, or resumes it.
pub(crate) async fn run(job: JobContext, audit_id: AuditId) -> Result<serde_json::Value, JobError> {
    let db = job.engine.db.clone();
    let scope = job.leased.scope;
    let audit = audits::get(&mut db.read().await?, scope, audit_id).await?;
    if !audit.status.is_active() {
        return Ok(json!({ "auditId": audit_id }));
    }
    let done = tokio::select! {
        reason = job.interrupted() => Err(reason),
        done = carry_out(&job, &audit, audit_id) => done,
    };
    // A worker that takes the job over settles its findings. Otherwise they are settled as far as the audit came, also before a
    // retry, which may be cancelled while it waits; settling twice changes nothing.
    if let Err(JobError::Canceled | JobError::GiveUp(_) | JobError::AuditFailed(..) | JobError::Retry(_)) =
        &done
        && let Err(error) = analysis::record_unfinished(&job, audit_ref(&audit)).await
    {
        tracing::warn!(audit = %audit_id, ?error, "what an audit changed before it ended was not counted");
    }
    done
}

async fn carry_out(
    job: &JobContext,
    audit: &Audit,
    audit_id: AuditId,
) -> Result<serde_json::Value, JobError> {
    let db = &job.engine.db;
    if job.leased.crashes > MAX_CRASHES {
        let problem = Problem::new(
            Code::InternalError,
            given_up(
                job.leased.crashes,
                audit.progress.fetched,
                audit.previous_audit_id.is_some(),
            ),
        );
        return Err(JobError::AuditFailed(
            AuditFailure::Interrupted,
            Box::new(problem),
        ));
    }
    set_status(job, audit_id, AuditStatus::Crawling).await?;
    let (mut ending, crawled) = crawl(job, audit, audit_id).await?;
    if let Some((failure, message)) = failure(&ending) {
        let problem = Problem::new(Code::InvalidState, message);
        return Err(JobError::AuditFailed(failure, Box::new(problem)));
    }
    set_status(job, audit_id, AuditStatus::Analyzing).await?;
    annotate(db, job.leased.scope, audit, Crawled::Audit, &mut ending.index).await?;
    let vitals = vitals::measure(job, &mut ending).await?;
    let audited = analysis::AnalyzedAudit {
        id: audit_id,
        requested: audit.requested_at,
        began: began(audit),
        previous: audit.previous_audit_id,
    };
    let result = analysis::analyze(job, audited, ending, crawled).await?;
    Ok(json!({ "auditId": audit_id, "healthScore": result, "coreWebVitals": vitals }))
}

/// Returns the earliest time the audit can have fetched a page.
fn began(audit: &Audit) -> Instant {
    audit.started_at.unwrap_or(audit.requested_at)
}

fn audit_ref(audit: &Audit) -> AuditRef {
    AuditRef {
        id: audit.id,
        began: began(audit),
        counts: None,
    }
}

async fn set_status(job: &JobContext, audit: AuditId, status: AuditStatus) -> Result<(), JobError> {
    let now = job.engine.clock.now();
    job.write_fenced(move |tx, scope| {
        Box::pin(async move { audits::set_status(tx, scope, audit, status, now).await })
    })
    .await
}

/// Returns the configuration of the crawl of an audit.
pub(super) fn config(job: &JobContext, audit: &Audit) -> Result<Config, JobError> {
    let settings = &job.settings;
    let start = Url::parse(&audit.start_url).map_err(|e| defect("start url", e))?;
    // Politeness is owed to strangers; the operator named this site as their own.
    let is_own = settings
        .allow
        .iter()
        .any(|a| a.purpose == Purpose::Crawl && a.names(&start));
    let mut config = Config::new(start, audit.config.max_pages);
    config.max_depth = audit.config.max_depth;
    config.include.clone_from(&audit.config.include);
    config.exclude.clone_from(&audit.config.exclude);
    config.include_subdomains = audit.config.include_subdomains;
    (config.connections, config.delay) = if is_own {
        (settings.connections_to_allowed, Duration::ZERO)
    } else {
        (settings.connections, settings.delay)
    };
    // From the audit, so that a resumed crawl asks for the same made-up URLs.
    config.seed = audit.id.uuid().as_u64_pair().1;
    Ok(config)
}

async fn crawl(job: &JobContext, audit: &Audit, audit_id: AuditId) -> Result<(Ending, CrawlIndex), JobError> {
    let db = &job.engine.db;
    let mut config = config(job, audit)?;
    config.seeds = seeds::list_seeds(job, config.max_pages).await?;
    config.robots_copy = seeds::robots_copy(job).await?;
    let fetcher = job.settings.crawler()?;
    let scope = job.leased.scope;
    let elapsed = seeds::elapsed(job.leased.ran_millis, config.max_duration);
    let rules = rules::load(&mut db.read().await?, scope, audit_id).await?;
    let reader = validators::reader(&job.settings.user_agent, &rules.thresholds);
    config.thresholds = rules.thresholds;
    let SavedCrawl {
        resume,
        next,
        crawled,
        texts,
    } = load_saved(db, scope, audit_id, &config, elapsed).await?;
    config.wants_texts = texts.wanted().clone();
    config.earlier = validators::load(db, scope, audit, reader, texts.clone()).await?;
    let mut sink = BatchSink {
        job: job.clone(),
        audit: audit_id,
        next,
        texts,
        reader,
        crawled,
    };
    let clock = job.engine.clock.clone();
    let now: crawl::Clock = Arc::new(move || clock.now().millis());
    let crawling = crawl::crawl(
        config,
        Arc::new(fetcher),
        &mut sink,
        resume,
        job.stopping.child_token(),
        now,
    );
    let ending = tokio::select! {
        ending = crawling => ending.map_err(Stopped::reason)?,
        () = job.turn_over.cancelled() => return Err(JobError::Released),
    };
    seeds::keep_robots(job, audit, &ending.origin.robots).await?;
    Ok((ending, sink.crawled))
}

/// A crawl as far as it was saved.
struct SavedCrawl {
    /// State from which the crawl is resumed; `None` if it has not begun.
    resume: Option<Resume>,
    /// Number of the next batch.
    next: u32,
    /// Data of its pages for the analysis.
    crawled: CrawlIndex,
    /// Count of its pages that were saved with their texts.
    texts: page_texts::TextBudget,
}

/// Loads the saved part of the crawl of an audit.
async fn load_saved(
    db: &Db,
    scope: ProjectScope,
    audit: AuditId,
    config: &Config,
    elapsed: Duration,
) -> Result<SavedCrawl, JobError> {
    let mut crawled = CrawlIndex::new(scope.project());
    let texts = page_texts::TextBudget::default();
    let mut origin = None;
    let mut count = 0;
    while let Some(data) = crawls::find_batch(&mut db.read().await?, scope, audit, count).await? {
        origin = unpack(&data)?.origin.or(origin);
        count += 1;
    }
    if count == 0 {
        return Ok(SavedCrawl {
            resume: None,
            next: 0,
            crawled,
            texts,
        });
    }
    tracing::info!(%audit, batches = count, "resuming an interrupted audit");
    let mut resume = Resume::new(config, origin, elapsed);
    for number in 0..count {
        let Some(data) = crawls::find_batch(&mut db.read().await?, scope, audit, number).await? else {
            break;
        };
        let texts = texts.clone();
        // blocking, so that the heartbeat of the lease goes on meanwhile
        let resumed = tokio::task::spawn_blocking(move || {
            let batch = unpack(&data)?;
            crawled.insert_batch(batch.pages.iter(), number)?;
            texts.record_batch(batch.pages.iter());
            resume.resources(batch.resources);
            for url in &batch.discovered {
                resume.url(url).map_err(|e| defect("saved crawl", e))?;
            }
            for page in &batch.pages {
                resume.page(page).map_err(|e| defect("saved crawl", e))?;
            }
            Ok::<_, JobError>((resume, crawled))
        });
        (resume, crawled) = resumed.await.map_err(|e| defect("saved crawl", e))??;
    }
    Ok(SavedCrawl {
        resume: Some(resume),
        next: count,
        crawled,
        texts,
    })
}
