//! A website made by rule: any number of linked pages of about 20 KB, with faults planted at known
//! rates and written down, so that an audit's speed can be measured and its findings counted.
//!
//! The same order gives the same bytes on every machine. `plan` decides which page is what and who
//! links to whom, `prose` writes the words, `page` the HTML, `files` everything beside the pages; `made` answers without a file.

mod expected;
mod files;
mod made;
mod page;
mod plan;
mod prose;
mod server;

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
    thread,
};

use anyhow::{Context, Result};

pub use expected::{Expected, Planted, Redirect};
pub use made::{Answer, Made};
pub use server::serve;

use plan::Plan;

/// Fewer pages could not hold the navigation and one of each fault.
pub const LEAST_PAGES: i64 = 200;

/// Raised whenever the same order gives other bytes, so that a site on disk can be known as old.
pub const VERSION: u32 = 3;

/// Parameters of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// HTML pages, orphans included; at least [`LEAST_PAGES`].
    pub pages: u32,
    /// Another seed gives other words and other links.
    pub seed: u64,
    /// Port on 127.0.0.1 in canonical addresses, sitemaps and `nginx.conf`.
    pub port: u16,
}

/// Writes the site below `out`, replacing an earlier one: `root/` (what is served), `nginx.conf`,
/// `urls.txt` (every URL an audit meets, one a line) and `expected.json`.
pub fn generate(order: &Order, out: &Path) -> Result<Expected> {
    let root = out.join("root");
    if root.exists() {
        fs::remove_dir_all(&root).context("cannot remove the earlier site")?;
    }
    let plan = Plan::new(order);
    for section in plan::SECTIONS {
        fs::create_dir_all(root.join(section))?;
    }
    let bytes = write_pages(&plan, &root)?;
    files::write(&plan, &root)?;
    let expected = Expected::new(&plan, bytes);
    server::write_configuration(&expected, out)?;
    let mut urls = BufWriter::new(File::create(out.join("urls.txt"))?);
    for url in files::urls(&plan, &expected) {
        writeln!(urls, "{url}")?;
    }
    urls.flush()?;
    fs::write(out.join("expected.json"), serde_json::to_vec_pretty(&expected)?)?;
    Ok(expected)
}

/// The site that is already below `out`, when it is exactly what `order` would write.
pub fn existing(order: &Order, out: &Path) -> Option<Expected> {
    let text = fs::read(out.join("expected.json")).ok()?;
    let expected: Expected = serde_json::from_slice(&text).ok()?;
    (expected.version == VERSION && expected.order() == *order).then_some(expected)
}

/// Writes all pages on all cores; the sum of their sizes in bytes.
fn write_pages(plan: &Plan, root: &Path) -> Result<u64> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let running: Vec<_> = (0..workers)
            .map(|worker| scope.spawn(move || write_share(plan, root, worker, workers)))
            .collect();
        running.into_iter().try_fold(0, |sum, thread| {
            let bytes = thread
                .join()
                .map_err(|_| anyhow::anyhow!("a page could not be written"))?;
            Ok(sum + bytes?)
        })
    })
}

fn write_share(plan: &Plan, root: &Path, worker: usize, workers: usize) -> Result<u64> {
    let mut bytes = 0;
    let mut html = String::with_capacity(40_000);
    for page in (worker..plan.len()).step_by(workers) {
        html.clear();
        page::write(plan, page, &mut html);
        fs::write(root.join(plan.file(page)), &html)?;
        bytes += html.len() as u64;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
