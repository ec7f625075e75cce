//! Webhooks: what is sent, how it is signed, what happens when it does not arrive. Signatures are verified by the official
//! library of Standard Webhooks.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{
    harness::Bench,
    webhook_receivers::{Receiver, bench, until, until_over},
};

on_both!(
    a_webhook_is_told_of_its_events,
    what_fails_is_sent_again_with_the_same_id,
    one_that_is_gone_is_disabled_until_a_test_succeeds,
    a_new_secret_and_the_old_one_sign_together,
    receivers_that_mean_harm_are_failures_and_delay_nobody,
    events_are_a_feed,
    events_are_a_stream,
);

async fn hook(bench: &Bench, url: &str, event: &str) -> (String, String) {
    let made = bench
        .post("P/webhooks", json!({ "targetUrl": url, "event": event }))
        .await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("id"), text("secret"))
}

async fn post(bench: &Bench, title: &str) -> String {
    let made = bench.post("P/posts", json!({ "title": title })).await.json();
    made["id"].as_str().unwrap().to_owned()
}

async fn a_webhook_is_told_of_its_events(database: &str) {
    let (receiver, address) = Receiver::start().await;
    let bench = bench(database, &[address]).await;
    let (one, secret) = hook(&bench, &format!("http://{address}/one"), "post.created").await;
    let (all, other_secret) = hook(&bench, &format!("http://{address}/all"), "*").await;
    let id = post(&bench, "Oak").await;
    let changed = bench
        .call("PATCH", &format!("P/posts/{id}"))
        .json(&json!({ "title": "Elm" }))
        .send()
        .await;
    assert_eq!(changed.status, 200);
    let everything = receiver.until("/all", 2).await;
    let created = receiver.until("/one", 1).await.remove(0);

    assert_eq!(created.header("content-type"), "application/json");
    assert!(
        created
            .header("user-agent")
            .starts_with("Searchwright-Webhooks/1 (+http")
    );
    let event = created.verified(&secret).unwrap();
    assert!(created.verified(&other_secret).is_none());
    let mut tampered = created.clone();
    tampered.body = String::from_utf8(created.body.to_vec())
        .unwrap()
        .replace("Oak", "Ash")
        .into();
    assert!(tampered.verified(&secret).is_none());
    assert_eq!(
        (&event["type"], &event["projectId"], &event["data"]),
        (
            &json!("post.created"),
            &json!(bench.project),
            &json!({ "postId": id, "version": 1, "status": "draft", "title": "Oak", "url": null })
        )
    );
    let kinds: BTreeSet<String> = everything
        .iter()
        .map(|came| {
            came.verified(&other_secret).unwrap()["type"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(kinds, ["post.created", "post.updated"].map(str::to_owned).into());

    let delivery = until(&bench, &one, "succeeded", 1).await;
    assert_eq!(delivery["messageId"], created.header("webhook-id"));
    assert_eq!(delivery["eventId"], event["id"]);
    let attempt = &delivery["lastAttempts"][0];
    assert_eq!(
        (&attempt["statusCode"], &attempt["error"], &attempt["response"]),
        (&json!(200), &Value::Null, &json!("thanks \\u{1b}[31mred"))
    );
    until(&bench, &all, "succeeded", 1).await;
    let listed = bench.get("P/webhooks").await.json();
    assert_eq!(listed["data"][0]["id"], all);
    assert!(listed["data"][1]["lastSuccessAt"].is_string());
    assert!(!listed.to_string().contains("whsec_"), "{listed:#}");

    assert_eq!(
        bench
            .call("DELETE", &format!("P/webhooks/{one}"))
            .send()
            .await
            .status,
        204
    );
    post(&bench, "Yew").await;
    receiver.until("/all", 3).await;
    assert_eq!(receiver.until("/one", 1).await.len(), 1);
}

async fn what_fails_is_sent_again_with_the_same_id(database: &str) {
    let (receiver, address) = Receiver::start().await;
    let bench = bench(database, &[address]).await;
    let (id, secret) = hook(&bench, &format!("http://{address}/"), "post.created").await;
    receiver.will_answer(&[500, 302]);
    post(&bench, "Oak").await;
    let delivery = until(&bench, &id, "pending", 1).await;
    assert_eq!(delivery["lastAttempts"][0]["error"], "status");
    let failing = bench.get("P/webhooks").await.json();
    assert!(failing["data"][0]["failingSince"].is_string());
    // After five seconds, a fifth more or less.
    bench.clock.advance(6_001);
    until(&bench, &id, "pending", 2).await;
    assert_eq!(receiver.all().len(), 2, "a redirect is not followed");
    bench.clock.advance(360_001);
    until(&bench, &id, "succeeded", 3).await;
    let came = receiver.all();
    let ids: BTreeSet<&str> = came.iter().map(|came| came.header("webhook-id")).collect();
    let bodies: BTreeSet<&[u8]> = came.iter().map(|came| &came.body[..]).collect();
    let times: BTreeSet<&str> = came.iter().map(|came| came.header("webhook-timestamp")).collect();
    assert_eq!((ids.len(), bodies.len(), times.len()), (1, 1, 3));
    assert!(came.iter().all(|came| came.verified(&secret).is_some()));
    let webhook = bench.get("P/webhooks").await.json();
    assert_eq!(webhook["data"][0]["failingSince"], Value::Null);

    let path = format!(
        "P/webhooks/{id}/deliveries/{}/replay",
        until(&bench, &id, "succeeded", 3).await["id"].as_str().unwrap()
    );
    assert_eq!(bench.post(&path, json!({})).await.status, 200);
    let replayed = until(&bench, &id, "succeeded", 4).await;
    assert_eq!(receiver.all()[3].header("webhook-id"), replayed["messageId"]);
}

async fn one_that_is_gone_is_disabled_until_a_test_succeeds(database: &str) {
    let (receiver, address) = Receiver::start().await;
    let bench = bench(database, &[address]).await;
    let (id, _) = hook(&bench, &format!("http://{address}/"), "post.created").await;
    receiver.will_answer(&[410]);
    post(&bench, "Oak").await;
    let delivery = until(&bench, &id, "failed", 1).await;
    let webhook = bench.get("P/webhooks").await.json()["data"][0].clone();
    assert_eq!(
        (&webhook["status"], &webhook["disabledReason"]),
        (&json!("disabled"), &json!("gone"))
    );
    post(&bench, "Elm").await;
    let path = format!(
        "P/webhooks/{id}/deliveries/{}/replay",
        delivery["id"].as_str().unwrap()
    );
    bench.post(&path, json!({})).await.refuses(409, "invalid_state");
    let (recover, since) = (
        format!("P/webhooks/{id}/recover"),
        json!({ "since": bench.clock.now() }),
    );
    bench
        .post(&recover, since.clone())
        .await
        .refuses(409, "invalid_state");
    let activity = bench.get("P/activity").await.json();
    let disabled = activity["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["action"] == "webhooks.disable");
    assert_eq!(disabled.unwrap()["credential"]["type"], "server", "{activity:#}");
    // Read again: the webhook and its deliveries are two reads.
    let refused = until(&bench, &id, "failed", 1).await;
    assert_eq!(refused["allowedActions"]["replay"]["allowed"], false);

    receiver.will_answer(&[500]);
    let test = bench
        .post(&format!("P/webhooks/{id}/test"), json!({}))
        .await
        .json();
    assert_eq!(test["event"], "webhook.test");
    until(&bench, &id, "failed", 1).await;
    assert_eq!(
        bench.get("P/webhooks").await.json()["data"][0]["status"],
        "disabled"
    );
    bench.post(&format!("P/webhooks/{id}/test"), json!({})).await;
    until(&bench, &id, "succeeded", 1).await;
    assert_eq!(
        bench.get("P/webhooks").await.json()["data"][0]["status"],
        "active"
    );
    // The post's event and the test that failed.
    let recovered = bench.post(&recover, since.clone()).await;
    assert_eq!(
        recovered.json(),
        json!({ "replayed": 2, "more": false }),
        "{recovered:?}"
    );
    let bodies = receiver.until("/", 5).await;
    let again = bench.post(&recover, since).await.json();
    assert_eq!(again["replayed"], 0);
    until_over(&bench, &id, &delivery["id"]).await;
    assert_eq!(bench.post(&path, json!({})).await.status, 200);
    receiver.until("/", 6).await;
    let titles = bodies
        .iter()
        .filter(|came| came.body.windows(3).any(|w| w == b"Elm"));
    assert_eq!(
        titles.count(),
        0,
        "what happened while it was disabled is in the feed"
    );

    // Five days of nothing but failure.
    receiver.will_answer(&[500, 500]);
    post(&bench, "Yew").await;
    until(&bench, &id, "pending", 1).await;
    bench.clock.advance(5 * 86_400_000);
    until(&bench, &id, "failed", 2).await;
    let webhook = bench.get("P/webhooks").await.json()["data"][0].clone();
    assert_eq!(webhook["disabledReason"], "failed_too_long");
}

async fn a_new_secret_and_the_old_one_sign_together(database: &str) {
    let (receiver, address) = Receiver::start().await;
    let bench = bench(database, &[address]).await;
    let (id, old) = hook(&bench, &format!("http://{address}/"), "post.created").await;
    let path = format!("P/webhooks/{id}/rotate-secret");
    let call = || {
        bench
            .call("POST", &path)
            .header("idempotency-key", "once")
            .json(&json!({}))
    };
    let rotated = call().send().await.json();
    assert_eq!(rotated["version"], 2);
    let new = rotated["secret"].as_str().unwrap();
    assert_ne!(new, old);
    assert_eq!(
        call().send().await.json()["secret"],
        new,
        "the first answer again"
    );
    post(&bench, "Oak").await;
    let both = receiver.until("/", 1).await.remove(0);
    assert!(both.verified(&old).is_some() && both.verified(new).is_some());
    // The old one ends while something is under way; what goes out behind that is not signed by it.
    let held = receiver.held.write().await;
    post(&bench, "Ash").await;
    receiver.until("/", 2).await;
    bench.clock.advance(24 * 3_600_000 + 1);
    post(&bench, "Elm").await;
    drop(held);
    let later = receiver.until("/", 3).await.remove(2);
    assert!(later.verified(&old).is_none() && later.verified(new).is_some());
}

/// Answers in a way that no receiver should, by the path that was asked for.
async fn harm(mut stream: tokio::net::TcpStream) -> std::io::Result<()> {
    let mut head = vec![0; 8192];
    let read = stream.read(&mut head).await?;
    let path = String::from_utf8_lossy(&head[..read]).into_owned();
    if path.starts_with("POST /huge ") {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n")
            .await?;
        while stream.write_all(&[b'x'; 65536]).await.is_ok() {}
    } else if path.starts_with("POST /silent ") {
        stream.read_u8().await?;
    } else if path.starts_with("POST /garbage ") {
        stream.write_all(b"SSH-2.0-OpenSSH\r\n").await?;
    } else if path.starts_with("POST /torn ") {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            .await?;
    }
    Ok(())
}

async fn receivers_that_mean_harm_are_failures_and_delay_nobody(database: &str) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let bad = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(harm(stream));
        }
    });
    let (receiver, address) = Receiver::start().await;
    let bench = bench(database, &[address, bad]).await;
    let mut hooks = Vec::new();
    for path in ["silent", "huge", "garbage", "torn"] {
        hooks.push((path, hook(&bench, &format!("http://{bad}/{path}"), "*").await.0));
    }
    hook(&bench, &format!("http://{address}/good"), "*").await;
    for n in 0..20 {
        post(&bench, &format!("Oak {n}")).await;
    }
    // While the silent one is waited for.
    assert_eq!(receiver.until("/good", 20).await.len(), 20);
    let huge = until(&bench, &hooks[1].1, "succeeded", 1).await;
    assert!(huge["lastAttempts"][0]["response"].as_str().unwrap().len() <= 2048);
    for (path, hook) in &hooks[2..] {
        let attempt = until(&bench, hook, "pending", 1).await["lastAttempts"][0].clone();
        assert_eq!(
            (&attempt["statusCode"], &attempt["error"]),
            (&Value::Null, &json!("broken")),
            "{path}"
        );
    }
    let silent = bench
        .get(&format!("P/webhooks/{}/deliveries", hooks[0].1))
        .await
        .json();
    assert_eq!(silent["data"][0]["status"], "pending");
}

async fn events_are_a_feed(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let first = bench.get("P/events").await.json();
    assert_eq!(first, json!({ "data": [], "nextCursor": null }));
    for title in ["Oak", "Elm", "Yew"] {
        post(&bench, title).await;
    }
    let titles = |page: &Value| -> Vec<String> {
        let data = page["data"].as_array().unwrap().iter();
        data.map(|event| event["data"]["title"].as_str().unwrap().to_owned())
            .collect()
    };
    let page = bench.get("P/events?limit=2").await.json();
    assert_eq!(titles(&page), ["Oak", "Elm"]);
    let after = |page: &Value| format!("P/events?limit=2&cursor={}", page["nextCursor"].as_str().unwrap());
    let page = bench.get(&after(&page)).await.json();
    assert_eq!(titles(&page), ["Yew"]);
    let end = after(&page);
    assert_eq!(
        bench.get(&end).await.json(),
        json!({ "data": [], "nextCursor": null })
    );
    post(&bench, "Ash").await;
    assert_eq!(titles(&bench.get(&end).await.json()), ["Ash"]);
    let none = bench.get("P/events?event=audit.completed").await.json();
    assert_eq!(none["data"], json!([]));
    bench
        .get("P/events?event=audit.exploded")
        .await
        .refuses(422, "validation_failed");
}

/// Reads a stream until so many events came; the data of each, and the last id.
async fn follow(bench: &Bench, last: Option<&str>, count: usize) -> (Vec<Value>, String) {
    let address = bench.server.addresses.api;
    let url = format!("http://{address}/v1/projects/{}/events", bench.project);
    let request = bench
        .http
        .get(url)
        .bearer_auth(&bench.key)
        .header("accept", "text/event-stream");
    let request = match last {
        Some(last) => request.header("last-event-id", last),
        None => request,
    };
    let mut answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let mut text = String::new();
    while text.matches("\ndata: ").count() < count {
        text += std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap();
    }
    let lines = |name: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(name));
        lines.map(str::to_owned).collect()
    };
    let data = lines("data: ");
    let events = data.iter().map(|data| serde_json::from_str(data).unwrap());
    (events.collect(), lines("id: ").pop().unwrap())
}

async fn events_are_a_stream(database: &str) {
    let bench = Bench::on(database, &[]).await;
    post(&bench, "Oak").await;
    post(&bench, "Elm").await;
    let (events, last) = follow(&bench, None, 2).await;
    assert_eq!(events[1]["data"]["title"], "Elm");
    let (later, _) = tokio::join!(follow(&bench, Some(&last), 1), post(&bench, "Yew"));
    assert_eq!(later.0[0]["data"]["title"], "Yew");
    let refused = bench
        .call("GET", "P/events")
        .header("accept", "text/event-stream")
        .header("last-event-id", "x")
        .send()
        .await;
    refused.refuses(400, "invalid_cursor");
}

#[tokio::test]
async fn what_is_no_target_is_refused() {
    let bench = Bench::start().await;
    for (url, code) in [
        ("http://example.com/", "not_https"),
        ("ftp://example.com/", "not_https"),
        ("https://user:pw@example.com/", "has_user"),
        ("https://example.com/#part", "has_fragment"),
        ("https://127.0.0.1/", "denied"),
        ("https://2130706433/", "denied"),
        ("https://[::ffff:10.0.0.1]/", "denied"),
        ("https://169.254.169.254/latest", "denied"),
        ("https://localhost./", "denied"),
        ("/hook", "not_a_url"),
    ] {
        let problem = bench
            .post("P/webhooks", json!({ "targetUrl": url, "event": "*" }))
            .await;
        let problem = problem.refuses(422, "validation_failed");
        let fault = &problem["errors"][0];
        assert_eq!(
            (&fault["pointer"], &fault["code"]),
            (&json!("/targetUrl"), &json!(code)),
            "{url}"
        );
    }
    let problem = bench
        .post(
            "P/webhooks",
            json!({ "targetUrl": "https://example.com/", "event": "post.exploded" }),
        )
        .await;
    let problem = problem.refuses(422, "validation_failed");
    assert!(
        problem["errors"][0]["detail"]
            .as_str()
            .unwrap()
            .contains("post.published"),
        "{problem:#}"
    );
}

#[tokio::test]
async fn a_project_has_twenty_and_none_twice() {
    let bench = Bench::start().await;
    let body = |n: usize| json!({ "targetUrl": format!("https://example.com/{n}"), "event": "*" });
    let first = bench.post("P/webhooks", body(0)).await.json();
    let again = bench
        .post("P/webhooks", body(0))
        .await
        .refuses(409, "already_exists");
    assert_eq!(again["existingId"], first["id"]);
    for n in 1..20 {
        assert_eq!(bench.post("P/webhooks", body(n)).await.status, 201);
    }
    bench
        .post("P/webhooks", body(20))
        .await
        .refuses(422, "too_many_items");
}
