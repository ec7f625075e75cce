//! Keywords from files: taken in whatever their encoding, row by row, twice without harm.

use serde_json::{Value, json};

use crate::harness::Bench;

on_both!(
    a_file_adds_and_then_updates,
    a_broken_row_costs_itself_only,
    a_file_may_be_the_body_itself,
    files_come_in_every_language_and_encoding,
    a_word_is_one_keyword_in_every_spelling,
    what_is_no_file_is_refused,
    a_repeated_import_is_answered_and_not_made_again,
    generation_is_asked_for_soundly,
);

const SEMRUSH: &str = "Keyword,Intent,Volume,Trend,Keyword Difficulty,CPC (USD),Competitive Density,SERP Features,Number of Results\n\
    standing desk,Commercial,2400,\"0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,1\",31,1.20,0.9,\"Video, Images\",1000\n\
    desk height,Informational,,,,,,,\n";

async fn import(bench: &Bench, file: &str) -> Value {
    let answer = bench.post("P/keywords/import", json!({ "file": file })).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

async fn keyword(bench: &Bench, text: &str) -> Value {
    let all = bench.get("P/keywords?limit=100").await.json();
    let found = all["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|k| k["keyword"] == text);
    found.cloned().unwrap_or_else(|| panic!("{text} in {all}"))
}

async fn a_file_adds_and_then_updates(database: &str) {
    let bench = Bench::on(database, &[]).await;
    bench
        .post(
            "P/keywords",
            json!({ "keyword": "Standing  Desk", "intent": "transactional" }),
        )
        .await;
    let first = import(&bench, SEMRUSH).await;
    assert_eq!(
        (
            &first["format"],
            &first["rows"],
            &first["created"],
            &first["updated"]
        ),
        (&json!("semrush_keywords"), &json!(2), &json!(1), &json!(1))
    );
    let desk = keyword(&bench, "Standing  Desk").await;
    assert_eq!(
        (
            &desk["searchVolume"],
            &desk["keywordDifficulty"],
            &desk["difficultySource"]
        ),
        (&json!(2400), &json!(31), &json!("csv_semrush"))
    );
    assert_eq!(
        (&desk["intent"], &desk["intentSource"], &desk["status"]),
        (&json!("transactional"), &json!("manual"), &json!("approved")),
        "what a caller said stays"
    );
    assert_eq!(desk["trendRelative"].as_array().unwrap().len(), 12);
    let height = keyword(&bench, "desk height").await;
    assert_eq!(
        (
            &height["searchVolume"],
            &height["searchVolumeStatus"],
            &height["status"]
        ),
        (&Value::Null, &json!("not_measured"), &json!("new")),
        "an empty cell is not 0"
    );
    assert_eq!(height["sources"][0]["source"], "csv_semrush");
    bench.clock.advance(1_000);
    let again = import(&bench, SEMRUSH).await;
    assert_eq!((&again["unchanged"], &again["created"]), (&json!(2), &json!(0)));
    assert_eq!(keyword(&bench, "desk height").await, height, "nothing was learnt");
    let ahrefs = "#,Keyword,Country,Difficulty,Volume,CPC,CPS,Parent Keyword,Last Update,SERP Features,Global volume,Traffic potential,Global traffic potential,First seen,Intents\n\
        1,desk height,,12,,,,,,,,,,,\n";
    let learnt = import(&bench, ahrefs).await;
    assert_eq!(learnt["updated"], 1, "{learnt}");
    let height = keyword(&bench, "desk height").await;
    assert_eq!(
        (&height["keywordDifficulty"], &height["version"]),
        (&json!(12), &json!(2))
    );
    assert_eq!(height["sources"].as_array().unwrap().len(), 2);
}

async fn a_broken_row_costs_itself_only(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let file = "Keyword,Volume,Keyword Difficulty\n\
        good,10,5\n\
        bad,ten,5\n\
        ,10,5\n\
        GOOD,20,\n\
        short,1,2,3\n\
        last,3\n";
    let told = import(&bench, file).await;
    assert_eq!(
        (
            &told["rows"],
            &told["created"],
            &told["failed"],
            &told["duplicates"]
        ),
        (&json!(6), &json!(2), &json!(3), &json!(1)),
        "{told}"
    );
    let outcome = |at: usize| told["outcomes"][at].clone();
    assert_eq!(
        (&outcome(0)["line"], &outcome(0)["code"]),
        (&json!(3), &json!("not_a_number"))
    );
    assert_eq!(outcome(0)["column"], "Volume");
    assert_eq!(
        (&outcome(1)["line"], &outcome(1)["code"]),
        (&json!(4), &json!("blank"))
    );
    assert_eq!(
        (&outcome(2)["line"], &outcome(2)["code"]),
        (&json!(6), &json!("column_count"))
    );
    assert_eq!(keyword(&bench, "good").await["searchVolume"], 10);
}

async fn a_file_may_be_the_body_itself(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let text = "Stats\n2026-10\nKeyword\tCurrency\tAvg. monthly searches\tCompetition\nécran\tEUR\t50\tLow\n";
    let utf_16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let answer = bench
        .call("POST", "P/keywords/import")
        .body("text/csv", utf_16)
        .send()
        .await;
    assert_eq!(answer.json()["format"], "keyword_planner", "{answer:?}");
    let screen = keyword(&bench, "écran").await;
    assert_eq!(
        (&screen["searchVolume"], &screen["volumeRange"]),
        (&Value::Null, &json!({ "min": 10, "max": 100 })),
        "a bucket is no number"
    );
    bench
        .call("POST", "P/keywords")
        .body("text/csv", SEMRUSH)
        .send()
        .await
        .refuses(415, "unsupported_media_type");
    let large = format!(
        "Keyword,Volume,Keyword Difficulty\n{}",
        "a long keyword,10,5\n".repeat(70_000)
    );
    let answer = bench
        .call("POST", "P/keywords/import")
        .body("text/csv", large)
        .send()
        .await;
    assert_eq!(
        answer.json()["duplicates"],
        69_999,
        "a file may be larger than other bodies"
    );
}

async fn files_come_in_every_language_and_encoding(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let send = async |kind: &str, file: Vec<u8>| {
        let call = bench.call("POST", "P/keywords/import").body(kind, file);
        call.send().await
    };
    for (at, kind) in [
        "text/csv",
        "application/csv",
        "application/vnd.ms-excel",
        "text/comma-separated-values",
        "text/plain; charset=UTF-8",
        "application/octet-stream",
        "application/x-www-form-urlencoded",
    ]
    .iter()
    .enumerate()
    {
        let file = format!(
            "Requêtes les plus fréquentes,Clics,Impressions,CTR,Position\nbureau {at},9,300,\"3 %\",\"6,1\"\n"
        );
        let told = send(kind, file.into_bytes()).await;
        assert_eq!(
            (told.status, &told.json()["format"]),
            (200, &json!("search_console")),
            "{kind}"
        );
    }
    let bureau = keyword(&bench, "bureau 0").await;
    assert_eq!(
        (&bureau["clicks"], &bureau["impressions"], &bureau["position"]),
        (&json!(9), &json!(300), &json!(6.1))
    );
    let cyrillic = b"keyword;volume\n\xf1\xf2\xee\xeb;70\n".to_vec();
    assert_eq!(
        send("text/csv; charset=windows-1251", cyrillic.clone())
            .await
            .status,
        200
    );
    assert_eq!(keyword(&bench, "стол").await["searchVolume"], 70);
    send("text/csv; charset=klingon", cyrillic)
        .await
        .refuses(422, "validation_failed");
    let macintosh = b"keyword;volume\nb\x9fro gr\x9a\xa7e;70\n".to_vec();
    assert_eq!(send("text/csv", macintosh).await.json()["created"], 1);
    assert_eq!(keyword(&bench, "büro größe").await["source"], "manual");
    let own = "keyword,language,searchVolume\nstehpult,de,10\nlutrin,fr,\n";
    let told = import(&bench, own).await;
    assert_eq!(
        (&told["format"], &told["created"]),
        (&json!("keyword_list"), &json!(2))
    );
    assert_eq!(keyword(&bench, "stehpult").await["language"], "de");
    assert_eq!(import(&bench, "sofa\nsofa bed\n").await["created"], 2);
    let refusal = send("application/pdf", b"%PDF".to_vec()).await;
    let problem = refusal.refuses(415, "unsupported_media_type");
    assert!(
        problem["detail"].as_str().unwrap().contains("text/csv"),
        "{problem}"
    );
}

/// Full case folding, width, and characters that nobody sees; the same in both databases.
async fn a_word_is_one_keyword_in_every_spelling(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for (stored, same, part) in [
        ("ΣΊΣΥΦΟΣ μύθος", "σίσυφος ΜΎΘΟΣ", "σίσυφος%20μύ"),
        ("İzmir otel", "izmir OTEL", "İZMİR"),
        ("Straße nach Rom", "STRASSE NACH ROM", "strasse"),
        ("ｓｔａｎｄ desk", "stand\u{200b} de\u{ad}sk", "STAND"),
    ] {
        let id = bench.keyword(stored).await;
        let twice = bench.post("P/keywords", json!({ "keyword": same })).await;
        assert_eq!(
            twice.refuses(409, "already_exists")["existingId"],
            id.as_str(),
            "{same}"
        );
        let encoded: String = part
            .bytes()
            .map(|b| {
                if b.is_ascii() {
                    char::from(b).to_string()
                } else {
                    format!("%{b:02X}")
                }
            })
            .collect();
        let found = bench.get(&format!("P/keywords?q={encoded}")).await.json();
        assert_eq!(found["data"][0]["id"], id.as_str(), "{part}");
    }
    bench
        .post("P/keywords", json!({ "keyword": "\u{200b}" }))
        .await
        .refuses(422, "validation_failed");
}

async fn what_is_no_file_is_refused(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for (file, code) in [
        ("name;value\n1;2\n", "unknown_format"),
        ("data:text/csv,abc", "not_base64"),
        ("data:;base64,%%%", "not_base64"),
    ] {
        let refusal = bench
            .post("P/keywords/import", json!({ "file": file }))
            .await
            .refuses(422, "validation_failed");
        let fault = &refusal["errors"][0];
        assert_eq!(
            (&fault["pointer"], &fault["code"]),
            (&json!("/file"), &json!(code)),
            "{file}"
        );
    }
    let rows = format!("Keyword,Volume,Keyword Difficulty\n{}", "a,1,1\n".repeat(100_001));
    let refusal = bench.post("P/keywords/import", json!({ "file": rows })).await;
    assert_eq!(
        refusal.refuses(422, "validation_failed")["errors"][0]["code"],
        "too_many_rows"
    );
    assert_eq!(bench.keywords().await, [] as [&str; 0], "all or nothing");
}

async fn generation_is_asked_for_soundly(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for (body, pointer) in [
        (json!({ "sources": ["csv_semrush"] }), "/sources/0"),
        (json!({ "seeds": ["desk", " "] }), "/seeds/1"),
        (json!({ "count": 201 }), "/count"),
        (json!({ "country": "1x" }), "/country"),
    ] {
        let refusal = bench.post("P/keywords/generate", body).await;
        assert_eq!(
            refusal.refuses(422, "validation_failed")["errors"][0]["pointer"],
            pointer
        );
    }
    let started = bench.post("P/keywords/generate", json!({ "count": 10 })).await;
    assert_eq!(started.status, 202);
    assert!(started.number("retry-after") > 0, "every start says when to look");
    let next = |started: &Value| started["next"].as_str().unwrap_or_default().to_owned();
    assert!(next(&started.json()).contains("start an audit"), "{started:?}");
    let job = &started.json()["job"];
    assert_eq!(
        (&job["type"], &job["status"]),
        (&json!("generate_keywords"), &json!("queued"))
    );
    assert!(
        started
            .header("location")
            .unwrap()
            .ends_with(job["id"].as_str().unwrap())
    );
    let used = |usage: Value| {
        let quotas = usage["quotas"].as_array().unwrap().clone();
        quotas
            .into_iter()
            .find(|q| q["metric"] == "keywords_generated")
            .unwrap()["used"]
            .clone()
    };
    assert_eq!(used(bench.get("P/usage").await.json()), 10);
    bench
        .post(
            &format!("P/jobs/{}/cancel", job["id"].as_str().unwrap()),
            json!({}),
        )
        .await;
    let key = bench.key_for(bench.project, &["keywords:write"]).await;
    bench
        .call("POST", "P/keywords/generate")
        .key(&key)
        .json(&json!({}))
        .send()
        .await
        .refuses(403, "insufficient_scope");
}

async fn a_repeated_import_is_answered_and_not_made_again(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let rows: String = (0..2_500).map(|row| format!("word {row} more\n")).collect();
    let file = format!("Keyword\n{rows}");
    let send = async || {
        let call = bench.call("POST", "P/keywords/import");
        let call = call.header("idempotency-key", "k");
        call.json(&json!({ "file": file })).send().await
    };
    let first = send().await;
    assert_eq!(
        (first.status, &first.json()["created"]),
        (200, &json!(2_500)),
        "{first:?}"
    );
    let one = bench.get("P/keywords?q=word%207%20more&limit=1").await.json();
    let path = format!("P/keywords/{}", one["data"][0]["id"].as_str().unwrap());
    assert_eq!(bench.call("DELETE", &path).send().await.status, 204);
    let again = send().await;
    assert_eq!(again.json(), first.json());
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(bench.get(&path).await.status, 404, "nothing was imported again");
}
