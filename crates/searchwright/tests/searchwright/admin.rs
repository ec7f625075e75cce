//! The operator's commands: one JSON object each, beside a running server or without one.

use serde_json::json;

use crate::program::User;

#[test]
fn a_project_is_three_members() {
    let user = User::new();
    let made = user.run(&[
        "admin",
        "project",
        "create",
        "--name",
        " Fern & Fir ",
        "--domain",
        "HTTP://127.0.0.1:8099",
        "--json",
    ]);
    let project = made.json();
    assert_eq!(
        project,
        json!({ "id": project["id"], "name": "Fern & Fir", "domain": "http://127.0.0.1:8099" })
    );
    assert_eq!(project["id"].as_str().unwrap().len(), 36);
    let plain = user.run(&[
        "admin",
        "project",
        "create",
        "--name",
        "Oak",
        "--domain",
        "bücher.example",
    ]);
    assert_eq!((plain.code, plain.err.as_str()), (0, ""));
    assert!(plain.out.contains("for xn--bcher-kva.example"), "{plain:?}");
    for domain in [
        "",
        "ftp://example.com",
        "example.com/path",
        "http://user@example.com",
        "exa mple.com",
        "https://example.com?q",
    ] {
        user.run(&[
            "admin", "project", "create", "--name", "x", "--domain", domain, "--json",
        ])
        .refuses(2, &["error: ", "domain"]);
    }
    user.run(&[
        "admin",
        "project",
        "create",
        "--name",
        "",
        "--domain",
        "example.com",
    ])
    .refuses(2, &["/name"]);
}

#[test]
fn a_key_is_four_members_and_shown_once() {
    let user = User::new();
    let project = user.project("example.com");
    let arguments = [
        "admin",
        "key",
        "create",
        "--project",
        project.as_str(),
        "--name",
        "agent",
    ];
    let key = user
        .run(
            &[
                &arguments[..],
                &[
                    "--json",
                    "--expires",
                    "12h",
                    "--scopes",
                    "keywords:read,audits:write",
                    "--read-only",
                ],
            ]
            .concat(),
        )
        .json();
    let names: Vec<&String> = key.as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "key", "prefix", "expiresAt"]);
    let text = key["key"].as_str().unwrap();
    assert!(
        text.starts_with("swk_") && text.len() == 40 && text.starts_with(key["prefix"].as_str().unwrap())
    );
    assert!(key["expiresAt"].as_str().unwrap().ends_with('Z'));
    let endless = user
        .run(&[&arguments[..], &["--json", "--expires", "never"]].concat())
        .json();
    assert_eq!(endless["expiresAt"], json!(null));
    let shown = user.run(&arguments);
    assert_eq!(shown.code, 0);
    assert!(
        shown.out.starts_with("swk_") && shown.out.contains("copy it now"),
        "{shown:?}"
    );
}

#[test]
fn keys_are_revoked_and_rotated() {
    let user = User::new();
    let project = user.project("example.com");
    let (id, key) = user.key(&project, &[]);
    let rotated = user
        .run(&["admin", "key", "rotate", &id, "--overlap", "0h", "--json"])
        .json();
    assert_ne!(rotated["key"].as_str().unwrap(), key);
    assert_eq!(
        rotated["prefix"].as_str().unwrap(),
        &rotated["key"].as_str().unwrap()[..12]
    );
    user.run(&["admin", "key", "rotate", &id, "--json"])
        .refuses(4, &["live key"]);
    let successor = rotated["id"].as_str().unwrap();
    let revoke = |id: &str| user.run(&["admin", "key", "revoke", id, "--json"]);
    assert_eq!(
        revoke(successor).json(),
        json!({ "id": successor, "revoked": true, "changed": true })
    );
    assert_eq!(
        revoke(successor).json(),
        json!({ "id": successor, "revoked": true, "changed": false })
    );
    for unknown in ["01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c", "x"] {
        revoke(unknown).refuses(4, &["error: "]);
        user.run(&["admin", "key", "rotate", unknown])
            .refuses(4, &["error: "]);
    }
}

#[test]
fn what_cannot_be_made_says_why() {
    let user = User::new();
    let project = user.project("example.com");
    let create = |more: &[&str]| user.run(&[&["admin", "key", "create", "--name", "x"], more].concat());
    create(&[]).refuses(2, &["--project"]);
    create(&["--project", "x"]).refuses(4, &["project"]);
    create(&["--project", "01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c"]).refuses(4, &["project"]);
    create(&["--project", &project, "--scopes", "everything"]).refuses(2, &["everything", "keywords:read"]);
    create(&["--project", &project, "--expires", "soon"]).refuses(2, &["--expires", "90d"]);
    user.run(&["admin", "key", "rotate", "x", "--overlap", "8d"])
        .refuses(2, &["--overlap"]);
    for _ in 0..25 {
        user.key(&project, &[]);
    }
    create(&["--project", &project]).refuses(4, &["25 live keys", "hint: revoke"]);
}

const UNKNOWN: &str = "01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c";

#[test]
fn lists_show_the_ids_that_other_commands_ask_for() {
    let user = User::new();
    let list = |words: &[&str]| user.run(&[&["admin"], words, &["--json"]].concat()).json();
    let workspace = user.run(&["admin", "workspace", "create", "--name", "Agency", "--json"]);
    assert!(
        workspace.err.contains("made a new installation in /"),
        "{workspace:?}"
    );
    let workspace = workspace.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(list(&["project", "list"]), json!([]));
    assert_eq!(user.run(&["admin", "user", "list"]).out, "there is no person\n");

    let (first, second) = (user.project("example.com"), user.project("a.example"));
    assert_eq!(
        list(&["project", "list"]),
        json!([
            { "id": first, "name": "Fern", "domain": "example.com", "workspaceId": workspace },
            { "id": second, "name": "Fern", "domain": "a.example", "workspaceId": workspace },
        ])
    );
    assert_eq!(
        user.run(&["admin", "project", "list"]).out,
        format!(
            "{first}  example.com  workspace {workspace}  Fern\n{second}  a.example    workspace {workspace}  Fern\n"
        )
    );
    assert_eq!(
        list(&["workspace", "list"]),
        json!([{ "id": workspace, "name": "Agency" }])
    );

    let other = user.run(&["admin", "workspace", "create", "--name", "Other", "--json"]);
    let other = other.json()["id"].as_str().unwrap().to_owned();
    let ann = user.run(&[
        "admin",
        "user",
        "create",
        "--email",
        "ann@example.com",
        "--name",
        "Ann",
        "--json",
    ]);
    let ann = ann.json()["id"].as_str().unwrap().to_owned();
    let add = [
        "admin",
        "member",
        "add",
        "--user",
        "ann@example.com",
        "--workspace",
        &other,
        "--role",
    ];
    assert_eq!(user.run(&[&add[..], &["viewer"]].concat()).code, 0);
    assert_eq!(user.run(&["admin", "user", "disable", &ann]).code, 0);
    assert_eq!(
        list(&["user", "list"]),
        json!([{ "id": ann, "email": "ann@example.com", "name": "Ann", "disabled": true, "memberships": [
            { "workspaceId": workspace, "role": "owner" }, { "workspaceId": other, "role": "viewer" },
        ]}])
    );
    let plain = user.run(&["admin", "user", "list"]).out;
    let line = format!("{ann}  ann@example.com  Ann: disabled, owner of workspace {workspace}, viewer of");
    assert!(plain.starts_with(&line), "{plain}");

    let (ended, _) = user.key(&first, &["--scopes", "keywords:read", "--read-only"]);
    let (kept, key) = user.key(&first, &["--expires", "never"]);
    assert_eq!(user.run(&["admin", "key", "revoke", &ended]).code, 0);
    let keys = list(&["key", "list", "--project", &first]);
    let (newest, oldest) = (&keys[0], &keys[1]);
    assert_eq!(
        newest,
        &json!({
            "id": kept, "name": "test", "prefix": key[..12], "scopes": newest["scopes"], "readOnly": false,
            "createdAt": newest["createdAt"], "expiresAt": null, "revokedAt": null, "lastUsedAt": null,
        })
    );
    assert!(newest["scopes"].as_array().unwrap().len() > 5 && newest["createdAt"].is_string());
    assert_eq!(
        (&oldest["id"], &oldest["scopes"], &oldest["readOnly"]),
        (&json!(ended), &json!(["keywords:read"]), &json!(true))
    );
    assert!(
        oldest["revokedAt"].is_string() && oldest["expiresAt"].is_string(),
        "{oldest}"
    );
    let plain = user.run(&["admin", "key", "list", "--project", &first]).out;
    for words in [
        "all scopes, created ",
        "never expires, not used\n",
        "keywords:read, read only, created ",
        ", revoked ",
    ] {
        assert!(plain.contains(words), "{words:?} in {plain}");
    }
    assert_eq!(list(&["key", "list", "--project", &second]), json!([]));
}

#[test]
fn records_that_are_not_there_name_the_command_that_lists_them() {
    let user = User::new();
    let project = user.project("example.com");
    let refuses = |words: &[&str], list: &str| {
        let refused = user.run(&[&["admin"], words].concat());
        refused.refuses(
            4,
            &["there is no ", &format!("hint: `searchwright admin {list} list")],
        );
        assert!(!refused.err.contains("in this project"), "{refused:?}");
    };
    for unknown in ["nope", UNKNOWN] {
        refuses(&["key", "create", "--name", "x", "--project", unknown], "project");
        refuses(&["key", "list", "--project", unknown], "project");
        refuses(&["checks", "show", "--project", unknown], "project");
        refuses(&["key", "revoke", unknown], "key");
        refuses(&["user", "disable", unknown], "user");
        let new = ["project", "create", "--name", "x", "--domain", "x.example"];
        refuses(&[&new[..], &["--workspace", unknown]].concat(), "workspace");
        refuses(
            &["member", "invite", "--role", "viewer", "--workspace", unknown],
            "workspace",
        );
        let new = ["user", "create", "--email", "x@x.example", "--name", "x"];
        refuses(&[&new[..], &["--workspace", unknown]].concat(), "workspace");
    }
    let connect = |provider: &str| {
        let place = ["--setting", "baseUrl=https://example.com/blog"];
        let connect = [
            "admin",
            "integration",
            "connect",
            "--project",
            &project,
            "--provider",
            provider,
        ];
        user.run(&[&connect[..], &place].concat())
    };
    connect("nope").refuses(2, &["--provider", "wordpress, ghost", "files, webhook\n"]);
    let connected = connect("files");
    assert!(
        connected.out.starts_with("files is connected, connection "),
        "{connected:?}"
    );
}

#[test]
fn commands_in_a_wrong_folder_make_no_installation() {
    let user = User::new();
    for command in [
        &["admin", "project", "list"][..],
        &["admin", "key", "create", "--project", UNKNOWN, "--name", "x"],
        &["admin", "user", "disable", "ann@example.com"],
        &["admin", "oauth-client", "list"],
        &["admin", "sealing-key", "add"],
        &["admin", "sealing-key", "rotate"],
        &["export", UNKNOWN, "--to", "x"],
        &["import", "--discard", UNKNOWN],
    ] {
        user.run(command)
            .refuses(2, &["there is no database in /", "hint: ", "--data-dir"]);
        assert!(!user.path("data").exists(), "{command:?}");
    }
    let made = user.run(&[
        "admin",
        "user",
        "create",
        "--email",
        "ann@example.com",
        "--name",
        "Ann",
    ]);
    let folder = user.path("data");
    assert_eq!(made.code, 0, "{made:?}");
    let said = format!("made a new installation in {}\n", folder.display());
    assert!(made.err.ends_with(&said), "{made:?}");
    assert_eq!(user.run(&["admin", "user", "list"]).code, 0);
}

#[test]
fn sealing_key_is_not_rotated_beside_a_server() {
    let user = User::new();
    user.project("example.com");
    let server = user.serve(&[]);
    user.run(&["admin", "sealing-key", "rotate"])
        .refuses(4, &["in use", "hint: stop the server"]);
    server.stop();
    let rotated = user.run(&["admin", "sealing-key", "rotate"]);
    assert_eq!(rotated.code, 0, "{rotated:?}");
}

#[test]
fn limits_are_set_and_lifted() {
    let user = User::new();
    let project = user.project("example.com");
    let set = |kind: &str, name: &[&str], limit: &[&str]| {
        let arguments = [
            &["admin", kind, "set", "--project", project.as_str()],
            name,
            limit,
        ]
        .concat();
        user.run(&arguments)
    };
    let (metric, provider) = (["--metric", "posts_generated"], ["--provider", "openai"]);
    assert_eq!(
        set("quota", &metric, &["--limit", "20", "--json"]).json(),
        json!({ "projectId": project, "metric": "posts_generated", "limit": 20 })
    );
    assert_eq!(
        set("quota", &metric, &["--limit", "unlimited", "--json"]).json()["limit"],
        json!(null)
    );
    assert_eq!(
        set("quota", &metric, &["--limit", "0"]).out,
        "posts_generated per month: at most 0\n"
    );
    assert_eq!(
        set("budget", &provider, &["--usd", "12.5", "--json"]).json(),
        json!({ "projectId": project, "provider": "openai", "budgetMicrosUsd": 12_500_000 })
    );
    assert_eq!(
        set("budget", &provider, &["--usd", "unlimited"]).out,
        "openai per month: unlimited\n"
    );
    set("quota", &metric, &["--limit", "many"]).refuses(2, &["--limit", "unlimited"]);
    set("quota", &["--metric", "posts"], &["--limit", "1"]).refuses(2, &["/metric", "posts_generated"]);
    set("budget", &provider, &["--usd", "1,50"]).refuses(2, &["/usd"]);
    for mistyped in ["opnai", "Open AI", ""] {
        set("budget", &["--provider", mistyped], &["--usd", "1"])
            .refuses(2, &["/provider", "openai, anthropic, gemini, dataforseo"]);
    }
    let elsewhere = [
        "admin",
        "quota",
        "set",
        "--project",
        "x",
        "--metric",
        "audits",
        "--limit",
        "1",
    ];
    user.run(&elsewhere).refuses(4, &["no such project"]);
}

#[test]
fn checks_are_set_shown_and_reset() {
    let user = User::new();
    let project = user.project("example.com");
    let checks = |verb: &str, more: &[&str]| {
        user.run(&[&["admin", "checks", verb, "--project", project.as_str()], more].concat())
    };
    assert_eq!(checks("set", &["title-min=20", "severity.h1-long=off"]).code, 0);
    let shown = checks("show", &["--json"]).json();
    let title = &shown["thresholds"][0];
    assert_eq!(
        title,
        &json!({ "name": "title-min", "value": 20, "default": 30, "unit": "characters", "set": true })
    );
    assert_eq!(
        shown["severities"],
        json!([{ "checkId": "h1-long", "value": "off", "default": "notice" }])
    );
    let plain = checks("show", &[]).out;
    for line in [
        "title-min                    20 characters (default 30)\n",
        "title-max                    60 characters\n",
        "severity.h1-long             off (default notice)\n",
    ] {
        assert!(plain.contains(line), "{plain}");
    }
    let set = checks("set", &["titleMax=70"]).out;
    assert!(
        set.contains("title-min ") && set.contains("title-max ") && !set.contains("depth-max"),
        "{set}"
    );

    checks("set", &[]).refuses(2, &["NAME=VALUE"]);
    checks("set", &["title-min"]).refuses(2, &["NAME=VALUE"]);
    checks("set", &["title-mni=3"]).refuses(2, &["title-mni", "title-min, title-max", "severity.CHECK_ID"]);
    checks("set", &["depth-max=9", "title-min=1001"]).refuses(2, &["title-min", "from 0 to 1000"]);
    checks("set", &["title-min=71"]).refuses(2, &["title-min", "title-max (70)"]);
    checks("set", &["severity.h1-long=bad"]).refuses(2, &["error, warning, notice, off"]);
    checks("set", &["severity.h1=off"]).refuses(2, &["severity.h1", "docs/checks.md"]);
    checks("reset", &["h1-max", "h1-mxa"]).refuses(2, &["h1-mxa"]);
    user.run(&[
        "admin",
        "checks",
        "show",
        "--project",
        "01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c",
    ])
    .refuses(4, &["no such project"]);

    let one = checks("reset", &["title-max", "--json"]).json();
    assert_eq!(
        (&one["thresholds"][0]["value"], &one["thresholds"][1]["value"]),
        (&json!(20), &json!(60))
    );
    assert_eq!(one["severities"][0]["checkId"], "h1-long");
    assert_eq!(
        checks("reset", &[]).out,
        "all thresholds and severities are the defaults\n"
    );
    assert_eq!(
        checks("show", &["--json"]).json()["thresholds"][0]["set"],
        json!(false)
    );
}
