//! Core Web Vitals and what a browser shows, where that was measured.

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
        title: "Main content appears late",
        needs_audit: true,
        description: "The largest text or image in view took more than 2.5 seconds to appear on phones (LCP; field data at the 75th percentile where there is any, else one visit in the lab). Judged only where it was measured, which needs an account.",
        why_it_matters: "Visitors leave before they see what they came for, and Google counts it among the signals of page experience.",
        recommendation: "Send the main image or text first: a fast server, no script or style in its way, an image of the size that is shown.",
        source: "https://web.dev/articles/lcp",
        is_measured: Some(|vitals| vitals.lcp.is_some()),
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
        is_measured: Some(|vitals| vitals.inp.is_some()),
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
        is_measured: Some(|vitals| vitals.cls.is_some()),
        ..Check::warning(Performance, Test::Html(cls))
    },
    Check {
        id: "tap-target-small",
        title: "Too small to tap",
        needs_audit: true,
        description: "Links or buttons are smaller than 24 by 24 CSS pixels on a phone and have too little room around them (one visit in the lab). Judged only where it was measured, which needs an account.",
        why_it_matters: "Fingers hit what is beside them.",
        recommendation: "Make them at least 24 pixels wide and high, better 48, or leave room between them.",
        source: "https://www.w3.org/WAI/WCAG22/Understanding/target-size-minimum.html",
        is_measured: Some(|vitals| vitals.small_targets.is_some()),
        ..Check::notice(Mobile, Test::Html(small_targets))
    },
    Check {
        id: "image-oversized-for-display",
        title: "Image larger than it is shown",
        needs_audit: true,
        description: "Image files have more pixels than a phone shows of them (one visit in the lab). Judged only where it was measured, which needs an account.",
        why_it_matters: "Visitors wait, and pay, for pixels that nobody sees.",
        recommendation: "Offer several sizes by srcset and sizes, so that the browser takes the one that fits.",
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
