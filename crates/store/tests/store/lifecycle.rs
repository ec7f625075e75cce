//! States of an occurrence against a model: findings of audits and marks of callers in any order.

use std::collections::BTreeMap;

use proptest::{
    prelude::{Just, Strategy, any},
    prop_oneof,
    strategy::ValueTree as _,
    test_runner::TestRunner,
};
use searchwright_contract::{
    ids::{IssueId, PageId},
    issues::OccurrenceState::{self, Done, Ignored, Open, RecheckPending, Reopened, Resolved, StillPresent},
};
use searchwright_store::{
    Error,
    access::ProjectScope,
    issues::{self, EvidenceCutoff, IssueTransition},
    occurrences, pages,
};

use crate::{
    harness::{Place, Store, id, later, now},
    issues::{finding, proofs, seen, set_state, settle_all, summary},
};

on_both!(occurrence_follows_the_model,);

const PAGES: usize = 3;
const ISSUES: usize = 2;

/// Observation of a page by an audit.
#[derive(Clone, Debug)]
enum Sight {
    /// The page is not visited.
    Unknown,
    /// The page gives no response.
    NoAnswer,
    /// The page responds and has these issues.
    Answer(u16, [bool; ISSUES]),
}

#[derive(Clone, Debug)]
enum Step {
    Audit([Sight; PAGES]),
    /// A caller, or a recheck, changes the state of the page's occurrences.
    Mark {
        page: usize,
        state: OccurrenceState,
    },
}

#[derive(Clone, Debug, PartialEq)]
struct Expected {
    state: OccurrenceState,
    reopened: u32,
    stale: bool,
    resolution: Option<&'static str>,
}

fn step() -> impl Strategy<Value = Step> {
    let answer = (
        prop_oneof![3 => Just(200_u16), 1 => Just(404), 1 => Just(301)],
        any::<[bool; ISSUES]>(),
    );
    let sight = prop_oneof![
        1 => Just(Sight::Unknown),
        1 => Just(Sight::NoAnswer),
        4 => answer.prop_map(|(status, found)| Sight::Answer(status, found)),
    ];
    let sights = [sight.clone(), sight.clone(), sight];
    let state = prop_oneof![
        Just(Done),
        Just(Ignored),
        Just(RecheckPending),
        Just(StillPresent),
        Just(Open)
    ];
    prop_oneof![
        3 => sights.prop_map(Step::Audit),
        1 => (0..PAGES, state).prop_map(|(page, state)| Step::Mark { page, state }),
    ]
}

/// domain.md 1.6, for the transitions that audits make.
fn model(known: &mut BTreeMap<(usize, usize), Expected>, step: &Step) {
    let Step::Audit(sights) = step else {
        let Step::Mark { page, state } = step else { return };
        for ((_, at), occurrence) in known.iter_mut() {
            if at == page && occurrence.state != Resolved {
                occurrence.state = *state;
            }
        }
        return;
    };
    for (page, sight) in sights.iter().enumerate() {
        for issue in 0..ISSUES {
            let key = (issue, page);
            let found = matches!(sight, Sight::Answer(_, found) if found[issue]);
            let Some(occurrence) = known.get_mut(&key) else {
                if found {
                    known.insert(
                        key,
                        Expected {
                            state: Open,
                            reopened: 0,
                            stale: false,
                            resolution: None,
                        },
                    );
                }
                continue;
            };
            if found {
                let again = matches!(occurrence.state, Resolved | Done | RecheckPending);
                occurrence.reopened += u32::from(occurrence.state == Resolved);
                occurrence.state = if again { Reopened } else { occurrence.state };
                (occurrence.stale, occurrence.resolution) = (false, None);
                continue;
            }
            if matches!(occurrence.state, Resolved | Ignored) {
                continue;
            }
            let resolution = match sight {
                Sight::Answer(200, _) => Some("fixed"),
                Sight::Answer(..) => Some("page_gone"),
                Sight::Unknown | Sight::NoAnswer => None,
            };
            occurrence.stale = resolution.is_none();
            if resolution.is_some() {
                (occurrence.state, occurrence.resolution) = (Resolved, resolution);
            }
        }
    }
}

fn active(known: &BTreeMap<(usize, usize), Expected>, issue: usize) -> u64 {
    known
        .iter()
        .filter(|((i, _), o)| *i == issue && !matches!(o.state, Resolved | Ignored))
        .count() as u64
}

async fn apply(
    store: &Store,
    scope: ProjectScope,
    step: Step,
    pages: [PageId; PAGES],
    all: [IssueId; ISSUES],
) -> Vec<IssueTransition> {
    commit!(store.db, |tx| {
        let sights = match step {
            Step::Audit(sights) => sights,
            Step::Mark { page, state } => {
                set_state(tx, scope, pages[page], state).await?;
                return Ok::<_, Error>(vec![]);
            }
        };
        let audit = id();
        let (mut looked, mut found) = (Vec::new(), Vec::new());
        for (page, sight) in pages.iter().zip(&sights) {
            let url = format!("https://example.com/{page}");
            match sight {
                Sight::Unknown => {}
                Sight::NoAnswer => looked.push(seen(*page, &url, None)),
                Sight::Answer(status, there) => {
                    looked.push(seen(*page, &url, Some(*status)));
                    found.extend(
                        all.iter()
                            .zip(there)
                            .filter(|(_, there)| **there)
                            .map(|(issue, _)| finding(*issue, *page)),
                    );
                }
            }
        }
        let proofs = proofs(&looked);
        pages::upsert(tx, scope, audit, looked).await?;
        issues::record_findings(
            tx,
            scope,
            audit,
            found.clone(),
            EvidenceCutoff::from_start(later(99)),
            now(),
        )
        .await?;
        let summaries = all
            .iter()
            .filter(|i| found.iter().any(|f| f.issue == **i))
            .map(|i| summary(*i, 1.0))
            .collect();
        settle_all(tx, scope, audit, &proofs, summaries, later(1)).await
    })
    .unwrap()
}

async fn occurrence_follows_the_model(place: &Place) {
    let store = place.store().await;
    let steps = proptest::collection::vec(step(), 1..12);
    let mut runner = TestRunner::deterministic();
    for case in 0..48 {
        let steps = steps.new_tree(&mut runner).unwrap().current();
        let (scope, pages, all) = (store.project().await, [id(), id(), id()], [id(), id()]);
        let mut known = BTreeMap::new();
        // As the last audit counted them: an audit tells what turned since the one before.
        let mut counted = [0; ISSUES];
        for (at, step) in steps.iter().enumerate() {
            let ever: Vec<bool> = (0..ISSUES)
                .map(|i| known.keys().any(|(issue, _)| *issue == i))
                .collect();
            model(&mut known, step);
            let turned = apply(&store, scope, step.clone(), pages, all).await;
            let context = format!("case {case}, step {at} of {steps:#?}");
            let mut tx = store.read().await;
            for (issue, issue_id) in all.iter().enumerate() {
                let mut rows = BTreeMap::new();
                for state in OccurrenceState::ALL {
                    for row in occurrences::list(&mut tx, scope, *issue_id, Some(*state), None, 99)
                        .await
                        .unwrap()
                    {
                        let page = pages.iter().position(|p| *p == row.page_id).unwrap();
                        let resolution = row
                            .resolution
                            .map(|r| if r == "fixed" { "fixed" } else { "page_gone" });
                        assert_eq!(row.resolved_at.is_some(), resolution.is_some(), "{context}");
                        rows.insert(
                            (issue, page),
                            Expected {
                                state: row.state,
                                reopened: row.reopen_count,
                                stale: row.stale,
                                resolution,
                            },
                        );
                    }
                }
                let expected: BTreeMap<_, _> = known
                    .iter()
                    .filter(|((i, _), _)| *i == issue)
                    .map(|(k, o)| (*k, o.clone()))
                    .collect();
                assert_eq!(rows, expected, "{context}");
                if let Step::Audit(_) = step {
                    let now_active = active(&known, issue);
                    let news = turned.iter().find(|t| t.issue == *issue_id);
                    let expected =
                        ((counted[issue] > 0) != (now_active > 0)).then_some((now_active > 0, !ever[issue]));
                    counted[issue] = now_active;
                    assert_eq!(news.map(|t| (t.active, t.new)), expected, "{context}");
                    if let Ok(row) = issues::get(&mut tx, scope, *issue_id).await {
                        assert_eq!(
                            (row.active, row.counts.values().sum::<u64>()),
                            (now_active, rows.len() as u64),
                            "{context}"
                        );
                    }
                }
            }
        }
    }
}
