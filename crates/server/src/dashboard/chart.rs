//! Charts as SVG, drawn on the server. Beside each stands a table with its figures.

use std::fmt::Write as _;

/// Width of a chart in its own units; it scales with its place.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 24.0;

/// A point of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Point {
    /// Label of the place on the horizontal axis, such as a day.
    pub label: String,
    /// Value; `None` is a gap in the line.
    pub value: Option<f64>,
    /// Lower and upper end of the interval of the value.
    pub interval: Option<Interval>,
    /// Whether the value rests on only a part of what it is about; drawn as an open dot.
    pub is_partial: bool,
    /// Whether the values before it are not comparable; drawn as a broken line across.
    pub is_break: bool,
}

/// Lower and upper end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub low: f64,
    pub high: f64,
}

/// A chart of one line.
#[derive(Clone, Debug)]
pub(crate) struct LineChart {
    /// Text for those who do not see it.
    pub title: String,
    /// Points in their order.
    pub points: Vec<Point>,
    /// Upper end of the vertical axis, which begins at zero.
    pub maximum: f64,
    /// Unit after the numbers of the vertical axis.
    pub unit: &'static str,
}

/// Text as it may stand in SVG.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

impl LineChart {
    /// Creates a chart of values from 0 to 100.
    pub fn of_percent(title: impl Into<String>, points: Vec<Point>) -> Self {
        Self {
            title: title.into(),
            points,
            maximum: 100.0,
            unit: "",
        }
    }

    /// Creates a chart whose vertical axis ends above its largest value.
    pub fn of_counts(title: impl Into<String>, points: Vec<Point>) -> Self {
        let largest = points.iter().filter_map(|point| point.value).fold(1.0, f64::max);
        let step = 10f64.powf(largest.log10().floor());
        Self {
            title: title.into(),
            points,
            maximum: (largest / step).ceil() * step,
            unit: "",
        }
    }

    fn x(&self, at: usize) -> f64 {
        let last = self.points.len().saturating_sub(1).max(1) as f64;
        let width = WIDTH - LEFT - RIGHT;
        if self.points.len() == 1 {
            LEFT + width / 2.0
        } else {
            LEFT + width * at as f64 / last
        }
    }

    fn y(&self, value: f64) -> f64 {
        let share = (value / self.maximum).clamp(0.0, 1.0);
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share)
    }

    /// Returns the ranges of points without a gap between them.
    fn runs(&self) -> Vec<std::ops::Range<usize>> {
        let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
        for (at, point) in self.points.iter().enumerate() {
            if point.value.is_none() {
                continue;
            }
            match runs.last_mut().filter(|run| run.end == at && !point.is_break) {
                Some(run) => run.end = at + 1,
                None => runs.push(at..at + 1),
            }
        }
        runs
    }

    /// Draws the chart.
    pub fn svg(&self) -> String {
        let mut svg = format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            escape(&self.title)
        );
        for part in [0.0, 0.5, 1.0] {
            let value = self.maximum * part;
            let y = self.y(value);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text class=\"axis\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
                self.unit
            );
        }
        self.draw_labels(&mut svg);
        for (at, _) in self.points.iter().enumerate().filter(|(_, point)| point.is_break) {
            let x = self.x(at);
            let _ = write!(
                svg,
                "<line class=\"break\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/>",
                HEIGHT - BOTTOM
            );
        }
        for run in self.runs() {
            self.draw_run(&mut svg, run);
        }
        svg.push_str("</svg>");
        svg
    }

    /// Writes the first and the last label, and some between that have room.
    fn draw_labels(&self, svg: &mut String) {
        let last = self.points.len().saturating_sub(1);
        let step = self.points.len().div_ceil(4).max(1);
        for (at, point) in self.points.iter().enumerate() {
            let is_shown = at == last || (at % step == 0 && last - at >= step);
            if !is_shown {
                continue;
            }
            let anchor = match at {
                0 if last > 0 => "start",
                _ if at == last && last > 0 => "end",
                _ => "middle",
            };
            let _ = write!(
                svg,
                "<text class=\"axis\" x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
                self.x(at),
                HEIGHT - 7.0,
                escape(&point.label)
            );
        }
    }

    fn draw_run(&self, svg: &mut String, run: std::ops::Range<usize>) {
        let points = &self.points[run.clone()];
        if points.iter().all(|point| point.interval.is_some()) {
            let mut edge = String::new();
            for (at, point) in run.clone().zip(points) {
                let high = point.interval.map_or(0.0, |interval| interval.high);
                let _ = write!(edge, "{:.1},{:.1} ", self.x(at), self.y(high));
            }
            for (at, point) in run.clone().zip(points).rev() {
                let low = point.interval.map_or(0.0, |interval| interval.low);
                let _ = write!(edge, "{:.1},{:.1} ", self.x(at), self.y(low));
            }
            let _ = write!(svg, "<polygon class=\"band\" points=\"{}\"/>", edge.trim_end());
        }
        // The band of a point alone has no width.
        if let [
            Point {
                interval: Some(interval),
                ..
            },
        ] = points
        {
            let (x, high, low) = (self.x(run.start), self.y(interval.high), self.y(interval.low));
            let _ = write!(
                svg,
                "<line class=\"line\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{high:.1}\" y2=\"{low:.1}\"/>"
            );
        }
        let place = |at: usize, point: &Point| (self.x(at), self.y(point.value.unwrap_or_default()));
        let line: Vec<String> = run
            .clone()
            .zip(points)
            .map(|(at, point)| {
                let (x, y) = place(at, point);
                format!("{x:.1},{y:.1}")
            })
            .collect();
        let _ = write!(svg, "<polyline class=\"line\" points=\"{}\"/>", line.join(" "));
        // Many points are a line; dots would hide it.
        if self.points.len() > 40 && points.len() > 1 {
            return;
        }
        for (at, point) in run.zip(points) {
            let (x, y) = place(at, point);
            let class = if point.is_partial { "dot part" } else { "dot" };
            let _ = write!(
                svg,
                "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"><title>{}: {}</title></circle>",
                escape(&point.label),
                (point.value.unwrap_or_default() * 10.0).round() / 10.0
            );
        }
    }
}

/// A bar of a share of 0 to 100.
pub(crate) fn bar(share: f64) -> String {
    let share = share.clamp(0.0, 100.0);
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"rest\" width=\"100\" height=\"10\" rx=\"3\"/><rect width=\"{share:.1}\" height=\"10\" rx=\"3\"/></svg>"
    )
}

/// A small line without axes.
pub(crate) fn sparkline(values: &[Option<f64>], maximum: f64) -> String {
    let last = values.len().saturating_sub(1).max(1) as f64;
    let mut parts: Vec<Vec<String>> = vec![Vec::new()];
    for (at, value) in values.iter().enumerate() {
        match value {
            Some(value) => {
                let share = (value / maximum.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
                let (x, y) = (2.0 + 96.0 * at as f64 / last, 22.0 - 20.0 * share);
                if let Some(part) = parts.last_mut() {
                    part.push(format!("{x:.1},{y:.1}"));
                }
            }
            None => parts.push(Vec::new()),
        }
    }
    let mut svg = "<svg class=\"chart spark\" viewBox=\"0 0 100 24\" preserveAspectRatio=\"none\" aria-hidden=\"true\">".to_owned();
    for part in parts.iter().filter(|part| part.len() > 1) {
        let _ = write!(svg, "<polyline class=\"line\" points=\"{}\"/>", part.join(" "));
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[Option<f64>]) -> Vec<Point> {
        let points = values.iter().enumerate().map(|(at, value)| Point {
            label: format!("day {at}"),
            value: *value,
            ..Point::default()
        });
        points.collect()
    }

    #[test]
    fn a_gap_is_drawn_as_a_gap() {
        let chart = LineChart::of_percent("Health", points(&[Some(10.0), Some(20.0), None, Some(30.0)]));
        assert_eq!(chart.svg().matches("<polyline").count(), 2);
        assert_eq!(chart.svg().matches("<circle").count(), 3);
    }

    #[test]
    fn a_break_of_the_series_parts_the_line() {
        let mut points = points(&[Some(10.0), Some(20.0), Some(30.0)]);
        points[2].is_break = true;
        let svg = LineChart::of_percent("Health", points).svg();
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert_eq!(svg.matches("class=\"break\"").count(), 1);
    }

    #[test]
    fn titles_are_text() {
        let chart = LineChart::of_percent("<script>\"", points(&[Some(1.0)]));
        assert!(chart.svg().contains("aria-label=\"&lt;script&gt;&quot;\""));
        assert!(LineChart::of_counts("n", Vec::new()).svg().ends_with("</svg>"));
    }

    #[test]
    fn the_axis_of_counts_ends_at_a_round_number() {
        assert!((LineChart::of_counts("n", points(&[Some(341.0)])).maximum - 400.0).abs() < 1e-9);
        assert!((LineChart::of_counts("n", points(&[None])).maximum - 1.0).abs() < 1e-9);
    }
}
