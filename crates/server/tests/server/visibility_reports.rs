//! Own numbers: reports of Bing and Google, and sums of access logs. Imported twice without harm, and read back.

use serde_json::{Value, json};

use crate::harness::Bench;

on_both!(
    reports_of_bing_are_read_back,
    reports_of_search_console_are_read_back,
    sums_of_a_log_are_read_back,
    a_report_imported_twice_counts_once,
    overlapping_exports_do_not_count_twice,
    faulty_rows_are_listed,
    other_files_are_refused,
    nothing_imported_is_null,
);

async fn bench(database: &str) -> Bench {
    let bench = Bench::on(database, &[]).await;
    let brand = json!({ "name": "Acme Desk", "domains": ["acme.example"] });
    assert_eq!(bench.patch("P/brand", brand).await.status, 200);
    bench
}

/// A day before the one of the bench, as `YYYY-MM-DD`.
fn day(bench: &Bench, days_ago: i64) -> String {
    bench.clock.now().plus_millis(-days_ago * 86_400_000).to_string()[..10].to_owned()
}

async fn import(bench: &Bench, body: Value) -> Value {
    let answer = bench.post("P/visibility/reports/import", body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

async fn read(bench: &Bench, query: &str) -> Value {
    let answer = bench.get(&format!("P/visibility/reports{query}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

fn counts(imported: &Value) -> [u64; 4] {
    ["added", "replaced", "unchanged", "skipped"].map(|name| imported[name].as_u64().unwrap())
}

async fn reports_of_bing_are_read_back(database: &str) {
    let bench = bench(database).await;
    let (two, three) = (day(&bench, 2), day(&bench, 3));
    let days = format!("Date,Citations,Cited Pages\n{three},\"1,200\",5\n{two},10,4\n");
    let imported = import(&bench, json!({ "file": days })).await;
    assert_eq!(counts(&imported), [2, 0, 0, 0]);
    assert_eq!(
        (&imported["format"], &imported["from"], &imported["to"]),
        (&json!("bing_ai_performance"), &json!(three), &json!(two))
    );
    let pages = format!(
        "Date,URL,Citations\n{two},https://www.acme.example/a,4\n{three},https://acme.example/b,3\n{two},https://acme.example/b,2\n"
    );
    import(&bench, json!({ "file": pages, "format": "bing_ai_performance" })).await;
    let queries = "Grounding Query;Intent;Citations;Citation Share\r\nstanding desk;commercial;7;10%\r\ndesk height;informational;9;1%\r\n";
    let (from, to) = (day(&bench, 8), two.clone());
    import(&bench, json!({ "file": queries, "from": from, "to": to })).await;

    let report = read(&bench, "?period=7d&top=1").await["bingAiPerformance"].clone();
    assert_eq!(report["unit"], "citations");
    assert!(report["meaning"].as_str().unwrap().contains("sample"));
    assert_eq!(
        (&report["total"], &report["daysWithData"]),
        (&json!(1210), &json!(2))
    );
    assert_eq!(report["averageCitedPages"], 4.5);
    assert_eq!(report["newestDay"], *two);
    assert_eq!(report["importedAt"], json!(bench.clock.now()));
    let listed = report["days"].as_array().unwrap();
    assert_eq!(listed.len(), 7);
    assert_eq!(listed[4], json!({ "date": two, "amount": 10, "citedPages": 4 }));
    assert_eq!(
        listed[6],
        json!({ "date": day(&bench, 0), "amount": null, "citedPages": null }),
        "a day without data is no zero"
    );
    assert_eq!(
        report["pages"],
        json!({
            "values": 2, "total": 9, "coverage": [{ "from": three, "to": two }],
            "rows": [{ "value": "https://acme.example/b", "amount": 5 }],
        })
    );
    assert_eq!(
        report["queries"],
        json!({
            "values": 2, "total": 16, "coverage": [{ "from": from, "to": to }],
            "rows": [{ "value": "desk height", "amount": 9 }],
        })
    );
    assert_eq!(
        (&report["countries"], &report["devices"]),
        (&Value::Null, &Value::Null)
    );
    let overview = bench.get("P/visibility/overview").await.json();
    assert_eq!(overview["kpis"]["answers"], 0, "never mixed into the rates");
}

async fn reports_of_search_console_are_read_back(database: &str) {
    let bench = bench(database).await;
    let (from, to) = (day(&bench, 30), day(&bench, 3));
    let chart = format!("Date,Impressions\n{to},22\n");
    let utf_16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(chart.encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let answer = bench
        .call("POST", "P/visibility/reports/import")
        .body("text/csv", utf_16)
        .send()
        .await;
    assert_eq!(answer.json()["format"], "search_console_ai", "{answer:?}");
    for table in [
        "Top pages,Impressions\nhttps://www.acme.example/,41\nhttps://www.acme.example/é,1\n",
        "Country,Impressions\nUnited States,40\nGermany,\n",
        "\u{feff}Device,Impressions\nMobile,30\nDesktop,0\n",
    ] {
        import(&bench, json!({ "file": table, "from": from, "to": to })).await;
    }
    let reports = read(&bench, "").await;
    let report = &reports["searchConsoleAi"];
    assert_eq!(
        (&report["unit"], &report["total"], &report["queries"]),
        (&json!("impressions"), &json!(22), &Value::Null)
    );
    let span = json!([{ "from": from, "to": to }]);
    assert_eq!(
        report["pages"]["coverage"], span,
        "an export that ends some days before counts as a whole"
    );
    assert_eq!(
        report["countries"],
        json!({ "values": 1, "total": 40, "coverage": span, "rows": [{ "value": "United States", "amount": 40 }] }),
        "an empty cell is no zero"
    );
    assert_eq!(
        report["devices"]["rows"],
        json!([{ "value": "Mobile", "amount": 30 }, { "value": "Desktop", "amount": 0 }])
    );
    assert_eq!(reports["bingAiPerformance"], Value::Null);
}

const LOG: &str = "date,kind,name,page,count,errors,verified,forged\n";

async fn sums_of_a_log_are_read_back(database: &str) {
    let bench = bench(database).await;
    let (one, two) = (day(&bench, 1), day(&bench, 2));
    let file = format!(
        "{LOG}{one},visit,GPTBot,/a,3,1,2,1\n{two},visit,GPTBot,/a,4,0,4,0\n{two},visit,ChatGPT-User,\"/b,c\",1,0,,\n\
         {one},referral,chatgpt,/a,2,,,\n"
    );
    let body = json!({ "file": file, "format": "access_log" });
    assert_eq!(counts(&import(&bench, body).await), [4, 0, 0, 0]);
    let log = read(&bench, "?period=7d").await["accessLog"].clone();
    assert!(log["meaning"].as_str().unwrap().contains("a floor"));
    assert_eq!((&log["visits"], &log["referrals"]), (&json!(8), &json!(2)));
    assert_eq!(
        log["agents"],
        json!([
            { "agent": "GPTBot", "vendor": "OpenAI", "purpose": "training", "visits": 7, "errors": 1, "verified": 6, "forged": 1 },
            { "agent": "ChatGPT-User", "vendor": "OpenAI", "purpose": "user", "visits": 1, "errors": 0, "verified": null, "forged": null },
        ])
    );
    assert_eq!(log["pageCount"], 2);
    assert_eq!(
        log["pages"][1],
        json!({ "page": "/b,c", "agent": "ChatGPT-User", "visits": 1 })
    );
    assert_eq!(
        log["referredPages"],
        json!([{ "page": "/a", "assistant": "chatgpt", "referrals": 2 }])
    );
    assert_eq!(
        log["days"][4],
        json!({ "date": two, "visits": 5, "referrals": null })
    );
    // A later log of the same day with verification replaces the rows it has.
    let later = format!("{LOG}{two},visit,ChatGPT-User,\"/b,c\",6,0,5,1\n");
    assert_eq!(
        counts(&import(&bench, json!({ "file": later })).await),
        [0, 1, 0, 0]
    );
    let log = read(&bench, "?period=7d").await["accessLog"].clone();
    assert_eq!(log["visits"], 13);
    assert_eq!(
        (&log["agents"][1]["visits"], &log["agents"][1]["verified"]),
        (&json!(6), &json!(5))
    );
    let outside = read(&bench, "?from=2025-01-01&to=2025-01-02").await["accessLog"].clone();
    assert_eq!(
        (&outside["visits"], &outside["newestDay"]),
        (&Value::Null, &json!(one))
    );
}

async fn a_report_imported_twice_counts_once(database: &str) {
    let bench = bench(database).await;
    let rows: String = (0..200)
        .map(|n| format!("https://acme.example/{n},{n}\n"))
        .collect();
    let (from, to) = (day(&bench, 28), day(&bench, 1));
    let body = |rows: &str| json!({ "file": format!("Page,Citations\n{rows}"), "from": from, "to": to });
    assert_eq!(counts(&import(&bench, body(&rows)).await), [200, 0, 0, 0]);
    assert_eq!(counts(&import(&bench, body(&rows)).await), [0, 0, 200, 0]);
    let changed = rows.replace("/7,7\n", "/7,1007\n") + "https://acme.example/new,1\n";
    assert_eq!(counts(&import(&bench, body(&changed)).await), [1, 1, 199, 0]);
    let pages = read(&bench, "").await["bingAiPerformance"]["pages"].clone();
    assert_eq!(
        (&pages["values"], &pages["total"]),
        (&json!(201), &json!(199 * 200 / 2 + 1001))
    );
    assert_eq!(pages["rows"].as_array().unwrap().len(), 20);
    assert_eq!(
        pages["rows"][0],
        json!({ "value": "https://acme.example/7", "amount": 1007 })
    );
}

async fn overlapping_exports_do_not_count_twice(database: &str) {
    let bench = bench(database).await;
    for (from, to, amount) in [(34, 7, 100), (27, 0, 90), (60, 33, 5)] {
        let file = format!("Device,Impressions\nMobile,{amount}\n");
        let (from, to) = (day(&bench, from), day(&bench, to));
        import(&bench, json!({ "file": file, "from": from, "to": to })).await;
    }
    let devices = read(&bench, "?period=28d").await["searchConsoleAi"]["devices"].clone();
    assert_eq!(
        (&devices["total"], &devices["coverage"]),
        (
            &json!(90),
            &json!([{ "from": day(&bench, 27), "to": day(&bench, 0) }])
        )
    );
    let devices = read(&bench, "?period=90d").await["searchConsoleAi"]["devices"].clone();
    assert_eq!(
        (&devices["total"], &devices["rows"][0]["amount"]),
        (&json!(95), &json!(95))
    );
}

async fn faulty_rows_are_listed(database: &str) {
    let bench = bench(database).await;
    let file = "Page,Citations\nhttps://acme.example/a,1\nhttps://bolt.example/a,2\n\"https://acme.example/b,3\nhttps://acme.example/c,many\nTotal,6\n";
    let (from, to) = (day(&bench, 7), day(&bench, 1));
    let imported = import(&bench, json!({ "file": file, "from": from, "to": to })).await;
    assert_eq!(counts(&imported), [1, 0, 0, 4]);
    assert_eq!(imported["rows"], 5);
    let skipped: Vec<String> = imported["skippedRows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {}", row["line"], row["code"].as_str().unwrap()))
        .collect();
    assert_eq!(
        skipped,
        [
            "3 other_domain",
            "4 unclosed_quote",
            "5 invalid_number",
            "6 not_a_page"
        ]
    );
    assert_eq!(imported["skippedRows"][0]["column"], "Page");
    let future = format!("Date,Citations\n{},1\n", day(&bench, -3));
    let imported = import(&bench, json!({ "file": future })).await;
    assert_eq!(
        (&imported["skippedRows"][0]["code"], &imported["from"]),
        (&json!("out_of_range"), &Value::Null)
    );
}

async fn other_files_are_refused(database: &str) {
    let bench = bench(database).await;
    let yesterday = day(&bench, 1);
    let pages = "Top pages,Impressions\nhttps://acme.example/,1\n";
    for (body, pointer, code) in [
        (
            json!({ "file": "Páginas principales,Impresiones\nhttps://acme.example/,1\n" }),
            "/file",
            "unknown_format",
        ),
        (
            json!({ "file": "Top pages,Clicks,Impressions\nhttps://acme.example/,1,1\n" }),
            "/file",
            "web_search_report",
        ),
        (
            json!({ "file": "Filter,Value\nSearch type,Web\n" }),
            "/file",
            "unknown_format",
        ),
        (json!({ "file": "data:;base64,UEsDBAo=" }), "/file", "not_text"),
        (json!({ "file": "data:;base64,%%%" }), "/file", "not_base64"),
        (json!({ "file": pages }), "/from", "required"),
        (json!({ "file": pages, "from": yesterday }), "/to", "required"),
        (
            json!({ "file": pages, "from": yesterday, "to": "2026-02-30" }),
            "/to",
            "not_a_day",
        ),
        (
            json!({ "file": pages, "from": yesterday, "to": day(&bench, 5) }),
            "/to",
            "out_of_range",
        ),
        (
            json!({ "file": pages, "from": yesterday, "to": day(&bench, -9) }),
            "/to",
            "out_of_range",
        ),
        (
            json!({ "file": pages, "from": "2020-01-01", "to": yesterday }),
            "/to",
            "out_of_range",
        ),
        (
            json!({ "file": format!("Date,Impressions\n{yesterday},1\n"), "from": yesterday, "to": yesterday }),
            "/from",
            "conflict",
        ),
        (
            json!({ "file": format!("Date,Impressions\n{yesterday},1\n"), "format": "bing_ai_performance" }),
            "/format",
            "other_format",
        ),
    ] {
        let answer = bench.post("P/visibility/reports/import", body.clone()).await;
        let problem = answer.refuses(422, "validation_failed");
        let fault = &problem["errors"][0];
        assert_eq!(
            (&fault["pointer"], &fault["code"]),
            (&json!(pointer), &json!(code)),
            "{body}"
        );
    }
    let spanish = json!({ "file": "Páginas principales,Impresiones\n" });
    let answer = bench.post("P/visibility/reports/import", spanish).await;
    let detail = answer.refuses(422, "validation_failed")["errors"][0]["detail"].to_string();
    for word in ["Top pages", "Grounding Query", "English", "Impresiones"] {
        assert!(detail.contains(word), "{detail}");
    }
    for query in ["?period=7d&from=2026-01-01&to=2026-01-02", "?top=0", "?from=x"] {
        bench
            .get(&format!("P/visibility/reports{query}"))
            .await
            .refuses(422, "validation_failed");
    }
    assert_eq!(read(&bench, "").await["searchConsoleAi"], Value::Null);
}

async fn nothing_imported_is_null(database: &str) {
    let bench = bench(database).await;
    let reports = read(&bench, "?period=7d").await;
    for source in ["bingAiPerformance", "searchConsoleAi", "accessLog"] {
        assert_eq!(reports[source], Value::Null);
    }
    assert_eq!(
        reports["period"],
        json!({ "from": day(&bench, 6), "to": day(&bench, 0) })
    );
}
