//! Audits: one at a time per project, finished once; and the batches of their crawls.

use searchwright_contract::{
    audits::{Audit, AuditConfig, AuditError, AuditProgress, AuditStatus, AuditTotals, AuditTrigger},
    diffs::ChangeCounts,
    ids::AuditId,
};
use searchwright_store::{
    Error,
    access::ProjectScope,
    audits::{self, AuditOutcome, NewAudit},
    crawls, projects,
};

use crate::harness::{Place, Store, id, later, now};

on_both!(
    one_audit_is_active_per_project,
    progress_and_results,
    audit_is_finished_once,
    audits_are_listed_by_status_and_cursor,
    batches_are_whole_and_numbered,
);

fn new() -> NewAudit {
    NewAudit {
        id: id(),
        job_id: id(),
        trigger: AuditTrigger::Manual,
        start_url: "https://example.com/".to_owned(),
        config: AuditConfig {
            max_pages: 10,
            max_depth: 3,
            include: vec!["/a*".to_owned()],
            exclude: vec![],
            include_subdomains: true,
        },
        ruleset_version: "1.2.3",
        normalization_version: 1,
    }
}

/// Creates an audit.
pub async fn start(store: &Store, scope: ProjectScope) -> AuditId {
    let new = new();
    let id = new.id;
    commit!(store.db, |tx| audits::create(tx, scope, new, now()).await).unwrap();
    id
}

/// Finishes an audit.
pub async fn end(store: &Store, scope: ProjectScope, audit: AuditId, status: AuditStatus) -> bool {
    commit!(store.db, |tx| audits::finish(
        tx,
        scope,
        audit,
        status,
        AuditOutcome::default(),
        now()
    )
    .await)
    .unwrap()
}

async fn get(store: &Store, scope: ProjectScope, audit: AuditId) -> Audit {
    audits::get(&mut store.read().await, scope, audit).await.unwrap()
}

async fn one_audit_is_active_per_project(place: &Place) {
    let store = place.store().await;
    let (scope, other) = (store.project().await, store.project().await);
    assert_eq!(
        audits::find_active(&mut store.read().await, scope).await.unwrap(),
        None
    );
    let first = start(&store, scope).await;
    start(&store, other).await;
    for status in [AuditStatus::Queued, AuditStatus::Crawling, AuditStatus::Analyzing] {
        commit!(store.db, |tx| audits::set_status(
            tx,
            scope,
            first,
            status,
            later(1)
        )
        .await)
        .unwrap();
        let again = new();
        let refused = commit!(store.db, |tx| audits::create(tx, scope, again, now()).await);
        assert!(
            matches!(refused, Err(Error::Duplicate(_))),
            "{status:?}: {refused:?}"
        );
        let active = audits::find_active(&mut store.read().await, scope)
            .await
            .unwrap()
            .unwrap();
        assert_eq!((active.id, active.status), (first, status));
    }
    for status in [
        AuditStatus::Completed,
        AuditStatus::Partial,
        AuditStatus::Failed,
        AuditStatus::Cancelled,
    ] {
        let active = audits::find_active(&mut store.read().await, scope)
            .await
            .unwrap()
            .unwrap();
        assert!(end(&store, scope, active.id, status).await);
        assert_eq!(
            audits::find_active(&mut store.read().await, scope).await.unwrap(),
            None
        );
        start(&store, scope).await;
    }
    let at_once: Vec<_> = (0..8)
        .map(|_| {
            let db = store.db.clone();
            tokio::spawn(async move { commit!(db, |tx| audits::create(tx, scope, new(), now()).await) })
        })
        .collect();
    for one in at_once {
        assert!(matches!(one.await.unwrap(), Err(Error::Duplicate(_))));
    }
}

async fn progress_and_results(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let started = new();
    let audit = started.id;
    let created = commit!(store.db, |tx| audits::create(tx, scope, started, now()).await).unwrap();
    assert_eq!(get(&store, scope, audit).await, created);
    assert_eq!(
        (
            created.status,
            created.version,
            created.health_score,
            created.previous_audit_id.as_ref()
        ),
        (AuditStatus::Queued, 1, None, None)
    );
    assert_eq!(
        (
            created.config.max_pages,
            created.config.include.len(),
            created.ruleset_version.as_str()
        ),
        (10, 1, "1.2.3")
    );
    commit!(store.db, |tx| audits::set_status(
        tx,
        scope,
        audit,
        AuditStatus::Crawling,
        later(5)
    )
    .await)
    .unwrap();
    let progress = AuditProgress {
        discovered: 5,
        fetched: 4,
        queued: 1,
        failed: 2,
        blocked: 3,
    };
    commit!(store.db, |tx| audits::set_progress(tx, scope, audit, progress)
        .await)
    .unwrap();
    commit!(store.db, |tx| audits::set_status(
        tx,
        scope,
        audit,
        AuditStatus::Analyzing,
        later(9)
    )
    .await)
    .unwrap();
    let running = get(&store, scope, audit).await;
    assert_eq!(
        (running.progress, running.started_at, running.version),
        (progress, Some(later(5)), 4)
    );
    assert_eq!(
        audits::find_newest_finished(&mut store.read().await, scope)
            .await
            .unwrap(),
        None
    );
    let totals = AuditTotals {
        errors: 1,
        warnings: 2,
        notices: 3,
        issues: 4,
    };
    let outcome = AuditOutcome {
        termination: Some("max_pages".to_owned()),
        health_score: Some(87),
        error_free_pages_pct: Some(94.5),
        pages_scored: Some(3),
        category_scores: Some([("links".to_owned(), 71)].into()),
        score_is_partial: true,
        totals,
        changes: Some(ChangeCounts {
            new: 5,
            ..Default::default()
        }),
        error: None,
    };
    assert!(
        commit!(store.db, |tx| audits::finish(
            tx,
            scope,
            audit,
            AuditStatus::Partial,
            outcome,
            later(20)
        )
        .await)
        .unwrap()
    );
    let done = get(&store, scope, audit).await;
    assert_eq!(
        (done.status, done.termination.as_deref(), done.finished_at),
        (AuditStatus::Partial, Some("max_pages"), Some(later(20)))
    );
    assert_eq!(
        (
            done.health_score,
            done.error_free_pages_pct,
            done.pages_scored,
            done.score_is_partial
        ),
        (Some(87), Some(94.5), Some(3), true)
    );
    assert_eq!(
        (done.category_scores, done.changes.map(|changes| changes.new)),
        (Some([("links".to_owned(), 71)].into()), Some(5))
    );
    assert_eq!(
        (done.totals, done.progress.queued, done.version, done.error),
        (Some(totals), 0, 5, None)
    );
    assert_eq!(
        audits::find_newest_finished(&mut store.read().await, scope)
            .await
            .unwrap(),
        Some(audit)
    );
    assert!(
        projects::get(&mut store.read().await, scope)
            .await
            .unwrap()
            .setup
            .audited
    );
    let next = start(&store, scope).await;
    assert_eq!(get(&store, scope, next).await.previous_audit_id, Some(audit));
}

async fn audit_is_finished_once(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let audit = start(&store, scope).await;
    assert!(!end(&store, foreign, audit, AuditStatus::Cancelled).await);
    let error = Some(AuditError {
        code: "host_unavailable".to_owned(),
        message: "gone".to_owned(),
    });
    let outcome = AuditOutcome {
        error: error.clone(),
        ..AuditOutcome::default()
    };
    assert!(
        commit!(store.db, |tx| audits::finish(
            tx,
            scope,
            audit,
            AuditStatus::Failed,
            outcome,
            now()
        )
        .await)
        .unwrap()
    );
    assert!(!end(&store, scope, audit, AuditStatus::Completed).await);
    commit!(store.db, |tx| audits::set_status(
        tx,
        scope,
        audit,
        AuditStatus::Crawling,
        now()
    )
    .await)
    .unwrap();
    let failed = get(&store, scope, audit).await;
    assert_eq!(
        (failed.status, failed.error, failed.health_score),
        (AuditStatus::Failed, error, None)
    );
    assert_eq!(
        audits::find_newest_finished(&mut store.read().await, scope)
            .await
            .unwrap(),
        None,
        "a failed audit has no results"
    );
    let missing = audits::get(&mut store.read().await, foreign, audit).await;
    assert!(matches!(missing, Err(Error::Missing)));
}

async fn audits_are_listed_by_status_and_cursor(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    start(&store, store.project().await).await;
    let mut ids = Vec::new();
    for status in [
        AuditStatus::Completed,
        AuditStatus::Failed,
        AuditStatus::Completed,
    ] {
        let audit = start(&store, scope).await;
        end(&store, scope, audit, status).await;
        ids.push(audit);
    }
    ids.reverse();
    let list = async |status, before, limit| {
        let rows = audits::list(&mut store.read().await, scope, status, before, limit)
            .await
            .unwrap();
        rows.into_iter().map(|a| a.id).collect::<Vec<AuditId>>()
    };
    assert_eq!(list(None, None, 2).await, ids[..2]);
    assert_eq!(list(None, Some(ids[1]), 2).await, ids[2..]);
    assert_eq!(
        list(Some(AuditStatus::Completed), None, 9).await,
        [ids[0], ids[2]]
    );
    assert_eq!(
        list(Some(AuditStatus::Completed), Some(ids[0]), 9).await,
        [ids[2]]
    );
    assert_eq!(list(Some(AuditStatus::Queued), None, 9).await, [] as [AuditId; 0]);
}

async fn batches_are_whole_and_numbered(place: &Place) {
    let store = place.store().await;
    let (scope, foreign, old, new) = (store.project().await, store.project().await, id(), id());
    let batch = |n: u32| vec![n as u8; 100_000 * n as usize];
    let texts = |n: u32| vec![0xff; n as usize];
    for (audit, number) in [(old, 0), (old, 1), (new, 0), (new, 1), (new, 2)] {
        commit!(store.db, |tx| crawls::insert_batch(
            tx,
            scope,
            audit,
            number,
            crawls::PackedBatch {
                data: batch(number),
                texts: Some(texts(number)),
                sketches: None,
                validators: (number != 1).then(|| texts(number)),
            }
        )
        .await)
        .unwrap();
    }
    let empty = crawls::PackedBatch {
        data: Vec::new(),
        texts: Some(Vec::new()),
        sketches: None,
        validators: None,
    };
    let twice = commit!(store.db, |tx| crawls::insert_batch(tx, scope, new, 2, empty)
        .await);
    assert!(matches!(twice, Err(Error::Duplicate(_))), "{twice:?}");
    let load = async |scope, audit, number| {
        crawls::find_batch(&mut store.read().await, scope, audit, number)
            .await
            .unwrap()
    };
    for number in 0..3 {
        assert_eq!(load(scope, new, number).await, Some(batch(number)));
        let kept = crawls::find_texts(&mut store.read().await, scope, new, number).await;
        assert_eq!(kept.unwrap(), Some(texts(number)));
    }
    let validators = async |audit, from, most| {
        crawls::list_validators(&mut store.read().await, scope, audit, from, most)
            .await
            .unwrap()
    };
    assert_eq!(validators(new, 0, 9).await, [(0, texts(0)), (2, texts(2))]);
    assert_eq!(validators(new, 0, 1).await, [(0, texts(0))]);
    assert_eq!(validators(new, 1, 1).await, [(2, texts(2))]);
    let with_texts = crawls::count_batches_with_texts(&mut store.read().await, scope, new).await;
    assert_eq!(with_texts.unwrap(), 3);
    let none = crawls::find_texts(&mut store.read().await, scope, new, 3).await;
    assert_eq!(none.unwrap(), None);
    assert_eq!(load(scope, new, 3).await, None);
    assert_eq!(load(foreign, new, 0).await, None);
    commit!(store.db, |tx| crawls::delete_others(tx, foreign, new).await).unwrap();
    assert!(load(scope, old, 1).await.is_some(), "only of its own project");
    commit!(store.db, |tx| crawls::delete_others(tx, scope, new).await).unwrap();
    assert_eq!(load(scope, old, 0).await, None);
    assert!(load(scope, new, 2).await.is_some());
    assert_eq!(validators(old, 0, 9).await, []);
    assert_eq!(validators(new, 0, 9).await.len(), 2);
}
