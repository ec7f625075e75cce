//! Answers for programs: `--json` of every command, bounds that are named, exit codes that a script may trust.

use serde_json::{Value, json};

use crate::{audit::website::Website, program::User};

const UNKNOWN: &str = "01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c";

#[test]
fn limits_have_one_message() {
    let user = User::new().with("SEARCHWRIGHT_KEY", "swk_none");
    for limit in ["0", "101", "200", "300", "-1", "ten"] {
        user.run(&["keywords", "list", &format!("--limit={limit}")])
            .refuses(2, &["--limit", &format!("'{limit}'"), "must be 1 to 100"]);
    }
    user.run(&["prompts", "suggest", "--limit", "51"])
        .refuses(2, &["must be 1 to 50"]);
    user.run(&[
        "keywords",
        "list",
        "--limit",
        "100",
        "--url",
        "http://127.0.0.1:1",
    ])
    .refuses(1, &["127.0.0.1:1"]);
}

#[test]
fn a_batch_of_which_everything_is_refused_exits_with_4() {
    let website = Website::new(60);
    let site = website.expected.origin.clone();
    let operator = User::new();
    let (_, key) = operator.key(&operator.project(&site), &[]);
    let allowed = format!("crawl={}", site.trim_start_matches("http://"));
    let server = operator.serve(&["--allow-outbound", &allowed]);
    let user = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    assert_eq!(user.run(&["audits", "start", "--wait"]).code, 0);

    let of = |pairs: &[Value]| {
        let pairs = Value::from(pairs.to_vec()).to_string();
        user.run(&["occurrences", "done", &pairs, "--json"])
    };
    let unknown = json!({ "issue_id": UNKNOWN, "page_id": UNKNOWN });
    let refused = of(std::slice::from_ref(&unknown));
    assert_eq!((refused.code, refused.err.as_str()), (4, ""), "{refused:?}");
    let answer: Value = serde_json::from_str(&refused.out).unwrap();
    assert_eq!((&answer["changed"], &answer["refused"]), (&json!(0), &json!(1)));
    assert_eq!(answer["items"][0]["code"], "not_found");

    let issues = user.run(&["issues", "list", "--json"]).json();
    let issue = issues["data"][0]["id"].as_str().unwrap();
    let found = user.run(&["issues", "occurrences", issue, "--json"]).json();
    let known = json!({ "issue_id": issue, "page_id": found["data"][0]["page_id"] });
    let partial = of(&[unknown, known]).json();
    assert_eq!((&partial["changed"], &partial["refused"]), (&json!(1), &json!(1)));

    // The report of the same audit: --json is a format, and there is one.
    let exported = user.run(&["audits", "export", "--json"]);
    let document: Value = serde_json::from_str(&exported.out).unwrap();
    assert_eq!((exported.code, document.is_object()), (0, true));
    let named = user.run(&["audits", "export", "--format", "json"]);
    assert_eq!(exported.out, named.out);
    assert_eq!(
        user.run(&["audits", "export", "--json", "--format", "json"]).out,
        named.out
    );
    user.run(&["audits", "export", "--json", "--format", "csv"])
        .refuses(2, &["one format", "hint: ", "--json"]);
    assert!(user.run(&["audits", "export"]).out.starts_with('\u{feff}'), "CSV");
}

#[test]
fn profiles_are_json_if_that_is_asked_for() {
    let user = User::new();
    assert_eq!(user.run(&["profile", "list", "--json"]).json(), json!([]));
    let url = "http://127.0.0.1:1";
    let save = ["profile", "save", "second", "--url", url, "--json"];
    let saved = user.tell(&save, "swk_0123456789abcdef");
    assert_eq!(saved.err, "");
    let saved = saved.json();
    assert_eq!(
        (&saved["action"], &saved["profile"], &saved["url"]),
        (&json!("saved"), &json!("second"), &json!(url))
    );
    assert!(saved["file"].as_str().unwrap().ends_with("profiles.toml"));
    let listed = user.run(&["profile", "list", "--json"]).json();
    assert_eq!(
        listed,
        json!([{
            "name": "second",
            "url": url,
            "keyPrefix": "swk_01234567",
            "signedIn": false,
            "signedInForMcp": false,
        }])
    );
    let removed = user.run(&["profile", "remove", "second", "--json"]).json();
    assert_eq!(removed, json!({ "action": "removed", "profile": "second" }));
}

#[test]
fn commands_of_the_server_answer_in_json() {
    let user = User::new().with("DATABASE_URL", "postgres://me:hush@localhost/x");
    let printed = user.run(&["config", "print", "--json", "--set", "limits.concurrent=9"]);
    assert!(!printed.out.contains("hush"), "{printed:?}");
    let settings = printed.json();
    assert_eq!(settings["database_url"], "postgres://me:***@localhost/x");
    assert_eq!(settings["limits"]["concurrent"], 9);
    let defaults = user.run(&["config", "print", "--default", "--json"]).json();
    assert_eq!(defaults["listen"], "127.0.0.1:8787");

    let user = User::new();
    let migrated = user.run(&["migrate", "--json"]).json();
    assert_eq!(migrated, json!({ "database": "sqlite", "schema": "up to date" }));
    let folder = user.path("manual").display().to_string();
    let written = user.run(&["manual", &folder, "--json"]);
    assert_eq!(written.err, "");
    let written = written.json();
    assert_eq!(written["folder"], folder.as_str());
    assert!(written["pages"].as_u64().unwrap() > 10, "{written}");
    user.run(&["man", "pages", "--json"])
        .refuses(2, &["hint: leave --json out"]);
    assert!(!user.path("pages").exists(), "nothing was written");

    let opened = user.run(&["open", "keys", "--project", "p", "--print", "--json"]);
    assert_eq!(
        opened.json(),
        json!({ "url": "http://127.0.0.1:8787/projects/p/settings/keys" })
    );
}
