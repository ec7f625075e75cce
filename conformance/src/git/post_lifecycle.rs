//! Posts from the first connection to the last update, also with others who push and with a product that is killed.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use super::{GitFixture, GitStep, product::text};

const TITLE: &str = "Desks \"and\" chairs: für Anfänger";
const SLUG: &str = "desks-and-chairs";
/// Time until a hook runs.
const HOOK_TIMEOUT: Duration = Duration::from_secs(60);
/// A hook that creates the file `reached` and waits for the file `go`, at most a minute.
const PAUSING_HOOK: &str = "touch \"$folder/reached\"\nn=0\nwhile [ ! -e \"$folder/go\" ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done";

pub(super) const STEPS: [GitStep; 14] = [
    ("connect an empty repository, and map", connect_repository),
    ("connect by name and by IPv6", connect_by_name),
    ("live", publish_new_post),
    ("again without a change", publish_unchanged_post),
    ("update, and another slug", update_post),
    ("featured image of 2 MiB", publish_image),
    ("unpublish and publish again", unpublish_post),
    ("changed by somebody else", detect_remote_change),
    ("a slug that somebody else's file has", refuse_taken_slug),
    ("push of somebody else in between", publish_after_foreign_push),
    ("the post is changed in between", detect_concurrent_change),
    (
        "push of somebody else while ours is judged",
        publish_during_foreign_push,
    ),
    ("kill -9 while a push is judged, and after it", survive_kill),
    ("asked to stop while a push is judged", survive_stop),
];

fn connect_repository(fixture: &mut GitFixture) -> Result<String> {
    let status = fixture.connect()?;
    ensure!(status == "needs_mapping", "it is {status}");
    fixture.save_mapping()?;
    let status = fixture.status()?;
    ensure!(status == "ready", "it is {status}");
    Ok(status)
}

/// Each is reached at the address that was checked, and authenticated by the host key or the certificate of its name.
fn connect_by_name(fixture: &mut GitFixture) -> Result<String> {
    let mut hosts = vec!["localhost"];
    if fixture.servers.has_ipv6 {
        hosts.push("[::1]");
    }
    let name = format!("{:?}.git", fixture.transport).to_lowercase();
    for host in &hosts {
        let address = fixture.url_for(host, &name);
        fixture.with_new_project(|fixture| match fixture.connect_to(address, &fixture.secret)? {
            Ok(_) => Ok(()),
            Err(said) => bail!("{host}: {said}"),
        })?;
    }
    Ok(hosts.join(", "))
}

fn publish_new_post(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.create_post(TITLE, SLUG)?;
    fixture.publish_live(&id)?;
    let file = fixture.find_only_file(&id, SLUG)?;
    for part in ["draft: false", "Edition 1.", "für Anfänger"] {
        ensure!(file.contains(part), "{part} is not in {file}");
    }
    let log = fixture.repository.log()?;
    ensure!(log == [format!("Publish: {TITLE}")], "{log:?}");
    let url = text(&fixture.product.post(&fixture.project, &id)?, "/publishedUrl")?;
    ensure!(url == format!("https://example.com/posts/{SLUG}/"), "{url}");
    Ok(url)
}

fn publish_unchanged_post(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    fixture.publish_live(&id)?;
    let error = fixture.publish(&id, &["--force", "true"])?;
    ensure!(error.is_null(), "{error}");
    let log = fixture.repository.log()?;
    ensure!(log.len() == 1, "{log:?}");
    Ok("one commit".to_owned())
}

fn update_post(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    fixture.edit_post(&id, "2")?;
    fixture.publish_live(&id)?;
    ensure!(
        fixture.find_only_file(&id, SLUG)?.contains("Edition 2."),
        "it is not edition 2"
    );
    fixture
        .product
        .change(&fixture.project, &id, &["--slug", "moved"])?;
    fixture.publish_live(&id)?;
    fixture.find_only_file(&id, "moved")?;
    fixture.product.change(&fixture.project, &id, &["--slug", SLUG])?;
    fixture.publish_live(&id)?;
    fixture.find_only_file(&id, SLUG)?;
    let files = fixture.repository.files()?;
    ensure!(files.len() == 1, "{files:?}");
    Ok(format!("{} commits, one file", fixture.repository.log()?.len()))
}

fn publish_image(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    let image = format!(
        r#"{{"url":"http://127.0.0.1:{}/desk.gif","alt":"A desk"}}"#,
        fixture.pictures.port
    );
    fixture
        .product
        .change(&fixture.project, &id, &["--featured-image", &image])?;
    fixture.publish_live(&id)?;
    let file = fixture.find_only_file(&id, SLUG)?;
    fixture.edit_post(&id, "3")?;
    fixture.publish_live(&id)?;
    let mut images = fixture.repository.files()?;
    images.retain(|file| file.starts_with("static/images/"));
    ensure!(images.len() == 1, "{images:?}");
    let there = fixture.repository.read(&images[0])?;
    ensure!(
        there == **fixture.picture,
        "the picture has {} bytes",
        there.len()
    );
    let name = images[0].replace("static/images/", "/images/");
    ensure!(
        file.contains(&format!("image: \"{name}\"")),
        "no {name} in {file}"
    );
    Ok(name)
}

fn unpublish_post(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    let job = fixture
        .product
        .start_publishing(&fixture.project, &["unpublish", &id])?;
    let error = fixture.product.wait_for_job(&fixture.project, &id, &job)?;
    ensure!(error.is_null(), "{error}");
    let file = fixture.find_only_file(&id, SLUG)?;
    ensure!(
        file.contains("draft: true") && file.contains("Edition 3."),
        "{file}"
    );
    let post = fixture.product.post(&fixture.project, &id)?;
    ensure!(post["status"] == "draft", "the post is {}", post["status"]);
    fixture.publish_live(&id)?;
    ensure!(
        fixture.find_only_file(&id, SLUG)?.contains("draft: false"),
        "it stays a draft"
    );
    Ok("same file".to_owned())
}

fn detect_remote_change(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    let theirs = format!("{}\nTheir words.\n", fixture.find_only_file(&id, SLUG)?);
    fixture
        .repository
        .commit(&format!("content/posts/{SLUG}.md"), &theirs, "Their words")?;
    fixture.edit_post(&id, "4")?;
    fixture.expect_failure(&id, "remote_changed")?;
    ensure!(fixture.find_only_file(&id, SLUG)? == theirs, "it was overwritten");
    let error = fixture.publish(&id, &["--force", "true"])?;
    ensure!(error.is_null(), "{error}");
    ensure!(
        fixture.find_only_file(&id, SLUG)?.contains("Edition 4."),
        "it is not edition 4"
    );
    ensure!(
        fixture.repository.log()?.contains(&"Their words".to_owned()),
        "their commit is lost"
    );
    Ok("remote_changed, then force".to_owned())
}

/// Covers a new post and one that was published before.
fn refuse_taken_slug(fixture: &mut GitFixture) -> Result<String> {
    fixture
        .repository
        .commit("content/posts/taken.md", "Theirs.\n", "Taken")?;
    let id = fixture.create_post("Late", "taken")?;
    fixture.expect_failure(&id, "slug_conflict")?;
    fixture
        .product
        .change(&fixture.project, &id, &["--slug", "free"])?;
    fixture.publish_live(&id)?;
    fixture.find_only_file(&id, "free")?;
    fixture
        .product
        .change(&fixture.project, &id, &["--slug", "taken"])?;
    fixture.expect_failure(&id, "slug_conflict")?;
    fixture.find_only_file(&id, "free")?;
    ensure!(
        fixture.repository.read("content/posts/taken.md")? == b"Theirs.\n",
        "it was overwritten"
    );
    Ok("slug_conflict, also where it is there already".to_owned())
}

/// The foreign push comes after our fetch and before our push.
fn publish_after_foreign_push(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    let script = fixture
        .repository
        .prepare_script("README.md", "Theirs.\n", "In between")?;
    fixture.servers.run_before("push", 0, &script)?;
    fixture.edit_post(&id, "5")?;
    fixture.publish_live(&id)?;
    fixture.servers.check_script_ran("push")?;
    let log = fixture.repository.log()?;
    ensure!(log[1] == "In between", "{log:?}");
    ensure!(
        fixture.repository.read("README.md")? == b"Theirs.\n",
        "their file is lost"
    );
    ensure!(
        fixture.find_only_file(&id, SLUG)?.contains("Edition 5."),
        "it is not edition 5"
    );
    Ok("on top of it".to_owned())
}

/// The change comes after one of the look-ups of the post, of which a publication makes several.
fn detect_concurrent_change(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    let file = format!("content/posts/{SLUG}.md");
    for (number, (what, skip)) in [("fetch", 1), ("fetch", 2), ("fetch", 3), ("push", 0)]
        .into_iter()
        .enumerate()
    {
        let theirs = format!("{}\nTheir words {number}.\n", fixture.find_only_file(&id, SLUG)?);
        let script = fixture
            .repository
            .prepare_script(&file, &theirs, "Their words again")?;
        fixture.servers.run_before(what, skip, &script)?;
        fixture.edit_post(&id, &format!("6.{number}"))?;
        fixture
            .expect_failure(&id, "remote_changed")
            .with_context(|| format!("before {what} {}", skip + 1))?;
        fixture.servers.check_script_ran(what)?;
        ensure!(
            fixture.find_only_file(&id, SLUG)? == theirs,
            "it was overwritten before {what} {}",
            skip + 1
        );
        let error = fixture.publish(&id, &["--force", "true"])?;
        ensure!(error.is_null(), "{error}");
    }
    Ok("remote_changed, wherever it happens".to_owned())
}

/// The foreign push comes after the server has compared the branch and before it moves it.
fn publish_during_foreign_push(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    let script = fixture
        .repository
        .prepare_script("NEWS.md", "Theirs.\n", "Beside")?;
    let once = format!("[ -e once ] && exit 0\ntouch once\n( {script}\n)");
    fixture.repository.install_hook("pre-receive", &once)?;
    fixture.edit_post(&id, "7")?;
    let outcome = fixture.publish_live(&id);
    fixture.repository.remove_hook("pre-receive")?;
    outcome?;
    let log = fixture.repository.log()?;
    ensure!(log.iter().any(|line| line == "Beside"), "{log:?}");
    ensure!(
        fixture.repository.read("NEWS.md")? == b"Theirs.\n",
        "their file is lost"
    );
    ensure!(
        fixture.find_only_file(&id, SLUG)?.contains("Edition 7."),
        "it is not edition 7"
    );
    Ok("on top of it".to_owned())
}

/// Publishes a post whose push waits in a hook, and calls `act` meanwhile.
fn publish_with_paused_hook(
    fixture: &mut GitFixture,
    hook: &str,
    id: &str,
    act: fn(&mut GitFixture) -> Result<()>,
) -> Result<()> {
    let folder = fixture.servers.folder.clone();
    for name in ["reached", "go"] {
        drop(fs::remove_file(folder.join(name)));
    }
    fixture
        .repository
        .install_hook(hook, &format!("folder='{}'\n{PAUSING_HOOK}", folder.display()))?;
    let job = fixture
        .product
        .start_publishing(&fixture.project, &["publish", id])?;
    let begun = Instant::now();
    while !folder.join("reached").exists() {
        ensure!(begun.elapsed() < HOOK_TIMEOUT, "the hook does not run");
        thread::sleep(Duration::from_millis(20));
    }
    act(fixture)?;
    fs::write(folder.join("go"), "")?;
    let error = fixture.product.wait_for_job(&fixture.project, id, &job)?;
    fixture.repository.remove_hook(hook)?;
    ensure!(error.is_null(), "{error}");
    Ok(())
}

fn survive_kill(fixture: &mut GitFixture) -> Result<String> {
    for hook in ["pre-receive", "post-receive"] {
        let slug = format!("killed-{hook}");
        let id = fixture.create_post(&slug, &slug)?;
        let kill = |fixture: &mut GitFixture| {
            ensure!(!fixture.product.scratch().is_empty(), "nothing was under way");
            fixture.product.kill()?;
            fixture.product.begin()?;
            // it looks while the old push still waits
            thread::sleep(Duration::from_secs(3));
            Ok(())
        };
        publish_with_paused_hook(fixture, hook, &id, kill).with_context(|| format!("new post, {hook}"))?;
        ensure!(
            fixture.find_only_file(&id, &slug)?.contains("draft: false"),
            "it is a draft"
        );
        fixture.edit_post(&id, "2")?;
        publish_with_paused_hook(fixture, hook, &id, kill)
            .with_context(|| format!("changed post, {hook}"))?;
        ensure!(
            fixture.find_only_file(&id, &slug)?.contains("Edition 2."),
            "it is not edition 2"
        );
        let post = fixture.product.post(&fixture.project, &id)?;
        ensure!(post["status"] == "published", "the post is {}", post["status"]);
        let message = format!("Publish: {slug}");
        let commits = fixture
            .repository
            .log()?
            .iter()
            .filter(|line| **line == message)
            .count();
        ensure!(commits == 2, "{commits} commits, not one for each edition");
    }
    Ok("one file, a commit for each edition".to_owned())
}

fn survive_stop(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.create_post("Stopped", "stopped")?;
    let stop = |fixture: &mut GitFixture| {
        let took = fixture.product.stop()?;
        ensure!(
            took < Duration::from_secs(14),
            "it ended after {} s",
            took.as_secs()
        );
        fixture.product.begin()
    };
    publish_with_paused_hook(fixture, "pre-receive", &id, stop)?;
    ensure!(
        fixture.find_only_file(&id, "stopped")?.contains("draft: false"),
        "it is a draft"
    );
    Ok("one file".to_owned())
}

impl GitFixture {
    /// Id of the post with this title.
    pub(super) fn post_id(&self, title: &str) -> Result<String> {
        let all = self.product.call(&self.project, &["posts", "list"])?;
        let all = all["data"].as_array().context("no list")?;
        let found = all.iter().find(|post| post["title"] == title);
        text(
            found.with_context(|| format!("no post is called {title}"))?,
            "/id",
        )
    }
}
