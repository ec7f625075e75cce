//! The product beside the servers of repositories: a server that can be killed and started again, driven by its own command line.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use xtask::process::{Running, free_port, program};

use crate::product;

/// Longest it may take to listen after it was started.
const BACK: Duration = Duration::from_secs(60);
/// Longest a publication may take: four tries of one that cannot be carried out take 70 seconds and what the servers take.
const PATIENCE: Duration = Duration::from_secs(240);

/// A server with an empty database.
pub(super) struct Product {
    binary: PathBuf,
    data: PathBuf,
    /// What it trusts over TLS, beside nothing else.
    authority: PathBuf,
    allowed: Vec<String>,
    ports: (u16, u16),
    running: Option<Running>,
    /// All that its commands ever answered.
    answers: Mutex<String>,
}

/// A project of it, as its key sees it.
pub(super) struct Project {
    id: String,
    key: String,
}

/// A member that has to be text.
pub(super) fn text(value: &Value, pointer: &str) -> Result<String> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    Ok(found
        .with_context(|| format!("no {pointer} in {value}"))?
        .to_owned())
}

impl Product {
    /// Builds it and starts it in an empty folder; it may reach these hosts and ports.
    pub(super) fn start(data: PathBuf, authority: PathBuf, allowed: &[String]) -> Result<Self> {
        fs::create_dir_all(&data)?;
        let mut product = Self {
            binary: product::build()?,
            data,
            authority,
            allowed: allowed.iter().map(|at| format!("publish={at}")).collect(),
            ports: (free_port()?, free_port()?),
            running: None,
            answers: Mutex::default(),
        };
        product.begin()?;
        Ok(product)
    }

    /// Starts it.
    pub(super) fn begin(&mut self) -> Result<()> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.data.join("server.log"))?;
        let mut command = program(&self.binary, None);
        command
            .args(["serve", "--log", "debug", "--data-dir"])
            .arg(&self.data);
        command.args(["--listen", &format!("127.0.0.1:{}", self.ports.0)]);
        command.args(["--mcp-listen", &format!("127.0.0.1:{}", self.ports.1)]);
        for allowed in &self.allowed {
            command.args(["--allow-outbound", allowed]);
        }
        command.env("SSL_CERT_FILE", &self.authority);
        command.stdout(log.try_clone()?).stderr(log);
        let mut running = Running::start("searchwright serve", &mut command)?;
        let port = self.ports.0;
        running.wait_until(BACK, || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok())?;
        self.running = Some(running);
        Ok(())
    }

    /// Kills it where it stands.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.running.take().context("it does not run")?.kill()
    }

    /// Asks it to end; how long that took.
    pub(super) fn stop(&mut self) -> Result<Duration> {
        let begun = Instant::now();
        self.running.take().context("it does not run")?.stop();
        Ok(begun.elapsed())
    }

    /// A new project with a key.
    pub(super) fn project(&self, name: &str) -> Result<Project> {
        let domain = "example.com";
        let create = ["admin", "project", "create", "--name", name, "--domain", domain];
        let id = text(&self.done(self.command(&create), None)?, "/id")?;
        let create = ["admin", "key", "create", "--project", &id, "--name", "peers"];
        let key = text(&self.done(self.command(&create), None)?, "/key")?;
        Ok(Project { id, key })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .arg("--json")
            .env("SEARCHWRIGHT_DATA_DIR", &self.data)
            .env("SEARCHWRIGHT_ALLOW_OUTBOUND", self.allowed.join(","))
            .env(
                "SEARCHWRIGHT_URL",
                format!("http://127.0.0.1:{}/v1", self.ports.0),
            )
            .env("SSL_CERT_FILE", &self.authority);
        command
    }

    fn output(&self, mut command: Command, input: Option<&Value>) -> Result<Output> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            stdin.write_all(input.to_string().as_bytes())?;
        }
        let output = child.wait_with_output()?;
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        for said in [&output.stdout, &output.stderr] {
            answers.push_str(&String::from_utf8_lossy(said));
        }
        Ok(output)
    }

    fn done(&self, command: Command, input: Option<&Value>) -> Result<Value> {
        let shown = format!("{:?}", command.get_args().collect::<Vec<_>>());
        let output = self.output(command, input)?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "{shown} ended with {}: {}",
            output.status,
            said.trim()
        );
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Connects a repository as the operator does; what it says where it does not go well.
    pub(super) fn connect(
        &self,
        project: &Project,
        settings: &[(&str, String)],
        secret: &Value,
        trusts: bool,
    ) -> Result<Result<Value, String>> {
        let arguments = ["admin", "integration", "connect", "--project", &project.id];
        let mut command = self.command(&arguments);
        command.args(["--provider", "git", "--secret-file", "-"]);
        for (name, value) in settings {
            command.arg("--setting").arg(format!("{name}={value}"));
        }
        if !trusts {
            command.env_remove("SSL_CERT_FILE");
        }
        let output = self.output(command, Some(secret))?;
        if output.status.success() {
            return Ok(Ok(serde_json::from_slice(&output.stdout)?));
        }
        Ok(Err(format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )))
    }

    /// A command with the key of a project, which has to go well.
    pub(super) fn ask(&self, project: &Project, arguments: &[&str]) -> Result<Value> {
        let mut command = self.command(arguments);
        command
            .env("SEARCHWRIGHT_KEY", &project.key)
            .env("SEARCHWRIGHT_PROJECT", &project.id);
        self.done(command, None)
    }

    /// The integration `git` of a project.
    pub(super) fn integration(&self, project: &Project) -> Result<Value> {
        let all = self.ask(project, &["integrations", "list"])?;
        let all = all
            .pointer("/data")
            .and_then(Value::as_array)
            .context("no list")?;
        let found = all.iter().find(|one| one["provider"] == "git");
        Ok(found.context("git is not listed")?.clone())
    }

    /// A post as it is now.
    pub(super) fn post(&self, project: &Project, id: &str) -> Result<Value> {
        self.ask(project, &["posts", "get", id])
    }

    /// Changes members of a post.
    pub(super) fn change(&self, project: &Project, id: &str, members: &[&str]) -> Result<()> {
        let version = self.post(project, id)?["version"].to_string();
        let mut arguments = vec!["posts", "update", id, "--if-version", &version];
        arguments.extend(members);
        self.ask(project, &arguments).map(drop)
    }

    /// Asks for a publication or for its end; the id of the job.
    pub(super) fn begin_publish(&self, project: &Project, arguments: &[&str]) -> Result<String> {
        let mut all = vec!["posts"];
        all.extend(arguments);
        all.push("--yes");
        text(&self.ask(project, &all)?, "/job/id")
    }

    /// Waits for the end of a job; what the post then says went wrong, `null` where nothing did.
    pub(super) fn follow(&self, project: &Project, id: &str, job: &str) -> Result<Value> {
        let begun = Instant::now();
        loop {
            let now = self.ask(project, &["jobs", "get", job])?;
            match now["status"].as_str() {
                Some("succeeded") => return Ok(Value::Null),
                Some("failed" | "canceled") => {
                    let post = self.post(project, id)?;
                    let error = post.pointer("/publications/0/lastError");
                    return Ok(error.filter(|e| e.is_object()).cloned().unwrap_or(now));
                }
                _ => {}
            }
            if begun.elapsed() > PATIENCE {
                return Ok(json!({ "code": "no end", "post": self.post(project, id)? }));
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Folder of its data.
    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    /// What lies in the folder of its work under way.
    pub(super) fn scratch(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.data.join("scratch"))
            .into_iter()
            .flatten()
            .flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// Everything it ever said: its log, and what its commands answered.
    pub(super) fn said(&self) -> Result<String> {
        let log = fs::read(self.data.join("server.log"))?;
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(format!("{}{answers}", String::from_utf8_lossy(&log)))
    }
}
