//! The product's own program, as the comparisons run it.

use std::{path::PathBuf, process::Command};

use anyhow::Result;
use xtask::process::quiet;

/// Builds `searchwright` and returns the absolute path of the program.
pub(crate) fn build() -> Result<PathBuf> {
    let mut cargo = Command::new(xtask::cargo());
    cargo
        .args(["build", "--quiet", "--package", "searchwright"])
        .current_dir(xtask::workspace());
    quiet("cargo build", &mut cargo)?;
    Ok(std::path::absolute(xtask::target().join("debug/searchwright"))?)
}
