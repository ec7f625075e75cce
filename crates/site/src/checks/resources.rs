//! Images, scripts and styles of a page, as far as the crawl fetched them.

use serde_json::{Value, json};

use super::{
    Category::{Ai, Images, Performance, Social},
    Check, Page, Scope, Severity, Site, Test, Thresholds,
    crawlability::is_missing,
    evidence::{list, with},
    prerequisite::Prerequisite,
    url_hygiene,
    url_parts::{host, registrable},
};
use crate::{
    graph::SiteGraph,
    http_status::is_bot_refusal,
    page::{HtmlFacts, cut},
    resources::{Resource, purpose},
};

const GOOGLE: &str = "https://developers.google.com/search/docs/appearance/google-images";
const OPEN_GRAPH: &str = "https://ogp.me/#structured";
const DAY: u32 = 24 * 60 * 60;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "image-broken",
        title: "Broken image",
        scope: Scope::Targets,
        description: "The image file returns a 4xx or 5xx status twice, or its host does not exist. 401, 403, 405, 406, 429, 451, 503 and 999 do not count, because servers may send them to crawlers only.",
        why_it_matters: "Visitors see a gap or a broken image icon.",
        recommendation: "Correct the src, or restore the file.",
        source: GOOGLE,
        rests_on: &[Prerequisite::Resources],
        ..Check::error(Images, Test::Html(broken))
    },
    Check {
        id: "image-large",
        title: "Image file too large",
        scope: Scope::Targets,
        description: "The image file is larger than 500 kB.",
        why_it_matters: "It takes seconds to load on a phone and uses up mobile data.",
        recommendation: "Resize the image to the size at which it is displayed, and compress it.",
        source: "https://web.dev/articles/compress-images",
        rests_on: &[Prerequisite::Resources],
        ..Check::warning(Images, Test::Html(large))
    },
    Check {
        id: "image-legacy-format",
        title: "Legacy image format",
        scope: Scope::Targets,
        description: "An image of more than 100 kB is served as JPEG, PNG or GIF, and the page offers no WebP or AVIF version.",
        why_it_matters: "WebP and AVIF files of the same quality are a third to a half of the size.",
        recommendation: "Offer WebP or AVIF in a <picture> element, or let the server send them to browsers that accept them.",
        source: "https://developer.chrome.com/docs/lighthouse/performance/uses-webp-images",
        rests_on: &[Prerequisite::Resources],
        ..Check::notice(Images, Test::Html(legacy))
    },
    Check {
        id: "no-cache-header",
        title: "Missing cache headers",
        scope: Scope::Targets,
        description: "A script, stylesheet or image of the site is sent with neither a max-age of 7 days or more nor an ETag or Last-Modified header. A site on a private network is left out.",
        why_it_matters: "Browsers download the file again on every page.",
        recommendation: "Send Cache-Control with a long max-age, and change the file name when the file changes.",
        source: "https://developer.chrome.com/docs/lighthouse/performance/uses-long-cache-ttl",
        reads: cut::RESOURCES,
        rests_on: &[Prerequisite::Resources],
        changed_in: [2, 7, 0],
        ..Check::notice(Performance, Test::Html(uncached))
    },
    Check {
        id: "og-image-broken",
        title: "Broken og:image",
        scope: Scope::Targets,
        description: "The og:image URL returns a 4xx or 5xx status, its host does not exist, or it is not an image. 401, 403, 405, 406, 429, 451, 503 and 999 do not count, because servers may send them to crawlers only.",
        why_it_matters: "Shared links appear without an image in social networks and chats.",
        recommendation: "Use the absolute URL of an image that is publicly accessible.",
        source: OPEN_GRAPH,
        rests_on: &[Prerequisite::Resources],
        ..Check::warning(Social, Test::Html(card_broken))
    },
    Check {
        id: "og-image-small",
        title: "og:image too small",
        scope: Scope::Targets,
        description: "The og:image is smaller than 1200 by 630 pixels. If its width or height is below 200 pixels, the finding is a warning.",
        why_it_matters: "Social networks show it as a small thumbnail; below 200 by 200 pixels many show no image.",
        recommendation: "Use an image of at least 1200 by 630 pixels.",
        source: "https://developers.facebook.com/docs/sharing/webmasters/images/",
        degree: Some(by_size),
        rests_on: &[Prerequisite::Resources],
        ..Check::notice(Social, Test::Html(card_small))
    },
    Check {
        id: "llms-txt-broken-link",
        rests_on: &[Prerequisite::Resources, Prerequisite::Llms],
        title: "Broken link in llms.txt",
        scope: Scope::Site,
        description: "A link in /llms.txt returns a status other than 200, its host does not exist, or it points to a private address. 401, 403, 405, 406, 429, 451, 503 and 999 do not count, because servers may send them to crawlers only.",
        why_it_matters: "The few AI assistants that read the file reach an error page. Google ignores the file.",
        recommendation: "Correct the links, or remove them.",
        source: "https://llmstxt.org/",
        never_scored: true,
        ..Check::notice(Ai, Test::Site(llms_links))
    },
];

/// Returns the fetched resources that a page needs for a purpose, each with its index among the images or files.
fn resources_for<'p>(
    page: &'p Page<'_>,
    html: &HtmlFacts,
    purpose: u8,
) -> impl Iterator<Item = (usize, &'p Resource)> {
    page.resources(html)
        .filter(move |(of, ..)| *of == purpose)
        .map(|(_, place, resource)| (place, resource))
}

/// Whether a resource responds with an error to visitors too: servers with hotlink protection refuse unknown clients,
/// while a visitor may see the image.
///
/// If no other site responds, an unknown host says something about the network of the audit only.
fn is_broken(resource: &Resource, index: &SiteGraph) -> bool {
    match resource.status {
        Some(status) => !is_bot_refusal(status) && (is_missing(status) || status >= 500),
        None => matches!(resource.error, Some(crate::fetch::FetchError::Dns)) && !index.is_cut_off(),
    }
}

/// Returns evidence of one image of the page.
fn image(html: &HtmlFacts, place: usize, resource: &Resource) -> Value {
    let found = html.images.get(place);
    json!({
        "src": found.map(|image| &image.src),
        "line": found.map(|image| image.line),
        "url": resource.url,
        "status": resource.status,
    })
}

fn broken(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let broken =
        resources_for(page, html, purpose::IMAGE).filter(|(_, resource)| is_broken(resource, page.index()));
    list(
        "images",
        broken.map(|(place, resource)| image(html, place, resource)),
    )
}

/// Returns the images that were received with more than `most` bytes.
fn heavy<'p>(
    page: &'p Page<'_>,
    html: &HtmlFacts,
    most: u64,
) -> impl Iterator<Item = (usize, &'p Resource, u64)> {
    resources_for(page, html, purpose::IMAGE).filter_map(move |(place, resource)| {
        let bytes = resource
            .bytes
            .filter(|bytes| resource.status == Some(200) && *bytes > most)?;
        Some((place, resource, bytes))
    })
}

fn large(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let images = heavy(page, html, page.thresholds().image_bytes)
        .map(|(place, resource, bytes)| with(image(html, place, resource), "bytes", bytes));
    list("images", images)
}

fn legacy(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let old = |resource: &Resource| {
        matches!(
            resource.content_type.as_deref(),
            Some("image/jpeg" | "image/jpg" | "image/png" | "image/gif")
        )
    };
    let offered = |place: usize| html.modern_images.iter().any(|of| usize::from(*of) == place);
    let images = heavy(page, html, page.thresholds().image_legacy_bytes)
        .filter(|(place, resource, _)| old(resource) && !offered(*place))
        .map(|(place, resource, bytes)| {
            let evidence = with(image(html, place, resource), "bytes", bytes);
            with(evidence, "contentType", resource.content_type.as_deref())
        });
    list("images", images)
}

fn uncached(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let least = page.thresholds().cache_days.saturating_mul(DAY);
    if page.context.is_private_site {
        return None;
    }
    // files of third parties cannot be changed by the site
    let own = registrable(host(&page.facts.url));
    let kept = |resource: &Resource| resource.validator || resource.max_age.is_some_and(|age| age >= least);
    let files = [purpose::FILE, purpose::IMAGE]
        .into_iter()
        .flat_map(|purpose| resources_for(page, html, purpose))
        .filter(|(_, resource)| {
            resource.status == Some(200) && !kept(resource) && registrable(host(&resource.url)) == own
        });
    list(
        "resources",
        files.map(|(_, resource)| json!({"url": resource.url, "maxAge": resource.max_age})),
    )
}

fn card_broken(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let (_, card) = resources_for(page, html, purpose::CARD).next()?;
    let no_image = card.status == Some(200)
        && card
            .content_type
            .as_deref()
            .is_some_and(|kind| !kind.starts_with("image/"));
    (is_broken(card, page.index()) || no_image)
        .then(|| json!({"url": card.url, "status": card.status, "contentType": card.content_type}))
}

fn card_small(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let (_, card) = resources_for(page, html, purpose::CARD).next()?;
    let (width, height) = card.size.filter(|_| card.status == Some(200))?;
    let least = page.thresholds();
    (width < least.card_width || height < least.card_height)
        .then(|| json!({"url": card.url, "width": width, "height": height}))
}

/// Returns the severity by size: below some size no network shows a card.
fn by_size(evidence: &Value, thresholds: &Thresholds) -> Severity {
    let side = |name| evidence.get(name).and_then(Value::as_u64);
    let is_small = |side: Option<u64>| side.is_some_and(|pixels| pixels < thresholds.card_least.into());
    if is_small(side("width")) || is_small(side("height")) {
        Severity::Warning
    } else {
        Severity::Notice
    }
}

fn llms_links(site: &Site<'_>) -> Option<Value> {
    let own = host(&site.origin().root);
    let mut broken: Vec<&Resource> = site
        .context
        .index
        .resources
        .iter()
        .filter(|resource| resource.is_for(purpose::LLMS))
        .filter(|resource| match resource.status {
            Some(status) => status != 200 && !is_bot_refusal(status),
            None => is_broken(resource, site.context.index) || url_hygiene::is_private(&resource.url, own),
        })
        .collect();
    broken.sort_unstable_by(|a, b| a.url.cmp(&b.url));
    list(
        "urls",
        broken
            .iter()
            .map(|resource| json!({"url": resource.url, "status": resource.status})),
    )
}
