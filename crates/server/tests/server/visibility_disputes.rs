//! Corrections of mentions by people.

use serde_json::{Value, json};

use crate::{
    harness::{Answer, Bench},
    visibility::{copy, hours_ago, prompt, settle, with_brand},
};

on_both!(
    corrections_count_at_once_and_stay,
    sums_of_cells_are_those_of_corrected_answers,
    wrong_corrections_are_refused,
    answers_of_others_cannot_be_corrected,
);

const OWN: &str = "1. **Acme Desk** – quiet\n2. **Bolt Desks** – cheap";
const OTHER: &str = "Bolt Desks makes good ones.";

/// Stores answers to a new prompt; its id and theirs, in the same order.
async fn with_answers(bench: &Bench, text: &str, answers: &[&str]) -> (String, Vec<String>) {
    let id = prompt(bench, text).await;
    let item = |text: &&str| json!({ "engine": "chatgpt", "askedAt": hours_ago(bench, 1), "text": text });
    let items: Vec<Value> = answers.iter().map(item).collect();
    let copied = copy(bench, &id, items.into()).await;
    assert_eq!(copied.status, 201, "{copied:?}");
    let ids = copied.json()["data"].as_array().unwrap().clone();
    let ids = ids.iter().map(|answer| answer["id"].as_str().unwrap().to_owned());
    (id, ids.collect())
}

async fn dispute(bench: &Bench, prompt: &str, answer: &str, body: Value) -> Answer {
    let path = format!("P/visibility/prompts/{prompt}/answers/{answer}");
    bench.patch(&path, body).await
}

async fn overview(bench: &Bench) -> Value {
    bench.get("P/visibility/overview?period=7d").await.json()
}

fn fraction(kpi: &Value) -> (f64, f64) {
    (
        kpi["numerator"].as_f64().unwrap(),
        kpi["denominator"].as_f64().unwrap(),
    )
}

async fn corrections_count_at_once_and_stay(database: &str) {
    let bench = with_brand(database).await;
    let (asked, answers) = with_answers(&bench, "Which standing desk is quiet?", &[OWN, OTHER]).await;
    let before = overview(&bench).await;
    assert_eq!(fraction(&before["kpis"]["mentionRate"]), (1.0, 2.0));
    let wrong = json!({ "brand": "own", "mentioned": false, "reason": "it means the hill" });
    let corrected = dispute(&bench, &asked, &answers[0], wrong).await;
    assert_eq!(corrected.status, 200, "{corrected:?}");
    let corrected = corrected.json();
    assert_eq!(corrected["disputed"], true);
    assert_eq!(
        corrected["overrides"],
        json!([{ "brand": "Acme Desk", "competitorId": null, "mentioned": false, "reason": "it means the hill", "by": "test",
                 "at": bench.clock.now() }])
    );
    assert_eq!(
        corrected["mentions"][0]["isOwn"], true,
        "the automatic result stays"
    );
    let after = overview(&bench).await;
    assert_eq!(fraction(&after["kpis"]["mentionRate"]), (0.0, 2.0));
    assert_eq!(after["kpis"]["avgPosition"]["value"], Value::Null);
    let row = |overview: &Value, name: &str| {
        let rows = overview["competitors"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!(
        (
            &row(&before, "Bolt Desks")["avgPosition"],
            &row(&after, "Bolt Desks")["avgPosition"]
        ),
        (&json!(1.5), &json!(1.0)),
        "the ones behind move up"
    );
    let listed = bench.get("P/visibility/prompts").await.json();
    assert_eq!(listed["data"][0]["latest"]["mentioned"], false);
    assert_eq!(listed["data"][0]["window"]["mentionRate"]["value"], 0.0);
    // A mention that was missed has neither position nor sentiment.
    let missed = json!({ "brand": "own", "mentioned": true });
    assert_eq!(dispute(&bench, &asked, &answers[1], missed).await.status, 200);
    let with_missed = overview(&bench).await;
    let kpis = &with_missed["kpis"];
    assert_eq!(fraction(&kpis["mentionRate"]), (1.0, 2.0));
    assert_eq!(fraction(&kpis["topRate"]), (0.0, 0.0));
    assert_eq!(
        (&kpis["avgPosition"]["value"], &kpis["sentimentScore"]["value"]),
        (&Value::Null, &Value::Null)
    );
    let latest = bench.get("P/visibility/prompts").await.json()["data"][0]["latest"].clone();
    assert_eq!(
        (&latest["mentioned"], &latest["position"]),
        (&json!(true), &Value::Null)
    );
    // They survive the analysis of all answers, by other rules too.
    assert_eq!(
        bench
            .patch("P/brand", json!({ "negativeContext": ["acme tree"] }))
            .await
            .status,
        200
    );
    settle(&bench).await;
    assert_eq!(overview(&bench).await["kpis"], with_missed["kpis"]);
    let stored = bench
        .get(&format!("P/visibility/prompts/{asked}/answers"))
        .await
        .json();
    assert!(
        stored["data"]
            .as_array()
            .unwrap()
            .iter()
            .all(|answer| answer["disputed"] == true)
    );
    // Withdrawn, everything is as it was.
    for answer in &answers {
        let withdrawn = dispute(
            &bench,
            &asked,
            answer,
            json!({ "brand": "own", "mentioned": null }),
        )
        .await;
        assert_eq!(
            (&withdrawn.json()["disputed"], &withdrawn.json()["overrides"]),
            (&json!(false), &json!([]))
        );
    }
    let again = overview(&bench).await;
    assert_eq!(
        (&again["kpis"], &again["competitors"]),
        (&before["kpis"], &before["competitors"])
    );
}

/// Sums over answers, with their corrections, computed here.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    answers: f64,
    own: f64,
    mentions: f64,
    positions: f64,
    position_sum: f64,
}

fn add(sums: &mut Sums, answer: &Value) {
    if answer["status"] != "ok" {
        return;
    }
    let verdict = |competitor: &Value| {
        let mut overrides = answer["overrides"].as_array().unwrap().iter();
        overrides
            .find(|decided| decided["competitorId"] == *competitor)
            .map(|decided| decided["mentioned"] == true)
    };
    let found: Vec<&Value> = answer["mentions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|mention| mention["candidate"] == false)
        .collect();
    let kept: Vec<&&Value> = found
        .iter()
        .filter(|mention| verdict(&mention["competitorId"]) != Some(false))
        .collect();
    let added = answer["overrides"].as_array().unwrap().iter().filter(|decided| {
        let is_found = found
            .iter()
            .any(|mention| mention["competitorId"] == decided["competitorId"]);
        decided["mentioned"] == true && !is_found
    });
    let added: Vec<&Value> = added.collect();
    sums.answers += 1.0;
    sums.mentions += (kept.len() + added.len()) as f64;
    // Mentions come in the order of their positions, so that the place among the kept ones is the new position.
    if let Some(place) = kept.iter().position(|mention| mention["isOwn"] == true) {
        sums.own += 1.0;
        sums.positions += 1.0;
        sums.position_sum += place as f64 + 1.0;
    } else if added.iter().any(|decided| decided["competitorId"].is_null()) {
        sums.own += 1.0;
    }
}

async fn sums_over_answers(bench: &Bench, prompts: &[String]) -> Sums {
    let mut sums = Sums::default();
    for prompt in prompts {
        let answers = bench
            .get(&format!("P/visibility/prompts/{prompt}/answers?limit=100"))
            .await
            .json();
        answers["data"]
            .as_array()
            .unwrap()
            .iter()
            .for_each(|answer| add(&mut sums, answer));
    }
    sums
}

async fn sums_over_cells(bench: &Bench) -> Sums {
    let kpis = overview(bench).await["kpis"].clone();
    let (own, answers) = fraction(&kpis["mentionRate"]);
    let (position_sum, positions) = fraction(&kpis["avgPosition"]);
    Sums {
        answers,
        own,
        mentions: fraction(&kpis["shareOfVoice"]).1,
        positions,
        position_sum,
    }
}

async fn sums_of_cells_are_those_of_corrected_answers(database: &str) {
    let bench = with_brand(database).await;
    let elm = json!({ "items": [{ "name": "Elm Tables", "domain": "elm.example" }] });
    assert_eq!(bench.post("P/brand/competitors", elm).await.status, 201);
    let competitors = bench.get("P/brand/competitors").await.json();
    let brands = [
        "own",
        competitors["data"][0]["id"].as_str().unwrap(),
        competitors["data"][1]["id"].as_str().unwrap(),
    ];
    let texts = [
        OWN,
        OTHER,
        "Elm Tables, then Bolt Desks, then Acme Desk.",
        "I'm sorry, but I don't have any information about that.",
        "Nobody is known for that.",
    ];
    let mut all = Vec::new();
    let mut prompts = Vec::new();
    for text in ["Which standing desk is quiet?", "Which standing desk is cheap?"] {
        let (prompt, answers) = with_answers(&bench, text, &texts).await;
        all.extend(answers.into_iter().map(|answer| (prompt.clone(), answer)));
        prompts.push(prompt);
    }
    assert_eq!(
        sums_over_cells(&bench).await,
        sums_over_answers(&bench, &prompts).await
    );
    // A fixed walk over answers, brands and decisions, with some withdrawn.
    for step in 0..30_usize {
        let (prompt, answer) = &all[step * 7 % all.len()];
        let mentioned = [json!(true), json!(false), json!(null)][step / 3 % 3].clone();
        let body = json!({ "brand": brands[step % 3], "mentioned": mentioned });
        let done = dispute(&bench, prompt, answer, body).await;
        assert!(done.status == 200 || done.status == 409, "{done:?}");
        if step % 6 == 5 {
            assert_eq!(
                sums_over_cells(&bench).await,
                sums_over_answers(&bench, &prompts).await,
                "step {step}"
            );
        }
    }
    let before = overview(&bench).await;
    assert_eq!(
        bench
            .patch("P/brand", json!({ "negativeContext": ["acme tree"] }))
            .await
            .status,
        200
    );
    settle(&bench).await;
    let after = overview(&bench).await;
    assert_eq!(
        (&after["kpis"], &after["competitors"]),
        (&before["kpis"], &before["competitors"])
    );
    assert_eq!(
        sums_over_cells(&bench).await,
        sums_over_answers(&bench, &prompts).await
    );
}

async fn wrong_corrections_are_refused(database: &str) {
    let bench = with_brand(database).await;
    let refusal = "I'm sorry, but I don't have any information about that.";
    let (asked, answers) = with_answers(&bench, "Which standing desk is quiet?", &[OWN, refusal]).await;
    for (body, pointer) in [
        (json!({ "brand": "own" }), "/mentioned"),
        (json!({ "mentioned": true }), "/brand"),
        (json!({ "brand": "Acme Desk", "mentioned": true }), "/brand"),
        (json!({ "brand": answers[0], "mentioned": true }), "/brand"),
        (json!({ "brand": "own", "mentioned": "yes" }), "/mentioned"),
        (
            json!({ "brand": "own", "mentioned": true, "reason": "" }),
            "/reason",
        ),
        (
            json!({ "brand": "own", "mentioned": true, "reason": "x".repeat(501) }),
            "/reason",
        ),
    ] {
        let refused = dispute(&bench, &asked, &answers[0], body.clone()).await;
        assert_eq!(refused.status, 422, "{body}: {refused:?}");
        assert_eq!(refused.json()["errors"][0]["pointer"], pointer, "{body}");
    }
    let body = json!({ "brand": "own", "mentioned": true });
    let uncounted = dispute(&bench, &asked, &answers[1], body).await;
    assert_eq!(uncounted.refuses(409, "invalid_state")["from"], "refused");
    let stored = bench
        .get(&format!("P/visibility/prompts/{asked}/answers"))
        .await
        .json();
    assert!(
        stored["data"]
            .as_array()
            .unwrap()
            .iter()
            .all(|answer| answer["disputed"] == false)
    );
}

async fn answers_of_others_cannot_be_corrected(database: &str) {
    let bench = with_brand(database).await;
    let (asked, answers) = with_answers(&bench, "Which standing desk is quiet?", &[OWN]).await;
    let (other, _) = with_answers(&bench, "Which standing desk is cheap?", &[OTHER]).await;
    let body = json!({ "brand": "own", "mentioned": false });
    for (prompt, answer) in [(&*other, &*answers[0]), (&asked, &asked), (&asked, "x")] {
        let refused = dispute(&bench, prompt, answer, body.clone()).await;
        let resource = refused.refuses(404, "not_found")["resource"].clone();
        assert!(resource == "answer", "{resource}");
    }
    let (foreign, key) = bench.neighbour().await;
    let call = bench
        .call("POST", &format!("/projects/{foreign}/visibility/prompts"))
        .key(&key);
    let theirs = call
        .json(&json!({ "text": "Which oak desk?" }))
        .send()
        .await
        .json()["id"]
        .clone();
    let theirs = theirs.as_str().unwrap();
    // An answer of another project, a prompt of another project, and another project.
    for (project, prompt) in [(foreign, theirs), (foreign, &*asked), (bench.project, &*asked)] {
        let path = format!(
            "/projects/{project}/visibility/prompts/{prompt}/answers/{}",
            answers[0]
        );
        let refused = bench.call("PATCH", &path).key(&key).json(&body).send().await;
        refused.refuses(403, "project_forbidden");
    }
    assert_eq!(
        fraction(&overview(&bench).await["kpis"]["mentionRate"]),
        (1.0, 2.0)
    );
}
