//! Stored responses: one per key and owner, until they expire.

use searchwright_contract::ids::CredentialId;
use searchwright_store::{
    access::ProjectScope,
    idempotency::{self, IdempotencyKey, StoredResponse},
};

use crate::harness::{Place, Store, id, later, now};

on_both!(
    response_is_found_by_its_owner_only,
    first_response_is_kept,
    expired_response_is_replaced,
    one_of_two_concurrent_responses_is_kept,
);

fn slot(owner: CredentialId, route: &'static str, key: &str) -> IdempotencyKey {
    IdempotencyKey {
        owner,
        route,
        key: key.to_owned(),
    }
}

fn answer(body: &str) -> StoredResponse {
    StoredResponse {
        fingerprint: vec![1; 32],
        status: 201,
        head: serde_json::json!(["etag", null]),
        body: body.as_bytes().to_vec(),
    }
}

/// Whether the response was inserted: no other one had the key.
async fn insert(store: &Store, scope: ProjectScope, slot: &IdempotencyKey, body: &str, until: i64) -> bool {
    let (slot, stored) = (slot.clone(), answer(body));
    is_inserted(commit!(store.db, |tx| idempotency::insert(
        tx,
        scope,
        &slot,
        stored,
        later(until),
        id()
    )
    .await))
}

fn is_inserted(done: searchwright_store::Result<()>) -> bool {
    match done {
        Ok(()) => true,
        Err(error) if idempotency::is_taken(&error) => false,
        Err(error) => panic!("{error}"),
    }
}

async fn found(store: &Store, scope: ProjectScope, slot: &IdempotencyKey, at: i64) -> Option<String> {
    let stored = idempotency::find(&mut store.read().await, scope, slot, later(at))
        .await
        .unwrap()?;
    assert_eq!(
        (stored.fingerprint, stored.status, stored.head),
        (vec![1; 32], 201, serde_json::json!(["etag", null]))
    );
    Some(String::from_utf8(stored.body).unwrap())
}

async fn response_is_found_by_its_owner_only(place: &Place) {
    let store = place.store().await;
    let (scope, foreign, owner) = (store.project().await, store.project().await, id());
    let mine = slot(owner, "keywords.create", "k-1");
    assert_eq!(found(&store, scope, &mine, 0).await, None);
    assert!(insert(&store, scope, &mine, "first", 100).await);
    assert_eq!(found(&store, scope, &mine, 99).await.as_deref(), Some("first"));
    assert_eq!(found(&store, scope, &mine, 100).await, None, "expired");
    assert_eq!(found(&store, foreign, &mine, 0).await, None);
    for other in [
        slot(id(), "keywords.create", "k-1"),
        slot(owner, "keywords.update", "k-1"),
        slot(owner, "keywords.create", "K-1"),
    ] {
        assert_eq!(found(&store, scope, &other, 0).await, None, "{other:?}");
    }
}

async fn first_response_is_kept(place: &Place) {
    let store = place.store().await;
    let (scope, mine) = (store.project().await, slot(id(), "keywords.create", "k"));
    assert!(insert(&store, scope, &mine, "first", 100).await);
    assert!(!insert(&store, scope, &mine, "second", 200).await);
    assert_eq!(found(&store, scope, &mine, 60).await.as_deref(), Some("first"));
    assert_eq!(
        found(&store, scope, &mine, 150).await,
        None,
        "a refused second one prolongs nothing"
    );
}

async fn expired_response_is_replaced(place: &Place) {
    let store = place.store().await;
    let (scope, owner) = (store.project().await, id());
    let again = slot(owner, "keywords.create", "again");
    assert!(insert(&store, scope, &again, "old", 100).await);
    let forget = async |at| {
        let again = again.clone();
        commit!(store.db, |tx| idempotency::delete_if_expired(
            tx, scope, &again, at
        )
        .await)
        .unwrap();
    };
    forget(later(99)).await;
    assert_eq!(found(&store, scope, &again, 99).await.as_deref(), Some("old"));
    assert!(!insert(&store, scope, &again, "new", 300).await);
    forget(later(100)).await;
    assert!(insert(&store, scope, &again, "new", 300).await);
    assert_eq!(found(&store, scope, &again, 200).await.as_deref(), Some("new"));
    for n in 0..10 {
        assert!(
            insert(
                &store,
                scope,
                &slot(owner, "keywords.create", &n.to_string()),
                "x",
                100 + n
            )
            .await
        );
    }
    let sweep = async |at| commit!(store.db, |tx| idempotency::delete_expired(tx, at).await).unwrap();
    assert_eq!(sweep(later(99)).await, 0);
    assert_eq!(sweep(later(104)).await, 5);
    assert_eq!(sweep(now().plus_millis(299)).await, 5);
    assert_eq!(found(&store, scope, &again, 299).await.as_deref(), Some("new"));
}

async fn one_of_two_concurrent_responses_is_kept(place: &Place) {
    let store = place.store().await;
    let (scope, owner) = (store.project().await, id());
    for round in 0..10 {
        let mine = slot(owner, "keywords.create", &round.to_string());
        let both: Vec<_> = ["a", "b"]
            .map(|body| {
                let (db, mine) = (store.db.clone(), mine.clone());
                tokio::spawn(async move {
                    is_inserted(commit!(db, |tx| idempotency::insert(
                        tx,
                        scope,
                        &mine,
                        answer(body),
                        later(100),
                        id()
                    )
                    .await))
                })
            })
            .into_iter()
            .collect();
        let mut kept = 0;
        for one in both {
            kept += u32::from(one.await.unwrap());
        }
        assert_eq!(kept, 1, "round {round}");
    }
}
