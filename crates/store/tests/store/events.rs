//! Events: inserted in the transaction of their change, read in the order of positions.

use searchwright_contract::events::EventType;
use searchwright_store::{Error, events};
use serde_json::json;

use crate::harness::{Place, id, later};

on_both!(
    events_are_read_in_order,
    events_are_rolled_back_with_their_transaction,
);

async fn events_are_read_in_order(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let mut ids = Vec::new();
    for (n, kind) in EventType::ALL.iter().enumerate() {
        let (event, data) = (id(), json!({ "n": n, "text": "\u{1f33f}" }));
        commit!(store.db, |tx| events::insert(
            tx,
            scope,
            event,
            *kind,
            &data,
            later(n as i64)
        )
        .await)
        .unwrap();
        ids.push(event);
    }
    let after = async |scope, from: i64, limit| {
        let placed = events::list_after(&mut store.read().await, scope, from, None, limit)
            .await
            .unwrap();
        placed.into_iter().map(|placed| placed.event).collect::<Vec<_>>()
    };
    let all = after(scope, 0, 100).await;
    assert_eq!(all.iter().map(|e| e.kind).collect::<Vec<_>>(), EventType::ALL);
    assert_eq!(all.iter().map(|e| e.id).collect::<Vec<_>>(), ids);
    assert_eq!(
        (all[1].timestamp, &all[1].data),
        (later(1), &json!({ "n": 1, "text": "\u{1f33f}" }))
    );
    assert_eq!(all[0].project_id, scope.project().into());
    let mut tx = store.read().await;
    assert_eq!(
        events::find_position(&mut tx, scope, ids[1]).await.unwrap(),
        Some(2)
    );
    assert_eq!(after(scope, 2, 2).await, all[2..4]);
    let newest = events::find_position(&mut tx, scope, *ids.last().unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(newest, ids.len() as i64);
    assert!(after(scope, newest, 2).await.is_empty());
    assert!(after(foreign, 0, 100).await.is_empty());
}

async fn events_are_rolled_back_with_their_transaction(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let refused: Result<(), Error> = commit!(store.db, |tx| {
        events::insert(tx, scope, id(), EventType::AuditCompleted, &json!({}), later(0)).await?;
        Err(Error::Missing)
    });
    assert!(refused.is_err());
    assert!(
        events::list_after(&mut store.read().await, scope, 0, None, 9)
            .await
            .unwrap()
            .is_empty()
    );
}
