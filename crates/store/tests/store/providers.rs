//! Accounts at providers: a sealed secret opens in its own row only, and is never shown.

use std::collections::BTreeMap;

use searchwright_store::{
    Error, admin,
    providers::{self, NewAccount},
    seal::Keyring,
    sql,
};
use secrecy::{ExposeSecret as _, SecretString};

use crate::harness::{Place, id, later, now};

on_both!(
    an_account_is_set_opened_and_removed,
    settings_change_without_the_secret,
    a_secret_opens_in_its_own_row_only,
    operator_scope_needs_an_existing_project,
);

const SECRET: &str = "sk-canary-4711";

fn ring() -> Keyring {
    Keyring::new([(1, [1; 32])]).unwrap()
}

fn account(name: &str, model: &str, secret: Option<&str>) -> NewAccount {
    NewAccount {
        id: id(),
        name: name.to_owned(),
        settings: BTreeMap::from([("model".to_owned(), model.to_owned())]),
        secret: secret.map(SecretString::from),
    }
}

async fn an_account_is_set_opened_and_removed(place: &Place) {
    let store = place.store().await;
    let (scope, other) = (store.project().await, store.project().await);
    let new = account("openai", "m-1", Some(SECRET));
    assert!(!format!("{new:?}").contains(SECRET));
    let written = commit!(store.db, |tx| providers::set(tx, scope, &ring(), new, now())
        .await)
    .unwrap();
    assert!(written.has_secret);
    commit!(store.db, |tx| providers::set(
        tx,
        scope,
        &ring(),
        account("autocomplete", "", None),
        now()
    )
    .await)
    .unwrap();
    let mut tx = store.read().await;
    let listed = providers::list(&mut tx, scope).await.unwrap();
    let names: Vec<_> = listed.iter().map(|a| (a.name.as_str(), a.has_secret)).collect();
    assert_eq!(names, [("autocomplete", false), ("openai", true)]);
    assert!(!format!("{listed:?}").contains(SECRET));
    let opened = providers::open(&mut tx, scope, &ring(), "openai")
        .await
        .unwrap()
        .unwrap();
    assert!(!format!("{opened:?}").contains(SECRET));
    assert_eq!(opened.secret.unwrap().expose_secret(), SECRET);
    assert_eq!(opened.settings["model"], "m-1");
    assert!(providers::list(&mut tx, other).await.unwrap().is_empty());
    assert!(
        providers::open(&mut tx, other, &ring(), "openai")
            .await
            .unwrap()
            .is_none()
    );
    let sealed: Vec<u8> = sql("SELECT secret FROM providers WHERE name = $1")
        .bind("openai")
        .fetch_one(&mut tx, |c| c.take())
        .await
        .unwrap();
    assert!(!sealed.windows(SECRET.len()).any(|w| w == SECRET.as_bytes()));
    drop(tx);
    for (scope, gone) in [(other, false), (scope, true), (scope, false)] {
        let removed = commit!(store.db, |tx| providers::remove(tx, scope, "openai").await);
        assert_eq!(removed.unwrap(), gone);
    }
}

async fn settings_change_without_the_secret(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    for (model, secret, at) in [
        ("m-1", Some("first"), now()),
        ("m-2", None, later(5)),
        ("m-3", Some("second"), later(9)),
    ] {
        let new = account("openai", model, secret);
        commit!(store.db, |tx| providers::set(tx, scope, &ring(), new, at).await).unwrap();
        let mut tx = store.read().await;
        let opened = providers::open(&mut tx, scope, &ring(), "openai")
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            opened.secret.unwrap().expose_secret(),
            if model == "m-3" { "second" } else { "first" }
        );
        assert_eq!(opened.settings["model"], model);
        let listed = providers::list(&mut tx, scope).await.unwrap();
        assert_eq!((listed[0].created_at, listed[0].updated_at), (now(), at));
    }
}

async fn a_secret_opens_in_its_own_row_only(place: &Place) {
    let store = place.store().await;
    let (scope, thief) = (store.project().await, store.project().await);
    for (scope, secret) in [(scope, SECRET), (thief, "mine")] {
        let new = account("openai", "m", Some(secret));
        commit!(store.db, |tx| providers::set(tx, scope, &ring(), new, now())
            .await)
        .unwrap();
    }
    commit!(
        store.db,
        |tx| sql(
            "UPDATE providers SET secret = (SELECT p.secret FROM providers p WHERE p.project_id = $1) WHERE project_id = $2"
        )
        .bind(scope.project())
        .bind(thief.project())
        .execute(tx)
        .await
    )
    .unwrap();
    let mut tx = store.read().await;
    let stolen = providers::open(&mut tx, thief, &ring(), "openai").await;
    assert!(matches!(stolen, Err(Error::Seal(_))), "{stolen:?}");
    let other_key = Keyring::new([(1, [2; 32])]).unwrap();
    let refused = providers::open(&mut tx, scope, &other_key, "openai").await;
    assert!(matches!(refused, Err(Error::Seal(_))), "{refused:?}");
}

async fn operator_scope_needs_an_existing_project(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let mut tx = store.read().await;
    assert_eq!(admin::get_scope(&mut tx, scope.project()).await.unwrap(), scope);
    assert!(matches!(
        admin::get_scope(&mut tx, id()).await,
        Err(Error::Missing)
    ));
}
