//! Operations of the operator: projects, keys, and values of the installation.

use searchwright_store::{
    Error,
    admin::{self, NewKey},
    projects, sql, workspaces,
};

use crate::harness::{Place, id, later, new_key, new_project, now};

on_both!(
    projects_share_the_first_workspace,
    a_key_needs_its_project_and_a_digest_of_its_own,
    revoked_and_expired_keys_are_not_live,
    rotation_never_extends_expiry,
    meta_value_is_written_once,
);

async fn projects_share_the_first_workspace(place: &Place) {
    let store = place.store().await;
    assert_eq!(
        admin::find_project_by_domain(&mut store.read().await, "example.com")
            .await
            .unwrap(),
        None
    );
    let (first, second) = (store.project().await.project(), store.project().await.project());
    let mut tx = store.read().await;
    let workspaces: i64 = sql("SELECT count(*) FROM workspaces")
        .fetch_one(&mut tx, |c| c.take())
        .await
        .unwrap();
    assert_eq!(workspaces, 1);
    assert_eq!(
        admin::find_project_by_domain(&mut tx, "example.com")
            .await
            .unwrap(),
        Some(first.min(second))
    );
    assert_eq!(
        admin::find_project_by_domain(&mut tx, "EXAMPLE.com")
            .await
            .unwrap(),
        None
    );
    drop(tx);
    let twice = admin::NewProject {
        id: first,
        ..new_project()
    };
    let refused = commit!(store.db, |tx| {
        let workspace = workspaces::find_or_create_first(tx, id(), now()).await?;
        admin::create_project(tx, twice, workspace, now()).await
    });
    assert!(matches!(refused, Err(Error::Duplicate(_))), "{refused:?}");
    let scope = store.project().await;
    let project = projects::get(&mut store.read().await, scope).await.unwrap();
    assert_eq!(
        (project.domain.as_str(), project.country, project.version),
        ("example.com", None, 1)
    );
    assert_eq!(
        (
            project.created_at,
            project.setup.audited,
            project.setup.has_keywords
        ),
        (now(), false, false)
    );
    commit!(store.db, |tx| projects::lock(tx, scope).await).unwrap();
}

async fn a_key_needs_its_project_and_a_digest_of_its_own(place: &Place) {
    let store = place.store().await;
    let orphan = new_key(id());
    let refused = commit!(store.db, |tx| admin::create_key(tx, orphan, now()).await);
    assert!(matches!(refused, Err(Error::Dangling)), "{refused:?}");
    let first = store.key().await;
    let copy = NewKey {
        digest: crate::harness::digest(first.key.id),
        ..new_key(first.project.scope().project())
    };
    let refused = commit!(store.db, |tx| admin::create_key(tx, copy, now()).await);
    assert!(matches!(refused, Err(Error::Duplicate(_))), "{refused:?}");
}

async fn revoked_and_expired_keys_are_not_live(place: &Place) {
    let store = place.store().await;
    let project = store.project().await.project();
    let [soon, named, stays] = [
        NewKey {
            expires_at: Some(later(10)),
            name: "soon".to_owned(),
            ..new_key(project)
        },
        NewKey {
            name: "named".to_owned(),
            ..new_key(project)
        },
        NewKey {
            name: "stays".to_owned(),
            ..new_key(project)
        },
    ];
    let (soon_id, named_id, stays_id) = (soon.id, named.id, stays.id);
    commit!(store.db, |tx| {
        for key in [soon, named, stays] {
            admin::create_key(tx, key, now()).await?;
        }
        Ok::<_, Error>(())
    })
    .unwrap();
    let live = async |at| {
        admin::count_live_keys(&mut store.read().await, project, at)
            .await
            .unwrap()
    };
    assert_eq!(
        (live(now()).await, live(later(9)).await, live(later(10)).await),
        (4, 4, 3)
    );
    let ended = commit!(store.db, |tx| admin::revoke_keys_by_name(
        tx,
        project,
        "named",
        later(1)
    )
    .await);
    assert_eq!(ended.unwrap(), 1);
    assert_eq!(store.find(named_id).await.key.revoked_at, Some(later(1)));
    assert!(commit!(store.db, |tx| admin::revoke_key(tx, soon_id, later(2)).await).unwrap());
    assert!(
        !commit!(store.db, |tx| admin::revoke_key(tx, soon_id, later(3)).await).unwrap(),
        "a second time"
    );
    assert_eq!(
        store.find(soon_id).await.key.revoked_at,
        Some(later(2)),
        "the first end counts"
    );
    assert_eq!(store.find(stays_id).await.key.revoked_at, None);
    let unknown = commit!(store.db, |tx| admin::revoke_key(tx, id(), now()).await);
    assert!(matches!(unknown, Err(Error::Missing)));
    assert_eq!(live(later(2)).await, 2);
}

async fn rotation_never_extends_expiry(place: &Place) {
    let store = place.store().await;
    let project = store.project().await.project();
    let [endless, brief] = [None, Some(later(50))].map(|expires_at| NewKey {
        expires_at,
        read_only: true,
        ..new_key(project)
    });
    let (endless_id, brief_id, scopes) = (endless.id, brief.id, endless.scopes.clone());
    commit!(store.db, |tx| {
        admin::create_key(tx, endless, now()).await?;
        admin::create_key(tx, brief, now()).await
    })
    .unwrap();
    let old = commit!(store.db, |tx| admin::retire_key(
        tx,
        endless_id,
        later(100),
        now()
    )
    .await)
    .unwrap();
    assert_eq!(
        (old.project, old.name.as_str(), old.scopes, old.read_only),
        (project, "agent", scopes, true)
    );
    assert_eq!(store.find(endless_id).await.key.expires_at, Some(later(100)));
    commit!(store.db, |tx| admin::retire_key(tx, brief_id, later(100), now())
        .await)
    .unwrap();
    assert_eq!(store.find(brief_id).await.key.expires_at, Some(later(50)));
    commit!(store.db, |tx| admin::revoke_key(tx, brief_id, now()).await).unwrap();
    for (key, at) in [(brief_id, now()), (endless_id, later(100)), (id(), now())] {
        let refused = commit!(store.db, |tx| admin::retire_key(tx, key, later(200), at).await);
        assert!(
            matches!(refused, Err(Error::Missing)),
            "revoked, expired or unknown: {refused:?}"
        );
    }
}

async fn meta_value_is_written_once(place: &Place) {
    let store = place.store().await;
    assert_eq!(
        admin::get_meta(&mut store.read().await, "cursor_key")
            .await
            .unwrap(),
        None
    );
    let writers: Vec<_> = (0..8_u8)
        .map(|n| {
            let db = store.db.clone();
            tokio::spawn(
                async move { commit!(db, |tx| admin::insert_meta(tx, "cursor_key", vec![n; 32]).await) },
            )
        })
        .collect();
    let mut values = Vec::new();
    for writer in writers {
        values.push(writer.await.unwrap().unwrap());
    }
    values.dedup();
    assert_eq!(values.len(), 1, "replicas that start together agree");
    assert_eq!(
        admin::get_meta(&mut store.read().await, "cursor_key")
            .await
            .unwrap()
            .as_ref(),
        values.first()
    );
}
