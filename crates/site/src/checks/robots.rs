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
        title: "No robots.txt",
        scope: Scope::Site,
        description: "/robots.txt answers 4xx.",
        why_it_matters: "Everything may be crawled, and nothing says where the sitemap is.",
        recommendation: "Add one, if only to name the sitemap.",
        source: CREATE,
        ..Check::notice(Sitemaps, Test::Site(missing))
    },
    Check {
        id: "robots-unavailable",
        rests_on: &[Prerequisite::Robots],
        title: "robots.txt unavailable",
        scope: Scope::Site,
        description: "/robots.txt answers 5xx, or not at all.",
        why_it_matters: "Crawlers then treat the whole site as forbidden.",
        recommendation: "Make the server answer with the file, or with 404.",
        source: RFC,
        ..Check::error(Sitemaps, Test::Site(unavailable))
    },
    Check {
        id: "robots-invalid",
        rests_on: &[Prerequisite::Robots],
        title: "Errors in robots.txt",
        scope: Scope::Site,
        description: "robots.txt has an unknown directive, a rule before any user-agent, a relative sitemap, or is an HTML page.",
        why_it_matters: "Crawlers skip such lines, and do something else than you meant.",
        recommendation: "Correct the lines named.",
        source: CREATE,
        ..Check::warning(Sitemaps, Test::Site(invalid))
    },
    Check {
        id: "robots-too-large",
        rests_on: &[Prerequisite::Robots],
        title: "robots.txt too large",
        scope: Scope::Site,
        description: "robots.txt has more than 500 KiB.",
        why_it_matters: "Crawlers ignore what lies beyond.",
        recommendation: "Merge rules with patterns.",
        source: RFC,
        ..Check::warning(Sitemaps, Test::Site(too_large))
    },
    Check {
        id: "robots-blocks-all",
        rests_on: &[Prerequisite::Robots],
        title: "robots.txt forbids everything",
        scope: Scope::Site,
        description: "robots.txt forbids the root of the site to all crawlers or to Googlebot.",
        why_it_matters: "The site vanishes from search.",
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

/// Directives that crawlers know, those that only some of them follow included.
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
    // where its server does not tell how many it has, one more than were read
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
