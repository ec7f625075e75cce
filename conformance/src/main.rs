//! `cargo xtask peers …`: the product against software it was not made with, and against the documents of
//! vendors that cannot be installed.
#![expect(
    clippy::print_stdout,
    reason = "a command line program answers on its standard output"
)]

mod audit;
mod autopilot;
mod browser;
mod chromium;
mod fleet;
mod git;
mod idle_network;
mod peer;
mod people;
mod product;
mod prove;
mod providers;
mod publish;
mod replicas;
mod schemathesis;
mod vendors;
mod webhooks;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo xtask peers",
    about = "Run Searchwright against software and documents of others"
)]
struct Arguments {
    #[command(subcommand)]
    comparison: Comparison,
}

#[derive(Debug, Subcommand)]
enum Comparison {
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
    /// A week of the autopilot at a real WordPress by a clock that is moved: approvals, an outage, a downtime, a change of the clocks
    Autopilot,
    /// Hostile texts after the sanitiser, rendered by Chromium
    Browser,
    /// Posts published to repositories behind a real sshd and a real smart HTTP server, with others who push, kills and impostors
    Git,
    /// System calls of a server that has nothing to do: none reaches another machine
    IdleNetwork {
        /// This searchwright, instead of building one
        #[arg(long)]
        program: Option<PathBuf>,
    },
    /// OAuth clients, the MCP conformance suite and a browser, from sign-in to the end of access
    People(people::PeopleOptions),
    /// Claims about durability: kills, full disks, crashes of the database and steps of the clock, with their histories and a verdict
    Prove(prove::ProveOptions),
    /// Posts published to content management systems, also through a bad network and kills
    Publish(publish::Options),
    /// Three processes on one PostgreSQL that are killed while slots of many projects come: each fires once
    Replicas(replicas::ReplicaOptions),
    /// Requests that Schemathesis makes from the OpenAPI document, on both databases
    Schemathesis(schemathesis::SchemathesisOptions),
    /// Requests to Webflow, Notion and Shopify against the vendors' documents
    Vendors {
        /// Folder with webflow.yaml and notion.json
        #[arg(long)]
        documents: PathBuf,
    },
    /// Signatures of webhooks by the official libraries of Python and JavaScript
    Webhooks,
}

fn main() -> ExitCode {
    match run(Arguments::parse().comparison) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // written here, because a result of `main` would be shown with a backtrace
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(comparison: Comparison) -> Result<()> {
    match comparison {
        Comparison::Providers { documents } => providers::check(&documents),
        Comparison::Audit { website } => {
            print!("{}", audit::compare(&website)?);
            Ok(())
        }
        Comparison::Autopilot => autopilot::check(),
        Comparison::Browser => browser::check(),
        Comparison::Git => git::check(),
        Comparison::IdleNetwork { program } => {
            let program = program.map_or_else(product::build, |path| Ok(std::path::absolute(path)?))?;
            println!("{}", idle_network::check(&program)?);
            Ok(())
        }
        Comparison::People(options) => people::check(&options),
        Comparison::Prove(options) => prove::check(&options),
        Comparison::Publish(options) => publish::check(&options),
        Comparison::Replicas(options) => replicas::check(&options),
        Comparison::Schemathesis(options) => schemathesis::check(&options),
        Comparison::Vendors { documents } => vendors::check(&documents),
        Comparison::Webhooks => webhooks::check(),
    }
}
