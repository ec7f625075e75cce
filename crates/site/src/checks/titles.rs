//! Titles and descriptions: what search results show.

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
        title: "No title",
        description: "The page has no title, or an empty one.",
        why_it_matters: "The title is the first thing search results show, and search engines invent one.",
        recommendation: "Write a title of 30 to 60 characters that says what the page is about.",
        source: TITLE,
        ..Check::error(Titles, Test::Html(title_missing))
    },
    Check {
        id: "title-multiple",
        title: "Several titles",
        description: "The page has more than one title.",
        why_it_matters: "Which one is shown is left to chance.",
        recommendation: "Keep one, in the head.",
        source: TITLE,
        ..Check::warning(Titles, Test::Html(title_multiple))
    },
    Check {
        id: "title-short",
        title: "Short title",
        description: "The title has fewer than 30 characters; East Asian ones count twice.",
        why_it_matters: "There is room to say more of what people look for.",
        recommendation: "Name the subject more exactly.",
        source: TITLE,
        changed_in: [1, 2, 0],
        ..Check::notice(Titles, Test::Html(title_short))
    },
    Check {
        id: "title-long",
        title: "Long title",
        description: "The title has more than 60 characters and is wider than 561 pixels (more than 30 characters where East Asian ones prevail).",
        why_it_matters: "Search results cut it off.",
        recommendation: "Put what matters first, and shorten it.",
        source: TITLE,
        changed_in: [1, 2, 0],
        ..Check::warning(Titles, Test::Html(title_long))
    },
    Check {
        id: "title-duplicate",
        title: "Duplicate title",
        scope: Scope::Graph,
        description: "Two indexable pages or more have the same title.",
        why_it_matters: "Neither visitors nor search engines can tell the pages apart.",
        recommendation: "Say in each title what is special about its page.",
        source: TITLE,
        ..Check::warning(Titles, Test::Html(title_duplicate))
    },
    Check {
        id: "title-generic",
        title: "Title says nothing",
        description: "The title is one of those that come with a template, such as \"Home\" or \"Untitled\", or just the domain.",
        why_it_matters: "Nobody looks for it.",
        recommendation: "Write what the page is about.",
        source: TITLE,
        ..Check::warning(Titles, Test::Html(title_generic))
    },
    Check {
        id: "title-same-as-h1",
        title: "Title equals heading",
        description: "Title and first heading are the same.",
        why_it_matters: "The two could answer two ways of searching.",
        recommendation: "Vary one of them where it helps the reader.",
        source: TITLE,
        changed_in: [2, 2, 0],
        ..Check::notice(Titles, Test::Html(title_same_as_h1))
    },
    Check {
        id: "description-missing",
        needs_whole: true,
        title: "No description",
        description: "An indexable page has no meta description, or an empty one.",
        why_it_matters: "Search engines pick some text of the page for their results.",
        recommendation: "Write one or two sentences, 120 to 155 characters, that make one want to read on.",
        source: SNIPPET,
        ..Check::warning(Titles, Test::Html(description_missing))
    },
    Check {
        id: "description-short",
        title: "Short description",
        description: "The meta description has fewer than 70 characters; East Asian ones count twice.",
        why_it_matters: "Search engines may replace it by text of the page.",
        recommendation: "Say more of what the page offers.",
        source: SNIPPET,
        changed_in: [1, 2, 0],
        ..Check::notice(Titles, Test::Html(description_short))
    },
    Check {
        id: "description-long",
        title: "Long description",
        description: "The meta description has more than 155 characters.",
        why_it_matters: "Search results cut it off.",
        recommendation: "Shorten it.",
        source: SNIPPET,
        ..Check::notice(Titles, Test::Html(description_long))
    },
    Check {
        id: "description-multiple",
        title: "Several descriptions",
        description: "The page has more than one meta description.",
        why_it_matters: "Which one is shown is left to chance.",
        recommendation: "Keep one.",
        source: SNIPPET,
        ..Check::warning(Titles, Test::Html(description_multiple))
    },
    Check {
        id: "description-duplicate",
        title: "Duplicate description",
        scope: Scope::Graph,
        description: "Two indexable pages or more have the same meta description.",
        why_it_matters: "It describes none of them.",
        recommendation: "Write one for each page.",
        source: SNIPPET,
        ..Check::warning(Titles, Test::Html(description_duplicate))
    },
];

/// The first title that says something.
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
    let title = title(html)?;
    // East Asian characters say twice as much, and are as wide
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
    let title = title(html)?;
    group(page, Same::Title).map(|evidence| super::evidence::with(evidence, "value", title))
}

fn title_generic(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
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
    let title = title(html)?;
    let folded = text::folded(title);
    let host = host(&page.facts.url);
    let domain = registrable(host);
    let bare = folded.strip_prefix("www.").unwrap_or(&folded);
    let is_domain = bare.eq_ignore_ascii_case(domain) || bare.eq_ignore_ascii_case(host);
    (is_domain || GENERIC.contains(&folded.as_str())).then(|| json!({"value": title}))
}

fn title_same_as_h1(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let title = title(html)?;
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
