//! An audit: crawl the website, evaluate the checks, settle what was found before. Resumes after a crash
//! with the batches that were saved; writing twice what was written once changes nothing.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use searchwright_contract::{
    Code, Instant, Problem,
    audits::{Audit, AuditStatus},
};
use searchwright_site::{
    checks::Asking,
    crawl::{self, Config, Ending, Resume},
};
use searchwright_store::{
    Db, Tx,
    access::ProjectScope,
    audits, crawls,
    jobs::{self, Beat, Leased},
};
use serde_json::json;
use url::Url;
use uuid::Uuid;

pub(super) use self::left::over;
pub(crate) use self::left::withdraw;
pub(super) use self::saving::Stopped;
use self::{
    left::{failure, given_up},
    saving::Saving,
};
use super::{
    JobError,
    analysis::{self, Noted},
    batches::{Rooms, unpack, unpack_whole},
    brand_name, doubts, page_keywords, page_texts, silences, temporary_redirects, vitals,
    worker::Run,
};
use crate::{
    failure::{Failure, defect},
    providers::outbound::{self, AllowOutbound, Guarded, Outbound, Purpose},
    rules,
};
pub use searchwright_site::robots::TOKEN;

mod before;
mod earlier;
mod left;
mod saving;

/// How long what robots.txt says is used (RFC 9309 section 2.4: a day).
pub(super) const ORIGIN_LASTS_MILLIS: i64 = 24 * 3_600_000;
/// How often an audit goes on after a crash of the worker.
const MOST_CRASHES: i64 = 3;

/// What the operator decides about crawling.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Private addresses that may be reached.
    pub allow: Vec<AllowOutbound>,
    /// `User-Agent`.
    pub user_agent: String,
    /// Our own listeners, which are never fetched.
    pub own: Vec<SocketAddr>,
    /// Connections to the site.
    pub connections: usize,
    /// Least time between the starts of two requests.
    pub delay: Duration,
    /// Connections to a site that is allowed by name; it has no delay.
    pub connections_to_allowed: usize,
}

/// Carries an audit out, or on.
pub(super) async fn run(run: Run, audit_id: Uuid) -> Result<serde_json::Value, JobError> {
    let db = run.engine.db.clone();
    let scope = run.leased.scope;
    let audit = audits::get(&mut db.read().await?, scope, audit_id).await?;
    if !audit.status.is_active() {
        return Ok(json!({ "auditId": audit_id }));
    }
    let done = tokio::select! {
        reason = run.interrupted() => Err(reason),
        done = carry_out(&run, &db, &audit, audit_id) => done,
    };
    // Who takes the job over settles what it found. Otherwise it is settled as far as it came, also before another attempt, which
    // may be cancelled while it waits; doing it again changes nothing.
    if let Err(JobError::Canceled | JobError::GiveUp(_) | JobError::Retry(_)) = &done
        && let Err(error) = analysis::leave(&run, &db, audit_id, began(&audit)).await
    {
        tracing::warn!(audit = %audit_id, ?error, "what an audit changed before it ended was not counted");
    }
    done
}

async fn carry_out(run: &Run, db: &Db, audit: &Audit, audit_id: Uuid) -> Result<serde_json::Value, JobError> {
    if run.leased.crashes > MOST_CRASHES {
        let problem = Problem::new(
            Code::InternalError,
            given_up(
                run.leased.crashes,
                audit.progress.fetched,
                previous(audit).is_some(),
            ),
        );
        return Err(JobError::GiveUp(Box::new(
            problem.with("auditError", "interrupted"),
        )));
    }
    set_status(run, db, audit_id, AuditStatus::Crawling).await?;
    let (mut ending, noted) = crawl(run, db, audit, audit_id).await?;
    if let Some(error) = failure(&ending) {
        let problem = Problem::new(Code::InvalidState, error.message).with("auditError", error.code);
        return Err(JobError::GiveUp(Box::new(problem)));
    }
    set_status(run, db, audit_id, AuditStatus::Analyzing).await?;
    temporary_redirects::note(db, run.leased.scope, audit, &mut ending.index).await?;
    silences::note(db, run.leased.scope, audit, &mut ending.index).await?;
    doubts::note(db, run.leased.scope, audit, &mut ending.index).await?;
    page_keywords::note(db, run.leased.scope, &mut ending.index).await?;
    brand_name::note(db, run.leased.scope, &mut ending.index).await?;
    let vitals = vitals::note(run, db, &mut ending).await?;
    let audited = analysis::Audited {
        id: audit_id,
        requested: audit.requested_at,
        began: began(audit),
        previous: previous(audit),
    };
    let result = analysis::analyze(run, db, audited, ending, noted).await?;
    Ok(json!({ "auditId": audit_id, "healthScore": result, "coreWebVitals": vitals }))
}

/// What an audit saw is not older.
fn began(audit: &Audit) -> Instant {
    audit.started_at.unwrap_or(audit.requested_at)
}

/// The audit before one, that is the last one then which had results.
pub(super) fn previous(audit: &Audit) -> Option<Uuid> {
    let id = audit.previous_audit_id.as_deref()?;
    Uuid::try_parse(id).ok()
}

async fn set_status(run: &Run, db: &Db, audit: Uuid, status: AuditStatus) -> Result<(), JobError> {
    let (leased, now) = (run.leased.clone(), run.engine.clock.now());
    fenced(db, leased, move |tx, scope| {
        Box::pin(async move { audits::set_status(tx, scope, audit, status, now).await })
    })
    .await
}

/// A write that happens only while the lease is ours, and what it returns.
pub(super) async fn fenced<T, F>(db: &Db, leased: Leased, work: F) -> Result<T, JobError>
where
    T: Send + 'static,
    F: for<'a> FnOnce(
            &'a mut Tx,
            ProjectScope,
        ) -> searchwright_store::Boxed<'a, Result<T, searchwright_store::Error>>
        + Send
        + 'static,
{
    let done: Result<Option<T>, searchwright_store::Error> = db
        .write(move |tx| {
            Box::pin(async move {
                if !jobs::holds(tx, &leased).await? {
                    return Ok(None);
                }
                work(tx, leased.scope).await.map(Some)
            })
        })
        .await;
    done?.ok_or(JobError::Lost)
}

/// The write that ends an audit: it happens only while the lease is ours and nobody has asked to stop it, and who asks
/// later finds it ended.
pub(super) async fn conclude<F>(db: &Db, leased: Leased, work: F) -> Result<(), JobError>
where
    F: for<'a> FnOnce(
            &'a mut Tx,
            ProjectScope,
        ) -> searchwright_store::Boxed<'a, Result<(), searchwright_store::Error>>
        + Send
        + 'static,
{
    let heard: Result<Beat, searchwright_store::Error> = db
        .write(move |tx| {
            Box::pin(async move {
                let heard = jobs::decide(tx, &leased).await?;
                if heard == Beat::Alive {
                    work(tx, leased.scope).await?;
                }
                Ok(heard)
            })
        })
        .await;
    match heard? {
        Beat::Alive => Ok(()),
        Beat::Cancel => Err(JobError::Canceled),
        Beat::Lost => Err(JobError::Lost),
    }
}

/// How the site of an audit is crawled.
pub(super) fn config(run: &Run, audit: &Audit) -> Result<Config, JobError> {
    let settings = &run.settings;
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
    config.seed = Uuid::try_parse(&audit.id).unwrap_or_default().as_u64_pair().1;
    Ok(config)
}

async fn crawl(run: &Run, db: &Db, audit: &Audit, audit_id: Uuid) -> Result<(Ending, Noted), JobError> {
    let mut config = config(run, audit)?;
    config.seeds = before::seeds(run, db, config.max_pages).await?;
    config.robots_copy = before::robots_copy(run, db).await?;
    let fetcher = crawler(&run.settings)?;
    let scope = run.leased.scope;
    let elapsed = before::elapsed(audit, run.engine.clock.now(), config.max_duration);
    let rules = rules::of(&mut db.read().await?, scope, audit_id).await?;
    let reader = earlier::reader(&run.settings.user_agent, &rules.thresholds);
    config.thresholds = rules.thresholds.clone();
    let asking = Arc::new(Asking::new(rules, audit.requested_at.millis()));
    let Before {
        resume,
        next,
        noted,
        texts,
    } = saved(db, (scope, audit_id), &config, &asking, elapsed).await?;
    config.wants_texts = texts.wanted().clone();
    config.earlier = earlier::of(db, scope, audit, reader, texts.clone()).await?;
    let mut sink = Saving {
        asking,
        db: db.clone(),
        leased: run.leased.clone(),
        audit: audit_id,
        next,
        texts,
        reader,
        noted,
        rooms: Rooms::default(),
    };
    let clock = run.engine.clock.clone();
    let now: crawl::Clock = Arc::new(move || clock.now().millis());
    let ending = crawl::crawl(
        config,
        Arc::new(fetcher),
        &mut sink,
        resume,
        run.stopping.child_token(),
        now,
    )
    .await
    .map_err(Stopped::reason)?;
    before::keep_robots(run, db, audit, &ending.origin.robots).await?;
    Ok((ending, sink.noted))
}

/// The client that fetches pages.
pub(super) fn crawler(settings: &Settings) -> Result<Guarded, JobError> {
    Ok(outbound(settings)?.for_purpose(Purpose::Crawl))
}

/// The clients of jobs.
pub(super) fn outbound(settings: &Settings) -> Result<Outbound, Failure> {
    let mut outbound = outbound::Settings::new(settings.user_agent.clone());
    outbound.allow.clone_from(&settings.allow);
    outbound.own.clone_from(&settings.own);
    Outbound::new(&outbound).map_err(|e| defect("http client", e))
}

/// A crawl as far as it was saved.
struct Before {
    /// If it was begun.
    resume: Option<Resume>,
    /// Number of the next batch.
    next: u32,
    /// What is noted of its pages.
    noted: Noted,
    /// How many of its pages have their texts beside them.
    texts: page_texts::Kept,
}

/// Reads what is saved of the crawl of an audit.
async fn saved(
    db: &Db,
    (scope, audit): (ProjectScope, Uuid),
    config: &Config,
    asking: &Arc<Asking>,
    elapsed: Duration,
) -> Result<Before, JobError> {
    let mut noted = Noted::of(scope.project());
    let mut origin = None;
    let mut count = 0;
    while let Some(data) = crawls::load(&mut db.read().await?, scope, audit, count).await? {
        let (newer, _, _) = unpack(&data)?;
        origin = newer.or(origin);
        count += 1;
    }
    if count == 0 {
        return Ok(Before {
            resume: None,
            next: 0,
            noted,
            texts: page_texts::Kept::default(),
        });
    }
    tracing::info!(%audit, batches = count, "going on with an audit that was interrupted");
    let mut resume = Resume::new(config, origin, elapsed);
    let texts = page_texts::Kept::default();
    for number in 0..count {
        let Some(data) = crawls::load(&mut db.read().await?, scope, audit, number).await? else {
            break;
        };
        let (asking, kept) = (asking.clone(), texts.clone());
        // others have to know meanwhile that this goes on
        let going_on = tokio::task::spawn_blocking(move || {
            let again = unpack_whole(&data, &asking)?;
            let (_, discovered, pages) = again.saved;
            noted.note(pages.iter(), again.noticed, number)?;
            kept.note(pages.iter());
            resume.resources(again.resources);
            for url in &discovered {
                resume.url(url).map_err(|e| defect("saved crawl", e))?;
            }
            for page in &pages {
                resume.page(page).map_err(|e| defect("saved crawl", e))?;
            }
            Ok::<_, JobError>((resume, noted))
        });
        (resume, noted) = going_on.await.map_err(|e| defect("saved crawl", e))??;
    }
    Ok(Before {
        resume: Some(resume),
        next: count,
        noted,
        texts,
    })
}
