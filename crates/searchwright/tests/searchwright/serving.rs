//! Commands that serve: they begin, say where they are, and end when they are told to.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
};

use crate::program::{Outcome, User, terminate};

#[test]
fn a_server_ends_in_order() {
    let user = User::new();
    let (_, key) = user.key(&user.project("example.com"), &[]);
    let server = user.serve(&[]);
    let mine = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    assert_eq!(mine.run(&["keywords", "create", "desk"]).code, 0);
    user.run(&["serve", "--listen", "127.0.0.1:0", "--mcp-listen", "127.0.0.1:0"])
        .refuses(1, &["in use", "--data-dir"]);
    let (status, log) = server.stop();
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("shutting down"), "{log}");
    let again = user.serve(&[]);
    let mine = User::new()
        .with("SEARCHWRIGHT_URL", &again.url)
        .with("SEARCHWRIGHT_KEY", &key);
    assert_eq!(
        mine.run(&["keywords", "list", "--json"]).json()["data"][0]["keyword"],
        "desk"
    );
}

#[test]
fn systemd_is_told_of_begin_and_end() {
    let user = User::new();
    let path = user.path("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket
        .set_read_timeout(Some(std::time::Duration::from_secs(20)))
        .unwrap();
    let told = || {
        let mut bytes = [0; 100];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    let user = user.with("NOTIFY_SOCKET", path.to_str().unwrap());
    let server = user.serve(&[]);
    assert_eq!(told(), "READY=1\n");
    assert_eq!(server.stop().0.code(), Some(0));
    assert_eq!(told(), "STOPPING=1\n");
}

#[test]
fn listening_to_other_machines_without_tls_is_refused_or_warned_of() {
    let user = User::new();
    let open = ["--listen", "0.0.0.0:0"];
    user.run(&[&["serve", "--mcp-listen", "127.0.0.1:0"], &open[..]].concat())
        .refuses(1, &["without TLS", "PUBLIC_URL", "allow_insecure_http"]);
    // a proxy on the same machine is no reason to listen to others
    let behind = ["--set", "public_url=http://localhost:8787"];
    for (settings, said) in [
        (behind, "listen is open to other machines without TLS"),
        (["--set", "allow_insecure_http=true"], "served over plain http"),
    ] {
        let (status, log) = user.serve(&[open, settings].concat()).stop();
        assert_eq!(status.code(), Some(0), "{log}");
        assert!(log.contains(said), "{log}");
    }
    let (_, log) = user.serve(&[]).stop();
    assert!(!log.contains("WARN"), "{log}");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let user = User::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (listen, mcp, name) in [
        (address.as_str(), "127.0.0.1:0", "--listen"),
        ("127.0.0.1:0", address.as_str(), "--mcp-listen"),
    ] {
        user.run(&["serve", "--listen", listen, "--mcp-listen", mcp])
            .refuses(1, &[name, &address]);
    }
}

#[test]
fn a_database_is_migrated_first_where_that_is_wanted() {
    let user = User::new();
    user.run(&["serve", "--no-auto-migrate"])
        .refuses(1, &["searchwright migrate"]);
    for _ in 0..2 {
        let migrated = user.run(&["migrate"]);
        assert_eq!((migrated.code, migrated.out.as_str()), (0, ""), "{migrated:?}");
        assert!(migrated.err.contains("up to date"));
    }
    let server = user.serve(&["--no-auto-migrate"]);
    assert_eq!(server.stop().0.code(), Some(0));
}

#[test]
fn trying_it_takes_one_command() {
    let user = User::new();
    let once = [
        "try",
        "--once",
        "--listen",
        "127.0.0.1:0",
        "--mcp-listen",
        "127.0.0.1:0",
    ];
    let tried = user.run(&once);
    assert_eq!(tried.code, 0, "{tried:?}");
    let serve = format!("searchwright serve --data-dir {} ", user.path("data").display());
    for words in [
        "Health score",
        "Top issues",
        "swk_",
        &serve,
        "searchwright issues list",
    ] {
        assert!(tried.out.contains(words), "{words:?} in {}", tried.out);
    }
    assert!(!tried.out.contains("curl"), "the server has ended: {tried:?}");
    assert!(tried.err.contains("audits a sample"), "{tried:?}");
    let report = user.run(&[&once[..], &["--json"]].concat()).json();
    assert_eq!(report["audit"]["status"], "completed", "{report}");
    let issue = &report["issues"][0];
    assert!(
        issue["issue"]["title"].is_string() && issue["occurrences"][0]["url"].is_string(),
        "{report}"
    );
    assert!(report["key"].as_str().unwrap().starts_with("swk_"), "{report}");
    user.run(&["try", "ftp://example.com", "--once"])
        .refuses(2, &["ftp://example.com", "https://"]);
}

#[test]
fn trying_it_says_how_to_go_on_while_it_serves() {
    let user = User::new();
    let addresses = ["--listen", "127.0.0.1:0", "--mcp-listen", "127.0.0.1:0"];
    let mut child = user
        .command(&[&["try"][..], &addresses].concat())
        .spawn()
        .unwrap();
    let mut report = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("/login/") {
        assert!(report.read_line(&mut said).unwrap() > 0, "it ended: {said}");
    }
    terminate(&child);
    assert_eq!(Outcome::of(child).code, 0);
    for words in ["curl -H", "searchwright issues list"] {
        assert!(said.contains(words), "{words:?} in {said}");
    }
    assert!(!said.contains("searchwright serve"), "{said}");
}

#[test]
fn trying_a_website_that_does_not_answer_says_nothing_to_go_on_with() {
    let user = User::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let once = ["try", &target, "--once", "--listen", "127.0.0.1:0"];
    let tried = user.run(&[&once[..], &["--mcp-listen", "127.0.0.1:0"]].concat());
    assert_eq!(tried.code, 1, "{tried:?}");
    assert!(tried.out.contains("Failed "), "{tried:?}");
    for words in ["Go on", "curl", "searchwright issues", "swk_"] {
        assert!(!tried.out.contains(words), "{words:?} in {}", tried.out);
    }
}

/// After a commit that failed on its way to the disk nobody knows what is there: the next process does.
#[cfg(unix)]
#[test]
fn a_server_that_cannot_tell_what_is_on_the_disk_ends_for_a_restart() {
    let user = User::new();
    let (_, key) = user.key(&user.project("example.com"), &[]);
    let server = user.serve_limited(1024);
    let of = |url: &str| {
        User::new()
            .with("SEARCHWRIGHT_URL", url)
            .with("SEARCHWRIGHT_KEY", &key)
    };
    let mine = of(&server.url);
    let mut kept = Vec::new();
    // The command that is refused asks again, and finds nobody.
    while kept.len() < 1000 {
        let keyword = format!("desk {}", kept.len());
        if mine.run(&["keywords", "create", &keyword]).code != 0 {
            break;
        }
        kept.push(keyword);
    }
    let (status, log) = server.ended();
    assert_eq!(status.code(), Some(1), "{log}");
    for words in [
        "did not reach the disk for certain",
        "code=\"storage_unavailable\"",
    ] {
        assert!(log.contains(words), "{log}");
    }

    let again = user.serve(&[]);
    let listed = of(&again.url).run(&["keywords", "list", "--limit", "100", "--json"]);
    for keyword in kept {
        assert!(
            listed.out.contains(&format!("\"{keyword}\"")),
            "{keyword}: {listed:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn the_database_is_the_owner_s_alone_whatever_the_folder_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let user = User::new();
    let data = user.path("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(data.join("searchwright.keys"), "").unwrap();
    let project = user.project("example.com");
    let (id, _) = user.key(&project, &[]);
    let _server = user.serve(&[]);
    assert_eq!(user.run(&["admin", "key", "revoke", &id]).code, 0);
    for name in [
        "searchwright.sqlite",
        "searchwright.sqlite-wal",
        "searchwright.sqlite-shm",
        "searchwright.keys",
        "sealing.key",
        "reserve",
    ] {
        let mode = std::fs::metadata(data.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

/// A change that is made is not reported as failed because others could not be told of it.
#[test]
fn a_key_is_revoked_even_if_that_cannot_be_announced() {
    let user = User::new();
    let project = user.project("example.com");
    let (id, key) = user.key(&project, &[]);
    let data = user.path("data");
    let _ = std::fs::remove_file(data.join("searchwright.keys"));
    std::fs::create_dir(data.join("searchwright.keys")).unwrap();
    let revoked = user.run(&["admin", "key", "revoke", &id, "--json"]).json();
    assert_eq!(
        (&revoked["revoked"], &revoked["changed"]),
        (&true.into(), &true.into())
    );
    let server = user.serve(&[]);
    User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key)
        .run(&["me", "get"])
        .refuses(3, &["invalid_token"]);
}
