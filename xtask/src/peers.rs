//! `cargo xtask peers …`: the product against software it was not made with, and against the documents of
//! vendors that cannot be installed.

mod audit;
mod browser;
mod chromium;
mod git;
mod publish;
mod vendors;
mod webhooks;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};

use crate::process::{Running, free_port, program, quiet};

pub use audit::audit;
pub use browser::browser;
pub use git::git;
pub use publish::{Options as PublishOptions, publish};
pub use vendors::vendors;
pub use webhooks::webhooks;

/// Longest a peer may take to begin to listen; the largest document takes seconds to read.
const READY: Duration = Duration::from_secs(120);

/// The vendors' own documents: provider, file, and how many requests there are.
const DOCUMENTS: [(&str, &str, usize); 4] = [
    ("openai", "openai.json", 1),
    ("anthropic", "anthropic.yaml", 1),
    ("gemini", "gemini.json", 1),
    ("dataforseo", "dataforseo.yaml", 5),
];

/// Holds the requests of every provider against its vendor's document, and streams from a server that
/// nobody here wrote. Fails if a request is refused, or if nothing would have been.
///
/// `documents` has the OpenAPI documents of OpenAI, Anthropic, Gemini and DataForSEO, which are not ours to pass on. Node and
/// Python are the machine's; packages are installed below the target folder.
pub fn providers(documents: &Path) -> Result<()> {
    let documents = std::path::absolute(documents)?;
    let folder = crate::target().join("peers/providers");
    install(&folder)?;
    let mut calls = Vec::new();
    let mut peers = Vec::new();
    for (provider, file, _) in DOCUMENTS {
        let document = documents.join(file);
        ensure!(document.is_file(), "{} is not there", document.display());
        let port = free_port()?;
        let mut command = program("node", None);
        command.arg("validator.mjs").arg(document).arg(port.to_string());
        peers.push((provider, start(provider, &folder, command)?));
        calls.push(format!("{provider}=http://127.0.0.1:{port}"));
    }
    let port = free_port()?;
    let mut command = program(folder.join("venv/bin/python"), None);
    command.arg("keyword_planner.py").arg(port.to_string());
    peers.push(("google", start("google", &folder, command)?));
    for provider in ["google-ads", "search-console"] {
        calls.push(format!("{provider}=http://127.0.0.1:{port}"));
    }
    // Models answer with a stream, which the validator has not: their requests count here, their answers below.
    report(&call(&calls)?, "ROWS", 9)?;
    let mut refused = Vec::new();
    for (provider, peer) in &peers {
        let said = fs::read_to_string(&peer.log)?;
        let verdicts: Vec<&str> = said.lines().filter(|l| *l != "listening").collect();
        for verdict in &verdicts {
            eprintln!("{provider}: {verdict}");
            if !verdict.starts_with("VALID ") || verdict.contains(" 0/") {
                refused.push(*provider);
            }
        }
        let expected = DOCUMENTS
            .iter()
            .find(|(name, ..)| name == provider)
            .map_or(6, |(.., operations)| *operations);
        if verdicts.len() < expected {
            refused.push(*provider);
        }
    }
    ensure!(
        refused.is_empty(),
        "not as the vendor has it: {}",
        refused.join(", ")
    );
    stream(&folder)
}

/// The three dialects from a server that streams.
fn stream(folder: &Path) -> Result<()> {
    let port = free_port()?;
    let mut command = program("node", None);
    command.arg("node_modules/@copilotkit/aimock/dist/cli.js").args([
        "-p",
        &port.to_string(),
        "-f",
        "fixtures.json",
        "--strict",
    ]);
    let _peer = start("aimock", folder, command)?;
    let root = format!("http://127.0.0.1:{port}");
    let calls = [
        format!("openai={root}/v1"),
        format!("anthropic={root}"),
        format!("gemini={root}/v1beta"),
    ];
    report(&call(&calls)?, "WHOLE", 3)
}

/// Shows what came of the calls; fails unless so many went well.
fn report(said: &str, good: &str, expected: usize) -> Result<()> {
    eprint!("{said}");
    let count = said.lines().filter(|l| l.starts_with(good)).count();
    ensure!(count == expected, "{count} of {expected} calls were answered");
    Ok(())
}

fn call(calls: &[String]) -> Result<String> {
    let output = Command::new(crate::cargo())
        .args([
            "run",
            "--quiet",
            "--package",
            "searchwright-engine",
            "--example",
            "call_providers",
            "--",
        ])
        .args(calls)
        .current_dir(crate::workspace())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        bail!("the calls ended with {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

struct Peer {
    log: PathBuf,
    _running: Running,
}

fn start(name: &str, folder: &Path, mut command: Command) -> Result<Peer> {
    let log = folder.join(format!("{name}.log"));
    command.current_dir(folder).stdout(File::create(&log)?);
    let mut running = Running::start(name, &mut command)?;
    running.wait_until(READY, || {
        fs::read_to_string(&log).is_ok_and(|said| said.contains("listening"))
    })?;
    Ok(Peer {
        log,
        _running: running,
    })
}

/// Writes the peers' files and installs their packages, once.
fn install(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in [
        ("validator.mjs", include_str!("peers/validator.mjs")),
        ("keyword_planner.py", include_str!("peers/keyword_planner.py")),
        ("fixtures.json", include_str!("peers/fixtures.json")),
    ] {
        fs::write(folder.join(name), text)?;
    }
    install_packages(
        folder,
        include_str!("peers/package.json"),
        include_str!("peers/requirements.txt"),
    )
}

/// Packages of npm and PyPI below `folder`, once.
fn install_packages(folder: &Path, npm: &str, pip: &str) -> Result<()> {
    once(folder, "package.json", npm, || {
        let mut command = Command::new("npm");
        command.args(["install", "--no-audit", "--no-fund"]);
        quiet("npm install", command.current_dir(folder))
    })?;
    install_python(folder, pip)
}

/// Packages of PyPI in `venv` below `folder`, once.
pub fn install_python(folder: &Path, requirements: &str) -> Result<()> {
    once(folder, "requirements.txt", requirements, || {
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

/// Runs `work` unless it was done for this very text; the text of what was done is kept beside it.
fn once(folder: &Path, name: &str, text: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let done = folder.join(format!("{name}.installed"));
    if fs::read_to_string(&done).is_ok_and(|t| t == text) {
        return Ok(());
    }
    fs::write(folder.join(name), text)?;
    eprintln!("installing what {name} names below {}", folder.display());
    work().with_context(|| format!("cannot install what {name} names"))?;
    Ok(fs::write(done, text)?)
}
