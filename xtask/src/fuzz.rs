//! `cargo xtask fuzz`: arbitrary bytes for everything that reads bytes of others, one target after the other.
//!
//! Needs `cargo-fuzz` and a C++ compiler, no nightly toolchain: the code has no unsafe block that a sanitizer would watch,
//! so the targets are built without one. What they learn is kept below the target folder, what breaks them in
//! `fuzz/artifacts`.
#![expect(
    clippy::print_stdout,
    reason = "a command line program answers on its standard output"
)]

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::{process, target, workspace};

/// Memory of a target, in MiB.
const MAX_MEMORY_MIB: u32 = 512;
/// Seconds that one input may take.
const MAX_INPUT_SECONDS: u32 = 10;
/// Bytes of the longest input.
const MAX_INPUT_BYTES: u32 = 32 * 1024;

/// Targets to run and the time for each.
#[derive(Args, Clone, Debug)]
pub struct FuzzOptions {
    /// Seconds for each target
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Print how the time that readers take grows with adversarial inputs, twice and four times as long, and how many times
    /// that of a usual input it is, and nothing else
    #[arg(long, conflicts_with = "seconds")]
    growth: bool,
    /// Targets; all when none is named
    targets: Vec<String>,
}

/// Runs the targets; fails when one of them crashes, hangs or takes too much memory.
pub fn run(options: &FuzzOptions) -> Result<()> {
    let known = process::output("cargo fuzz list", &mut cargo_fuzz("list"))
        .context("cargo-fuzz is needed: cargo install cargo-fuzz --locked")?;
    let known: Vec<&str> = known.lines().collect();
    if let Some(other) = options
        .targets
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        bail!("no target {other}; there are {}", known.join(", "));
    }
    let mut build = cargo_fuzz("build");
    build.args(built());
    if !build.status()?.success() {
        bail!("cannot build the targets");
    }
    if options.growth {
        return growth();
    }
    let mut broken = Vec::new();
    for name in &known {
        let wanted = options.targets.is_empty() || options.targets.iter().any(|target| target == name);
        if wanted && !one(name, options.seconds)? {
            broken.push(*name);
        }
    }
    if !broken.is_empty() {
        bail!("broken: {}; the inputs are in fuzz/artifacts", broken.join(", "));
    }
    Ok(())
}

/// Runs one target; false when an input broke it.
fn one(name: &str, seconds: u32) -> Result<bool> {
    let own = workspace().join("fuzz");
    let kept = target().join("fuzz");
    let learned = kept.join("corpus").join(name);
    fs::create_dir_all(&learned)?;
    let log = kept.join(format!("{name}.log"));
    let mut command = cargo_fuzz("run");
    command.args(built()).arg(name).arg(&learned);
    let seeds = own.join("seeds").join(name);
    command.args(seeds.is_dir().then_some(&seeds));
    if name == "keyword_files" {
        command.arg(workspace().join("crates/keywords/tests/data"));
    }
    command.args(["--", &format!("-max_total_time={seconds}")]);
    command.arg(format!("-rss_limit_mb={MAX_MEMORY_MIB}"));
    // it reads long inputs again and again, on purpose
    let patience = if name == "growth" {
        10 * MAX_INPUT_SECONDS
    } else {
        MAX_INPUT_SECONDS
    };
    command.arg(format!("-timeout={patience}"));
    command.arg(format!("-max_len={MAX_INPUT_BYTES}"));
    command.args(["-print_final_stats=1", "-reload=0"]);
    if let Some(words) = dictionary(&own, name) {
        command.arg(format!("-dict={}", words.display()));
    }
    let status = command
        .stdout(Stdio::null())
        .stderr(File::create(&log)?)
        .status()?;
    let said = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let runs = said
        .lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    eprintln!("{name}: {seconds} s, {} inputs", runs.map_or("?", str::trim));
    if !status.success() {
        let lines: Vec<&str> = said.lines().collect();
        eprintln!("{}", lines[lines.len().saturating_sub(40)..].join("\n"));
    }
    Ok(status.success())
}

/// Runs the inputs that `growth` begins with once each, and prints what they took.
fn growth() -> Result<()> {
    let seeds = fs::read_dir(workspace().join("fuzz/seeds/growth"))?;
    let mut seeds: Vec<PathBuf> = seeds.map(|seed| Ok(seed?.path())).collect::<Result<_>>()?;
    seeds.sort();
    let mut command = cargo_fuzz("run");
    command
        .args(built())
        .arg("growth")
        .args(seeds)
        .args(["--", "-timeout=600"]);
    let output = command.env("SHOW_GROWTH", "1").stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines()
        .filter_map(|line| line.strip_prefix("growth: "))
        .for_each(|line| println!("{line}"));
    if !output.status.success() {
        bail!("growth failed with {}", output.status);
    }
    Ok(())
}

/// Words that inputs of this target are made of.
fn dictionary(own: &Path, name: &str) -> Option<PathBuf> {
    let name = match name {
        "charset" | "growth" | "post_html" | "site" => "html",
        "post_markdown" | "text" => "markdown",
        name => name,
    };
    let path = own.join("dictionaries").join(format!("{name}.dict"));
    path.is_file().then_some(path)
}

fn built() -> Vec<String> {
    let folder = target().join("fuzz");
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    ["--sanitizer", "none", "--target-dir"]
        .map(str::to_owned)
        .into_iter()
        .chain([folder.display().to_string()])
        .collect()
}

/// A command of cargo-fuzz for the targets of this workspace.
fn cargo_fuzz(command: &str) -> Command {
    let mut cargo = process::program(crate::cargo(), None);
    cargo
        .args(["fuzz", command])
        .current_dir(workspace().join("fuzz"));
    cargo
}
