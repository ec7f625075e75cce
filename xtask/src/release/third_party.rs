//! Documents of a release about the software and data of others in it: a bill of materials (CycloneDX), and the licences with their texts.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{VERSION, commit_time};
use crate::{libraries, process::quiet};

/// Program that writes the bill of materials.
const CARGO_CYCLONEDX: &str = "0.5.9";
/// Program that collects the licences.
const CARGO_ABOUT: &str = "0.9.3";
/// Manifest of the program that is shipped.
const MANIFEST: &str = "crates/searchwright/Cargo.toml";
/// Name of the file of licences in every form of a release.
pub(super) const LICENCES: &str = "THIRD-PARTY.txt";
/// Name of the bill of materials in archive and package.
pub(super) const SBOM: &str = "sbom.cdx.json";

/// Writes both for this target into a folder.
pub(super) fn write(host: &str, work: &Path) -> Result<()> {
    write_sbom(host, work)?;
    write_licences(host, work)
}

/// Writes the packages of the normal dependencies for this target, with versions, licences and checksums.
fn write_sbom(host: &str, work: &Path) -> Result<()> {
    let tool = libraries::install_crate("cargo-cyclonedx", "cargo-cyclonedx", CARGO_CYCLONEDX, &[])?;
    // It writes beside the manifest of each crate of the workspace.
    let name = "searchwright-sbom.cdx";
    let mut command = Command::new(tool);
    command
        .args([
            "cyclonedx",
            "--manifest-path",
            MANIFEST,
            "--format",
            "json",
            "--spec-version",
            "1.5",
        ])
        .args([
            "--target",
            host,
            "--no-build-deps",
            "--quiet",
            "--override-filename",
            name,
        ])
        .env("SOURCE_DATE_EPOCH", commit_time()?)
        .current_dir(crate::workspace());
    let wrote = quiet("cargo-cyclonedx", &mut command);
    let written = find_written(&format!("{name}.json"))?;
    let own = crate::workspace()
        .join(MANIFEST)
        .with_file_name(format!("{name}.json"));
    let moved = wrote.and_then(|()| Ok(fs::copy(&own, work.join(SBOM))?));
    for file in written {
        fs::remove_file(file)?;
    }
    moved?;
    let text = fs::read_to_string(work.join(SBOM))?;
    // the names of our own crates in it begin with the folder that they lie in here
    let root = std::path::absolute(crate::workspace())?.display().to_string();
    let text = text.replace(&root, "/searchwright");
    check_sbom(&text, &fs::read_to_string(crate::workspace().join("Cargo.lock"))?)?;
    fs::write(work.join(SBOM), text)?;
    Ok(())
}

/// Files of this name beside the manifests of the workspace.
fn find_written(name: &str) -> Result<Vec<PathBuf>> {
    let root = crate::workspace();
    let mut folders = vec![root.clone()];
    for folder in [&root, &root.join("crates")] {
        for entry in fs::read_dir(folder)? {
            folders.push(entry?.path());
        }
    }
    let files = folders.into_iter().map(|folder| folder.join(name));
    Ok(files.filter(|file| file.is_file()).collect())
}

/// Fails unless the bill is one of this program, and names packages of the lock file only.
fn check_sbom(text: &str, lock: &str) -> Result<()> {
    let bill: Value = serde_json::from_str(text).context("the bill of materials is no JSON")?;
    let is_ours = bill["bomFormat"] == "CycloneDX"
        && bill["metadata"]["component"]["name"] == "searchwright"
        && bill["metadata"]["component"]["version"] == VERSION;
    ensure!(
        is_ours,
        "the bill of materials is not one of searchwright {VERSION}"
    );
    let components = bill["components"]
        .as_array()
        .context("the bill names no components")?;
    ensure!(
        components.len() > 100,
        "the bill names {} components",
        components.len()
    );
    for component in components {
        let (name, version) = (component["name"].as_str(), component["version"].as_str());
        let (name, version) = (name.unwrap_or_default(), version.unwrap_or_default());
        let locked = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        ensure!(lock.contains(&locked), "{name} {version} is not in Cargo.lock");
    }
    let names = |name: &str| components.iter().any(|component| component["name"] == name);
    for (name, expected) in [("rusqlite", true), ("rustls", true), ("insta", false)] {
        ensure!(names(name) == expected, "{name} in the bill: {}", !expected);
    }
    Ok(())
}

/// Writes the licences of the packages for this target, and of data that is no package. A licence that deny.toml does not allow
/// is an error.
fn write_licences(host: &str, work: &Path) -> Result<()> {
    let tool = libraries::install_crate("cargo-about", "cargo-about", CARGO_ABOUT, &["--features", "cli"])?;
    let root = crate::workspace();
    let file = work.join(LICENCES);
    // A build downloads the packages for its target alone; the tool, which may not ask licence services, reads those of all.
    let mut fetch = Command::new(crate::cargo());
    fetch.args(["fetch", "--locked", "--quiet"]).current_dir(&root);
    quiet("cargo fetch", &mut fetch)?;
    let mut command = Command::new(tool);
    command
        .args(["generate", "--locked", "--offline", "--fail", "--target", host])
        .args([
            "--manifest-path",
            MANIFEST,
            "--config",
            "packaging/about.toml",
            "--output-file",
        ])
        .arg(std::path::absolute(&file)?)
        .arg("packaging/about.hbs")
        .current_dir(&root);
    quiet("cargo-about", &mut command)?;
    let packages = fs::read_to_string(&file)?;
    ensure!(
        packages.contains("rusqlite") && packages.contains("MIT License"),
        "the licences are incomplete"
    );
    let data = fs::read_to_string(root.join("packaging/data-licences.txt"))?;
    fs::write(file, format!("{packages}{data}"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    /// Texts in double quotes within the list behind `key`.
    fn list(text: &str, key: &str) -> BTreeSet<String> {
        let (_, rest) = text.split_once(&format!("\n{key} = [")).unwrap();
        let list = rest.split("\n]").next().unwrap();
        list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn licences_that_are_collected_are_those_that_are_allowed() {
        let read = |name: &str| fs::read_to_string(crate::workspace().join(name)).unwrap();
        let allowed = list(&read("deny.toml"), "allow");
        assert!(allowed.contains("MIT"), "{allowed:?}");
        assert_eq!(list(&read("packaging/about.toml"), "accepted"), allowed);
    }

    #[test]
    fn data_of_others_has_its_licence() {
        let listed = fs::read_to_string(crate::workspace().join("packaging/data-licences.txt")).unwrap();
        for folder in ["identity/data", "site/data", "providers/src/data"] {
            for entry in fs::read_dir(crate::workspace().join("crates").join(folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                assert!(listed.contains(&name), "{folder}/{name}");
            }
        }
        let notice = fs::read_to_string(crate::workspace().join("crates/visibility/data/NOTICE.md")).unwrap();
        for name in notice
            .split("\n| `")
            .skip(1)
            .map(|row| row.split('`').next().unwrap())
        {
            assert!(listed.contains(name), "crates/visibility/data/{name}");
        }
    }
}
