//! The queue of deliveries: leases, the time since which a webhook fails, and the order of webhooks.

use searchwright_contract::{
    Instant,
    events::EventType,
    ids::WebhookId,
    webhooks::{Attempt, DeliveryError, DeliveryStatus, Subscription},
};
use searchwright_store::{
    access::ProjectScope,
    deliveries::{
        self, DeliveryQuery,
        queue::{self, DeliveryOutcome, LeasedWebhook},
    },
    events,
    jobs::LeaseTime,
    webhooks,
};
use serde_json::json;

use crate::harness::{Place, Store, id, later};

on_both!(
    failure_after_success_starts_a_new_series,
    outcome_without_lease_is_not_recorded,
    failing_webhooks_are_leased_last,
);

async fn webhook(store: &Store, scope: ProjectScope) -> WebhookId {
    let new = webhooks::NewWebhook {
        id: id(),
        target_url: "https://example.com/".to_owned(),
        event: Subscription::All,
    };
    let id = new.id;
    commit!(store.db, |tx| webhooks::create(tx, scope, new, later(0)).await).unwrap();
    id
}

async fn insert_events(store: &Store, scope: ProjectScope, times: usize) {
    for _ in 0..times {
        let kind = EventType::AuditCompleted;
        commit!(store.db, |tx| events::insert(
            tx,
            scope,
            id(),
            kind,
            &json!({}),
            later(0)
        )
        .await)
        .unwrap();
    }
}

async fn lease(store: &Store, at: Instant, most: u32) -> Vec<LeasedWebhook> {
    commit!(store.db, |tx| queue::lease(tx, at, LeaseTime(at), most).await).unwrap()
}

/// Due deliveries, each with the outcome of an attempt.
async fn outcomes(
    store: &Store,
    endpoint: &LeasedWebhook,
    ended: &[(Instant, bool)],
) -> Vec<DeliveryOutcome> {
    let due = queue::list_due(&mut store.read().await, endpoint, None, later(1), 100)
        .await
        .unwrap();
    let outcome = |(due, (at, good)): (queue::DueDelivery, &(Instant, bool))| DeliveryOutcome {
        due,
        attempt: Attempt {
            at: *at,
            status_code: Some(if *good { 200 } else { 500 }),
            error: (!good).then_some(DeliveryError::Status),
            duration_ms: 1,
            response: None,
        },
        next_at: (!good).then(|| at.plus_millis(5_000)),
    };
    due.into_iter().zip(ended).map(outcome).collect()
}

async fn record(
    store: &Store,
    endpoint: &LeasedWebhook,
    outcomes: Vec<DeliveryOutcome>,
    at: Instant,
) -> Option<Option<Instant>> {
    let endpoint = endpoint.clone();
    commit!(store.db, |tx| queue::record_outcomes(tx, &endpoint, outcomes, at)
        .await)
    .unwrap()
}

async fn failure_after_success_starts_a_new_series(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let hook = webhook(&store, scope).await;
    insert_events(&store, scope, 4).await;
    let endpoint = lease(&store, later(2), 10).await.remove(0);
    let mut all = outcomes(
        &store,
        &endpoint,
        &[
            (later(3), false),
            (later(4), false),
            (later(5), true),
            (later(6), false),
        ],
    )
    .await;
    assert_eq!(all.len(), 4);
    let rest = all.split_off(2);
    assert_eq!(
        record(&store, &endpoint, all, later(4)).await,
        Some(Some(later(3)))
    );
    assert_eq!(
        record(&store, &endpoint, rest, later(6)).await,
        Some(Some(later(6)))
    );
    let shown = webhooks::get(&mut store.read().await, scope, hook).await.unwrap();
    assert_eq!(
        (shown.failing_since, shown.last_success_at),
        (Some(later(6)), Some(later(5)))
    );
    let query = DeliveryQuery {
        limit: 10,
        ..DeliveryQuery::default()
    };
    let listed = deliveries::list(&mut store.read().await, scope, hook, query)
        .await
        .unwrap();
    assert_eq!(listed.len(), 4);
    assert!(listed.iter().all(|delivery| delivery.last_attempts.len() == 1));
}

async fn outcome_without_lease_is_not_recorded(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let hook = webhook(&store, scope).await;
    insert_events(&store, scope, 1).await;
    let first = lease(&store, later(2), 10).await.remove(0);
    assert!(lease(&store, later(3), 10).await.is_empty(), "it is leased");
    let much_later = later(2).plus_millis(3_600_000);
    let second = lease(&store, much_later, 10).await.remove(0);
    let late = outcomes(&store, &first, &[(later(3), true)]).await;
    assert_eq!(record(&store, &first, late, much_later).await, None);
    let query = DeliveryQuery {
        limit: 10,
        ..DeliveryQuery::default()
    };
    let listed = deliveries::list(&mut store.read().await, scope, hook, query)
        .await
        .unwrap();
    assert_eq!(
        (listed[0].status, listed[0].attempts),
        (DeliveryStatus::Pending, 0)
    );
    let good = outcomes(&store, &second, &[(much_later, true)]).await;
    assert_eq!(record(&store, &second, good, much_later).await, Some(None));
}

async fn failing_webhooks_are_leased_last(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let (failing, good) = (webhook(&store, scope).await, webhook(&store, scope).await);
    insert_events(&store, scope, 2).await;
    for endpoint in lease(&store, later(2), 10).await {
        let is_good = endpoint.id == good;
        let one = outcomes(&store, &endpoint, &[(later(3), is_good)]).await;
        record(&store, &endpoint, one, later(3)).await.unwrap();
        commit!(store.db, |tx| queue::release(tx, &endpoint).await).unwrap();
    }
    let leased: Vec<WebhookId> = [lease(&store, later(4), 1).await, lease(&store, later(4), 1).await]
        .concat()
        .iter()
        .map(|endpoint| endpoint.id)
        .collect();
    assert_eq!(leased, [good, failing]);
}
