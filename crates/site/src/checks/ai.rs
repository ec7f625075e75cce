//! Answer engines: whether they may read a page, and whether it is easy to quote.

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
        title: "AI search crawler blocked",
        description: "robots.txt blocks the crawler of an AI search engine from an indexable page.",
        why_it_matters: "That engine cannot cite the page in its answers.",
        recommendation: "Allow the crawlers named in the evidence, if you want to be cited.",
        source: BOTS,
        changed_in: [2, 2, 0],
        ..Check::warning(Ai, Test::Html(search_bots))
    },
    Check {
        id: "ai-user-bot-blocked",
        rests_on: &[Prerequisite::Robots],
        title: "AI assistant blocked",
        description: "robots.txt blocks an AI assistant that fetches pages on behalf of a user from an indexable page.",
        why_it_matters: "An assistant that is asked about the page cannot read it. Some of these assistants ignore robots.txt.",
        recommendation: "Allow the user agents named in the evidence.",
        source: BOTS,
        changed_in: [2, 2, 0],
        ..Check::warning(Ai, Test::Html(user_bots))
    },
    Check {
        id: "ai-training-bot-blocked",
        rests_on: &[Prerequisite::Robots],
        title: "AI training crawler blocked",
        scope: Scope::Site,
        description: "robots.txt blocks crawlers that collect AI training data from the root of the site.",
        why_it_matters: "This is a policy decision, not an error: AI models will know less about the site.",
        recommendation: "Confirm that the block is intended.",
        source: BOTS,
        never_scored: true,
        ..Check::notice(Ai, Test::Site(training_bots))
    },
    Check {
        id: "ai-content-signal-blocks",
        rests_on: &[Prerequisite::Robots],
        title: "Content-Signal restricts search or AI answers",
        scope: Scope::Site,
        description: "A Content-Signal line in robots.txt has ai-input=no or search=no.",
        why_it_matters: "It asks engines not to use the site for AI answers, or for search at all.",
        recommendation: "Change the line if that is not intended.",
        source: "https://contentsignals.org/",
        ..Check::warning(Ai, Test::Site(content_signal))
    },
    Check {
        id: "snippet-restricted",
        title: "Snippets disabled",
        description: "The page has a nosnippet or max-snippet:0 directive, or data-nosnippet on its main content.",
        why_it_matters: "Google shows no snippet of the page, and does not use it in AI Overviews and AI Mode.",
        recommendation: "Remove the directive if the page should be cited.",
        source: GUIDE,
        ..Check::warning(Ai, Test::Html(snippet))
    },
    Check {
        id: "llms-txt-missing",
        rests_on: &[Prerequisite::Llms],
        title: "Missing llms.txt",
        scope: Scope::Site,
        description: "/llms.txt returns 404 or 410.",
        why_it_matters: "Hardly any effect: the file is optional, Google ignores it, and few AI assistants fetch it. It never affects the score.",
        recommendation: "Add the file if it takes little effort.",
        source: LLMS,
        never_scored: true,
        ..Check::notice(Ai, Test::Site(llms_missing))
    },
    Check {
        id: "llms-txt-invalid",
        rests_on: &[Prerequisite::Llms],
        title: "Invalid llms.txt",
        scope: Scope::Site,
        description: "/llms.txt has no heading, no Markdown link or fewer than 50 characters, is an HTML page, or returns a 5xx status.",
        why_it_matters: "The few AI assistants that fetch the file cannot use it. It never affects the score.",
        recommendation: "Follow the format of llmstxt.org, or remove the file.",
        source: LLMS,
        never_scored: true,
        ..Check::notice(Ai, Test::Site(llms_invalid))
    },
    Check {
        id: "js-dependent-content",
        needs_whole: true,
        title: "Content requires JavaScript",
        description: "Without JavaScript, the page has fewer than 50 words of main text and an app root element such as <div id=\"root\">.",
        why_it_matters: "Most AI crawlers do not run JavaScript, so they see an empty page.",
        recommendation: "Use server-side rendering or pre-rendering.",
        source: "https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics",
        ..Check::warning(Ai, Test::Html(js_dependent))
    },
    Check {
        id: "question-heading-missing",
        needs_whole: true,
        title: "Missing question headings",
        description: "An article of 600 words or more has no heading in the form of a question.",
        why_it_matters: "People ask AI assistants questions, and a heading with the same question is easy to match.",
        recommendation: "Rephrase some headings as the questions that their sections answer.",
        source: GEO,
        reads: cut::HEADINGS,
        changed_in: [2, 2, 0],
        ..Check::notice(Ai, Test::Html(no_question))
    },
    Check {
        id: "direct-answer-missing",
        needs_whole: true,
        title: "Missing direct answer",
        description: "A heading that asks a question is not followed immediately by a paragraph of 20 to 80 words.",
        why_it_matters: "AI answers quote the short paragraph that follows a question.",
        recommendation: "Give the answer first, then explain it.",
        source: GEO,
        reads: cut::HEADINGS,
        changed_in: [2, 2, 0],
        ..Check::notice(Ai, Test::Html(no_answer))
    },
    Check {
        id: "paragraphs-long",
        title: "Paragraphs too long",
        description: "More than 25 % of the paragraphs have more than 150 words.",
        why_it_matters: "Long paragraphs are hard to read and to quote.",
        recommendation: "Split the paragraphs.",
        source: "https://yoast.com/paragraph-length-check/",
        ..Check::notice(Ai, Test::Html(long_paragraphs))
    },
    Check {
        id: "evidence-missing",
        needs_whole: true,
        title: "Missing sources, figures and quotations",
        description: "An article of 600 words or more has no link to another site, no number and no quotation.",
        why_it_matters: "In the cited study, sources, figures and quotations made content up to 40 % more visible in AI answers, depending on the topic.",
        recommendation: "Add sources and figures for what the article claims.",
        source: GEO,
        reads: cut::LINKS,
        changed_in: [2, 0, 0],
        ..Check::notice(Ai, Test::Html(no_evidence))
    },
    Check {
        id: "author-missing",
        needs_whole: true,
        title: "Missing author",
        description: "An article names no author, neither in its structured data nor in its HTML.",
        why_it_matters: "Readers and AI assistants cannot judge who is responsible for the content.",
        recommendation: "Name the author, and link to a page about them.",
        source: "https://developers.google.com/search/docs/fundamentals/creating-helpful-content",
        reads: cut::MARKUP,
        changed_in: [2, 1, 0],
        ..Check::notice(Ai, Test::Html(no_author))
    },
    Check {
        id: "entity-inconsistent",
        rests_on: &[Prerequisite::Home],
        title: "Inconsistent brand name",
        scope: Scope::Site,
        description: "The Organization name on the home page, its og:site_name and the name in the project's brand data are not the same.",
        why_it_matters: "Search engines and AI assistants cannot tell that the names stand for the same brand.",
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

/// Whether a page is indexable, or would be without robots.txt. Only for the host of the root: others have their own
/// robots.txt.
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

/// Whether the page is the frame of an application, which scripts fill.
pub(super) fn is_unrendered(page: &Page<'_>, html: &HtmlFacts) -> bool {
    html.spa_root && html.main_words < page.thresholds().unrendered_words
}

fn js_dependent(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    is_unrendered(page, html).then(|| json!({"words": html.main_words}))
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

/// Whether the page is a long article without numbers and quotations.
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
