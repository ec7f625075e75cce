//! Small screens.

use serde_json::{Value, json};

use super::{
    Category::Mobile,
    Check, Page, Test,
    evidence::{list, none},
};
use crate::page::HtmlFacts;

const VIEWPORT: &str = "https://developer.chrome.com/docs/lighthouse/pwa/viewport";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "viewport-missing",
        needs_whole: true,
        title: "No viewport",
        description: "The page has no viewport meta, or an empty one.",
        why_it_matters: "Phones show it as if it were on a desk, much too small.",
        recommendation: "Add <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">.",
        source: VIEWPORT,
        ..Check::warning(Mobile, Test::Html(missing))
    },
    Check {
        id: "viewport-fixed",
        title: "Fixed viewport",
        description: "The viewport does not say width=device-width.",
        why_it_matters: "The page does not adapt to the width of the screen.",
        recommendation: "Use width=device-width.",
        source: VIEWPORT,
        ..Check::warning(Mobile, Test::Html(fixed))
    },
    Check {
        id: "viewport-zoom-off",
        title: "Zooming forbidden",
        description: "The viewport says user-scalable=no or a maximum-scale below 5.",
        why_it_matters: "Who cannot read small text cannot make it larger.",
        recommendation: "Remove both.",
        source: "https://dequeuniversity.com/rules/axe/latest/meta-viewport",
        ..Check::notice(Mobile, Test::Html(zoom_off))
    },
    Check {
        id: "plugin-content",
        title: "Content that needs a plugin",
        description: "The page embeds Flash, Java or Silverlight.",
        why_it_matters: "No browser of today shows it.",
        recommendation: "Replace it by HTML, video or an image.",
        source: "https://developer.chrome.com/docs/lighthouse/seo/plugins",
        ..Check::warning(Mobile, Test::Html(plugin))
    },
];

fn viewport(html: &HtmlFacts) -> Option<&str> {
    let mut metas = html
        .metas
        .iter()
        .filter(|meta| &*meta.name == "viewport")
        .map(|meta| &*meta.content);
    metas.find(|content| !content.is_empty())
}

/// A property of the viewport, lower case.
fn property(content: &str, name: &str) -> Option<String> {
    content.split([',', ';']).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case(name)
            .then(|| value.trim().to_ascii_lowercase())
    })
}

fn missing(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    viewport(html).map_or_else(none, |_| None)
}

fn fixed(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let content = viewport(html)?;
    let adapts = property(content, "width").as_deref() == Some("device-width")
        // a scale of 1 means the same
        || property(content, "initial-scale").is_some_and(|scale| scale.parse::<f32>().is_ok_and(|s| s >= 1.0)) && property(content, "width").is_none();
    (!adapts).then(|| json!({"content": content}))
}

fn zoom_off(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let content = viewport(html)?;
    let off = matches!(property(content, "user-scalable").as_deref(), Some("no" | "0"))
        || property(content, "maximum-scale")
            .is_some_and(|scale| scale.parse::<f32>().is_ok_and(|scale| scale < 5.0));
    off.then(|| json!({"content": content}))
}

fn plugin(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    list("plugins", html.plugins.iter().map(|plugin| &**plugin))
}
