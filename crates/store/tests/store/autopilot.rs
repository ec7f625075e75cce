//! Settings of the autopilot, and its schedule.

use searchwright_contract::{
    autopilot::{AutopilotMode, PauseReason, Weekday},
    schedules::ScheduleKind,
};
use searchwright_store::{
    Error,
    autopilot::{self, AutopilotPause, AutopilotSettings},
    schedules::{self, ScheduleRecord},
};

use crate::harness::{Place, later, now};

on_both!(settings_are_kept, a_schedule_is_kept_by_version,);

async fn settings_are_kept(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let get = async |scope| autopilot::get(&mut store.read().await, scope).await.unwrap();
    assert_eq!(get(scope).await, AutopilotSettings::default());
    let settings = AutopilotSettings {
        mode: AutopilotMode::Auto,
        hold_hours: 72,
        lead_days: 14,
        min_score: 0,
        monthly_cap: 31,
        reviewer_other_than_author: false,
        draft_only: true,
        refresh_share: 25,
        allowed_cap: Some(20),
        paused_until: Some(later(5)),
        pause: Some(AutopilotPause {
            reason: PauseReason::Failures,
            detail: "three failed".to_owned(),
            since: now(),
        }),
        resumed_at: Some(now()),
    };
    for _ in 0..2 {
        let written = settings.clone();
        commit!(store.db, |tx| autopilot::set(tx, scope, &written).await).unwrap();
        assert_eq!(get(scope).await, settings);
    }
    assert_eq!(get(foreign).await, AutopilotSettings::default());
}

async fn a_schedule_is_kept_by_version(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let change = async |record: ScheduleRecord, at| {
        commit!(store.db, |tx| schedules::change(tx, scope, &record, at).await)
    };
    let mut record = ScheduleRecord::new(ScheduleKind::Posts);
    record.enabled = true;
    record.times.interval_days = 90;
    record.times.weekdays = Some(vec![Weekday::Sunday, Weekday::Saturday]);
    let first = change(record.clone(), now()).await.unwrap();
    assert_eq!((first.version, first.updated_at), (1, Some(now())));
    assert_eq!(first.times, record.times);
    assert!(matches!(change(record, later(1)).await, Err(Error::Missing)));
    let second = change(first, later(2)).await.unwrap();
    assert_eq!((second.version, second.updated_at), (2, Some(later(2))));
    let read = schedules::get(&mut store.read().await, scope, ScheduleKind::Posts)
        .await
        .unwrap();
    assert_eq!(read, second);
}
