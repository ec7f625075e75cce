//! Issues: the state that audits give to occurrences, counts and transitions.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    ids::{AuditId, CredentialId, IssueId, PageId},
    issues::{Occurrence, OccurrenceState},
    pages::Page,
};
use searchwright_store::{
    Error, Tx,
    access::ProjectScope,
    issues::{self, EvidenceCutoff, Finding, IssueQuery, IssueSummary, IssueTransition, Settlement},
    occurrences::{self, Actor, StateChange},
    pages::{self, PageRow},
    sql,
};

use crate::harness::{Place, Store, id, later, now};

on_both!(
    resolved_occurrence_is_reopened,
    unvisited_occurrence_becomes_stale,
    occurrences_of_a_gone_page_are_resolved,
    ignored_occurrence_stays_ignored,
    newer_change_is_kept,
    another_project_sees_nothing,
);

/// A page as an audit saw it.
pub fn seen(page: PageId, url: &str, status_code: Option<u16>) -> PageRow {
    PageRow {
        id: page,
        page: Page {
            id: page,
            url: url.to_owned(),
            final_url: Some(url.to_owned()),
            status_code,
            failure: status_code.is_none().then(|| "timeout".to_owned()),
            depth: Some(1),
            inlinks: 2,
            outlinks: Some(3),
            link_score: Some(50),
            indexable: status_code == Some(200),
            non_indexable_reason: None,
            title: Some("Ferns <b>&amp;</b> firs".to_owned()),
            word_count: Some(120),
            last_crawled_at: now(),
        },
        crawled_at: later(3),
        scored: true,
        rank: 0.25,
    }
}

pub fn finding(issue: IssueId, page: PageId) -> Finding {
    Finding {
        issue,
        page,
        evidence: serde_json::json!({ "title": "Fern \u{1f33f}", "length": 4 }).to_string(),
    }
}

pub fn summary(issue: IssueId, impact: f64) -> IssueSummary {
    IssueSummary {
        id: issue,
        check_id: "title-missing",
        category: "titles".into(),
        severity: "error".into(),
        impact,
    }
}

/// Runs an audit that finds one issue on one page.
pub async fn audit_of_one_page(
    store: &Store,
    scope: ProjectScope,
    audit: AuditId,
    page: PageId,
    issue: IssueId,
) -> Vec<IssueTransition> {
    audit_pages(
        store,
        scope,
        audit,
        vec![seen(page, "https://example.com/", Some(200))],
        vec![finding(issue, page)],
    )
    .await
}

/// Writes everything that an audit writes, in its order.
pub async fn audit_pages(
    store: &Store,
    scope: ProjectScope,
    audit: AuditId,
    seen: Vec<PageRow>,
    found: Vec<Finding>,
) -> Vec<IssueTransition> {
    commit!(store.db, |tx| {
        let mut issues: Vec<IssueId> = found.iter().map(|f| f.issue).collect();
        issues.dedup();
        let proofs = proofs(&seen);
        pages::upsert(tx, scope, audit, seen).await?;
        issues::record_findings(
            tx,
            scope,
            audit,
            found,
            EvidenceCutoff::from_start(later(99)),
            now(),
        )
        .await?;
        let summaries = issues.into_iter().map(|i| summary(i, 1.0)).collect();
        settle_all(tx, scope, audit, &proofs, summaries, later(9)).await
    })
    .unwrap()
}

/// Resolutions of occurrences, if they are proven.
pub type Proofs = BTreeMap<PageId, &'static str>;

/// Resolutions by the responses of the pages.
pub fn proofs(seen: &[PageRow]) -> Proofs {
    let by_status = |status| if status == 200 { "fixed" } else { "page_gone" };
    seen.iter()
        .filter_map(|seen| Some((seen.id, by_status(seen.page.status_code?))))
        .collect()
}

/// Settles every issue, two pages at a time.
pub async fn settle_all(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    proofs: &Proofs,
    summaries: Vec<IssueSummary>,
    now: Instant,
) -> Result<Vec<IssueTransition>, Error> {
    issues::upsert(tx, scope, summaries, now).await?;
    let mut turned = Vec::new();
    for issue in issues::list_ids(tx, scope).await? {
        let mut after = None;
        loop {
            let unseen = issues::list_unseen(tx, scope, audit, issue, after, 2).await?;
            after = unseen.last().map(|was| was.page);
            if after.is_none() {
                break;
            }
            let mut settled = Settlement::default();
            for was in unseen {
                match proofs.get(&was.page).filter(|_| was.visited) {
                    Some(why) => settled.resolved.push((was.page, why)),
                    None => settled.stale.push(was.page),
                }
            }
            issues::settle_unseen(tx, scope, audit, issue, settled, now).await?;
        }
        turned.extend(issues::recount(tx, scope, issue).await?);
    }
    Ok(turned)
}

async fn only(store: &Store, scope: ProjectScope, issue: IssueId) -> Occurrence {
    let mut tx = store.read().await;
    let mut all = Vec::new();
    for state in OccurrenceState::ALL {
        all.extend(
            occurrences::list(&mut tx, scope, issue, Some(*state), None, 9)
                .await
                .unwrap(),
        );
    }
    let [one] = all.try_into().unwrap();
    one
}

/// Sets the state of a page's occurrences to one that only a caller can set; resolved ones stay.
pub async fn set_state(
    tx: &mut Tx,
    scope: ProjectScope,
    page: PageId,
    state: OccurrenceState,
) -> Result<(), Error> {
    let actor = Actor {
        id: format!("key:{}", CredentialId::MAX),
        name: "Ann".to_owned(),
        note: None,
        at: now(),
    };
    let all = sql("SELECT DISTINCT issue_id FROM occurrence_leaves WHERE project_id = $1")
        .bind(scope.project())
        .fetch_all(tx, |c| c.take::<IssueId>())
        .await?;
    let pairs: Vec<_> = all.into_iter().map(|issue| (issue, page)).collect();
    let states = occurrences::find_states(tx, scope, &pairs).await?;
    for (of, from) in pairs.into_iter().zip(states) {
        if let Some(from) = from.filter(|from| *from != OccurrenceState::Resolved) {
            occurrences::change_states(
                tx,
                scope,
                &[StateChange {
                    key: of,
                    from,
                    to: state,
                }],
                None,
                &actor,
            )
            .await?;
        }
    }
    Ok(())
}

async fn resolved_occurrence_is_reopened(place: &Place) {
    let store = place.store().await;
    let (scope, page, issue) = (store.project().await, id(), id());
    let (first, second, third) = (id(), id(), id());
    let turned = audit_of_one_page(&store, scope, first, page, issue).await;
    assert_eq!(
        turned,
        [IssueTransition {
            issue,
            active: true,
            new: true
        }]
    );
    let open = only(&store, scope, issue).await;
    assert_eq!(
        (
            open.state,
            open.reopen_count,
            open.stale,
            open.resolution.as_deref()
        ),
        (OccurrenceState::Open, 0, false, None)
    );
    assert_eq!(
        (open.url.as_str(), &open.evidence["title"]),
        ("https://example.com/", &"Fern \u{1f33f}".into())
    );
    let row = issues::get(&mut store.read().await, scope, issue).await.unwrap();
    assert_eq!(
        (row.active, row.counts["open"], row.impact, row.first_seen_at),
        (1, 1, 1.0, later(9))
    );

    let clean = vec![seen(page, "https://example.com/", Some(200))];
    let turned = audit_pages(&store, scope, second, clean, vec![]).await;
    assert_eq!(
        turned,
        [IssueTransition {
            issue,
            active: false,
            new: false
        }]
    );
    let resolved = only(&store, scope, issue).await;
    assert_eq!(
        (
            resolved.state,
            resolved.resolution.as_deref(),
            resolved.resolved_at
        ),
        (OccurrenceState::Resolved, Some("fixed"), Some(later(9)))
    );
    assert_eq!(
        (resolved.first_seen_audit_id, resolved.last_seen_audit_id),
        (first, first)
    );
    let row = issues::get(&mut store.read().await, scope, issue).await.unwrap();
    assert_eq!(
        (row.active, row.impact, row.counts.get("resolved")),
        (0, 0.0, Some(&1))
    );

    let turned = audit_of_one_page(&store, scope, third, page, issue).await;
    assert_eq!(
        turned,
        [IssueTransition {
            issue,
            active: true,
            new: false
        }]
    );
    let reopened = only(&store, scope, issue).await;
    assert_eq!(
        (
            reopened.state,
            reopened.reopen_count,
            reopened.resolved_at,
            reopened.resolution
        ),
        (OccurrenceState::Reopened, 1, None, None)
    );
    assert_eq!(
        (reopened.first_seen_audit_id, reopened.last_seen_audit_id),
        (first, third)
    );
    let turned = audit_of_one_page(&store, scope, id(), page, issue).await;
    assert_eq!(turned, [], "an issue that goes on is no news");
    assert_eq!(only(&store, scope, issue).await.reopen_count, 1);
}

async fn unvisited_occurrence_becomes_stale(place: &Place) {
    let store = place.store().await;
    let (scope, page, issue) = (store.project().await, id(), id());
    audit_of_one_page(&store, scope, id(), page, issue).await;
    let failed = vec![seen(page, "https://example.com/", None)];
    for pages in [failed, vec![]] {
        assert_eq!(audit_pages(&store, scope, id(), pages, vec![]).await, []);
        let stale = only(&store, scope, issue).await;
        assert_eq!(
            (stale.state, stale.stale),
            (OccurrenceState::Open, true),
            "never resolved by silence"
        );
    }
    audit_of_one_page(&store, scope, id(), page, issue).await;
    assert!(!only(&store, scope, issue).await.stale);
}

async fn occurrences_of_a_gone_page_are_resolved(place: &Place) {
    let store = place.store().await;
    for (status, resolution) in [(404, "page_gone"), (301, "page_gone"), (200, "fixed")] {
        let (scope, page, issue) = (store.project().await, id(), id());
        audit_of_one_page(&store, scope, id(), page, issue).await;
        let pages = vec![seen(page, "https://example.com/", Some(status))];
        let turned = audit_pages(&store, scope, id(), pages, vec![]).await;
        assert_eq!(
            turned,
            [IssueTransition {
                issue,
                active: false,
                new: false
            }],
            "{status}"
        );
        let gone = only(&store, scope, issue).await;
        assert_eq!(
            (gone.state, gone.resolution.as_deref()),
            (OccurrenceState::Resolved, Some(resolution)),
            "{status}"
        );
    }
}

async fn ignored_occurrence_stays_ignored(place: &Place) {
    let store = place.store().await;
    let (scope, page, issue) = (store.project().await, id(), id());
    audit_of_one_page(&store, scope, id(), page, issue).await;
    assert_eq!(
        occurrences::list_ignored(&mut store.read().await, scope)
            .await
            .unwrap(),
        []
    );
    commit!(store.db, |tx| set_state(
        tx,
        scope,
        page,
        OccurrenceState::Ignored
    )
    .await)
    .unwrap();
    let turned = audit_of_one_page(&store, scope, id(), page, issue).await;
    assert_eq!(
        turned,
        [IssueTransition {
            issue,
            active: false,
            new: false
        }]
    );
    audit_pages(
        &store,
        scope,
        id(),
        vec![seen(page, "https://example.com/", Some(200))],
        vec![],
    )
    .await;
    audit_pages(&store, scope, id(), vec![], vec![]).await;
    let ignored = only(&store, scope, issue).await;
    assert_eq!(
        (ignored.state, ignored.reopen_count, ignored.resolution),
        (OccurrenceState::Ignored, 0, None)
    );
    assert_eq!(
        occurrences::list_ignored(&mut store.read().await, scope)
            .await
            .unwrap(),
        [(issue, page)]
    );
    assert_eq!(
        occurrences::list_of_page(&mut store.read().await, scope, page)
            .await
            .unwrap(),
        []
    );
}

async fn newer_change_is_kept(place: &Place) {
    let store = place.store().await;
    let (scope, page, issue) = (store.project().await, id(), id());
    let found = move || vec![finding(issue, page)];
    audit_of_one_page(&store, scope, id(), page, issue).await;
    let clean = vec![seen(page, "https://example.com/", Some(200))];
    audit_pages(&store, scope, id(), clean, vec![]).await;
    let audit = id();
    // resolved at nine; what an audit saw that began before is older
    for (began, expected) in [(8, OccurrenceState::Resolved), (9, OccurrenceState::Reopened)] {
        let newest = EvidenceCutoff::from_start(later(began));
        commit!(store.db, |tx| issues::record_findings(
            tx,
            scope,
            audit,
            found(),
            newest,
            later(20)
        )
        .await)
        .unwrap();
        let now = only(&store, scope, issue).await;
        assert_eq!(
            (now.state, now.resolved_at.is_some()),
            (expected, expected == OccurrenceState::Resolved)
        );
    }
    // an older audit does not become the last one that saw it
    commit!(store.db, |tx| {
        let newest = EvidenceCutoff::from_start(later(99));
        issues::record_findings(tx, scope, AuditId::MIN, found(), newest, later(30)).await
    })
    .unwrap();
    let now = only(&store, scope, issue).await;
    assert_eq!((now.last_seen_audit_id, now.last_checked_at), (audit, later(30)));
    // an audit that has not seen it, because it was seen since: the next one that looks knows it all the same
    let next = id();
    let unseen = issues::list_unseen(&mut store.read().await, scope, next, issue, None, 9)
        .await
        .unwrap();
    assert_eq!(
        (unseen.len(), unseen[0].visited, unseen[0].checked_at),
        (1, false, later(30))
    );
    commit!(store.db, |tx| {
        let settled = Settlement {
            newer: vec![page],
            ..Settlement::default()
        };
        issues::settle_unseen(tx, scope, next, issue, settled, later(40)).await
    })
    .unwrap();
    let now = only(&store, scope, issue).await;
    assert_eq!(
        (now.state, now.stale, now.last_seen_audit_id),
        (OccurrenceState::Reopened, false, next)
    );
}

async fn another_project_sees_nothing(place: &Place) {
    let store = place.store().await;
    let (scope, foreign, page, issue) = (store.project().await, store.project().await, id(), id());
    audit_of_one_page(&store, scope, id(), page, issue).await;
    let mut tx = store.read().await;
    assert!(matches!(
        issues::get(&mut tx, foreign, issue).await,
        Err(Error::Missing)
    ));
    assert!(
        issues::list(
            &mut tx,
            foreign,
            IssueQuery {
                limit: 9,
                ..IssueQuery::default()
            }
        )
        .await
        .unwrap()
        .is_empty()
    );
    assert!(
        occurrences::list(&mut tx, foreign, issue, None, None, 9)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        occurrences::list_of_page(&mut tx, foreign, page)
            .await
            .unwrap()
            .is_empty()
    );
    drop(tx);
    audit_pages(&store, foreign, id(), vec![], vec![]).await;
    assert_eq!(
        only(&store, scope, issue).await.state,
        OccurrenceState::Open,
        "another project's audit settles nothing here"
    );
}
