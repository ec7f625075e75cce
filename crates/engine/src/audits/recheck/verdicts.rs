//! Verdicts of a recheck on each claim, and other problems of the pages.

use std::{
    collections::{BTreeMap, HashSet},
    slice,
};

use searchwright_contract::{ids::PageId, rechecks::RecheckOutcome};
use searchwright_crawls::{
    dependency_check::DependencyCheck,
    ids::{issue_id, page_id, url_key_of},
};
use searchwright_site::{
    checks::{self, Check, Context, FetchVerdict, RecheckMode, Rules, Verdict, evaluate_one},
    crawl::{Batch, Ending, Termination},
    page::{Outcome, PageFacts},
};
use searchwright_store::{
    issues::Finding,
    rechecks::{ItemOutcome, PendingItem},
};
use serde_json::Value;
use uuid::Uuid;

use super::{super::analysis::evaluate::evidence, Looked};

pub(super) fn inconclusive(item: &PendingItem, why: impl Into<String>) -> ItemOutcome {
    ItemOutcome {
        key: item.key,
        outcome: RecheckOutcome::Inconclusive,
        detail: Some(why.into()),
        resolution: None,
        evidence: None,
    }
}

/// Results of a recheck besides the outcomes of claims.
#[derive(Default)]
pub(super) struct RecheckedPages {
    /// Problems of the pages that are present now; only of checks that read the page alone.
    pub(super) findings: Vec<(&'static Check, Finding, f64)>,
    pub(super) overlay: Vec<Batch>,
}

pub(super) fn evaluate(
    looked: &Looked,
    waiting: &[PendingItem],
    rules: &Rules,
    project: Uuid,
) -> (Vec<ItemOutcome>, RecheckedPages) {
    let Looked {
        ending, fetched, now, ..
    } = looked;
    let context = Context::new(&ending.index, &ending.origin, rules, now.millis());
    let by_key: BTreeMap<&str, &PageFacts> = fetched
        .iter()
        .map(|facts| (ending.index.key(facts.id), facts))
        .collect();
    let home = fetched.iter().find(|facts| facts.id == ending.origin.home);
    let dependencies = DependencyCheck::new(&ending.index, &ending.origin);
    let found = waiting
        .iter()
        .map(|item| outcome(item, &by_key, home, (ending, &dependencies), rules, &context))
        .collect();
    let concerned: HashSet<PageId> = waiting.iter().map(|item| item.key.1).collect();
    let mut findings = Vec::new();
    for facts in fetched {
        let page = page_id(project, ending.index.key(facts.id));
        if !concerned.contains(&page) || is_silent(facts).is_some() {
            continue;
        }
        let all = checks::evaluate(slice::from_ref(facts), &context);
        for finding in all
            .into_iter()
            .flat_map(|page| page.findings)
            .filter(|f| f.check.recheck_mode() == RecheckMode::Page)
        {
            let issue = issue_id(project, finding.check.id);
            let evidence = evidence(&finding);
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
        RecheckedPages {
            findings,
            overlay: looked.overlay.clone(),
        },
    )
}

/// Returns the reason for which an answer proves nothing about its page; `None` if it does.
fn is_silent(facts: &PageFacts) -> Option<String> {
    match &facts.outcome {
        Outcome::Failed(error) => Some(format!("no answer: {error}")),
        Outcome::Blocked(rule) => Some(format!("forbidden by robots.txt: {rule}")),
        Outcome::Status(status) if FetchVerdict::from_facts(facts) == FetchVerdict::Nothing => {
            Some(format!("the server answered {status}"))
        }
        Outcome::Status(_) | Outcome::Redirect { .. } => None,
    }
}

fn outcome(
    item: &PendingItem,
    by_key: &BTreeMap<&str, &PageFacts>,
    home: Option<&PageFacts>,
    (ending, dependencies): (&Ending, &DependencyCheck<'_>),
    rules: &Rules,
    context: &Context<'_>,
) -> ItemOutcome {
    let Some(check) = checks::find(&item.check_id) else {
        return ItemOutcome {
            outcome: RecheckOutcome::NeedsAudit,
            ..inconclusive(item, "the check is gone")
        };
    };
    if rules.is_off(check) {
        return inconclusive(item, "the check is off in this project");
    }
    let mode = check.recheck_mode();
    if mode == RecheckMode::Audit {
        return ItemOutcome {
            outcome: RecheckOutcome::NeedsAudit,
            ..inconclusive(item, "only an audit of the whole site can tell")
        };
    }
    if ending.termination == Termination::RobotsUnreachable {
        return inconclusive(item, "robots.txt could not be fetched, which forbids everything");
    }
    let key = url_key_of(&item.url).unwrap_or_default();
    let facts = if mode == RecheckMode::Site {
        home
    } else {
        by_key.get(key.as_str()).copied()
    };
    let Some(facts) = facts else {
        return inconclusive(item, "the page was not fetched: the host did not answer");
    };
    match evaluate_one(check, facts, context) {
        Verdict::Present(finding) => ItemOutcome {
            outcome: RecheckOutcome::StillPresent,
            detail: answered(facts),
            evidence: Some(with_caches(finding.evidence, facts).to_string()),
            ..inconclusive(item, "")
        },
        Verdict::Failed => inconclusive(item, "the check failed"),
        Verdict::Absent => {
            if let Some(why) = is_silent(facts) {
                return inconclusive(item, why);
            }
            if let Some(why) = check.unmet_prerequisite(home, &ending.origin, &ending.index) {
                return inconclusive(item, why);
            }
            let told = FetchVerdict::from_facts(facts);
            if let Some(why) = dependencies.silence(check, &item.evidence, told, || Some(facts.id)) {
                return inconclusive(item, why);
            }
            let Some(resolution) = check.resolution(FetchVerdict::from_facts(facts)) else {
                return match facts.status() {
                    Some(200) | None => inconclusive(item, "the page could not be read to its end"),
                    // Refused, or sent on for now: what is behind it is not known.
                    Some(status) => inconclusive(item, format!("the page answered {status}")),
                };
            };
            ItemOutcome {
                outcome: RecheckOutcome::Resolved,
                detail: facts.status().map(|status| format!("the page answered {status}")),
                resolution: Some(resolution.code()),
                ..inconclusive(item, "")
            }
        }
    }
}

/// Returns the detail of an outcome: the status of the page, or that a cache answered.
fn answered(facts: &PageFacts) -> Option<String> {
    let status = facts.status()?;
    Some(match facts.headers.cached() {
        None => format!("the page answered {status}"),
        Some(None) => format!("a cache answered {status}: purge it if the page is newer, then recheck"),
        Some(Some(age)) => format!(
            "a cache answered {status} with a copy {age} seconds old: purge it if the page is newer, then recheck"
        ),
    })
}

/// Adds the headers of caches to the evidence, because a page may be fixed while its cached copy is not.
fn with_caches(mut evidence: Value, facts: &PageFacts) -> Value {
    let caches = &facts.headers.caches;
    if let Value::Object(members) = &mut evidence
        && !caches.is_empty()
    {
        let said = caches
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Value::from(&**value)));
        members.insert("cache".to_owned(), Value::Object(said.collect()));
    }
    evidence
}
