//! `/design` in debug builds: every component of the pages at a glance.

use std::sync::Arc;

use askama::Template;
use axum::{Router, body::Body, routing::get};
use http::{Response, StatusCode};

use super::{
    chart::{self, Interval, LineChart, Point},
    page::{self, Form, Layout},
};
use crate::app::App;

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/design", get(show))
}

#[derive(Template)]
#[template(path = "design.html")]
struct DesignView {
    layout: Layout,
    line: String,
    counts: String,
    spark: String,
    bar: String,
}

async fn show() -> Response<Body> {
    let values = [61, 64, 63, 70, 0, 74, 79, 78, 84];
    let points = values.iter().enumerate().map(|(at, value)| Point {
        label: format!("2026-11-{:02}", at + 1),
        value: (*value > 0).then(|| f64::from(*value)),
        is_partial: at == 3,
        is_break: at == 7,
        interval: None,
    });
    let counts = (0..28).map(|at| {
        let value = 30.0 + f64::from((at * 37) % 23);
        Point {
            label: format!("2026-11-{:02}", at + 1),
            value: (!(9..12).contains(&at)).then_some(value),
            interval: Some(Interval {
                low: value - 9.0,
                high: value + 11.0,
            }),
            ..Point::default()
        }
    });
    let view = DesignView {
        layout: Layout::new("Design"),
        line: LineChart::of_percent("Health score of nine audits", points.collect()).svg(),
        counts: LineChart::of_counts("Mention rate with its interval", counts.collect()).svg(),
        spark: chart::sparkline(&[Some(3.0), Some(5.0), None, Some(4.0), Some(8.0)], 8.0),
        bar: chart::bar(62.0),
    };
    page::respond(StatusCode::OK, &view, Form::Own)
}
