//! Texts of pages, and whether other pages have the same text.

use searchwright_text::{CJK_CHARS_PER_WORD, is_mostly_cjk};
use serde_json::{Value, json};

use super::{
    Category::Content,
    Check, Page, Scope, Test,
    ai::is_unrendered,
    crawlability,
    evidence::{at_least, list, pages, with},
    prerequisite::Prerequisite,
    schema,
    url_hygiene::is_slash_twin,
};
use crate::{
    dates::{self, MONTH_MS},
    graph::Same,
    json::Json,
    page::{FILLER, HtmlFacts, UrlId, cut},
};

const HELPFUL: &str = "https://developers.google.com/search/docs/fundamentals/creating-helpful-content";
const DATES: &str = "https://developers.google.com/search/docs/appearance/publication-dates";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "thin-content",
        needs_whole: true,
        title: "Thin content",
        description: "The main text of an indexable page has fewer than 200 words, or fewer than 350 characters if it is mostly Chinese or Japanese. Soft 404s and pages that depend on JavaScript have checks of their own.",
        why_it_matters: "A page with little content answers few questions and rarely ranks.",
        recommendation: "Add the content that visitors came for, or keep the page out of the index.",
        source: HELPFUL,
        changed_in: [2, 7, 0],
        ..Check::warning(Content, Test::Html(thin))
    },
    Check {
        id: "text-ratio-low",
        needs_whole: true,
        title: "Text-to-HTML ratio too low",
        description: "At most 10 % of the HTML source is visible text, on a page that does not depend on JavaScript.",
        why_it_matters: "Visitors download much code for little content.",
        recommendation: "Move styles and scripts into files, and remove unused markup.",
        source: "https://web.dev/articles/dom-size-and-interactivity",
        changed_in: [2, 7, 0],
        ..Check::notice(Content, Test::Html(text_ratio))
    },
    Check {
        id: "duplicate-exact",
        needs_whole: true,
        title: "Duplicate content",
        scope: Scope::Graph,
        description: "Two or more indexable pages have the same main text, the same heading and the same text below it. Copies that differ only in the slash at the end of their URLs have a check of their own, and equal titles, descriptions and headings of copies are not reported again.",
        why_it_matters: "Search engines show only one of the pages, and choose it themselves.",
        recommendation: "Set the canonical of the others to one of them, redirect them, or rewrite them.",
        source: "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls",
        changed_in: [2, 6, 0],
        ..Check::error(Content, Test::Html(duplicate))
    },
    Check {
        id: "lorem-ipsum",
        title: "Placeholder text",
        description: "The page contains placeholder text such as \"lorem ipsum\", in its main text or elsewhere. Quotations and code samples do not count.",
        why_it_matters: "Visitors and search engines see an unfinished page.",
        recommendation: "Replace the placeholder text with real content.",
        source: HELPFUL,
        changed_in: [2, 5, 0],
        ..Check::warning(Content, Test::Html(lorem_ipsum))
    },
    Check {
        id: "template-unrendered",
        title: "Unrendered template code",
        description: "The title tag, first H1 or meta description contains {{…}}, [object Object], or undefined or NaN standing alone; or the text outside code samples contains {{…}} or [object Object] twice.",
        why_it_matters: "Visitors and search results show code instead of content.",
        recommendation: "Fix the template or the data that fills it.",
        source: "https://developers.google.com/search/docs/appearance/title-link",
        changed_in: [2, 5, 0],
        ..Check::error(Content, Test::Html(template))
    },
    Check {
        id: "content-stale",
        title: "Outdated article",
        // sitemaps count because a fix may be visible only there
        rests_on: &[Prerequisite::Sitemaps],
        description: "The newest date of an article in its structured data, its text (<time> elements outside nav, header, footer and aside) or the sitemap is older than 24 months.",
        why_it_matters: "Readers, search engines and AI answers prefer content that is kept up to date.",
        recommendation: "Review and update the article, and show the new date in dateModified and in the text.",
        source: DATES,
        reads: cut::MARKUP,
        changed_in: [2, 3, 0],
        ..Check::notice(Content, Test::Html(stale))
    },
    Check {
        id: "date-missing",
        title: "Missing publication date",
        description: "The structured data of an article has no datePublished.",
        why_it_matters: "Search engines cannot show how recent the article is.",
        recommendation: "Add datePublished, and dateModified when the article changes.",
        source: DATES,
        reads: cut::MARKUP,
        changed_in: [2, 1, 0],
        ..Check::notice(Content, Test::Html(date_missing))
    },
];

fn thin(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    // a page that scripts fill, or that says it does not exist, has little text for a reason that is told
    if !page.indexable || is_unrendered(page, html) || crawlability::is_soft_404(page) {
        return None;
    }
    let (thresholds, words) = (page.thresholds(), html.main_words);
    if is_mostly_cjk(std::iter::once(&*html.excerpt)) {
        let characters = (f64::from(words) * CJK_CHARS_PER_WORD).round() as u32;
        let least = thresholds.thin_characters_cjk;
        return (characters < least)
            .then(|| json!({"words": words, "characters": characters, "threshold": least}));
    }
    let least = thresholds.thin_words;
    (words < least).then(|| json!({"words": words, "threshold": least}))
}

fn text_ratio(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let (text, all) = (html.text_bytes, page.facts.body_bytes);
    let low = text * 100 <= all * u64::from(page.thresholds().text_ratio_percent);
    (page.indexable && all > 0 && low && !is_unrendered(page, html)).then(|| {
        let ratio = (text as f64 / all as f64 * 1_000.0).round() / 1_000.0;
        let evidence = json!({"ratio": ratio, "textBytes": text, "htmlBytes": all});
        at_least(evidence, page.facts.cut.is_some())
    })
}

fn duplicate(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    // a copy with another slash at the end of its URL is one cause with a check of its own
    let copies = others(page, Same::Text).filter(|other| !is_slash_twin(page, *other));
    let evidence = pages("urls", copies.map(|id| page.key(id)))?;
    Some(with(evidence, "groupId", format!("{:016x}", html.text_hash)))
}

/// Returns the other pages that share something with an indexable page.
fn others(page: &Page<'_>, what: Same) -> impl Iterator<Item = UrlId> {
    let same = page.indexable.then(|| page.index().same(page.id(), what));
    same.into_iter().flatten().filter(|id| *id != page.id())
}

/// Returns the other pages that share a title, description or h1 with an indexable page, and have another text: a copy of the
/// whole page is one cause, and told as such.
pub(super) fn group(page: &Page<'_>, what: Same) -> Option<Value> {
    let (index, id) = (page.index(), page.id());
    let alike = others(page, what).filter(|other| {
        // pages of one name usually have one heading too
        let is_named_alike = what == Same::H1 && index.is_namesake(id, *other);
        !index.is_copy(id, *other) && !is_named_alike
    });
    pages("urls", alike.map(|id| page.key(id)))
}

fn is_template(text: &str) -> bool {
    text.starts_with("{{") || text.starts_with('[')
}

fn lorem_ipsum(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let found = html.placeholders.iter().find(|text| !is_template(text))?;
    // a placeholder begins with its phrase
    let phrase = FILLER.into_iter().find(|phrase| found.starts_with(phrase));
    Some(json!({"phrase": phrase, "excerpt": found}))
}

/// Whether a text contains leftovers of an unfilled template.
fn leftover(text: &str) -> bool {
    let between = |open: &str, close: &str| {
        text.split_once(open)
            .is_some_and(|(_, rest)| rest.contains(close))
    };
    between("{{", "}}")
        || text.contains("[object Object]")
        || ["undefined", "NaN"]
            .iter()
            .any(|word| text.contains(word) && is_nothing(text, word))
}

/// Whether a bare word such as `undefined` stands for a missing value. There are articles about undefined behaviour, so
/// it counts only alone, as in "undefined | Shop" or "Hello, undefined!", twice in a row, at the end of a greeting, and
/// in place of an amount.
fn is_nothing(text: &str, word: &str) -> bool {
    const GREETINGS: [&str; 8] = [
        "hello", "hi", "hey", "dear", "welcome", "hallo", "hola", "bonjour",
    ];
    const PROGRAMS: [&str; 7] = [
        "javascript",
        "typescript",
        "ecmascript",
        "typeof",
        "pandas",
        "numpy",
        "python",
    ];
    const AMOUNTS: [&str; 10] = ["%", "€", "$", "£", "¥", "₹", "EUR", "USD", "GBP", "CHF"];
    let folded = text.to_lowercase();
    // capitalized, it is a number in German
    let null = text
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word == "null");
    if null || PROGRAMS.iter().any(|program| folded.contains(program)) {
        return false;
    }
    let ends =
        |c: char| matches!(c, '!' | '?' | '.' | '…' | ',' | ';' | '(' | ')' | '*') || c.is_whitespace();
    let alone = text
        .split(['|', '–', '—', ':', '·', '»', '«', ',', '/'])
        .flat_map(|part| part.split(" - "))
        .any(|part| part.trim_matches(ends) == word);
    let is_amount = |text: &str| AMOUNTS.contains(&text);
    let mut words = text.split_whitespace().peekable();
    let mut before = "";
    let in_place = std::iter::from_fn(|| {
        let written = words.next()?;
        let bare = written.trim_matches(ends);
        let last = written.ends_with(ends) || words.peek().is_none();
        let after = words.peek().map_or("", |next| next.trim_matches(ends));
        let around = bare.strip_prefix(word).or_else(|| bare.strip_suffix(word));
        let found = around.is_some_and(|around| match around {
            "" => {
                after == word
                    || is_amount(before)
                    || is_amount(after)
                    || last && GREETINGS.contains(&&*before.to_lowercase())
            }
            around => is_amount(around),
        });
        before = bare;
        Some(found)
    })
    .any(|found| found);
    alone || in_place
}

fn template(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let description = html
        .metas
        .iter()
        .find(|meta| &*meta.name == "description")
        .map(|meta| &*meta.content);
    let heading = html.headings.iter().find(|heading| heading.level == 1);
    // a page about templates shows one in its heading, and names it in its title
    let is_topic = heading.is_some_and(|heading| heading.code && leftover(&heading.text));
    let heading = heading.map(|heading| &*heading.text);
    let title = html.titles.first().map(|title| &**title);
    let places = [("title", title), ("h1", heading), ("description", description)];
    let hit = places
        .into_iter()
        .filter(|_| !is_topic)
        .find_map(|(place, text)| Some((place, text.filter(|text| leftover(text))?)));
    if let Some((place, excerpt)) = hit {
        return Some(json!({"in": place, "excerpt": excerpt}));
    }
    let found: Vec<&str> = html
        .placeholders
        .iter()
        .map(|text| &**text)
        .filter(|text| is_template(text))
        .collect();
    if found.len() < 2 {
        return None;
    }
    list("excerpts", found).map(|evidence| with(evidence, "in", "text"))
}

/// Returns the time of the last change according to the page itself, in milliseconds since the Unix epoch and as
/// written.
fn said_changed<'h>(page: &'h Page<'_>, html: &'h HtmlFacts) -> Option<(i64, &'h str)> {
    let marked = page
        .items()
        .iter()
        .flat_map(|item| ["dateModified", "datePublished"].map(|name| item.properties.get(name)))
        .flatten()
        .flat_map(Json::each)
        .filter_map(Json::as_str);
    let metas = html
        .metas
        .iter()
        .filter(|meta| matches!(&*meta.name, "article:modified_time" | "article:published_time"));
    let said = marked.chain(metas.map(|meta| &*meta.content));
    said.filter_map(|date| Some((dates::iso_ms(date)?, date))).max()
}

fn months_since(page: &Page<'_>, newest: i64) -> i64 {
    (page.now_ms - newest) / MONTH_MS
}

fn stale(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if !schema::is_article(html, page.items()) {
        return None;
    }
    let said = said_changed(page, html);
    let listed = page.index().changed_ms(page.id());
    let newest = said.map(|(at, _)| at).max(listed).max(html.dated)?;
    let months = months_since(page, newest);
    if months <= i64::from(page.thresholds().stale_months) {
        return None;
    }
    let date = said.filter(|(at, _)| *at == newest);
    let date = date.map_or_else(|| dates::day(newest), |(_, date)| date.to_owned());
    Some(
        json!({"date": date, "months": months, "inText": html.dated.map(dates::day), "inSitemap": listed.map(dates::day)}),
    )
}

fn date_missing(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let undated = page
        .items()
        .iter()
        .find(|item| item.is_article() && !item.has("datePublished"))?;
    Some(undated.located(json!({"type": undated.article()})))
}

#[cfg(test)]
mod tests {
    use super::leftover;

    #[test]
    fn bare_words_must_stand_alone() {
        for text in [
            "Hi {{name}}",
            "undefined | Shop",
            "Price: NaN",
            "Shop - undefined",
            "[object Object] x",
            "Hello, undefined!",
            "Welcome undefined, here is your cart",
            "Price from NaN EUR",
            "Null Zinsen ab NaN €",
            "Only NaN% left",
            "Oak desk for €NaN.",
            "undefined undefined, our staff",
        ] {
            assert!(leftover(text), "{text}");
        }
        for text in [
            "What is undefined behaviour?",
            "NaN in JavaScript",
            "{{ open",
            "Not undefined",
            "NaN - JavaScript | MDN",
            "null, undefined, and when to use them",
            "Hello, undefined behaviour",
            "The borders were left undefined.",
            "NaNs explained",
        ] {
            assert!(!leftover(text), "{text}");
        }
    }
}
