//! Posts that a provider takes and keeps from readers, or shows although nobody asked it to: what is told of a post is what the
//! provider says.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    blog::Fault,
    harness::Bench,
    publishing::{events, look, publication, publish, read, settled, start, until, until_job, write},
};

on_both!(
    a_post_that_is_held_is_not_live_until_it_is_shown_there,
    publishing_again_finds_what_was_approved,
    a_live_post_that_is_held_is_no_longer_live,
    an_answer_that_is_lost_is_found_held,
    what_the_provider_shows_is_live_whatever_was_asked,
    an_event_says_when_a_post_becomes_public_and_when_it_no_longer_is,
);

async fn count(bench: &Bench, id: &str, kind: &str) -> usize {
    let all = events(bench, id).await;
    all.iter().filter(|known| *known == kind).count()
}

/// Counts of the events that say that a post became public, was not published, and is no longer public.
async fn counts(bench: &Bench, id: &str) -> (usize, usize, usize) {
    (
        count(bench, id, "post.published").await,
        count(bench, id, "post.publish_failed").await,
        count(bench, id, "post.unpublished").await,
    )
}

fn assert_held(post: &Value, word: &str) {
    assert_eq!(
        (&post["status"], &post["isLive"], &post["publishedUrl"]),
        (&json!("failed"), &json!(false), &Value::Null),
        "{post:#}"
    );
    assert_eq!(post["failure"]["code"], "held_by_provider", "{post:#}");
    let there = publication(post);
    assert_eq!(
        (&there["state"], &there["isLive"], &there["url"]),
        (&json!("draft"), &json!(false), &Value::Null),
        "{post:#}"
    );
    assert!(there["externalId"].is_string(), "{post:#}");
    let detail = there["lastError"]["detail"].as_str().unwrap();
    assert!(detail.contains(word) && detail.contains("there"), "{detail}");
    assert_eq!(post["allowedActions"]["publish"], true);
}

/// Lets a minute pass, after which the provider is looked at.
fn pass_a_minute(bench: &Bench) {
    bench.clock.advance(60_001);
    bench.server.app.engine.wake.notify_one();
}

async fn a_post_that_is_held_is_not_live_until_it_is_shown_there(database: &str) {
    let (bench, blog) = start(database).await;
    for (title, status) in [("Oak", "pending"), ("Elm", "future"), ("Yew", "draft")] {
        let id = write(&bench, title).await;
        let before = blog.writes();
        blog.fails(&[Fault::Turns(status)]);
        publish(&bench, &id, json!({})).await;
        let post = settled(&bench, &id).await;
        assert_held(&post, &format!("status {status}"));
        assert_eq!(post["publishedAt"], Value::Null);
        let job = until_job(&bench, publication(&post)["attempt"]["jobId"].as_str().unwrap()).await;
        assert_eq!(
            (&job["status"], &job["problem"]["reason"]),
            (&json!("failed"), &json!("held_by_provider")),
            "{job:#}"
        );
        assert_eq!(counts(&bench, &id).await, (0, 1, 0));
        // The integration works.
        let listed = bench.get("P/integrations?limit=100").await.json();
        let all = listed["data"].as_array().unwrap();
        let own = all.iter().find(|one| one["provider"] == "wordpress").unwrap();
        assert_eq!(
            (&own["status"], &own["lastError"]),
            (&json!("ready"), &Value::Null)
        );

        blog.edit(|posts| {
            posts
                .values_mut()
                .for_each(|post| post["status"] = json!("publish"))
        });
        pass_a_minute(&bench);
        let post = until(&bench, &id, |post| post["status"] == "published").await;
        assert_eq!(
            (&post["isLive"], &post["failure"], &post["hasUnpublishedChanges"]),
            (&json!(true), &Value::Null, &json!(false)),
            "{post:#}"
        );
        assert!(post["publishedAt"].is_string());
        assert_eq!(post["publishedUrl"], publication(&post)["url"]);
        assert_eq!(publication(&post)["lastError"], Value::Null);
        assert_eq!(counts(&bench, &id).await, (1, 1, 0));
        assert_eq!(blog.writes(), before + 1);
    }
    assert_eq!(blog.posts().len(), 3);
}

async fn publishing_again_finds_what_was_approved(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    blog.fails(&[Fault::Turns("pending"), Fault::Turns("pending")]);
    publish(&bench, &id, json!({})).await;
    assert_held(&settled(&bench, &id).await, "status pending");
    // It is asked for again, and waits again.
    publish(&bench, &id, json!({})).await;
    assert_held(&settled(&bench, &id).await, "status pending");
    assert_eq!((blog.posts().len(), blog.writes()), (1, 2));
    blog.edit(|posts| {
        posts
            .values_mut()
            .for_each(|post| post["status"] = json!("publish"))
    });
    publish(&bench, &id, json!({})).await;
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["status"], &post["isLive"]),
        (&json!("published"), &json!(true)),
        "{post:#}"
    );
    assert_eq!((blog.posts().len(), blog.writes()), (1, 2));
    assert_eq!(counts(&bench, &id).await, (1, 2, 0));
}

async fn a_live_post_that_is_held_is_no_longer_live(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    publish(&bench, &id, json!({})).await;
    let first = settled(&bench, &id).await["publishedAt"].clone();
    bench
        .patch(&format!("P/posts/{id}"), json!({ "excerpt": "longer" }))
        .await;
    blog.fails(&[Fault::Turns("pending")]);
    publish(&bench, &id, json!({})).await;
    assert_held(&settled(&bench, &id).await, "status pending");
    assert_eq!(counts(&bench, &id).await, (1, 1, 1));
    blog.edit(|posts| {
        posts
            .values_mut()
            .for_each(|post| post["status"] = json!("publish"))
    });
    pass_a_minute(&bench);
    let post = until(&bench, &id, |post| post["status"] == "published").await;
    assert_eq!(
        (&post["isLive"], &post["publishedAt"]),
        (&json!(true), &first),
        "{post:#}"
    );
    assert_eq!(counts(&bench, &id).await, (2, 1, 1));
}

async fn an_answer_that_is_lost_is_found_held(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    blog.fails(&[Fault::LosesAnswer]);
    publish(&bench, &id, json!({})).await;
    assert_eq!(settled(&bench, &id).await["publicationState"], "uncertain");
    blog.edit(|posts| {
        posts
            .values_mut()
            .for_each(|post| post["status"] = json!("pending"))
    });
    assert_held(&look(&bench, &id, 5_001).await, "status pending");
    assert_eq!((blog.posts().len(), blog.writes()), (1, 1));
}

async fn what_the_provider_shows_is_live_whatever_was_asked(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    blog.fails(&[Fault::Turns("publish")]);
    publish(&bench, &id, json!({ "mode": "draft" })).await;
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["status"], &post["isLive"], &publication(&post)["state"]),
        (&json!("published"), &json!(true), &json!("published")),
        "{post:#}"
    );
    assert_eq!(counts(&bench, &id).await, (1, 0, 0));

    blog.fails(&[Fault::Turns("publish")]);
    let taken = bench.post(&format!("P/posts/{id}/unpublish"), json!({})).await;
    assert_eq!(taken.status, 202, "{taken:?}");
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["status"], &post["isLive"], &post["failure"]["code"]),
        (&json!("published"), &json!(true), &json!("still_live")),
        "{post:#}"
    );
    assert_eq!(counts(&bench, &id).await, (1, 1, 0));
    let taken = bench.post(&format!("P/posts/{id}/unpublish"), json!({})).await;
    assert_eq!(taken.status, 202, "{taken:?}");
    assert_eq!(settled(&bench, &id).await["isLive"], false);
    assert_eq!(counts(&bench, &id).await, (1, 1, 1));
}

async fn an_event_says_when_a_post_becomes_public_and_when_it_no_longer_is(database: &str) {
    let (bench, _blog) = start(database).await;
    let engine = &bench.server.app.engine;
    engine
        .connect(
            bench.project,
            "files",
            BTreeMap::from([("folder".to_owned(), "blog".to_owned())]),
        )
        .await
        .unwrap();
    let map = json!({ "fieldMap": { "title": "title", "content": "content" } });
    let mapped = bench.post("P/integrations/files/mapping", map).await;
    assert_eq!(mapped.status, 200, "{mapped:?}");
    let id = write(&bench, "Oak").await;
    publish(&bench, &id, json!({ "provider": "wordpress", "mode": "draft" })).await;
    settled(&bench, &id).await;
    assert_eq!(counts(&bench, &id).await, (0, 0, 0));
    // Live at a first provider, at a second one, and brought up to date: it becomes public once.
    for provider in ["wordpress", "files", "wordpress"] {
        publish(&bench, &id, json!({ "provider": provider })).await;
        assert_eq!(settled(&bench, &id).await["isLive"], true);
        bench
            .patch(
                &format!("P/posts/{id}"),
                json!({ "excerpt": format!("after {provider}") }),
            )
            .await;
        assert_eq!(counts(&bench, &id).await, (1, 0, 0));
    }
    let kinds = events(&bench, &id).await;
    assert_eq!(kinds.last().unwrap(), "post.updated", "{kinds:?}");
    // It is public as long as one provider shows it.
    for (provider, taken) in [("files", 0), ("wordpress", 1)] {
        let body = json!({ "provider": provider });
        let started = bench.post(&format!("P/posts/{id}/unpublish"), body).await;
        assert_eq!(started.status, 202, "{started:?}");
        settled(&bench, &id).await;
        assert_eq!(read(&bench, &id).await["isLive"], taken == 0);
        assert_eq!(counts(&bench, &id).await, (1, 0, taken));
    }
    // Public again.
    publish(&bench, &id, json!({ "provider": "wordpress" })).await;
    settled(&bench, &id).await;
    assert_eq!(counts(&bench, &id).await, (2, 0, 1));
}
