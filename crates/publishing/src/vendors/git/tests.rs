//! Against a bare repository and the real program.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    path::Path,
    process::Command,
    time::Duration,
};

use searchwright_contract::{Clock, Instant};
use searchwright_outbound::{Outbound, Settings};
use url::Url;
use uuid::Uuid;

use super::{
    super::{conformance::item_lives_until_it_is_unpublished, tests::connection},
    Git,
};
use crate::{
    Context, Marker,
    error::{Trouble, Why},
    publisher::{Item, Picture, Publisher as _, Remote, Visible, Wanted},
};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args([
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.com",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap()
}

fn publisher(repository: &Path, folder: &Path) -> Git {
    reaching(&format!("file://{}", repository.display()), folder)
}

/// A publisher that may reach ports of loopback that the address names.
fn reaching(repository: &str, folder: &Path) -> Git {
    let mut outbound = Settings::new("test");
    outbound.allow = Url::parse(repository)
        .ok()
        .and_then(|url| url.port())
        .map(|port| format!("publish=127.0.0.1:{port}").parse().unwrap())
        .into_iter()
        .collect();
    let settings = crate::Settings {
        outbound: Outbound::new(&outbound).unwrap(),
        folder: folder.to_owned(),
        scratch: folder.join("scratch"),
        visits: std::sync::Arc::default(),
        origin: String::new(),
    };
    let context = Context::new(&settings, Clock::system(), Uuid::nil(), Uuid::nil());
    let connection = connection(
        &[
            ("repository", repository),
            ("folder", "content/posts"),
            ("baseUrl", "https://example.com/posts/"),
        ],
        &[("token", "a-token-of-ours")],
        &[("title", "title"), ("content", "content"), ("tags", "tags")],
    );
    Git::new(&context, connection).unwrap()
}

/// A server that answers every request like this, and repeats the header that the secret is in.
fn answering(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(&client).lines().map_while(Result::ok);
            let own: String = lines
                .by_ref()
                .take_while(|line| !line.is_empty())
                .filter(|line| status != "200 OK" && line.starts_with("Authorization"))
                .collect();
            let length = own.len();
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n");
            // Who goes away early has not asked for it.
            let _ = (&client).write_all(format!("{head}Connection: close\r\n\r\n{own}").as_bytes());
        }
    });
    format!("http://{address}/blog.git")
}

/// A file by somebody else, in a folder that is a clone.
fn commit(work: &Path, file: &str, text: &str) {
    let path = work.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    git(work, &["add", "-A"]);
    git(work, &["commit", "--quiet", "-m", "by somebody else"]);
}

fn hook(bare: &Path, text: &str) {
    let hook = bare.join("hooks/pre-receive");
    std::fs::write(&hook, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

fn item(text: &str) -> Item {
    Item {
        marker: Marker::new(Uuid::from_u128(7), text.as_bytes()),
        live: true,
        title: "A \"title\": with\nlines".to_owned(),
        slug: "a-title".to_owned(),
        html: String::new(),
        markdown: text.to_owned(),
        excerpt: None,
        meta_title: None,
        meta_description: None,
        tags: vec!["a".to_owned()],
        categories: Vec::new(),
        author: None,
        language: "en".to_owned(),
        canonical_url: None,
        published_at: Instant::from_millis(0),
        picture: None,
    }
}

#[tokio::test]
async fn a_post_is_a_commit_and_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join("blog.git");
    git(folder.path(), &["init", "--quiet", "--bare", "blog.git"]);
    let publisher = publisher(&bare, folder.path());
    publisher.check().await.unwrap();
    let first = item("01234567 first");
    let wanted = |id| Wanted {
        id,
        marker: &first.marker,
        slug: "a-title",
    };
    assert!(publisher.find(&wanted(None)).await.unwrap().is_empty());

    let made = publisher.create(&first).await.unwrap();
    assert_eq!(
        (made.id.as_str(), made.url.as_deref()),
        ("a-title.md", Some("https://example.com/posts/a-title/"))
    );
    assert_eq!(
        publisher.find(&wanted(None)).await.unwrap(),
        std::slice::from_ref(&made)
    );
    // What is there already is no commit.
    publisher.create(&first).await.unwrap();
    assert_eq!(git(&bare, &["rev-list", "--count", "main"]).trim(), "1");

    // Somebody else's commit stays, and a new slug moves the file.
    git(folder.path(), &["clone", "--quiet", "blog.git", "work"]);
    let work = folder.path().join("work");
    std::fs::write(work.join("content/posts/other.md"), "---\ncover: x\n---\nhello").unwrap();
    git(&work, &["add", "-A"]);
    git(&work, &["commit", "--quiet", "-m", "other"]);
    git(&work, &["push", "--quiet", "origin", "HEAD:main"]);
    let mut second = item("89abcdef second");
    second.slug = "moved".to_owned();
    let moved = publisher.update(&made, &second).await.unwrap();
    git(&work, &["pull", "--quiet", "origin", "main"]);
    let mut names: Vec<String> = std::fs::read_dir(work.join("content/posts"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["moved.md", "other.md"]);
    assert_eq!(
        publisher.find(&wanted(Some("moved.md"))).await.unwrap(),
        std::slice::from_ref(&moved)
    );
    let fields = publisher.fields(None, None).await.unwrap();
    assert!(fields.iter().any(|field| field.id == "cover"), "{fields:?}");

    let taken = publisher.unpublish(&moved).await.unwrap();
    assert_eq!(taken.visible, Visible::Draft);
    assert_eq!(publisher.find(&wanted(Some("moved.md"))).await.unwrap(), [taken]);

    let picture = Picture {
        name: "searchwright-1.png".to_owned(),
        media_type: "image/png",
        bytes: bytes::Bytes::from_static(b"\x89PNG"),
        alt: None,
    };
    let uploaded = publisher.upload(&picture).await.unwrap();
    assert_eq!(uploaded.reference, "content/posts/images/searchwright-1.png");
    assert_eq!(
        git(&bare, &["show", "--stat", "--format=%s", "main"])
            .lines()
            .next(),
        Some("Add searchwright-1.png")
    );
}

#[tokio::test]
async fn repository_keeps_a_post_until_it_is_unpublished() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--bare", "blog.git"]);
    let publisher = publisher(&folder.path().join("blog.git"), folder.path());
    item_lives_until_it_is_unpublished(&publisher).await;
}

#[tokio::test]
async fn what_is_no_repository_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let publisher = publisher(&folder.path().join("none.git"), folder.path());
    let trouble = publisher.check().await.unwrap_err();
    assert!(
        matches!(
            trouble,
            Trouble::Refused {
                why: Why::Missing,
                ..
            }
        ),
        "{trouble:?}"
    );
}

#[tokio::test]
async fn a_hook_that_refuses_is_heard() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--bare", "blog.git"]);
    let bare = folder.path().join("blog.git");
    hook(&bare, "echo 'main is protected' >&2\nexit 1");
    let trouble = publisher(&bare, folder.path())
        .create(&item("01234567 x"))
        .await
        .unwrap_err();
    let Trouble::Refused {
        why: Why::Permission,
        said: Some(said),
    } = trouble
    else {
        panic!("{trouble:?}")
    };
    assert!(said.contains("main is protected"), "{said}");
}

/// A repository with a post of ours, of which somebody else has a copy.
async fn shared() -> (tempfile::TempDir, Git, Remote) {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--bare", "blog.git"]);
    let publisher = publisher(&folder.path().join("blog.git"), folder.path());
    let made = publisher.create(&item("01234567 first")).await.unwrap();
    git(folder.path(), &["clone", "--quiet", "blog.git", "work"]);
    (folder, publisher, made)
}

#[tokio::test]
async fn what_others_did_since_it_was_looked_at_stays() {
    let (folder, publisher, made) = shared().await;
    let (bare, work) = (folder.path().join("blog.git"), folder.path().join("work"));
    commit(&work, "content/posts/a-title.md", "Theirs.\n");
    commit(&work, "content/posts/taken.md", "Theirs.\n");
    git(&work, &["push", "--quiet", "origin", "HEAD:main"]);
    let wanted = Wanted {
        id: Some("a-title.md"),
        marker: made.marker.as_ref().unwrap(),
        slug: "a-title",
    };
    let seen = publisher.find(&wanted).await.unwrap().remove(0);
    let mut moved = item("89abcdef second");
    moved.slug = "taken".to_owned();
    for (what, done) in [
        ("changed", publisher.update(&made, &item("89abcdef second")).await),
        ("made", publisher.create(&moved).await),
        ("moved", publisher.update(&seen, &moved).await),
    ] {
        assert!(
            matches!(
                done,
                Err(Trouble::Refused {
                    why: Why::Conflict,
                    ..
                })
            ),
            "{what}: {done:?}"
        );
    }
    for file in ["a-title.md", "taken.md"] {
        let there = git(&bare, &["show", &format!("main:content/posts/{file}")]);
        assert_eq!(there, "Theirs.\n", "{file}");
    }
    publisher.update(&seen, &item("89abcdef second")).await.unwrap();
}

#[tokio::test]
async fn a_push_of_somebody_else_in_between_stays_and_is_no_hindrance() {
    let (folder, publisher, made) = shared().await;
    let (bare, work) = (folder.path().join("blog.git"), folder.path().join("work"));
    commit(&work, "README.md", "Theirs.\n");
    let push = format!(
        "[ -e once ] && exit 0\ntouch once\nunset $(git rev-parse --local-env-vars) GIT_QUARANTINE_PATH\n\
         git -C '{}' push --quiet origin HEAD:main",
        work.display()
    );
    hook(&bare, &push);
    publisher.update(&made, &item("89abcdef second")).await.unwrap();
    assert_eq!(git(&bare, &["rev-list", "--count", "main"]).trim(), "3");
    assert_eq!(git(&bare, &["show", "main:README.md"]), "Theirs.\n");
    assert!(git(&bare, &["show", "main:content/posts/a-title.md"]).contains("second"));
}

#[tokio::test]
async fn an_empty_answer_is_no_empty_repository() {
    let folder = tempfile::tempdir().unwrap();
    let trouble = reaching(&answering("200 OK"), folder.path()).check().await;
    assert!(
        matches!(
            trouble,
            Err(Trouble::Refused {
                why: Why::Unreadable,
                ..
            })
        ),
        "{trouble:?}"
    );
}

#[tokio::test]
async fn a_server_that_repeats_the_token_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let trouble = reaching(&answering("403 Forbidden"), folder.path()).check().await;
    let Err(Trouble::Refused {
        why: Why::Permission,
        said: Some(said),
    }) = trouble
    else {
        panic!("{trouble:?}")
    };
    assert!(said.contains("Basic [secret]"), "{said}");
}

fn too_large<T: std::fmt::Debug>(done: Result<T, Trouble>) -> String {
    let Err(Trouble::Refused {
        why: Why::TooLarge,
        said: Some(said),
    }) = done
    else {
        panic!("{done:?}")
    };
    said
}

/// A repository of somebody else, in which files are as large as they say.
fn with_files(files: &[(&str, usize)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--bare", "blog.git"]);
    git(folder.path(), &["clone", "--quiet", "blog.git", "work"]);
    let work = folder.path().join("work");
    for (name, size) in files {
        let path = work.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x".repeat(*size)).unwrap();
    }
    commit(&work, ".gitmodules", "");
    git(&work, &["push", "--quiet", "origin", "HEAD:main"]);
    folder
}

#[tokio::test]
async fn a_folder_of_too_much_is_an_error_and_nothing_is_read() {
    // One file of many names, which is small as long as it is packed.
    let folder = with_files(&[("content/posts/0.md", 20 << 20)]);
    let work = folder.path().join("work");
    let id = git(&work, &["rev-parse", "HEAD:content/posts/0.md"]);
    for n in 1..30 {
        let entry = format!("100644,{},content/posts/{n}.md", id.trim());
        git(&work, &["update-index", "--add", "--cacheinfo", &entry]);
    }
    git(&work, &["commit", "--quiet", "-m", "by somebody else"]);
    git(&work, &["push", "--quiet", "origin", "HEAD:main"]);
    let publisher = publisher(&folder.path().join("blog.git"), folder.path());
    let first = item("01234567 first");
    let wanted = Wanted {
        id: None,
        marker: &first.marker,
        slug: "a-title",
    };
    for said in [
        too_large(publisher.find(&wanted).await),
        too_large(publisher.fields(None, None).await),
    ] {
        assert!(said.contains("at most 64 MiB"), "{said}");
    }

    // One that is too large for a post of ours is no hindrance to others.
    let folder = with_files(&[("content/posts/0.md", 3 << 20), ("content/posts/small.md", 100)]);
    let publisher = self::publisher(&folder.path().join("blog.git"), folder.path());
    let made = publisher.create(&first).await.unwrap();
    assert_eq!(publisher.find(&wanted).await.unwrap(), [made]);
    let mut other = item("89abcdef second");
    other.slug = "0".to_owned();
    let said = too_large(publisher.create(&other).await);
    assert!(said.contains("at most 2 MiB"), "{said}");
}

#[tokio::test]
async fn a_post_is_found_among_more_than_is_read_at_a_time() {
    let size = 2_000_000;
    let names: Vec<String> = (0..12).map(|n| format!("content/posts/b{n:02}.md")).collect();
    let files: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), size)).collect();
    let folder = with_files(&files);
    let work = folder.path().join("work");
    // the files on both sides of the large ones have front matter
    for name in ["a", "c"] {
        let text = format!("---\nkey_of_{name}: x\n---\nhello");
        commit(&work, &format!("content/posts/{name}.md"), &text);
    }
    git(&work, &["push", "--quiet", "origin", "HEAD:main"]);
    let publisher = publisher(&folder.path().join("blog.git"), folder.path());
    let fields = publisher.fields(None, None).await.unwrap();
    for key in ["key_of_a", "key_of_c"] {
        assert!(fields.iter().any(|field| field.id == key), "{fields:?}");
    }
    let first = item("01234567 first");
    let made = publisher.create(&first).await.unwrap();
    let by_id = |id| Wanted {
        id: Some(id),
        marker: &first.marker,
        slug: "another",
    };
    assert_eq!(
        publisher.find(&by_id("none")).await.unwrap(),
        std::slice::from_ref(&made)
    );
    let found = publisher.find(&by_id("b07.md")).await.unwrap();
    let ids: Vec<&str> = found.iter().map(|remote| remote.id.as_str()).collect();
    assert_eq!(ids, [made.id.as_str(), "b07.md"]);
}

#[tokio::test]
async fn pictures_are_not_fetched_and_what_is_fetched_has_a_limit() {
    let folder = with_files(&[("content/posts/old.md", 100)]);
    let (bare, work) = (folder.path().join("blog.git"), folder.path().join("work"));
    // A file that no packing makes smaller.
    let mut state = 1_u64;
    let noise: String = (0..4 << 20)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(33 + u8::try_from((state >> 40) % 90).unwrap())
        })
        .collect();
    commit(&work, "photo.png", &noise);
    git(&work, &["push", "--quiet", "origin", "HEAD:main"]);
    let mut publisher = publisher(&bare, folder.path());
    publisher.scratch_bytes = 1 << 20;
    let said = too_large(publisher.check().await);
    assert!(said.contains("1 MiB"), "{said}");
    let left = std::fs::read_dir(folder.path().join("scratch")).unwrap().count();
    assert_eq!(left, 0);

    git(&bare, &["config", "uploadpack.allowFilter", "true"]);
    publisher.check().await.unwrap();
    let first = item("01234567 first");
    let made = publisher.create(&first).await.unwrap();
    let wanted = Wanted {
        id: Some("a-title.md"),
        marker: &first.marker,
        slug: "a-title",
    };
    assert_eq!(
        publisher.find(&wanted).await.unwrap(),
        std::slice::from_ref(&made)
    );
    publisher.update(&made, &item("89abcdef second")).await.unwrap();
    assert_eq!(git(&bare, &["show", "main:photo.png"]), noise);
    assert!(git(&bare, &["show", "main:content/posts/a-title.md"]).contains("second"));
    git(&bare, &["fsck", "--strict"]);
}

#[tokio::test]
async fn git_ends_with_the_call_that_it_runs_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let publisher = reaching(&format!("http://{address}/blog.git"), folder.path());
    let call = tokio::spawn(async move { publisher.check().await });
    let asked = tokio::task::spawn_blocking(move || listener.accept().unwrap().0);
    let mut client = asked.await.unwrap();
    call.abort();
    // It never gets an answer, and goes away long before its own time is up.
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let end = tokio::task::spawn_blocking(move || client.read_to_end(&mut Vec::new()));
    end.await.unwrap().unwrap();
}
