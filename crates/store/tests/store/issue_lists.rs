//! Lists of issues and of their occurrences: order, filters, cursors.

use searchwright_contract::{
    ids::{IssueId, PageId},
    issues::{OccurrenceState, Severity},
};
use searchwright_store::{
    issues::{self, EvidenceCutoff, IssueOrder, IssueQuery, IssueRow, IssueSummary},
    occurrences, pages,
};

use crate::{
    harness::{Place, id, now},
    issues::{Proofs, audit_pages, finding, seen, set_state, settle_all, summary},
};

on_both!(
    issues_are_listed_by_impact,
    occurrences_are_listed_by_page,
    evidence_belongs_to_its_page,
);

async fn issues_are_listed_by_impact(place: &Place) {
    let store = place.store().await;
    let (scope, page) = (store.project().await, id());
    let wanted = [
        (id(), "links", "error", 2.5, true),
        (id(), "links", "warning", 0.1 + 0.2, true),
        (id(), "titles", "error", 2.5, true),
        (id(), "titles", "notice", 7.0, false),
    ];
    commit!(store.db, |tx| {
        let audit = id();
        pages::upsert(
            tx,
            scope,
            audit,
            vec![seen(page, "https://example.com/", Some(200))],
        )
        .await?;
        let found = wanted
            .iter()
            .filter(|w| w.4)
            .map(|w| finding(w.0, page))
            .collect();
        issues::record_findings(tx, scope, audit, found, EvidenceCutoff::from_start(now()), now()).await?;
        let summaries = wanted.iter().map(|w| IssueSummary {
            category: w.1.into(),
            severity: w.2.into(),
            ..summary(w.0, w.3)
        });
        settle_all(tx, scope, audit, &Proofs::new(), summaries.collect(), now()).await
    })
    .unwrap();
    let list = async |query: IssueQuery| -> Vec<IssueId> {
        let rows: Vec<IssueRow> = issues::list(&mut store.read().await, scope, query).await.unwrap();
        rows.into_iter().map(|r| r.id).collect()
    };
    let [a, b, c, d] = wanted.map(|w| w.0);
    let all = IssueQuery {
        limit: 10,
        ..IssueQuery::default()
    };
    // what occurs nowhere has no impact, whatever it might have
    assert_eq!(list(all.clone()).await, [c, a, b, d]);
    assert_eq!(
        list(IssueQuery {
            active: Some(true),
            ..all.clone()
        })
        .await,
        [c, a, b]
    );
    assert_eq!(
        list(IssueQuery {
            active: Some(false),
            ..all.clone()
        })
        .await,
        [d]
    );
    assert_eq!(
        list(IssueQuery {
            severity: Some(Severity::Error),
            ..all.clone()
        })
        .await,
        [c, a]
    );
    assert_eq!(
        list(IssueQuery {
            category: Some("links".to_owned()),
            ..all.clone()
        })
        .await,
        [a, b]
    );
    for by_time in [false, true] {
        let (mut walked, mut last): (Vec<IssueRow>, Option<IssueRow>) = (Vec::new(), None);
        loop {
            let query = IssueQuery {
                limit: 1,
                ..IssueQuery::default()
            };
            let after = last.as_ref();
            let order = if by_time {
                IssueOrder::FirstSeen(after.map(|row| (row.first_seen_at, row.id)))
            } else {
                IssueOrder::Affected(after.map(|row| (row.active, row.id)))
            };
            last = issues::list_by(&mut store.read().await, scope, query, order)
                .await
                .unwrap()
                .pop();
            let Some(row) = &last else { break };
            walked.push(row.clone());
        }
        let mut expected = walked.clone();
        expected.sort_by_key(|row| {
            std::cmp::Reverse((if by_time { 0 } else { row.active }, row.first_seen_at, row.id))
        });
        if !by_time {
            expected.sort_by_key(|row| std::cmp::Reverse((row.active, row.id)));
        }
        assert_eq!(walked, expected);
        assert_eq!(walked.len(), 4);
    }
    let mut walked = Vec::new();
    let mut after = None;
    while let Some(row) = issues::list(
        &mut store.read().await,
        scope,
        IssueQuery {
            after,
            limit: 1,
            ..IssueQuery::default()
        },
    )
    .await
    .unwrap()
    .pop()
    {
        after = Some((row.impact, row.id));
        walked.push(row.id);
    }
    assert_eq!(
        walked,
        [c, a, b, d],
        "equal impacts and sums of floats are walked once"
    );
}

async fn occurrences_are_listed_by_page(place: &Place) {
    let store = place.store().await;
    let (scope, audit, issue) = (store.project().await, id(), id());
    let all: Vec<PageId> = (0..130).map(|_| id()).collect();
    let (seen_all, found) = (
        all.iter()
            .map(|p| seen(*p, &format!("https://example.com/{p}"), Some(200)))
            .collect(),
        all.iter().map(|p| finding(issue, *p)).collect(),
    );
    audit_pages(&store, scope, audit, seen_all, found).await;
    let (ignored, done) = (all[3], all[4]);
    commit!(store.db, |tx| {
        set_state(tx, scope, ignored, OccurrenceState::Ignored).await?;
        set_state(tx, scope, done, OccurrenceState::Done).await
    })
    .unwrap();
    let list = async |state, after, limit| -> Vec<PageId> {
        let rows = occurrences::list(&mut store.read().await, scope, issue, state, after, limit)
            .await
            .unwrap();
        rows.into_iter().map(|o| o.page_id).collect()
    };
    assert_eq!(
        list(None, None, 4).await,
        [all[0], all[1], all[2], all[4]],
        "ignored ones are not active"
    );
    assert_eq!(list(None, Some(all[127]), 9).await, all[128..]);
    assert_eq!(list(Some(OccurrenceState::Ignored), None, 9).await, [ignored]);
    assert_eq!(list(Some(OccurrenceState::Done), None, 9).await, [done]);
    assert_eq!(
        list(Some(OccurrenceState::Reopened), None, 9).await,
        [] as [PageId; 0]
    );

    let (page, crowded) = (id(), (0..120).map(|_| id()).collect::<Vec<_>>());
    let found = crowded.iter().map(|i| finding(*i, page)).collect();
    audit_pages(
        &store,
        scope,
        id(),
        vec![seen(page, "https://example.com/crowded", Some(200))],
        found,
    )
    .await;
    let of_page = occurrences::list_of_page(&mut store.read().await, scope, page)
        .await
        .unwrap();
    assert_eq!(
        (
            of_page.len(),
            of_page[0].check_id.as_str(),
            &of_page[0].evidence["length"]
        ),
        (100, "title-missing", &4.into())
    );
}

/// A page that is found twice, in one call or in two, is one occurrence with the last evidence.
async fn evidence_belongs_to_its_page(place: &Place) {
    let store = place.store().await;
    let (scope, issue) = (store.project().await, id());
    let pages: Vec<PageId> = (0..75).map(|_| id()).collect();
    for round in 0..2 {
        let of = |at: usize| issues::Finding {
            evidence: serde_json::json!({ "length": round * 1000 + at }).to_string(),
            ..finding(issue, pages[at])
        };
        let before = [0, 3, 74].map(|at| finding(issue, pages[at]));
        let found: Vec<_> = before.into_iter().chain((0..pages.len()).map(of)).collect();
        let seen_all = pages
            .iter()
            .map(|page| seen(*page, &format!("https://example.com/{page}"), Some(200)));
        audit_pages(&store, scope, id(), seen_all.collect(), found).await;
        let rows = occurrences::list(&mut store.read().await, scope, issue, None, None, 100)
            .await
            .unwrap();
        let lengths: Vec<(PageId, u64)> = rows
            .iter()
            .map(|row| (row.page_id, row.evidence["length"].as_u64().unwrap()))
            .collect();
        let expected: Vec<(PageId, u64)> = pages
            .iter()
            .enumerate()
            .map(|(at, page)| (*page, (round * 1000 + at) as u64))
            .collect();
        assert_eq!(lengths, expected);
    }
}
