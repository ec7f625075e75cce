//! Programs that run beside this one and never outlive it.
//!
//! Three ways to end are covered: the value is dropped (success or failure), ctrl-c reaches the
//! whole process group, and a kill of this program alone reaches the child as its parent-death
//! signal (`setpriv --pdeathsig`, Linux).

use std::{
    ffi::OsStr,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

/// Longest time a program gets to end after it was asked to, before it is killed.
const STOP_LIMIT: Duration = Duration::from_secs(15);

/// A running program; dropping it ends it.
#[derive(Debug)]
pub struct Running {
    name: String,
    child: Child,
}

impl Running {
    /// Starts `command`, which [`program`] should have made.
    pub fn start(name: &str, command: &mut Command) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        Ok(Self {
            name: name.to_owned(),
            child,
        })
    }

    /// Process id, also after the program ended.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Fails when the program has already ended.
    pub fn check(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("{} ended by itself with {status}", self.name);
        }
        Ok(())
    }

    /// Polls `ready` until it says yes; fails when the program ends first or `limit` passes.
    pub fn wait_until(&mut self, limit: Duration, mut ready: impl FnMut() -> bool) -> Result<()> {
        let start = Instant::now();
        loop {
            if ready() {
                return Ok(());
            }
            self.check()?;
            if start.elapsed() > limit {
                bail!("{} was not ready after {} s", self.name, limit.as_secs());
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a signal, such as `STOP`.
    pub fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    /// Kills the program where it stands (SIGKILL) and waits until it is gone.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks the program to end with SIGINT (for PostgreSQL the fast shutdown) and waits for it;
    /// kills it when it does not.
    pub fn stop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        signal(self.child.id(), "INT");
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if start.elapsed() > STOP_LIMIT {
                eprintln!("{} does not end, killing it", self.name);
                drop(self.child.kill());
                drop(self.child.wait());
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Sends a signal through the shell's own `kill`: this crate has no unsafe code and no libc.
fn signal(id: u32, name: &str) {
    let sent = Command::new("sh")
        .arg("-c")
        .arg(format!("kill -{name} {id}"))
        .stderr(Stdio::null())
        .status();
    drop(sent);
}

/// A command for `path` that is tied to this program's life where the system can do that, run as
/// `user` when one is given (only root may give one).
pub fn program(path: impl AsRef<OsStr>, user: Option<&str>) -> Command {
    through_setpriv(path.as_ref(), user, &["--pdeathsig", "INT"])
}

/// A command for `path` that outlives this program, run as `user` when one is given.
pub fn lasting(path: impl AsRef<OsStr>, user: Option<&str>) -> Command {
    through_setpriv(path.as_ref(), user, &[])
}

fn through_setpriv(path: &OsStr, user: Option<&str>, options: &[&str]) -> Command {
    let plain = options.is_empty() && user.is_none();
    if plain || crate::packages::find("setpriv").is_none() {
        return Command::new(path);
    }
    let mut command = Command::new("setpriv");
    command.args(options);
    if let Some(user) = user {
        command
            .arg(format!("--reuid={user}"))
            .arg(format!("--regid={user}"))
            .arg("--init-groups");
    }
    command.arg("--").arg(path);
    command
}

/// Runs a command to its end without showing its output; the error carries the end of it.
pub fn quiet(name: &str, command: &mut Command) -> Result<()> {
    output(name, command).map(drop)
}

/// As [`quiet`], and returns what it wrote to its standard output.
pub fn output(name: &str, command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {name}"))?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = said.trim().lines().collect();
    let tail = lines[lines.len().saturating_sub(15)..].join("\n");
    bail!("{name} failed with {}\n{tail}", output.status)
}

/// A TCP port nobody listens on now, on 127.0.0.1.
pub fn free_port() -> Result<u16> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::{Running, program, quiet};
    use std::{process::Command, time::Duration};

    #[test]
    fn a_dropped_program_is_gone() {
        let running = Running::start("sleep", program("sleep", None).arg("600")).unwrap();
        let id = running.id();
        let alive = || {
            Command::new("sh")
                .arg("-c")
                .arg(format!("kill -0 {id} 2>&1"))
                .output()
                .unwrap()
                .status
                .success()
        };
        assert!(alive());
        drop(running);
        assert!(!alive());
    }

    #[test]
    fn waiting_for_a_program_that_ends_fails_at_once() {
        let mut running = Running::start("false", &mut program("false", None)).unwrap();
        let error = running.wait_until(Duration::from_secs(60), || false).unwrap_err();
        assert!(error.to_string().starts_with("false ended by itself"), "{error}");
    }

    #[test]
    fn a_failure_carries_what_was_said() {
        let error = quiet("sh", Command::new("sh").args(["-c", "echo reason >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("reason"), "{error}");
    }
}
