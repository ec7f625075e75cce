use searchwright_contract::integrations::FieldType;
use serde_json::{Value, json};

use super::super::{
    conformance::{Expected, Fixture, Play, Reply, Upload, vendor_conformance},
    tests::{Connected, Fake, Provider, Script, item, kinds, lines, remote, wanted},
};
use crate::{
    error::{Trouble, Why},
    publisher::{Item, Visible},
};

const MAP: &[(&str, &str)] = &[
    ("title", "name"),
    ("content", "text"),
    ("slug", "slug"),
    ("featuredImage", "cover"),
    ("publishedAt", "day"),
];

const WEBFLOW: Connected<'_> = Connected {
    provider: Provider::Webflow,
    address: "apiUrl",
    settings: &[],
    secrets: &[("token", "wf_secret")],
    site: Some("s1"),
    collection: Some("c1"),
    map: MAP,
};

fn fixture() -> Fixture {
    let invalid = Expected::Refused(Why::Invalid);
    let staged = entry(&json!("2026-11-20T00:00:00Z"), false);
    let left = Script::json(200, &entry(&json!("2026-11-20T00:00:00Z"), true));
    let none = Script::json(200, &json!({ "items": [] }));
    Fixture {
        connected: WEBFLOW,
        secret: Some("wf_secret"),
        id: "i1",
        etag: None,
        account: (Some("Peer"), "s1"),
        check: Some(Play::new(json!({ "sites": [{ "id": "s1", "displayName": "Peer" }] }))),
        find: Some(Play::new(collection_body()).then([
            site(),
            Script::json(200, &entry(&Value::Null, false)),
            none.clone(),
        ])),
        no_place: Why::Schema,
        create: Play::new(entry(&Value::Null, false))
            .after_reads([collection(), site()])
            .on_conflict(invalid),
        held: ["isDraft", "isArchived"]
            .map(|state| {
                let mut item = entry(&json!("2026-11-20T00:00:00Z"), false);
                item[state] = json!(true);
                (Play::new(item).after_reads([collection(), site()]), state)
            })
            .to_vec(),
        update: Play::new(staged)
            .after_reads([collection(), site()])
            .then([published()])
            .on_conflict(invalid)
            .in_steps(),
        unpublish: Some(
            Play::with_reply(Reply::Ignored(no_content()))
                .then([collection(), site(), left])
                .in_steps(),
        ),
        upload: Upload::Never,
        lost_field: Some([(false, Some("2026-11-21")), (false, None), (true, None)].map(|(is_lost, day)| {
            let mut item = entry(&Value::Null, true);
            if let Some(day) = day {
                item["fieldData"]["day"] = json!(day);
            }
            let fields = ["name", "slug", "text", "cover", "day"];
            let fields: Vec<Value> = fields[..fields.len() - usize::from(is_lost)]
                .iter()
                .map(|slug| json!({ "slug": slug, "type": "PlainText", "displayName": slug, "isEditable": true }))
                .collect();
            let described = json!({ "id": "c1", "slug": "posts", "fields": fields });
            vec![Script::json(200, &described), site(), Script::json(200, &item), none.clone()]
        })),
    }
}

vendor_conformance!(fixture:
    refusals_of_reads_are_told_apart,
    failure_of_a_later_step_leaves_open_what_happened,
    field_that_the_provider_lost_is_no_change_by_others,
);

fn published() -> Script {
    Script::json(202, &json!({ "publishedItemIds": ["i1"], "errors": [] }))
}

fn no_content() -> Script {
    Script::raw(b"HTTP/1.1 204 X\r\nConnection: close\r\n\r\n".to_vec())
}

fn collection() -> Script {
    Script::json(200, &collection_body())
}

fn collection_body() -> Value {
    let field = |slug: &str, kind: &str| json!({ "slug": slug, "type": kind, "displayName": slug, "isEditable": true });
    let mut name = field("name", "PlainText");
    name["isRequired"] = json!(true);
    name["validations"] = json!({ "maxLength": 256 });
    let mut tags = field("tags", "MultiReference");
    tags["validations"] = json!({ "collectionId": "c2" });
    let mut section = field("section", "Option");
    section["validations"] =
        json!({ "options": [{ "name": "Ann", "id": "o1" }, { "name": "Eve", "id": "o2" }] });
    let mut fixed = field("fixed", "PlainText");
    fixed["isEditable"] = json!(false);
    json!({ "id": "c1", "slug": "posts", "fields": [name, field("slug", "PlainText"), field("text", "RichText"),
        field("cover", "Image"), field("day", "DateTime"), tags, fixed, field("film", "VideoLink"), section] })
}

fn site() -> Script {
    Script::json(
        200,
        &json!({ "id": "s1", "shortName": "peer", "customDomains": [{ "url": "example.com" }] }),
    )
}

fn entry(published: &Value, is_draft: bool) -> Value {
    json!({ "id": "i1", "lastPublished": published, "isDraft": is_draft, "isArchived": false,
        "fieldData": { "name": "A & B", "slug": "a-b", "text": "<p>One</p>", "cover": { "url": "https://cdn.example/1" } } })
}

#[tokio::test]
async fn a_live_item_is_made_by_one_request() {
    let server = Fake::new(vec![
        collection(),
        site(),
        Script::json(202, &entry(&Value::Null, false)),
    ])
    .await;
    let made = WEBFLOW.open(&server.url).create(&item()).await.unwrap();
    assert_eq!(
        (made.visible, made.url.as_deref(), made.marker),
        (Visible::Live, Some("https://example.com/posts/a-b"), None)
    );
    let asked = server.asked();
    assert_eq!(
        lines(&asked),
        [
            "GET /v2/collections/c1",
            "GET /v2/sites/s1",
            "POST /v2/collections/c1/items/live"
        ]
    );
    assert_eq!(
        asked[2].json(),
        json!({ "isArchived": false, "isDraft": false, "fieldData": {
            "name": "A & B", "slug": "a-b", "text": "<p>One</p>\n<p>Two</p>\n", "day": "2026-11-21T10:00:00.000Z",
            "cover": { "url": "https://example.com/i.jpg", "alt": "An image" },
        } })
    );
}

#[tokio::test]
async fn labels_are_items_that_are_there() {
    let none = Script::json(200, &json!({ "items": [] }));
    let red = Script::json(200, &json!({ "items": [{ "id": "t1" }] }));
    let answers = vec![
        collection(),
        site(),
        red,
        none,
        Script::json(202, &entry(&Value::Null, true)),
    ];
    let server = Fake::new(answers).await;
    let mut draft = item();
    draft.live = false;
    let map = [("title", "name"), ("tags", "tags")];
    let made = Connected { map: &map, ..WEBFLOW }
        .open(&server.url)
        .create(&draft)
        .await
        .unwrap();
    assert_eq!((made.visible, made.url), (Visible::Draft, None));
    let asked = server.asked();
    assert_eq!(
        lines(&asked[2..]),
        [
            "GET /v2/collections/c2/items?limit=1&name=Red",
            "GET /v2/collections/c2/items?limit=1&name=Green",
            "POST /v2/collections/c1/items",
        ]
    );
    assert_eq!(asked[4].json()["fieldData"]["tags"], json!(["t1"]));
}

/// Returns the field data that is sent for a post. `more` are the answers to the requests after those for the
/// collection and the site.
async fn sent(map: &[(&str, &str)], post: &Item, more: Vec<Script>) -> Value {
    let made = Script::json(202, &entry(&Value::Null, true));
    let server = Fake::new([vec![collection(), site()], more, vec![made]].concat()).await;
    Connected { map, ..WEBFLOW }
        .open(&server.url)
        .create(post)
        .await
        .unwrap();
    server.asked().pop().unwrap().json()["fieldData"].clone()
}

#[tokio::test]
async fn a_field_gets_what_its_type_takes() {
    let mut post = item();
    post.author = Some("Eve".to_owned());
    post.picture.as_mut().unwrap().alt = None;
    let map = [("author", "section"), ("featuredImage", "cover")];
    let data = sent(&map, &post, Vec::new()).await;
    assert_eq!(data["section"], "o2", "an option is named by its id");
    assert_eq!(data["cover"], json!({ "url": "https://example.com/i.jpg" }));

    let found = Script::json(200, &json!({ "items": [{ "id": "t1" }] }));
    let data = sent(&[("author", "tags")], &post, vec![found]).await;
    assert_eq!(data["tags"], json!(["t1"]));

    post.author = Some("Nobody".to_owned());
    let data = sent(&map, &post, Vec::new()).await;
    assert_eq!(data.get("section"), None, "there is no such option");
    post.author = None;
    assert_eq!(sent(&map, &post, Vec::new()).await["section"], Value::Null);
}

#[tokio::test]
async fn a_change_is_staged_and_then_shown() {
    let staged = Script::json(200, &entry(&json!("2026-11-20T00:00:00Z"), false));
    let server = Fake::new(vec![collection(), site(), staged.clone(), published()]).await;
    let changed = WEBFLOW
        .open(&server.url)
        .update(&remote("i1"), &item())
        .await
        .unwrap();
    assert_eq!(changed.visible, Visible::Live);
    let asked = server.asked();
    assert_eq!(
        lines(&asked[2..]),
        [
            "PATCH /v2/collections/c1/items/i1",
            "POST /v2/collections/c1/items/publish"
        ]
    );
    assert_eq!(asked[3].json(), json!({ "itemIds": ["i1"] }));

    let failed = Script::json(202, &json!({ "publishedItemIds": [], "errors": ["not found"] }));
    let server = Fake::new(vec![collection(), site(), staged, failed]).await;
    let trouble = WEBFLOW
        .open(&server.url)
        .update(&remote("i1"), &item())
        .await
        .unwrap_err();
    assert_eq!(trouble, Trouble::because(Why::Invalid, "not found"));
}

#[tokio::test]
async fn an_item_is_taken_back_and_stays() {
    let left = Script::json(200, &entry(&json!("2026-11-20T00:00:00Z"), true));
    let server = Fake::new(vec![no_content(), collection(), site(), left]).await;
    WEBFLOW.open(&server.url).unpublish(&remote("i1")).await.unwrap();
    assert_eq!(server.asked()[0].line, "DELETE /v2/collections/c1/items/i1/live");
}

#[tokio::test]
async fn an_item_is_found_by_id_and_by_slug() {
    let other = json!({ "id": "i2", "lastPublished": null, "isDraft": false, "fieldData": { "name": "x", "slug": "a-b" } });
    let gone = Script::json(404, &json!({ "message": "gone" }));
    let found = Script::json(200, &json!({ "items": [other] }));
    let server = Fake::new(vec![collection(), site(), gone, found]).await;
    let found = WEBFLOW.open(&server.url).find(&wanted(Some("i1"))).await.unwrap();
    assert_eq!((found.len(), found[0].id.as_str()), (1, "i2"));
    assert_eq!(found[0].visible, Visible::Draft, "it was never published");
    assert_eq!(
        lines(&server.asked()[2..]),
        [
            "GET /v2/collections/c1/items/i1",
            "GET /v2/collections/c1/items?limit=100&slug=a-b"
        ]
    );
}

#[tokio::test]
async fn fields_are_those_that_people_fill() {
    let server = Fake::new(vec![collection()]).await;
    let fields = WEBFLOW
        .open(&server.url)
        .fields(Some("s1"), Some("c1"))
        .await
        .unwrap();
    assert_eq!(
        kinds(&fields),
        [
            ("name", FieldType::Text, true),
            ("slug", FieldType::Slug, false),
            ("text", FieldType::Richtext, false),
            ("cover", FieldType::Image, false),
            ("day", FieldType::Date, false),
            ("tags", FieldType::List, false),
            ("film", FieldType::Text, false),
            ("section", FieldType::Text, false),
        ]
    );
    assert_eq!(fields[0].max_length, Some(256));
}
