use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::super::{
    conformance::{Fixture, Play, Upload, vendor_conformance},
    tests::{Connected, Fake, NOON, Provider, Script, item, marker, picture, remote, wanted},
};
use crate::{
    error::{Trouble, Why},
    publisher::Visible,
};

const MAP: &[(&str, &str)] = &[
    ("title", "title"),
    ("content", "html"),
    ("excerpt", "custom_excerpt"),
    ("featuredImage", "feature_image"),
    ("tags", "tags"),
    ("author", "authors"),
    ("publishedAt", "published_at"),
];

const GHOST: Connected<'_> = Connected {
    provider: Provider::Ghost,
    address: "siteUrl",
    settings: &[],
    secrets: &[("key", "abc:0102ff")],
    site: None,
    collection: None,
    map: MAP,
};

fn fixture() -> Fixture {
    let foot = marker().comment();
    let live = || posts(&post("published", &foot));
    let nobody = Script::json(200, &json!({ "users": [] }));
    let site = json!({ "site": { "url": "https://example.com/", "title": "Site" } });
    let none = Script::json(200, &json!({ "posts": [] }));
    Fixture {
        connected: GHOST,
        secret: Some("abc:0102ff"),
        id: "6b",
        etag: Some("2026-11-21T08:00:00.000Z"),
        account: (Some("Site"), "example.com"),
        check: Some(Play::new(site).then([none])),
        find: Some(Play::new(live())),
        no_place: Why::Missing,
        create: Play::new(live()).after_reads([nobody.clone()]),
        held: ["scheduled", "sent", "draft"]
            .map(|status| {
                (
                    Play::new(posts(&post(status, &foot))).after_reads([nobody.clone()]),
                    status,
                )
            })
            .to_vec(),
        update: Play::new(live()).after_reads([Script::json(200, &live()), nobody]),
        unpublish: Some(Play::new(posts(&post("draft", &foot)))),
        upload: Upload::Here(Play::new(
            json!({ "images": [{ "url": "https://example.com/content/x.png" }] }),
        )),
        lost_field: None,
    }
}

vendor_conformance!(fixture:
    refusals_of_reads_are_told_apart,
);

fn post(status: &str, foot: &str) -> Value {
    json!({ "id": "6b", "title": "A & B", "slug": "a-b", "status": status, "lexical": "{}", "codeinjection_foot": foot,
        "updated_at": "2026-11-21T09:00:00.000Z", "url": "https://example.com/a-b/", "tags": [], "authors": [] })
}

fn posts(post: &Value) -> Value {
    json!({ "posts": [post] })
}

#[tokio::test]
async fn a_post_is_made_and_nobody_is_mailed() {
    let nobody = Script::json(200, &json!({ "users": [] }));
    let made = Script::json(201, &posts(&post("published", &marker().comment())));
    let server = Fake::new(vec![nobody, made]).await;
    let made = GHOST.open(&server.url).create(&item()).await.unwrap();
    assert_eq!(
        (made.visible, made.url.as_deref(), made.marker),
        (Visible::Live, Some("https://example.com/a-b/"), Some(marker()))
    );
    assert_eq!(made.etag.as_deref(), Some("2026-11-21T09:00:00.000Z"));
    let asked = server.asked();
    assert_eq!(
        asked[0].line,
        "GET /ghost/api/admin/users/?limit=1&filter=name%3A%27Ann%27"
    );
    assert_eq!(asked[1].line, "POST /ghost/api/admin/posts/?source=html");
    assert_eq!(asked[1].headers["accept-version"], "v6.0");
    assert_eq!(
        asked[1].json(),
        json!({ "posts": [{
            "title": "A & B", "slug": "a-b", "html": "<p>One</p>\n<p>Two</p>\n", "status": "published",
            "codeinjection_foot": marker().comment(),
            "custom_excerpt": "Short", "feature_image": "https://example.com/i.jpg", "feature_image_alt": "An image",
            "published_at": "2026-11-21T10:00:00.000Z", "tags": [{ "name": "Red" }, { "name": "Green" }],
        }] })
    );
}

#[tokio::test]
async fn a_token_is_signed_for_five_minutes() {
    let server = Fake::new(vec![Script::json(200, &posts(&json!({})))]).await;
    GHOST.open(&server.url).find(&wanted(None)).await.unwrap_err();
    let asked = server.asked();
    let token = asked[0].headers["authorization"].strip_prefix("Ghost ").unwrap();
    let parts: Vec<Vec<u8>> = token
        .split('.')
        .map(|part| BASE64_URL_SAFE_NO_PAD.decode(part).unwrap())
        .collect();
    let read = |part: &[u8]| serde_json::from_slice::<Value>(part).unwrap();
    assert_eq!(read(&parts[0])["kid"], "abc");
    let now = NOON / 1000;
    assert_eq!(
        read(&parts[1]),
        json!({ "iat": now, "exp": now + 300, "aud": "/admin/" })
    );
    assert_eq!(parts[2].len(), 32);
}

#[tokio::test]
async fn a_post_is_found_by_mark_slug_and_id_at_once() {
    let found = posts(&post("draft", "<script></script>"));
    let server = Fake::new(vec![Script::json(200, &found)]).await;
    let found = GHOST.open(&server.url).find(&wanted(Some("6b"))).await.unwrap();
    assert_eq!((found.len(), &found[0].marker, &found[0].url), (1, &None, &None));
    assert_eq!(
        server.asked()[0].line,
        "GET /ghost/api/admin/posts/?limit=100&order=created_at%20desc&filter=codeinjection_foot%3A%7E%27searchwright%3A00000000-0000-0000-0000-000000000007%27%2Cslug%3A%27a-b%27%2Cid%3A%276b%27"
    );
}

#[tokio::test]
async fn a_change_keeps_what_people_inject_and_names_the_version_it_saw() {
    let there = post("published", "<script>x</script>\n<!-- searchwright:old -->");
    let server = Fake::new(vec![
        Script::json(200, &posts(&there)),
        Script::json(200, &json!({ "users": [{ "id": "u1" }] })),
        Script::json(200, &posts(&there)),
    ])
    .await;
    let mut seen = remote("6b");
    seen.etag = Some("2026-11-21T08:00:00.000Z".to_owned());
    GHOST.open(&server.url).update(&seen, &item()).await.unwrap();
    let asked = server.asked();
    assert_eq!(
        asked[0].line,
        "GET /ghost/api/admin/posts/6b/?fields=id,codeinjection_foot"
    );
    assert_eq!(asked[2].line, "PUT /ghost/api/admin/posts/6b/?source=html");
    let sent = &asked[2].json()["posts"][0];
    assert_eq!(
        sent["codeinjection_foot"],
        format!("<script>x</script>\n{}", marker().comment())
    );
    assert_eq!(sent["updated_at"], "2026-11-21T08:00:00.000Z");
    assert_eq!(sent["authors"], json!([{ "id": "u1" }]));
}

#[tokio::test]
async fn a_key_that_is_none_is_a_wrong_credential() {
    let error = json!({ "errors": [{ "message": "Invalid token", "code": "INVALID_JWT" }] });
    let server = Fake::new(vec![Script::json(400, &error)]).await;
    let trouble = GHOST.open(&server.url).check().await.unwrap_err();
    assert_eq!(trouble, Trouble::refused(Why::Credential));
    for key in ["", "abc", "abc:", "abc:xy", "abc:012", "abc:0ä1"] {
        assert!(
            super::token(key, searchwright_contract::Instant::from_millis(NOON)).is_err(),
            "{key}"
        );
    }
}

#[tokio::test]
async fn an_image_is_sent_as_a_form() {
    let done = json!({ "images": [{ "url": "https://example.com/content/x.png", "ref": "x" }] });
    let server = Fake::new(vec![Script::json(201, &done)]).await;
    let uploaded = GHOST.open(&server.url).upload(&picture()).await.unwrap();
    assert_eq!(uploaded.reference, "https://example.com/content/x.png");
    let asked = &server.asked()[0];
    assert_eq!(asked.line, "POST /ghost/api/admin/images/upload/");
    let kind = &asked.headers["content-type"];
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    let body = String::from_utf8_lossy(&asked.body).into_owned();
    assert!(body.ends_with(&format!("\r\n--{boundary}--\r\n")), "{body}");
    assert!(
        body.contains("name=\"file\"; filename=\"searchwright-0a1b.png\"\r\nContent-Type: image/png\r\n\r\n"),
        "{body}"
    );
}
