//! Activity: inserted with the change, listed newest first, deleted after 400 days.

use searchwright_contract::{
    Instant,
    activity::{Activity, CredentialKind, UsedCredential},
    ids::ActivityId,
    people::UserRef,
};
use searchwright_store::{
    Error,
    access::ProjectScope,
    activity::{self, NewActivity, RETENTION_DAYS},
};
use uuid::Uuid;

use crate::harness::{Place, Store, id, now};

on_both!(
    entries_are_listed_newest_first,
    entry_is_rolled_back_with_its_change,
    another_project_sees_nothing,
    entry_is_deleted_after_400_days,
);

const DAY: i64 = 86_400_000;

fn new(action: &'static str, subject: Option<&str>) -> NewActivity {
    NewActivity {
        id: id(),
        action,
        subject: subject.map(str::to_owned),
        kind: CredentialKind::ApiKey,
        credential: Uuid::from_u128(7).into(),
        name: "agent 🪴".to_owned(),
        user: Some(ann()),
    }
}

fn ann() -> UserRef {
    UserRef {
        id: Uuid::from_u128(9).into(),
        name: "Ann".to_owned(),
    }
}

async fn write(store: &Store, scope: ProjectScope, new: NewActivity, at: Instant) -> ActivityId {
    let id = new.id;
    commit!(store.db, |tx| activity::insert(tx, scope, new, at).await).unwrap();
    id
}

async fn list(store: &Store, scope: ProjectScope, before: Option<ActivityId>, limit: u32) -> Vec<Activity> {
    activity::list(&mut store.read().await, scope, before, limit)
        .await
        .unwrap()
}

async fn entries_are_listed_newest_first(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(
            write(
                &store,
                scope,
                new("keywords.create", (n == 2).then_some("x")),
                now(),
            )
            .await,
        );
    }
    ids.reverse();
    let mut walked = Vec::new();
    let mut before = None;
    loop {
        let page = list(&store, scope, before, 2).await;
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        walked.extend(page);
    }
    assert_eq!(walked.iter().map(|a| a.id).collect::<Vec<_>>(), ids);
    let expected = Activity {
        id: ids[2],
        action: "keywords.create".to_owned(),
        subject: Some("x".to_owned()),
        credential: UsedCredential {
            kind: CredentialKind::ApiKey,
            id: Uuid::from_u128(7).into(),
            name: "agent 🪴".to_owned(),
        },
        user: Some(ann()),
        created_at: now(),
    };
    assert_eq!(walked[2], expected);
    assert_eq!(walked[1].subject, None);
}

async fn entry_is_rolled_back_with_its_change(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let undone: Result<(), Error> = commit!(store.db, |tx| {
        activity::insert(tx, scope, new("keywords.create", None), now()).await?;
        Err(Error::Missing)
    });
    undone.unwrap_err();
    assert!(list(&store, scope, None, 10).await.is_empty());
}

async fn another_project_sees_nothing(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    write(&store, scope, new("keywords.create", None), now()).await;
    assert!(list(&store, foreign, None, 10).await.is_empty());
    assert_eq!(list(&store, scope, None, 10).await.len(), 1);
}

async fn entry_is_deleted_after_400_days(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    assert_eq!(RETENTION_DAYS, 400);
    let oldest = now().plus_millis(-400 * DAY);
    // As ids are made: their first 48 bits are the time.
    let made = |at: Instant| NewActivity {
        id: Uuid::from_u128((at.millis() as u128) << 80 | 0x7000_8000_0000_0000_0001).into(),
        ..new("keywords.create", None)
    };
    let older = oldest.plus_millis(-1);
    write(&store, scope, made(older), older).await;
    let kept = write(&store, scope, made(oldest), oldest).await;
    assert_eq!(
        commit!(store.db, |tx| activity::delete_expired(tx, now()).await).unwrap(),
        1
    );
    let left = list(&store, scope, None, 10).await;
    assert_eq!(left.iter().map(|a| a.id).collect::<Vec<_>>(), [kept]);
}
