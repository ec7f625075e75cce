//! robots.txt itself.

use serde_json::{Value, json};
use url::Url;

use super::{
    Category::Sitemaps,
    Check, Scope, Site, Test,
    evidence::{at_least, list},
    prerequisite::Prerequisite,
};
use crate::robots::SIZE_LIMIT;

const RFC: &str = "https://www.rfc-editor.org/rfc/rfc9309.html";
const CREATE: &str = "https://developers.google.com/search/docs/crawling-indexing/robots/create-robots-txt";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "robots-missing",
        rests_on: &[Prerequisite::Robots],
        title: "Missing robots.txt",
        scope: Scope::Site,
        description: "/robots.txt returns a 4xx status other than 429.",
        why_it_matters: "Crawlers may fetch everything, and are not told where the sitemap is.",
        recommendation: "Add a robots.txt file, if only to reference the sitemap.",
        source: CREATE,
        ..Check::notice(Sitemaps, Test::Site(missing))
    },
    Check {
        id: "robots-unavailable",
        rests_on: &[Prerequisite::Robots],
        title: "robots.txt unavailable",
        scope: Scope::Site,
        description: "/robots.txt returns a 5xx status or does not respond.",
        why_it_matters: "Search engines then treat the whole site as blocked.",
        recommendation: "Make the server return the file, or 404 if there is none.",
        source: RFC,
        ..Check::error(Sitemaps, Test::Site(unavailable))
    },
    Check {
        id: "robots-invalid",
        rests_on: &[Prerequisite::Robots],
        title: "Invalid robots.txt",
        scope: Scope::Site,
        description: "robots.txt is an HTML page, or has an unknown directive, a line without a colon, a rule before any user-agent, a path that does not start with /, * or $, or a sitemap URL that is not absolute.",
        why_it_matters: "Crawlers ignore these lines, so URLs may be crawled or blocked by mistake.",
        recommendation: "Correct the lines named in the evidence.",
        source: CREATE,
        ..Check::warning(Sitemaps, Test::Site(invalid))
    },
    Check {
        id: "robots-too-large",
        rests_on: &[Prerequisite::Robots],
        title: "robots.txt too large",
        scope: Scope::Site,
        description: "robots.txt is larger than 500 KiB.",
        why_it_matters: "Crawlers ignore everything beyond that size.",
        recommendation: "Combine rules with wildcards.",
        source: RFC,
        ..Check::warning(Sitemaps, Test::Site(too_large))
    },
    Check {
        id: "robots-blocks-all",
        rests_on: &[Prerequisite::Robots],
        title: "robots.txt blocks the whole site",
        scope: Scope::Site,
        description: "robots.txt blocks all crawlers, or Googlebot, from the root of the site.",
        why_it_matters: "The site disappears from search results.",
        recommendation: "Remove \"Disallow: /\".",
        source: CREATE,
        ..Check::error(Sitemaps, Test::Site(blocks_all))
    },
];

fn missing(site: &Site<'_>) -> Option<Value> {
    let status = site
        .origin()
        .robots
        .status
        .filter(|status| (400..500).contains(status) && *status != 429)?;
    Some(json!({"status": status}))
}

fn unavailable(site: &Site<'_>) -> Option<Value> {
    let robots = &site.origin().robots;
    match robots.status {
        Some(status) if status >= 500 => Some(json!({"status": status})),
        None if robots.error.is_some() => Some(json!({"status": Value::Null, "errorKind": robots.error})),
        _ => None,
    }
}

/// Directives that crawlers know, including those that only some of them follow.
const KNOWN: [&str; 13] = [
    "user-agent",
    "allow",
    "disallow",
    "sitemap",
    "crawl-delay",
    "host",
    "clean-param",
    "request-rate",
    "visit-time",
    "noindex",
    "content-signal",
    "content-usage",
    "unavailable-after",
];

fn invalid(site: &Site<'_>) -> Option<Value> {
    let robots = &site.origin().robots;
    if robots.status != Some(200) {
        return None;
    }
    let text = robots.text.trim_start_matches('\u{feff}');
    let start = text
        .trim_start()
        .get(..9)
        .unwrap_or_default()
        .to_ascii_lowercase();
    if start.starts_with("<!doctype") || start.starts_with("<html") {
        return Some(
            json!({"lines": [{"line": 1, "text": searchwright_text::cut(text.trim(), 80), "problem": "html"}], "total": 1}),
        );
    }
    let mut agent = false;
    let problems = text.lines().enumerate().filter_map(|(i, line)| {
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            return None;
        }
        let (name, value) = content
            .split_once(':')
            .map_or((content, None), |(name, value)| (name.trim(), Some(value.trim())));
        let name = name.to_ascii_lowercase();
        let problem = match (name.as_str(), value) {
            (_, None) => "no colon",
            ("user-agent", Some(_)) => {
                agent = true;
                return None;
            }
            ("allow" | "disallow", Some(_)) if !agent => "rule before user-agent",
            ("allow" | "disallow", Some(value))
                if !value.is_empty() && !value.starts_with(['/', '*', '$']) =>
            {
                "path without slash"
            }
            ("sitemap", Some(value)) if Url::parse(value).is_err() => "relative sitemap",
            (name, Some(_)) if !KNOWN.contains(&name) => "unknown directive",
            _ => return None,
        };
        Some(json!({"line": i + 1, "text": searchwright_text::cut(line.trim(), 200), "problem": problem}))
    });
    list("lines", problems)
}

fn too_large(site: &Site<'_>) -> Option<Value> {
    let bytes = site.origin().robots.bytes;
    // one byte more than was read means that the server did not send the size
    let is_cut = bytes == SIZE_LIMIT as u64 + 1;
    (bytes > SIZE_LIMIT as u64).then(|| at_least(json!({"bytes": bytes}), is_cut))
}

fn blocks_all(site: &Site<'_>) -> Option<Value> {
    let robots = crate::robots::Robots::parse(&site.origin().robots.text);
    let everybody = robots.agent("*");
    let by_name = [("*", &everybody), ("Googlebot", &site.context.googlebot)];
    let blocked = by_name
        .into_iter()
        .filter_map(|(name, agent)| Some((name, agent.forbids("/")?)));
    list(
        "rules",
        blocked.map(|(name, rule)| json!({"userAgent": name, "rule": rule.to_string(), "line": rule.line})),
    )
}
