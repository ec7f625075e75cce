//! Previews of links in social networks and browsers.

use serde_json::{Value, json};
use url::Url;

use super::{Category::Social, Check, Page, Scope, Site, Test, evidence::none, prerequisite::Prerequisite};
use crate::{page::HtmlFacts, url_key::url_key};

const OGP: &str = "https://ogp.me/";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "og-incomplete",
        needs_whole: true,
        title: "Incomplete Open Graph tags",
        description: "An indexable page lacks og:title, og:type, og:image or og:url.",
        why_it_matters: "Social networks choose the title and image of shared links themselves.",
        recommendation: "Add the missing tags.",
        source: OGP,
        ..Check::notice(Social, Test::Html(incomplete))
    },
    Check {
        id: "og-url-mismatch",
        title: "og:url does not match the canonical",
        description: "og:url is neither the canonical of the page nor its own URL.",
        why_it_matters: "Shares and likes are counted for another page.",
        recommendation: "Set og:url to the canonical URL.",
        source: OGP,
        ..Check::notice(Social, Test::Html(url_mismatch))
    },
    Check {
        id: "twitter-card-missing",
        needs_whole: true,
        title: "Missing X (Twitter) card",
        description: "An indexable page has no twitter:card, and its Open Graph tags are incomplete.",
        why_it_matters: "Links shared on X appear without an image.",
        recommendation: "Add twitter:card with summary_large_image, and complete the Open Graph tags.",
        source: "https://developer.x.com/en/docs/twitter-for-websites/cards/overview/abouts-cards",
        ..Check::notice(Social, Test::Html(twitter_card))
    },
    Check {
        id: "favicon-missing",
        rests_on: &[Prerequisite::Home, Prerequisite::Favicon],
        title: "Missing favicon",
        scope: Scope::Site,
        description: "The home page has no <link rel=\"icon\">, and /favicon.ico does not return 200.",
        why_it_matters: "Search results and browser tabs show a generic icon.",
        recommendation: "Add a favicon of at least 48 by 48 pixels.",
        source: "https://developers.google.com/search/docs/appearance/favicon-in-search",
        changed_in: [2, 2, 0],
        ..Check::notice(Social, Test::Site(favicon))
    },
];

fn meta<'h>(html: &'h HtmlFacts, name: &str) -> Option<&'h str> {
    html.metas
        .iter()
        .find(|meta| &*meta.name == name && !meta.content.is_empty())
        .map(|meta| &*meta.content)
}

fn lacking(html: &HtmlFacts) -> Vec<&'static str> {
    ["og:title", "og:type", "og:image", "og:url"]
        .into_iter()
        .filter(|name| meta(html, name).is_none())
        .collect()
}

fn incomplete(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let missing = lacking(html);
    (page.indexable && !missing.is_empty()).then(|| json!({"missing": missing}))
}

fn url_mismatch(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let written = meta(html, "og:url")?;
    if *written == *page.facts.url {
        return None;
    }
    let url = Url::parse(&page.facts.url)
        .and_then(|own| own.join(written))
        .ok()?;
    let key = url_key(&url);
    let canonical = page.key(page.facts.canonical().unwrap_or(page.id()));
    (*key != *canonical && *key != *page.key(page.id()))
        .then(|| json!({"ogUrl": written, "canonical": canonical}))
}

fn twitter_card(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if !page.indexable || meta(html, "twitter:card").is_some() || lacking(html).is_empty() {
        return None;
    }
    none()
}

fn favicon(site: &Site<'_>) -> Option<Value> {
    let (_, html) = site.home_html()?;
    // a favicon that was not fetched is not missing
    let status = site.origin().favicon_status?;
    (!html.icon && status != 200).then(|| json!({"status": status}))
}
