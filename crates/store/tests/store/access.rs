//! Access: a scope comes from the database, and only for the project of the key.

use searchwright_contract::{Scope, ids::ProjectId};
use searchwright_store::{
    Db, Settings,
    access::{self, RecordKind},
    admin::{self, NewKey},
};
use uuid::Uuid;

use crate::{
    harness::{Place, digest, id, later, new_key, now, on_sqlite},
    jobs::queue,
    keywords::keyword,
};

on_both!(
    key_gives_access_to_its_own_project_only,
    key_record_reads_back,
    last_use_never_goes_back,
    record_of_any_project_is_found,
    changes_of_credentials_are_heard_by_other_processes,
);

async fn key_gives_access_to_its_own_project_only(place: &Place) {
    let store = place.store().await;
    let (mine, foreign) = (store.key().await, store.key().await);
    let own = mine.project.project.id.to_string();
    let scope = mine.find_project(&own).unwrap().scope();
    assert_eq!(scope, mine.project.scope());
    assert_eq!(scope.project().to_string(), own);
    let refused = [
        foreign.project.project.id.to_string(),
        id::<ProjectId>().to_string(),
        Uuid::nil().to_string(),
        own.replace('-', ""),
        format!("{{{own}}}"),
        format!("urn:uuid:{own}"),
        format!(" {own}"),
        format!("{own}\n"),
        String::new(),
        "%".to_owned(),
        "' OR 1=1 --".to_owned(),
    ];
    for other in refused {
        assert!(mine.find_project(&other).is_none(), "{other:?}");
    }
    let unknown = access::find_key_by_digest(&mut store.read().await, &digest(id()))
        .await
        .unwrap();
    assert!(unknown.is_none());
}

async fn key_record_reads_back(place: &Place) {
    let store = place.store().await;
    let project = store.project().await.project();
    let new = NewKey {
        scopes: "keywords:write audits:read content:generate".to_owned(),
        expires_at: Some(later(1000)),
        ..new_key(project)
    };
    let (key, name) = (new.id, new.name.clone());
    commit!(store.db, |tx| admin::create_key(tx, new, now()).await).unwrap();
    let access = store.find(key).await;
    assert_eq!((access.key.id, &access.key.name), (key, &name));
    assert_eq!(access.key.expires_at, Some(later(1000)));
    assert_eq!((access.key.revoked_at, access.key.last_used_at), (None, None));
    assert_eq!(
        access.key.scopes,
        [Scope::KeywordsWrite, Scope::AuditsRead, Scope::ContentGenerate]
    );
    assert_eq!(
        (access.project.language.as_str(), access.project.country.as_str()),
        ("en", "")
    );
    for (scope, may) in [
        (Scope::Any, true),
        (Scope::KeywordsWrite, true),
        (Scope::KeywordsRead, true),
        (Scope::AuditsRead, true),
        (Scope::AuditsWrite, false),
        (Scope::ContentGenerate, true),
        (Scope::ContentPublish, false),
        (Scope::ProjectsRead, false),
    ] {
        assert_eq!(access.permits(scope), may, "{scope:?}");
    }
    let read_only = NewKey {
        scopes: access
            .key
            .scopes
            .iter()
            .map(|s| s.as_str())
            .collect::<Vec<_>>()
            .join(" "),
        read_only: true,
        ..new_key(project)
    };
    let key = read_only.id;
    commit!(store.db, |tx| admin::create_key(tx, read_only, now()).await).unwrap();
    let access = store.find(key).await;
    for (scope, may) in [
        (Scope::Any, true),
        (Scope::KeywordsRead, true),
        (Scope::KeywordsWrite, false),
        (Scope::ContentGenerate, false),
    ] {
        assert_eq!(access.permits(scope), may, "{scope:?} read-only");
    }
}

async fn last_use_never_goes_back(place: &Place) {
    let store = place.store().await;
    let (one, two) = (store.key().await.key.id, store.key().await.key.id);
    for (uses, expected) in [
        (vec![(one, later(5)), (two, later(1))], (later(5), later(1))),
        (
            vec![(one, later(3)), (two, later(9)), (id(), later(9))],
            (later(5), later(9)),
        ),
        (vec![], (later(5), later(9))),
    ] {
        commit!(store.db, |tx| access::record_key_uses(tx, uses).await).unwrap();
        let used = (
            store.find(one).await.key.last_used_at,
            store.find(two).await.key.last_used_at,
        );
        assert_eq!(used, (Some(expected.0), Some(expected.1)));
    }
}

async fn record_of_any_project_is_found(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    store.project().await;
    let keyword = keyword(&store, scope, "standing desk", None, None).await;
    let job = queue(&store, scope, 0).await;
    let audit = crate::audits::start(&store, scope).await;
    let (page, issue) = (id(), id());
    crate::issues::audit_of_one_page(&store, scope, audit, page, issue).await;
    let mut tx = store.read().await;
    for (child, there) in [
        (RecordKind::Keyword, keyword.uuid()),
        (RecordKind::Job, job.uuid()),
        (RecordKind::Audit, audit.uuid()),
        (RecordKind::Page, page.uuid()),
        (RecordKind::Issue, issue.uuid()),
    ] {
        assert!(
            access::exists_in_any_project(&mut tx, child, there)
                .await
                .unwrap(),
            "{child:?}"
        );
        assert!(
            !access::exists_in_any_project(&mut tx, child, id()).await.unwrap(),
            "{child:?}"
        );
    }
    assert!(
        !access::exists_in_any_project(&mut tx, RecordKind::Job, keyword.uuid())
            .await
            .unwrap()
    );
}

async fn changes_of_credentials_are_heard_by_other_processes(place: &Place) {
    let (one, other) = (place.store().await, place.open().await);
    let begun = generation(&one.db, None).await;
    let elsewhere = generation(&other, None).await;
    one.db.credentials_changed().await.unwrap();
    assert_ne!(
        one.db.credential_generation(),
        Some(begun),
        "at once where the change was made"
    );
    generation(&other, Some(elsewhere)).await;
    other.credentials_changed().await.unwrap();
    generation(&one.db, Some(begun)).await;
}

/// A change of which others cannot be told counts here all the same.
#[test]
fn change_that_is_not_announced_is_done() {
    on_sqlite(async |place| {
        let store = place.store().await;
        let Settings::Sqlite(path) = &place.settings else {
            panic!("not SQLite")
        };
        std::fs::create_dir(path.with_extension("keys")).unwrap();
        let begun = store.db.credential_generation();
        store.db.credentials_changed().await.unwrap();
        assert_ne!(store.db.credential_generation(), begun);
    });
}

/// Waits for a generation other than `known`.
async fn generation(db: &Db, known: Option<u64>) -> u64 {
    let heard = async {
        loop {
            match db.credential_generation() {
                Some(now) if Some(now) != known => return now,
                _ => tokio::task::yield_now().await,
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), heard)
        .await
        .unwrap()
}
