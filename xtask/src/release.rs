//! Files that people install: a static program in an archive, in a Debian package and in a bundle for MCP clients, an installer that
//! verifies them, a bill of materials, the licences of others, and checksums with a signature.

mod bundle;
mod bundle_proof;
mod proof;
mod third_party;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::{
    libraries, packages,
    process::{output, quiet},
};

/// Version that makes the Debian package.
const CARGO_DEB: &str = "3.8.0";
/// Version of the product.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Shells whose completions are shipped.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// Options of `release`.
#[derive(Debug, Args)]
pub struct ReleaseOptions {
    /// Secret key of minisign, without a password, that signs the checksums; install.sh gets its public key
    #[arg(long, value_name = "FILE")]
    sign: Option<PathBuf>,
    /// Take the program that the last run built
    #[arg(long)]
    no_build: bool,
    /// Start the bundle with an MCP client, install the files on bare Debian systems and try them there; needs root and npm. Signs with
    /// a key made for it, unless one is given
    #[arg(long)]
    prove: bool,
    /// Write the bill of materials and the licences of others, and nothing else
    #[arg(long, conflicts_with_all = ["sign", "no_build", "prove"])]
    third_party: bool,
}

/// Folder of the files of the release.
fn folder() -> PathBuf {
    crate::workspace().join("target/package")
}

/// Builds everything and, if that is asked for, proves it.
pub fn run(options: &ReleaseOptions) -> Result<()> {
    let host = host()?;
    if options.third_party {
        let work = folder().join("staging");
        fs::create_dir_all(&work)?;
        third_party::write(&host, &work)?;
        eprintln!(
            "{} and {} in {}",
            third_party::SBOM,
            third_party::LICENCES,
            work.display()
        );
        return Ok(());
    }
    if !options.no_build {
        build(&host)?;
    }
    let built = crate::workspace().join(format!("target/{host}/release/searchwright"));
    let out = folder();
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let work = out.join("staging");
    fs::create_dir_all(&work)?;
    let program = work.join("searchwright");
    strip(&built, &program)?;
    write_manuals(&program, &work)?;
    third_party::write(&host, &work)?;
    let archive = write_archive(&work, &host)?;
    let package = write_deb(&host)?;
    let bill = archive.with_file_name(format!("{}.cdx.json", archive_name(&host)));
    fs::copy(work.join(third_party::SBOM), &bill)?;
    let [bundle, record] = bundle::write(&work, &out, &archive_name(&host))?;
    let sums = write_sums(&out, &[&archive, &package, &bill, &bundle, &record])?;
    let key = match &options.sign {
        Some(key) => Some(key.clone()),
        None if options.prove => Some(new_key(&work)?),
        None => None,
    };
    write_installer(&out, key.as_deref(), &sums)?;
    for file in [&archive, &package, &bundle] {
        eprintln!("{} ({} bytes)", file.display(), fs::metadata(file)?.len());
    }
    match key {
        Some(key) if options.prove => {
            bundle_proof::run(&out)?;
            proof::run(&out, &key)
        }
        Some(_) => Ok(()),
        None => {
            eprintln!("not signed: --sign FILE names a secret key of minisign (minisign -GW makes one)");
            Ok(())
        }
    }
}

/// Triple of this machine.
fn host() -> Result<String> {
    let told = output("rustc", Command::new("rustc").arg("-vV"))?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc does not name its host")?;
    ensure!(
        host.contains("-linux-"),
        "archives and packages are made on Linux"
    );
    Ok(host.to_owned())
}

/// Builds a program that needs no library of the system, so that one file runs on every Linux of its processor.
fn build(host: &str) -> Result<()> {
    let flags = format!(
        "CARGO_TARGET_{}_RUSTFLAGS",
        host.to_uppercase().replace(['-', '.'], "_")
    );
    let mut command = Command::new(crate::cargo());
    command
        .args([
            "build",
            "--release",
            "--locked",
            "--package",
            "searchwright",
            "--target",
            host,
        ])
        .env(flags, "-C target-feature=+crt-static")
        // what is shipped is stripped afterwards, so that profiles of it can be read
        .env("CARGO_PROFILE_RELEASE_STRIP", "none")
        .current_dir(crate::workspace());
    ensure!(command.status()?.success(), "the program could not be built");
    Ok(())
}

fn strip(built: &Path, program: &Path) -> Result<()> {
    let strip = packages::ensure("strip", "binutils")?;
    quiet("strip", Command::new(strip).arg("-o").arg(program).arg(built))?;
    let kind = output(
        "readelf",
        Command::new(packages::ensure("readelf", "binutils")?)
            .arg("-d")
            .arg(program),
    )?;
    ensure!(
        !kind.contains("(NEEDED)"),
        "the program needs libraries of the system:\n{kind}"
    );
    Ok(())
}

/// Writes man pages and completions, by the program itself.
fn write_manuals(program: &Path, work: &Path) -> Result<()> {
    let man = work.join("man");
    quiet("searchwright man", Command::new(program).arg("man").arg(&man))?;
    let completions = work.join("completions");
    fs::create_dir_all(&completions)?;
    for shell in SHELLS {
        let script = output(
            "searchwright completions",
            Command::new(program).args(["completions", shell]),
        )?;
        fs::write(completions.join(format!("searchwright.{shell}")), script)?;
    }
    Ok(())
}

/// Name of the archive, without the end that says its form.
fn archive_name(host: &str) -> String {
    let processor = host.split('-').next().unwrap_or(host);
    format!("searchwright-{VERSION}-{processor}-linux")
}

/// Time of the commit, in seconds: what is made of one commit is the same whenever it is made. Where the sources have no history,
/// `SOURCE_DATE_EPOCH` tells it.
fn commit_time() -> Result<String> {
    if let Ok(told) = env::var("SOURCE_DATE_EPOCH") {
        return Ok(told);
    }
    let committed = output(
        "git log",
        Command::new("git")
            .args(["log", "-1", "--format=%ct"])
            .current_dir(crate::workspace()),
    )?;
    Ok(committed.trim().to_owned())
}

/// Writes an archive that is the same, byte for byte, for the same program.
fn write_archive(work: &Path, host: &str) -> Result<PathBuf> {
    let name = archive_name(host);
    let contents = work.join(&name);
    fs::create_dir_all(&contents)?;
    for file in ["README.md", "LICENSE", "CHANGELOG.md", "config.default.toml"] {
        fs::copy(crate::workspace().join(file), contents.join(file))?;
    }
    for part in [
        "searchwright",
        "man",
        "completions",
        third_party::LICENCES,
        third_party::SBOM,
    ] {
        let mut copy = Command::new("cp");
        quiet("cp", copy.arg("-r").arg(work.join(part)).arg(&contents))?;
    }
    let archive = folder().join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .arg("--mode=u+rwX,go=rX")
        .arg(format!("--mtime=@{}", commit_time()?))
        .args(["--use-compress-program", "gzip -9n"])
        .arg("-C")
        .arg(work)
        .arg("-cf")
        .arg(&archive)
        .arg(&name);
    quiet("tar", &mut tar)?;
    Ok(archive)
}

/// Writes the Debian package, by cargo-deb, which is installed below the target folder.
fn write_deb(host: &str) -> Result<PathBuf> {
    let cargo_deb = libraries::install_crate("cargo-deb", "cargo-deb", CARGO_DEB, &[])?;
    let mut command = Command::new(cargo_deb);
    command
        .args([
            "--no-build",
            "--locked",
            "--quiet",
            "--package",
            "searchwright",
            "--target",
            host,
            "--output",
        ])
        .arg(folder())
        .current_dir(crate::workspace());
    let path = output("cargo-deb", &mut command)?;
    if let Some(path) = path.lines().last().filter(|path| !path.is_empty()) {
        return Ok(PathBuf::from(path));
    }
    let made = fs::read_dir(folder())?
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    let mut packages = made.filter(|path| path.extension().is_some_and(|end| end == "deb"));
    packages.next().context("cargo-deb made no package")
}

fn write_sums(out: &Path, files: &[&Path]) -> Result<PathBuf> {
    let names: Vec<_> = files.iter().filter_map(|file| file.file_name()).collect();
    let sums = output(
        "sha256sum",
        Command::new("sha256sum").args(names).current_dir(out),
    )?;
    let path = out.join("SHA256SUMS");
    fs::write(&path, sums)?;
    Ok(path)
}

/// Makes a key pair that signs nothing but what is tried on this machine.
fn new_key(folder: &Path) -> Result<PathBuf> {
    let minisign = packages::ensure("minisign", "minisign")?;
    let key = folder.join("minisign.key");
    let mut make = Command::new(minisign);
    make.args(["-G", "-W", "-f", "-p"])
        .arg(key.with_extension("pub"))
        .arg("-s")
        .arg(&key);
    quiet("minisign -G", &mut make)?;
    Ok(key)
}

/// Signs the checksums of a version. The comment, which is signed too, names the version: an older release is none of this name.
fn sign(sums: &Path, key: &Path, version: &str) -> Result<()> {
    let minisign = packages::ensure("minisign", "minisign")?;
    let mut sign = Command::new(minisign);
    sign.args(["-S", "-s"])
        .arg(key)
        .arg("-m")
        .arg(sums)
        .arg("-t")
        .arg(format!("searchwright {version}"));
    quiet("minisign -S", &mut sign)
}

fn public_key(key: &Path) -> Result<String> {
    let minisign = packages::ensure("minisign", "minisign")?;
    let public = env::temp_dir().join(format!("searchwright-{}.pub", std::process::id()));
    let mut remake = Command::new(minisign);
    remake.args(["-R", "-f", "-s"]).arg(key).arg("-p").arg(&public);
    quiet("minisign -R", &mut remake)?;
    let text = fs::read_to_string(&public)?;
    fs::remove_file(&public)?;
    let line = text.lines().nth(1);
    line.map(str::to_owned).context("minisign wrote no public key")
}

/// Writes the installer with the version and the key that it verifies with, and signs the checksums with that key.
fn write_installer(out: &Path, key: Option<&Path>, sums: &Path) -> Result<()> {
    let template = fs::read_to_string(crate::workspace().join("packaging/install.sh"))?;
    let mut script = template.replace("@VERSION@", VERSION);
    if let Some(key) = key {
        sign(sums, key, VERSION)?;
        script = script.replace("@PUBLIC_KEY@", &public_key(key)?);
    }
    let path = out.join("install.sh");
    fs::write(&path, script)?;
    quiet("chmod", Command::new("chmod").arg("755").arg(path))
}
