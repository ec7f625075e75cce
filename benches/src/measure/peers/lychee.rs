//! The link checker that comes nearest to an audit in speed.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use xtask::{libraries, packages, process::program, website::Expected};

use super::{Cost, measure, remove};

/// The lychee that is installed where there is none.
const LYCHEE: &str = "0.24.2";
/// Many connections and no pause; more than 64 at a time made it slower. A second try would only
/// ask once more for what is broken on purpose.
const LYCHEE_OPTIONS: &str = "--max-concurrency 256 --host-concurrency 64 --host-request-interval 0ms \
                              --max-retries 0 --no-progress --format json -qq";

/// Links in the body of each page.
const LINKS: u64 = 50;
/// Name of the file with the addresses of all pages.
pub(super) const PAGES: &str = "pages.txt";

/// Summary that it prints at the end.
#[derive(Debug, Deserialize)]
struct Summary {
    total: u64,
    error_map: HashMap<String, Vec<Link>>,
}

#[derive(Debug, Deserialize)]
struct Link {
    url: String,
}

/// Path of the program, which is installed where there is none.
pub(super) fn find() -> Result<PathBuf> {
    packages::find("lychee").map_or_else(|| libraries::install_crate("lychee", "lychee", LYCHEE, &[]), Ok)
}

/// Checks every link of all pages.
pub(super) fn check(tool: &Path, folder: &Path, site: &Expected) -> Result<Cost> {
    let out = folder.join("lychee.json");
    remove(&out)?;
    let mut command = program(tool, None);
    command.args(LYCHEE_OPTIONS.split_whitespace());
    command.args(["--files-from", PAGES, "--output"]).arg(&out);
    // 2: it found a broken link
    let cost = measure(&command, &[0, 2], folder, &folder.join("lychee.out"))?;
    let summary = fs::read(&out).context("it wrote no summary")?;
    check_summary(&serde_json::from_slice(&summary)?, site)?;
    Ok(cost)
}

/// Fails unless all links were looked at and the planted ones were found, and nothing else but the loop.
fn check_summary(summary: &Summary, site: &Expected) -> Result<()> {
    let links = u64::from(site.pages) * LINKS;
    ensure!(
        summary.total >= links,
        "it looked at {} of {links} links",
        summary.total
    );
    let found = |page: &str, target: &str| {
        let links = summary.error_map.get(page);
        links.is_some_and(|links| links.iter().any(|link| link.url == target))
    };
    for link in &site.broken_links {
        ensure!(
            found(&link.page, &link.target),
            "it did not find that {} is broken on {}",
            link.target,
            link.page
        );
    }
    let errors: usize = summary.error_map.values().map(Vec::len).sum();
    let expected = site.broken_links.len() + 1;
    ensure!(errors <= expected, "it found {errors} of {expected} faulty links");
    Ok(())
}
