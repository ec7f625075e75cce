//! Commands that call a server: what they print, and how they end.

use searchwright_server::sample;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::program::User;

#[test]
fn exit_codes_tell_what_happened() {
    let user = User::new();
    let (mine, other) = (user.project("example.com"), user.project("example.org"));
    let (_, key) = user.key(&mine, &[]);
    let (_, reader) = user.key(&mine, &["--read-only"]);
    let server = user.serve(&[]);
    let as_user = |key: &str| {
        User::new()
            .with("SEARCHWRIGHT_URL", &server.url)
            .with("SEARCHWRIGHT_KEY", key)
    };
    let mine = as_user(&key);

    let added = mine
        .run(&[
            "keywords",
            "create",
            "standing desk",
            "--search-volume",
            "2400",
            "--json",
        ])
        .json();
    assert_eq!(
        (&added["keyword"], &added["searchVolume"]),
        (&json!("standing desk"), &json!(2400))
    );
    let id = added["id"].as_str().unwrap();
    assert_eq!(mine.run(&["keywords", "get", id, "--json"]).json(), added);

    mine.run(&["keywords", "create", "standing desk", "--json"])
        .refuses(4, &["already_exists", "hint: "]);
    mine.run(&["keywords", "get", "x"])
        .refuses(4, &["not_found", "[req_"]);
    mine.run(&["audits", "current"]).refuses(4, &["not_found"]);
    mine.run(&["keywords", "list", "--limit", "0"])
        .refuses(2, &["--limit", "1 to 100"]);
    mine.run(&[
        "keywords",
        "create",
        "x",
        "--keyword-difficulty",
        "500",
        "--search-volume",
        "-1",
    ])
    .refuses(2, &["'-1'"]);
    mine.run(&[
        "keywords",
        "create",
        "x",
        "--keyword-difficulty",
        "500",
        "--search-volume=-1",
    ])
    .refuses(2, &["/keywordDifficulty", "/searchVolume"]);
    mine.run(&["keywords", "list", "--project", &other])
        .refuses(3, &["project_forbidden"]);
    as_user(&reader)
        .run(&["keywords", "create", "x"])
        .refuses(3, &["insufficient_scope"]);
    as_user("swk_wrong")
        .run(&["me", "get"])
        .refuses(3, &["invalid_token"]);
    User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .run(&["me", "get"])
        .refuses(
            3,
            &[
                "there is no credential",
                "hint: sign in with `searchwright login`",
                "SEARCHWRIGHT_KEY",
            ],
        );
    let nobody = User::new()
        .with("SEARCHWRIGHT_URL", "http://127.0.0.1:1")
        .with("SEARCHWRIGHT_KEY", &key);
    nobody
        .run(&["keywords", "create", "x"])
        .refuses(1, &["does not answer", "hint: start the server"]);
    let elsewhere = User::new()
        .with("SEARCHWRIGHT_URL", &format!("{}/healthz", server.url))
        .with("SEARCHWRIGHT_KEY", &key);
    elsewhere.run(&["me", "get"]).refuses(4, &["error: "]);
}

#[test]
fn json_is_one_document_and_tables_are_lines() {
    let user = User::new();
    let project = user.project("example.com");
    let (_, key) = user.key(&project, &[]);
    let server = user.serve(&[]);
    let mine = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    for text in ["a desk", "evil \u{1b}[31m\u{202e}title\nsecond"] {
        mine.run(&["keywords", "create", text, "--json"]).json();
    }
    for arguments in [
        &["me", "get"][..],
        &["project", "get"],
        &["projects", "list"],
        &["keywords", "list"],
        &["jobs", "list"],
        &["issues", "list"],
        &["pages", "list"],
        &["audits", "list"],
    ] {
        let document = mine.run(&[arguments, &["--json"]].concat());
        assert!(document.json().is_object());
        assert_eq!(document.err, "", "{arguments:?}");
        assert_eq!(mine.run(arguments).code, 0);
    }
    let table = mine.run(&["keywords", "list"]);
    let lines: Vec<&str> = table.out.lines().collect();
    assert_eq!(lines.len(), 3, "a heading and a line for each: {table:?}");
    assert!(lines[0].contains("KEYWORD") && lines[1].contains("second") && lines[2].contains("a desk"));
    assert!(
        !table.out.contains('\u{1b}') && !table.out.contains('\u{202e}'),
        "nothing steers the terminal"
    );
    let first = mine.run(&["keywords", "list", "--limit", "1"]);
    assert_eq!(first.err, "", "a pipe is told nothing beside the data");
    let first = mine.run(&["keywords", "list", "--limit", "1", "--json"]).json();
    let cursor = first["nextCursor"].as_str().unwrap();
    assert!(
        mine.run(&["keywords", "list", "--limit", "1", "--cursor", cursor])
            .out
            .contains("a desk")
    );
}

#[test]
fn a_change_names_what_changes_and_a_deletion_asks() {
    let user = User::new();
    let (_, key) = user.key(&user.project("example.com"), &[]);
    let server = user.serve(&[]);
    let mine = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let id = mine
        .run(&[
            "keywords",
            "create",
            "desk",
            "--search-volume",
            "5",
            "--intent",
            "commercial",
            "--json",
        ])
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let changed = mine
        .run(&[
            "keywords",
            "update",
            &id,
            "--search-volume",
            "null",
            "--status",
            "planned",
            "--json",
        ])
        .json();
    assert_eq!(
        (&changed["searchVolume"], &changed["status"], &changed["intent"]),
        (&json!(null), &json!("planned"), &json!("commercial"))
    );
    mine.run(&["keywords", "update", &id, "--status", "gone"])
        .refuses(2, &["--status", "planned"]);
    mine.run(&["keywords", "delete", &id])
        .refuses(2, &["needs consent", "--yes"]);
    assert_eq!(mine.run(&["keywords", "get", &id]).code, 0);
    let gone = mine.run(&["keywords", "delete", &id, "--yes", "--json"]);
    assert_eq!((gone.code, gone.out.as_str(), gone.err.as_str()), (0, "", ""));
    mine.run(&["keywords", "delete", &id, "--yes"])
        .refuses(4, &["not_found"]);
}

#[test]
fn wrong_usage_names_the_flag() {
    let user = User::new();
    for (arguments, words) in [
        (
            &["keywords", "list", "--limt", "5"][..],
            &["--limt", "--limit"][..],
        ),
        (&["keywords", "list", "--limit", "many"], &["--limit", "many"]),
        (&["keywords", "list", "--limit", "500"], &["--limit", "500"]),
        (
            &["keywords", "list", "--sort", "updated"],
            &["--sort", "searchVolume"],
        ),
        (&["keywords", "get"], &["<KEYWORD_ID>"]),
        (&["keywords", "explode"], &["explode"]),
        (&["keyword"], &["keyword", "keywords"]),
        (&["audits", "start", "--fail-on", "error"], &["--wait"]),
        (
            &["audits", "start", "--wait", "--fail-on", "score<200"],
            &["--fail-on", "score<N"],
        ),
        (&["serve", "--listen", "here"], &["--listen", "here"]),
        (&["serve", "--set", "limits.concurrent=0"], &["limits.concurrent"]),
        (&["serve", "--allow-outbound", "crawl=/"], &["allow_outbound"]),
        (&["serve", "--database-url", "mysql://x"], &["database_url"]),
    ] {
        let outcome = user.run(arguments);
        outcome.refuses(2, words);
        let begins_well = outcome.err.starts_with("error: ");
        assert!(begins_well && outcome.err.contains("\nhint: "), "{outcome:?}");
    }
    user.run(&["--url", "u", "keywords", "list", "--limt", "5"])
        .refuses(
            2,
            &["hint: a similar argument exists: '--limit'; `searchwright keywords list --help`"],
        );
}

#[tokio::test]
async fn an_audit_is_waited_for_and_a_threshold_decides() {
    let stop = CancellationToken::new();
    let site = sample::start(stop.clone()).await.unwrap();
    tokio::task::spawn_blocking(move || {
        let user = User::new();
        let project = user.project(&format!("http://{site}"));
        let (_, key) = user.key(&project, &[]);
        let server = user.serve(&["--allow-outbound", &format!("crawl={site}")]);
        let mine = User::new()
            .with("SEARCHWRIGHT_URL", &server.url)
            .with("SEARCHWRIGHT_KEY", &key);
        let start = |more: &[&str]| mine.run(&[&["audits", "start", "--wait", "--json"], more].concat());
        let audit = start(&[]).json();
        assert_eq!(audit["status"], "completed");
        let score = audit["healthScore"].as_u64().unwrap();
        assert!(audit["totals"]["errors"].as_u64().unwrap() > 0);
        for (threshold, code) in [
            ("error".to_owned(), 5),
            ("warning".to_owned(), 5),
            (format!("score<{}", score + 1), 5),
            (format!("score<{score}"), 0),
        ] {
            let ended = start(&["--fail-on", &threshold]);
            assert_eq!(ended.code, code, "{threshold}: {ended:?}");
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&ended.out).unwrap()["healthScore"],
                score
            );
        }
        let issues = mine.run(&["issues", "list", "--severity", "error"]);
        assert!(issues.out.lines().count() > 1, "{issues:?}");
    })
    .await
    .unwrap();
    stop.cancel();
}

#[test]
fn items_come_from_a_file_and_are_shown_in_a_table() {
    let user = User::new();
    let (_, key) = user.key(&user.project("example.com"), &[]);
    let server = user.serve(&[]);
    let mine = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let file = mine.path("products.json");
    let items = json!([
        { "name": "Oak desk", "price": { "amount": 499.5, "currency": "EUR" }, "features": ["two motors"] },
        { "name": "Pine desk", "url": "https://example.com/pine" },
    ]);
    std::fs::write(&file, items.to_string()).unwrap();
    let at = format!("@{}", file.display());
    let added = mine.run(&["products", "create", &at, "--json"]).json();
    let oak = &added["data"][0]["item"];
    assert_eq!(
        (&oak["price"], &oak["features"]),
        (&items[0]["price"], &items[0]["features"])
    );
    assert_eq!(added["data"][1]["item"]["url"], items[1]["url"]);
    mine.run(&["products", "create", &at])
        .refuses(4, &["already_exists", "/items/0/name", "onDuplicate"]);
    let again = mine
        .tell(
            &["products", "create", "@-", "--on-duplicate", "skip", "--json"],
            &items.to_string(),
        )
        .json();
    assert_eq!(again["data"][0]["existingId"], oak["id"]);
    let table = mine.run(&["products", "list"]);
    let lines: Vec<&str> = table.out.lines().collect();
    assert!(
        lines[0].contains("NAME") && lines[1].contains("Pine desk") && lines[2].contains("Oak desk"),
        "{table:?}"
    );
    let id = oak["id"].as_str().unwrap();
    let changed = mine
        .run(&[
            "products",
            "update",
            id,
            "--price",
            "null",
            "--features",
            "",
            "--status",
            "retired",
            "--json",
        ])
        .json();
    assert_eq!(
        (&changed["price"], &changed["features"], &changed["status"]),
        (&json!(null), &json!([]), &json!("retired"))
    );
    let moved = mine.run(&[
        "products",
        "update",
        id,
        "--its-url",
        "https://example.com/oak",
        "--url",
        &server.url,
        "--json",
    ]);
    assert_eq!(
        moved.json()["url"],
        "https://example.com/oak",
        "beside the server's"
    );
    mine.run(&["products", "create", r#"[{"name":" "}]"#])
        .refuses(2, &["/items/0/name"]);
    let brand = mine
        .run(&[
            "brand",
            "update",
            "--aliases",
            "FF",
            "--aliases",
            "Fern",
            "--ambiguous",
            "--json",
        ])
        .json();
    assert_eq!(
        (&brand["aliases"], &brand["ambiguous"]),
        (&json!(["FF", "Fern"]), &json!(true))
    );
    let days = |given: &str| {
        let line = ["autopilot", "update", "--publish-weekdays", given, "--json"];
        mine.run(&line).json()["publish_weekdays"].clone()
    };
    assert_eq!(days("thu, Monday,7"), json!([0, 1, 4]));
    assert_eq!(days(""), json!([0, 1, 4]), "left out");
    assert_eq!(days("null"), json!(null));
    let activity = mine.run(&["activity", "list"]);
    assert!(
        activity.out.contains("brand.update") && activity.out.contains("test"),
        "{activity:?}"
    );
    assert!(mine.run(&["usage", "get"]).out.contains("posts_generated"));
    mine.run(&["products", "delete", id, "--yes"]);
    mine.run(&["products", "get", id]).refuses(4, &["not_found"]);
}
