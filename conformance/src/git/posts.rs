//! The life of a few posts, also with others who push and with a product that is killed.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use super::{Stage, Step, product::text};

const TITLE: &str = "Desks \"and\" chairs: für Anfänger";
const SLUG: &str = "desks-and-chairs";
/// Longest until a hook is seen at work.
const REACHED: Duration = Duration::from_secs(60);
/// A hook that says that it runs, and goes on when it is told to.
const WAITING: &str = "touch \"$folder/reached\"\nn=0\nwhile [ ! -e \"$folder/go\" ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done";

pub(super) const STEPS: [Step; 14] = [
    ("connect an empty repository, and map", connect),
    ("connect by name and by IPv6", names),
    ("live", live),
    ("again without a change", unchanged),
    ("update, and another slug", update),
    ("featured image of 2 MiB", image),
    ("unpublish and publish again", unpublish),
    ("changed by somebody else", changed),
    ("a slug that somebody else's file has", taken),
    ("push of somebody else in between", between),
    ("the post is changed in between", changed_between),
    ("push of somebody else while ours is judged", beside),
    ("kill -9 while a push is judged, and after it", killed),
    ("asked to stop while a push is judged", stopped),
];

fn connect(stage: &mut Stage) -> Result<String> {
    let status = stage.connect()?;
    ensure!(status == "needs_mapping", "it is {status}");
    stage.map()?;
    let status = stage.status()?;
    ensure!(status == "ready", "it is {status}");
    Ok(status)
}

/// Each is reached at the address that was judged, and is known by the key or the certificate of its name.
fn names(stage: &mut Stage) -> Result<String> {
    let mut hosts = vec!["localhost"];
    if stage.servers.has_ipv6 {
        hosts.push("[::1]");
    }
    let name = format!("{:?}.git", stage.over).to_lowercase();
    for host in &hosts {
        let address = stage.address(host, &name);
        stage.aside(|stage| match stage.connect_to(address, &stage.secret)? {
            Ok(_) => Ok(()),
            Err(said) => bail!("{host}: {said}"),
        })?;
    }
    Ok(hosts.join(", "))
}

fn live(stage: &mut Stage) -> Result<String> {
    let id = stage.write(TITLE, SLUG)?;
    stage.live(&id)?;
    let file = stage.only(&id, SLUG)?;
    for part in ["draft: false", "Edition 1.", "für Anfänger"] {
        ensure!(file.contains(part), "{part} is not in {file}");
    }
    let log = stage.repository.log()?;
    ensure!(log == [format!("Publish: {TITLE}")], "{log:?}");
    let url = text(&stage.product.post(&stage.project, &id)?, "/publishedUrl")?;
    ensure!(url == format!("https://example.com/posts/{SLUG}/"), "{url}");
    Ok(url)
}

fn unchanged(stage: &mut Stage) -> Result<String> {
    let id = stage.id(TITLE)?;
    stage.live(&id)?;
    let error = stage.publish(&id, &["--force", "true"])?;
    ensure!(error.is_null(), "{error}");
    let log = stage.repository.log()?;
    ensure!(log.len() == 1, "{log:?}");
    Ok("one commit".to_owned())
}

fn update(stage: &mut Stage) -> Result<String> {
    let id = stage.id(TITLE)?;
    stage.edit(&id, "2")?;
    stage.live(&id)?;
    ensure!(
        stage.only(&id, SLUG)?.contains("Edition 2."),
        "it is not edition 2"
    );
    stage.product.change(&stage.project, &id, &["--slug", "moved"])?;
    stage.live(&id)?;
    stage.only(&id, "moved")?;
    stage.product.change(&stage.project, &id, &["--slug", SLUG])?;
    stage.live(&id)?;
    stage.only(&id, SLUG)?;
    let files = stage.repository.files()?;
    ensure!(files.len() == 1, "{files:?}");
    Ok(format!("{} commits, one file", stage.repository.log()?.len()))
}

fn image(stage: &mut Stage) -> Result<String> {
    let id = stage.id(TITLE)?;
    let image = format!(
        r#"{{"url":"http://127.0.0.1:{}/desk.gif","alt":"A desk"}}"#,
        stage.pictures.port
    );
    stage
        .product
        .change(&stage.project, &id, &["--featured-image", &image])?;
    stage.live(&id)?;
    let file = stage.only(&id, SLUG)?;
    stage.edit(&id, "3")?;
    stage.live(&id)?;
    let mut images = stage.repository.files()?;
    images.retain(|file| file.starts_with("static/images/"));
    ensure!(images.len() == 1, "{images:?}");
    let there = stage.repository.read(&images[0])?;
    ensure!(there == **stage.picture, "the picture has {} bytes", there.len());
    let name = images[0].replace("static/images/", "/images/");
    ensure!(
        file.contains(&format!("image: \"{name}\"")),
        "no {name} in {file}"
    );
    Ok(name)
}

fn unpublish(stage: &mut Stage) -> Result<String> {
    let id = stage.id(TITLE)?;
    let job = stage.product.begin_publish(&stage.project, &["unpublish", &id])?;
    let error = stage.product.follow(&stage.project, &id, &job)?;
    ensure!(error.is_null(), "{error}");
    let file = stage.only(&id, SLUG)?;
    ensure!(
        file.contains("draft: true") && file.contains("Edition 3."),
        "{file}"
    );
    let post = stage.product.post(&stage.project, &id)?;
    ensure!(post["status"] == "draft", "the post is {}", post["status"]);
    stage.live(&id)?;
    ensure!(
        stage.only(&id, SLUG)?.contains("draft: false"),
        "it stays a draft"
    );
    Ok("same file".to_owned())
}

fn changed(stage: &mut Stage) -> Result<String> {
    let id = stage.id(TITLE)?;
    let theirs = format!("{}\nTheir words.\n", stage.only(&id, SLUG)?);
    stage
        .repository
        .commit(&format!("content/posts/{SLUG}.md"), &theirs, "Their words")?;
    stage.edit(&id, "4")?;
    stage.fails(&id, "remote_changed")?;
    ensure!(stage.only(&id, SLUG)? == theirs, "it was overwritten");
    let error = stage.publish(&id, &["--force", "true"])?;
    ensure!(error.is_null(), "{error}");
    ensure!(
        stage.only(&id, SLUG)?.contains("Edition 4."),
        "it is not edition 4"
    );
    ensure!(
        stage.repository.log()?.contains(&"Their words".to_owned()),
        "their commit is lost"
    );
    Ok("remote_changed, then force".to_owned())
}

/// Of a new post, and of one that is there already.
fn taken(stage: &mut Stage) -> Result<String> {
    stage
        .repository
        .commit("content/posts/taken.md", "Theirs.\n", "Taken")?;
    let id = stage.write("Late", "taken")?;
    stage.fails(&id, "slug_conflict")?;
    stage.product.change(&stage.project, &id, &["--slug", "free"])?;
    stage.live(&id)?;
    stage.only(&id, "free")?;
    stage.product.change(&stage.project, &id, &["--slug", "taken"])?;
    stage.fails(&id, "slug_conflict")?;
    stage.only(&id, "free")?;
    ensure!(
        stage.repository.read("content/posts/taken.md")? == b"Theirs.\n",
        "it was overwritten"
    );
    Ok("slug_conflict, also where it is there already".to_owned())
}

/// After we fetched, before we push.
fn between(stage: &mut Stage) -> Result<String> {
    let id = stage.id(TITLE)?;
    let script = stage
        .repository
        .prepare_script("README.md", "Theirs.\n", "In between")?;
    stage.servers.before("push", 0, &script)?;
    stage.edit(&id, "5")?;
    stage.live(&id)?;
    stage.servers.has_run("push")?;
    let log = stage.repository.log()?;
    ensure!(log[1] == "In between", "{log:?}");
    ensure!(
        stage.repository.read("README.md")? == b"Theirs.\n",
        "their file is lost"
    );
    ensure!(
        stage.only(&id, SLUG)?.contains("Edition 5."),
        "it is not edition 5"
    );
    Ok("on top of it".to_owned())
}

/// After the post was looked for, before what is pushed was fetched: there is more than one look for each publication.
fn changed_between(stage: &mut Stage) -> Result<String> {
    let id = stage.id(TITLE)?;
    let file = format!("content/posts/{SLUG}.md");
    for (number, (what, skip)) in [("fetch", 1), ("fetch", 2), ("fetch", 3), ("push", 0)]
        .into_iter()
        .enumerate()
    {
        let theirs = format!("{}\nTheir words {number}.\n", stage.only(&id, SLUG)?);
        let script = stage
            .repository
            .prepare_script(&file, &theirs, "Their words again")?;
        stage.servers.before(what, skip, &script)?;
        stage.edit(&id, &format!("6.{number}"))?;
        stage
            .fails(&id, "remote_changed")
            .with_context(|| format!("before {what} {}", skip + 1))?;
        stage.servers.has_run(what)?;
        ensure!(
            stage.only(&id, SLUG)? == theirs,
            "it was overwritten before {what} {}",
            skip + 1
        );
        let error = stage.publish(&id, &["--force", "true"])?;
        ensure!(error.is_null(), "{error}");
    }
    Ok("remote_changed, wherever it happens".to_owned())
}

/// After the other side compared where the branch is, before it moves it.
fn beside(stage: &mut Stage) -> Result<String> {
    let id = stage.id(TITLE)?;
    let script = stage
        .repository
        .prepare_script("NEWS.md", "Theirs.\n", "Beside")?;
    let once = format!("[ -e once ] && exit 0\ntouch once\n( {script}\n)");
    stage.repository.hook("pre-receive", &once)?;
    stage.edit(&id, "7")?;
    let outcome = stage.live(&id);
    stage.repository.unhook("pre-receive")?;
    outcome?;
    let log = stage.repository.log()?;
    ensure!(log.iter().any(|line| line == "Beside"), "{log:?}");
    ensure!(
        stage.repository.read("NEWS.md")? == b"Theirs.\n",
        "their file is lost"
    );
    ensure!(
        stage.only(&id, SLUG)?.contains("Edition 7."),
        "it is not edition 7"
    );
    Ok("on top of it".to_owned())
}

/// A push that waits in a hook; what is done meanwhile.
fn waiting(stage: &mut Stage, hook: &str, id: &str, act: fn(&mut Stage) -> Result<()>) -> Result<()> {
    let folder = stage.servers.folder.clone();
    for name in ["reached", "go"] {
        drop(fs::remove_file(folder.join(name)));
    }
    stage
        .repository
        .hook(hook, &format!("folder='{}'\n{WAITING}", folder.display()))?;
    let job = stage.product.begin_publish(&stage.project, &["publish", id])?;
    let begun = Instant::now();
    while !folder.join("reached").exists() {
        ensure!(begun.elapsed() < REACHED, "the hook does not run");
        thread::sleep(Duration::from_millis(20));
    }
    act(stage)?;
    fs::write(folder.join("go"), "")?;
    let error = stage.product.follow(&stage.project, id, &job)?;
    stage.repository.unhook(hook)?;
    ensure!(error.is_null(), "{error}");
    Ok(())
}

fn killed(stage: &mut Stage) -> Result<String> {
    for hook in ["pre-receive", "post-receive"] {
        let slug = format!("killed-{hook}");
        let id = stage.write(&slug, &slug)?;
        let kill = |stage: &mut Stage| {
            ensure!(!stage.product.scratch().is_empty(), "nothing was under way");
            stage.product.kill()?;
            stage.product.begin()?;
            // it looks while the old push still waits
            thread::sleep(Duration::from_secs(3));
            Ok(())
        };
        waiting(stage, hook, &id, kill).with_context(|| format!("new post, {hook}"))?;
        ensure!(stage.only(&id, &slug)?.contains("draft: false"), "it is a draft");
        stage.edit(&id, "2")?;
        waiting(stage, hook, &id, kill).with_context(|| format!("changed post, {hook}"))?;
        ensure!(
            stage.only(&id, &slug)?.contains("Edition 2."),
            "it is not edition 2"
        );
        let post = stage.product.post(&stage.project, &id)?;
        ensure!(post["status"] == "published", "the post is {}", post["status"]);
        let message = format!("Publish: {slug}");
        let commits = stage
            .repository
            .log()?
            .iter()
            .filter(|line| **line == message)
            .count();
        ensure!(commits == 2, "{commits} commits, not one for each edition");
    }
    Ok("one file, a commit for each edition".to_owned())
}

fn stopped(stage: &mut Stage) -> Result<String> {
    let id = stage.write("Stopped", "stopped")?;
    let stop = |stage: &mut Stage| {
        let took = stage.product.stop()?;
        ensure!(
            took < Duration::from_secs(14),
            "it ended after {} s",
            took.as_secs()
        );
        stage.product.begin()
    };
    waiting(stage, "pre-receive", &id, stop)?;
    ensure!(
        stage.only(&id, "stopped")?.contains("draft: false"),
        "it is a draft"
    );
    Ok("one file".to_owned())
}

impl Stage {
    /// The post of a title.
    pub(super) fn id(&self, title: &str) -> Result<String> {
        let all = self.product.ask(&self.project, &["posts", "list"])?;
        let all = all["data"].as_array().context("no list")?;
        let found = all.iter().find(|post| post["title"] == title);
        text(
            found.with_context(|| format!("no post is called {title}"))?,
            "/id",
        )
    }
}
