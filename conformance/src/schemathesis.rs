//! The OpenAPI document against the API, by Schemathesis: requests made from the document, good and bad ones, and sequences along its
//! links, on both databases. What the document promises of status, headers and body has to hold for each answer.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use xtask::{
    libraries,
    postgres::{Binaries, Postgres},
    process::{Running, free_port, program},
};

use crate::{
    product,
    publish::{
        cms::text,
        http::HttpClient,
        installation::{empty_folder, peer_folder},
    },
};

/// Time until the product answers.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Options of a run.
#[derive(Args, Clone, Debug)]
pub(crate) struct SchemathesisOptions {
    /// Only this database: sqlite or postgres
    #[arg(long)]
    only: Option<String>,
    /// Another seed gives other requests
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seconds for each database
    #[arg(long, default_value_t = 300)]
    seconds: u64,
    /// This searchwright, instead of building one
    #[arg(long)]
    program: Option<PathBuf>,
}

/// Runs Schemathesis on both databases; fails if a check fails.
pub(crate) fn check(options: &SchemathesisOptions) -> Result<()> {
    let folder = peer_folder("schemathesis")?;
    libraries::install_python(&folder, include_str!("schemathesis/requirements.txt"))?;
    let binary = match &options.program {
        Some(program) => std::path::absolute(program)?,
        None => product::build()?,
    };
    let is_chosen = |name: &str| options.only.as_deref().is_none_or(|only| only == name);
    ensure!(
        is_chosen("sqlite") || is_chosen("postgres"),
        "there is no such database"
    );
    let mut failed = Vec::new();
    if is_chosen("sqlite") {
        let fuzzed = Fuzzed::start(&binary, &folder, "sqlite", None)?;
        failed.extend((!fuzzed.holds(options)?).then_some("sqlite"));
    }
    if is_chosen("postgres") {
        let database = Postgres::start(Binaries::find_or_install()?)?;
        let fuzzed = Fuzzed::start(&binary, &folder, "postgres", Some(database.url()))?;
        failed.extend((!fuzzed.holds(options)?).then_some("postgres"));
    }
    ensure!(failed.is_empty(), "not as the document has it: {failed:?}");
    Ok(())
}

/// A product with a project and a key of all scopes.
struct Fuzzed {
    tools: PathBuf,
    folder: PathBuf,
    origin: String,
    project: String,
    key: String,
    _running: Running,
}

impl Fuzzed {
    fn start(binary: &Path, tools: &Path, name: &str, database: Option<String>) -> Result<Self> {
        let folder = empty_folder(tools.join("data").join(name))?;
        let (port, mcp_port) = (free_port()?, free_port()?);
        let with_database = |command: &mut Command| {
            command.env("SEARCHWRIGHT_DATA_DIR", &folder);
            if let Some(url) = &database {
                command.env("DATABASE_URL", url);
            }
        };
        let mut command = program(binary, None);
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .args(["--mcp-listen", &format!("127.0.0.1:{mcp_port}")]);
        for limit in [
            "requests_per_minute",
            "runs_per_minute",
            "requests_per_minute_and_project",
            "failed_authentications_per_minute",
        ] {
            command.args(["--set", &format!("limits.{limit}=1000000")]);
        }
        with_database(&mut command);
        let log = File::create(folder.join("serve.log"))?;
        command.stdout(log.try_clone()?).stderr(log);
        let mut running = Running::start("searchwright serve", &mut command)?;
        let origin = format!("http://127.0.0.1:{port}");
        let site = HttpClient::new(origin.clone());
        running
            .wait_until(START_TIMEOUT, || {
                let answer = site.request("GET", "/readyz", None);
                answer.is_ok_and(|answer| answer.status() == 200)
            })
            .with_context(|| format!("see {}", folder.join("serve.log").display()))?;
        let operate = |arguments: &[&str]| -> Result<Value> {
            let mut command = Command::new(binary);
            command.arg("admin").args(arguments).arg("--json");
            with_database(&mut command);
            let output = command.stdin(Stdio::null()).output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            ensure!(
                output.status.success(),
                "{}: {}",
                arguments.join(" "),
                said.trim()
            );
            Ok(serde_json::from_slice(&output.stdout)?)
        };
        // a name that never resolves: what would go out ends here
        let made = operate(&[
            "project",
            "create",
            "--name",
            "Desks",
            "--domain",
            "desks.invalid",
        ])?;
        let project = text(&made, "/id")?;
        let made = operate(&["key", "create", "--project", &project, "--name", "peers"])?;
        Ok(Self {
            tools: tools.to_owned(),
            key: text(&made, "/key")?,
            folder,
            origin,
            project,
            _running: running,
        })
    }

    /// Runs Schemathesis; returns whether all checks passed.
    fn holds(&self, options: &SchemathesisOptions) -> Result<bool> {
        let settings = include_str!("schemathesis/schemathesis.toml").replace("PROJECT", &self.project);
        fs::write(self.folder.join("schemathesis.toml"), settings)?;
        let hooks = include_str!("schemathesis/hooks.py");
        fs::write(self.folder.join("hooks.py"), hooks)?;
        let mut command = program(self.tools.join("venv/bin/schemathesis"), None);
        command
            .args(["--config-file", "schemathesis.toml", "run"])
            .arg(format!("{}/v1/openapi.json", self.origin))
            .args(["--url", &format!("{}/v1", self.origin)])
            .args(["--header", &format!("Authorization: Bearer {}", self.key)])
            .args(["--checks", "all"])
            .args(["--seed", &options.seed.to_string()])
            .args(["--max-time", &options.seconds.to_string()])
            .args(["--generation-database", "none", "--no-color"])
            .current_dir(&self.folder);
        Ok(command.status()?.success())
    }
}
