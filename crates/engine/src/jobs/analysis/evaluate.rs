//! Pages through checks: no store, no waiting but for the next batch.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hashbrown::HashMap;
use searchwright_contract::{audits::AuditTotals, pages::Page};
use searchwright_site::{
    checks::{self, Asking, Check, Context, Early, Rules, Severity, Told},
    fetch::FetchError,
    graph::{Index, flag},
    origin::Origin,
    page::{NotIndexable, Outcome, PageFacts, UrlId, not_indexable},
    score::{self, Counts, Scores},
    text::{folded_hash, hash},
};
use searchwright_store::{
    issues, pages,
    snapshots::{Mark, half},
};
use tokio::sync::mpsc::{Receiver, Sender};
use uuid::Uuid;

use super::{
    super::{JobError, batches::unpack_asked},
    gather::{Evaluated, Gathered, pack},
    names::Names,
    urls::Urls,
};

/// Stable id of a page: the same URL of the same project, whatever the audit.
pub(in crate::jobs) fn page_id(project: Uuid, key: &str) -> Uuid {
    Uuid::new_v5(&project, key.as_bytes())
}

/// Stable id of an issue: one per project and check.
pub(crate) fn issue_id(project: Uuid, check: &str) -> Uuid {
    Uuid::new_v5(&project, check.as_bytes())
}

/// What was seen, as it is stored: without the formatter that `Display` puts in between.
pub(in crate::jobs) fn evidence(finding: &checks::Finding) -> String {
    serde_json::to_string(&finding.evidence).unwrap_or_default()
}

/// What the whole analysis adds up to.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) scores: Scores,
    pub(super) totals: AuditTotals,
    /// Ranks of the pages concerned, summed as integers so that the order of pages does not matter.
    ranks: HashMap<&'static str, u64>,
    /// Of every page what audits are compared by.
    pub(super) marks: Vec<Mark>,
    /// What they are called.
    pub(super) names: Names,
    /// Where lists have them.
    pub(super) urls: Urls,
    /// Of pages that are no whole HTML, what their answers tell.
    pub(super) told: HashMap<Uuid, Told>,
    /// Checks that failed on some page, or that lack what they rest on.
    pub(super) unproven: HashSet<&'static str>,
    /// Pages by check.
    pub(super) found: HashMap<&'static str, Vec<UrlId>>,
}

/// One in the sums of ranks.
const RANK_UNIT: f64 = (1_u64 << 40) as f64;

impl Sums {
    /// What another thread has counted.
    pub(super) fn merge(&mut self, other: Self) {
        self.scores.merge(&other.scores);
        self.totals.errors += other.totals.errors;
        self.totals.warnings += other.totals.warnings;
        self.totals.notices += other.totals.notices;
        for (check, rank) in other.ranks {
            *self.ranks.entry(check).or_default() += rank;
        }
        self.marks.extend(other.marks);
        self.names.merge(other.names);
        self.urls.merge(other.urls);
        self.told.extend(other.told);
        self.unproven.extend(other.unproven);
        for (check, pages) in other.found {
            self.found.entry(check).or_default().extend(pages);
        }
    }

    /// Checks that found something.
    pub(super) fn issues(&self) -> u64 {
        self.ranks.len() as u64
    }

    /// Share of the site's visitors, by link rank, that meet what a check found; `None` when it found nothing.
    pub(super) fn rank(&self, check: &str) -> Option<f64> {
        self.ranks.get(check).map(|rank| *rank as f64 / RANK_UNIT)
    }

    fn add(&mut self, check: &'static Check, severity: Severity, rank: f64) {
        *self.ranks.entry(check.id).or_default() += (rank * RANK_UNIT).round() as u64;
        match severity {
            Severity::Error => self.totals.errors += 1,
            Severity::Warning => self.totals.warnings += 1,
            Severity::Notice => self.totals.notices += 1,
        }
    }
}

/// Everything pages are evaluated with.
pub(super) struct Shared {
    pub(super) index: Arc<Index>,
    pub(super) origin: Origin,
    pub(super) rules: Rules,
    pub(super) project: Uuid,
    pub(super) ignored: HashSet<(Uuid, Uuid)>,
    pub(super) issue_ids: HashMap<&'static str, Uuid>,
    /// The same, ascending.
    pub(super) issues: Vec<Uuid>,
    pub(super) now_ms: i64,
}

/// Evaluates batches until there are no more; several of these run at once on the same batches.
pub(super) fn evaluate_batches(
    shared: &Shared,
    saved: &Mutex<Receiver<Vec<u8>>>,
    gathered: &Mutex<Gathered>,
    done: &Sender<Evaluated>,
) -> Result<(Sums, Option<PageFacts>), JobError> {
    let context = Context::new(&shared.index, &shared.origin, &shared.rules, shared.now_ms);
    let by = Asking::new(shared.rules.clone(), shared.now_ms).fingerprint();
    let mut sums = Sums::default();
    let mut home = None;
    loop {
        let next = locked(saved).blocking_recv();
        let Some(data) = next else { break };
        let (pages, early) = unpack_asked(&data, by)?;
        let mut found = Evaluated::default();
        evaluate(shared, &context, (&pages, &early), &mut sums, &mut found);
        home = home.or_else(|| pages.into_iter().find(|p| p.id == shared.origin.home));
        // neither is done while the others wait
        let next = locked(gathered).gather(found);
        if let Some(full) = next.pack {
            let packed = pack(full, &shared.issues)?;
            locked(gathered).keep(packed);
        }
        if let Some(full) = next.write
            && done.blocking_send(full).is_err()
        {
            // Refused only by a writer that has failed, which says so itself.
            break;
        }
    }
    Ok((sums, home))
}

/// What is behind a lock that no one leaves half changed.
pub(super) fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

fn evaluate(
    shared: &Shared,
    context: &Context<'_>,
    (pages, early): (&[PageFacts], &[Option<Early>]),
    sums: &mut Sums,
    out: &mut Evaluated,
) {
    let index = &shared.index;
    let mut known = early.chunks(checks::TOGETHER);
    let evaluated = pages
        .chunks(checks::TOGETHER)
        .flat_map(|pages| checks::evaluate(pages, known.next().unwrap_or_default(), context));
    for (at, (facts, evaluated)) in pages.iter().zip(evaluated).enumerate() {
        if !index.has(facts.id, flag::INTERNAL) {
            continue;
        }
        let id = page_id(shared.project, index.key(facts.id));
        out.seen.push(seen(index, facts, id));
        sums.marks.push(mark(facts, index, id));
        sums.names.add(index, facts);
        sums.urls.add(index, facts);
        sums.unproven
            .extend(evaluated.failed.into_iter().map(|check| check.id));
        let told = Told::by(facts);
        if told != Told::Whole {
            sums.told.insert(id, told);
        }
        let mut counts = Counts::default();
        let was_silent = index.was_silent(facts.id);
        let rank = f64::from(index.rank(facts.id));
        let mut note = |check: &'static Check, evidence: String| {
            let issue = shared.issue_ids.get(check.id).copied().unwrap_or_default();
            if !shared.ignored.contains(&(issue, id)) {
                sums.add(check, shared.rules.severity(check), rank);
                if score::is_counted(check, was_silent) {
                    counts.count(check, &shared.rules);
                }
            }
            sums.found.entry(check.id).or_default().push(facts.id);
            out.findings.push(issues::Finding {
                issue,
                page: id,
                evidence,
            });
        };
        for finding in evaluated.findings {
            note(finding.check, evidence(&finding));
        }
        let early = early.get(at).and_then(Option::as_ref);
        for (check, evidence) in early
            .filter(|_| evaluated.early)
            .iter()
            .flat_map(|early| early.findings())
        {
            note(check, evidence.to_owned());
        }
        if score::is_scored(facts, was_silent) {
            sums.scores.add(&counts);
        }
    }
}

fn mark(facts: &PageFacts, index: &Index, id: Uuid) -> Mark {
    let title = facts.html.as_deref().and_then(|html| html.titles.first());
    let canonical = index.canonical(facts.id).map(|canonical| index.key(canonical));
    Mark {
        page: half(id),
        status: facts.status().unwrap_or(0),
        indexable: index.has(facts.id, flag::INDEXABLE),
        title: title.map_or(0, |title| folded_hash(title) as u32),
        canonical: canonical.map_or(0, |canonical| hash(canonical.as_bytes()) as u32),
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
                FetchError::Tls | FetchError::Certificate(_) => "tls",
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
                let why = not_indexable(facts).unwrap_or(NotIndexable::Blocked);
                Some(why.code().to_owned())
            },
            title: html.and_then(|h| h.titles.first()).map(ToString::to_string),
            word_count: html.map(|h| h.main_words),
            last_crawled_at: searchwright_contract::Instant::default(),
        },
        crawled_at: searchwright_contract::Instant::from_millis(facts.fetched_at_ms),
        scored: score::is_scored(facts, index.was_silent(facts.id)),
    }
}

/// What is wrong with the site as a whole.
pub(super) fn evaluate_site(
    shared: &Shared,
    home: Option<&PageFacts>,
    sums: &mut Sums,
) -> Vec<issues::Finding> {
    let context = Context::new(&shared.index, &shared.origin, &shared.rules, shared.now_ms);
    let mut found = Vec::new();
    let failed = checks::evaluate_site(home, &context, &mut found);
    let silence = |check: &&Check| check.silence(home, &shared.origin, &shared.index);
    let silent = checks::registry().iter().filter(|check| silence(check).is_some());
    sums.unproven
        .extend(failed.into_iter().chain(silent).map(|check| check.id));
    let index = &shared.index;
    let (mut findings, mut counts) = (Vec::new(), Counts::default());
    for finding in found {
        let page = page_id(shared.project, index.key(UrlId(0)));
        let issue = shared
            .issue_ids
            .get(finding.check.id)
            .copied()
            .unwrap_or_default();
        if !shared.ignored.contains(&(issue, page)) {
            sums.add(finding.check, shared.rules.severity(finding.check), 1.0);
            counts.count(finding.check, &shared.rules);
        }
        sums.found.entry(finding.check.id).or_default().push(UrlId(0));
        findings.push(issues::Finding {
            issue,
            page,
            evidence: evidence(&finding),
        });
    }
    sums.scores.set_site(counts);
    findings
}
