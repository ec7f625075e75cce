use searchwright_contract::integrations::FieldType;
use serde_json::{Value, json};

use super::super::{
    conformance::{Fixture, Play, Upload, vendor_conformance},
    tests::{Asked, Connected, Fake, POST, Provider, Script, item, marker, remote, wanted},
};
use crate::{
    error::{Trouble, Why},
    publisher::Visible,
};

const MAP: &[(&str, &str)] = &[
    ("title", "title"),
    ("content", "body"),
    ("slug", "slug"),
    ("tags", "labels"),
    ("excerpt", "intro"),
];
const HOME: &str = "/spaces/s1/environments/master";

const CONTENTFUL: Connected<'_> = Connected {
    provider: Provider::Contentful,
    address: "apiUrl",
    settings: &[("baseUrl", "https://example.com/blog")],
    secrets: &[("token", "CFPAT-secret")],
    site: Some("s1"),
    collection: Some("post"),
    map: MAP,
};

fn fixture() -> Fixture {
    let json = |body: Value| Script::json(200, &body);
    let none = || json(json!({ "items": [] }));
    Fixture {
        connected: CONTENTFUL,
        secret: Some("CFPAT-secret"),
        id: POST,
        etag: Some("5"),
        account: (Some("Space"), "s1"),
        check: Some(Play::new(
            json!({ "items": [{ "sys": { "id": "s1" }, "name": "Space" }] }),
        )),
        find: Some(Play::new(described_body("Text")).then([locales(), json(entry(2, Some(1))), none()])),
        no_place: Why::Schema,
        create: Play::new(entry(1, None))
            .after_reads([described("Text"), locales()])
            .then([json(entry(2, Some(1)))])
            .in_steps(),
        held: vec![(
            Play::new(entry(1, None))
                .after_reads([described("Text"), locales()])
                .then([json(entry(2, None))]),
            "no published version",
        )],
        update: Play::new(entry(6, Some(4)))
            .after_reads([json(entry(5, Some(4))), described("Text"), locales()])
            .then([json(entry(7, Some(6)))])
            .in_steps(),
        unpublish: Some(Play::new(entry(8, None)).after_reads([described("Text"), locales()])),
        upload: Upload::Never,
        lost_field: Some([(5, true), (5, false), (4, false)].map(|(count, is_filled)| {
            let fields: Vec<Value> = ["title", "body", "slug", "labels", "intro"][..count]
                .iter()
                .map(|id| json!({ "id": id, "name": id, "type": "Text" }))
                .collect();
            let mut entry = entry(1, None);
            if !is_filled {
                entry["fields"].as_object_mut().unwrap().remove("intro");
            }
            vec![json(json!({ "fields": fields })), locales(), json(entry), none()]
        })),
    }
}

vendor_conformance!(fixture:
    refusals_of_reads_are_told_apart,
    failure_of_a_later_step_leaves_open_what_happened,
    field_that_the_provider_lost_is_no_change_by_others,
);

fn described(body: &str) -> Script {
    Script::json(200, &described_body(body))
}

fn described_body(body: &str) -> Value {
    let field = |id: &str, kind: &str| json!({ "id": id, "name": id, "type": kind });
    let mut labels = field("labels", "Array");
    labels["items"] = json!({ "type": "Symbol" });
    let mut intro = field("intro", "Text");
    intro["validations"] = json!([{ "size": { "max": 200 } }]);
    let mut cover = field("cover", "Link");
    cover["linkType"] = json!("Asset");
    json!({ "fields": [field("title", "Symbol"), field("body", body), field("slug", "Symbol"), labels, intro, cover] })
}

fn locales() -> Script {
    Script::json(
        200,
        &json!({ "items": [{ "code": "de", "default": false }, { "code": "en-US", "default": true }] }),
    )
}

fn entry(version: u8, published: Option<u8>) -> Value {
    json!({
        "sys": { "id": POST, "version": version, "publishedVersion": published },
        "metadata": { "tags": [{ "sys": { "id": "mine" } }] },
        "fields": {
            "title": { "en-US": "A & B", "de": "A und B" }, "slug": { "en-US": "a-b" },
            "intro": { "en-US": "Old" }, "cover": { "en-US": { "sys": { "id": "x" } } },
        },
    })
}

/// Requests below the environment.
fn below_home(asked: &[Asked]) -> Vec<String> {
    asked.iter().map(|asked| asked.line.replace(HOME, "")).collect()
}

#[tokio::test]
async fn an_entry_is_put_under_the_posts_id_and_published() {
    let server = Fake::new(vec![
        described("Text"),
        locales(),
        Script::json(201, &entry(1, None)),
        Script::json(200, &entry(2, Some(1))),
    ])
    .await;
    let made = CONTENTFUL.open(&server.url).create(&item()).await.unwrap();
    assert_eq!(
        (made.id.as_str(), made.visible, made.etag.as_deref()),
        (POST, Visible::Live, Some("2"))
    );
    assert_eq!(made.url.as_deref(), Some("https://example.com/blog/a-b"));
    let asked = server.asked();
    assert_eq!(
        below_home(&asked),
        [
            "GET /content_types/post".to_owned(),
            "GET /locales?limit=1000".to_owned(),
            format!("PUT /entries/{POST}"),
            format!("PUT /entries/{POST}/published"),
        ]
    );
    assert_eq!(asked[2].headers["x-contentful-content-type"], "post");
    assert!(!asked[2].headers.contains_key("x-contentful-version"));
    assert_eq!(
        asked[2].headers["content-type"],
        "application/vnd.contentful.management.v1+json"
    );
    assert_eq!(asked[3].headers["x-contentful-version"], "1");
    assert_eq!(
        asked[2].json()["fields"],
        json!({
            "title": { "en-US": "A & B" }, "body": { "en-US": "One\n\nTwo\n" }, "slug": { "en-US": "a-b" },
            "labels": { "en-US": ["Red", "Green"] }, "intro": { "en-US": "Short" },
        })
    );
}

#[tokio::test]
async fn a_change_keeps_what_is_not_ours() {
    let server = Fake::new(vec![
        Script::json(200, &entry(5, Some(4))),
        described("RichText"),
        locales(),
        Script::json(200, &entry(6, Some(4))),
        Script::json(200, &entry(7, Some(6))),
    ])
    .await;
    let mut seen = remote(POST);
    seen.etag = Some("5".to_owned());
    let mut short = item();
    short.excerpt = None;
    CONTENTFUL.open(&server.url).update(&seen, &short).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked[3].headers["x-contentful-version"], "5");
    let sent = asked[3].json();
    assert_eq!(
        sent["fields"]["title"],
        json!({ "en-US": "A & B", "de": "A und B" })
    );
    assert_eq!(sent["fields"]["cover"]["en-US"]["sys"]["id"], "x");
    assert_eq!(sent["fields"]["intro"], json!({}), "emptied");
    assert_eq!(sent["fields"]["body"]["en-US"]["nodeType"], "document");
    assert_eq!(sent["metadata"]["tags"][0]["sys"]["id"], "mine");

    let server = Fake::new(vec![Script::json(200, &entry(6, Some(4)))]).await;
    let trouble = CONTENTFUL
        .open(&server.url)
        .update(&seen, &short)
        .await
        .unwrap_err();
    assert_eq!(trouble, Trouble::refused(Why::Conflict));
    assert_eq!(server.asked().len(), 1, "nothing is written over it");
}

#[tokio::test]
async fn an_entry_is_found_by_its_ids_and_by_slug() {
    let gone = Script::json(404, &json!({ "message": "gone" }));
    let mut other = entry(1, None);
    other["sys"]["id"] = json!("other");
    let found = Script::json(200, &json!({ "items": [entry(1, None), other] }));
    let answers = vec![
        described("Text"),
        locales(),
        gone,
        Script::json(200, &entry(1, None)),
        found,
    ];
    let server = Fake::new(answers).await;
    let mark = marker();
    let found = CONTENTFUL
        .open(&server.url)
        .find(&wanted(Some("old")))
        .await
        .unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].marker.as_ref().map(|own| own.post), Some(mark.post));
    assert_ne!(
        found[0].marker,
        Some(mark.clone()),
        "its state is not known by it"
    );
    assert_eq!((found[1].id.as_str(), &found[1].marker), ("other", &None));
    assert_eq!(
        below_home(&server.asked()[2..]),
        [
            "GET /entries/old".to_owned(),
            format!("GET /entries/{POST}"),
            "GET /entries?content_type=post&fields.slug=a-b&limit=100".to_owned(),
        ]
    );
}

#[tokio::test]
async fn an_entry_is_taken_back() {
    let left = Script::json(200, &entry(8, None));
    let server = Fake::new(vec![described("Text"), locales(), left]).await;
    CONTENTFUL
        .open(&server.url)
        .unpublish(&remote(POST))
        .await
        .unwrap();
    assert_eq!(
        below_home(&server.asked()[2..]),
        [format!("DELETE /entries/{POST}/published")]
    );
}

#[tokio::test]
async fn fields_are_those_that_take_something() {
    let server = Fake::new(vec![described("RichText")]).await;
    let fields = CONTENTFUL
        .open(&server.url)
        .fields(Some("s1/stage"), Some("post"))
        .await
        .unwrap();
    assert_eq!(
        server.asked()[0].line,
        "GET /spaces/s1/environments/stage/content_types/post"
    );
    let short: Vec<(&str, FieldType, Option<u32>)> = fields
        .iter()
        .map(|field| (field.id.as_str(), field.kind, field.max_length))
        .collect();
    assert_eq!(
        short,
        [
            ("title", FieldType::Text, Some(256)),
            ("body", FieldType::Richtext, None),
            ("slug", FieldType::Slug, Some(256)),
            ("labels", FieldType::List, None),
            ("intro", FieldType::Markdown, Some(200)),
        ]
    );
}
