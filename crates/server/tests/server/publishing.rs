//! Publishing: what reaches the provider, how often, and what is known of it when answers are lost.

use std::collections::BTreeMap;

use searchwright_contract::people::{AutonomyAction, Role};
use serde_json::{Value, json};

use crate::{
    blog::{Blog, Fault, PASSWORD, USER, foreign},
    harness::Bench,
    oauth::Agent,
};

on_both!(
    a_post_goes_live_is_brought_up_to_date_and_taken_back,
    an_answer_that_is_lost_makes_no_second_post,
    a_server_that_ends_while_it_sends_looks_when_it_is_back,
    a_request_that_was_lost_fails_after_ten_minutes_and_can_be_made_again,
    what_others_did_at_the_provider_stays,
    a_credential_that_was_revoked_stops_everything,
    a_scheduled_post_goes_at_its_time,
    scheduling_takes_what_publishing_takes,
    what_nobody_can_find_out_stays_uncertain_until_somebody_asks_again,
    what_cannot_be_published_says_why,
);

/// A server that works, with a project whose blog is connected and mapped.
pub async fn start(database: &str) -> (Bench, Blog) {
    let (blog, address) = Blog::start().await;
    let bench = working(database, &format!("\"publish={address}\"")).await;
    connect_blog(&bench, &address).await;
    (bench, blog)
}

/// Connects and maps a blog.
pub async fn connect_blog(bench: &Bench, address: &std::net::SocketAddr) {
    let entered = BTreeMap::from([
        ("siteUrl".to_owned(), format!("http://{address}")),
        ("username".to_owned(), USER.to_owned()),
        ("password".to_owned(), PASSWORD.to_owned()),
    ]);
    let engine = &bench.server.app.engine;
    engine.connect(bench.project, "wordpress", entered).await.unwrap();
    let map = json!({ "collectionId": "posts", "fieldMap": { "title": "title", "content": "content", "slug": "slug", "excerpt": "excerpt" } });
    let mapped = bench.post("P/integrations/wordpress/mapping", map).await;
    assert_eq!(
        (mapped.status, &mapped.json()["status"]),
        (200, &json!("ready")),
        "{mapped:?}"
    );
}

pub async fn working(database: &str, allow: &str) -> Bench {
    Bench::on(database, &["worker.jobs=2", &format!("allow_outbound=[{allow}]")]).await
}

pub async fn write(bench: &Bench, title: &str) -> String {
    let made = bench
        .post(
            "P/posts",
            json!({ "title": title, "content": "Some *text* that stays.", "excerpt": "short" }),
        )
        .await;
    assert_eq!(made.status, 201, "{made:?}");
    made.json()["id"].as_str().unwrap().to_owned()
}

pub async fn read(bench: &Bench, id: &str) -> Value {
    bench.get(&format!("P/posts/{id}")).await.json()
}

pub async fn publish(bench: &Bench, id: &str, body: Value) {
    let started = bench.post(&format!("P/posts/{id}/publish"), body).await;
    assert_eq!(started.status, 202, "{started:?}");
    assert_eq!(started.json()["post"]["status"], "publishing");
}

/// Waits until the post is no longer on its way, or is uncertain.
pub async fn settled(bench: &Bench, id: &str) -> Value {
    until(bench, id, |post| {
        post["status"] != "publishing" || post["publicationState"] == "uncertain"
    })
    .await
}

pub async fn until(bench: &Bench, id: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let post = read(bench, id).await;
        if holds(&post) {
            return post;
        }
        assert!(tokio::time::Instant::now() < deadline, "{post:#}");
        tokio::task::yield_now().await;
    }
}

/// Looks so many times after so long, and waits until that was done.
pub async fn look(bench: &Bench, id: &str, millis: i64) -> Value {
    let evidence = |post: &Value| {
        post["publications"][0]["attempt"]["evidence"]
            .as_array()
            .map_or(0, Vec::len)
    };
    let post = read(bench, id).await;
    let seen = evidence(&post);
    if let Some(job) = publication(&post)["attempt"]["jobId"].as_str() {
        until_job_waits(bench, job).await;
    }
    bench.clock.advance(millis);
    until(bench, id, |post| evidence(post) > seen).await;
    settled(bench, id).await
}

/// Kinds of the events about a post, oldest first.
pub async fn events(bench: &Bench, id: &str) -> Vec<String> {
    let all = bench.get("P/events?limit=100").await.json();
    let of_post = all["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["data"]["postId"] == id);
    of_post
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect()
}

pub fn publication(post: &Value) -> &Value {
    &post["publications"][0]
}

async fn a_post_goes_live_is_brought_up_to_date_and_taken_back(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    publish(&bench, &id, json!({})).await;
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["status"], &post["isLive"]),
        (&json!("published"), &json!(true)),
        "{post:#}"
    );
    assert_eq!(post["publishedUrl"], publication(&post)["url"]);
    assert!(post["publishedAt"].is_string());
    let made = blog.posts();
    assert_eq!(
        (made.len(), &made[0]["status"], &made[0]["slug"]),
        (1, &json!("publish"), &json!("oak"))
    );
    assert_eq!(
        (&made[0]["excerpt"]["raw"], &made[0]["title"]["raw"]),
        (&json!("short"), &json!("Oak"))
    );
    let text = made[0]["content"]["raw"].as_str().unwrap();
    assert!(
        text.contains("<em>text</em>") && text.contains(&format!("searchwright:{id}:")),
        "{text}"
    );

    // What is there already is not sent.
    publish(&bench, &id, json!({})).await;
    settled(&bench, &id).await;
    assert_eq!(blog.writes(), 1);
    // What changed here goes to the same post there.
    let changed = bench
        .patch(&format!("P/posts/{id}"), json!({ "title": "Elm" }))
        .await
        .json();
    assert_eq!(
        (&changed["status"], &changed["hasUnpublishedChanges"]),
        (&json!("published"), &json!(true))
    );
    publish(&bench, &id, json!({ "provider": "wordpress" })).await;
    let post = settled(&bench, &id).await;
    assert_eq!(post["hasUnpublishedChanges"], false);
    assert_eq!(
        (blog.posts().len(), blog.posts()[0]["title"]["raw"].clone()),
        (1, json!("Elm"))
    );

    bench
        .post(&format!("P/posts/{id}/publish"), json!({ "mode": "draft" }))
        .await
        .refuses(409, "invalid_state");
    let taken = bench.post(&format!("P/posts/{id}/unpublish"), json!({})).await;
    assert_eq!(taken.status, 202, "{taken:?}");
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["status"], &post["isLive"], &post["publishedUrl"]),
        (&json!("draft"), &json!(false), &Value::Null)
    );
    assert_eq!(
        (blog.posts().len(), blog.posts()[0]["status"].clone()),
        (1, json!("draft"))
    );
    bench
        .post(&format!("P/posts/{id}/unpublish"), json!({}))
        .await
        .refuses(409, "invalid_state");
    publish(&bench, &id, json!({})).await;
    assert_eq!(settled(&bench, &id).await["status"], "published");
    assert_eq!(
        (blog.posts().len(), blog.posts()[0]["status"].clone()),
        (1, json!("publish"))
    );

    let kinds = events(&bench, &id).await;
    let count = |kind: &str| kinds.iter().filter(|known| *known == kind).count();
    assert_eq!(
        (
            count("post.published"),
            count("post.unpublished"),
            count("post.publish_failed")
        ),
        (2, 1, 0),
        "{kinds:?}"
    );
    let listed = bench.get("P/integrations").await.json().to_string();
    assert!(!listed.contains("canary"), "{listed}");
}

async fn an_answer_that_is_lost_makes_no_second_post(database: &str) {
    let (bench, blog) = start(database).await;
    for (title, fault) in [("Oak", Fault::LosesAnswer), ("Yew", Fault::Breaks)] {
        let id = write(&bench, title).await;
        blog.fails(&[fault]);
        let before = blog.posts().len();
        publish(&bench, &id, json!({})).await;
        let post = settled(&bench, &id).await;
        assert_eq!(post["publicationState"], "uncertain", "{post:#}");
        assert_eq!(post["status"], "publishing");
        assert!(
            publication(&post)["attempt"]["nextCheckAt"].is_string(),
            "{post:#}"
        );
        bench
            .patch(&format!("P/posts/{id}"), json!({ "title": "Fir" }))
            .await
            .refuses(409, "invalid_state");
        let post = look(&bench, &id, 5_001).await;
        assert_eq!(
            (&post["status"], &post["publicationState"]),
            (&json!("published"), &json!("published")),
            "{post:#}"
        );
        assert_eq!(blog.posts().len(), before + 1);
        let kinds = events(&bench, &id).await;
        assert_eq!(
            kinds.iter().filter(|kind| *kind == "post.published").count(),
            1,
            "{kinds:?}"
        );
    }
    assert_eq!(blog.writes(), 2);
    // A change whose answer is lost: the next look finds it there.
    let id = write(&bench, "Ash").await;
    publish(&bench, &id, json!({})).await;
    settled(&bench, &id).await;
    bench
        .patch(&format!("P/posts/{id}"), json!({ "title": "Beech" }))
        .await;
    blog.fails(&[Fault::LosesAnswer]);
    publish(&bench, &id, json!({})).await;
    assert_eq!(settled(&bench, &id).await["publicationState"], "uncertain");
    // Asked again, it looks at once.
    publish(&bench, &id, json!({})).await;
    until(&bench, &id, |post| post["status"] == "published").await;
    assert_eq!((blog.posts().len(), blog.writes()), (3, 4));
}

async fn a_server_that_ends_while_it_sends_looks_when_it_is_back(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    blog.fails(&[Fault::Hangs]);
    publish(&bench, &id, json!({})).await;
    while blog.writes() == 0 {
        tokio::task::yield_now().await;
    }
    let Bench {
        server,
        clock,
        folder,
        project,
        key,
        ..
    } = bench;
    let settings = server.app.settings.clone();
    server.stop().await;
    let mut bench = Bench::open(folder, settings, clock).await;
    (bench.project, bench.key) = (project, key);
    let post = until(&bench, &id, |post| post["status"] == "published").await;
    let evidence: Vec<&str> = publication(&post)["attempt"]["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|seen| seen["what"].as_str().unwrap())
        .collect();
    assert_eq!(
        evidence,
        ["queued", "absent", "sending", "interrupted", "found", "published"]
    );
    assert_eq!((blog.writes(), blog.posts().len()), (1, 1));
}

async fn a_request_that_was_lost_fails_after_ten_minutes_and_can_be_made_again(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    blog.fails(&[Fault::LosesRequest]);
    publish(&bench, &id, json!({})).await;
    assert_eq!(settled(&bench, &id).await["publicationState"], "uncertain");
    for wait in [5_001, 30_001, 120_001] {
        let post = look(&bench, &id, wait).await;
        assert_eq!(post["publicationState"], "uncertain", "{post:#}");
    }
    let post = look(&bench, &id, 600_001).await;
    assert_eq!(
        (&post["status"], &post["failure"]["code"]),
        (&json!("failed"), &json!("not_carried_out")),
        "{post:#}"
    );
    assert_eq!(
        (&post["failure"]["stage"], blog.writes(), blog.posts().len()),
        (&json!("publish"), 1, 0)
    );
    assert_eq!(post["allowedActions"]["publish"], true);
    publish(&bench, &id, json!({})).await;
    assert_eq!(settled(&bench, &id).await["status"], "published");
    assert_eq!((blog.writes(), blog.posts().len()), (2, 1));
}

async fn what_others_did_at_the_provider_stays(database: &str) {
    let (bench, blog) = start(database).await;
    blog.edit(|posts| drop(posts.insert(40, foreign(40, "oak"))));
    let id = write(&bench, "Oak").await;
    publish(&bench, &id, json!({})).await;
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["status"], &post["failure"]["code"]),
        (&json!("failed"), &json!("slug_conflict")),
        "{post:#}"
    );
    assert_eq!(blog.writes(), 0);
    bench
        .patch(&format!("P/posts/{id}"), json!({ "slug": "oak-tree" }))
        .await;
    publish(&bench, &id, json!({})).await;
    assert_eq!(settled(&bench, &id).await["status"], "published");

    // Somebody edits it there: it is not overwritten, and stays live.
    let own = 41;
    blog.edit(|posts| posts.get_mut(&own).unwrap()["title"] = json!({ "raw": "Their title" }));
    bench
        .patch(&format!("P/posts/{id}"), json!({ "title": "Elm" }))
        .await;
    publish(&bench, &id, json!({})).await;
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["status"], &post["failure"]["code"]),
        (&json!("published"), &json!("remote_changed")),
        "{post:#}"
    );
    assert_eq!(blog.posts()[1]["title"]["raw"], "Their title");
    publish(&bench, &id, json!({ "force": true })).await;
    assert_eq!(settled(&bench, &id).await["failure"], Value::Null);
    assert_eq!(blog.posts()[1]["title"]["raw"], "Elm");

    // Somebody deletes it there: it is made again only if that is meant.
    blog.edit(|posts| drop(posts.remove(&own)));
    bench
        .patch(&format!("P/posts/{id}"), json!({ "title": "Yew" }))
        .await;
    publish(&bench, &id, json!({})).await;
    let post = settled(&bench, &id).await;
    assert_eq!(post["failure"]["code"], "remote_missing", "{post:#}");
    assert_eq!(blog.posts().len(), 1);
    publish(&bench, &id, json!({ "recreateMissing": true })).await;
    assert_eq!(settled(&bench, &id).await["failure"], Value::Null);
    assert_eq!(
        (blog.posts().len(), blog.posts()[1]["title"]["raw"].clone()),
        (2, json!("Yew"))
    );
    assert_eq!(blog.posts()[0]["title"]["raw"], "Theirs");
}

async fn a_credential_that_was_revoked_stops_everything(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    blog.change_password();
    publish(&bench, &id, json!({})).await;
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["status"], &post["failure"]["code"]),
        (&json!("failed"), &json!("credential_refused")),
        "{post:#}"
    );
    let listed = bench.get("P/integrations").await.json();
    assert_eq!(listed["data"][0]["status"], "reauthorization_required");
    assert_eq!(listed["data"][0]["lastError"]["code"], "credential_refused");
    let refused = bench.post(&format!("P/posts/{id}/publish"), json!({})).await;
    refused.refuses(409, "provider_not_configured");
    let all = bench.get("P/events?limit=100").await.json();
    let kinds: Vec<&str> = all["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds
            .iter()
            .filter(|kind| **kind == "integration.disconnected")
            .count(),
        1,
        "{kinds:?}"
    );
    assert_eq!(
        kinds
            .iter()
            .filter(|kind| **kind == "post.publish_failed")
            .count(),
        1,
        "{kinds:?}"
    );
    let gone = bench.call("DELETE", "P/integrations/wordpress").send().await;
    assert_eq!(gone.status, 204);
    bench
        .call("DELETE", "P/integrations/wordpress")
        .send()
        .await
        .refuses(404, "not_found");
    assert_eq!(
        bench.get("P/integrations").await.json()["data"][0]["status"],
        "not_connected"
    );
}

async fn what_nobody_can_find_out_stays_uncertain_until_somebody_asks_again(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    blog.fails(&[Fault::LosesAnswer]);
    blog.is_silent(true);
    publish(&bench, &id, json!({})).await;
    assert_eq!(settled(&bench, &id).await["publicationState"], "uncertain");
    for wait in [5_001, 30_001, 120_001, 600_001, 3_600_001, 21_600_001] {
        look(&bench, &id, wait).await;
    }
    let post = until(&bench, &id, |post| {
        publication(post)["attempt"]["nextCheckAt"].is_null()
    })
    .await;
    assert_eq!(
        (&post["status"], &post["publicationState"]),
        (&json!("publishing"), &json!("uncertain")),
        "{post:#}"
    );
    let ended = until_job(&bench, publication(&post)["attempt"]["jobId"].as_str().unwrap()).await;
    assert_eq!(ended["status"], "uncertain", "{ended:#}");
    assert_eq!(post["allowedActions"]["publish"], true);
    blog.is_silent(false);
    publish(&bench, &id, json!({})).await;
    let post = until(&bench, &id, |post| post["status"] == "published").await;
    assert_eq!((blog.writes(), blog.posts().len()), (1, 1), "{post:#}");
    let kinds = events(&bench, &id).await;
    assert_eq!(
        kinds.iter().filter(|kind| *kind == "post.published").count(),
        1,
        "{kinds:?}"
    );
}

/// Waits until a job that is to be tried again was put back: what it says of itself before is no time from which it waits.
pub async fn until_job_waits(bench: &Bench, id: &str) {
    while bench.get(&format!("P/jobs/{id}")).await.json()["status"] == "running" {
        tokio::task::yield_now().await;
    }
}

/// Waits until a job has ended.
pub async fn until_job(bench: &Bench, id: &str) -> Value {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let job = bench.get(&format!("P/jobs/{id}")).await.json();
        if !matches!(job["status"].as_str(), Some("queued" | "running")) {
            return job;
        }
        assert!(tokio::time::Instant::now() < deadline, "{job:#}");
        tokio::task::yield_now().await;
    }
}

async fn a_scheduled_post_goes_at_its_time(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    let at = bench.clock.now().plus_millis(3_600_000);
    let body = json!({ "status": "scheduled", "scheduledAt": at });
    let scheduled = bench.patch(&format!("P/posts/{id}"), body).await;
    assert_eq!(scheduled.status, 200, "{scheduled:?}");
    bench.clock.advance(3_600_001);
    let post = until(&bench, &id, |post| post["status"] == "published").await;
    assert_eq!((blog.posts().len(), &post["scheduledAt"]), (1, &Value::Null));
    // Without an integration its time comes and it says why it did not go.
    let id = write(&bench, "Elm").await;
    let at = bench.clock.now().plus_millis(3_600_000);
    let body = json!({ "status": "scheduled", "scheduledAt": at });
    assert_eq!(bench.patch(&format!("P/posts/{id}"), body).await.status, 200);
    bench.call("DELETE", "P/integrations/wordpress").send().await;
    bench.clock.advance(3_600_001);
    let post = until(&bench, &id, |post| post["status"] == "failed").await;
    assert_eq!(
        (&post["failure"]["stage"], &post["failure"]["code"]),
        (&json!("publish"), &json!("integration_not_ready"))
    );
    assert_eq!(blog.posts().len(), 1);
}

async fn what_cannot_be_published_says_why(database: &str) {
    let (bench, blog) = start(database).await;
    let empty = bench.post("P/posts", json!({ "title": "Empty" })).await.json();
    let path = format!("P/posts/{}/publish", empty["id"].as_str().unwrap());
    assert_eq!(
        bench.post(&path, json!({})).await.refuses(409, "invalid_state")["reason"],
        "content_required"
    );
    let id = write(&bench, "Oak").await;
    let path = format!("P/posts/{id}/publish");
    bench
        .post(&path, json!({ "provider": "ghost" }))
        .await
        .refuses(409, "provider_not_configured");
    bench
        .post(&path, json!({ "provider": "paper" }))
        .await
        .refuses(422, "validation_failed");
    let files = BTreeMap::from([("folder".to_owned(), "blog".to_owned())]);
    bench
        .server
        .app
        .engine
        .connect(bench.project, "files", files)
        .await
        .unwrap();
    // Connected and not mapped, it is not chosen.
    let map = json!({ "fieldMap": { "title": "title", "content": "content" } });
    assert_eq!(bench.post("P/integrations/files/mapping", map).await.status, 200);
    let refused = bench
        .post(&path, json!({}))
        .await
        .refuses(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/provider");
    blog.fails(&[Fault::Refuses(400)]);
    publish(&bench, &id, json!({ "provider": "wordpress" })).await;
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["status"], &post["failure"]["code"]),
        (&json!("failed"), &json!("rejected")),
        "{post:#}"
    );
    assert_eq!(
        publication(&post)["lastError"]["providerMessage"],
        "no: rest_refused"
    );
    publish(&bench, &id, json!({ "provider": "files" })).await;
    let post = settled(&bench, &id).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let file = bench
        .folder
        .path()
        .join(format!("published/{}/blog/oak.md", bench.project));
    assert!(
        std::fs::read_to_string(file)
            .unwrap()
            .contains("Some *text* that stays.")
    );
}

async fn scheduling_takes_what_publishing_takes(database: &str) {
    let (bench, _blog) = start(database).await;
    let post = write(&bench, "Oak").await;
    let path = format!("P/posts/{post}");
    let plan = |minutes: i64| json!({ "status": "scheduled", "scheduledAt": bench.clock.now().plus_millis(minutes * 60_000) });
    let writer = bench.key_for(bench.project, &["posts:write", "posts:read"]).await;
    let refused = bench
        .call("PATCH", &path)
        .key(&writer)
        .json(&plan(1))
        .send()
        .await;
    assert_eq!(
        refused.refuses(403, "insufficient_scope")["scope"],
        "content:publish"
    );
    let read = bench.call("GET", &path).key(&writer).send().await.json();
    assert_eq!(read["allowedActions"]["schedule"]["code"], "insufficient_scope");
    assert_eq!(read["allowedActions"]["archive"], true);

    let agent = Agent::new(&bench, Role::Owner).await;
    let tokens = agent
        .tokens(&[("scope", "projects:read posts:write content:publish")])
        .await;
    let access = tokens["access_token"].as_str().unwrap();
    let schedule = async |minutes| {
        bench
            .call("PATCH", &path)
            .key(access)
            .json(&plan(minutes))
            .send()
            .await
    };
    schedule(1).await.refuses(403, "agent_autonomy_required");
    let people = &bench.server.app.people;
    let action = AutonomyAction::Publish;
    people
        .set_autonomy(bench.project, action, true, Some(1), None)
        .await
        .unwrap();
    assert_eq!(schedule(1).await.status, 200);
    schedule(2).await.refuses(403, "agent_autonomy_required");
    // its time publishes what the text is then, so that a change of it takes the same
    let rename = async |credential: &str| {
        bench
            .call("PATCH", &path)
            .key(credential)
            .json(&json!({ "title": "Elm" }))
            .send()
            .await
    };
    let refused = rename(&writer).await;
    let hint = refused.refuses(403, "insufficient_scope")["hint"].clone();
    assert!(
        hint.as_str().unwrap().contains("set its status to draft"),
        "{hint}"
    );
    rename(access).await.refuses(403, "agent_autonomy_required");
    assert_eq!(rename(&bench.key).await.json()["status"], "scheduled");
    // taking it off the schedule takes nothing
    let off = bench
        .call("PATCH", &path)
        .key(&writer)
        .json(&json!({ "status": "draft" }))
        .send()
        .await;
    assert_eq!(off.json()["status"], "draft");
}
