//! Core Web Vitals, where they were measured.

use serde_json::{Value, json};

use super::{Category::Performance, Check, Page, Test};
use crate::{
    page::HtmlFacts,
    vitals::{Figure, Source, Vitals},
};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "cwv-lcp-poor",
        title: "Main content appears late",
        needs_audit: true,
        description: "The largest text or image in view took more than 2.5 seconds to appear on phones (LCP; field data at the 75th percentile where there is any, else one visit in the lab). Judged only where it was measured, which needs an account.",
        why_it_matters: "Visitors leave before they see what they came for, and Google counts it among the signals of page experience.",
        recommendation: "Send the main image or text first: a fast server, no script or style in its way, an image of the size that is shown.",
        source: "https://web.dev/articles/lcp",
        ..Check::warning(Performance, Test::Html(lcp))
    },
    Check {
        id: "cwv-inp-poor",
        title: "Slow answer to clicks and keys",
        needs_audit: true,
        description: "The page took more than 200 milliseconds to show that it was clicked, tapped or typed into, at the 75th percentile of its visits on phones (INP). Judged only where there is field data, which needs an account.",
        why_it_matters: "A page that does not react seems broken, and Google counts it among the signals of page experience.",
        recommendation: "Cut long scripts into parts, and do less when something is clicked.",
        source: "https://web.dev/articles/inp",
        ..Check::warning(Performance, Test::Html(inp))
    },
    Check {
        id: "cwv-cls-poor",
        title: "Content moves while it loads",
        needs_audit: true,
        description: "Layout shifts add up to more than 0.1 on phones (CLS; field data at the 75th percentile where there is any, else one visit in the lab). Judged only where it was measured, which needs an account.",
        why_it_matters: "People lose their place or hit the wrong button, and Google counts it among the signals of page experience.",
        recommendation: "Give images, videos and banners their size in the markup, and put nothing above what is already shown.",
        source: "https://web.dev/articles/cls",
        ..Check::warning(Performance, Test::Html(cls))
    },
];

fn judge(
    page: &Page<'_>,
    of: fn(&Vitals) -> Option<Figure>,
    most: u32,
    show: fn(u32) -> (&'static str, Value),
) -> Option<Value> {
    let vitals = page.index().vitals(page.id())?;
    let figure = of(vitals).filter(|figure| figure.value > most)?;
    let (name, value) = show(figure.value);
    let (source, percentile) = match figure.source {
        Source::Field => ("field", Some(75)),
        Source::Lab => ("lab", None),
    };
    Some(json!({
        name: value, "source": source, "percentile": percentile, "device": "mobile", "measuredAt": vitals.measured_at,
    }))
}

fn lcp(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    judge(
        page,
        |vitals| vitals.lcp,
        page.thresholds().lcp_ms,
        |ms| ("ms", json!(ms)),
    )
}

fn inp(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    judge(
        page,
        |vitals| vitals.inp,
        page.thresholds().inp_ms,
        |ms| ("ms", json!(ms)),
    )
}

fn cls(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let most = page.thresholds().cls_thousandths;
    judge(
        page,
        |vitals| vitals.cls,
        most,
        |n| ("score", json!(f64::from(n) / 1000.0)),
    )
}
