//! Firewalls and caches between the server and a blog, and texts that a website puts around its answers.

use serde_json::{Value, json};

use crate::{
    blog::Fault,
    publishing::{look, publication, publish, settled, start, until, until_job_waits, write},
};

on_both!(
    a_firewall_is_named_and_nothing_is_made_twice,
    a_cache_that_keeps_answers_leads_to_no_second_post,
    what_a_site_puts_around_its_answers_is_read_past,
);

async fn a_firewall_is_named_and_nothing_is_made_twice(database: &str) {
    let (bench, blog) = start(database).await;
    for (status, title) in [(403, "Oak"), (406, "Elm"), (200, "Yew")] {
        let id = write(&bench, title).await;
        blog.fails(&[Fault::Blocks(status)]);
        publish(&bench, &id, json!({})).await;
        let post = settled(&bench, &id).await;
        assert_eq!(
            (&post["status"], &post["failure"]["code"]),
            (&json!("failed"), &json!("firewall")),
            "{post:#}"
        );
        let error = &publication(&post)["lastError"];
        assert!(error["detail"].as_str().unwrap().contains("/wp-json/"), "{error}");
        let said = error["providerMessage"].as_str().unwrap();
        assert!(
            said.contains("Sucuri") && said.contains(&status.to_string()),
            "{said}"
        );
        // Once it is let through.
        publish(&bench, &id, json!({})).await;
        assert_eq!(settled(&bench, &id).await["status"], "published");
    }
    assert_eq!(blog.posts().len(), 3);
    // What refuses for a while is tried again.
    let id = write(&bench, "Ash").await;
    blog.fails(&[Fault::Blocks(503)]);
    publish(&bench, &id, json!({})).await;
    let error = |post: &Value| publication(post)["lastError"]["code"].clone();
    let post = until(&bench, &id, |post| error(post) == "firewall").await;
    until_job_waits(&bench, publication(&post)["attempt"]["jobId"].as_str().unwrap()).await;
    bench.clock.advance(3_600_000);
    bench.server.app.engine.wake.notify_one();
    let post = until(&bench, &id, |post| post["status"] == "published").await;
    assert_eq!((error(&post), blog.posts().len()), (Value::Null, 4));
}

async fn a_cache_that_keeps_answers_leads_to_no_second_post(database: &str) {
    let (bench, blog) = start(database).await;
    blog.is_cached();
    let id = write(&bench, "Oak").await;
    blog.fails(&[Fault::LosesAnswer]);
    publish(&bench, &id, json!({})).await;
    assert_eq!(settled(&bench, &id).await["publicationState"], "uncertain");
    let post = look(&bench, &id, 5_001).await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert_eq!((blog.posts().len(), blog.writes()), (1, 1));
}

async fn what_a_site_puts_around_its_answers_is_read_past(database: &str) {
    let (bench, blog) = start(database).await;
    for (title, before, behind) in [
        ("Oak", "\u{feff}", ""),
        (
            "Elm",
            "<br />\n<b>Deprecated</b>: x in <b>/p.php</b> on line <b>9</b><br />\n",
            "",
        ),
        ("Yew", "\n\n", "\n<!-- Kept by a cache since noon -->"),
    ] {
        blog.surrounds(before, behind);
        let id = write(&bench, title).await;
        publish(&bench, &id, json!({})).await;
        let post = settled(&bench, &id).await;
        assert_eq!(
            (&post["status"], &post["isLive"]),
            (&json!("published"), &json!(true)),
            "{post:#}"
        );
    }
    assert_eq!((blog.posts().len(), blog.writes()), (3, 3));
}
