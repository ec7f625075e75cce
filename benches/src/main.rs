//! `cargo xtask bench`: speed as ratios to baselines that run beside the product, memory and start-up
//! as absolute figures.
//!
//! A ratio of two programs measured alternately in the same minutes says something on any machine; a
//! number of requests a second does not. The baselines are what one would write by hand without a
//! product around it, and they are processes of this same program, so that they share no memory and no
//! threads with the load.
#![expect(
    clippy::print_stdout,
    reason = "a command line program answers on its standard output"
)]

mod baseline;
mod cpu;
mod load;
mod measure;
mod memory;
mod open_load;
mod person;
mod product;
mod report;
mod website;

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::{baseline::crawl::Pass, report::Report};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", about = "Measure Searchwright beside baselines")]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
    #[command(flatten)]
    effort: Effort,
}

/// Size of the measurements; the targets hold for the defaults.
#[derive(Args, Clone, Debug)]
struct Effort {
    /// Rounds of baseline and product in turn, of a crawl five times as many; the median counts
    #[arg(long, global = true, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Seconds of load in each round
    #[arg(long, global = true, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Pages of the crawled site
    #[arg(long, global = true, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(200..))]
    pages: u32,
    /// Pages of the big site that the memory is compared on; 0 leaves it out
    #[arg(long, global = true, default_value_t = 100_000)]
    big: u32,
    /// Measure only the baselines, to try out the bench itself
    #[arg(long, global = true)]
    baseline_only: bool,
    /// Leave out what needs PostgreSQL
    #[arg(long, global = true)]
    no_postgres: bool,
    /// Measure this program instead of the one that was built for it
    #[arg(long, global = true)]
    program: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Everything
    All,
    /// An audit of a generated site beside a bare fetch-and-parse loop, and its memory
    Crawl,
    /// Lists, single records and durable writes over HTTP, on SQLite and PostgreSQL, and what is of `isolation`
    Http,
    /// Calls of a quiet project, alone and beside clients that ask for the dearest work
    Isolation,
    /// Keywords found in a site, files of them taken in, and lists of a thousand and of a million
    Keywords,
    /// Overview and opportunities of visibility over a quarter of answers, and access logs
    Visibility,
    /// Deliveries of webhooks, with many waiting and beside a dead receiver
    Webhooks,
    /// An audit of a million pages: memory, database, and how long the analysis takes; not among everything
    LargeSite {
        /// Pages of the site, which is made while it is fetched
        #[arg(long, default_value_t = 980_000, value_parser = clap::value_parser!(u32).range(200..=980_000))]
        large: u32,
    },
    /// Arrivals at half, all and three times the capacity, and the time after them; not among everything
    Overload,
    /// Mixed load for a long time, and the trend of what the product holds; not among everything
    Soak {
        /// Minutes of load
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
        minutes: u32,
        /// Share of the capacity, which is measured first
        #[arg(long, default_value_t = 0.7)]
        share: f64,
        /// On PostgreSQL instead of SQLite
        #[arg(long)]
        postgres: bool,
    },
    /// Programs of others in one run: crawlers and link checkers on one website, and PocketBase; not among everything
    Peers,
    /// Time to ready and idle memory on an existing database
    Startup,
    /// The baseline server on SQLite
    #[command(hide = true)]
    BaselineSqlite {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long)]
        database: PathBuf,
    },
    /// The baseline server on PostgreSQL
    #[command(hide = true)]
    BaselinePostgres {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long)]
        database_url: String,
    },
    /// The baseline crawl: one URL a line in, one line of JSON out
    #[command(hide = true)]
    BaselineCrawl {
        #[arg(long)]
        urls: PathBuf,
        /// Output of the pass over each page
        #[arg(long, value_enum, default_value_t = Pass::Page)]
        pass: Pass,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // written here, because a result of `main` would be shown with a backtrace
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// False when a target was missed.
fn run(arguments: Arguments) -> Result<bool> {
    let mut effort = arguments.effort;
    if let Some(program) = effort.program.take() {
        product::use_program(program);
    }
    let mut report = Report::default();
    let task = arguments.task.unwrap_or(Task::All);
    match &task {
        Task::BaselineSqlite { listen, database } => {
            baseline::sqlite::serve(*listen, database)?;
            return Ok(true);
        }
        Task::BaselinePostgres { listen, database_url } => {
            baseline::postgres::serve(*listen, database_url)?;
            return Ok(true);
        }
        Task::BaselineCrawl { urls, pass } => {
            println!("{}", serde_json::to_string(&baseline::crawl::run(urls, *pass)?)?);
            return Ok(true);
        }
        Task::Peers => measure::peers::run(&effort, &mut report)?,
        Task::LargeSite { large } => measure::large_site::run(*large, &mut report)?,
        Task::Soak {
            minutes,
            share,
            postgres,
        } => measure::soak::run(*minutes, *share, *postgres, &mut report)?,
        Task::All
        | Task::Crawl
        | Task::Http
        | Task::Isolation
        | Task::Keywords
        | Task::Overload
        | Task::Startup
        | Task::Visibility
        | Task::Webhooks => {}
    }
    if matches!(task, Task::All | Task::Http) {
        measure::http::run(&effort, &mut report)?;
    }
    if matches!(task, Task::All | Task::Http | Task::Isolation) && !effort.baseline_only {
        measure::isolation::run(&effort, &mut report)?;
    }
    if matches!(task, Task::Overload) {
        measure::overload::run(&effort, &mut report)?;
    }
    if matches!(task, Task::All | Task::Keywords) && !effort.baseline_only {
        measure::keywords::run(&effort, &mut report)?;
    }
    if matches!(task, Task::All | Task::Startup) && !effort.baseline_only {
        measure::startup::run(&effort, &mut report)?;
    }
    if matches!(task, Task::All | Task::Visibility) && !effort.baseline_only {
        measure::visibility::run(&effort, &mut report)?;
    }
    if matches!(task, Task::All | Task::Webhooks) && !effort.baseline_only {
        measure::webhooks::run(&effort, &mut report)?;
    }
    if matches!(task, Task::All | Task::Crawl) {
        measure::crawl::run(&effort, &mut report)?;
    }
    print!("{}", report.table());
    report.save(&xtask::target().join("bench.json"))?;
    Ok(report.passed())
}
