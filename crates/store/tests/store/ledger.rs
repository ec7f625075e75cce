//! Changes of occurrences by people, and the history of all changes.

use searchwright_contract::{
    Instant,
    ids::{AuditId, IssueId, PageId},
    issues::OccurrenceState,
};
use searchwright_store::{
    Error,
    access::ProjectScope,
    issues::{self, EvidenceCutoff, Finding, PreparedFindings},
    occurrences::{self, Actor, StateChange},
};
use uuid::Uuid;

use crate::{
    harness::{Place, Store, id, later, now},
    issues::{audit_of_one_page, finding},
};

on_both!(
    changed_occurrence_is_not_overwritten,
    snooze_expires,
    older_audit_does_not_overrule_a_mark,
    history_is_newest_first,
    prepared_findings_are_recorded_alike,
);

/// Id of the key of [`actor`].
const KEY: &str = "01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4d";

fn actor(at: Instant) -> Actor {
    Actor {
        id: format!("key:{KEY}"),
        name: "an agent".to_owned(),
        note: Some("done by hand".to_owned()),
        at,
    }
}

async fn mark(
    store: &Store,
    scope: ProjectScope,
    (from, to): (OccurrenceState, OccurrenceState),
    of: occurrences::OccurrenceKey,
    until: Option<Instant>,
) -> Result<(), Error> {
    commit!(store.db, |tx| {
        occurrences::change_states(
            tx,
            scope,
            &[StateChange { key: of, from, to }],
            until,
            &actor(now()),
        )
        .await
    })
}

async fn state(
    store: &Store,
    scope: ProjectScope,
    of: occurrences::OccurrenceKey,
) -> Option<OccurrenceState> {
    let states = occurrences::find_states(&mut store.read().await, scope, &[of])
        .await
        .unwrap();
    states[0]
}

async fn changes(store: &Store, scope: ProjectScope, of: (IssueId, PageId)) -> Vec<(String, String, String)> {
    let found = occurrences::list_histories(
        &mut store.read().await,
        scope,
        &[of, (of.1.uuid().into(), of.0.uuid().into())],
        10,
    )
    .await;
    let [of, none] = <[Vec<_>; 2]>::try_from(found.unwrap()).unwrap();
    assert_eq!(none, []);
    let actor = |by: &searchwright_contract::issues::Actor| {
        format!(
            "{}:{}",
            by.kind,
            by.id.map(|id| id.to_string()).unwrap_or_default()
        )
    };
    of.into_iter()
        .map(|change| (change.from.to_string(), change.to.to_string(), actor(&change.by)))
        .collect()
}

fn change(from: &str, to: &str, actor: &str) -> (String, String, String) {
    (from.to_owned(), to.to_owned(), actor.to_owned())
}

async fn changed_occurrence_is_not_overwritten(place: &Place) {
    let store = place.store().await;
    let (scope, page, issue) = (store.project().await, id(), id());
    audit_of_one_page(&store, scope, id(), page, issue).await;
    let of = (issue, page);
    mark(
        &store,
        scope,
        (OccurrenceState::Open, OccurrenceState::Done),
        of,
        None,
    )
    .await
    .unwrap();
    let late = mark(
        &store,
        scope,
        (OccurrenceState::Open, OccurrenceState::Ignored),
        of,
        None,
    )
    .await;
    assert!(matches!(late, Err(Error::Overloaded)), "{late:?}");
    assert_eq!(state(&store, scope, of).await, Some(OccurrenceState::Done));
    assert_eq!(
        changes(&store, scope, of).await,
        [change("open", "done", &format!("api_key:{KEY}"))],
        "nothing of it"
    );
    let foreign = store.project().await;
    let theirs = mark(
        &store,
        foreign,
        (OccurrenceState::Done, OccurrenceState::Open),
        of,
        None,
    )
    .await;
    assert!(matches!(theirs, Err(Error::Overloaded)), "{theirs:?}");
    assert_eq!(state(&store, foreign, of).await, None);
}

async fn snooze_expires(place: &Place) {
    let store = place.store().await;
    let (scope, page, issue) = (store.project().await, id(), id());
    audit_of_one_page(&store, scope, id(), page, issue).await;
    let of = (issue, page);
    mark(
        &store,
        scope,
        (OccurrenceState::Open, OccurrenceState::Ignored),
        of,
        Some(later(50)),
    )
    .await
    .unwrap();
    for (at, woken, expected) in [
        (later(49), vec![], OccurrenceState::Ignored),
        (later(50), vec![scope], OccurrenceState::Open),
        (later(51), vec![], OccurrenceState::Open),
    ] {
        let found = commit!(store.db, |tx| occurrences::unsnooze(tx, at).await).unwrap();
        let ours: Vec<ProjectScope> = found.into_iter().filter(|found| *found == scope).collect();
        assert_eq!((ours, state(&store, scope, of).await), (woken, Some(expected)));
    }
    let row = issues::get(&mut store.read().await, scope, issue).await.unwrap();
    assert_eq!((row.active, row.counts.get("open")), (1, Some(&1)));
    assert_eq!(
        changes(&store, scope, of).await,
        [
            change("ignored", "open", "system:"),
            change("open", "ignored", &format!("api_key:{KEY}"))
        ]
    );
}

/// An audit that began before an occurrence was marked as done may have fetched the page before the fix.
async fn older_audit_does_not_overrule_a_mark(place: &Place) {
    let store = place.store().await;
    let (scope, page, issue) = (store.project().await, id(), id());
    audit_of_one_page(&store, scope, id(), page, issue).await;
    let of = (issue, page);
    mark(
        &store,
        scope,
        (OccurrenceState::Open, OccurrenceState::Done),
        of,
        None,
    )
    .await
    .unwrap();
    let before = Instant::from_millis(now().millis() - 1);
    let [first, last]: [AuditId; 2] = [id(), id()];
    for (audit, began, expected) in [
        (first, before, OccurrenceState::Done),
        (last, later(1), OccurrenceState::Reopened),
    ] {
        commit!(store.db, |tx| {
            issues::record_findings(
                tx,
                scope,
                audit,
                vec![finding(issue, page)],
                EvidenceCutoff::from_start(began),
                later(20),
            )
            .await?;
            let actor = Actor {
                id: format!("audit:{audit}"),
                note: None,
                ..actor(later(20))
            };
            occurrences::insert_audit_changes(tx, scope, issue, began, &actor).await?;
            occurrences::insert_audit_changes(tx, scope, issue, began, &actor).await
        })
        .unwrap();
        assert_eq!(state(&store, scope, of).await, Some(expected));
    }
    assert_eq!(
        changes(&store, scope, of).await,
        [
            change("done", "reopened", &format!("audit:{last}")),
            change("open", "done", &format!("api_key:{KEY}"))
        ],
        "once, though it was written twice"
    );
    mark(
        &store,
        scope,
        (OccurrenceState::Reopened, OccurrenceState::Ignored),
        of,
        None,
    )
    .await
    .unwrap();
    let lines = changes(&store, scope, of).await;
    commit!(store.db, |tx| occurrences::insert_audit_changes(
        tx,
        scope,
        issue,
        later(1),
        &actor(later(20))
    )
    .await)
    .unwrap();
    assert_eq!(
        changes(&store, scope, of).await,
        lines,
        "what somebody said since is not the audit's"
    );
}

async fn history_is_newest_first(place: &Place) {
    let store = place.store().await;
    let (scope, of) = (store.project().await, (id(), id()));
    let states = [OccurrenceState::Open, OccurrenceState::Done];
    for turn in 0..12 {
        let (from, to) = (states[turn % 2], states[(turn + 1) % 2]);
        let by = actor(later(turn as i64));
        commit!(store.db, |tx| occurrences::insert_changes(
            tx,
            scope,
            &[StateChange { key: of, from, to }],
            &by
        )
        .await)
        .unwrap();
    }
    let found = occurrences::list_histories(&mut store.read().await, scope, &[of], 10)
        .await
        .unwrap();
    let at: Vec<Instant> = found[0].iter().map(|change| change.at).collect();
    assert_eq!(at, (2..12).rev().map(later).collect::<Vec<_>>());
    assert_eq!(
        (found[0][0].to, found[0][1].to),
        (OccurrenceState::Open, OccurrenceState::Done)
    );
    let theirs = store.project().await;
    let found = occurrences::list_histories(&mut store.read().await, theirs, &[of], 10)
        .await
        .unwrap();
    assert_eq!(found, [[]]);
}

/// Leaves that were packed before, whatever occurrences exist when they are written.
async fn prepared_findings_are_recorded_alike(place: &Place) {
    let store = place.store().await;
    let newest = EvidenceCutoff::from_start(later(1));
    let (issue, other) = (id(), id());
    let page = |number: u128| PageId::from(Uuid::from_u128(number << 100));
    let found = |pages: std::ops::Range<u128>, word: &str| -> Vec<Finding> {
        let on = |issue: IssueId, pages: std::ops::Range<u128>| {
            pages.map(move |number| Finding {
                evidence: format!("{{\"{word}\":{number}}}"),
                ..finding(issue, page(number))
            })
        };
        // one is named twice, and pages come in any order
        let twice = on(issue, pages.start..pages.start + 1).map(|finding| Finding {
            evidence: "\"twice\"".to_owned(),
            ..finding
        });
        let one = on(issue, pages.clone()).rev().chain(twice);
        one.chain(on(other, pages.end..pages.end + 1)).collect()
    };
    let audits = [id(), id()];
    let steps = [
        // the first, those behind them, some of them once more, some before all of them, and a next audit
        (audits[0], found(1_000..1_700, "a")),
        (audits[0], found(1_700..1_702, "b")),
        (audits[0], found(1_702..2_100, "c")),
        (audits[0], found(1_650..1_750, "d")),
        (audits[0], found(2_099..2_400, "e")),
        (audits[0], found(3..900, "f")),
        (audits[1], found(1..2_600, "g")),
    ];
    let mut all = Vec::new();
    for is_ready in [false, true] {
        let scope = store.project().await;
        let mut known = Vec::new();
        for (audit, found) in steps.clone() {
            commit!(store.db, |tx| {
                if is_ready {
                    let borrowed = found.iter().map(|finding| Finding {
                        issue: finding.issue,
                        page: finding.page,
                        evidence: finding.evidence.as_str(),
                    });
                    let ready = PreparedFindings::new(borrowed.collect(), |_| true, audit, now())?;
                    issues::record_prepared(tx, scope, audit, ready, newest, now()).await
                } else {
                    issues::record_findings(tx, scope, audit, found, newest, now()).await
                }
            })
            .unwrap();
            for issue in [issue, other] {
                let tx = &mut store.read().await;
                let seen = issues::list_unseen(tx, scope, AuditId::MIN, issue, None, 10_000).await;
                known.push(seen.unwrap());
            }
            mark(
                &store,
                scope,
                (OccurrenceState::Open, OccurrenceState::Done),
                (issue, page(1_001)),
                None,
            )
            .await
            .ok();
        }
        all.push((known, state(&store, scope, (issue, page(1_001))).await));
    }
    assert!(all[0] == all[1]);
    let counts: Vec<usize> = all[1].0.iter().map(Vec::len).collect();
    assert_eq!(counts[..6], [700, 1, 702, 2, 1_100, 3]);
    let first = &all[1].0[0][0];
    assert_eq!((first.page, first.evidence.as_str()), (page(1_000), "\"twice\""));
}
