//! The experiments: what is done to the product while clients change things.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use clap::ValueEnum;
use searchwright_contract::Clock;
use xtask::{packages, random::Random};

use super::{
    history::{History, HistoryEntry},
    strace,
    verdict::{self, Invariant, InvariantVerdict},
    workload::Workload,
    world::World,
};
use crate::fleet::{Fleet, FleetOptions, Storage, Surroundings};

/// Clients at once.
const CLIENTS: u64 = 4;
/// Shortest time from the beginning of the load to the slot of a schedule, which is a whole minute.
const LEAD_MILLIS: i64 = 15_000;
const MINUTE_MILLIS: i64 = 60_000;
/// Time that faults go on after the slot.
const AFTER_SLOT: Duration = Duration::from_secs(10);
/// Time that a process stays frozen, longer than its lease of a minute.
const FREEZE_TIME: Duration = Duration::from_secs(75);
/// Time that the clients meet a disk that fails.
const DISK_TIME: Duration = Duration::from_secs(6);
/// Steps of the clock, in seconds from the machine's time: before the slot, over it, back before it, and away.
const CLOCK_STEPS: [i64; 6] = [-7_200, 0, 180, -300, 10_800, 0];

/// An experiment of `prove`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Experiment {
    /// kill -9 at any time, on both databases
    Kills,
    /// kill -9 at every write, sync and message, one after the other, on both databases
    Boundaries,
    /// A full disk, a read-only disk, and a disk that fails to sync
    Disk,
    /// PostgreSQL crashes and recovers
    Database,
    /// Three processes on PostgreSQL: one is killed or suspended for longer than its lease
    Replicas,
    /// The clock is set forward and back over the slot of a schedule, on both databases
    Clock,
    /// Commits that are lost after they were confirmed: the verdict has to find it
    PlantedBug,
}

pub(super) const EXPERIMENTS: [Experiment; 7] = [
    Experiment::Kills,
    Experiment::Boundaries,
    Experiment::Disk,
    Experiment::Database,
    Experiment::Replicas,
    Experiment::Clock,
    Experiment::PlantedBug,
];

impl Experiment {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kills => "kills",
            Self::Boundaries => "boundaries",
            Self::Disk => "disk",
            Self::Database => "database",
            Self::Replicas => "replicas",
            Self::Clock => "clock",
            Self::PlantedBug => "planted-bug",
        }
    }

    /// Databases on which it runs.
    pub(super) fn databases(self) -> &'static [Storage] {
        match self {
            Self::Kills | Self::Boundaries | Self::Clock => &[Storage::Sqlite, Storage::Postgres],
            Self::Disk | Self::PlantedBug => &[Storage::Sqlite],
            Self::Database | Self::Replicas => &[Storage::Postgres],
        }
    }

    fn processes(self) -> usize {
        if self == Self::Replicas { 3 } else { 1 }
    }
}

/// Settings of all experiments.
pub(super) struct Plan<'a> {
    pub(super) program: &'a Path,
    /// Folder of histories and data.
    pub(super) folder: &'a Path,
    pub(super) seed: u64,
    /// Shortest time of faults.
    pub(super) time: Duration,
    /// Points of each kind at which a process is killed.
    pub(super) points: usize,
}

/// Outcome of an experiment, judged.
pub(super) struct Outcome {
    pub(super) experiment: Experiment,
    pub(super) storage: Storage,
    pub(super) history: PathBuf,
    pub(super) calls: usize,
    pub(super) faults: usize,
    pub(super) verdicts: Vec<InvariantVerdict>,
}

impl Outcome {
    /// Whether it shows what it is meant to: no fault, or the one that was planted.
    pub(super) fn is_as_meant(&self) -> bool {
        let violated: Vec<Invariant> = self
            .verdicts
            .iter()
            .filter(|verdict| !verdict.faults.is_empty())
            .map(|verdict| verdict.invariant)
            .collect();
        match self.experiment {
            Experiment::PlantedBug => violated.contains(&Invariant::WritesLast),
            _ => violated.is_empty(),
        }
    }
}

/// The running parts of an experiment.
struct Stage<'a> {
    plan: &'a Plan<'a>,
    fleet: Arc<Fleet>,
    history: Arc<History>,
    workload: Arc<Workload>,
    random: Random,
}

/// Runs an experiment on a database and judges its history.
pub(super) fn run(plan: &Plan<'_>, experiment: Experiment, storage: Storage) -> Result<Outcome> {
    let name = format!("{}-{}", experiment.name(), storage.name().to_lowercase());
    let history = Arc::new(History::create(plan.folder.join(format!("{name}.jsonl")))?);
    history.write(HistoryEntry::Began {
        experiment: experiment.name().to_owned(),
        database: storage.name().to_owned(),
        processes: experiment.processes(),
        seed: plan.seed,
    });
    let world = World::start(&history, plan.seed)?;
    let fleet = Arc::new(Fleet::start(FleetOptions {
        program: Some(plan.program),
        data: plan.folder.join(&name),
        storage,
        processes: experiment.processes(),
        allowed: world.allowed(),
        settings: vec![
            "limits.requests_per_minute=100000".to_owned(),
            "limits.requests_per_minute_and_project=100000".to_owned(),
            "limits.runs_per_minute=100000".to_owned(),
            "limits.failed_authentications_per_minute=100000".to_owned(),
        ],
    })?);
    let mut stage = Stage {
        plan,
        workload: Arc::new(Workload::prepare(&fleet, &history, &world)?),
        fleet,
        history: Arc::clone(&history),
        random: Random::new(plan.seed, 0),
    };
    match experiment {
        Experiment::Boundaries => stage.sweep_boundaries(storage)?,
        _ => stage.run_load(experiment)?,
    }
    stage.workload.settle()?;
    stage.workload.record_all()?;
    world.record_items();
    history.flush()?;
    let lines = super::history::read(history.path())?;
    let is_sent = |line: &&super::history::Line| matches!(line.entry, HistoryEntry::Sent { .. });
    let is_fault = |line: &&super::history::Line| matches!(line.entry, HistoryEntry::Fault { .. });
    Ok(Outcome {
        experiment,
        storage,
        history: history.path().to_owned(),
        calls: lines.iter().filter(is_sent).count(),
        faults: lines.iter().filter(is_fault).count(),
        verdicts: verdict::judge(&lines),
    })
}

impl Stage<'_> {
    /// Lets clients work while faults are made, and a schedule fire once.
    fn run_load(&mut self, experiment: Experiment) -> Result<()> {
        let now = Clock::system().now().millis();
        let slot = now + LEAD_MILLIS + MINUTE_MILLIS - (now + LEAD_MILLIS) % MINUTE_MILLIS;
        self.workload.schedule_audits(slot)?;
        let until_slot = Duration::from_millis((slot - now) as u64) + AFTER_SLOT;
        let until = Instant::now() + self.plan.time.max(until_slot);
        let (seed, workload) = (self.plan.seed, Arc::clone(&self.workload));
        thread::scope(|scope| {
            for number in 0..CLIENTS {
                let workload = &workload;
                scope.spawn(move || workload.run_client(number, seed));
            }
            // not in a thread of its own: a process ends with the thread that started it
            let made = self.make_faults(experiment, slot, until);
            workload.end();
            made
        })
    }

    fn make_faults(&mut self, experiment: Experiment, slot: i64, until: Instant) -> Result<()> {
        match experiment {
            Experiment::Disk => self.spoil_disk(until),
            Experiment::Clock => self.step_clock(slot, until),
            Experiment::Replicas => self.kill_replicas(until),
            Experiment::PlantedBug => self.lose_commits(until),
            Experiment::Kills | Experiment::Database | Experiment::Boundaries => {
                while Instant::now() < until {
                    self.pause(300, 4_000);
                    if experiment == Experiment::Database {
                        self.record_fault("PostgreSQL crashes and recovers");
                        self.fleet.database().context("no PostgreSQL")?.crash()?;
                        self.ensure_running()?;
                    } else {
                        self.record_fault("kill -9");
                        self.restart(0, &Surroundings::default())?;
                    }
                }
                Ok(())
            }
        }
    }

    fn record_fault(&self, fault: &str) {
        self.history.write(HistoryEntry::Fault {
            fault: fault.to_owned(),
        });
    }

    fn pause(&mut self, least: usize, most: usize) {
        thread::sleep(Duration::from_millis(self.random.between(least, most) as u64));
    }

    /// Kills a process where it stands and starts it again.
    fn restart(&self, number: usize, around: &Surroundings) -> Result<()> {
        if !self.fleet.has_ended(number) {
            self.fleet.kill(number)?;
        }
        self.begin(number, around)
    }

    fn begin(&self, number: usize, around: &Surroundings) -> Result<()> {
        let begun = self.fleet.begin(number, around);
        begun.with_context(|| format!("the log ends so:\n{}", self.fleet.log_end(number)))
    }

    /// Starts a process that has ended, as the service manager does.
    fn ensure_running(&self) -> Result<()> {
        if self.fleet.has_ended(0) {
            self.begin(0, &Surroundings::default())?;
        }
        Ok(())
    }

    fn kill_replicas(&mut self, until: Instant) -> Result<()> {
        let count = self.fleet.len();
        let until = until.max(Instant::now() + FREEZE_TIME + AFTER_SLOT);
        let mut frozen: Option<(usize, Instant)> = None;
        while Instant::now() < until {
            self.pause(300, 6_000);
            if let Some((number, _)) = frozen.take_if(|(_, since)| since.elapsed() > FREEZE_TIME) {
                self.record_fault(&format!("process {number} goes on (SIGCONT)"));
                self.fleet.set_frozen(number, false);
            }
            let number = self.random.below(count);
            if frozen.is_none() {
                self.record_fault(&format!("process {number} is suspended (SIGSTOP)"));
                self.fleet.set_frozen(number, true);
                frozen = Some((number, Instant::now()));
            } else if frozen.is_none_or(|(other, _)| other != number) {
                self.record_fault(&format!("kill -9 of process {number}"));
                self.restart(number, &Surroundings::default())?;
            }
        }
        if let Some((number, _)) = frozen {
            self.fleet.set_frozen(number, false);
        }
        Ok(())
    }

    /// Lets the disk fail in several ways, each until the process is started again without it.
    fn spoil_disk(&mut self, until: Instant) -> Result<()> {
        let ways = [
            ("pwrite64", "ENOSPC", "the disk is full"),
            ("fdatasync,fsync", "EIO", "the disk fails to sync"),
            ("pwrite64", "EROFS", "the disk is read-only"),
        ];
        let mut turn = 0;
        while Instant::now() < until || turn < ways.len() {
            let (calls, error, said) = ways[turn % ways.len()];
            turn += 1;
            // late enough for it to be ready
            let first = self.random.between(40, 200);
            let around = strace::fail(calls, error, first)?;
            self.record_fault(&format!("{said}, from call {first} of {calls} on"));
            self.fleet.kill(0).or_else(|error| {
                if self.fleet.has_ended(0) {
                    Ok(())
                } else {
                    Err(error)
                }
            })?;
            // it may fail before it is ready
            self.fleet.launch(0, &around)?;
            let begun = Instant::now();
            while begun.elapsed() < DISK_TIME && !self.fleet.has_ended(0) {
                thread::sleep(Duration::from_millis(20));
            }
            self.record_fault("the disk works again");
            self.restart(0, &Surroundings::default())?;
            self.pause(500, 1_500);
        }
        Ok(())
    }

    /// Sets the clock of the process, by libfaketime, and kills it now and then.
    fn step_clock(&mut self, slot: i64, until: Instant) -> Result<()> {
        let file = self.fleet.data().join("clock");
        let library = find_faketime()?;
        let around = Surroundings {
            command: Vec::new(),
            variables: [
                ("LD_PRELOAD", library.into_os_string()),
                ("FAKETIME_TIMESTAMP_FILE", file.clone().into_os_string()),
                ("FAKETIME_CACHE_DURATION", OsString::from("1")),
                ("FAKETIME_DONT_FAKE_MONOTONIC", OsString::from("1")),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
        };
        let set = |seconds: i64| fs::write(&file, format!("{seconds:+}"));
        set(0)?;
        self.restart(0, &around)?;
        // the first two before the slot, the others after it has come
        let time = Clock::system().now().millis();
        let share = Duration::from_millis(((slot - time).max(4_000) / 4) as u64);
        for (at, seconds) in CLOCK_STEPS.iter().enumerate() {
            thread::sleep(if at < 2 { share } else { Duration::from_secs(5) });
            if at == 2 {
                while Clock::system().now().millis() < slot - 2_000 {
                    thread::sleep(Duration::from_millis(100));
                }
            }
            self.record_fault(&format!("the clock is set to {seconds:+} s"));
            set(*seconds)?;
            if at % 2 == 1 {
                self.record_fault("kill -9");
                self.restart(0, &around)?;
            }
        }
        while Instant::now() < until {
            thread::sleep(Duration::from_millis(100));
        }
        self.record_fault("the clock is the machine's again");
        self.restart(0, &Surroundings::default())
    }

    /// Puts the database back to what it was some commits ago, as a disk does that confirms before it writes.
    fn lose_commits(&mut self, until: Instant) -> Result<()> {
        let older = self.plan.folder.join("planted-bug-older");
        while Instant::now() < until {
            self.pause(2_000, 4_000);
            self.fleet.kill(0)?;
            copy_database(self.fleet.data(), &older)?;
            self.begin(0, &Surroundings::default())?;
            self.pause(2_000, 4_000);
            self.record_fault("kill -9, and the commits of the last seconds are lost");
            self.fleet.kill(0)?;
            copy_database(&older, self.fleet.data())?;
            self.begin(0, &Surroundings::default())?;
        }
        Ok(())
    }

    /// Kills the process at one system call after the other: writes, syncs and messages, sent and received.
    fn sweep_boundaries(&mut self, storage: Storage) -> Result<()> {
        let trace = self.plan.folder.join("boundaries.trace");
        self.fleet.kill(0)?;
        let around = strace::watch(&trace)?;
        self.begin(0, &around)?;
        let before = strace::count(&trace)?;
        let mut step = 0;
        self.run_script(&mut step);
        let after = strace::count(&trace)?;
        for call in strace::CALLS {
            let (first, last) = (
                before.get(call).copied().unwrap_or(0),
                after.get(call).copied().unwrap_or(0),
            );
            if last <= first {
                continue;
            }
            let points = self.plan.points.min(last - first);
            for point in 0..points {
                let number = first + 1 + point * (last - first) / points;
                self.record_fault(&format!(
                    "kill -9 at call {number} of {call} of a thread ({})",
                    storage.name()
                ));
                if !self.fleet.has_ended(0) {
                    self.fleet.kill(0)?;
                }
                self.fleet.launch(0, &strace::kill_at(call, number)?)?;
                self.run_script(&mut step);
            }
        }
        self.ensure_running()
    }

    /// One of everything that has several steps, while this thread starts the process again when it has ended.
    fn run_script(&self, step: &mut u64) {
        *step += 1;
        let (number, seed) = (*step, self.plan.seed);
        let workload = &self.workload;
        thread::scope(|scope| {
            let script = scope.spawn(move || workload.run_script(number, seed));
            while !script.is_finished() {
                if self.fleet.has_ended(0)
                    && let Err(error) = self.begin(0, &Surroundings::default())
                {
                    eprintln!("{error:#}");
                }
                thread::sleep(Duration::from_millis(10));
            }
        });
    }
}

/// Copies the files of the embedded database, and removes those that the other folder does not have.
fn copy_database(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for folder in [to, from] {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if !name.to_string_lossy().starts_with("searchwright.sqlite") {
                continue;
            }
            if folder == to {
                fs::remove_file(entry.path())?;
            } else {
                fs::copy(entry.path(), to.join(name))?;
            }
        }
    }
    Ok(())
}

/// The library that sets the clock of a program; installed where the system lacks it.
fn find_faketime() -> Result<PathBuf> {
    packages::ensure("faketime", "faketime")?;
    let listed = xtask::process::output(
        "dpkg",
        std::process::Command::new("dpkg").args(["-L", "libfaketime"]),
    )?;
    let path = listed.lines().find(|line| line.ends_with("libfaketimeMT.so.1"));
    Ok(PathBuf::from(
        path.context("the package libfaketime has no libfaketimeMT.so.1")?,
    ))
}
