//! Libraries of npm and PyPI and programs of crates.io, installed below the target folder and again only when they change.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::process::quiet;

/// Installs the packages of a `package.json` and of a `requirements.txt` below `folder`.
pub fn install(folder: &Path, package_json: &str, requirements: &str) -> Result<()> {
    install_once(folder, "package.json", package_json, || {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund"]);
        quiet("npm install", npm.current_dir(folder))
    })?;
    install_python(folder, requirements)
}

/// Installs the packages of a `requirements.txt` in `venv` below `folder`.
pub fn install_python(folder: &Path, requirements: &str) -> Result<()> {
    install_once(folder, "requirements.txt", requirements, || {
        let mut python = Command::new("python3");
        quiet(
            "python3 -m venv",
            python.args(["-m", "venv", "venv"]).current_dir(folder),
        )?;
        let mut pip = Command::new(folder.join("venv/bin/pip"));
        quiet(
            "pip install",
            pip.args(["install", "--quiet", "-r", "requirements.txt"])
                .current_dir(folder),
        )
    })
}

/// Path of the program `name` of a crate, built in this version with more options of `cargo install` unless that was done before.
pub fn install_crate(package: &str, name: &str, version: &str, options: &[&str]) -> Result<PathBuf> {
    let root = crate::target().join(format!("tools/{package}-{version}"));
    let path = std::path::absolute(root.join("bin").join(name))?;
    if !path.is_file() {
        eprintln!(
            "installing {package} {version} below {} (takes minutes)",
            root.display()
        );
        let mut install = Command::new(crate::cargo());
        install.args(["install", package, "--locked", "--version", version]);
        quiet("cargo install", install.args(options).arg("--root").arg(&root))?;
    }
    Ok(path)
}

/// Writes `list` to the file `name` below `folder` and runs `work`, unless that was done for the same list before.
///
/// A copy of the list in `{name}.installed` records that the work succeeded.
pub fn install_once(folder: &Path, name: &str, list: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let installed = folder.join(format!("{name}.installed"));
    if fs::read_to_string(&installed).is_ok_and(|text| text == list) {
        return Ok(());
    }
    fs::write(folder.join(name), list)?;
    eprintln!("installing the packages in {name} below {}", folder.display());
    work().with_context(|| format!("cannot install the packages in {name}"))?;
    Ok(fs::write(installed, list)?)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::install_once;

    #[test]
    fn work_is_repeated_after_a_failure_and_for_another_list() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Cell::new(0);
        let install = |list: &str, succeeds: bool| {
            install_once(folder.path(), "list.txt", list, || {
                runs.set(runs.get() + 1);
                anyhow::ensure!(succeeds, "no network");
                Ok(())
            })
        };
        assert!(install("a", false).is_err());
        install("a", true).unwrap();
        install("a", true).unwrap();
        assert_eq!(runs.get(), 2);
        install("b", true).unwrap();
        assert_eq!(runs.get(), 3);
    }
}
