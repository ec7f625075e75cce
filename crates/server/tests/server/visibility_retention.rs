//! Retention of texts of answers and of imported reports.

use serde_json::{Value, json};

use crate::{
    harness::Bench,
    post_generation::until_ended,
    visibility::{copy, hours_ago, prompt, with_brand},
};

on_both!(
    texts_are_kept_for_90_days_and_what_was_found_in_them_for_longer,
    analysis_leaves_answers_without_text_as_they_are,
    rows_of_reports_are_kept_for_800_days,
);

const DAY: i64 = 86_400_000;

/// Deletes what is too old, as the server does each minute; returns the numbers of texts and of rows of reports.
async fn forget(bench: &Bench, limit: u32) -> (u64, u64) {
    let now = bench.clock.now();
    let work = async move |tx: &mut searchwright_store::Tx| -> searchwright_store::Result<(u64, u64)> {
        let texts = searchwright_store::answers::delete_expired_texts(tx, now, limit).await?;
        let rows = searchwright_store::reports::delete_expired(tx, now, limit).await?;
        Ok((texts, rows))
    };
    let db = &bench.server.app.engine.db;
    db.write(move |tx| Box::pin(async move { work(tx).await }))
        .await
        .unwrap()
}

/// Copies answers that name the brand, a competitor, and nobody; returns the prompt and the day.
async fn copied(bench: &Bench) -> (String, String) {
    let id = prompt(bench, "Which standing desk is stable enough for two monitors?").await;
    let at = hours_ago(bench, 2);
    let texts = [
        "I would look at Acme Desk first, which is excellent.",
        "Bolt Desks makes good ones, and Zenith too.",
        "There are many.",
    ];
    let items = texts.map(|text| {
        json!({ "engine": "chatgpt", "askedAt": at, "text": text, "citations": [{ "url": "https://www.acme.example/a" }] })
    });
    assert_eq!(copy(bench, &id, json!(items)).await.status, 201);
    (id, at[..10].to_owned())
}

async fn answers(bench: &Bench, prompt: &str) -> Vec<Value> {
    let listed = bench.get(&format!("P/visibility/prompts/{prompt}/answers")).await;
    listed.json()["data"].as_array().unwrap().clone()
}

async fn figures(bench: &Bench, day: &str) -> Value {
    let mut overview = bench
        .get(&format!("P/visibility/overview?from={day}&to={day}"))
        .await
        .json();
    overview["setupProgress"] = Value::Null;
    overview
}

async fn texts_are_kept_for_90_days_and_what_was_found_in_them_for_longer(database: &str) {
    let bench = with_brand(database).await;
    let (prompt, day) = copied(&bench).await;
    let before = answers(&bench, &prompt).await;
    let overview = figures(&bench, &day).await;
    bench.clock.advance(90 * DAY);
    assert_eq!(forget(&bench, 10).await.0, 0);
    assert!(
        before
            .iter()
            .all(|answer| answer["text"].is_string() && answer["textMissing"].is_null())
    );
    bench.clock.advance(1);
    assert_eq!(forget(&bench, 2).await.0, 2);
    assert_eq!(forget(&bench, 2).await.0, 1);
    assert_eq!(forget(&bench, 2).await.0, 0);
    let mut after = answers(&bench, &prompt).await;
    for (answer, before) in after.iter_mut().zip(&before) {
        assert_eq!(
            (&answer["text"], &answer["textMissing"]),
            (&Value::Null, &json!("expired"))
        );
        answer["text"] = before["text"].clone();
        answer["textMissing"] = Value::Null;
    }
    assert_eq!(after, before);
    assert_eq!(figures(&bench, &day).await, overview);
}

async fn analysis_leaves_answers_without_text_as_they_are(database: &str) {
    let bench = with_brand(database).await;
    let (prompt, day) = copied(&bench).await;
    let overview = figures(&bench, &day).await;
    let found = answers(&bench, &prompt).await;
    bench.clock.advance(91 * DAY);
    let new = json!([{ "engine": "chatgpt", "askedAt": hours_ago(&bench, 1), "text": "Look at Zenith." }]);
    assert_eq!(copy(&bench, &prompt, new).await.status, 201);
    assert_eq!(forget(&bench, 10).await.0, 3);
    let named = json!({ "name": "Zenith", "aliases": ["Acme Desk"] });
    assert_eq!(bench.patch("P/brand", named).await.status, 200);
    let jobs = bench.get("P/jobs").await.json();
    let job = until_ended(&bench, jobs["data"][0]["id"].as_str().unwrap()).await;
    assert_eq!(
        job["result"],
        json!({ "prompts": 1, "answers": 1, "answersWithoutText": 3 })
    );
    let after = answers(&bench, &prompt).await;
    assert_eq!(after[0]["mentions"][0]["brand"], "Zenith");
    for (answer, found) in after[1..].iter().zip(&found) {
        assert_eq!(answer["mentions"], found["mentions"]);
        assert_eq!(answer["citations"], found["citations"]);
    }
    let mut again = figures(&bench, &day).await;
    again["competitors"] = overview["competitors"].clone();
    assert_eq!(again, overview);
    let today = &hours_ago(&bench, 1)[..10];
    assert_eq!(
        figures(&bench, today).await["kpis"]["mentionRate"]["numerator"],
        1.0
    );
}

async fn rows_of_reports_are_kept_for_800_days(database: &str) {
    let bench = with_brand(database).await;
    let day = |days: i64| bench.clock.now().plus_millis(-days * DAY).to_string()[..10].to_owned();
    let file = format!("Date,Citations,Cited Pages\n{},7,3\n{},5,2\n", day(3), day(2));
    let imported = bench
        .post("P/visibility/reports/import", json!({ "file": file }))
        .await;
    assert_eq!(imported.json()["added"], 2, "{imported:?}");
    bench.clock.advance(797 * DAY);
    assert_eq!(forget(&bench, 10).await.1, 0);
    bench.clock.advance(DAY);
    assert_eq!(forget(&bench, 10).await.1, 1);
    assert_eq!(forget(&bench, 10).await.1, 0);
    bench.clock.advance(DAY);
    assert_eq!(forget(&bench, 10).await.1, 1);
}
