//! The product, driven as its users drive it: the release binary, its command line and its API.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::Write as _,
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use reqwest::{Client, Method, header};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use xtask::process::{Running, free_port, program};

use crate::person;

/// Database of the measured server.
#[derive(Clone, Debug)]
pub enum Database {
    /// SQLite in the data folder.
    Folder,
    /// A PostgreSQL by its URL.
    Postgres(String),
}

/// One installation: a data folder of its own, the port it listens on, and what reaches it.
#[derive(Debug)]
pub struct Installation {
    folder: PathBuf,
    database: Database,
    port: u16,
    mcp_port: u16,
    crawl_port: Option<u16>,
    receivers: Vec<std::net::SocketAddr>,
    settings: Vec<String>,
}

/// A project with a key that may do everything.
#[derive(Clone, Debug)]
pub struct Access {
    /// Id of the project.
    pub project: String,
    /// Value of the `Authorization` header.
    pub authorization: String,
}

/// Limits stay on, and are high enough that the load meets their cost and not their refusal.
const LIMITS: [&str; 4] = [
    "limits.requests_per_minute=10000000",
    "limits.requests_per_minute_and_project=10000000",
    "limits.concurrent=1024",
    "limits.concurrent_per_credential=1024",
];

/// Quotas that refuse nobody, with all other limits as they are in a new installation.
pub const QUOTAS: [&str; 3] = [
    "limits.requests_per_minute=10000000",
    "limits.requests_per_minute_and_project=10000000",
    "limits.runs_per_minute=10000000",
];

/// Program that is measured instead of the one that was built for it.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Measures this program from now on.
pub fn use_program(path: PathBuf) {
    let _ = PROGRAM.set(path);
}

impl Installation {
    /// An empty one in `target/bench/<name>`, replacing what an earlier run left there.
    pub fn new(name: &str, database: Database) -> Result<Self> {
        let folder = xtask::target().join("bench").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Self::existing(name, database)
    }

    /// The one that was made before under this name, on another port.
    pub fn existing(name: &str, database: Database) -> Result<Self> {
        Ok(Self {
            folder: xtask::target().join("bench").join(name),
            database,
            port: free_port()?,
            mcp_port: free_port()?,
            crawl_port: None,
            receivers: Vec::new(),
            settings: LIMITS.map(str::to_owned).to_vec(),
        })
    }

    /// Replaces the settings with which the server starts.
    pub fn set(&mut self, settings: &[&str]) {
        self.settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
    }

    /// Lets the crawler reach a site on this port of loopback.
    pub fn allow_crawl(&mut self, port: u16) {
        self.crawl_port = Some(port);
    }

    /// Lets webhooks reach these.
    pub fn allow_webhooks(&mut self, receivers: &[std::net::SocketAddr]) {
        self.receivers.extend_from_slice(receivers);
    }

    /// Returns the folder with its data and its log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The address of the API and the health pages.
    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Address of the API on loopback.
    pub fn api_address(&self) -> std::net::SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// Address of MCP on loopback.
    pub fn mcp_address(&self) -> std::net::SocketAddr {
        ([127, 0, 0, 1], self.mcp_port).into()
    }

    /// Starts the server and waits until it is ready.
    pub fn start(&self) -> Result<Running> {
        let mut server = self.serve(program(binary(), None))?;
        server
            .wait_until(Duration::from_secs(60), || self.ready())
            .with_context(|| format!("see {}", self.folder.join("serve.log").display()))?;
        Ok(server)
    }

    /// Starts the server and nothing else, to be timed: tying it to this program's life takes a
    /// program in between, whose own start would count.
    pub fn spawn(&self) -> Result<Running> {
        self.serve(Command::new(binary()))
    }

    fn serve(&self, command: Command) -> Result<Running> {
        let log = File::create(self.folder.join("serve.log"))?;
        let mut command = without_settings(command);
        command.args(["serve", "--mcp-listen"]);
        command.arg(self.mcp_address().to_string());
        command.arg("--listen").arg(format!("127.0.0.1:{}", self.port));
        if let Some(port) = self.crawl_port {
            command
                .arg("--allow-outbound")
                .arg(format!("crawl=127.0.0.1:{port}"));
        }
        for receiver in &self.receivers {
            command.arg("--allow-outbound").arg(format!("webhook={receiver}"));
        }
        for setting in &self.settings {
            command.args(["--set", setting]);
        }
        command.args(self.place()).stdout(log.try_clone()?).stderr(log);
        Running::start("searchwright serve", &mut command)
    }

    /// Whether `/readyz` answers 200 at this moment.
    pub fn ready(&self) -> bool {
        answers_ok(self.port, "/readyz")
    }

    /// Makes a project for a domain, with a key.
    pub fn project(&self, domain: &str) -> Result<Access> {
        let project = self.admin(&["project", "create", "--name", "Bench", "--domain", domain])?;
        self.key(&text(&project, "id")?)
    }

    /// Makes a key of a project.
    pub fn key(&self, project: &str) -> Result<Access> {
        let key = self.admin(&["key", "create", "--project", project, "--name", "bench"])?;
        Ok(Access {
            project: project.to_owned(),
            authorization: format!("Bearer {}", text(&key, "key")?),
        })
    }

    /// Makes an owner of all projects who lets a program in; the `Authorization` header of its OAuth token.
    pub fn oauth_authorization(&self) -> Result<String> {
        let (email, password) = self.owner()?;
        person::token(&self.origin(), email, password)
    }

    /// Makes an owner of all projects; address and password.
    pub fn owner(&self) -> Result<(&'static str, &'static str)> {
        const EMAIL: &str = "bench@example.com";
        const PASSWORD: &str = "correct horse battery staple";
        let user = [
            "user", "create", "--email", EMAIL, "--name", "Bench", "--role", "owner",
        ];
        self.admin_with_input(&[&user[..], &["--password-stdin"]].concat(), PASSWORD)?;
        Ok((EMAIL, PASSWORD))
    }

    fn admin(&self, arguments: &[&str]) -> Result<Value> {
        self.admin_with_input(arguments, "")
    }

    fn admin_with_input(&self, arguments: &[&str], input: &str) -> Result<Value> {
        let mut command = without_settings(program(binary(), None));
        command
            .arg("admin")
            .args(arguments)
            .args(self.place())
            .arg("--json")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!(
                "searchwright admin {} failed: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    fn place(&self) -> Vec<OsString> {
        let mut arguments = vec!["--data-dir".into(), self.folder.join("data").into_os_string()];
        if let Database::Postgres(url) = &self.database {
            arguments.extend(["--database-url".into(), url.into()]);
        }
        arguments
    }
}

/// The command without what the caller's environment would set in the product.
fn without_settings(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("SEARCHWRIGHT_") || matches!(&*name, "DATABASE_URL" | "PUBLIC_URL" | "MCP_URL") {
            command.env_remove(&*name);
        }
    }
    command
}

/// Returns a command of the product, without settings of the environment.
pub fn command() -> Command {
    without_settings(program(binary(), None))
}

/// The program that is measured: the release binary, where no other was named.
pub fn binary() -> PathBuf {
    PROGRAM
        .get()
        .cloned()
        .unwrap_or_else(|| xtask::target().join("release/searchwright"))
}

/// Whether a server on loopback answers a GET with 200; one connection, no client set up, because it
/// is polled every millisecond.
pub fn answers_ok(port: u16, path: &str) -> bool {
    use std::io::{Read, Write};
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        )?;
        let mut start = [0; 12];
        stream.read_exact(&mut start)?;
        Ok(&start == b"HTTP/1.1 200")
    };
    ask().unwrap_or(false)
}

/// A JSON client for what surrounds a measurement.
#[derive(Debug)]
pub struct Api {
    runtime: Runtime,
    client: Client,
    origin: String,
    access: Access,
}

impl Api {
    /// A client for the API below `origin`.
    pub fn new(origin: String, access: Access) -> Result<Self> {
        // fails only when one is already installed
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            runtime,
            // shorter than the server keeps a connection that says nothing
            client: Client::builder()
                .no_proxy()
                .pool_idle_timeout(Duration::from_secs(5))
                .build()?,
            origin,
            access,
        })
    }

    /// Address of a path below the project.
    pub fn url(&self, path: &str) -> String {
        format!("{}/v1/projects/{}/{path}", self.origin, self.access.project)
    }

    /// GET of a path below the project.
    pub fn get(&self, path: &str) -> Result<Value> {
        self.get_at(&self.url(path))
    }

    /// GET of any address.
    pub fn get_at(&self, url: &str) -> Result<Value> {
        self.runtime.block_on(self.send(Method::GET, url, None))
    }

    /// POST to a path below the project.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.post_at(&self.url(path), body)
    }

    /// POST to any address.
    pub fn post_at(&self, url: &str, body: &Value) -> Result<Value> {
        self.runtime.block_on(self.send(Method::POST, url, Some(body)))
    }

    /// PATCH of any address.
    pub fn patch_at(&self, url: &str, body: &Value) -> Result<Value> {
        self.runtime.block_on(self.send(Method::PATCH, url, Some(body)))
    }

    /// Sends a form to a page, as a browser does.
    pub fn send_form(&self, url: &str, body: &'static str) -> Result<()> {
        let form = self
            .client
            .post(url)
            .header("sec-fetch-site", "same-origin")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body);
        self.runtime.block_on(form.send())?.error_for_status()?;
        Ok(())
    }

    /// Opens a page of the dashboard as somebody who is signed in.
    pub fn open_page(&self, url: &str, cookie: &str) -> Result<()> {
        let page = self.client.get(url).header(header::COOKIE, cookie);
        self.runtime.block_on(async {
            page.send().await?.error_for_status()?.bytes().await?;
            Ok(())
        })
    }

    /// DELETE of a path below the project.
    pub fn delete(&self, path: &str) -> Result<()> {
        let url = self.url(path);
        self.runtime
            .block_on(self.send(Method::DELETE, &url, None))
            .map(drop)
    }

    /// POSTs many bodies to one path, 64 at a time.
    pub fn post_all(&self, path: &str, bodies: &[Value]) -> Result<()> {
        self.post_all_at(&self.url(path), bodies)
    }

    /// POSTs many bodies to any address, 64 at a time.
    pub fn post_all_at(&self, url: &str, bodies: &[Value]) -> Result<()> {
        self.runtime.block_on(async {
            for group in bodies.chunks(64) {
                let calls: Vec<_> = group
                    .iter()
                    .map(|body| Box::pin(self.send(Method::POST, url, Some(body))))
                    .collect();
                for call in join(calls).await {
                    call?;
                }
            }
            Ok(())
        })
    }

    async fn send(&self, method: Method, url: &str, body: Option<&Value>) -> Result<Value> {
        let mut request = self.client.request(method, url);
        request = request.header(header::AUTHORIZATION, &self.access.authorization);
        if let Some(body) = body {
            request = request
                .header(header::CONTENT_TYPE, "application/json")
                .body(body.to_string());
        }
        let answer = request.send().await?;
        let status = answer.status();
        let said = answer.text().await?;
        if !status.is_success() {
            bail!("{url} answered {status}: {said}");
        }
        if said.is_empty() {
            return Ok(Value::Null);
        }
        Ok(serde_json::from_str(&said)?)
    }
}

/// All outcomes of some futures that run together on this thread.
async fn join<T>(mut calls: Vec<std::pin::Pin<Box<impl Future<Output = T>>>>) -> Vec<T> {
    let mut outcomes: Vec<Option<T>> = calls.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (call, outcome) in calls.iter_mut().zip(&mut outcomes) {
            if outcome.is_none()
                && let std::task::Poll::Ready(value) = call.as_mut().poll(context)
            {
                *outcome = Some(value);
            }
        }
        if outcomes.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    outcomes.into_iter().flatten().collect()
}

/// A text member of a JSON object.
pub fn text(value: &Value, member: &str) -> Result<String> {
    let found = value.get(member).and_then(Value::as_str);
    found
        .map(str::to_owned)
        .with_context(|| format!("no {member} in {value}"))
}

/// Starts the benchmark program itself as a baseline server and waits until it listens.
pub fn start_baseline(arguments: &[&str], port: u16) -> Result<Running> {
    let mut command = program(std::env::current_exe()?, None);
    command
        .args(arguments)
        .args(["--listen", &format!("127.0.0.1:{port}")]);
    let mut server = Running::start("baseline", &mut command)?;
    server.wait_until(Duration::from_secs(120), || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    })?;
    Ok(server)
}

/// The keywords that both sides hold before anything is measured, as bodies of a POST.
pub fn prepared_keywords() -> Vec<Value> {
    (0..crate::baseline::ROWS)
        .map(|index| {
            let keyword = crate::baseline::prepared(index);
            json!({
                "keyword": keyword.keyword,
                "searchVolume": keyword.search_volume,
                "keywordDifficulty": keyword.keyword_difficulty,
                "intent": keyword.intent,
            })
        })
        .collect()
}

/// Empties the folder that measurements write into.
pub fn clean(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}
