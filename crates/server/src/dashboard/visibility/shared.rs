//! The overview of visibility as a share link shows it: figures with their intervals, the trend with its gaps, and competitors.

use askama::Template;
use axum::body::Body;
use http::{Response, StatusCode};
use searchwright_contract::visibility::{GetOverview, Overview, Period};
use searchwright_engine::Failure;
use searchwright_store::shares::FixedPeriod;

use super::{
    overview::{self, BrandRow, TrendRow},
    shown::{SeenFigure, gap},
};
use crate::dashboard::{
    chart::LineChart,
    shares::link::{self, SharedFrame, SharedVisit},
    show,
};

/// Brands that are listed.
const MAX_BRANDS: usize = 40;

#[derive(Template)]
#[template(path = "share_visibility.html")]
struct SharedVisibilityView {
    frame: SharedFrame,
    overview: Overview,
    is_moving: bool,
    main: Vec<SeenFigure>,
    all: Vec<SeenFigure>,
    branded: Vec<SeenFigure>,
    chart: Option<LineChart>,
    days: Vec<TrendRow>,
    brands: Vec<BrandRow>,
    gaps: Vec<((&'static str, &'static str), u64)>,
}

impl SharedVisibilityView {
    fn has_answers(&self) -> bool {
        self.overview.kpis.answers > 0
    }

    fn more_brands(&self) -> usize {
        self.overview.competitors.len().saturating_sub(self.brands.len())
    }
}

/// Shows the visibility of a period; of the last 28 days if it has none.
pub(in crate::dashboard) async fn show(
    visit: &SharedVisit,
    period: Option<&FixedPeriod>,
) -> Result<Response<Body>, Failure> {
    let overview = visit
        .read(&GetOverview {
            project_id: visit.project_id(),
            period: period.is_none().then_some(Period::TwentyEightDays),
            from: period.map(|days| days.first.clone()),
            to: period.map(|days| days.last.clone()),
            engine: None,
            surface: None,
            class: None,
            tag: None,
            country: None,
        })
        .await?;
    let mut main = overview::figures(&overview.kpis);
    main.truncate(6);
    let shown = overview.competitors.len().min(MAX_BRANDS);
    let gaps = overview.prompt_summary.gaps.iter();
    let view = SharedVisibilityView {
        frame: visit.frame("Visibility in AI assistants"),
        is_moving: period.is_none(),
        main,
        all: overview::figures(&overview.kpis),
        branded: overview
            .branded
            .as_ref()
            .map(overview::recognition)
            .unwrap_or_default(),
        chart: overview::trend_chart(&overview.trend),
        days: overview::trend_rows(overview.trend.clone()),
        brands: overview::brand_rows(&overview.competitors[..shown]),
        gaps: gaps
            .filter(|count| count.prompts > 0)
            .map(|count| (gap(count.label), count.prompts))
            .collect(),
        overview,
    };
    Ok(link::respond(StatusCode::OK, &view))
}
