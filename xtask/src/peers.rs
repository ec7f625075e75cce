//! `cargo xtask peers`: builds the conformance program and hands over.

use anyhow::{Result, bail};

use crate::process::program;

/// Runs `searchwright-conformance` with these arguments, in the folder that this program was started in.
pub fn run(arguments: &[String]) -> Result<()> {
    let mut command = program(crate::cargo(), None);
    command
        .args(["run", "--quiet", "--locked", "--manifest-path"])
        .arg(crate::workspace().join("Cargo.toml"))
        .args(["--package", "searchwright-conformance", "--"])
        .args(arguments);
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        bail!("the comparison failed ({status})")
    }
}
