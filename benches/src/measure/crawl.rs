//! An audit of a generated site on nginx beside the bare loop over the same URLs, and its memory on a
//! site ten times as big.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use xtask::{
    process::{Running, free_port, program},
    website::{self, Expected, Order},
};

use super::{peers::Cost, recheck};
use crate::{
    Effort,
    baseline::crawl::{Outcome, Pass},
    cpu, memory,
    product::{Api, Database, Installation, text},
    report::{Figure, Report, Target},
};

/// A round takes seconds, where those of other measurements take half a minute, and goes up and down with the machine: so many
/// more of them are made.
const TIMES: u32 = 5;
/// Longest time one audit may take.
const LIMIT: Duration = Duration::from_secs(3_600);
/// Highest `maxPages`.
const MOST_PAGES: u32 = 1_000_000;

/// Compares speed on one site, then memory on two.
pub fn run(effort: &Effort, report: &mut Report) -> Result<()> {
    let (mut links, mut whole, mut product) = (Vec::new(), Vec::new(), Vec::new());
    let mut peaks = Vec::new();
    {
        let (folder, site) = site(effort.pages)?;
        let _nginx = website::serve(&site, &folder)?;
        let list = folder.join("urls.txt");
        let urls = fs::read_to_string(&list)?.lines().count() as f64;
        for _ in 0..effort.rounds * TIMES {
            for (pass, rounds) in [(Pass::Links, &mut links), (Pass::Page, &mut whole)] {
                let outcome = bare_loop(&list, pass)?;
                if outcome.fetched as f64 != urls || outcome.links != u64::from(effort.pages) * 50 {
                    bail!("the baseline did not do its work: {outcome:?} of {urls} URLs");
                }
                rounds.push(urls / outcome.seconds);
            }
            if !effort.baseline_only {
                let audit = audit(&site)?;
                product.push(urls / audit.seconds);
                peaks.push(audit.peak);
            }
        }
        if !effort.baseline_only {
            recheck::run(effort, report, &folder, &site)?;
        }
    }
    report.add(Figure {
        name: format!("audit of {} pages, stored and analysed", effort.pages),
        unit: "URLs/s",
        baseline: whole,
        product: product.clone(),
        target: Target::RatioAtLeast(0.8),
    });
    report.add(Figure {
        name: "the same, to a loop that takes links only".to_owned(),
        unit: "URLs/s",
        baseline: links,
        product,
        target: Target::Shown,
    });
    if effort.baseline_only {
        return Ok(());
    }
    report.add(Figure {
        name: format!("peak memory at {} pages", effort.pages),
        unit: "MB",
        baseline: Vec::new(),
        product: peaks.clone(),
        target: Target::Below(150.0),
    });
    if effort.big == 0 {
        return Ok(());
    }
    let (folder, site) = site(effort.big)?;
    let _nginx = website::serve(&site, &folder)?;
    let big = audit(&site)?;
    report.add(Figure {
        name: format!("peak memory at {} pages, to the smaller site's", effort.big),
        unit: "MB",
        baseline: peaks,
        product: vec![big.peak],
        target: Target::RatioBelow(2.0),
    });
    Ok(())
}

/// A generated site, the one of an earlier run when it is the same and its port is free.
pub(super) fn site(pages: u32) -> Result<(PathBuf, Expected)> {
    let folder = xtask::target().join("bench").join(format!("site-{pages}"));
    let earlier = fs::read(folder.join("expected.json")).ok();
    let port = earlier
        .and_then(|text| serde_json::from_slice::<Expected>(&text).ok())
        .map(|site| site.port);
    let order = |port| Order { pages, seed: 1, port };
    if let Some(port) = port
        && std::net::TcpListener::bind(("127.0.0.1", port)).is_ok()
        && let Some(site) = website::existing(&order(port), &folder)
    {
        return Ok((folder, site));
    }
    eprintln!("generating a site of {pages} pages");
    fs::create_dir_all(&folder)?;
    let site = website::generate(&order(free_port()?), &folder)?;
    Ok((folder, site))
}

/// The loop over the URLs of a file.
pub(super) fn bare_loop(urls: &Path, pass: Pass) -> Result<Outcome> {
    let mut command = program(std::env::current_exe()?, None);
    command
        .arg("baseline-crawl")
        .arg("--urls")
        .arg(urls)
        .args(["--pass", pass.word()])
        .stderr(Stdio::inherit());
    let output = command.output()?;
    if !output.status.success() {
        bail!("the baseline crawl failed with {}", output.status);
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// One audit by a fresh installation: an earlier audit's records would let it ask for changes only.
pub(super) fn audit(site: &Expected) -> Result<Cost> {
    let mut installation = Installation::new("crawl", Database::Folder)?;
    installation.allow_crawl(site.port);
    let mut server = installation.start()?;
    let access = installation.project(&site.origin)?;
    let api = Api::new(installation.origin(), access)?;
    let seconds = audited(&api, &mut server, site.pages)?.whole.as_secs_f64();
    Ok(Cost {
        seconds,
        processor: cpu::seconds(server.id())?,
        peak: memory::peak(server.id())?,
    })
}

/// Durations of the parts of an audit.
pub(super) struct Times {
    /// Until the analysis was first seen, up to a twentieth of a second late.
    pub(super) crawl: Duration,
    /// Until it was done.
    pub(super) whole: Duration,
}

/// Audits a whole site of so many pages.
pub(super) fn audited(api: &Api, server: &mut Running, pages: u32) -> Result<Times> {
    let start = Instant::now();
    api.post(
        "audits",
        &json!({ "maxPages": pages.saturating_mul(2).min(MOST_PAGES) }),
    )?;
    let mut crawl = None;
    loop {
        // who asks often takes from what is measured: it is done only where the end is near, and of what takes long ever less
        let least = Duration::from_millis(if crawl.is_some() { 10 } else { 50 });
        thread::sleep(least.max(start.elapsed() / 1_000));
        server.check()?;
        let audit = api.get("audits/current")?;
        match text(&audit, "status")?.as_str() {
            "completed" => {
                complete(pages, &audit)?;
                let whole = start.elapsed();
                return Ok(Times {
                    crawl: crawl.unwrap_or(whole),
                    whole,
                });
            }
            "partial" | "failed" | "cancelled" => bail!("the audit ended as {audit}"),
            _ if start.elapsed() > LIMIT => bail!("the audit is not done after {} s", LIMIT.as_secs()),
            "analyzing" => {
                crawl.get_or_insert_with(|| start.elapsed());
            }
            _ => {}
        }
    }
}

/// An audit that skipped pages would be fast for the wrong reason.
fn complete(pages: u32, audit: &Value) -> Result<()> {
    let crawled = audit.pointer("/progress/fetched").and_then(Value::as_u64);
    let crawled = crawled.with_context(|| format!("no count of fetched pages in {audit}"))?;
    if crawled < u64::from(pages) {
        bail!("the audit fetched {crawled} of {pages} pages");
    }
    Ok(())
}
