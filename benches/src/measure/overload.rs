//! More requests than the product can carry out: what becomes of those that are admitted and of those that are not, and how
//! soon all is as before.
//!
//! The capacity is what clients get that wait for answers. Half of it, all of it and three times as much then arrive at their times,
//! whatever becomes of the requests before; half of it follows at once, to see when a caller notices nothing any more.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use xtask::postgres::{Binaries, Postgres};

use super::{
    http::new_database,
    isolation::percentile,
    mixed::{Class, Mix, millis, summary, unexpected},
};
use crate::{
    Effort, memory,
    open_load::{self, AnswerKind, ClientLine, Sample},
    product::{Database, Installation, QUOTAS},
    report::{Figure, Report, Target},
};

/// Multiples of the capacity.
const SHARES: [f64; 3] = [0.5, 1.0, 3.0];
/// Pause of the caller that is watched all through, between its calls.
const PAUSE: Duration = Duration::from_millis(5);
/// Calls of that caller in succession that have to be as fast as before.
const CALM_CALLS: usize = 20;
/// Memory that limits and caches allow, in MB.
const MOST_MEMORY: f64 = 400.0;

/// Measures both databases.
pub fn run(effort: &Effort, report: &mut Report) -> Result<()> {
    measure("SQLite", Database::Folder, effort, report)?;
    if effort.no_postgres {
        return Ok(());
    }
    let postgres = Postgres::start(Binaries::find_or_install()?)?;
    let url = new_database(&postgres, "overload")?;
    measure("PostgreSQL", Database::Postgres(url), effort, report)
}

/// Figures of all rounds.
#[derive(Default)]
struct Rounds {
    capacity: Vec<f64>,
    done: Vec<f64>,
    /// 99th percentiles by class, at half the capacity and at three times as much.
    calm: Vec<Vec<f64>>,
    overloaded: Vec<Vec<f64>>,
    refusals: Vec<f64>,
    unexpected: Vec<f64>,
    before: Vec<f64>,
    peak: Vec<f64>,
    recovery: Vec<f64>,
    probes: Vec<f64>,
    failed_probes: Vec<f64>,
}

fn measure(name: &str, database: Database, effort: &Effort, report: &mut Report) -> Result<()> {
    eprintln!("preparing {name}");
    let mut installation = Installation::new(&format!("overload-{}", name.to_lowercase()), database)?;
    installation.set(&QUOTAS);
    let origin = Mix::site(&mut installation)?;
    let server = installation.start()?;
    let mix = Mix::prepare(&installation, &origin)?;
    let mut rounds = Rounds {
        calm: vec![Vec::new(); Class::ALL.len()],
        overloaded: vec![Vec::new(); Class::ALL.len()],
        ..Rounds::default()
    };
    let time = Duration::from_secs(effort.seconds.into());
    open_load::closed(mix.clone(), 0, Duration::from_secs(2))?;
    for round in 0..effort.rounds {
        rounds.round(&mix, server.id(), time, (u64::from(round) + 1) << 32)?;
    }
    rounds.report(name, report)
}

impl Rounds {
    fn round(&mut self, mix: &Mix, server: u32, time: Duration, first: u64) -> Result<()> {
        let sent = open_load::closed(mix.clone(), first, time)?;
        let capacity = millis(&sent, None, AnswerKind::Done).len() as f64 / time.as_secs_f64();
        eprintln!("capacity {capacity:.0} requests/s\n{}", summary(&sent));
        self.capacity.push(capacity);
        self.before.push(memory::resident(server)?);
        let watch = Watch::start(mix.clone());
        let mut faults = unexpected(&sent);
        let mut calm = Instant::now()..Instant::now();
        let mut ended = Instant::now();
        for (number, share) in (1_u64..).zip(SHARES) {
            let begun = Instant::now();
            let first = first + (number << 28);
            let sent = open_load::open(mix.clone(), first, capacity * share, time)?;
            eprintln!("{share} of the capacity\n{}", summary(&sent));
            faults.extend(unexpected(&sent));
            if number == 1 {
                calm = begun..Instant::now();
                add_percentiles(&mut self.calm, &sent)?;
            }
            if share > 1.0 {
                ended = begun + time;
                add_percentiles(&mut self.overloaded, &sent)?;
                let refused = millis(&sent, None, AnswerKind::Refused);
                self.refusals.extend(percentile(&refused, 0.99));
                let done = millis(&sent, None, AnswerKind::Done).len() as f64;
                self.done.push(done / time.as_secs_f64());
            }
        }
        let sent = open_load::open(mix.clone(), first + (9 << 28), capacity * SHARES[0], time)?;
        faults.extend(unexpected(&sent));
        self.peak.push(memory::peak(server)?);
        let watched = watch.end()?;
        self.unexpected.push(faults.len() as f64);
        for fault in faults.iter().take(5) {
            eprintln!("unexpected: {fault:?}");
        }
        let usual = watched
            .usual(&calm)
            .context("the watched caller was not answered")?;
        let recovery = watched.recovery(ended, usual);
        eprintln!(
            "the watched caller waits {usual:.1} ms at the 99th percentile, and again after {recovery:.2} s"
        );
        self.recovery.push(recovery);
        let waits: Vec<f64> = watched.probes.iter().map(|probe| probe.millis).collect();
        self.probes.extend(percentile(&waits, 0.99));
        let failed = watched
            .probes
            .iter()
            .filter(|probe| probe.outcome != AnswerKind::Done);
        self.failed_probes.push(failed.count() as f64);
        Ok(())
    }

    fn report(self, name: &str, report: &mut Report) -> Result<()> {
        let figure = |title: &str, unit, baseline, product, target| Figure {
            name: format!("{title}, {name}"),
            unit,
            baseline,
            product,
            target,
        };
        report.add(figure(
            "carried out at 3 times the capacity, to it",
            "req/s",
            self.capacity,
            self.done,
            Target::Shown,
        ));
        for ((_, class, _), (calm, overloaded)) in
            Class::ALL.iter().zip(self.calm.into_iter().zip(self.overloaded))
        {
            let title = format!("{class} p99 at 3 times the capacity, to half");
            report.add(figure(&title, "ms", calm, overloaded, Target::RatioBelow(3.0)));
        }
        report.add(figure(
            "p99 of refusals",
            "ms",
            Vec::new(),
            self.refusals,
            Target::Below(100.0),
        ));
        report.add(figure(
            "answers that are no refusal with a time",
            "",
            Vec::new(),
            self.unexpected,
            Target::Below(1.0),
        ));
        report.add(figure(
            "peak memory",
            "MB",
            self.before,
            self.peak,
            Target::Below(MOST_MEMORY),
        ));
        report.add(figure(
            "recovery",
            "s",
            Vec::new(),
            self.recovery,
            Target::Below(1.0),
        ));
        report.add(figure(
            "p99 of probes",
            "ms",
            Vec::new(),
            self.probes,
            Target::Below(1_000.0),
        ));
        report.add(figure(
            "failed probes",
            "",
            Vec::new(),
            self.failed_probes,
            Target::Below(1.0),
        ));
        Ok(())
    }
}

fn add_percentiles(columns: &mut [Vec<f64>], samples: &[Sample]) -> Result<()> {
    for (index, column) in columns.iter_mut().enumerate() {
        column.extend(percentile(&millis(samples, Some(index), AnswerKind::Done), 0.99));
    }
    Ok(())
}

/// One call of the watched caller.
#[derive(Clone, Copy, Debug)]
struct WatchedCall {
    at: Instant,
    outcome: AnswerKind,
    millis: f64,
}

/// Calls of the watched caller, and of the probes `/healthz` and `/readyz`.
#[derive(Debug, Default)]
struct Watched {
    calls: Vec<WatchedCall>,
    probes: Vec<WatchedCall>,
}

impl Watched {
    /// Milliseconds that the 99th percentile of the calls of a time took.
    fn usual(&self, time: &Range<Instant>) -> Option<f64> {
        let calls = self.calls.iter().filter(|call| time.contains(&call.at));
        percentile(&calls.map(|call| call.millis).collect::<Vec<_>>(), 0.99)
    }

    /// Seconds after a moment until calls in succession were carried out as fast as usual; infinite where they never were.
    fn recovery(&self, ended: Instant, usual: f64) -> f64 {
        let is_calm = |call: &WatchedCall| call.outcome == AnswerKind::Done && call.millis <= usual;
        let after: Vec<&WatchedCall> = self.calls.iter().filter(|call| call.at >= ended).collect();
        after
            .windows(CALM_CALLS)
            // one of a hundred is slower by definition
            .find(|calls| is_calm(calls[0]) && calls.iter().filter(|call| !is_calm(call)).count() <= 1)
            .map_or(f64::INFINITY, |calls| (calls[0].at - ended).as_secs_f64())
    }
}

/// A caller that is watched, on a thread of its own until its end.
struct Watch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Watched>>,
}

impl Watch {
    fn start(mix: Mix) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let stops = stop.clone();
        Self {
            thread: std::thread::spawn(move || watch(&mix, &stops)),
            stop,
        }
    }

    fn end(self) -> Result<Watched> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .map_err(|_| anyhow::anyhow!("the watch failed"))?
    }
}

fn watch(mix: &Mix, stop: &AtomicBool) -> Result<Watched> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut line = ClientLine::new(0);
        let mut watched = Watched::default();
        for round in 0.. {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            line.out.clear();
            let address = mix.single_read(&mut line.out);
            watched.calls.push(call(&mut line, address).await);
            if round % 4 == 0 {
                for path in ["/healthz", "/readyz"] {
                    line.out = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes();
                    watched.probes.push(call(&mut line, address).await);
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(watched)
    })
}

async fn call(line: &mut ClientLine, address: std::net::SocketAddr) -> WatchedCall {
    let at = Instant::now();
    let outcome = line.ask(address).await;
    WatchedCall {
        at,
        outcome,
        millis: at.elapsed().as_secs_f64() * 1e3,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{CALM_CALLS, Watched, WatchedCall};
    use crate::open_load::AnswerKind;

    #[test]
    fn recovery_is_when_calls_are_as_fast_as_usual() {
        let begun = Instant::now();
        let call = |number: u32, millis| WatchedCall {
            at: begun + number * Duration::from_millis(10),
            outcome: AnswerKind::Done,
            millis,
        };
        let mut watched = Watched {
            calls: (0..30).map(|number| call(number, 50.0)).collect(),
            probes: Vec::new(),
        };
        assert!(watched.recovery(begun, 5.0).is_infinite());
        watched
            .calls
            .extend((30..30 + CALM_CALLS as u32).map(|number| call(number, 4.0)));
        let recovery = watched.recovery(begun, 5.0);
        assert!((recovery - 0.3).abs() < 0.001, "{recovery}");
        assert_eq!(
            watched.usual(&(begun..begun + Duration::from_millis(100))),
            Some(50.0)
        );
    }
}
