//! Runs the checks on pages. It does not use the store, and waits only for the next batch.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hashbrown::HashMap;
use searchwright_contract::{
    audits::AuditTotals,
    ids::{IssueId, PageId},
};
use searchwright_crawls::{ids::PageIds, stored_batch::PageReader};
use searchwright_site::{
    checks::{self, Check, Context, FetchVerdict, Rules, Severity},
    graph::{PageFlags, SiteGraph},
    origin::Origin,
    page::{PageFacts, UrlId},
    score::{self, Affected, Counts, Scores},
};
use searchwright_store::{
    issues,
    snapshots::{PageState, id_prefix},
};
use searchwright_text::{folded_hash, hash};
use tokio::sync::mpsc::Receiver;

use super::finding_spill::{FindingSpill, IssueIds};
use crate::jobs::JobError;

/// Returns the stored form of the evidence of a finding. `to_string` of the value would go through the slower formatter of
/// `Display`.
pub(in crate::audits) fn evidence(finding: &checks::Finding) -> String {
    serde_json::to_string(&finding.evidence).unwrap_or_default()
}

/// Sums of an analysis: scores, totals, and findings by check.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) scores: Scores,
    totals: AuditTotals,
    /// Share of the site that each check concerns.
    affected: ByCheck<Affected>,
    /// State of every page, by which audits are compared.
    pub(super) marks: Vec<PageState>,
    /// Verdicts of the answers of pages that are not complete HTML.
    pub(super) told: HashMap<PageId, FetchVerdict>,
    /// Checks that failed on some page, or whose prerequisites are missing.
    pub(super) unproven: HashSet<&'static str>,
    /// Pages with findings, by check.
    pub(super) found: ByCheck<Vec<UrlId>>,
}

/// A value for each check, by its place in the registry.
pub(super) struct ByCheck<T>(Vec<T>);

impl<T: Default> Default for ByCheck<T> {
    fn default() -> Self {
        Self(checks::registry().iter().map(|_| T::default()).collect())
    }
}

impl<T> ByCheck<T> {
    fn get_mut(&mut self, check: &Check) -> &mut T {
        &mut self.0[check.place()]
    }

    /// Yields each value with its check.
    pub(super) fn into_each(self) -> impl Iterator<Item = (&'static Check, T)> {
        checks::registry().iter().zip(self.0)
    }
}

impl Sums {
    /// Adds the sums of another thread.
    pub(super) fn merge(&mut self, other: Self) {
        self.scores.merge(&other.scores);
        self.totals.errors += other.totals.errors;
        self.totals.warnings += other.totals.warnings;
        self.totals.notices += other.totals.notices;
        for (check, affected) in other.affected.into_each() {
            self.affected.get_mut(check).merge(affected);
        }
        self.marks.extend(other.marks);
        self.told.extend(other.told);
        self.unproven.extend(other.unproven);
        for (check, pages) in other.found.into_each() {
            self.found.get_mut(check).extend(pages);
        }
    }

    /// Returns the counts of findings, and of checks that found something.
    pub(super) fn totals(&self) -> AuditTotals {
        AuditTotals {
            issues: self
                .affected
                .0
                .iter()
                .filter(|affected| affected.severity().is_some())
                .count() as u64,
            ..self.totals
        }
    }

    /// Returns the share of the site that the findings of a check concern.
    pub(super) fn affected(&self, check: &Check) -> Affected {
        self.affected.0[check.place()]
    }

    fn add(&mut self, check: &'static Check, severity: Severity, rank: f64) {
        self.affected.get_mut(check).add(check, severity, rank);
        match severity {
            Severity::Error => self.totals.errors += 1,
            Severity::Warning => self.totals.warnings += 1,
            Severity::Notice => self.totals.notices += 1,
        }
    }
}

/// Shared input of all evaluators.
pub(super) struct Shared {
    pub(super) index: Arc<SiteGraph>,
    pub(super) origin: Origin,
    pub(super) rules: Rules,
    pub(super) ids: Arc<PageIds>,
    pub(super) ignored: HashSet<(IssueId, PageId)>,
    pub(super) issues: IssueIds,
    pub(super) now_ms: i64,
}

/// Results of one evaluator.
pub(super) struct Evaluated {
    pub(super) sums: Sums,
    pub(super) findings: FindingSpill,
    /// Page that the start URL ends at.
    pub(super) home: Option<PageFacts>,
}

impl Evaluated {
    /// Makes the empty results of one of so many evaluators.
    pub(super) fn new(evaluators: usize) -> Self {
        Self {
            sums: Sums::default(),
            findings: FindingSpill::new(evaluators),
            home: None,
        }
    }

    /// Adds the results of another evaluator.
    pub(super) fn merge(&mut self, other: Self) {
        self.sums.merge(other.sums);
        self.findings.merge(other.findings);
        self.home = self.home.take().or(other.home);
    }
}

/// Evaluates batches until there are no more; several of these run at once on the same batches.
pub(super) fn evaluate_batches(
    shared: &Shared,
    batches: &Mutex<Receiver<Vec<u8>>>,
    mut evaluated: Evaluated,
) -> Result<Evaluated, JobError> {
    let context = Context::new(&shared.index, &shared.origin, &shared.rules, shared.now_ms);
    loop {
        let next = locked(batches).blocking_recv();
        let Some(data) = next else { break };
        let mut batch = PageReader::open(&data)?;
        loop {
            let pages = batch.read_next(checks::TOGETHER)?;
            if pages.is_empty() {
                break;
            }
            evaluate(shared, &context, &pages, &mut evaluated)?;
            let home = pages.into_iter().find(|page| page.id == shared.origin.home);
            evaluated.home = evaluated.home.take().or(home);
        }
    }
    Ok(evaluated)
}

/// Locks a mutex and ignores poisoning: no holder leaves the value half changed.
pub(super) fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

fn evaluate(
    shared: &Shared,
    context: &Context<'_>,
    pages: &[PageFacts],
    results: &mut Evaluated,
) -> Result<(), JobError> {
    let (index, rules) = (&shared.index, &shared.rules);
    let Evaluated { sums, findings, .. } = results;
    for (facts, evaluated) in pages.iter().zip(checks::evaluate(pages, context)) {
        if !index.has(facts.id, PageFlags::INTERNAL) {
            continue;
        }
        let id = shared.ids.get(facts.id);
        sums.marks.push(mark(facts, index, id));
        sums.unproven
            .extend(evaluated.failed.into_iter().map(|check| check.id));
        let told = FetchVerdict::from_facts(facts);
        if told != FetchVerdict::Whole {
            sums.told.insert(id, told);
        }
        let mut counts = Counts::default();
        let was_silent = index.was_silent(facts.id);
        let rank = f64::from(index.rank(facts.id));
        for finding in evaluated.findings {
            let check = finding.check;
            if !shared.ignored.contains(&(shared.issues.get(check), id)) {
                let severity = rules.severity_of(check, &finding.evidence);
                sums.add(check, severity, rank);
                if score::is_counted(check, was_silent) {
                    counts.count(check, severity, rules);
                }
            }
            sums.found.get_mut(check).push(facts.id);
            findings.push(&shared.issues, check, facts.id, id, evidence(&finding))?;
        }
        if score::is_scored(facts, was_silent) && score::counts_apart(index, facts.id) {
            sums.scores.add(&counts);
        }
    }
    Ok(())
}

fn mark(facts: &PageFacts, index: &SiteGraph, id: PageId) -> PageState {
    let title = facts.html.as_deref().and_then(|html| html.titles.first());
    let canonical = index.canonical(facts.id).map(|canonical| index.key(canonical));
    PageState {
        page: id_prefix(id),
        status: facts.status().unwrap_or(0),
        indexable: index.has(facts.id, PageFlags::INDEXABLE),
        title: title.map_or(0, |title| folded_hash(title) as u32),
        canonical: canonical.map_or(0, |canonical| hash(canonical.as_bytes()) as u32),
    }
}

/// Evaluates the checks of the site as a whole, adds them to `sums`, and returns their findings.
pub(super) fn evaluate_site(
    shared: &Shared,
    home: Option<&PageFacts>,
    sums: &mut Sums,
) -> Vec<issues::Finding> {
    let context = Context::new(&shared.index, &shared.origin, &shared.rules, shared.now_ms);
    let mut found = Vec::new();
    let failed = checks::evaluate_site(home, &context, &mut found);
    let silence = |check: &&Check| check.unmet_prerequisite(home, &shared.origin, &shared.index);
    let silent = checks::registry().iter().filter(|check| silence(check).is_some());
    sums.unproven
        .extend(failed.into_iter().chain(silent).map(|check| check.id));
    let (mut findings, mut counts) = (Vec::new(), Counts::default());
    for finding in found {
        let page = shared.ids.get(UrlId(0));
        let issue = shared.issues.get(finding.check);
        if !shared.ignored.contains(&(issue, page)) {
            let severity = shared.rules.severity_of(finding.check, &finding.evidence);
            sums.add(finding.check, severity, 1.0);
            counts.count(finding.check, severity, &shared.rules);
        }
        sums.found.get_mut(finding.check).push(UrlId(0));
        findings.push(issues::Finding {
            issue,
            page,
            evidence: evidence(&finding),
        });
    }
    sums.scores.set_site(counts);
    findings
}
