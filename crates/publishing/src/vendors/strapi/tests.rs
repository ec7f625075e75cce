use searchwright_contract::integrations::FieldType;
use serde_json::{Value, json};

use super::super::{
    conformance::{Fixture, Play, Upload, vendor_conformance},
    tests::{
        Connected, Fake, Provider, Script, assert_refused, item, kinds, marker, picture, remote, wanted,
    },
};
use crate::{
    error::{Trouble, Why},
    publisher::Visible,
};

const MAP: &[(&str, &str)] = &[
    ("title", "title"),
    ("content", "text"),
    ("slug", "path"),
    ("featuredImage", "cover"),
    ("tags", "labels"),
    ("publishedAt", "day"),
];

const STRAPI: Connected<'_> = Connected {
    provider: Provider::Strapi,
    address: "siteUrl",
    settings: &[("baseUrl", "https://example.com/blog/")],
    secrets: &[("token", "st_secret")],
    site: None,
    collection: Some("api::article.article"),
    map: MAP,
};

fn fixture() -> Fixture {
    let list = |entries: &[Value]| Script::json(200, &json!({ "data": entries }));
    let file = json!([{ "id": 3, "url": "/uploads/x.png", "alternativeText": "An image" }]);
    let live = || one(&entry("ab"));
    Fixture {
        connected: STRAPI,
        secret: Some("st_secret"),
        id: "doc",
        etag: None,
        account: (None, "{host}"),
        check: Some(Play::new(json!({ "data": [] }))),
        find: Some(Play::new(schema_body()).then([list(&[entry("ab")]), list(&[entry("ab")])])),
        no_place: Why::Schema,
        create: Play::new(live()).after_reads([schema()]),
        held: {
            let mut draft = live();
            draft["data"]["publishedAt"] = Value::Null;
            vec![(Play::new(draft).after_reads([schema()]), "no published version")]
        },
        update: Play::new(live()).after_reads([schema()]),
        unpublish: None,
        upload: Upload::Here(Play::new(file).after_reads([Script::json(200, &json!([]))])),
        lost_field: Some([Some(json!(["Red"])), Some(Value::Null), None].map(|labels| {
            let mut entry = entry("ab");
            if let Some(labels) = labels {
                entry["labels"] = labels;
            }
            vec![schema(), list(&[entry]), list(&[])]
        })),
    }
}

vendor_conformance!(fixture:
    refusals_of_reads_are_told_apart,
    field_that_the_provider_lost_is_no_change_by_others,
);

fn schema() -> Script {
    Script::json(200, &schema_body())
}

fn schema_body() -> Value {
    json!({ "data": { "uid": "api::article.article", "schema": {
            "draftAndPublish": true, "pluralName": "articles", "attributes": {
                "title": { "type": "string", "required": true, "maxLength": 80 },
                "text": { "type": "richtext" },
                "path": { "type": "uid" },
                "cover": { "type": "media", "multiple": false },
                "labels": { "type": "json" },
                "day": { "type": "date" },
                "body": { "type": "blocks" },
                "mood": { "type": "enumeration", "enum": ["a", "b"] },
                "kind": { "type": "relation", "required": true },
            },
        } } })
}

fn entry(digest: &str) -> Value {
    let mut mark = marker();
    mark.digest = digest.repeat(8);
    json!({ "id": 1, "documentId": "doc", "title": "A & B", "path": "a-b", "text": format!("One\n\n{}", mark.comment()),
        "cover": { "id": 12, "url": "/x.png", "updatedAt": digest } })
}

fn one(entry: &Value) -> Value {
    json!({ "data": entry })
}

#[tokio::test]
async fn an_entry_is_made_and_published() {
    let server = Fake::new(vec![schema(), Script::json(201, &one(&entry("ab")))]).await;
    let made = STRAPI.open(&server.url).create(&item()).await.unwrap();
    assert_eq!(
        (made.id.as_str(), made.visible, made.url.as_deref()),
        ("doc", Visible::Live, Some("https://example.com/blog/a-b"))
    );
    assert_eq!(made.marker, Some(marker()));
    let asked = server.asked();
    assert_eq!(
        asked[0].line,
        "GET /api/content-type-builder/content-types/api%3A%3Aarticle.article"
    );
    assert_eq!(
        asked[1].line,
        "POST /api/articles?status=published&populate[0]=cover"
    );
    assert_eq!(asked[1].headers["authorization"], "Bearer st_secret");
    assert_eq!(
        asked[1].json(),
        json!({ "data": {
            "title": "A & B", "text": format!("One\n\nTwo\n\n{}", marker().comment()), "path": "a-b", "cover": 12,
            "labels": ["Red", "Green"], "day": "2026-11-21",
        } })
    );
}

#[tokio::test]
async fn readers_see_the_published_version_and_people_edit_the_draft() {
    let list = |entries: &[Value]| Script::json(200, &json!({ "data": entries }));
    let mut versions = Vec::new();
    for (draft, published, visible, digest) in [
        (entry("ab"), Some(entry("ab")), Visible::Live, "ab"),
        (entry("cd"), Some(entry("ab")), Visible::Live, "ab"),
        (entry("cd"), None, Visible::Draft, "cd"),
    ] {
        let published = Vec::from_iter(published);
        let server = Fake::new(vec![schema(), list(&[draft]), list(&published)]).await;
        let found = STRAPI.open(&server.url).find(&wanted(Some("doc"))).await.unwrap();
        let marker = found[0].marker.as_ref().unwrap();
        assert_eq!((found.len(), found[0].visible), (1, visible));
        assert_eq!(marker.digest, digest.repeat(8));
        versions.push(found[0].version.clone());
        let asked = server.asked();
        assert_eq!(
            asked[1].line,
            "GET /api/articles?status=draft&pagination[pageSize]=100&filters[$or][0][documentId][$eq]=doc&filters[$or][1][text][$contains]=searchwright%3A00000000-0000-0000-0000-000000000007&filters[$or][2][path][$eq]=a-b&populate[0]=cover"
        );
        assert_eq!(
            asked[2].line,
            "GET /api/articles?status=published&pagination[pageSize]=100&filters[documentId][$in][0]=doc&populate[0]=cover"
        );
    }
    assert!(
        versions.iter().all(|version| *version == versions[0]),
        "{versions:?}"
    );
}

#[tokio::test]
async fn what_is_live_cannot_be_taken_back() {
    let server = Fake::new(vec![schema()]).await;
    let strapi = STRAPI.open(&server.url);
    let mut draft = item();
    draft.live = false;
    for answer in [
        strapi.update(&remote("doc"), &draft).await,
        strapi.unpublish(&remote("doc")).await,
    ] {
        assert_refused(&answer, Why::Unsupported);
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_field_that_is_gone_is_said() {
    let without = json!({ "data": { "schema": { "draftAndPublish": true, "pluralName": "articles",
        "attributes": { "title": { "type": "string" } } } } });
    let server = Fake::new(vec![Script::json(200, &without)]).await;
    let trouble = STRAPI.open(&server.url).create(&item()).await.unwrap_err();
    assert!(
        matches!(
            trouble,
            Trouble::Refused {
                why: Why::Schema,
                said: Some(_)
            }
        ),
        "{trouble:?}"
    );
}

#[tokio::test]
async fn fields_are_those_that_take_something() {
    let server = Fake::new(vec![schema()]).await;
    let fields = STRAPI
        .open(&server.url)
        .fields(None, Some("api::article.article"))
        .await
        .unwrap();
    assert_eq!(
        kinds(&fields),
        [
            ("title", FieldType::Text, true),
            ("text", FieldType::Markdown, false),
            ("path", FieldType::Slug, false),
            ("cover", FieldType::Image, false),
            ("labels", FieldType::List, false),
            ("day", FieldType::Date, false),
            ("mood", FieldType::Text, false),
            ("kind", FieldType::Boolean, true),
        ]
    );
    assert_eq!(fields[0].max_length, Some(80));
    assert_eq!(fields[6].options.as_ref().map(Vec::len), Some(2));
}

#[tokio::test]
async fn an_image_is_looked_for_and_sent_as_a_form() {
    let file = json!([{ "id": 3, "url": "/uploads/x.png", "alternativeText": "An image" }]);
    let server = Fake::new(vec![
        Script::json(403, &json!({ "error": { "message": "Forbidden" } })),
        Script::json(201, &file),
    ])
    .await;
    let uploaded = STRAPI.open(&server.url).upload(&picture()).await.unwrap();
    assert_eq!(uploaded.reference, "3");
    assert_eq!(uploaded.url, Some(format!("{}/uploads/x.png", server.url)));
    let asked = server.asked();
    assert_eq!(
        asked[0].line,
        "GET /api/upload/files?filters[name][$eq]=searchwright-0a1b.png"
    );
    assert_eq!(asked[1].line, "POST /api/upload");
    let body = String::from_utf8_lossy(&asked[1].body).into_owned();
    assert!(
        body.contains("name=\"fileInfo\"\r\n\r\n{\"name\":\"searchwright-0a1b.png\",\"alternativeText\":\"An image\"}\r\n"),
        "{body}"
    );
    assert!(body.contains("name=\"files\"; filename="), "{body}");

    let server = Fake::new(vec![Script::json(200, &file)]).await;
    assert_eq!(
        STRAPI
            .open(&server.url)
            .upload(&picture())
            .await
            .unwrap()
            .reference,
        "3"
    );
    assert_eq!(server.asked().len(), 1);
}
