//! Backups: made beside a running server, checked, put back, and never half.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::program::{Outcome, User, files, terminate};

/// A user with a project, a key, a keyword, a webhook with its secret, and a published file.
struct Shop {
    user: User,
    key: String,
}

impl Shop {
    fn new() -> Self {
        let user = User::new();
        let (_, key) = user.key(&user.project("example.com"), &[]);
        let published = user.path("data/published/blog");
        fs::create_dir_all(&published).unwrap();
        fs::write(published.join("oak.html"), "<p>Oak</p>").unwrap();
        let shop = Self { user, key };
        shop.calls(&[
            &["keywords", "create", "desk"],
            &["webhooks", "create", "https://93.184.216.34/hook", "*"],
        ]);
        shop
    }

    /// Runs commands against a server on the data folder.
    fn calls(&self, commands: &[&[&str]]) -> Vec<Value> {
        let server = self.user.serve(&["--set", "backups.every_hours=0"]);
        let answers = commands
            .iter()
            .map(|command| self.call(&server.url, command))
            .collect();
        assert_eq!(server.stop().0.code(), Some(0));
        answers
    }

    fn call(&self, url: &str, command: &[&str]) -> Value {
        let caller = User::new()
            .with("SEARCHWRIGHT_URL", url)
            .with("SEARCHWRIGHT_KEY", &self.key);
        caller.run(&[command, &["--json"]].concat()).json()
    }

    /// Records that people would look for after a restore.
    fn state(&self) -> Vec<Value> {
        let mut lists = self.calls(&[&["keywords", "list"], &["webhooks", "list"]]);
        lists.push(json!(
            fs::read_to_string(self.user.path("data/published/blog/oak.html")).ok()
        ));
        lists
    }

    /// Makes a backup; its folder.
    fn back_up(&self) -> PathBuf {
        let made = self.user.run(&["backup", "--json"]).json();
        made["path"].as_str().unwrap().into()
    }

    fn restore(&self, backup: &Path, more: &[&str]) -> Outcome {
        self.user
            .run(&[&["restore", backup.to_str().unwrap()], more].concat())
    }

    /// Folder of the newest backup.
    fn newest(&self) -> PathBuf {
        let folder = self.user.path("data/backups");
        let newest = names(&folder)
            .into_iter()
            .rfind(|name| name.starts_with("searchwright-"));
        folder.join(newest.unwrap())
    }

    /// Takes everything but the backups and the sealing key.
    fn wipe(&self) {
        for entry in fs::read_dir(self.user.path("data")).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("backups") {
                fs::remove_dir_all(path).unwrap();
            } else if path.is_file() && !path.ends_with("sealing.key") {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

/// Names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_was_backed_up_beside_a_server_is_there_after_a_restore() {
    let shop = Shop::new();
    let before = shop.state();
    let server = shop.user.serve(&["--set", "backups.every_hours=0"]);
    let made = shop.user.run(&["backup", "--json"]).json();
    let backup: PathBuf = made["path"].as_str().unwrap().into();
    assert_eq!(
        names(&backup),
        ["manifest.json", "published", "searchwright.sqlite"]
    );
    assert_eq!(
        (&made["files"], &made["rows"]["keywords"]),
        (&json!(2), &json!(1))
    );
    assert!(
        made["sealingKey"]
            .as_str()
            .unwrap()
            .ends_with("/data/sealing.key")
    );
    let plain = shop.user.run(&["backup"]);
    assert!(
        plain.out.contains("sealing key is not in it") && plain.out.contains("sealing.key apart"),
        "{plain:?}"
    );
    // what comes after a backup is not in it
    shop.call(&server.url, &["keywords", "create", "chair"]);
    shop.restore(&backup, &[])
        .refuses(4, &["in use", "stop the server"]);
    drop(server);

    shop.restore(&backup, &[])
        .refuses(4, &["has a database already", "--force"]);
    shop.wipe();
    let restored = shop.restore(&backup, &["--json"]).json();
    assert_eq!(
        (&restored["createdAt"], &restored["setAside"]),
        (&made["createdAt"], &json!(null))
    );
    assert_eq!(shop.state(), before);

    // over a database that is there: it is set aside as a whole
    shop.calls(&[&["keywords", "create", "lamp"]]);
    let aside = shop.restore(&backup, &["--force", "--json"]).json();
    let aside: PathBuf = aside["setAside"].as_str().unwrap().into();
    assert_eq!(shop.state(), before);
    assert!(aside.join("searchwright.sqlite").exists() && aside.join("published").exists());
    for name in names(&aside) {
        fs::remove_dir_all(shop.user.path("data").join(&name)).ok();
        fs::remove_file(shop.user.path("data").join(&name)).ok();
        fs::rename(aside.join(&name), shop.user.path("data").join(&name)).unwrap();
    }
    assert_eq!(shop.state()[0]["data"].as_array().unwrap().len(), 2);
}

#[test]
fn backups_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let shop = Shop::new();
    let backup = shop.back_up();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for folder in [
        backup.clone(),
        backup.join("published/blog"),
        shop.user.path("data/backups"),
    ] {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
    for file in files(&shop.user.path("data/backups")) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    let key = fs::read(shop.user.path("data/sealing.key")).unwrap();
    for file in files(&backup) {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(key.len()).any(|w| w == key), "{}", file.display());
    }
}

#[test]
fn a_backup_that_was_changed_is_refused_and_nothing_is_touched() {
    let shop = Shop::new();
    let backup = shop.back_up();
    let before = files(&shop.user.path("data"));
    let database = backup.join("searchwright.sqlite");
    let whole = fs::read(&database).unwrap();
    for at in [0, whole.len() / 2, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        fs::write(&database, flipped).unwrap();
        shop.restore(&backup, &["--force"])
            .refuses(1, &["damaged", "searchwright.sqlite", "SHA-256"]);
    }
    fs::write(&database, &whole[..whole.len() - 1]).unwrap();
    shop.restore(&backup, &["--force"])
        .refuses(1, &["damaged", "bytes"]);
    fs::write(&database, &whole).unwrap();
    fs::write(backup.join("published/blog/oak.html"), "<p>Ash</p>").unwrap();
    shop.restore(&backup, &["--force"])
        .refuses(1, &["damaged", "oak.html"]);
    fs::write(backup.join("published/blog/oak.html"), "<p>Oak</p>").unwrap();

    let manifest = fs::read_to_string(backup.join("manifest.json")).unwrap();
    for (from, to, code, word) in [
        ("\"format\": 1", "\"format\": 2", 2, "newer than this program"),
        ("published/blog", "../published/blog", 1, "names"),
        ("{", "", 1, "manifest.json"),
    ] {
        fs::write(backup.join("manifest.json"), manifest.replacen(from, to, 1)).unwrap();
        shop.restore(&backup, &["--force"]).refuses(code, &[word]);
    }
    fs::remove_file(backup.join("manifest.json")).unwrap();
    shop.restore(&backup, &["--force"])
        .refuses(2, &["is not a backup", "manifest.json"]);
    fs::write(backup.join("manifest.json"), manifest).unwrap();
    assert_eq!(files(&shop.user.path("data")), before);
    assert_eq!(shop.restore(&backup, &["--force"]).code, 0);
}

#[test]
fn a_schema_of_a_later_program_is_refused() {
    let shop = Shop::new();
    let other = shop.user.path("later");
    fs::create_dir(&other).unwrap();
    fs::copy(
        shop.user.path("data/searchwright.sqlite"),
        other.join("searchwright.sqlite"),
    )
    .unwrap();
    let later = rusqlite::Connection::open(other.join("searchwright.sqlite")).unwrap();
    later
        .execute_batch("INSERT INTO schema_migrations VALUES (9999, '9999_later', 'x')")
        .unwrap();
    drop(later);
    let at = ["--data-dir", other.to_str().unwrap()];
    shop.user
        .run(&[&["backup"], &at[..]].concat())
        .refuses(1, &["9999", "update the program"]);
    assert_eq!(names(&other.join("backups")), [".lock"], "nothing half is left");
}

#[test]
fn a_restore_needs_the_sealing_key_of_the_backup() {
    let shop = Shop::new();
    let backup = shop.back_up();
    let right = fs::read(shop.user.path("data/sealing.key")).unwrap();
    let elsewhere = shop.user.path("elsewhere");
    let at = ["--data-dir", elsewhere.to_str().unwrap()];
    shop.restore(&backup, &at)
        .refuses(4, &["sealing.key is missing", "hint: copy the sealing.key"]);
    fs::write(elsewhere.join("sealing.key"), [7; 32]).unwrap();
    shop.restore(&backup, &at)
        .refuses(4, &["is not the sealing key of this backup"]);
    fs::write(elsewhere.join("sealing.key"), "x").unwrap();
    shop.restore(&backup, &at)
        .refuses(4, &["is no file of sealing keys"]);
    assert_eq!(names(&elsewhere), ["sealing.key", "server.lock"]);
    fs::write(elsewhere.join("sealing.key"), right).unwrap();
    assert_eq!(shop.restore(&backup, &at).code, 0);
    assert!(elsewhere.join("published/blog/oak.html").exists());
}

#[test]
fn old_backups_are_removed_and_whatever_is_no_backup_stays() {
    let shop = Shop::new();
    let first = shop.back_up();
    let second = shop.back_up();
    // a copy that lost a file is no backup, and does not count as one
    fs::remove_file(first.join("searchwright.sqlite")).unwrap();
    let left = shop.user.path("data/backups/.partial-20200101T000000Z-1");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("searchwright.sqlite"), "half").unwrap();
    let third = shop.user.run(&["backup", "--keep", "2", "--json"]).json();
    assert!(first.exists() && second.exists() && !left.exists());
    let fourth = shop.user.run(&["backup", "--keep", "1", "--json"]).json();
    let folder = shop.user.path("data/backups");
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut kept = vec![
        ".lock".to_owned(),
        name(&first),
        name(Path::new(fourth["path"].as_str().unwrap())),
    ];
    kept.sort();
    assert_eq!(names(&folder), kept, "{third}");
    shop.user.run(&["backup", "--keep", "0"]).refuses(2, &["--keep"]);
}

#[test]
fn what_cannot_be_backed_up_says_why() {
    let user = User::new();
    user.run(&["backup"]).refuses(2, &["no database", "--data-dir"]);
    user.run(&["restore", "nowhere"])
        .refuses(2, &["is not a backup", "manifest.json"]);
    let postgres = ["--database-url", "postgres://someone:hush@127.0.0.1/db"];
    let refused = user.run(&[&["backup"], &postgres[..]].concat());
    refused.refuses(2, &["PostgreSQL", "pg_dump --format=custom"]);
    assert!(!refused.err.contains("hush"));
    user.run(&[&["restore", "x"], &postgres[..]].concat())
        .refuses(2, &["PostgreSQL", "pg_restore"]);
    let shop = Shop::new();
    fs::write(shop.user.path("file"), "").unwrap();
    shop.user
        .run(&["backup", "--to", "file/backups"])
        .refuses(1, &["file/backups"]);
}

/// The worker is the only process that can make backups of an embedded database without a server.
#[test]
fn worker_without_a_server_makes_backups() {
    let shop = Shop::new();
    let mut worker = shop.user.command(&["worker"]).spawn().unwrap();
    let folder = shop.user.path("data/backups");
    let is_made = || {
        let is_backup = |name: &String| name.starts_with("searchwright-");
        folder.exists() && names(&folder).iter().any(is_backup)
    };
    while !is_made() {
        assert!(worker.try_wait().unwrap().is_none(), "it ended");
        std::thread::yield_now();
    }
    shop.user
        .run(&["worker"])
        .refuses(1, &["in use", "workers beside servers need PostgreSQL"]);
    terminate(&worker);
    let ended = Outcome::of(worker);
    assert!(
        ended.code == 0 && ended.err.contains("a backup was made"),
        "{ended:?}"
    );
    assert_eq!(shop.restore(&shop.newest(), &["--force"]).code, 0);
}

#[test]
fn worker_whose_backup_fails_tells_it() {
    let shop = Shop::new();
    fs::write(shop.user.path("data/taken"), "a file").unwrap();
    let set = ["--set", "backups.folder=taken/backups"];
    let mut worker = shop
        .user
        .command(&[&["worker"], &set[..]].concat())
        .spawn()
        .unwrap();
    let database = rusqlite::Connection::open(shop.user.path("data/searchwright.sqlite")).unwrap();
    let notices = || -> i64 {
        let notices = "SELECT count(*) FROM notices WHERE kind = 'backup_failed' AND ended_at IS NULL";
        database.query_row(notices, [], |row| row.get(0)).unwrap()
    };
    while notices() == 0 {
        assert!(worker.try_wait().unwrap().is_none(), "it ended");
        std::thread::yield_now();
    }
    let seen = shop.user.run(&[&["doctor"], &set[..]].concat());
    assert!(seen.code == 1 && seen.out.contains("FAIL backups"), "{seen:?}");
    terminate(&worker);
    let ended = Outcome::of(worker);
    assert!(
        ended.code == 0 && ended.err.contains("the backup failed"),
        "{ended:?}"
    );
}

/// A process that is killed leaves no backup that is half, and the next one is whole.
#[test]
fn a_killed_backup_is_none() {
    let shop = Shop::new();
    let folder = shop.user.path("data/backups");
    let database = rusqlite::Connection::open(shop.user.path("data/searchwright.sqlite")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE filling (data BLOB);
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 64)
             INSERT INTO filling SELECT randomblob(1 << 20) FROM n",
        )
        .unwrap();
    drop(database);
    let mut child = shop.user.command(&["backup"]).spawn().unwrap();
    let is_partial = || names(&folder).iter().any(|name| name.starts_with(".partial-"));
    while child.try_wait().unwrap().is_none() && !(folder.exists() && is_partial()) {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let whole = || {
        let is_backup = |name: &String| name.starts_with("searchwright-");
        names(&folder).iter().filter(|name| is_backup(name)).count()
    };
    let early = whole();
    let backup = shop.back_up();
    assert_eq!(whole(), early + 1);
    assert!(!is_partial(), "{:?}", names(&folder));
    assert_eq!(shop.restore(&backup, &["--force"]).code, 0);
}

/// A process that is killed leaves the old state or the new one.
#[test]
fn a_killed_restore_is_whole_or_none() {
    let shop = Shop::new();
    let backup = shop.back_up();
    let new = shop.state();
    shop.calls(&[&["keywords", "create", "lamp"]]);
    let old = shop.state();
    for turn in 0..6 {
        let mut child = shop
            .user
            .command(&["restore", backup.to_str().unwrap(), "--force"])
            .spawn()
            .unwrap();
        // each time a little later, as far as that can be said without a clock
        let seen = |word: &str| {
            names(&shop.user.path("data"))
                .iter()
                .any(|name| name.starts_with(word))
        };
        let mut looks = 0;
        while child.try_wait().unwrap().is_none() && looks < turn {
            if seen(".restore-") || seen("restore-under-way") {
                looks += 1;
            }
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        let found = shop.state();
        assert!(found == old || found == new, "turn {turn}: {found:?}");
        assert!(!seen("restore-under-way"));
    }
}
