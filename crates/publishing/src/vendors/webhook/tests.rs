use serde_json::{Value, json};

use super::super::{
    conformance::{Fixture, Play, Reply, Upload, vendor_conformance},
    tests::{Connected, Fake, POST, Provider, Script, item, remote, wanted},
};
use crate::{
    error::{Trouble, Why},
    publisher::Visible,
};

const WEBHOOK: Connected<'_> = Connected {
    provider: Provider::Webhook,
    address: "targetUrl",
    settings: &[],
    secrets: &[("secret", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")],
    site: None,
    collection: None,
    map: &[("title", "headline")],
};

fn fixture() -> Fixture {
    let taken = || Play::with_reply(Reply::Ignored(Script::json(200, &json!({}))));
    Fixture {
        connected: WEBHOOK,
        // It signs, and is never sent.
        secret: None,
        id: POST,
        etag: None,
        account: (Some("127.0.0.1"), "{url}"),
        check: None,
        find: None,
        no_place: Why::Missing,
        create: taken(),
        held: vec![(Play::new(json!({ "live": false })), "live: false")],
        update: taken(),
        unpublish: Some(taken()),
        upload: Upload::Never,
        lost_field: None,
    }
}

vendor_conformance!(fixture:);

#[tokio::test]
async fn message_is_signed_and_carries_all_of_the_post() {
    let answer = json!({ "externalId": "x1", "url": "https://example.com/a-b" });
    let server = Fake::new(vec![Script::json(200, &answer)]).await;
    let made = WEBHOOK.open(&server.url).create(&item()).await.unwrap();
    assert_eq!(
        (made.id.as_str(), made.url.as_deref(), made.visible),
        ("x1", Some("https://example.com/a-b"), Visible::Live)
    );
    let asked = &server.asked()[0];
    assert_eq!(
        asked.headers["webhook-id"],
        "msg_00000000000000000000000000000001"
    );
    assert!(asked.headers["webhook-signature"].starts_with("v1,"));
    let body = asked.json();
    assert_eq!(body["type"], "post.publish");
    assert_eq!(
        (&body["data"]["postId"], &body["data"]["externalId"]),
        (&json!(POST), &Value::Null)
    );
    assert_eq!(body["data"]["post"]["contentMarkdown"], "One\n\nTwo\n");
    assert_eq!(body["data"]["mapping"], json!({ "title": "headline" }));
}

#[tokio::test]
async fn draft_and_unpublished_post_are_events_of_their_own() {
    let server = Fake::new(vec![Script::json(204, &Value::Null)]).await;
    let mut draft = item();
    draft.live = false;
    let webhook = WEBHOOK.open(&server.url);
    webhook.update(&remote("x1"), &draft).await.unwrap();
    webhook.unpublish(&remote("x1")).await.unwrap();
    let bodies: Vec<Value> = server.asked().iter().map(|asked| asked.json()).collect();
    assert_eq!(bodies[0]["type"], "post.draft");
    assert_eq!(bodies[0]["data"]["externalId"], "x1");
    assert_eq!(
        bodies[1],
        json!({ "type": "post.unpublish", "data": { "externalId": "x1" } })
    );
    assert!(webhook.find(&wanted(None)).await.unwrap().is_empty());
}

#[tokio::test]
async fn secret_has_to_be_one_of_standard_webhooks() {
    for secret in ["", "secret", "whsec_?"] {
        let secrets = [("secret", secret)];
        let webhook = Connected {
            secrets: &secrets,
            ..WEBHOOK
        };
        let answer = webhook.open("http://127.0.0.1:9").check().await;
        let Err(Trouble::Refused {
            why: Why::Credential, ..
        }) = answer
        else {
            panic!("{secret:?}: {answer:?}")
        };
    }
}
