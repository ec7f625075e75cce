//! Missing pages without an error status.

use serde_json::{Value, json};

use super::super::{Page, evidence::with};
use crate::{checks::url_parts::path_and_query, graph::PageFlags, page::Outcome};

/// Names of home pages in URLs.
const HOME_NAMES: [&str; 9] = [
    "",
    "index",
    "default",
    "home",
    "start",
    "main",
    "startseite",
    "accueil",
    "inicio",
];

pub(super) fn found(page: &Page<'_>) -> Option<Value> {
    if let Outcome::Redirect {
        status,
        target: Some(target),
        ..
    } = page.facts.outcome
    {
        return (target == page.context.origin.home && !names_home(&page.facts.url, page.key(target)))
            .then(|| json!({"method": "redirect", "redirectStatus": status, "target": page.key(target)}));
    }
    let html = page.facts.html_200()?;
    if !page.index().has(page.id(), PageFlags::SOFT_404) || page.is_home() {
        return None;
    }
    let seen = json!({"title": html.titles.first(), "words": html.main_words});
    Some(match page.index().like_not_found(page.id()) {
        Some(percent) => with(
            with(seen, "method", "probe"),
            "similarity",
            f64::from(percent) / 100.0,
        ),
        None => with(seen, "method", "phrase"),
    })
}

/// Whether a URL is another spelling of the home page: its file, a name for it, or its language.
fn names_home(url: &str, home: &str) -> bool {
    let path = |url| {
        let path = path_and_query(url).split('?').next();
        path.unwrap_or_default().trim_matches('/')
    };
    let (here, home) = (path(url), path(home));
    let below = here.strip_prefix(home).unwrap_or(here).trim_matches('/');
    let name = below.split('.').next().unwrap_or_default();
    let is_language = match name.as_bytes() {
        [a, b] | [a, b, b'-' | b'_', _, _] => a.is_ascii_alphabetic() && b.is_ascii_alphabetic(),
        _ => false,
    };
    is_language || HOME_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::names_home;

    #[test]
    fn other_spellings_of_the_home_page() {
        for (path, home, names_it) in [
            ("/", "/", true),
            ("", "/", true),
            ("/?p=1", "/", true),
            ("/index.html", "/", true),
            ("/Home", "/", true),
            ("/de", "/", true),
            ("/en-GB/", "/", true),
            ("/en", "/en/", true),
            ("/en/index.php?x", "/en/", true),
            ("/old", "/", false),
            ("/old/index.html", "/", false),
            ("/indexes", "/", false),
            ("/ab1", "/", false),
            ("/en/old", "/en/", false),
        ] {
            let url = |path| format!("https://www.example.com{path}");
            assert_eq!(names_home(&url(path), &url(home)), names_it, "{path} {home}");
        }
    }
}
