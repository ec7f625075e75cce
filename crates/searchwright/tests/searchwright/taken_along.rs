//! A project in a file, from one installation to another.

use std::{fs, io::Read as _};

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
        .refuses(4, &["no project"]);
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
    let there = ["--database-url", "postgres://someone@127.0.0.1:9/other"];
    user.run(&[&["move"], &to[..], &there[..]].concat())
        .refuses(2, &["PostgreSQL database already"]);
    let server = user.serve(&[]);
    user.run(&[&["move"], &to[..]].concat())
        .refuses(4, &["in use", "stop the server"]);
    drop(server);
}
