//! Secrets that are not let in, and other sides that are not what they should be.

use std::{fs, time::Duration};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{Bare, Over, Stage, Step};

const TITLE: &str = "A post for the bad days";
const SLUG: &str = "bad-days";
/// What GitHub says to a deploy key that may only read.
const READ_ONLY: &str = "ERROR: The key you are authenticating with has been marked as read only.\n";

pub(super) const STEPS: [Step; 10] = [
    ("a hook that declines", declined),
    ("wrong secret", wrong),
    ("secret taken back", revoked),
    ("wrong host key, or a certificate of nobody", impostor),
    ("a repository that is not there", missing),
    ("a secret that may only read", read_only),
    ("redirects to another host", redirected),
    ("servers that say nothing, or too little", silent),
    ("servers that are none of git", no_git),
    ("a port that may not be reached", denied),
];

fn declined(stage: &mut Stage) -> Result<String> {
    let id = stage.write(TITLE, SLUG)?;
    let before = stage.repository.log()?;
    stage
        .repository
        .hook("pre-receive", "echo 'main is closed on Fridays' >&2\nexit 1")?;
    let said = stage.fails(&id, "permission_refused");
    stage.repository.unhook("pre-receive")?;
    let said = said?;
    ensure!(said.contains("main is closed on Fridays"), "{said}");
    ensure!(stage.repository.log()? == before, "something was pushed");
    stage.live(&id)?;
    stage.only(&id, SLUG)?;
    Ok(said)
}

fn wrong(stage: &mut Stage) -> Result<String> {
    let (said, _) = stage.refused(stage.own(), &stage.wrong_secret()?, "credential_refused")?;
    let status = stage.status()?;
    ensure!(status == "ready", "the connection there was is {status}");
    Ok(shown(&said))
}

fn revoked(stage: &mut Stage) -> Result<String> {
    let id = stage.id(TITLE)?;
    stage.edit(&id, "2")?;
    let before = stage.repository.log()?;
    stage.new_secret()?;
    let said = stage.fails(&id, "credential_refused")?;
    let status = stage.status()?;
    ensure!(status == "reauthorization_required", "it is {status}");
    ensure!(stage.repository.log()? == before, "something was pushed");
    let status = stage.connect()?;
    ensure!(status == "ready", "after it was connected again it is {status}");
    stage.live(&id)?;
    ensure!(
        stage.only(&id, SLUG)?.contains("Edition 2."),
        "it is not edition 2"
    );
    Ok(said)
}

fn impostor(stage: &mut Stage) -> Result<String> {
    let before = stage.repository.log()?;
    if stage.over == Over::Https {
        let settings = stage.settings(stage.own())?;
        let said = match stage
            .product
            .connect(&stage.project, &settings, &stage.secret, false)?
        {
            Ok(connected) => anyhow::bail!("it connects: {connected}"),
            Err(said) => said,
        };
        ensure!(said.contains("no secure connection"), "{said}");
        return Ok(shown(&said));
    }
    let id = stage.id(TITLE)?;
    stage.edit(&id, "3")?;
    stage.servers.new_host_key()?;
    let said = stage.fails(&id, "credential_refused")?;
    let status = stage.status()?;
    ensure!(status == "reauthorization_required", "it is {status}");
    ensure!(stage.repository.log()? == before, "something was pushed");
    stage.connect()?;
    stage.live(&id)?;
    ensure!(
        stage.only(&id, SLUG)?.contains("Edition 3."),
        "it is not edition 3"
    );
    Ok(said)
}

fn missing(stage: &mut Stage) -> Result<String> {
    let nowhere = stage.address("127.0.0.1", "nowhere.git");
    let (said, _) = stage.refused(nowhere, &stage.secret, "remote_missing")?;
    let id = stage.id(TITLE)?;
    stage.edit(&id, "4")?;
    let away = stage.servers.folder.join("away.git");
    fs::rename(&stage.repository.path, &away)?;
    let outcome = stage.fails(&id, "remote_missing");
    fs::rename(&away, &stage.repository.path)?;
    outcome?;
    stage.live(&id)?;
    Ok(shown(&said))
}

/// Of a repository with something in it, and of an empty one.
fn read_only(stage: &mut Stage) -> Result<String> {
    let empty = format!("empty-{:?}.git", stage.over).to_lowercase();
    let bare = Bare::make(&stage.servers.folder, &empty)?;
    let close = |stage: &Stage, is_closed: bool| -> Result<()> {
        match stage.over {
            Over::Ssh => stage.servers.deny("push", is_closed.then_some(READ_ONLY)),
            Over::Https => {
                let open = if is_closed { "false" } else { "true" };
                for path in [&bare.path, &stage.repository.path] {
                    super::repository::git(path, &["config", "http.receivepack", open])?;
                }
                Ok(())
            }
        }
    };
    close(stage, true)?;
    let own = stage.refused(stage.own(), &stage.secret, "permission_refused");
    let other = stage.address("127.0.0.1", &empty);
    let other = stage.refused(other, &stage.secret, "permission_refused");
    let id = stage.id(TITLE)?;
    stage.edit(&id, "5")?;
    let published = stage.fails(&id, "permission_refused");
    close(stage, false)?;
    published?;
    other?;
    stage.live(&id)?;
    Ok(shown(&own?.0))
}

/// Not over ssh, which knows no such thing.
fn redirected(stage: &mut Stage) -> Result<String> {
    if stage.over == Over::Ssh {
        return Ok("knows no such thing".to_owned());
    }
    let mut said = String::new();
    for (scheme, port) in [("http", stage.servers.http), ("https", stage.servers.https)] {
        let whole = format!("{scheme}://127.0.0.1:{port}/moved/https.git");
        said = stage.refused(whole, &stage.secret, "unreadable_answer")?.0;
        // the first half is answered, and what is to be written is sent elsewhere
        let half = format!("{scheme}://127.0.0.1:{port}/half/https.git");
        let before = stage.repository.log()?;
        stage.aside(|stage| {
            if let Err(said) = stage.connect_to(half, &stage.secret)? {
                anyhow::bail!("{said}");
            }
            stage.map()?;
            let id = stage.write("Sent elsewhere", "sent-elsewhere")?;
            stage.fails(&id, "unreadable_answer").map(drop)
        })?;
        ensure!(stage.repository.log()? == before, "something was pushed");
    }
    let heard = stage.elsewhere.heard();
    ensure!(heard.is_empty(), "it went there: {heard}");
    Ok(shown(&said))
}

fn silent(stage: &mut Stage) -> Result<String> {
    let mut times = Vec::new();
    let ports = [stage.silent.port, stage.trickling.port];
    for (port, most) in ports.into_iter().zip([40, 100]) {
        let address = match stage.over {
            Over::Ssh => format!("ssh://git@127.0.0.1:{port}/blog.git"),
            Over::Https => format!("http://127.0.0.1:{port}/blog.git"),
        };
        let (_, took) = stage.refused(address, &stage.secret, "connect")?;
        ensure!(took < Duration::from_secs(most), "after {} s", took.as_secs());
        times.push(format!("{} s", took.as_secs()));
    }
    Ok(format!("refused after {}", times.join(" and ")))
}

/// A page of something else, and a server that repeats what it was sent.
fn no_git(stage: &mut Stage) -> Result<String> {
    if stage.over == Over::Ssh {
        return Ok("knows no such thing".to_owned());
    }
    let page = format!("https://127.0.0.1:{}/page/blog.git", stage.servers.https);
    let (said, _) = stage.refused(page, &stage.secret, "unreadable_answer")?;
    let id = stage.id(TITLE)?;
    stage.edit(&id, "6")?;
    let echo = stage.servers.folder.join("echo");
    fs::write(&echo, "")?;
    let echoed = stage.fails(&id, "permission_refused");
    fs::remove_file(echo)?;
    let echoed = echoed?;
    ensure!(echoed.contains("you sent Basic [secret]"), "{echoed}");
    Ok(shown(&said))
}

fn denied(stage: &mut Stage) -> Result<String> {
    let port = stage.denied.port;
    for host in ["127.0.0.1", "localhost", "0x7f.1", "[::ffff:127.0.0.1]"] {
        let address = match stage.over {
            Over::Ssh => format!("ssh://git@{host}:{port}/blog.git"),
            Over::Https => format!("http://{host}:{port}/blog.git"),
        };
        stage.refused(address, &stage.secret, "address_denied")?;
    }
    let heard = stage.denied.heard();
    ensure!(heard.is_empty(), "it was asked: {heard}");
    let wrong = json!({});
    stage.refused(stage.own(), &wrong, "credential_refused")?;
    Ok("nothing was asked".to_owned())
}

/// What was said, without the log before it, in a line that is not too long.
fn shown(said: &str) -> String {
    let said = said.split_once("error: ").map_or(said, |(_, said)| said);
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(160).collect()
}
