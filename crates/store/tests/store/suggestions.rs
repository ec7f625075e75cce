//! What a search box completed, kept for a while.

use searchwright_store::suggestions::{self, Place as Typed};

use crate::harness::{Place, now};

on_both!(an_answer_is_used_again_while_it_is_new,);

const DAY: i64 = 86_400_000;

async fn an_answer_is_used_again_while_it_is_new(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let typed = |text: &str| Typed {
        language: "en".to_owned(),
        country: "US".to_owned(),
        text: text.to_owned(),
    };
    let (old, kept) = (typed("chair"), vec!["desk ä".to_owned()]);
    let texts = kept.clone();
    commit!(store.db, |tx| {
        let eight_days_ago = now().plus_millis(-8 * DAY);
        suggestions::keep(tx, scope, old, &texts, eight_days_ago, eight_days_ago).await?;
        suggestions::keep(
            tx,
            scope,
            typed("desk"),
            &texts,
            now().plus_millis(-7 * DAY),
            now(),
        )
        .await
    })
    .unwrap();
    let since = now().plus_millis(-7 * DAY);
    let mut tx = store.read().await;
    let mut get = async |text: &str, since| {
        suggestions::get(&mut tx, scope, &typed(text), since)
            .await
            .unwrap()
    };
    assert_eq!(get("desk", since).await, Some(kept));
    assert_eq!(get("desk", now().plus_millis(1)).await, None);
    assert_eq!(
        get("chair", now().plus_millis(-9 * DAY)).await,
        None,
        "old answers go"
    );
}
