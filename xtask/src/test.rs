//! `cargo xtask test`: everything a change must pass, in the order of how soon it can say no.

use std::{
    fmt::Write,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use crate::{
    ci, house, lockfile, packages,
    postgres::{Binaries, Postgres},
    target, workspace,
};

/// Environment variable in which the tests look for a PostgreSQL; one that is already set is used.
pub const POSTGRES_VARIABLE: &str = "SEARCHWRIGHT_TEST_POSTGRES";

/// The cargo-deny that continuous integration installs, where nothing may be skipped.
const DENY: &str = "cargo-deny@0.20.2";

/// Options of a run.
#[derive(Args, Debug, Default)]
pub struct TestOptions {
    /// Run only this step; may be repeated
    #[arg(long, value_name = "STEP")]
    only: Vec<Step>,
    /// Go on after a step that fails
    #[arg(long)]
    keep_going: bool,
    /// Arguments for the test runner (cargo nextest run, or cargo test), after `--`
    #[arg(last = true, value_name = "ARGS")]
    runner: Vec<String>,
}

/// One thing that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Formatting
    Fmt,
    /// Banned and doubled packages in Cargo.lock; licences and bans with cargo-deny where it is installed or CI=true
    Lock,
    /// Names, comments and rings of files in the source text; see `cargo xtask house`
    House,
    /// Lints of every target, as errors
    Clippy,
    /// The fuzz targets, which are no part of the workspace: that they compile, and that no seed breaks one
    Fuzz,
    /// Unit and integration tests on SQLite and on a private PostgreSQL
    Tests,
    /// Documentation builds without a warning
    Docs,
}

/// Runs the steps, shows how long each took, and fails with the first that failed.
pub fn run(options: &TestOptions) -> Result<()> {
    let mut table = String::new();
    let mut failure = None;
    for step in Step::value_variants() {
        if !options.only.is_empty() && !options.only.contains(step) {
            continue;
        }
        let name = format!("{step:?}").to_lowercase();
        eprintln!("== {name}");
        let start = Instant::now();
        let outcome = step.run(&options.runner);
        report(&mut table, &name, &outcome, start.elapsed());
        if let Err(error) = outcome {
            failure.get_or_insert(error.context(format!("step {name} failed")));
            if !options.keep_going {
                break;
            }
        }
    }
    eprint!("\n{table}");
    failure.map_or(Ok(()), Err)
}

fn report(table: &mut String, name: &str, outcome: &Result<()>, time: Duration) {
    let word = if outcome.is_ok() { "ok" } else { "FAILED" };
    // writing to a string cannot fail
    let _ = writeln!(table, "{name:8}{word:8}{:7.1} s", time.as_secs_f64());
}

impl Step {
    fn run(self, runner: &[String]) -> Result<()> {
        match self {
            Self::Fmt => cargo(&["fmt", "--all", "--", "--check"]),
            Self::Lock => lock(),
            Self::House => house::run(&house::HouseOptions::default()),
            Self::Clippy => cargo(&[
                "clippy",
                "--workspace",
                "--all-targets",
                "--locked",
                "--",
                "-D",
                "warnings",
            ]),
            Self::Fuzz => {
                // Only the targets themselves link libFuzzer, which needs a C++ compiler: they are checked, and what
                // they are made of is tested.
                fuzz_targets("check", &[])?;
                fuzz_targets("test", &["--lib"])
            }
            Self::Tests => tests(runner),
            Self::Docs => {
                let mut command = cargo_command(&["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
                finish(command.env("RUSTDOCFLAGS", "-D warnings"))
            }
        }
    }
}

/// Runs a command of cargo on the targets that `cargo xtask fuzz` runs, with an archive of nothing in place of libFuzzer.
fn fuzz_targets(command: &str, arguments: &[&str]) -> Result<()> {
    let archive = target().join("libnothing.a");
    std::fs::write(&archive, "!<arch>\n").with_context(|| format!("cannot write {}", archive.display()))?;
    let archive = std::path::absolute(archive)?;
    let mut command = cargo_command(&[command, "--manifest-path", "fuzz/Cargo.toml", "--locked"]);
    command.args(arguments).arg("--target-dir").arg(target());
    command.env("CUSTOM_LIBFUZZER_STD_CXX", "none");
    finish(command.env("CUSTOM_LIBFUZZER_PATH", archive))
}

/// Advisories are left out of the gate: the database changes without the project changing, so a
/// commit that passed yesterday could not be built again today.
fn lock() -> Result<()> {
    let text = std::fs::read_to_string(workspace().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    lockfile::check(&text)?;
    if packages::find("cargo-deny").is_none() {
        if !ci() {
            return Ok(());
        }
        eprintln!("installing {DENY}");
        cargo(&["install", "--locked", "--quiet", DENY])?;
    }
    cargo(&["deny", "--locked", "check", "bans", "licenses", "sources"])
}

fn tests(runner: &[String]) -> Result<()> {
    let mut command = if packages::find("cargo-nextest").is_some() {
        cargo_command(&["nextest", "run", "--locked"])
    } else {
        eprintln!("cargo-nextest is not installed, running cargo test");
        cargo_command(&["test", "--locked"])
    };
    if !runner
        .iter()
        .any(|argument| argument.starts_with("-p") || argument.starts_with("--package"))
    {
        command.arg("--workspace");
    }
    command.args(runner);
    let postgres = private_postgres()?;
    if let Some(postgres) = &postgres {
        command.env(POSTGRES_VARIABLE, postgres.url());
    }
    finish(&mut command)
}

/// None when one is given from outside, or when none can be installed and this is not CI. One that
/// is there and does not start is always an error.
fn private_postgres() -> Result<Option<Postgres>> {
    if std::env::var_os(POSTGRES_VARIABLE).is_some_and(|url| !url.is_empty()) {
        return Ok(None);
    }
    match Binaries::find_or_install() {
        Ok(binaries) => Postgres::start(binaries).map(Some),
        Err(error) if ci() => {
            Err(error.context("the tests need a PostgreSQL, and with CI=true nothing is skipped"))
        }
        Err(error) => {
            eprintln!("skipping the PostgreSQL half of the tests: {error}");
            Ok(None)
        }
    }
}

fn cargo(arguments: &[&str]) -> Result<()> {
    finish(&mut cargo_command(arguments))
}

fn cargo_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::cargo());
    command.args(arguments).current_dir(workspace());
    command
}

fn finish(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        bail!("{} failed with {status}", shown(command))
    }
}

/// The command without its environment, which holds the database's password.
fn shown(command: &Command) -> String {
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
    format!("cargo {}", words.join(" "))
}
