use searchwright_contract::integrations::FieldType;
use serde_json::{Value, json};

use super::super::tests::{
    Asked, Fake, Provider, Script, a_lost_field_is_no_change, connection, every_no_with, item, marker, open,
    remote,
};
use crate::{
    publisher::{Publisher, Visible, Wanted},
    trouble::{Trouble, Why},
};

const MAP: &[(&str, &str)] = &[
    ("title", "Name"),
    ("content", "page content"),
    ("slug", "Path"),
    ("featuredImage", "page cover"),
    ("tags", "Labels"),
    ("publishedAt", "Day"),
];

fn reach(url: &str) -> Box<dyn Publisher> {
    with(url, MAP)
}

fn with(url: &str, map: &[(&str, &str)]) -> Box<dyn Publisher> {
    let mut connection = connection(&[("apiUrl", url)], &[("token", "ntn_secret")], map);
    connection.collection = Some("d1".to_owned());
    open(Provider::Notion, connection)
}

fn source(more: &Value) -> Script {
    let mut properties = json!({
        "Name": { "type": "title" }, "Path": { "type": "rich_text" }, "Labels": { "type": "multi_select" },
        "Day": { "type": "date" }, "Made": { "type": "created_time" },
    });
    for (name, property) in more.as_object().unwrap() {
        properties[name] = property.clone();
    }
    Script::json(
        200,
        &json!({ "object": "data_source", "id": "d1", "properties": properties }),
    )
}

fn status() -> Value {
    json!({ "Status": { "type": "status" }, "Searchwright": { "type": "rich_text" } })
}

fn page(state: &str) -> Value {
    let text = |text: &str| json!([{ "plain_text": text }]);
    json!({ "object": "page", "id": "p1", "in_trash": false, "public_url": "https://peer.notion.site/p1", "properties": {
        "Name": { "type": "title", "title": text("A & B") },
        "Path": { "type": "rich_text", "rich_text": text("a-b") },
        "Status": { "type": "status", "status": { "id": "x", "name": state } },
        "Searchwright": { "type": "rich_text", "rich_text": text(&marker().to_string()) },
    } })
}

fn markdown(text: &str) -> Script {
    Script::json(
        200,
        &json!({ "object": "page_markdown", "id": "p1", "markdown": text }),
    )
}

fn lines(asked: &[Asked]) -> Vec<&str> {
    asked.iter().map(|asked| asked.line.as_str()).collect()
}

#[tokio::test]
async fn a_page_is_made_of_markdown_and_properties() {
    let server = Fake::new(vec![
        source(&status()),
        Script::json(200, &page("Published")),
        markdown("One"),
    ])
    .await;
    let made = reach(&server.url).create(&item()).await.unwrap();
    assert_eq!(
        (made.visible, made.url.as_deref(), made.slug.as_deref()),
        (Visible::Live, Some("https://peer.notion.site/p1"), Some("a-b"))
    );
    assert_eq!(made.marker, Some(marker()));
    let asked = server.asked();
    assert_eq!(
        lines(&asked),
        [
            "GET /v1/data_sources/d1",
            "POST /v1/pages",
            "GET /v1/pages/p1/markdown"
        ]
    );
    assert_eq!(asked[1].headers["notion-version"], "2026-03-11");
    assert_eq!(asked[1].headers["authorization"], "Bearer ntn_secret");
    assert_eq!(
        asked[1].json(),
        json!({
            "parent": { "type": "data_source_id", "data_source_id": "d1" },
            "markdown": "One\n\nTwo\n",
            "cover": { "type": "external", "external": { "url": "https://example.com/i.jpg" } },
            "properties": {
                "Name": { "title": [{ "text": { "content": "A & B" } }] },
                "Path": { "rich_text": [{ "text": { "content": "a-b" } }] },
                "Labels": { "multi_select": [{ "name": "Red" }, { "name": "Green" }] },
                "Day": { "date": { "start": "2026-11-21T10:00:00.000Z" } },
                "Searchwright": { "rich_text": [{ "text": { "content": marker().to_string() } }] },
                "Status": { "type": "status", "status": { "name": "Published" } },
            },
        })
    );
}

#[tokio::test]
async fn an_author_is_one_label_of_a_list() {
    for (author, labels) in [
        (Some("Ann, Eve"), json!([{ "name": "Ann  Eve" }])),
        (None, json!([])),
    ] {
        let answers = vec![
            source(&status()),
            Script::json(200, &page("Published")),
            markdown("One"),
        ];
        let server = Fake::new(answers).await;
        let mut post = item();
        post.author = author.map(str::to_owned);
        let map = [("title", "Name"), ("author", "Labels")];
        with(&server.url, &map).create(&post).await.unwrap();
        let sent = server.asked()[1].json();
        assert_eq!(sent["properties"]["Labels"], json!({ "multi_select": labels }));
    }
}

#[tokio::test]
async fn a_change_replaces_the_text_and_then_shows_it() {
    let server = Fake::new(vec![
        source(&status()),
        markdown("new"),
        Script::json(200, &page("Published")),
        markdown("new"),
    ])
    .await;
    reach(&server.url).update(&remote("p1"), &item()).await.unwrap();
    let asked = server.asked();
    assert_eq!(
        lines(&asked[1..3]),
        ["PATCH /v1/pages/p1/markdown", "PATCH /v1/pages/p1"]
    );
    assert_eq!(
        asked[1].json(),
        json!({ "type": "replace_content", "replace_content": { "new_str": "One\n\nTwo\n" } })
    );

    let busy = Script::json(409, &json!({ "code": "conflict_error", "message": "again" }));
    let server = Fake::new(vec![source(&status()), markdown("new"), busy]).await;
    let trouble = reach(&server.url)
        .update(&remote("p1"), &item())
        .await
        .unwrap_err();
    assert!(
        matches!(trouble, Trouble::Unclear { .. }),
        "half of it is done: {trouble:?}"
    );
}

#[tokio::test]
async fn a_page_is_found_by_id_mark_and_slug_but_not_in_the_bin() {
    let mut gone = page("Published");
    gone["id"] = json!("p0");
    gone["in_trash"] = json!(true);
    let server = Fake::new(vec![
        source(&status()),
        Script::json(200, &gone),
        Script::json(200, &json!({ "results": [page("Draft")] })),
        markdown("One"),
    ])
    .await;
    let mark = marker();
    let wanted = Wanted {
        id: Some("p0"),
        marker: &mark,
        slug: "a-b",
    };
    let found = reach(&server.url).find(&wanted).await.unwrap();
    assert_eq!((found.len(), found[0].visible), (1, Visible::Draft));
    assert_eq!(found[0].url, None);
    let asked = server.asked();
    assert_eq!(asked[2].line, "POST /v1/data_sources/d1/query");
    assert_eq!(
        asked[2].json()["filter"],
        json!({ "or": [
            { "property": "Searchwright", "rich_text": { "starts_with": mark.start() } },
            { "property": "Path", "rich_text": { "equals": "a-b" } },
        ] })
    );
}

#[tokio::test]
async fn what_people_write_makes_another_version() {
    let mut versions = Vec::new();
    for (text, state) in [("One", "Published"), ("One", "Draft"), ("Other", "Draft")] {
        let server = Fake::new(vec![
            source(&status()),
            Script::json(200, &page(state)),
            markdown(text),
        ])
        .await;
        let seen = reach(&server.url).unpublish(&remote("p1")).await.unwrap();
        let sent = server.asked()[1].json();
        assert_eq!(sent["properties"]["Status"]["status"]["name"], "Draft");
        versions.push(seen.version);
    }
    assert_eq!(versions[0], versions[1]);
    assert_ne!(versions[1], versions[2]);
}

#[tokio::test]
async fn a_property_that_was_taken_out_is_no_change_by_others() {
    let version = async |labels: Option<Value>| {
        let mut page = page("Draft");
        if let Some(labels) = labels {
            page["properties"]["Labels"] = json!({ "type": "multi_select", "multi_select": labels });
        }
        let server = Fake::new(vec![source(&status()), Script::json(200, &page), markdown("One")]).await;
        reach(&server.url).unpublish(&remote("p1")).await.unwrap().version
    };
    let filled = version(Some(json!([{ "name": "Red" }]))).await;
    let empty = version(Some(json!([]))).await;
    a_lost_field_is_no_change(&filled, &empty, &version(None).await);
}

#[tokio::test]
async fn a_database_without_a_status_has_no_drafts() {
    let server = Fake::new(vec![source(&json!({}))]).await;
    let trouble = reach(&server.url).unpublish(&remote("p1")).await.unwrap_err();
    assert!(
        matches!(
            trouble,
            Trouble::Refused {
                why: Why::Unsupported,
                ..
            }
        ),
        "{trouble:?}"
    );
}

#[tokio::test]
async fn no_answer_is_taken_for_another() {
    every_no_with(reach, &[source(&status())], &page("Published"), None).await;
}

#[tokio::test]
async fn fields_are_the_properties_and_the_text() {
    let server = Fake::new(vec![source(&status())]).await;
    let fields = reach(&server.url).fields(None, Some("d1")).await.unwrap();
    let short: Vec<(&str, FieldType, bool)> = fields
        .iter()
        .map(|field| (field.id.as_str(), field.kind, field.required))
        .collect();
    assert_eq!(
        short,
        [
            ("Name", FieldType::Text, true),
            ("Path", FieldType::Text, false),
            ("Labels", FieldType::List, false),
            ("Day", FieldType::Date, false),
            ("page content", FieldType::Markdown, true),
            ("page cover", FieldType::Image, false),
        ]
    );
}
