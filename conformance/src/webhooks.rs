//! Webhooks of a running server, verified by the libraries of Standard Webhooks and of Svix in Python and JavaScript: with the secret
//! that was given, with the old one after a new one was asked for, and with the new one.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use xtask::{
    libraries,
    process::{Running, free_port, program},
};

use crate::{peer::Peer, product};

/// Time until a delivery.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(60);
/// Lines that a receiver writes for each message: two libraries, a good and a bad body.
const LINES_PER_MESSAGE: usize = 4;

/// Sends tests to both receivers; fails if a library refuses one, or takes one that was changed.
pub(crate) fn check() -> Result<()> {
    let folder = xtask::target().join("peers/webhooks");
    fs::create_dir_all(&folder)?;
    libraries::install(
        &folder,
        include_str!("webhooks/package.json"),
        include_str!("webhooks/requirements.txt"),
    )?;
    let binary = product::build()?;
    let mut receivers = Vec::new();
    for (name, text) in [
        ("receiver.py", include_str!("webhooks/receiver.py")),
        ("receiver.mjs", include_str!("webhooks/receiver.mjs")),
    ] {
        receivers.push(Receiver::start(&folder, name, text)?);
    }
    let product = WebhookProduct::start(binary, &folder.join("data"), &receivers)?;
    for receiver in &mut receivers {
        let made = product.run_command(&[
            "webhooks",
            "create",
            &format!("http://127.0.0.1:{}/", receiver.port),
            "post.published",
        ])?;
        let (id, old) = (text_member(&made, "id")?, text_member(&made, "secret")?);
        receiver.check_message(&product, &id, &old)?;
        let rotated = product.run_command(&["webhooks", "rotate", &id])?;
        receiver.check_message(&product, &id, &old)?;
        receiver.check_message(&product, &id, &text_member(&rotated, "secret")?)?;
    }
    eprintln!("every message was verified by four libraries, and none that was changed");
    Ok(())
}

fn text_member(record: &Value, name: &str) -> Result<String> {
    let word = record.get(name).and_then(Value::as_str);
    Ok(word.with_context(|| format!("no {name} in {record}"))?.to_owned())
}

struct Receiver {
    folder: PathBuf,
    port: u16,
    peer: Peer,
    messages: usize,
}

impl Receiver {
    fn start(packages: &Path, name: &str, text: &str) -> Result<Self> {
        let port = free_port()?;
        let folder = packages.join(name.replace('.', "-"));
        fs::create_dir_all(&folder)?;
        // beside its packages, where JavaScript looks for them
        let file = packages.join(name);
        fs::write(&file, text)?;
        let mut command = if name.ends_with(".py") {
            program(packages.join("venv/bin/python"), None)
        } else {
            program("node", None)
        };
        command.arg(file).arg(port.to_string());
        Ok(Self {
            port,
            peer: Peer::start(name, &folder, command)?,
            folder,
            messages: 0,
        })
    }

    /// Sends a test and checks the verdicts of the libraries with this secret.
    fn check_message(&mut self, product: &WebhookProduct, webhook: &str, secret: &str) -> Result<()> {
        fs::write(self.folder.join("secret"), secret)?;
        product.run_command(&["webhooks", "test", webhook])?;
        self.messages += 1;
        let expected = 1 + LINES_PER_MESSAGE * self.messages;
        let begun = std::time::Instant::now();
        let said = loop {
            let said = fs::read_to_string(&self.peer.log)?;
            if said.lines().count() >= expected {
                break said;
            }
            ensure!(begun.elapsed() < DELIVERY_TIMEOUT, "no message came: {said}");
            std::thread::sleep(Duration::from_millis(20));
        };
        let new: Vec<&str> = said.lines().skip(expected - LINES_PER_MESSAGE).collect();
        eprintln!("{}: {}", self.folder.display(), new.join(", "));
        let valid = new.iter().filter(|line| line.starts_with("VALID "));
        let refused = new.iter().filter(|line| line.starts_with("REFUSED "));
        ensure!(
            valid.count() == 2 && refused.count() == 2,
            "not as the libraries have it"
        );
        Ok(())
    }
}

/// A server with an empty database, driven by its own command line.
struct WebhookProduct {
    binary: PathBuf,
    settings: Vec<(&'static str, String)>,
    _running: Running,
}

impl WebhookProduct {
    fn start(binary: PathBuf, data: &Path, receivers: &[Receiver]) -> Result<Self> {
        if data.exists() {
            fs::remove_dir_all(data)?;
        }
        let (port, mcp) = (free_port()?, free_port()?);
        let mut command = program(&binary, None);
        command.arg("serve").arg("--data-dir").arg(data);
        command.args(["--listen", &format!("127.0.0.1:{port}")]);
        command.args(["--mcp-listen", &format!("127.0.0.1:{mcp}")]);
        for receiver in receivers {
            command
                .arg("--allow-outbound")
                .arg(format!("webhook=127.0.0.1:{}", receiver.port));
        }
        command.stderr(Stdio::null());
        let mut running = Running::start("searchwright serve", &mut command)?;
        running.wait_until(DELIVERY_TIMEOUT, || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        })?;
        let mut product = Self {
            binary,
            settings: vec![("SEARCHWRIGHT_DATA_DIR", data.display().to_string())],
            _running: running,
        };
        let project = product.run_command(&[
            "admin",
            "project",
            "create",
            "--name",
            "Peers",
            "--domain",
            "example.com",
        ])?;
        let id = text_member(&project, "id")?;
        let key = product.run_command(&["admin", "key", "create", "--project", &id, "--name", "peers"])?;
        product.settings.extend([
            ("SEARCHWRIGHT_URL", format!("http://127.0.0.1:{port}/v1")),
            ("SEARCHWRIGHT_KEY", text_member(&key, "key")?),
            ("SEARCHWRIGHT_PROJECT", id),
        ]);
        Ok(product)
    }

    fn run_command(&self, arguments: &[&str]) -> Result<Value> {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .arg("--json")
            .envs(self.settings.iter().cloned());
        let output = command.stderr(Stdio::inherit()).output()?;
        ensure!(
            output.status.success(),
            "{arguments:?} ended with {}",
            output.status
        );
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}
