//! Secrets that the servers reject, and servers that misbehave.

use std::{fs, time::Duration};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{BareRepository, GitFixture, GitStep, Transport};

const TITLE: &str = "A post for the bad days";
const SLUG: &str = "bad-days";
/// GitHub's answer to a deploy key that may only read.
const READ_ONLY: &str = "ERROR: The key you are authenticating with has been marked as read only.\n";

pub(super) const STEPS: [GitStep; 10] = [
    ("a hook that declines", reject_by_hook),
    ("wrong secret", reject_wrong_secret),
    ("secret taken back", reject_revoked_secret),
    ("wrong host key, or a certificate of nobody", reject_impostor),
    ("a repository that is not there", report_missing_repository),
    ("a secret that may only read", reject_read_only_secret),
    ("redirects to another host", refuse_redirects),
    (
        "servers that say nothing, or too little",
        time_out_on_silent_servers,
    ),
    ("servers that are none of git", reject_servers_without_git),
    ("a port that may not be reached", deny_ports),
];

fn reject_by_hook(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.create_post(TITLE, SLUG)?;
    let before = fixture.repository.log()?;
    fixture
        .repository
        .install_hook("pre-receive", "echo 'main is closed on Fridays' >&2\nexit 1")?;
    let said = fixture.expect_failure(&id, "permission_refused");
    fixture.repository.remove_hook("pre-receive")?;
    let said = said?;
    ensure!(said.contains("main is closed on Fridays"), "{said}");
    ensure!(fixture.repository.log()? == before, "something was pushed");
    fixture.publish_live(&id)?;
    fixture.find_only_file(&id, SLUG)?;
    Ok(said)
}

fn reject_wrong_secret(fixture: &mut GitFixture) -> Result<String> {
    let (said, _) = fixture.expect_refusal(
        fixture.repository_url(),
        &fixture.wrong_secret()?,
        "credential_refused",
    )?;
    let status = fixture.status()?;
    ensure!(status == "ready", "the connection there was is {status}");
    Ok(shorten(&said))
}

fn reject_revoked_secret(fixture: &mut GitFixture) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    fixture.edit_post(&id, "2")?;
    let before = fixture.repository.log()?;
    fixture.rotate_secret()?;
    let said = fixture.expect_failure(&id, "credential_refused")?;
    let status = fixture.status()?;
    ensure!(status == "reauthorization_required", "it is {status}");
    ensure!(fixture.repository.log()? == before, "something was pushed");
    let status = fixture.connect()?;
    ensure!(status == "ready", "after it was connected again it is {status}");
    fixture.publish_live(&id)?;
    ensure!(
        fixture.find_only_file(&id, SLUG)?.contains("Edition 2."),
        "it is not edition 2"
    );
    Ok(said)
}

fn reject_impostor(fixture: &mut GitFixture) -> Result<String> {
    let before = fixture.repository.log()?;
    if fixture.transport == Transport::Https {
        let settings = fixture.settings(fixture.repository_url())?;
        let said = match fixture
            .product
            .connect(&fixture.project, &settings, &fixture.secret, false)?
        {
            Ok(connected) => anyhow::bail!("it connects: {connected}"),
            Err(said) => said,
        };
        ensure!(said.contains("no secure connection"), "{said}");
        return Ok(shorten(&said));
    }
    let id = fixture.post_id(TITLE)?;
    fixture.edit_post(&id, "3")?;
    fixture.servers.new_host_key()?;
    let said = fixture.expect_failure(&id, "credential_refused")?;
    let status = fixture.status()?;
    ensure!(status == "reauthorization_required", "it is {status}");
    ensure!(fixture.repository.log()? == before, "something was pushed");
    fixture.connect()?;
    fixture.publish_live(&id)?;
    ensure!(
        fixture.find_only_file(&id, SLUG)?.contains("Edition 3."),
        "it is not edition 3"
    );
    Ok(said)
}

fn report_missing_repository(fixture: &mut GitFixture) -> Result<String> {
    let nowhere = fixture.url_for("127.0.0.1", "nowhere.git");
    let (said, _) = fixture.expect_refusal(nowhere, &fixture.secret, "remote_missing")?;
    let id = fixture.post_id(TITLE)?;
    fixture.edit_post(&id, "4")?;
    let away = fixture.servers.folder.join("away.git");
    fs::rename(&fixture.repository.path, &away)?;
    let outcome = fixture.expect_failure(&id, "remote_missing");
    fs::rename(&away, &fixture.repository.path)?;
    outcome?;
    fixture.publish_live(&id)?;
    Ok(shorten(&said))
}

/// Covers a repository with content and an empty one.
fn reject_read_only_secret(fixture: &mut GitFixture) -> Result<String> {
    let empty = format!("empty-{:?}.git", fixture.transport).to_lowercase();
    let bare = BareRepository::create(&fixture.servers.folder, &empty)?;
    let close = |fixture: &GitFixture, is_closed: bool| -> Result<()> {
        match fixture.transport {
            Transport::Ssh => fixture.servers.deny("push", is_closed.then_some(READ_ONLY)),
            Transport::Https => {
                let open = if is_closed { "false" } else { "true" };
                for path in [&bare.path, &fixture.repository.path] {
                    super::repository::run_git(path, &["config", "http.receivepack", open])?;
                }
                Ok(())
            }
        }
    };
    close(fixture, true)?;
    let own = fixture.expect_refusal(fixture.repository_url(), &fixture.secret, "permission_refused");
    let other = fixture.url_for("127.0.0.1", &empty);
    let other = fixture.expect_refusal(other, &fixture.secret, "permission_refused");
    let id = fixture.post_id(TITLE)?;
    fixture.edit_post(&id, "5")?;
    let published = fixture.expect_failure(&id, "permission_refused");
    close(fixture, false)?;
    published?;
    other?;
    fixture.publish_live(&id)?;
    Ok(shorten(&own?.0))
}

/// Applies to HTTPS only: ssh has no redirects.
fn refuse_redirects(fixture: &mut GitFixture) -> Result<String> {
    if fixture.transport == Transport::Ssh {
        return Ok("knows no such thing".to_owned());
    }
    let mut said = String::new();
    for (scheme, port) in [("http", fixture.servers.http), ("https", fixture.servers.https)] {
        let whole = format!("{scheme}://127.0.0.1:{port}/moved/https.git");
        said = fixture
            .expect_refusal(whole, &fixture.secret, "unreadable_answer")?
            .0;
        // the first half is answered, and what is to be written is sent elsewhere
        let half = format!("{scheme}://127.0.0.1:{port}/half/https.git");
        let before = fixture.repository.log()?;
        fixture.with_new_project(|fixture| {
            if let Err(said) = fixture.connect_to(half, &fixture.secret)? {
                anyhow::bail!("{said}");
            }
            fixture.save_mapping()?;
            let id = fixture.create_post("Sent elsewhere", "sent-elsewhere")?;
            fixture.expect_failure(&id, "unreadable_answer").map(drop)
        })?;
        ensure!(fixture.repository.log()? == before, "something was pushed");
    }
    let received = fixture.elsewhere.received();
    ensure!(received.is_empty(), "it went there: {received}");
    Ok(shorten(&said))
}

fn time_out_on_silent_servers(fixture: &mut GitFixture) -> Result<String> {
    let mut times = Vec::new();
    let ports = [fixture.silent.port, fixture.trickling.port];
    for (port, most) in ports.into_iter().zip([40, 100]) {
        let address = match fixture.transport {
            Transport::Ssh => format!("ssh://git@127.0.0.1:{port}/blog.git"),
            Transport::Https => format!("http://127.0.0.1:{port}/blog.git"),
        };
        let (_, took) = fixture.expect_refusal(address, &fixture.secret, "connect")?;
        ensure!(took < Duration::from_secs(most), "after {} s", took.as_secs());
        times.push(format!("{} s", took.as_secs()));
    }
    Ok(format!("refused after {}", times.join(" and ")))
}

/// Covers a web page and a server that echoes the credentials.
fn reject_servers_without_git(fixture: &mut GitFixture) -> Result<String> {
    if fixture.transport == Transport::Ssh {
        return Ok("knows no such thing".to_owned());
    }
    let page = format!("https://127.0.0.1:{}/page/blog.git", fixture.servers.https);
    let (said, _) = fixture.expect_refusal(page, &fixture.secret, "unreadable_answer")?;
    let id = fixture.post_id(TITLE)?;
    fixture.edit_post(&id, "6")?;
    let echo = fixture.servers.folder.join("echo");
    fs::write(&echo, "")?;
    let echoed = fixture.expect_failure(&id, "permission_refused");
    fs::remove_file(echo)?;
    let echoed = echoed?;
    ensure!(echoed.contains("you sent Basic [secret]"), "{echoed}");
    Ok(shorten(&said))
}

fn deny_ports(fixture: &mut GitFixture) -> Result<String> {
    let port = fixture.denied.port;
    for host in ["127.0.0.1", "localhost", "0x7f.1", "[::ffff:127.0.0.1]"] {
        let address = match fixture.transport {
            Transport::Ssh => format!("ssh://git@{host}:{port}/blog.git"),
            Transport::Https => format!("http://{host}:{port}/blog.git"),
        };
        fixture.expect_refusal(address, &fixture.secret, "address_denied")?;
    }
    let received = fixture.denied.received();
    ensure!(received.is_empty(), "it was asked: {received}");
    let wrong = json!({});
    fixture.expect_refusal(fixture.repository_url(), &wrong, "credential_refused")?;
    Ok("nothing was asked".to_owned())
}

/// Returns a message without the log before it, as one line of at most 160 characters.
fn shorten(said: &str) -> String {
    let said = said.split_once("error: ").map_or(said, |(_, said)| said);
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(160).collect()
}
