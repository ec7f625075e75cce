//! The program on a terminal: it asks, shows how far work is, and is interrupted.

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    net::TcpListener,
    process::{Child, Command, Stdio},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use serde_json::json;

use crate::{
    audit::website::Website,
    program::{Outcome, User},
};

/// Columns on which nothing is broken.
const WIDE: u16 = 200;

/// A command whose streams are a terminal.
struct Terminal {
    child: Child,
    screen: File,
    shown: String,
}

impl Terminal {
    /// Starts a command on a terminal with this many columns.
    fn start(user: &User, columns: u16, arguments: &[&str]) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap().into_string().unwrap();
        let stream = OpenOptions::new().read(true).write(true).open(name).unwrap();
        let size = Winsize {
            ws_row: 40,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&stream, size).unwrap();
        let mut command = user.command(arguments);
        command.env("TERM", "xterm-256color");
        command.stdin(Stdio::from(stream.try_clone().unwrap()));
        command.stdout(Stdio::from(stream.try_clone().unwrap()));
        let child = command.stderr(Stdio::from(stream)).spawn().unwrap();
        Self {
            child,
            screen: File::from(screen),
            shown: String::new(),
        }
    }

    /// Reads until these words are there.
    fn until(&mut self, words: &str) {
        while !self.shown.contains(words) {
            assert!(self.read(), "{words:?} is not in {:?}", self.shown);
        }
    }

    /// Reads on; `false` once the program has closed the terminal.
    fn read(&mut self) -> bool {
        let mut piece = [0; 1024];
        // Linux has an error for a terminal that nobody holds any more.
        let read = self.screen.read(&mut piece).unwrap_or(0);
        self.shown += &String::from_utf8_lossy(&piece[..read]);
        read > 0
    }

    fn say(&mut self, line: &str) {
        self.screen.write_all(line.as_bytes()).unwrap();
        self.screen.write_all(b"\n").unwrap();
    }

    fn end(mut self) -> (i32, String) {
        while self.read() {}
        (self.child.wait().unwrap().code().unwrap_or(-1), self.shown)
    }
}

/// Ctrl-C.
fn interrupt(child: &Child) {
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn what_cannot_be_undone_is_named_and_asked_for() {
    let operator = User::new();
    let project = operator.project("example.com");
    let (_, key) = operator.key(&project, &[]);
    let server = operator.serve(&[]);
    let user = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let keyword = user
        .run(&["keywords", "create", "standing \u{1b}[31mdesk", "--json"])
        .json();
    let id = keyword["id"].as_str().unwrap();
    for (answer, code) in [("n", 1), ("", 1), ("y", 0)] {
        assert_eq!(user.run(&["keywords", "get", id]).code, 0, "still there");
        let mut terminal = Terminal::start(&user, WIDE, &["keywords", "delete", id]);
        terminal.until("Go on? [y/N] ");
        for words in [
            "Delete from keywords: \"standing \u{fffd}[31mdesk\"",
            "Fern (example.com)",
        ] {
            assert!(
                terminal.shown.contains(words),
                "{words:?} in {:?}",
                terminal.shown
            );
        }
        terminal.say(answer);
        let (ended, shown) = terminal.end();
        assert_eq!(
            (ended, shown.contains("nothing was done")),
            (code, code == 1),
            "{shown}"
        );
    }
    user.run(&["keywords", "get", id]).refuses(4, &["not_found"]);

    let post = user
        .run(&["posts", "create", "--title", "Desks that stand", "--json"])
        .json();
    let post = post["id"].as_str().unwrap();
    for (command, words) in [
        (
            &["posts", "publish", post][..],
            "Publish, for everybody to see, the post \"Desks that stand\"",
        ),
        (
            &["posts", "publish", post, "--provider", "ghost", "--mode", "draft"],
            "Deliver as a draft the post",
        ),
        (
            &["posts", "unpublish", post],
            "Unpublish the post \"Desks that stand\"",
        ),
        (
            &["posts", "generate", post],
            "Write the missing text of the post \"Desks that stand\"",
        ),
        (&["keywords", "generate"], "may be charged"),
        (
            &["keywords", "metrics", "desk", "--max-cost", "0.5"],
            "at most $0.5",
        ),
    ] {
        user.run(command)
            .refuses(2, &[words, "needs consent", "hint: ", "--yes"]);
    }
    let unknown = "00000000-0000-7000-8000-000000000000";
    for command in [
        &["posts", "publish", unknown][..],
        &["posts", "publish", unknown, "--yes"],
        &["keywords", "delete", unknown],
    ] {
        user.run(command).refuses(4, &["not_found"]);
    }
    assert_eq!(
        user.run(&["jobs", "list", "--json"]).json()["data"],
        json!([]),
        "nothing was started"
    );
}

#[test]
fn dry_runs_do_nothing_and_are_refused_where_there_are_none() {
    let operator = User::new();
    let (_, key) = operator.key(&operator.project("example.com"), &[]);
    let server = operator.serve(&[]);
    let user = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let file = user.path("list.csv");
    std::fs::write(&file, "keyword\nstanding desk\n").unwrap();
    let at = format!("@{}", file.display());
    let planned = user
        .run(&["keywords", "import", &at, "--dry-run", "--json"])
        .json();
    assert_eq!(planned["dryRun"], true, "{planned}");
    user.run(&["keywords", "create", "desk", "--dry-run"]).refuses(
        2,
        &["keywords create has no --dry-run", "nothing was done", "hint: "],
    );
    user.run(&["posts", "publish", "x", "--dry-run", "--yes"])
        .refuses(
            2,
            &[
                "posts publish has no --dry-run",
                "without --yes it says what it would do",
            ],
        );
    user.run(&["keywords", "list", "--dry-run"])
        .refuses(2, &["it only reads"]);
    assert_eq!(
        user.run(&["keywords", "list", "--json"]).json()["data"],
        json!([])
    );
}

#[test]
fn waiting_is_shown_and_an_interruption_says_how_to_go_on() {
    // A website that takes connections and never answers.
    let site = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = site.local_addr().unwrap().to_string();
    let operator = User::new();
    let (_, key) = operator.key(&operator.project(&format!("http://{address}")), &[]);
    let server = operator.serve(&["--allow-outbound", &format!("crawl={address}")]);
    let user = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let mut terminal = Terminal::start(&user, WIDE, &["audits", "start", "--wait"]);
    terminal.until("URLs fetched");
    interrupt(&terminal.child);
    let (code, shown) = terminal.end();
    assert_eq!(code, 130, "{shown}");
    let running = user.run(&["audits", "current", "--json"]).json();
    let id = running["id"].as_str().unwrap();
    for words in [
        "error: interrupted: the audit goes on",
        "hint: ",
        "searchwright audits start --wait",
        id,
    ] {
        assert!(shown.contains(words), "{words:?} in {shown}");
    }
    assert!(running["finishedAt"].is_null(), "{running}");
    user.run(&["audits", "cancel", id]);
}

#[test]
fn events_are_watched_as_they_happen() {
    let operator = User::new();
    let project = operator.project("example.com");
    let (_, key) = operator.key(&project, &[]);
    let server = operator.serve(&[]);
    let user = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let create = |title: &str| user.run(&["posts", "create", "--title", title, "--json"]).json();
    create("Before");
    let mut terminal = Terminal::start(&user, WIDE, &["watch", "--types", "post.created,post.published"]);
    terminal.until("watching; Ctrl-C ends it");
    create("After");
    terminal.until("\"After\"");
    interrupt(&terminal.child);
    let (code, shown) = terminal.end();
    assert_eq!(
        (code, shown.contains("post.created"), shown.contains("Before")),
        (0, true, false),
        "{shown}"
    );

    let mut child = user.command(&["watch", "--all", "--jsonl"]).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut text = String::new();
    let mut piece = [0; 1024];
    while text.lines().filter(|line| line.ends_with('}')).count() < 2 {
        let read = out.read(&mut piece).unwrap();
        assert!(read > 0, "{text}");
        text += &String::from_utf8_lossy(&piece[..read]);
    }
    interrupt(&child);
    let titles: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["data"]["title"].clone())
        .collect();
    assert_eq!(titles, [json!("Before"), json!("After")]);
    let ended = Outcome::of(child);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    user.run(&["watch", "--types", "post.gone"])
        .refuses(2, &["post.gone"]);

    let print = |arguments: &[&str]| user.run(&[&["open"], arguments].concat());
    let page = print(&[]);
    assert_eq!((page.code, page.err.as_str()), (0, ""), "{page:?}");
    assert_eq!(page.out, format!("{}/projects/{project}\n", server.url));
    let of = |arguments: &[&str]| print(arguments).out.trim().to_owned();
    assert_eq!(
        of(&["posts", "0a-1"]),
        format!("{}/projects/{project}/posts/0a-1", server.url)
    );
    assert_eq!(
        of(&["keys", "--project", "p"]),
        format!("{}/projects/p/settings/keys", server.url)
    );
    assert_eq!(of(&["projects"]), format!("{}/projects", server.url));
    print(&["keywords", "1"]).refuses(2, &["no pages of single records", "posts"]);
    print(&["posts", "../x"]).refuses(2, &["is not an id"]);
    print(&["post"]).refuses(2, &["posts"]);
}

#[test]
fn ids_are_whole_on_a_terminal_of_80_columns() {
    let website = Website::new(60);
    let site = website.expected.origin.clone();
    let address = site.trim_start_matches("http://");
    let operator = User::new();
    let (_, key) = operator.key(&operator.project(&site), &[]);
    let server = operator.serve(&["--allow-outbound", &format!("crawl={address}")]);
    let user = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let audited = user.run(&["audits", "start", "--wait"]);
    assert_eq!(audited.code, 0, "{audited:?}");
    for (list, columns) in [
        (["audits", "list"], &["id"][..]),
        (["issues", "list"], &["id", "checkId"]),
        (["pages", "list"], &["id"]),
    ] {
        let records = user.run(&[&list[..], &["--json"]].concat()).json();
        let records = records["data"].as_array().unwrap();
        assert!(!records.is_empty(), "{list:?}");
        for (width, more) in [
            (80, &[][..]),
            (80, &["--all"]),
            (80, &["--fields", "id"]),
            (300, &[]),
        ] {
            let terminal = Terminal::start(&user, width, &[&list[..], more].concat());
            let (code, shown) = terminal.end();
            assert_eq!(code, 0, "{shown}");
            for record in records {
                for column in columns.iter().filter(|column| more.len() < 2 || **column == "id") {
                    let id = record[*column].as_str().unwrap();
                    let is_whole = |line: &str| line.split_whitespace().any(|word| word == id);
                    assert!(shown.lines().any(is_whole), "{list:?} {width}: {id} in {shown}");
                }
            }
            let is_table = width == 300 || more.len() == 2;
            assert_eq!(
                shown.trim_start().starts_with(char::is_uppercase),
                is_table,
                "{shown}"
            );
        }
        let piped = user.run(&list);
        assert_eq!(
            piped.out.lines().count(),
            records.len() + 1,
            "a pipe has no width"
        );
    }
}
