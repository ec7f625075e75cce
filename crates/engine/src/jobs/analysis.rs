//! The second half of an audit: every saved page goes through every check, in batches, with the whole
//! crawl as context; then what was found is settled against what was known.

use std::collections::{BTreeMap, HashMap, HashSet};

use searchwright_contract::{
    audits::{AuditStatus, AuditTotals},
    events::EventType,
    pages::Page,
};
use searchwright_site::{
    checks::{self, Check, Context, Severity, Thresholds},
    crawl::{Ending, Termination},
    fetch::FetchError,
    graph::{Index, flag},
    origin::Origin,
    page::{Outcome, PageFacts, UrlId, not_indexable},
    score::{self, Score},
};
use searchwright_store::{Db, audits, crawls, events, issues, pages};
use serde_json::json;
use uuid::Uuid;

use super::{
    JobError,
    audit::{fenced, unpack},
    worker::Run,
};
use crate::{failure::defect, operations::word};

/// Findings gathered before they are written. They are written in the order of their key, so that each leaf
/// of the tree is touched once per gathering and not once per batch of pages.
const GATHERED: usize = 16 * 1024;
/// Rows of one transaction: others wait for it.
const ROWS: usize = 4 * 1024;

/// Weight of a severity in the impact of an issue.
const fn weight(severity: Severity) -> f64 {
    match severity {
        Severity::Error => 10.0,
        Severity::Warning => 3.0,
        Severity::Notice => 1.0,
    }
}

/// Stable id of a page: the same URL of the same project, whatever the audit.
pub fn page_id(project: Uuid, key: &str) -> Uuid {
    Uuid::new_v5(&project, key.as_bytes())
}

/// Stable id of an issue: one per project and check.
pub fn issue_id(project: Uuid, check: &str) -> Uuid {
    Uuid::new_v5(&project, check.as_bytes())
}

/// What the whole analysis adds up to.
#[derive(Default)]
struct Sums {
    score: Score,
    totals: AuditTotals,
    impact: HashMap<&'static str, f64>,
    site: Vec<&'static Check>,
}

/// Everything pages are evaluated with.
struct Shared {
    index: Index,
    origin: Origin,
    thresholds: Thresholds,
    project: Uuid,
    ignored: HashSet<(Uuid, Uuid)>,
    issue_ids: HashMap<&'static str, Uuid>,
    now_ms: i64,
}

/// Pages that were evaluated, and what was found on them.
#[derive(Default)]
struct Evaluated {
    seen: Vec<pages::Seen>,
    findings: Vec<issues::Finding>,
}

impl Evaluated {
    fn sorted(mut self) -> Self {
        self.seen.sort_unstable_by_key(|s| s.id);
        self.findings.sort_unstable_by_key(|f| (f.issue, f.page));
        self
    }
}

fn portions<T>(mut rows: Vec<T>) -> impl Iterator<Item = Vec<T>> {
    std::iter::from_fn(move || {
        let rest = rows.split_off(rows.len().min(ROWS));
        let portion = std::mem::replace(&mut rows, rest);
        (!portion.is_empty()).then_some(portion)
    })
}

/// Evaluates a crawl and writes its results. The health score.
pub(super) async fn analyze(run: &Run, db: &Db, audit: Uuid, ending: Ending) -> Result<Option<u8>, JobError> {
    let scope = run.leased.scope;
    let project = scope.project();
    let now = run.engine.clock.now();
    let termination = ending.termination;
    let shared = Shared {
        index: ending.index,
        origin: ending.origin,
        thresholds: Thresholds::default(),
        project,
        ignored: issues::ignored(&mut db.read().await?, scope)
            .await?
            .into_iter()
            .collect(),
        issue_ids: checks::registry()
            .iter()
            .map(|c| (c.id, issue_id(project, c.id)))
            .collect(),
        now_ms: now.millis(),
    };
    // Three stages at once: read a batch, evaluate the one before, write the one before that.
    let (saved, evaluated) = (tokio::sync::mpsc::channel(1), tokio::sync::mpsc::channel(1));
    let (give, take) = saved;
    let (done, mut results) = evaluated;
    let loading = async move {
        for number in 0.. {
            let Some(data) = crawls::load(&mut db.read().await?, scope, audit, number).await? else {
                break;
            };
            if give.send(data).await.is_err() {
                break;
            }
        }
        Ok::<_, JobError>(())
    };
    let evaluating = tokio::task::spawn_blocking(move || evaluate_all(&shared, take, &done));
    let writing = async {
        while let Some(Evaluated { seen, findings }) = results.recv().await {
            for seen in portions(seen) {
                fenced(db, run.leased.clone(), move |tx, scope| {
                    Box::pin(async move { pages::record(tx, scope, audit, seen).await })
                })
                .await?;
            }
            for findings in portions(findings) {
                fenced(db, run.leased.clone(), move |tx, scope| {
                    Box::pin(async move { issues::record(tx, scope, audit, findings, now).await })
                })
                .await?;
            }
        }
        // Dropped here, so that an evaluation whose results cannot be written stops.
        drop(results);
        Ok::<_, JobError>(())
    };
    let (loaded, evaluated, written) = tokio::join!(loading, evaluating, writing);
    written?;
    loaded?;
    let (sums, site) = evaluated.map_err(|e| defect("analysis", e))??;
    finish(run, db, audit, termination, sums, site).await
}

fn evaluate_all(
    shared: &Shared,
    mut saved: tokio::sync::mpsc::Receiver<Vec<u8>>,
    done: &tokio::sync::mpsc::Sender<Evaluated>,
) -> Result<(Sums, Vec<issues::Finding>), JobError> {
    let context = Context::new(&shared.index, &shared.origin, &shared.thresholds, shared.now_ms);
    let mut sums = Sums::default();
    let mut home = None;
    let mut gathered = Evaluated::default();
    while let Some(data) = saved.blocking_recv() {
        let (_, _, pages) = unpack(&data)?;
        evaluate(shared, &context, &pages, &mut sums, &mut gathered);
        home = home.or_else(|| pages.into_iter().find(|p| p.id == shared.origin.home));
        if gathered.findings.len() >= GATHERED
            && done
                .blocking_send(std::mem::take(&mut gathered).sorted())
                .is_err()
        {
            break;
        }
    }
    // Refused only by a writer that has failed, which says so itself.
    let _ = done.blocking_send(gathered.sorted());
    let site = evaluate_site(shared, &context, home.as_ref(), &mut sums);
    Ok((sums, site))
}

fn evaluate(
    shared: &Shared,
    context: &Context<'_>,
    pages: &[PageFacts],
    sums: &mut Sums,
    out: &mut Evaluated,
) {
    let index = &shared.index;
    let mut found = Vec::new();
    for facts in pages {
        if !index.has(facts.id, flag::INTERNAL) {
            continue;
        }
        let id = page_id(shared.project, index.key(facts.id));
        out.seen.push(seen(index, facts, id));
        checks::evaluate(facts, context, &mut found);
        let (mut errors, mut warnings) = (HashSet::new(), HashSet::new());
        let rank = f64::from(index.rank(facts.id));
        for finding in found.drain(..) {
            let issue = shared
                .issue_ids
                .get(finding.check.id)
                .copied()
                .unwrap_or_default();
            if !shared.ignored.contains(&(issue, id)) {
                *sums.impact.entry(finding.check.id).or_default() += rank;
                sums.count(finding.check);
                match finding.check.severity {
                    Severity::Error if finding.check.scored => drop(errors.insert(finding.check.id)),
                    Severity::Warning if finding.check.scored => drop(warnings.insert(finding.check.id)),
                    _ => {}
                }
            }
            out.findings.push(issues::Finding {
                issue,
                page: id,
                evidence: finding.evidence.to_string(),
            });
        }
        if score::is_scored(facts) {
            sums.score.add(errors.len() as u32, warnings.len() as u32);
        }
    }
}

fn seen(index: &Index, facts: &PageFacts, id: Uuid) -> pages::Seen {
    let status_code = match &facts.outcome {
        Outcome::Status(status) | Outcome::Redirect { status, .. } => Some(*status),
        Outcome::Failed(_) | Outcome::Blocked(_) => None,
    };
    let failure = match &facts.outcome {
        Outcome::Failed(error) => Some(
            match error {
                FetchError::Denied => "denied",
                FetchError::Dns => "dns",
                FetchError::Connect => "connect",
                FetchError::Tls => "tls",
                FetchError::Timeout => "timeout",
                FetchError::Broken => "broken",
            }
            .to_owned(),
        ),
        Outcome::Blocked(_) => Some("blocked".to_owned()),
        Outcome::Status(_) | Outcome::Redirect { .. } => None,
    };
    let hops = index.hops(facts.id);
    let last = hops.urls.last().copied().unwrap_or(facts.id);
    let html = facts.html.as_deref();
    let indexable = index.has(facts.id, flag::INDEXABLE);
    pages::Seen {
        id,
        page: Page {
            id: String::new(),
            url: facts.url.to_string(),
            final_url: (status_code.is_some() && !hops.looped).then(|| {
                if last == facts.id {
                    facts.url.to_string()
                } else {
                    index.key(last).to_owned()
                }
            }),
            status_code,
            failure,
            depth: index.depth(facts.id),
            inlinks: index.inlinks(facts.id).filter(|(_, nofollow)| !nofollow).count() as u32,
            outlinks: html.map_or(0, |h| h.links_total),
            link_score: index.link_score(facts.id),
            indexable,
            non_indexable_reason: if indexable {
                None
            } else {
                not_indexable(facts).map(|why| why.code().to_owned())
            },
            title: html.and_then(|h| h.titles.first()).map(ToString::to_string),
            word_count: html.map(|h| h.main_words),
            last_crawled_at: searchwright_contract::Instant::default(),
        },
        crawled_at: searchwright_contract::Instant::from_millis(facts.fetched_at_ms),
    }
}

fn evaluate_site(
    shared: &Shared,
    context: &Context<'_>,
    home: Option<&PageFacts>,
    sums: &mut Sums,
) -> Vec<issues::Finding> {
    let mut found = Vec::new();
    checks::evaluate_site(home, context, &mut found);
    let index = &shared.index;
    let mut findings = Vec::new();
    for finding in found {
        let page = page_id(shared.project, index.key(UrlId(0)));
        let issue = shared
            .issue_ids
            .get(finding.check.id)
            .copied()
            .unwrap_or_default();
        if !shared.ignored.contains(&(issue, page)) {
            *sums.impact.entry(finding.check.id).or_default() += 1.0;
            sums.count(finding.check);
            sums.site.push(finding.check);
        }
        findings.push(issues::Finding {
            issue,
            page,
            evidence: finding.evidence.to_string(),
        });
    }
    findings
}

impl Sums {
    fn count(&mut self, check: &'static Check) {
        match check.severity {
            Severity::Error => self.totals.errors += 1,
            Severity::Warning => self.totals.warnings += 1,
            Severity::Notice => self.totals.notices += 1,
        }
    }
}

async fn finish(
    run: &Run,
    db: &Db,
    audit: Uuid,
    termination: Termination,
    mut sums: Sums,
    site_findings: Vec<issues::Finding>,
) -> Result<Option<u8>, JobError> {
    let project = run.leased.scope.project();
    let now = run.engine.clock.now();
    let clock = run.engine.clock.clone();
    let scored = |severity| {
        sums.site
            .iter()
            .filter(|c| c.scored && c.severity == severity)
            .count() as u32
    };
    let health = sums
        .score
        .finish(scored(Severity::Error), scored(Severity::Warning));
    sums.totals.issues = sums.impact.len() as u64;
    let complete = termination == Termination::Complete;
    let outcome = audits::Outcome {
        termination: Some(termination.code().to_owned()),
        health_score: health.score,
        error_free_pages_pct: health.error_free_pages_pct,
        pages_scored: Some(health.pages_scored),
        score_is_partial: !complete,
        totals: sums.totals,
        error: None,
    };
    let summaries = checks::registry()
        .iter()
        .filter_map(|check| {
            let rank = sums.impact.get(check.id)?;
            Some(issues::Summary {
                id: issue_id(project, check.id),
                check_id: check.id,
                category: word(&check.category),
                severity: word(&check.severity),
                impact: (weight(check.severity) * rank * 100.0 * 1000.0).round() / 1000.0,
            })
        })
        .collect();
    let checks_by_issue: BTreeMap<Uuid, &'static str> = checks::registry()
        .iter()
        .map(|c| (issue_id(project, c.id), c.id))
        .collect();
    let status = if complete {
        AuditStatus::Completed
    } else {
        AuditStatus::Partial
    };
    fenced(db, run.leased.clone(), move |tx, scope| {
        Box::pin(async move {
            issues::record(tx, scope, audit, site_findings, now).await?;
            issues::settle(tx, scope, audit, complete, now).await?;
            for turned in issues::summarize(tx, scope, summaries, now).await? {
                let kind = match (turned.active, turned.new) {
                    (true, true) => EventType::IssueOpened,
                    (true, false) => EventType::IssueReopened,
                    (false, _) => EventType::IssueResolved,
                };
                let data = json!({ "issueId": turned.issue, "checkId": checks_by_issue.get(&turned.issue), "auditId": audit });
                events::write(tx, scope, clock.id(), kind, &data, now).await?;
            }
            crawls::forget_others(tx, scope, audit).await?;
            let score = outcome.health_score;
            if audits::finish(tx, scope, audit, status, outcome, now).await? {
                let data = json!({ "auditId": audit, "status": status, "healthScore": score });
                events::write(tx, scope, clock.id(), EventType::AuditCompleted, &data, now).await?;
            }
            Ok(())
        })
    })
    .await?;
    Ok(health.score)
}
