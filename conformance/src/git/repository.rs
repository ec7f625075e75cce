//! A bare repository on the side of the servers, and somebody else who works with it.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};

/// A bare repository, read and written without the product.
pub(super) struct BareRepository {
    pub(super) path: PathBuf,
    work: PathBuf,
}

/// Runs git as somebody else has it: no configuration of this machine, no hooks of theirs.
pub(super) fn run_git(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new("git")
        .args(["-c", "safe.directory=*"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "Somebody")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "somebody@example.com")))
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "git {}: {}",
        arguments.join(" "),
        said.trim()
    );
    Ok(output.stdout)
}

/// Writes an executable script.
pub(super) fn write_script(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

impl BareRepository {
    /// An empty one below `folder`, which may be pushed to over HTTP.
    pub(super) fn create(folder: &Path, name: &str) -> Result<Self> {
        run_git(
            folder,
            &["init", "--quiet", "--bare", "--initial-branch=main", name],
        )?;
        let path = folder.join(name);
        run_git(&path, &["config", "http.receivepack", "true"])?;
        let work = folder.join(format!("{name}.work"));
        Ok(Self { path, work })
    }

    /// Names of all files of the branch.
    pub(super) fn files(&self) -> Result<Vec<String>> {
        let listed = run_git(&self.path, &["ls-tree", "-r", "-z", "--name-only", "main"])?;
        let listed = String::from_utf8(listed)?;
        Ok(listed.split_terminator('\0').map(str::to_owned).collect())
    }

    /// A file of the branch.
    pub(super) fn read(&self, file: &str) -> Result<Vec<u8>> {
        run_git(&self.path, &["cat-file", "blob", &format!("main:{file}")])
    }

    /// First lines of messages, newest first.
    pub(super) fn log(&self) -> Result<Vec<String>> {
        let listed = run_git(&self.path, &["log", "--format=%s", "main", "--"])?;
        Ok(String::from_utf8(listed)?.lines().map(str::to_owned).collect())
    }

    /// Commits a file as somebody else, at once.
    pub(super) fn commit(&self, file: &str, text: &str, message: &str) -> Result<()> {
        self.prepare(file, text, message)?;
        run_git(&self.work, &["push", "--quiet", "origin", "HEAD:main"]).map(drop)
    }

    /// Prepares the same commit and returns a shell script that pushes it. A hook may run it: what git tells its hooks is not for it.
    pub(super) fn prepare_script(&self, file: &str, text: &str, message: &str) -> Result<String> {
        self.prepare(file, text, message)?;
        Ok(format!(
            "unset $(git rev-parse --local-env-vars) GIT_QUARANTINE_PATH\n\
             git -c safe.directory='*' -C '{}' -c core.hooksPath=/dev/null push --quiet '--receive-pack=git -c core.hooksPath=/dev/null receive-pack' origin HEAD:main",
            self.work.display()
        ))
    }

    /// Commits on top of the branch as it is now, in a clone of somebody else.
    fn prepare(&self, file: &str, text: &str, message: &str) -> Result<()> {
        if self.work.exists() {
            fs::remove_dir_all(&self.work)?;
        }
        let (from, to) = (self.path.display().to_string(), self.work.display().to_string());
        run_git(&self.path, &["clone", "--quiet", &from, &to])?;
        let path = self.work.join(file);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
        run_git(&self.work, &["add", "--all"])?;
        run_git(&self.work, &["commit", "--quiet", "--message", message]).map(drop)
    }

    /// Installs a hook.
    pub(super) fn install_hook(&self, name: &str, text: &str) -> Result<()> {
        write_script(
            &self.path.join("hooks").join(name),
            &format!("#!/bin/sh\n{text}\n"),
        )
    }

    /// Removes a hook.
    pub(super) fn remove_hook(&self, name: &str) -> Result<()> {
        Ok(fs::remove_file(self.path.join("hooks").join(name))?)
    }
}
