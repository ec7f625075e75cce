use searchwright_contract::integrations::FieldType;
use serde_json::{Value, json};

use super::super::{
    conformance::{Fixture, Play, Upload, vendor_conformance},
    tests::{
        Connected, Fake, Provider, Script, assert_refused, item, kinds, marker, picture, remote, wanted,
    },
};
use crate::{error::Why, publisher::Visible};

const MAP: &[(&str, &str)] = &[
    ("title", "title"),
    ("content", "body"),
    ("slug", "slug"),
    ("featuredImage", "image"),
    ("tags", "labels"),
    ("excerpt", "intro"),
];

const DIRECTUS: Connected<'_> = Connected {
    provider: Provider::Directus,
    address: "siteUrl",
    settings: &[("baseUrl", "https://example.com/b")],
    secrets: &[("token", "dx_secret")],
    site: None,
    collection: Some("posts"),
    map: MAP,
};

fn fixture() -> Fixture {
    let schema = || schema("integer", &status());
    let state = |state: &str| entry(&json!(state));
    let found = json!({ "data": [state("published")["data"]] });
    let found_with = |intro: Option<Value>| {
        let mut item = state("published")["data"].clone();
        let members = item.as_object_mut().unwrap();
        members.remove("intro");
        members.extend(intro.map(|intro| ("intro".to_owned(), intro)));
        vec![schema(), Script::json(200, &json!({ "data": [item] }))]
    };
    Fixture {
        connected: DIRECTUS,
        secret: Some("dx_secret"),
        id: "4",
        etag: None,
        account: (Some("Ann"), "{host}"),
        check: Some(Play::new(json!({ "data": { "id": "u1", "first_name": "Ann" } }))),
        find: Some(Play::new(schema_body("integer", &status())).then([Script::json(200, &found)])),
        no_place: Why::Permission,
        create: Play::new(state("published")).after_reads([schema()]),
        held: vec![(
            Play::new(state("review")).after_reads([schema()]),
            "status: review",
        )],
        update: Play::new(state("published")).after_reads([schema()]),
        unpublish: Some(Play::new(state("draft")).after_reads([schema()])),
        upload: Upload::Here(
            Play::new(json!({ "data": { "id": "f1", "description": "An image" } }))
                .after_reads([Script::json(200, &json!({ "data": [] }))]),
        ),
        lost_field: Some([Some(json!("Short")), Some(Value::Null), None].map(found_with)),
    }
}

vendor_conformance!(fixture:
    refusals_of_reads_are_told_apart,
    field_that_the_provider_lost_is_no_change_by_others,
);

fn schema(key: &str, status: &Value) -> Script {
    Script::json(200, &schema_body(key, status))
}

fn schema_body(key: &str, status: &Value) -> Value {
    let column = |name: &str, kind: &str, interface: &str| json!({ "field": name, "type": kind, "meta": { "interface": interface }, "schema": { "is_nullable": true } });
    let mut fields = vec![
        json!({ "field": "id", "type": key, "schema": { "is_primary_key": true, "is_nullable": false } }),
        json!({ "field": "title", "type": "string", "schema": { "is_nullable": false, "max_length": 255 } }),
        column("body", "text", "input-rich-text-md"),
        column("slug", "string", "input"),
        json!({ "field": "image", "type": "uuid", "meta": { "special": ["file"] }, "schema": { "is_nullable": true } }),
        column("labels", "json", "tags"),
        column("intro", "text", "input-multiline"),
        json!({ "field": "made", "type": "timestamp", "meta": { "readonly": true }, "schema": {} }),
        json!({ "field": "notes", "type": "alias" }),
    ];
    fields.extend((!status.is_null()).then(|| status.clone()));
    json!({ "data": fields })
}

fn status() -> Value {
    json!({ "field": "status", "type": "string", "schema": { "is_nullable": false, "default_value": "draft" } })
}

fn entry(status: &Value) -> Value {
    json!({ "data": { "id": 4, "title": "A & B", "body": format!("One\n\n{}", marker().comment()), "slug": "a-b",
        "status": status, "image": "12", "labels": [], "intro": null } })
}

#[tokio::test]
async fn an_item_is_made_with_its_status() {
    let server = Fake::new(vec![
        schema("integer", &status()),
        Script::json(200, &entry(&json!("published"))),
    ])
    .await;
    let made = DIRECTUS.open(&server.url).create(&item()).await.unwrap();
    assert_eq!(
        (made.id.as_str(), made.visible, made.url.as_deref()),
        ("4", Visible::Live, Some("https://example.com/b/a-b"))
    );
    assert_eq!(made.marker, Some(marker()));
    let asked = server.asked();
    assert_eq!(asked[0].line, "GET /fields/posts");
    assert_eq!(
        asked[1].line,
        "POST /items/posts?fields=body,id,image,intro,labels,slug,status,title"
    );
    assert_eq!(
        asked[1].json(),
        json!({ "status": "published", "title": "A & B", "body": format!("One\n\nTwo\n\n{}", marker().comment()),
            "slug": "a-b", "image": "12", "labels": ["Red", "Green"], "intro": "Short" })
    );
}

#[tokio::test]
async fn a_key_that_is_a_uuid_is_the_posts() {
    let server = Fake::new(vec![
        schema("uuid", &status()),
        Script::json(200, &entry(&json!("published"))),
    ])
    .await;
    let directus = DIRECTUS.open(&server.url);
    directus.create(&item()).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked[1].json()["id"], "00000000-0000-0000-0000-000000000007");

    let none = Script::json(200, &json!({ "data": [] }));
    let server = Fake::new(vec![schema("uuid", &status()), none]).await;
    assert!(
        DIRECTUS
            .open(&server.url)
            .find(&wanted(None))
            .await
            .unwrap()
            .is_empty()
    );
    let line = &server.asked()[1].line;
    let filter = line.split("filter=").nth(1).unwrap();
    let (_, filter) = url::form_urlencoded::parse(format!("f={filter}").as_bytes())
        .into_owned()
        .next()
        .unwrap();
    let post = "00000000-0000-0000-0000-000000000007";
    assert_eq!(
        serde_json::from_str::<Value>(&filter).unwrap(),
        json!({ "_or": [
            { "id": { "_eq": post } },
            { "body": { "_contains": format!("searchwright:{post}") } },
            { "slug": { "_eq": "a-b" } },
        ] })
    );
}

#[tokio::test]
async fn whether_readers_see_it_is_what_the_collection_says() {
    let custom = json!({ "field": "state", "type": "string", "schema": {} });
    let settings = [
        ("baseUrl", "https://example.com/b"),
        ("statusField", "state"),
        ("liveValue", "on"),
        ("draftValue", "off"),
    ];
    let mut answer = entry(&Value::Null);
    answer["data"]["state"] = json!("off");
    let server = Fake::new(vec![schema("integer", &custom), Script::json(200, &answer)]).await;
    let directus = Connected {
        settings: &settings,
        ..DIRECTUS
    };
    let taken = directus.open(&server.url).unpublish(&remote("4")).await.unwrap();
    assert_eq!((taken.visible, taken.url), (Visible::Draft, None));
    assert!(server.asked()[1].line.starts_with("PATCH /items/posts/4?fields="));
    assert_eq!(server.asked()[1].json(), json!({ "state": "off" }));

    let yes = json!({ "field": "status", "type": "boolean", "schema": {} });
    let server = Fake::new(vec![
        schema("integer", &yes),
        Script::json(200, &entry(&json!(true))),
    ])
    .await;
    let made = DIRECTUS.open(&server.url).create(&item()).await.unwrap();
    assert_eq!(made.visible, Visible::Live);
    assert_eq!(server.asked()[1].json()["status"], true);

    let server = Fake::new(vec![
        schema("integer", &Value::Null),
        Script::json(200, &entry(&Value::Null)),
    ])
    .await;
    let directus = DIRECTUS.open(&server.url);
    assert_eq!(directus.create(&item()).await.unwrap().visible, Visible::Live);
    assert_refused(&directus.unpublish(&remote("4")).await, Why::Unsupported);
}

#[tokio::test]
async fn fields_are_those_that_people_fill() {
    let server = Fake::new(vec![schema("integer", &status())]).await;
    let fields = DIRECTUS
        .open(&server.url)
        .fields(None, Some("posts"))
        .await
        .unwrap();
    assert_eq!(
        kinds(&fields),
        [
            ("title", FieldType::Text, true),
            ("body", FieldType::Markdown, false),
            ("slug", FieldType::Text, false),
            ("image", FieldType::Image, false),
            ("labels", FieldType::List, false),
            ("intro", FieldType::Text, false),
        ]
    );
    assert_eq!(fields[0].max_length, Some(255));
}

#[tokio::test]
async fn an_image_is_looked_for_by_its_name() {
    let none = Script::json(200, &json!({ "data": [] }));
    let made = Script::json(200, &json!({ "data": { "id": "f1", "description": "An image" } }));
    let server = Fake::new(vec![none, made]).await;
    let uploaded = DIRECTUS.open(&server.url).upload(&picture()).await.unwrap();
    assert_eq!(uploaded.url, Some(format!("{}/assets/f1", server.url)));
    let asked = server.asked();
    assert_eq!(
        asked[0].line,
        "GET /files?limit=1&fields=id,description&filter=%7B%22filename_download%22%3A%7B%22_eq%22%3A%22searchwright-0a1b.png%22%7D%7D"
    );
    assert_eq!(asked[1].line, "POST /files?fields=id,description");
    let body = String::from_utf8_lossy(&asked[1].body).into_owned();
    let (title, file) = (body.find("name=\"title\""), body.find("name=\"file\""));
    assert!(title.is_some() && title < file, "fields before the file: {body}");
}
