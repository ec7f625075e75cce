//! `cargo xtask prove`: claims of the README about durability, each with the history of what was done to the product and a verdict that
//! reads nothing but that history.

mod faults;
mod history;
mod report;
mod strace;
mod verdict;
mod workload;
mod world;

use std::{path::PathBuf, time::Duration};

use anyhow::{Result, bail};
use clap::Args;

use crate::{product, publish::installation::empty_folder};
use faults::{EXPERIMENTS, Experiment, Plan};

/// Options of `prove`.
#[derive(Args, Debug)]
pub struct ProveOptions {
    /// Only this experiment; more than once for more
    #[arg(long, value_enum)]
    only: Vec<Experiment>,
    /// Shortest time of faults in an experiment, in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Points of each kind of system call at which a process is killed
    #[arg(long, default_value_t = 12)]
    points: usize,
    /// Another seed gives other requests and faults
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// This searchwright, instead of building one
    #[arg(long)]
    program: Option<PathBuf>,
    /// Judge the history of an earlier run, and run nothing
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

/// Runs the experiments; fails if one does not end as it should.
pub(crate) fn check(options: &ProveOptions) -> Result<()> {
    if let Some(file) = &options.check {
        return report::print_check(file);
    }
    let program = match &options.program {
        Some(program) => std::path::absolute(program)?,
        None => product::build()?,
    };
    let folder = empty_folder(std::path::absolute(xtask::target())?.join("prove"))?;
    let plan = Plan {
        program: &program,
        folder: &folder,
        seed: options.seed,
        time: Duration::from_secs(options.seconds),
        points: options.points,
    };
    let mut outcomes = Vec::new();
    let mut failed = Vec::new();
    for experiment in EXPERIMENTS {
        if !options.only.is_empty() && !options.only.contains(&experiment) {
            continue;
        }
        for storage in experiment.databases() {
            let name = format!("{} on {}", experiment.name(), storage.name());
            eprintln!("{name} …");
            match faults::run(&plan, experiment, *storage) {
                Ok(outcome) => {
                    report::print(&outcome);
                    if !outcome.is_as_meant() {
                        failed.push(name);
                    }
                    outcomes.push(outcome);
                }
                Err(error) => {
                    eprintln!("{name}: {error:#}");
                    failed.push(name);
                }
            }
        }
    }
    let report = report::write(&plan, &outcomes)?;
    eprintln!("{}", report.display());
    if failed.is_empty() {
        return Ok(());
    }
    bail!("not proven: {}", failed.join(", "))
}
