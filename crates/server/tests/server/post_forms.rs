//! Forms in which callers send posts: wrapped lines, markup that is not allowed, addresses, times, changes that are none.

use serde_json::json;

use crate::{harness::Bench, posts::create};

on_both!(
    losses_of_a_text_are_named,
    times_come_in_every_form,
    change_of_nothing_is_no_change,
);

async fn losses_of_a_text_are_named(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let text = "[Über](#über-uns) and [call](tel:+4930),\nwrapped. ![Oak](oak.png) ![Elm](/elm.png)\n\n## Über uns\n\n\
        <iframe src=\"https://video.example/1\"></iframe>\n";
    let post = create(&bench, json!({ "title": "Desks", "content": text })).await;
    let html = post["contentHtml"].as_str().unwrap();
    for wanted in [
        "href=\"#user-content-über-uns\"",
        "id=\"user-content-über-uns\"",
        "href=\"tel:+4930\"",
        "</a>, wrapped.",
        "src=\"oak.png\"",
        "src=\"https://example.com/elm.png\"",
    ] {
        assert!(html.contains(wanted), "{wanted} in {html}");
    }
    let named: Vec<_> = post["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| (w["code"].as_str().unwrap(), w["text"].as_str().unwrap()))
        .collect();
    assert_eq!(
        named,
        [
            ("relative_address", "oak.png"),
            ("removed_html", "<iframe src=\"https://video.example/1\">")
        ]
    );
    let path = format!("P/posts/{}", post["id"].as_str().unwrap());
    let placed = json!({ "canonicalUrl": "https://example.com/blog/desks", "content": text.replace("iframe", "b"), "ifVersion": 1 });
    let placed = bench.call("PATCH", &path).json(&placed).send().await.json();
    assert!(
        placed["contentHtml"]
            .as_str()
            .unwrap()
            .contains("https://example.com/blog/oak.png")
    );
    assert_eq!(placed["warnings"][0]["text"], "src=\"https://video.example/1\"");
    assert_eq!(placed["warnings"].as_array().unwrap().len(), 1, "{placed}");
}

async fn times_come_in_every_form(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let post = create(&bench, json!({ "title": "Desks", "content": "x" })).await;
    let path = format!("P/posts/{}", post["id"].as_str().unwrap());
    for (sent, stored) in [
        ("2027-03-01T09:00:00+02:00", "2027-03-01T07:00:00.000Z"),
        ("2027-03-01t09:00:01z", "2027-03-01T09:00:01.000Z"),
        ("2027-03-01T09:00:00.12-01:30", "2027-03-01T10:30:00.120Z"),
    ] {
        let change = json!({ "scheduledAt": sent });
        let changed = bench.call("PATCH", &path).json(&change).send().await;
        assert_eq!(changed.json()["scheduledAt"], stored, "{changed:?}");
        assert_eq!(bench.get(&path).await.json()["scheduledAt"], stored);
    }
    let refused = bench
        .call("PATCH", &path)
        .json(&json!({ "scheduledAt": "2027-03-01T09:00:00" }))
        .send()
        .await;
    refused.refuses(422, "validation_failed");
}

async fn change_of_nothing_is_no_change(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let created = create(
        &bench,
        json!({ "title": "Desks", "content": "Text.", "tags": ["a"] }),
    )
    .await;
    let events = async || {
        bench.get("P/events?limit=100").await.json()["data"]
            .as_array()
            .unwrap()
            .len()
    };
    let before = events().await;
    bench.clock.advance(1_000);
    let path = format!("P/posts/{}", created["id"].as_str().unwrap());
    for same in [
        json!({}),
        json!({ "title": " Desks ", "tags": ["a"], "status": "draft" }),
        json!({ "content": "Text.", "ifVersion": 1 }),
        json!({ "excerpt": null }),
    ] {
        let answer = bench.call("PATCH", &path).json(&same).send().await;
        assert_eq!((answer.status, &answer.json()), (200, &created), "{same}");
    }
    assert_eq!(events().await, before);
    let schedule = async || {
        bench
            .call("PATCH", "P/schedules/audits")
            .json(&json!({}))
            .send()
            .await
            .json()
    };
    assert_eq!(schedule().await, schedule().await);
    for path in ["P/brand", "P/autopilot"] {
        let read = bench.get(path).await.json();
        let answer = bench.call("PATCH", path).json(&json!({})).send().await;
        assert_eq!(
            (answer.status, &answer.json()["version"]),
            (200, &read["version"]),
            "{path}"
        );
        assert_eq!(answer.json()["updatedAt"], read["updatedAt"], "{path}");
    }
}
