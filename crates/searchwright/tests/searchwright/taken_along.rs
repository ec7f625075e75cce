//! A project in a file, from one installation to another.

use std::{
    fs,
    io::{Read as _, Write as _},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::program::{Outcome, User};

/// Runs calls with a key of a project against a server of this user.
fn calls(user: &User, project: &str, commands: &[&[&str]]) -> Vec<Outcome> {
    let (_, key) = user.key(project, &[]);
    let server = user.serve(&["--set", "backups.every_hours=0"]);
    let caller = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let json = |command: &&[&str]| caller.run(&[*command, &["--json"]].concat());
    commands.iter().map(json).collect()
}

#[test]
fn a_project_goes_to_another_installation_without_its_secrets() {
    let (old, new) = (User::new(), User::new());
    let project = old.project("example.com");
    let made = calls(
        &old,
        &project,
        &[
            &["keywords", "create", "oak desk"],
            &["webhooks", "create", "https://93.184.216.34/hook", "*"],
        ],
    );
    let secret = made[1].json()["secret"].as_str().unwrap().to_owned();
    let file = old.path("shop.ndjson.gz");
    let name = file.to_str().unwrap();
    let export = |more: &[&str]| old.run(&[&["export", project.as_str()], more].concat());
    let exported = export(&["--to", name, "--json"]).json();
    assert_eq!(exported["rows"]["keywords"], 1);
    export(&["--to", name]).refuses(2, &["exists already"]);
    export(&[]).refuses(2, &["--to"]);
    old.run(&["export", "x", "--to", "y"]).refuses(4, &["project"]);
    old.run(&["export", "01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c", "--to", "y"])
        .refuses(4, &["no project", "hint: `searchwright admin project list`"]);
    assert!(!old.path("y").exists());

    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(&file).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["format"], &first["project"]["id"]),
        (&json!(1), &json!(project))
    );
    assert!(!text.contains(&secret) && !text.contains("whsec_"));
    let plain = old.path("shop.ndjson");
    assert_eq!(export(&["--to", plain.to_str().unwrap()]).code, 0);

    for nothing in ["absent", "data/sealing.key"] {
        let path = old.path(nothing);
        new.run(&["import", path.to_str().unwrap()])
            .refuses(2, &["error: "]);
    }
    let half = new.path("half.ndjson.gz");
    let bytes = fs::read(&file).unwrap();
    fs::write(&half, &bytes[..bytes.len() - 20]).unwrap();
    new.run(&["import", half.to_str().unwrap()])
        .refuses(2, &["of the file"]);
    for unknown in ["nope", "01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c"] {
        new.run(&["import", name, "--workspace", unknown])
            .refuses(4, &[unknown, "hint: `searchwright admin workspace list`"]);
    }
    let imported = new.run(&["import", name, "--json"]).json();
    assert_eq!(
        (&imported["id"], &imported["name"]),
        (&json!(project), &json!("Fern"))
    );
    for again in [name, plain.to_str().unwrap()] {
        new.run(&["import", again]).refuses(4, &["already", &project]);
    }
    let found = calls(
        &new,
        &project,
        &[
            &["keywords", "list", "--q", "desk"],
            &["webhooks", "list"],
            &["keywords", "create", "oak chair"],
        ],
    );
    assert_eq!(found[0].json()["data"][0]["keyword"], "oak desk");
    let hook = &found[1].json()["data"][0];
    assert_eq!(
        (&hook["status"], &hook["disabledReason"]),
        (&json!("disabled"), &json!("imported"))
    );
    assert_eq!(found[2].code, 0);
    // the sealed secrets of this place are none of the old one's
    let rotated = calls(
        &new,
        &project,
        &[&["webhooks", "rotate", hook["id"].as_str().unwrap()]],
    );
    assert_ne!(rotated[0].json()["secret"], json!(secret));
}

/// More rows than an import writes at once.
const KEYWORDS: usize = 2_500;

/// A project with many keywords, as its id and its file.
fn export_large(user: &User) -> (String, String) {
    let project = user.project("example.com");
    let list: String = (0..KEYWORDS).map(|n| format!("oak desk {n}\n")).collect();
    fs::write(user.path("list.csv"), format!("keyword\n{list}")).unwrap();
    let list = format!("@{}", user.path("list.csv").display());
    let imported = calls(user, &project, &[&["keywords", "import", &list]]);
    assert_eq!(imported[0].code, 0, "{imported:?}");
    let file = export_again(user, &project, "first.ndjson");
    (project, file)
}

fn export_again(user: &User, project: &str, name: &str) -> String {
    let path = user.path(name).to_str().unwrap().to_owned();
    assert_eq!(user.run(&["export", project, "--to", &path]).code, 0);
    path
}

/// Begins an import, and kills it when a part is stored and the rest of the file was not yet read.
fn kill_import(user: &User, file: &str) {
    let text = fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut command = user.command(&["import", "/dev/stdin"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let beginning = lines[..lines.len() - 100].join("\n");
    input.write_all(beginning.as_bytes()).unwrap();
    let database = rusqlite::Connection::open(user.path("data/searchwright.sqlite")).unwrap();
    let marks = || -> i64 {
        let marks = "SELECT count(*) FROM meta WHERE name LIKE 'import:%'";
        database.query_row(marks, [], |row| row.get(0)).unwrap()
    };
    while marks() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Findings of the doctor about imports.
fn examine_imports(user: &User) -> Vec<Value> {
    let seen = user.run(&["doctor", "--json"]).json();
    let all = seen.as_array().unwrap().iter();
    all.filter(|finding| finding["check"] == "import")
        .cloned()
        .collect()
}

#[test]
fn killed_import_goes_on_begins_anew_or_is_removed() {
    let old = User::new();
    let (project, file) = export_large(&old);
    let new = User::new()
        .with("SEARCHWRIGHT_LISTEN", "127.0.0.1:0")
        .with("SEARCHWRIGHT_MCP_LISTEN", "127.0.0.1:0");
    assert_eq!(new.run(&["migrate"]).code, 0);

    kill_import(&new, &file);
    let seen = examine_imports(&new);
    assert_eq!((seen.len(), &seen[0]["warning"]), (1, &json!(true)), "{seen:?}");
    let fix = seen[0]["fix"].as_str().unwrap();
    assert!(fix.contains(&format!("import --discard {project}")), "{fix}");
    let plain = new.run(&["doctor"]);
    assert!(plain.code == 0 && plain.out.contains("WARN import"), "{plain:?}");
    new.run(&["export", &project, "--to", "x"])
        .refuses(4, &["not ended", "import --discard"]);
    for change in [
        &["key", "create", "--name", "x"][..],
        &["quota", "set", "--metric", "posts_generated", "--limit", "1"],
        &["budget", "set", "--provider", "openai", "--usd", "1"],
        &["budget", "set", "--per-day", "--usd", "1"],
    ] {
        new.run(&[&["admin"], change, &["--project", &project]].concat())
            .refuses(4, &["project"]);
    }
    for kind in ["project", "workspace"] {
        let listed = new.run(&["admin", kind, "list"]).out;
        assert!(
            !listed.contains(&project) && !listed.contains("under way"),
            "{listed}"
        );
    }
    // it is left alone by servers
    let server = new.serve(&["--set", "backups.every_hours=0"]);
    assert_eq!(server.stop().0.code(), Some(0));

    let removed = new.run(&["import", "--discard", &project, "--json"]).json();
    assert!(removed["removed"].as_u64().unwrap() >= 1_000, "{removed}");
    assert_eq!(examine_imports(&new), [] as [Value; 0]);
    new.run(&["import", "--discard", &project])
        .refuses(4, &["cut short", "doctor"]);

    // a newer file takes the place of what an older one began with
    kill_import(&new, &file);
    let newer = export_again(&old, &project, "newer.ndjson");
    kill_import(&new, &newer);
    let plain = new.run(&["import", &newer]);
    assert!(
        plain.code == 0 && plain.out.contains("It went on after"),
        "{plain:?}"
    );
    let found = calls(&new, &project, &[&["keywords", "list", "--q", "desk 2499"]]);
    assert_eq!(found[0].json()["data"].as_array().unwrap().len(), 1);
    assert_eq!(examine_imports(&new), [] as [Value; 0]);
    new.run(&["import", "--discard", &project])
        .refuses(4, &["cut short"]);
    new.run(&["import"]).refuses(2, &["FILE"]);
    new.run(&["import", &file, "--discard", &project])
        .refuses(2, &["--discard"]);
}

#[test]
fn what_cannot_be_moved_says_why() {
    let user = User::new();
    let to = ["--to", "postgres://someone:hush@127.0.0.1:9/none"];
    user.run(&[&["move"], &to[..]].concat())
        .refuses(2, &["no database", "--data-dir"]);
    user.run(&["move"]).refuses(2, &["--to"]);
    user.project("example.com");
    let refused = user.run(&[&["move"], &to[..]].concat());
    refused.refuses(1, &["--to"]);
    assert!(!refused.err.contains("hush"), "{refused:?}");
    for wrong in [
        "sqlite:foo",
        "someone:hush@db.example/x",
        "postgres://someone:hush@db.example:port/x",
    ] {
        let refused = user.run(&["move", "--to", wrong]);
        refused.refuses(2, &["--to", "hint: ", "postgres://USER@HOST/DATABASE"]);
        assert!(
            !refused.err.contains("DATABASE_URL") && !refused.err.contains("hush"),
            "{refused:?}"
        );
    }
    let there = ["--database-url", "postgres://someone@127.0.0.1:9/other"];
    user.run(&[&["move"], &to[..], &there[..]].concat())
        .refuses(2, &["PostgreSQL database already"]);
    let server = user.serve(&[]);
    user.run(&[&["move"], &to[..]].concat())
        .refuses(4, &["in use", "stop the server"]);
    drop(server);
}
