//! Rechecks: exactly the pages of claims are fetched again, past every cache, and put in their place in the crawl of the
//! last audit; then the same checks are evaluated as in the audit. Nothing is resolved by silence.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use searchwright_contract::{
    Instant,
    rechecks::{RecheckOutcome, RecheckStatus},
};
use searchwright_site::{
    checks::{self, Category, Check, Context, RecheckMode, Rules, Verdict, evaluate_one},
    crawl::{Again, Batch, Ending, Resume, Sink, SinkError, Termination},
    page::{Outcome, PageFacts},
    url_key::url_key,
};
use searchwright_store::{
    Db, audits, crawls,
    issues::{self, Finding},
    occurrences,
    rechecks::{self, Found, Waiting},
};
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;

use super::{
    JobError,
    analysis::{
        self,
        evaluate::{issue_id, page_id},
    },
    audit::{self, fenced},
    batches::{pack, unpack},
    rescore,
    worker::Run,
};
use crate::{failure::defect, rules};

/// Pages of one recheck.
pub(crate) const MOST_PAGES: usize = 500;
/// Addresses of one piece of evidence.
const MOST_NAMED: usize = 100;
/// Where batches of rechecks begin among those of their audit: they hold what is newer.
const OVERLAY: u32 = 1_000_000;
/// An audit's robots.txt is used for a day (RFC 9309 section 2.4).
const ORIGIN_LASTS_MILLIS: i64 = 24 * 3_600_000;

/// Carries it out.
pub(super) async fn run(run: Run, id: Uuid) -> Result<Value, JobError> {
    let interrupted = run.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = recheck(&run, id) => done,
    }
}

async fn recheck(run: &Run, id: Uuid) -> Result<Value, JobError> {
    let (db, scope) = (&run.engine.db, run.leased.scope);
    let record = rechecks::get(&mut db.read().await?, scope, id).await?;
    let waiting = rechecks::waiting(&mut db.read().await?, scope, id).await?;
    fenced(db, run.leased.clone(), move |tx, scope| {
        Box::pin(async move { rechecks::begin(tx, scope, id).await })
    })
    .await?;
    let audit_id = Uuid::try_parse(&record.audit_id).unwrap_or_default();
    let rules = Arc::new(rules::of(&mut db.read().await?, scope, audit_id).await?);
    let looked = look(run, audit_id, &waiting, &rules).await?;
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
                    .map(|item| Found {
                        outcome: RecheckOutcome::NeedsAudit,
                        ..inconclusive(item, "the crawl it is compared with is gone")
                    })
                    .collect(),
                Pages::default(),
            )
        }
    };
    let status = finish(run, id, audit_id, &rules, found, pages).await?;
    rescore::compute(run).await?;
    Ok(json!({ "recheckId": id, "status": status }))
}

/// The crawl of the audit with what was fetched again in its place.
struct Looked {
    ending: Ending,
    fetched: Vec<PageFacts>,
    overlay: Vec<Batch>,
    now: Instant,
}

/// Collects what is fetched.
#[derive(Default)]
struct Collected(Vec<Batch>);

impl Sink for Collected {
    async fn save(&mut self, batch: Batch) -> Result<(), SinkError> {
        self.0.push(batch);
        Ok(())
    }
}

async fn look(
    run: &Run,
    audit_id: Uuid,
    waiting: &[Waiting],
    rules: &Rules,
) -> Result<Option<Looked>, JobError> {
    let (db, scope, now) = (&run.engine.db, run.leased.scope, run.engine.clock.now());
    let audit = audits::get(&mut db.read().await?, scope, audit_id).await?;
    let mut config = audit::config(run, &audit)?;
    let mut again = Again {
        complete: audit.termination.as_deref() == Some(Termination::Complete.code()),
        ..Again::default()
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
        let Some(key) = key(&item.url) else { continue };
        site |= mode == RecheckMode::Site || rests_on_origin(check);
        if mode == RecheckMode::Targets {
            again.with_targets.insert(key.clone());
            again.pages.extend(named(&item.evidence));
        }
        again.pages.insert(key);
    }
    config.again = Some(again);
    config.max_pages = u32::MAX;
    let age = audit
        .finished_at
        .map_or(i64::MAX, |at| now.millis() - at.millis());
    let known = !site && age < ORIGIN_LASTS_MILLIS;
    let Some(resume) = stored(db, run, audit_id, &config, known).await? else {
        return Ok(None);
    };
    let mut sink = Collected::default();
    let fetcher = Arc::new(audit::crawler(&run.settings)?);
    let clock = run.engine.clock.clone();
    let ending = searchwright_site::crawl::crawl(
        config,
        fetcher,
        &mut sink,
        Some(resume),
        run.stopping.child_token(),
        Arc::new(move || clock.now().millis()),
    )
    .await
    .map_err(|e| defect("recheck", e))?;
    if ending.termination == Termination::Cancelled {
        return Err(run.interrupted().await);
    }
    let fetched = sink
        .0
        .iter()
        .flat_map(|batch| batch.pages.iter().map(|page| page.facts.clone()))
        .collect();
    Ok(Some(Looked {
        ending,
        fetched,
        overlay: sink.0,
        now,
    }))
}

/// The crawl of an audit as it is kept, what later rechecks fetched in its place. `None` when it is gone.
async fn stored(
    db: &Db,
    run: &Run,
    audit: Uuid,
    config: &searchwright_site::crawl::Config,
    with_origin: bool,
) -> Result<Option<Resume>, JobError> {
    let scope = run.leased.scope;
    let mut latest = HashMap::new();
    let mut numbers = Vec::new();
    let (mut newest, mut origin) = (None, None);
    for begin in [OVERLAY, 0] {
        for number in begin.. {
            let Some(data) = crawls::load(&mut db.read().await?, scope, audit, number).await? else {
                break;
            };
            numbers.push(number);
            let (newer, _, pages) = unpack(&data)?;
            if begin == OVERLAY {
                latest.extend(pages.iter().map(|page| (page.id, number)));
            }
            let known = if begin == OVERLAY {
                &mut newest
            } else {
                &mut origin
            };
            *known = newer.or(known.take());
        }
    }
    numbers.sort_unstable();
    if numbers.first() != Some(&0) {
        return Ok(None);
    }
    let mut resume = Resume::new(
        config,
        newest.or(origin).filter(|_| with_origin),
        std::time::Duration::ZERO,
    );
    for number in numbers {
        let Some(data) = crawls::load(&mut db.read().await?, scope, audit, number).await? else {
            return Ok(None);
        };
        let (_, discovered, pages) = unpack(&data)?;
        for url in &discovered {
            resume.url(url).map_err(|e| defect("saved crawl", e))?;
        }
        for page in pages
            .iter()
            .filter(|page| latest.get(&page.id).is_none_or(|newest| *newest == number))
        {
            resume.page(page).map_err(|e| defect("saved crawl", e))?;
        }
    }
    Ok(Some(resume))
}

/// Whether robots.txt or a sitemap decides, which are read again then.
fn rests_on_origin(check: &Check) -> bool {
    matches!(check.category, Category::Sitemaps | Category::Ai) || check.id.contains("blocked") || check.id == "orphan-page"
}

fn key(url: &str) -> Option<String> {
    Some(url_key(&Url::parse(url).ok()?).into_owned())
}

/// The addresses that evidence names, as keys.
fn named(evidence: &Value) -> Vec<String> {
    urls(evidence).into_iter().filter_map(key).collect()
}

/// The same as they are written.
fn urls(evidence: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut waiting = vec![evidence];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) if text.starts_with("http") => found.push(text.as_str()),
            Value::Array(items) => waiting.extend(items),
            Value::Object(members) => waiting.extend(members.values()),
            _ => {}
        }
        if found.len() >= MOST_NAMED {
            break;
        }
    }
    found
}

fn inconclusive(item: &Waiting, why: impl Into<String>) -> Found {
    Found {
        of: item.of,
        outcome: RecheckOutcome::Inconclusive,
        detail: Some(why.into()),
        resolution: None,
        evidence: None,
    }
}

/// What there is to write besides the outcomes.
#[derive(Default)]
struct Pages {
    /// Problems of the pages themselves that are there now.
    findings: Vec<(&'static Check, Finding, f64)>,
    overlay: Vec<Batch>,
}

fn evaluate(looked: &Looked, waiting: &[Waiting], rules: &Rules, project: Uuid) -> (Vec<Found>, Pages) {
    let Looked {
        ending, fetched, now, ..
    } = looked;
    let context = Context::new(&ending.index, &ending.origin, rules, now.millis());
    let by_key: BTreeMap<&str, &PageFacts> = fetched
        .iter()
        .map(|facts| (ending.index.key(facts.id), facts))
        .collect();
    let home = fetched.iter().find(|facts| facts.id == ending.origin.home);
    let found = waiting
        .iter()
        .map(|item| outcome(item, &by_key, home, ending, rules, &context))
        .collect();
    let concerned: HashSet<Uuid> = waiting.iter().map(|item| item.of.1).collect();
    let mut findings = Vec::new();
    let mut all = Vec::new();
    for facts in fetched {
        let page = page_id(project, ending.index.key(facts.id));
        if !concerned.contains(&page) || is_silent(facts).is_some() {
            continue;
        }
        checks::evaluate(facts, &context, &mut all);
        for finding in all
            .drain(..)
            .filter(|f| f.check.recheck_mode() == RecheckMode::Page)
        {
            let issue = issue_id(project, finding.check.id);
            let evidence = finding.evidence.to_string();
            let rank = f64::from(ending.index.rank(facts.id));
            findings.push((
                finding.check,
                Finding {
                    issue,
                    page,
                    evidence,
                },
                rank,
            ));
        }
    }
    (
        found,
        Pages {
            findings,
            overlay: looked.overlay.clone(),
        },
    )
}

/// Why an answer says nothing of a page.
fn is_silent(facts: &PageFacts) -> Option<String> {
    match &facts.outcome {
        Outcome::Failed(error) => Some(format!("no answer: {error}")),
        Outcome::Blocked(rule) => Some(format!("forbidden by robots.txt: {rule}")),
        Outcome::Status(status @ (429 | 500..)) => Some(format!("the server answered {status}")),
        Outcome::Status(_) | Outcome::Redirect { .. } => None,
    }
}

fn outcome(
    item: &Waiting,
    by_key: &BTreeMap<&str, &PageFacts>,
    home: Option<&PageFacts>,
    ending: &Ending,
    rules: &Rules,
    context: &Context<'_>,
) -> Found {
    let Some(check) = checks::find(&item.check_id) else {
        return Found {
            outcome: RecheckOutcome::NeedsAudit,
            ..inconclusive(item, "the check is gone")
        };
    };
    if rules.is_off(check) {
        return inconclusive(item, "the check is off in this project");
    }
    let mode = check.recheck_mode();
    if mode == RecheckMode::Audit {
        return Found {
            outcome: RecheckOutcome::NeedsAudit,
            ..inconclusive(item, "only an audit of the whole site can tell")
        };
    }
    if ending.termination == Termination::RobotsUnreachable {
        return inconclusive(item, "robots.txt could not be fetched, which forbids everything");
    }
    let key = key(&item.url).unwrap_or_default();
    let facts = if mode == RecheckMode::Site {
        home
    } else {
        by_key.get(key.as_str()).copied()
    };
    let Some(facts) = facts else {
        return inconclusive(item, "the page was not fetched: the host did not answer");
    };
    match evaluate_one(check, facts, context) {
        Verdict::Present(finding) => Found {
            outcome: RecheckOutcome::StillPresent,
            detail: facts.status().map(|status| format!("the page answered {status}")),
            evidence: Some(finding.evidence.to_string()),
            ..inconclusive(item, "")
        },
        verdict => {
            if let Some(why) = is_silent(facts) {
                return inconclusive(item, why);
            }
            if let Some(why) = silent_target(item, mode, facts, by_key, ending) {
                return inconclusive(item, why);
            }
            let gone = matches!(
                facts.outcome,
                Outcome::Status(404 | 410) | Outcome::Redirect { .. }
            );
            let resolution = match verdict {
                Verdict::NotApplicable if gone => "page_gone",
                Verdict::NotApplicable if facts.cut.is_some() => {
                    return inconclusive(item, "the page could not be read to its end");
                }
                Verdict::NotApplicable => "not_applicable",
                _ => "fixed",
            };
            Found {
                outcome: RecheckOutcome::Resolved,
                detail: facts.status().map(|status| format!("the page answered {status}")),
                resolution: Some(resolution),
                ..inconclusive(item, "")
            }
        }
    }
}

/// Why what the page still points at says nothing, for a check about what it points at.
fn silent_target(
    item: &Waiting,
    mode: RecheckMode,
    facts: &PageFacts,
    by_key: &BTreeMap<&str, &PageFacts>,
    ending: &Ending,
) -> Option<String> {
    if mode != RecheckMode::Targets {
        return None;
    }
    let resources = ending.index.resources();
    let silent = urls(&item.evidence).into_iter().find_map(|url| {
        let why = resources.get(url)?.silence()?;
        Some(format!("{url}: {why}"))
    });
    if silent.is_some() {
        return silent;
    }
    named(&item.evidence).iter().find_map(|key| {
        let target = by_key.get(key.as_str())?;
        let linked = ending.index.inlinks(target.id).any(|(from, _)| from == facts.id);
        let why = is_silent(target).filter(|_| linked)?;
        Some(format!("{key}: {why}"))
    })
}

/// Writes everything in one transaction. The status of the recheck.
async fn finish(
    run: &Run,
    id: Uuid,
    audit: Uuid,
    rules: &Rules,
    found: Vec<Found>,
    pages: Pages,
) -> Result<&'static str, JobError> {
    let (db, scope, now) = (&run.engine.db, run.leased.scope, run.engine.clock.now());
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
    while crawls::load(&mut db.read().await?, scope, audit, number)
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
        packed.push((number, pack(batch, number)?));
        number += 1;
    }
    let known = issues::ids(&mut db.read().await?, scope).await?;
    let mut events: Vec<Uuid> = Vec::new();
    let claims: HashSet<occurrences::Pair> = found.iter().map(|f| f.of).collect();
    let mut summaries = BTreeMap::new();
    for (check, finding, rank) in &pages.findings {
        if !known.contains(&finding.issue) {
            let summary = summaries
                .entry(finding.issue)
                .or_insert_with(|| analysis::summary(rules, check, finding.issue, 0.0));
            summary.impact += analysis::impact(rules.severity(check), *rank);
        }
    }
    let findings: Vec<Finding> = pages
        .findings
        .into_iter()
        .map(|(_, finding, _)| finding)
        .filter(|finding| !claims.contains(&(finding.issue, finding.page)))
        .collect();
    let mut touched: Vec<Uuid> = claims.iter().map(|(issue, _)| *issue).collect();
    touched.extend(findings.iter().map(|finding| finding.issue));
    touched.sort_unstable();
    touched.dedup();
    events.extend(touched.iter().map(|_| run.engine.clock.id()));
    fenced(db, run.leased.clone(), move |tx, scope| {
        Box::pin(async move {
            for (number, batch) in packed {
                crawls::save(tx, scope, audit, number, batch).await?;
            }
            rechecks::settle(tx, scope, id, found, now).await?;
            issues::announce(tx, scope, summaries.into_values().collect(), now).await?;
            let pairs: Vec<occurrences::Pair> = findings.iter().map(|f| (f.issue, f.page)).collect();
            let states = occurrences::states(tx, scope, &pairs).await?;
            let opened = |state: &&Option<_>| {
                matches!(
                    state,
                    None | Some(searchwright_contract::issues::OccurrenceState::Resolved)
                )
            };
            let new = states.iter().filter(opened).count();
            // Claims about other checks of these pages are not looked at: they are newer than the beginning of time.
            issues::record(tx, scope, audit, findings, Instant::default(), now).await?;
            for (issue, event) in touched.into_iter().zip(events) {
                occurrences::log_audit(tx, scope, issue, &rechecks::actor(id, now)).await?;
                analysis::recount(tx, scope, issue, event, json!({ "recheckId": id }), now).await?;
            }
            rechecks::finish(tx, scope, id, status, new as u32, now).await
        })
    })
    .await?;
    Ok(status.as_str())
}
