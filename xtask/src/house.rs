//! `cargo xtask house`: rules for names, comments and module structure that no compiler checks, read from the source text
//! without a build.
//!
//! Every rule has a goal. A crate that misses the goal has a limit equal to its present count in `house/limits.rs`; a limit
//! may only go down.

mod limits;
mod report;
mod rings;
mod source;
mod syntax;
mod text_rules;
mod threat_model;

use std::io::{Write, stdout};

use anyhow::Result;
use clap::Args;

use crate::workspace;

/// Options of a run.
#[derive(Args, Clone, Debug)]
pub struct HouseOptions {
    /// Print the rings of files, with the names that each file uses of the others, and check nothing
    #[arg(long)]
    rings: bool,
    /// Leave out rings of at most so many files
    #[arg(long, requires = "rings", default_value_t = limits::MAX_RING_FILES, value_name = "FILES")]
    over: usize,
}

impl Default for HouseOptions {
    fn default() -> Self {
        Self {
            rings: false,
            over: limits::MAX_RING_FILES,
        }
    }
}

/// Prints the counts of every crate; fails where one is over its limit, or a row of the threat model names a test that is gone.
pub fn run(options: &HouseOptions) -> Result<()> {
    let root = workspace();
    let crates = source::load_crates(&root)?;
    if options.rings {
        return Ok(stdout().write_all(report::list_rings(&crates, options.over).as_bytes())?);
    }
    threat_model::check(&root)?;
    let documents = source::Documents::load(&root)?;
    report::check(&crates, &documents, &mut stdout())
}
