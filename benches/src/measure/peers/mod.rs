//! The product beside programs of others that do a part of its work, in one run: crawlers and link checkers on one website, and a
//! server in one file with an embedded database.

mod crawlers;
mod lychee;
mod pocketbase;

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};
use xtask::{packages, process::program};

use crate::{Effort, report::Report};

/// Compares with all of them.
pub fn run(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = std::path::absolute(xtask::target().join("bench/peers"))?;
    fs::create_dir_all(&folder)?;
    crawlers::install(&folder)?;
    pocketbase::run(&folder, effort, report)?;
    crawlers::run(&folder, effort, report)
}

/// Cost of a crawl, of all programs that take part in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) seconds: f64,
    /// Processor time, in seconds.
    pub(super) processor: f64,
    /// Highest resident memory of one process, in MB of 10^6 bytes.
    pub(super) peak: f64,
}

/// Runs a command whose exit codes count as done, and returns what it cost. Its standard output goes to a file.
fn measure(command: &Command, done: &[i32], folder: &Path, output: &Path) -> Result<Cost> {
    let figures = folder.join("cost.txt");
    remove(&figures)?;
    let mut timed = program(packages::ensure("time", "time")?, None);
    timed
        .args(["--quiet", "--format", "%e %U %S %M", "--output"])
        .arg(&figures);
    timed.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            timed.env(name, value);
        }
    }
    let said = folder.join("stderr.txt");
    timed
        .current_dir(command.get_current_dir().unwrap_or(folder))
        .stdout(fs::File::create(output)?)
        .stderr(fs::File::create(&said)?);
    let status = timed.status()?;
    if !status.code().is_some_and(|code| done.contains(&code)) {
        let said = fs::read_to_string(&said).unwrap_or_default();
        bail!("it ended with {status}: {}", said.trim());
    }
    read_cost(&fs::read_to_string(&figures)?)
}

/// Reads what `time` wrote: seconds, seconds in the program and in the kernel, memory in KiB.
fn read_cost(text: &str) -> Result<Cost> {
    let figures: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    let [seconds, user, system, peak] = figures?[..] else {
        bail!("no cost in {text:?}");
    };
    Ok(Cost {
        seconds,
        processor: user + system,
        peak: peak * 1_024.0 / 1e6,
    })
}

fn remove(file: &Path) -> Result<()> {
    if file.exists() {
        fs::remove_file(file)?;
    }
    Ok(())
}

/// Name and version of a package of a list, as in `scrapy 2.19.0`.
fn pinned(list: &str, name: &str) -> Result<String> {
    let line = list.lines().find(|line| line.starts_with(name));
    let line = line.with_context(|| format!("requirements.txt does not name {name}"))?;
    Ok(line.replace("==", " "))
}

#[cfg(test)]
mod tests {
    use super::read_cost;

    #[test]
    fn costs_are_read_as_time_writes_them() {
        let cost = read_cost("2.50 1.25 0.50 20000\n").unwrap();
        assert!((cost.processor - 1.75).abs() < 1e-9 && (cost.peak - 20.48).abs() < 1e-9);
        assert!((cost.seconds - 2.5).abs() < 1e-9);
        assert!(read_cost("Command exited with non-zero status 1\n").is_err());
    }
}
