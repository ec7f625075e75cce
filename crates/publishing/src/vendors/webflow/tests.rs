use searchwright_contract::integrations::FieldType;
use serde_json::{Value, json};

use super::super::tests::{
    Asked, Fake, Provider, Script, a_lost_field_is_no_change, connection, every_no_with, item, marker, open,
    remote,
};
use crate::{
    publisher::{Item, Publisher, Visible, Wanted},
    trouble::{Trouble, Why},
};

const MAP: &[(&str, &str)] = &[
    ("title", "name"),
    ("content", "text"),
    ("slug", "slug"),
    ("featuredImage", "cover"),
    ("publishedAt", "day"),
];

fn reach(url: &str) -> Box<dyn Publisher> {
    with(url, MAP)
}

fn with(url: &str, map: &[(&str, &str)]) -> Box<dyn Publisher> {
    let mut connection = connection(&[("apiUrl", url)], &[("token", "secret")], map);
    connection.site = Some("s1".to_owned());
    connection.collection = Some("c1".to_owned());
    open(Provider::Webflow, connection)
}

fn collection() -> Script {
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
    Script::json(
        200,
        &json!({ "id": "c1", "slug": "posts", "fields": [name, field("slug", "PlainText"), field("text", "RichText"),
            field("cover", "Image"), field("day", "DateTime"), tags, fixed, field("film", "VideoLink"), section] }),
    )
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

fn lines(asked: &[Asked]) -> Vec<&str> {
    asked.iter().map(|asked| asked.line.as_str()).collect()
}

#[tokio::test]
async fn a_live_item_is_made_by_one_request() {
    let server = Fake::new(vec![
        collection(),
        site(),
        Script::json(202, &entry(&Value::Null, false)),
    ])
    .await;
    let made = reach(&server.url).create(&item()).await.unwrap();
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
    let made = with(&server.url, &map).create(&draft).await.unwrap();
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
    with(&server.url, map).create(post).await.unwrap();
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
    let published = Script::json(202, &json!({ "publishedItemIds": ["i1"], "errors": [] }));
    let staged = Script::json(200, &entry(&json!("2026-11-20T00:00:00Z"), false));
    let server = Fake::new(vec![collection(), site(), staged.clone(), published]).await;
    let changed = reach(&server.url).update(&remote("i1"), &item()).await.unwrap();
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

    let busy = Script::new(429, "text/plain", "Retry-After: 7\r\n", "");
    let server = Fake::new(vec![collection(), site(), staged.clone(), busy]).await;
    let trouble = reach(&server.url)
        .update(&remote("i1"), &item())
        .await
        .unwrap_err();
    assert!(
        matches!(trouble, Trouble::Unclear { .. }),
        "half of it is done: {trouble:?}"
    );

    let failed = Script::json(202, &json!({ "publishedItemIds": [], "errors": ["not found"] }));
    let server = Fake::new(vec![collection(), site(), staged, failed]).await;
    let trouble = reach(&server.url)
        .update(&remote("i1"), &item())
        .await
        .unwrap_err();
    assert_eq!(trouble, Trouble::because(Why::Invalid, "not found"));
}

#[tokio::test]
async fn an_item_is_taken_back_and_stays() {
    let left = Script::json(200, &entry(&json!("2026-11-20T00:00:00Z"), true));
    let gone = Script::raw(b"HTTP/1.1 204 X\r\nConnection: close\r\n\r\n".to_vec());
    let server = Fake::new(vec![gone, collection(), site(), left]).await;
    let taken = reach(&server.url).unpublish(&remote("i1")).await.unwrap();
    assert_eq!((taken.visible, taken.url), (Visible::Draft, None));
    assert_eq!(server.asked()[0].line, "DELETE /v2/collections/c1/items/i1/live");
}

#[tokio::test]
async fn an_item_is_found_by_id_and_by_slug() {
    let other = json!({ "id": "i2", "lastPublished": null, "isDraft": false, "fieldData": { "name": "x", "slug": "a-b" } });
    let gone = Script::json(404, &json!({ "message": "gone" }));
    let found = Script::json(200, &json!({ "items": [other] }));
    let server = Fake::new(vec![collection(), site(), gone, found]).await;
    let mark = marker();
    let wanted = Wanted {
        id: Some("i1"),
        marker: &mark,
        slug: "a-b",
    };
    let found = reach(&server.url).find(&wanted).await.unwrap();
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
async fn a_field_that_its_collection_lost_is_no_change_by_others() {
    let mark = marker();
    let wanted = Wanted {
        id: Some("i1"),
        marker: &mark,
        slug: "a-b",
    };
    let version = async |lacks: bool, day: Option<&str>| {
        let mut item = entry(&Value::Null, true);
        if let Some(day) = day {
            item["fieldData"]["day"] = json!(day);
        }
        let fields = ["name", "slug", "text", "cover", "day"];
        let fields: Vec<Value> = fields[..fields.len() - usize::from(lacks)]
            .iter()
            .map(|slug| json!({ "slug": slug, "type": "PlainText", "displayName": slug, "isEditable": true }))
            .collect();
        let answers = vec![
            Script::json(200, &json!({ "id": "c1", "slug": "posts", "fields": fields })),
            site(),
            Script::json(200, &item),
            Script::json(200, &json!({ "items": [] })),
        ];
        let server = Fake::new(answers).await;
        reach(&server.url).find(&wanted).await.unwrap().remove(0).version
    };
    let filled = version(false, Some("2026-11-21")).await;
    a_lost_field_is_no_change(&filled, &version(false, None).await, &version(true, None).await);
}

#[tokio::test]
async fn no_answer_is_taken_for_another() {
    let before = [collection(), site()];
    every_no_with(reach, &before, &entry(&Value::Null, false), Some(Why::Invalid)).await;
}

#[tokio::test]
async fn fields_are_those_that_people_fill() {
    let server = Fake::new(vec![collection()]).await;
    let fields = reach(&server.url).fields(Some("s1"), Some("c1")).await.unwrap();
    let short: Vec<(&str, FieldType, bool)> = fields
        .iter()
        .map(|field| (field.id.as_str(), field.kind, field.required))
        .collect();
    assert_eq!(
        short,
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
