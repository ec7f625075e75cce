//! Small screens.

use serde_json::{Value, json};

use super::{
    Category::Mobile,
    Check, Page, Test,
    evidence::{list, none},
};
use crate::page::{HtmlFacts, cut};

const VIEWPORT: &str = "https://developer.chrome.com/docs/lighthouse/pwa/viewport";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "viewport-missing",
        needs_whole: true,
        title: "Missing viewport meta tag",
        description: "The page has no viewport meta tag, or an empty one.",
        why_it_matters: "Phones render the page at desktop width, with text too small to read.",
        recommendation: "Add <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">.",
        source: VIEWPORT,
        ..Check::warning(Mobile, Test::Html(missing))
    },
    Check {
        id: "viewport-fixed",
        title: "Fixed viewport width",
        description: "The viewport meta tag does not set width=device-width.",
        why_it_matters: "The page does not adapt to the width of the screen.",
        recommendation: "Use width=device-width.",
        source: VIEWPORT,
        changed_in: [2, 0, 0],
        ..Check::warning(Mobile, Test::Html(fixed))
    },
    Check {
        id: "viewport-zoom-off",
        title: "Zooming disabled",
        description: "The viewport meta tag sets user-scalable=no or a maximum-scale below 5.",
        why_it_matters: "Visitors who cannot read small text cannot enlarge it.",
        recommendation: "Remove user-scalable and maximum-scale.",
        source: "https://dequeuniversity.com/rules/axe/latest/meta-viewport",
        changed_in: [2, 0, 0],
        ..Check::notice(Mobile, Test::Html(zoom_off))
    },
    Check {
        id: "plugin-content",
        title: "Content that requires a plugin",
        description: "The page embeds Flash, Java or Silverlight.",
        why_it_matters: "Current browsers do not show it.",
        recommendation: "Replace it with HTML, video or an image.",
        source: "https://developer.chrome.com/docs/lighthouse/seo/plugins",
        reads: cut::RESOURCES,
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

/// Returns the properties of a viewport, separated by commas, semicolons or white space as in browsers.
fn properties(content: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | ';');
    let mut rest = content;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c| parts(c) || c == '=');
        let (key, after) = rest.split_at(rest.find(|c| parts(c) || c == '=')?);
        let Some(value) = after.trim_ascii_start().strip_prefix('=') else {
            rest = after;
            return Some((key, ""));
        };
        let value = value.trim_ascii_start();
        let end = value.find(parts).unwrap_or(value.len());
        rest = &value[end..];
        Some((key, &value[..end]))
    })
}

/// Returns a property of the viewport in lower case; the last one counts if it repeats.
fn property(content: &str, name: &str) -> Option<String> {
    let values = properties(content).filter(|(key, _)| key.eq_ignore_ascii_case(name));
    values.last().map(|(_, value)| value.to_ascii_lowercase())
}

fn missing(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    viewport(html).map_or_else(none, |_| None)
}

fn fixed(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let content = viewport(html)?;
    let adapts = property(content, "width").as_deref() == Some("device-width")
        // a scale of 1 has the same effect
        || property(content, "initial-scale").is_some_and(|scale| scale.parse::<f32>().is_ok_and(|s| s >= 1.0)) && property(content, "width").is_none();
    (!adapts).then(|| json!({"content": content}))
}

fn zoom_off(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let content = viewport(html)?;
    let least = page.thresholds().zoom_min as f32;
    let off = matches!(property(content, "user-scalable").as_deref(), Some("no" | "0"))
        || property(content, "maximum-scale")
            .is_some_and(|scale| scale.parse::<f32>().is_ok_and(|scale| scale < least));
    off.then(|| json!({"content": content}))
}

fn plugin(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    list("plugins", html.plugins.iter().map(|plugin| &**plugin))
}

#[cfg(test)]
mod tests {
    use super::properties;

    #[test]
    fn properties_are_parted_as_browsers_do() {
        for content in [
            "width=device-width, initial-scale=1",
            "width=device-width initial-scale=1",
            " width = device-width;initial-scale =1,",
            "width=device-width\n,;initial-scale= 1",
        ] {
            let found: Vec<_> = properties(content).collect();
            assert_eq!(
                found,
                [("width", "device-width"), ("initial-scale", "1")],
                "{content}"
            );
        }
        assert_eq!(properties("= minimal-ui, x=").last(), Some(("x", "")));
        assert_eq!(properties(" ,= ").count(), 0);
    }
}
