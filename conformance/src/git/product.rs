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

/// Time until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Time for a publication: four tries of one that cannot be carried out take 70 seconds and what the servers take.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(240);

/// A server with an empty database.
pub(super) struct GitProduct {
    binary: PathBuf,
    data: PathBuf,
    /// File with the only certificate that it trusts.
    authority: PathBuf,
    allowed: Vec<String>,
    ports: (u16, u16),
    running: Option<Running>,
    /// Output of all its commands.
    answers: Mutex<String>,
}

/// A project of it, as its key sees it.
pub(super) struct GitProject {
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

impl GitProduct {
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

    /// Starts the server.
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
        running.wait_until(START_TIMEOUT, || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        })?;
        self.running = Some(running);
        Ok(())
    }

    /// Kills the server with SIGKILL.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.running.take().context("it does not run")?.kill()
    }

    /// Asks it to end and returns the time that took.
    pub(super) fn stop(&mut self) -> Result<Duration> {
        let begun = Instant::now();
        self.running.take().context("it does not run")?.stop();
        Ok(begun.elapsed())
    }

    /// A new project with a key.
    pub(super) fn project(&self, name: &str) -> Result<GitProject> {
        let domain = "example.com";
        let create = ["admin", "project", "create", "--name", name, "--domain", domain];
        let id = text(&self.run(self.command(&create), None)?, "/id")?;
        let create = ["admin", "key", "create", "--project", &id, "--name", "peers"];
        let key = text(&self.run(self.command(&create), None)?, "/key")?;
        Ok(GitProject { id, key })
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

    fn run(&self, command: Command, input: Option<&Value>) -> Result<Value> {
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

    /// Connects a repository as the operator does; the inner error is the output of a command that failed.
    pub(super) fn connect(
        &self,
        project: &GitProject,
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

    /// Runs a command with the key of a project, which has to succeed.
    pub(super) fn call(&self, project: &GitProject, arguments: &[&str]) -> Result<Value> {
        let mut command = self.command(arguments);
        command
            .env("SEARCHWRIGHT_KEY", &project.key)
            .env("SEARCHWRIGHT_PROJECT", &project.id);
        self.run(command, None)
    }

    /// The integration `git` of a project.
    pub(super) fn integration(&self, project: &GitProject) -> Result<Value> {
        let all = self.call(project, &["integrations", "list"])?;
        let all = all
            .pointer("/data")
            .and_then(Value::as_array)
            .context("no list")?;
        let found = all.iter().find(|one| one["provider"] == "git");
        Ok(found.context("git is not listed")?.clone())
    }

    /// A post as it is now.
    pub(super) fn post(&self, project: &GitProject, id: &str) -> Result<Value> {
        self.call(project, &["posts", "get", id])
    }

    /// Changes members of a post.
    pub(super) fn change(&self, project: &GitProject, id: &str, members: &[&str]) -> Result<()> {
        let version = self.post(project, id)?["version"].to_string();
        let mut arguments = vec!["posts", "update", id, "--if-version", &version];
        arguments.extend(members);
        self.call(project, &arguments).map(drop)
    }

    /// Starts a publication or its withdrawal and returns the id of the job.
    pub(super) fn start_publishing(&self, project: &GitProject, arguments: &[&str]) -> Result<String> {
        let mut all = vec!["posts"];
        all.extend(arguments);
        all.push("--yes");
        text(&self.call(project, &all)?, "/job/id")
    }

    /// Waits for the end of a job and returns the error of the post, `null` on success.
    pub(super) fn wait_for_job(&self, project: &GitProject, id: &str, job: &str) -> Result<Value> {
        let begun = Instant::now();
        loop {
            let now = self.call(project, &["jobs", "get", job])?;
            match now["status"].as_str() {
                Some("succeeded") => return Ok(Value::Null),
                Some("failed" | "canceled") => {
                    let post = self.post(project, id)?;
                    let error = post.pointer("/publications/0/lastError");
                    return Ok(error.filter(|e| e.is_object()).cloned().unwrap_or(now));
                }
                _ => {}
            }
            if begun.elapsed() > PUBLISH_TIMEOUT {
                return Ok(json!({ "code": "no end", "post": self.post(project, id)? }));
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Folder of its data.
    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    /// Entries of its scratch folder.
    pub(super) fn scratch(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.data.join("scratch"))
            .into_iter()
            .flatten()
            .flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// Its log and the output of its commands.
    pub(super) fn transcript(&self) -> Result<String> {
        let log = fs::read(self.data.join("server.log"))?;
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(format!("{}{answers}", String::from_utf8_lossy(&log)))
    }
}
