use serde_json::{Value, json};

use super::super::{
    conformance::{Fixture, Play, Upload, vendor_conformance},
    tests::{Connected, Fake, Provider, Script, item, lines, picture, remote, wanted},
};
use crate::{error::Why, publisher::Visible};

const MAP: &[(&str, &str)] = &[
    ("title", "title"),
    ("content", "richContent"),
    ("excerpt", "excerpt"),
    ("featuredImage", "media"),
    ("metaTitle", "seoTitle"),
    ("metaDescription", "seoDescription"),
    ("canonicalUrl", "seoCanonical"),
];

const WIX: Connected<'_> = Connected {
    provider: Provider::Wix,
    address: "apiUrl",
    settings: &[("siteId", "site-1"), ("memberId", "member-1")],
    secrets: &[("key", "IST.secret")],
    site: None,
    collection: None,
    map: MAP,
};

fn fixture() -> Fixture {
    let live = || one(&post("p1", "a-b", "PUBLISHED"));
    let none = Script::json(404, &json!({ "message": "none" }));
    Fixture {
        connected: WIX,
        secret: Some("IST.secret"),
        id: "p1",
        etag: None,
        account: (None, "site-1"),
        check: Some(Play::new(json!({ "draftPosts": [] }))),
        find: Some(Play::new(json!({ "draftPosts": [post("p1", "a-b", "PUBLISHED")] })).then([none])),
        no_place: Why::Missing,
        create: Play::new(live()).after_reads([rich()]),
        held: ["IN_REVIEW", "SCHEDULED", "UNPUBLISHED"]
            .map(|status| {
                let post = one(&post("p1", "a-b", status));
                let again = Script::json(200, &post);
                (Play::new(post).after_reads([rich()]).then([again]), status)
            })
            .to_vec(),
        update: Play::new(live()).after_reads([rich()]),
        unpublish: Some(Play::new(one(&post("p1", "a-b", "UNPUBLISHED")))),
        upload: Upload::Elsewhere,
        lost_field: None,
    }
}

vendor_conformance!(fixture:
    refusals_of_reads_are_told_apart,
);

fn rich() -> Script {
    Script::json(
        200,
        &json!({ "document": { "nodes": [{ "type": "PARAGRAPH" }] } }),
    )
}

fn post(id: &str, slug: &str, status: &str) -> Value {
    json!({ "id": id, "title": "A & B", "seoSlug": slug, "status": status, "richContent": { "nodes": [] },
        "url": { "base": "https://example.com", "path": "/post/a-b" } })
}

fn one(post: &Value) -> Value {
    json!({ "draftPost": post })
}

#[tokio::test]
async fn what_is_said_of_a_draft_is_asked_again_once_it_is_published() {
    let answers =
        ["UNPUBLISHED", "PUBLISHED"].map(|status| Script::json(200, &one(&post("p1", "a-b", status))));
    let server = Fake::new([vec![rich()], answers.to_vec()].concat()).await;
    let made = WIX.open(&server.url).create(&item()).await.unwrap();
    assert_eq!((made.visible, made.reason), (Visible::Live, None));
}

#[tokio::test]
async fn a_post_is_converted_made_and_published() {
    let made = Script::json(200, &one(&post("p1", "a-b", "PUBLISHED")));
    let server = Fake::new(vec![rich(), made]).await;
    let made = WIX.open(&server.url).create(&item()).await.unwrap();
    assert_eq!(
        (made.visible, made.url.as_deref()),
        (Visible::Live, Some("https://example.com/post/a-b"))
    );
    let asked = server.asked();
    assert_eq!(
        lines(&asked),
        [
            "POST /ricos/v1/ricos-document/convert/to-ricos",
            "POST /blog/v3/draft-posts"
        ]
    );
    assert_eq!(asked[0].json(), json!({ "html": "<p>One</p>\n<p>Two</p>\n" }));
    assert_eq!(asked[1].headers["authorization"], "IST.secret");
    assert_eq!(asked[1].headers["wix-site-id"], "site-1");
    assert_eq!(
        asked[1].json(),
        json!({ "publish": true, "fieldsets": ["URL", "RICH_CONTENT"], "draftPost": {
            "title": "A & B", "seoSlug": "a-b", "richContent": { "nodes": [{ "type": "PARAGRAPH" }] }, "memberId": "member-1",
            "excerpt": "Short",
            "media": { "wixMedia": { "image": { "id": "12" } }, "displayed": true, "custom": true, "altText": "An image" },
            "seoData": { "tags": [
                { "type": "link", "props": { "rel": "canonical", "href": "https://example.com/a-b" } },
                { "type": "meta", "props": { "name": "description", "content": "Meta description" } },
                { "type": "title", "children": "Meta title" },
            ] },
        } })
    );
}

#[tokio::test]
async fn labels_are_found_or_made() {
    let answers = vec![
        rich(),
        Script::json(200, &json!({ "tag": { "id": "t1" } })),
        Script::json(404, &json!({ "message": "none" })),
        Script::json(200, &json!({ "tag": { "id": "t2" } })),
        Script::json(200, &one(&post("p1", "a-b", "PUBLISHED"))),
    ];
    let server = Fake::new(answers).await;
    Connected {
        map: &[("tags", "tagIds")],
        ..WIX
    }
    .open(&server.url)
    .create(&item())
    .await
    .unwrap();
    let asked = server.asked();
    assert_eq!(
        lines(&asked[1..4]),
        [
            "GET /blog/v3/tags/labels/Red",
            "GET /blog/v3/tags/labels/Green",
            "POST /blog/v3/tags"
        ]
    );
    assert_eq!(asked[4].json()["draftPost"]["tagIds"], json!(["t1", "t2"]));
}

#[tokio::test]
async fn what_is_to_be_seen_is_told_with_the_change() {
    for (live, visible, action) in [
        (true, Visible::Draft, "UPDATE_PUBLISH"),
        (true, Visible::Live, "UPDATE_PUBLISH"),
        (false, Visible::Live, "UPDATE_REVERT_TO_DRAFT"),
        (false, Visible::Draft, "UPDATE"),
    ] {
        let server = Fake::new(vec![
            rich(),
            Script::json(200, &one(&post("p1", "a-b", "UNPUBLISHED"))),
        ])
        .await;
        let mut wanted = item();
        wanted.live = live;
        let mut before = remote("p1");
        before.visible = visible;
        WIX.open(&server.url).update(&before, &wanted).await.unwrap();
        let asked = server.asked();
        assert_eq!(asked[1].line, "PATCH /blog/v3/draft-posts/p1");
        assert_eq!(asked[1].json()["action"], action);
        assert_eq!(asked[1].json()["draftPost"]["id"], "p1");
    }
    let server = Fake::new(vec![Script::json(200, &one(&post("p1", "a-b", "UNPUBLISHED")))]).await;
    WIX.open(&server.url).unpublish(&remote("p1")).await.unwrap();
    let body = server.asked()[0].json();
    assert_eq!(body["draftPost"], json!({ "id": "p1" }));
    assert_eq!(body["action"], "UPDATE_REVERT_TO_DRAFT");
}

#[tokio::test]
async fn a_post_is_found_among_the_newest_and_among_what_readers_see() {
    let newest = json!({ "draftPosts": [
        post("p1", "other", "UNPUBLISHED"), post("p2", "a-b", "UNPUBLISHED"), post("p3", "a-b", "DELETED"),
    ] });
    let server = Fake::new(vec![
        Script::json(200, &newest),
        Script::json(200, &json!({ "post": { "id": "p4" } })),
        Script::json(404, &json!({ "message": "gone" })),
        Script::json(200, &one(&post("p4", "a-b", "PUBLISHED"))),
    ])
    .await;
    let found = WIX.open(&server.url).find(&wanted(Some("p0"))).await.unwrap();
    let ids: Vec<&str> = found.iter().map(|remote| remote.id.as_str()).collect();
    assert_eq!(ids, ["p2", "p4"]);
    assert_eq!(
        lines(&server.asked()),
        [
            "POST /blog/v3/draft-posts/query",
            "GET /blog/v3/posts/slugs/a-b",
            "GET /blog/v3/draft-posts/p0?fieldsets=URL&fieldsets=RICH_CONTENT",
            "GET /blog/v3/draft-posts/p4?fieldsets=URL&fieldsets=RICH_CONTENT",
        ]
    );
}

#[tokio::test]
async fn an_image_goes_to_the_address_that_is_told_without_the_key() {
    let file = json!({ "file": { "id": "f1", "url": "https://static.example/f1" } });
    let store = Fake::new(vec![Script::json(200, &file)]).await;
    let address = json!({ "uploadUrl": format!("{}/upload?token=x", store.url) });
    let server = Fake::new(vec![Script::json(200, &address)]).await;
    let uploaded = WIX.open(&server.url).upload(&picture()).await.unwrap();
    assert_eq!(uploaded.reference, "f1");
    assert_eq!(
        server.asked()[0].json(),
        json!({ "mimeType": "image/png", "fileName": "searchwright-0a1b.png" })
    );
    let sent = &store.asked()[0];
    assert_eq!(sent.line, "PUT /upload?token=x");
    assert_eq!(sent.body, b"\x89PNG");
    assert!(!sent.headers.contains_key("authorization"));
}
