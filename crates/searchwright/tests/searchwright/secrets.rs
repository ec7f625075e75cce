//! A key is shown by the command that makes it, and by nothing else: no output, no log, no file.

use crate::program::{User, files};

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
        let bytes = std::fs::read(&file).unwrap();
        assert!(
            !bytes.windows(key.len()).any(|w| w == key.as_bytes()),
            "{}",
            file.display()
        );
    }
}
