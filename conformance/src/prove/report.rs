//! Report of a run, for people.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};

use super::{
    faults::{Experiment, Outcome, Plan},
    history,
    verdict::{self, INVARIANTS, Invariant, InvariantVerdict},
};

/// Faults of an invariant that are shown.
const MAX_SHOWN: usize = 5;

/// Claims of the README, and the invariants that carry them.
const CLAIMS: [(&str, &[Invariant]); 5] = [
    (
        "Nothing is published twice, not even after a lost answer or `kill -9`",
        &[Invariant::NothingTwice],
    ),
    (
        "A repeated request is carried out once",
        &[Invariant::RepeatsAreOne, Invariant::ActivityMatches],
    ),
    (
        "What was answered is durable",
        &[
            Invariant::JobsExist,
            Invariant::WritesLast,
            Invariant::JobsEnd,
            Invariant::RevokedStaysRevoked,
        ],
    ),
    (
        "Webhooks are durable, and charges are counted before they are made",
        &[Invariant::EventsArrive, Invariant::ChargesCount],
    ),
    (
        "Any number of replicas share the work, and a schedule fires once",
        &[Invariant::SlotsFireOnce, Invariant::JobsEnd],
    ),
];

/// Shows an outcome.
pub(super) fn print(outcome: &Outcome) {
    eprintln!(
        "{} on {}: {} calls, {} faults",
        outcome.experiment.name(),
        outcome.storage.name(),
        outcome.calls,
        outcome.faults
    );
    print_verdicts(&outcome.verdicts);
    if outcome.experiment == Experiment::PlantedBug {
        let found = if outcome.is_as_meant() {
            "found"
        } else {
            "NOT found"
        };
        eprintln!("  the planted bug was {found}");
    }
}

fn print_verdicts(verdicts: &[InvariantVerdict]) {
    for verdict in verdicts {
        eprintln!("  {:4} {}", verdict.invariant.number(), describe(verdict));
        for fault in verdict.faults.iter().take(MAX_SHOWN) {
            eprintln!("       {fault}");
        }
    }
}

fn describe(verdict: &InvariantVerdict) -> String {
    match (verdict.compared, verdict.faults.len()) {
        (0, 0) => "nothing to compare".to_owned(),
        (compared, 0) => format!("holds for {compared}"),
        (compared, faults) => format!("VIOLATED {faults} times, {compared} compared"),
    }
}

/// Judges a history that is there.
pub(super) fn print_check(file: &Path) -> Result<()> {
    let verdicts = verdict::judge(&history::read(file)?);
    print_verdicts(&verdicts);
    if verdicts.iter().any(|verdict| !verdict.faults.is_empty()) {
        bail!("{} violates an invariant", file.display());
    }
    Ok(())
}

/// Writes the report of a run and returns its path.
pub(super) fn write(plan: &Plan<'_>, outcomes: &[Outcome]) -> Result<PathBuf> {
    let mut text = String::from("# Proof\n\n");
    writeln!(text, "{}\n", describe_machine(plan))?;
    for (claim, invariants) in CLAIMS {
        writeln!(text, "## {claim}\n")?;
        writeln!(
            text,
            "| invariant | experiment | verdict | history |\n|---|---|---|---|"
        )?;
        for outcome in outcomes {
            for verdict in outcome
                .verdicts
                .iter()
                .filter(|verdict| invariants.contains(&verdict.invariant))
            {
                let meaning = INVARIANTS
                    .iter()
                    .find(|(invariant, _)| *invariant == verdict.invariant);
                writeln!(
                    text,
                    "| {}: {} | {} on {}, {} faults | {} | {} |",
                    verdict.invariant.number(),
                    meaning.map_or("", |(_, meaning)| meaning),
                    outcome.experiment.name(),
                    outcome.storage.name(),
                    outcome.faults,
                    describe(verdict),
                    outcome.history.file_name().unwrap_or_default().to_string_lossy(),
                )?;
            }
        }
        text.push('\n');
    }
    text.push_str("A history is judged again by `cargo xtask prove --check FILE`.\n");
    let path = plan.folder.join("report.md");
    fs::write(&path, text)?;
    Ok(path)
}

fn describe_machine(plan: &Plan<'_>) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "`cargo xtask prove --seed {} --seconds {} --points {}`, Linux {}, {cores} cores.",
        plan.seed,
        plan.time.as_secs(),
        plan.points,
        kernel.trim()
    )
}
