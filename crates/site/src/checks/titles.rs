//! Titles and descriptions, which search results show.

use searchwright_text as text;
use serde_json::{Value, json};

use super::{
    Category::Titles,
    Check, Page, Scope, Test,
    content::group,
    evidence::{list, none, text as evidence_text},
    url_parts::{host, registrable},
};
use crate::{graph::Same, page::HtmlFacts};

const TITLE: &str = "https://developers.google.com/search/docs/appearance/title-link";
const SNIPPET: &str = "https://developers.google.com/search/docs/appearance/snippet";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "title-missing",
        needs_whole: true,
        title: "Missing title tag",
        description: "The page has no title tag, or an empty one.",
        why_it_matters: "The title is the most prominent part of a search result; without one, search engines make one up.",
        recommendation: "Add a title tag of 30 to 60 characters that says what the page is about.",
        source: TITLE,
        ..Check::error(Titles, Test::Html(title_missing))
    },
    Check {
        id: "title-multiple",
        title: "Multiple title tags",
        description: "The page has more than one title tag.",
        why_it_matters: "Search engines choose which one to show.",
        recommendation: "Keep one title tag, in the <head>.",
        source: TITLE,
        ..Check::warning(Titles, Test::Html(title_multiple))
    },
    Check {
        id: "title-short",
        title: "Title tag too short",
        description: "The title tag has fewer than 30 characters; Chinese, Japanese and Korean characters count twice. A generic title has its own check.",
        why_it_matters: "A short title leaves space unused that could match what people search for.",
        recommendation: "Make the title more specific.",
        source: TITLE,
        changed_in: [2, 7, 0],
        ..Check::notice(Titles, Test::Html(title_short))
    },
    Check {
        id: "title-long",
        title: "Title tag too long",
        description: "The title tag has more than 60 characters and is wider than 561 pixels; mostly Chinese, Japanese or Korean titles have more than 30 characters.",
        why_it_matters: "Search results cut the title off.",
        recommendation: "Put the most important words first, and shorten the title.",
        source: TITLE,
        changed_in: [1, 2, 0],
        ..Check::warning(Titles, Test::Html(title_long))
    },
    Check {
        id: "title-duplicate",
        title: "Duplicate title tag",
        scope: Scope::Graph,
        description: "Two or more indexable pages with different texts have the same title tag, other than a generic one.",
        why_it_matters: "Visitors and search engines cannot tell the pages apart.",
        recommendation: "Write a unique title tag for each page.",
        source: TITLE,
        changed_in: [2, 7, 0],
        ..Check::warning(Titles, Test::Html(title_duplicate))
    },
    Check {
        id: "title-generic",
        title: "Generic title tag",
        description: "The title tag is a default such as \"Home\" or \"Untitled\", or just the domain name.",
        why_it_matters: "Nobody searches for these words.",
        recommendation: "Say in the title tag what the page is about.",
        source: TITLE,
        ..Check::warning(Titles, Test::Html(title_generic))
    },
    Check {
        id: "title-same-as-h1",
        title: "Title tag same as H1",
        description: "The title tag and the first H1 are identical, and say what the page is about.",
        why_it_matters: "Different wording could match more search queries.",
        recommendation: "Vary one of them where that helps the reader.",
        source: TITLE,
        changed_in: [2, 7, 0],
        ..Check::notice(Titles, Test::Html(title_same_as_h1))
    },
    Check {
        id: "description-missing",
        needs_whole: true,
        title: "Missing meta description",
        description: "An indexable page has no meta description, or an empty one.",
        why_it_matters: "Search engines pick some text of the page for the snippet.",
        recommendation: "Write a meta description of 120 to 155 characters, in one or two sentences that make people want to click.",
        source: SNIPPET,
        ..Check::warning(Titles, Test::Html(description_missing))
    },
    Check {
        id: "description-short",
        title: "Meta description too short",
        description: "The meta description has fewer than 70 characters; Chinese, Japanese and Korean characters count twice.",
        why_it_matters: "Search engines may replace it with text of the page.",
        recommendation: "Say more about what the page offers.",
        source: SNIPPET,
        changed_in: [1, 2, 0],
        ..Check::notice(Titles, Test::Html(description_short))
    },
    Check {
        id: "description-long",
        title: "Meta description too long",
        description: "The meta description has more than 155 characters.",
        why_it_matters: "Search results cut it off.",
        recommendation: "Shorten the meta description.",
        source: SNIPPET,
        ..Check::notice(Titles, Test::Html(description_long))
    },
    Check {
        id: "description-multiple",
        title: "Multiple meta descriptions",
        description: "The page has more than one meta description.",
        why_it_matters: "Search engines choose which one to show.",
        recommendation: "Keep one meta description.",
        source: SNIPPET,
        ..Check::warning(Titles, Test::Html(description_multiple))
    },
    Check {
        id: "description-duplicate",
        title: "Duplicate meta description",
        scope: Scope::Graph,
        description: "Two or more indexable pages with different texts have the same meta description.",
        why_it_matters: "A shared description fits none of the pages, so search engines may replace it.",
        recommendation: "Write a unique meta description for each page.",
        source: SNIPPET,
        changed_in: [2, 6, 0],
        ..Check::warning(Titles, Test::Html(description_duplicate))
    },
];

/// Returns the first title with text.
fn title(html: &HtmlFacts) -> Option<&str> {
    html.titles
        .iter()
        .map(|title| &**title)
        .find(|title| !title.is_empty())
}

fn descriptions(html: &HtmlFacts) -> impl Iterator<Item = &str> {
    html.metas
        .iter()
        .filter(|meta| &*meta.name == "description")
        .map(|meta| &*meta.content)
}

fn description(html: &HtmlFacts) -> Option<&str> {
    descriptions(html).find(|description| !description.is_empty())
}

fn title_missing(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    title(html).map_or_else(none, |_| None)
}

fn title_multiple(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if html.titles.len() < 2 {
        return None;
    }
    list("values", html.titles.iter().map(|title| &**title))
}

fn title_short(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let title = title(html).filter(|title| !is_generic(page, title))?;
    // East Asian characters carry twice as much, and are twice as wide
    let wide = title.chars().filter(|c| text::is_wide(*c)).count();
    (text::length(title) + wide < page.thresholds().title_min as usize).then(|| evidence_text(title))?
}

fn title_long(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let title = title(html)?;
    let thresholds = page.thresholds();
    let length = text::length(title);
    if length <= thresholds.title_max_cjk.min(thresholds.title_max) as usize {
        return None;
    }
    let pixels = text::title_pixels(title);
    let wide = title.chars().filter(|c| text::is_wide(*c)).count() * 2 > title.chars().count();
    let long = if wide {
        length > thresholds.title_max_cjk as usize
    } else {
        length > thresholds.title_max as usize && pixels > thresholds.title_max_pixels
    };
    long.then(|| json!({"value": title, "length": length, "pixels": pixels}))
}

fn title_duplicate(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    // pages that are all called "Home" have a title of their own as soon as it is not generic
    let title = title(html).filter(|title| !is_generic(page, title))?;
    group(page, Same::Title).map(|evidence| super::evidence::with(evidence, "value", title))
}

fn title_generic(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let title = title(html).filter(|title| is_generic(page, title))?;
    Some(json!({"value": title}))
}

fn is_generic(page: &Page<'_>, title: &str) -> bool {
    const GENERIC: [&str; 9] = [
        "home",
        "homepage",
        "home page",
        "untitled",
        "untitled document",
        "index",
        "new page",
        "startseite",
        "page title",
    ];
    let folded = text::folded(title);
    let host = host(&page.facts.url);
    let domain = registrable(host);
    let bare = folded.strip_prefix("www.").unwrap_or(&folded);
    let is_domain = bare.eq_ignore_ascii_case(domain) || bare.eq_ignore_ascii_case(host);
    is_domain || GENERIC.contains(&folded.as_str())
}

fn title_same_as_h1(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let title = title(html).filter(|title| !is_generic(page, title))?;
    let heading = html
        .headings
        .iter()
        .find(|heading| heading.level == 1 && !heading.text.is_empty())?;
    (text::folded(title) == text::folded(&heading.text)).then(|| json!({"value": title}))
}

fn description_missing(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if !page.indexable || description(html).is_some() {
        return None;
    }
    none()
}

fn description_short(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let description = description(html)?;
    let wide = if description.is_ascii() {
        0
    } else {
        description.chars().filter(|c| text::is_wide(*c)).count()
    };
    (text::length(description) + wide < page.thresholds().description_min as usize)
        .then(|| evidence_text(description))?
}

fn description_long(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let description = description(html)?;
    (text::length(description) > page.thresholds().description_max as usize)
        .then(|| evidence_text(description))?
}

fn description_multiple(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    descriptions(html).nth(1)?;
    list("values", descriptions(html))
}

fn description_duplicate(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let description = description(html)?;
    group(page, Same::Description).map(|evidence| super::evidence::with(evidence, "value", description))
}
