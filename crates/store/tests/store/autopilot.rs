//! Settings of the autopilot.

use searchwright_contract::autopilot::Weekday;
use searchwright_store::{
    Error,
    autopilot::{self, AutopilotSettings},
};

use crate::harness::{Place, later, now};

on_both!(settings_are_kept_by_version,);

async fn settings_are_kept_by_version(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let find = async |scope| autopilot::find(&mut store.read().await, scope).await.unwrap();
    let set = async |settings: AutopilotSettings, version: i64, at| {
        commit!(store.db, |tx| autopilot::set(tx, scope, &settings, version, at)
            .await)
    };
    assert_eq!(find(scope).await, None);
    let changed = AutopilotSettings {
        enabled: true,
        publish_interval_days: 90,
        publish_weekdays: Some(vec![Weekday::Sunday, Weekday::Saturday]),
    };
    let first = set(changed.clone(), 0, now()).await.unwrap();
    assert_eq!(
        (&first.settings, first.version, first.updated_at),
        (&changed, 1, now())
    );
    assert_eq!(find(scope).await.as_ref(), Some(&first));
    for stale in [0, 2] {
        let refused = set(AutopilotSettings::default(), stale, later(5)).await;
        assert!(matches!(refused, Err(Error::Missing)), "{refused:?}");
    }
    let second = set(AutopilotSettings::default(), 1, later(5)).await.unwrap();
    assert_eq!(
        (&second.settings, second.version, second.updated_at),
        (&AutopilotSettings::default(), 2, later(5))
    );
    assert_eq!(find(scope).await, Some(second));
    assert_eq!(find(foreign).await, None);
}
