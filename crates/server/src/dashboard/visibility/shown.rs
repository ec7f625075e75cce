//! Words and numbers of the pages of visibility, and the tabs above them.

use askama::Template;
use http::StatusCode;
use searchwright_contract::{
    answers::{Engine, Sentiment, Surface},
    prompts::PromptClass,
    visibility::{GapLabel, Grade, Kpi, KpiChange, Rate, Verdict},
};

use crate::dashboard::{
    show,
    visit::{FilterLink, SentForm, Visit},
};

/// Tab of the page of visibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VisibilityTab {
    Overview,
    Prompts,
    Opportunities,
    Names,
    Engines,
    Runs,
    Reports,
}

impl VisibilityTab {
    const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::Overview, "", "Overview"),
        (Self::Prompts, "prompts", "Prompts"),
        (Self::Opportunities, "opportunities", "Opportunities"),
        (Self::Names, "names", "Names"),
        (Self::Engines, "engines", "Engines"),
        (Self::Runs, "runs", "Runs"),
        (Self::Reports, "reports", "Reports"),
    ];

    /// Returns the tab that the address names; the overview if it names none.
    pub fn from_address(visit: &Visit) -> Self {
        let named = visit.parameter("view").unwrap_or_default();
        let found = Self::ALL.iter().find(|(_, word, _)| *word == named);
        found.map_or(Self::Overview, |(tab, _, _)| *tab)
    }

    /// Address of the tab, without filters.
    pub fn address(self, visit: &Visit) -> String {
        let found = Self::ALL.iter().find(|(tab, _, _)| *tab == self);
        match found.map_or("", |(_, word, _)| *word) {
            "" => visit.address("/visibility"),
            word => visit.address(&format!("/visibility?view={word}")),
        }
    }

    /// Links to all tabs.
    pub fn links(self, visit: &Visit) -> Vec<FilterLink> {
        let links = Self::ALL.iter().map(|(tab, _, text)| FilterLink {
            href: tab.address(visit),
            text: (*text).to_owned(),
            is_current: *tab == self,
        });
        links.collect()
    }
}

/// A form that was refused: the page is shown again with the reason and with what was typed.
pub(super) struct RefusedForm<'a> {
    pub status: StatusCode,
    pub text: String,
    pub sent: &'a SentForm,
}

impl RefusedForm<'_> {
    /// Status of the page.
    pub fn status(refused: Option<&Self>) -> StatusCode {
        refused.map_or(StatusCode::OK, |refused| refused.status)
    }

    /// Reason.
    pub fn reason(refused: Option<&Self>) -> Option<String> {
        refused.map(|refused| refused.text.clone())
    }

    /// Typed value of a field.
    pub fn typed(refused: Option<&Self>, name: &str) -> String {
        refused.map_or_else(String::new, |refused| refused.sent.form.get(name).to_owned())
    }

    /// Whether a value of a field with several was chosen.
    pub fn has(refused: Option<&Self>, name: &str, value: &str) -> bool {
        refused.is_some_and(|refused| refused.sent.form.all(name).any(|chosen| chosen == value))
    }
}

/// A value that can be chosen.
pub(super) struct SeenOption {
    pub value: String,
    pub text: String,
    pub is_selected: bool,
}

impl SeenOption {
    pub fn new(value: impl Into<String>, text: impl Into<String>, is_selected: bool) -> Self {
        Self {
            value: value.into(),
            text: text.into(),
            is_selected,
        }
    }
}

/// Name of an engine.
pub(super) const fn engine_name(engine: Engine) -> &'static str {
    match engine {
        Engine::Chatgpt => "ChatGPT",
        Engine::Claude => "Claude",
        Engine::Gemini => "Gemini",
        Engine::Perplexity => "Perplexity",
        Engine::GoogleAiOverview => "Google AI Overviews",
        Engine::GoogleAiMode => "Google AI Mode",
        Engine::Copilot => "Copilot",
        Engine::Grok => "Grok",
        Engine::Mistral => "Le Chat",
        Engine::Deepseek => "DeepSeek",
        Engine::MetaAi => "Meta AI",
        Engine::Custom => "Other model",
    }
}

/// Names of engines.
pub(super) fn engine_names(engines: &[Engine]) -> String {
    let names: Vec<&str> = engines.iter().map(|engine| engine_name(*engine)).collect();
    names.join(", ")
}

/// Choices of an engine; the first is all of them.
pub(super) fn engine_options(chosen: Option<Engine>, all: &str) -> Vec<SeenOption> {
    let mut options = vec![SeenOption::new("", all, chosen.is_none())];
    for engine in Engine::ALL {
        let is_chosen = chosen == Some(*engine);
        options.push(SeenOption::new(engine.as_str(), engine_name(*engine), is_chosen));
    }
    options
}

/// Name of a way by which answers are obtained.
pub(super) const fn surface_name(surface: Surface) -> &'static str {
    match surface {
        Surface::Api => "API",
        Surface::Serp => "search results",
        Surface::ConsumerUi => "app",
        Surface::Manual => "copied by hand",
    }
}

/// Name of a class of prompts.
pub(super) const fn class_name(class: PromptClass) -> &'static str {
    match class {
        PromptClass::Branded => "Names your brand",
        PromptClass::CompetitorBranded => "Names a competitor",
        PromptClass::NonBranded => "Names no brand",
    }
}

/// Standing of the brand, with the class of its mark.
pub(super) const fn gap(label: GapLabel) -> (&'static str, &'static str) {
    match label {
        GapLabel::CompetitorOnly => ("error", "Only competitors named"),
        GapLabel::CitedNotMentioned => ("warning", "Cited, not named"),
        GapLabel::MentionedNotCited => ("warning", "Named, not cited"),
        GapLabel::Absent => ("off", "Nobody named"),
        GapLabel::Strong => ("good", "Named and cited"),
    }
}

/// Sentiment, in a word.
pub(super) const fn sentiment(sentiment: Sentiment) -> &'static str {
    match sentiment {
        Sentiment::Negative => "negative",
        Sentiment::Neutral => "neutral",
        Sentiment::Positive => "positive",
        Sentiment::Mixed => "mixed",
    }
}

/// A number with at most one decimal.
pub(super) fn tenth(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // Without the sign of a zero.
    format!("{}", rounded + 0.0)
}

/// A cost in US dollars.
pub(super) fn dollars(value: f64) -> String {
    match value {
        0.0 => "$0".to_owned(),
        ..0.01 => format!("${value:.4}"),
        _ => format!("${value:.2}"),
    }
}

/// A share with its interval and the answers behind it, for a cell of a table.
#[derive(Debug, Default)]
pub(super) struct ShareCell {
    /// The share; `None` if it was not measured.
    pub value: Option<String>,
    /// Interval and answers.
    pub note: String,
}

impl ShareCell {
    /// Creates the cell of a rate; `None` is not measured.
    pub fn new(rate: Option<&Rate>) -> Self {
        let Some((rate, value)) = rate.and_then(|rate| Some((rate, rate.value?))) else {
            return Self::default();
        };
        let interval = match (rate.ci_low, rate.ci_high) {
            (Some(low), Some(high)) => format!("{:.0} to {:.0}\u{202f}%, ", low * 100.0, high * 100.0),
            _ => String::new(),
        };
        Self {
            value: Some(show::percent(value * 100.0)),
            note: format!(
                "{interval}{} of {}",
                tenth(rate.numerator),
                tenth(rate.denominator)
            ),
        }
    }
}

/// Form in which a figure is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FigureScale {
    /// Share, 0 to 1, as percent.
    Share,
    /// Score, 0 to 100.
    Score,
    /// Number without a unit. Less is better.
    Rank,
    /// Number without a unit.
    Mean,
}

impl FigureScale {
    const fn factor(self) -> f64 {
        match self {
            Self::Share => 100.0,
            _ => 1.0,
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Self::Share => "%",
            Self::Score => "of 100",
            Self::Rank | Self::Mean => "",
        }
    }

    fn points(self, value: f64) -> String {
        let size = tenth(value.abs() * self.factor());
        let sign = match value {
            _ if size == "0" => "",
            ..0.0 => "\u{2212}",
            _ => "+",
        };
        match self {
            Self::Share | Self::Score => format!("{sign}{size} points"),
            Self::Rank | Self::Mean => format!("{sign}{size}"),
        }
    }
}

/// A figure as it is shown.
#[derive(Template)]
#[template(path = "visibility_figure.html")]
pub(super) struct SeenFigure {
    pub name: &'static str,
    /// Definition.
    pub means: &'static str,
    pub formula: String,
    pub value: Option<String>,
    pub unit: &'static str,
    pub interval: String,
    /// Basis of the figure.
    pub basis: String,
    pub independent: String,
    pub grade: (&'static str, &'static str),
    pub change: (&'static str, String),
}

impl SeenFigure {
    /// Creates a figure; `of` is what its denominator counts.
    pub fn new(name: &'static str, kpi: &Kpi, scale: FigureScale, of: &str, means: &'static str) -> Self {
        let rate = &kpi.rate;
        let shown = |value: f64| tenth(value * scale.factor());
        let interval = match (rate.ci_low, rate.ci_high) {
            (Some(low), Some(high)) => format!("{} to {}", shown(low), shown(high)),
            _ => "no interval".to_owned(),
        };
        let basis = match scale {
            FigureScale::Share => format!("{} of {} {of}", tenth(rate.numerator), tenth(rate.denominator)),
            _ => format!("over {} {of}", tenth(rate.denominator)),
        };
        Self {
            name,
            means,
            formula: kpi.formula.clone(),
            value: rate.value.map(shown),
            unit: scale.unit(),
            interval,
            basis,
            independent: rate.n_eff.map_or_else(String::new, tenth),
            grade: grade(kpi.grade),
            change: change(&kpi.change, scale),
        }
    }
}

const fn grade(grade: Grade) -> (&'static str, &'static str) {
    match grade {
        Grade::Good => ("good", "Good certainty"),
        Grade::Fair => ("good", "Fair certainty"),
        Grade::Weak => ("warning", "Weak certainty"),
        Grade::Thin => ("warning", "Thin evidence"),
    }
}

fn change(change: &KpiChange, scale: FigureScale) -> (&'static str, String) {
    let (better, worse) = match scale {
        FigureScale::Rank => ("error", "good"),
        _ => ("good", "error"),
    };
    let Some(value) = change.value else {
        let why = match change.verdict {
            Verdict::ModelChanged => "Another model answers now: not comparable",
            _ => "Nothing to compare with",
        };
        return ("off", why.to_owned());
    };
    let points = scale.points(value);
    let interval = match (change.ci_low, change.ci_high) {
        (Some(low), Some(high)) => {
            let factor = scale.factor();
            format!(" ({} to {})", signed(low * factor), signed(high * factor))
        }
        _ => String::new(),
    };
    match change.verdict {
        Verdict::Up => (better, format!("Up {points}{interval}")),
        Verdict::Down => (worse, format!("Down {points}{interval}")),
        Verdict::WithinNoise => ("off", format!("{points}, within noise{interval}")),
        Verdict::InsufficientData => ("off", format!("{points}, too few answers to say")),
        Verdict::ModelChanged => ("off", "Another model answers now: not comparable".to_owned()),
    }
}

fn signed(value: f64) -> String {
    let text = tenth(value);
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use searchwright_contract::visibility::IntervalMethod;

    use super::*;

    fn kpi(value: Option<f64>, change: Option<f64>, verdict: Verdict) -> Kpi {
        Kpi {
            rate: Rate {
                value,
                numerator: 18.0,
                denominator: 40.0,
                ci_low: value.map(|_| 0.1995),
                ci_high: value.map(|_| 0.7288),
                n_eff: Some(9.77),
                method: IntervalMethod::WilsonClustered,
            },
            formula: "mention-rate-v1".to_owned(),
            grade: Grade::Thin,
            change: KpiChange {
                value: change,
                ci_low: change.map(|_| 0.0614),
                ci_high: change.map(|_| 0.3281),
                verdict,
            },
        }
    }

    #[test]
    fn figures_are_shown_with_interval_basis_and_verdict() {
        let shown = SeenFigure::new(
            "Mention rate",
            &kpi(Some(0.45), Some(0.2), Verdict::Up),
            FigureScale::Share,
            "answers",
            "",
        );
        assert_eq!(shown.value.as_deref(), Some("45"));
        assert_eq!(shown.interval, "20 to 72.9");
        assert_eq!(shown.basis, "18 of 40 answers");
        assert_eq!(shown.change, ("good", "Up +20 points (6.1 to 32.8)".to_owned()));
    }

    #[test]
    fn nothing_measured_is_no_zero() {
        let shown = SeenFigure::new(
            "Mention rate",
            &kpi(None, None, Verdict::InsufficientData),
            FigureScale::Share,
            "answers",
            "",
        );
        assert!(shown.value.is_none());
        let html = shown.render().unwrap();
        assert!(
            html.contains("not measured") && !html.contains("18 of 40"),
            "{html}"
        );
        assert!(ShareCell::new(None).value.is_none());
    }

    #[test]
    fn a_higher_rank_is_worse() {
        let shown = change(&kpi(Some(2.0), Some(0.5), Verdict::Up).change, FigureScale::Rank);
        assert_eq!(shown.0, "error");
        assert_eq!(tenth(-0.01), "0");
        assert_eq!(dollars(0.0012), "$0.0012");
        assert_eq!(dollars(1.5), "$1.50");
    }
}
