use searchwright_contract::integrations::FieldType;
use serde_json::{Value, json};

use super::super::{
    conformance::{Expected, Fixture, Play, Upload, vendor_conformance},
    tests::{Connected, Fake, Provider, Script, assert_refused, item, kinds, lines, marker, remote, wanted},
};
use crate::{
    error::{Trouble, Why},
    publisher::Visible,
};

const MAP: &[(&str, &str)] = &[
    ("title", "Name"),
    ("content", "page content"),
    ("slug", "Path"),
    ("featuredImage", "page cover"),
    ("tags", "Labels"),
    ("publishedAt", "Day"),
];

const NOTION: Connected<'_> = Connected {
    provider: Provider::Notion,
    address: "apiUrl",
    settings: &[],
    secrets: &[("token", "ntn_secret")],
    site: None,
    collection: Some("d1"),
    map: MAP,
};

fn fixture() -> Fixture {
    // Two changes at once, of which either may be sent again.
    let busy = Expected::NotNow("status");
    let none = Script::json(200, &json!({ "results": [] }));
    let find = |page: &Value| [Script::json(200, page), none.clone(), markdown("One")];
    let bot = json!({ "id": "b1", "name": "Bot", "bot": { "workspace_id": "w1", "workspace_name": "Work" } });
    Fixture {
        connected: NOTION,
        secret: Some("ntn_secret"),
        id: "p1",
        etag: None,
        account: (Some("Work"), "w1"),
        check: Some(Play::new(bot)),
        find: Some(Play::new(source_body(&status())).then(find(&page("Published")))),
        no_place: Why::Permission,
        create: Play::new(page("Published"))
            .after_reads([source(&status())])
            .then([markdown("One")])
            .on_conflict(busy)
            .in_steps(),
        held: vec![(
            Play::new(page("In review"))
                .after_reads([source(&status())])
                .then([markdown("One")]),
            "In review",
        )],
        update: Play::new(json!({ "object": "page_markdown", "id": "p1", "markdown": "new" }))
            .after_reads([source(&status())])
            .then([Script::json(200, &page("Published")), markdown("new")])
            .on_conflict(busy)
            .in_steps(),
        unpublish: Some(
            Play::new(page("Draft"))
                .after_reads([source(&status())])
                .then([markdown("One")])
                .on_conflict(busy)
                .in_steps(),
        ),
        upload: Upload::Never,
        lost_field: Some(
            [Some(json!([{ "name": "Red" }])), Some(json!([])), None].map(|labels| {
                let mut page = page("Draft");
                if let Some(labels) = labels {
                    page["properties"]["Labels"] = json!({ "type": "multi_select", "multi_select": labels });
                }
                [&[source(&status())], &find(&page)[..]].concat()
            }),
        ),
    }
}

vendor_conformance!(fixture:
    refusals_of_reads_are_told_apart,
    failure_of_a_later_step_leaves_open_what_happened,
    field_that_the_provider_lost_is_no_change_by_others,
);

fn source(more: &Value) -> Script {
    Script::json(200, &source_body(more))
}

fn source_body(more: &Value) -> Value {
    let mut properties = json!({
        "Name": { "type": "title" }, "Path": { "type": "rich_text" }, "Labels": { "type": "multi_select" },
        "Day": { "type": "date" }, "Made": { "type": "created_time" },
    });
    for (name, property) in more.as_object().unwrap() {
        properties[name] = property.clone();
    }
    json!({ "object": "data_source", "id": "d1", "properties": properties })
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

#[tokio::test]
async fn a_page_is_made_of_markdown_and_properties() {
    let server = Fake::new(vec![
        source(&status()),
        Script::json(200, &page("Published")),
        markdown("One"),
    ])
    .await;
    let made = NOTION.open(&server.url).create(&item()).await.unwrap();
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
        Connected { map: &map, ..NOTION }
            .open(&server.url)
            .create(&post)
            .await
            .unwrap();
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
    NOTION
        .open(&server.url)
        .update(&remote("p1"), &item())
        .await
        .unwrap();
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
    let trouble = NOTION
        .open(&server.url)
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
    let found = NOTION.open(&server.url).find(&wanted(Some("p0"))).await.unwrap();
    assert_eq!((found.len(), found[0].visible), (1, Visible::Draft));
    assert_eq!(found[0].url, None);
    let asked = server.asked();
    assert_eq!(asked[2].line, "POST /v1/data_sources/d1/query");
    assert_eq!(
        asked[2].json()["filter"],
        json!({ "or": [
            { "property": "Searchwright", "rich_text": { "starts_with": marker().start() } },
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
        let seen = NOTION.open(&server.url).unpublish(&remote("p1")).await.unwrap();
        let sent = server.asked()[1].json();
        assert_eq!(sent["properties"]["Status"]["status"]["name"], "Draft");
        versions.push(seen.version);
    }
    assert_eq!(versions[0], versions[1]);
    assert_ne!(versions[1], versions[2]);
}

#[tokio::test]
async fn a_database_without_a_status_has_no_drafts() {
    let server = Fake::new(vec![source(&json!({}))]).await;
    let answer = NOTION.open(&server.url).unpublish(&remote("p1")).await;
    assert_refused(&answer, Why::Unsupported);
}

#[tokio::test]
async fn fields_are_the_properties_and_the_text() {
    let server = Fake::new(vec![source(&status())]).await;
    let fields = NOTION.open(&server.url).fields(None, Some("d1")).await.unwrap();
    assert_eq!(
        kinds(&fields),
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
