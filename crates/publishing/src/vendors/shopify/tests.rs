use serde_json::{Value, json};

use super::super::{
    conformance::{Fixture, Play, Upload, vendor_conformance},
    tests::{Connected, Fake, Provider, Script, assert_refused, item, marker, remote, wanted},
};
use crate::{
    error::{Cause, Trouble, Why},
    publisher::Visible,
};

const MAP: &[(&str, &str)] = &[
    ("title", "title"),
    ("content", "body"),
    ("excerpt", "summary"),
    ("tags", "tags"),
    ("featuredImage", "image"),
    ("metaTitle", "metafield.global.title_tag"),
    ("metaDescription", "metafield.custom.lead"),
];
const BLOG: &str = "gid://shopify/Blog/7";

const SHOPIFY: Connected<'_> = Connected {
    provider: Provider::Shopify,
    address: "apiUrl",
    settings: &[("siteUrl", "shop"), ("clientId", "app")],
    secrets: &[("token", "shpat_1234")],
    site: None,
    collection: Some(BLOG),
    map: MAP,
};
/// An app of the Dev Dashboard, which has no token of its own.
const APP: Connected<'_> = Connected {
    secrets: &[("clientSecret", "shhh")],
    ..SHOPIFY
};

fn fixture() -> Fixture {
    let account = json!({ "data": { "shop": { "name": "Peer", "myshopifyDomain": "peer.myshopify.com" },
        "currentAppInstallation": { "accessScopes": [{ "handle": "write_content" }] } } });
    let mark = || Some(marker().to_string());
    let updated = |is_live: bool| {
        let mut article = article(1, "a-b", mark());
        article["isPublished"] = json!(is_live);
        json!({ "data": { "articleUpdate": { "article": article, "userErrors": [] } } })
    };
    let found = json!({ "article": article(1, "a-b", mark()), "articles": { "nodes": [] },
        "blog": { "articles": { "nodes": [] } } });
    Fixture {
        connected: SHOPIFY,
        secret: Some("shpat_1234"),
        id: "gid://shopify/Article/1",
        etag: None,
        account: (Some("Peer"), "peer.myshopify.com"),
        check: Some(Play::new(account)),
        find: Some(Play::new(json!({ "data": shop_data() })).then([data(&found)])),
        no_place: Why::Missing,
        create: Play::new(json!({ "data": made() })).after_reads([shop()]),
        held: [
            (json!(null), "isPublished: false"),
            (json!("2026-12-01T00:00:00Z"), "2026-12-01"),
        ]
        .map(|(at, word)| {
            let mut made = made();
            let article = &mut made["articleCreate"]["article"];
            article["isPublished"] = json!(false);
            article["publishedAt"] = at;
            (Play::new(json!({ "data": made })).after_reads([shop()]), word)
        })
        .to_vec(),
        update: Play::new(updated(true)).after_reads([shop()]),
        unpublish: Some(Play::new(updated(false)).after_reads([shop()])),
        upload: Upload::Never,
        lost_field: None,
    }
}

vendor_conformance!(fixture:
    refusals_of_reads_are_told_apart,
);

fn data(data: &Value) -> Script {
    Script::json(200, &json!({ "data": data }))
}

fn shop() -> Script {
    data(&shop_data())
}

fn shop_data() -> Value {
    json!({ "shop": { "name": "Peer", "primaryDomain": { "url": "https://example.com" } } })
}

fn article(id: u8, handle: &str, mark: Option<String>) -> Value {
    let metafields =
        Vec::from_iter(mark.map(|mark| json!({ "namespace": "searchwright", "key": "post", "value": mark })));
    json!({ "id": format!("gid://shopify/Article/{id}"), "title": "A & B", "handle": handle, "body": "", "tags": [],
        "isPublished": true, "author": { "name": "Peer" }, "blog": { "handle": "news" }, "metafields": { "nodes": metafields } })
}

fn made() -> Value {
    json!({ "articleCreate": { "article": article(1, "a-b", Some(marker().to_string())), "userErrors": [] } })
}

#[tokio::test]
async fn an_article_is_made_with_its_mark() {
    let server = Fake::new(vec![shop(), data(&made())]).await;
    let made = SHOPIFY.open(&server.url).create(&item()).await.unwrap();
    assert_eq!(
        (made.visible, made.url.as_deref(), made.marker),
        (
            Visible::Live,
            Some("https://example.com/blogs/news/a-b"),
            Some(marker())
        )
    );
    let asked = server.asked();
    assert_eq!(asked[1].line, "POST /admin/api/2026-10/graphql.json");
    assert_eq!(asked[1].headers["x-shopify-access-token"], "shpat_1234");
    let body = asked[1].json();
    assert!(body["query"].as_str().unwrap().starts_with("mutation("));
    assert_eq!(
        body["variables"],
        json!({
            "keys": ["custom.lead", "global.title_tag", "searchwright.post"],
            "article": {
                "title": "A & B", "handle": "a-b", "body": "<p>One</p>\n<p>Two</p>\n", "isPublished": true,
                "author": { "name": "Peer" }, "summary": "Short",
                "image": { "url": "https://example.com/i.jpg", "altText": "An image" }, "tags": ["Red", "Green"],
                "metafields": [
                    { "namespace": "searchwright", "key": "post", "type": "single_line_text_field", "value": marker().to_string() },
                    { "namespace": "custom", "key": "lead", "value": "Meta description" },
                    { "namespace": "global", "key": "title_tag", "value": "Meta title", "type": "single_line_text_field" },
                ],
                "blogId": BLOG,
            },
        })
    );
}

#[tokio::test]
async fn an_article_is_found_among_the_newest_and_by_its_handle() {
    let other = format!("searchwright:{}:abababababababab", uuid::Uuid::from_u128(8));
    let found = json!({
        "article": null,
        "articles": { "nodes": [article(1, "a-b", None)] },
        "blog": { "articles": { "nodes": [
            article(2, "renamed", Some(marker().to_string())), article(3, "b", Some(other)), article(1, "a-b", None),
        ] } },
    });
    let server = Fake::new(vec![shop(), data(&found)]).await;
    let found = SHOPIFY.open(&server.url).find(&wanted(None)).await.unwrap();
    let ids: Vec<&str> = found.iter().map(|remote| remote.id.as_str()).collect();
    assert_eq!(ids, ["gid://shopify/Article/1", "gid://shopify/Article/2"]);
    assert_eq!(found[1].marker, Some(marker()));
    let body = server.asked()[1].json();
    assert_eq!(body["variables"]["query"], "blog_id:7 AND handle:'a-b'");
}

#[tokio::test]
async fn a_mark_is_known_with_its_namespace_in_the_key() {
    let mut made = made();
    for key in ["post", "searchwright.post"] {
        made["articleCreate"]["article"]["metafields"]["nodes"][0]["key"] = json!(key);
        let server = Fake::new(vec![shop(), data(&made)]).await;
        let made = SHOPIFY.open(&server.url).create(&item()).await.unwrap();
        assert_eq!(made.marker, Some(marker()), "{key}");
    }
}

#[tokio::test]
async fn an_old_link_leads_to_what_is_renamed() {
    let changed = json!({ "articleUpdate": { "article": article(1, "a-b", None), "userErrors": [] } });
    let server = Fake::new(vec![shop(), data(&changed)]).await;
    let mut before = remote("gid://shopify/Article/1");
    before.slug = Some("old".to_owned());
    SHOPIFY.open(&server.url).update(&before, &item()).await.unwrap();
    let body = server.asked()[1].json();
    assert_eq!(body["variables"]["id"], "gid://shopify/Article/1");
    assert_eq!(body["variables"]["article"]["redirectNewHandle"], true);
    assert!(body["variables"]["article"].get("author").is_none());
}

#[tokio::test]
async fn messages_that_come_with_a_success_are_cut_and_show_no_secret() {
    let said = format!("shpat_1234 is no token\n{}", "é".repeat(999));
    let graphql = json!({ "errors": [{ "message": said, "extensions": { "code": "ACCESS_DENIED" } }] });
    let user =
        json!({ "data": { "articleCreate": { "article": null, "userErrors": [{ "message": said }] } } });
    for answer in [graphql, user] {
        let server = Fake::new(vec![shop(), Script::json(200, &answer)]).await;
        let refused = SHOPIFY.open(&server.url).create(&item()).await.unwrap_err();
        let Trouble::Refused { said: Some(said), .. } = refused else {
            panic!("{refused:?}");
        };
        assert!(said.starts_with("[secret] is no token é"), "{said}");
        assert_eq!(said.chars().count(), 300);
    }
}

#[tokio::test]
async fn errors_that_come_with_a_success_are_errors() {
    let error = |code: &str| json!({ "errors": [{ "message": "no", "extensions": { "code": code } }] });
    let user = json!({ "data": { "articleCreate": { "article": null,
        "userErrors": [{ "code": "TAKEN", "field": ["article", "handle"], "message": "Handle has already been taken" }] } } });
    for (answer, means) in [
        (error("ACCESS_DENIED"), Trouble::because(Why::Permission, "no")),
        (
            error("THROTTLED"),
            Trouble::NotNow {
                cause: Cause::RateLimited,
                after: None,
            },
        ),
        (
            error("INTERNAL_SERVER_ERROR"),
            Trouble::Unclear {
                cause: Cause::Status,
                status: Some(200),
            },
        ),
        (error("undefinedField"), Trouble::because(Why::Invalid, "no")),
        (
            user,
            Trouble::because(Why::Invalid, "Handle has already been taken"),
        ),
    ] {
        let server = Fake::new(vec![shop(), Script::json(200, &answer)]).await;
        assert_eq!(
            SHOPIFY.open(&server.url).create(&item()).await.unwrap_err(),
            means
        );
    }
}

#[tokio::test]
async fn an_app_exchanges_its_secret_for_a_token() {
    let token = Script::json(200, &json!({ "access_token": "shpat_day", "expires_in": 86399 }));
    let scopes = |name: &str| {
        data(
            &json!({ "shop": { "name": "Peer", "myshopifyDomain": "peer.myshopify.com" },
            "currentAppInstallation": { "accessScopes": [{ "handle": name }] } }),
        )
    };
    let server = Fake::new(vec![token.clone(), scopes("write_content")]).await;
    let account = APP.open(&server.url).check().await.unwrap();
    assert_eq!(account.site, "peer.myshopify.com");
    let asked = server.asked();
    assert_eq!(asked[0].line, "POST /admin/oauth/access_token");
    assert_eq!(
        asked[0].json(),
        json!({ "client_id": "app", "client_secret": "shhh", "grant_type": "client_credentials" })
    );
    assert_eq!(asked[1].headers["x-shopify-access-token"], "shpat_day");

    let server = Fake::new(vec![token, scopes("read_content")]).await;
    let answer = APP.open(&server.url).check().await;
    assert_refused(&answer, Why::Permission);

    let wrong = Script::json(400, &json!({ "error": "invalid_client" }));
    let server = Fake::new(vec![wrong]).await;
    let answer = APP.open(&server.url).check().await;
    assert_refused(&answer, Why::Credential);
    let bare = Connected {
        secrets: &[],
        ..SHOPIFY
    };
    let answer = bare.open(&server.url).check().await;
    assert_refused(&answer, Why::Credential);
}
