//! An audit of a very large site: memory, the size of the database, and the share of the analysis. Its pages are made while they are
//! fetched, so its speed is that of both and not compared. Then a second audit, in which no page has changed and one of a thousand is
//! refused.

use std::{fs, path::Path};

use anyhow::Result;

use super::crawl::audited;
use crate::{
    memory,
    product::{Api, Database, Installation},
    report::{Figure, Report, Target},
    website,
};

/// Audits a site of so many pages twice.
pub fn run(pages: u32, report: &mut Report) -> Result<()> {
    let (origin, port) = website::serve(pages)?;
    let mut installation = Installation::new("large-site", Database::Folder)?;
    installation.allow_crawl(port);
    let mut server = installation.start()?;
    let access = installation.project(&origin)?;
    let api = Api::new(installation.origin(), access.clone())?;
    let times = audited(&api, &mut server, pages)?;
    let peak = memory::peak(server.id())?;
    server.stop();
    let first = size(installation.folder())?;
    // in a process of its own, for its peak
    let mut server = installation.start()?;
    let api = Api::new(installation.origin(), access)?;
    let again = audited(&api, &mut server, pages)?;
    let peak_again = memory::peak(server.id())?;
    server.stop();
    let second = size(installation.folder())?.saturating_sub(first);
    let mut add = |name: &str, unit, value, target| {
        report.add(Figure {
            name: format!("{name}, {pages} pages"),
            unit,
            baseline: Vec::new(),
            product: vec![value],
            target,
        });
    };
    add("peak memory", "MB", peak, Target::Below(1_000.0));
    let each = |bytes: u64| bytes as f64 / 1_000.0 / f64::from(pages);
    add("database, of each page", "kB", each(first), Target::Shown);
    let (crawl, whole) = (times.crawl.as_secs_f64(), times.whole.as_secs_f64());
    add("crawl", "s", crawl, Target::Shown);
    let share = 100.0 * (whole - crawl) / crawl;
    add(
        "analysis, of the time of the crawl",
        "%",
        share,
        Target::Below(10.0),
    );
    add("peak memory again", "MB", peak_again, Target::Below(1_000.0));
    add("database again, of each page", "kB", each(second), Target::Shown);
    add("crawl again", "s", again.crawl.as_secs_f64(), Target::Shown);
    let analysis = again.whole.saturating_sub(again.crawl).as_secs_f64();
    add("analysis again", "s", analysis, Target::Shown);
    Ok(())
}

/// Bytes of a folder's files.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += match entry.metadata()? {
            data if data.is_dir() => size(&entry.path())?,
            data => data.len(),
        };
    }
    Ok(bytes)
}
