//! A browser without a window, spoken to in the DevTools protocol through two pipes: no port, no websocket.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use xtask::{packages, process::program};

/// Time until the next message.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(60);

/// Nothing it does by itself may look like the doing of a page, and nothing leaves this machine.
const OPTIONS: [&str; 14] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-quic",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--mute-audio",
    // frames of other sites report to the page's own session
    "--disable-features=IsolateOrigins,site-per-process",
    "--host-resolver-rules=MAP * ~NOTFOUND",
];

/// A page that reports what happens in it, and waits for an answer to each of its requests.
pub(super) struct Tab {
    pub(super) target: String,
    pub(super) session: String,
}

/// A running browser; dropping it ends it.
pub(super) struct Chromium {
    /// A tab for the next page.
    pub(super) tab: Option<Tab>,
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    last: u64,
}

impl Chromium {
    /// Starts the system's Chromium, installed first when it is missing, with a new profile in `folder`, which it may empty.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let path = packages::ensure("chromium", "chromium")?;
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        // a shell, because the browser wants its pipes as descriptors 3 and 4
        let mut command = program("sh", None);
        command
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#])
            .arg(path)
            .args(OPTIONS)
            .arg(format!("--user-data-dir={}", folder.display()));
        if packages::root() {
            command.arg("--no-sandbox");
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.join("chromium.log"))?)
            .spawn()
            .context("cannot start chromium")?;
        let input = child.stdin.take().context("no pipe to chromium")?;
        let output = child.stdout.take().context("no pipe from chromium")?;
        let (sender, messages) = sync_channel(10_000);
        thread::spawn(move || {
            for message in BufReader::new(output).split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else {
                    return;
                };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            tab: None,
            child,
            input,
            messages,
            last: 0,
        })
    }

    /// Opens a tab.
    pub(super) fn open(&mut self) -> Result<Tab> {
        let made = self.call(None, "Target.createTarget", &json!({ "url": "about:blank" }))?;
        let target = made["targetId"].as_str().context("no page")?.to_owned();
        let attach = json!({ "targetId": target, "flatten": true });
        let attached = self.call(None, "Target.attachToTarget", &attach)?;
        let session = attached["sessionId"].as_str().context("no session")?.to_owned();
        for (method, parameters) in [
            ("Page.enable", json!({})),
            ("Debugger.enable", json!({})),
            ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
            ("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] })),
        ] {
            self.call(Some(&session), method, &parameters)?;
        }
        Ok(Tab { target, session })
    }

    /// Sends a command to a page, or to the browser itself; the number its answer will carry.
    pub(super) fn send(&mut self, session: Option<&str>, method: &str, parameters: &Value) -> Result<u64> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        self.input.write_all(&bytes)?;
        self.input.flush()?;
        Ok(self.last)
    }

    /// The next answer or event.
    pub(super) fn receive(&self) -> Result<Value> {
        self.messages
            .recv_timeout(MESSAGE_TIMEOUT)
            .context("chromium says nothing more; see chromium.log")
    }

    /// Sends a command and returns its answer; drops the events before it.
    pub(super) fn call(&mut self, session: Option<&str>, method: &str, parameters: &Value) -> Result<Value> {
        let id = self.send(session, method, parameters)?;
        loop {
            let mut message = self.receive()?;
            if message["id"] == id {
                ensure!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return Ok(message["result"].take());
            }
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
