//! Faults at system calls of a program as it is shipped, by strace: the program has no code for them.

use std::{collections::BTreeMap, ffi::OsString, fs, path::Path};

use anyhow::Result;
use xtask::packages;

use crate::fleet::Surroundings;

/// System calls at which something becomes true outside a process: bytes of a file, their sync, and messages.
pub(super) const CALLS: [&str; 6] = ["pwrite64", "fdatasync", "sendto", "writev", "recvfrom", "connect"];

/// Without threads that take turns, a number names nearly the same call in each run.
const WORKERS: (&str, &str) = ("TOKIO_WORKER_THREADS", "1");

fn surround(arguments: &[OsString]) -> Result<Surroundings> {
    let strace = packages::ensure("strace", "strace")?;
    let mut command = vec![strace.into_os_string()];
    // the program keeps the process id of the command, so that signals reach it
    command.extend(["-D", "-f", "-qq", "--seccomp-bpf"].map(OsString::from));
    command.extend_from_slice(arguments);
    Ok(Surroundings {
        command,
        variables: vec![(WORKERS.0.to_owned(), OsString::from(WORKERS.1))],
    })
}

/// Kills the process at a call: the number of a thread's calls of this name since the start.
pub(super) fn kill_at(call: &str, number: usize) -> Result<Surroundings> {
    surround(&[
        OsString::from("-o/dev/null"),
        OsString::from(format!("--trace={call}")),
        OsString::from(format!("--inject={call}:signal=KILL:when={number}")),
    ])
}

/// Lets calls fail from a number on.
pub(super) fn fail(calls: &str, error: &str, first: usize) -> Result<Surroundings> {
    surround(&[
        OsString::from("-o/dev/null"),
        OsString::from(format!("--trace={calls}")),
        OsString::from(format!("--inject={calls}:error={error}:when={first}+")),
    ])
}

/// Writes every call into a file.
pub(super) fn watch(file: &Path) -> Result<Surroundings> {
    let mut output = OsString::from("-o");
    output.push(file);
    surround(&[output, OsString::from(format!("--trace={}", CALLS.join(",")))])
}

/// Number of calls of each name so far, of the thread that made most of them.
pub(super) fn count(file: &Path) -> Result<BTreeMap<String, usize>> {
    let text = fs::read_to_string(file)?;
    let mut threads: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in text.lines() {
        // 4242 pwrite64(12, …
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        if let Some((call, _)) = rest.trim_start().split_once('(') {
            *threads.entry((thread, call)).or_default() += 1;
        }
    }
    let mut counts = BTreeMap::new();
    for ((_, call), count) in threads {
        let most = counts.entry(call.to_owned()).or_insert(0);
        *most = count.max(*most);
    }
    Ok(counts)
}
