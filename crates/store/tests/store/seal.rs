//! The canary, by which a database recognises its sealing keys.

use searchwright_store::{Error, admin, seal::Keyring};

use crate::harness::Place;

on_both!(another_key_is_refused, a_key_can_be_added, canary_is_written_once,);

async fn another_key_is_refused(place: &Place) {
    let store = place.store().await;
    let ring = Keyring::new([(1, [1; 32])]).unwrap();
    assert!(
        !ring.check_canary(&mut store.read().await).await.unwrap(),
        "nothing has been sealed yet"
    );
    commit!(store.db, |tx| ring.write_canary(tx).await).unwrap();
    let same = Keyring::new([(1, [1; 32])]).unwrap();
    assert!(same.check_canary(&mut store.read().await).await.unwrap());
    for other in [Keyring::new([(1, [2; 32])]), Keyring::new([(2, [1; 32])])] {
        let other = other.unwrap();
        assert!(matches!(
            other.check_canary(&mut store.read().await).await,
            Err(Error::Seal(_))
        ));
        let marked = commit!(store.db, |tx| other.write_canary(tx).await);
        assert!(
            matches!(marked, Err(Error::Seal(_))),
            "the mark is never replaced"
        );
    }
    assert!(same.check_canary(&mut store.read().await).await.unwrap());
    let stored = admin::get_meta(&mut store.read().await, "seal_canary")
        .await
        .unwrap()
        .unwrap();
    assert!(!String::from_utf8_lossy(&stored).contains("searchwright"));
    assert!(Keyring::new([]).is_err());
}

async fn a_key_can_be_added(place: &Place) {
    let store = place.store().await;
    let old = Keyring::new([(1, [1; 32])]).unwrap();
    commit!(store.db, |tx| old.write_canary(tx).await).unwrap();
    let both = Keyring::new([(1, [1; 32]), (2, [2; 32])]).unwrap();
    assert!(both.check_canary(&mut store.read().await).await.unwrap());
}

async fn canary_is_written_once(place: &Place) {
    let store = place.store().await;
    let marking: Vec<_> = (0..4)
        .map(|_| {
            let db = store.db.clone();
            tokio::spawn(async move {
                let ring = Keyring::new([(1, [1; 32])]).unwrap();
                commit!(db, |tx| ring.write_canary(tx).await)
            })
        })
        .collect();
    for one in marking {
        one.await.unwrap().unwrap();
    }
}
