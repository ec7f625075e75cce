//! Reads the command lines of all processes, all the time, as anybody on the machine can.

use std::{
    fs,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Result, ensure};

#[derive(Default)]
struct MonitorState {
    secrets: Mutex<Vec<String>>,
    seen: Mutex<Vec<String>>,
    git: AtomicUsize,
}

/// A monitor that runs until this program ends.
pub(super) struct ProcessMonitor(Arc<MonitorState>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Process ids and command lines of what runs now.
fn command_lines() -> impl Iterator<Item = (String, String)> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        Some((process.file_name().into_string().ok()?, line)).filter(|(_, line)| !line.is_empty())
    })
}

impl ProcessMonitor {
    pub(super) fn start() -> Self {
        let state = Arc::new(MonitorState::default());
        let own = Arc::clone(&state);
        thread::spawn(move || {
            loop {
                for (_, line) in command_lines() {
                    if line.starts_with("git ") {
                        own.git.fetch_add(1, Ordering::Relaxed);
                    }
                    if lock(&own.secrets).iter().any(|secret| line.contains(secret)) {
                        lock(&own.seen).push(line);
                    }
                }
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self(state)
    }

    pub(super) fn look_for(&self, secret: String) {
        lock(&self.0.secrets).push(secret);
    }

    /// The first secret that a text contains.
    pub(super) fn find(&self, text: &str) -> Option<String> {
        let secrets = lock(&self.0.secrets);
        secrets.iter().find(|secret| text.contains(*secret)).cloned()
    }

    /// Fails where a command line had a secret, or where none was looked at.
    pub(super) fn check(&self) -> Result<()> {
        let seen = lock(&self.0.seen);
        ensure!(seen.is_empty(), "a secret stood in {} command lines", seen.len());
        ensure!(self.0.git.load(Ordering::Relaxed) > 0, "no git was seen at work");
        Ok(())
    }
}

/// Command lines of processes that work in a folder below this one.
pub(super) fn children_of(folder: &Path) -> Vec<String> {
    let folder = folder.join("scratch");
    let is_there = |id: &str| {
        let place = fs::read_link(format!("/proc/{id}/cwd"));
        place.is_ok_and(|place| place.starts_with(&folder))
    };
    command_lines()
        .filter(|(id, _)| is_there(id))
        .map(|(_, line)| line)
        .collect()
}
