//! What is found out about each claim, and what else is wrong with the pages.

use std::collections::{BTreeMap, HashSet};

use searchwright_contract::rechecks::RecheckOutcome;
use searchwright_site::{
    checks::{self, Category, Check, Context, RecheckMode, Rules, Verdict, evaluate_one},
    crawl::{Batch, Ending, Termination},
    page::{Outcome, PageFacts},
    url_key::url_key,
};
use searchwright_store::{
    issues::Finding,
    rechecks::{Found, Waiting},
};
use serde_json::Value;
use url::Url;
use uuid::Uuid;

use super::{
    super::analysis::evaluate::{issue_id, page_id},
    Looked,
};

/// Addresses of one piece of evidence.
const MOST_NAMED: usize = 100;

/// Whether robots.txt or a sitemap decides, which are read again then.
pub(super) fn rests_on_origin(check: &Check) -> bool {
    matches!(check.category, Category::Sitemaps | Category::Ai)
        || check.id.contains("blocked")
        || check.id == "orphan-page"
}

pub(super) fn key(url: &str) -> Option<String> {
    Some(url_key(&Url::parse(url).ok()?).into_owned())
}

/// The addresses that evidence names, as keys.
pub(super) fn named(evidence: &Value) -> Vec<String> {
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

pub(super) fn inconclusive(item: &Waiting, why: impl Into<String>) -> Found {
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
pub(super) struct Pages {
    /// Problems of the pages themselves that are there now.
    pub(super) findings: Vec<(&'static Check, Finding, f64)>,
    pub(super) overlay: Vec<Batch>,
}

pub(super) fn evaluate(
    looked: &Looked,
    waiting: &[Waiting],
    rules: &Rules,
    project: Uuid,
) -> (Vec<Found>, Pages) {
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
            detail: answered(facts),
            evidence: Some(with_caches(finding.evidence, facts).to_string()),
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
                Outcome::Status(404 | 410)
                    | Outcome::Redirect {
                        status: 301 | 308,
                        ..
                    }
            );
            let resolution = match verdict {
                Verdict::NotApplicable if gone => "page_gone",
                Verdict::NotApplicable if facts.cut.is_some() => {
                    return inconclusive(item, "the page could not be read to its end");
                }
                // Refused, or sent on for now: what is behind it is not known.
                Verdict::NotApplicable if facts.status() != Some(200) => {
                    let status = facts.status().unwrap_or(0);
                    return inconclusive(item, format!("the page answered {status}"));
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

/// What the page answered, and that a cache may have answered for it.
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

/// What caches on the way said beside what was seen: a page may be fixed and its copy not.
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
