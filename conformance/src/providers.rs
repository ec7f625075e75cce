//! Requests to language models, answer engines and sources of keyword data against the vendors' own documents.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Result, bail, ensure};
use xtask::{
    libraries,
    process::{free_port, program},
};

use crate::peer::Peer;

/// The vendors' own documents: provider, file, and how many requests there are. Perplexity and xAI publish none, and that of
/// DataForSEO has no page of Gemini.
const DOCUMENTS: [(&str, &str, usize); 4] = [
    ("openai", "openai.json", 4),
    ("anthropic", "anthropic.yaml", 3),
    ("gemini", "gemini.json", 3),
    ("dataforseo", "dataforseo.yaml", 8),
];

/// Holds the requests of every provider against its vendor's document, and streams from a server that
/// nobody here wrote. Fails if a request is refused, or if nothing would have been.
///
/// `documents` has the OpenAPI documents of OpenAI, Anthropic, Gemini and DataForSEO, which are not ours to pass on. Node and
/// Python are the machine's; packages are installed below the target folder.
pub(crate) fn check(documents: &Path) -> Result<()> {
    let documents = std::path::absolute(documents)?;
    let folder = xtask::target().join("peers/providers");
    install(&folder)?;
    let mut calls = Vec::new();
    let mut peers = Vec::new();
    for (provider, file, _) in DOCUMENTS {
        let document = documents.join(file);
        ensure!(document.is_file(), "{} is not there", document.display());
        let port = free_port()?;
        let mut command = program("node", None);
        command.arg("validator.mjs").arg(document).arg(port.to_string());
        peers.push((provider, Peer::start(provider, &folder, command)?));
        calls.push(format!("{provider}=http://127.0.0.1:{port}"));
        calls.push(format!("{provider}-answers=http://127.0.0.1:{port}"));
    }
    let port = free_port()?;
    let mut command = program(folder.join("venv/bin/python"), None);
    command.arg("keyword_planner.py").arg(port.to_string());
    peers.push(("google", Peer::start("google", &folder, command)?));
    for provider in ["google-ads", "search-console"] {
        calls.push(format!("{provider}=http://127.0.0.1:{port}"));
    }
    // Models answer with a stream, which the validator has not: their requests count here, their answers below. Answers of
    // engines are made from schemas and say nothing.
    check_answers(&call_providers(&calls)?, "ROWS", 9)?;
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
    check_streams(&folder)
}

/// The three dialects from a server that streams.
fn check_streams(folder: &Path) -> Result<()> {
    let port = free_port()?;
    let mut command = program("node", None);
    command.arg("node_modules/@copilotkit/aimock/dist/cli.js").args([
        "-p",
        &port.to_string(),
        "-f",
        "fixtures.json",
        "--strict",
    ]);
    let _peer = Peer::start("aimock", folder, command)?;
    let root = format!("http://127.0.0.1:{port}");
    let calls = [
        format!("openai={root}/v1"),
        format!("anthropic={root}"),
        format!("gemini={root}/v1beta"),
    ];
    check_answers(&call_providers(&calls)?, "WHOLE", 3)
}

/// Prints the answers; fails unless `expected` of them begin with `good`.
fn check_answers(said: &str, good: &str, expected: usize) -> Result<()> {
    eprint!("{said}");
    let count = said.lines().filter(|l| l.starts_with(good)).count();
    ensure!(count == expected, "{count} of {expected} calls were answered");
    Ok(())
}

fn call_providers(calls: &[String]) -> Result<String> {
    let output = Command::new(xtask::cargo())
        .args([
            "run",
            "--quiet",
            "--package",
            "searchwright-providers",
            "--example",
            "call_providers",
            "--",
        ])
        .args(calls)
        .current_dir(xtask::workspace())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        bail!("the calls ended with {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Writes the peers' files and installs their packages.
fn install(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in [
        ("validator.mjs", include_str!("providers/validator.mjs")),
        ("keyword_planner.py", include_str!("providers/keyword_planner.py")),
        ("fixtures.json", include_str!("providers/fixtures.json")),
    ] {
        fs::write(folder.join(name), text)?;
    }
    libraries::install(
        folder,
        include_str!("providers/package.json"),
        include_str!("providers/requirements.txt"),
    )
}
