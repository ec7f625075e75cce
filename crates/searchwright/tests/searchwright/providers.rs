//! Accounts with providers: set from a file or a pipe, listed without their secrets, removed.

use serde_json::json;

use crate::program::{Outcome, User, files};

const SECRET: &str = "sk-canary-4711-4711";

fn run(user: &User, arguments: &[&str]) -> Outcome {
    let outcome = user.run(&[&["admin", "provider"], arguments].concat());
    assert!(!format!("{outcome:?}").contains("4711"), "{outcome:?}");
    outcome
}

#[test]
fn an_account_is_set_listed_changed_and_removed() {
    let user = User::new().with("SEARCHWRIGHT_LOG", "trace");
    let project = user.project("example.com");
    std::fs::write(user.path("key"), format!("{SECRET}\n")).unwrap();
    let set = run(
        &user,
        &[
            "set",
            "--project",
            &project,
            "--provider",
            "openai",
            "--secret-file",
            "key",
            "--base-url",
            "http://127.0.0.1:11434/v1",
            "--model",
            "m-1",
            "--setting",
            "inputPrice=0.15",
            "--setting",
            "outputPrice=0.6",
            "--json",
        ],
    )
    .json();
    let settings = json!({ "baseUrl": "http://127.0.0.1:11434/v1", "inputPrice": "0.15", "model": "m-1", "outputPrice": "0.6" });
    assert_eq!(
        set,
        json!({ "provider": "openai", "settings": settings, "hasSecret": true, "createdAt": set["createdAt"], "updatedAt": set["updatedAt"] })
    );
    let piped = user.tell(
        &[
            "admin",
            "provider",
            "set",
            "--project",
            &project,
            "--provider",
            "dataforseo",
            "--secret-file",
            "-",
        ],
        "me@example.com:canary-4711",
    );
    assert_eq!(
        (piped.code, piped.out.as_str()),
        (0, "dataforseo     secret set\n"),
        "{piped:?}"
    );
    let changed = run(
        &user,
        &[
            "set",
            "--project",
            &project,
            "--provider",
            "openai",
            "--model",
            "m-2",
            "--json",
        ],
    )
    .json();
    assert_eq!(
        (&changed["settings"], &changed["hasSecret"]),
        (&json!({ "model": "m-2" }), &json!(true))
    );
    assert_eq!(changed["createdAt"], set["createdAt"]);
    let listed = run(&user, &["list", "--project", &project, "--json"]).json();
    let words: Vec<&str> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a["provider"].as_str().unwrap())
        .collect();
    assert_eq!(words, ["dataforseo", "openai"]);
    let other = user.project("example.org");
    assert_eq!(
        run(&user, &["list", "--project", &other]).out,
        "no provider is set\n"
    );
    for file in files(&user.path("data")) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(4).any(|w| w == b"4711"), "{}", file.display());
    }
    let remove = |expected: bool| {
        let gone = run(
            &user,
            &["remove", "--project", &project, "--provider", "openai", "--json"],
        )
        .json();
        assert_eq!(
            gone,
            json!({ "provider": "openai", "removed": true, "changed": expected })
        );
    };
    remove(true);
    remove(false);
}

#[test]
fn what_cannot_be_set_says_why_and_is_not_stored() {
    let user = User::new();
    let project = user.project("example.com");
    std::fs::write(user.path("key"), SECRET).unwrap();
    let set = |more: &[&str]| run(&user, &[&["set", "--project", &project], more].concat());
    set(&["--provider", "clippy"]).refuses(2, &["/provider", "search-console"]);
    set(&["--provider", "openai"]).refuses(2, &["/settings/model"]);
    set(&["--provider", "openai", "--model", "m", "--setting", "color=red"])
        .refuses(2, &["/settings/color", "inputPrice"]);
    set(&["--provider", "openai", "--model", "m", "--base-url", "ftp://x"])
        .refuses(2, &["/settings/baseUrl"]);
    set(&["--provider", "openai", "--model", "m", "--setting", "color"]).refuses(2, &["NAME=VALUE"]);
    set(&["--provider", "openai", "--model", "m", "--secret-file", "nowhere"])
        .refuses(2, &["--secret-file nowhere"]);
    set(&["--provider", "anthropic", "--model", "m"]).refuses(2, &["/secret", "required"]);
    set(&["--provider", "dataforseo", "--secret-file", "key"]).refuses(2, &["LOGIN:PASSWORD"]);
    set(&[
        "--provider",
        "google-ads",
        "--setting",
        "customerId=1",
        "--secret-file",
        "key",
    ])
    .refuses(2, &["developerToken"]);
    for project in ["x", "01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c"] {
        run(&user, &["list", "--project", project]).refuses(4, &["project"]);
        run(
            &user,
            &["set", "--project", project, "--provider", "autocomplete"],
        )
        .refuses(4, &["project"]);
    }
    assert_eq!(
        run(&user, &["list", "--project", &project]).out,
        "no provider is set\n"
    );
}
