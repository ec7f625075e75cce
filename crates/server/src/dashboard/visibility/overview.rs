//! Overview of visibility: figures with their intervals, the trend, competitors, cited sources, and what is missing.

use askama::Template;
use http::StatusCode;
use searchwright_contract::{
    answers::{SourceClass, Surface},
    prompts::PromptClass,
    visibility::{
        CitedSource, DayCitations, GapLabel, GetOverview, Kpis, Overview, Period, Rate, TrackedBrand,
        TrendDay,
    },
};

use super::shown::{
    FigureScale, SeenFigure, SeenOption, ShareCell, VisibilityTab, class_name, engine_name, engine_options,
    gap, surface_name, tenth,
};
use crate::dashboard::{
    chart::{self, Interval, LineChart, Point},
    frame::{ProjectFrame, Section},
    page::{self, Form},
    shares::form::ShareForm,
    show,
    visit::{FilterLink, PageResult, Paging, SortColumn, Sorting, Visit},
};

/// Cited websites that the page lists.
const MAX_SOURCES: usize = 40;
/// Days in the table of figures.
const MAX_DAYS: usize = 100;

/// A step of the setup.
struct SetupRow {
    mark: (&'static str, &'static str),
    name: String,
    hint: String,
    href: String,
}

/// A day of the trend in the table of figures.
pub(super) struct TrendRow {
    pub date: String,
    pub answers: u64,
    pub mention_rate: String,
    pub citation_rate: String,
    pub pooled: ShareCell,
    pub is_break: bool,
}

/// Citations of the seven days up to a day, by the owner of the page.
struct CitationDay {
    date: String,
    /// Answers of the day itself.
    answers: u64,
    owned: u64,
    competitor: u64,
    third_party: u64,
}

impl CitationDay {
    const fn all(&self) -> u64 {
        self.owned + self.competitor + self.third_party
    }

    /// Share in percent; `None` without a citation.
    fn percent(&self, of: u64) -> Option<f64> {
        (self.all() > 0).then(|| 100.0 * of as f64 / self.all() as f64)
    }

    fn cell(&self, of: &u64) -> String {
        self.percent(*of).map_or_else(String::new, show::percent)
    }
}

/// A row of the table of tracked brands.
pub(super) struct BrandRow {
    pub brand: TrackedBrand,
    pub rate: ShareCell,
    pub bar: String,
    pub share_of_voice: Option<String>,
    pub position: Option<String>,
    pub sentiment: Option<String>,
    pub citation_share: Option<String>,
}

/// A row of the table of cited websites.
struct SourceRow {
    source: CitedSource,
    owner: (&'static str, String),
    share: String,
    bar: String,
    engines: Vec<FilterLink>,
}

/// Number of prompts of a standing.
struct GapRow {
    mark: (&'static str, &'static str),
    prompts: u64,
    href: String,
}

#[derive(Template)]
#[template(path = "visibility_overview.html")]
struct VisibilityOverviewView {
    frame: ProjectFrame,
    tabs: Vec<FilterLink>,
    periods: Vec<FilterLink>,
    period: Option<String>,
    engines: Vec<SeenOption>,
    surfaces: Vec<SeenOption>,
    classes: Vec<SeenOption>,
    tag: String,
    country: String,
    from: String,
    to: String,
    wrong: Option<String>,
    is_filtered: bool,
    overview: Overview,
    main: Vec<SeenFigure>,
    all: Vec<SeenFigure>,
    branded: Vec<SeenFigure>,
    chart: Option<LineChart>,
    days: Vec<TrendRow>,
    brands: Vec<BrandRow>,
    sources: Vec<SourceRow>,
    /// Charts of the share of citations, by the name of their owners.
    shares: Vec<(&'static str, LineChart)>,
    citations: Vec<CitationDay>,
    gaps: Vec<GapRow>,
    missing: Vec<SetupRow>,
    prompts: String,
    brand: String,
    share: Option<ShareForm>,
    /// Files of the tables.
    files: [Paging; 3],
    brand_sorts: [SortColumn; 2],
    source_sorts: [SortColumn; 3],
}

impl VisibilityOverviewView {
    fn has_answers(&self) -> bool {
        self.overview.kpis.answers > 0
    }

    fn has_competitors(&self) -> bool {
        self.overview.competitors.iter().any(|brand| !brand.is_own)
    }

    fn stability(&self) -> Option<String> {
        self.overview.source_stability.map(tenth)
    }
}

/// All figures, the ones that matter most first.
pub(super) fn figures(kpis: &Kpis) -> Vec<SeenFigure> {
    use FigureScale::{Mean, Rank, Score, Share};
    let figure = SeenFigure::new;
    vec![
        figure(
            "Visibility score",
            &kpis.visibility_score,
            Score,
            "answers",
            "Mean over engines of the mean over prompts of the share of answers that name the brand",
        ),
        figure(
            "Mention rate",
            &kpis.mention_rate,
            Share,
            "answers",
            "Answers that name the brand",
        ),
        figure(
            "Named first",
            &kpis.top_rate,
            Share,
            "mentions",
            "Mentions in which the brand comes before every competitor",
        ),
        figure(
            "Citation rate",
            &kpis.citation_rate,
            Share,
            "answers",
            "Answers that cite a page of the brand, of those whose sources can be seen",
        ),
        figure(
            "Share of voice",
            &kpis.share_of_voice,
            Share,
            "mentions",
            "Mentions of the brand among those of tracked brands",
        ),
        figure(
            "Sentiment",
            &kpis.sentiment_score,
            Score,
            "mentions",
            "Mean sentiment of answers that name the brand; 50 is neutral",
        ),
        figure(
            "Citation share",
            &kpis.citation_share,
            Share,
            "citations",
            "Citations of own pages among all citations",
        ),
        figure(
            "Citation share of voice",
            &kpis.citation_share_of_voice,
            Share,
            "citations",
            "Citations of own pages among those of own and competitors' pages",
        ),
        figure(
            "Own pages per citing answer",
            &kpis.avg_citations,
            Mean,
            "answers",
            "Cited own pages in an answer that cites any",
        ),
        figure(
            "Mean position",
            &kpis.avg_position,
            Rank,
            "mentions",
            "Rank among tracked brands, 1 is first; it varies much from answer to answer",
        ),
        figure(
            "Positive mentions",
            &kpis.positive_share,
            Share,
            "mentions",
            "Positive ones among the mentions that are not neutral",
        ),
        figure(
            "AI Overviews shown",
            &kpis.trigger_rate,
            Share,
            "searches",
            "Searches that showed an AI Overview",
        ),
    ]
}

/// Figures of the prompts that name the brand.
pub(super) fn recognition(kpis: &Kpis) -> Vec<SeenFigure> {
    let mut all = figures(kpis);
    all.retain(|figure| ["Mention rate", "Citation rate", "Sentiment"].contains(&figure.name));
    all
}

fn interval(rate: &Rate) -> Option<Interval> {
    Some(Interval {
        low: rate.ci_low? * 100.0,
        high: rate.ci_high? * 100.0,
    })
}

/// The mention rate over the period. A day without an answer is a gap, though the days before it have some.
pub(super) fn trend_chart(trend: &[TrendDay]) -> Option<LineChart> {
    let points: Vec<Point> = trend
        .iter()
        .map(|day| {
            let pooled = day.pooled_mention_rate.as_ref().filter(|_| day.answers > 0);
            Point {
                label: day.date.clone(),
                value: pooled.and_then(|rate| rate.value).map(|value| value * 100.0),
                interval: pooled.and_then(interval),
                is_break: day.basket_changed,
                ..Point::default()
            }
        })
        .collect();
    let title = "Mention rate of seven days up to each day, percent, with its interval of 95 %";
    let has_any = points.iter().any(|point| point.value.is_some());
    has_any.then(|| LineChart::of_percent(title, points))
}

fn share(value: Option<f64>) -> Option<String> {
    value.map(|value| show::percent(value * 100.0))
}

pub(super) fn trend_rows(trend: Vec<TrendDay>) -> Vec<TrendRow> {
    trend
        .into_iter()
        .rev()
        .filter(|day| day.answers > 0 || day.basket_changed)
        .take(MAX_DAYS)
        .map(|day| TrendRow {
            mention_rate: share(day.mention_rate).unwrap_or_default(),
            citation_rate: share(day.citation_rate).unwrap_or_default(),
            pooled: ShareCell::new(day.pooled_mention_rate.as_ref()),
            answers: day.answers,
            is_break: day.basket_changed,
            date: day.date,
        })
        .collect()
}

/// Citations of the seven days up to each day.
fn citation_days(trend: &[TrendDay]) -> Vec<CitationDay> {
    let windows = (0..trend.len()).map(|at| &trend[at.saturating_sub(6)..=at]);
    let days = trend.iter().zip(windows).map(|(day, window)| {
        let sum = |of: fn(&DayCitations) -> u64| window.iter().map(|day| of(&day.citations)).sum();
        CitationDay {
            date: day.date.clone(),
            answers: day.answers,
            owned: sum(|day| day.owned),
            competitor: sum(|day| day.competitor),
            third_party: sum(|day| day.third_party),
        }
    });
    days.collect()
}

/// The shares of own and of competitors' pages over the period, with one scale.
fn share_charts(days: &[CitationDay]) -> Vec<(&'static str, LineChart)> {
    let shares = |of: fn(&CitationDay) -> u64| {
        // A day without an answer is a gap, though the days before it have some.
        let points = days.iter().map(|day| Point {
            // Two charts side by side have no room for the year, which stands in the table.
            label: day.date.get(5..).unwrap_or_default().to_owned(),
            value: day.percent(of(day)).filter(|_| day.answers > 0),
            ..Point::default()
        });
        points.collect::<Vec<_>>()
    };
    let lines = [
        ("Yours", shares(|day| day.owned)),
        ("Competitors", shares(|day| day.competitor)),
    ];
    let values = lines.iter().flat_map(|(_, points)| points);
    let values: Vec<f64> = values.filter_map(|point| point.value).collect();
    if values.is_empty() {
        return Vec::new();
    }
    let largest = values.into_iter().fold(0.0, f64::max);
    let steps = [10.0, 20.0, 50.0];
    let maximum = steps.into_iter().find(|step| largest <= *step).unwrap_or(100.0);
    let charts = lines.map(|(name, points)| {
        let title = format!("{name}: share of citations of seven days up to each day, percent");
        let chart = LineChart::of_percent(title, points);
        (name, LineChart { maximum, ..chart })
    });
    charts.into()
}

/// Order of the table of brands.
fn brand_order(visit: &Visit, brands: &mut [TrackedBrand]) -> [SortColumn; 2] {
    let is_by_name = visit.parameter("brands") == Some("name");
    if is_by_name {
        brands.sort_by_cached_key(|brand| brand.name.to_lowercase());
    }
    let sorting = Sorting::new(visit, "brands", "rate", is_by_name.then_some("name")).at("#competitors");
    [
        sorting.order_by("name", "Brand", "ascending"),
        sorting.order_by_number("rate", "Named in", "descending"),
    ]
}

/// Order of the table of cited websites.
fn source_order(visit: &Visit, sources: &mut [CitedSource]) -> [SortColumn; 3] {
    let named = match visit.parameter("sources") {
        Some("name") => {
            sources.sort_by(|a, b| a.domain.cmp(&b.domain));
            Some("name")
        }
        Some("answers") => {
            sources.sort_by_key(|source| std::cmp::Reverse(source.answers));
            Some("answers")
        }
        _ => None,
    };
    let sorting = Sorting::new(visit, "sources", "share", named).at("#sources");
    [
        sorting.order_by("name", "Website", "ascending"),
        sorting.order_by_number("answers", "Answers", "descending"),
        sorting.order_by_number("share", "Share of citations", "descending"),
    ]
}

pub(super) fn brand_rows(brands: &[TrackedBrand]) -> Vec<BrandRow> {
    brands
        .iter()
        .map(|brand| BrandRow {
            rate: ShareCell::new(Some(&brand.mention_rate)),
            bar: chart::bar(brand.mention_rate.value.unwrap_or_default() * 100.0),
            share_of_voice: share(brand.share_of_voice),
            position: brand.avg_position.map(tenth),
            sentiment: brand.sentiment_score.map(tenth),
            citation_share: share(brand.citation_share),
            brand: brand.clone(),
        })
        .collect()
}

fn source_rows(visit: &Visit, sources: &[CitedSource]) -> Vec<SourceRow> {
    sources
        .iter()
        .take(MAX_SOURCES)
        .map(|source| SourceRow {
            owner: match source.class {
                SourceClass::Owned => ("good", "Yours".to_owned()),
                SourceClass::Competitor => ("error", "Competitor".to_owned()),
                SourceClass::ThirdParty => {
                    let kind = source.kind.as_deref().unwrap_or("other");
                    ("off", show::heading(kind))
                }
            },
            share: show::percent(source.share * 100.0),
            bar: chart::bar(source.share * 100.0),
            engines: source
                .engines
                .iter()
                .map(|engine| FilterLink::new(visit, "engine", Some(engine.as_str()), engine_name(*engine)))
                .collect(),
            source: source.clone(),
        })
        .collect()
}

fn gap_rows(visit: &Visit, overview: &Overview) -> Vec<GapRow> {
    let opportunities = VisibilityTab::Opportunities.address(visit);
    let counts = overview.prompt_summary.gaps.iter();
    counts
        .filter(|count| count.prompts > 0)
        .map(|count| GapRow {
            mark: gap(count.label),
            prompts: count.prompts,
            href: match count.label {
                GapLabel::Absent | GapLabel::Strong => VisibilityTab::Prompts.address(visit),
                label => format!("{opportunities}&kind={label}"),
            },
        })
        .collect()
}

/// Steps that are not done, or all while a required one is left.
fn missing(visit: &Visit, overview: &Overview) -> Vec<SetupRow> {
    let steps = &overview.setup_progress.steps;
    let is_complete = steps.iter().all(|step| step.done || !step.required);
    let shown = steps.iter().filter(|step| !(is_complete && step.done));
    shown
        .map(|step| SetupRow {
            mark: match (step.done, step.required) {
                (true, _) => ("good", "Done"),
                (false, true) => ("warning", "To do"),
                (false, false) => ("off", "Advised"),
            },
            name: show::heading(&step.key),
            hint: {
                // Calls of the API are for programs; the link leads to the form.
                let hint = step.hint.split(": PATCH ").next().unwrap_or_default();
                show::plain(hint.split(": POST ").next().unwrap_or_default())
            },
            href: match step.key.as_str() {
                "brand_profile" => visit.address("/brand"),
                "competitors" => visit.address("/brand?view=competitors"),
                "engine" => VisibilityTab::Engines.address(visit),
                _ => VisibilityTab::Prompts.address(visit),
            },
        })
        .collect()
}

fn periods(visit: &Visit, chosen: Option<Period>) -> Vec<FilterLink> {
    let links = Period::ALL.iter().map(|period| {
        let text = match period {
            Period::TwelveMonths => "12 months".to_owned(),
            days => format!("{} days", days.as_str().trim_end_matches('d')),
        };
        FilterLink {
            href: visit.with_parameters(&[("period", Some(period.as_str())), ("from", None), ("to", None)]),
            text,
            is_current: Some(*period) == chosen,
        }
    });
    links.collect()
}

/// The figures that the address asks for.
pub(super) fn listing(visit: &Visit) -> GetOverview {
    let [from, to] = ["from", "to"].map(|name| visit.parameter(name).map(|day| show::cut(day, 20)));
    let country: Option<String> = visit.parameter("country").map(|code| show::cut(code, 20));
    // Days of one's own take the place of a period.
    let is_own = from.is_some() || to.is_some();
    GetOverview {
        project_id: visit.project_id(),
        period: visit.parsed("period").filter(|_| !is_own),
        from,
        to,
        engine: visit.parsed("engine"),
        surface: visit.parsed("surface"),
        class: visit.parsed("class"),
        tag: visit.parameter("tag").map(|tag| tag.chars().take(50).collect()),
        country: country.map(|code| code.to_ascii_uppercase()),
    }
}

/// Shows the overview.
pub(super) async fn show(visit: &Visit) -> PageResult {
    let asked = listing(visit);
    let GetOverview {
        period,
        from,
        to,
        engine,
        surface,
        class,
        tag,
        ..
    } = asked.clone();
    let is_own = from.is_some() || to.is_some();
    let country = visit.parameter("country").map(|code| show::cut(code, 20));
    let (mut overview, wrong) = match visit.read(&asked).await {
        Ok(overview) => (overview, None),
        // What cannot be asked is said above the figures without it.
        Err(failure) if failure.0.status == 422 => {
            let usual = GetOverview {
                from: None,
                to: None,
                country: None,
                ..asked
            };
            (visit.read(&usual).await?, Some(page::sentence(&failure)))
        }
        Err(failure) => return Err(failure.into()),
    };
    let mut surfaces = vec![SeenOption::new("", "All ways", surface.is_none())];
    for known in Surface::ALL {
        let name = show::heading(surface_name(*known));
        surfaces.push(SeenOption::new(known.as_str(), name, surface == Some(*known)));
    }
    let chosen = class.unwrap_or(PromptClass::NonBranded);
    let classes = PromptClass::ALL
        .iter()
        .rev()
        .map(|known| SeenOption::new(known.as_str(), class_name(*known), chosen == *known));
    let brand_sorts = brand_order(visit, &mut overview.competitors);
    let source_sorts = source_order(visit, &mut overview.cited_sources);
    let citations = citation_days(&overview.trend);
    let mut main = figures(&overview.kpis);
    let all = figures(&overview.kpis);
    main.truncate(6);
    let view = VisibilityOverviewView {
        frame: visit.frame("Visibility", Section::Visibility),
        tabs: VisibilityTab::Overview.links(visit),
        periods: periods(
            visit,
            (!is_own).then(|| period.unwrap_or(Period::TwentyEightDays)),
        ),
        period: period.map(|period| period.to_string()),
        engines: engine_options(engine, "All engines"),
        surfaces,
        classes: classes.collect(),
        is_filtered: engine.is_some()
            || surface.is_some()
            || class.is_some()
            || tag.is_some()
            || country.is_some(),
        tag: tag.unwrap_or_default(),
        country: country.unwrap_or_default(),
        from: from.unwrap_or_default(),
        to: to.unwrap_or_default(),
        wrong,
        main,
        all,
        branded: overview.branded.as_ref().map(recognition).unwrap_or_default(),
        chart: trend_chart(&overview.trend),
        brands: brand_rows(&overview.competitors),
        sources: source_rows(visit, &overview.cited_sources),
        shares: share_charts(&citations),
        citations: citations
            .into_iter()
            .rev()
            .filter(|day| day.answers > 0)
            .take(MAX_DAYS)
            .collect(),
        gaps: gap_rows(visit, &overview),
        missing: missing(visit, &overview),
        prompts: VisibilityTab::Prompts.address(visit),
        brand: visit.address("/brand"),
        brand_sorts,
        source_sorts,
        files: ["days", "competitors", "sources"]
            .map(|table| Paging::of_whole(visit, &format!("/visibility/{table}.csv"))),
        share: ShareForm::of_visibility(visit, &overview.period.from, &overview.period.to),
        days: trend_rows(overview.trend.clone()),
        overview,
    };
    let status = match view.wrong {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}
