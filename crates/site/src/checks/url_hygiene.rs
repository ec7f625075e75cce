//! Spelling of URLs, and links to places that visitors cannot or should not reach.

use percent_encoding::percent_decode_str;
use searchwright_text as text;
use serde_json::{Value, json};
use url::{Host, Url};

use super::{
    Category::Crawlability,
    Check, Page, Scope, Test,
    evidence::list,
    url_parts::{host, registrable},
};
use crate::{
    graph::{PageFlags, Same},
    page::{HtmlFacts, Link, UrlId, cut},
    private_network::is_private_address,
    url_key,
};

const STRUCTURE: &str = "https://developers.google.com/search/docs/crawling-indexing/url-structure";
const DUPLICATES: &str =
    "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "url-long",
        title: "URL too long",
        description: "Path and query string have more than 115 characters; percent-encoded characters are counted decoded.",
        why_it_matters: "Long URLs are truncated where they are displayed, and break when copied.",
        recommendation: "Use fewer and shorter path segments for new pages.",
        source: STRUCTURE,
        changed_in: [2, 2, 0],
        ..Check::notice(Crawlability, Test::Html(url_long))
    },
    Check {
        id: "url-underscore",
        title: "URL contains underscores",
        description: "The URL path contains an underscore.",
        why_it_matters: "Search engines may read words joined by underscores as one word.",
        recommendation: "Use hyphens in the URLs of new pages. Do not rename existing URLs for this alone.",
        source: STRUCTURE,
        ..Check::notice(Crawlability, Test::Html(url_underscore))
    },
    Check {
        id: "url-uppercase",
        title: "URL contains uppercase letters",
        description: "The URL path contains uppercase letters.",
        why_it_matters: "URLs are case-sensitive, so the same page is easily linked and indexed under two URLs.",
        recommendation: "Use lowercase URLs, and redirect other spellings with a 301.",
        source: STRUCTURE,
        ..Check::notice(Crawlability, Test::Html(url_uppercase))
    },
    Check {
        id: "url-space",
        title: "URL contains spaces",
        description: "The URL path contains a space.",
        why_it_matters: "Links with spaces break when they are copied into emails or documents.",
        recommendation: "Replace spaces with hyphens, and redirect the old URL with a 301.",
        source: STRUCTURE,
        ..Check::warning(Crawlability, Test::Html(url_space))
    },
    Check {
        id: "url-double-slash",
        title: "URL contains double slashes",
        description: "The URL path contains two slashes in a row.",
        why_it_matters: "The URL is most likely a duplicate of the one with a single slash.",
        recommendation: "Fix the link that creates the URL, and redirect it to the normal form with a 301.",
        source: STRUCTURE,
        ..Check::warning(Crawlability, Test::Html(url_double_slash))
    },
    Check {
        id: "url-non-ascii",
        title: "URL contains non-ASCII characters",
        description: "The decoded URL path contains non-ASCII characters, and the lang attribute is not a language with another script, such as Russian or Japanese.",
        why_it_matters: "The URL turns into a string of percent-encoded characters wherever it is copied.",
        recommendation: "Use ASCII characters in new URLs where that reads well.",
        source: STRUCTURE,
        changed_in: [2, 2, 0],
        ..Check::notice(Crawlability, Test::Html(url_non_ascii))
    },
    Check {
        id: "url-many-params",
        title: "Too many URL parameters",
        description: "The URL of an indexable page has more than three query parameters.",
        why_it_matters: "Every order and combination of parameters is another URL for the same content.",
        recommendation: "Give the page a URL without parameters, or set the canonical to such a URL.",
        source: STRUCTURE,
        ..Check::notice(Crawlability, Test::Html(url_many_params))
    },
    Check {
        id: "url-tracking-params",
        title: "Tracking parameters in internal links",
        scope: Scope::Targets,
        description: "A link to a page of the site carries tracking parameters such as utm_source.",
        why_it_matters: "Search engines find the page under a second URL, and analytics overwrite the visitor's real traffic source.",
        recommendation: "Link to the URL without the tracking parameters.",
        source: DUPLICATES,
        reads: cut::LINKS,
        changed_in: [2, 2, 0],
        ..Check::warning(Crawlability, Test::Html(url_tracking_params))
    },
    Check {
        id: "url-repetitive-path",
        title: "Repetitive URL path",
        description: "The same path segment occurs three times or more in the URL.",
        why_it_matters: "This is typical of relative links that add a segment with every click, which traps crawlers.",
        recommendation: "Use absolute paths for the links in the page template.",
        source: STRUCTURE,
        ..Check::warning(Crawlability, Test::Html(url_repetitive_path))
    },
    Check {
        id: "localhost-link",
        title: "Link to localhost or a private address",
        scope: Scope::Targets,
        description: "A link, hreflang alternate, form, image, script, stylesheet or frame points to localhost, a private IP address, or a .local, .localhost, .internal or .lan name.",
        why_it_matters: "The URL works only on the network of the person who built the page.",
        recommendation: "Replace it with the public URL.",
        source: "https://www.rfc-editor.org/rfc/rfc6761.html",
        reads: cut::LINKS | cut::RESOURCES,
        changed_in: [2, 5, 0],
        ..Check::error(Crawlability, Test::Html(localhost_link))
    },
    Check {
        id: "staging-host-leak",
        title: "Link to a staging host",
        scope: Scope::Targets,
        description: "A link, form, image, canonical, hreflang alternate, script or stylesheet points to a staging, development or test host of the same domain. A host counts as such if a label of its name is staging, dev, test, preview, preprod or uat, with or without a number; staging, dev and preprod also count before or after a hyphen.",
        why_it_matters: "The unfinished copy of the site gets visitors and may be indexed.",
        recommendation: "Replace the host with the public one, and protect the staging site with a password.",
        source: DUPLICATES,
        reads: cut::LINKS | cut::RESOURCES,
        changed_in: [2, 5, 0],
        ..Check::warning(Crawlability, Test::Html(staging_host))
    },
    Check {
        id: "trailing-slash-duplicate",
        title: "Trailing slash duplicate",
        scope: Scope::Graph,
        description: "The URL with a trailing slash and the one without both return 200 with the same text, and neither has a canonical.",
        why_it_matters: "Link signals are split between two URLs of the same page.",
        recommendation: "Redirect one URL to the other with a 301, or set it as the canonical.",
        source: DUPLICATES,
        changed_in: [2, 0, 0],
        ..Check::warning(Crawlability, Test::Html(trailing_slash))
    },
];

fn segments<'a>(page: &Page<'a>) -> impl Iterator<Item = &'a str> {
    page.path().split('/').filter(|segment| !segment.is_empty())
}

fn segment(page: &Page<'_>, odd: impl Fn(&str) -> bool) -> Option<Value> {
    segments(page)
        .find(|segment| odd(segment))
        .map(|segment| json!({"segment": segment}))
}

fn url_long(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let most = page.thresholds().url_max as usize;
    if page.path_and_query.len() <= most {
        return None;
    }
    let length = text::length(&percent_decode_str(page.path_and_query).decode_utf8_lossy());
    (length > most).then(|| json!({"length": length}))
}

fn url_underscore(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    segment(page, |segment| segment.contains('_'))
}

fn url_uppercase(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    segment(page, |segment| {
        let bytes = segment.as_bytes();
        // escapes have upper-case digits
        let escaped = |at: usize| at >= 1 && bytes[at - 1] == b'%' || at >= 2 && bytes[at - 2] == b'%';
        bytes
            .iter()
            .enumerate()
            .any(|(at, b)| b.is_ascii_uppercase() && !escaped(at))
    })
}

fn url_space(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    segment(page, |segment| {
        segment.contains("%20") || segment.contains(' ') || segment.contains("%C2%A0")
    })
}

fn url_double_slash(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    page.path().contains("//").then(|| json!({"path": page.path()}))
}

fn url_non_ascii(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    /// Languages that are not written in the Latin script.
    const OTHER_SCRIPTS: &[&str] = &[
        "am", "ar", "be", "bg", "bn", "bo", "dv", "dz", "el", "fa", "gu", "he", "hi", "hy", "ja", "ka", "kk",
        "km", "kn", "ko", "ky", "lo", "mk", "ml", "mn", "mr", "my", "ne", "or", "pa", "ps", "ru", "sa", "sd",
        "si", "sr", "ta", "te", "tg", "th", "ti", "ug", "uk", "ur", "yi", "zh",
    ];
    let language = text::primary(html.lang.as_deref().unwrap_or_default());
    let escapes = page
        .path()
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0] == b'%' && matches!(pair[1], b'8'..=b'9' | b'A'..=b'F' | b'a'..=b'f'));
    let odd = escapes || !page.path().is_ascii();
    (odd && !OTHER_SCRIPTS.contains(&&*language)).then(|| json!({"path": page.path()}))
}

fn url_many_params(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let (_, query) = page.path_and_query.split_once('?')?;
    let names: Vec<&str> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split('=').next().unwrap_or_default())
        .collect();
    if !page.indexable || names.len() <= page.thresholds().params_max as usize {
        return None;
    }
    list("params", names)
}

/// Returns links with a tracking parameter, and that parameter.
fn tracked(html: &HtmlFacts) -> impl Iterator<Item = (Link<'_>, &str)> {
    let links = html.links.mention(b'?').then(|| html.links.iter());
    links.into_iter().flatten().filter_map(|link| {
        let (address, _) = link.href.split_once('#').unwrap_or((link.href, ""));
        let (_, query) = address.split_once('?')?;
        let mut names = query
            .split('&')
            .map(|pair| pair.split('=').next().unwrap_or_default());
        Some((link, names.find(|name| url_key::is_tracking(name))?))
    })
}

fn url_tracking_params(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let internal = |link: &Link<'_>| link.target.is_some_and(|id| page.context.is_internal(id));
    let links = tracked(html).filter(|(link, _)| internal(link));
    let links = links.map(|(link, param)| json!({"linkUrl": link.href, "param": param, "line": link.line}));
    list("links", links)
}

fn url_repetitive_path(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let segments: Vec<&str> = segments(page).collect();
    let most = page.thresholds().repeated_segments as usize;
    if segments.len() < most {
        return None;
    }
    let repeated = segments
        .iter()
        .find(|segment| segments.iter().filter(|other| other == segment).count() >= most)?;
    Some(json!({"path": page.path(), "segment": repeated}))
}

fn localhost_link(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    // a site on a private network may link to itself
    let own = host(&page.facts.url);
    let links = page.elsewhere().iter().filter(|url| is_private(url, own));
    list("links", links.map(|url| json!({"linkUrl": url})))
}

/// Whether the host of a URL is a private address or name, and not the host of the page.
pub(super) fn is_private(url: &str, own: &str) -> bool {
    let written = host(url);
    let ends = |end: &str| {
        let start = written.len().checked_sub(end.len());
        start.is_some_and(|start| written.as_bytes()[start..].eq_ignore_ascii_case(end.as_bytes()))
    };
    // parses only hosts that can be private: a name without a dot, a special name, an IP address
    let maybe = !written.contains('.')
        || written.starts_with('[')
        || written.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        || [".local", ".localhost", ".internal", ".lan"]
            .into_iter()
            .any(ends);
    if !maybe || written.eq_ignore_ascii_case(own) {
        return false;
    }
    let Ok(parsed) = Url::parse(&if url.starts_with("//") {
        format!("http:{url}")
    } else {
        url.to_owned()
    }) else {
        return false;
    };
    match parsed.host() {
        Some(Host::Domain(name)) => {
            name == "localhost"
                || [".localhost", ".local", ".internal", ".lan"]
                    .iter()
                    .any(|end| name.ends_with(end))
        }
        Some(host) => is_private_address(&host),
        None => false,
    }
}

fn staging_host(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let own = host(&page.facts.url);
    if is_staging(own) {
        return None;
    }
    let leaks = |url: &&&str| {
        let there = host(url);
        is_staging(there) && registrable(there).eq_ignore_ascii_case(registrable(own))
    };
    let links = page.elsewhere().iter().filter(leaks);
    list("links", links.map(|url| json!({"linkUrl": url})))
}

fn is_staging(host: &str) -> bool {
    /// Labels of staging hosts. Others are ambiguous: `qa` has questions, `sandbox` is open to customers, and `stage`
    /// is an internship in half of Europe.
    const LABELS: [&str; 6] = ["staging", "dev", "test", "preview", "preprod", "uat"];
    /// Labels that mean staging beside other words too; a test may be one of speed or for a virus.
    const PARTS: [&str; 3] = ["staging", "dev", "preprod"];
    let is_one = |word: &str, labels: &[&str]| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        labels.iter().any(|label| word.eq_ignore_ascii_case(label))
    };
    let says_so = |labels: &str| {
        labels.split('.').any(|label| {
            let first = label.split_once('-').map(|(first, _)| first);
            let last = label.rsplit_once('-').map(|(_, last)| last);
            let mut parts = first.into_iter().chain(last);
            is_one(label, &LABELS) || parts.any(|part| is_one(part, &PARTS))
        })
    };
    // most hosts contain no such word
    says_so(host) && host.strip_suffix(registrable(host)).is_some_and(says_so)
}

fn trailing_slash(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let index = page.index();
    // reported once, on the page found later
    let mut twins = index
        .same(page.id(), Same::Text)
        .filter(|other| *other < page.id());
    let twin = twins.find(|other| is_slash_twin(page, *other))?;
    Some(json!({"pair": [index.key(twin), page.key(page.id())]}))
}

/// Whether another page is the same one with or without the slash at its end, and nothing says which of the two counts.
pub(super) fn is_slash_twin(page: &Page<'_>, other: UrlId) -> bool {
    let index = page.index();
    let (key, there) = (page.key(page.id()), index.key(other));
    let differs = there.strip_suffix('/') == Some(key) || key.strip_suffix('/') == Some(there);
    differs
        && [page.id(), other]
            .into_iter()
            .all(|id| index.canonical(id).is_none() && index.has(id, PageFlags::INDEXABLE))
}
