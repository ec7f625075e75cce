//! An audit of a generated site beside programs that other people crawl with. Each of them does less
//! with a page than the audit: lychee checks links only, Scrapy and advertools write down what they read.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use xtask::{
    libraries, packages,
    process::{program, quiet},
    website::{self, Expected},
};

use super::crawl::{audit, site};
use crate::{
    Effort,
    report::{Figure, Report, Target},
};

/// The lychee that is installed where there is none.
const LYCHEE: &str = "0.24.2";
/// Many connections and no pause; more than 64 at a time made it slower. A second try would only
/// ask once more for what is broken on purpose.
const LYCHEE_OPTIONS: &str = "--max-concurrency 256 --host-concurrency 64 --host-request-interval 0ms \
                              --max-retries 0 --no-progress --format json -qq";
const REQUIREMENTS: &str = include_str!("../../peers/requirements.txt");
const SCRIPT: &str = include_str!("../../peers/crawl.py");

/// Links in the body of each page.
const LINKS: u64 = 50;

/// Compares speed on one site. Rounds of lychee take seconds and are as many as asked for; of the
/// others one round takes minutes, and what is asked of them is far from what a round varies by.
pub fn run(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = std::path::absolute(xtask::target().join("bench/crawl-peers"))?;
    fs::create_dir_all(&folder)?;
    let lychee = Lychee::find(&folder)?;
    libraries::install_python(&folder, REQUIREMENTS)?;
    fs::write(folder.join("crawl.py"), SCRIPT)?;
    let (root, site) = site(effort.pages)?;
    let urls = pages(&root, &site, &folder)?;
    let _nginx = website::serve(&site, &root)?;
    let version = lychee.version()?;
    let figure = compare(effort, &site, (&version, effort.rounds, 3.0), || {
        lychee.round(&folder, &urls, &site)
    })?;
    report.add(figure);
    for peer in ["scrapy", "advertools"] {
        let figure = compare(effort, &site, (&pinned(peer)?, 1, 50.0), || {
            python(peer, &folder, &site)
        })?;
        report.add(figure);
    }
    Ok(())
}

/// Pages a second of a peer, by name, and of audits before and after each of its rounds, which are to be
/// so many times as fast.
fn compare(
    effort: &Effort,
    site: &Expected,
    (name, rounds, times): (&str, u32, f64),
    round: impl Fn() -> Result<f64>,
) -> Result<Figure> {
    let (mut baseline, mut product) = (Vec::new(), Vec::new());
    let audited = || anyhow::Ok(f64::from(site.pages) / audit(site)?.seconds);
    for _ in 0..rounds {
        if !effort.baseline_only {
            product.push(audited()?);
        }
        baseline.push(round().with_context(|| format!("{name} did not do its work"))?);
    }
    if !effort.baseline_only {
        product.push(audited()?);
    }
    Ok(Figure {
        name: format!("audit of {} pages, to {name}", site.pages),
        unit: "pages/s",
        baseline,
        product,
        target: Target::RatioAtLeast(times),
    })
}

/// A file of the addresses of all pages: lychee does not follow links, and stops at an address that
/// is not there.
fn pages(root: &Path, site: &Expected, folder: &Path) -> Result<PathBuf> {
    let urls = fs::read_to_string(root.join("urls.txt"))?;
    let pages: Vec<&str> = urls.lines().take(site.pages as usize).collect();
    let file = folder.join("pages.txt");
    fs::write(&file, pages.join("\n"))?;
    Ok(file)
}

/// The link checker that comes nearest to an audit in speed.
struct Lychee(PathBuf);

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

impl Lychee {
    fn find(folder: &Path) -> Result<Self> {
        if let Some(path) = packages::find("lychee") {
            return Ok(Self(path));
        }
        let root = folder.join(format!("lychee-{LYCHEE}"));
        let path = root.join("bin/lychee");
        if !path.is_file() {
            eprintln!(
                "installing lychee {LYCHEE} below {} (takes minutes)",
                root.display()
            );
            let mut install = Command::new(xtask::cargo());
            install.args(["install", "lychee", "--locked", "--version", LYCHEE, "--root"]);
            quiet("cargo install lychee", install.arg(root))?;
        }
        Ok(Self(path))
    }

    /// As in `lychee 0.24.2`.
    fn version(&self) -> Result<String> {
        let output = Command::new(&self.0).arg("--version").output()?;
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// Pages a second, every link of them checked.
    fn round(&self, folder: &Path, urls: &Path, site: &Expected) -> Result<f64> {
        let out = folder.join("lychee.json");
        remove(&out)?;
        let mut command = program(&self.0, None);
        command.args(LYCHEE_OPTIONS.split_whitespace());
        command.arg("--files-from").arg(urls).arg("--output").arg(&out);
        // a folder without a configuration for it
        command.current_dir(folder).stderr(Stdio::inherit());
        let start = Instant::now();
        let status = command.status()?;
        let seconds = start.elapsed().as_secs_f64();
        let summary = fs::read(&out).with_context(|| format!("it ended with {status} and no summary"))?;
        checked(&serde_json::from_slice(&summary)?, site)?;
        Ok(f64::from(site.pages) / seconds)
    }
}

/// Fails unless all links were looked at and the planted ones were found, and nothing else but the loop.
fn checked(summary: &Summary, site: &Expected) -> Result<()> {
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

/// Pages a second of Scrapy or of advertools, which starts Scrapy as it is found in the path.
fn python(peer: &str, folder: &Path, site: &Expected) -> Result<f64> {
    let out = folder.join(format!("{peer}.jl"));
    remove(&out)?;
    let tools = folder.join("venv/bin");
    let mut path = tools.clone().into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = program(tools.join("python"), None);
    command.args(["crawl.py", peer, &site.origin]).arg(&out);
    command.env("PATH", path).current_dir(folder);
    let start = Instant::now();
    quiet(peer, &mut command)?;
    let seconds = start.elapsed().as_secs_f64();
    let file = File::open(&out).context("it wrote nothing")?;
    Ok(crawled(BufReader::new(file), site)? as f64 / seconds)
}

/// Fields of the rows of Scrapy and advertools that are read.
#[derive(Debug, Deserialize)]
struct Row {
    url: String,
    status: Option<u16>,
}

/// Returns the number of crawled pages; an error if a linked page or a broken link is missing.
fn crawled(rows: impl BufRead, site: &Expected) -> Result<usize> {
    let mut answers = HashMap::new();
    for line in rows.lines() {
        let row: Row = serde_json::from_str(&line?)?;
        answers.insert(row.url, row.status);
    }
    for link in &site.broken_links {
        if answers.get(&link.target) != Some(&Some(404)) {
            bail!("it did not meet the broken link {}", link.target);
        }
    }
    let pages = answers.values().filter(|status| **status == Some(200)).count();
    let linked = site.pages as usize - site.orphans.len();
    ensure!(pages >= linked, "it read {pages} of {linked} pages");
    Ok(pages)
}

fn remove(file: &Path) -> Result<()> {
    if file.exists() {
        fs::remove_file(file)?;
    }
    Ok(())
}

/// As in `scrapy 2.19.0`.
fn pinned(peer: &str) -> Result<String> {
    let line = REQUIREMENTS.lines().find(|line| line.starts_with(peer));
    let line = line.with_context(|| format!("requirements.txt does not name {peer}"))?;
    Ok(line.replace("==", " "))
}
