//! `cargo xtask bench`: builds the product and the benchmark program in release form and hands over.
//!
//! The two are built one after the other: in one build cargo would unite their features, and the
//! measured product would not be the one that people install.

use std::process::Command;

use anyhow::{Context, Result, bail};

/// Builds what is measured and runs `searchwright-bench` with these arguments.
pub fn run(arguments: &[String]) -> Result<()> {
    for package in ["searchwright", "searchwright-bench"] {
        eprintln!("building {package} (release)");
        let status = Command::new(crate::cargo())
            .args(["build", "--release", "--locked", "--package", package])
            .current_dir(crate::workspace())
            .status()?;
        if !status.success() {
            bail!("cannot build {package}");
        }
    }
    let program = crate::target().join("release/searchwright-bench");
    let status = Command::new(&program)
        .args(arguments)
        .current_dir(crate::workspace())
        .status()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if status.success() {
        Ok(())
    } else {
        bail!("a target was missed or a measurement failed ({status})")
    }
}
