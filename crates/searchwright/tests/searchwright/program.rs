//! The program in a folder of its own, with nothing of the caller's environment.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread::JoinHandle,
};

use serde_json::Value;
use tempfile::TempDir;

/// A user: a home folder and an environment.
pub struct User {
    pub home: TempDir,
    environment: Vec<(String, String)>,
}

/// Outcome of a command.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A server in a process of its own; killed when dropped.
pub struct Serving {
    child: Child,
    pub url: String,
    log: Option<JoinHandle<String>>,
}

impl User {
    pub fn new() -> Self {
        Self {
            home: TempDir::new().unwrap(),
            environment: Vec::new(),
        }
    }

    /// With one more environment variable.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// A command of this user, ready to be started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_searchwright"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .env("SEARCHWRIGHT_DATA_DIR", self.path("data"))
            .envs(self.environment.iter().map(|(n, v)| (n, v)))
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(self.command(arguments).spawn().unwrap())
    }

    /// Runs a command that reads this from its standard input.
    pub fn tell(&self, arguments: &[&str], input: &str) -> Outcome {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Outcome::of(child)
    }

    /// A project of this domain; its id.
    pub fn project(&self, domain: &str) -> String {
        let made = self.run(&[
            "admin", "project", "create", "--name", "Fern", "--domain", domain, "--json",
        ]);
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// A key with these further arguments: its id and itself.
    pub fn key(&self, project: &str, more: &[&str]) -> (String, String) {
        let arguments = [
            &[
                "admin",
                "key",
                "create",
                "--project",
                project,
                "--name",
                "test",
                "--json",
            ],
            more,
        ]
        .concat();
        let made = self.run(&arguments).json();
        let text = |name: &str| made[name].as_str().unwrap().to_owned();
        (text("id"), text("key"))
    }

    /// A server that has begun to listen, on ports that were free.
    pub fn serve(&self, more: &[&str]) -> Serving {
        let usual = ["--listen", "127.0.0.1:0"];
        let listen = if more.contains(&"--listen") {
            &[][..]
        } else {
            &usual
        };
        let arguments = [&["serve", "--mcp-listen", "127.0.0.1:0"], listen, more].concat();
        Self::served(self.command(&arguments))
    }

    /// A server that cannot write a file of more than so many KiB, and is told so by an error.
    pub fn serve_limited(&self, kibibytes: u32) -> Serving {
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", kibibytes * 2);
        let serve = self.command(&[
            "serve",
            "--mcp-listen",
            "127.0.0.1:0",
            "--listen",
            "127.0.0.1:0",
            "--set",
            "worker.jobs=0",
        ]);
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", &script])
            .arg(serve.get_program())
            .args(serve.get_args())
            .env_clear()
            .envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self::served(command)
    }

    fn served(mut command: Command) -> Serving {
        let mut child = command.spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let url = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).unwrap() > 0, "the server ended: {said}");
            said.push_str(&line);
            // in the log for people, or in that for machines
            let is_json = line.contains("\"message\":\"serving\"");
            let before = if is_json { "\"api\":\"" } else { "serving api=" };
            if let Some((_, rest)) = line.split_once(before) {
                break rest.split("/v1").next().unwrap().to_owned();
            }
        };
        // Read on, so that the server does not wait for a full pipe.
        let log = std::thread::spawn(move || {
            log.read_to_string(&mut said).unwrap();
            said
        });
        Serving {
            child,
            url,
            log: Some(log),
        }
    }
}

impl Outcome {
    /// Waits until it has ended.
    pub fn of(child: Child) -> Self {
        let output = child.wait_with_output().unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Returns standard output as JSON; panics unless the command succeeded and printed one JSON document on one
    /// line.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        assert_eq!(self.out.matches('\n').count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Fails unless it ended like this, with nothing on standard output and all of these on standard error.
    #[track_caller]
    pub fn refuses(&self, code: i32, words: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} in {}", self.err);
        }
        assert!(
            !self.err.contains("panicked") && !self.err.contains("backtrace"),
            "{}",
            self.err
        );
    }
}

impl Serving {
    /// Of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the server at once, as a crash does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the server has ended by itself; how, and its log.
    pub fn ended(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        (status, self.log.take().unwrap().join().unwrap())
    }

    /// Asks the server to end, as a service manager does; how it ended, and its log.
    pub fn stop(mut self) -> (ExitStatus, String) {
        terminate(&self.child);
        let status = self.child.wait().unwrap();
        (status, self.log.take().unwrap().join().unwrap())
    }
}

/// Asks a process to end, as a service manager does.
pub fn terminate(child: &Child) {
    let id = child.id().to_string();
    let mut kill = Command::new("kill");
    assert!(kill.args(["-TERM", &id]).status().unwrap().success());
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every file below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path))
        } else {
            all.push(path)
        }
    }
    all
}
