//! Time from the start of the process to `/readyz` 200 on an existing database, and memory at rest.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use xtask::process::Running;

use crate::{
    Effort, memory,
    product::{Api, Database, Installation, prepared_keywords},
    report::{Figure, Report, Target},
};

/// Time for which the server is left idle before its memory is read.
const REST: Duration = Duration::from_secs(2);

/// Measures a SQLite installation with 10,000 keywords in it.
pub fn run(effort: &Effort, report: &mut Report) -> Result<()> {
    let installation = Installation::new("startup", Database::Folder)?;
    {
        let _server = installation.start()?;
        let access = installation.project("example.com")?;
        Api::new(installation.origin(), access)?.post_all("keywords", &prepared_keywords())?;
    }
    let (mut ready, mut idle) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        let (start, resident) = time_start(|| installation.spawn(), || installation.ready())?;
        ready.push(start);
        idle.push(resident);
    }
    report.add(Figure {
        name: "start to ready, existing SQLite".to_owned(),
        unit: "ms",
        baseline: Vec::new(),
        product: ready,
        target: Target::Below(30.0),
    });
    report.add(Figure {
        name: "memory at rest after 2 s".to_owned(),
        unit: "MB",
        baseline: Vec::new(),
        product: idle,
        target: Target::Below(30.0),
    });
    Ok(())
}

/// Starts a server, and returns the milliseconds until it was ready and its resident memory at rest, in MB.
pub(super) fn time_start(
    start: impl Fn() -> Result<Running>,
    is_ready: impl Fn() -> bool,
) -> Result<(f64, f64)> {
    let begun = Instant::now();
    let mut server = start()?;
    while !is_ready() {
        server.check()?;
        if begun.elapsed() > Duration::from_secs(30) {
            bail!("the server was not ready after 30 s");
        }
        thread::sleep(Duration::from_millis(1));
    }
    let ready = begun.elapsed().as_secs_f64() * 1_000.0;
    thread::sleep(REST);
    Ok((ready, memory::resident(server.id())?))
}
