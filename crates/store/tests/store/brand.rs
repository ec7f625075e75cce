//! Brand data: a profile, and items whose keys are unique.

use searchwright_contract::{
    brand::{Item, Profile},
    competitors::Competitor,
    ctas::Cta,
    ids::ItemId,
    products::{Price, Product},
};
use searchwright_store::{
    Error,
    access::{self, ProjectScope, RecordKind},
    brand::{self, NewItem, Resource},
};
use serde_json::json;

use crate::harness::{Place, Store, id, later, now};

on_both!(
    a_profile_is_kept_by_version,
    items_are_kept_whole,
    items_are_walked_newest_first,
    keys_are_unique_within_a_resource,
    changes_count_up_and_never_overwrite,
    another_project_sees_nothing,
    a_product_knows_its_ctas,
);

fn product(name: &str) -> Product {
    serde_json::from_value(json!({ "name": name })).unwrap()
}

fn new<T>(data: T, keys: &[&str]) -> NewItem<T> {
    let keys = keys.iter().map(|k| (*k).to_owned()).collect();
    NewItem { id: id(), data, keys }
}

async fn create<T: serde::Serialize + Send + Sync + 'static>(
    store: &Store,
    scope: ProjectScope,
    resource: Resource,
    new: Vec<NewItem<T>>,
) -> Result<(), Error> {
    commit!(store.db, |tx| brand::create(tx, scope, resource, &new, now())
        .await)
}

async fn get(store: &Store, scope: ProjectScope, id: ItemId) -> Result<Item<Product>, Error> {
    brand::get(&mut store.read().await, scope, Resource::Products, id).await
}

async fn list(store: &Store, scope: ProjectScope, before: Option<ItemId>) -> Vec<Item<Product>> {
    brand::list(&mut store.read().await, scope, Resource::Products, before, 2)
        .await
        .unwrap()
}

async fn holder(store: &Store, scope: ProjectScope, resource: Resource, key: &str) -> Option<ItemId> {
    brand::find_by_key(&mut store.read().await, scope, resource, key)
        .await
        .unwrap()
}

async fn a_profile_is_kept_by_version(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let read = async |scope| brand::find_profile(&mut store.read().await, scope).await.unwrap();
    assert_eq!(read(scope).await, None);
    let profile: Profile = serde_json::from_value(json!({
        "name": "Fern 🪴", "aliases": ["F"], "domains": ["fern.example"], "category": "desks", "tone": "plain",
        "bannedPhrases": ["x"], "language": "de", "ambiguous": true, "negativeContext": ["leaf"],
    }))
    .unwrap();
    let set = async |profile: Profile, version: i64, at| {
        commit!(store.db, |tx| brand::set_profile(
            tx, scope, &profile, version, at
        )
        .await)
    };
    let first = set(profile.clone(), 0, now()).await.unwrap();
    assert_eq!(
        (&first.profile, first.version, first.updated_at),
        (&profile, 1, now())
    );
    assert_eq!(read(scope).await.as_ref(), Some(&first));
    let other = Profile {
        tone: None,
        ..profile.clone()
    };
    for stale in [0, 2] {
        let refused = set(other.clone(), stale, later(5)).await;
        assert!(matches!(refused, Err(Error::Missing)), "{refused:?}");
    }
    let second = set(other.clone(), 1, later(5)).await.unwrap();
    assert_eq!(
        (second.profile, second.version, second.updated_at),
        (other, 2, later(5))
    );
    assert_eq!(read(foreign).await, None);
}

async fn items_are_kept_whole(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let whole = Product {
        aliases: vec!["OD\u{301}".to_owned()],
        price: Some(Price {
            amount: 0.1 + 0.2,
            currency: "EUR".to_owned(),
        }),
        use_cases: vec!["work".to_owned()],
        ..product("Oak 🪴")
    };
    let made = new(whole.clone(), &["name:oak"]);
    let id = made.id;
    create(&store, scope, Resource::Products, vec![made])
        .await
        .unwrap();
    let read = get(&store, scope, id).await.unwrap();
    assert_eq!((read.id, &read.data), (id, &whole));
    assert_eq!(
        (read.version, read.created_at, read.updated_at),
        (1, now(), now())
    );
    let rival: Competitor = serde_json::from_value(json!({
        "name": "Elm", "domain": "elm.example", "claims": [{ "text": "t", "sourceUrl": "https://elm.example" }], "active": false,
    }))
    .unwrap();
    let made = new(rival.clone(), &[]);
    let id = made.id;
    create(&store, scope, Resource::Competitors, vec![made])
        .await
        .unwrap();
    let read: Item<Competitor> = brand::get(&mut store.read().await, scope, Resource::Competitors, id)
        .await
        .unwrap();
    assert_eq!(read.data, rival);
    let elsewhere = get(&store, scope, id).await;
    assert!(
        matches!(elsewhere, Err(Error::Missing)),
        "a competitor is no product"
    );
}

async fn items_are_walked_newest_first(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let all: Vec<NewItem<Product>> = (0..5)
        .map(|n| new(product(&n.to_string()), &[&n.to_string()]))
        .collect();
    let mut expected: Vec<ItemId> = all.iter().map(|n| n.id).collect();
    expected.reverse();
    create(&store, scope, Resource::Products, all).await.unwrap();
    create(
        &store,
        scope,
        Resource::Faqs,
        vec![new(json!({ "question": "q", "answer": "a" }), &["0"])],
    )
    .await
    .unwrap();
    let mut walked: Vec<ItemId> = Vec::new();
    loop {
        let before = walked.last().copied();
        let page = list(&store, scope, before).await;
        if page.is_empty() {
            break;
        }
        walked.extend(page.into_iter().map(|item| item.id));
    }
    assert_eq!(walked, expected);
    let count = brand::count(&mut store.read().await, scope, Resource::Products)
        .await
        .unwrap();
    assert_eq!(count, 5);
}

async fn keys_are_unique_within_a_resource(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let first = new(product("a"), &["name:a", "domain:a"]);
    let id = first.id;
    create(&store, scope, Resource::Products, vec![first])
        .await
        .unwrap();
    for key in ["name:a", "domain:a"] {
        assert_eq!(holder(&store, scope, Resource::Products, key).await, Some(id));
    }
    assert_eq!(holder(&store, scope, Resource::Products, "name:b").await, None);
    let both = vec![new(product("b"), &["name:b"]), new(product("c"), &["domain:a"])];
    let refused = create(&store, scope, Resource::Products, both).await;
    assert!(matches!(refused, Err(Error::Duplicate(_))), "{refused:?}");
    assert_eq!(list(&store, scope, None).await.len(), 1, "all or none");
    create(
        &store,
        scope,
        Resource::Ctas,
        vec![new(product("a"), &["name:a"])],
    )
    .await
    .unwrap();
    create(
        &store,
        foreign,
        Resource::Products,
        vec![new(product("a"), &["name:a"])],
    )
    .await
    .unwrap();
}

async fn changes_count_up_and_never_overwrite(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let (first, other) = (new(product("a"), &["a", "a2"]), new(product("b"), &["b"]));
    let id = first.id;
    create(&store, scope, Resource::Products, vec![first, other])
        .await
        .unwrap();
    let update = async |name: &str, keys: &[&str], version: i64| {
        let changed = NewItem {
            id,
            ..new(product(name), keys)
        };
        commit!(store.db, |tx| brand::update(
            tx,
            scope,
            Resource::Products,
            &changed,
            version,
            later(5)
        )
        .await)
    };
    let written = update("c", &["c"], 1).await.unwrap();
    assert_eq!((&written.data, written.version), (&product("c"), 2));
    assert_eq!((written.created_at, written.updated_at), (now(), later(5)));
    assert_eq!(get(&store, scope, id).await.unwrap(), written);
    for (key, holds) in [("a", None), ("a2", None), ("c", Some(id))] {
        assert_eq!(
            holder(&store, scope, Resource::Products, key).await,
            holds,
            "{key}"
        );
    }
    let stale = update("d", &["d"], 1).await;
    assert!(matches!(stale, Err(Error::Missing)), "{stale:?}");
    let taken = update("b", &["b"], 2).await;
    assert!(matches!(taken, Err(Error::Duplicate(_))), "{taken:?}");
    assert_eq!(
        get(&store, scope, id).await.unwrap(),
        written,
        "and nothing of either was kept"
    );
    assert_eq!(holder(&store, scope, Resource::Products, "c").await, Some(id));
}

async fn another_project_sees_nothing(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let first = new(product("a"), &["a"]);
    let id = first.id;
    create(&store, scope, Resource::Products, vec![first])
        .await
        .unwrap();
    assert!(matches!(get(&store, foreign, id).await, Err(Error::Missing)));
    let gone = commit!(store.db, |tx| brand::delete(tx, foreign, Resource::Products, id)
        .await);
    assert!(matches!(gone, Err(Error::Missing)));
    assert!(list(&store, foreign, None).await.is_empty());
    let mut tx = store.read().await;
    for (child, there) in [
        (RecordKind::Product, true),
        (RecordKind::Faq, false),
        (RecordKind::Cta, false),
        (RecordKind::Competitor, false),
    ] {
        assert_eq!(
            access::exists_in_any_project(&mut tx, child, id.uuid())
                .await
                .unwrap(),
            there,
            "{child:?}"
        );
    }
    drop(tx);
    commit!(store.db, |tx| brand::delete(tx, scope, Resource::Products, id)
        .await)
    .unwrap();
    assert_eq!(
        holder(&store, scope, Resource::Products, "a").await,
        None,
        "its keys go with it"
    );
}

async fn a_product_knows_its_ctas(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let desk = id();
    let cta = |product: Option<ItemId>| -> Cta {
        serde_json::from_value(json!({ "label": "l", "url": "https://a.example", "productId": product }))
            .unwrap()
    };
    let ctas = [Some(desk), None, Some(id()), Some(desk)].map(|p| new(cta(p), &[]));
    create(&store, scope, Resource::Ctas, ctas.to_vec())
        .await
        .unwrap();
    create(&store, foreign, Resource::Ctas, vec![new(cta(Some(desk)), &[])])
        .await
        .unwrap();
    let count = brand::count_ctas_of_product(&mut store.read().await, scope, desk)
        .await
        .unwrap();
    assert_eq!(count, 2);
}
