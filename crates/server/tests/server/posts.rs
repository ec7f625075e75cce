//! Posts as callers write them: what is sent is kept, what is at fault is named, nobody's text is lost.

use std::collections::BTreeSet;

use searchwright_engine::secrets;
use searchwright_store::{access, events};
use serde_json::{Value, json};

use crate::harness::{Answer, Bench, now};

on_both!(
    a_post_is_a_draft_with_what_follows_from_its_text,
    absent_null_and_empty,
    two_writers,
    a_text_that_was_replaced_can_be_restored,
    slugs_are_unique,
    changes_that_meet_are_all_made,
);

/// Kinds of the project's events and the posts they are about, oldest first.
async fn events_of(bench: &Bench) -> Vec<(String, String)> {
    let mut tx = bench.server.app.engine.db.read().await.unwrap();
    let digest = secrets::digest(&bench.key);
    let key = access::find_key_by_digest(&mut tx, &digest)
        .await
        .unwrap()
        .unwrap();
    let events = events::list_after(&mut tx, key.project.scope(), 0, None, 100)
        .await
        .unwrap();
    let event = |placed: &events::PositionedEvent| {
        let data = &placed.event.data;
        (
            placed.event.kind.to_string(),
            data["postId"].as_str().unwrap().to_owned(),
        )
    };
    events.iter().map(event).collect()
}

pub async fn create(bench: &Bench, body: Value) -> Value {
    let created = bench.post("P/posts", body).await;
    assert_eq!(created.status, 201, "{created:?}");
    created.json()
}

fn path(post: &Value) -> String {
    format!("P/posts/{}", post["id"].as_str().unwrap())
}

/// Changes the post as whoever read this version of it.
async fn patch(bench: &Bench, read: &Value, body: Value) -> Answer {
    let tag = format!("\"{}-{}\"", read["id"].as_str().unwrap(), read["version"]);
    bench
        .call("PATCH", &path(read))
        .header("if-match", &tag)
        .json(&body)
        .send()
        .await
}

async fn patched(bench: &Bench, read: &Value, body: Value) -> Value {
    let answer = patch(bench, read, body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

async fn a_post_is_a_draft_with_what_follows_from_its_text(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let keyword = bench.keyword("standing desk").await;
    let text = "A **standing desk** should fit you. See [our desks](https://www.example.com/desks) and \
        [a study](https://study.example/).\n\n## How high?\n\nElbows. <script>alert(1)</script>\n";
    let body = json!({
        "title": "  Choosing a standing desk ", "keywordId": keyword, "content": text, "tags": ["desks"],
        "featuredImage": { "url": "https://example.com/a.png", "alt": "A desk" }, "author": { "name": "Ada" },
    });
    let answer = bench.post("P/posts", body).await;
    let post = answer.json();
    assert_eq!(answer.status, 201, "{post:#}");
    let id = post["id"].as_str().unwrap();
    assert_eq!(answer.header("etag"), Some(format!("\"{id}-1\"").as_str()));
    assert!(
        answer
            .header("location")
            .unwrap()
            .ends_with(&format!("/posts/{id}"))
    );
    assert_eq!(post["status"], "draft");
    assert_eq!((&post["origin"], &post["version"]), (&json!("api"), &json!(1)));
    assert_eq!(post["title"], "Choosing a standing desk");
    assert_eq!(post["slug"], "choosing-a-standing-desk");
    assert_eq!(
        (&post["keywordId"], &post["keyword"]),
        (&json!(keyword), &json!("standing desk"))
    );
    assert_eq!(post["content"], text);
    let html = post["contentHtml"].as_str().unwrap();
    assert!(
        html.contains("<strong>standing desk</strong>") && !html.contains("script"),
        "{html}"
    );
    assert_eq!(post["wordCount"], 15);
    assert_eq!(post["readingTimeMinutes"], 1);
    assert!(post["seoScore"].as_u64().unwrap() > 0);
    let checks = post["seoChecks"].as_array().unwrap();
    let in_title = checks
        .iter()
        .find(|check| check["id"] == "keyword_in_title")
        .unwrap();
    assert_eq!(
        in_title["outcome"], "partial",
        "it is not in the first half: {in_title}"
    );
    assert_eq!(post["readability"]["formula"], "flesch_reading_ease");
    assert_eq!(
        post["internalLinks"],
        json!([{ "url": "https://www.example.com/desks", "title": "our desks" }])
    );
    assert_eq!(
        post["externalSources"],
        json!([{ "url": "https://study.example/", "title": "a study", "quote": null, "checkedAt": null, "ok": null }])
    );
    let graph = &post["structuredData"]["@graph"];
    assert_eq!(graph[0]["headline"], "Choosing a standing desk");
    assert_eq!(graph[0]["author"]["name"], "Ada");
    assert!(
        graph[0].get("mainEntityOfPage").is_none(),
        "an address is not made up"
    );
    assert_eq!(post["hasUnpublishedChanges"], false);
    assert_eq!(bench.get(&path(&post)).await.json(), post);
    let list = bench.get("P/posts").await.json();
    let row = &list["data"][0];
    assert_eq!(row["id"], post["id"]);
    for left_out in ["content", "contentHtml", "seoChecks", "structuredData"] {
        assert!(row.get(left_out).is_none(), "{left_out}");
    }
    for (query, rows) in [
        ("status=draft", 1),
        ("status=review", 0),
        ("q=STANDING", 1),
        ("q=sitting", 0),
        (&format!("keywordId={keyword}"), 1),
    ] {
        let list = bench.get(&format!("P/posts?{query}")).await.json();
        assert_eq!(list["data"].as_array().unwrap().len(), rows, "{query}");
    }
    let events = events_of(&bench).await;
    assert_eq!(events, [("post.created".to_owned(), id.to_owned())]);
}

async fn absent_null_and_empty(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let keyword = bench.keyword("desk").await;
    let whole = json!({
        "title": "Desks", "content": "Text.", "keywordId": keyword, "excerpt": "e", "metaTitle": "m", "metaDescription": "d",
        "secondaryKeywords": ["a"], "tags": ["t"], "categories": ["c"], "featuredImage": { "url": "https://e.example/i.png" },
        "author": { "name": "Ada" }, "canonicalUrl": "https://e.example/desks",
    });
    let post = create(&bench, whole).await;
    let same = patched(&bench, &post, json!({})).await;
    assert_eq!(same, post, "nothing is changed, the version neither");
    let nullable = [
        "keywordId",
        "excerpt",
        "metaTitle",
        "metaDescription",
        "featuredImage",
        "author",
        "canonicalUrl",
    ];
    let nulls: Value = nullable
        .iter()
        .map(|name| ((*name).to_owned(), Value::Null))
        .collect();
    let cleared = patched(&bench, &same, nulls).await;
    for name in nullable {
        assert_eq!(cleared[name], Value::Null, "{name}");
    }
    assert_eq!(
        (&cleared["keyword"], &cleared["content"]),
        (&Value::Null, &json!("Text."))
    );
    let emptied = patched(
        &bench,
        &cleared,
        json!({ "tags": [], "secondaryKeywords": [], "categories": [] }),
    )
    .await;
    assert_eq!(
        (&emptied["tags"], &emptied["categories"]),
        (&json!([]), &json!([]))
    );
    for name in ["title", "content", "slug", "language", "tags", "status"] {
        let problem = patch(&bench, &emptied, json!({ name: null }))
            .await
            .refuses(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], format!("/{name}"), "{problem:#}");
    }
    for text in ["", " \n\t"] {
        let problem = patch(&bench, &emptied, json!({ "content": text }))
            .await
            .refuses(422, "validation_failed");
        assert_eq!(problem["errors"][0]["code"], "would_erase_content");
    }
    let erased = patched(
        &bench,
        &emptied,
        json!({ "content": "", "allowEmptyContent": true }),
    )
    .await;
    assert_eq!(
        (&erased["content"], &erased["seoScore"]),
        (&json!(""), &Value::Null)
    );
    assert_eq!(erased["seoChecks"], json!([]));
    // Empty as it is, it can be written as empty.
    patched(&bench, &erased, json!({ "content": "" })).await;
}

async fn two_writers(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let post = create(&bench, json!({ "title": "Desks", "content": "First." })).await;
    let blind = bench
        .call("PATCH", &path(&post))
        .json(&json!({ "content": "Blind." }))
        .send()
        .await;
    let problem = blind.refuses(428, "precondition_required");
    assert!(problem["hint"].as_str().unwrap().contains("If-Match"));
    let first = patched(&bench, &post, json!({ "content": "Mine." })).await;
    let late = patch(&bench, &post, json!({ "content": "Theirs." })).await;
    assert_eq!(late.refuses(412, "precondition_failed")["currentVersion"], 2);
    for (version, status) in [(1, 412), (2, 200)] {
        let body = json!({ "content": "Theirs, read.", "ifVersion": version });
        let answer = bench.call("PATCH", &path(&post)).json(&body).send().await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
    let any = bench
        .call("PATCH", &path(&post))
        .header("if-match", "*")
        .json(&json!({ "content": "Any." }));
    assert_eq!(any.send().await.status, 200);
    // What is no text can be changed without having read it, but not with having read something else.
    let title = bench
        .call("PATCH", &path(&post))
        .json(&json!({ "title": "Tables" }))
        .send()
        .await;
    assert_eq!(
        (title.status, title.json()["content"].as_str()),
        (200, Some("Any."))
    );
    patch(&bench, &first, json!({ "title": "Chairs" }))
        .await
        .refuses(412, "precondition_failed");
}

async fn a_text_that_was_replaced_can_be_restored(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let post = create(&bench, json!({ "title": "Desks", "content": "One." })).await;
    let post = patched(&bench, &post, json!({ "content": "Two words." })).await;
    let post = patched(&bench, &post, json!({ "title": "Tables" })).await;
    let post = patched(&bench, &post, json!({ "content": "Three." })).await;
    let revisions = format!("{}/revisions", path(&post));
    let list = bench.get(&revisions).await.json();
    let texts: Vec<_> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| (r["number"].as_i64(), r["content"].as_str()))
        .collect();
    assert_eq!(texts, [(Some(2), Some("Two words.")), (Some(1), Some("One."))]);
    assert_eq!(
        (&list["data"][0]["title"], &list["data"][0]["wordCount"]),
        (&json!("Tables"), &json!(2))
    );
    let page = bench.get(&format!("{revisions}?limit=1")).await.json();
    let next = format!(
        "{revisions}?limit=1&cursor={}",
        page["nextCursor"].as_str().unwrap()
    );
    assert_eq!(bench.get(&next).await.json()["data"][0]["number"], 1);
    bench
        .post(&format!("{revisions}/1/restore"), json!({}))
        .await
        .refuses(428, "precondition_required");
    bench
        .post(&format!("{revisions}/1/restore"), json!({ "ifVersion": 1 }))
        .await
        .refuses(412, "precondition_failed");
    bench
        .post(&format!("{revisions}/9/restore"), json!({ "ifVersion": 4 }))
        .await
        .refuses(404, "not_found");
    let restored = bench
        .post(&format!("{revisions}/1/restore"), json!({ "ifVersion": 4 }))
        .await;
    assert_eq!(
        (restored.status, restored.json()["content"].as_str()),
        (200, Some("One.")),
        "{restored:?}"
    );
    assert_eq!(restored.json()["title"], "Tables");
    let list = bench.get(&revisions).await.json();
    assert_eq!(list["data"][0]["content"], "Three.");
}

async fn slugs_are_unique(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let long = "word ".repeat(15);
    let mut slugs = Vec::new();
    for title in [
        "Große Größe",
        "Grosse Grosse",
        "Grosse grosse!",
        "—",
        "⁉",
        &long,
        &long,
    ] {
        let post = create(&bench, json!({ "title": title, "language": "de" })).await;
        slugs.push(post["slug"].as_str().unwrap().to_owned());
    }
    assert_eq!(slugs[..3], ["grosse-groesse", "grosse-grosse", "grosse-grosse-2"]);
    assert_eq!(slugs[4], format!("{}-2", slugs[3]), "{slugs:?}");
    assert!(
        slugs[5] != slugs[6] && slugs[6].ends_with("-2") && slugs[6].len() <= 75,
        "{slugs:?}"
    );
    let post = create(&bench, json!({ "title": "Desk", "slug": "my-desk" })).await;
    let taken = json!({ "title": "Other", "slug": "my-desk" });
    let problem = bench.post("P/posts", taken).await.refuses(409, "already_exists");
    assert_eq!(
        (&problem["existingId"], &problem["errors"][0]["pointer"]),
        (&post["id"], &json!("/slug"))
    );
    let other = create(&bench, json!({ "title": "Other" })).await;
    let problem = patch(&bench, &other, json!({ "slug": "my-desk" }))
        .await
        .refuses(409, "already_exists");
    assert_eq!(
        (&problem["existingId"], &problem["errors"][0]["pointer"]),
        (&post["id"], &json!("/slug"))
    );
    patched(&bench, &post, json!({ "slug": "my-desk" })).await;
    for bad in ["My-desk", "a--b", "-a", "a-", "a b", "ä", "a/b"] {
        let problem = patch(&bench, &other, json!({ "slug": bad }))
            .await
            .refuses(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], "/slug", "{bad}");
    }
    // Another project has slugs of its own.
    let (neighbour, key) = bench.neighbour().await;
    let body = json!({ "title": "Desk", "slug": "my-desk" });
    let foreign = bench
        .call("POST", &format!("/projects/{neighbour}/posts"))
        .key(&key)
        .json(&body)
        .send()
        .await;
    assert_eq!(foreign.status, 201);
}

#[tokio::test]
async fn what_is_at_fault_is_named() {
    let bench = Bench::start().await;
    let post = create(&bench, json!({ "title": "Desks", "content": "Text." })).await;
    let deep = ">".repeat(400) + " deep";
    for (body, pointer, code) in [
        (json!({ "title": " " }), "/title", "blank"),
        (json!({ "title": "x".repeat(301) }), "/title", "too_long"),
        (
            json!({ "language": "english language" }),
            "/language",
            "not_a_language",
        ),
        (json!({ "tags": ["a", " "] }), "/tags/1", "blank"),
        (
            json!({ "canonicalUrl": "javascript:alert(1)" }),
            "/canonicalUrl",
            "not_a_url",
        ),
        (
            json!({ "featuredImage": { "url": "data:image/png;base64,AA" } }),
            "/featuredImage/url",
            "not_a_url",
        ),
        (
            json!({ "author": { "name": "A", "sameAs": ["x"] } }),
            "/author/sameAs/0",
            "not_a_url",
        ),
        (json!({ "content": deep }), "/content", "too_deep"),
        (
            json!({ "scheduledAt": now().to_string() }),
            "/scheduledAt",
            "not_in_the_future",
        ),
        (json!({ "status": "live" }), "/status", "not_allowed"),
    ] {
        let answer = patch(&bench, &post, body.clone()).await;
        let problem = answer.refuses(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}: {problem:#}");
        if code != "not_allowed" {
            assert_eq!(problem["errors"][0]["code"], code, "{body}");
        }
    }
    for read_only in [
        "contentHtml",
        "wordCount",
        "seoScore",
        "publishedAt",
        "structuredData",
        "hasUnpublishedChanges",
        "origin",
    ] {
        let problem = patch(&bench, &post, json!({ read_only: 1 }))
            .await
            .refuses(422, "unknown_field");
        assert_eq!(problem["errors"][0]["pointer"], format!("/{read_only}"));
    }
    for read_only in ["id", "projectId", "version", "createdAt", "allowedActions"] {
        let problem = patch(&bench, &post, json!({ read_only: post[read_only] })).await;
        let problem = problem.json();
        assert_eq!(
            (&problem["status"], &problem["errors"][0]["pointer"]),
            (&json!(422), &json!(format!("/{read_only}")))
        );
    }
    bench
        .post("P/posts", json!({}))
        .await
        .refuses(422, "validation_failed");
    assert_eq!(
        bench.get(&path(&post)).await.json(),
        post,
        "nothing of it took effect"
    );
}

#[tokio::test]
async fn a_post_belongs_to_its_project_and_so_does_its_keyword() {
    let bench = Bench::start().await;
    let (neighbour, key) = bench.neighbour().await;
    let their = |path: &str| format!("/projects/{neighbour}{path}");
    let keyword = bench
        .call("POST", &their("/keywords"))
        .key(&key)
        .json(&json!({ "keyword": "oak" }))
        .send()
        .await
        .json();
    let theirs = bench
        .call("POST", &their("/posts"))
        .key(&key)
        .json(&json!({ "title": "Oak" }))
        .send()
        .await
        .json();
    let post = create(&bench, json!({ "title": "Desks" })).await;
    let foreign = json!({ "title": "A", "keywordId": keyword["id"] });
    bench
        .post("P/posts", foreign.clone())
        .await
        .refuses(403, "project_forbidden");
    patch(&bench, &post, foreign)
        .await
        .refuses(403, "project_forbidden");
    for id in ["01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10", "no-id"] {
        let problem = bench
            .post("P/posts", json!({ "title": "A", "keywordId": id }))
            .await
            .refuses(404, "not_found");
        assert_eq!(problem["resource"], "keyword");
        patch(&bench, &post, json!({ "keywordId": id }))
            .await
            .refuses(404, "not_found");
        bench
            .get(&format!("P/posts/{id}"))
            .await
            .refuses(404, "not_found");
    }
    for (method, rest, body) in [
        ("GET", "", None),
        ("PATCH", "", Some(json!({ "title": "Mine" }))),
        ("GET", "/revisions", None),
        ("POST", "/revisions/1/restore", Some(json!({}))),
    ] {
        let call = bench.call(
            method,
            &format!("P/posts/{}{rest}", theirs["id"].as_str().unwrap()),
        );
        let call = match body {
            Some(body) => call.json(&body),
            None => call,
        };
        call.send().await.refuses(403, "project_forbidden");
    }
    let reader = bench.key_for(bench.project, &["posts:read"]).await;
    assert_eq!(bench.call("GET", "P/posts").key(&reader).send().await.status, 200);
    let refused = bench
        .call("POST", "P/posts")
        .key(&reader)
        .json(&json!({ "title": "A" }))
        .send()
        .await;
    assert_eq!(refused.refuses(403, "insufficient_scope")["scope"], "posts:write");
    let seen = bench.call("GET", &path(&post)).key(&reader).send().await.json();
    assert_eq!(seen["allowedActions"]["update"]["code"], "insufficient_scope");
    let blind = bench.key_for(bench.project, &["keywords:read"]).await;
    bench
        .call("GET", "P/posts")
        .key(&blind)
        .send()
        .await
        .refuses(403, "insufficient_scope");
}

/// A change is assessed before its transaction; when another comes between, it is assessed again.
async fn changes_that_meet_are_all_made(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let text = "A sentence about desks, *long enough* to take a while. ".repeat(500);
    let made = bench
        .post("P/posts", json!({ "title": "Desks", "content": text }))
        .await;
    let path = format!("P/posts/{}", made.json()["id"].as_str().unwrap());
    let (title, tags, excerpt) = tokio::join!(
        bench.patch(&path, json!({ "title": "Tall desks" })),
        bench.patch(&path, json!({ "tags": ["tall"] })),
        bench.patch(&path, json!({ "excerpt": "Of tall desks" })),
    );
    assert_eq!((title.status, tags.status, excerpt.status), (200, 200, 200));
    let post = bench.get(&path).await.json();
    assert_eq!(
        (&post["title"], &post["tags"], &post["excerpt"], &post["version"]),
        (
            &json!("Tall desks"),
            &json!(["tall"]),
            &json!("Of tall desks"),
            &json!(4)
        )
    );
    // as many as a client sends at once, with one title: each gets a slug of its own
    let same = (0..12).map(|_| bench.post("P/posts", json!({ "content": text, "title": "Tall desks" })));
    let mut slugs = BTreeSet::new();
    for made in futures_util::future::join_all(same).await {
        assert_eq!(made.status, 201, "{made:?}");
        let post = made.json();
        slugs.insert(post["slug"].as_str().unwrap().to_owned());
    }
    assert_eq!(slugs.len(), 12, "{slugs:?}");
}
