//! The product beside a CMS: a server with an empty database that can be killed and started again, and what a caller asks of it.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use xtask::{
    postgres::{Binaries, Postgres},
    process::{Running, free_port, program},
};

use super::{
    cms::{Cms, list, scalar, text},
    http::{HttpClient, Message},
    installation::{empty_folder, peer_folder},
};
use crate::product;

/// Time until it answers after a start, and a caller waits for it to be back.
const RESTART_TIMEOUT: Duration = Duration::from_secs(60);
/// Time that a caller waits for a publication: a lost answer is looked for after 5 and after 30 seconds.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) struct CmsProduct {
    binary: PathBuf,
    /// Hosts and ports that posts are published to and images come from.
    allowed: Vec<String>,
    /// Several share a PostgreSQL.
    servers: Vec<Replica>,
    project: String,
    /// Key that callers send with each request.
    key: String,
    /// Requests so far: they take turns among the servers.
    turn: AtomicUsize,
    database: Option<Postgres>,
}

struct Replica {
    data: PathBuf,
    ports: (u16, u16),
    running: Mutex<Option<Running>>,
    frozen: AtomicBool,
}

impl Replica {
    fn new(data: PathBuf) -> Result<Self> {
        Ok(Self {
            data,
            ports: (free_port()?, free_port()?),
            running: Mutex::default(),
            frozen: AtomicBool::new(false),
        })
    }

    fn site(&self) -> HttpClient {
        HttpClient::new(format!("http://127.0.0.1:{}", self.ports.0))
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Outcome of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PublishOutcome {
    Published,
    /// With this code.
    Failed(String),
    Uncertain,
}

impl CmsProduct {
    /// Starts it, built first unless `binary` is one, with a project and a key.
    pub(super) fn start(
        name: &str,
        binary: Option<&Path>,
        replicas: usize,
        allowed: Vec<String>,
    ) -> Result<Self> {
        let binary = match binary {
            Some(binary) => binary.to_owned(),
            None => product::build()?,
        };
        let data = empty_folder(peer_folder("product")?.join(name))?;
        let database = match replicas {
            0 | 1 => None,
            _ => Some(Postgres::start(Binaries::find_or_install()?)?),
        };
        let mut product = Self {
            binary: std::path::absolute(binary)?,
            allowed,
            servers: vec![Replica::new(data.clone())?],
            project: String::new(),
            key: String::new(),
            turn: AtomicUsize::new(0),
            database,
        };
        product.begin(0)?;
        for number in 1..replicas {
            let own = data.join(format!("replica-{number}"));
            fs::create_dir(&own)?;
            fs::copy(data.join("sealing.key"), own.join("sealing.key"))?;
            product.servers.push(Replica::new(own)?);
            product.begin(number)?;
        }
        let create = [
            "admin",
            "project",
            "create",
            "--name",
            "Peers",
            "--domain",
            "example.com",
        ];
        product.project = text(&product.run(&create, None)?, "/id")?;
        let project = product.project.clone();
        let create = ["admin", "key", "create", "--project", &project, "--name", "peers"];
        product.key = text(&product.run(&create, None)?, "/key")?;
        Ok(product)
    }

    fn allowed(&self) -> Vec<String> {
        let publish = |address: &String| format!("publish={address}");
        self.allowed.iter().map(publish).collect()
    }

    fn begin(&self, number: usize) -> Result<()> {
        let server = &self.servers[number];
        let mut command = program(&self.binary, None);
        command.arg("serve").arg("--data-dir").arg(&server.data);
        command.args(["--listen", &format!("127.0.0.1:{}", server.ports.0)]);
        command.args(["--mcp-listen", &format!("127.0.0.1:{}", server.ports.1)]);
        for allowed in self.allowed() {
            command.args(["--allow-outbound", &allowed]);
        }
        if let Some(database) = &self.database {
            command.env("DATABASE_URL", database.url());
        }
        let log = File::options()
            .create(true)
            .append(true)
            .open(server.data.join("server.log"))?;
        command.stdout(Stdio::null()).stderr(log);
        let mut running = Running::start("searchwright serve", &mut command)?;
        let ready = || {
            let answer = server.site().request("GET", "/readyz", None);
            answer.is_ok_and(|answer| answer.status() == 200)
        };
        running.wait_until(RESTART_TIMEOUT, ready)?;
        *server.running() = Some(running);
        Ok(())
    }

    /// Folder with its data and its log.
    pub(super) fn folder(&self) -> &Path {
        &self.servers[0].data
    }

    /// Number of processes.
    pub(super) fn replicas(&self) -> usize {
        self.servers.len()
    }

    /// Kills a process where it stands and starts it again.
    pub(super) fn kill(&self, number: usize) -> Result<()> {
        let running = self.servers[number].running().take();
        running.context("it does not run")?.kill()?;
        self.begin(number)
    }

    /// Suspends a process (SIGSTOP) or resumes it.
    pub(super) fn set_frozen(&self, number: usize, frozen: bool) {
        let server = &self.servers[number];
        server.frozen.store(frozen, Ordering::Relaxed);
        if let Some(running) = &*server.running() {
            running.signal(if frozen { "STOP" } else { "CONT" });
        }
    }

    /// Runs a command of its own beside the server, with this on its standard input.
    pub(super) fn run(&self, arguments: &[&str], input: Option<&Value>) -> Result<Value> {
        let mut child = Command::new(&self.binary)
            .args(arguments)
            .arg("--json")
            .env("SEARCHWRIGHT_DATA_DIR", self.folder())
            .envs(
                self.database
                    .iter()
                    .map(|database| ("DATABASE_URL", database.url())),
            )
            .env("SEARCHWRIGHT_ALLOW_OUTBOUND", self.allowed().join(","))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            stdin.write_all(input.to_string().as_bytes())?;
        }
        let output = child.wait_with_output()?;
        ensure!(
            output.status.success(),
            "{} ended with {}: {}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Connects a CMS that is reached at `url`, as the operator does.
    pub(super) fn connect(&self, cms: &dyn Cms, url: &str) -> Result<()> {
        self.connect_with(cms.provider(), &cms.secret(), url)
    }

    /// The same with any secret.
    pub(super) fn connect_with(&self, provider: &str, secret: &Value, url: &str) -> Result<()> {
        let site = format!("siteUrl={url}");
        let mut arguments = vec!["admin", "integration", "connect", "--project", &self.project];
        arguments.extend(["--provider", provider, "--setting", &site, "--secret-file", "-"]);
        self.run(&arguments, Some(secret)).map(drop)
    }

    /// Sends a request, again while the server restarts or answers 429 or 503, and returns any other answer.
    pub(super) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: Option<&Value>,
    ) -> Result<Message> {
        let path = format!("/v1/projects/{}{path}", self.project);
        let begun = Instant::now();
        loop {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            let server = &self.servers[turn % self.servers.len()];
            if server.frozen.load(Ordering::Relaxed) {
                continue;
            }
            let mut site = server
                .site()
                .with("Authorization", format!("Bearer {}", self.key));
            for (name, value) in headers {
                site = site.with(name, value);
            }
            let answer = site.request(method, &path, body);
            let busy = |answer: &Message| matches!(answer.status(), 429 | 503);
            if answer.as_ref().is_ok_and(|answer| !busy(answer)) || begun.elapsed() > RESTART_TIMEOUT {
                return answer;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Sends a request and returns the body of a 2xx answer. A POST carries a key, so that it is done once however often it is sent.
    pub(super) fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let mut headers = Vec::new();
        if method == "POST" {
            let number = self.turn.fetch_add(1, Ordering::Relaxed);
            headers.push(("Idempotency-Key", format!("peer-{number}")));
        }
        let answer = self.request(method, path, &headers, body)?;
        if !(200..300).contains(&answer.status()) {
            let problem = answer.json();
            bail!(
                "{method} {path}: {} {}: {}",
                answer.status(),
                scalar(&problem, "/code"),
                scalar(&problem, "/detail")
            );
        }
        Ok(answer.json())
    }

    pub(super) fn get(&self, path: &str) -> Result<Value> {
        self.call("GET", path, None)
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.call("POST", path, Some(body))
    }

    /// The integration of a provider.
    pub(super) fn integration(&self, provider: &str) -> Result<Value> {
        let all = self.get("/integrations?limit=100")?;
        let found = list(&all, "/data")
            .iter()
            .find(|integration| integration["provider"] == provider);
        Ok(found.context("the provider is not listed")?.clone())
    }

    /// Creates a post and returns its id.
    pub(super) fn create_post(&self, post: &Value) -> Result<String> {
        text(&self.post("/posts", post)?, "/id")
    }

    /// Changes a post as it is now.
    pub(super) fn change_post(&self, id: &str, mut members: Value) -> Result<()> {
        let path = format!("/posts/{id}");
        members["ifVersion"] = self.get(&path)?["version"].clone();
        self.call("PATCH", &path, Some(&members)).map(drop)
    }

    /// Starts a publication and returns the id of its job.
    pub(super) fn start_publishing(&self, id: &str, body: &Value) -> Result<String> {
        text(&self.post(&format!("/posts/{id}/publish"), body)?, "/job/id")
    }

    /// Publishes a post and waits for the outcome.
    pub(super) fn publish(&self, id: &str, body: &Value) -> Result<PublishOutcome> {
        let job = self.start_publishing(id, body)?;
        self.wait_for_outcome(id, &job)
    }

    /// Unpublishes a post and waits for the outcome.
    pub(super) fn unpublish(&self, id: &str) -> Result<PublishOutcome> {
        let started = self.post(&format!("/posts/{id}/unpublish"), &json!({}))?;
        self.wait_for_outcome(id, &text(&started, "/job/id")?)
    }

    /// Outcome of a job, with the error code of the post.
    fn wait_for_outcome(&self, id: &str, job: &str) -> Result<PublishOutcome> {
        let ended = self.wait_for_job(job, PUBLISH_TIMEOUT)?;
        if !matches!(ended, PublishOutcome::Failed(_)) {
            return Ok(ended);
        }
        let post = self.get(&format!("/posts/{id}"))?;
        Ok(PublishOutcome::Failed(text(
            &post,
            "/publications/0/lastError/code",
        )?))
    }

    /// Waits for the end of a job; what is uncertain may still become certain in this time.
    pub(super) fn wait_for_job(&self, job: &str, limit: Duration) -> Result<PublishOutcome> {
        let begun = Instant::now();
        loop {
            let now = self.get(&format!("/jobs/{job}"))?;
            match now["status"].as_str() {
                Some("succeeded") => return Ok(PublishOutcome::Published),
                Some("failed" | "canceled") => {
                    return Ok(PublishOutcome::Failed(scalar(&now, "/problem/code")));
                }
                _ if begun.elapsed() > limit => return Ok(PublishOutcome::Uncertain),
                _ => thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// All events of a kind.
    pub(super) fn events(&self, kind: &str) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        let mut path = format!("/events?limit=100&event={kind}");
        loop {
            let page = self.get(&path)?;
            all.extend_from_slice(list(&page, "/data"));
            let Some(cursor) = page["nextCursor"].as_str() else {
                return Ok(all);
            };
            path = format!("/events?limit=100&event={kind}&cursor={cursor}");
        }
    }
}
