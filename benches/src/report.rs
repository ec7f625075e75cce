//! The figures of one run: each with its target and whether it was met.

use std::{fmt::Write, fs, path::Path};

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};

/// All figures of a run, in the order they were measured.
#[derive(Debug, Default)]
pub struct Report {
    figures: Vec<Figure>,
}

/// One measured quantity.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Name of the measurement.
    pub name: String,
    /// Unit of `baseline` and `product`.
    pub unit: &'static str,
    /// Every round of the baseline; empty for absolute figures.
    pub baseline: Vec<f64>,
    /// Every round of the product.
    pub product: Vec<f64>,
    /// Target of the measurement.
    pub target: Target,
}

/// Target of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// Product's median divided by the baseline's is at least this (more is better).
    RatioAtLeast(f64),
    /// Product's median is at least this (more is better).
    AtLeast(f64),
    /// Product's median is below this.
    Below(f64),
    /// Product's median divided by the baseline's is below this.
    RatioBelow(f64),
    /// The ratio is shown and nothing is asked of it.
    Shown,
}

impl Figure {
    /// Returns the value that the target limits: the ratio of the medians, or the product's own median.
    fn value(&self) -> Option<f64> {
        let product = median(&self.product)?;
        match self.target {
            Target::Below(_) | Target::AtLeast(_) => Some(product),
            _ => Some(product / median(&self.baseline)?),
        }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "unit": self.unit,
            "baseline": { "median": median(&self.baseline), "rounds": self.baseline },
            "product": { "median": median(&self.product), "rounds": self.product },
            "target": self.target,
            "value": self.value(),
            "passed": self.passed(),
        })
    }

    /// Whether the target is met; none when nothing was measured.
    pub fn passed(&self) -> Option<bool> {
        let value = self.value()?;
        match self.target {
            Target::RatioAtLeast(bound) | Target::AtLeast(bound) => Some(value >= bound),
            Target::Below(bound) | Target::RatioBelow(bound) => Some(value < bound),
            Target::Shown => None,
        }
    }
}

impl Report {
    /// Adds a figure and shows it at once, because a run takes minutes.
    pub fn add(&mut self, figure: Figure) {
        eprint!("{}", line(&figure));
        self.figures.push(figure);
    }

    /// False when any target was missed.
    pub fn passed(&self) -> bool {
        self.figures.iter().all(|figure| figure.passed() != Some(false))
    }

    /// All figures as text.
    pub fn table(&self) -> String {
        let mut table = format!(
            "\n{:44}{:>12}{:>12}  {:8}{:>9}{:>9}  \n",
            "measured", "baseline", "product", "unit", "value", "target"
        );
        for figure in &self.figures {
            table.push_str(&line(figure));
        }
        table
    }

    /// Writes everything, single rounds included, as JSON.
    pub fn save(&self, file: &Path) -> Result<()> {
        let figures: Vec<Value> = self.figures.iter().map(Figure::json).collect();
        Ok(fs::write(file, serde_json::to_vec_pretty(&figures)?)?)
    }
}

fn line(figure: &Figure) -> String {
    let shown = |rounds: &[f64]| median(rounds).map_or_else(|| "-".to_owned(), number);
    let (target, ratio) = match figure.target {
        Target::RatioAtLeast(bound) => (format!("≥ {bound}"), true),
        Target::RatioBelow(bound) => (format!("< {bound}"), true),
        Target::Below(bound) => (format!("< {bound}"), false),
        Target::AtLeast(bound) => (format!("≥ {bound}"), false),
        Target::Shown => (String::new(), true),
    };
    let value = if ratio {
        figure
            .value()
            .map_or_else(|| "-".to_owned(), |v| format!("{v:.2}"))
    } else {
        String::new()
    };
    let verdict = match figure.passed() {
        Some(true) => "pass",
        Some(false) => "MISS",
        None => "",
    };
    let mut line = String::new();
    let _ = writeln!(
        line,
        "{:44}{:>12}{:>12}  {:8}{value:>9}{target:>9}  {verdict}",
        figure.name,
        shown(&figure.baseline),
        shown(&figure.product),
        figure.unit,
    );
    line
}

fn number(value: f64) -> String {
    if value >= 1_000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// Middle value, or the mean of the two middle ones; none of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::{Figure, Report, Target, median};

    fn figure(baseline: &[f64], product: &[f64], target: Target) -> Figure {
        Figure {
            name: "x".into(),
            unit: "req/s",
            baseline: baseline.into(),
            product: product.into(),
            target,
        }
    }

    #[test]
    fn the_median_does_not_mind_one_bad_round() {
        assert_eq!(median(&[5.0, 1.0, 4.0, 4.5, 100.0]), Some(4.5));
        assert_eq!(median(&[1.0, 2.0]), Some(1.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn targets_are_met_or_missed() {
        let at_least = Target::RatioAtLeast(0.6);
        assert_eq!(figure(&[100.0], &[60.0], at_least).passed(), Some(true));
        assert_eq!(figure(&[100.0], &[59.9], at_least).passed(), Some(false));
        assert_eq!(figure(&[100.0], &[], at_least).passed(), None);
        assert_eq!(figure(&[], &[30.0], Target::Below(30.0)).passed(), Some(false));
        assert_eq!(
            figure(&[100.0], &[199.0], Target::RatioBelow(2.0)).passed(),
            Some(true)
        );
    }

    #[test]
    fn one_miss_fails_the_run_and_is_shown() {
        let mut report = Report::default();
        report.add(figure(&[100.0], &[61.0], Target::RatioAtLeast(0.6)));
        assert!(report.passed());
        report.add(figure(&[], &[31.0], Target::Below(30.0)));
        assert!(!report.passed());
        let table = report.table();
        assert_eq!(
            (table.matches("pass").count(), table.matches("MISS").count()),
            (1, 1),
            "{table}"
        );
    }
}
