use searchwright_contract::integrations::FieldType;
use serde_json::{Value, json};

use super::super::{
    conformance::{Fixture, Play, Upload, vendor_conformance},
    tests::{
        Connected, Fake, Provider, Script, assert_refused, item, kinds, lines, marker, picture, remote,
        wanted,
    },
};
use crate::{
    error::{Cause, Trouble, Why},
    publisher::Visible,
};

const MAP: &[(&str, &str)] = &[
    ("title", "title"),
    ("content", "content"),
    ("excerpt", "excerpt"),
    ("metaDescription", "meta._description"),
    ("featuredImage", "featured_media"),
    ("tags", "tags"),
    ("publishedAt", "date"),
    ("author", "author"),
];

const WORDPRESS: Connected<'_> = Connected {
    provider: Provider::Wordpress,
    address: "siteUrl",
    settings: &[("username", "ed")],
    secrets: &[("password", "abcd efgh")],
    site: None,
    collection: None,
    map: MAP,
};
/// Title and content only.
const BARE: Connected<'_> = Connected {
    map: MAP.split_at(2).0,
    ..WORDPRESS
};
const UNMAPPED: Connected<'_> = Connected {
    map: &[],
    ..WORDPRESS
};

fn fixture() -> Fixture {
    let none = || Script::json(200, &json!([]));
    // The author, and two labels.
    let term = |id: u8| Script::json(201, &json!({ "id": id }));
    let names = || [front(), none(), term(5), term(6)];
    let user =
        json!({ "id": 2, "name": "Ed", "capabilities": { "edit_posts": true, "publish_posts": true } });
    let file = json!({ "id": 5, "source_url": "https://example.com/x.png", "alt_text": "An image" });
    Fixture {
        connected: WORDPRESS,
        secret: Some("abcd efgh"),
        id: "4",
        etag: None,
        account: (Some("Ed"), "example.com"),
        check: Some(Play::new(user).after_reads([front()])),
        find: Some(
            Play::new(post("publish"))
                .after_reads([front()])
                .then([none(), none()]),
        ),
        no_place: Why::Missing,
        create: Play::new(post("publish")).after_reads(names()),
        held: ["pending", "future", "draft"]
            .map(|status| (Play::new(post(status)).after_reads(names()), status))
            .to_vec(),
        update: Play::new(post("publish")).after_reads(names()),
        unpublish: Some(Play::new(post("draft")).after_reads([front()])),
        upload: Upload::Here(Play::new(file).after_reads([front(), none()])),
        lost_field: Some(
            [
                json!({ "_description": "Short" }),
                json!({ "_description": "" }),
                json!([]),
            ]
            .map(|meta| {
                let mut post = post("publish");
                post["meta"] = meta;
                vec![front(), Script::json(200, &post), none(), none()]
            }),
        ),
    }
}

vendor_conformance!(fixture:
    refusals_of_reads_are_told_apart,
    field_that_the_provider_lost_is_no_change_by_others,
);

fn front() -> Script {
    Script::json(
        200,
        &json!({ "name": "Site", "home": "https://example.com", "namespaces": ["wp/v2"],
            "authentication": { "application-passwords": {} } }),
    )
}

fn post(status: &str) -> Value {
    json!({ "id": 4, "slug": "a-b", "status": status, "link": "https://example.com/a-b/", "title": { "raw": "A & B" },
        "content": { "raw": format!("<p>One</p>{}", marker().comment()) }, "excerpt": { "raw": "" },
        "featured_media": 0, "tags": [], "categories": [1] })
}

#[tokio::test]
async fn a_post_is_made_with_its_mark_and_what_is_mapped() {
    let server = Fake::new(vec![
        front(),
        Script::json(200, &json!([{ "id": 9, "name": "ann" }])),
        Script::json(201, &json!({ "id": 5 })),
        Script::json(
            400,
            &json!({ "code": "term_exists", "message": "there", "data": { "term_id": 6 } }),
        ),
        Script::json(201, &post("publish")),
    ])
    .await;
    let made = WORDPRESS.open(&server.url).create(&item()).await.unwrap();
    assert_eq!((made.id.as_str(), made.visible), ("4", Visible::Live));
    assert_eq!(made.url.as_deref(), Some("https://example.com/a-b/"));
    assert_eq!(made.marker, Some(marker()));
    let asked = server.asked();
    assert_eq!(
        lines(&asked),
        [
            "GET /wp-json/?_fields=name,home,namespaces,authentication",
            "GET /wp-json/wp/v2/users?who=authors&per_page=100&_fields=id,name&search=Ann",
            "POST /wp-json/wp/v2/tags?_fields=id",
            "POST /wp-json/wp/v2/tags?_fields=id",
            "POST /wp-json/wp/v2/posts?context=edit&_fields=id,slug,status,link,title,content,excerpt,featured_media,tags,categories,author,date,meta",
        ]
    );
    assert_eq!(asked[4].headers["authorization"], "Basic ZWQ6YWJjZCBlZmdo");
    assert_eq!(
        asked[4].json(),
        json!({
            "title": "A & B", "slug": "a-b", "status": "publish",
            "content": format!("<p>One</p>\n<p>Two{}</p>", marker().comment()),
            "author": 9, "excerpt": "Short", "featured_media": 12, "meta": { "_description": "Meta description" },
            "date_gmt": "2026-11-21T10:00:00", "tags": [5, 6],
        })
    );
}

#[tokio::test]
async fn what_is_not_mapped_is_not_sent() {
    let server = Fake::new(vec![front(), Script::json(200, &post("draft"))]).await;
    let mut draft = item();
    draft.live = false;
    let changed = BARE.open(&server.url).update(&remote("4"), &draft).await.unwrap();
    assert_eq!((changed.visible, changed.url), (Visible::Draft, None));
    let body = server.asked()[1].json();
    let names: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(names, ["title", "slug", "status", "content"]);
    assert_eq!(body["status"], "draft");
    assert!(server.asked()[1].line.starts_with("POST /wp-json/wp/v2/posts/4?"));
}

#[tokio::test]
async fn a_post_is_found_by_id_mark_and_slug_but_not_in_the_bin() {
    let mut other = post("draft");
    other["id"] = json!(8);
    other["content"]["raw"] = json!("<p>Of somebody else</p>");
    let server = Fake::new(vec![
        front(),
        Script::json(200, &post("trash")),
        Script::json(200, &json!([])),
        Script::json(200, &json!([other])),
    ])
    .await;
    let found = BARE.open(&server.url).find(&wanted(Some("4"))).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].id.as_str(), &found[0].marker), ("8", &None));
    let asked = server.asked();
    assert!(
        asked[1]
            .line
            .starts_with("GET /wp-json/wp/v2/posts/4?context=edit&")
    );
    assert!(
        asked[2].line.starts_with(
            "GET /wp-json/wp/v2/posts?search=searchwright%3A00000000-0000-0000-0000-000000000007&status=publish,future,draft,pending,private&"
        ),
        "{}",
        asked[2].line
    );
    assert!(
        asked[3]
            .line
            .starts_with("GET /wp-json/wp/v2/posts?slug=a-b&status=")
    );
}

#[tokio::test]
async fn only_what_people_edit_makes_another_version() {
    let mut seen = Vec::new();
    let edits: [fn(&mut Value); 5] = [
        |_| {},
        |post| post["content"]["raw"] = json!("<p>One</p>"),
        |post| post["status"] = json!("draft"),
        |post| post["content"]["raw"] = json!("<p>Two</p>"),
        |post| post["title"]["raw"] = json!("Another"),
    ];
    for edit in edits {
        let mut answer = post("publish");
        edit(&mut answer);
        let server = Fake::new(vec![front(), Script::json(200, &answer)]).await;
        let changed = BARE.open(&server.url).unpublish(&remote("4")).await.unwrap();
        assert_eq!(server.asked()[1].json(), json!({ "status": "draft" }));
        seen.push(changed.version);
    }
    assert_eq!(seen[0], seen[1], "the mark is ours");
    assert_eq!(seen[0], seen[2], "whether readers see it is told apart");
    assert_ne!(seen[0], seen[3]);
    assert_ne!(seen[0], seen[4]);
}

#[tokio::test]
async fn a_site_without_pretty_addresses_is_reached_too() {
    let server = Fake::new(vec![
        Script::new(404, "text/html", "", "<html>Not found</html>"),
        front(),
        Script::json(200, &post("draft")),
    ])
    .await;
    UNMAPPED.open(&server.url).unpublish(&remote("4")).await.unwrap();
    let asked = server.asked();
    assert_eq!(
        asked[1].line,
        "GET /?rest_route=/&_fields=name,home,namespaces,authentication"
    );
    assert!(
        asked[2]
            .line
            .starts_with("POST /?rest_route=/wp/v2/posts/4&context=edit&")
    );
}

#[tokio::test]
async fn it_says_why_a_site_cannot_be_reached() {
    let page = |status| Script::new(status, "text/html", "", "<html>");
    let closed = Script::json(
        401,
        &json!({ "code": "rest_login_required", "message": "Only members." }),
    );
    let cases = [
        (vec![page(404)], "switched off"),
        (vec![page(200)], "something else"),
        (vec![page(401)], "password of its own"),
        (vec![closed], "Only members."),
    ];
    for (answers, word) in cases {
        let server = Fake::new(answers).await;
        match UNMAPPED.open(&server.url).check().await.unwrap_err() {
            Trouble::Refused {
                why: Why::Unreadable,
                said: Some(said),
            } => assert!(said.contains(word), "{said}"),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_firewall_is_called_one() {
    let page = |status, body: &str| Script::new(status, "text/html; charset=UTF-8", "", body);
    let blocked = "<!DOCTYPE html><title>Attention Required! | Cloudflare</title>";
    let challenge = "<!DOCTYPE html><title>One moment, please...</title><script>wsidchk</script>";
    for (status, body, name) in [
        (403, blocked, "Cloudflare"),
        (403, "<html><h1>Forbidden</h1>", "firewall"),
        (200, challenge, "Imunify360"),
        (406, "<html>generated by Mod_Security", "ModSecurity"),
    ] {
        // Before the first request, and only before one that changes something.
        let at_once = Fake::new(vec![page(status, body), page(status, body)]).await;
        let later = Fake::new(vec![front(), page(status, body)]).await;
        for trouble in [
            UNMAPPED.open(&at_once.url).check().await.unwrap_err(),
            BARE.open(&later.url).create(&item()).await.unwrap_err(),
        ] {
            match trouble {
                Trouble::Refused {
                    why: Why::Firewall,
                    said: Some(said),
                } => assert!(
                    said.contains(name) && said.contains(&status.to_string()),
                    "{said}"
                ),
                other => panic!("{other:?}"),
            }
        }
    }
    // What refuses for a while is tried again.
    let limited = page(503, "<html>Your access is limited. Generated by Wordfence</html>");
    let server = Fake::new(vec![front(), limited]).await;
    let trouble = BARE.open(&server.url).create(&item()).await.unwrap_err();
    assert_eq!(trouble, Trouble::not_now(Cause::Firewall));
    // What the site itself answers stays open after a change.
    let server = Fake::new(vec![front(), page(503, "<html>Briefly unavailable.</html>")]).await;
    let trouble = BARE.open(&server.url).create(&item()).await.unwrap_err();
    assert!(matches!(trouble, Trouble::Unclear { .. }), "{trouble:?}");
}

#[tokio::test]
async fn answers_are_read_through_what_a_site_puts_around_them() {
    let around = |body: &Value, before: &str, after: &str| {
        Script::new(200, "application/json", "", &format!("{before}{body}{after}"))
    };
    let about = json!({ "name": "Site", "namespaces": ["wp/v2"] });
    for (before, after) in [
        ("\u{feff}", ""),
        (
            "<br />\n<b>Deprecated</b>: in <b>/x.php</b> on line <b>9</b><br />\n",
            "",
        ),
        ("", "\n<!-- Kept by a cache -->"),
    ] {
        let server = Fake::new(vec![
            around(&about, before, after),
            around(&post("publish"), before, after),
        ])
        .await;
        let made = BARE.open(&server.url).create(&item()).await.unwrap();
        assert_eq!((made.id.as_str(), made.visible), ("4", Visible::Live));
    }
}

#[tokio::test]
async fn looks_go_past_caches() {
    let none = || Script::json(200, &json!([]));
    let server = Fake::new(vec![front(), none(), none(), none(), none()]).await;
    let site = BARE.open(&server.url);
    for _ in 0..2 {
        assert_eq!(site.find(&wanted(None)).await.unwrap(), []);
    }
    let asked = server.asked();
    assert_eq!(lines(&asked)[1], lines(&asked)[3]);
    assert_ne!(
        asked[1].line, asked[3].line,
        "a cache keeps what was asked before"
    );
    for asked in &asked {
        assert_eq!(asked.headers["cache-control"], "no-cache", "{asked:?}");
    }
}

#[tokio::test]
async fn what_readers_do_not_see_is_not_live_and_says_why() {
    for (status, visible, words) in [
        ("pending", Visible::Waiting, "review (status pending)"),
        ("future", Visible::Waiting, "its date (status future)"),
        ("private", Visible::Draft, "(status private)"),
        ("draft", Visible::Draft, "(status draft)"),
        ("in-progress", Visible::Draft, "(status in-progress)"),
    ] {
        let server = Fake::new(vec![front(), Script::json(201, &post(status))]).await;
        let made = BARE.open(&server.url).create(&item()).await.unwrap();
        assert_eq!((made.visible, made.url), (visible, None));
        let reason = made.reason.unwrap();
        assert!(reason.contains(words) && reason.contains("there"), "{reason}");
    }
}

#[tokio::test]
async fn an_account_has_to_be_able_to_publish() {
    let user = |can: bool| {
        Script::json(
            200,
            &json!({ "id": 2, "name": "Ed", "capabilities": { "edit_posts": true, "publish_posts": can } }),
        )
    };
    let server = Fake::new(vec![front(), user(true)]).await;
    let account = UNMAPPED.open(&server.url).check().await.unwrap();
    assert_eq!(
        (account.name.as_deref(), account.site.as_str()),
        (Some("Ed"), "example.com")
    );

    let server = Fake::new(vec![front(), user(false)]).await;
    let answer = UNMAPPED.open(&server.url).check().await;
    assert_refused(&answer, Why::Permission);

    let refused = Script::json(
        401,
        &json!({ "code": "rest_not_logged_in", "message": "Basic ZWQ6YWJjZCBlZmdo?" }),
    );
    let server = Fake::new(vec![front(), refused.clone()]).await;
    let answer = UNMAPPED.open(&server.url).check().await;
    assert_refused(&answer, Why::Credential);
    assert!(!format!("{answer:?}").contains("ZWQ6"), "{answer:?}");

    let without = Script::json(200, &json!({ "namespaces": ["wp/v2"], "authentication": [] }));
    let server = Fake::new(vec![without, refused]).await;
    let answer = UNMAPPED.open(&server.url).check().await;
    assert_refused(&answer, Why::Unreadable);
}

#[tokio::test]
async fn an_image_is_uploaded_once() {
    let file = json!({ "id": 5, "source_url": "https://example.com/x.png", "alt_text": "An image" });
    let server = Fake::new(vec![front(), Script::json(200, &json!([file]))]).await;
    let uploaded = UNMAPPED.open(&server.url).upload(&picture()).await.unwrap();
    assert_eq!(uploaded.reference, "5");
    assert_eq!(server.asked().len(), 2);

    let server = Fake::new(vec![
        front(),
        Script::json(200, &json!([])),
        Script::json(201, &file),
    ])
    .await;
    let uploaded = UNMAPPED.open(&server.url).upload(&picture()).await.unwrap();
    assert_eq!(uploaded.url.as_deref(), Some("https://example.com/x.png"));
    let asked = server.asked();
    assert_eq!(
        lines(&asked[1..]),
        [
            "GET /wp-json/wp/v2/media?_fields=id,source_url,alt_text&slug=searchwright-0a1b",
            "POST /wp-json/wp/v2/media?_fields=id,source_url,alt_text&alt_text=An%20image",
        ]
    );
    assert_eq!(asked[2].headers["content-type"], "image/png");
    assert_eq!(
        asked[2].headers["content-disposition"],
        "attachment; filename=\"searchwright-0a1b.png\""
    );
    assert_eq!(asked[2].body, b"\x89PNG");

    let refused = json!({ "code": "rest_upload_sideload_error", "message": "not this file type", "data": { "status": 500 } });
    let server = Fake::new(vec![
        front(),
        Script::json(200, &json!([])),
        Script::json(500, &refused),
    ])
    .await;
    let trouble = UNMAPPED.open(&server.url).upload(&picture()).await.unwrap_err();
    assert_eq!(trouble, Trouble::because(Why::Invalid, "not this file type"));
}

#[tokio::test]
async fn fields_are_those_of_the_schema() {
    let schema = json!({ "schema": { "properties": {
        "id": { "type": "integer", "readonly": true },
        "date": { "type": ["string", "null"], "format": "date-time" },
        "title": { "type": "object", "properties": { "raw": { "type": "string" } } },
        "content": { "type": "object" },
        "status": { "type": "string" },
        "featured_media": { "type": "integer" },
        "tags": { "type": "array" },
        "meta": { "type": "object", "properties": { "_mood": { "type": "string", "maxLength": 9, "enum": ["a", "b"] } } },
    } } });
    let server = Fake::new(vec![front(), Script::json(200, &schema)]).await;
    let fields = UNMAPPED
        .open(&server.url)
        .fields(None, Some("posts"))
        .await
        .unwrap();
    assert_eq!(server.asked()[1].line, "OPTIONS /wp-json/wp/v2/posts?");
    assert_eq!(
        kinds(&fields),
        [
            ("date", FieldType::Date, false),
            ("title", FieldType::Text, true),
            ("content", FieldType::Richtext, true),
            ("featured_media", FieldType::Image, false),
            ("tags", FieldType::List, false),
            ("meta._mood", FieldType::Text, false),
        ]
    );
    assert_eq!(fields[5].max_length, Some(9));
    assert_eq!(
        fields[5].options.as_deref(),
        Some(&["a".to_owned(), "b".to_owned()][..])
    );
}
