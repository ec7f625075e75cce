use std::{path::Path, time::Duration};

use searchwright_contract::{Clock, Instant};
use searchwright_outbound::test_server::client;
use uuid::Uuid;

use super::{
    super::{
        conformance::item_lives_until_it_is_unpublished,
        tests::{NOON, connection, item},
    },
    Files,
};
use crate::{
    Context,
    error::{Trouble, Why},
    publisher::Publisher as _,
};

fn files(root: &Path, folder: &str) -> Result<Files, Trouble> {
    let context = Context {
        client: client(Duration::from_secs(60)),
        clock: Clock::fixed(Instant::from_millis(NOON)),
        folder: root.to_owned(),
        scratch: root.join("scratch"),
        visits: std::sync::Arc::default(),
        project: Uuid::nil(),
        delivery: Uuid::nil(),
    };
    let settings = [("folder", folder), ("baseUrl", "https://example.com/blog/")];
    let map = [("title", "title"), ("content", "content"), ("tags", "tags")];
    Files::new(&context, connection(&settings, &[], &map))
}

#[tokio::test]
async fn folder_keeps_a_post_until_it_is_unpublished() {
    let root = tempfile::tempdir().unwrap();
    let publisher = files(root.path(), "content/blog").unwrap();
    item_lives_until_it_is_unpublished(&publisher).await;
    let folder = root.path().join("content/blog");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["c-d.md", "images"], "nothing unfinished is left");
    let image = std::fs::read(folder.join("images/searchwright-0a1b.png")).unwrap();
    assert_eq!(image, b"\x89PNG");
}

#[tokio::test]
async fn folder_is_never_left() {
    let root = tempfile::tempdir().unwrap();
    for folder in ["..", "../other", "content/../../other"] {
        let Err(Trouble::Refused {
            why: Why::Invalid, ..
        }) = files(root.path(), folder)
        else {
            panic!("{folder}")
        };
    }
}

#[tokio::test]
async fn error_of_the_file_system_is_a_refusal() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("content"), "a file").unwrap();
    let answer = files(root.path(), "content").unwrap().create(&item()).await;
    assert!(
        matches!(
            &answer,
            Err(Trouble::Refused {
                why: Why::Invalid,
                said: Some(_)
            })
        ),
        "{answer:?}"
    );
}
