//! A secret is shown by the command that makes it, and by nothing else: no output, no log, no file, no backup and no export.

use std::{fs, io::Read as _, path::Path};

use searchwright_contract::{Method, Operation, operation::Visitor};

use crate::program::{Outcome, User, files};

#[test]
fn a_key_is_shown_once() {
    let user = User::new().with("SEARCHWRIGHT_LOG", "trace");
    let project = user.project("example.com");
    let (id, key) = user.key(&project, &[]);
    let server = user.serve(&[]);
    let mine = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key)
        .with("SEARCHWRIGHT_LOG", "trace");
    mine.run(&["profile", "save"]);
    for arguments in [
        &["me", "get"][..],
        &["me", "get", "--json"],
        &["project", "get"],
        &["keywords", "create", "desk"],
        &["keywords", "get", "x"],
        &["keywords", "list", "--limit", "0"],
        &["profile", "list"],
        &["config", "print"],
        &["me", "get", "--help"],
        &["me", "get", "--url", "http://127.0.0.1:1"],
    ] {
        let outcome = mine.run(arguments);
        assert!(
            !outcome.out.contains(&key) && !outcome.err.contains(&key),
            "{arguments:?}: {outcome:?}"
        );
    }
    let in_query = mine.run(&["keywords", "get", &format!("x?access_token={key}")]);
    assert_eq!(in_query.code, 4, "{in_query:?}");
    for arguments in [&["admin", "key", "revoke", &id][..], &["doctor"]] {
        let outcome = user.run(arguments);
        assert!(
            !outcome.out.contains(&key) && !outcome.err.contains(&key),
            "{arguments:?}"
        );
    }
    let (status, log) = server.stop();
    assert_eq!(status.code(), Some(0));
    assert!(
        log.contains("request") && !log.contains(&key),
        "the log at its most talkative"
    );
    for file in files(&user.path("data")) {
        let bytes = fs::read(&file).unwrap();
        assert!(
            !bytes.windows(key.len()).any(|w| w == key.as_bytes()),
            "{}",
            file.display()
        );
    }
}

/// Commands of every operation that reads and takes no more than a project.
#[derive(Default)]
struct ReadingCommands(Vec<Vec<&'static str>>);

impl Visitor for ReadingCommands {
    fn operation<O: Operation>(&mut self) {
        let is_of_project = O::META.path_parameters().all(|name| name == "projectId");
        if O::META.method == Method::GET && is_of_project && O::META.name != "projects.get" {
            self.0.push(O::META.name.split('.').collect());
        }
    }
}

/// Fails where bytes have one of these secrets, as it is or in hex.
#[track_caller]
fn has_none(place: &str, bytes: &[u8], secrets: &[(&str, Vec<u8>)]) {
    for (name, secret) in secrets {
        let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        for form in [secret.as_slice(), hex.as_bytes()] {
            let found = bytes.windows(form.len()).any(|window| window == form);
            assert!(
                !found,
                "{place} has the {name}: {}",
                String::from_utf8_lossy(bytes)
            );
        }
    }
}

#[track_caller]
fn says_none(arguments: &[&str], outcome: &Outcome, secrets: &[(&str, Vec<u8>)]) {
    let said = format!("{}{}", outcome.out, outcome.err);
    has_none(&arguments.join(" "), said.as_bytes(), secrets);
}

fn folder_has_none(folder: &Path, secrets: &[(&str, Vec<u8>)]) {
    for file in files(folder) {
        // the reserve is empty space, and the sealing key is where it belongs
        if file.ends_with("sealing.key") || file.ends_with("reserve") {
            continue;
        }
        has_none(&file.display().to_string(), &fs::read(&file).unwrap(), secrets);
    }
}

#[test]
fn no_command_log_backup_or_export_has_a_secret() {
    const PASSWORD: &str = "canary passes the mine 4711";
    const PROVIDER: &str = "sk-proj-canary-in-the-mine-4711";
    let user = User::new().with("SEARCHWRIGHT_LOG", "trace");
    let project = user.project("example.com");
    let (_, key) = user.key(&project, &[]);
    let tell = |arguments: &[&str], secret: &str| {
        let outcome = user.tell(arguments, secret);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        says_none(arguments, &outcome, &[("secret that it was told", secret.into())]);
    };
    tell(
        &[
            "admin",
            "user",
            "create",
            "--email",
            "ann@example.com",
            "--name",
            "Ann",
            "--password-stdin",
        ],
        PASSWORD,
    );
    tell(
        &[
            "admin",
            "provider",
            "set",
            "--project",
            &project,
            "--provider",
            "openai",
            "--model",
            "m-1",
            "--secret-file",
            "-",
        ],
        PROVIDER,
    );
    let server = user.serve(&["--set", "log.format=json"]);
    let mine = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key)
        .with("SEARCHWRIGHT_LOG", "trace");
    let made = mine.run(&["webhooks", "create", "https://93.184.216.34/hook", "*", "--json"]);
    let webhook = made.json()["secret"].as_str().unwrap().to_owned();
    let secrets = [
        ("key", key.clone().into_bytes()),
        ("password", PASSWORD.into()),
        ("secret of a provider", PROVIDER.into()),
        ("secret of a webhook", webhook.into_bytes()),
        ("sealing key", fs::read(user.path("data/sealing.key")).unwrap()),
    ];

    let mut reading = ReadingCommands::default();
    searchwright_contract::visit(&mut reading);
    assert!(reading.0.len() > 20, "{:?}", reading.0);
    for command in &reading.0 {
        for more in [&[][..], &["--json"]] {
            let arguments = [command.as_slice(), more].concat();
            says_none(&arguments, &mine.run(&arguments), &secrets);
        }
    }
    let backups = user.path("backups");
    let export = user.path("shop.ndjson.gz");
    for arguments in [
        &["doctor"][..],
        &["config", "print"],
        &["admin", "provider", "list", "--project", &project],
        &["backup", "--to", backups.to_str().unwrap()],
        &["export", &project, "--to", export.to_str().unwrap()],
    ] {
        let outcome = user.run(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {outcome:?}");
        says_none(arguments, &outcome, &secrets);
    }
    let (_, json_log) = server.stop();
    let (_, text_log) = user.serve(&[]).stop();
    for log in [json_log, text_log] {
        assert!(log.contains("TRACE") || log.contains("DEBUG"), "{log}");
        has_none("the log", log.as_bytes(), &secrets);
    }
    folder_has_none(&user.path("data"), &secrets);
    folder_has_none(&backups, &secrets);
    let mut exported = Vec::new();
    flate2::read::GzDecoder::new(fs::File::open(&export).unwrap())
        .read_to_end(&mut exported)
        .unwrap();
    has_none("the export", &exported, &secrets);
    folder_has_none(mine.home.path(), &secrets);
}

#[test]
fn a_password_in_the_url_of_the_database_is_in_no_message() {
    let user = User::new()
        .with("SEARCHWRIGHT_LOG", "trace")
        .with("DATABASE_URL", "postgres://someone:canary-4711@127.0.0.1:9/none");
    let secrets = [("password of the database", b"canary-4711".to_vec())];
    for arguments in [
        &["doctor"][..],
        &["config", "print"],
        &["serve"],
        &["worker"],
        &[
            "admin",
            "project",
            "create",
            "--name",
            "A",
            "--domain",
            "a.example",
        ],
        &["backup"],
        &["export", "01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c", "--to", "x"],
    ] {
        let outcome = user.run(arguments);
        says_none(arguments, &outcome, &secrets);
        assert!(outcome.code != 0 || arguments[0] == "config", "{arguments:?}");
    }
}
