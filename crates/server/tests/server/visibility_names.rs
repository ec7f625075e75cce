//! Names in answers that no tracked brand covers.

use serde_json::{Value, json};

use crate::{
    harness::{Answer, Bench},
    visibility::{copy, hours_ago, prompt, settle, with_brand},
};

on_both!(
    names_are_counted_with_quotes,
    decisions_change_the_brands_and_the_list,
    wrong_decisions_change_nothing,
    brands_need_their_own_scope,
    projects_do_not_see_names_of_others,
);

/// Two prompts with answers that hold names; their ids.
async fn with_names(bench: &Bench) -> [String; 2] {
    let first = prompt(bench, "Which standing desk is quiet?").await;
    let second = prompt(bench, "Which standing desk is cheap?").await;
    let item = |engine: &str, hours: i64, text: &str| json!({ "engine": engine, "askedAt": hours_ago(bench, hours), "text": text });
    let of_first = json!([
        item(
            "chatgpt",
            3,
            "1. **Acme Desk** – fine\n2. **Zolt Office** – cheap\n3. Wobblix: small"
        ),
        item("claude", 5, "- Zolt-Office: sturdy\n- Wobblix: slow"),
        item(
            "claude",
            4,
            "I'm sorry, but I don't have any information about that."
        ),
    ]);
    let of_second = json!([item(
        "gemini",
        2,
        "- ZOLT OFFICE: loud\n- Boltdeskz: meh\n- Ease of use"
    )]);
    assert_eq!(copy(bench, &first, of_first).await.status, 201);
    assert_eq!(copy(bench, &second, of_second).await.status, 201);
    [first, second]
}

async fn names(bench: &Bench, status: &str) -> Vec<Value> {
    let listed = bench.get(&format!("P/visibility/names?status={status}")).await;
    assert_eq!(listed.status, 200, "{listed:?}");
    listed.json()["data"].as_array().unwrap().clone()
}

async fn spellings(bench: &Bench, status: &str) -> Vec<String> {
    let names = names(bench, status).await;
    names
        .iter()
        .map(|name| name["name"].as_str().unwrap().to_owned())
        .collect()
}

async fn decide(bench: &Bench, items: Value) -> Answer {
    bench.post("P/visibility/names", json!({ "items": items })).await
}

async fn names_are_counted_with_quotes(database: &str) {
    let bench = with_brand(database).await;
    let [first, second] = with_names(&bench).await;
    let all = names(&bench, "open").await;
    let zolt = &all[0];
    assert_eq!(
        (&zolt["answers"], &zolt["prompts"], &zolt["status"]),
        (&json!(3), &json!(2), &json!("open"))
    );
    assert_eq!(zolt["engines"], json!(["chatgpt", "claude", "gemini"]));
    assert_eq!(
        (&zolt["firstSeenAt"], &zolt["lastSeenAt"]),
        (&json!(hours_ago(&bench, 5)), &json!(hours_ago(&bench, 2)))
    );
    let quotes: Vec<(&Value, &Value)> = zolt["quotes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|quote| (&quote["promptId"], &quote["text"]))
        .collect();
    assert_eq!(
        quotes,
        [
            (&json!(second), &json!("ZOLT OFFICE: loud")),
            (&json!(first), &json!("Zolt Office – cheap")),
            (&json!(first), &json!("Zolt-Office: sturdy"))
        ]
    );
    let answers = bench
        .get(&format!("P/visibility/prompts/{second}/answers"))
        .await
        .json();
    assert_eq!(zolt["quotes"][0]["answerId"], answers["data"][0]["id"]);
    assert_eq!(
        (&all[1]["name"], &all[1]["answers"]),
        (&json!("Wobblix"), &json!(2))
    );
    assert_eq!((&all[1]["prompts"], &all[1]["nearTo"]), (&json!(1), &Value::Null));
    let competitors = bench.get("P/brand/competitors").await.json();
    assert_eq!(all[2]["name"], "Boltdeskz");
    assert_eq!(
        all[2]["nearTo"],
        json!({ "brand": "Bolt Desks", "competitorId": competitors["data"][0]["id"] })
    );
    assert_eq!(all.len(), 3, "{all:#?}");
    // One by one, no name is left out and none comes twice.
    let (mut walked, mut path) = (Vec::new(), "P/visibility/names?limit=1".to_owned());
    loop {
        let page = bench.get(&path).await.json();
        walked.extend(page["data"].as_array().unwrap().clone());
        let Some(next) = page["nextCursor"].as_str() else {
            break;
        };
        path = format!("P/visibility/names?limit=1&cursor={next}");
    }
    assert_eq!(walked, all);
    // The analysis of all answers counts what was counted as they came.
    let context = json!({ "negativeContext": ["acme tree"] });
    assert_eq!(bench.patch("P/brand", context).await.status, 200);
    settle(&bench).await;
    assert_eq!(names(&bench, "open").await, all);
}

async fn decisions_change_the_brands_and_the_list(database: &str) {
    let bench = with_brand(database).await;
    let [first, _] = with_names(&bench).await;
    let bolt = bench.get("P/brand/competitors").await.json()["data"][0]["id"].clone();
    let ignored = decide(&bench, json!([{ "name": "wobblix", "decision": "ignore" }])).await;
    assert_eq!(ignored.status, 200, "{ignored:?}");
    assert_eq!(ignored.json()["job"], Value::Null, "no brand changes");
    assert_eq!(spellings(&bench, "ignored").await, ["Wobblix"]);
    let decided = json!([
        { "name": "zolt office", "decision": "competitor", "domain": "zolt.example" },
        { "name": "Boltdeskz", "decision": "alias", "competitorId": bolt },
    ]);
    let decided = decide(&bench, decided).await;
    assert_eq!(decided.status, 200, "{decided:?}");
    let decided = decided.json();
    assert_eq!(decided["job"]["type"], "analyze_answers");
    let competitors = bench.get("P/brand/competitors").await.json();
    let created = &competitors["data"][0];
    assert_eq!(
        (&created["name"], &created["domain"], &created["id"]),
        (
            &json!("zolt office"),
            &json!("zolt.example"),
            &decided["data"][0]["competitorId"]
        )
    );
    assert_eq!(competitors["data"][1]["aliases"], json!(["Boltdeskz"]));
    assert_eq!(spellings(&bench, "open").await, Vec::<String>::new());
    settle(&bench).await;
    assert_eq!(spellings(&bench, "open").await, Vec::<String>::new());
    let overview = bench.get("P/visibility/overview?period=7d").await.json();
    let mentions = |name: &str| {
        let mut rows = overview["competitors"].as_array().unwrap().iter();
        rows.find(|row| row["name"] == name).unwrap()["mentionRate"]["numerator"].clone()
    };
    assert_eq!(
        (mentions("zolt office"), mentions("Bolt Desks")),
        (json!(3.0), json!(1.0))
    );
    // Reopened, it is counted as before; as a spelling of the own brand, it is found in old answers and in new ones.
    let reopened = decide(&bench, json!([{ "name": "Wobblix", "decision": "open" }])).await;
    assert_eq!(reopened.status, 200, "{reopened:?}");
    let open = names(&bench, "open").await;
    assert_eq!(
        (&open[0]["name"], &open[0]["answers"]),
        (&json!("Wobblix"), &json!(2))
    );
    let own = decide(&bench, json!([{ "name": "Wobblix", "decision": "alias" }]))
        .await
        .json();
    assert_eq!(own["data"][0]["competitorId"], Value::Null);
    let brand = bench.get("P/brand").await.json();
    assert_eq!(brand["aliases"], json!(["Acme Desk", "Wobblix"]));
    settle(&bench).await;
    let overview = bench.get("P/visibility/overview?period=7d").await.json();
    assert_eq!(overview["kpis"]["mentionRate"]["numerator"], 2.0);
    let new = json!({ "engine": "grok", "askedAt": hours_ago(&bench, 1), "text": "- Zolt Office\n- Wobblix\n- Fixo" });
    assert_eq!(copy(&bench, &first, json!([new])).await.status, 201);
    assert_eq!(spellings(&bench, "open").await, ["Fixo"]);
}

async fn wrong_decisions_change_nothing(database: &str) {
    let bench = with_brand(database).await;
    with_names(&bench).await;
    let before = names(&bench, "open").await;
    let good = json!({ "name": "Wobblix", "decision": "ignore" });
    let unknown = "01936f34-0d5e-7a52-8c11-2b6f5a1c2b4c";
    for (bad, pointer, code) in [
        (
            json!({ "name": "Nobody", "decision": "ignore" }),
            "/items/1/name",
            "not_found",
        ),
        (
            json!({ "name": "WOBBLIX", "decision": "alias" }),
            "/items/1/name",
            "repeated",
        ),
        (
            json!({ "name": "Zolt Office", "decision": "competitor" }),
            "/items/1/domain",
            "required",
        ),
        (
            json!({ "name": "Zolt Office", "decision": "competitor", "domain": "www.acme.example" }),
            "/items/1/domain",
            "own_domain",
        ),
        (
            json!({ "name": "Zolt Office", "decision": "competitor", "domain": "no domain" }),
            "/items/1/domain",
            "not_a_domain",
        ),
        (
            json!({ "name": "Zolt Office", "decision": "ignore", "domain": "zolt.example" }),
            "/items/1/domain",
            "not_allowed",
        ),
        (
            json!({ "name": "Zolt Office", "decision": "alias", "competitorId": unknown }),
            "/items/1/competitorId",
            "not_found",
        ),
        (
            json!({ "name": "Zolt Office", "decision": "alias", "competitorId": "bolt" }),
            "/items/1/competitorId",
            "not_found",
        ),
        (
            json!({ "name": "Zolt Office", "decision": "open", "competitorId": unknown }),
            "/items/1/competitorId",
            "not_allowed",
        ),
    ] {
        let refused = decide(&bench, json!([good, bad])).await;
        let problem = refused.refuses(422, "validation_failed");
        assert_eq!(
            (&problem["errors"][0]["pointer"], &problem["errors"][0]["code"]),
            (&json!(pointer), &json!(code)),
            "{problem:#}"
        );
    }
    let taken = json!({ "name": "Zolt Office", "decision": "competitor", "domain": "shop.bolt.example" });
    let refused = decide(&bench, json!([good, taken])).await;
    let problem = refused.refuses(409, "already_exists");
    assert_eq!(problem["errors"][0]["pointer"], "/items/1/domain");
    let many: Vec<&Value> = std::iter::repeat_n(&good, 101).collect();
    assert_eq!(decide(&bench, json!(many)).await.status, 422);
    assert_eq!(decide(&bench, json!([])).await.status, 422);
    let word = decide(&bench, json!([{ "name": "Wobblix", "decision": "maybe" }])).await;
    assert_eq!(word.json()["errors"][0]["pointer"], "/items/0/decision");
    let fifty: Vec<String> = (0..50).map(|n| format!("Acme {n}")).collect();
    assert_eq!(
        bench.patch("P/brand", json!({ "aliases": fifty })).await.status,
        200
    );
    settle(&bench).await;
    let full = decide(
        &bench,
        json!([good, { "name": "Zolt Office", "decision": "alias" }]),
    )
    .await;
    let problem = full.refuses(422, "validation_failed");
    assert_eq!(problem["errors"][0]["pointer"], "/items/1/name");
    assert_eq!(names(&bench, "open").await, before);
    assert_eq!(spellings(&bench, "ignored").await, Vec::<String>::new());
    assert_eq!(bench.get("P/visibility/names?status=new").await.status, 422);
}

async fn brands_need_their_own_scope(database: &str) {
    let bench = with_brand(database).await;
    with_names(&bench).await;
    let key = bench.key_for(bench.project, &["visibility:write"]).await;
    let decide = async |item: Value| {
        let call = bench.call("POST", "P/visibility/names").key(&key);
        call.json(&json!({ "items": [item] })).send().await
    };
    for item in [
        json!({ "name": "Wobblix", "decision": "alias" }),
        json!({ "name": "Wobblix", "decision": "competitor", "domain": "wobblix.example" }),
    ] {
        let problem = decide(item).await.refuses(403, "insufficient_scope");
        assert_eq!(problem["scope"], "brand:write");
    }
    assert_eq!(
        decide(json!({ "name": "Wobblix", "decision": "ignore" }))
            .await
            .status,
        200
    );
}

async fn projects_do_not_see_names_of_others(database: &str) {
    let bench = with_brand(database).await;
    with_names(&bench).await;
    let (foreign, key) = bench.neighbour().await;
    let path = format!("/projects/{foreign}/visibility/names");
    let listed = bench.call("GET", &path).key(&key).send().await;
    assert_eq!(listed.json()["data"], json!([]));
    let item = json!({ "name": "Wobblix", "decision": "ignore" });
    let call = bench.call("POST", &path).key(&key);
    let refused = call.json(&json!({ "items": [item] })).send().await;
    assert_eq!(
        refused.refuses(422, "validation_failed")["errors"][0]["code"],
        "not_found"
    );
    let elm = json!({ "items": [{ "name": "Elm", "domain": "elm.example" }] });
    let call = bench
        .call("POST", &format!("/projects/{foreign}/brand/competitors"))
        .key(&key);
    let elm = call.json(&elm).send().await.json()["data"][0]["item"]["id"].clone();
    let item = json!([{ "name": "Wobblix", "decision": "alias", "competitorId": elm }]);
    let problem = decide(&bench, item).await.refuses(422, "validation_failed");
    assert_eq!(problem["errors"][0]["pointer"], "/items/0/competitorId");
    let refused = bench.call("GET", "P/visibility/names").key(&key).send().await;
    refused.refuses(403, "project_forbidden");
}
