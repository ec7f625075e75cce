//! The cache of autocomplete answers.

use searchwright_store::suggestions::{self, SuggestionQuery as Typed};

use crate::harness::{Place, now};

on_both!(answer_is_cached_until_it_expires,);

const DAY: i64 = 86_400_000;

async fn answer_is_cached_until_it_expires(place: &Place) {
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
        suggestions::save(tx, scope, old, &texts, eight_days_ago, eight_days_ago).await?;
        suggestions::save(
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
        suggestions::find(&mut tx, scope, &typed(text), since)
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
