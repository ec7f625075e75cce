//! Counts against quotas, and costs against budgets.

use searchwright_contract::{Instant, ids::JobId, usage::Metric};
use searchwright_store::{
    Error,
    access::ProjectScope,
    usage::{
        self, BudgetExceeded, Charge, ChargeStatus, Month, NewReservation, ProviderSpend, QuotaExceeded,
        Reservation,
    },
};
use uuid::Uuid;

use crate::harness::{Place, Store, id, later, now};

on_both!(
    a_quota_is_never_exceeded,
    unused_amount_is_refunded,
    months_are_counted_apart,
    no_quota_is_no_limit,
    transactions_at_once_do_not_exceed_a_quota,
    cost_is_reserved_before_the_call,
    a_step_is_charged_once,
    unknown_price_stays_uncertain,
    a_budget_is_never_exceeded,
    transactions_at_once_do_not_exceed_a_budget,
    a_day_has_a_budget_at_all_providers,
    usage_is_counted_per_project,
    limits_belong_to_a_project_that_exists,
);

#[test]
fn a_month_is_one_of_the_calendar_in_utc() {
    for (at, start, end) in [
        (
            "2026-11-21T10:00:00.123Z",
            "2026-11-01T00:00:00.000Z",
            "2026-12-01T00:00:00.000Z",
        ),
        (
            "2026-12-31T23:59:59.999Z",
            "2026-12-01T00:00:00.000Z",
            "2027-01-01T00:00:00.000Z",
        ),
        (
            "2028-02-01T00:00:00.000Z",
            "2028-02-01T00:00:00.000Z",
            "2028-03-01T00:00:00.000Z",
        ),
    ] {
        let month = Month::from_instant(at.parse().unwrap());
        assert_eq!(
            (month.start.to_string().as_str(), month.end.to_string().as_str()),
            (start, end)
        );
    }
}

const METRIC: Metric = Metric::PostsGenerated;

async fn limit(store: &Store, scope: ProjectScope, limit: Option<i64>) {
    commit!(store.db, |tx| usage::set_quota(
        tx,
        scope.project(),
        METRIC,
        limit
    )
    .await)
    .unwrap();
}

async fn consume(store: &Store, scope: ProjectScope, n: i64, at: Instant) -> Result<(), QuotaExceeded> {
    commit!(store.db, |tx| usage::consume(tx, scope, METRIC, n, at).await).unwrap()
}

/// Returns the quota and its usage.
async fn count(store: &Store, scope: ProjectScope, at: Instant) -> (Option<i64>, i64) {
    let counts = usage::list_usage(&mut store.read().await, scope, at)
        .await
        .unwrap();
    assert_eq!(counts.iter().map(|c| c.metric).collect::<Vec<_>>(), Metric::ALL);
    let count = counts.iter().find(|c| c.metric == METRIC).unwrap();
    assert!(
        counts
            .iter()
            .all(|c| c.metric == METRIC || (c.limit, c.used) == (None, 0))
    );
    (count.limit, count.used)
}

async fn a_quota_is_never_exceeded(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    limit(&store, scope, Some(10)).await;
    assert_eq!(consume(&store, scope, 7, now()).await, Ok(()));
    let refused = QuotaExceeded {
        metric: METRIC,
        limit: 10,
        used: 7,
        resets_at: Month::from_instant(now()).end,
    };
    assert_eq!(consume(&store, scope, 4, now()).await, Err(refused));
    assert_eq!(
        count(&store, scope, now()).await,
        (Some(10), 7),
        "a refusal takes nothing"
    );
    assert_eq!(consume(&store, scope, 3, now()).await, Ok(()));
    assert_eq!(
        consume(&store, scope, 0, now()).await,
        Ok(()),
        "nothing is always allowed"
    );
    limit(&store, scope, Some(2)).await;
    let refused = consume(&store, scope, 1, now()).await.unwrap_err();
    assert_eq!(
        (refused.limit, refused.used),
        (2, 10),
        "a lower quota forgets nothing"
    );
    limit(&store, scope, Some(0)).await;
    assert_eq!(count(&store, scope, now()).await, (Some(0), 10));
    limit(&store, scope, None).await;
    assert_eq!(consume(&store, scope, 1_000_000, now()).await, Ok(()));
    assert_eq!(count(&store, scope, now()).await, (None, 1_000_010));
    let negative = commit!(store.db, |tx| usage::consume(tx, scope, METRIC, -1, now()).await);
    assert!(matches!(negative, Err(Error::Defect(_))), "{negative:?}");
}

async fn unused_amount_is_refunded(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let next = Month::from_instant(now()).end;
    consume(&store, scope, 5, now()).await.unwrap();
    consume(&store, scope, 5, next).await.unwrap();
    let give = async |n: i64| {
        commit!(store.db, |tx| usage::refund(tx, scope, METRIC, n, now()).await).unwrap();
    };
    give(2).await;
    assert_eq!(
        count(&store, scope, now()).await,
        (None, 3),
        "in the month it was taken in"
    );
    assert_eq!(count(&store, scope, next).await, (None, 5));
    give(9).await;
    assert_eq!(
        count(&store, scope, now()).await,
        (None, 0),
        "never below nothing"
    );
}

async fn months_are_counted_apart(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    limit(&store, scope, Some(3)).await;
    let end = Month::from_instant(now()).end;
    consume(&store, scope, 3, end.plus_millis(-1)).await.unwrap();
    assert_eq!(
        consume(&store, scope, 1, end.plus_millis(-1))
            .await
            .unwrap_err()
            .resets_at,
        end
    );
    consume(&store, scope, 3, end).await.unwrap();
    consume(&store, scope, 1, end).await.unwrap_err();
}

async fn no_quota_is_no_limit(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    assert_eq!(count(&store, scope, now()).await, (None, 0));
    consume(&store, scope, 12, now()).await.unwrap();
    assert_eq!(count(&store, scope, now()).await, (None, 12));
    let rolled_back: Result<(), Error> = commit!(store.db, |tx| {
        usage::consume(tx, scope, METRIC, 5, now()).await?.unwrap();
        Err(Error::Missing)
    });
    rolled_back.unwrap_err();
    assert_eq!(
        count(&store, scope, now()).await,
        (None, 12),
        "part of the caller's transaction"
    );
}

async fn transactions_at_once_do_not_exceed_a_quota(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    limit(&store, scope, Some(20)).await;
    let at_once: Vec<_> = (0..16)
        .map(|_| {
            let db = store.db.clone();
            tokio::spawn(async move {
                commit!(db, |tx| usage::consume(tx, scope, METRIC, 3, now()).await).unwrap()
            })
        })
        .collect();
    let mut taken = 0;
    for one in at_once {
        taken += i64::from(one.await.unwrap().is_ok());
    }
    assert_eq!((taken, count(&store, scope, now()).await), (6, (Some(20), 18)));
}

fn step(job: JobId, step: &str, estimate: i64) -> NewReservation {
    NewReservation {
        id: id(),
        job,
        step: step.to_owned(),
        provider: "openai".to_owned(),
        what: "a post".to_owned(),
        estimate,
    }
}

async fn intend(
    store: &Store,
    scope: ProjectScope,
    new: NewReservation,
) -> Result<Reservation, BudgetExceeded> {
    commit!(store.db, |tx| usage::reserve(tx, scope, new, now()).await).unwrap()
}

async fn settle(store: &Store, scope: ProjectScope, intent: Uuid, actual: Option<i64>, at: Instant) -> bool {
    commit!(store.db, |tx| usage::settle(tx, scope, intent, actual, at).await).unwrap()
}

async fn spent(store: &Store, scope: ProjectScope) -> Vec<ProviderSpend> {
    usage::list_spend(&mut store.read().await, scope, now())
        .await
        .unwrap()
}

fn openai(budget: Option<i64>, settled: i64, uncertain: i64, uncertain_calls: i64) -> Vec<ProviderSpend> {
    vec![ProviderSpend {
        provider: "openai".to_owned(),
        budget,
        settled,
        uncertain,
        uncertain_calls,
    }]
}

async fn cost_is_reserved_before_the_call(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    assert_eq!(spent(&store, scope).await, []);
    let new = step(id(), "draft", 900);
    let wanted = Reservation {
        id: new.id,
        status: ChargeStatus::New,
    };
    assert_eq!(intend(&store, scope, new).await, Ok(wanted));
    assert_eq!(spent(&store, scope).await, openai(None, 0, 900, 1));
    assert!(settle(&store, scope, wanted.id, Some(750), now()).await);
    assert_eq!(spent(&store, scope).await, openai(None, 750, 0, 0));
    assert!(
        !settle(&store, scope, wanted.id, Some(1), now()).await,
        "the first price stays"
    );
    assert!(
        !settle(&store, scope, id(), Some(1), now()).await,
        "nothing was intended"
    );
    let direct = Charge {
        id: id(),
        provider: "openai".to_owned(),
        what: "a probe".to_owned(),
        actual: Some(50),
    };
    commit!(store.db, |tx| usage::record_charge(tx, scope, direct, now())
        .await)
    .unwrap();
    assert_eq!(spent(&store, scope).await, openai(None, 800, 0, 0));
    let next = Month::from_instant(now()).end;
    assert_eq!(
        usage::list_spend(&mut store.read().await, scope, next)
            .await
            .unwrap(),
        []
    );
}

async fn a_step_is_charged_once(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = id();
    let first = intend(&store, scope, step(job, "draft", 900)).await.unwrap();
    let again = intend(&store, scope, step(job, "draft", 900)).await.unwrap();
    assert_eq!(
        again,
        Reservation {
            id: first.id,
            status: ChargeStatus::Uncertain
        },
        "an attempt that died"
    );
    assert_eq!(spent(&store, scope).await, openai(None, 0, 900, 1));
    intend(&store, scope, step(job, "title", 100)).await.unwrap();
    intend(&store, scope, step(id(), "draft", 10)).await.unwrap();
    assert_eq!(spent(&store, scope).await, openai(None, 0, 1010, 3));
    let next = Month::from_instant(now()).end;
    assert!(settle(&store, scope, first.id, Some(800), next).await);
    assert_eq!(
        spent(&store, scope).await,
        openai(None, 800, 110, 2),
        "in the month it began in"
    );
    let after = intend(&store, scope, step(job, "draft", 900)).await.unwrap();
    assert_eq!(after.status, ChargeStatus::Ended(Some(800)));
    assert_eq!(spent(&store, scope).await, openai(None, 800, 110, 2));
}

async fn unknown_price_stays_uncertain(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = id();
    let intent = intend(&store, scope, step(job, "draft", 900)).await.unwrap();
    assert!(settle(&store, scope, intent.id, None, now()).await);
    assert_eq!(spent(&store, scope).await, openai(None, 0, 900, 1));
    let again = intend(&store, scope, step(job, "draft", 900)).await.unwrap();
    assert_eq!(
        again.status,
        ChargeStatus::Ended(None),
        "made, so not to be made again"
    );
    assert!(
        settle(&store, scope, intent.id, Some(0), later(5)).await,
        "the invoice says more"
    );
    assert_eq!(spent(&store, scope).await, openai(None, 0, 0, 0));
    let direct = Charge {
        id: id(),
        provider: "openai".to_owned(),
        what: "a probe".to_owned(),
        actual: None,
    };
    commit!(store.db, |tx| usage::record_charge(tx, scope, direct, now())
        .await)
    .unwrap();
    assert_eq!(
        spent(&store, scope).await,
        openai(None, 0, 0, 1),
        "unknown is not 0"
    );
}

async fn budget(store: &Store, scope: ProjectScope, limit: Option<i64>) {
    commit!(store.db, |tx| usage::set_budget(
        tx,
        scope.project(),
        "openai",
        limit
    )
    .await)
    .unwrap();
}

async fn left(store: &Store, scope: ProjectScope) -> Option<i64> {
    usage::budget_left(&mut store.read().await, scope, "openai", now())
        .await
        .unwrap()
}

async fn a_budget_is_never_exceeded(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    assert_eq!(left(&store, scope).await, None);
    budget(&store, scope, Some(1000)).await;
    assert_eq!(left(&store, scope).await, Some(1000));
    assert_eq!(spent(&store, scope).await, openai(Some(1000), 0, 0, 0));
    let job = id();
    let first = intend(&store, scope, step(job, "a", 600)).await.unwrap();
    let refused = BudgetExceeded {
        provider: Some("openai".to_owned()),
        limit: 1000,
        used: 600,
        resets_at: Month::from_instant(now()).end,
    };
    assert_eq!(intend(&store, scope, step(job, "b", 401)).await, Err(refused));
    assert_eq!(
        spent(&store, scope).await,
        openai(Some(1000), 0, 600, 1),
        "a refusal leaves nothing"
    );
    intend(&store, scope, step(job, "b", 400)).await.unwrap();
    assert_eq!(left(&store, scope).await, Some(0));
    settle(&store, scope, first.id, Some(1600), now()).await;
    assert_eq!(
        left(&store, scope).await,
        Some(-1000),
        "what has happened is told"
    );
    intend(&store, scope, step(job, "c", 0)).await.unwrap_err();
    budget(&store, scope, None).await;
    assert_eq!(left(&store, scope).await, None);
    intend(&store, scope, step(job, "c", 0)).await.unwrap();
}

async fn transactions_at_once_do_not_exceed_a_budget(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    budget(&store, scope, Some(20)).await;
    let job = id();
    let at_once: Vec<_> = (0..16)
        .map(|n| {
            let db = store.db.clone();
            let new = step(job, &n.to_string(), 3);
            tokio::spawn(
                async move { commit!(db, |tx| usage::reserve(tx, scope, new, now()).await).unwrap() },
            )
        })
        .collect();
    let mut allowed = 0;
    for one in at_once {
        allowed += i64::from(one.await.unwrap().is_ok());
    }
    assert_eq!(allowed, 6);
    assert_eq!(spent(&store, scope).await, openai(Some(20), 0, 18, 6));
}

async fn a_day_has_a_budget_at_all_providers(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let set = |limit| {
        let db = store.db.clone();
        async move { commit!(db, |tx| usage::set_daily_budget(tx, scope.project(), limit).await).unwrap() }
    };
    set(Some(20)).await;
    let job = id();
    let at_once: Vec<_> = (0..16)
        .map(|n| {
            let db = store.db.clone();
            let mut new = step(job, &n.to_string(), 3);
            if n % 2 == 0 {
                new.provider = "anthropic".to_owned();
            }
            tokio::spawn(
                async move { commit!(db, |tx| usage::reserve(tx, scope, new, now()).await).unwrap() },
            )
        })
        .collect();
    let mut allowed = 0;
    for one in at_once {
        match one.await.unwrap() {
            Ok(_) => allowed += 1,
            Err(over) => assert_eq!((over.provider, over.limit), (None, 20)),
        }
    }
    assert_eq!(allowed, 6);
    let day = usage::spend_of_day(&mut store.read().await, scope, now())
        .await
        .unwrap();
    assert_eq!((day.limit, day.spent), (Some(20), 18));
    let tomorrow = day.resets_at;
    let next = step(job, "tomorrow", 20);
    commit!(store.db, |tx| usage::reserve(tx, scope, next, tomorrow).await)
        .unwrap()
        .unwrap();
    set(None).await;
    intend(&store, scope, step(job, "unlimited", 100)).await.unwrap();
}

async fn usage_is_counted_per_project(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    limit(&store, scope, Some(1)).await;
    budget(&store, scope, Some(1)).await;
    consume(&store, scope, 1, now()).await.unwrap();
    consume(&store, foreign, 5, now()).await.unwrap();
    assert_eq!(count(&store, foreign, now()).await, (None, 5));
    let job = id();
    let theirs = intend(&store, foreign, step(job, "a", 9)).await.unwrap();
    intend(&store, scope, step(job, "a", 1)).await.unwrap();
    assert!(!settle(&store, scope, theirs.id, Some(1), now()).await);
    assert_eq!(spent(&store, foreign).await, openai(None, 0, 9, 1));
    assert_eq!(spent(&store, scope).await, openai(Some(1), 0, 1, 1));
}

async fn limits_belong_to_a_project_that_exists(place: &Place) {
    let store = place.store().await;
    let nobody = id();
    for limit in [Some(1), None] {
        let quota = commit!(store.db, |tx| usage::set_quota(tx, nobody, METRIC, limit).await);
        assert!(matches!(quota, Err(Error::Dangling)), "{quota:?}");
        let budget = commit!(store.db, |tx| usage::set_budget(tx, nobody, "openai", limit)
            .await);
        assert!(matches!(budget, Err(Error::Dangling)), "{budget:?}");
    }
}
