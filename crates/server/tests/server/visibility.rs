//! Visibility in answers: prompts, answers copied by hand, and the overview of a period.

use serde_json::{Value, json};

use crate::{
    harness::{Answer, Bench},
    post_generation::until_ended,
};

on_both!(
    figures_are_those_of_the_definition,
    nothing_asked_is_null_and_says_what_to_do,
    prompts_are_unique_and_keep_their_text,
    copied_answers_are_stored_all_or_none,
    change_of_names_counts_stored_answers_again,
    periods_are_checked,
);

/// Time of an answer, some hours before the time of the bench.
pub fn hours_ago(bench: &Bench, hours: i64) -> String {
    bench.clock.now().plus_millis(-hours * 3_600_000).to_string()
}

pub async fn with_brand(database: &str) -> Bench {
    let bench = Bench::on(database, &["worker.jobs=1"]).await;
    let brand = json!({ "name": "Acme Desk", "aliases": ["Acme Desk"], "domains": ["acme.example"], "category": "standing desks" });
    assert_eq!(bench.patch("P/brand", brand).await.status, 200);
    let competitor = json!({ "items": [{ "name": "Bolt Desks", "domain": "bolt.example" }] });
    assert_eq!(bench.post("P/brand/competitors", competitor).await.status, 201);
    bench
}

pub async fn prompt(bench: &Bench, text: &str) -> String {
    let created = bench.post("P/visibility/prompts", json!({ "text": text })).await;
    assert_eq!(created.status, 201, "{created:?}");
    created.json()["id"].as_str().unwrap().to_owned()
}

pub async fn copy(bench: &Bench, prompt: &str, items: Value) -> Answer {
    bench
        .post(
            &format!("P/visibility/prompts/{prompt}/answers"),
            json!({ "items": items }),
        )
        .await
}

/// Waits until the stored answers are analysed again.
pub async fn settle(bench: &Bench) {
    let jobs = bench.get("P/jobs").await.json();
    assert_eq!(jobs["data"][0]["type"], "analyze_answers", "{jobs:#}");
    let job = until_ended(bench, jobs["data"][0]["id"].as_str().unwrap()).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap_or(f64::NAN);
    assert!((value - expected).abs() < 5e-5, "{value} is not {expected}");
}

/// Hits of five answers to each of eight prompts: the test vector of the definition.
const HITS: [usize; 8] = [5, 5, 0, 0, 2, 0, 1, 5];

async fn ask_vector(bench: &Bench) -> Vec<String> {
    let mut prompts = Vec::new();
    let at = hours_ago(bench, 1);
    for (n, hits) in HITS.into_iter().enumerate() {
        let id = prompt(bench, &format!("Which standing desk suits room number {n}?")).await;
        let item = |k: usize| {
            let (text, citations) = if k < hits {
                (
                    "I would look at Acme Desk first.",
                    json!([{ "url": "https://www.acme.example/a" }]),
                )
            } else {
                ("Bolt Desks makes good ones.", json!([]))
            };
            json!({ "engine": "chatgpt", "askedAt": at, "text": text, "citations": citations })
        };
        let items: Vec<Value> = (0..5).map(item).collect();
        let copied = copy(bench, &id, items.into()).await;
        assert_eq!(copied.status, 201, "{copied:?}");
        prompts.push(id);
    }
    prompts
}

async fn figures_are_those_of_the_definition(database: &str) {
    let bench = with_brand(database).await;
    let prompts = ask_vector(&bench).await;
    let overview = bench.get("P/visibility/overview?period=7d").await.json();
    let rate = &overview["kpis"]["mentionRate"];
    assert_eq!(
        (&rate["numerator"], &rate["denominator"]),
        (&json!(18.0), &json!(40.0))
    );
    near(&rate["value"], 0.45);
    near(&rate["ciLow"], 0.1995);
    near(&rate["ciHigh"], 0.7288);
    assert_eq!(
        (&rate["method"], &rate["grade"]),
        (&json!("wilson_clustered"), &json!("thin"))
    );
    assert_eq!(rate["change"]["verdict"], "insufficient_data");
    near(&overview["kpis"]["shareOfVoice"]["value"], 0.45);
    near(&overview["kpis"]["visibilityScore"]["value"], 45.0);
    assert_eq!(overview["kpis"]["answers"], 40);
    let trend = overview["trend"].as_array().unwrap();
    assert_eq!(trend.len(), 7);
    let measured = trend.iter().filter(|day| !day["mentionRate"].is_null());
    assert_eq!(measured.count(), 1);
    let source = &overview["citedSources"][0];
    assert_eq!(
        (&source["domain"], &source["class"]),
        (&json!("acme.example"), &json!("owned"))
    );
    assert_eq!(overview["competitors"][0]["name"], "Bolt Desks");
    assert_eq!(overview["promptSummary"]["withMention"], 5);
    let listed = bench.get("P/visibility/prompts?limit=100").await.json();
    let first = listed["data"].as_array().unwrap().last().unwrap();
    assert_eq!(first["id"], *prompts[0]);
    assert_eq!(
        (
            &first["latest"]["mentioned"],
            &first["latest"]["position"],
            &first["latest"]["cited"]
        ),
        (&json!(true), &json!(1), &json!(true))
    );
    near(&first["window"]["mentionRate"]["value"], 1.0);
    assert_eq!(first["window"]["gap"], "strong");
    let answers = bench
        .get(&format!("P/visibility/prompts/{}/answers?limit=2", prompts[0]))
        .await
        .json();
    let answer = &answers["data"][0];
    assert_eq!(
        (&answer["surface"], &answer["runId"]),
        (&json!("manual"), &Value::Null)
    );
    let mention = &answer["mentions"][0];
    assert_eq!(
        (&mention["isOwn"], &mention["position"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(mention["spans"][0], json!({ "start": 16, "end": 25 }));
    let next = answers["nextCursor"].as_str().unwrap();
    let rest = format!(
        "P/visibility/prompts/{}/answers?limit=2&cursor={next}",
        prompts[0]
    );
    let rest = bench.get(&rest).await.json();
    assert_ne!(rest["data"][0]["id"], answers["data"][1]["id"]);
    // Another surface or engine has no answers.
    let none = bench
        .get("P/visibility/overview?period=7d&engine=claude")
        .await
        .json();
    assert_eq!(none["kpis"]["mentionRate"]["value"], Value::Null);
}

async fn nothing_asked_is_null_and_says_what_to_do(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let overview = bench.get("P/visibility/overview").await.json();
    for figure in ["mentionRate", "shareOfVoice", "visibilityScore", "avgPosition"] {
        assert_eq!(overview["kpis"][figure]["value"], Value::Null, "{figure}");
    }
    assert_eq!(overview["branded"], Value::Null);
    let steps = overview["setupProgress"]["steps"].as_array().unwrap();
    assert!(
        steps.iter().all(|step| !step["done"].as_bool().unwrap()),
        "{steps:?}"
    );
    assert_eq!(overview["setupProgress"]["percent"], 0);
}

async fn prompts_are_unique_and_keep_their_text(database: &str) {
    let bench = with_brand(database).await;
    let id = prompt(&bench, "Which standing desk is quiet?").await;
    let again = bench
        .post(
            "P/visibility/prompts",
            json!({ "text": "which  standing desk is quiet?" }),
        )
        .await;
    assert_eq!(
        (again.status, again.json()["existingId"].clone()),
        (409, json!(id))
    );
    let elsewhere = json!({ "text": "Which standing desk is quiet?", "country": "DE" });
    assert_eq!(bench.post("P/visibility/prompts", elsewhere).await.status, 201);
    for (text, class) in [
        ("Is Acme Desk better than Bolt Desks?", "branded"),
        ("Are Bolt Desks any good?", "competitor_branded"),
        ("Which desk for 50 kg?", "non_branded"),
    ] {
        let created = bench
            .post("P/visibility/prompts", json!({ "text": text }))
            .await
            .json();
        assert_eq!(created["class"], class, "{text}");
    }
    let path = format!("P/visibility/prompts/{id}");
    assert_eq!(bench.patch(&path, json!({ "text": "changed" })).await.status, 422);
    let tagged = json!({ "tags": ["noise", " noise "], "engines": ["claude", "chatgpt", "claude"] });
    let changed = bench.patch(&path, tagged).await.json();
    assert_eq!(
        (&changed["tags"], &changed["engines"]),
        (&json!(["noise"]), &json!(["chatgpt", "claude"]))
    );
    let of_tag = bench.get("P/visibility/prompts?tag=noise").await.json();
    assert_eq!(of_tag["data"].as_array().unwrap().len(), 1);
    let none = bench.get("P/visibility/prompts?tag=nois%25").await.json();
    assert_eq!(none["data"], json!([]));
    assert_eq!(
        bench.patch(&path, json!({ "status": "archived" })).await.status,
        200
    );
    let twin = prompt(&bench, "Which standing desk is quiet?").await;
    let back = bench.patch(&path, json!({ "status": "active" })).await;
    assert_eq!(
        (back.status, back.json()["existingId"].clone()),
        (409, json!(twin))
    );
    let archived = bench.get("P/visibility/prompts?status=archived").await.json();
    assert_eq!(archived["data"][0]["id"], *id);
    let (project, key) = bench.neighbour().await;
    let foreign = format!("/projects/{project}/visibility/prompts/{id}");
    let refused = bench
        .call("PATCH", &foreign)
        .key(&key)
        .json(&json!({ "tags": [] }))
        .send()
        .await;
    assert_eq!(
        (refused.status, refused.json()["code"].clone()),
        (403, json!("project_forbidden"))
    );
}

async fn copied_answers_are_stored_all_or_none(database: &str) {
    let bench = with_brand(database).await;
    let id = prompt(&bench, "Which standing desk is quiet?").await;
    let item = |text: &str, at: String| json!({ "engine": "claude", "askedAt": at, "text": text });
    let good = item("Acme Desk, see https://acme.example/quiet.", hours_ago(&bench, 2));
    for (bad, pointer) in [
        (item("x", hours_ago(&bench, -1)), "/items/1/askedAt"),
        (item("x", hours_ago(&bench, 401 * 24)), "/items/1/askedAt"),
        (item("   ", hours_ago(&bench, 1)), "/items/1/text"),
        (
            json!({ "engine": "eliza", "askedAt": hours_ago(&bench, 1), "text": "x" }),
            "/items/1/engine",
        ),
    ] {
        let refused = copy(&bench, &id, json!([good, bad])).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        assert_eq!(refused.json()["errors"][0]["pointer"], pointer);
    }
    let unknown = copy(&bench, "01936f34-0d5e-7a52-8c11-2b6f5a1c2b4c", json!([good])).await;
    assert_eq!(unknown.status, 404);
    let overview = bench.get("P/visibility/overview").await.json();
    assert_eq!(
        overview["kpis"]["answers"], 0,
        "nothing of what was refused is stored"
    );
    let refusal = item(
        "I'm sorry, but I don't have any information about that.",
        hours_ago(&bench, 1),
    );
    let stored = copy(&bench, &id, json!([good, refusal])).await;
    assert_eq!(stored.status, 201, "{stored:?}");
    let stored = stored.json();
    let statuses: Vec<&Value> = stored["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| &a["status"])
        .collect();
    assert_eq!(statuses, ["ok", "refused"]);
    let citation = &stored["data"][0]["citations"][0];
    assert_eq!(
        (&citation["domain"], &citation["inline"], &citation["class"]),
        (&json!("acme.example"), &json!(true), &json!("owned"))
    );
    let overview = bench.get("P/visibility/overview").await.json();
    assert_eq!(overview["kpis"]["answers"], 1, "a refusal is no answer");
    let step = overview["setupProgress"]["steps"].as_array().unwrap();
    assert!(
        step.iter()
            .any(|step| step["key"] == "first_run" && step["done"] == true)
    );
    let path = format!("P/visibility/prompts/{id}");
    for (status, expected) in [("archived", 409), ("active", 201)] {
        assert_eq!(bench.patch(&path, json!({ "status": status })).await.status, 200);
        let copied = copy(&bench, &id, json!([good])).await;
        assert_eq!(copied.status, expected, "{status} {copied:?}");
    }
    let listed = bench.get(&format!("{path}/answers")).await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 3);
}

async fn change_of_names_counts_stored_answers_again(database: &str) {
    let bench = with_brand(database).await;
    ask_vector(&bench).await;
    let before = bench.get("P/visibility/overview?period=7d").await.json();
    // Under another name, nobody is mentioned, and the competitor's answers stay.
    let renamed = json!({ "name": "Zenith", "aliases": [], "domains": [] });
    assert_eq!(bench.patch("P/brand", renamed).await.status, 200);
    settle(&bench).await;
    let without = bench.get("P/visibility/overview?period=7d").await.json();
    let rate = &without["kpis"]["mentionRate"];
    assert_eq!(
        (&rate["numerator"], &rate["denominator"]),
        (&json!(0.0), &json!(40.0))
    );
    assert_eq!(without["competitors"][0]["mentionRate"]["numerator"], 22.0);
    assert_eq!(without["citedSources"][0]["class"], "third_party");
    // Back again, every figure is as it was: sums over cells are sums over answers.
    let back = json!({ "name": "Acme Desk", "aliases": ["Acme Desk"], "domains": ["acme.example"] });
    assert_eq!(bench.patch("P/brand", back).await.status, 200);
    settle(&bench).await;
    let after = bench.get("P/visibility/overview?period=7d").await.json();
    assert_eq!(after["kpis"], before["kpis"]);
    assert_eq!(after["trend"], before["trend"]);
    assert_eq!(after["citedSources"], before["citedSources"]);
}

async fn periods_are_checked(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for (query, pointer) in [
        ("period=28d&from=2026-01-01&to=2026-01-31", "/period"),
        ("from=2026-01-01", "/to"),
        ("to=2026-01-01", "/from"),
        ("period=7d&to=2026-01-01", "/from"),
        ("from=2026-01-31&to=2026-01-01", "/to"),
        ("from=2025-01-01&to=2026-02-28", "/to"),
        ("from=2026-02-30&to=2026-03-01", "/from"),
        ("period=5d", "/period"),
    ] {
        let refused = bench.get(&format!("P/visibility/overview?{query}")).await;
        assert_eq!(refused.status, 422, "{query}: {refused:?}");
        assert_eq!(refused.json()["errors"][0]["pointer"], pointer, "{query}");
    }
    let year = bench
        .get("P/visibility/overview?from=2025-01-01&to=2026-02-04")
        .await
        .json();
    assert_eq!(year["trend"].as_array().unwrap().len(), 400);
    assert_eq!(year["period"]["previousTo"], "2024-12-31");
}
