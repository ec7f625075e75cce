//! `cargo xtask …`: anything about the project that takes more than one cargo command.
#![expect(
    clippy::print_stdout,
    reason = "a command line program answers on its standard output"
)]

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::{bench, fuzz, house, peers, postgres, release, schema_org, test, website};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Test, measure and try out Searchwright")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Check formatting, lints, tests on both databases and documentation
    Test(test::TestOptions),
    /// Measure speed and memory beside baselines, in one run; `bench --help` lists the rest
    #[command(disable_help_flag = true)]
    Bench {
        /// crawl, http, startup or all, and options of the benchmark program
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Feed arbitrary bytes to everything that reads bytes of others
    Fuzz(fuzz::FuzzOptions),
    /// Write a linked website with known faults, to be served by nginx
    GenerateSite {
        /// Number of HTML pages
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(website::LEAST_PAGES..=1_000_000))]
        pages: u32,
        /// Folder to write into; what an earlier run left there is replaced
        #[arg(long)]
        out: PathBuf,
        /// Another seed gives another site
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Port on 127.0.0.1 that the absolute addresses in the site and nginx.conf name
        #[arg(long, default_value_t = 8099)]
        port: u16,
    },
    /// Check names, comments and rings of files in the source text, without a build
    House(house::HouseOptions),
    /// Run the product against software and documents of others; `peers --help` lists them
    #[command(disable_help_flag = true)]
    Peers {
        /// audit, autopilot, browser, git, idle-network, people, providers, publish, replicas, schemathesis, vendors or webhooks, and options of the conformance program
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// A private PostgreSQL to look into
    #[command(subcommand)]
    Postgres(PostgresTask),
    /// Show that what the README says about durability holds: faults, histories and a verdict; `prove --help` lists the rest
    #[command(disable_help_flag = true)]
    Prove {
        /// Options of the conformance program
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Make what people install: a static program as archive and Debian package, installer, checksums, signature
    Release(release::ReleaseOptions),
    /// Write the names of schema.org anew that checks of markup know
    SchemaOrg {
        /// schema.d.ts of the npm package schema-dts
        #[arg(long)]
        declarations: PathBuf,
        /// Version of the package
        #[arg(long)]
        version: String,
    },
}

#[derive(Debug, Subcommand)]
enum PostgresTask {
    /// Start one that stays, and print its URL
    Start,
    /// Stop it and remove its data
    Stop,
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // written here, because a result of `main` would be shown with a backtrace
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Test(options) => test::run(&options),
        Task::Bench { arguments } => bench::run(&arguments),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::GenerateSite {
            pages,
            out,
            seed,
            port,
        } => {
            let facts = website::generate(&website::Order { pages, seed, port }, &out)?;
            println!(
                "{} pages, {} bytes, faults in {}",
                facts.pages,
                facts.bytes,
                out.join("expected.json").display()
            );
            println!(
                "nginx -c {} -g 'daemon off;'",
                std::path::absolute(out.join("nginx.conf"))?.display()
            );
            Ok(())
        }
        Task::House(options) => house::run(&options),
        Task::Peers { arguments } => peers::run(&arguments),
        Task::Postgres(PostgresTask::Start) => {
            println!("{}", postgres::start_kept()?);
            Ok(())
        }
        Task::Postgres(PostgresTask::Stop) => postgres::stop_kept(),
        Task::Prove { arguments } => {
            let prove = ["prove".to_owned()].into_iter().chain(arguments);
            peers::run(&prove.collect::<Vec<_>>())
        }
        Task::Release(options) => release::run(&options),
        Task::SchemaOrg {
            declarations,
            version,
        } => {
            println!(
                "{} names in {}, organisations in {}",
                schema_org::write(&declarations, &version)?,
                schema_org::FILE,
                schema_org::ORGANIZATIONS
            );
            Ok(())
        }
    }
}
