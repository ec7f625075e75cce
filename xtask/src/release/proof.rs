//! Trials of the files of a release on Debian systems that have nothing else: no Rust, no compiler, no other program than a server
//! begins with.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context, Result, bail, ensure};

use super::{VERSION, folder, new_key, sign, write_sums};
use crate::{
    packages,
    process::{output, quiet},
};

/// Debian's release on which it is tried.
const SUITE: &str = "bookworm";
/// Packages of the system with which the service is tried, besides those that every Debian has.
const SERVICE_PACKAGES: &str = "systemd,systemd-sysv,dbus";

/// A root file system below the folder of the trials.
struct System {
    root: PathBuf,
}

impl System {
    /// Unpacks a fresh one. What Debian's servers gave once is kept.
    fn unpack(name: &str, more: &str) -> Result<Self> {
        let kept = crate::workspace().join(format!("target/tools/debian-{SUITE}-{name}.tar"));
        if !kept.exists() {
            let mmdebstrap = packages::ensure("mmdebstrap", "mmdebstrap")?;
            let mut make = Command::new(mmdebstrap);
            make.args(["--quiet", "--variant=minbase"]);
            if !more.is_empty() {
                make.arg(format!("--include={more}"));
            }
            fs::create_dir_all(kept.parent().context("target/tools")?)?;
            let part = kept.with_extension("part.tar");
            quiet("mmdebstrap", make.arg(SUITE).arg(&part))?;
            fs::rename(part, &kept)?;
        }
        let root = folder().join("staging").join(name);
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        fs::create_dir_all(&root)?;
        quiet(
            "tar",
            Command::new("tar").arg("-xf").arg(&kept).arg("-C").arg(&root),
        )?;
        Ok(Self { root })
    }

    /// Copies the files of a release to `/release`.
    fn receive(&self, out: &Path) -> Result<()> {
        let release = self.root.join("release");
        fs::create_dir_all(&release)?;
        for entry in fs::read_dir(out)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), release.join(entry.file_name()))?;
            }
        }
        Ok(())
    }

    /// Runs a command in it, without a network but loopback.
    fn command(&self, arguments: &[&str]) -> Result<Command> {
        let nspawn = packages::ensure("systemd-nspawn", "systemd-container")?;
        let mut command = Command::new(nspawn);
        command
            .args([
                "--quiet",
                "--register=no",
                "--keep-unit",
                "--private-network",
                "--pipe",
                "-D",
            ])
            .arg(&self.root)
            .args(arguments);
        Ok(command)
    }

    /// Runs the installer; what it said.
    fn install(&self) -> Result<String> {
        let ran = self
            .command(&["sh", "/release/install.sh", "--from", "/release"])?
            .output()?;
        let mut said = String::from_utf8_lossy(&ran.stdout).into_owned();
        said.push_str(&String::from_utf8_lossy(&ran.stderr));
        let installed = self.root.join("usr/local/bin/searchwright").exists();
        ensure!(
            ran.status.success() == installed,
            "the installer ended with {} and the program is {}: {said}",
            ran.status,
            if installed { "there" } else { "not there" }
        );
        Ok(said)
    }

    /// Fails unless the installer refuses with these words and installs nothing.
    fn refuses(&self, expected: &str) -> Result<()> {
        let said = self.install()?;
        ensure!(
            said.contains(expected) && said.contains("nothing was installed"),
            "the installer was to say {expected:?}: {said}"
        );
        eprintln!("refused: {}", said.trim());
        Ok(())
    }
}

/// Tries the files in `out`, which this key signed.
pub(super) fn run(out: &Path, key: &Path) -> Result<()> {
    ensure!(packages::root(), "systems for the trials are made as root");
    prove_installer(out, key)?;
    prove_service(out)
}

fn prove_installer(out: &Path, key: &Path) -> Result<()> {
    let bare = System::unpack("bare", "")?;
    bare.receive(out)?;
    bare.refuses("minisign or openssl 3 is needed")?;
    for verifier in ["minisign", "openssl"] {
        let system = System::unpack(verifier, verifier)?;
        system.receive(out)?;
        let release = system.root.join("release");
        // another file than the one that was signed, by a byte, a name, a key and a version
        let archive = fs::read_dir(&release)?
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|end| end == "gz"))
            .context("no archive")?;
        let mut bytes = fs::read(&archive)?;
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&archive, bytes)?;
        system.refuses("the checksum of")?;
        write_sums(&release, &[&archive])?;
        system.refuses("the signature of SHA256SUMS is wrong")?;
        let sums = release.join("SHA256SUMS");
        sign(&sums, &new_key(&system.root)?, VERSION)?;
        system.refuses("the signature of SHA256SUMS is wrong")?;
        sign(&sums, key, "0.0.9")?;
        system.refuses("another version")?;
        fs::write(release.join("SHA256SUMS.minisig"), "")?;
        system.refuses("the signature of SHA256SUMS is wrong")?;
        system.receive(out)?;
        eprintln!("{verifier}: {}", system.install()?.trim());
        let mut first = system.command(&["sh", "-c", "cd /tmp && searchwright try --once --json"])?;
        let begun = Instant::now();
        let found = output("searchwright try", &mut first)?;
        ensure!(found.contains("broken-internal-link"), "no finding: {found}");
        eprintln!(
            "{verifier}: first findings after {:.1} s",
            begun.elapsed().as_secs_f64()
        );
    }
    Ok(())
}

/// Boots a system, in which a unit runs `prove_service.sh` and powers off.
fn prove_service(out: &Path) -> Result<()> {
    let system = System::unpack("service", SERVICE_PACKAGES)?;
    system.receive(out)?;
    let root = &system.root;
    fs::write(root.join("prove.sh"), include_str!("prove_service.sh"))?;
    let unit = "[Unit]\nAfter=basic.target dbus.service\n[Service]\nType=oneshot\nStandardOutput=file:/prove.log\nStandardError=inherit\n\
        ExecStart=/bin/bash /prove.sh\nExecStopPost=/bin/systemctl poweroff --force\nTimeoutStartSec=180\n";
    fs::write(root.join("etc/systemd/system/prove.service"), unit)?;
    let wants = root.join("etc/systemd/system/multi-user.target.wants");
    fs::create_dir_all(&wants)?;
    std::os::unix::fs::symlink("../prove.service", wants.join("prove.service"))?;
    let booted = system.command(&["--boot"])?.output()?;
    let log = fs::read_to_string(root.join("prove.log")).unwrap_or_default();
    for line in log.lines().filter(|line| !line.starts_with('+')) {
        eprintln!("service: {line}");
    }
    if !log.trim_end().ends_with("PROVED") {
        bail!(
            "the trial of the service failed\n{log}\n{}",
            String::from_utf8_lossy(&booted.stdout)
        );
    }
    Ok(())
}
