//! Profiles: servers and keys of a user, kept for this user alone.

use crate::program::{Outcome, User};

#[test]
fn a_profile_is_saved_used_and_forgotten() {
    let operator = User::new();
    let (_, key) = operator.key(&operator.project("example.com"), &[]);
    let server = operator.serve(&[]);
    let user = User::new();
    let saved = user.tell(&["profile", "save", "--url", &server.url], &format!("{key}\n"));
    assert_eq!((saved.code, saved.out.as_str()), (0, ""), "{saved:?}");
    assert_eq!(
        user.run(&["me", "get", "--json"]).json()["apiKey"]["prefix"],
        key[..12]
    );
    let other = User::new().with("SEARCHWRIGHT_KEY", "swk_other");
    let listed = user.run(&["profile", "list"]);
    assert_eq!(listed.out, format!("default\t{}\t{}…\n", server.url, &key[..12]));
    assert_eq!(
        user.tell(
            &["profile", "save", "second", "--url", "http://127.0.0.1:1"],
            "swk_second"
        )
        .code,
        0
    );
    user.run(&["me", "get", "--profile", "second"])
        .refuses(1, &["127.0.0.1:1"]);
    assert_eq!(
        user.run(&["me", "get", "--profile", "second", "--url", &server.url])
            .code,
        3,
        "a flag beats a profile"
    );
    user.run(&["me", "get", "--profile", "third"])
        .refuses(2, &["third", "profile list"]);
    assert_eq!(user.run(&["profile", "remove", "second"]).code, 0);
    user.run(&["profile", "remove", "second"]).refuses(4, &["second"]);
    user.tell(&["profile", "save"], "  \n").refuses(2, &["no key"]);
    assert_eq!(other.run(&["profile", "list"]).out, "");
}

#[cfg(unix)]
#[test]
fn only_its_owner_reads_a_profile() {
    use std::os::unix::fs::PermissionsExt as _;
    let user = User::new();
    user.tell(&["profile", "save"], "swk_key");
    let file = user.path(".config/searchwright/profiles.toml");
    assert_eq!(
        std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    std::fs::write(&file, "nonsense").unwrap();
    user.run(&["profile", "list"]).refuses(1, &["profiles.toml"]);
}

#[test]
fn a_user_without_a_home_folder_needs_no_profile() {
    let operator = User::new();
    let (_, key) = operator.key(&operator.project("example.com"), &[]);
    let server = operator.serve(&[]);
    let user = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let run = |arguments: &[&str]| Outcome::of(user.command(arguments).env_remove("HOME").spawn().unwrap());
    assert_eq!(run(&["keywords", "create", "fern"]).code, 0);
    run(&["profile", "save"]).refuses(1, &["home folder", "HOME", "SEARCHWRIGHT_KEY"]);
}
