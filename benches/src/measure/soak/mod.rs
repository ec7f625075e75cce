//! Mixed load for a long time, well below the capacity: nothing may grow that does not have to.
//!
//! Beside the calls of [`Mix`] a site is audited, posts are published into a folder, webhooks are delivered, pages of the dashboard
//! are opened, and backups are made (of SQLite). What the product holds is noted every few seconds, and its trend is judged.

mod meter;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use xtask::postgres::{Binaries, Postgres};

use self::meter::{HELD, LOG, Meter, Sampled};
use super::{
    http::new_database,
    isolation::percentile,
    mixed::{Mix, millis, summary, unexpected},
};
use crate::{
    baseline::receiver::Receiver,
    open_load::{self, AnswerKind},
    person,
    product::{Api, Database, Installation, QUOTAS, text},
    report::{Figure, Report, Target, median},
};

/// Time that the capacity is measured for.
const TRIAL: Duration = Duration::from_secs(10);
/// Interval of samples, in which the load goes on evenly.
const SLICE: Duration = Duration::from_secs(10);
/// Share of the time that is left out of the trends, in which caches fill.
const WARM_UP: f64 = 1.0 / 6.0;
/// Intervals of what happens beside the load.
const POST_EVERY: Duration = Duration::from_secs(2);
const AUDIT_EVERY: Duration = Duration::from_secs(30);
const BACKUP_EVERY: Duration = Duration::from_secs(180);

/// Samples with the seconds since the beginning, and the 99th percentiles of the slices.
struct Sustained {
    samples: Vec<(f64, Sampled)>,
    waits: Vec<f64>,
}

/// Runs for so many minutes at a share of the capacity, on SQLite or on a PostgreSQL.
pub fn run(minutes: u32, share: f64, on_postgres: bool, report: &mut Report) -> Result<()> {
    let postgres = on_postgres
        .then(|| Postgres::start(Binaries::find_or_install()?))
        .transpose()?;
    let database = match &postgres {
        Some(postgres) => Database::Postgres(new_database(postgres, "soak")?),
        None => Database::Folder,
    };
    eprintln!("preparing an installation");
    // one of each can run beside the other
    let name = if on_postgres {
        "soak-postgresql"
    } else {
        "soak-sqlite"
    };
    let mut installation = Installation::new(name, database.clone())?;
    installation.set(&QUOTAS);
    let origin = Mix::site(&mut installation)?;
    let receiver = Receiver::start()?;
    installation.allow_webhooks(&[receiver.address]);
    let server = installation.start()?;
    let cookie = {
        let (email, password) = installation.owner()?;
        person::sign_in(&installation.origin(), email, password)?
    };
    let mix = Mix::prepare(&installation, &origin)?.steady();
    let api = Api::new(installation.origin(), mix.audited().clone())?;
    let hook = format!("http://{}/", receiver.address);
    api.post("webhooks", &json!({ "targetUrl": hook, "event": "*" }))?;
    connect_folder(&api)?;

    open_load::closed(mix.clone(), 0, Duration::from_secs(2))?;
    let trial = open_load::closed(mix.clone(), 1 << 32, TRIAL)?;
    let capacity = millis(&trial, None, AnswerKind::Done).len() as f64 / TRIAL.as_secs_f64();
    eprintln!("capacity {capacity:.0} requests/s; {share} of it for {minutes} min");
    let life = Life::start(
        installation.origin(),
        mix.audited().project.clone(),
        api,
        cookie,
        receiver,
    )?;
    let meter = Meter::new(server.id(), installation.folder(), &database)?;
    // PostgreSQL is backed up by its own programs
    let backups = matches!(database, Database::Folder).then(|| installation.folder().join("data"));
    let Sustained { samples, waits } = sustain(&meter, backups.as_deref(), &mix, capacity * share, minutes)?;
    let lived = life.end()?;
    eprintln!("{lived}");
    report.add(Figure {
        name: format!("p99 of requests in slices of {} s", SLICE.as_secs()),
        unit: "ms",
        baseline: Vec::new(),
        product: waits,
        target: Target::Shown,
    });
    save(&samples, &xtask::target().join(format!("{name}.csv")))?;
    judge(&samples, on_postgres, report);
    Ok(())
}

/// Keeps the load up, and notes what the server holds after each slice.
fn sustain(
    meter: &Meter,
    backed_up_folder: Option<&Path>,
    mix: &Mix,
    rate: f64,
    minutes: u32,
) -> Result<Sustained> {
    let begun = Instant::now();
    let (mut samples, mut waits) = (Vec::new(), Vec::new());
    let mut backed_up = Instant::now();
    let mut backup: Option<JoinHandle<Result<()>>> = None;
    for slice in 0_u64.. {
        if begun.elapsed() >= Duration::from_secs(60 * u64::from(minutes)) {
            break;
        }
        let sent = open_load::open(mix.clone(), (slice + 9) << 32, rate, SLICE)?;
        waits.extend(percentile(&millis(&sent, None, AnswerKind::Done), 0.99));
        if let Some(fault) = unexpected(&sent).first() {
            eprintln!("unexpected: {fault:?}\n{}", summary(&sent));
        }
        samples.push((begun.elapsed().as_secs_f64(), meter.sample()?));
        if let Some(data) = backed_up_folder
            && backed_up.elapsed() >= BACKUP_EVERY
        {
            backed_up = Instant::now();
            if let Some(backup) = backup.take() {
                backup
                    .join()
                    .map_err(|_| anyhow::anyhow!("the backup failed"))??;
            }
            let data = data.to_owned();
            backup = Some(std::thread::spawn(move || back_up(&data)));
        }
    }
    if let Some(backup) = backup {
        backup
            .join()
            .map_err(|_| anyhow::anyhow!("the backup failed"))??;
    }
    Ok(Sustained { samples, waits })
}

fn back_up(data: &Path) -> Result<()> {
    let output = crate::product::command()
        .args(["backup", "--keep", "2", "--to"])
        .arg(data.with_file_name("backups"))
        .arg("--data-dir")
        .arg(data)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()?;
    if !output.status.success() {
        bail!("no backup: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

fn save(samples: &[(f64, Sampled)], file: &PathBuf) -> Result<()> {
    let names: Vec<&str> = HELD.iter().map(|(name, _, _)| *name).collect();
    let mut csv = format!("seconds,{}\n", names.join(","));
    for (at, held) in samples {
        let held: Vec<String> = held.iter().map(|value| format!("{value:.3}")).collect();
        let _ = writeln!(csv, "{at:.1},{}", held.join(","));
    }
    eprintln!("samples: {}", file.display());
    Ok(fs::write(file, csv)?)
}

/// Reports each figure at the beginning and at the end, and whether its trend is growth.
fn judge(samples: &[(f64, Sampled)], on_postgres: bool, report: &mut Report) {
    let until = samples.last().map_or(0.0, |(at, _)| *at);
    let settled: Vec<&(f64, Sampled)> = samples.iter().filter(|(at, _)| *at >= until * WARM_UP).collect();
    for (index, (name, unit, allowed)) in HELD.iter().enumerate() {
        let points: Vec<(f64, f64)> = settled.iter().map(|(at, held)| (*at, held[index])).collect();
        let values: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
        let (Some(usual), Some(slope)) = (median(&values), trend(&points)) else {
            continue;
        };
        let most = values.iter().copied().fold(0.0, f64::max);
        eprintln!(
            "{name}: median {usual:.1}, at most {most:.1} {unit}, {:+.2} an hour",
            slope * 3_600.0
        );
        let growth = slope * until * (1.0 - WARM_UP);
        let target = match allowed.filter(|_| !on_postgres || *name != LOG) {
            Some(allowed) => Target::Below(allowed.max(usual / 10.0).round()),
            None => Target::Shown,
        };
        report.add(Figure {
            name: format!("{name}, growth in {:.0} min", until * (1.0 - WARM_UP) / 60.0),
            unit,
            baseline: vec![usual],
            product: vec![growth],
            target,
        });
    }
}

/// Median of the slopes between all pairs of points (Theil and Sen), which single peaks do not bend; none of fewer than two.
fn trend(points: &[(f64, f64)]) -> Option<f64> {
    let pairs = points.iter().enumerate().flat_map(|(at, (x, y))| {
        let later = points.iter().skip(at + 1);
        later
            .filter(move |(later, _)| later > x)
            .map(move |(later, value)| (value - y) / (later - x))
    });
    median(&pairs.collect::<Vec<_>>())
}

/// Connects the project's folder on the server, as a person does.
fn connect_folder(api: &Api) -> Result<()> {
    let made = api.post("integrations/files/connect-url", &json!({}))?;
    api.send_form(
        &text(&made, "url")?,
        "folder=blog&baseUrl=https%3A%2F%2Fexample.com%2Fblog",
    )?;
    let map = json!({ "fieldMap": { "title": "title", "content": "content", "slug": "slug" } });
    api.post("integrations/files/mapping", &map)?;
    Ok(())
}

/// Work beside the load, on a thread of its own.
struct Life {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<String>>,
}

impl Life {
    fn start(origin: String, project: String, api: Api, cookie: String, receiver: Receiver) -> Result<Self> {
        let stop = Arc::<AtomicBool>::default();
        let stops = stop.clone();
        let thread = std::thread::Builder::new().spawn(move || {
            let (mut posts, mut audits, mut pages, mut delivered, mut refused) = (0, 0, 0, 0, 0);
            let mut audited: Option<Instant> = None;
            while !stops.load(Ordering::Relaxed) {
                let begun = Instant::now();
                posts += 1;
                let post = json!({ "title": format!("Post {posts}"), "content": "Some *text* that stays." });
                let published = api
                    .post("posts", &post)
                    .and_then(|post| api.post(&format!("posts/{}/publish", text(&post, "id")?), &json!({})));
                refused += u32::from(published.is_err());
                if let Err(error) = published.as_ref()
                    && refused < 4
                {
                    eprintln!("no post: {error:#}");
                }
                if audited.is_none_or(|at| at.elapsed() >= AUDIT_EVERY) {
                    audited = Some(Instant::now());
                    audits += 1;
                    refused += u32::from(api.post("audits", &json!({})).is_err());
                }
                for path in ["", "/issues", "/keywords", "/posts", "/calendar"] {
                    let page = format!("{origin}/projects/{project}{path}");
                    api.open_page(&page, &cookie).with_context(|| page.clone())?;
                    pages += 1;
                }
                delivered += receiver.take().len();
                std::thread::sleep(POST_EVERY.saturating_sub(begun.elapsed()));
            }
            Ok(format!(
                "{posts} posts, {audits} audits, {pages} pages, {delivered} deliveries; {refused} refused"
            ))
        })?;
        Ok(Self { stop, thread })
    }

    fn end(self) -> Result<String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .map_err(|_| anyhow::anyhow!("what happens beside the load failed"))?
    }
}

#[cfg(test)]
mod tests {
    use super::trend;

    #[test]
    fn a_trend_does_not_mind_peaks() {
        let points: Vec<(f64, f64)> = (0..60)
            .map(|at| {
                (
                    f64::from(at),
                    if at % 10 == 0 {
                        500.0
                    } else {
                        f64::from(at) * 2.0 + 7.0
                    },
                )
            })
            .collect();
        let slope = trend(&points).unwrap();
        assert!((slope - 2.0).abs() < 0.2, "{slope}");
        assert_eq!(trend(&points[..1]), None);
        assert_eq!(trend(&[(0.0, 5.0), (1.0, 5.0), (2.0, 5.0)]), Some(0.0));
    }
}
