//! Against a bare repository and the real program.

use std::{collections::BTreeMap, path::Path, process::Command};

use searchwright_contract::Instant;
use uuid::Uuid;

use super::Git;
use crate::{
    Clock,
    providers::outbound::{Outbound, Settings},
    publishing::{
        self, Context, Marker,
        publisher::{Connection, Item, Picture, Publisher as _, Visible, Wanted},
        trouble::{Trouble, Why},
    },
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
    let settings = publishing::Settings {
        outbound: Outbound::new(&Settings::new("test")).unwrap(),
        folder: folder.to_owned(),
        scratch: folder.join("scratch"),
        origin: String::new(),
    };
    let context = Context::new(&settings, Clock::system(), Uuid::nil(), Uuid::nil());
    let pairs = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    };
    let connection = Connection {
        settings: pairs(&[
            ("repository", &format!("file://{}", repository.display())),
            ("folder", "content/posts"),
            ("baseUrl", "https://example.com/posts/"),
        ]),
        map: pairs(&[("title", "title"), ("content", "content"), ("tags", "tags")]),
        ..Connection::default()
    };
    Git::new(&context, connection).unwrap()
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
    let hook = bare.join("hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\necho 'main is protected' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
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
