//! Entity tags: what is unchanged is not sent again, what has changed is not overwritten.

use serde_json::{Value, json};

use crate::harness::{Answer, Bench};

on_both!(
    of_two_changes_at_once_one_is_refused,
    changes_at_once_without_a_condition_all_take_effect,
    of_many_deletions_at_once_one_succeeds,
);

async fn tag(bench: &Bench, path: &str) -> String {
    bench.get(path).await.header("etag").unwrap().to_owned()
}

#[tokio::test]
async fn what_is_unchanged_is_not_sent_again() {
    let bench = Bench::start().await;
    let id = bench.keyword("desk").await;
    let path = format!("P/keywords/{id}");
    let etag = tag(&bench, &path).await;
    assert_eq!(etag, format!("\"{id}-1\""), "strong: id and version");
    for (sent, status) in [
        (etag.clone(), 304),
        (format!("W/{etag}"), 304),
        (format!("\"other\", {etag}"), 304),
        ("*".to_owned(), 304),
        ("\"other\"".to_owned(), 200),
        (etag.replace("-1\"", "-2\""), 200),
        ("\"a,b\"".to_owned(), 200),
        (format!("\"a,b\" ,\t{etag},,"), 304),
        ("desk".to_owned(), 400),
        ("\"open".to_owned(), 400),
        ("\"a b\"".to_owned(), 400),
        ("\"a\"\"b\"".to_owned(), 400),
        ("w/\"a\"".to_owned(), 400),
        (",,".to_owned(), 400),
        (format!("\"{}\"", "x".repeat(1023)), 400),
    ] {
        for method in ["GET", "HEAD"] {
            let answer = bench
                .call(method, &path)
                .header("if-none-match", &sent)
                .send()
                .await;
            assert_eq!(answer.status, status, "{method} {sent}");
            if status == 304 {
                assert_eq!(
                    (answer.header("etag"), answer.header("content-type")),
                    (Some(etag.as_str()), None)
                );
                assert!(answer.body.is_empty());
                answer.number("ratelimit-remaining");
            }
        }
    }
    bench
        .call("PATCH", &path)
        .json(&json!({ "searchVolume": 5 }))
        .send()
        .await;
    assert_eq!(
        bench
            .call("GET", &path)
            .header("if-none-match", &etag)
            .send()
            .await
            .status,
        200
    );
    let changed = tag(&bench, &path).await;
    let lines = bench
        .call("GET", &path)
        .header("if-none-match", "\"a\"")
        .and_header("if-none-match", &changed);
    assert_eq!(lines.send().await.status, 304);
    let missing = bench
        .call("GET", "P/keywords/x")
        .header("if-none-match", "*")
        .send()
        .await;
    missing.refuses(404, "not_found");
    let project = tag(&bench, "P").await;
    assert_eq!(
        bench
            .call("GET", "/project")
            .header("if-none-match", &project)
            .send()
            .await
            .status,
        304
    );
}

#[tokio::test]
async fn a_record_without_a_version_is_tagged_by_what_it_says() {
    let bench = Bench::start().await;
    let path = "P/usage";
    let before = tag(&bench, path).await;
    assert_eq!(tag(&bench, path).await, before);
    for method in ["GET", "HEAD"] {
        let again = bench.call(method, path).header("if-none-match", &before);
        assert_eq!(again.send().await.status, 304, "{method}");
    }
    bench.post("P/audits", json!({})).await;
    let used = bench.call("GET", path).header("if-none-match", &before);
    let used = used.send().await;
    assert_eq!(used.status, 200);
    assert_ne!(used.header("etag"), Some(before.as_str()));
    let list = bench.get("P/keywords").await;
    assert_eq!(list.header("etag"), None, "nor is a page of a list a record");
}

#[tokio::test]
async fn what_has_changed_is_not_overwritten() {
    let bench = Bench::start().await;
    let path = format!("P/keywords/{}", bench.keyword("desk").await);
    let read = tag(&bench, &path).await;
    let patch = async |tag: Option<&str>, body: Value| -> Answer {
        let call = bench.call("PATCH", &path).json(&body);
        match tag {
            Some(tag) => call.header("if-match", tag),
            None => call,
        }
        .send()
        .await
    };
    let changed = patch(Some(&read), json!({ "searchVolume": 1 })).await;
    assert_eq!((changed.status, &changed.json()["version"]), (200, &json!(2)));
    assert_eq!(
        changed.header("etag"),
        Some(tag(&bench, &path).await.as_str()),
        "the new tag comes with the answer"
    );
    for stale in [read.as_str(), "\"other\"", "\"a\", \"b\"", &format!("W/{read}")] {
        let problem = patch(Some(stale), json!({ "searchVolume": 2 }))
            .await
            .refuses(412, "precondition_failed");
        assert_eq!(problem["currentVersion"], 2, "{stale}");
        let gone = bench.call("DELETE", &path).header("if-match", stale).send().await;
        gone.refuses(412, "precondition_failed");
    }
    patch(Some("desk"), json!({}))
        .await
        .refuses(400, "malformed_request");
    assert_eq!(bench.get(&path).await.json()["searchVolume"], 1);
    assert_eq!(patch(Some("*"), json!({ "searchVolume": 3 })).await.status, 200);
    // A proxy that compresses answers makes every tag weak, or writes the coding into it.
    for (volume, change) in [
        (10, (|tag: &str| format!("W/{tag}")) as fn(&str) -> String),
        (11, |tag| tag.replace("\"", "").replacen("", "\"", 1) + "-gzip\""),
        (12, |tag| {
            format!("W/{}", tag.replace("\"", "").replacen("", "\"", 1) + "--br\"")
        }),
    ] {
        let weakened = change(&tag(&bench, &path).await);
        let changed = patch(Some(&weakened), json!({ "searchVolume": volume })).await;
        assert_eq!(changed.status, 200, "{weakened}");
        let again = patch(Some(&weakened), json!({ "searchVolume": 0 })).await;
        again.refuses(412, "precondition_failed");
    }
    assert_eq!(
        patch(None, json!({ "searchVolume": 4 })).await.status,
        200,
        "existing clients send no If-Match"
    );
    let newest = tag(&bench, &path).await;
    let deleted = bench
        .call("DELETE", &path)
        .header("if-match", &format!("\"x\", {newest}"))
        .send()
        .await;
    assert_eq!((deleted.status, deleted.body.len()), (204, 0));
    bench.get(&path).await.refuses(404, "not_found");
    bench.call("DELETE", &path).send().await.refuses(404, "not_found");
}

async fn of_two_changes_at_once_one_is_refused(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let path = format!("P/keywords/{}", bench.keyword("desk").await);
    for round in 1..20 {
        let read = tag(&bench, &path).await;
        let patch = |volume: i64| {
            bench
                .call("PATCH", &path)
                .header("if-match", &read)
                .json(&json!({ "searchVolume": volume }))
                .send()
        };
        let (one, two) = tokio::join!(patch(round * 2), patch(round * 2 + 1));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 412], "round {round}");
        let winner = if one.status == 200 {
            round * 2
        } else {
            round * 2 + 1
        };
        let now = bench.get(&path).await.json();
        assert_eq!(
            (&now["searchVolume"], &now["version"]),
            (&json!(winner), &json!(round + 1))
        );
    }
}

async fn make(bench: &Bench, path: &str, body: Value) -> String {
    let made = bench.post(path, body).await;
    assert_eq!(made.status, 201, "{path}: {made:?}");
    let made = made.json();
    let id = made["id"]
        .as_str()
        .or_else(|| made["data"][0]["item"]["id"].as_str());
    format!("{path}/{}", id.unwrap())
}

/// The body of a change; another for each number.
type Change = fn(usize) -> Value;

async fn changes_at_once_without_a_condition_all_take_effect(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let rival = json!({ "items": [{ "name": "Oakworks", "domain": "oakworks.example" }] });
    let records: [(String, Change); 7] = [
        (
            make(&bench, "P/keywords", json!({ "keyword": "desk" })).await,
            |n| json!({ "searchVolume": n }),
        ),
        (
            make(&bench, "P/posts", json!({ "title": "Desks", "content": "Some." })).await,
            |n| json!({ "tags": [n.to_string()] }),
        ),
        (
            make(&bench, "P/visibility/prompts", json!({ "text": "Which desk?" })).await,
            |n| json!({ "tags": [n.to_string()] }),
        ),
        (
            make(&bench, "P/brand/competitors", rival).await,
            |n| json!({ "aliases": [format!("Oak {n}")] }),
        ),
        (
            "P/brand".to_owned(),
            |n| json!({ "category": format!("desks {n}") }),
        ),
        (
            "P/schedules/audits".to_owned(),
            |n| json!({ "interval_days": n + 1 }),
        ),
        ("P/autopilot".to_owned(), |n| json!({ "min_score": n + 1 })),
    ];
    for (path, change) in records {
        let version = async || {
            // a schedule is read only with the others of its project, and an empty change changes nothing
            let read = bench.patch(&path, json!({})).await;
            let tag = read.header("etag").unwrap().trim_end_matches('"');
            let (_, version) = tag.rsplit_once('-').unwrap();
            version.parse::<i64>().unwrap()
        };
        let before = version().await;
        for round in 0..5 {
            let changes = (0..4).map(|at| bench.patch(&path, change(round * 4 + at)));
            for answer in futures_util::future::join_all(changes).await {
                assert_eq!(answer.status, 200, "{path}: {answer:?}");
            }
        }
        // the first may be what was there
        assert!(version().await >= before + 19, "{path}");
    }
}

async fn of_many_deletions_at_once_one_succeeds(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let hook = json!({ "targetUrl": "https://example.com/hook", "event": "post.created" });
    for round in 0..5 {
        let keyword = json!({ "keyword": format!("desk {round}") });
        for path in [
            make(&bench, "P/keywords", keyword).await,
            make(&bench, "P/webhooks", hook.clone()).await,
        ] {
            let calls = (0..4).map(|_| bench.call("DELETE", &path).send());
            let answers = futures_util::future::join_all(calls).await;
            let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
            statuses.sort_unstable();
            assert_eq!(statuses, [204, 404, 404, 404], "{path}");
        }
    }
}

/// RFC 7396: what is not named stays, `null` clears what may be empty.
#[tokio::test]
async fn a_patch_changes_what_it_names() {
    let bench = Bench::start().await;
    let added = bench
        .post(
            "P/keywords",
            json!({ "keyword": "desk", "searchVolume": 10, "keywordDifficulty": 20, "intent": "commercial" }),
        )
        .await
        .json();
    let path = format!("P/keywords/{}", added["id"].as_str().unwrap());
    let expect = async |body: Value, changes: Value| {
        let before = bench.get(&path).await.json();
        bench.clock.advance(1_000);
        let after = bench.call("PATCH", &path).json(&body).send().await.json();
        let mut expected = before.clone();
        for (name, value) in changes.as_object().unwrap() {
            expected[name] = value.clone();
        }
        let changes_nothing = changes.as_object().unwrap().is_empty();
        if changes_nothing {
            assert_eq!(after, before, "{body}");
            return;
        }
        expected["version"] = (before["version"].as_i64().unwrap() + 1).into();
        assert_ne!(after["updatedAt"], before["updatedAt"]);
        // What follows from what was changed.
        for name in ["updatedAt", "score", "intentSource"] {
            expected[name] = after[name].clone();
        }
        assert_eq!(after, expected, "{body}");
    };
    expect(json!({}), json!({})).await;
    expect(json!({ "searchVolume": 10 }), json!({})).await;
    expect(json!({ "status": "planned" }), json!({ "status": "planned" })).await;
    expect(
        json!({ "searchVolume": null }),
        json!({ "searchVolume": null, "searchVolumeStatus": "not_measured" }),
    )
    .await;
    expect(
        json!({ "searchVolume": 0 }),
        json!({ "searchVolume": 0, "searchVolumeStatus": null }),
    )
    .await;
    expect(
        json!({ "intent": null, "keywordDifficulty": null }),
        json!({ "intent": null, "keywordDifficulty": null, "keywordDifficultyStatus": "not_measured" }),
    )
    .await;
    for (body, code) in [
        (json!({ "status": null }), "validation_failed"),
        (json!({ "keyword": "chair" }), "unknown_field"),
        (json!({ "keywordId": "x" }), "unknown_field"),
        (json!({ "version": 9 }), "unknown_field"),
        (json!({ "searchVolume": -1 }), "validation_failed"),
    ] {
        bench
            .call("PATCH", &path)
            .json(&body)
            .send()
            .await
            .refuses(422, code);
    }
}

#[tokio::test]
async fn a_duplicate_names_the_one_that_is_there() {
    let bench = Bench::start().await;
    let id = bench.keyword("Standing  Desk").await;
    for same in ["standing desk", " STANDING\u{a0}DESK ", "ｓｔａｎｄｉｎｇ desk"] {
        let problem = bench
            .post("P/keywords", json!({ "keyword": same }))
            .await
            .refuses(409, "already_exists");
        assert_eq!(problem["existingId"], id.as_str(), "{same}");
    }
    let other = bench
        .post(
            "P/keywords",
            json!({ "keyword": "standing desk", "country": "de" }),
        )
        .await;
    assert_eq!((other.status, &other.json()["country"]), (201, &json!("DE")));
    let location = other.header("location").unwrap();
    assert!(location.ends_with(&format!(
        "/v1/projects/{}/keywords/{}",
        bench.project,
        other.json()["id"].as_str().unwrap()
    )));
}
