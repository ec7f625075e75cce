//! Core Web Vitals and rendering problems, for pages measured in a browser.

use serde_json::{Value, json};

use super::{
    Category::{Images, Mobile, Performance},
    Check, Page, Test,
    evidence::{list, with},
};
use crate::{
    page::HtmlFacts,
    vitals::{Figure, Source, Vitals},
};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "cwv-lcp-poor",
        title: "Largest Contentful Paint too slow",
        needs_audit: true,
        description: "Largest Contentful Paint (LCP) is more than 2.5 seconds on phones: at the 75th percentile of field data, or in one lab test if there is no field data. Reported only for pages measured with PageSpeed Insights, which requires an API key.",
        why_it_matters: "Visitors leave before they see the content, and LCP is one of Google's page experience signals.",
        recommendation: "Load the main image or text first: speed up the server, remove render-blocking scripts and stylesheets, and serve the image at its displayed size.",
        source: "https://web.dev/articles/lcp",
        is_measured: Some(|vitals| vitals.lcp.is_some()),
        ..Check::warning(Performance, Test::Html(lcp))
    },
    Check {
        id: "cwv-inp-poor",
        title: "Interaction to Next Paint too slow",
        needs_audit: true,
        description: "Interaction to Next Paint (INP), the time until the page reacts visibly to a click, tap or key press, is more than 200 milliseconds on phones at the 75th percentile of field data. Reported only if PageSpeed Insights, which requires an API key, has field data.",
        why_it_matters: "A page that does not react seems broken, and INP is one of Google's page experience signals.",
        recommendation: "Split long tasks, and run less JavaScript on each interaction.",
        source: "https://web.dev/articles/inp",
        is_measured: Some(|vitals| vitals.inp.is_some()),
        ..Check::warning(Performance, Test::Html(inp))
    },
    Check {
        id: "cwv-cls-poor",
        title: "Cumulative Layout Shift too high",
        needs_audit: true,
        description: "Cumulative Layout Shift (CLS) is more than 0.1 on phones: at the 75th percentile of field data, or in one lab test if there is no field data. Reported only for pages measured with PageSpeed Insights, which requires an API key.",
        why_it_matters: "Visitors lose their place or tap the wrong button, and CLS is one of Google's page experience signals.",
        recommendation: "Set the size of images, videos and banners in the markup, and insert nothing above content that is already visible.",
        source: "https://web.dev/articles/cls",
        is_measured: Some(|vitals| vitals.cls.is_some()),
        ..Check::warning(Performance, Test::Html(cls))
    },
    Check {
        id: "tap-target-small",
        title: "Tap targets too small",
        needs_audit: true,
        description: "Links or buttons are smaller than 24 by 24 CSS pixels on a phone and have too little space around them (one lab test). Reported only for pages measured with PageSpeed Insights, which requires an API key.",
        why_it_matters: "Visitors tap the wrong link or button.",
        recommendation: "Make tap targets at least 24 pixels wide and high, preferably 48, or leave space between them.",
        source: "https://www.w3.org/WAI/WCAG22/Understanding/target-size-minimum.html",
        is_measured: Some(|vitals| vitals.small_targets.is_some()),
        ..Check::notice(Mobile, Test::Html(small_targets))
    },
    Check {
        id: "image-oversized-for-display",
        title: "Image oversized for display",
        needs_audit: true,
        description: "Image files have more pixels than a phone displays (one lab test). Reported only for pages measured with PageSpeed Insights, which requires an API key.",
        why_it_matters: "Visitors wait and pay for pixels that are never shown.",
        recommendation: "Offer several sizes with srcset and sizes, so that the browser loads the one that fits.",
        source: "https://developer.chrome.com/docs/performance/insights/image-delivery",
        is_measured: Some(|vitals| vitals.oversized.is_some()),
        ..Check::notice(Images, Test::Html(oversized))
    },
];

fn small_targets(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let vitals = page.index().vitals(page.id())?;
    let targets = vitals.small_targets.iter().flatten();
    let evidence = list(
        "targets",
        targets.map(|target| json!({"selector": target.selector, "html": target.html})),
    );
    by_program(evidence?, vitals)
}

fn oversized(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let vitals = page.index().vitals(page.id())?;
    let images = vitals.oversized.iter().flatten().map(|image| {
        let [file, shown] = &image.sizes;
        json!({"url": image.url, "size": file, "shown": shown, "bytes": image.bytes, "wastedBytes": image.wasted_bytes})
    });
    by_program(list("images", images)?, vitals)
}

fn by_program(evidence: Value, vitals: &Vitals) -> Option<Value> {
    let evidence = with(with(evidence, "source", "lab"), "device", "mobile");
    Some(with(evidence, "measuredAt", &*vitals.measured_at))
}

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
