//! Languages and their alternates.

use std::collections::{HashMap, HashSet};

use searchwright_text::successor;
use serde_json::{Value, json};

use super::{
    Category::International,
    Check, Page, Scope, Test,
    evidence::{list, none},
    languages::{is_hreflang, is_language_tag},
    prerequisite::Prerequisite,
};
use crate::{
    graph::{PageFlags, State},
    page::{HtmlFacts, LinkRel, UrlId},
};

const HREFLANG: &str = "https://developers.google.com/search/docs/specialty/international/localized-versions";
const LANG: &str = "https://html.spec.whatwg.org/multipage/dom.html#the-lang-and-xml:lang-attributes";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "lang-missing",
        title: "Missing lang attribute",
        description: "The <html> element has no lang attribute.",
        why_it_matters: "Screen readers, translation tools and search engines have to guess the language.",
        recommendation: "Add a lang attribute, such as <html lang=\"en\">.",
        source: LANG,
        ..Check::warning(International, Test::Html(lang_missing))
    },
    Check {
        id: "lang-invalid",
        title: "Invalid lang attribute",
        description: "The lang attribute of the <html> element is not a valid BCP 47 language tag.",
        why_it_matters: "Browsers, screen readers and search engines ignore it.",
        recommendation: "Use a language tag such as en, de-AT or zh-Hant.",
        source: "https://www.rfc-editor.org/info/bcp47",
        changed_in: [2, 5, 0],
        ..Check::warning(International, Test::Html(lang_invalid))
    },
    Check {
        id: "hreflang-invalid-code",
        title: "Invalid hreflang code",
        description: "An hreflang code in the <head> or in a Link header is neither x-default nor an ISO 639-1 language with an optional script and ISO 3166-1 region, such as en-GB (not en-UK).",
        why_it_matters: "Search engines ignore this alternate.",
        recommendation: "Correct the code.",
        source: HREFLANG,
        changed_in: [2, 5, 0],
        ..Check::error(International, Test::Html(invalid_code))
    },
    Check {
        id: "hreflang-relative",
        title: "Relative hreflang URL",
        description: "The URL of an hreflang alternate, in the <head> or in a Link header, is not absolute.",
        why_it_matters: "Google requires fully qualified URLs, and relative ones break when the page moves.",
        recommendation: "Use an absolute URL with scheme and host.",
        source: HREFLANG,
        changed_in: [2, 3, 0],
        ..Check::warning(International, Test::Html(relative))
    },
    Check {
        id: "hreflang-no-self",
        needs_whole: true,
        title: "Missing self-referencing hreflang",
        description: "An indexable page has hreflang alternates in its <head> or Link headers, but is not among them itself, and no sitemap names it as its own alternate.",
        why_it_matters: "Search engines may ignore all hreflang annotations of the page.",
        recommendation: "List all language versions on every version, including the page itself.",
        source: HREFLANG,
        changed_in: [2, 5, 0],
        ..Check::warning(International, Test::Html(no_self))
    },
    Check {
        id: "hreflang-no-x-default",
        needs_whole: true,
        title: "Missing hreflang x-default",
        description: "The page has hreflang alternates in its <head> or Link headers, but no x-default.",
        why_it_matters: "Search engines do not know which version to show to users of other languages.",
        recommendation: "Add x-default with the URL of the default version or of the language selector.",
        source: HREFLANG,
        changed_in: [2, 3, 0],
        ..Check::notice(International, Test::Html(no_x_default))
    },
    Check {
        id: "hreflang-conflict",
        title: "Conflicting hreflang annotations",
        description: "The same hreflang code points to two URLs, or the same URL has two languages, in the <head> and the Link headers together.",
        why_it_matters: "Search engines cannot tell which annotation is right.",
        recommendation: "Use one URL for each hreflang code.",
        source: HREFLANG,
        changed_in: [2, 5, 0],
        ..Check::warning(International, Test::Html(conflict))
    },
    Check {
        id: "hreflang-no-return",
        rests_on: &[Prerequisite::ReturnLinks, Prerequisite::Alternates],
        title: "Missing hreflang return link",
        scope: Scope::Targets,
        description: "An hreflang alternate of an indexable page does not link back to the page with hreflang, neither in its <head> nor in its Link headers nor in a sitemap of this site. An alternate on another site counts only if it was read to its end and has hreflang alternates itself, because other sites may list theirs in a sitemap.",
        why_it_matters: "Search engines ignore hreflang annotations that are not confirmed by the other page.",
        recommendation: "List all language versions on every version.",
        source: HREFLANG,
        changed_in: [2, 5, 0],
        ..Check::error(International, Test::Html(no_return))
    },
    Check {
        id: "hreflang-non-200",
        title: "Hreflang points to an error page",
        scope: Scope::Targets,
        description: "An hreflang alternate returns a 4xx or 5xx status.",
        why_it_matters: "Users of that language are sent to an error page.",
        recommendation: "Correct the URL, or remove the alternate.",
        source: HREFLANG,
        changed_in: [2, 3, 0],
        ..Check::error(International, Test::Html(non_200))
    },
    Check {
        id: "hreflang-redirect",
        title: "Hreflang points to a redirect",
        scope: Scope::Targets,
        description: "An hreflang alternate redirects.",
        why_it_matters: "Search engines may ignore this alternate.",
        recommendation: "Use the final URL of the redirect.",
        source: HREFLANG,
        changed_in: [2, 3, 0],
        ..Check::warning(International, Test::Html(redirect))
    },
    Check {
        id: "hreflang-not-indexable",
        rests_on: &[Prerequisite::Alternates],
        title: "Hreflang points to a non-indexable page",
        scope: Scope::Targets,
        description: "An hreflang alternate is noindex, or its canonical is another page.",
        why_it_matters: "A page that is not in the index cannot be shown in search results.",
        recommendation: "Use the canonical, indexable URL for that language.",
        source: HREFLANG,
        changed_in: [2, 3, 0],
        ..Check::warning(International, Test::Html(not_indexable))
    },
    Check {
        id: "hreflang-lang-mismatch",
        rests_on: &[Prerequisite::Alternates],
        title: "Hreflang and lang mismatch",
        scope: Scope::Targets,
        description: "The lang attribute of an hreflang alternate is a different language than its hreflang code.",
        why_it_matters: "One of the two is wrong, and users may get a page that they cannot read.",
        recommendation: "Make the hreflang code and the lang attribute match.",
        source: HREFLANG,
        changed_in: [2, 5, 0],
        ..Check::warning(International, Test::Html(lang_mismatch))
    },
];

fn lang_missing(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if html.lang.as_deref().is_some_and(|lang| !lang.is_empty()) {
        return None;
    }
    none()
}

fn lang_invalid(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let lang = html
        .lang
        .as_deref()
        .filter(|lang| !lang.is_empty() && !is_language_tag(lang))?;
    Some(json!({"value": lang}))
}

fn entry(page: &Page<'_>, link: &LinkRel) -> Value {
    let url = link.target.map_or(&*link.href, |id| page.key(id));
    json!({"code": link.rel, "url": url})
}

fn invalid_code(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    list(
        "values",
        html.hreflangs
            .iter()
            .filter(|link| !is_hreflang(&link.rel))
            .map(|link| entry(page, link)),
    )
}

fn relative(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let absolute = |href: &str| {
        ["http://", "https://"].iter().any(|scheme| {
            href.get(..scheme.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        })
    };
    let relative = html.hreflangs.iter().filter(|link| !absolute(&link.href));
    list(
        "values",
        relative.map(|link| json!({"code": link.rel, "href": link.href})),
    )
}

fn no_self(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    // a page with another canonical has the head of that page
    if !page.indexable || html.hreflangs.iter().any(|link| link.target == Some(page.id())) {
        return None;
    }
    let own = page.key(page.id());
    if page.context.origin.lists_alternate(own, own) {
        return None;
    }
    list("set", html.hreflangs.iter().map(|link| entry(page, link)))
}

fn no_x_default(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if html
        .hreflangs
        .iter()
        .any(|link| link.rel.eq_ignore_ascii_case("x-default"))
    {
        return None;
    }
    list("set", html.hreflangs.iter().map(|link| entry(page, link)))
}

/// Returns the language of a hreflang code, in the case of the code.
fn language(code: &str) -> &str {
    code.split(['-', '_']).next().unwrap_or_default()
}

/// Finds alternates that contradict the first one with the same code or URL. Comparing every pair would take millions
/// of steps for thousands of alternates.
fn conflict(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let alternates = html.hreflangs.iter();
    let entries: Vec<(String, UrlId)> = alternates
        .filter_map(|link| Some((link.rel.to_ascii_lowercase(), link.target?)))
        .collect();
    let (mut urls, mut codes) = (HashMap::new(), HashMap::new());
    let mut pairs = Vec::new();
    for (code, url) in &entries {
        let first = *urls.entry(code).or_insert(*url);
        if first != *url {
            pairs.push([(code, first), (code, *url)]);
        }
        // one page for en and en-GB, or for en and x-default, is a valid set; one for en and de is not
        let own = language(code);
        if own == "x" {
            continue;
        }
        let first = *codes.entry(*url).or_insert(code);
        if macrolanguage(language(first)) != macrolanguage(own) {
            pairs.push([(first, *url), (code, *url)]);
        }
    }
    let pairs = pairs.into_iter().map(|pair| {
        let urls = pair.map(|(_, url)| page.key(url));
        json!({"codes": pair.map(|(code, _)| code), "urls": urls})
    });
    list("pairs", pairs)
}

/// Returns the alternates other than the page itself.
fn all<'h>(page: &Page<'_>, html: &'h HtmlFacts) -> impl Iterator<Item = (UrlId, &'h LinkRel)> {
    let own = page.id();
    html.hreflangs
        .iter()
        .filter_map(move |link| Some((link.target.filter(|id| *id != own)?, link)))
}

/// Returns the alternates other than the page itself, each once.
fn others<'h>(page: &Page<'_>, html: &'h HtmlFacts) -> Vec<(UrlId, &'h LinkRel)> {
    let mut seen = HashSet::new();
    all(page, html).filter(|(id, _)| seen.insert(*id)).collect()
}

fn no_return(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if !page.indexable {
        return None;
    }
    let index = page.index();
    // an error page or a redirect has its own check; a page that was not fetched or a sitemap of another site is
    // unknown
    let read = |id: UrlId| {
        if page.context.is_internal(id) {
            index.state(id) == State::Html && index.status(id) == Some(200)
        } else {
            index.has(id, PageFlags::READ) && index.alternates(id).next().is_some()
        }
    };
    let missing = others(page, html)
        .into_iter()
        .filter(|(id, _)| read(*id) && !index.is_alternate(*id, page.id()))
        .filter(|(id, _)| {
            let origin = page.context.origin;
            !origin.lists_alternate(page.key(*id), page.key(page.id()))
        });
    list(
        "alternates",
        missing.map(|(id, link)| json!({"code": link.rel, "from": page.key(page.id()), "to": page.key(id)})),
    )
}

fn non_200(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let errors = others(page, html).into_iter().filter_map(|(id, link)| {
        let status = page.context.error(id)?;
        Some(json!({"code": link.rel, "url": page.key(id), "status": status}))
    });
    list("alternates", errors)
}

fn redirect(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let index = page.index();
    let redirects = others(page, html)
        .into_iter()
        .filter(|(id, _)| index.state(*id) == State::Redirect);
    list(
        "alternates",
        redirects.map(|(id, link)| {
            let last = index.hops(id).urls.last().map(|last| page.key(*last));
            json!({"code": link.rel, "url": page.key(id), "final": last})
        }),
    )
}

fn not_indexable(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let index = page.index();
    let hidden = others(page, html).into_iter().filter_map(|(id, link)| {
        // an error page has its own check, whatever its template contains
        let reason = if index.status(id) != Some(200) {
            return None;
        } else if index.has(id, PageFlags::NOINDEX) {
            "noindex"
        } else if index.has(id, PageFlags::CANONICALISED) {
            "canonicalised"
        } else {
            return None;
        };
        Some(json!({"code": link.rel, "url": page.key(id), "reason": reason}))
    });
    list("alternates", hidden)
}

fn lang_mismatch(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    // an alternate for several languages, or for x-default too, is checked for each
    let mut seen = HashSet::new();
    let differs = all(page, html).filter_map(|(id, link)| {
        let there = page.index().language(id)?;
        let code = language(&link.rel).to_ascii_lowercase();
        (code.len() == 2 && !is_same_language(&code, there) && seen.insert((id, code)))
            .then(|| json!({"code": link.rel, "url": page.key(id), "lang": there}))
    });
    list("alternates", differs)
}

/// Returns the ISO 639-3 macrolanguage of Norwegian Bokmål and Nynorsk, and the successor of a withdrawn code; other
/// languages are returned unchanged.
fn macrolanguage(language: &str) -> &str {
    match language {
        "nb" | "nn" => "no",
        other => successor(other),
    }
}

/// Whether two codes are the same language, or one is the macrolanguage of the other.
fn is_same_language(a: &str, b: &str) -> bool {
    let (a, b) = (successor(a), successor(b));
    a == b || a == macrolanguage(b) || b == macrolanguage(a)
}
