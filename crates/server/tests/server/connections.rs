//! Effects of connections that end, and failures that are not faults of a connection.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    blog::{Blog, Fault, PASSWORD, USER},
    harness::{Answer, Bench},
    publishing::{look, publish, read, settled, start, until, until_job_waits, working, write},
};

on_both!(
    connected_again_it_is_the_same_connection,
    what_was_sent_before_the_end_of_a_connection_is_looked_for_once_it_is_back,
    a_post_is_scheduled_only_where_it_is_clear_where_it_goes,
    an_image_that_cannot_be_had_is_no_fault_of_the_provider,
    fields_of_a_provider_that_is_down,
    a_mark_in_a_text_is_not_ours,
    a_page_connects_no_path_of_the_server,
    what_a_killed_server_left_of_its_work_is_cleared_away,
    a_post_that_is_taken_back_at_one_place_is_found_at_the_other,
    a_provider_may_ask_for_an_hour_and_no_more,
    a_url_is_made_for_an_address_only,
);

async fn disconnect(bench: &Bench) {
    let gone = bench.call("DELETE", "P/integrations/wordpress").send().await;
    assert_eq!(gone.status, 204, "{gone:?}");
}

async fn connect(bench: &Bench, site: &str) {
    let entered = BTreeMap::from([
        ("siteUrl".to_owned(), site.to_owned()),
        ("username".to_owned(), USER.to_owned()),
        ("password".to_owned(), PASSWORD.to_owned()),
    ]);
    let engine = &bench.server.app.engine;
    engine.connect(bench.project, "wordpress", entered).await.unwrap();
}

async fn map(bench: &Bench) -> Answer {
    let map = json!({ "collectionId": "posts", "fieldMap": { "title": "title", "content": "content", "slug": "slug" } });
    let mapped = bench.post("P/integrations/wordpress/mapping", map).await;
    assert_eq!(mapped.json()["status"], "ready", "{mapped:?}");
    mapped
}

async fn wordpress(bench: &Bench) -> Value {
    let listed = bench.get("P/integrations").await.json();
    listed["data"][0].clone()
}

async fn connected_again_it_is_the_same_connection(database: &str) {
    let (bench, blog) = start(database).await;
    let before = wordpress(&bench).await;
    let id = write(&bench, "Oak").await;
    publish(&bench, &id, json!({})).await;
    settled(&bench, &id).await;

    disconnect(&bench).await;
    let ended = wordpress(&bench).await;
    assert_eq!(
        (&ended["status"], &ended["connectionId"], &ended["account"]),
        (&json!("not_connected"), &Value::Null, &Value::Null)
    );
    bench
        .call("DELETE", "P/integrations/wordpress")
        .send()
        .await
        .refuses(404, "not_found");
    bench
        .post(&format!("P/posts/{id}/unpublish"), json!({}))
        .await
        .refuses(409, "provider_not_configured");

    // Another site between, and back.
    let (_, other) = Blog::start().await;
    let engine = &bench.server.app.engine;
    let entered = BTreeMap::from([
        ("siteUrl".to_owned(), format!("http://{other}")),
        ("username".to_owned(), USER.to_owned()),
        ("password".to_owned(), PASSWORD.to_owned()),
    ]);
    assert!(
        engine.connect(bench.project, "wordpress", entered).await.is_err(),
        "not allowed"
    );
    connect(&bench, &blog.base()).await;
    let again = wordpress(&bench).await;
    assert_eq!(again["connectionId"], before["connectionId"]);
    assert_eq!(
        (&again["status"], &again["fieldMap"]),
        (&json!("needs_mapping"), &json!({}))
    );
    map(&bench).await;
    let taken = bench.post(&format!("P/posts/{id}/unpublish"), json!({})).await;
    assert_eq!(taken.status, 202, "{taken:?}");
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["status"], &post["isLive"]),
        (&json!("draft"), &json!(false))
    );
    assert_eq!(
        (blog.posts().len(), blog.posts()[0]["status"].clone()),
        (1, json!("draft"))
    );
}

async fn what_was_sent_before_the_end_of_a_connection_is_looked_for_once_it_is_back(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    blog.is_silent(true);
    blog.fails(&[Fault::LosesAnswer]);
    publish(&bench, &id, json!({})).await;
    let post = settled(&bench, &id).await;
    assert_eq!(post["publicationState"], "uncertain");
    disconnect(&bench).await;
    let post = look(&bench, &id, 5_001).await;
    assert_eq!(
        (&post["status"], &post["publicationState"], &post["failure"]),
        (&json!("publishing"), &json!("uncertain"), &Value::Null),
        "{post:#}"
    );
    let evidence = post["publications"][0]["attempt"]["evidence"].as_array().unwrap();
    assert_eq!(evidence.last().unwrap()["what"], "disconnected");
    blog.is_silent(false);
    connect(&bench, &blog.base()).await;
    map(&bench).await;
    publish(&bench, &id, json!({})).await;
    let post = until(&bench, &id, |post| post["status"] == "published").await;
    assert_eq!(post["isLive"], true);
    assert_eq!((blog.posts().len(), blog.writes()), (1, 1));
}

async fn a_post_is_scheduled_only_where_it_is_clear_where_it_goes(database: &str) {
    let (bench, _) = start(database).await;
    let files = BTreeMap::from([("folder".to_owned(), "blog".to_owned())]);
    let engine = &bench.server.app.engine;
    engine.connect(bench.project, "files", files).await.unwrap();
    let map = json!({ "fieldMap": { "title": "title", "content": "content" } });
    assert_eq!(bench.post("P/integrations/files/mapping", map).await.status, 200);
    let id = write(&bench, "Oak").await;
    let schedule = async || {
        let at = bench.clock.now().plus_millis(3_600_000);
        let body = json!({ "status": "scheduled", "scheduledAt": at });
        bench.patch(&format!("P/posts/{id}"), body).await
    };
    let refused = schedule().await.refuses(422, "validation_failed");
    assert_eq!(
        (&refused["errors"][0]["pointer"], &refused["errors"][0]["code"]),
        (&json!("/status"), &json!("provider_required"))
    );
    assert_eq!(read(&bench, &id).await["status"], "draft");
    // Where it once was it goes again.
    publish(&bench, &id, json!({ "provider": "files", "mode": "draft" })).await;
    assert_eq!(settled(&bench, &id).await["status"], "draft");
    assert_eq!(schedule().await.status, 200);
    bench.clock.advance(3_600_001);
    let post = until(&bench, &id, |post| post["status"] == "published").await;
    assert_eq!(post["publications"][0]["provider"], "files");
}

async fn an_image_that_cannot_be_had_is_no_fault_of_the_provider(database: &str) {
    let bench = working(database, "\"publish=127.0.0.1:9\"").await;
    let files = BTreeMap::from([("folder".to_owned(), "blog".to_owned())]);
    let engine = &bench.server.app.engine;
    engine.connect(bench.project, "files", files).await.unwrap();
    let map = json!({ "fieldMap": { "title": "title", "content": "content", "featuredImage": "image" } });
    assert_eq!(bench.post("P/integrations/files/mapping", map).await.status, 200);
    let with_image = async |title: &str, url: &str| {
        let id = write(&bench, title).await;
        let body = json!({ "featuredImage": { "url": url } });
        let set = bench.patch(&format!("P/posts/{id}"), body).await;
        assert_eq!(set.status, 200, "{set:?}");
        publish(&bench, &id, json!({})).await;
        id
    };
    // Forbidden: no try will change that.
    let id = with_image("Oak", "http://127.0.0.1:8/a.png").await;
    let post = settled(&bench, &id).await;
    let said = &post["publications"][0]["lastError"];
    assert_eq!(
        (&post["status"], &said["code"]),
        (&json!("failed"), &json!("rejected")),
        "{post:#}"
    );
    assert!(
        said["providerMessage"]
            .as_str()
            .unwrap()
            .contains("--allow-outbound"),
        "{said}"
    );
    // Down: tried again, four times in all, and the next time is said as it is.
    let id = with_image("Elm", "http://127.0.0.1:9/a.png").await;
    let tried = |post: &Value| {
        let evidence = post["publications"][0]["attempt"]["evidence"].as_array().unwrap();
        evidence.iter().filter(|seen| seen["what"] == "not_now").count()
    };
    for (tries, wait) in [(1, 10_000), (2, 20_000), (3, 40_000)] {
        let post = until(&bench, &id, |post| tried(post) == tries).await;
        let attempt = &post["publications"][0]["attempt"];
        assert_eq!(
            attempt["nextCheckAt"],
            json!(bench.clock.now().plus_millis(wait)),
            "{post:#}"
        );
        until_job_waits(&bench, attempt["jobId"].as_str().unwrap()).await;
        bench.clock.advance(wait);
    }
    let post = until(&bench, &id, |post| post["status"] == "failed").await;
    assert_eq!(
        (tried(&post), &post["failure"]["code"]),
        (4, &json!("image_unreachable"))
    );
    let listed = bench.get("P/integrations").await.json();
    let of_files = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|i| i["provider"] == "files");
    let integration = of_files.unwrap();
    assert_eq!(
        (&integration["status"], &integration["lastError"]),
        (&json!("ready"), &Value::Null)
    );
}

async fn fields_of_a_provider_that_is_down(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    publish(&bench, &id, json!({})).await;
    settled(&bench, &id).await;
    blog.is_silent(true);
    let refused = bench
        .get("P/integrations/wordpress/fields")
        .await
        .refuses(502, "provider_error");
    assert_eq!(refused["reason"], "status", "{refused}");
    let known = wordpress(&bench).await;
    assert_eq!(
        (&known["status"], &known["lastError"]["code"]),
        (&json!("error"), &json!("status"))
    );
    // What failed once is tried all the same.
    blog.is_silent(false);
    assert_eq!(bench.get("P/integrations/wordpress/fields").await.status, 200);
    assert_eq!(wordpress(&bench).await["status"], "ready");
}

async fn a_mark_in_a_text_is_not_ours(database: &str) {
    let (bench, blog) = start(database).await;
    let first = write(&bench, "Elm").await;
    publish(&bench, &first, json!({})).await;
    settled(&bench, &first).await;
    let there = blog.posts()[0]["content"]["raw"].as_str().unwrap().to_owned();
    let mark = there[there.find("<!--").unwrap()..].trim().to_owned();
    // Somebody takes the page of the blog over as it is, mark and all.
    let copied = json!({ "title": "Oak", "content": format!("{mark}\n\nA copy of it.\n\n{mark}\n\nMore.") });
    let made = bench.post("P/posts", copied).await.json();
    let id = made["id"].as_str().unwrap();
    publish(&bench, id, json!({})).await;
    assert_eq!(settled(&bench, id).await["status"], "published");
    let text = blog.posts()[1]["content"]["raw"].as_str().unwrap().to_owned();
    assert!(text.contains(id) && !text.contains(&first), "{text}");
    // And the first is still itself.
    publish(&bench, &first, json!({ "force": true })).await;
    assert_eq!(settled(&bench, &first).await["status"], "published");
    assert_eq!(blog.posts().len(), 2);
}

async fn a_page_connects_no_path_of_the_server(database: &str) {
    let bench = working(database, "\"publish=127.0.0.1:9\"").await;
    let made = bench.post("P/integrations/git/connect-url", json!({})).await;
    assert_eq!(made.status, 201, "{made:?}");
    let page = made.json()["url"].as_str().unwrap().to_owned();
    for (address, word) in [
        ("/etc", "only its operator can connect"),
        (" file:///etc", "only its operator can connect"),
        ("../../etc", "has to be such as"),
        ("ssh://a';id;'/x", "has to be such as"),
        ("ext::sh -c id", "has to be such as"),
        ("git@127.0.0.1:me/blog.git", "may not be reached"),
        ("http://127.0.0.1/blog.git", "may not be reached"),
        ("ssh://git@localhost/blog.git", "may not be reached"),
    ] {
        let (status, html) = bench.enter(&page, &[("repository", address)]).await;
        assert!(
            matches!(status, 422 | 502) && html.contains(word),
            "{address}: {status} {html}"
        );
    }
}

async fn what_a_killed_server_left_of_its_work_is_cleared_away(database: &str) {
    let Bench {
        server,
        clock,
        folder,
        ..
    } = Bench::on(database, &[]).await;
    let settings = server.app.settings.clone();
    server.stop().await;
    let left = folder.path().join("scratch/git-abc");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("key"), "-----BEGIN canary").unwrap();
    let bench = Bench::open(folder, settings, clock).await;
    // Beside a database of their own, others may work in the folder: what is an hour old is nobody's.
    assert_eq!(left.exists(), !database.is_empty());
    bench.server.stop().await;
}

async fn a_post_that_is_taken_back_at_one_place_is_found_at_the_other(database: &str) {
    let (bench, blog) = start(database).await;
    let files = BTreeMap::from([("baseUrl".to_owned(), "https://example.com/blog".to_owned())]);
    let engine = &bench.server.app.engine;
    engine.connect(bench.project, "files", files).await.unwrap();
    let map = json!({ "fieldMap": { "title": "title", "content": "content" } });
    assert_eq!(bench.post("P/integrations/files/mapping", map).await.status, 200);
    let id = write(&bench, "Oak").await;
    for provider in ["files", "wordpress"] {
        publish(&bench, &id, json!({ "provider": provider })).await;
        assert_eq!(settled(&bench, &id).await["status"], "published");
    }
    assert_eq!(
        read(&bench, &id).await["publishedUrl"],
        format!("{}/oak/", blog.base())
    );
    let unpublish = format!("P/posts/{id}/unpublish");
    let refused = bench
        .post(&unpublish, json!({}))
        .await
        .refuses(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/provider");
    let taken = bench.post(&unpublish, json!({ "provider": "wordpress" })).await;
    assert_eq!(taken.status, 202, "{taken:?}");
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["status"], &post["isLive"], &post["publishedUrl"]),
        (
            &json!("published"),
            &json!(true),
            &json!("https://example.com/blog/oak/")
        ),
        "{post:#}"
    );
}

async fn a_provider_may_ask_for_an_hour_and_no_more(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    blog.fails(&[Fault::Busy(999_999_999)]);
    publish(&bench, &id, json!({})).await;
    let post = until(&bench, &id, |post| {
        post["publications"][0]["attempt"]["nextCheckAt"].is_string()
    })
    .await;
    let attempt = &post["publications"][0]["attempt"];
    assert_eq!(
        attempt["nextCheckAt"],
        json!(bench.clock.now().plus_millis(3_600_000))
    );
    until_job_waits(&bench, attempt["jobId"].as_str().unwrap()).await;
    bench.clock.advance(3_600_000);
    let post = until(&bench, &id, |post| post["status"] == "published").await;
    assert_eq!((blog.posts().len(), &post["isLive"]), (1, &json!(true)));
}

async fn a_url_is_made_for_an_address_only(database: &str) {
    let bench = working(database, "\"publish=127.0.0.1:9\"").await;
    for site in [
        "",
        "example.com",
        "ftp://example.com",
        "https://me:secret@example.com",
    ] {
        let refused = bench
            .post("P/integrations/wordpress/connect-url", json!({ "siteUrl": site }))
            .await
            .refuses(422, "validation_failed");
        assert_eq!(refused["errors"][0]["pointer"], "/siteUrl", "{site}");
    }
    // A site that is down is connected on a page of ours.
    let body = json!({ "siteUrl": "http://127.0.0.1:9" });
    let made = bench.post("P/integrations/wordpress/connect-url", body).await;
    assert_eq!((made.status, &made.json()["kind"]), (201, &json!("dashboard")));
}
