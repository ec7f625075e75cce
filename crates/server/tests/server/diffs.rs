//! Two audits of a website that changed in between, compared.

use serde_json::{Value, json};

use crate::{
    audited::{audit, bench, occurrence, page, pair, say},
    harness::Bench,
};

on_both!(what_changed_is_told, only_results_are_compared,);

fn of<'a>(diff: &'a Value, check: &str) -> &'a Value {
    let mut issues = diff["issues"].as_array().unwrap().iter();
    issues
        .find(|issue| issue["checkId"] == check)
        .map_or(&Value::Null, |issue| &issue["counts"])
}

async fn diff(bench: &Bench, path: &str) -> Value {
    let answer = bench.get(&format!("P/audits/{path}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

async fn what_changed_is_told(database: &str) {
    let (bench, site) = bench(database).await;
    let first = bench.get("P/audits/current").await.json();
    let id = |audit: &Value| audit["id"].as_str().unwrap().to_owned();
    bench
        .get(&format!("P/audits/{}/diff", id(&first)))
        .await
        .refuses(404, "not_found");
    // One page gets a title, one loses its, one is gone, and one is new and has none.
    site.put(
        "/",
        200,
        &page(
            "<title>The home of all the desks there are</title>",
            &["/a", "/b", "/d"],
        ),
    );
    site.put(
        "/a",
        200,
        &page("<title>A title that was missing before</title>", &["/gone", "/"]),
    );
    site.put("/b", 200, &page("", &["/"]));
    site.put("/c", 404, "gone");
    site.put("/d", 200, &page("", &["/"]));
    let second = audit(&bench).await;
    let all = diff(&bench, &format!("{}/diff", id(&second))).await;
    assert_eq!(
        (&all["comparable"], &all["reasons"], &all["againstId"]),
        (&json!(true), &json!([]), &first["id"])
    );
    assert_eq!(
        (&all["healthScoreBefore"], &all["healthScore"]),
        (&first["healthScore"], &second["healthScore"])
    );
    assert_eq!(
        (&first["changes"], &second["changes"]),
        (&Value::Null, &all["counts"])
    );
    assert_eq!(
        of(&all, "title-missing"),
        &json!({ "new": 1, "added": 1, "removed": 1, "missing": 0, "unchanged": 0 })
    );
    // Nothing but the last audit leads to /c, which is asked for and gone.
    let twins = of(&all, "title-duplicate");
    assert_eq!(
        (&twins["added"], &twins["unchanged"]),
        (&json!(0), &json!(0)),
        "{all:#}"
    );
    assert_eq!(
        of(&all, "broken-internal-link"),
        &Value::Null,
        "it did not change"
    );
    let pages = &all["pages"];
    assert_eq!(pages["added"]["count"], 1);
    assert!(pages["added"]["urls"][0].as_str().unwrap().ends_with("/d"));
    assert!(pages["titleChanged"]["count"].as_i64() >= Some(2), "{pages:#}");

    let issue = all["issues"]
        .as_array()
        .unwrap()
        .iter()
        .find(|issue| issue["checkId"] == "title-missing")
        .unwrap();
    let path = format!(
        "{}/diff?issueId={}&limit=1",
        id(&second),
        issue["issue_id"].as_str().unwrap()
    );
    let (mut changes, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let more = cursor
            .map(|cursor| format!("&cursor={cursor}"))
            .unwrap_or_default();
        let part = diff(&bench, &format!("{path}{more}")).await;
        changes.extend(part["changes"].as_array().unwrap().clone());
        cursor = part["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    let mut told: Vec<(String, &Value)> = changes
        .iter()
        .map(|change| {
            (
                change["url"]
                    .as_str()
                    .unwrap()
                    .rsplit('/')
                    .next()
                    .unwrap()
                    .to_owned(),
                &change["change"],
            )
        })
        .collect();
    told.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [("a", "removed"), ("b", "added"), ("d", "new")]
        .map(|(page, change)| (page.to_owned(), json!(change)));
    assert_eq!(
        told,
        expected
            .iter()
            .map(|(page, change)| (page.clone(), change))
            .collect::<Vec<_>>()
    );

    // What is said of occurrences afterwards changes nothing in what was different.
    let a = occurrence(&bench, "title-missing", "/b").await;
    say(&bench, "ignore", &[pair(&a)]).await;
    let third = audit(&bench).await;
    let all = diff(&bench, &format!("{}/diff", id(&third))).await;
    assert_eq!(third["changes"], all["counts"]);
    assert!(third["changes"]["unchanged"].as_i64() > Some(0), "{third:#}");
    assert_eq!(diff(&bench, &id(&second)).await["changes"], second["changes"]);

    // The other way round, and of crawls that are not alike.
    let back = diff(&bench, &format!("{}/diff?against={}", id(&first), id(&second))).await;
    assert_eq!(of(&back, "title-missing")["removed"], 1);
    let wide = bench.post("P/audits", json!({ "maxPages": 500 })).await.json();
    crate::post_generation::until_ended(&bench, wide["job"]["id"].as_str().unwrap()).await;
    let wide = diff(&bench, &format!("{}/diff", wide["audit"]["id"].as_str().unwrap())).await;
    assert_eq!(
        (&wide["comparable"], &wide["reasons"]),
        (&json!(true), &json!([])),
        "a limit that was not reached changes nothing"
    );
    let narrow = bench.post("P/audits", json!({ "maxPages": 2 })).await.json();
    crate::post_generation::until_ended(&bench, narrow["job"]["id"].as_str().unwrap()).await;
    let narrow = diff(
        &bench,
        &format!("{}/diff", narrow["audit"]["id"].as_str().unwrap()),
    )
    .await;
    assert_eq!(
        (&narrow["comparable"], &narrow["reasons"]),
        (&json!(false), &json!(["config", "partial"]))
    );
    // two that the same limit ended are alike
    let again = bench.post("P/audits", json!({ "maxPages": 2 })).await.json();
    assert_eq!(again["audit"]["totals"], Value::Null, "nothing is known yet");
    crate::post_generation::until_ended(&bench, again["job"]["id"].as_str().unwrap()).await;
    let again = diff(
        &bench,
        &format!("{}/diff", again["audit"]["id"].as_str().unwrap()),
    )
    .await;
    assert_eq!(
        (&again["comparable"], &again["reasons"]),
        (&json!(true), &json!([]))
    );
}

async fn only_results_are_compared(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let started = bench.post("P/audits", json!({})).await.json();
    let path = format!("P/audits/{}/diff", started["audit"]["id"].as_str().unwrap());
    bench.get(&path).await.refuses(409, "invalid_state");
    bench
        .get(&format!("{path}?change=much"))
        .await
        .refuses(422, "validation_failed");
}
