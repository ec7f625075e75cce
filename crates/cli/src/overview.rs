//! The overview of visibility for a terminal: each figure with its interval, the answers behind it and its grade.

use std::io::Write;

use searchwright_contract::visibility::{Kpi, Kpis, Overview, Rate, TrackedBrand, Verdict};

use crate::output::{cells, plain};

/// Most cited websites that are shown.
const MAX_SOURCES: usize = 10;

/// Unit of a figure.
#[derive(Clone, Copy)]
enum Unit {
    /// A share, shown in percent.
    Share,
    /// A number, shown as it is.
    Number,
}

impl Unit {
    fn format(self, value: Option<f64>) -> String {
        match (self, value) {
            (_, None) => "-".to_owned(),
            (Self::Share, Some(value)) => format!("{:.1} %", value * 100.0),
            (Self::Number, Some(value)) => format!("{value:.1}"),
        }
    }
}

/// Writes an overview.
pub(crate) fn write(out: &mut impl Write, overview: &Overview) -> std::io::Result<()> {
    let period = &overview.period;
    writeln!(
        out,
        "{} to {} ({}), compared with {} to {}; {} answers\n",
        period.from,
        period.to,
        plain(&period.timezone),
        period.previous_from,
        period.previous_to,
        overview.kpis.answers
    )?;
    writeln!(
        out,
        "{}\n",
        cells(
            &["figure", "value", "95 % interval", "basis", "grade", "change"],
            rows(&overview.kpis)
        )
    )?;
    if let Some(branded) = &overview.branded {
        let [rate, position] = [&branded.mention_rate, &branded.avg_position];
        writeln!(
            out,
            "Prompts that name the brand (recognition, not visibility): mentioned in {} ({}), mean position {}\n",
            Unit::Share.format(rate.rate.value),
            basis(Unit::Share, &rate.rate),
            Unit::Number.format(position.rate.value)
        )?;
    }
    let brands = overview.competitors.iter().map(brand);
    let heads = [
        "brand",
        "mention rate",
        "95 % interval",
        "share of voice",
        "position",
        "sentiment",
    ];
    writeln!(out, "{}\n", cells(&heads, brands))?;
    if !overview.cited_sources.is_empty() {
        let sources = overview.cited_sources.iter().take(MAX_SOURCES).map(|source| {
            vec![
                plain(&source.domain),
                source.class.to_string(),
                source.answers.to_string(),
                source.citations.to_string(),
                Unit::Share.format(Some(source.share)),
            ]
        });
        let heads = ["cited website", "class", "answers", "citations", "share"];
        writeln!(out, "{}\n", cells(&heads, sources))?;
    }
    let prompts = &overview.prompt_summary;
    writeln!(
        out,
        "Prompts: {} active, {} with a mention, {} without",
        prompts.active, prompts.with_mention, prompts.never_mentioned
    )?;
    let missing = overview.setup_progress.steps.iter().filter(|step| !step.done);
    for step in missing {
        let need = if step.required { "needed" } else { "advised" };
        writeln!(out, "{need}: {}", plain(&step.hint))?;
    }
    Ok(())
}

fn rows(kpis: &Kpis) -> impl Iterator<Item = Vec<String>> {
    let all: [(&str, Unit, &Kpi); 12] = [
        (
            "visibility score (0 to 100)",
            Unit::Number,
            &kpis.visibility_score,
        ),
        ("mention rate", Unit::Share, &kpis.mention_rate),
        ("citation rate", Unit::Share, &kpis.citation_rate),
        ("citation share", Unit::Share, &kpis.citation_share),
        (
            "citation share of voice",
            Unit::Share,
            &kpis.citation_share_of_voice,
        ),
        (
            "own citations per citing answer",
            Unit::Number,
            &kpis.avg_citations,
        ),
        ("share of voice", Unit::Share, &kpis.share_of_voice),
        ("mentioned first", Unit::Share, &kpis.top_rate),
        ("mean position", Unit::Number, &kpis.avg_position),
        ("sentiment (0 to 100)", Unit::Number, &kpis.sentiment_score),
        ("positive share", Unit::Share, &kpis.positive_share),
        ("AI Overview shown", Unit::Share, &kpis.trigger_rate),
    ];
    all.map(|(name, unit, kpi)| row(name, unit, kpi)).into_iter()
}

fn row(name: &str, unit: Unit, kpi: &Kpi) -> Vec<String> {
    let Some(_) = kpi.rate.value else {
        return vec![name.to_owned(), "not measured".to_owned()];
    };
    vec![
        name.to_owned(),
        unit.format(kpi.rate.value),
        interval(unit, kpi.rate.ci_low, kpi.rate.ci_high),
        basis(unit, &kpi.rate),
        kpi.grade.to_string(),
        change(unit, kpi),
    ]
}

fn interval(unit: Unit, low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(_), Some(_)) => format!("{} to {}", unit.format(low), unit.format(high)),
        _ => "-".to_owned(),
    }
}

/// Returns the answers, mentions or citations that a figure counts.
fn basis(unit: Unit, rate: &Rate) -> String {
    match unit {
        Unit::Share => format!("{} of {}", rate.numerator, rate.denominator),
        Unit::Number => format!("{}", rate.denominator),
    }
}

fn change(unit: Unit, kpi: &Kpi) -> String {
    let points = |value: f64| match unit {
        Unit::Share => format!("{:+.1} points", value * 100.0),
        Unit::Number => format!("{value:+.1}"),
    };
    let verdict = match kpi.change.verdict {
        Verdict::Up => "up",
        Verdict::Down => "down",
        Verdict::WithinNoise => "within noise",
        Verdict::InsufficientData => "too few answers to compare",
        Verdict::ModelChanged => "another model answers",
    };
    match kpi.change.value {
        Some(value) => format!("{} ({verdict})", points(value)),
        None => verdict.to_owned(),
    }
}

fn brand(brand: &TrackedBrand) -> Vec<String> {
    let mark = if brand.is_own { " (own)" } else { "" };
    vec![
        format!("{}{mark}", plain(&brand.name)),
        Unit::Share.format(brand.mention_rate.value),
        interval(Unit::Share, brand.mention_rate.ci_low, brand.mention_rate.ci_high),
        Unit::Share.format(brand.share_of_voice),
        Unit::Number.format(brand.avg_position),
        Unit::Number.format(brand.sentiment_score),
    ]
}
