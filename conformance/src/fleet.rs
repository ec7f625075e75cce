//! Processes of the product on one database, which can be killed, frozen, and started again with the same data.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::{
    postgres::{Binaries, Postgres},
    process::{Running, free_port, program},
};

use crate::{
    product,
    publish::{http::HttpClient, installation::empty_folder},
};

/// Time until a process answers after its start.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Database of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// The embedded one, of one process.
    Sqlite,
    /// A private PostgreSQL.
    Postgres,
}

impl Storage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// Command that runs the program, such as a tracer, and the environment variables that it adds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) command: Vec<OsString>,
    pub(crate) variables: Vec<(String, OsString)>,
}

/// Processes with the same settings.
pub(crate) struct Fleet {
    binary: PathBuf,
    data: PathBuf,
    database: Option<Postgres>,
    allowed: Vec<String>,
    settings: Vec<String>,
    processes: Vec<FleetProcess>,
    turn: AtomicUsize,
}

struct FleetProcess {
    ports: (u16, u16),
    state: Mutex<ProcessState>,
}

#[derive(Default)]
struct ProcessState {
    running: Option<Running>,
    is_frozen: bool,
}

impl FleetProcess {
    fn state(&self) -> MutexGuard<'_, ProcessState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn site(&self) -> HttpClient {
        HttpClient::new(format!("http://127.0.0.1:{}", self.ports.0))
    }
}

/// Settings of a fleet.
pub(crate) struct FleetOptions<'a> {
    /// The program; built first where there is none.
    pub(crate) program: Option<&'a Path>,
    /// Folder of its data, which is emptied.
    pub(crate) data: PathBuf,
    pub(crate) storage: Storage,
    pub(crate) processes: usize,
    /// Addresses of this machine that it may reach, as `PURPOSE=HOST:PORT`.
    pub(crate) allowed: Vec<String>,
    /// Settings as `NAME=VALUE`.
    pub(crate) settings: Vec<String>,
}

impl Fleet {
    /// Starts all processes on an empty database.
    pub(crate) fn start(options: FleetOptions<'_>) -> Result<Self> {
        let binary = match options.program {
            Some(binary) => binary.to_owned(),
            None => product::build()?,
        };
        let database = match options.storage {
            Storage::Sqlite => None,
            Storage::Postgres => Some(Postgres::start(Binaries::find_or_install()?)?),
        };
        let mut processes = Vec::new();
        for _ in 0..options.processes {
            processes.push(FleetProcess {
                ports: (free_port()?, free_port()?),
                state: Mutex::default(),
            });
        }
        let fleet = Self {
            binary: std::path::absolute(binary)?,
            data: empty_folder(options.data)?,
            database,
            allowed: options.allowed,
            settings: options.settings,
            processes,
            turn: AtomicUsize::new(0),
        };
        for number in 0..fleet.processes.len() {
            fleet.begin(number, &Surroundings::default())?;
        }
        Ok(fleet)
    }

    /// Folder of the data.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    pub(crate) fn len(&self) -> usize {
        self.processes.len()
    }

    /// The PostgreSQL, if there is one.
    pub(crate) fn database(&self) -> Option<&Postgres> {
        self.database.as_ref()
    }

    /// Starts a process and waits until it is ready.
    pub(crate) fn begin(&self, number: usize, around: &Surroundings) -> Result<()> {
        self.launch(number, around)?;
        let process = &self.processes[number];
        let ready = || {
            let answer = process.site().request("GET", "/readyz", None);
            answer.is_ok_and(|answer| answer.status() == 200)
        };
        let mut state = process.state();
        let running = state.running.as_mut().context("it does not run")?;
        running.wait_until(START_TIMEOUT, ready)
    }

    /// Starts a process, which may end at any moment.
    pub(crate) fn launch(&self, number: usize, around: &Surroundings) -> Result<()> {
        let process = &self.processes[number];
        let mut command = match around.command.split_first() {
            None => program(&self.binary, None),
            Some((first, rest)) => {
                let mut command = program(first, None);
                command.args(rest).arg(&self.binary);
                command
            }
        };
        command.arg("serve").arg("--data-dir").arg(&self.data);
        command.args(["--listen", &format!("127.0.0.1:{}", process.ports.0)]);
        command.args(["--mcp-listen", &format!("127.0.0.1:{}", process.ports.1)]);
        for allowed in &self.allowed {
            command.args(["--allow-outbound", allowed]);
        }
        for setting in &self.settings {
            command.args(["--set", setting]);
        }
        if let Some(database) = &self.database {
            command.env("DATABASE_URL", database.url());
        }
        command.envs(around.variables.iter().map(|(name, value)| (name, value)));
        let log = self.data.join(format!("server-{number}.log"));
        let log = File::options().create(true).append(true).open(log)?;
        command.stdout(Stdio::null()).stderr(log);
        let running = Running::start("searchwright serve", &mut command)?;
        *process.state() = ProcessState {
            running: Some(running),
            is_frozen: false,
        };
        Ok(())
    }

    /// Kills a process where it stands.
    pub(crate) fn kill(&self, number: usize) -> Result<()> {
        let running = self.processes[number].state().running.take();
        running.context("it does not run")?.kill()
    }

    /// Whether a process has ended by itself.
    pub(crate) fn has_ended(&self, number: usize) -> bool {
        let mut state = self.processes[number].state();
        state
            .running
            .as_mut()
            .is_none_or(|running| running.check().is_err())
    }

    /// Suspends a process (SIGSTOP) or resumes it.
    pub(crate) fn set_frozen(&self, number: usize, frozen: bool) {
        let mut state = self.processes[number].state();
        state.is_frozen = frozen;
        if let Some(running) = &state.running {
            running.signal(if frozen { "STOP" } else { "CONT" });
        }
    }

    /// The next process that is not frozen, in turn.
    pub(crate) fn site(&self) -> HttpClient {
        for _ in 0..self.processes.len() {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            let process = &self.processes[turn % self.processes.len()];
            if !process.state().is_frozen {
                return process.site();
            }
        }
        self.processes[0].site()
    }

    /// Runs a command of the operator, with this on its standard input.
    pub(crate) fn operate(&self, arguments: &[&str], input: &str) -> Result<Value> {
        let mut command = Command::new(&self.binary);
        command.arg("admin").args(arguments).arg("--json");
        command.env("SEARCHWRIGHT_DATA_DIR", &self.data);
        if let Some(database) = &self.database {
            command.env("DATABASE_URL", database.url());
        }
        command.env("SEARCHWRIGHT_ALLOW_OUTBOUND", self.allowed.join(","));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        ensure!(
            output.status.success(),
            "{}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Last lines of the log of a process.
    pub(crate) fn log_end(&self, number: usize) -> String {
        let text = fs::read_to_string(self.data.join(format!("server-{number}.log"))).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}
