//! A recheck of a hundred pages, beside the loop that fetches the same.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use xtask::{process::Running, website::Expected};

use super::crawl::{audited, bare_loop};
use crate::{
    Effort,
    baseline::crawl::Pass,
    product::{Api, Database, Installation, text},
    report::{Figure, Report, Target},
};

/// Pages of one recheck, and most of what may be marked in one call.
const PAGES: usize = 100;
/// Check that finds an issue on every page of the generated site, and whose recheck fetches one page.
const CHECK: &str = "og-incomplete";
/// Beyond the fetching, seconds: a twentieth of the ten that it takes at the pace that a crawl keeps to by default.
const MOST: f64 = 0.5;

/// Rechecks pages of a site, which stands in a folder and is served.
pub(super) fn run(effort: &Effort, report: &mut Report, folder: &Path, site: &Expected) -> Result<()> {
    let mut installation = Installation::new("recheck", Database::Folder)?;
    installation.allow_crawl(site.port);
    let mut server = installation.start()?;
    let api = Api::new(installation.origin(), installation.project(&site.origin)?)?;
    audited(&api, &mut server, site.pages)?;
    let (items, urls) = occurrences(&api)?;
    let list = folder.join("urls-of-recheck.txt");
    fs::write(&list, urls.join("\n"))?;
    let mut beyond = Vec::new();
    for _ in 0..effort.rounds {
        let fetching = bare_loop(&list, Pass::Page)?.seconds;
        let marked = api.post("occurrences/done", &json!({ "occurrences": items }))?;
        ensure!(marked["refused"] == 0, "not everything can be marked: {marked}");
        beyond.push((rechecked(&api, &mut server)? - fetching).max(0.0));
    }
    report.add(Figure {
        name: format!(
            "recheck of {PAGES} of {} pages, beyond what the loop takes to fetch them",
            site.pages
        ),
        unit: "s",
        baseline: Vec::new(),
        product: beyond,
        target: Target::Below(MOST),
    });
    Ok(())
}

/// A hundred of one issue, and the URLs of their pages.
fn occurrences(api: &Api) -> Result<(Vec<Value>, Vec<String>)> {
    let issues = api.get("issues?limit=100")?;
    let issues = issues["data"].as_array().context("no issues")?;
    let issue = issues.iter().find(|issue| issue["checkId"] == CHECK);
    let issue = text(issue.with_context(|| format!("no {CHECK}"))?, "id")?;
    let found = api.get(&format!("issues/{issue}/occurrences?limit={PAGES}"))?;
    let found = found["data"].as_array().context("no occurrences")?;
    ensure!(found.len() == PAGES, "{} occurrences", found.len());
    let item = |one: &Value| json!({ "issue_id": one["issue_id"], "page_id": one["page_id"] });
    let urls = found.iter().map(|one| text(one, "url"));
    Ok((found.iter().map(item).collect(), urls.collect::<Result<_>>()?))
}

/// Seconds until everything that is marked was fetched and judged again.
fn rechecked(api: &Api, server: &mut Running) -> Result<f64> {
    let start = Instant::now();
    let started = api.post("rechecks", &json!({}))?;
    let job = format!("jobs/{}", text(&started["job"], "id")?);
    loop {
        thread::sleep(Duration::from_millis(5));
        server.check()?;
        let job = api.get(&job)?;
        match text(&job, "status")?.as_str() {
            "queued" | "running" => {}
            "succeeded" => return Ok(start.elapsed().as_secs_f64()),
            _ => bail!("the recheck ended as {job}"),
        }
    }
}
