//! Answer engines: may they read the page, and does it answer.

use searchwright_text as text;
use serde_json::{Value, json};

use super::{
    Category::Ai,
    Check, Page, Scope, Site, Test,
    evidence::{list, with},
    prerequisite::Prerequisite,
    questions::is_question,
    schema,
};
use crate::page::{HtmlFacts, cut, not_indexable};

const GUIDE: &str = "https://developers.google.com/search/docs/appearance/ai-features";
const BOTS: &str = "https://github.com/ai-robots-txt/ai.robots.txt";
const LLMS: &str = "https://llmstxt.org/";
const GEO: &str = "https://arxiv.org/abs/2311.09735";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "ai-search-bot-blocked",
        rests_on: &[Prerequisite::Robots],
        title: "Answer engines may not read the page",
        description: "robots.txt forbids an indexable page to a robot that reads for search or answers.",
        why_it_matters: "The page cannot be cited in the answers of that engine.",
        recommendation: "Allow the robots named, if you want to be cited.",
        source: BOTS,
        changed_in: [2, 2, 0],
        ..Check::warning(Ai, Test::Html(search_bots))
    },
    Check {
        id: "ai-user-bot-blocked",
        rests_on: &[Prerequisite::Robots],
        title: "Assistants may not open the page",
        description: "robots.txt forbids an indexable page to a robot that reads because somebody asked for it.",
        why_it_matters: "An assistant that is asked about the page cannot read it. Some of these robots do not obey robots.txt.",
        recommendation: "Allow the robots named.",
        source: BOTS,
        changed_in: [2, 2, 0],
        ..Check::warning(Ai, Test::Html(user_bots))
    },
    Check {
        id: "ai-training-bot-blocked",
        rests_on: &[Prerequisite::Robots],
        title: "Closed to training",
        scope: Scope::Site,
        description: "robots.txt forbids the root of the site to robots that gather training data.",
        why_it_matters: "That is a choice of policy, and no fault: models will know less of the site by heart.",
        recommendation: "Confirm that it is meant.",
        source: BOTS,
        never_scored: true,
        ..Check::notice(Ai, Test::Site(training_bots))
    },
    Check {
        id: "ai-content-signal-blocks",
        rests_on: &[Prerequisite::Robots],
        title: "Content-Signal forbids answers",
        scope: Scope::Site,
        description: "A Content-Signal line in robots.txt says ai-input=no or search=no.",
        why_it_matters: "It asks engines not to use the site for answers, or for search at all.",
        recommendation: "Change the line if that is not wanted.",
        source: "https://contentsignals.org/",
        ..Check::warning(Ai, Test::Site(content_signal))
    },
    Check {
        id: "snippet-restricted",
        title: "No text may be shown",
        description: "The page says nosnippet or max-snippet:0, or data-nosnippet on its main part.",
        why_it_matters: "Google shows no text of it, and does not use it for AI Overviews and AI Mode.",
        recommendation: "Lift the directive if the page should be cited.",
        source: GUIDE,
        ..Check::warning(Ai, Test::Html(snippet))
    },
    Check {
        id: "llms-txt-missing",
        rests_on: &[Prerequisite::Llms],
        title: "No llms.txt",
        scope: Scope::Site,
        description: "/llms.txt answers 404 or 410.",
        why_it_matters: "Hardly anything: the file is optional, Google ignores it, and few assistants fetch it. Never scored.",
        recommendation: "Add one if it costs you nothing.",
        source: LLMS,
        never_scored: true,
        ..Check::notice(Ai, Test::Site(llms_missing))
    },
    Check {
        id: "llms-txt-invalid",
        rests_on: &[Prerequisite::Llms],
        title: "llms.txt is none",
        scope: Scope::Site,
        description: "/llms.txt has no heading, no Markdown link, fewer than 50 characters, is an HTML page, or answers 5xx.",
        why_it_matters: "The few that fetch it cannot use it. Never scored.",
        recommendation: "Follow the form of llmstxt.org, or remove it.",
        source: LLMS,
        never_scored: true,
        ..Check::notice(Ai, Test::Site(llms_invalid))
    },
    Check {
        id: "js-dependent-content",
        needs_whole: true,
        title: "Empty without scripts",
        description: "Before scripts run, the page has fewer than 50 words of main text and an element that applications mount on.",
        why_it_matters: "Most robots of answer engines run no scripts: they see nothing.",
        recommendation: "Render the page on the server, or in advance.",
        source: "https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics",
        ..Check::warning(Ai, Test::Html(js_dependent))
    },
    Check {
        id: "question-heading-missing",
        needs_whole: true,
        title: "No heading asks a question",
        description: "An article of 600 words or more has no heading in the form of a question.",
        why_it_matters: "People ask assistants questions; a heading that asks the same one is easily found.",
        recommendation: "Turn some headings into the questions that their parts answer.",
        source: GEO,
        reads: cut::HEADINGS,
        changed_in: [2, 2, 0],
        ..Check::notice(Ai, Test::Html(no_question))
    },
    Check {
        id: "direct-answer-missing",
        needs_whole: true,
        title: "Question without a direct answer",
        description: "A heading that asks is not followed at once by a paragraph of 20 to 80 words.",
        why_it_matters: "Engines quote the short answer that follows the question.",
        recommendation: "Answer first, then explain.",
        source: GEO,
        reads: cut::HEADINGS,
        changed_in: [2, 2, 0],
        ..Check::notice(Ai, Test::Html(no_answer))
    },
    Check {
        id: "paragraphs-long",
        title: "Long paragraphs",
        description: "More than 25 % of the paragraphs have more than 150 words.",
        why_it_matters: "They are hard to read and to quote.",
        recommendation: "Divide them.",
        source: "https://yoast.com/paragraph-length-check/",
        ..Check::notice(Ai, Test::Html(long_paragraphs))
    },
    Check {
        id: "evidence-missing",
        needs_whole: true,
        title: "Claims without evidence",
        description: "An article of 600 words or more has no link to another site, no number and no quotation.",
        why_it_matters: "In the study cited, sources, figures and quotations made a text more visible in answers, by up to 40 %, varying by subject.",
        recommendation: "Name sources and figures for what you claim.",
        source: GEO,
        reads: cut::LINKS,
        changed_in: [2, 0, 0],
        ..Check::notice(Ai, Test::Html(no_evidence))
    },
    Check {
        id: "author-missing",
        needs_whole: true,
        title: "Article without author",
        description: "An article names no author, neither in its markup nor in its source.",
        why_it_matters: "Readers and engines ask who says so.",
        recommendation: "Name the author, with a page about them.",
        source: "https://developers.google.com/search/docs/fundamentals/creating-helpful-content",
        reads: cut::MARKUP,
        changed_in: [2, 1, 0],
        ..Check::notice(Ai, Test::Html(no_author))
    },
    Check {
        id: "entity-inconsistent",
        rests_on: &[Prerequisite::Home],
        title: "The site has several names",
        scope: Scope::Site,
        description: "The name of the Organization on the home page, its og:site_name and the name in the project's brand data are not the same.",
        why_it_matters: "Engines cannot tell that all are the same brand.",
        recommendation: "Use one name everywhere.",
        source: "https://developers.google.com/search/docs/appearance/site-names",
        changed_in: [2, 0, 0],
        ..Check::notice(Ai, Test::Site(names))
    },
];

fn search_bots(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    if !is_open_but_for_robots(page) {
        return None;
    }
    page.context.search_bots.blocked(page.path_and_query)
}

fn user_bots(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    if !is_open_but_for_robots(page) {
        return None;
    }
    page.context.user_bots.blocked(page.path_and_query)
}

/// It may be in the index, or only robots.txt keeps it out. That of the root: other hosts have their own.
fn is_open_but_for_robots(page: &Page<'_>) -> bool {
    let is_open = page.indexable || not_indexable(page.facts).is_none();
    is_open && page.context.is_at_root(&page.facts.url)
}

fn training_bots(site: &Site<'_>) -> Option<Value> {
    site.context.training_bots.blocked("/")
}

fn content_signal(site: &Site<'_>) -> Option<Value> {
    let lines = site.origin().robots.text.lines().enumerate();
    let signals = lines.filter_map(|(i, line)| {
        let (name, value) = line.split('#').next().unwrap_or_default().split_once(':')?;
        if !name.trim().eq_ignore_ascii_case("content-signal") {
            return None;
        }
        let value = value.to_ascii_lowercase().replace(' ', "");
        let no = value
            .split([',', ';'])
            .any(|signal| matches!(signal, "ai-input=no" | "search=no"));
        no.then(|| json!({"line": i + 1, "text": line.trim()}))
    });
    list("lines", signals)
}

fn snippet(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let rules = [
        ("meta", &page.directives.meta),
        ("header", &page.directives.header),
    ];
    if let Some((source, rules)) = rules.into_iter().find(|(_, rules)| rules.nosnippet) {
        return Some(json!({"directive": rules.values.join(", "), "source": source}));
    }
    html.main_nosnippet
        .then(|| json!({"directive": "data-nosnippet", "source": "html"}))
}

fn llms_missing(site: &Site<'_>) -> Option<Value> {
    let status = site
        .origin()
        .llms_txt
        .status
        .filter(|status| matches!(status, 404 | 410))?;
    Some(json!({"status": status}))
}

fn llms_invalid(site: &Site<'_>) -> Option<Value> {
    let file = &site.origin().llms_txt;
    let reasons: Vec<&str> = match file.status? {
        200 => {
            let start = file
                .text
                .trim_start()
                .get(..9)
                .unwrap_or_default()
                .to_ascii_lowercase();
            let content_type = file.content_type.as_deref().unwrap_or_default();
            let html = content_type.starts_with("text/html")
                || start.starts_with("<!doctype")
                || start.starts_with("<html");
            let heading = file.text.lines().any(|line| line.trim_start().starts_with("# "));
            let link = file.text.split("](").count() > 1;
            let short = text::length(file.text.trim()) < 50;
            [
                (html, "html"),
                (!heading, "no heading"),
                (!link, "no link"),
                (short, "short"),
            ]
            .into_iter()
            .filter_map(|(wrong, reason)| wrong.then_some(reason))
            .collect()
        }
        500.. => vec!["server error"],
        _ => Vec::new(),
    };
    (!reasons.is_empty()).then(|| json!({"reasons": reasons, "status": file.status}))
}

fn js_dependent(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let empty = html.spa_root && html.main_words < page.thresholds().unrendered_words;
    empty.then(|| json!({"words": html.main_words}))
}

fn is_long_article(page: &Page<'_>, html: &HtmlFacts) -> bool {
    html.main_words >= page.thresholds().article_words && schema::is_article(html, page.items())
}

fn no_question(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if !is_long_article(page, html) || html.headings.iter().any(is_question) {
        return None;
    }
    let headings = list("headings", html.headings.iter().map(|heading| &*heading.text));
    Some(headings.unwrap_or_else(|| json!({"headings": [], "total": 0})))
}

fn no_answer(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let thresholds = page.thresholds();
    let answered = thresholds.answer_min_words..=thresholds.answer_max_words;
    let open = html
        .headings
        .iter()
        .filter(|heading| !answered.contains(&heading.answer_words) && is_question(heading));
    list(
        "headings",
        open.map(
            |heading| json!({"heading": heading.text, "line": heading.line, "words": heading.answer_words}),
        ),
    )
}

fn long_paragraphs(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let (long, all) = (u64::from(html.long_paragraphs), u64::from(html.paragraphs));
    let share = || (long as f64 * 1_000.0 / all as f64).round() / 10.0;
    (long * 100 > all * u64::from(page.thresholds().long_paragraphs_percent))
        .then(|| json!({"share": share(), "long": long, "paragraphs": all}))
}

/// A long article without numbers and quotations.
fn says_little(page: &Page<'_>, html: &HtmlFacts) -> bool {
    !html.numbers && html.quotations == 0 && is_long_article(page, html)
}

fn no_evidence(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let external = html
        .links
        .iter()
        .filter(|link| link.target.is_some_and(|id| !page.context.is_internal(id)))
        .count();
    (external == 0 && !html.links.hide_some() && says_little(page, html))
        .then(|| json!({"outboundLinks": 0, "numbers": 0, "quotations": 0, "words": html.main_words}))
}

fn no_author(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let items = page.items();
    let article = items.iter().find(|item| item.is_article())?;
    let named = article.has("author") || article.has("creator") || html.byline;
    (!named).then(|| article.located(json!({"type": article.article()})))
}

fn names(site: &Site<'_>) -> Option<Value> {
    let (page, html) = site.home_html()?;
    let organization = page.items().iter().find(|item| item.is("Organization"));
    let site_name = html.metas.iter().find(|meta| &*meta.name == "og:site_name");
    let names = [
        (
            "Organization.name",
            organization.and_then(|item| item.text("name")),
        ),
        ("og:site_name", site_name.map(|meta| &*meta.content)),
        ("brand data", site.context.index.brand.as_deref()),
    ];
    let names = names.map(|(source, name)| Some((source, name.filter(|name| !name.trim().is_empty())?)));
    let (sources, names): (Vec<_>, Vec<_>) = names.into_iter().flatten().unzip();
    let first = text::folded(names.first()?);
    let differ = names.iter().any(|name| text::folded(name) != first);
    let values = list("values", names)?;
    differ.then(|| with(values, "sources", sources))
}
