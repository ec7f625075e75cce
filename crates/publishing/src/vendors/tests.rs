//! Vendors against a server of the tests: what they are sent, and what is made of what they answer.

use std::{sync::Arc, time::Duration};

pub(super) use searchwright_contract::integrations::Provider;
use searchwright_contract::{Clock, Instant};
use searchwright_outbound::test_server::client;
pub(super) use searchwright_outbound::test_server::{Asked, Fake, Script};
use secrecy::SecretString;
use serde_json::{Value, json};
use uuid::Uuid;

use super::find;
use crate::{
    Context, Marker,
    publisher::{Connection, Item, Picture, Publisher, Remote, Uploaded, Visible},
    trouble::{Trouble, Why},
    values::is_same_version,
};

/// 2026-11-21T10:00:00Z.
pub(super) const NOON: i64 = 1_795_255_200_000;

pub(super) fn marker() -> Marker {
    Marker::new(Uuid::from_u128(7), &[0xab; 32])
}

/// A connection with these settings and secrets, and with this mapping.
pub(super) fn connection(
    settings: &[(&str, &str)],
    secrets: &[(&str, &str)],
    map: &[(&str, &str)],
) -> Connection {
    let pairs = |list: &[(&str, &str)]| {
        list.iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect()
    };
    Connection {
        settings: pairs(settings),
        secrets: secrets
            .iter()
            .map(|(n, v)| ((*n).to_owned(), SecretString::from(*v)))
            .collect(),
        site: None,
        collection: None,
        map: pairs(map),
    }
}

pub(super) fn open(provider: Provider, connection: Connection) -> Box<dyn Publisher> {
    let context = Context {
        client: client(Duration::from_secs(60)),
        clock: Clock::fixed(Instant::from_millis(NOON)),
        folder: std::path::PathBuf::new(),
        scratch: std::path::PathBuf::new(),
        delivery: Uuid::from_u128(1),
    };
    (find(provider).unwrap().open)(&context, connection).unwrap()
}

/// A live post with everything a post can have.
pub(super) fn item() -> Item {
    Item {
        marker: marker(),
        live: true,
        title: "A & B".to_owned(),
        slug: "a-b".to_owned(),
        html: "<p>One</p>\n<p>Two</p>\n".to_owned(),
        markdown: "One\n\nTwo\n".to_owned(),
        excerpt: Some("Short".to_owned()),
        meta_title: Some("Meta title".to_owned()),
        meta_description: Some("Meta description".to_owned()),
        tags: vec!["Red".to_owned(), "Green".to_owned()],
        categories: Vec::new(),
        author: Some("Ann".to_owned()),
        language: "en".to_owned(),
        canonical_url: Some("https://example.com/a-b".to_owned()),
        published_at: Instant::from_millis(NOON),
        picture: Some(Uploaded {
            reference: "12".to_owned(),
            url: Some("https://example.com/i.jpg".to_owned()),
            alt: Some("An image".to_owned()),
        }),
    }
}

pub(super) fn picture() -> Picture {
    Picture {
        name: "searchwright-0a1b.png".to_owned(),
        media_type: "image/png",
        bytes: bytes::Bytes::from_static(b"\x89PNG"),
        alt: Some("An image".to_owned()),
    }
}

/// A remote item that is about to be changed.
pub(super) fn remote(id: &str) -> Remote {
    Remote {
        id: id.to_owned(),
        slug: Some("a-b".to_owned()),
        url: None,
        visible: Visible::Live,
        version: "1".to_owned(),
        marker: None,
        etag: None,
    }
}

/// Versions of an item whose field is filled, is empty, and is no longer there at all: only people empty a field.
pub(super) fn a_lost_field_is_no_change(filled: &str, empty: &str, lost: &str) {
    assert!(is_same_version(filled, lost), "{filled} {lost}");
    assert!(!is_same_version(filled, empty), "{filled} {empty}");
}

/// Checks every answer to a write that is no success, and the error that it means. `before` are the answers to the
/// requests sent before the write.
pub(super) async fn every_no(open: impl Fn(&str) -> Box<dyn Publisher>, before: &[Script], good: &Value) {
    every_no_with(open, before, good, Some(Why::Conflict)).await;
}

/// Runs [`every_no`] for a vendor whose 409 means `conflict`; with `None`, that the request is to be sent again.
pub(super) async fn every_no_with(
    open: impl Fn(&str) -> Box<dyn Publisher>,
    before: &[Script],
    good: &Value,
    conflict: Option<Why>,
) {
    let refused =
        |why| move |trouble: &Trouble| matches!(trouble, Trouble::Refused { why: is, .. } if *is == why);
    let unclear = |trouble: &Trouble| matches!(trouble, Trouble::Unclear { .. });
    let wait = |trouble: &Trouble| {
        *trouble
            == Trouble::NotNow {
                what: "rate_limited",
                after: Some(Duration::from_secs(7)),
            }
    };
    let conflicts = |trouble: &Trouble| match conflict {
        Some(why) => refused(why)(trouble),
        None => matches!(trouble, Trouble::NotNow { .. }),
    };
    type Means<'a> = Arc<dyn Fn(&Trouble) -> bool + 'a>;
    let error = json!({ "message": "no" });
    let whole = format!("{good}");
    let half = &whole[..whole.len() / 2];
    let cases: Vec<(&str, Script, Means)> = vec![
        (
            "401",
            Script::json(401, &error),
            Arc::new(refused(Why::Credential)),
        ),
        (
            "403",
            Script::json(403, &error),
            Arc::new(refused(Why::Permission)),
        ),
        ("404", Script::json(404, &error), Arc::new(refused(Why::Missing))),
        ("409", Script::json(409, &error), Arc::new(conflicts)),
        ("413", Script::json(413, &error), Arc::new(refused(Why::TooLarge))),
        ("422", Script::json(422, &error), Arc::new(refused(Why::Invalid))),
        (
            "429",
            Script::new(429, "text/plain", "Retry-After: 7\r\n", ""),
            Arc::new(wait),
        ),
        ("500", Script::json(500, &error), Arc::new(unclear)),
        (
            "503",
            Script::new(503, "text/html", "", "<html>"),
            Arc::new(unclear),
        ),
        (
            "a page",
            Script::new(200, "text/html", "", "<html>"),
            Arc::new(unclear),
        ),
        (
            "half",
            Script::new(200, "application/json", "", half),
            Arc::new(unclear),
        ),
        (
            "cut",
            Script::raw(
                format!("HTTP/1.1 200 X\r\nContent-Length: {}\r\n\r\n{half}", whole.len()).into_bytes(),
            ),
            Arc::new(unclear),
        ),
        ("nothing", Script::nothing(), Arc::new(unclear)),
        (
            "moved",
            Script::new(
                301,
                "text/html",
                "Location: https://elsewhere.example/?token=x\r\n",
                "",
            ),
            Arc::new(refused(Why::Unreadable)),
        ),
    ];
    for (name, script, means) in cases {
        let server = Fake::new([before, &[script]].concat()).await;
        let trouble = open(&server.url).create(&item()).await.unwrap_err();
        assert!(means(&trouble), "{name}: {trouble:?}");
        assert_eq!(
            server.asked().len(),
            before.len() + 1,
            "{name}: nothing is asked twice"
        );
        assert!(!format!("{trouble:?}").contains("token"), "{name}: {trouble:?}");
    }
}
