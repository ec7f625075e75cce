//! `cargo xtask …`: anything about the project that takes more than one cargo command.
#![expect(
    clippy::print_stdout,
    reason = "a command line program answers on its standard output"
)]

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::{bench, fuzz, peers, postgres, schema_org, test, website};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Test, measure and try out Searchwright")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Check formatting, lints, tests on both databases and documentation
    Test(test::Options),
    /// Measure speed and memory beside baselines, in one run; `bench --help` lists the rest
    #[command(disable_help_flag = true)]
    Bench {
        /// crawl, http, startup or all, and options of the benchmark program
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Feed arbitrary bytes to everything that reads bytes of others
    Fuzz(fuzz::Options),
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
    /// Run the product against software and documents of others
    #[command(subcommand)]
    Peers(PeersTask),
    /// A private PostgreSQL to look into
    #[command(subcommand)]
    Postgres(PostgresTask),
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
enum PeersTask {
    /// Requests to language models and sources of keyword data against the vendors' documents
    Providers {
        /// Folder with openai.json, anthropic.yaml, gemini.json and dataforseo.yaml
        #[arg(long)]
        documents: PathBuf,
    },
    /// Audits of websites that Debian packages, beside link checkers, parsers and validators of others
    Audit {
        /// Only this website, such as debian-policy; more than once for more. Checks that nothing there fails are then no fault
        #[arg(long)]
        website: Vec<String>,
    },
    /// What the sanitiser leaves of hostile texts, in Chromium
    Browser,
    /// Posts published to repositories behind a real sshd and a real smart HTTP server, with others who push, kills and impostors
    Git,
    /// Posts published to content management systems, also through a bad network and kills
    Publish(peers::PublishOptions),
    /// Requests to Webflow, Notion and Shopify against the vendors' documents
    Vendors {
        /// Folder with webflow.yaml and notion.json
        #[arg(long)]
        documents: PathBuf,
    },
    /// Signatures of webhooks by the official libraries of Python and JavaScript
    Webhooks,
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
        Task::Peers(PeersTask::Providers { documents }) => peers::providers(&documents),
        Task::Peers(PeersTask::Audit { website }) => {
            print!("{}", peers::audit(&website)?);
            Ok(())
        }
        Task::Peers(PeersTask::Browser) => peers::browser(),
        Task::Peers(PeersTask::Git) => peers::git(),
        Task::Peers(PeersTask::Publish(options)) => peers::publish(&options),
        Task::Peers(PeersTask::Vendors { documents }) => peers::vendors(&documents),
        Task::Peers(PeersTask::Webhooks) => peers::webhooks(),
        Task::Postgres(PostgresTask::Start) => {
            println!("{}", postgres::start_kept()?);
            Ok(())
        }
        Task::Postgres(PostgresTask::Stop) => postgres::stop_kept(),
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
