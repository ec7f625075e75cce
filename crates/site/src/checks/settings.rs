//! Settings of a project: thresholds and severities.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Check, RULESET_VERSION, Severity, find, registry};
use crate::thresholds::{Threshold, Thresholds};

/// Prefix of the name of a severity: `severity.CHECK_ID`.
const SEVERITY: &str = "severity.";

/// Pairs of thresholds of which the first must not exceed the second.
const IN_ORDER: [[&str; 2]; 3] = [
    ["title-min", "title-max"],
    ["description-min", "description-max"],
    ["answer-min-words", "answer-max-words"],
];

/// Major, minor and patch number of a ruleset.
pub(super) type Version = [u32; 3];

/// Parses a version; an invalid part counts as 0.
fn version(text: &str) -> Version {
    let mut numbers = text.split('.').map(|number| number.parse().unwrap_or(0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}

/// Severity of a check for a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Breaks something.
    Error,
    /// Costs something.
    Warning,
    /// Worth knowing.
    Notice,
    /// The check is not evaluated.
    Off,
}

impl Level {
    const fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Notice => Some(Severity::Notice),
            Self::Off => None,
        }
    }
}

impl From<Severity> for Level {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Notice => Self::Notice,
        }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
            Self::Off => "off",
        })
    }
}

impl std::str::FromStr for Level {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "error" => Ok(Self::Error),
            "warning" => Ok(Self::Warning),
            "notice" => Ok(Self::Notice),
            "off" => Ok(Self::Off),
            _ => Err("is not one of error, warning, notice, off"),
        }
    }
}

/// Stored settings of a project. Names that this version does not know have no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Values by name of the threshold.
    pub thresholds: BTreeMap<String, u64>,
    /// Severities by id of the check.
    pub severities: BTreeMap<String, Level>,
}

impl Settings {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.thresholds.is_empty() && self.severities.is_empty()
    }

    /// Sets `title-min` to `20`, or `severity.title-short` to `off`. The error is a sentence with the name and the
    /// value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if let Some(id) = name.strip_prefix(SEVERITY) {
            let level = value.parse().map_err(|e| format!("{name}: {value:?} {e}"))?;
            self.severities.insert(check(id)?.id.to_owned(), level);
            return Ok(());
        }
        let known = threshold(name)?;
        let number = value.parse().ok();
        let number = number.filter(|n| (known.least..=known.most).contains(n));
        let number = number.ok_or_else(|| {
            let Threshold {
                least, most, unit, ..
            } = known;
            format!("{name}: {value:?} is not valid; use a whole number of {unit} from {least} to {most}")
        })?;
        self.thresholds.insert(known.name(), number);
        Ok(())
    }

    /// Resets a setting to the default of the catalogue.
    pub fn reset(&mut self, name: &str) -> Result<(), String> {
        match name.strip_prefix(SEVERITY) {
            Some(id) => drop(self.severities.remove(check(id)?.id)),
            None => drop(self.thresholds.remove(&threshold(name)?.name())),
        }
        Ok(())
    }

    /// Checks that the settings are consistent with each other.
    pub fn check(&self) -> Result<(), String> {
        let thresholds = self.rules().thresholds;
        let value = |name| Threshold::find(name).map(|threshold| thresholds.get(threshold));
        for [less, more] in IN_ORDER {
            let (Some(low), Some(high)) = (value(less), value(more)) else {
                continue;
            };
            if low > high {
                return Err(format!("{less} ({low}) must not be larger than {more} ({high})"));
            }
        }
        Ok(())
    }

    /// Returns the rules for audits.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::default();
        for (name, value) in &self.thresholds {
            if let Some(threshold) = Threshold::find(name) {
                rules.thresholds.set(threshold, *value);
            }
        }
        for (id, level) in &self.severities {
            if let Some(check) = find(id)
                && *level != check.severity.into()
            {
                rules.levels.insert(check.id, *level);
            }
        }
        rules
            .checks
            .retain(|check| rules.levels.get(check.id) != Some(&Level::Off));
        rules
    }
}

fn check(id: &str) -> Result<&'static Check, String> {
    find(id).ok_or_else(|| format!("{SEVERITY}{id}: no check has this id; see docs/checks.md"))
}

fn threshold(name: &str) -> Result<&'static Threshold, String> {
    Threshold::find(name).ok_or_else(|| {
        let all: Vec<String> = Thresholds::ALL.iter().map(Threshold::name).collect();
        format!("{name:?} is not one of {}, {SEVERITY}CHECK_ID", all.join(", "))
    })
}

/// The catalogue with the settings of a project applied.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Thresholds of the conditions.
    pub thresholds: Thresholds,
    pub(super) checks: Vec<&'static Check>,
    /// Severities that differ from the catalogue.
    levels: BTreeMap<&'static str, Level>,
    version: Version,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            thresholds: Thresholds::default(),
            checks: registry().iter().collect(),
            levels: BTreeMap::new(),
            version: version(RULESET_VERSION),
        }
    }
}

impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        self.thresholds == other.thresholds && self.levels == other.levels
    }
}

impl Rules {
    /// Whether a check is not evaluated.
    pub fn is_off(&self, check: &Check) -> bool {
        self.levels.get(check.id) == Some(&Level::Off)
    }

    /// Returns the usual severity of a check; for a disabled check, that of the catalogue.
    pub fn severity(&self, check: &Check) -> Severity {
        self.own_severity(check).unwrap_or(check.severity)
    }

    /// Returns the severity of one finding. A severity set by the project applies to all findings of a check.
    pub fn severity_of(&self, check: &Check, evidence: &Value) -> Severity {
        let by_degree = || Some(check.degree?(evidence, &self.thresholds));
        let own = self.own_severity(check).or_else(by_degree);
        own.unwrap_or(check.severity)
    }

    /// Returns the severity of one finding by its stored evidence (JSON text), which is parsed only if needed.
    pub fn severity_by(&self, check: &Check, evidence: &str) -> Severity {
        if !check.has_degrees() {
            return self.severity(check);
        }
        let evidence = serde_json::from_str(evidence).unwrap_or_default();
        self.severity_of(check, &evidence)
    }

    fn own_severity(&self, check: &Check) -> Option<Severity> {
        self.levels.get(check.id).and_then(|level| level.severity())
    }

    /// Whether a finding of this severity counts for the health score.
    pub fn is_scored(&self, check: &Check, severity: Severity) -> bool {
        let was_notice = check.severity == Severity::Notice && !check.never_scored;
        severity != Severity::Notice && (check.scored || was_notice)
    }

    /// Returns the rules with another version of the ruleset.
    #[must_use]
    pub fn of_version(mut self, text: &str) -> Self {
        self.version = version(text);
        self
    }

    /// Whether the condition of a check differs from before, or one of its thresholds.
    pub fn differ(&self, before: &Self, check: &Check) -> bool {
        self.is_changed(before, check) || self.has_other_numbers(before, check)
    }

    pub(super) fn is_changed(&self, before: &Self, check: &Check) -> bool {
        before.version < check.changed_in && check.changed_in <= self.version
    }

    fn has_other_numbers(&self, before: &Self, check: &Check) -> bool {
        // thresholds of severity do not decide whether there is a problem
        let conditions = Thresholds::ALL.iter().filter(|threshold| threshold.is_condition);
        conditions.into_iter().any(|threshold| {
            self.thresholds.get(threshold) != before.thresholds.get(threshold)
                && threshold.checks.contains(&check.id)
        })
    }

    /// Returns the condition of a check, with the thresholds that differ from the catalogue.
    pub fn description(&self, check: &Check) -> String {
        let mut text = check.description.to_owned();
        for threshold in Thresholds::ALL {
            let value = self.thresholds.get(threshold);
            if value != threshold.default && threshold.checks.contains(&check.id) {
                let (name, unit) = (threshold.name(), threshold.unit);
                let _ = write!(
                    text,
                    " In this project, {name} is {value} {unit} (default: {}).",
                    threshold.default
                );
            }
        }
        text
    }
}
