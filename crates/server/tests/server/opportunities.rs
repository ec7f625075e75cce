//! Next steps: kinds with their evidence, ready calls, and sentences that contradict the brand data.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    audited,
    harness::Bench,
    post_generation::until_ended,
    visibility::{copy, hours_ago, prompt, with_brand},
};

on_both!(
    each_kind_has_its_evidence,
    next_steps_are_valid_calls,
    wrong_facts_are_quoted_and_follow_the_brand_data,
    blocked_agents_lead_to_issues,
    the_list_is_walked_and_filtered,
);

async fn list(bench: &Bench, query: &str) -> Vec<Value> {
    let answer = bench
        .get(&format!("P/visibility/opportunities?limit=100{query}"))
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["data"].as_array().unwrap().clone()
}

async fn of_kind(bench: &Bench, kind: &str) -> Vec<Value> {
    list(bench, &format!("&kind={kind}")).await
}

/// Stores the same answer several times.
async fn answers(bench: &Bench, prompt: &str, engine: &str, count: usize, text: &str, urls: &[&str]) {
    let citations: Vec<Value> = urls.iter().map(|url| json!({ "url": url })).collect();
    let item =
        json!({ "engine": engine, "askedAt": hours_ago(bench, 3), "text": text, "citations": citations });
    let copied = copy(bench, prompt, vec![item; count].into()).await;
    assert_eq!(copied.status, 201, "{copied:?}");
}

const LIST: &str = "https://list.example/best-desks";
const OWN: &str = "https://acme.example/quiet";

/// A project with an answer of every kind, apart from what takes an audit.
async fn filled(bench: &Bench) -> BTreeMap<&'static str, String> {
    let product = json!({ "items": [{ "name": "Oak desk 160", "price": { "amount": 499, "currency": "EUR" }, "features": ["two motors"] }] });
    assert_eq!(bench.post("P/brand/products", product).await.status, 201);
    let competitor = prompt(bench, "Which standing desk is quiet?").await;
    answers(
        bench,
        &competitor,
        "chatgpt",
        6,
        "Bolt Desks makes quiet ones.",
        &[LIST],
    )
    .await;
    answers(bench, &competitor, "claude", 2, "It depends.", &[]).await;
    let cited = prompt(
        bench,
        "How high should a desk for two heavy monitors and a tall person be?",
    )
    .await;
    answers(bench, &cited, "claude", 3, "As high as your elbows.", &[OWN]).await;
    let mentioned = prompt(bench, "Which standing desk lasts?").await;
    answers(bench, &mentioned, "claude", 7, "Acme Desk lasts.", &[LIST]).await;
    let strong = prompt(bench, "Which desk for an office?").await;
    answers(bench, &strong, "claude", 5, "Acme Desk, or Bolt Desks.", &[OWN]).await;
    let wrong = prompt(bench, "What does a good desk cost?").await;
    answers(
        bench,
        &wrong,
        "gemini",
        2,
        "Acme Desk is fine. The Oak desk 160 costs €599.",
        &[OWN],
    )
    .await;
    answers(
        bench,
        &wrong,
        "gemini",
        3,
        "The Oak desk 160 of Acme Desk costs €499.",
        &[OWN],
    )
    .await;
    BTreeMap::from([
        ("competitor_only", competitor),
        ("cited_not_mentioned", cited),
        ("mentioned_not_cited", mentioned),
        ("wrong_fact", wrong),
    ])
}

async fn each_kind_has_its_evidence(database: &str) {
    let bench = with_brand(database).await;
    assert_eq!(
        list(&bench, "").await,
        [] as [Value; 0],
        "no answers, nothing to do"
    );
    let prompts = filled(&bench).await;
    let all = list(&bench, "").await;
    let kinds: BTreeSet<&str> = all.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    let expected = [
        "cited_not_mentioned",
        "cited_third_party",
        "competitor_only",
        "mentioned_not_cited",
        "wrong_fact",
    ];
    assert_eq!(kinds, BTreeSet::from(expected));
    assert_eq!(all.len(), 5, "{all:#?}");
    let scores: Vec<f64> = all.iter().map(|entry| entry["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let find = |kind: &str| all.iter().find(|entry| entry["kind"] == kind).unwrap();

    let only = find("competitor_only");
    assert_eq!(only["promptIds"], json!([prompts["competitor_only"]]));
    assert_eq!(
        (&only["rate"]["numerator"], &only["rate"]["denominator"]),
        (&json!(6.0), &json!(8.0))
    );
    assert_eq!(
        (&only["engines"], &only["thin"]),
        (&json!(["chatgpt"]), &json!(false))
    );
    assert_eq!(
        (
            &only["competitors"][0]["name"],
            &only["competitors"][0]["answers"]
        ),
        (&json!("Bolt Desks"), &json!(6))
    );
    let why = only["why"].as_str().unwrap();
    assert!(
        why.starts_with("6 of 8 answers (95 % interval") && why.ends_with("Bolt Desks (6)"),
        "{why}"
    );
    let bound = only["rate"]["ciLow"].as_f64().unwrap();
    let score = only["score"].as_f64().unwrap();
    assert!(
        (score - 100.0 * bound * 7f64.log2()).abs() < 0.01,
        "the score is what the schema says"
    );

    let page = find("cited_third_party");
    assert_eq!(page["urls"], json!([LIST]));
    assert_eq!(
        (&page["rate"]["numerator"], &page["rate"]["denominator"]),
        (&json!(6.0), &json!(8.0))
    );
    assert_eq!(
        page["promptIds"],
        json!([prompts["competitor_only"]]),
        "answers that name the brand are no gap"
    );
    let cited = find("cited_not_mentioned");
    assert_eq!((&cited["urls"], &cited["thin"]), (&json!([OWN]), &json!(true)));
    assert!(cited["why"].as_str().unwrap().contains("3 of 3 answers"));
    assert!(cited["why"].as_str().unwrap().contains("thin"));
    let mentioned = find("mentioned_not_cited");
    assert_eq!(mentioned["promptIds"], json!([prompts["mentioned_not_cited"]]));
    let again = list(&bench, "").await;
    assert_eq!(again, all, "ids and order are stable");
    // Archived prompts are no work to be done.
    let path = format!("P/visibility/prompts/{}", prompts["competitor_only"]);
    assert_eq!(
        bench.patch(&path, json!({ "status": "archived" })).await.status,
        200
    );
    assert_eq!(of_kind(&bench, "competitor_only").await, [] as [Value; 0]);
}

async fn next_steps_are_valid_calls(database: &str) {
    let bench = with_brand(database).await;
    filled(&bench).await;
    let mut sent: BTreeSet<(String, String)> = BTreeSet::new();
    for entry in list(&bench, "").await {
        let kind = entry["kind"].as_str().unwrap();
        let steps = entry["nextSteps"].as_array().unwrap();
        let leads = ["posts.create", "keywords.create", "issues.get"];
        assert!(
            steps
                .iter()
                .any(|step| leads.contains(&step["operation"].as_str().unwrap())),
            "{kind} leads nowhere"
        );
        for step in steps {
            let operation = step["operation"].as_str().unwrap();
            let path = step["path"].as_str().unwrap();
            assert!(!path.contains('{'), "{path}");
            let call = bench.call(step["method"].as_str().unwrap(), path);
            let call = if step["body"].is_null() {
                call
            } else {
                call.json(&step["body"])
            };
            let answer = call.send().await;
            // Two kinds may name one prompt: its keyword is there already.
            let is_known = operation == "keywords.create" && answer.status == 409;
            assert!(
                is_known || answer.status < 300,
                "{operation} of {kind}: {answer:?}"
            );
            sent.insert((kind.to_owned(), operation.to_owned()));
        }
    }
    let operations: BTreeSet<&str> = sent.iter().map(|(_, operation)| operation.as_str()).collect();
    assert_eq!(
        operations,
        BTreeSet::from([
            "faqs.create",
            "keywords.create",
            "posts.create",
            "prompts.answers"
        ])
    );
}

async fn wrong_facts_are_quoted_and_follow_the_brand_data(database: &str) {
    let bench = with_brand(database).await;
    let prompts = filled(&bench).await;
    let found = of_kind(&bench, "wrong_fact").await;
    let [fact] = found.as_slice() else {
        panic!("{found:#?}")
    };
    assert_eq!(fact["promptIds"], json!([prompts["wrong_fact"]]));
    assert_eq!(
        (&fact["rate"]["numerator"], &fact["rate"]["denominator"]),
        (&json!(2.0), &json!(17.0))
    );
    let sentences = fact["sentences"].as_array().unwrap();
    assert_eq!(sentences.len(), 2);
    let sentence = &sentences[0];
    assert_eq!(
        (
            &sentence["fact"],
            &sentence["claimed"],
            &sentence["expected"],
            &sentence["engine"]
        ),
        (
            &json!("price"),
            &json!("€599"),
            &json!("499 EUR"),
            &json!("gemini")
        )
    );
    assert_eq!(sentence["quote"], "The Oak desk 160 costs €599.");
    let path = format!("P/visibility/prompts/{}/answers", prompts["wrong_fact"]);
    let stored = bench.get(&path).await.json();
    let mut stored = stored["data"].as_array().unwrap().iter();
    let answer = stored
        .find(|answer| answer["id"] == sentence["answerId"])
        .unwrap();
    assert_eq!(answer["wrongFacts"][0]["subject"], "Oak desk 160");
    let text: Vec<char> = answer["text"].as_str().unwrap().chars().collect();
    let at = |name: &str| sentence["span"][name].as_u64().unwrap() as usize;
    let quoted: String = text[at("start")..at("end")].iter().collect();
    assert_eq!(sentence["quote"], quoted, "the span is the place of the quote");
    let faq = &fact["nextSteps"][0];
    assert_eq!(faq["body"]["items"][0]["answer"], "Oak desk 160 costs 499 EUR.");

    // The price changes: what was wrong is right, and the other way round.
    let products = bench.get("P/brand/products").await.json();
    let product = format!("P/brand/products/{}", products["data"][0]["id"].as_str().unwrap());
    let price = json!({ "price": { "amount": 599, "currency": "EUR" } });
    assert_eq!(bench.patch(&product, price).await.status, 200);
    settle(&bench).await;
    let found = of_kind(&bench, "wrong_fact").await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["sentences"][0]["claimed"], "€499");
    assert_eq!(found[0]["rate"]["numerator"], 3.0);
    assert_eq!(bench.patch(&product, json!({ "price": null })).await.status, 200);
    settle(&bench).await;
    assert_eq!(
        of_kind(&bench, "wrong_fact").await,
        [] as [Value; 0],
        "no price, no contradiction"
    );
}

async fn settle(bench: &Bench) {
    let jobs = bench.get("P/jobs").await.json();
    assert_eq!(jobs["data"][0]["type"], "analyze_answers", "{jobs:#}");
    let job = until_ended(bench, jobs["data"][0]["id"].as_str().unwrap()).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
}

async fn blocked_agents_lead_to_issues(database: &str) {
    let (bench, site) = audited::bench(database).await;
    assert_eq!(of_kind(&bench, "blocked_agents").await, [] as [Value; 0]);
    let closed = audited::page(
        "<title>A page without any snippet</title><meta name=robots content=nosnippet>",
        &["/"],
    );
    site.put("/c", 200, &closed);
    audited::audit(&bench).await;
    let found = of_kind(&bench, "blocked_agents").await;
    let [entry] = found.as_slice() else {
        panic!("{found:#?}")
    };
    assert_eq!((&entry["rate"], &entry["thin"]), (&Value::Null, &json!(false)));
    assert!(
        entry["why"]
            .as_str()
            .unwrap()
            .starts_with("1 page in the newest audit, by the check snippet-restricted")
    );
    let issue = audited::issue(&bench, "snippet-restricted").await;
    for step in entry["nextSteps"].as_array().unwrap() {
        let answer = bench.call("GET", step["path"].as_str().unwrap()).send().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(
            step["path"]
                .as_str()
                .unwrap()
                .contains(issue["id"].as_str().unwrap())
        );
    }
    let operations: Vec<&Value> = entry["nextSteps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["operation"])
        .collect();
    assert_eq!(operations, ["issues.get", "issues.occurrences"]);
}

async fn the_list_is_walked_and_filtered(database: &str) {
    let bench = with_brand(database).await;
    filled(&bench).await;
    let all = list(&bench, "").await;
    let (mut walked, mut path) = (Vec::new(), "P/visibility/opportunities?limit=2".to_owned());
    loop {
        let page = bench.get(&path).await.json();
        walked.extend(page["data"].as_array().unwrap().clone());
        let Some(cursor) = page["nextCursor"].as_str() else {
            break;
        };
        path = format!("P/visibility/opportunities?limit=2&cursor={cursor}");
    }
    assert_eq!(walked, all);
    for entry in &all {
        let kind = entry["kind"].as_str().unwrap();
        assert_eq!(of_kind(&bench, kind).await, std::slice::from_ref(entry));
    }
    let refused = bench.get("P/visibility/opportunities?kind=luck").await;
    assert_eq!(refused.status, 422);
    assert_eq!(refused.json()["errors"][0]["pointer"], "/kind");
    let (project, key) = bench.neighbour().await;
    let path = format!("/projects/{project}/visibility/opportunities");
    let foreign = bench.call("GET", &path).key(&key).send().await;
    assert_eq!(foreign.json()["data"], json!([]), "another project has its own");
}
